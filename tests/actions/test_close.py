"""Closing a pane: only the one that was shown, with the program that was shown in it."""

from __future__ import annotations

import attrs

from tallylight.actions import close
from tallylight.actions.answer import Done, Occupant, Seen
from tallylight.actions.close import Close
from tallylight.actions.gate import Refusal
from tallylight.evidence.foreground import Identity
from tallylight.evidence.process import Process
from tallylight.model.errors import SessionError
from tests.actions.desk import PANE, Desk, seen

SCREEN = "claude/permission-bash-80"


def shown(desk: Desk) -> Occupant:
    found = close.occupant(desk)
    assert isinstance(found, Occupant), found
    return found


def at(desk: Desk, held: Occupant) -> Done | Refusal:
    return close.close(desk, Close(held.pane, held.pid, held.start))


def rule(found: object) -> str:
    assert isinstance(found, Refusal), found
    return found.rule


def shell(start: int = 5) -> Seen:
    """A pane whose shell is at its prompt."""
    leader = Process(pid=90, argv=("-bash",), start=start)
    return attrs.evolve(seen(SCREEN), foreground=Identity(leader=leader))


def test_what_was_shown_is_closed() -> None:
    """An agent by its name, a shell by its own; once each."""
    desk = Desk(seen(SCREEN))
    held = shown(desk)
    assert held.agent == "claude" and held.pane == PANE
    assert at(desk, held) == Done(PANE, "closed") and desk.typed == ["(closed)"]

    plain = Desk(shell())
    assert (shown(plain).agent, shown(plain).pid) == ("bash", 90)
    assert at(plain, shown(plain)) == Done(PANE, "closed")


def test_another_program_in_front_is_not_closed() -> None:
    """What was started since, the same number of another process, another pane: each is refused by its rule."""
    desk = Desk(shell())
    held = shown(desk)
    desk.now = seen(SCREEN)
    assert rule(at(desk, held)) == "process"
    desk.now = shell(start=6)
    assert rule(at(desk, held)) == "process"
    desk.now = attrs.evolve(shell(), pane="another")
    assert rule(at(desk, held)) == "gone"
    desk.now = Refusal("gone", "that pane is gone")
    assert rule(at(desk, held)) == "gone" == rule(close.occupant(desk))
    assert desk.typed == []


def test_what_cannot_be_told_is_not_closed() -> None:
    """A process whose start is not known could be any later one; an unreachable host is said."""
    desk = Desk(shell(start=0))
    assert rule(close.occupant(desk)) == "process"
    assert rule(at(desk, Occupant(PANE, "bash", 90, 0))) == "process"
    desk.now = attrs.evolve(shell(), foreground=Identity())
    assert rule(close.occupant(desk)) == "process"

    class Broken(Desk):
        def see(self) -> Seen:
            raise SessionError("it does not answer")

    assert rule(close.occupant(Broken(shell()))) == "unreachable" == rule(at(Broken(shell()), shown(Desk(shell()))))
    assert desk.typed == []
