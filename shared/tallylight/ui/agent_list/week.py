"""
The week: what the agents did in the last seven days, as bars of an agent and a day each, drawn over the whole list.

A bar is as long as the agent worked, and behind that as long as it waited for a person, all to one scale. The two have
characters of their own, so that they differ without colour.
"""

from __future__ import annotations

import datetime

from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.snapshot import history
from tallylight.snapshot.history import History, Sum
from tallylight.ui.layout import GAP, clean, duration, pad
from tallylight.ui.spans import Line, Span, filled
from tallylight.wire.styled import Style
from tallylight.wire.text import width

#: How many days a week has.
DAYS = 7
#: From so many columns on each bar has its times, and from so many what was asked and what failed.
MIDDLING, WIDE = 44, 76
#: Cells of an agent's name at most, and of a bar at least.
_NAME, _LEAST_BAR = 14, 6
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: Eighths of a cell, from none to seven. Unicode 16, U+2588 to U+258F.
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_WORK, _WAIT = "█", "▒"
_FOOT = "t, Esc back   q quit"

#: What was read: the history, or why it cannot be read; None: not yet.
Week = History | str | None


def count(week: Week) -> int:
    """How many lines there are between the head and the foot."""
    return len(_bars(week)) if isinstance(week, History) else 1


def draw(week: Week, columns: int, lines: int, scroll: int) -> list[Line]:
    """The whole screen, from the line *scroll* on."""
    room = max(0, lines - 2)
    words = "the week"
    if isinstance(week, History):
        whole = history.total(week.turns)
        words = f"the week: worked {duration(whole.worked_s)}, waited for you {duration(whole.waited_s)}"
        body = _body(_bars(week), columns)[scroll:]
    else:
        body = [(Span(clean(f"  {'reading …' if week is None else week}", columns)),)]
    worked, waited = f"{_WORK} worked{GAP}", f"{_WAIT} waited for you{GAP}"
    foot: Line = (Span(clean(_FOOT, columns)),)
    if width(worked + waited + _FOOT) <= columns:
        foot = (*_coloured(worked, Status.WORKING), *_coloured(waited, Status.WAITING), Span(_FOOT))
    return [(Span(clean(words, columns), is_bold=True),), *filled(body, room), foot]


def _bars(week: History) -> list[tuple[str, Sum | None]]:
    """
    For each line the day, in the first one of it, and what an agent did in it; None: nobody did anything.

    Today comes first; of a day what took the longest.
    """
    sums = week.sums
    found: list[tuple[str, Sum | None]] = []
    for day in reversed(week.days):
        agents: dict[str, list[Sum]] = {}
        for one in sums:
            if one.day == day:
                agents.setdefault(one.agent, []).append(one)
        of_day = history.merged(history.added(every, agent=agent) for agent, every in agents.items())
        date = datetime.date.fromisoformat(day)
        named = f"{_WEEKDAYS[date.weekday()]} {date.day:2}"
        found += [("" if n else named, one) for n, one in enumerate(of_day)] or [(named, None)]
    return found


def _coloured(text: str, status: Status) -> Line:
    """*text*, with its first character in the colour of *status*."""
    return (Span(text[:1], style=Style(foreground=lights.COLOURS[status])), Span(text[1:]))


def _body(bars: list[tuple[str, Sum | None]], columns: int) -> list[Line]:
    sums = [one for _, one in bars if one is not None]
    names = max((width(clean(one.agent, _NAME)) for one in sums), default=0)
    numbers = [_numbers(one, columns) for one in sums]
    widths = [max(map(width, column)) for column in zip(*numbers, strict=True)] if numbers else []
    taken = 8 + names + len(GAP) + sum(len(GAP) + cells for cells in widths if cells)
    room = max(_LEAST_BAR, columns - taken)
    scale = max((one.worked_s + one.waited_s for one in sums), default=0.0)
    lines: list[Line] = []
    for day, one in bars:
        if one is None:
            lines.append((Span(f"{day:<8}"), Span("–", is_dim=True)))
            continue
        cells = zip(_numbers(one, columns), widths, strict=True)
        words = "".join(f"{GAP}{' ' * (most - width(cell))}{cell}" for cell, most in cells if most)
        before = Span(f"{day:<8}{pad(clean(one.agent, _NAME), names)}{GAP}")
        lines.append((before, *_bar(one, scale, room), Span(words)))
    return lines


def _bar(one: Sum, scale: float, room: int) -> Line:
    """The bar, filled up with blanks to *room* cells; *scale* seconds would fill it."""
    # What is there at all is seen.
    eighths = max(round(8 * room * one.worked_s / scale), one.worked_s > 0) if scale else 0
    whole, part = divmod(eighths, 8)
    worked = _WORK * whole + _EIGHTHS[part]
    end = round(room * (one.worked_s + one.waited_s) / scale) if scale else 0
    waited = _WAIT * min(room - len(worked), max(end - len(worked), one.waited_s > 0))
    return (
        Span(worked, style=Style(foreground=lights.COLOURS[Status.WORKING])),
        Span(waited, style=Style(foreground=lights.COLOURS[Status.WAITING])),
        Span(" " * (room - len(worked) - len(waited))),
    )


def _numbers(one: Sum, columns: int) -> tuple[str, str, str]:
    """How long it worked and waited, and what was asked and failed, as far as there is room."""
    if columns < MIDDLING:
        return "", "", ""
    more = [
        f"{number} {mark}"
        for number, mark in ((one.questions, "?"), (one.errors, lights.MARKS[Status.ERROR]))
        if number
    ]
    return duration(one.worked_s), duration(one.waited_s), " ".join(more) if columns >= WIDE else ""
