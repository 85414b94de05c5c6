"""The parts in one host: each method is called for all parts that have it, and a fault costs that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tallylight.config.settings import Config
from tallylight.pane.pane import Pane
from tallylight.parts import HostPart
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.tracker.notify import Notice

_METHODS = ("use", "tick", "changed", "published", "notify", "forget", "close")


class HostParts:
    """*parts* by their names; *report* gets one line for each that is switched off by a fault."""

    def __init__(self, parts: Mapping[str, HostPart], report: Callable[[str], None]) -> None:
        self._report = report
        self._calls: dict[str, dict[str, Callable[..., None]]] = {
            method: {
                name: getattr(part, method)
                for name, part in parts.items()
                if getattr(type(part), method) is not getattr(HostPart, method)
            }
            for method in _METHODS
        }

    def _call(self, method: str, *args: object) -> None:
        for name, call in list(self._calls[method].items()):
            try:
                call(*args)
            except Exception as error:  # a part must not cost a host
                for calls in self._calls.values():
                    calls.pop(name, None)
                self._report(f"part {name} switched off: {type(error).__name__}: {error}")

    def use(self, config: Config) -> None:
        """Go by *config* from now on."""
        self._call("use", config)

    def tick(self, now: float, panes: Mapping[Any, Pane], looked: Sequence[Any]) -> None:
        """Pass on a tick: all *panes*, and those that were *looked* at in it."""
        self._call("tick", now, panes, looked)

    def changed(self, id_: Any, pane: Pane, now: float) -> None:
        """Pass on that *pane* shows something new."""
        self._call("changed", id_, pane, now)

    def published(self, panes: Sequence[PaneEntry] | None, now: float) -> None:
        """Pass on a snapshot, or None in a tick in which none was written."""
        self._call("published", panes, now)

    def notify(self, notice: Notice, now: float) -> None:
        """Pass on that the person is being notified."""
        self._call("notify", notice, now)

    def forget(self, id_: Any) -> None:
        """Pass on that a pane is gone."""
        self._call("forget", id_)

    def close(self, now: float, *, is_lost: bool) -> None:
        """Pass on that the host ends; *is_lost*: with all that ran in its panes."""
        self._call("close", now, is_lost)
