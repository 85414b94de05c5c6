"""`tally fork` and `tally resume`: what they print, what they refuse, and that they start nothing unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.snapshot.schema import ConversationEntry, Pane
from tests.cli.panes import HOST, publish
from tests.entries import pane_with
from tests.terminal import SHARED, Terminal, bare_environment

ID = "0f9c1c60-1111-4222-8333-444455556666"
#: What waits until its standard input ends, under any name.
_PROGRAM = f"#!{sys.executable}\nimport sys\nprint('ready', flush=True)\nsys.stdin.read()\n"


_RUN = f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import run; run()"
COMMAND = [sys.executable, "-c", _RUN, "fork", "3"]


@attrs.frozen
class Desk:
    """A living program called `claude`, and the snapshot of a host that knows it."""

    folder: Path
    agent: subprocess.Popen[str]

    @property
    def program(self) -> str:
        return str(self.folder / "bin/claude")

    def pane(self, **changes: Any) -> None:
        """Publish the pane of that program."""
        known = ConversationEntry(agent="claude", session=ID, cwd=str(self.folder))
        pane = Pane(id="3", status=Status.DONE, agent="claude", agent_pid=self.agent.pid, pid=self.agent.pid)
        pane = attrs.evolve(pane, conversation=known, project="api")
        publish(self.folder / "run", [pane_with(pane, **changes)])

    def json(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the object of a command."""
        code = main([*words, "--json"])
        return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    (tmp_path / "run").mkdir(mode=0o700)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/claude").write_text(_PROGRAM)
    (tmp_path / "bin/claude").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv("KITTY_PID", raising=False)
    # Of a group of its own, which is in front as far as a process without a terminal can be.
    with subprocess.Popen(
        ["claude"],
        env={**os.environ, "PATH": path, "CLAUDE_CONFIG_DIR": "/c", "ANTHROPIC_API_KEY": "secret"},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ready\n"
        desk = Desk(tmp_path, agent)
        desk.pane()
        yield desk
        agent.kill()


def test_dry_run(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The exact argument list as a line for a shell, and where it belongs."""
    assert main(["fork", "3", "--dry-run"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"cd {desk.folder}",
        f"{desk.program} --resume {ID} --fork-session",
    ]


def test_json(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The object that scripts and WezTerm read: argument list, directory, title, and of the environment only places."""
    code, found = desk.json(capsys, "fork", f"{HOST}:3")
    page = (Path(__file__).parents[3] / "docs/commands.md").read_text("utf-8")
    assert list(json.loads(page.partition("```json\n")[2].partition("```")[0])) == list(found)
    env = found.pop("env")

    assert code == 0
    assert found == {
        "version": 1,
        "argv": [desk.program, "--resume", ID, "--fork-session"],
        "cwd": str(desk.folder),
        "title": "⎇  api",
        "agent": "claude",
        "session": ID,
        "method": "session",
        "lost": [],
        "notes": [],
    }
    assert env["CLAUDE_CONFIG_DIR"] == "/c"
    assert env["PATH"].startswith(str(desk.folder / "bin"))
    assert "secret" not in str(env)


def test_resume(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """`tally resume` is the same with the other list, and says that the agent still runs."""
    _, found = desk.json(capsys, "resume", "3")

    assert found["argv"] == [desk.program, "--resume", ID]
    assert found["title"] == "↻  api"
    assert "still runs" in found["notes"][0]


def test_refused(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """A refusal is an exit code of 1, with rule and reason in words, or as an object."""
    known = ConversationEntry(agent="claude", session="a b", cwd=str(desk.folder))
    desk.pane(conversation=known)
    code, found = desk.json(capsys, "fork", "3")
    text = "the session id 'a b' has a space in it"

    assert (code, found) == (1, {"version": 1, "refused": "value", "text": text})
    assert main(["fork", "3"]) == 1
    assert capsys.readouterr().err == f"tally: not forked: {text}\n"


def test_a_wish_that_is_refused(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The data file's list takes its place, with a note; what stands in the note breaks out of no comment."""
    desk.pane(fork=("claude", "--fork", "x ; rm -rf ~"))
    code, found = desk.json(capsys, "fork", "3")
    main(["fork", "3", "--dry-run"])
    lines = capsys.readouterr().out.splitlines()

    assert (code, found["argv"], found["method"]) == (0, [desk.program, "--resume", ID, "--fork-session"], "session")
    assert found["notes"][0].endswith("is not needed by claude for this, and it runs without that.")
    assert [line[0] for line in lines] == ["#", "c", "/"]


def test_without_a_kitty_it_only_prints(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Outside the kitty that has the pane nothing is started; it says so and fails, and what to run can be pasted."""
    for verb, more in (("fork", " --fork-session"), ("resume", "")):
        assert main([verb, "3"]) == 1
        said = capsys.readouterr()
        assert said.err.startswith(f"tally {verb}: nothing was started: ") and "--here" in said.err
        assert said.out.splitlines()[-2:] == [f"cd {desk.folder}", f"{desk.program} --resume {ID}{more}"]


def test_without_a_terminal_it_only_prints(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the kitty that has the pane, but with nobody to ask, it fails as well."""
    (desk.folder / "bin/kitten").write_text("")
    (desk.folder / "bin/kitten").chmod(0o755)
    for name, value in (("KITTY_PID", HOST.rpartition("-")[2]), ("KITTY_LISTEN_ON", "unix:/x")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{desk.folder / 'bin'}:{os.environ['PATH']}")

    assert main(["fork", "3"]) == 1
    assert "nothing was started" in capsys.readouterr().err


def test_worktree(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """With --worktree it prints what would make one, makes none, and refuses where there can be none."""
    refused = desk.json(capsys, "fork", "3", "--worktree")
    for words in (["init", "-qb", "main"], ["commit", "-qm", "x", "--allow-empty"]):
        who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", str(desk.folder), *who, *words], check=True)
    code, found = desk.json(capsys, "fork", "3", "--worktree")
    place = desk.folder.with_name(f"{desk.folder.name}-fork-1")

    assert (refused[0], refused[1]["refused"]) == (1, "worktree")
    assert code == 0
    assert found["cwd"] == found["worktree"]["path"] == str(place)
    made = found["worktree"]["argv"]
    assert made == ["tally", "worktree", str(place), "--branch", "main-fork-1", "--of", str(desk.folder)]
    assert not place.exists()


@pytest.mark.slow
def test_no_worktree_here(desk: Desk) -> None:
    """With --here --worktree, where there can be none, the page says why, offers nothing else, and any key leaves."""
    environ = bare_environment(
        HOME=str(desk.folder),
        PATH=f"{desk.folder / 'bin'}:{os.environ['PATH']}",
        XDG_RUNTIME_DIR=str(desk.folder / "run"),
    )
    with Terminal(rows=40) as terminal:
        process = terminal.start([*COMMAND, "--here", "--worktree"], environ)
        terminal.wait_for(b"any key")
        terminal.type(b"\r")
        terminal.wait_for(b"\x1b[?1049l")
        assert process.wait(30) == 1

        assert b"Not forked" in terminal.received and b"repository" in terminal.received
        assert b"--fork-session" not in terminal.received and b"ready" not in terminal.received
        # All of it is on a screen of its own: the terminal's own one is as it was.
        assert terminal.received.startswith(b"\x1b[?1049h") and terminal.received.endswith(b"\x1b[?1049l")


def test_no_pane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no host runs, that is the message."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    assert main(["fork"]) == 1
    assert "tally doctor" in capsys.readouterr().err


@pytest.fixture
def kitten(desk: Desk) -> Path:
    """A `kitten` that notes what it is asked for."""
    kitten = desk.folder / "bin/kitten"
    kitten.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {desk.folder}/asked\n")
    kitten.chmod(0o755)
    return desk.folder / "asked"


def surroundings(desk: Desk) -> dict[str, str]:
    """Those of a shell in the kitty that has the pane."""
    path = f"{desk.folder / 'bin'}:{os.environ['PATH']}"
    return bare_environment(
        PATH=path, XDG_RUNTIME_DIR=str(desk.folder / "run"), KITTY_PID=str(os.getpid()), KITTY_LISTEN_ON="unix:/x"
    )


@pytest.mark.slow
def test_asked_and_agreed(desk: Desk, kitten: Path) -> None:
    """In the kitty that has the pane it shows the page; Enter has kitty open a pane, by an argument list."""
    with Terminal(columns=120) as terminal:
        process = terminal.start(COMMAND, surroundings(desk))
        terminal.wait_for(b"Enter")
        terminal.type(b"\r")
        assert process.wait(30) == 0

    asked = kitten.read_text().splitlines()
    assert asked[:3] == ["@", "launch", "--type=window"]
    assert asked[-4:] == [desk.program, "--resume", ID, "--fork-session"]
    assert {"--copy-env", "--source-window=id:3", "--next-to=id:3", f"--cwd={desk.folder}", "--title=⎇  api"} <= set(
        asked
    )
    assert "secret" not in kitten.read_text()


@pytest.mark.slow
def test_where_no_pane_can_be_opened_it_is_started_here(desk: Desk, kitten: Path) -> None:
    """In another terminal than kitty's and tmux's the page asks, and the agent takes its place; a place is refused."""
    elsewhere = bare_environment(PATH=surroundings(desk)["PATH"], XDG_RUNTIME_DIR=str(desk.folder / "run"))
    for more, code, said in (([], 1, b"Enter"), (["--location", "tab"], 1, b"nothing was started")):
        with Terminal(columns=120) as terminal:
            process = terminal.start([*COMMAND, *more], elsewhere)
            terminal.wait_for(said)
            terminal.type(b"q" * (not more))
            assert process.wait(30) == code
    assert not kitten.exists()


@pytest.mark.slow
@pytest.mark.parametrize("keys", [b"\x1b", b"q", b"\x03", b"\x1b[200~\r\x1b[201~"])
def test_asked_and_left(desk: Desk, kitten: Path, keys: bytes) -> None:
    """Esc, q and Ctrl-C leave; an Enter that is pasted is none; the terminal is given back as it was."""
    with Terminal(columns=120) as terminal:
        process = terminal.start(COMMAND, surroundings(desk))
        terminal.wait_for(b"Enter")
        terminal.type(keys)
        if len(keys) > 1:
            terminal.wait_for(lambda data: data.count(b"Enter") == 2)  # drawn again: it was no key
            terminal.type(b"q")
        terminal.wait_for(b"\x1b[?1049l")
        assert process.wait(30) == 1

    assert not kitten.exists()


@pytest.mark.slow
def test_another_process_under_the_page(desk: Desk, kitten: Path) -> None:
    """An agent that ends while the page is shown is not forked."""
    with Terminal(columns=120) as terminal:
        process = terminal.start(COMMAND, surroundings(desk))
        terminal.wait_for(b"Enter")
        desk.agent.kill()
        desk.agent.wait()
        terminal.type(b"\r")
        assert process.wait(30) == 1
        terminal.wait_for(b"nothing was started")

    assert not kitten.exists()
