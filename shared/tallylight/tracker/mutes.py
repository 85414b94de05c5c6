"""
Mutes: of what a person wants no notification for now. The lights go on; only the telling stops.

A mute is of a tab, of a project by its name, or of everything, and lasts until a time or until it is taken back. One
`Mutes` a host; it lives as long as its host. What was missed is not told later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

#: What can be muted.
TAB, PROJECT, ALL = "tab", "project", "all"
SCOPES = (TAB, PROJECT, ALL)
#: Mutes that a host keeps; the oldest is forgotten for a new one.
MAX_MUTES = 256
#: The longest in seconds, except for those without an end: a week.
MAX_S = 7 * 86_400.0
#: As seconds of a mute: until it is taken back.
FOREVER = math.inf


@attrs.define
class Mutes:
    """The mutes of one host. Times are of its clock, in seconds; an end of `FOREVER` is none."""

    _ends: dict[tuple[str, str], float] = attrs.field(factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is no mute, not even one whose time is over."""
        return not self._ends

    def mute(self, scope: str, name: str, seconds: float, now: float) -> None:
        """Tell nothing of *name* in *scope* for *seconds* from *now*; 0 takes it back."""
        self._ends.pop((scope, name), None)
        if seconds > 0:
            while len(self._ends) >= MAX_MUTES:
                del self._ends[next(iter(self._ends))]
            self._ends[scope, name] = now + seconds

    def ask(self, args: Sequence[str], tab: str, now: float) -> None:
        """Do what another process asks by *args*, of the pane in *tab*; what makes no sense is nothing."""
        if (found := asked(args)) is not None:
            scope, name, seconds = found
            if scope != TAB or tab:
                self.mute(scope, tab if scope == TAB else name, seconds, now)

    def until(self, tab: str, project: str, now: float) -> float | None:
        """Until when nothing is told of a pane in *tab* that works on *project*; None if it is told of."""
        if not self._ends:
            return None
        ends = (self._ends.get(key) for key in ((ALL, ""), (TAB, tab), (PROJECT, project)))
        return max((end for end in ends if end is not None and end > now), default=None)


def asked(args: Sequence[str]) -> tuple[str, str, float] | None:
    """
    The scope, the name and the seconds of a mute that another process asks for by *args*; None if it asks for none.

    Three words: one of `SCOPES`, the name (empty for `tab`, which the pane tells, and for `all`), and the seconds, or
    nothing for a mute without an end.
    """
    if len(args) != 3 or args[0] not in SCOPES or bool(args[1]) != (args[0] == PROJECT):
        return None
    try:
        seconds = float(args[2]) if args[2] else FOREVER
    except ValueError:
        return None
    # NaN is in no range.
    return (args[0], args[1], seconds) if 0 <= seconds <= MAX_S or not args[2] else None
