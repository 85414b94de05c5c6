"""Panes of real tmux and GNU Screen, with a program called `claude` that asks twice: answered, and typed into."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.actions import answer, close, say
from tallylight.actions import client as actions_client
from tallylight.actions.answer import Done, Occupant, Question, Seen, Typist
from tallylight.actions.answered import OnDisk
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.permission import PERSON_ONLY
from tallylight.actions.request import STRETCH, Reply, Stretch, Visible, decode_reply, encode
from tallylight.actions.say import Interrupt, Say
from tallylight.agents import agent_files
from tallylight.evidence.foreground import NOBODY
from tallylight.files import directories
from tallylight.hosts.detached import pane as detached
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.hosts.gnu_screen.source import ScreenSource
from tallylight.hosts.polling import queue as text_queue
from tallylight.hosts.polling.host import PollingHost
from tallylight.hosts.polling.queue import DeferredTexts
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.tmux.source import TmuxSource
from tallylight.model.errors import SessionError
from tallylight.model.status import Status
from tallylight.parts.lab import stretch
from tallylight.parts.shift.kept import LEFT
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tallylight.wire.styled import PLAIN, Run, Style, StyledScreen, plain
from tests.actions.callers import CALLERS
from tests.actions.words import asked
from tests.entries import new_pane
from tests.patience import until
from tests.ui.agent_list.program import List

pytestmark = pytest.mark.programs

#: It draws a recorded dialog for each command, then a recorded prompt, then that it works; and notes what it is typed.
AGENT = r"""#!/usr/bin/python3
import os, sys, tty
folder = os.path.dirname(os.path.abspath(__file__))
screens = sys.argv[1]

def show(name, old="", new=""):
    head, _, body = open(f"{screens}/{name}.txt").read().partition("---\n")
    row = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("cursor:"))
    lines = body.replace(old, new).rstrip("\n").split("\n") if old else body.rstrip("\n").split("\n")
    # A line across is as long as the terminal is wide, as its agent draws it.
    lines = [line[0] * os.get_terminal_size().columns if set(line) in ({"─"}, {"╌"}) else line for line in lines]
    sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(lines) + f"\x1b[{row + 1};{len(lines[row]) + 1}H")
    sys.stdout.flush()

def read(end):
    data = b""
    while not data or not data.endswith(end):
        data += os.read(0, 4096)
        with open(f"{folder}/typed", "wb") as file:
            file.write(b"".join(typed) + data)
    typed.append(data)

typed = []
tty.setraw(0)
for command in ("echo one", "rm -rf build"):
    show("permission-bash-80", "touch made1", command)
    read(b"")
