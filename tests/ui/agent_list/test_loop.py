"""The list in a terminal, without kitty: drawn on a pseudoterminal, read back with a terminal emulator."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest

from tallylight.actions.answer import Answer, Done
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Open, Reply, Request, decode_request, encode_reply
from tallylight.cli import agents
from tallylight.snapshot.labels_file import LabelsFile
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Snapshot
from tallylight.ui import terminal as ui
from tallylight.ui.agent_list import loop
from tallylight.ui.agent_list.actions import Channelled, Direct
from tallylight.ui.agent_list.channel import CHANNEL
from tests.tables import each
from tests.terminal import bare_environment, launcher
from tests.ui.agent_list.panes import OWN, asking, no_client, pane, question_of, rows_of, snapshot
from tests.ui.agent_list.program import COLUMNS, LINES, Host, List


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with two agents."""
    host = Host(tmp_path)
    host.publish(asking(1, project="shop"), pane(2, project="docs", message="Reading"))
    return host


@pytest.mark.slow
def test_a_change_is_drawn(host: Host, shown: List) -> None:
    """A new state of a host is on the screen without any key."""
    for status in ("error", "working"):
        host.publish(asking(1, project="shop"), pane(2, status, project="docs"))
        shown.wait(lambda lines, failed=status == "error": ("1 failed" in lines[0]) is failed)


@pytest.mark.slow
def test_a_host_that_cannot_write_is_named(host: Host, shown: List) -> None:
    """What it shows is still there, and a line says how old that is."""
    host._writer._mark_stale()
    shown.terminal.type(b"j")
    lines = shown.wait(f"{host.name}: its host cannot write it")
    assert any("docs" in line for line in lines)


@pytest.mark.slow
def test_a_name_is_kept_for_every_list(host: Host, tmp_path: Path) -> None:
    """Typed in one list, it stands there at once, and in the next one; with the groups."""
    for number in range(2):
        shown = List(tmp_path, XDG_STATE_HOME=str(tmp_path / "state"))
        with shown.terminal:
            shown.wait("docs")
            if not number:
                shown.terminal.type(b"O")
                shown.wait("grouped by project")
                shown.terminal.type(b"jnthe manual\r")
            lines = shown.wait("the manual")
            # Below the heading of its own group.
            assert lines[1].startswith("shop ──") and lines[3].startswith("docs ──") and "the manual" in lines[4]
            shown.terminal.type(b"q")
            assert shown.end() == 0


class Scripted(ui.Terminal):
    """A terminal whose person closes the list as soon as it is drawn, and a feed, by a clock that nobody waits for."""

    def __init__(self, *written: float) -> None:
        self.now, self.drawn_at, self.shown = 0.0, 0.0, ""
        #: What the host has on the disk, each for 0.1 s: as of when, and the last for ever.
        self._written = written

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    time = monotonic

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        self.drawn_at = self.now
        yield

    def enter(self) -> None:
        """The screen is its own."""

    def size(self) -> tuple[int, int]:
        return COLUMNS, LINES

    def read(self, timeout: float | None, also: Sequence[int] = ()) -> bytes | None:
        return b"q"

    def write(self, text: str) -> None:
        self.shown += text

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        number = min(int(self.now / 0.1), len(self._written) - 1)
        return (attrs.evolve(snapshot(*(pane(n) for n in range(number + 1))), written=self._written[number]),)

    def poll(self, now: float) -> bool:
        return True

    def descriptors(self) -> None:
        """It has no changes that anything could tell of."""


def opened(monkeypatch: pytest.MonkeyPatch, scripted: Scripted, as_of: float) -> Scripted:
    """After a list of it, over a picture as of then, was opened and left."""
    monkeypatch.setattr(loop, "time", scripted)
    actions, explain = Direct({}, no_client), lambda *_: []
    labels = LabelsFile(Path("/nowhere/labels.json"))
    loop.run(scripted, scripted, actions, explain, own=OWN, selected=f"{OWN}:0", as_of=as_of, labels=labels)
    return scripted


