"""
Actions in kitty: to a window, to the next one that needs a person, and an answer typed into one.

All of it is done on a key press of a person in this kitty, but for `focus` and `jump`, which any process may ask for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallylight.evidence.prompts import read_prompt
from tallylight.evidence.question import clean_lines
from tallylight.evidence.tail import read_tail
from tallylight.hosts.pane import Look, Pane
from tallylight.list import jump as order
from tallylight.list.state import Sight
from tallylight.snapshot_schema import Pane as PaneEntry
from tallylight.snapshot_schema import ReasonEntry

#: The journey that the person is on. One kitty has one person.
_journey: order.Journey | None = None

#: So much of a label, in characters, stands in its first row on a narrow screen.
LABEL = 12
#: How long it has been waiting, at the right edge.
_CLOCK = re.compile(r" {3,}(?:\d+h ?)?(?:\d+m ?)?\d+s$", re.ASCII)
CHANGED = "that question has changed; nothing was typed"


def focus(boss: Any, id_: int) -> bool:
    """Bring window *id_* to the front: its OS window, its tab, itself. False if there is none."""
    window = boss.window_id_map.get(id_)
    if window is None:
        return False
    boss.set_active_window(window, switch_os_window_if_needed=True)
    return True


def jump(boss: Any, panes: Mapping[int, Pane], options: Sequence[str], now: float) -> bool:
    """
    To the next window that needs a person, or back after the last one; False if there is nowhere to go.

    *options* are those of `tally jump`: `--previous`, `--any`. *now* is monotonic.
    """
    global _journey
    here = boss.active_window
    entries = [_entry(id_, pane, now) for id_, pane in panes.items() if id_ in boss.window_id_map]
    stops = order.stops(entries, now, is_any="--any" in options)
    _journey, goal = order.jump(
        _journey,
        stops,
        str(here.id) if here is not None else "",
        existing={str(id_) for id_ in boss.window_id_map},
        is_backward="--previous" in options,
    )
    return goal is not None and goal.isdigit() and focus(boss, int(goal))


def _entry(id_: int, pane: Pane, now: float) -> PaneEntry:
    """What of a pane decides where it stands in the order; its times are monotonic here."""
    decision = pane.decision
    source = decision.reason.source
    return PaneEntry(
        id=str(id_),
        status=decision.status,
        since=decision.since,
        reason=ReasonEntry(source=source.word if source is not None else ""),
        snoozed_until=now + 1 if pane.attention.snoozed else 0.0,
    )


def sight(pane: Pane, look: Look) -> Sight | None:
    """The prompt that *look* shows, by the rules of the agent that holds the pane's foreground; None for no prompt."""
    found = read_prompt(pane.agent, look.lines, look.cursor_row)
    if found is None or not found.fingerprint:
        return None
    rows = [row.text for row in read_tail(look.lines) if not row.is_edge]
    end = _first_answer(rows, [choice.label for choice in found.choices])
    steady = "\n".join(map(_steady, rows))
    mark = hashlib.blake2s(steady.encode("utf-8", "replace"), digest_size=16).hexdigest()
    context = clean_lines([row for row in rows[:end] if row])
    return Sight(found.fingerprint, mark, context, tuple((choice.keys, choice.label) for choice in found.choices))


def _steady(row: str) -> str:
    """
    *row* without what an agent that waits for an answer keeps moving: a bullet that blinks, a clock at the right edge.

    Nothing of a command or of a question is in there, so it still is the very same for the person.
    """
    bare = row.rstrip(" │").lstrip()
    if not bare[:1].isascii() and not bare[:1].isalnum() and bare[1:2] == " ":
        bare = bare[1:].lstrip()
    return _CLOCK.sub("", bare)


def _first_answer(rows: Sequence[str], labels: Sequence[str]) -> int:
    """Where the answers begin: found from their end, for what is above them may be anything."""
    end = len(rows)
    for label in reversed(labels):
        # A long one may be wrapped.
        start = label[:LABEL]
        end = next((number for number in range(end - 1, -1, -1) if start and start in rows[number]), end)
    return end


def answer(window: Any, pane: Pane, look: Look, prompt: str, mark: str, index: int, keys: str) -> str:
    """
    Type the choice *index* of the prompt with the fingerprint *prompt* into *window*; say why not, if not.

    *prompt*, *mark*, *index* and *keys* are what the person saw. What is typed is read off *look*, the window's screen
    of this moment, and only if it is the very same, and so is everything else that is visible.
    """
    found = sight(pane, look)
    if found is None or (found.prompt, found.mark) != (prompt, mark) or not 0 <= index < len(found.choices):
        return CHANGED
    if not keys or found.choices[index][0] != keys:
        return CHANGED
    window.write_to_child(found.choices[index][0])
    return ""