show("idle-after-turn-80")
read(b"\r")
show("working-80")
read(b"\x1b")
"""
SCREENS = Path(__file__).parents[1] / "evidence/screens/claude"


@attrs.define
class Room:
    """A session in which the program runs, and `cat` after it."""

    folder: Path
    environ: dict[str, str]
    sight: SourcePane
    multiplexers: PaneAccess
    agent: str = "claude"

    def pane(self, status: Status = Status.WAITING) -> Pane:
        """What its host would say of it."""
        return new_pane(id=self.sight.id, status=status, agent=self.agent, attach=self.sight.attach)

    def typist(self, status: Status = Status.WAITING) -> Typist:
        found = self.multiplexers.at("sessions-1", self.pane(status))
        assert not isinstance(found, Refusal)
        return found

    def asked(self, text: str) -> Question:
        """The question, once *text* stands in it."""
        found: list[Question | Refusal] = []

        def is_there() -> bool:
            found.append(answer.ask(self.typist()))
            return isinstance(found[-1], Question) and any(text in row for row in found[-1].context)

        until(is_there, f"{text!r} is not asked")
        assert isinstance(found[-1], Question)
        return found[-1]

    @property
    def typed(self) -> bytes:
        """What the program was typed."""
        file = self.folder / "typed"
        return file.read_bytes() if file.exists() else b""


@pytest.fixture(params=["tmux", "screen"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    """The program in a session of 100 columns and 40 rows; or of 80 and 24, in Screen."""
    with session(request.param, tmp_path, "claude", AGENT, SCREENS) as made:
        yield made


@contextlib.contextmanager
def session(multiplexer: str, tmp_path: Path, agent: str, text: str, screens: Path) -> Iterator[Room]:
    """The program *text*, called *agent* and told where its *screens* are, in a session of tmux or GNU Screen."""
    for name in ("run", "tmux", "screen", "bin"):
        (tmp_path / name).mkdir(mode=0o700)
    kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
    environ = {
        **kept, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "TMUX_TMPDIR": str(tmp_path / "tmux"), "HOME": str(tmp_path),
        "SCREENDIR": str(tmp_path / "screen"), "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    program = tmp_path / "bin" / agent
    program.write_text(text)
    program.chmod(0o755)
    command = ["sh", "-c", f"{program} {screens}; exec cat"]
    is_tmux = multiplexer == "tmux"
    how = (
        ["tmux", "new-session", "-d", "-x", "100", "-y", "40", "-s", "one"]
        if is_tmux
        else ["screen", "-U", "-dmS", "one"]
    )
    subprocess.run([*how, *command], env=environ, check=True)
    source = TmuxSource(environ, shows_lights=False) if is_tmux else ScreenSource(environ)
    found: list[SourcePane] = []

    def is_there() -> bool:
        found[:] = [sight for sight in source.look() or () if sight.read or sight.together]
        return bool(found)

    try:
        until(is_there, "the session is not seen")
        yield Room(tmp_path / "bin", environ, found[0], PaneAccess(environ), agent)
    finally:
        source.close()
        kill = ["tmux", "kill-server"] if is_tmux else ["screen", "-S", "one", "-X", "quit"]
        subprocess.run(kill, env=environ, check=False, stdout=subprocess.DEVNULL)


def test_a_pane_is_closed_with_what_was_shown_in_it(room: Room) -> None:
    """By the host's own command, once the same program is still in front; then the session is over."""
    room.asked("echo one")
    held = close.occupant(room.typist())
    assert isinstance(held, Occupant) and held.agent == "claude"
    closer = room.multiplexers.at("sessions-1", room.pane())
    assert not isinstance(closer, Refusal)
    other = close.close(closer, Close(held.pane, held.pid, held.start + 1))
    assert isinstance(other, Refusal) and other.rule == "process" and close.occupant(room.typist()) == held

    assert close.close(closer, Close(held.pane, held.pid, held.start)) == Done(held.pane, "closed")
    until(lambda: not Path(f"/proc/{held.pid}").exists(), "the program goes on")
    gone = close.close(closer, Close(held.pane, held.pid, held.start))
    assert isinstance(gone, Refusal) and gone.rule in ("gone", "unreachable")


def test_of_two_queued_dialogs_one_is_answered(room: Room) -> None:
    """An answer is for the dialog that was seen: given twice it approves nothing else. Then a text, an interruption."""
    first = room.asked("echo one")
    assert answer.answer(room.typist(), first.answer(1)) == Done(room.sight.id, "answered 1. Yes")
    second = room.asked("rm -rf build")
    assert room.typed == b"1"

    again = answer.answer(room.typist(), first.answer(1))
    assert isinstance(again, Refusal) and again.rule == "changed"
    text = Say(second.pane, second.pid, second.start, "go on", enter=True)
    refused = say.say(room.typist(Status.IDLE), text)
    assert isinstance(refused, Refusal) and refused.rule == "asking"
    assert room.typed == b"1"

    assert answer.answer(room.typist(), second.answer(4)) == Done(second.pane, "answered 4. No")
    until(lambda: room.typed == b"14", f"the answer did not arrive: {room.typed!r}")
    _say_and_interrupt(room, text)


