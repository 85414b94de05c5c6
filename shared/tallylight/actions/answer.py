"""
Answers: a person takes one of the choices that an agent offers.

`ask` reads a `Question` off a pane's screen. A surface (list, page, REST) shows it, and sends back an `Answer`: the
pane, the agent's process, the fingerprint of the screen, and a choice by its number. Keys do not travel that way.
`answer` looks again. Only if everything is the same, that choice's keys are typed, once, as the agent's data file has
them. Everything else is a `Refusal` that names its rule:

* `gone`, `unreachable`: the pane is not there any more, or its host does not answer;
* `mode`, `synchronized`: the keys may not reach the program (tmux, an editor), or reach others too (tmux);
* `remote`, `process`: the foreground leads to another machine, or is not the agent's process any more;
* `no-question`: it asks nothing that a choice can answer;
* `not-whole`: not all of the question is on the screen;
* `too-long`: there is more to read than can be shown;
* `changed`: the screen is not the one that the person saw;
* `choice`, `keys`: there is no such choice, or its keys are unknown.

The host compares the screen once more in one step with typing. If it has changed since that look, nothing is typed and
the answer is not decided: None. `actions.once` then looks and compares again.

Only this module answers; surfaces call it through `actions.once`, which adds the rule `answered`. It does no input or
output: a host's `Typist` looks and types.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from tallylight.actions.gate import Refusal, must, refuses
from tallylight.agents.agent import Agent
from tallylight.evidence.fingerprint import fingerprint
from tallylight.evidence.foreground import Identity
from tallylight.evidence.frame import inside
from tallylight.evidence.process import program_of
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.screen import Look
from tallylight.evidence.tail import is_edge
from tallylight.model.dialog import Dialog
from tallylight.model.limits import MAX_DIALOG_ROW_CELLS as MAX_DIALOG_ROW_CELLS
from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import sanitise, width

#: Kinds that grant nothing, and are answered by a choice or in words. A secret is typed at the pane itself.
PLAIN = (Kind.QUESTION, Kind.INPUT)
#: Rows above a dialog that are shown, too.
MAX_ABOVE_ROWS = 100
#: Characters of a dialog, above its choices, that are shown; a longer one must be read in its pane.
MAX_CONTEXT_CHARS = 100_000
#: Rows that an agent's advertisement of itself may take.
MAX_ADVERT_ROWS = 6
#: The pointer and the number in front of a choice.
_NUMBER = re.compile(r"(?:[^\w\s] ?)?\d{1,2}[.):] {1,3}")
_POINTER = re.compile(r"[❯›→▶▸►➤➜⏵] {1,3}")
#: Characters that `sanitise` leaves as they are: Latin letters and the lines of dialogs.
_PLAIN = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2211\u2500-\u259f\u25cb-\u25cf\u276f]*")
_GAPS = re.compile(r" {3,}")
#: Lines across are shown, but no longer than this: a list may be narrower than the screen.
_ACROSS = re.compile(r"([─━═╌┄┈╍┅┉▔▁▀▄])\1{31,}")


@attrs.frozen
class Choice:
    """One choice: its *number*, from 1; its *label*; and the *keys* that will be typed, "" if unknown."""

    number: int
    label: str
    keys: str


@attrs.frozen(kw_only=True)
class Question:
    """
    The question of a pane as a person is shown it before they answer. All text is sanitised.

    *prompt* is its name in a snapshot (`prompt` of a pane), to notice that it is gone; it decides nothing here.
    *context* are the rows above the choices, with up to `MAX_ABOVE_ROWS` above the dialog. The dialog begins at *first*
    of them: a person must have seen all rows from there to agree. *pid* and *start* are of the agent's process,
    *fingerprint* of the whole visible screen. *choices* is empty where any text may be the answer. *missing* is a
    sentence about the part that is not shown: then nothing answers it from here. *is_plain*: two sources prove that it
    is a question and no permission (`is_question`).
    """

    pane: str
    agent: str
    pid: int
    start: int
    fingerprint: str
    prompt: str
    question: str
    context: tuple[str, ...] = ()
    first: int = 0
    choices: tuple[Choice, ...] = ()
    missing: str = ""
    is_plain: bool = False

    def answer(self, number: int) -> Answer:
        """Return the answer that takes choice *number*."""
        return Answer(self.pane, self.pid, self.start, self.fingerprint, number)


@attrs.frozen
class Answer:
    """A person's choice, by its number from 1, for the question of this process on this screen."""

    pane: str
    pid: int
    start: int
    fingerprint: str
    number: int