def test_a_picture_that_is_newer_than_the_file_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn and no key is read before the file is as new as the first picture: no pane goes for a moment."""
    late = opened(monkeypatch, Scripted(5.0, 5.5, 7.0), as_of=6.0)
    assert late.drawn_at == pytest.approx(0.2, abs=0.05) and "3 agents" in late.shown

    ready = opened(monkeypatch, Scripted(5.0), as_of=5.0)
    assert ready.drawn_at == 0 and "1 agent" in ready.shown


class Hiding(Scripted):
    """A terminal whose tab is hidden for a while: each read has a time, whether it is seen, and keys."""

    def __init__(self, *reads: tuple[float, bool, bytes]) -> None:
        super().__init__(5.0)
        self.reads, self.is_seen = list(reads), True

    def read(self, timeout: float | None, also: Sequence[int] = ()) -> bytes | None:
        after, self.is_seen, typed = self.reads.pop(0)
        self.now += after
        return typed

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        return (snapshot(asking(1)),)


class Asked(Direct):
    """What the list asks of the panes of its own terminal."""

    has_channel = True

    def __init__(self, terminal: Hiding) -> None:
        super().__init__({}, no_client)
        self.terminal, self.answers = terminal, list[float]()

    def listen(self) -> None:
        self.is_seen = self.terminal.is_seen

    def perform(self, row: Row, asked: Request) -> Reply:
        if isinstance(asked, Answer):
            self.answers.append(self.terminal.now)
            return Done(row.pane.id, "answered")
        return question_of(row.pane)


def test_a_key_of_another_tab_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tab in front has ended, and what is typed in it goes on in the list, which stood there before."""
    reads = [(1.0, True, b""), (1.0, False, b""), (5.0, True, b"1"), (1.0, True, b"1"), (1.0, True, b"q")]
    terminal = Hiding(*reads)
    monkeypatch.setattr(loop, "time", terminal)
    actions, labels = Asked(terminal), LabelsFile(Path("/nowhere/labels.json"))
    loop.run(terminal, terminal, actions, lambda *_: [], own=OWN, labels=labels)
    assert actions.answers == [8.0]


class Noting(Hiding):
    """The same, with all that was drawn since the last read, by when."""

    def __init__(self, *reads: tuple[float, bool, bytes]) -> None:
        super().__init__(*reads)
        self.heads = list[tuple[float, bool, bool]]()

    def read(self, timeout: float | None, also: Sequence[int] = ()) -> bytes | None:
        self.heads.append((self.now, "2 turns" in self.shown, "1 agent" in self.shown))
        self.shown = ""
        return super().read(timeout, also)


def test_after_half_an_hour_without_a_key_it_says_what_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands in the first line from the first key on, for a minute."""
    after = (0.0, 1.0, 1700.0, 1.0, 1900.0, 1.0, 58.0, 5.0, 1.0)
    keys = (b"j", b"", b"j", b"", b"j", b"", b"", b"", b"q")
    terminal = Noting(*((seconds, True, key) for seconds, key in zip(after, keys, strict=True)))
    asked = list[float]()

    def away(_rows: object, seconds: float) -> str:
        asked.append(seconds)
        return f"the last {seconds:.0f} s: 2 turns"

    monkeypatch.setattr(loop, "time", terminal)
    monkeypatch.setattr(loop.reading, "away", away)
    monkeypatch.setattr(loop.Reading, "begin", lambda self, read, **_: self._read.put(read()))
    labels = LabelsFile(Path("/nowhere/labels.json"))
    loop.run(terminal, terminal, Asked(terminal), lambda *_: [], own=OWN, labels=labels)
    assert asked == [1901.0]
    assert [now for now, is_told, _ in terminal.heads if is_told] == [3602.0]
    assert [now for now, _, is_counted in terminal.heads if is_counted] == [0.0, 3666.0]


class Answering(Scripted):
    """A terminal that tells its colours, with a key that was typed before; then its person closes the list."""

    def read(self, timeout: float | None, also: Sequence[int] = ()) -> bytes | None:
        told = b"\x1b]10;rgb:dd/dd/dd\x07\x1b]11;rgb:00/00/00\x07" if not self.shown else b""
        self.shown += " "
        return told or b"q"


def test_the_first_picture_has_the_colours_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are waited for, and the selection is a ground of its own; one that tells none gets reverse video."""
    assert "48;2;29;29;29" in opened(monkeypatch, Answering(5.0), as_of=5.0).shown
    silent = opened(monkeypatch, Scripted(5.0), as_of=5.0).shown
    assert "48;2;29;29;29" not in silent and "\x1b[7m" in silent


