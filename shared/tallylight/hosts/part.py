"""
`HostPart`, which a part adds to a host, and `HostParts`, all of them in one host.

`HostParts` calls each method of every part that has it; an exception switches off that part only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tallylight.config.settings import Config
from tallylight.evidence.process_table import ForegroundReader
from tallylight.files.mounts import Mounts
from tallylight.model import attributes
from tallylight.model.jobs import Submit
from tallylight.pane.pane import Pane
from tallylight.parts import index
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import Tab
from tallylight.tracker.notify import Notice

_METHODS = ("use", "tick", "changed", "published", "notify", "forget", "close")


@attributes.frozen(kw_only=True)
class Context:
    """
    The host that a part runs in. Its *name* is `kitty`, `wezterm` or `sessions`.

    *submit* runs one job per key on a thread. On the host's loop it then calls *done* with the result, or *failed* with
    the exception. *touched* publishes a pane again. *report* writes one line to the host's log. *resumable* offers
    conversations that can be resumed; None where the host offers none. *tabs* returns the open tabs by their ids; None
    where the host does not know them.
    """

    name: str
    environ: Mapping[str, str]
    submit: Submit
    mounts: Mounts
    reader: ForegroundReader
    touched: Callable[[Any], None]
    report: Callable[[str], None]
    resumable: Callable[[int], None] | None = None
    tabs: Callable[[], Mapping[str, Tab] | None] = lambda: None


class HostPart:
    """
    The code of a part in one host. Its methods run on the host's loop, may not wait, and do nothing by default.

    It runs from the first agent on, or from the start if its part is early. A part that raises is switched off in this
    host, and the log says so once. *now* is monotonic seconds.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def use(self, config: Config) -> None:
        """Apply *config* from now on; called for the first time once it was read."""

    def tick(self, now: float, panes: Mapping[Any, Pane], looked: Sequence[Any]) -> None:
        """Handle a tick: *panes* are all panes by their ids, *looked* the ids of those looked at in it."""

    def changed(self, id_: Any, pane: Pane, now: float) -> None:
        """Handle a *pane* that shows something new."""

    def published(self, panes: Sequence[PaneEntry] | None, now: float) -> None:
        """Handle a snapshot: *panes* are its panes, or None in a tick that wrote none."""

    def notify(self, notice: Notice, now: float) -> None:
        """Handle a *notice* that is shown to the user."""

    def forget(self, id_: Any) -> None:
        """Forget a pane that is gone."""

    def close(self, now: float, is_lost: bool) -> None:
        """Save what must be kept: the host ends. *is_lost*: all programs in its panes end with it."""


class HostParts:
    """
    Passes the host's calls on to *parts*, by their names; *report* gets a line for each that fails and is switched off.
    """

    def __init__(self, parts: Mapping[str, HostPart], report: Callable[[str], None]) -> None:
        self._report = report
        self._config: Config | None = None
        self._calls = _calls_of(parts)

    def add(self, parts: Mapping[str, HostPart]) -> None:
        """Pass calls on to *parts*, too, and first of all the configuration."""
        before, self._calls = self._calls, _calls_of(parts)
        if self._config is not None:
            self.use(self._config)
        for method, calls in self._calls.items():
            calls.update(before[method])

    def _call(self, method: str, *args: object) -> None:
        for name, call in list(self._calls[method].items()):
            try:
                call(*args)
            except Exception as error:  # a part must not cost a host
                for calls in self._calls.values():
                    calls.pop(name, None)
                self._report(f"part {name} switched off: {type(error).__name__}: {error}")

    def use(self, config: Config) -> None:
        """Pass on a new *config*."""
        self._config = config
        self._call("use", config)

    def tick(self, now: float, panes: Mapping[Any, Pane], looked: Sequence[Any]) -> None:
        """Pass on a tick."""
        self._call("tick", now, panes, looked)

    def changed(self, id_: Any, pane: Pane, now: float) -> None:
        """Pass on a *pane* that shows something new."""
        self._call("changed", id_, pane, now)

    def published(self, panes: Sequence[PaneEntry] | None, now: float) -> None:
        """Pass on a snapshot, or None in a tick that wrote none."""
        self._call("published", panes, now)

    def notify(self, notice: Notice, now: float) -> None:
        """Pass on a notice that is shown to the user."""
        self._call("notify", notice, now)

    def forget(self, id_: Any) -> None:
        """Pass on that a pane is gone."""
        self._call("forget", id_)

    def close(self, now: float, *, is_lost: bool) -> None:
        """Pass on that the host ends."""
        self._call("close", now, is_lost)


def _calls_of(parts: Mapping[str, HostPart]) -> dict[str, dict[str, Callable[..., None]]]:
    """Return the methods of *parts*, without those that do nothing."""
    return {
        method: {
            name: getattr(part, method)
            for name, part in parts.items()
            if getattr(type(part), method) is not getattr(HostPart, method)
        }
        for method in _METHODS
    }


def made(context: Context, *, is_early: bool) -> dict[str, HostPart]:
    """
    Return a new `HostPart` of each part that has one and *is_early* or not, by its name.

    One that raises is reported and left out.
    """
    made: dict[str, HostPart] = {}
    for name, kind in classes(is_early=is_early).items():
        try:
            made[name] = kind(context)
        except Exception as error:  # a part must not cost a host
            context.report(f"part {name}: {type(error).__name__}: {error}")
    return made


@functools.cache
def classes(*, is_early: bool) -> dict[str, Any]:
    """
    Import the `HostPart` classes of parts that are early or not, by the names of the parts.

    If an import fails, the entry raises that when called.
    """
    found: dict[str, Any] = {}
    for one in index.used():
        if one.part.host and one.part.is_early is is_early:
            try:
                found[one.part.name] = index.load(one.part.host)
            except Exception as error:  # it is reported by the host
                found[one.part.name] = functools.partial(_raise, error)
    return found


def _raise(error: Exception, _context: Context) -> HostPart:
    raise error