@attrs.frozen
class Occupant:
    """The agent in the foreground of a pane, and its process: the target of a text or an interruption."""

    pane: str
    agent: str
    pid: int
    start: int


@attrs.frozen
class Done:
    """The action was done; *text* says how, such as `answered 1. Yes`."""

    pane: str
    text: str


@attrs.frozen(kw_only=True)
class Seen:
    """
    A pane as its host sees it at this moment.

    *status* and *kind* are the decision of the host's tracker; *confirmed_kind* is the kind by sources other than the
    screen. *takes_paste*: whether the program has asked for bracketed paste; None if its host does not know. *styled*
    is the screen with its colours, where the question depends on them.
    """

    pane: str
    foreground: Identity
    look: Look
    status: Status
    kind: Kind | None = None
    confirmed_kind: Kind | None = None
    takes_paste: bool | None = None
    styled: StyledScreen | None = None

    @classmethod
    def of(cls, entry: Pane, foreground: Identity, look: Look, *, takes_paste: bool | None = None) -> Seen:
        """Return the pane *entry* of a snapshot with what is seen of it now."""
        status, kind, confirmed = entry.status, entry.kind, entry.confirmed_kind
        return cls(
            pane=entry.id, foreground=foreground, look=look, status=status, kind=kind, confirmed_kind=confirmed,
            takes_paste=takes_paste,
        )  # fmt: skip


class Typist(Protocol):
    """
    One pane, as its host reaches it. Each method may raise `SessionError`.

    Only `answer` and `actions.say` may call `press` and `paste`.
    """

    def see(self) -> Seen | Refusal:
        """Look at the screen and at the process in the foreground, both again."""

    def screen(self) -> StyledScreen:
        """Look at the screen with its colours; it is plain if its host reports no colours."""

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        """
        Type *keys*, and nothing else. Return False if nothing was typed.

        Nothing is typed if the screen differs from *seen*, as far as the host can tell while it types. Output of the
        program that the host has not read yet prevents it, too. Without *seen*, the screen does not matter.
        """

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """
        Type *text*, as a bracketed paste where the program has asked for that; then press Enter if *enter*.

        The screen and the result are as for `press`.
        """


def see_styled(typist: Typist) -> Seen | Refusal:
    """
    Look at the pane, with its colours if they mark the selected choice and so decide the keys.

    The colours are read after the text on hosts that report them apart; `read_screen` ignores colours of another text.
    """
    seen = typist.see()
    if isinstance(seen, Seen) and seen.styled is None:
        found = reading_of(seen)
        if found is not None and found.wants_style:
            return attrs.evolve(seen, styled=typist.screen())
    return seen


@refuses
def ask(typist: Typist) -> Question | Refusal:
    """Return the question of the pane now; without choices where it asks for any text."""
    seen = must(see_styled(typist))
    held = must(holder_of(seen))
    dialog = dialog_of(seen)
    if seen.status is not Status.WAITING or dialog is None:
        return Refusal("no-question", "it asks nothing with known answers")
    context, first = _context(seen.look, dialog, seen.foreground.agent)
    labels = _labels(seen.look, dialog)
    if sum(map(len, context[first:])) > MAX_CONTEXT_CHARS or any(
        width(row) >= MAX_DIALOG_ROW_CELLS for row in (*context[first:], *labels)
    ):
        return Refusal("too-long", "its question is too long to show here; nothing was typed")
    return Question(
        pane=held.pane,
        agent=held.agent,
        pid=held.pid,
        start=held.start,
        fingerprint=fingerprint(seen.look.lines, seen.look.columns, dialog),
        prompt=_prompt(seen, dialog),
        question=dialog.question,
        context=context,
        first=first,
        missing=missing_message(dialog),
        is_plain=is_question(seen),
        choices=tuple(
            Choice(number, label, choice.keys)
            for number, (label, choice) in enumerate(zip(labels, dialog.choices, strict=True), 1)
        ),
    )


