"""`tally hooks`: a good guest in the files of agents."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tallylight.cli import doctor, setup
from tallylight.cli.output import Output
from tallylight.parts.agent_hooks import install as installer
from tallylight.parts.agent_hooks.verbs import hooks
from tests.cli.test_doctor import FakeWire
from tests.setup.fakes import FakeSystem, make_system, tree

JSON_AGENTS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/hooks/tallylight.json",
    "goose": ".agents/plugins/tallylight/hooks/hooks.json",
    "cursor-agent": ".cursor/hooks.json",
}
PLUGIN_AGENTS = {
    "opencode": ".config/opencode/plugins/tallylight.js",
    "kilo": ".config/kilo/plugin/tallylight.js",
}
FILES = JSON_AGENTS | PLUGIN_AGENTS
SETTINGS = (
    '\ufeff// mine\r\n{\r\n\t"model": "opus", // the big one\r\n\t"hooks": {\r\n\t\t"Stop": [ {"hooks": '
    '[{"type": "command", "command": "beep"}]} ],\r\n\t},\r\n\t"permissions": {"allow": ["Bash(ls)",]}\r\n}\r\n'
)


@pytest.fixture
def system(tmp_path: Path) -> FakeSystem:
    """A machine with a `tally`, in a home whose name has a space and a quote in it."""
    home = tmp_path / "me & 'you'"
    home.mkdir()
    system = make_system(home)
    program(system)
    return system


def program(system: FakeSystem) -> Path:
    """What hooks are to run."""
    path = system.home / ".local/share/tallylight/bin/tally"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def run(system: FakeSystem, *argv: str) -> int:
    system.said.clear()
    return hooks.main(argv, system)


def agents_of(system: FakeSystem, name: str) -> Path:
    return system.home / FILES[name]


def agent_of_ones_own(system: FakeSystem) -> Path:
    """An agent file of the user's, `mine`, with hooks."""
    path = system.home / ".config/tallylight/agents/mine.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        'name = "mine"\nprocesses = ["mine"]\n[hooks]\nform = "list"\nfolder = "~/.mine"\nfile = "hooks.json"\n'
        'entry = \'{"run": "{command}"}\'\n[[hooks.rules]]\nevents = ["ping"]\nstatus = "working"\n'
    )
    return path


def contents(system: FakeSystem) -> dict[str, object]:
    """Every file below the home and its bytes, and every directory, without what is ours or kept for the undoing."""
    found = tree(system.home)
    return {key: value[::2] for key, value in found.items() if not key.startswith(".local")}


@pytest.mark.parametrize("agent", FILES)
def test_where_there_was_nothing(system: FakeSystem, agent: str) -> None:
    """Hooks go into a file made for them; with them go the file and every directory made for it."""
    before = contents(system)

    assert run(system, "install", agent, "--yes") == 0
    assert agents_of(system, agent).is_file()
    assert run(system, "install", agent, "--yes") == 0
    assert "nothing changed" in system.text
    assert run(system, "remove", agent, "--yes") == 0
    assert contents(system) == before
    assert not (system.home / ".local/state/tallylight").exists()
    assert run(system, "remove", agent, "--yes") == 0
    assert "nothing changed" in system.text


@pytest.mark.parametrize("agent", JSON_AGENTS)
@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_among_what_others_wrote(system: FakeSystem, agent: str, mode: int) -> None:
    """Comments, tabs, CRLF, a byte order mark and another tool's hook stay as they are, and so does the mode."""
    path = agents_of(system, agent)
    path.parent.mkdir(parents=True)
    path.write_bytes(SETTINGS.encode())
    path.chmod(mode)
    before = contents(system)

    assert run(system, "install", agent, "--yes") == 0
    wired = path.read_bytes()
    assert b'"command": "beep"' in wired
    assert wired.count(b"\n") == wired.count(b"\r\n")
    assert path.stat().st_mode & 0o7777 == mode
    assert run(system, "remove", agent, "--yes") == 0
    assert "byte for byte" in system.text
    assert contents(system).keys() - before.keys() == set()
    assert path.read_bytes() == SETTINGS.encode()
    assert path.stat().st_mode & 0o7777 == mode


