"""Turns: which lines of a repository are an agent's, with a person and a second agent who write there, too."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.evidence.records.reading import Edit, Reading
from tallylight.files.lock import BusyError
from tallylight.files.mounts import Mounts
from tallylight.files.program import StuckError
from tallylight.model.jobs import ignored
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.transcript import TranscriptState
from tallylight.parts.work import ledger, review, undo
from tallylight.parts.work import turns as turns_module
from tallylight.parts.work.ledger import Stretch
from tallylight.parts.work.trees import Store, TreeError
from tallylight.parts.work.turns import Turns
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture
from tests.hosts.test_pane import CODEX
from tests.hosts.test_projects import _pane as pane_in
from tests.parts.work.test_trees import contents, state, store_of  # noqa: F401 - a fixture
from tests.tables import each

EPOCH = 1_790_000_000.0


@attrs.define
class Desk:
    """Two agents in one checkout, a person, and the host of both. Jobs are done at once, or when *waiting* is run."""

    trap: Trap
    now: float = 100.0
    visible: int = 0
    is_slow: bool = False
    failing: list[Exception] = attrs.field(factory=list)
    waiting: list[Callable[[], None]] = attrs.field(factory=list)
    panes: dict[int, Pane] = attrs.field(init=False)
    turns: Turns = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.panes = {1: pane_in(self.trap.root), 2: pane_in(self.trap.root)}
        self.panes[2].foreground(CODEX.pid, 11.0)
        environ = {**os.environ, "HOME": "/home/nobody"}
        self.turns = Turns("kitty-1", environ, self.submit, Mounts(), lambda: EPOCH + self.now)

    def submit(
        self,
        _key: object,
        job: Callable[[], Any],
        done: Callable[[Any], object] = ignored,
        failed: Callable[[Exception], object] = ignored,
    ) -> bool:
        def run() -> None:
            if self.failing:
                failed(self.failing.pop(0))
            else:
                done(job())

        if self.is_slow and self.waiting:
            return False
        if self.is_slow:
            self.waiting.append(run)
        else:
            run()
        return True

    def looks(self, seconds: float = 0.25) -> None:
        self.now += seconds
        for id_, pane in self.panes.items():
            pane.look(id_ == self.visible, self.now)
        self.turns.look(self.panes, self.panes, self.now, is_wanted=True)

    def shows(self, id_: int, status: Status) -> None:
        self.now += 1.0
        self.panes[id_].tracker.report(Report(source=Source.PROTOCOL, status=status), self.now)
        self.panes[id_].tick(self.now + 0.2)
        self.looks()

    def sees(self, id_: int, seconds: float = 2.0) -> None:
        """A person looks at a pane for so long."""
        for self.visible in (id_, id_, 0):
            self.looks(seconds / 2)

    def writes(self, id_: int, *paths: str) -> None:
        """The transcript of an agent tells that it wrote these."""
        transcript = self.panes[id_]._run.transcript  # type: ignore[union-attr]
        assert transcript is not None
        edits = tuple(Edit(path, None, "", EPOCH + self.now) for path in paths)
        transcript.found = TranscriptState(reading=Reading(edits=(*transcript.edits, *edits)))

    def turn(self, id_: int, **files: str) -> None:
        """One whole turn that writes *files*."""
        self.shows(id_, Status.WORKING)
        for name, text in files.items():
            self.trap.write(name, text)
        self.shows(id_, Status.DONE)

    @property
    def store(self) -> Store:
        return store_of(self.trap.root)

    def known(self, id_: int) -> list[Stretch]:
        return ledger.of_pane(ledger.load(self.store.folder), f"kitty-1:{id_}", None)

    def last(self, id_: int = 1) -> str:
        return review.shown(self.store, ledger.last_turn(self.known(id_)), EPOCH + self.now, is_coloured=False)

    def unseen(self, id_: int = 1) -> str:
        return review.shown(self.store, ledger.since_looked(self.known(id_)), EPOCH + self.now, is_coloured=False)


@pytest.fixture
def desk(trap: Trap) -> Desk:
    return Desk(trap)


def lines_of(diff: str) -> set[str]:
    """The lines that were added and removed."""
    return {line for line in diff.splitlines() if line.startswith(("+", "-")) and line[:4] not in ("+++ ", "--- ")}


@pytest.mark.slow
def test_fifty_turns(desk: Desk) -> None:
    """Every line of a turn is in its diff, and none of the person's, nor of an agent whose transcript tells of it."""
    before = contents(desk.trap.root / ".git")
    chance = random.Random(58)
    count = itertools.count()
    for number in range(50):
        desk.trap.write(f"mine{chance.randrange(5)}", f"person {next(count)}\n")
        desk.shows(1, Status.WORKING)
        name, line = f"src/f{chance.randrange(5)}", f"agent {next(count)}"
        expected = {f"+{line}"} | {f"-{old}" for old in _lines(desk.trap.root / name)}
        desk.trap.write(name, f"{line}\n")
        if number % 2:
            desk.shows(2, Status.WORKING)
            desk.trap.write(f"other{chance.randrange(3)}", f"second {next(count)}\n")
            desk.writes(2, *(str(path) for path in desk.trap.root.glob("other*")))
            desk.shows(2, Status.DONE)
        desk.shows(1, Status.DONE)
        desk.trap.write(f"mine{chance.randrange(5)}", f"person {next(count)}\n")
        assert lines_of(desk.last()) == expected, number
        desk.sees(1)
    assert contents(desk.trap.root / ".git") == before
    assert len(desk.known(1)) == 50


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.slow
def test_since_you_looked(desk: Desk) -> None:
    """Turns that nobody looked at add up, without what the person wrote between them. The last look is none."""
    desk.turn(1, one="1\n")
    desk.sees(1)
    desk.turn(1, two="2\n")
    desk.trap.write("mine", "x\n")
    desk.turn(1, three="3\n")
    assert lines_of(desk.unseen()) == {"+2", "+3"}
    assert lines_of(desk.last()) == {"+3"}
    desk.sees(1)
    assert lines_of(desk.unseen()) == {"+2", "+3"}
    desk.turn(1, four="4\n")
    assert lines_of(desk.unseen()) == {"+4"}


