"""
A kitty made by hand that scripts can ask: window 3, with an agent that shows a recorded screen, and its socket.

Its processes are made by hand, too: a shell in window 2, below it this very process, which asks; and what the tests of
what scripts type put there.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import attrs

from tallylight.actions.answered import InProcess
from tallylight.actions.once import Once
from tallylight.evidence.process import Process
from tallylight.hosts.worker import Worker
from tallylight.model.status import Kind, Status
from tests.actions.desk import PID, START, holder, look
from tests.evidence.agents import AGENTS
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.test_typist import Host, Pane, Window
from tests.hosts.test_pane import HandTable
from tests.patience import until

T = TypeVar("T")
KITTY, SHELL, CODEX, SCRIPT, LONELY = (
    Process(30, 1, 30, "kitty", ("kitty",), "/usr/bin/kitty", 300),
    Process(40, 30, 40, "bash", ("bash",), "/usr/bin/bash", 400),
    Process(50, 40, 50, "codex", ("codex",), "/usr/bin/codex", 500),
    Process(60, 50, 60, "tally", ("tally", "send"), "/usr/bin/python3", 600),
    Process(70, 1, 70, "tally", ("tally", "send"), "/usr/bin/python3", 700),
)
CLAUDE = Process(PID, KITTY.pid, PID, "claude", ("claude",), "/usr/bin/claude", START)
INIT = Process(1, 0, 1, "init", ("init",), "/sbin/init", 1)
#: This process, which has both ends of the socket: a script of the shell in window 2.
ME = Process(os.getpid(), SHELL.pid, 40, "tally", ("tally", "send"), "/usr/bin/python3", START)


@attrs.define
class ScriptedHost(Host):
    """A host that knows what was answered in its panes."""

    panes: dict[int, Any] = attrs.field(factory=dict)
    once: Once = attrs.field(factory=lambda: Once(0.0, InProcess()))
    worker: Worker = attrs.field(factory=Worker)
    door: Any = None
    each_tick: list[Callable[[], None]] = attrs.Factory(list)
    config: Any = None
    reader: Any = None

    def guarded(self, _feature: str, call: Any) -> Any:
        return call


@attrs.define
class ScriptDesk:
    """The host, its window, the module of what scripts ask, what it has made of it, and the processes."""

    kitty: Kitty
    host: ScriptedHost
    window: Window
    module: Any
    table: HandTable
    scripts: Any

    @classmethod
    def of(
        cls, kitty: Kitty, screen: str, status: Status = Status.WAITING, allow: str = "own", kind: Kind | None = None
    ) -> ScriptDesk:
        """A kitty that listens, in the runtime directory of the environment."""
        module: Any = importlib.import_module("tallylight.hosts.kitty.scripts")
        table = HandTable("/", {one.pid: one for one in (INIT, KITTY, SHELL, CODEX, SCRIPT, LONELY, CLAUDE, ME)})
        module.process_table = SimpleNamespace(table=lambda: table)
        window, other = Window(), Window(id=2, title="two")
        window.child.pid, other.child.pid = CLAUDE.pid, SHELL.pid
        host = ScriptedHost(look(screen), SimpleNamespace(window_id_map={3: window, 2: other}))
        host.config = SimpleNamespace(scripting=allow)
        host.reader = SimpleNamespace(agents=AGENTS, was_agent=lambda *_: "")
        host.panes[3] = Pane(holder(screen.partition("/")[0]), status, kind=kind or Kind.PERMISSION)
        host.panes[2] = Pane(holder("codex", CODEX.pid, CODEX.start), Status.WORKING)
        host.door = importlib.import_module("tallylight.hosts.kitty.door").Door(lambda: module.serve(host))
        host.each_tick.append(host.door.look)
        host.door.open(host.worker.submit)
        module.serve(host)
        scripts = host.door.serve.__self__
        scripts.pid = KITTY.pid
        desk = cls(kitty, host, window, module, table, scripts)
        until(lambda: not host.worker.is_waiting or host.worker.lend(0.05), "it does not listen")
        return desk

    def show(self, screen: str, status: Status) -> None:
        """Show another screen."""
        self.host.screen = look(screen)
        self.host.panes[3].status = status

    def run(self, asks: Callable[[], T]) -> T:
        """What *asks* returns, in a thread of its own, while this kitty ticks."""
        result: list[T | BaseException] = []

        def call() -> None:
            try:
                result.append(asks())
            except BaseException as error:
                result.append(error)

        thread = threading.Thread(target=call)
        thread.start()

        def is_over() -> bool:
            for call in self.host.each_tick:
                call()
            self.kitty.run_repeats()
            return not thread.is_alive()

        until(is_over, "it is not answered")
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]