def test_edited_in_between(system: FakeSystem) -> None:
    """What a person changed after us stays; the rest is as it was before us."""
    path = agents_of(system, "claude")
    path.parent.mkdir()
    path.write_bytes(SETTINGS.encode())
    run(system, "install", "claude", "--yes")
    path.write_bytes(path.read_bytes().replace(b'"opus"', b'"sonnet"'))

    assert run(system, "remove", "--yes") == 0
    assert path.read_bytes() == SETTINGS.replace('"opus"', '"sonnet"').encode()
    assert "everything else was kept" in system.text
    assert Path(system.text.rpartition("as it was before ")[2].partition(": ")[2]).read_bytes() == SETTINGS.encode()


def test_added_to_a_file_of_ours(system: FakeSystem) -> None:
    """A file that we made, and a person has put something into, stays with that."""
    run(system, "install", "claude", "--yes")
    path = agents_of(system, "claude")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model": "opus"}))

    assert run(system, "remove", "claude", "--yes") == 0
    assert json.loads(path.read_text()) == {"model": "opus"}


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_behind_a_link(system: FakeSystem, agent: str) -> None:
    """A file that is a link into somebody's dotfiles stays one; what it leads to is changed, and back."""
    path = agents_of(system, agent)
    path.parent.mkdir(parents=True)
    dotfiles = system.home / "dotfiles"
    dotfiles.mkdir()
    if agent == "claude":
        (dotfiles / "settings.json").write_text("{}\n")
        path.symlink_to(dotfiles / "settings.json")
    else:
        path.parent.rmdir()
        path.parent.symlink_to(dotfiles)
    before = contents(system)

    assert run(system, "install", agent, "--yes") == 0
    assert path.parent.is_symlink() or path.is_symlink()
    assert contents(system) != before
    assert run(system, "remove", agent, "--yes") == 0
    assert {key: value[1] for key, value in contents(system).items()} == {
        key: value[1] for key, value in before.items()
    }


