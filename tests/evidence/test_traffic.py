"""
What the connections of a tree say: time-lines of its samples, at hand-made times.

A line is `SECONDS WHAT, …`: `NAME SENT/RECEIVED`, what connection NAME has sent and received in all by then, at that
moment; `NAME closed`; `screen`, its end changes; `child`, a process starts. What follows is asked for at `TIMES`.
"""

from __future__ import annotations

import math

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.evidence import traffic
from tallylight.evidence.traffic import ANSWERED, CHILD, UNANSWERED, Connection, Sample, Traffic
from tests.strategies import at_most
from tests.tables import each

#: A sample is taken so often, in seconds.
EVERY_S = 0.25
WORDS = {UNANSWERED: "unanswered", ANSWERED: "answered", CHILD: "child"}


@attrs.define
class Line:
    """The state of the world as a time-line tells it."""

    port: int = 0
    connections: dict[str, Connection] = attrs.Factory(dict)
    children: list[float] = attrs.Factory(list)
    screens: int = 0

    def happens(self, at: float, what: str) -> None:
        word, *rest = what.split()
        if word == "screen":
            self.screens += 1
        elif word == "child":
            self.children.append(at)
        elif rest == ["over"]:
            self.connections[word] = self.connections[word]._replace(is_over=True)
        elif rest == ["closed"]:
            del self.connections[word]
        else:
            sent, received = map(int, rest[0].split("/"))
            old = self.connections.get(word, Connection(word, 0, 0, at, at, self.port, far=word[0]))
            self.connections[word] = old._replace(
                sent=sent,
                received=received,
                sent_at=at if sent != old.sent else old.sent_at,
                received_at=at if received != old.received else old.received_at,
            )

    def sample(self, at: float) -> Sample:
        return Sample(at, tuple(self.connections.values()), tuple(self.children))


def parts_of(line: str) -> list[tuple[float, str]]:
    parts = [part.strip().partition(" ") for part in line.split(",")]
    return sorted(((float(at), what) for at, _, what in parts), key=lambda part: part[0])


def play(line: str, *, port: int = 0, running: bool = False) -> list[tuple[float, str]]:
    """Return what holds from when on by *line*, which begins at 100 s; nothing at first."""
    told: list[tuple[float, str]] = []
    found, world = Traffic(), Line(port)
    parts = parts_of(line)
    now = 0.0
    while now <= 700.0:
        while parts and parts[0][0] <= now:
            at, what = parts.pop(0)
            world.happens(100 + at, what)
        found.look(world.screens, 100 + now)
        found.take(world.sample(100 + now))
        fact = found.fact(100 + now, is_running=running)
        word = WORDS[fact.rule] if fact is not None else ""
        if word != (told[-1][1] if told else ""):
            told.append((now, word))
        now += EVERY_S
    return told


#: A connection that is there before, and the screen that changes as a person presses Enter.
IDLE, ENTER = "0 a 0/0", "10 screen"


