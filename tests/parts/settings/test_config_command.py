"""`tally config`: what is in force and from where, an editor with a check behind it, and what it prints for others."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tallylight.cli.main import main
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.parts.settings.reference import defaults, schema
from tallylight.parts.settings.verbs import config
from tallylight.snapshot.writer import SnapshotWriter


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the configuration of an empty home is to be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "tallylight" / "config.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def test_show(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every setting is listed as TOML, with the line it is from; what is wrong is said, and is exit code 1."""
    assert main(["config", "show"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"# {file} is not there")
    assert tomllib.loads(said)["poll_ms"] == 250 and "line" not in said

    write(file, 'silence_s = 9\n[kitty]\nstyle = "strip"\nmark = false\n')
    assert main(["config", "show"]) == 1
    captured = capsys.readouterr()
    assert "\nsilence_s = 9                       # line 1\n" in captured.out
    assert '\nstyle = "filled"                    # default\n' in captured.out
    assert "\n# jump                              # `tally setup` chooses\n" in captured.out
    assert f"{file}:3: kitty.style: is 'strip'" in captured.err


def test_show_machines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the file; a file without any has none, which is no mistake."""
    write(file, '[machines]\n"ci.eu" = "docker exec -i ci"\n')
    assert main(["config", "show"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["machines"] == {"ci.eu": "docker exec -i ci"}
    assert main(["config", "show", "machines"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["[machines]", '"ci.eu" = "docker exec -i ci"       # line 2']
    write(file, "")
    assert main(["config", "show", "machines"]) == 0


def test_show_some(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table or a key by its name, and JSON; a name that is none is told."""
    write(file, 'colours = "theme"\nstale_s = 9\n')
    assert main(["config", "show", "colours", "stale_s"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split("#")[-1].strip() for line in lines] == [
        "line 2", "", "[colours]", "line 1", *["the theme chooses"] * 9
    ]  # fmt: skip
    assert main(["config", "show", "--json", "stale_s"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "version": 1,
        "file": str(file),
        "settings": [{"key": "stale_s", "value": "9", "line": 2}],
        "mistakes": [],
    }
    assert main(["config", "show", "stale"]) == 1
    assert "there is no setting 'stale'" in capsys.readouterr().err


def test_check(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each mistake is one line and exit code 1; one's own file may be missing, a named one may not."""
    assert main(["config", "check"]) == 0
    write(file, "poll_ms = 300\n")
    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"{file}: no mistakes"
    write(file, "poll_ms = 3\nbogus = 1\n\x1b[31m = 3")
    assert main(["config", "check", str(file)]) == 1
    assert "\x1b" not in capsys.readouterr().err
    write(file, "poll_ms = 3\nbogus = 1\n")
    assert main(["config", "check"]) == 1
    assert capsys.readouterr().err.count("\n") == 2
    assert main(["config", "check", str(tmp_path / "none")]) == 1
    assert "there is no such file" in capsys.readouterr().err


def test_what_is_printed_for_others(capsys: pytest.CaptureFixture[str]) -> None:
    """The file of defaults, and the schema, as they are."""
    assert main(["config", "default"]) == 0
    assert capsys.readouterr().out == defaults()
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()


def editor(folder: Path, script: str) -> str:
    """A program that is called with options and the file, as an editor is."""
    program = folder / "my editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"'{program}' --wait"


def edit(answers: list[bool | None], **environ: str) -> int:
    """Run `tally config edit` and answer what it asks."""
    import os

    system = System(env={**os.environ, **environ}, ask=lambda _: answers.pop(0))
    code = config.main(["edit"], system)
    assert answers == []
    return code


def test_edit(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The editor of the person opens the file, new with every key commented out, and it is checked afterwards."""
    write_it = editor(tmp_path, f'[ "$1" = --wait ] && cp "$2" {tmp_path}/before && echo "poll_ms = 300" >"$2"')

    assert edit([], VISUAL=write_it, EDITOR="false") == 0
    assert (tmp_path / "before").read_text() == defaults(is_template=True)
    assert file.read_text() == "poll_ms = 300\n"
    assert capsys.readouterr().out == f"{file}: no mistakes\n"


def test_a_mistake_can_be_mended(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is told, and the editor opens again if the person wants that."""
    write(file, "")
    program = editor(tmp_path, 'if [ -s "$2" ]; then echo "poll_ms = 300" >"$2"; else echo "poll_ms = 3" >"$2"; fi')

    assert edit([True], EDITOR=program) == 0
    assert "poll_ms: is 3" in capsys.readouterr().err
    write(file, "")
    assert edit([False], EDITOR=program) == 1
    assert file.read_text() == "poll_ms = 3\n"


def test_an_untouched_new_file_is_not_kept(file: Path) -> None:
    """Who opens the editor and leaves it again has no file; one that was there stays, whatever is in it."""
    assert edit([], EDITOR="true") == 0
    assert not file.exists()
    write(file, defaults(is_template=True))
    assert edit([], EDITOR="true") == 0
    assert file.exists()


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"EDITOR": "false"}, "false ended with exit code 1"),
        ({"EDITOR": "no-such-editor -x"}, "no-such-editor: cannot be run: No such file"),
        ({"EDITOR": "'"}, 'EDITOR is "\'", which is not a command'),
        ({"PATH": "/nowhere"}, "set VISUAL or EDITOR"),
    ],
)
def test_an_editor_that_fails_is_told(file: Path, environ: dict[str, str], said: str) -> None:
    """It is said what was wrong with the editor, and nothing is left behind."""
    with pytest.raises(TallyError, match=said.replace("(", r"\(")):
        edit([], **environ)
    assert not file.exists()


def test_check_tells_what_is_not_in_force(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a host that runs lets programs do less, and waits for its next start; that is no mistake."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    snapshot = SnapshotWriter.for_host("kitty", {"XDG_RUNTIME_DIR": str(tmp_path)}, lambda: 0.0)
    snapshot.allow, snapshot.withheld = "own", ("scripting.allow", "notify.command")
    snapshot.publish([], 0.0)
    write(file, '[scripting]\nallow = "all"\n')
    assert main(["config", "check"]) == 0
    told = f"in force in kitty-{snapshot.pid} until it restarts"
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: no mistakes",
        f'scripting.allow is "all" in config.toml, and "own" {told}',
        f"notify.command was changed in config.toml, but is not {told}",
    ]
    assert main(["config", "check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: no mistakes\n"
