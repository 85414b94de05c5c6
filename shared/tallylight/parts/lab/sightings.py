"""
Sightings: screens of an agent in a recording or in a pane, while it worked, asked and was idle.

A recording is drawn and looked at four times a second, as a host does, and a pane as often as its host looks. The marks
of the truth label the looks, if there are any. Otherwise a person does. `frames` chooses a few screens that did not
move, as unlike each other as possible; `answered` spreads the labels over all similar ones. Looks that no person can
label are guessed, unless an answer contradicts:

* *busy*: output in most of the last looks, a spinner that turns, or a hint at the key that interrupts;
* *asking*: a dialog that looks like one in any program.

All others are left out: rules need certain looks.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from tallylight import wire
from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.screen import Change, Look, ScreenWatch
from tallylight.evidence.tail import read_tail
from tallylight.evidence.unknown import SPINNERS
from tallylight.model.decision import Decision
from tallylight.parts.lab.asciicast import Event, Header, Output, Resize
from tallylight.parts.lab.events import Exit
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner
from tallylight.parts.lab.scoring import class_of, truth_of
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.scanner import Sequence as Control
from tallylight.wire.title import Title

BUSY, IDLE, ASKING, FAILED = "busy", "idle", "asking", "failed"
#: Seconds between looks, looks that are remembered, and how many without change mean rest, or with output mean work.
SIGHTING_S = 0.25
_WINDOW_SIGHTINGS, _STILL, _LIVELY = 6, 4, 3
_AT_REST = (Change.NONE, Change.TYPING, Change.REFLOW)
#: Seconds after a change of the truth that are left out: the screen follows it.
_SCREEN_LAG_S = 0.75
#: Rows with text that are looked at, from the end.
LOOKED_AT_ROWS = 20
#: The most looks of one recording.
MAX_LOOKS = 20_000
#: The most screens to ask a person about, and to choose them from. Then how many looks make one as good as any, and how
#: unlike the others it must be.
MAX_FRAMES, _MAX_UNCHANGED, _MANY_LOOKS, _UNLIKE = 5, 200, 8, 0.12
#: The least likeness for an answer about another screen to count. How much less a still screen may be like one at rest
#: than like any other. The last rows are compared, the lower ones count more. The least likeness of the very last row.
_LIKE, _APART_SHARE, _COMPARED, _ENDS = 0.6, 0.1, 10, 0.4
_CHANGING = re.compile(r"[\d⠁-⣿◐-◗🌑-🌘·✢✳✶✻✽○◎◉●]")
_GLYPH = re.compile(r"[^\w\s] ")
#: Hints of two keys, one that chooses and one that leaves, or letters to choose by.
_CHOOSES = re.compile(r"\b(?:enter|return|space)\b|[⏎↵]|\[[YyAa1]\] ?\w", re.IGNORECASE)
_LEAVES = re.compile(r"\besc(?:ape)?\b|\bcancel\b|\[[Nn]\] ?\w", re.IGNORECASE)
#: A row of keys that choose among the rows above.
_SELECTS = re.compile(
    r"(?:[↑↓⇆⇄]|\barrows?\b).{0,40}\b(?:select|choose|navigate|move)\b.{0,60}\b(?:enter|return)\b"
    r"|(?:\benter\b|[⏎↵]).{1,4}(?:select|confirm|choose|submit)",
    re.IGNORECASE,
)
#: The label for each class of the truth, or of a light.
_LABELS = {"working": BUSY, "waiting": ASKING, "rest": IDLE}
_WORKS = re.compile(r"\binterrupt\b|\besc(?:ape)? to cancel\)", re.IGNORECASE)


@attrs.frozen(slots=False)
class Sighting:
    """One look: its label, the *segment* of similar ones it belongs to, its last rows with text, and the title."""

    time: float
    label: str
    segment: int
    rows: tuple[str, ...]
    title: str
    #: Whether it has a dialog that looks like one in any program.
    is_read: bool
    #: Whether all but spinners and numbers was still, and whether a person has labelled this very screen.
    stands: bool = False
    is_sure: bool = False
    #: The status shown then, if that is in question.
    light: str = ""
    #: The row of the cursor, if it is visible.
    cursor: str = ""

    @property
    def is_doubted(self) -> bool:
        """Return whether its label differs from its light."""
        return bool(self.light and self.label) and _LABELS[class_of(self.light)] != self.label

    @property
    def is_agreed(self) -> bool:
        """Return whether it was still, and its label agrees with its light."""
        return self.stands and bool(self.light and self.label) and not self.is_doubted

    @property
    def kind(self) -> tuple[str, bool, str]:
        """Its label and its light."""
        return self.label, self.is_read, self.light

    @functools.cached_property
    def shape(self) -> tuple[str, ...]:
        """The rows without characters that change while nothing happens."""
        return tuple(_CHANGING.sub("", row) for row in self.rows)

    @functools.cached_property
    def _words(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(row.split()) for row in reversed(self.shape[-_COMPARED:]))

    def likeness(self, other: Sighting) -> float:
        """Return how much both show the same at the end, from 0 to 1."""
        same = whole = 0.0
        for at, words in enumerate(self._words):
            same += self._nearly(at, words, other) / (at + 1)
            whole += 1 / (at + 1)
        return same / (whole or 1)

    def ends_as(self, other: Sighting) -> bool:
        """Return whether the last row is like one at the end of the *other*."""
        return bool(self._words) and self._nearly(0, self._words[0], other) >= _ENDS

    @staticmethod
    def _nearly(at: int, words: frozenset[str], other: Sighting) -> float:
        """Return how much the row at distance *at* from the end is like one near there in *other*."""
        near = other._words[max(0, at - 1) : at + 2]
        return max((len(words & its) / (len(words | its) or 1) for its in near), default=0.0)


@attrs.frozen
class Seen:
    """All sightings of one recording, and whether it drew a progress bar."""

    sightings: tuple[Sighting, ...]
    has_bar: bool
    #: Whether marks labelled it: then no person needs to be asked.
    is_marked: bool = False


def of_screen(label: str, lines: Sequence[str]) -> Seen:
    """Return the sighting of a screen that a person copied, with its label."""
    rows = tuple(row.text for row in read_tail(lines) if row.text)[-LOOKED_AT_ROWS:]
    look = Sighting(0.0, label, 0, rows, "", _is_dialog(lines, _last_row(lines)), is_sure=True)
    return Seen((look,), False, is_marked=True)


def of_recording(header: Header, events: Iterable[Event]) -> Seen:
    """Return the sightings of a recording."""
    events = list(events)
    looks = Looks(truth_of(events))
    scanner, grid = Scanner(), Grid(header.columns, header.rows)
    title, has_bar, due = "", False, SIGHTING_S
    for event in events:
        while due <= event.time and not looks.is_full:
            cursor = (grid.cursor_row, grid.cursor_column)
            looks.add(
                due, list(grid.lines), grid.columns, cursor=cursor, cursor_visible=grid.cursor_visible, title=title
            )
            due += SIGHTING_S
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
    return looks.seen(has_bar=has_bar)


class Looks:
    """Looks at one screen, one each `SIGHTING_S` seconds, and labels them, by *truth* if there is any."""

    def __init__(self, truth: Sequence[tuple[float, str]] = ()) -> None:
        self._truth = truth
        self._looks: list[Sighting] = []
        self._watch = ScreenWatch()
        self._changes: deque[Change] = deque(maxlen=_WINDOW_SIGHTINGS)
        self._stood = 0

    @property
    def is_full(self) -> bool:
        """Return whether the most looks are reached."""
        return len(self._looks) >= MAX_LOOKS

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
        """Add a look at *lines*, and return its label, if any. Without a *cursor* it is below all text."""
        row, column = cursor if cursor is not None else (_last_row(lines), 0)
        change = self._watch.look(Look(lines, row, column, columns, cursor_visible))
        self._changes.append(change)
        tail = read_tail(lines)
        rows = tuple(each.text for each in tail if each.text)[-LOOKED_AT_ROWS:]
        at_cursor = next((each.text for each in tail if cursor_visible and each.number == row), "")
        is_read = _is_dialog(lines, row)
        truth, before = self._truth, self._looks[-1].rows if self._looks else ()
        label = _by_truth(truth, time) if truth else _guessed(rows, before, self._changes, is_read=is_read)
        found = Sighting(time, label, 0, rows, title, is_read, cursor=at_cursor)
        self._stood = self._stood + 1 if self._looks and self._looks[-1].shape == found.shape else 0
        self._looks.append(attrs.evolve(found, stands=self._stood >= _STILL and bool(rows)))
        return label

    def seen(self, *, has_bar: bool = False) -> Seen:
        return Seen(_segmented(self._looks), has_bar, bool(self._truth))


def lit(seen: Seen, shown_at: Callable[[float], Decision | None]) -> Seen:
    """Return *seen* with the status shown at the time of each look."""
    shown = ((look, shown_at(look.time)) for look in seen.sightings)
    looks = (attrs.evolve(look, light=found.status.value if found is not None else "") for look, found in shown)
    return attrs.evolve(seen, sightings=tuple(looks))


def frames(seen: Iterable[Seen], most: int = MAX_FRAMES) -> list[tuple[int, Sighting]]:
    """
    Return the screens to ask a person about, each with the number of its recording: still ones, as unlike as possible.

    The one shown longest comes first, then always the one most unlike the chosen ones. If lights are in question,
    moving screens count too, and those that seem wrong come first.
    """
    left = sorted(_groups(seen), key=len, reverse=True)[:_MAX_UNCHANGED]
    chosen: list[tuple[int, Sighting]] = []
    while left and len(chosen) < most:
        looks = max(left, key=lambda looks: _news(looks[len(looks) // 2][1], len(looks), chosen))
        number, look = looks[len(looks) // 2]
        if _news(look, len(looks), chosen) < _UNLIKE:
            break
        chosen.append((number, look))
        left.remove(looks)
    return sorted(chosen, key=lambda pair: (pair[0], pair[1].time))


def _groups(seen: Iterable[Seen]) -> Iterable[list[tuple[int, Sighting]]]:
    """Return the looks to choose from, in groups that show the same, or that moved in a row."""
    groups: dict[tuple[object, ...], list[tuple[int, Sighting]]] = {}
    moved: Counter[tuple[object, ...]] = Counter()
    for number, one in enumerate(seen):
        looks = () if one.is_marked else one.sightings
        for before, look in zip((None,) * (_STILL - 1) + looks, looks, strict=False):
            key: tuple[object, ...] = look.light, look.shape
            if not look.stands:
                if not (look.light and look.rows and before is not None and _continues(before, look)):
                    continue
                part = look.light, number, look.segment
                key = (*part, moved[part] // _MANY_LOOKS)  # a long movement may become something else
                moved[part] += 1
            groups.setdefault(key, []).append((number, look))
    return groups.values()


def _continues(before: Sighting, look: Sighting) -> bool:
    """Return whether a moving *look* continues *before*: one that has only just changed may show anything."""
    return before.likeness(look) >= _LIKE or bool(look.label and look.segment == before.segment)


def _news(look: Sighting, looks: int, chosen: Iterable[tuple[int, Sighting]]) -> float:
    """Return how much an answer about *look*, of *looks* similar ones, would add to those about *chosen*."""
    unlike = min((1 - look.likeness(other) + 0.5 * (look.kind != other.kind)) for _, other in chosen) if chosen else 1.0
    return unlike * (min(1.0, looks / _MANY_LOOKS) + look.is_doubted)


def answered(seen: Seen, answers: Sequence[tuple[Sighting, str]]) -> Seen:
    """Return *seen*, each look labelled by the answer about the most similar screen."""
    if seen.is_marked:
        return seen
    denied = any(frame.is_read and label != ASKING for frame, label in answers)
    asked = {frame.time for frame, _ in answers}
    given = (attrs.evolve(look, stands=True) if look.time in asked else look for look in seen.sightings)
    looks = _segmented(_labelled(look, answers, denied=denied) for look in given)
    return attrs.evolve(seen, sightings=_segmented(_lasting(looks)))


def _readiness(look: Sighting, answers: Iterable[tuple[Sighting, str]]) -> float:
    """Return the likeness of *look* to the screens that a person labelled as at rest."""
    return max((look.likeness(frame) for frame, said in answers if said == IDLE), default=-1.0)


def _lasting(looks: Sequence[Sighting]) -> Iterator[Sighting]:
    """Yield *looks* without labels that lasted only a moment, or that came before it was first at rest."""
    counts = Counter(look.segment for look in looks)
    sure = {look.segment for look in looks if look.is_sure}
    has_begun = False
    for look in looks:
        # A pane with a light has run for longer.
        has_begun = has_begun or bool(look.light) or look.is_sure or look.label in (IDLE, ASKING)
        is_long = counts[look.segment] >= _STILL or look.segment in sure
        yield look if has_begun and is_long else attrs.evolve(look, label="")


def _labelled(look: Sighting, answers: Sequence[tuple[Sighting, str]], *, denied: bool) -> Sighting:
    """Return *look* with the label of the most similar screen among *answers*, or without a label."""
    compared = sorted(
        (
            (_has_same_light(frame, said, look), look.likeness(frame), said, look.ends_as(frame))
            for frame, said in answers
        ),
        reverse=True,
    )
    is_it, likeness, said, is_end = compared[0] if compared else (False, 0.0, "", False)
    if is_it:
        return attrs.evolve(look, label=said, is_sure=True)
    ready = _readiness(look, answers)
    is_like = likeness >= _LIKE and is_end
    if look.label == BUSY and (likeness < _LIKE or said in (IDLE, FAILED)):
        label = BUSY  # it moves, and only a spinner distinguishes the two
    elif look.label == IDLE and (ready >= likeness - _APART_SHARE or look.is_agreed):
        label = IDLE
    elif is_like and said != IDLE:
        label = said
    else:
        label = ASKING if look.is_read and not denied else ""
    return attrs.evolve(look, label=label, is_sure=False)


def _has_same_light(frame: Sighting, said: str, look: Sighting) -> bool:
    """Return whether the label of *frame* applies to *look*; not if both had right lights that differ."""
    is_right = bool(frame.light) and _LABELS[class_of(frame.light)] == said
    return frame.shape == look.shape and not (is_right and look.is_agreed and look.label != said)


def _segmented(looks: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Return *looks*, each with the number of its stretch of equal labels."""
    found: list[Sighting] = []
    for look in looks:
        before = found[-1] if found else None
        segment = 1 if before is None else before.segment + (before.label != look.label)
        found.append(attrs.evolve(look, segment=segment))
    return tuple(found)