@pytest.mark.slow
@each(
    ("why", "line", "expected"),
    [
        ("nothing happens", IDLE, []),
        ("a request, and an answer that streams", f"{IDLE}, {ENTER}, 10 a 9000/0, 14 a 9000/5000, 14.5 a 9000/6000",
         [(10, "unanswered"), (14, "answered"), (15.5, "")]),
        ("a request on a connection of its own", "10 screen, 10 a 9000/0, 14 a 9000/5000, 14.25 a closed",
         [(10, "unanswered"), (14, "answered"), (14.25, "")]),
        ("one of less than its least is none", f"{IDLE}, {ENTER}, 10 a 1499/0", []),
        ("of just that it is one", f"{IDLE}, {ENTER}, 10 a 1500/0, 12 a closed", [(10, "unanswered"), (12, "")]),
        ("in parts that follow one another", f"{IDLE}, {ENTER}, 10 a 800/0, 10.5 a 1600/0, 12 a closed",
         [(10.5, "unanswered"), (12, "")]),
        ("but not in many small ones over time", f"{IDLE}, {ENTER}, 10 a 400/0, 12 a 800/0, 14 a 1200/0, 16 a 1600/0",
         []),
        ("nor in a dribble without a pause",
         f"{IDLE}, {ENTER}, " + ", ".join(f"{n} a {n * 300}/0" for n in range(1, 60)), []),
        ("the screen does not change: nobody asked", f"{IDLE}, 10 a 20000/0, 11 a 20000/9000", []),
        ("it changed too long before", f"{IDLE}, 8 screen, 10 a 20000/0, 11 a 20000/9000", []),
        ("it changes just after", f"{IDLE}, 10 a 20000/0, 11.5 screen, 13 a closed", [(11.5, "unanswered"), (13, "")]),
        ("of a slow program it changes with the answer alone",
         f"{IDLE}, 4 screen, 10 a 9000/0, 15 a 9000/900, 15 screen, 16 a closed", [(15, "answered"), (16, "")]),
        ("or as the connection is closed", "4 screen, 10 a 9000/0, 15 a closed, 15.5 screen, 18 child",
         [(18.5, "child"), (610, "")]),
        ("what is taken and closed at once is no answer", "4 screen, 10 a 9000/0, 10.5 a closed, 12 screen, 18 child",
         []),
        ("a few bytes are none either", f"{IDLE}, 4 screen, 10 a 20000/0, 12 a 20000/300, 12 screen, 18 child", []),
        ("headers come at once, words much later",
         f"{IDLE}, {ENTER}, 10 a 9000/0, 10.25 a 9000/500, 20 a 9000/1500, 20.5 a 9000/2500",
         [(10, "unanswered"), (10.25, "answered"), (21.5, "")]),
        ("headers, and nothing", f"{IDLE}, {ENTER}, 10 a 9000/0, 10.25 a 9000/500",
         [(10, "unanswered"), (10.25, "answered"), (22.25, "")]),
        ("a request right after is one of the same turn",
         f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 13 a 18000/9000, 14 a closed",
         [(10, "unanswered"), (11, "answered"), (12, ""), (13, "unanswered"), (14, "")]),
        ("one of later is none", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 14 a 18000/9000, 15 a closed",
         [(10, "unanswered"), (11, "answered"), (12, "")]),
        ("nor from anywhere else than from where an answer has come, once one has",
         f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 11.25 screen, 12 t 20000/200, 30 screen, 30 a 18000/9000, "
         "30.25 a 18000/9200, 50 a closed",
         [(10, "unanswered"), (11, "answered"), (13, ""), (30, "unanswered"), (30.25, "answered"), (42.25, "")]),
        ("what comes while it keeps alive is no answer", f"{IDLE}, {ENTER}, 10 a 9000/0, 25 a 9000/60, 40 a 9000/120",
         [(10, "unanswered"), (610, "")]),
        ("ten minutes at most", f"{IDLE}, {ENTER}, 10 a 9000/0", [(10, "unanswered"), (610, "")]),
        ("what only comes in is no turn", f"{IDLE}, {ENTER}, " + ", ".join(f"{n} a 0/{n * 900}" for n in range(10, 99)),
         []),
        ("taken back on a connection that stays", f"{IDLE}, {ENTER}, 10 a 9000/0, 14 a 9042/0",
         [(10, "unanswered"), (15, "")]),
        ("a ping of its own is answered", f"{IDLE}, {ENTER}, 10 a 9000/0, 14 a 9042/0, 14.25 a 9042/42, 20 a closed",
         [(10, "unanswered"), (20, "")]),
        ("a window that is opened after the end", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 13 a 9040/9000",
         [(10, "unanswered"), (11, "answered"), (12, "")]),
        ("the other end has closed", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 11 a over",
         [(10, "unanswered"), (11, "")]),
        ("two at once",
         f"{IDLE}, 0 b 0/0, {ENTER}, 10 a 9000/0, 10.5 b 9000/0, 11 b 9000/9000, 12 b closed, 20 a closed",
         [(10, "unanswered"), (11, "answered"), (12, "unanswered"), (20, "")]),
        ("a tool that runs", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000, 11.25 child, 20 screen, 20 a 30000/9000, "
         "21 a closed", [(10, "unanswered"), (11, "answered"), (12, "child"), (20, "unanswered"), (21, "")]),
        ("a tool that runs after an answer that nobody saw", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a closed, 14 child",
         [(10, "unanswered"), (11, ""), (14.5, "child"), (610, "")]),
        ("a tool that follows at once", f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a closed, 11 child",
         [(10, "unanswered"), (11, "child"), (610, "")]),
        ("what it keeps is older", f"0 child, {IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000",
         [(10, "unanswered"), (11, "answered"), (12, "")]),
        ("a child without a turn", f"{IDLE}, 10 child", []),
        ("what was sent before it was looked at", "0 a 90000/0, 5 screen", []),
    ],
)  # fmt: skip
def test_what_holds(why: str, line: str, expected: list[tuple[float, str]]) -> None:
    assert play(line) == expected, why


