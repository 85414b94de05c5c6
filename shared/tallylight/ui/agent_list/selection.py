"""
Selections: one row or all that are shown, and the page with the panes that would be interrupted or closed.

Only panes on that page are interrupted or closed, each with the program that was in front. `y` counts only once all of
the page was on the screen; the pane's host compares again, with the process, before it acts. The same holds for a
request of several agents that is answered once for all of them.
"""

from __future__ import annotations

import enum

import attrs

from tallylight.actions.answer import Answer, Occupant, Question
from tallylight.actions.close import Close
from tallylight.actions.request import OCCUPANT, STOPPABLE, LookRequest
from tallylight.actions.say import Interrupt
from tallylight.model.prose import counted
from tallylight.snapshot.rows import Row
from tallylight.ui.layout import clean, status_words

#: Cells of a name on the page.
_SHOWN_NAME_CELLS = 40


class Act(enum.Enum):
    """An action on panes after a page was read."""

    INTERRUPT = "interrupt"
    CLOSE = "close"

    @property
    def key(self) -> str:
        """The key for it in the list; on its page, for all rows of the list."""
        return "i" if self is Act.INTERRUPT else "D"

    @property
    def done(self) -> str:
        """The word for the finished action: `interrupted`."""
        return "interrupted" if self is Act.INTERRUPT else "closed"

    def look_request(self, pane: str) -> LookRequest:
        """Return the request for the program in *pane* that the action would be done to."""
        return LookRequest(pane, STOPPABLE if self is Act.INTERRUPT else OCCUPANT)

    def of(self, held: Occupant) -> Interrupt | Close:
        """Return the request to do it to *held*, the program that was shown."""
        return (Interrupt if self is Act.INTERRUPT else Close)(held.pane, held.pid, held.start)


@attrs.frozen
class Proposal:
    """
    An *act* on the panes of *targets*, each with the program in its foreground when it was shown.

    *left_out*: rows that it is not done to, and why. *read*: how many of its lines were on the screen.
    """

    act: Act
    targets: tuple[tuple[Row, Occupant], ...]
    left_out: tuple[tuple[Row, str], ...] = ()
    read: int = 0

    @property
    def title(self) -> str:
        """The question of the page: `close 2 panes?`."""
        what = "agent" if self.act is Act.INTERRUPT else "pane"
        return f"{self.act.value} {counted(len(self.targets), what)}?"

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        """The keys of the page."""
        return ("y", self.title.rstrip("?")), (self.act.key, "all rows")

    def lines(self) -> tuple[str, ...]:
        """Return each pane in a line or two that fit 40 columns, then the rows that are left out."""
        lines: list[str] = []
        for row, held in self.targets:
            lines.append(f"{clean(row.called, _SHOWN_NAME_CELLS)}, pane {row.name}")
            status = status_words(row.pane.status, row.pane.kind)
            lines.append(f"  {clean(held.agent, _SHOWN_NAME_CELLS)}, {status}")
        if self.left_out:
            lines += ["", f"not {self.act.done}:"]
            lines += [f"{clean(row.called, _SHOWN_NAME_CELLS)}, pane {row.name}: {why}" for row, why in self.left_out]
        return tuple(lines)


@attrs.frozen
class SharedAnswer:
    """
    One answer to the same question of several agents: *targets* are their rows, each with the question on its screen.

    *read*: how many lines of the page that shows them were on the screen.
    """

    targets: tuple[tuple[Row, Question], ...]
    read: int = 0

    @property
    def title(self) -> str:
        """The question of the page: `the same for these 3?`."""
        return f"the same for these {len(self.targets)}?"

    @property
    def hints(self) -> tuple[tuple[str, str], ...]:
        """Return the keys for answering all agents at once, with their effect: `1-3`, `answer all 4`."""
        return ((f"1-{len(self.targets[0][1].choices)}", f"answer all {len(self.targets)}"),)

    def lines(self) -> tuple[str, ...]:
        """Return each agent with its whole question, then the answers that all of them take."""
        lines: list[str] = []
        for row, question in self.targets:
            folder = f", in {clean(row.pane.cwd)}" if row.pane.cwd else ""
            lines += [f"{clean(row.called, _SHOWN_NAME_CELLS)}, pane {row.name}{folder}"]
            lines += [f"  {text}" for text in dialog(question)] + [""]
        return (*lines, *(f"{choice.number}  {choice.label}" for choice in self.targets[0][1].choices))

    def chosen(self, key: str) -> tuple[tuple[Row, Answer], ...]:
        """Return the answers that *key* gives, each for the very screen that was shown; none for any other key."""
        numbers = {str(choice.number): choice.number for choice in self.targets[0][1].choices}
        if key not in numbers:
            return ()
        return tuple((row, question.answer(numbers[key])) for row, question in self.targets)


def dialog(question: Question) -> tuple[str, ...]:
    """Return the lines of the dialog of *question* that have any text."""
    rows = question.context[question.first :] or (question.question,)
    return tuple(row.rstrip() for row in rows if row.strip())


def shared_answer(found: tuple[tuple[Row, Question], ...], like: Question) -> SharedAnswer:
    """Return those of *found* with exactly the question of *like*, that a number can answer."""
    wanted = dialog(like), like.choices, ""
    same = [
        (row, question)
        for row, question in found
        if (dialog(question), question.choices, question.missing) == wanted and all(one.keys for one in like.choices)
    ]
    return SharedAnswer(tuple(same))


def outcome(act: Act, done: int, failed: tuple[tuple[Row, str], ...]) -> str:
    """Return the result in one line: how many panes it was done to, and the first that it was not done to."""
    words = [f"{done} {act.done}"] if done else []
    words += [f"{clean(row.called, _SHOWN_NAME_CELLS)}: {why}" for row, why in failed[:1]]
    words += [f"and {len(failed) - 1} more not"] if len(failed) > 1 else []
    return "; ".join(words)
