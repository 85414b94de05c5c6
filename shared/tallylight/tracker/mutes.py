"""
Mutes: the tabs and projects that send no notification for now. Their lights stay.

A mute is for a tab, for a project by its name, or for everything. It lasts until a time, or until it is taken back. A
host has one `Mutes`, which lives as long as the host. A notification that was muted is not sent later.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

#: The scopes of a mute.
TAB, PROJECT, ALL = "tab", "project", "all"
#: The most mutes of one host; the oldest is forgotten for a new one.
MAX_MUTES = 256
#: The longest mute, in seconds: a week.
MAX_MUTE_S = 7 * 86_400.0


@attrs.define
class Mutes:
    """The mutes of one host."""

    #: The end of each mute, in seconds of the host's clock, by scope and name. It may be past.
    ends: dict[tuple[str, str], float] = attrs.field(factory=dict)

    def mute(self, scope: str, name: str, seconds: float, now: float) -> None:
        """Mute *name* in *scope* for *seconds* from *now*; 0 takes the mute back."""
        self.ends.pop((scope, name), None)
        if seconds > 0:
            self.ends[scope, name] = now + seconds
            self.ends = dict(list(self.ends.items())[-MAX_MUTES:])

    def ask(self, args: Sequence[str], tab: str, now: float) -> None:
        """
        Mute as another process asked by *args*, for a pane in *tab*; do nothing if *args* make no sense.

        *args* are the scope, the name of the project (empty for another scope), and the seconds.
        """
        try:
            scope, name, time = args
            seconds = float(time)
        except ValueError:
            return
        # NaN is in no range, so it is refused.
        is_sound = bool(name) == (scope == PROJECT) and 0 <= seconds <= MAX_MUTE_S
        names = {TAB: tab, PROJECT: name, ALL: ""}
        if is_sound and scope in names and (names[scope] or scope == ALL):
            self.mute(scope, names[scope], seconds, now)

    def until(self, tab: str, project: str, now: float) -> float | None:
        """Return until when a pane in *tab* that works on *project* is muted; None if it is not."""
        ends = (self.ends.get(key, now) for key in ((ALL, ""), (TAB, tab), (PROJECT, project)))
        return max((end for end in ends if end > now), default=None)