@refuses
def holder(typist: Typist) -> Occupant | Refusal:
    """Return the agent in the foreground of the pane now."""
    return holder_of(must(typist.see()))


def is_question(seen: Seen) -> bool:
    """
    Return whether two sources prove that a plain question is asked, in choices or in words, and no permission.

    One is the agent's own rule for its screen. A model can write the words of that rule, so another must agree: the
    agent's status file, record, hook, protocol or title.
    """
    dialog = dialog_of(seen)
    if dialog is None or not dialog.is_known or dialog.kind not in PLAIN:
        return False
    return dialog.kind is seen.kind is seen.confirmed_kind


def refuse_nothing(_: Seen) -> Refusal | None:
    """Refuse nothing: the check for a caller who may answer any screen."""
    return None


@refuses
def answer(
    typist: Typist, given: Answer, unfit: Callable[[Seen], Refusal | None] = refuse_nothing
) -> Done | Refusal | None:
    """
    Look again, and type the keys of the choice if everything is as the person saw it, and not *unfit*.

    None: the screen changed just before the keys; nothing was typed, and the caller looks again.
    """
    seen = see_again(typist, given.pane, given.pid, given.start)
    dialog = dialog_of(seen)
    if dialog is None:
        return Refusal("no-question", "that question is no longer on the screen; nothing was typed")
    if fingerprint(seen.look.lines, seen.look.columns, dialog) != given.fingerprint:
        return Refusal("changed", "the screen has changed since you saw it; nothing was typed")
    if isinstance(given.number, bool) or not 1 <= given.number <= len(dialog.choices):
        return Refusal("choice", f"there is no choice {given.number}; nothing was typed")
    if dialog.missing:
        return Refusal("not-whole", f"{missing_message(dialog)}; nothing was typed")
    choice = dialog.choices[given.number - 1]
    if not choice.keys:
        return Refusal("keys", "the keys for this choice are not known; nothing was typed")
    must(unfit(seen))
    if not typist.press(choice.keys, seen):
        return None
    return Done(seen.pane, f"answered {given.number}. {_labels(seen.look, dialog)[given.number - 1]}")


def holder_of(seen: Seen) -> Occupant | Refusal:
    """Return the agent in the foreground of the pane that was *seen*."""
    found = seen.foreground
    if found.is_remote:
        text = f"{found.suspect} shows another machine: go to that pane and answer there; nothing was typed"
        return Refusal("remote", text)
    # A start of 0 is one that could not be read: later it could be another process.
    if found.agent is None or found.process is None or not found.process.start:
        return Refusal("process", "no agent is in the foreground of that pane; nothing was typed")
    if found.is_drawn and found.leader is not None:
        name = program_of(found.leader)
        text = f"{found.agent.display} is in a terminal that {name} draws, and {name} may take the keys for itself"
        return Refusal("mode", f"{text}: go to that pane and answer there; nothing was typed")
    return Occupant(seen.pane, found.agent.name, found.process.pid, found.process.start)


def _prompt(seen: Seen, dialog: Dialog) -> str:
    """Return the name of *dialog* in a snapshot, which its host has read without colours."""
    plain = dialog if seen.styled is None else dialog_of(attrs.evolve(seen, styled=None))
    return plain.fingerprint if plain is not None else ""


def dialog_of(seen: Seen) -> Dialog | None:
    """Return the dialog of the agent in the foreground; None if it has none."""
    found = reading_of(seen)
    return found.dialog if found is not None else None


def reading_of(seen: Seen) -> ScreenReading | None:
    """Return the status of the agent in the foreground that its screen shows; None if it shows none."""
    look = seen.look
    return read_screen(
        seen.foreground.agent,
        look.lines,
        look.cursor_row,
        seen.styled,
        look.columns,
        cursor_visible=look.cursor_visible,
    )


def see_again(typist: Typist, pane: str, pid: int, start: int) -> Seen:
    """Look once more at *pane*; `RefusedError` if `check_process` refuses it."""
    seen = must(see_styled(typist))
    must(check_process(seen, pane, pid, start))
    return seen


