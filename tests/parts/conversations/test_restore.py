"""`tally restore`: what it lists, what it starts after Enter, and that nothing is started twice or unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.model.status import Kind, Status
from tallylight.parts.conversations.open_conversations import OpenConversations, directory
from tallylight.snapshot.schema import ConversationEntry, Pane, Tab
from tests.cli.panes import publish
from tests.entries import new_pane, pane_with
from tests.terminal import SHARED, Terminal, bare_environment

IDS = [f"0f9c1c60-1111-4222-8333-44445555666{n}" for n in range(4)]
_RUN = f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import run; run()"
COMMAND = [sys.executable, "-c", _RUN, "restore"]
NOBODY = 2**22 + 7


@attrs.frozen
class Desk:
    """A home with an agent of three conversations, one of them in a directory that is gone, in a kitty that is gone."""

    folder: Path

    @property
    def program(self) -> str:
        return str(self.folder / "bin/claude")

    @property
    def environ(self) -> dict[str, str]:
        """The surroundings of a shell in a new terminal."""
        return bare_environment(
            HOME=str(self.folder),
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
            XDG_RUNTIME_DIR=str(self.folder / "run"),
            XDG_STATE_HOME=str(self.folder / "state"),
        )

    def pane(self, n: int, **changes: Any) -> Pane:
        where, place = str(self.folder / f"w{n}"), ("CLAUDE_CONFIG_DIR=/its/$own",)
        known = ConversationEntry(agent="claude", session=IDS[n], cwd=where, places=place)
        pane = new_pane(
            id=str(n), status=Status.WORKING, agent="claude", agent_pid=NOBODY, tab=str(n), project=f"api{n}"
        )
        return pane_with(pane, **{"conversation": known, **changes})

    def json(self, capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
        assert main(["restore", "--json", *words]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["conversations"]
        return found

    def started(self) -> list[str]:
        """What the agent was started with, and where; each had the place that its process had."""
        log = self.folder / "started"
        lines = log.read_text().splitlines() if log.exists() else []
        assert all(line.startswith("/its/$own ") for line in lines)
        return [line.removeprefix("/its/$own ") for line in lines]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name in ("run", "bin", "w1", "w2"):
        (tmp_path / name).mkdir(mode=0o700)
    desk = Desk(tmp_path)
    Path(desk.program).write_text(f'#!/bin/sh\necho "$CLAUDE_CONFIG_DIR $PWD $*" >> {tmp_path}/started\nsleep 60\n')
    Path(desk.program).chmod(0o755)
    for name, value in desk.environ.items():
        monkeypatch.setenv(name, value)
    for name in ("KITTY_PID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON"):
        monkeypatch.delenv(name, raising=False)
    kitty = OpenConversations.for_host("kitty", desk.environ, lambda: 1_763_690_000.0)
    asking = desk.pane(1, status=Status.WAITING, kind=Kind.PERMISSION, question="May I run `rm -rf build`?")
    kitty.publish([asking, desk.pane(2), desk.pane(3)], 0.0, {"2": Tab(1, "back end"), "3": Tab(5)})
    document = json.loads(kitty.path.read_bytes())
    document["birth"] = "earlier-boot/pid:[1]/5"
    # An agent that is written now is not one that was replaced since then.
    document["written"] = time.time() + 3600
    kitty.path.write_text(json.dumps(document))
    return desk


def test_an_agent_that_no_file_describes(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own word on how it is resumed is kept, goes through the gate, and runs by the file that the host saw."""
    own = desk.folder / "own/zebra"
    own.parent.mkdir()
    own.symlink_to(desk.program)
    kitty = OpenConversations.for_host("kitty", desk.environ, lambda: 1_763_690_001.0)
    kitty.publish(
        [
            desk.pane(
                n,
                status=Status.WAITING,
                agent="zebra",
                resume=("zebra", "--resume", "{SessionId}", *more),
                conversation=ConversationEntry(agent="zebra", session=f"z{n}", cwd=str(desk.folder), program=str(own)),
            )
            for n, more in enumerate(((), ("--yolo",)))
        ],
        0.0,
    )
    document = json.loads(kitty.path.read_bytes())
    kitty.path.write_text(json.dumps(document | {"birth": "earlier-boot/pid:[1]/5"}))
    good, bad = (one["resume"] for one in desk.json(capsys)[:2])

    assert good["argv"] == [str(own), "--resume", "z0"]
    assert good["notes"][0].startswith("zebra has no agent file")
    assert (bad["refused"], bad["text"][:7]) == ("option", "'--yolo")


