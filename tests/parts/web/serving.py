"""A server to test: its state is given, its sessions are a fake that keeps what is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
from starlette.types import ASGIApp

from tallylight.actions.answered import InProcess
from tallylight.actions.caller import PERSON
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.model.status import Kind, Status
from tallylight.parts.web.app import Service
from tallylight.parts.web.devices import Devices
from tallylight.parts.web.guard import Guard, allowed_hosts
from tallylight.parts.web.push.routes import Push
from tallylight.parts.web.push.subscriptions import Store
from tallylight.snapshot.schema import Pane, ReasonEntry, Snapshot
from tallylight.wire.styled import StyledScreen, read_screen
from tests.actions.desk import PID, START, Desk, seen
from tests.entries import new_pane

TOKEN = "0123456789abcdef" * 4
PORT = 8787
AUTH = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
#: One session, and the process that its desk has.
ONE = "sessions-1:%1"
PROCESS = {"address": ONE, "pid": PID, "start": START}

PANES = (
    new_pane(id="%1", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", question="Run the migration?",
         message="Run the migration?", choices=(("1", "Yes"), ("2", "No")), since=1000.0, host_title="deploy"),
    Pane(id="%2", status=Status.WORKING, agent="codex", project="docs", progress="3/7", since=1100.0),
    Pane(id="%3", status=Status.DONE, agent="claude", project="<b>x</b>", message="a\u202eb\x1b[31m", since=900.0),
    Pane(id="%4", status=Status.WAITING, kind=Kind.QUESTION, agent="aider", message="Add file?", since=500.0),
    Pane(id="%5", status=Status.ACTIVE, title="vim"),
)  # fmt: skip


@attrs.define
class FakePanes:
    """Sessions of the host `sessions` can be seen and typed into, each a `Desk`; `%2` has just vanished."""

    desks: dict[str, Desk] = attrs.field(factory=dict)
    #: What a second look at any screen shows, with its sequences.
    drawn: list[str] = attrs.field(factory=list)
    columns: int = 80

    def can_type(self, host: str, pane: Pane) -> bool:
        return host.startswith("sessions-")

    def desk(self, pane: str, screen: str = "claude/permission-bash-80", **more: Any) -> Desk:
        """What stands on the desk of *pane*, once this was called: a recorded screen."""
        made = Desk(seen(screen, **{"pane": pane, **more}))
        self.desks[pane] = made
        return made

    def at(self, host: str, pane: Pane) -> Desk | Refusal:
        if pane.id == "%2":
            return Refusal("gone", "that pane is gone; nothing was typed")
        return self.desks.get(pane.id) or self.desk(pane.id)

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        return read_screen(self.drawn or ["$ claude", pane.question], self.columns)

    @property
    def typed(self) -> dict[str, list[str]]:
        """What reached each pane, where anything did."""
        return {pane: desk.typed for pane, desk in self.desks.items() if desk.typed}


@attrs.define
class Served:
    """One application and what is behind it."""

    panes: FakePanes = attrs.field(factory=FakePanes)
    guard: Guard = attrs.field(factory=lambda: Guard(TOKEN, allowed_hosts(PORT)))
    snapshots: list[Snapshot] | None = None
    push: Push | None = None
    devices: Devices | None = None

    def shows(self, host: str, *panes: Pane, pid: int = 1) -> None:
        reason = ReasonEntry(source="screen", rule="test")
        panes = tuple(attrs.evolve(pane, reason=reason) for pane in panes)
        self.snapshots = [Snapshot(host=host, pid=pid, started=0.0, written=0.0, panes=panes)]

    @property
    def client(self) -> PaneClient:
        """What reaches its panes; who is no person may do nothing."""
        return PaneClient(self.panes, lambda: PERSON, lambda _: "none", once=Once(0.0, InProcess()))

    def app(self) -> ASGIApp:
        push = self.push or Push(self.guard, Store(Path("/proc/nowhere/push")))
        return Service(self.guard, self._read, self.client, push=push, devices=self.devices).app()

    def _read(self) -> list[Snapshot] | None:
        found, self.snapshots = self.snapshots, None
        return found
