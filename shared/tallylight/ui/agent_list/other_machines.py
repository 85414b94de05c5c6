"""
How the list reaches panes of other machines: by an interface, which `hosts.scripting` implements.

A list that no person has opened, as one that an agent runs in a terminal of its own making, reaches all panes that way:
there it may do no more than any other program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from tallylight.actions.answer import Answer, Done, Holder, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.permission import PERSON_ONLY
from tallylight.actions.say import Interrupt, Say
from tallylight.snapshot.addresses import Found
from tallylight.snapshot.elsewhere import is_elsewhere, parts
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act
from tallylight.wire.styled import MAX_COLUMNS, StyledScreen, read_screen
from tallylight.wire.text import sanitise, width


class Texts(Protocol):
    """A screen without colours."""

    @property
    def rows(self) -> tuple[str, ...]: ...


class OtherMachines(Protocol):
    """The panes of other machines, asked by way of their host. Each call waits for it, some seconds at most."""

    @property
    def is_person(self) -> bool:
        """Whether it is a person who presses the keys of this list."""

    def screen(self, found: Found) -> Texts | Refusal:
        """What stands on its screen."""

    def question(self, found: Found) -> Question | Refusal:
        """What it asks."""

    def holder(self, found: Found) -> Holder | Refusal:
        """The agent in its foreground."""

    def give(self, found: Found, given: Answer | Say | Interrupt) -> Done | Refusal:
        """Have it typed, if over there all is as *given* says."""


#: Makes what reaches them, when it is needed; None where nothing does.
Reached = Callable[[], OtherMachines] | None


@attrs.frozen
class There:
    """The pane *found* of another machine, and its answers as the list tells them."""

    machines: OtherMachines
    found: Found

    def look(self) -> Question | str:
        """What it asks, or why that cannot be told."""
        asked = self.machines.question(self.found)
        return asked if isinstance(asked, Question) else asked.text

    def taker(self) -> Holder | str:
        """The agent that takes text; whether it does so now, it looks when there is one."""
        held = self.machines.holder(self.found)
        return held if isinstance(held, Holder) else held.text

    def give(self, given: Answer | Say | Interrupt) -> Done | Refusal:
        """Have it typed."""
        return self.machines.give(self.found, given)

    def examine(self, act: Act) -> Holder | str:
        """The agent to which *act* would be done; whether its turn can be stopped, it looks when it is to be."""
        return self._close() if act is Act.CLOSE else self.taker()

    def carry(self, act: Act, held: Holder) -> str:
        """Do it, if that process is still in front over there; why not, or nothing."""
        if act is Act.CLOSE:
            return self._close()
        done = self.give(Interrupt(held.pane, held.pid, held.start))
        return "" if isinstance(done, Done) else done.text

    def _close(self) -> str:
        return stays(Act.CLOSE.value, self.found) or PERSON_ONLY.text

    def screen(self) -> StyledScreen | str:
        """Its screen, without colours: the rows alone are told."""
        told = self.machines.screen(self.found)
        if isinstance(told, Refusal):
            return told.text
        rows = [sanitise(line, cells=MAX_COLUMNS, graphemes=MAX_COLUMNS) for line in told.rows]
        return read_screen(rows, max(map(width, rows), default=1))


def stays(verb: str, found: Found | Row) -> str:
    """What to say of a *verb* that only the machine of a pane itself does; nothing for a pane of this one."""
    machine = parts(found.pane.id)[0] if is_elsewhere(found.host) else ""
    return f"{verb} is for {machine} itself: Enter goes there" if machine else ""


def there_of(reached: Reached, row: Row) -> There | None:
    """The pane of *row* on another machine, or for no person any pane; None if the list reaches it by itself."""
    if reached is None:
        return None
    is_there = is_elsewhere(row.host) or not reached().is_person
    return There(reached(), Found(row.host, row.pane)) if is_there else None
