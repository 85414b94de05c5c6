"""A kitty made by hand that scripts can ask: window 3, with an agent that shows a recorded screen, and its socket."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

import attrs

from tallylight.actions.once import Once
from tallylight.hosts.worker import Worker
from tallylight.model.status import Status
from tests.actions.desk import holder, look
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.test_typist import Host, Pane, Window

T = TypeVar("T")


@attrs.define
class ScriptedHost(Host):
    """A host that knows what was answered in its panes."""

    panes: dict[int, Any] = attrs.field(factory=dict)
    once: Once = attrs.field(factory=lambda: Once(settle_s=0.0))
    worker: Worker = attrs.field(factory=Worker)
    each_tick: list[Callable[[], None]] = attrs.Factory(list)
    config: Any = None
    reader: Any = None

    def guarded(self, _feature: str, call: Any) -> Any:
        return call


@attrs.define
class ScriptDesk:
    """The host, its window, and the module of what scripts ask."""

    kitty: Kitty
    host: ScriptedHost
    window: Window
    module: ModuleType

    @classmethod
    def of(cls, kitty: Kitty, screen: str, status: Status = Status.WAITING) -> ScriptDesk:
        """A kitty that listens, in the runtime directory of the environment."""
        module = importlib.import_module("tallylight.hosts.kitty.scripts")
        window = Window()
        host = ScriptedHost(look(screen), SimpleNamespace(window_id_map={3: window}))
        host.panes[3] = Pane(holder(screen.partition("/")[0]), status)
        desk = cls(kitty, host, window, module)
        module.serve(host)
        deadline = time.monotonic() + 30
        while host.worker.is_waiting:
            assert time.monotonic() < deadline, "it does not listen"
            host.worker.lend(0.05)
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
        deadline = time.monotonic() + 30
        while thread.is_alive():
            assert time.monotonic() < deadline, "it is not answered"
            for call in self.host.each_tick:
                call()
            self.kitty.run_repeats()
            thread.join(0.01)
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]
