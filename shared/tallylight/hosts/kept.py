"""
What a host keeps on disk of its panes beyond its own life: open conversations, and the history of turns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.config.settings import Config
from tallylight.hosts.conversations import KeptConversations
from tallylight.hosts.history import KeptHistory
from tallylight.hosts.jobs import Submit
from tallylight.snapshot.open_conversations import Tab
from tallylight.snapshot.schema import Pane


@attrs.define
class Kept:
    """All of it for the host *host*; the other arguments are those of `KeptConversations`."""

    host: str
    submit: Submit
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    told: Callable[[str], None] = lambda _: None
    resumable: Callable[[int], None] | None = None
    _conversations: KeptConversations = attrs.field(init=False)
    _history: KeptHistory = attrs.field(init=False)
    _is_open: bool = False

    def __attrs_post_init__(self) -> None:
        self._conversations = KeptConversations(self.host, self.environ, self.submit, self.told, self.resumable)
        self._history = KeptHistory(self.host, self.environ, self.submit, self.told)

    def use(self, config: Config) -> None:
        """Go by *config* from now on; whether open conversations are kept is decided once."""
        if not self._is_open and config.keep_conversations:
            self._conversations.open()
        self._is_open = True
        self._history.use(keep=config.history.keep)

    def publish(self, panes: Sequence[Pane], tabs: Mapping[str, Tab] | None = None) -> None:
        """Take what is shown now, and the tabs by their ids if the host knows them. It is kept with the next `tick`."""
        self._conversations.publish(panes, tabs)
        self._history.publish(panes)

    def tick(self, now: float) -> None:
        """Write what is due at monotonic *now*, and tell what is wrong."""
        self._conversations.tick(now)
        self._history.tick(now)

    def close(self, now: float) -> None:
        """The host ends, and what runs in its panes goes on without it."""
        self._conversations.close()
        self._history.close(now)
