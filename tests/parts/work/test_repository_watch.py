"""What stands beside a status: which repository is read when, and how that is worded at every width."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.repository_status import NOTHING, Changes, RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts.work import repository_watch as watching
from tallylight.parts.work.repository_watch import (
    CHECK_THREAD_S,
    READ_BUSY_S,
    READ_CALM_S,
    READ_SOON_S,
    REST_FACTOR,
    SLOW_GIT_PAUSE_MAX_S,
    SLOW_GIT_PAUSE_S,
    Watch,
    read_all,
)
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.ui.repository_text import text
from tallylight.wire.text import width
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture
from tests.tables import each

WHOLE = RepositoryStatus(
    branch="main", worktree="app-fork-1", changes=Changes(added=12, removed=3, new=2, ahead=1, behind=2)
)


#: The process of the agent in each directory.
PIDS = {"/a": 1, "/b": 2, "/c": 3}


def pane(directory: str, status: Status = Status.WORKING, since: float = 1.0, **more: object) -> Pane:
    told = ConversationEntry(agent="claude", cwd=directory)
    made = Pane(id=directory, status=status, since=since, agent_pid=PIDS.get(directory, 5), conversation=told)
    return attrs.evolve(made, **more)  # type: ignore[arg-type]


# The words -------------------------------------------------------------------------------------------------------


@each(
    ("cells", "said"),
    [
        (80, "main +12 −3 2 new ↑1 ↓2 worktree app-fork-1"),
        (30, "main +12 −3 2 new ↑1 ↓2"),
        (20, "main +12 −3 ↑1 ↓2"),
        (14, "main +12 −3"),
        (8, "main"),
        (5, "main"),
        (3, ""),
        (0, ""),
    ],
)
def test_what_fits(cells: int, said: str) -> None:
    """What is worth least goes first, and whole."""
    assert text(WHOLE, cells) == said


@each(
    ("beside", "said"),
    [
        (NOTHING, ""),
        (RepositoryStatus(branch="main"), "main"),
        (RepositoryStatus(branch="main", changes=Changes()), "main"),
        (RepositoryStatus(branch="3f2a91c", is_detached=True), "(3f2a91c)"),
        (RepositoryStatus(branch="app", worktree="app"), "app"),
        (RepositoryStatus(branch="a\x1b[31mb\u202ec"), "a[31mbc"),
        (RepositoryStatus(branch="b" * 80), "b" * 39 + "…"),
    ],
)
def test_the_words(beside: RepositoryStatus, said: str) -> None:
    """What is not known, and what is as it should be, is not said; what a repository says is sanitised."""
    assert text(beside, 100) == said


@pytest.mark.slow
@given(
    st.builds(
        RepositoryStatus,
        branch=st.text(max_size=60),
        worktree=st.text(max_size=60),
        is_detached=st.booleans(),
        changes=st.none() | st.builds(Changes, added=st.integers(0, 10**9), ahead=st.integers(0, 10**9)),
    ),
    st.integers(0, 100),
)
def test_it_is_never_wider(beside: RepositoryStatus, cells: int) -> None:
    """Whatever is known."""
    assert width(text(beside, cells)) <= cells


# When what is read ----------------------------------------------------------------------------------------------


@attrs.define
class Rig:
    """A watch whose readings are counted; each of its polls waits for the thread."""

    asked: list[str] = attrs.Factory(list)
    found: dict[str, tuple[RepositoryStatus, bool]] = attrs.Factory(dict)
    now: float = 100.0
    watch: Watch = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.watch = Watch("/home/me", self._reads)

    def _reads(self, key: str, home: str) -> tuple[RepositoryStatus, bool]:
        assert (home, threading.current_thread() is threading.main_thread()) == ("/home/me", False)
        self.asked.append(key)
        return self.found.get(key, (RepositoryStatus(branch=f"of {key}"), False))

    def poll(self, *panes: Pane, after: float = 0.0) -> bool:
        """Whether anything new came of it; what was begun is done."""
        self.now += after
        is_new = self.watch.poll(panes, self.now)
        end = time.monotonic() + 30
        while self.watch._is_reading:
            assert time.monotonic() < end
            time.sleep(0.001)
            if not self.watch._read.empty():
                is_new = self.watch.poll(panes, self.now) or is_new
        return is_new


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    # How long a reading took depends on the machine.
    monkeypatch.setattr(watching, "REST_FACTOR", 0)
    return Rig()


def test_each_directory_once(rig: Rig) -> None:
    """Of two agents in one directory one reading; of a pane without an agent none."""
    assert rig.watch.due() == float("inf")
    panes = pane("/a"), pane("/a", id="2", agent_pid=7), pane("/b"), pane("/c", agent_pid=None), pane("")
    assert rig.poll(*panes)
    assert sorted(rig.asked) == ["/a", "/b"]
    assert rig.watch.known[1] == rig.watch.known[7] == RepositoryStatus(branch="of /a")
    assert rig.watch.known[2] == RepositoryStatus(branch="of /b") and rig.watch.known[5] == NOTHING
    assert not rig.poll(*panes) and len(rig.asked) == 2
    assert rig.watch.due() == rig.now + READ_BUSY_S


def test_while_it_works_and_while_it_does_not(rig: Rig) -> None:
    """Every few seconds, and every minute."""
    rig.poll(pane("/a"))
    rig.poll(pane("/a"), after=READ_BUSY_S - 1)
    assert len(rig.asked) == 1
    rig.poll(pane("/a"), after=1)
    assert len(rig.asked) == 2
    calm = pane("/a", Status.IDLE, since=2)
    rig.poll(calm, after=READ_SOON_S)
    assert len(rig.asked) == 3, "it has just stopped"
    assert rig.watch.due() == rig.now + READ_CALM_S
    rig.poll(calm, after=READ_CALM_S - 1)
    assert len(rig.asked) == 3
    rig.poll(calm, after=1)
    assert len(rig.asked) == 4


def test_what_is_not_seen_is_not_read(rig: Rig) -> None:
    """Nothing is due while no row is visible; what was known is known again at once."""
    rig.poll(pane("/a"))
    rig.poll(after=100)
    assert (rig.asked, rig.watch.due()) == (["/a"], float("inf"))
    rig.found["/a"] = RepositoryStatus(branch="other"), False
    assert rig.watch.poll([pane("/a")], rig.now) and rig.watch.known[1].branch == "of /a"


def test_only_news_is_news(rig: Rig) -> None:
    """What was read as it was before draws nothing."""
    assert rig.poll(pane("/a"))
    assert not rig.poll(pane("/a"), after=READ_BUSY_S)
    rig.found["/a"] = RepositoryStatus(branch="other"), False
    assert rig.poll(pane("/a"), after=READ_BUSY_S)


def test_a_slow_repository_is_left_alone(rig: Rig) -> None:
    """For a minute, then two, and so on; another one is read meanwhile."""
    rig.found["/a"] = RepositoryStatus(branch="main"), True
    pauses = [SLOW_GIT_PAUSE_S * 2**n for n in range(4)] + [SLOW_GIT_PAUSE_MAX_S] * 2
    rig.poll(pane("/a"))
    for number, pause in enumerate(pauses, 1):
        rig.poll(pane("/a"), after=pause - 1)
        assert rig.asked.count("/a") == number
        rig.poll(pane("/a"), pane("/b"), after=1)
        assert rig.asked.count("/a") == number + 1
    assert "/b" in rig.asked
    rig.found["/a"] = RepositoryStatus(branch="main", changes=Changes()), False
    rig.poll(pane("/a"), after=SLOW_GIT_PAUSE_MAX_S)
    before = len(rig.asked)
    rig.poll(pane("/a"), after=READ_BUSY_S)
    assert len(rig.asked) == before + 1, "it is fast again"


def test_a_reading_takes_a_small_share_of_the_time(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """What took long is not repeated soon, though git was not given up."""
    monkeypatch.setattr(watching, "REST_FACTOR", 10**9)
    rig.poll(pane("/a"))

    assert rig.watch.due() > rig.now + READ_BUSY_S
    assert REST_FACTOR >= 10


def test_one_reading_at_a_time() -> None:
    """While a disk hangs nothing else is begun, and the list looks now and then."""
    hangs, asked = threading.Event(), []

    def read(directory: str, _home: str) -> tuple[RepositoryStatus, bool]:
        asked.append(directory)
        hangs.wait(30)
        return NOTHING, False

    watch = Watch("/", read)
    for n in range(5):
        watch.poll([pane("/a"), pane("/b")], 100.0 + n)
    assert len(asked) <= 1 and watch.due() == 104 + CHECK_THREAD_S
    hangs.set()


def test_a_fault_in_a_reading_costs_that_reading(rig: Rig) -> None:
    """The next one is made all the same, and nothing is written into the list."""
    rig.found["/a"] = None  # type: ignore[assignment]
    rig.poll(pane("/a"))
    assert rig.watch.known == {1: NOTHING}
    del rig.found["/a"]
    rig.poll(pane("/a"), after=READ_BUSY_S)
    assert rig.watch.known == {1: RepositoryStatus(branch="of /a")}


def test_all_at_once(trap: Trap) -> None:
    """For a list that is printed: what is known in time, and no longer."""
    root = str(trap.root)
    panes = [pane(root), pane(root, id="2", agent_pid=7), pane("/a"), pane("/b", agent_pid=None)]
    known = RepositoryStatus(branch="main", changes=Changes())
    assert read_all(panes, "/home/me", 20) == {5: known, 7: known, 1: NOTHING}

    hangs = threading.Event()

    def hung(*_: str) -> tuple[RepositoryStatus, bool]:
        hangs.wait(30)
        return NOTHING, False

    assert read_all([pane("/a"), pane("/b")], "/home/me", 0.1, hung) == {1: NOTHING, 2: NOTHING}
    hangs.set()


def test_a_directory_that_the_terminal_named(tmp_path: Path) -> None:
    """What a program says of its directory leads nowhere: only what the host has seen is looked into."""
    said = pane("", cwd=str(tmp_path))
    assert said.works_in == ""
