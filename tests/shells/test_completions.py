"""`tally completions`: the scripts in the real shells, by their TAB key, and the manual pages through groff."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.cli import main
from tallylight.files.system import System
from tallylight.setup import completions
from tests.cli.panes import DONE, SHELL, WAITING, publish
from tests.shells.shell import SHELLS, World

ROOT = Path(__file__).parents[2]
MAKER = ROOT / "packaging" / "completions"

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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is made for a package."""
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, MAKER, folder], check=True)
    return folder


@pytest.fixture(params=SHELLS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A shell whose `tally` lists some panes and agents, and otherwise says its arguments."""
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    world = World(request.param, tmp_path)
    (tmp_path / "bin" / "tally").write_text(_TALLY.replace("HURT", str(tmp_path / "hurt")))
    return world


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "called"),
    [
        ("qui\t", "|quiet|"),
        ("why tm\t", "|why|tmux 2|"),
        ("why \\$\t", "|why|$(touch HURT)x|"),
        ("hooks install cla\t", "|hooks|install|claude|"),
        ("config sch\t", "|config|schema|"),
        ("status --wai\t", "|status|--waiting|"),
    ],
)
def test_the_tab_key(world: World, made: Path, typed: str, called: str) -> None:
    """TAB completes verbs, verbs of verbs, options, and panes and agents that are asked for then; no name is run."""
    script = made / completions.SCRIPTS[world.shell]
    wanted = called.replace("HURT", str(world.folder / "hurt")).encode()

    said = world.typed(_READ[world.shell].format(script=script), f"tally {typed}\r".encode(), wanted)

    assert wanted in said
    assert not (world.folder / "hurt").exists()


def test_what_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The panes with something to say, neediest first, and the known agents; one a line."""
    publish(tmp_path, [SHELL, DONE, WAITING])
    for name in ("XDG_RUNTIME_DIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))

    assert main.main(["completions", "panes"]) == 0
    assert capsys.readouterr().out.splitlines() == ["3", "1"]
    assert main.main(["completions", "agents"]) == 0
    assert {"claude", "codex"} <= set(capsys.readouterr().out.splitlines())


def test_every_verb_is_in_it() -> None:
    """The parser of everything has all verbs and their own verbs."""
    loader = importlib.machinery.SourceFileLoader("maker", str(MAKER))
    spec = importlib.util.spec_from_loader("maker", loader)
    assert spec is not None
    maker = importlib.util.module_from_spec(spec)
    loader.exec_module(maker)

    (verbs,) = (action.choices for action in maker.whole()._actions if action.dest == "verb")
    assert set(verbs) == set(main.every_verb())
    assert maker.whole().parse_args(["agents", "--broker"]).broker is True


@pytest.mark.parametrize("arguments", [["man"], ["bash", "folder"], ["tcsh"], []])
def test_wrong_usage(arguments: list[str]) -> None:
    """Only the pages go into a folder, and there are three shells."""
    assert main.main(["completions", *arguments]) == 2


def test_a_checkout_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, and what makes them; nothing is written."""
    if (ROOT / "shared/tallylight" / completions.MADE).exists():
        pytest.skip("they were made in here")
    for arguments in (
        ["completions", "zsh"],
        ["completions", "man", str(tmp_path / "man")],
        ["setup", "--with", "completions"],
    ):
        assert main.main(arguments) == 1
        assert "`packaging/completions`" in capsys.readouterr().err
    assert not (tmp_path / "man").exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel as `pip wheel .` builds it, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("shared", "kittens", "wezterm", "packaging"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, folder / "source")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=folder / "source", check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    shutil.unpack_archive(found, folder / "site", "zip")
    return folder / "site"


@pytest.mark.slow
def test_they_are_installed_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    """Without a network, where shells and man look; a file of somebody else's stays, and ours go when uninstalled."""

    def tally(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-c", "from tallylight.cli.main import run; run()", *words]
        env = {"HOME": str(tmp_path), "PYTHONPATH": str(wheel), "PATH": os.environ["PATH"]}
        env |= {
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }
        done = subprocess.run(command, env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    fish = tmp_path / ".config/fish/completions/tally.fish"
    fish.parent.mkdir(parents=True)
    fish.write_text("# my own")
    assert "~/.config/fish/completions/tally.fish is not Tallylight's" in tally(
        "setup", "--with", "completions", code=1
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [fish]
    fish.unlink()

    assert "would be installed" in tally("setup", "--with", "completions", "--dry-run")
    assert not fish.exists()
    assert "Completions installed" in tally("setup", "--with", "completions")
    bash = tmp_path / ".local/share/bash-completion/completions/tally"
    for shell, path in (("bash", bash), ("zsh", tmp_path / ".zfunc/_tally"), ("fish", fish)):
        assert path.read_text() == tally("completions", shell)
    pages = {path.name for path in (tmp_path / ".local/share/man/man1").iterdir()}
    assert pages == {"tally.1", *(f"tally-{verb}.1" for verb in main.every_verb())}
    assert f"{len(pages)} pages" in tally("completions", "man", str(tmp_path / "elsewhere"))
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == pages
    shutil.rmtree(tmp_path / "elsewhere")

    fish.write_text("# my own")
    assert str(bash.relative_to(tmp_path)) in tally("setup", "--uninstall", "--yes")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [fish]
    assert completions.installed(System(env={"HOME": str(tmp_path)})) == []


@pytest.mark.slow
def test_manual_pages(made: Path) -> None:
    """There is a page for each verb and one for all, which groff sets without a complaint, with examples and codes."""
    folder = made / "man1"
    assert {path.name for path in folder.iterdir()} == {"tally.1", *(f"tally-{verb}.1" for verb in main.every_verb())}
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
