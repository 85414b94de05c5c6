"""`tally completions`: the scripts in the real shells, by their TAB key, and the manual pages through groff."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import attrs
import pytest

from tallylight.cli import completions, main
from tallylight.cli.completions import panes, whole
from tallylight.files import extras
from tests.cli.panes import DONE, SHELL, WAITING, publish
from tests.shells.shell import SHELLS, World
from tests.terminal import launcher

#: Reads the script as the shell does by itself, where it is put for it.
_READ = {
    "bash": "source {script}",
    "zsh": "autoload -Uz compinit; compinit -u -D; source {script}; compdef _shtab_tally tally",
    "fish": "source {script}",
}
#: Lists of panes and agents as a hostile program could name them: nothing of it may run.
_TALLY = """#!/bin/sh
case "$*" in
    "completions panes") printf '%s\\n' 3 'tmux 2' '$(touch HURT)x' '`touch HURT`y' ;;
    "completions agents") printf '%s\\n' claude codex ;;
    *) for word; do printf '|%s' "$word"; done; echo '|' ;;
esac
"""


@pytest.fixture(params=SHELLS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A shell whose `tally` lists some panes and agents, and otherwise says its arguments."""
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    world = World(request.param, tmp_path)
    (tmp_path / "bin" / "tally").write_text(_TALLY.replace("HURT", str(tmp_path / "hurt")))
    return world


@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ("sno\t", "|snooze|"),
        ("why tm\t", "|why|tmux 2|"),
        ("why \\$\t", "|why|$(touch HURT)x|"),
        ("hooks install cla\t", "|hooks|install|claude|"),
        ("config sch\t", "|config|schema|"),
        ("status --wai\t", "|status|--waiting|"),
    ],
)
def test_the_tab_key(world: World, typed: str, called: str) -> None:
    """TAB completes verbs, verbs of verbs, options, and panes and agents that are asked for then; no name is run."""
    script = world.folder / "completions"
    script.write_text(completions.script(world.shell))
    wanted = called.replace("HURT", str(world.folder / "hurt")).encode()

    said = world.typed(_READ[world.shell].format(script=script), f"tally {typed}\r".encode(), wanted)

    assert wanted in said
    assert not (world.folder / "hurt").exists()


def test_what_is_listed(tmp_path: Path) -> None:
    """The panes with something to say, neediest first, and the known agents; one a line."""
    publish(tmp_path, [SHELL, DONE, WAITING])
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}

    assert list(panes(environ)) == ["3", "1"]
    assert {"claude", "codex"} <= set(completions.agents(environ))


def test_every_verb_is_in_it() -> None:
    """The parser of everything has all verbs, their other names and their own verbs."""
    (verbs,) = (action.choices for action in whole()._actions if action.dest == "verb")
    assert set(verbs) == {*main.VERBS, *main.ALIASES}
    assert whole().parse_args(["top", "--broker"]).broker is True


@pytest.mark.parametrize("arguments", [["man"], ["bash", "folder"], ["tcsh"], []])
def test_wrong_usage(arguments: list[str]) -> None:
    """Only the pages go into a folder, and there are three shells."""
    assert main.main(["completions", *arguments]) == 2


def test_without_the_libraries_it_says_how_to_get_them(tmp_path: Path) -> None:
    """Nothing else needs them, so they may be missing."""
    command = launcher(tmp_path)
    script = Path(command[-1])

    site = tmp_path / "site"
    site.mkdir()
    for name in ("attr", "attrs", "psutil"):
        found = Path(attrs.__file__).parent.parent / name
        (site / name).symlink_to(found)
    script.write_text(f"import sys\nsys.path.append({str(site)!r})\n" + script.read_text())

    done = subprocess.run([*command, "completions", "zsh"], env={"HOME": str(tmp_path)}, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr == f"tally: {extras.missing('completions')}\n"


@pytest.mark.slow
def test_manual_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is a page for each verb and one for all, which groff sets without a complaint, with examples and codes."""
    folder = tmp_path / "man1"
    assert main.main(["completions", "man", str(folder)]) == 0
    assert f"{len(main.VERBS) + 1} pages" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} == {"tally.1", *(f"tally-{verb}.1" for verb in main.VERBS)}
    if shutil.which("groff") is None:
        pytest.skip("no groff")
    for path in sorted(folder.iterdir()):
        done = subprocess.run(
            ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", str(path)], capture_output=True, text=True, check=True
        )
        assert done.stderr == "", path.name
        if path.name == "tally-wait.1":
            text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
            assert "tally wait 3 4 --for done,error --json" in text and "the timeout passed" in text
