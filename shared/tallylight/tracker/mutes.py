"""
Mutes: of what a person wants no notification for now. The lights go on; only the telling stops.

A mute is of a tab, of a project by its name, or of everything. It lasts until a time, or until it is taken back. A host
has one `Mutes`, which lives as long as the host. What was missed is not told later.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

#: What can be muted.
TAB, PROJECT, ALL = "tab", "project", "all"
#: Mutes that a host keeps; the oldest is forgotten for a new one.
MAX_MUTES = 256
#: The longest, in seconds: a week.
MAX_S = 7 * 86_400.0


@attrs.define
class Mutes:
    """The mutes of one host."""

    #: When each ends, in seconds of the host's clock, by scope and name. One may be over.
    ends: dict[tuple[str, str], float] = attrs.field(factory=dict)

    def mute(self, scope: str, name: str, seconds: float, now: float) -> None:
        """Tell nothing of *name* in *scope* for *seconds* from *now*; 0 takes it back."""
        self.ends.pop((scope, name), None)
        if seconds > 0:
            self.ends[scope, name] = now + seconds
            self.ends = dict(list(self.ends.items())[-MAX_MUTES:])

    def ask(self, args: Sequence[str], tab: str, now: float) -> None:
        """
        Do what another process asks by *args*, of the pane in *tab*; what makes no sense is nothing.

        Three words: the scope, the name of a project and nothing for any other scope, and the seconds.
        """
        try:
            scope, name, time = args
            seconds = float(time)
        except ValueError:
            return
        # NaN is in no range.
        is_sound = bool(name) == (scope == PROJECT) and 0 <= seconds <= MAX_S
        names = {TAB: tab, PROJECT: name, ALL: ""}
        if is_sound and scope in names and (names[scope] or scope == ALL):
            self.mute(scope, names[scope], seconds, now)

    def until(self, tab: str, project: str, now: float) -> float | None:
        """Until when nothing is told of a pane in *tab* that works on *project*; None if it is told of."""
        ends = (self.ends.get(key, now) for key in ((ALL, ""), (TAB, tab), (PROJECT, project)))
        return max((end for end in ends if end > now), default=None)
