"""
A pane for tests of what a person may do to it: recorded screens, a process, and a note of what is typed.

Other surfaces' tests may use it, and the tables of `tests.actions.hostile`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from tallylight.actions.answer import Question, Seen, ask
from tallylight.actions.gate import Refusal
from tallylight.evidence.foreground import Identity
from tallylight.evidence.process import Process
from tallylight.evidence.screen import Look
from tallylight.model.status import Status
from tallylight.wire.styled import StyledScreen, read_screen
from tests.evidence.agents import agent

SCREENS = Path(__file__).parents[1] / "evidence/screens"
PANE, PID, START = "3", 4711, 88_001


def look(name: str) -> Look:
    """The recorded screen *name*, `claude/permission-bash-120`."""
    head, _, body = (SCREENS / f"{name}.txt").read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return Look(body.removesuffix("\n").split("\n"), int(facts["cursor"]), 0, int(facts["columns"]))


def holder(name: str, pid: int = PID, start: int = START) -> Identity:
    """The agent *name* in the foreground; nobody, for an empty one."""
    process = Process(pid, start=start)
    return Identity(leader=process, process=process, agent=agent(name) if name else None, is_direct=bool(name))


def seen(name: str, status: Status = Status.WAITING, **more: Any) -> Seen:
    """A pane that shows the recorded screen *name*, of the agent that it is of."""
    return Seen(**{
        "pane": PANE, "foreground": holder(name.partition("/")[0]), "look": look(name), "status": status, **more
    })  # fmt: skip


@attrs.define
class Desk:
    """
    A typist whose pane is *now*, with the colours of *styled*; it notes in *typed* what reaches the program.

    *unread* is what its program has drawn and its host has not read: the next of it comes when something is typed.
    """

    now: Seen | Refusal
    typed: list[str] = attrs.field(factory=list)
    styled: StyledScreen | None = None
    unread: list[Seen | Refusal] = attrs.field(factory=list)

    def see(self) -> Seen | Refusal:
        return self.now

    def screen(self) -> StyledScreen:
        assert isinstance(self.now, Seen)
        return self.styled or read_screen(self.now.look.lines, self.now.look.columns)

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        return self._type(keys, seen)

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        return self._type(text + "\r" * enter, seen)

    def _type(self, text: str, seen: Seen | None) -> bool:
        if self.unread:
            self.now, *self.unread = self.unread
        is_typed = seen is None or self.now == attrs.evolve(seen, styled=None)
        self.typed += [text] * is_typed
        return is_typed

    def close(self) -> None:
        self.typed.append("(closed)")

    def shown(self) -> Question:
        """What a person is shown of it."""
        found = ask(self)
        assert isinstance(found, Question), found
        return found