def _say_and_interrupt(room: Room, text: Say) -> None:
    """At its prompt; as it works; and when it has gone."""
    idle, working = room.typist(Status.IDLE), room.typist(Status.WORKING)
    hard = attrs.evolve(text, text="'\"$HOME ^C \\x03 `id` #{pid} -t %1 grüße 日本;kill-server;")
    until(lambda: _is(idle, hard, "lines"), "it is not at its prompt")
    assert isinstance(say.interrupt(idle, Interrupt(text.pane, text.pid, text.start)), Refusal)

    assert say.say(idle, hard) == Done(text.pane, "sent, and Enter pressed")
    until(lambda: room.typed == f"14{hard.text}\r".encode(), f"the text did not arrive whole: {room.typed!r}")
    until(lambda: _is(idle, hard, "working"), "it does not work")
    stopped = say.interrupt(working, Interrupt(text.pane, text.pid, text.start))
    assert stopped == Done(text.pane, "interrupted")
    until(lambda: room.typed.endswith(b"\r\x1b"), f"Escape did not arrive: {room.typed!r}")

    until(lambda: _is(idle, hard, "process"), "the program is still there")
    held = answer.holder(idle)
    assert isinstance(held, Refusal) and held.rule == "process"


def _is(typist: Typist, text: Say, rule: str) -> bool:
    """Whether a text of two lines is refused by *rule*; neither multiplexer tells that its program takes pastes."""
    found = say.say(typist, attrs.evolve(text, text="x\ny"))
    return isinstance(found, Refusal) and found.rule == rule


def test_the_list_answers_one_of_them(room: Room, tmp_path: Path) -> None:
    """From the list in a terminal of its own: `a` shows it, a number answers it, and the next one stays unanswered."""
    room.asked("echo one")
    writer = SnapshotWriter.for_host("sessions", room.environ, time.time)
    while not writer.path.exists():
        writer.publish((attrs.evolve(room.pane(), project="shop"),), time.monotonic())
        writer.flush(time.monotonic())
    names = ("TMUX_TMPDIR", "SCREENDIR", "LC_ALL", "PATH")
    shown = List(tmp_path / "run", "agents", **{name: room.environ[name] for name in names})
    with shown.terminal:
        shown.wait("shop")
        shown.terminal.type(b"a")
        shown.wait("to read: scroll")
        shown.terminal.type(b"1")
        shown.wait("read all of it first")
        while "to read" in (before := shown.screen()[-1]) or "read all" in before:
            shown.terminal.type(b"\x1b[6~")
            shown.wait(lambda lines, before=before: lines[-1] != before)
        shown.answer(b"1", "answered 1. Yes")
        room.asked("rm -rf build")
        shown.terminal.type(b"1q")
        assert shown.end() == 0
    assert room.typed == b"1"


def test_the_list_writes_to_one_of_them(room: Room, tmp_path: Path) -> None:
    """`e` while it asks says so; at its prompt what is written is typed, with Enter, and once."""
    shown = room.asked("echo one")
    writer = SnapshotWriter.for_host("sessions", room.environ, time.time)

    def publish(status: Status) -> None:
        writer.publish((attrs.evolve(room.pane(status), project="shop"),), time.monotonic())
        while not writer.path.exists() or writer.due(time.monotonic()) is not None:
            writer.flush(time.monotonic())

    publish(Status.WAITING)
    names = ("TMUX_TMPDIR", "SCREENDIR", "LC_ALL", "PATH")
    listed = List(tmp_path / "run", "agents", **{name: room.environ[name] for name in names})
    with listed.terminal:
        listed.wait("shop")
        listed.terminal.type(b"e")
        listed.wait("it asks something")
        listed.terminal.type(b"\x1b")
        listed.wait("? help")
        for question in (shown, None):
            given = (question or room.asked("rm -rf build")).answer(1)
            assert isinstance(answer.answer(room.typist(), given), Done)
        publish(Status.DONE)
        listed.wait("1 done")
        until(lambda: not isinstance(say.prompt_agent(room.typist(Status.DONE)), Refusal), "it is not at its prompt")
        listed.terminal.type(b"e")
        listed.wait("to claude in shop")
        listed.terminal.type("\x1b[200~grüße an alle\x1b[201~!\x1b\r\x7f".encode())
        listed.wait("grüße an alle!")
        listed.terminal.type(b"\r")
        until(lambda: room.typed.endswith("grüße an alle!\r".encode()), "nothing was typed")
        listed.wait("sent")
        listed.terminal.type(b"e")
        listed.wait("it is working")
        listed.terminal.type(b"\x1b")
        listed.wait("? help")
        listed.terminal.type(b"q")
        assert listed.end() == 0
    assert room.typed == "11grüße an alle!\r".encode()


