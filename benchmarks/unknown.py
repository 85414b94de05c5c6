"""Agents that nobody has described: recordings as a host would have taken them that knew no file of the agent's.

`since` tells from when on a program is a candidate, and by what (`tallylight.evidence.unknown`); `events` is the
recording in which it holds the foreground as no more than that, from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from tallylight import wire
from tallylight.evidence.process import Process
from tallylight.evidence.unknown import Unknown
from tallylight.recordings.asciicast import Event, Header, Output, Resize
from tallylight.recordings.events import ForegroundChange
from tallylight.recordings.grid import Grid
from tallylight.wire.osc9_4 import ProgressReport, ProgressState
from tallylight.wire.osc133 import Mark, MarkKind
from tallylight.wire.scanner import Scanner, Sequence
from tallylight.wire.title import Title

#: How often a host looks at a screen.
_POLL_S = 0.25


def since(header: Header, recorded: Iterable[Event], name: str = "mystery") -> tuple[float | None, Unknown]:
    """The time from which on the program is a candidate, None for never; and what it has done."""
    found = Unknown(name, Process(1, argv=(name,)))
    scanner, grid = Scanner(), Grid(header.columns, header.rows)
    due = _POLL_S
    for event in recorded:
        while due <= event.time:
            if found.wants_look():
                found.look(grid.lines, grid.cursor_row)
            if found.agent is not None:
                return due, found
            due += _POLL_S
        if isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
        elif isinstance(event.what, Output):
            items = scanner.feed(event.what.data)
            for item in items:
                if isinstance(item, Sequence):
                    _tell(found, wire.decode(item))
            grid.draw(items)
        if found.agent is not None:
            return event.time, found
    return None, found


def _tell(found: Unknown, event: object) -> None:
    match event:
        case Title(text):
            found.titled(text)
        case ProgressReport(state):
            found.barred(is_shown=state is not ProgressState.CLEAR)
        case Mark() if event.kind is MarkKind.COMMAND_START:
            found.marked()


def events(header: Header, recorded: list[Event]) -> Iterator[Event]:
    """*recorded* without the agent in the foreground, until it is a candidate."""
    begins, _ = since(header, recorded)
    held: ForegroundChange | None = None
    is_shown = False
    for event in recorded:
        if begins is not None and event.time >= begins and held is not None and not is_shown:
            is_shown = True
            yield Event(begins, held)
        if isinstance(event.what, ForegroundChange):
            foreground = event.what.foreground
            if foreground is not None:
                held = attrs.evolve(
                    event.what, foreground=attrs.evolve(foreground, is_agent=True, speaks=False, is_candidate=True)
                )
                if not is_shown:
                    continue
                yield Event(event.time, held)
                continue
            held = None
        yield event
