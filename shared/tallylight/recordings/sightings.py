"""
Sightings: what the screen of an agent looked like in a recording or in a pane, when it worked, asked and was idle.

A recording is drawn and looked at four times a second, as a host does, and a pane as often as its host tells. What it
then was is taken from the marks that tell the truth, where there are any, and from a person's word; else it is guessed:

* *asking*: it shows a dialog that looks like one in any program, or stands still and hints at the keys of one;
* *idle*: nothing changes for a second but what is typed;
* *busy*: output in most of the last looks, a spinner that turns, or a hint at the key that interrupts.

What is neither is left out: a rule is made of what is sure.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence

import attrs

from tallylight import wire
from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.screen import Change, Look, ScreenWatch
from tallylight.evidence.tail import read_tail
from tallylight.evidence.unknown import SPINNERS
from tallylight.recordings.asciicast import Event, Header, Output, Resize
from tallylight.recordings.events import Exit
from tallylight.recordings.grid import Grid
from tallylight.recordings.scoring import class_of, truth_of
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.scanner import Scanner
from tallylight.wire.scanner import Sequence as Control
from tallylight.wire.title import Title

BUSY, IDLE, ASKING = "busy", "idle", "asking"
#: Seconds between looks, looks that are remembered, and how many of them without change are rest, or with output work.
POLL_S = 0.25
_WINDOW, _STILL, _LIVELY = 6, 4, 3
_AT_REST = (Change.NONE, Change.TYPING, Change.REFLOW)
#: Seconds after a change of the truth that are left out: the screen follows it.
_LATE_S = 0.75
#: Rows with text that are looked at, from the end.
ROWS = 20
#: Looks that are kept of one recording.
MOST = 20_000
_CHANGING = re.compile(r"[\d⠁-⣿◐-◗🌑-🌘·✢✳✶✻✽]")
#: Hints of two keys, one that chooses and one that leaves, or letters to choose by.
_CHOOSES = re.compile(r"\b(?:enter|return|space)\b|[⏎↵]|\[[YyAa1]\] ?\w", re.IGNORECASE)
_LEAVES = re.compile(r"\besc(?:ape)?\b|\bcancel\b|\[[Nn]\] ?\w", re.IGNORECASE)
#: A row of keys that choose among what stands above.
_SELECTS = re.compile(
    r"(?:[↑↓⇆⇄]|\barrows?\b).{0,40}\b(?:select|choose|navigate|move)\b.{0,60}\b(?:enter|return)\b"
    r"|(?:\benter\b|[⏎↵]).{1,4}(?:select|confirm|choose|submit)",
    re.IGNORECASE,
)
_WORKS = re.compile(r"\binterrupt\b|\besc(?:ape)? to cancel\)", re.IGNORECASE)


@attrs.frozen
class Sighting:
    """One look: what it was, the *segment* of like ones it belongs to, its last rows with text, and the title."""

    time: float
    label: str
    segment: int
    rows: tuple[str, ...]
    title: str
    #: Whether a dialog was read that looks like one in any program.
    is_read: bool


@attrs.frozen
class Seen:
    """All sightings of one recording, and whether it drew a progress bar."""

    sightings: tuple[Sighting, ...]
    has_bar: bool


def of_screen(label: str, lines: Sequence[str]) -> Seen:
    """A screen that a person has copied, and what it showed."""
    rows = tuple(row.text for row in read_tail(lines) if row.text)[-ROWS:]
    return Seen((Sighting(0.0, label, 0, rows, "", _is_dialog(lines, _last_row(lines))),), False)


def of_recording(header: Header, events: Iterable[Event], said: Iterable[tuple[float, str]] = ()) -> Seen:
    """The sightings of a recording; *said*: times at which a person says what it was."""
    events = list(events)
    looks = Looks(truth_of(events))
    scanner, grid = Scanner(), Grid(header.columns, header.rows)
    title, has_bar, due = "", False, POLL_S
    for event in events:
        while due <= event.time and not looks.is_full:
            cursor = (grid.cursor_row, grid.cursor_column)
            looks.add(
                due, list(grid.lines), grid.columns, cursor=cursor, cursor_visible=grid.cursor_visible, title=title
            )
            due += POLL_S
        match event.what:
            case Output(data):
                items = scanner.feed(data)
                for item in items:
                    found = wire.decode(item) if isinstance(item, Control) else None
                    if isinstance(found, Title):
                        title = found.text
                    has_bar = has_bar or isinstance(found, ProgressReport)
                grid.draw(items)
            case Resize(columns, rows_):
                grid.resize(columns, rows_)
            case Exit():
                break
    return looks.seen(said, has_bar=has_bar)


class Looks:
    """Looks at one screen, one each `POLL_S` seconds, and what each of them showed: by *truth* where there is any."""

    def __init__(self, truth: Sequence[tuple[float, str]] = ()) -> None:
        self._truth = truth
        self._looks: list[Sighting] = []
        self._watch = ScreenWatch()
        self._changes: deque[Change] = deque(maxlen=_WINDOW)
        self._before: tuple[str, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether no more looks are kept."""
        return len(self._looks) >= MOST

    def add(
        self,
        time: float,
        lines: Sequence[str],
        columns: int,
        *,
        cursor: tuple[int, int] | None = None,
        cursor_visible: bool = False,
        title: str = "",
    ) -> str:
        """Look at *lines*, and return what they are taken for, if anything. Without a *cursor* it is below all text."""
        row, column = cursor if cursor is not None else (_last_row(lines), 0)
        change = self._watch.look(Look(lines, row, column, columns, cursor_visible))
        self._changes.append(change)
        rows = tuple(row.text for row in read_tail(lines) if row.text)[-ROWS:]
        is_read = _is_dialog(lines, row)
        truth = self._truth
        label = _by_truth(truth, time) if truth else _guessed(rows, self._before, self._changes, is_read=is_read)
        self._before = rows
        self._looks.append(Sighting(time, label, 0, rows, title, is_read))
        return label

    def seen(self, said: Iterable[tuple[float, str]] = (), *, has_bar: bool = False) -> Seen:
        """All of them; *said*: times at which a person says what it was."""
        looks = self._looks
        if not self._truth:
            # A dialog asks from the moment it is drawn: what shows the same is called so too.
            asked = {_like(look) for look in looks if look.label == ASKING}
            looks = [attrs.evolve(look, label=ASKING) if _like(look) in asked else look for look in looks]
        found: list[Sighting] = []
        segment, before = 0, ""
        for look in _corrected(looks, said):
            if look.label != before:
                segment, before = segment + 1, look.label
            if look.label:
                found.append(attrs.evolve(look, segment=segment))
        return Seen(tuple(found), has_bar)


