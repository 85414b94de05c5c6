"""A polling host with sources, a process table and a clock made by hand; only its threads are real."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.snapshot import writer
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.hosts.test_pane import HandTable
from tests.patience import until


@attrs.define(eq=False)
class HandSource:
    """A source that shows what it is given, or raises it."""

    source_panes: Sequence[SourcePane] | Exception | None = ()
    every: float = 1.0
    looks: int = 0
    told: list[Mapping[str, PaneEntry]] = attrs.Factory(list)
    asked: list[Request] = attrs.Factory(list)
    is_closed: bool = False

    def look(self) -> Sequence[SourcePane] | None:
        self.looks += 1
        if isinstance(self.source_panes, Exception):
            raise self.source_panes
        return self.source_panes

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        self.told.append(entries)

    def act(self, request: Request) -> None:
        self.asked.append(request)

    def close(self) -> None:
        self.is_closed = True


class System:
    """A poller with a hand-made table and clock; `steps` lets its time pass, and its threads finish."""

    def __init__(self, home: Path, *sources: HandSource) -> None:
        self.now = 100.0
        self.home = home
        self.table = HandTable(str(home))
        self.environ = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        self.poller = PollingHost("sessions", sources, self.environ, table=self.table, clock=lambda: self.now)
        # The wall clock goes with that of the host.
        start = time.time() - self.now
        self.poller._store.epoch.clock = lambda: start + self.now
        self.path = home / "tallylight" / f"sessions-{os.getpid()}.json"

    def steps(self, seconds: float, every: float = 0.25) -> None:
        """Let *seconds* pass; after each step what the threads do is waited for."""
        end = self.now + seconds
        while self.now < end:
            self.poller.step(self.now)
            until(lambda: not self.poller._jobs._busy or not self.poller._posted.is_empty())
            self.poller.step(self.now)
            self.now += every

    def entry(self, id_: str = "a") -> PaneEntry:
        """What the snapshot says of a pane."""
        return next(pane for pane in writer.read(self.path).panes if pane.id == id_)

    def ids(self) -> list[str]:
        return [pane.id for pane in writer.read(self.path).panes]
