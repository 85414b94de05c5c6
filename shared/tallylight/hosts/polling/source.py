"""
The input of a polling host: a `SourcePane` a pane, from a `Source`, which is one kind of multiplexer or terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from tallylight.pane.pane import Look
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry

#: Reads the screens of several panes, named by their ids.
Together = Callable[[Sequence[str]], Mapping[str, Look | None]]


@attrs.frozen(kw_only=True)
class SourcePane:
    """
    One pane as its source saw it. Only *id* must be given: unique in this host, and the same for the pane's whole life.

    *leader* is a process on the pane's terminal, normally the shell; 0 if the source itself says which *group* is in
    the foreground. *title* is what the program in the pane set, None if that is unknown. *read* returns the
    screen, or None if it is gone; it is called on another thread, only for a pane if its screen would be evidence, at
    most every *read_every* seconds, and not while *is_still* says that nothing was drawn since it was last called
    (asked on the loop, so it has to be cheap; False is allowed if unknown). Panes that can be read by one
    command share *together* instead: it is called with the ids of some of them, and answers as *read* does for each
    that it read; one it leaves out is asked for again.The rest goes into the snapshot:
    *terminals* are those that are attached to its session; *visible* is whether a person sees the pane now.
    *terminal* is that of a pane of a terminal program, and *inside* what a session shows that is attached on it.
    *session* is that of its agent, where its process has others too.
    """

    id: str
    leader: int = 0
    group: int = 0
    title: str | None = None
    read: Callable[[], Look | None] | None = attrs.field(default=None, eq=False)
    together: Together | None = attrs.field(default=None, eq=False)
    read_every: float = 0.5
    is_still: Callable[[], bool] | None = attrs.field(default=None, eq=False)
    tab: str = ""
    os_window: str = ""
    host_title: str = ""
    session: str = ""
    attach: tuple[str, ...] = ()
    terminals: tuple[str, ...] = ()
    visible: bool = False
    terminal: str = ""
    inside: PaneEntry | None = None


class Source(Protocol):
    """Where panes come from: one kind of multiplexer or terminal."""

    #: Seconds between two looks.
    every: float

    def look(self) -> Sequence[SourcePane] | None:
        """All panes there are now; None if they stay as they were, or are unknown. On another thread."""

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """What its panes show now, by id, after any of that has changed. On another thread."""

    def act(self, request: Request) -> None:
        """Bring a pane of this source to the front, which is what `focus` asks for. On another thread."""

    def close(self) -> None:
        """The host ends: leave nothing behind. On the loop."""