def test_who_looks_in_the_middle_of_a_turn(desk: Desk) -> None:
    """Stretches after the look are new; the turn has all of them."""
    desk.shows(1, Status.WORKING)
    desk.trap.write("one", "1\n")
    desk.sees(1)
    desk.trap.write("two", "2\n")
    desk.shows(1, Status.DONE)
    assert lines_of(desk.unseen()) == {"+2"} and lines_of(desk.last()) == {"+1", "+2"}
    assert desk.last().count("# claude, ") == 1


def test_an_agent_that_says_nothing_of_what_it_writes(desk: Desk) -> None:
    """That another one was there is told, and so is what was left out."""
    desk.shows(1, Status.WORKING)
    desk.turn(2, a="1\n")
    desk.shows(1, Status.DONE)
    assert "another agent worked here at the same time" in desk.last()
    desk.shows(1, Status.WORKING)
    desk.shows(2, Status.WORKING)
    desk.trap.write("b c", "1\n")
    desk.writes(2, "b c", "/elsewhere/d")
    desk.writes(1, "src/a")
    desk.shows(1, Status.DONE)
    assert desk.last().splitlines()[1:] == [
        "# left out, because another agent wrote them: b c",
        "# no file has changed",
    ]


def test_trees_that_take_their_time(desk: Desk) -> None:
    """A turn waits for the tree that it began with; its end and the next beginning share one."""
    desk.is_slow = True
    desk.shows(1, Status.WORKING)
    desk.shows(2, Status.WORKING)
    desk.shows(1, Status.DONE)
    assert desk.known(1) == []
    while desk.waiting:
        desk.waiting.pop(0)()
        desk.looks()
    assert [one.before == one.after for one in desk.known(1)] == [True]
    assert desk.known(2) == []