@pytest.mark.parametrize("agent", FILES)
def test_a_moved_installation_is_put_right(system: FakeSystem, agent: str) -> None:
    """Hooks of an installation that is elsewhere now are told, replaced, and still go without a trace."""
    path = agents_of(system, agent)
    if agent in JSON_AGENTS:
        path.parent.mkdir(parents=True)
        path.write_bytes(SETTINGS.encode())
    before = contents(system)
    elsewhere = system.home.parent / "elsewhere/tallylight/bin"
    elsewhere.mkdir(parents=True)
    program(system).rename(elsewhere / "tally")
    (elsewhere / "tally").chmod(0o755)
    moved = dataclasses.replace(system, env={**system.env, "PATH": str(elsewhere)})
    assert run(moved, "install", agent, "--yes") == 0

    program(system)
    run(system, "status", agent)
    assert "moved" in system.text
    assert run(system, "install", agent, "--yes") == 0
    assert "elsewhere" not in path.read_text()
    run(system, "status", agent)
    assert "moved" not in system.text
    assert run(system, "remove", agent, "--yes") == 0
    assert {key: value[1] for key, value in contents(system).items()} == {
        key: value[1] for key, value in before.items()
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1', "line 1, column 8"),
        ('{"hooks": [1]}', '"hooks" is not an object'),
        ("model = 1", "a value is expected"),
        ("\x00" * 9, "a value is expected"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone(
    system: FakeSystem, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    """It is named, with the place, and not touched; the other agents are done."""
    path = agents_of(system, "claude")
    path.parent.mkdir()
    path.write_text(text)

    assert run(system, "install", "claude", "gemini", "--yes") == 1
    complaint = capsys.readouterr().err
    assert says in complaint
    assert "settings.json was not changed" in complaint
    assert path.read_text() == text
    assert agents_of(system, "gemini").exists()
    run(system, "status", "claude")
    assert "broken" in system.text


def test_a_file_that_may_not_be_written(system: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written is told, and nothing is half done: no receipt, no backup, no directory."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    before = contents(system)
    monkeypatch.setattr("tallylight.files.read_write.rewrite", refuse)

    assert run(system, "install", "claude", "codex", "--yes") == 1
    assert contents(system) == before
    assert not (system.home / ".local/state/tallylight").exists()


def test_a_table_that_may_not_be_written(system: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the state directory refuses the table of one agent, that is told, and the next agent has its hooks."""
    agent_of_ones_own(system)
    (system.home / ".local/state/tallylight").mkdir(parents=True)
    (system.home / ".local/state/tallylight/hooks").write_text("")

    assert run(system, "install", "mine", "claude", "--yes") == 1
    assert "cannot change ~/.local/state/tallylight/hooks/mine.json" in capsys.readouterr().err
    assert agents_of(system, "claude").exists()


def test_somebody_elses_plugin_of_that_name(system: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that stands where ours would go is not overwritten."""
    path = agents_of(system, "opencode")
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1\n")

    assert run(system, "install", "opencode", "--yes") == 1
    assert "not made by Tallylight" in capsys.readouterr().err
    assert path.read_text() == "export const Mine = 1\n"


def test_a_plugin_that_was_edited_is_kept_aside(system: FakeSystem) -> None:
    """Our plugin goes although a person edited it, and their version is kept where they are told."""
    run(system, "install", "opencode", "--yes")
    path = agents_of(system, "opencode")
    path.write_text(path.read_text() + "// mine\n")

    assert run(system, "remove", "opencode", "--yes") == 0
    assert not path.exists()
    kept = [word for word in system.text.split() if "backup" in word]
    assert kept
    assert "edited" in system.text


def test_it_asks(system: FakeSystem) -> None:
    """Without --yes a person is asked after the change was shown; nobody there to ask, or a no, changes nothing."""
    before = contents(system)
    for answer, code in ((None, 1), (False, 1), (True, 0)):
        asked = dataclasses.replace(system, ask=lambda _, answer=answer: answer)
        assert run(asked, "install", "claude") == code
        assert "+" in system.text
        assert (contents(system) == before) is (code == 1)
    refusing = dataclasses.replace(system, ask=lambda _: False)
    wired = contents(system)
    assert run(refusing, "remove") == 1
    assert contents(system) == wired


def test_dry_run_and_json(system: FakeSystem) -> None:
    """A dry run shows the change and makes none; --json says the same to a script."""
    before = tree(system.home)

    assert run(system, "install", "claude", "--dry-run") == 0
    assert '+            "command": "/bin/sh -c ' in system.text
    assert run(system, "install", "claude", "--dry-run", "--json") == 0
    found = json.loads(system.text)
    assert (found["version"], found["ok"], found["changes"][0]["done"]) == (1, True, False)
    assert found["changes"][0]["path"] == str(agents_of(system, "claude"))
    assert tree(system.home) == before

    assert run(system, "install", "claude", "--yes", "--json") == 0
    assert json.loads(system.text)["changes"][0]["done"] is True
    assert run(system, "status", "claude", "--json") == 0
    assert json.loads(system.text)["agents"] == [
        {
            "agent": "claude",
            "state": "installed",
            "text": "~/.claude/settings.json",
            "remedy": "",
            "path": str(agents_of(system, "claude")),
        }
    ]


def test_status_breaks_between_words(system: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow terminal a line goes on below itself, and no word is cut."""
    run(system, "status")
    words = system.text.split()
    system.said.clear()
    monkeypatch.setattr(hooks.Output, "to", lambda stream, _: Output(stream, 60))
    run(system, "status")

    assert system.text.split() == words
    told = [line for line in system.text.splitlines() if "→" not in line]
    assert all(len(line) <= 60 or " " not in line[29:] for line in told)
    assert any(line.startswith(" " * 29) for line in told)


def test_which_agents(system: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """Named none, it takes those whose program is here and that can have hooks; an unknown one is refused."""
    for name in ("claude", "aider"):
        path = system.home.parent / "programs" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    assert run(system, "install", "--yes") == 0
    assert sorted(path.name for path in system.home.glob(".*")) == [".claude", ".local"]
    assert run(system, "install", "aider", "--yes") == 1
    assert "aider cannot have hooks of Tallylight: it runs one command" in capsys.readouterr().err
    assert run(system, "install", "nobody") == 2


def test_the_agents_own_variables(system: FakeSystem) -> None:
    """The file is where the agent looks for it."""
    other = system.home / "other"
    for agent, variable in (("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME"), ("copilot", "COPILOT_HOME")):
        there = dataclasses.replace(system, env={**system.env, variable: str(other / agent)})
        assert run(there, "install", agent, "--yes") == 0
        assert (other / agent / installer.packaged()[agent].place["file"]).is_file()
    there = dataclasses.replace(system, env={**system.env, "XDG_CONFIG_HOME": str(other)})
    assert run(there, "install", "opencode", "--yes") == 0
    assert (other / "opencode/plugins/tallylight.js").is_file()


def test_the_plugin_names_the_command(system: FakeSystem) -> None:
    """The plugin of an agent runs this installation's command, for that agent."""
    run(system, "install", "kilo", "--yes")
    text = agents_of(system, "kilo").read_text()

    assert f'const TALLY = "{program(system)}"' in text
    assert 'const AGENT = "kilo"' in text
    assert "@" not in text.partition("export")[0].replace(str(system.home), "")


def test_an_agent_of_a_users_own(system: FakeSystem) -> None:
    """Hooks of an agent from a user's file are installed, and its table is put where `tally hook` looks for it."""
    own = agent_of_ones_own(system)

    assert run(system, "install", "mine", "--yes") == 0
    (found,) = json.loads((system.home / ".mine/hooks.json").read_text())["hooks"]["ping"]
    assert "hook mine ping" in found["run"]
    table = system.home / ".local/state/tallylight/hooks/mine.json"
    assert json.loads(table.read_text())["names"] == ["mine"]
    own.unlink()
    assert run(system, "remove", "--yes") == 0
    assert not (system.home / ".mine").exists()
    assert not table.exists()


def test_a_lost_receipt(system: FakeSystem) -> None:
    """Our hooks are found and taken out without the receipt, too."""
    path = agents_of(system, "claude")
    path.parent.mkdir()
    path.write_text('{\n  "model": "opus"\n}\n')
    run(system, "install", "claude", "opencode", "--yes")
    for file in (system.home / ".local/state/tallylight").rglob("*.json*"):
        file.unlink()

    assert run(system, "remove", "--yes") == 0
    assert json.loads(path.read_text()) == {"model": "opus"}
    assert not agents_of(system, "opencode").exists()


def test_a_damaged_receipt_is_told(system: FakeSystem, capsys: pytest.CaptureFixture[str]) -> None:
    """A receipt that cannot be read is an error, and nothing is done on a guess."""
    run(system, "install", "claude", "--yes")
    wired = agents_of(system, "claude").read_bytes()
    for damage in ("{", "[]", '{"version": 9}', '{"version": 1, "files": [{"agent": 1}]}'):
        (system.home / ".local/state/tallylight/hooks.json").write_text(damage)
        assert run(system, "remove", "--yes") == 1
        assert "hooks.json" in capsys.readouterr().err
    assert agents_of(system, "claude").read_bytes() == wired


def test_setup_undo_takes_hooks_out(system: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tally setup --undo` leaves no hook of ours behind."""
    before = contents(system)
    run(system, "install", "claude", "opencode", "goose", "--yes")
    system.said.clear()

    assert setup.main(["--undo", "--yes"], system) == 0
    assert contents(system) == before


def test_setup_undo_beside_a_file_that_cannot_be_read(system: FakeSystem) -> None:
    """One agent's broken file is told, and keeps nothing else from being undone."""
    run(system, "install", "claude", "gemini", "--yes")
    agents_of(system, "claude").write_text("{")
    system.said.clear()

    assert setup.main(["--undo", "--yes"], system) == 0
    assert "settings.json was not changed: line 1, column 2" in system.text
    assert not agents_of(system, "gemini").exists()


def test_removing_one_leaves_the_others(system: FakeSystem) -> None:
    """Only the named agents' hooks go."""
    run(system, "install", "claude", "gemini", "opencode", "--yes")

    assert run(system, "remove", "gemini", "--yes") == 0
    assert not agents_of(system, "gemini").exists()
    assert agents_of(system, "claude").exists()
    assert agents_of(system, "opencode").exists()


def test_without_a_command_there_are_no_hooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no `tally` is installed none is written into an agent's settings."""
    home = tmp_path / "bare"
    home.mkdir()
    system = make_system(home)

    assert run(system, "install", "claude", "--yes") == 1
    assert "tally setup" in capsys.readouterr().err
    assert list(home.iterdir()) == []


# What the doctor says -------------------------------------------------------------------------------------------


def lines(system: FakeSystem) -> dict[str, tuple[str, str, str]]:
    """The doctor's findings about hooks: health, text, remedy."""
    found = doctor.examine(system, FakeWire())
    return {
        one.what.split()[1]: (one.health.value, one.text, one.remedy) for one in found if one.what.startswith("hooks ")
    }


def test_doctor_says_how_it_stands(system: FakeSystem) -> None:
    """A line for each agent that is here or has hooks: right, moved, broken, not there, or not possible, and why."""
    assert lines(system) == {}
    for name in ("claude", "gemini", "aider", "codex"):
        path = system.home.parent / "programs" / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    run(system, "install", "codex", "qwen", "--yes")
    agents_of(system, "gemini").parent.mkdir()
    agents_of(system, "gemini").write_text("{")

    found = lines(system)
    assert {name: health for name, (health, _, _) in found.items()} == {
        "claude": "skipped",
        "gemini": "broken",
        "aider": "skipped",
        "codex": "broken",
        "qwen": "ok",
    }
    assert "not installed" in found["claude"][1]
    assert "cannot work: it runs one command" in found["aider"][1]
    assert "line 1, column 2" in found["gemini"][1]


def test_doctor_on_the_daemon_of_codex(system: FakeSystem) -> None:
    """Codex with its shared daemon is told, with what to do; without it, its hooks are right."""
    run(system, "install", "codex", "--yes")
    _, text, remedy = lines(system)["codex"]
    assert "daemon" in text
    assert "daemon_auto_start = false" in remedy
    assert "--no-daemon" in remedy

    features = "[features]\ndaemon_auto_start = false\n"
    trusted = f'[hooks.state."{agents_of(system, "codex")}:stop:0:0"]\ntrusted_hash = "sha256:0"\n'
    (system.home / ".codex/config.toml").write_text(features)
    assert "trust" in lines(system)["codex"][1]
    (system.home / ".codex/config.toml").write_text(features + trusted)
    assert lines(system)["codex"][0] == "ok"
    (system.home / ".codex/config.toml").write_text("[features]\ndaemon_auto_start = false\nhooks = false\n")
    assert "switches hooks off" in lines(system)["codex"][1]


def test_doctor_on_hooks_switched_off(system: FakeSystem) -> None:
    """Claude's own switch for all hooks is told."""
    agents_of(system, "claude").parent.mkdir()
    agents_of(system, "claude").write_text('{"disableAllHooks": true}')
    run(system, "install", "claude", "--yes")
    assert "But: its settings switch all hooks off" in system.text

    health, text, remedy = lines(system)["claude"]
    assert health == "broken"
    assert "switch all hooks off" in text
    assert "disableAllHooks" in remedy