def is_hint(row: str) -> bool:
    """Return whether *row* names keys to choose by."""
    return bool(_SELECTS.search(row) or (_CHOOSES.search(row) and _LEAVES.search(row)))


def _last_row(lines: Sequence[str]) -> int:
    return max((number for number, line in enumerate(lines) if line.strip()), default=0)


def _is_dialog(lines: Sequence[str], cursor_row: int) -> bool:
    return read_dialog(read_tail(lines), cursor_row) is not None


def _by_truth(truth: Sequence[tuple[float, str]], time: float) -> str:
    """Return the label of the marks at *time*; empty soon after a change."""
    since, word = next(((at, word) for at, word in reversed(truth) if at <= time), (0.0, "starting"))
    following = next((at for at, _ in truth if at > time), None)
    if (
        time - since < _SCREEN_LAG_S
        or word in ("starting", "gone")
        or (following is not None and following - time < SIGHTING_S)
    ):
        return ""
    return _LABELS[class_of(word)] if word != "background" else ""


def _guessed(rows: Sequence[str], before: Sequence[str], changes: Sequence[Change], *, is_read: bool) -> str:
    """Return the label of a look that no person and no mark has labelled; empty for an uncertain one."""
    if not rows or len(changes) < _STILL:
        return ""
    hints = " ".join(rows[-8:])
    works = _WORKS.search(hints)
    is_hinted = (_CHOOSES.search(hints) and _LEAVES.search(hints)) or any(map(_SELECTS.search, rows[-6:]))
    if is_read or (is_hinted and not works and changes.count(Change.MAJOR) <= 1):
        return ASKING
    if all(change in _AT_REST for change in list(changes)[-_STILL:]):
        return IDLE
    return BUSY if _is_lively(changes) or _is_turning(rows, before) or works else ""


def _is_lively(changes: Iterable[Change]) -> bool:
    """Return whether there was output in most of the last looks, and in the very last."""
    found = [change.is_output for change in changes]
    return sum(found) >= _LIVELY and any(found[-2:])


def _is_turning(rows: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether a row's spinner has turned since the last look, known or not."""
    return len(rows) == len(before) and any(
        row[:1] != old[:1] and (_is_of_spinner(row[:1], old[:1]) or _is_like(row, old))
        for row, old in zip(rows, before, strict=True)
    )


def _is_of_spinner(*glyphs: str) -> bool:
    return any(all(glyph in family for glyph in glyphs) for family in SPINNERS)


def _is_like(row: str, old: str) -> bool:
    """Return whether both rows are the same after a first glyph."""
    return bool(_GLYPH.match(row) and _GLYPH.match(old)) and _CHANGING.sub("", row[1:]) == _CHANGING.sub("", old[1:])