def is_hint(row: str) -> bool:
    """Whether *row* names the keys by which one chooses."""
    return bool(_SELECTS.search(row) or (_CHOOSES.search(row) and _LEAVES.search(row)))


def _last_row(lines: Sequence[str]) -> int:
    return max((number for number, line in enumerate(lines) if line.strip()), default=0)


def _is_dialog(lines: Sequence[str], cursor_row: int) -> bool:
    return read_dialog(read_tail(lines), cursor_row) is not None


def _by_truth(truth: Sequence[tuple[float, str]], time: float) -> str:
    """What the marks say of *time*, unless it has only just become so."""
    since, word = next(((at, word) for at, word in reversed(truth) if at <= time), (0.0, "starting"))
    following = next((at for at, _ in truth if at > time), None)
    if time - since < _LATE_S or word in ("starting", "gone") or (following is not None and following - time < POLL_S):
        return ""
    return {"working": BUSY, "waiting": ASKING, "rest": IDLE}[class_of(word)] if word != "background" else ""


def _guessed(rows: Sequence[str], before: Sequence[str], changes: Sequence[Change], *, is_read: bool) -> str:
    if not rows or len(changes) < _STILL:
        return ""
    hints = " ".join(rows[-8:])
    works = _WORKS.search(hints)
    is_hinted = (_CHOOSES.search(hints) and _LEAVES.search(hints)) or any(map(_SELECTS.search, rows[-6:]))
    if is_read or (is_hinted and not works and changes.count(Change.MAJOR) <= 1):
        return ASKING
    if all(change in _AT_REST for change in list(changes)[-_STILL:]):
        return IDLE
    is_lively = sum(change.is_output for change in changes) >= _LIVELY
    return BUSY if is_lively or _is_turning(rows, before) or works else ""


def _is_turning(rows: Sequence[str], before: Sequence[str]) -> bool:
    """Whether a row begins with another glyph of the spinner that it began with in the last look."""
    return len(rows) == len(before) and any(
        row[:1] != old[:1] and any(row[:1] in family and old[:1] in family for family in SPINNERS)
        for row, old in zip(rows, before, strict=True)
    )


def _corrected(looks: list[Sighting], said: Iterable[tuple[float, str]]) -> list[Sighting]:
    """*looks*, those around a time that a person names as they say: as far as the screen stays what it was then."""
    for time, label in said:
        at = min(range(len(looks)), key=lambda index: abs(looks[index].time - time), default=None)
        if at is None:
            continue
        first = last = at
        while first > 0 and looks[first - 1].rows == looks[at].rows:
            first -= 1
        while last + 1 < len(looks) and looks[last + 1].rows == looks[at].rows:
            last += 1
        looks[first : last + 1] = [attrs.evolve(look, label=label) for look in looks[first : last + 1]]
    return looks


def _like(look: Sighting) -> tuple[str, ...]:
    """What is the same in looks at one dialog: its last rows, except for numbers and spinners."""
    return tuple(_CHANGING.sub("", row) for row in look.rows[-6:])