def test_a_file_that_does_not_come_is_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk does not respond, the list comes all the same, with what there is."""
    never = opened(monkeypatch, Scripted(5.0), as_of=6.0)

    assert never.drawn_at == pytest.approx(loop.FRESH_WAIT_S, abs=0.05) and "1 agent" in never.shown


@each("value, as_of", [("5.25", 5.25), ("", 0), ("x", 0), ("nan", 0), ("1e999", 0)])
def test_what_a_terminal_says_of_its_picture(value: str, as_of: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command hands on what is selected and as of when the picture is; what is no time is none."""
    handed: dict[str, object] = {}
    monkeypatch.setattr(loop, "run", lambda *_, **given: handed.update(given))
    terminal = SimpleNamespace(isatty=lambda: True, fileno=lambda: 0)
    monkeypatch.setattr(agents, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setenv("KITTY_PID", "7")
    for name, told in (("LIST_SELECTED", "kitty-7:1"), ("LIST_AS_OF", value)):
        monkeypatch.setenv(f"TALLYLIGHT_{name}", told)

    assert agents.main([]) == 0
    assert (handed["selected"], handed["as_of"]) == ("kitty-7:1", as_of)
    # No kitty gave it a channel: it offers no answers for the panes of this one.
    assert handed["own"] == ""


@pytest.mark.slow
def test_keys_work_as_they_do_in_the_state(shown: List) -> None:
    """Filter, explanation and help are reached by keys, byte by byte as a terminal sends them."""
    shown.terminal.type(b"/do")
    shown.wait(lambda lines: lines[0].startswith("/do▏") and "shop" not in "\n".join(lines))
    shown.terminal.type(b"\x1b")
    shown.wait("shop")
    shown.terminal.type(b"\x1b[B")
    shown.wait(lambda lines: lines[2].startswith("▸"))
    shown.terminal.type(b"w")
    shown.wait("light")
    shown.terminal.type(b"x?\x1b[F")
    shown.wait("one step back")


@pytest.mark.slow
def test_requests_reach_the_host(host: Host, shown: List) -> None:
    """Snooze, unread and going there are asked of the pane's own host; after going there the list is gone."""
    shown.terminal.type(b"su\r")

    assert shown.end() == 0
    assert [(r.verb, r.pane, r.args) for r in host.spool.take()] == [
        ("snooze", "1", ()), ("unread", "1", ()), ("focus", "1", ())
    ]  # fmt: skip


@pytest.mark.slow
def test_nothing_is_answered_or_forked_without_the_terminals_own_channel(host: Host, shown: List) -> None:
    """From a list that a terminal did not open, panes can be shown and put off, and that is all."""
    for key, said in (b"f", "works only in the list that its own"), (b"r", "works only in"):
        shown.terminal.type(key)
        shown.wait(said)
        shown.terminal.type(b"j")
    shown.terminal.type(b"kka")
    shown.wait("answer it there (Enter)")
    shown.terminal.type(b"j")
    shown.wait(lambda lines: "? help" in lines[-1])

    assert host.spool.take() == []


@pytest.mark.slow
def test_the_terminal_is_left_as_it_was_found(shown: List) -> None:
    """After the list, and after its killing by a signal that can be caught, settings and screen are as before."""
    before = termios.tcgetattr(shown.terminal.slave)
    shown.terminal.type(b"q")

    assert shown.end() == 0
    after = termios.tcgetattr(shown.terminal.slave)
    assert after == before
    assert shown.terminal.received.endswith(b"\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[?1049l")


@pytest.mark.slow
def test_a_resize_is_followed(shown: List) -> None:
    """When the terminal changes its size, the picture does."""
    termios.tcsetwinsize(shown.terminal.slave, (LINES, 30))
    shown.terminal.received = b""
    os.kill(shown.process.pid, signal.SIGWINCH)
    lines = shown.wait("docs")

    assert all(len(line) <= 30 for line in lines)


@pytest.mark.slow
def test_without_a_terminal_there_is_no_list(tmp_path: Path, host: Host) -> None:
    """Into a pipe it says what to use there."""

    start = [launcher(tmp_path)[0], launcher(tmp_path)[-1]]
    done = subprocess.run(
        [*start, "agents"], stdin=subprocess.DEVNULL, capture_output=True, env=bare_environment(**host.environ)
    )

    assert (done.returncode, b"tally status" in done.stderr) == (1, True)


# The channel -----------------------------------------------------------------------------------------------------


def test_the_channel_carries_words_and_an_answer() -> None:
    """What a key asks for goes over the descriptor as a request, and its answer is what the person is told."""
    near, far = socket.socketpair()
    channel = Channelled.of({CHANNEL: str(far.detach())}, no_client)
    assert channel is not None
    near.send(encode_reply(Refusal("gone", "that pane is gone")))

    assert channel.perform(rows_of(asking(3))[0], Open("go", "3")) == Refusal("gone", "that pane is gone")
    assert decode_request(near.recv(1000))[0] == Open("go", "3")
    near.close()


@each("value", ["", "x", "-1", "0x3", "999999999", "54321", "²"])
def test_a_descriptor_that_is_none_is_no_channel(value: str) -> None:
    """A variable that names no socket of ours leaves the list with what every list can do."""
    assert Channelled.of({CHANNEL: value}, no_client) is None
