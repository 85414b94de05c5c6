"""The input of a polling host: a `Source` is one kind of multiplexer or terminal, a `SourcePane` one of its panes."""

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
    One pane as its source saw it. Only *id* is required: unique in this host, for the pane's whole life.

    *leader* is a process on the pane's terminal, normally the shell. It is 0 if the source itself knows the foreground
    *group*. *title* is the one that the program set, None if unknown.

    *read* returns the screen, or None if it is gone. It runs on another thread, only while the screen would be
    evidence, and at most every *read_every* seconds. *is_still* returns whether nothing was drawn since then, and
    *still_since* since when nothing was drawn, in seconds since the epoch. They run on the loop, so they have to be
    cheap; if unknown, they return False and infinity.

    Panes that one command can read share *together* instead. It gets some of their ids, and returns the screens that it
    read; those left out are asked for again.

    The rest goes into the snapshot. *terminals* are attached to its session; *visible* is whether a person sees the
    pane now. *terminal* is that of a terminal program's pane, and *inside* the session's entry that is attached on it.
    *session* is the agent's own, if its process has several.
    """

    id: str
    leader: int = 0
    group: int = 0
    title: str | None = None
    read: Callable[[], Look | None] | None = attrs.field(default=None, eq=False)
    together: Together | None = attrs.field(default=None, eq=False)
    read_every: float = 0.5
    is_still: Callable[[], bool] | None = attrs.field(default=None, eq=False)
    still_since: Callable[[], float] | None = attrs.field(default=None, eq=False)
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
    """A kind of multiplexer or terminal that panes come from."""

    #: Seconds between two looks.
    every: float

    def look(self) -> Sequence[SourcePane] | None:
        """Return all current panes; None if they are unchanged or unknown. Called on another thread."""

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Show the lights: *entries* are those of its panes, by id, after a change. Called on another thread."""

    def act(self, request: Request) -> None:
        """Bring a pane of this source to the front, for a `focus` request. Called on another thread."""

    def close(self) -> None:
        """Clean up: the host ends. Called on the loop."""
