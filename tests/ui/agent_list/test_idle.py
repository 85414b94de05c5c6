"""An open list that has nothing to show costs nothing: it is asleep until a host writes, ends, or an age changes."""

from __future__ import annotations

import math
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallylight.snapshot.changes import Changes
from tallylight.snapshot.feed import Feed
from tallylight.ui.agent_list import clock, state
from tallylight.ui.agent_list.draw import draw
from tests.patience import until
from tests.tables import each
from tests.ui.agent_list.panes import NOW, asking, listed, pane
from tests.ui.agent_list.program import Host, List

#: How long, in seconds, nothing must happen.
QUIET_S = 1.5


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host with two agents whose ages do not change today."""
    host = Host(tmp_path)
    host.publish(pane(1, "idle", project="shop", since=0.0), pane(2, "idle", project="docs", since=0.0))
    return host


def woken(shown: List) -> int:
    """How often the program of the list has gone to sleep, and so has been woken, since its start."""
    for line in Path(f"/proc/{shown.process.pid}/status").read_text("ascii").splitlines():
        if line.startswith("voluntary_ctxt_switches"):
            return int(line.split()[1])
    raise AssertionError("the kernel does not tell")


def is_asleep(shown: List) -> bool:
    """Whether it has not been woken for three looks of a list that polls."""
    before = woken(shown)
    shown.terminal._read(0.2)
    return woken(shown) == before


@pytest.mark.slow
def test_while_nothing_changes_nothing_is_done(host: Host, shown: List) -> None:
    """Not a byte is written, and the program is not woken once; a snapshot that is written wakes it at once."""
    until(lambda: is_asleep(shown))
    before, received = woken(shown), len(shown.terminal.received)
    end = time.monotonic() + QUIET_S
    while time.monotonic() < end:
        shown.terminal._read(0.1)

    assert (woken(shown) - before, len(shown.terminal.received) - received) == (0, 0)

    host.publish(pane(1, "idle", project="forge", since=0.0))
    shown.wait("forge")
    until(lambda: woken(shown) > before)


@pytest.mark.slow
def test_it_is_asleep_again_after_a_change_and_a_key(host: Host, shown: List) -> None:
    """What woke it leaves nothing behind that wakes it again."""
    host.publish(pane(1, "idle", project="forge", since=0.0))
    shown.wait("forge")
    shown.terminal.type(b"?")
    shown.wait("one page after the other")

    until(lambda: is_asleep(shown))


@pytest.mark.slow
def test_a_list_without_hosts_sees_the_first_one(tmp_path: Path) -> None:
    """Where there is no folder yet, it is looked for; what comes is shown."""
    shown = List(tmp_path)
    with shown.terminal:
        shown.wait("No agent runs")
        Host(tmp_path).publish(pane(1, project="shop"))
        shown.wait("shop")


# Who is waited for -----------------------------------------------------------------------------------------------


@attrs.define
class Writer:
    """A process that stands behind a snapshot."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls) -> Writer:
        return cls(subprocess.Popen(["sleep", "60"]))


@pytest.fixture
def writer() -> Iterator[Writer]:
    """A process that another one ends."""
    writer = Writer.start()
    yield writer
    writer.process.kill()
    writer.process.wait()


def readable(descriptors: list[int] | None, timeout: float) -> bool:
    assert descriptors is not None
    return bool(select.select(descriptors, [], [], timeout)[0])


def test_the_end_of_a_writer_is_told(tmp_path: Path, writer: Writer) -> None:
    """A writer that is killed wakes whoever waits, once; while it is not quite gone, one has to look."""
    changes = Changes(tmp_path)
    assert not changes.look()
    pid = writer.process.pid
    assert not readable(changes.descriptors([pid]), 0)

    writer.process.kill()
    assert readable(changes.descriptors([pid]), 10)
    assert changes.look() and changes.descriptors([pid]) is None
    assert changes.descriptors([]) is not None and not changes.look()
    changes.close()


def test_a_folder_that_is_made_anew_is_watched_again(tmp_path: Path) -> None:
    """A folder that is not there has to be looked for; one that came in the place of another tells as that one did."""
    folder = tmp_path / "run"
    changes = Changes(folder)
    changes.look()
    assert changes.descriptors([]) is None
    for _ in range(2):
        folder.mkdir()
        changes.look()
        assert not readable(changes.descriptors([]), 0)
        (folder / "new").touch()
        (folder / "new").replace(folder / "kitty-1.json")
        assert readable(changes.descriptors([]), 10)
        (folder / "kitty-1.json").unlink()
        folder.rmdir()
        assert readable(changes.descriptors([]), 10)
        changes.look()
    changes.close()


def test_without_inotify_it_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the C library has no such call, only a poll can tell, and says so."""
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    feed = Feed(tmp_path)
    feed.poll(0.0)
    assert feed.descriptors() is None
    feed.poll(1.0)
    assert feed.descriptors() is None


# What the clock changes ------------------------------------------------------------------------------------------

_ages = st.floats(0, 10 * 86_400)


@pytest.mark.slow
@given(_ages, st.floats(-100, 200_000), st.floats(-100, 200_000), _ages, st.floats(61, 86_400))
@example(since=0.0, snoozed=0.0, limited=0.0, waited=1.9999999998835847, silent=61.0)
@example(since=90_000.0, snoozed=0.0, limited=0.0, waited=0.0, silent=7230.0)
def test_nothing_is_drawn_otherwise_before_it_is_due(
    since: float, snoozed: float, limited: float, waited: float, silent: float
) -> None:
    """Up to the moment that is named every line stays as it is, whatever of a pane depends on the time."""
    some = asking(1, since, waited_s=waited, snoozed_until=NOW + snoozed, limited_until=NOW + limited)
    late = pane(2, age=since / 2, unanswered_since=NOW - silent)
    now = listed(some, late, columns=120)
    due = clock.due(now)

    assert due > NOW
    for at in (NOW, (NOW + due) / 2, due - 1e-3):
        if NOW <= at < due:
            later = state.refreshed(now, now.rows, at)
            assert draw(later) == draw(now)


@each(
    ("age", "next_s"),
    [(0.0, 1), (30.5, 0.5), (60.0, 60), (90.0, 30), (3599.0, 1), (3600.0, 3600), (86_400.0, 86_400)],
)
def test_an_age_is_due_when_its_unit_is_full(age: float, next_s: float) -> None:
    """Seconds each second, minutes each minute, hours each hour: not more often."""
    assert clock.due(listed(pane(1, age=age))) - NOW == pytest.approx(next_s)


def test_where_nothing_grows_older_nothing_is_due() -> None:
    """No pane, panes without a time, and a text over the list wait for nothing."""
    assert clock.due(listed()) == math.inf
    assert clock.due(state.refreshed(listed(), (), NOW)) == math.inf
    assert clock.due(listed(attrs.evolve(pane(1), since=0.0))) == math.inf
    assert clock.due(state.explained(listed(pane(1)), "keys", ("a",))) == math.inf
