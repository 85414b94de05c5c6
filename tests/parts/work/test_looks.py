"""What a look finds in a real repository: in one work tree, in two, with what is not committed, and when it is over."""

from __future__ import annotations

import os
import time
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.records.reading import Edit
from tallylight.files.program import StuckError
from tallylight.parts.work import looks as looks_module
from tallylight.parts.work.looks import MAX_COMPARED_FILES, MAX_ENTRIES, AgentChanges, Looks, Overlaps
from tallylight.snapshot.entries import CollisionEntry
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture

CART = "".join(f"line {number}\n" for number in range(1, 61))


def changed(*lines: int, word: str = "mine") -> str:
    """The file with these lines replaced."""
    return "".join(f"{word} {n}\n" if n in lines else f"line {n}\n" for n in range(1, 61))


def edit(*lines: int, word: str = "mine", at: float = 1.0, path: str = "cart.py") -> Edit:
    """The record of that, for lines one after the other."""
    texts = ["\n".join(f"{one} {n}" for n in lines) for one in ("line", word)]
    return Edit(path, texts[0], texts[1], at)


@attrs.define
class Shop:
    """A repository with one file, a second work tree on a branch, and an agent in each."""

    trap: Trap
    other: Path = attrs.field(init=False)
    looks: Looks = attrs.field(factory=Looks)
    parties: list[AgentChanges] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.trap.write("cart.py", CART)
        self.trap.commit()
        self.other = self.trap.root.parent / "api-fix"
        self.trap.plain("worktree", "add", "-q", "-b", "fix", str(self.other))
        self.parties = [self.party("k-1:1", self.trap.root), self.party("k-1:2", self.other)]

    def party(self, address: str, top: Path, *edits: Edit, asks: tuple[str, ...] = ()) -> AgentChanges:
        real = os.path.realpath(top)
        return AgentChanges(address=address, name=f"api {address[-1]}", top=real, cwd=real, edits=edits, asks=asks)

    def write(self, text: str, top: Path | None = None, name: str = "cart.py") -> None:
        Path(top or self.trap.root, name).write_text(text)

    def look(self) -> Overlaps:
        return self.looks.look(self.parties, {party.top for party in self.parties}, time.monotonic() + 60)

    def told(self) -> dict[str, list[tuple[str, str, bool]]]:
        """What each is told: the file, its lines, and whether they are the same."""
        return {
            address[-1]: [(entry.file, entry.lines, entry.same) for entry in found]
            for address, found in self.look().entries.items()
        }


@pytest.fixture
def shop(trap: Trap) -> Shop:
    return Shop(trap)


NOTHING: dict[str, list[CollisionEntry]] = {"1": [], "2": []}


@pytest.mark.slow
def test_two_work_trees(shop: Shop) -> None:
    """The same lines are told as such, others of the file as others; it is over once one is undone or merged."""
    shop.write(changed(40, 41, 42))
    assert shop.told() == NOTHING
    shop.write(changed(10, word="theirs"), shop.other)
    assert shop.told() == {"1": [("cart.py", "10", False)], "2": [("cart.py", "40–42", False)]}
    shop.write(changed(10, 42, 43, word="theirs"), shop.other)
    assert shop.told() == {"1": [("cart.py", "42–43", True)], "2": [("cart.py", "40–42", True)]}
    shop.trap.commit(shop.other)
    assert shop.told()["2"] == [("cart.py", "40–42", True)]
    shop.trap.plain("checkout", "-q", "--", ".")
    assert shop.told() == NOTHING
    shop.write(changed(42, word="again"))
    assert shop.told()["1"] == [("cart.py", "42–43", True)]
    shop.trap.plain("checkout", "-q", "--", ".")
    shop.trap.plain("merge", "-q", "fix")
    assert shop.told() == NOTHING
    assert not shop.trap.ran()


def test_the_very_same_change_is_none(shop: Shop) -> None:
    for top in (shop.trap.root, shop.other):
        shop.write(changed(7), top)
    assert [found[0][2] for found in shop.told().values()] == [False, False]


def test_what_came_before_they_parted_is_no_change(shop: Shop) -> None:
    """What others have committed since counts as the work tree's that has it."""
    shop.write(changed(5, word="early"))
    shop.trap.commit()
    shop.trap.plain("merge", "-q", "main", where=shop.other)
    shop.write(changed(5, 6, word="early"), shop.other)
    assert shop.told() == NOTHING
    shop.write(changed(5, word="late"))
    assert shop.told()["2"] == [("cart.py", "5", True)]


def test_a_new_file(shop: Shop) -> None:
    """git tells of it only where a record says that both have written it; the same text is the same change."""
    for number, top in enumerate((shop.trap.root, shop.other)):
        shop.write(f"new {number}\n", top, "new.py")
    assert shop.told() == NOTHING
    shop.parties = [attrs.evolve(party, edits=(Edit("new.py", None, "", 1.0),)) for party in shop.parties]
    assert shop.told() == {"1": [("new.py", "1", True)], "2": [("new.py", "1", True)]}
    shop.write("new 0\n", shop.other, "new.py")
    assert shop.told()["1"] == [("new.py", "1", False)]