def test_a_repository_that_is_slow(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left alone for a while; a lock is waited for."""
    asked: list[str] = []
    real = turns_module._taken
    monkeypatch.setattr(turns_module, "_taken", lambda *args: (asked.append(args[0]), real(*args))[1])
    desk.failing = [StuckError("git")]
    desk.turn(1, a="1\n")
    desk.turn(1, b="1\n")
    assert asked == [] and not desk.store.folder.exists()
    desk.looks(1000)
    desk.failing = [BusyError("another host")]
    desk.shows(1, Status.WORKING)
    desk.looks()
    desk.trap.write("c", "1\n")
    desk.shows(1, Status.DONE)
    assert lines_of(desk.last()) == {"+1"} and len(asked) == 2
    desk.failing = [OSError("gone")]
    desk.turn(1, d="1\n")
    assert len(desk.known(1)) == 1


def test_no_repository_and_nobody_who_wants_it(desk: Desk, tmp_path: Path, trap: Trap) -> None:
    desk.panes = {1: pane_in(tmp_path / "plain")}
    (tmp_path / "plain").mkdir()
    desk.turn(1)
    desk.panes = {1: pane_in(trap.root)}
    desk.shows(1, Status.WORKING)
    desk.turns.look(desk.panes, desk.panes, desk.now, is_wanted=False)
    desk.shows(1, Status.DONE)
    assert not (tmp_path / "plain/.git").exists() and desk.known(1) == []


# The ledger --------------------------------------------------------------------------------------------------------


@each("line", ["", "{", "[]", "{}", '{"pane": "1", "before": "--output=x", "after": "' + "a" * 40 + '"}', "\xff"])
def test_a_line_that_is_none(line: str, tmp_path: Path) -> None:
    """It costs itself."""
    good = Stretch(pane="kitty-1:1", before="a" * 40, after="b" * 40, began=EPOCH)
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700, exist_ok=True)
    ledger.add(folder, [good], EPOCH)
    with ledger.path_of(folder).open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    assert ledger.load(folder)[-1:] == [good]
    ledger.path_of(folder).unlink()


def test_whose_a_stretch_is() -> None:
    """That of the pane, or else of its process, which another host showed; not of both."""
    one = Stretch(pane="kitty-1:1", pid=7, before="a" * 40, after="b" * 40)
    other = attrs.evolve(one, pane="sessions-2:1")
    assert ledger.of_pane([one, other], "kitty-1:1", 7) == [one]
    assert ledger.of_pane([one, other], "kitty-9:1", 7) == [one, other]
    assert ledger.of_pane([one], "kitty-9:1", None) == []


def test_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A week, and no more than so many bytes."""
    folder = tmp_path / "store"
    old = Stretch(pane="1", before="a" * 40, after="b" * 40, began=EPOCH - 8 * 86_400)
    new = attrs.evolve(old, began=EPOCH)
    ledger.add(folder, [old], old.began)
    ledger.add(folder, [new], EPOCH)
    assert ledger.load(folder) == [new]
    monkeypatch.setattr(ledger, "MAX_LEDGER_BYTES", 3000)
    for _ in range(50):
        ledger.add(folder, [new], EPOCH)
    assert 0 < ledger.path_of(folder).stat().st_size <= 3000


# Undo ----------------------------------------------------------------------------------------------------------------


def undone(desk: Desk) -> undo.Plan:
    desk.now += 5
    plan = undo.planned(desk.store, ledger.last_turn(desk.known(1)), EPOCH + desk.now)
    undo.carry_out(desk.store, plan, EPOCH + desk.now)
    return plan


@pytest.mark.slow
def test_undo(desk: Desk) -> None:
    """Files of the turn are as they were, but for those that have changed since; and all of it can be taken back."""
    trap = desk.trap
    trap.write("gone", "old\n").chmod(0o755)
    trap.write("both", "old\n")
    before = contents(trap.root / ".git")
    desk.shows(1, Status.WORKING)
    trap.write("src/a", "agent\n")
    trap.write("made/deep/new", "agent\n")
    trap.write("both", "agent\n")
    (trap.root / "gone").unlink()
    desk.shows(1, Status.DONE)
    trap.write("both", "agent\nperson\n")
    trap.write("mine", "person\n")

    plan = undone(desk)
    assert plan.lines() == [
        "restore  gone",
        "restore  src/a",
        "remove   made/deep/new",
        "keep     both: it has changed since",
    ]
    assert (trap.root / "src/a").read_text() == "one\n" and (trap.root / "both").read_text() == "agent\nperson\n"
    assert (trap.root / "gone").stat().st_mode & 0o111 and not (trap.root / "made").exists()
    assert contents(trap.root / ".git") == before
    assert "# undone with tally diff --undo, " in desk.last()

    assert sorted(undone(desk).lines()) == ["remove   gone", "restore  made/deep/new", "restore  src/a"]
    assert (trap.root / "made/deep/new").read_text() == "agent\n" and not (trap.root / "gone").exists()
    assert (trap.root / "mine").read_text() == "person\n"


def test_undo_leads_nowhere_else(desk: Desk, tmp_path: Path) -> None:
    """A directory that has become a link since is not followed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("old", "new"):
        (outside / name).write_text("mine\n")
    desk.trap.write("in/old", "1\n")
    desk.turn(1, **{"in/old": "2\n", "in/new": "2\n"})
    for name in ("old", "new"):
        (desk.trap.root / "in" / name).unlink()
    (desk.trap.root / "in").rmdir()
    (desk.trap.root / "in").symlink_to(outside)
    assert {line.split(" ")[0] for line in undone(desk).lines()} == {"keep"}
    assert [(outside / name).read_text() for name in ("new", "old")] == ["mine\n", "mine\n"]


def test_undo_of_what_has_changed_meanwhile(desk: Desk) -> None:
    """Between the plan and the yes: then nothing is done."""
    desk.turn(1, **{"src/a": "agent\n"})
    plan = undo.planned(desk.store, ledger.last_turn(desk.known(1)), EPOCH + desk.now)
    desk.trap.write("src/a", "person\n")
    with pytest.raises(TreeError):
        undo.carry_out(desk.store, plan, EPOCH + desk.now)
    assert (desk.trap.root / "src/a").read_text() == "person\n"


def test_undo_of_a_turn_with_a_gap(desk: Desk) -> None:
    """Where a tree is missing in the middle, nobody knows whose changes those are."""
    one = Stretch(pane="1", before="a" * 40, after="b" * 40)
    with pytest.raises(TreeError):
        undo.planned(desk.store, [one, one], EPOCH)


# Comments -----------------------------------------------------------------------------------------------------------

DIFF = """\
# claude, 10:00 to 10:05
diff --git a/src/cart.py b/src/cart.py
index 1..2 100644
--- a/src/cart.py
+++ b/src/cart.py
@@ -10,3 +10,4 @@ def total():
 first
-second
+Second
+third
 last
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_comments_have_places() -> None:
    """The file and the line in it as it is now; lines that follow each other are one; trimmed lines matter to none."""
    edited = DIFF.replace("+third\n", "+third\n>> why?\n>>   tell me\n").replace("-x\n", "-x\n>>keep it\n")
    edited = ">> all good\n" + edited.replace(" first\n", "").replace("index 1..2 100644\n", "> no comment\n")
    assert review.worded(review.comments(DIFF, edited)) == (
        "all good\nsrc/cart.py:12 `third`: why?\ntell me\ngone `x`: keep it"
    )
    assert review.comments(DIFF, DIFF) == review.comments(DIFF, f"{DIFF}>>\n>>  \n") == []


@each("chance", range(20))
def test_no_comment_is_lost(chance: int) -> None:
    """Wherever they are written, and whatever else is thrown away."""
    dice = random.Random(chance)
    lines = [line for line in DIFF.splitlines() if dice.random() < 0.7]
    said = [f"comment {number}" for number in range(8)]
    for words in said:
        lines.insert(dice.randrange(len(lines) + 1), f">> {words}")
    text = review.worded(review.comments(DIFF, "\n".join(lines)))
    assert all(words in text for words in said)
