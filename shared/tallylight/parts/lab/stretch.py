"""
A stretch: the tape of a pane (`pane.tape`) as a recording, and its lights.

Its screens become output that draws them, and each look, tick and change is an event at its own time. So a replay
repeats the host's actions at the same times, and gives the same lights.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs

from tallylight.agents.agent import Agents
from tallylight.evidence.screen import Look
from tallylight.model.report import Report
from tallylight.pane import tape
from tallylight.parts.lab.asciicast import Event, Header, Output, Resize, What
from tallylight.parts.lab.check import Change, changes
from tallylight.parts.lab.events import Claimed, ForegroundChange, Moment, Program, decode
from tallylight.parts.lab.replay import Replay
from tallylight.tracker.foreground import Foreground
from tallylight.wire.envelope import CARRIER

#: A sequence or a short number with its unit, or a word; and a part of one, as in `BadRequestError`.
_WORD = re.compile(r"(\x1b\[[?0-9;]*[A-Za-z]|\x1b\][0-9]*(?:;[CD])?|\b\d{1,4}[a-zA-Z]\b)|\w{3,}")
_PART = re.compile(r"[A-Z]?[a-z]{2,}|[^\W_]")


@attrs.frozen
class Stretch:
    """One stretch: its first screen's size as a *header*, and its *events*, from 0."""

    header: Header
    events: tuple[Event, ...]

    @property
    def end(self) -> float:
        """The end, in seconds."""
        return self.events[-1].time if self.events else 0.0


def of_tape(data: bytes) -> Stretch:
    """Return the stretch in the bytes of a tape; raise `ValueError` for anything else."""
    try:
        return _of_entries(list(tape.entries(data)))
    except (TypeError, AttributeError) as error:
        raise ValueError(f"a tape is damaged: {error}") from None


def _of_entries(entries: Sequence[tuple[float, str, Any]]) -> Stretch:
    start = entries[0][0] if entries else 0.0
    first = next((data for _, _, data in entries if isinstance(data, Look)), Look((), 0, 0, 80))
    header = Header(first.columns, max(1, len(first.lines)) if first.lines else 24)
    size, events = (header.columns, header.rows), [Event(0.0, Moment("told"))]
    for now, kind, data in entries:
        if isinstance(data, Look) and (data.columns, len(data.lines)) != size:
            size = data.columns, len(data.lines)
            events.append(Event(now - start, Resize(*size)))
        events += [Event(now - start, what) for what in _whats(kind, data)]
    return Stretch(header, tuple(events))


def _whats(kind: str, data: Any) -> Iterator[What]:
    """Yield the events of a recording for an entry of a tape."""
    match kind, data:
        case "look", Look():
            yield Output(drawn(data))
            yield Moment("look")
        case "foreground", [held, named, is_gone]:
            if named:
                yield Program(str(named[0]), tuple(map(str, named[1:])))
            yield ForegroundChange(Foreground(**held) if held is not None else None, is_gone is True)
        case "report", [report, age]:
            yield from _claimed(report, age)
        case "claim", [report, at, _]:
            yield from _claimed(report, -at)
        case _ if kind in _SEQUENCES:
            yield Output(_SEQUENCES[kind](*data))
        case _ if kind in _MOMENTS:
            yield Moment(_MOMENTS[kind])
        case "bar", [is_shown]:
            yield Moment("bar" if is_shown else "no bar")


_MOMENTS = {"again": "look", "unlooked": "look", "seen": "seen", "tick": "tick"}


def _title(title: str) -> bytes:
    shown = "".join(c if c.isprintable() else " " for c in title)
    return f"\x1b]2;{shown}\x07".encode("utf-8", "replace")


def _variable(payload: str | None) -> bytes:
    value = b"" if payload is None else b"=" + binascii.b2a_base64(payload.encode(), newline=False)
    return b"\x1b]1337;SetUserVar=" + CARRIER.encode() + value + b"\x07"


def _mark(is_start: bool, code: int | None) -> bytes:
    return b"\x1b]133;C\x07" if is_start else f"\x1b]133;D{'' if code is None else f';{code}'}\x07".encode()


#: The output with which a program reports each of these.
_SEQUENCES: dict[str, Callable[..., bytes]] = {"title": _title, "carrier": _variable, "mark": _mark}


def _claimed(report: Any, age: float) -> Iterator[What]:
    found = decode({**report, "age": age})
    if isinstance(found, Claimed):
        yield found


def drawn(look: Look) -> bytes:
    """Return the bytes that draw the screen of *look*."""
    rows = [f"\x1b[{number};1H{row}" for number, row in enumerate(look.lines, 1) if row]
    place = f"\x1b[{look.cursor_row + 1};{look.cursor_column + 1}H\x1b[?25{'h' if look.cursor_visible else 'l'}"
    return f"\x1b[H\x1b[2J{''.join(rows)}{place}".encode("utf-8", "replace")


def lights(stretch: Stretch, agents: Agents) -> list[Change]:
    """Return the lights of *stretch*, one for each change, by the rules of *agents*."""
    return list(changes(Replay(stretch.header, agents), stretch.events))


def redacted(stretch: Stretch, keep: Collection[str]) -> Stretch:
    """Return *stretch* with each word crossed out that is not among *keep*; unreadable parts are left out."""
    events = []
    for event in stretch.events:
        match event.what:
            case Output(data) if not data.startswith(b"\x1b]1337;"):
                text = _WORD.sub(
                    lambda found: found[0] if found[1] else _crossed(found[0], keep), data.decode("utf-8", "replace")
                )
                events.append(Event(event.time, Output(text.encode())))
            case Claimed(report, age):
                bare = Report(source=report.source, status=report.status, kind=report.kind, id=report.id)
                named = attrs.evolve(bare, agent=report.agent, rule=report.rule, background=report.background)
                events.append(Event(event.time, Claimed(named, age)))
            case Program(exe, words):
                names = tuple(word.rpartition("/")[2] for word in words)
                events.append(Event(event.time, Program(exe.rpartition("/")[2], names)))
            case Output():
                pass
            case _:
                events.append(event)
    return Stretch(stretch.header, tuple(events))


def _crossed(word: str, keep: Collection[str]) -> str:
    """Return *word* with its letters as `x` and its digits as `1`, unless it is among *keep*."""

    def part(found: re.Match[str]) -> str:
        text = found[0]
        return text if text.lower() in keep else "1" if text.isdigit() else "x" * len(text)

    return word if word.lower() in keep else _PART.sub(part, word)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the words in rules: a redacted stretch keeps them, so that it is read as before."""
    plain = (re.sub(r"\\.", " ", text) for text in texts)
    ways = (way for text in plain for way in (text, re.sub(r"\((?:\?:)?(\w+)\)\?", r"\1", text)))
    return frozenset(word.lower() for way in ways for word in re.findall(r"[^\W\d_]{3,}", way))