def check_process(seen: Seen, pane: str, pid: int, start: int) -> Refusal | None:
    """Return a refusal unless *seen* is *pane*, with the agent's process *pid* of this *start* in the foreground."""
    if seen.pane != pane:
        return Refusal("gone", "that is another pane now; nothing was typed")
    held = holder_of(seen)
    if isinstance(held, Refusal):
        return held
    if (held.pid, held.start) != (pid, start):
        return Refusal("process", "another process is in the foreground of that pane now; nothing was typed")
    return None


def missing_message(dialog: Dialog) -> str:
    """Return the message about a *dialog* that is not whole, for every surface; "" for a whole one."""
    return f"part of this cannot be seen here: {dialog.missing}; answer it in its own pane" if dialog.missing else ""


def _context(look: Look, dialog: Dialog, agent: Agent | None = None) -> tuple[tuple[str, ...], int]:
    """Return the rows to show above the choices, and the index of the first row of the dialog of *agent*."""
    lines, place = look.lines, dialog.place
    if place is None:
        return tuple(map(_row, lines)), 0
    top = dialog.top
    end = (place.starts[0] if place.starts else place.end) - top
    above, rows = lines[max(0, top - MAX_ABOVE_ROWS) : top], inside(dialog, lines)[:end]
    # Its first line or edge is of no use to a reader.
    while len(rows) > 1 and (not rows[0].strip() or is_edge(rows[0])):
        del rows[0]
    shown = [_row(line) for line in (*above, *_without_advert(rows, agent.adverts if agent is not None else ()))]
    while shown and not shown[-1]:
        shown.pop()
    return tuple(shown), min(len(above), len(shown))


def _without_advert(rows: Sequence[str], adverts: Sequence[str]) -> Sequence[str]:
    """Return *rows* without the one of *adverts* that is below the first of them, wrapped or not."""
    said = ""
    for number, row in enumerate(rows[1 : 1 + MAX_ADVERT_ROWS], 1):
        said = f"{said} {row.strip()}".strip()
        # The whole sentence, letter by letter: a model must not be able to hide a word of its own.
        if said in adverts:
            return [rows[0], *rows[1 + number :]]
    return rows


def _labels(look: Look, dialog: Dialog) -> list[str]:
    """Return each choice with all rows that describe it; a dot is between rows that were not wrapped."""
    place = dialog.place
    if place is None or not place.starts or len(place.starts) != len(dialog.choices):
        return [choice.label for choice in dialog.choices]
    rows = inside(dialog, look.lines)
    labels = []
    for start, end in zip(place.starts, (*place.starts[1:], place.end), strict=True):
        between = rows[start - dialog.top : end - dialog.top]
        texts = [line.rstrip() for line in between if line.strip() and not is_edge(line)]
        first = texts[0].strip() if texts else ""
        first = _NUMBER.sub("", first, count=1) if _NUMBER.match(first) else first
        first = _POINTER.sub("", first, count=1) if _POINTER.match(first) else first
        for above, below in itertools.pairwise(texts):
            is_wrapped = width(above) * 2 > look.columns
            first += (" " if is_wrapped else " · ") + below.strip()
        labels.append(_whole(_GAPS.sub("  ", first)))
    return labels


def _row(line: str) -> str:
    return _whole(_ACROSS.sub(lambda found: found[1] * 32, line.rstrip()))


def _whole(text: str) -> str:
    """Return *text* for display; longer than `MAX_DIALOG_ROW_CELLS` it ends in `…`."""
    if len(text) * 2 <= MAX_DIALOG_ROW_CELLS:
        # It cannot be too long.
        return text if _PLAIN.fullmatch(text) else sanitise(text, cells=MAX_DIALOG_ROW_CELLS)
    # One cell more than fits is not enough: a wide character would not be in it.
    shown = sanitise(text, cells=MAX_DIALOG_ROW_CELLS + 2)
    return shown if width(shown) <= MAX_DIALOG_ROW_CELLS else f"{sanitise(shown, cells=MAX_DIALOG_ROW_CELLS - 1)}…"