@pytest.fixture
def served(room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[PollingHost]:
    """The host of its session, in this process, which takes texts; the list that a test opens is a person's."""
    monkeypatch.setattr(actions_client, "caller_of", lambda *_, **__: CALLERS[Who.PERSON])
    with serving(room) as poller:
        yield poller


@contextlib.contextmanager
def serving(room: Room) -> Iterator[PollingHost]:
    """A host of its session, from its start to its end."""
    source = TmuxSource(room.environ) if room.pane().id.startswith("tmux/") else ScreenSource(room.environ)
    poller = PollingHost("sessions", [source], room.environ)
    DeferredTexts.serve(poller, "sessions", room.multiplexers, room.environ)
    thread = threading.Thread(target=poller.run)
    thread.start()
    yield poller
    poller.stop()
    thread.join()


def test_a_text_waits_for_the_end_of_a_turn(room: Room, served: PollingHost, tmp_path: Path) -> None:
    """What is written for an agent that asks is typed by its host once it is at its prompt, and into no dialog."""
    room.asked("echo one")
    names = ("TMUX_TMPDIR", "SCREENDIR", "LC_ALL", "PATH")
    listed = List(tmp_path / "run", "agents", **{name: room.environ[name] for name in names})
    with listed.terminal:
        listed.wait("1 wait")
        for text, waits in (("no", True), ("", False), ("and then ü", True)):
            if text:
                listed.terminal.type(b"e")
                listed.wait("queued until its turn ends")
                listed.terminal.type(f"{text}\r".encode())
            else:
                listed.terminal.type(b"E")
            listed.wait(lambda lines, text=text, waits=waits: (f"queued: {text}" in lines[1]) is waits)
        for question in ("echo one", "rm -rf build"):
            assert isinstance(answer.answer(room.typist(), room.asked(question).answer(1)), Done)
        until(lambda: room.typed.endswith(b"\r"), "nothing was typed")
        listed.wait(lambda lines: "queued: and" not in "\n".join(lines))
        listed.terminal.type(b"q")
        assert listed.end() == 0
    assert room.typed == "11and then ü\r".encode()
    assert not served.problems


def test_what_waits_for_the_end_of_a_limit_when_its_host_ends(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next host shows it and types nothing, at its prompt and with its limit over, before a person queues it."""
    monkeypatch.setattr(actions_client, "caller_of", lambda *_, **__: CALLERS[Who.PERSON])
    question, pane = room.asked("echo one"), room.pane().id
    at = int(time.time()) + 2

    def queue() -> None:
        line = encode(asked("queue", pane, str(question.pid), str(question.start), "go on", str(at)))
        with sockets.connect(f"sessions-{os.getpid()}", 30, room.environ) as connection:
            connection.sendall(line)
            assert isinstance(decode_reply(connection.recv(4096)), Done)

    with serving(room) as poller:
        until(lambda: poller.entry(pane), "the host knows no pane")
        queue()
        kept = directories.state_dir(room.environ) / "shifts"
        until(lambda: kept.is_dir() and [*kept.iterdir()], "nothing is kept")
    assert isinstance(answer.answer(room.typist(), question.answer(1)), Done)
    assert isinstance(answer.answer(room.typist(), room.asked("rm -rf build").answer(1)), Done)
    until(lambda: time.time() >= at, "the limit does not end")
    assert room.typed == b"11"
    with serving(room) as again:
        until(lambda: (one := again.entry(pane)) is not None and one.queue.problem == LEFT, "nothing is told")
        assert room.typed == b"11"
        queue()
        until(lambda: room.typed.endswith(b"\r"), "nothing was typed")
        entry = again.entry(pane)
    assert room.typed == b"11go on\r"
    assert entry is not None and entry.queue.text == "go on" and not entry.queue.problem


def test_the_last_two_minutes_are_told(room: Room, served: PollingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """As its host remembers them: they give the light that it shows. One who may not read the screen gets none."""
    room.asked("echo one")
    id_ = room.pane().id

    def entry() -> Pane | None:
        found = served.entry(id_)
        return found if found is not None and found.status is Status.WAITING else None

    until(entry, "its host shows no light")
    found = Row(f"sessions-{os.getpid()}", room.pane())

    client = PaneClient(room.multiplexers, lambda: CALLERS[Who.PERSON], lambda _: "own", environ=room.environ)
    tape = client.look(found, STRETCH)
    assert isinstance(tape, Stretch), tape
    shown = stretch.lights(stretch.of_tape(tape.tape), agent_files.load_agents({})[0])
    assert shown[-1].decision.status is Status.WAITING
    assert "screen rule: " in shown[-1].decision.reason.rule
    monkeypatch.setattr(actions_client, "caller_of", lambda *_, **__: CALLERS[Who.UNKNOWN])
    refused = client.look(found, STRETCH)
    assert isinstance(refused, Refusal) and refused.rule == "caller"
    assert not served.problems


@pytest.mark.parametrize("room", ["tmux"], indirect=True)
def test_what_was_answered_is_watched_by_its_host(room: Room, served: PollingHost) -> None:
    """Whoever has answered, and is gone: the host sees the agent go on, so that the next question is a new one."""
    notes = OnDisk(room.environ)
    given = room.asked("echo one").answer(1)
    assert notes.add((given.pane, given.pid, given.start), given.fingerprint)
    assert notes.add(("tmux/9/%9", given.pid, given.start), given.fingerprint)
    found = Once(0.0, OnDisk(room.environ)).answer(room.typist(), given)
    assert isinstance(found, Refusal) and found.rule == "answered" and room.typed == b""
    room.typist().press("1")
    room.asked("rm -rf build")
    until(lambda: len(list(notes.all())) == 1, "the host has not seen it go on")
    # Of an agent that is gone nobody waits for anything.
    assert notes.add((given.pane, 1, 1), given.fingerprint)
    until(lambda: len(list(notes.all())) == 1, "the host still waits for it")
    assert not served.problems


@pytest.mark.parametrize("room", ["tmux"], indirect=True)
def test_a_script_has_a_text_wait_in_its_own_pane(
    room: Room, served: PollingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that it started, and one text; it does not take the place of another one, nor does it take one back."""
    question, script = room.asked("echo one"), CALLERS[Who.SCRIPT]
    pane, given = room.pane(), (str(question.pid), str(question.start))
    monkeypatch.setattr(actions_client, "caller_of", lambda *_, **__: script)
    own = script.being, (question.pid, question.start)
    monkeypatch.setattr(PaneAccess, "started_by", lambda *_: own)

    def said(*words: str, **more: bool) -> Reply | Visible:
        with sockets.connect(f"sessions-{os.getpid()}", 30, room.environ) as connection:
            connection.sendall(encode(asked(*words), **more))
            return decode_reply(connection.recv(4096))

    until(lambda: said("queue", pane.id, *given, "") != text_queue._GONE, "the host knows no pane")
    assert isinstance(said("queue", pane.id, *given, "then commit it"), Done)
    assert getattr(said("queue", pane.id, *given, "or not"), "rule", "") == "queued"
    # Nor does a key that the process table does not bear out make it a person.
    for is_key in (False, True):
        assert getattr(said("unqueue", pane.id, is_key=is_key), "rule", "") == "permission"
    assert not served.problems and room.typed == b""


@pytest.mark.parametrize("room", ["tmux"], indirect=True)
def test_who_cannot_queue_a_text(room: Room, served: PollingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent, another user, a pane that is not there, another process, and words that make no sense."""
    question = room.asked("echo one")
    given = (str(question.pid), str(question.start))
    name = f"sessions-{os.getpid()}"

    def told(line: bytes) -> str:
        with sockets.connect(name, 30, room.environ) as connection:
            connection.sendall(line)
            return str(decode_reply(connection.recv(4096)).text)  # type: ignore[union-attr]

    def said(*words: str) -> str:
        return told(encode(asked(*words)))

    until(lambda: said("queue", room.pane().id, *given, "") == "there is nothing to type", "the host knows no pane")
    for words, problem in (
        (("queue", "tmux/9/%9", *given, "x"), "gone"),
        (("queue", room.pane().id, given[0], "1", "x"), "another process"),
        (("queue", room.pane().id, *given, "a\nb"), "bracketed paste"),
        (("screen", room.pane().id), "know"), (("interrupt", room.pane().id, *given), "know"),
    ):  # fmt: skip
        assert problem in str(said(*words)), words
    assert "know" in told(b"[]\n") and "know" in told(b"\n")
    flood = sockets.connect(name, 30, room.environ)
    with flood, contextlib.suppress(OSError):
        for _ in range(100):
            flood.sendall(b"x" * 65536)
    for who in (Who.SCRIPT, Who.AGENT, Who.STRAY, Who.UNKNOWN):
        monkeypatch.setattr(actions_client, "caller_of", lambda *_, who=who, **__: CALLERS[who])
        assert "nothing was done" in told(encode(asked("queue", room.pane().id, *given, "x")))
    monkeypatch.setattr(text_queue.sockets, "peer", lambda _: sockets.Peer(1, os.getuid() + 1))
    path = sockets.path_of(name, room.environ)
    with socket.socket(socket.AF_UNIX) as connection, sockets.address_of(path) as address:
        connection.connect(address)
        connection.sendall(encode(asked("queue", room.pane().id, *given, "x")))
        assert decode_reply(connection.recv(4096)) == PERSON_ONLY
    assert not served.problems and room.typed == b""


def test_the_list_previews_one_of_them(room: Room, tmp_path: Path) -> None:
    """Space shows its screen as it is, and as it becomes; when the session is gone the preview says so."""
    shown = room.asked("echo one")
    writer = SnapshotWriter.for_host("sessions", room.environ, time.time)
    while not writer.path.exists():
        writer.publish((attrs.evolve(room.pane(), project="shop"),), time.monotonic())
        writer.flush(time.monotonic())
    names = ("TMUX_TMPDIR", "SCREENDIR", "LC_ALL", "PATH")
    listed = List(tmp_path / "run", "agents", **{name: room.environ[name] for name in names})
    with listed.terminal:
        listed.wait("shop")
        listed.terminal.type(b" ")
        listed.wait("4. No")
        listed.terminal.type(b"[[[")
        listed.wait("echo one")
        assert isinstance(answer.answer(room.typist(), shown.answer(1)), Done)
        listed.wait("rm -rf build")
        for session in ("one", "screen"):
            subprocess.run(["tmux", "kill-session", "-t", session], env=room.environ, capture_output=True)
            subprocess.run(["screen", "-X", "-S", session, "quit"], env=room.environ, capture_output=True)
        listed.wait("the session is gone")
        listed.terminal.type(b"q")
        assert listed.end() == 0


@pytest.mark.parametrize("room", ["tmux"], indirect=True)
def test_tmux_tells_where_keys_would_not_go(room: Room) -> None:
    """In copy mode, with its input off, or synchronised with others, a pane is neither answered nor typed into."""
    shown = room.asked("echo one")

    def tmux(*command: str) -> None:
        subprocess.run(["tmux", *command], env=room.environ, check=True)

    for begin, end, rule in (
        (("copy-mode", "-t", "one"), ("send-keys", "-t", "one", "-X", "cancel"), "mode"),
        (("select-pane", "-d", "-t", "one"), ("select-pane", "-e", "-t", "one"), "mode"),
        (("set-option", "-w", "-t", "one", "synchronize-panes", "on"),
         ("set-option", "-w", "-t", "one", "synchronize-panes", "off"), "synchronized"),
    ):  # fmt: skip
        tmux(*begin)
        found = answer.answer(room.typist(), shown.answer(1))
        assert isinstance(found, Refusal) and found.rule == rule
        tmux(*end)
    tmux("resize-window", "-t", "one", "-x", "99")
    found = answer.answer(room.typist(), shown.answer(1))
    assert isinstance(found, Refusal) and found.rule == "changed"
    tmux("kill-server")
    found = answer.answer(room.typist(), shown.answer(1))
    assert isinstance(found, Refusal) and found.rule == "gone"
    assert room.typed == b""


@pytest.mark.parametrize("room", ["tmux"], indirect=True)
def test_a_screen_of_tmux_has_its_colours(room: Room) -> None:
    """Styles that go on in the next line, line drawing, wide characters; nothing that a terminal would act upon."""
    drawn = r"\033[1;38;2;1;2;3mbold\nstill\033[m 世界\n\033(0lqk\033(B \033]8;;http://x\033\\link\033]8;;\033\\"
    command = ["tmux", "respawn-pane", "-k", "-t", "one", f"printf '{drawn}'; exec cat"]
    subprocess.run(command, env=room.environ, check=True)

    def screen_now() -> StyledScreen:
        return room.multiplexers.screen("sessions-1", room.pane())

    until(lambda: any("link" in plain(line) for line in screen_now().lines), "nothing is drawn")
    screen = screen_now()

    bold = Style(foreground=(1, 2, 3), is_bold=True)
    assert screen.lines == ((Run("bold", bold),), (Run("still", bold), Run(" 世界")), (Run("┌─┐ link"),))
    assert (screen.columns, screen.cursor) == (100, (2, 8))
    subprocess.run(["tmux", "kill-server"], env=room.environ, check=True)
    with pytest.raises(SessionError):
        room.multiplexers.screen("sessions-1", room.pane())


@pytest.mark.parametrize("room", ["screen"], indirect=True)
def test_a_screen_of_gnu_screen_has_none(room: Room) -> None:
    """A hardcopy is text alone."""
    room.asked("echo one")

    screen = room.multiplexers.screen("sessions-1", room.pane())

    assert any("echo one" in plain(line) for line in screen.lines)
    assert {run.style for line in screen.lines for run in line} == {PLAIN}


def test_what_comes_before_the_keys_gets_none(room: Room) -> None:
    """Keys and texts are for the screen that was seen; for another one nothing is typed, and nothing kept."""
    room.asked("echo one")
    typist = room.typist()
    first = typist.see()
    assert isinstance(first, Seen)
    assert typist.press("1")
    room.asked("rm -rf build")
    assert not typist.press("1", first)
    assert not typist.paste("1", enter=True, seen=first)
    assert room.typed == b"1"
    second = typist.see()
    assert isinstance(second, Seen)
    assert typist.paste("1", enter=False, seen=second)
    until(lambda: room.typed == b"11", "it was not typed")
    if isinstance(typist, detached.TmuxPane):
        buffers = subprocess.run(["tmux", "list-buffers"], env=room.environ, check=True, capture_output=True)
        assert buffers.stdout == b""


@pytest.mark.parametrize(
    ("keys", "parts"),
    [
        ("1", ["-- 1"]), ("y\r", ["-- y", "Enter"]), ("yes\r", ["-- yes", "Enter"]), ("\x1b", ["Escape"]),
        ("\x1b[Z", ["BTab"]), ("\x1b[B\x1b[B\r", ["Down", "Down", "Enter"]), ("\x1b\x1b", ["Escape", "Escape"]),
        ("a\tb;", ["-- a", "Tab", "-- b\\;"]),
    ],
)  # fmt: skip
def test_keys_are_split_by_their_names(keys: str, parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Text stays together; what has a name is a key of its own, all by one command."""
    given: list[str] = []
    monkeypatch.setattr(detached, "tmux_output", lambda _socket, _env, *command: given.append(" ".join(command)))
    detached.TmuxPane(Pane(id="tmux/1/%3", status=Status.WAITING), "/s", "%3", lambda *_: NOBODY, {}).press(keys)
    assert given == [" ; ".join(f"send-keys -t %3 {part}".replace(" --", " -l --") for part in parts)]


@pytest.mark.parametrize(
    ("text", "argument"), [("a", "a"), ("a;", "a\\;"), (";", "\\;"), ("a;b", "a;b"), ("a\\;", "a\\\\;")]
)
def test_no_argument_ends_a_command(text: str, argument: str) -> None:
    """tmux takes a `;` at the end of an argument for the end of the command, unless it is escaped."""
    assert detached.argument(text) == argument


def test_a_pane_that_is_no_detached_session_is_refused() -> None:
    """There is nothing to look at and to type into."""
    found = PaneAccess({}).at("kitty-1", Pane(id="1", status=Status.WAITING))

    assert isinstance(found, Refusal) and found.rule == "unreachable"
