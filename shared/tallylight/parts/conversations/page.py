"""
The page of `tally restore`: the conversations that can be resumed, each with its exact command. Pure.

A digit toggles one; Enter starts the chosen ones, once all of them have been on the screen.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act, Line, Piece, command_line, fitted, key_lines, sentence, wrapped
from tallylight.parts.conversations.plan import Plan
from tallylight.wire.text import sanitise

#: Conversations that a digit can choose.
BY_KEY = 9


@attrs.define
class Offered:
    """One conversation: *name* and *about* describe it, *found* is the plan to resume it, or its refusal."""

    number: int
    name: str
    about: Sequence[str]
    found: Plan | Refusal
    is_chosen: bool = True

    @property
    def plan(self) -> Plan | None:
        """The plan to start, if it is chosen and possible."""
        return self.found if self.is_chosen and isinstance(self.found, Plan) else None


@attrs.define
class RestorePage:
    """The page. *where* describes where they are started; *most* is how many can start at once there."""

    choices: list[Offered]
    where: str
    most: int
    title: str = "↻  restore"

    @property
    def chosen(self) -> list[Offered]:
        """The conversations that Enter starts."""
        return [choice for choice in self.choices if choice.plan is not None]

    @property
    def verb(self) -> str:
        """The label of Enter."""
        return f"resume {len(self.chosen)}"

    @property
    def refusal(self) -> Refusal | None:
        """The reason why Enter can start nothing now."""
        if not self.chosen:
            return Refusal("nothing", "nothing is chosen")
        if len(self.chosen) > self.most:
            return Refusal("place", f"only {self.most} can be resumed {self.where}: leave the others out")
        return None

    def key(self, key: str) -> Act:
        if key in ("escape", "q", "\x03", "\x04"):
            return Act.LEAVE
        if key == "enter":
            return Act.STAY if self.refusal else Act.GO
        if key == "a":
            every = all(choice.is_chosen for choice in self.choices)
            for choice in self.choices:
                choice.is_chosen = not every
        for choice in self.choices[:BY_KEY]:
            if key == str(choice.number):
                choice.is_chosen = not choice.is_chosen
        return Act.STAY

    def body(self, columns: int) -> list[Line]:
        """Return the lines for all conversations: description, exact argument list and directory."""
        inner = max(10, columns - 4)
        losing = [str(choice.number) for choice in self.choices if choice.plan is not None and choice.plan.warning]
        rows: list[Line] = []
        if losing:
            rows += [*wrapped(f"Some options are not kept: see {', '.join(losing)}.", inner, "bad"), ()]
        rows.append((("title", "  ↻  Resume conversations"),))
        rows += wrapped(f"They open {self.where}.", inner, "dim")
        for choice in self.choices:
            box = "[x]" if choice.plan is not None else "[ ]" if isinstance(choice.found, Plan) else "   "
            name = sanitise(choice.name, cells=200)
            head: tuple[Piece, ...] = (("", f"  {box} "), ("key", str(choice.number)), ("", f"  {name}"))
            rows += [(), head]
            if isinstance(choice.found, Plan) and choice.found.warning:
                rows += _indented(wrapped(choice.found.warning, inner - 4, "bad"))
            for text in choice.about:
                rows += _indented(wrapped(text, inner - 4, "dim"))
            if isinstance(choice.found, Refusal):
                rows += _indented(wrapped(sentence(choice.found.text), inner - 4, "bad"))
                continue
            rows += _indented(wrapped(command_line(choice.found.argv), inner - 4))
            rows += _indented(wrapped(f"in {choice.found.cwd}", inner - 4))
            for note in choice.found.notes:
                rows += _indented(wrapped(note, inner - 4, "dim"))
        if self.refusal is not None:
            rows += [(), *wrapped(f"{sentence(self.refusal.text)}", inner, "bad")]
        return fitted(rows, columns)

    def keys(self, columns: int) -> list[Line]:
        """Return the lines that explain the keys."""
        last = min(BY_KEY, len(self.choices))
        digits = "1" if last == 1 else f"1…{last}"
        keys = [("Esc", "leave"), (digits, "choose"), ("a", "all or none")]
        if self.refusal is None:
            keys.insert(0, ("Enter", self.verb))
        return fitted(key_lines(keys, columns), columns)


def _indented(lines: list[Line]) -> list[Line]:
    return [(("", "    "), *line) for line in lines]