def test_the_screen_moves() -> None:
    """A stream that pauses goes on while a spinner turns, and ends with it."""
    spinner = ", ".join(f"{10 + number / 4} screen" for number in range(1, 33))
    line = f"{IDLE}, {ENTER}, 10 a 9000/0, 11 a 9000/9000"
    assert play(f"{line}, {spinner}") == [(10, "unanswered"), (11, "answered"), (19.5, "")]


def test_a_greeting_is_no_request() -> None:
    """The first bytes over TLS may be a long greeting; what comes after it is none."""
    line = f"{ENTER}, 10 a 1900/0, 10.25 a 1980/4000, 20 a 3600/4000, 20 screen, 22 a closed"
    assert play(line, port=traffic.TLS_PORT) == [(20, "unanswered"), (22, "")]
    assert play(line)[0] == (10, "unanswered")


def test_who_tells_its_turns_needs_no_screen() -> None:
    assert play("0 a 0/0, 10 a 9000/0, 12 a closed", running=True) == [(10, "unanswered"), (12, "")]


@each(
    ("why", "line", "at", "since"),
    [
        ("not yet", "10 a 9000/0", 69, None),
        ("after a minute", "10 a 9000/0", 71, 10),
        ("what keeps alive is no answer", "10 a 9000/0, 60 a 9000/60", 100, 10),
        ("it is answered", "10 a 9000/0, 60 a 9000/2000", 100, None),
        ("it is asked again", "10 a 9000/0, 50 a closed, 60 b 9000/0", 80, 10),
        ("a later turn asks anew", "10 a 9000/0, 20 a closed, 100 b 9000/0", 110, None),
        ("and is late of its own", "10 a 9000/0, 20 a closed, 100 b 9000/0", 161, 100),
    ],
)
def test_a_model_that_does_not_answer(why: str, line: str, at: float, since: float | None) -> None:
    found, world = Traffic(), Line()
    parts = parts_of(line)
    for step in range(int(at / EVERY_S) + 1):
        now = step * EVERY_S
        while parts and parts[0][0] <= now:
            when, what = parts.pop(0)
            world.happens(100 + when, what)
        found.take(world.sample(100 + now))
        found.fact(100 + now, is_running=True)
    assert found.unanswered_since(100 + at) == (100 + since if since is not None else None), why


def test_a_turn_is_looked_at_on() -> None:
    """After all that held, a tool may follow: it is pending for a while, and no longer."""
    found, world = Traffic(), Line()
    found.take(world.sample(100.0))
    world.happens(110.0, "a 9000/0")
    found.take(world.sample(110.25))
    assert found.fact(110.25, is_running=True) is not None
    found.take(Sample(120.0))
    assert found.fact(120.0) is None

    assert found.is_pending(112.0) and not found.is_pending(120.0)


@st.composite
def samples(draw: st.DrawFn) -> list[Sample]:
    """Samples of a tree as they may come, with counters that may go back and times that may be wrong."""
    number = st.integers(0, 1 << 64)
    times = st.floats(-1e9, 1e9)
    connection = st.builds(
        Connection,
        st.integers(0, 3),
        number,
        number,
        times,
        times,
        st.sampled_from([0, 443]),
        st.booleans(),
        far=st.none(),
    )
    starts = sorted(draw(st.lists(st.floats(0, 1e6), max_size=12)))
    return [
        Sample(at, tuple(draw(st.lists(connection, max_size=4))), tuple(draw(st.lists(times, max_size=3))))
        for at in starts
    ]


@pytest.mark.slow
@given(samples())
@settings(max_examples=at_most(200), deadline=None)
def test_nothing_holds_for_ever(found: list[Sample]) -> None:
    """Whatever came in, it is bounded, and ten minutes after the last of it nothing is said."""
    told = Traffic()
    for number, sample in enumerate(found):
        told.look(number, sample.at)
        told.take(sample)
        told.fact(sample.at)
    last = max([one.at for one in found], default=0.0)
    times = [time for one in found for each in one.connections for time in (each.sent_at, each.received_at)]
    children = [time for one in found for time in one.children]
    assert told.fact(max([last, *times, *children]) + traffic.MOST_S + traffic.ANSWER_PAUSE_S) is None
    assert math.isfinite(last)
