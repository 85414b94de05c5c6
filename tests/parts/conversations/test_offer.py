"""The page: it shows the exact argument list at any width, and keys do what it says."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.gate import Refusal
from tallylight.actions.git import Place as Where
from tallylight.actions.git import Repository
from tallylight.actions.page import Act, Place, command_line
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.parts.conversations.worktrees import Base
from tallylight.wire.text import width
from tests.actions.known import ID
from tests.tables import each

ARGV = ("/home/me/.local/bin/claude", "--resume", ID, "--fork-session")


def worktree(changed: int = 0, notes: tuple[str, ...] = ()) -> Base:
    """A worktree that would be made of `/w/api`."""
    repository = Repository(Where("/w/api", "/w/api/.git", "/w/api/.git"))
    return Base(repository, "1" * 40, "", changed, Path("/w/api-fork-1"), "main-fork-1", notes)


def offer(*, verb: Verb = Verb.FORK, **changes: Any) -> ForkPage:
    """A page for a fork of Claude."""
    plan = Plan(
        verb=verb,
        argv=ARGV,
        cwd="/w/api",
        agent="claude",
        display="Claude Code",
        session=ID,
        method=Method.SESSION,
        title="⎇  api",
        pid=20,
    )
    return ForkPage(verb, attrs.evolve(plan, **changes))


def text(page: ForkPage, columns: int = 80) -> str:
    """What the page shows."""
    lines = [*page.body(columns), *page.keys(columns)]
    return "\n".join("".join(piece for _, piece in line) for line in lines)


def test_it_shows_what_would_run() -> None:
    """The argument list, the directory, the place and how it is known, all of it on one page."""
    shown = text(offer(notes=("Mind this.",)), 120)

    for fact in (" ".join(ARGV), "/w/api", "a pane beside this one", "by its session id", "Mind this.", "Enter fork"):
        assert fact in shown


@given(st.integers(2, 200), st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8))
def test_nothing_of_the_list_is_left_out(columns: int, argv: list[str]) -> None:
    """At any width every argument can be read whole, and no line is wider than the screen."""
    page = offer(argv=tuple(argv))

    assert all(width(line) <= columns for line in text(page, columns).split("\n"))
    shown = "".join(text(page, columns).split())
    assert "".join(command_line(argv).split()) in shown


@given(st.lists(st.text(max_size=20), max_size=6))
def test_arguments_can_be_told_apart(argv: list[str]) -> None:
    """As a command line it is the same list again to a shell, or an argument that cannot be shown is spelled out."""
    if all(word.isprintable() for word in argv) and all(word.isascii() for word in argv):
        assert shlex.split(command_line(argv)) == argv
    assert command_line(argv).isprintable()


@each(
    ("keys", "act", "place"),
    [
        (["enter"], Act.GO, Place.VSPLIT),
        (["escape"], Act.LEAVE, Place.VSPLIT),
        (["q"], Act.LEAVE, Place.VSPLIT),
        (["\x03"], Act.LEAVE, Place.VSPLIT),
        (["t", "enter"], Act.GO, Place.TAB),
        (["o", "enter"], Act.GO, Place.OS_WINDOW),
        (["b", "p", "enter"], Act.GO, Place.VSPLIT),
        (["b", "enter"], Act.GO, Place.HSPLIT),
        (["x"], Act.STAY, Place.VSPLIT),
        ([""], Act.STAY, Place.VSPLIT),
        (["y"], Act.STAY, Place.VSPLIT),
        ([" "], Act.STAY, Place.VSPLIT),
    ],
)
def test_keys(keys: list[str], act: Act, place: Place) -> None:
    """Only Enter goes; Esc, q and Ctrl-C leave; a letter chooses the place; all else stays."""
    page = offer()

    assert [page.key(key) for key in keys][-1] is act
    assert page.place is place


def test_a_worktree_is_chosen_and_shown() -> None:
    """`w` asks for a worktree and takes that back; its directory, branch and what stays behind are shown."""
    page = offer()
    page.key("w")
    page.worktree = worktree(changed=2, notes=("git runs it.",))
    chosen = text(page)
    page.key("w")

    assert "/w/api-fork-1 (new worktree)" in chosen
    assert "main-fork-1 (new)" in chosen
    assert "2 changes are not committed and stay behind." in chosen
    page.wants_worktree, page.worktree = True, worktree(changed=1)
    assert "1 change is not committed and stays behind." in text(page)
    page.wants_worktree = False
    assert "git runs it." in chosen
    assert "worktree)" not in text(page) and "git runs it." not in text(page)


def test_a_refused_worktree_cannot_be_entered() -> None:
    """With a worktree that there can be none of, Enter does nothing; without it, it goes."""
    page = offer()
    page.key("w")
    page.worktree = Refusal("worktree", "a merge is not finished")

    assert "A merge is not finished." in text(page)
    assert page.key("enter") is Act.STAY and "Enter fork" not in text(page)
    page.key("w")
    assert page.key("enter") is Act.GO and "Enter fork" in text(page)


def test_a_resumed_conversation_has_no_worktree() -> None:
    """It goes on where it was."""
    page = offer(verb=Verb.RESUME)
    page.key("w")

    assert not page.wants_worktree
    assert "worktree" not in text(page)


@each("key", ["enter", "escape", "x", "w", ""])
def test_a_refusal_can_only_be_left(key: str) -> None:
    """The page of a refusal says why and by which rule, and every key leaves it."""
    page = ForkPage(Verb.FORK, Refusal("remote", "in the foreground is ssh"))

    assert "In the foreground is ssh." in text(page)
    assert "Nothing was started." in text(page)
    assert page.key(key) is Act.LEAVE