def _crashed(desk: Desk, panes: list[Pane], at: float = 1_763_690_001.0) -> None:
    """A kitty with *panes* is gone."""
    kitty = OpenConversations.for_host("kitty", desk.environ, lambda: at)
    kitty.publish(panes, 0.0)
    document = json.loads(kitty.path.read_bytes()) | {"birth": "earlier-boot/pid:[1]/5", "written": time.time() + 3600}
    kitty.path.write_text(json.dumps(document))


def test_two_that_asked_for_different_conversations(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """In one directory, without a session that is known: each goes on with its own, if that passes the gate."""
    here = ConversationEntry(agent="claude", cwd=str(desk.folder / "w1"))
    asked = [("--resume", "aaaa1111"), ("--resume", "bbbb2222"), ("--resume", "cc33", "--dangerously-skip-permissions")]
    panes = [
        desk.pane(n, status=Status.WAITING, conversation=here, resume=("claude", *words))
        for n, words in enumerate(asked)
    ]
    _crashed(desk, panes)
    found = [one["resume"] for one in desk.json(capsys)[:3]]

    assert [one.get("argv") for one in found[:2]] == [[desk.program, *words] for words in asked[:2]]
    assert found[2]["argv"] == [desk.program, "--continue"]
    assert found[2]["notes"][0].endswith("was not started with it.")
    assert main(["restore", "--list", "1", "2"]) == 0
    shown = capsys.readouterr().out
    assert "claude --resume aaaa1111" in shown and "claude --resume bbbb2222" in shown


def test_an_agent_that_outlives_kitty(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """It has a line that says what to do, and is resumed once it has ended."""
    agent = subprocess.Popen(["sleep", "600"])
    try:
        _crashed(desk, [desk.pane(1, agent_pid=agent.pid)])
        found = desk.json(capsys)[0]["resume"]
        assert (found["refused"], f"as process {agent.pid}; end that" in found["text"]) == ("running", True)
    finally:
        agent.kill()
        agent.wait()
    assert desk.json(capsys)[0]["resume"]["argv"] == [desk.program, "--resume", IDS[1]]


def test_two_of_which_nothing_is_known(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The first continues the latest conversation there; the other one has a line that says so, and stays."""
    here = ConversationEntry(agent="claude", cwd=str(desk.folder / "w1"))
    _crashed(desk, [desk.pane(n, status=Status.WAITING, conversation=here) for n in (1, 2)])
    first, second, *_ = (one["resume"] for one in desk.json(capsys))

    assert first["argv"] == [desk.program, "--continue"]
    assert (second["refused"], "1 already continues the latest one" in second["text"]) == ("latest", True)
    # By itself it can be.
    assert desk.json(capsys, "2")[0]["resume"]["argv"] == [desk.program, "--continue"]


def test_nothing_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was open, that is the message."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["restore"]) == 0
    assert capsys.readouterr().out == "no conversation is left to resume\n"


def test_the_list(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with what it was, what it asked, and the line that resumes it; or why that cannot be."""
    assert main(["restore", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1  Claude Code  api1"
    assert lines[1].startswith("   it was waiting for you; last seen ")
    assert lines[2] == "   “May I run `rm -rf build`?”"
    assert lines[3] == f"   cd {desk.folder}/w1 && {desk.program} --resume {IDS[1]}"
    assert lines[5].endswith(f" in tab “back end” of kitty-{os.getpid()}")
    assert lines[-1] == f"   not possible: the directory '{desk.folder}/w3' no longer exists"
    assert desk.started() == []


def test_what_is_named_needs_a_terminal(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Without one, what would run is listed, nothing is started, and it fails; the list alone is no failure."""
    assert main(["restore"]) == 0 and capsys.readouterr().err == ""
    assert main(["restore", "1"]) == 1
    assert "nothing was started" in capsys.readouterr().err and desk.started() == []


def test_json(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """One object, with the plan or the refusal of each; numbers choose."""
    found = desk.json(capsys, "2", "3")
    assert [one["number"] for one in found] == [2, 3]
    assert found[0]["resume"]["argv"] == [desk.program, "--resume", IDS[2]]
    assert found[1]["resume"]["refused"] == "directory"


def test_a_number_that_is_none(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """It says how to find the right one."""
    assert main(["restore", "7"]) == 1
    assert "there is no conversation 7" in capsys.readouterr().err


def test_forget(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """What is forgotten is not listed any more."""
    assert main(["restore", "--forget", "1", "3"]) == 0
    assert capsys.readouterr().out == "forgotten: 2 of 3\n"
    assert [one["pane"]["id"] for one in desk.json(capsys)] == ["2"]
    assert main(["restore", "--forget"]) == 0
    assert list(directory(desk.environ).glob("*.json")) == []


def test_what_runs_again_is_not_listed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """A conversation that somebody resumed in a terminal that is watched is not offered."""
    publish(desk.folder / "run", [desk.pane(1, id="9")])
    assert [one["pane"]["id"] for one in desk.json(capsys)] == ["2", "3"]


@pytest.mark.slow
def test_one_in_this_pane(desk: Desk) -> None:
    """Without a kitty to open tabs in, one is resumed where the command runs, after Enter, and not a second time."""
    with Terminal(rows=40) as terminal:
        terminal.start([*COMMAND, "1"], desk.environ)
        terminal.wait_for(b"--resume " + IDS[1].encode())
        assert desk.started() == []
        terminal.type(b"\r")
        terminal.wait_for(lambda _: bool(desk.started()))
        with Terminal(rows=40) as other:
            other.start(COMMAND, desk.environ)
            other.wait_for(b"--resume " + IDS[2].encode())
            assert IDS[1].encode() not in other.received
    assert desk.started() == [f"{desk.folder}/w1 --resume {IDS[1]}"]


@pytest.mark.slow
def test_one_that_cannot_be_resumed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """An agent that ends at once has resumed nothing: that is told, and the conversation can be resumed again."""
    Path(desk.program).write_text("#!/bin/sh\necho no such conversation\nexit 1\n")
    with Terminal(rows=40) as terminal:
        process = terminal.start([*COMMAND, "1"], desk.environ)
        terminal.wait_for(b"Enter")
        terminal.type(b"\r")
        terminal.wait_for(lambda _: process.poll() is not None)
        terminal.wait_for(b"it ended within 30 seconds")
    assert sorted(one["pane"]["id"] for one in desk.json(capsys)) == ["1", "2", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("way", [[], ["--tabs"]])
def test_a_tab_that_closes(desk: Desk, capsys: pytest.CaptureFixture[str], way: list[str]) -> None:
    """
    In a tab of kitty nobody sees why it ended: it is told, by name, at once or later, when the shell has gone on.

    An overlay waits. What runs on is not told of.
    """
    later = desk.folder / "later"
    kitten = desk.folder / "bin/kitten"
    kitten.write_text(
        "#!/bin/sh\n"
        'case "$2$*" in\n'
        "launch*/w1' '*) echo 7 ;;\n"
        "launch*) echo 8 ;;\n"
        f'ls*id:8*) [ -e {later} ] && echo \'[]\' || echo \'[{{"tabs": [{{"windows": [{{"id": 8}}]}}]}}]\' ;;\n'
        "ls*) echo 'Error: No matching windows for expression: id:7' >&2; exit 1 ;;\n"
        "esac\n"
    )
    kitten.chmod(0o755)
    with Terminal(rows=40) as terminal:
        inside = {"KITTY_WINDOW_ID": "4", **({} if way else {"KITTY_LISTEN_ON": "unix:/x"})}
        process = terminal.start([*COMMAND, *way], desk.environ | inside)
        terminal.wait_for(b"resume 2")
        terminal.type(b"\r")
        terminal.wait_for(b"api1: it ended within 30 seconds")
        assert b"api2: it ended" not in terminal.received
        if not way:
            terminal.wait_for(lambda _: process.poll() is not None)
        assert sorted(one["pane"]["id"] for one in desk.json(capsys)) == ["1", "3"]
        later.touch()
        terminal.wait_for(b"api2: it ended within 30 seconds")
        if way:
            terminal.wait_for(b"press Enter")
            assert process.poll() is None
            terminal.type(b"\n")
            terminal.wait_for(lambda _: process.poll() is not None)
    assert process.returncode == 1
    assert sorted(one["pane"]["id"] for one in desk.json(capsys)) == ["1", "2", "3"]


@pytest.mark.slow
def test_escape_starts_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Leaving the page leaves everything as it was."""
    with Terminal(rows=40) as terminal:
        process = terminal.start(COMMAND, desk.environ)
        terminal.wait_for(b"Enter")
        terminal.type(b"\x1b")
        assert process.wait(30) == 1
    assert desk.started() == [] and len(desk.json(capsys)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("works", [True, False])
def test_tabs_of_kitty(desk: Desk, capsys: pytest.CaptureFixture[str], *, works: bool) -> None:
    """In a kitty with remote control each opens in a tab; what kitty refuses stays on the list, with its reason."""
    asked = desk.folder / "asked"
    kitten = desk.folder / "bin/kitten"
    kitten.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {asked}\n' + ("" if works else "echo no tab >&2; exit 1\n"))
    kitten.chmod(0o755)
    inside = desk.environ | {"KITTY_WINDOW_ID": "4", "KITTY_LISTEN_ON": "unix:/x"}
    with Terminal(rows=40) as terminal:
        process = terminal.start(COMMAND, inside)
        terminal.wait_for(b"resume 2")
        terminal.type(b"\r")
        terminal.wait_for(lambda _: process.poll() is not None)
    assert process.returncode == (0 if works else 1)
    lines = asked.read_text().splitlines()
    base = "@ launch --type=tab --copy-env --source-window=id:4 --tab-title={tab} --title=↻  api{n} --cwd={cwd} "
    base += "--env=CLAUDE_CONFIG_DIR=/its/$$own "
    assert lines == [
        base.format(n=n, tab=tab, cwd=desk.folder / f"w{n}") + f"{desk.program} --resume {IDS[n]}"
        for n, tab in ((1, "↻  api1"), (2, "back end"))
    ]
    assert [one["pane"]["id"] for one in desk.json(capsys)] == (["3"] if works else ["1", "2", "3"])
    assert (b"no tab" in terminal.received) is not works


@pytest.mark.slow
@pytest.mark.parametrize("works", [True, False])
def test_tabs_of_wezterm(desk: Desk, capsys: pytest.CaptureFixture[str], *, works: bool) -> None:
    """In WezTerm each opens in a tab, by the program that its sidecar names; what closes at once stays on the list."""
    asked, wezterm = desk.folder / "asked", desk.folder / "bin/its-wezterm"
    wezterm.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$CLAUDE_CONFIG_DIR $*" >> {asked}\n'
        'case "$*" in\n*" list "*) echo \'[{"pane_id": 8}]\' ;;\n'
        + ("*/w1*) echo 7 ;;\n*) echo 8 ;;\nesac\n" if works else "*) echo no tab >&2; exit 1 ;;\nesac\n")
    )
    wezterm.chmod(0o755)
    gui = subprocess.Popen(["sleep", "600"])
    words = ["host", "wezterm", "--pid", str(gui.pid), "--wezterm", str(wezterm)]
    sidecar = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", *words])
    snapshots = desk.folder / "run/tallylight"
    snapshots.mkdir(mode=0o700, exist_ok=True)
    (snapshots / f"wezterm-{gui.pid}.lock").write_text(str(sidecar.pid))
    socket = str(desk.folder / f"run/wezterm/gui-sock-{gui.pid}")
    try:
        with Terminal(rows=40) as terminal:
            inside = {"TERM_PROGRAM": "WezTerm", "WEZTERM_PANE": "4", "WEZTERM_UNIX_SOCKET": socket}
            process = terminal.start(COMMAND, desk.environ | inside)
            terminal.wait_for(b"resume 2")
            terminal.type(b"\r")
            terminal.wait_for(lambda _: process.poll() is not None)
    finally:
        for started in (sidecar, gui):
            started.kill()
            started.wait()
    opened = [line for line in asked.read_text().splitlines() if " spawn " in line]
    assert opened == [
        f"/its/$own cli --no-auto-start spawn --pane-id 4 --domain-name local --cwd {desk.folder}/w{n} -- "
        f"{desk.program} --resume {IDS[n]}"
        for n in (1, 2)
    ]
    assert process.returncode == 1
    assert (b"no tab" in terminal.received, b"api1: it ended within 30" in terminal.received) == (not works, works)
    assert sorted(one["pane"]["id"] for one in desk.json(capsys)) == (["1", "3"] if works else ["1", "2", "3"])


HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"session": "--dangerously-skip-permissions"}, "value"),
    ({"session": "-p"}, "value"),
    ({"session": "a b"}, "value"),
    ({"session": "a\nb"}, "value"),
    ({"session": "../../etc/passwd"}, "value"),
    ({"session": "@evil"}, "value"),
    ({"session": "x" * 257}, "value"),
    ({"cwd": "w1"}, "directory"),
    ({"cwd": "../w1"}, "directory"),
    ({"cwd": "/nonexistent"}, "directory"),
    ({"cwd": "/etc/passwd"}, "directory"),
    ({"cwd": ""}, "directory"),
    ({"agent": "bash"}, "process"),
    ({"agent": "/bin/sh"}, "process"),
    ({"agent": "claude --resume"}, "process"),
]


@pytest.mark.parametrize(("change", "rule"), HOSTILE)
def test_what_a_file_makes_of_a_conversation(
    desk: Desk, capsys: pytest.CaptureFixture[str], change: dict[str, Any], rule: str
) -> None:
    """A kept file that says something else than a conversation of this person's is refused by the rule for that."""
    (kept,) = directory(desk.environ).glob("kitty-*.json")
    document = json.loads(kept.read_bytes())
    pane = document["panes"][0]
    pane["conversation"] |= change
    document["panes"] = [pane]
    kept.write_text(json.dumps(document))
    (found,) = desk.json(capsys)
    assert found["resume"]["refused"] == rule
    assert desk.started() == []


def test_flags_of_a_file_are_not_added(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """No option that a kept file names is started with, and no argument list that does not pass the gate."""
    (kept,) = directory(desk.environ).glob("kitty-*.json")
    document = json.loads(kept.read_bytes())
    document["panes"][0]["conversation"]["flags"] = ["--dangerously-skip-permissions", "--yolo"]
    document["panes"][0]["resume"] = ["claude", "--resume", "x", "--dangerously-skip-permissions"]
    kept.write_text(json.dumps(document))
    assert desk.json(capsys)[0]["resume"]["argv"] == [desk.program, "--resume", IDS[1]]


def test_an_update_is_told(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the agent's program was replaced since the conversation was last seen, the list says so."""
    assert all(one["resume"].get("notes", []) == [] for one in desk.json(capsys))
    (kept,) = directory(desk.environ).glob("kitty-*.json")
    kept.write_text(json.dumps(json.loads(kept.read_bytes()) | {"written": time.time() - 3600}))
    assert main(["restore", "--list", "1"]) == 0
    assert "Claude Code has been updated or replaced since then" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("what", ["directory", "program"])
def test_what_changed_after_the_page(desk: Desk, what: str) -> None:
    """If the agent's program or directory is another one than was shown, nothing is started."""
    with Terminal(rows=40) as terminal:
        process = terminal.start([*COMMAND, "1"], desk.environ)
        terminal.wait_for(b"--resume")
        if what == "directory":
            (desk.folder / "w1").rmdir()
        else:
            newer = desk.folder / "newer"
            newer.write_bytes(Path(desk.program).read_bytes())
            newer.chmod(0o755)
            newer.rename(desk.program)
        terminal.type(b"\r")
        terminal.wait_for(lambda _: process.poll() is not None)
        terminal.wait_for(b"what would run has changed")
    assert desk.started() == []


def test_one_by_its_place(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """A place names a conversation as long as it is kept; with it, what is started is started here."""
    place = desk.json(capsys)[1]["place"]
    assert [found["place"] for found in desk.json(capsys, place)] == [place]
    assert main(["restore", place, "--list"]) == 0
    shown = capsys.readouterr().out
    assert IDS[2] in shown and IDS[1] not in shown
    assert main(["restore", "--forget", place]) == 0
    capsys.readouterr()
    assert main(["restore", place]) == 0
    assert capsys.readouterr().out == "no conversation is left to resume\n"


@pytest.mark.slow
def test_otherwise(desk: Desk) -> None:
    """What a window would have run is run where nothing is resumed."""
    with Terminal() as terminal:
        terminal.start([*COMMAND, "kitty-1-2:3", "--otherwise", "echo", "as", "--ever"], desk.environ)
        terminal.wait_for(b"as --ever")
    assert desk.started() == []


def test_a_session_file(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only windows of conversations that are kept change, shown first; a second time nothing does."""
    file = tmp_path / "work.kitty-session"
    line = "launch 'kitty-unserialize-data={{\"id\": {}}}' --cwd={}\n"
    text = line.format(1, tmp_path / "w1") + line.format(2, tmp_path / "w1") + line.format(5, tmp_path / "w1")
    file.write_text(text)
    assert main(["restore", "--session", str(file)]) == 1
    told = capsys.readouterr()
    assert file.read_text() == text and "--yes" in told.err and "\n-launch" in told.out

    assert main(["restore", "--session", str(file), "--yes"]) == 0
    capsys.readouterr()
    first, *rest = file.read_text().splitlines(keepends=True)
    place = desk.json(capsys)[0]["place"]
    assert f'"restore", "{place}"]' in first and "".join(rest) == "".join(text.splitlines(keepends=True)[1:])
    assert main(["restore", "--session", str(file), "--yes"]) == 0
    assert "left as it is: its windows do that already" in capsys.readouterr().out
    assert main(["restore", "--session", str(tmp_path / "none")]) == 1


def test_what_asked_stands_first(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """Then what had failed, and the rest as its tabs were."""
    kitty = OpenConversations.for_host("kitty", desk.environ, lambda: 1_763_690_000.0)
    states = (Status.WORKING, Status.ERROR, Status.IDLE, Status.WAITING)
    kitty.publish([desk.pane(n, status=status) for n, status in enumerate(states)], 0.0)
    document = json.loads(kitty.path.read_bytes()) | {"birth": "earlier-boot/pid:[1]/5", "written": time.time() + 3600}
    kitty.path.write_text(json.dumps(document))
    assert [one["pane"]["id"] for one in desk.json(capsys)] == ["3", "1", "0", "2"]
