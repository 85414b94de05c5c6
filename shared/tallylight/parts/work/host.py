"""Changes and collisions of the agents of one host."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tallylight.config.settings import Config
from tallylight.hosts.part import Context, HostPart
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.parts.work.changes import Work
from tallylight.parts.work.did import Doings
from tallylight.parts.work.row_fields import DIFFSTAT
from tallylight.parts.work.turns import Turns
from tallylight.parts.work.watch import Collisions


class WorkHost(HostPart):
    """Records the changes of agents, and finds agents that change the same lines."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        environ, submit, mounts = context.environ, context.submit, context.mounts
        self._config, self._keeps_trees = Config(), False
        self._changes: Work[Any] = Work(submit, environ.get("HOME", ""), mounts, context.touched)
        name = f"{context.name}-{os.getpid()}"
        self._doings: Doings[Any] = Doings(name, environ, submit, time.time, context.touched)
        self._turns = Turns(name, environ, submit, mounts)
        self._collisions: Collisions[Any] = Collisions(name, environ, submit, mounts, context.touched, context.reader)

    def use(self, config: Config) -> None:
        self._config = config
        self._keeps_trees = config.parts.get("work", {}).get("trees") != "off"

    def changed(self, id_: Any, pane: Pane, now: float) -> None:  # noqa: ARG002
        self._turns.changed(id_)
        if pane.decision.status is not Status.DONE:
            pane.more.pop(DIFFSTAT, None)

    def forget(self, id_: Any) -> None:
        self._doings.forget(id_)
        self._turns.forget(id_)

    def tick(self, now: float, panes: Mapping[Any, Pane], looked: Sequence[Any]) -> None:
        for id_ in looked:
            self._doings.look(id_, panes[id_], now)
            self._changes.look(id_, panes[id_], now, is_wanted=self._config.listed.branches)
        self._turns.look(panes, looked, now, is_wanted=self._keeps_trees)
        self._collisions.look(panes, now, self._config.collisions)