def test_two_agents_in_one_work_tree(shop: Shop) -> None:
    """Each has the lines that its record tells and that are not committed."""
    one, two = (shop.party(f"k-1:{number}", shop.trap.root) for number in (1, 2))
    shop.parties = [attrs.evolve(one, edits=(edit(40, 41),)), two]
    shop.write(changed(40, 41))
    assert shop.told() == NOTHING
    shop.parties[1] = attrs.evolve(two, edits=(edit(10, word="theirs", path=f"{two.top}/cart.py"),))
    shop.write(changed(40, 41).replace("line 10\n", "theirs 10\n"))
    assert shop.told() == {"1": [("cart.py", "10", False)], "2": [("cart.py", "40–41", False)]}
    shop.parties[0] = attrs.evolve(one, edits=(edit(40, 41, word="all mine"),))
    shop.parties[1] = attrs.evolve(two, edits=(Edit("cart.py", "all mine 40", "theirs 40", 2.0),))
    shop.write(changed(40, 41, word="all mine").replace("all mine 40", "theirs 40"))
    assert shop.told() == {"1": [("cart.py", "40", True)], "2": [("cart.py", "40", True)]}
    shop.trap.commit()
    assert shop.told() == NOTHING
    # What is not committed now was written by neither.
    shop.write(changed(40, 41, 50, word="all mine").replace("all mine 40", "theirs 40"))
    assert shop.told() == NOTHING


def test_whose_change_it_is(shop: Shop) -> None:
    """Of two agents in the other work tree the one that has written the file, if that is known."""
    shop.write(changed(40))
    shop.write(changed(40, word="theirs"), shop.other)
    shop.parties += [shop.party("k-1:3", shop.other, edit(40, word="theirs"))]
    assert {entry.pane for entry in shop.look().entries["k-1:1"]} == {"k-1:3"}
    assert shop.told()["2"] == []


def test_what_is_asked(shop: Shop) -> None:
    """A file that another one has changed is told of to the one that asks to write it, with when that was."""
    shop.write(changed(40), shop.other)
    shop.parties[0] = attrs.evolve(shop.parties[0], asks=("cart.py", "/etc/passwd"))
    (entry,) = shop.look().entries["k-1:1"]
    assert (entry.file, entry.asked, entry.same, entry.name) == ("cart.py", True, False, "api 2")
    assert entry.at == shop.other.joinpath("cart.py").stat().st_mtime
    shop.parties[1] = attrs.evolve(shop.parties[1], edits=(edit(40, at=77.0),))
    assert [one.at for one in shop.look().entries["k-1:1"]] == [77.0]
    assert shop.look().entries["k-1:2"] == ()


def test_agents_of_other_hosts_are_only_compared_with(shop: Shop) -> None:
    for top, word in ((shop.trap.root, "mine"), (shop.other, "theirs")):
        shop.write(changed(40, word=word), top)
    shop.parties[1] = attrs.evolve(shop.parties[1], is_own=False)
    assert list(shop.told()) == ["1"] and shop.told()["1"]
    shop.parties[0] = attrs.evolve(shop.parties[0], is_own=False)
    assert shop.told() == {}


@pytest.mark.slow
def test_no_program_of_the_repository_runs(shop: Shop) -> None:
    """No filter, no driver that compares or shows, whatever its attributes and settings name, then or since."""
    program = str(shop.trap.program)
    assert shop.told() == NOTHING
    shop.trap.write(".gitattributes", "* filter=x diff=x\n")
    for key in ("filter.x.clean", "filter.x.smudge", "diff.x.command", "diff.x.textconv", "diff.external",
                "core.fsmonitor", "core.hooksPath", "core.pager"):  # fmt: skip
        shop.trap.set(key, program)
    for top, word in ((shop.trap.root, "mine"), (shop.other, "theirs")):
        shop.write(changed(40, word=word), top)
    shop.trap.plain("diff")
    assert shop.trap.ran()
    assert shop.told()["1"] == [("cart.py", "40", True)]
    assert not shop.trap.ran()


def test_names_that_mean_something_to_git(shop: Shop) -> None:
    """A file is called as it is, and one is not taken for others."""
    for name in ("*", ":(glob)**", "-p", "a b", "naïve.py"):
        for top, word in ((shop.trap.root, "mine"), (shop.other, "theirs")):
            shop.write(f"{word}\n", top, name)
        shop.parties = [attrs.evolve(one, edits=(*one.edits, Edit(f"./{name}", None, "", 1.0))) for one in shop.parties]
    assert {file for file, _, _ in shop.told()["1"]} == {"*", ":(glob)**", "-p", "a b", "naïve.py"}


def test_bounds(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many files are compared and told; what git says is bounded, and so is its time."""
    for number in range(2 * MAX_COMPARED_FILES):
        for top, word in ((shop.trap.root, "mine"), (shop.other, "theirs")):
            shop.write(f"{word}\n", top, f"f{number}")
    shop.trap.plain("add", "-A")
    shop.trap.plain("add", "-A", where=shop.other)
    assert [len(found) for found in shop.told().values()] == [MAX_ENTRIES, MAX_ENTRIES]
    monkeypatch.setattr(looks_module, "MAX_COMPARED_BYTES", 4)
    assert shop.looks._text(str(shop.trap.root), "f1") == ""
    with pytest.raises(StuckError):
        shop.looks.look(shop.parties, {party.top for party in shop.parties}, time.monotonic())


def test_a_place_that_is_gone(shop: Shop) -> None:
    shop.parties[1] = attrs.evolve(shop.parties[1], top="/nowhere/at/all", cwd="/nowhere/at/all")
    assert shop.told() == NOTHING
