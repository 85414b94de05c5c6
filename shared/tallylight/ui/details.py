"""
The details of a pane in words, from its agent's own record, for every surface with room for them; and its progress as a
bar.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType

from tallylight.model.details import NEARLY_FULL
from tallylight.model.report import progress
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.ui.layout import GAP, ago, countdown, duration

#: Cells of a bar, where there is room for one.
BAR_CELLS = 6
#: The total of a protocol with percentages.
_HUNDRED = 100


def best_text(pane: Pane, called: str) -> str:
    """
    Return the most useful text about a pane that is *called* so: its question, else its message, its topic, its title,
    or its last prompt.

    A title that repeats the name, or that of its session in tmux, `0`, says nothing.
    """
    has_title = pane.title not in (called, pane.project) and not pane.place.host_title.endswith(pane.title)
    return pane.asks or pane.message or pane.topic or (pane.title if has_title else "") or pane.about.last_prompt


def context(pane: Pane) -> str:
    """Return how full its context is: `context 42%`; "" if unknown."""
    return f"context {pane.about.context}%" if pane.about.context is not None else ""


def is_nearly_full(pane: Pane) -> bool:
    """Return whether its context is so full that a person should know."""
    return pane.about.context is not None and pane.about.context >= NEARLY_FULL


def children(pane: Pane) -> str:
    """Return its subagents: `Explore working, Review done`."""
    return ", ".join(f"{name} {status}".strip() for name, status in pane.about.children)


def variables(pane: Pane) -> str:
    """Return the values that its agent wants to be shown, with its own names: `ticket X-1, cost 0.3`."""
    return ", ".join(f"{name} {value}" for name, value in pane.about.vars)


def cost(pane: Pane) -> str:
    """Return the cost of its session, as it reports it."""
    return f"${pane.about.cost:.2f}" if pane.about.cost is not None else ""


def limit(pane: Pane, now: float) -> str:
    """Return how long a limit still stops it, and until when: `limit: 2 h 14, until 11:08`, or with the day."""
    left = time_left(pane, now)
    return f"limit: {left}, until {clock(pane.limited_until, now)}" if left else ""


def time_left(pane: Pane, now: float) -> str:
    """Return how long a limit still stops it: `2 h 14`; "" for none."""
    return countdown(pane.limited_until - now)[0] if pane.limited_until > now else ""


def unanswered(pane: Pane, now: float) -> str:
    """Return how long no answer came: `no answer from the model for 2 min`; "" if one did, or soon may."""
    since = pane.unanswered_since if pane.status is Status.WORKING else 0.0
    return f"no answer from the model for {duration(now - since)}" if since else ""


def clock(at: float, now: float) -> str:
    """Return *at* on the local clock: `11:08`, or with the day."""
    return time.strftime("%H:%M" if at - now < 86_400 else "%a %d %b %H:%M", time.localtime(at))


def collisions(pane: Pane, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, bool]:
    """
    Return the other agents that changed its files, each with whether it changed the same lines.

    `also edited by api (pane 3): src/cart.py 40–62`; *names* has the short names of panes by their addresses.
    """
    return {
        f"also edited by {one.name} (pane {names.get(one.pane, one.pane)}): {one.file} {one.lines}"
        f"{'' if one.same else ', other lines'}": one.same
        for one in pane.collisions
    }


def changed_meanwhile(pane: Pane, now: float) -> str:
    """Return who changed the file that the agent asks to write: `api changed this file 2 min ago`; "" if nobody did."""
    last = max((one for one in pane.collisions if one.asked), key=lambda one: one.at, default=None)
    if last is None or pane.status is not Status.WAITING:
        return ""
    return f"{last.name} changed this file{f' {ago(last.at, now)}' if last.at else ''}"


def queued(pane: Pane, now: float) -> str:
    """Return the text that waits to be typed into it, and until when, or why it is not typed; "" for none."""
    if not pane.queue.text:
        return ""
    if pane.queue.problem:
        return f"not sent, {pane.queue.problem}: {pane.queue.text}"
    when = "queued"
    if pane.queue.until > now:
        when = f"types at {clock(pane.queue.until, now)}"
    elif pane.queue.until and pane.status is not Status.LIMITED:
        when = "types after its next limit"
    return f"{when}: {pane.queue.text}"


def summary(pane: Pane, now: float) -> str:
    """Return its short details in one line: the limit, the model, the context, the cost."""
    return ", ".join(words for words in (limit(pane, now), pane.about.model, context(pane), cost(pane)) if words)


def progress_bar(counted: str, cells: int = BAR_CELLS) -> str:
    """
    Return a bar of *cells* for a count such as `3/7`, with the count behind it; without cells only the count.

    A count out of a hundred is shown as a share. "" for any other text.
    """
    found = progress(counted)
    if found is None:
        return ""
    full = found.done * cells // found.total
    drawn = f"{'━' * full}{'─' * (cells - full)} " if cells else ""
    return f"{drawn}{found.done} %" if found.total == _HUNDRED else f"{drawn}{found.done}/{found.total}"


def doing(pane: Pane, cells: int = BAR_CELLS) -> str:
    """Return in one line its progress and its activity: `━━━─── 3/7  Write the tests`."""
    return GAP.join(part for part in (progress_bar(pane.progress, cells), pane.doing) if part)
