"""A server to test: its state is given, its sessions are a fake that keeps what is typed."""

from __future__ import annotations

import attrs
from starlette.types import ASGIApp

from tallylight.errors import SessionError
from tallylight.serve.app import make_app
from tallylight.serve.guard import Guard, allowed_hosts
from tallylight.snapshot_schema import Pane, ReasonEntry, Snapshot
from tallylight.status import Kind, Status

TOKEN = "0123456789abcdef" * 4
PORT = 8787

PANES = (
    Pane(id="%1", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", question="Run the migration?",
         message="Run the migration?", choices=(("1", "Yes"), ("2", "No")), since=1000.0, host_title="deploy"),
    Pane(id="%2", status=Status.WORKING, agent="codex", project="docs", progress="3/7", since=1100.0),
    Pane(id="%3", status=Status.DONE, agent="claude", project="<b>x</b>", message="a\u202eb\x1b[31m", since=900.0),
    Pane(id="%4", status=Status.WAITING, kind=Kind.QUESTION, agent="aider", message="Add file?", since=500.0),
    Pane(id="%5", status=Status.ACTIVE, title="vim"),
)  # fmt: skip


@attrs.define
class FakeTypist:
    """Sessions of the host `sessions` can be typed into; `%2` has just vanished."""

    typed: list[tuple[str, str, bool]] = attrs.field(factory=list)

    def can_type(self, host: str, pane: Pane) -> bool:
        return host.startswith("sessions-")

    def read(self, host: str, pane: Pane) -> list[str]:
        self._check(pane)
        return ["$ claude", pane.question]

    def type(self, host: str, pane: Pane, text: str, *, enter: bool) -> None:
        self._check(pane)
        self.typed.append((pane.id, text, enter))

    def interrupt(self, host: str, pane: Pane) -> None:
        self._check(pane)
        self.typed.append((pane.id, "\x1b", False))

    @staticmethod
    def _check(pane: Pane) -> None:
        if pane.id == "%2":
            raise SessionError("the session is gone")


@attrs.define
class Served:
    """One application and what is behind it."""

    typist: FakeTypist = attrs.field(factory=FakeTypist)
    guard: Guard = attrs.field(factory=lambda: Guard(TOKEN, allowed_hosts(PORT)))
    snapshots: list[Snapshot] | None = None

    def shows(self, host: str, *panes: Pane) -> None:
        reason = ReasonEntry(source="screen", rule="test")
        panes = tuple(attrs.evolve(pane, reason=reason) for pane in panes)
        self.snapshots = [Snapshot(host=host, pid=1, started=0.0, written=0.0, panes=panes)]

    def app(self) -> ASGIApp:
        return make_app(self.guard, self._read, self.typist)

    def _read(self) -> list[Snapshot] | None:
        found, self.snapshots = self.snapshots, None
        return found
