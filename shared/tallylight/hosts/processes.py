"""
What the processes of panes do: sampled on a worker, of all panes that are due in one go (`evidence.connections`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

import attrs

from tallylight.evidence import connections
from tallylight.evidence.connections import Tree
from tallylight.evidence.process_table import Table
from tallylight.evidence.procfs import ProcTable
from tallylight.evidence.traffic import Sample
from tallylight.model.jobs import Submit
from tallylight.pane.pane import Pane

Id = TypeVar("Id", bound=Hashable)


@attrs.define
class Processes(Generic[Id]):
    """*submit* does one job of a name at a time."""

    submit: Submit
    table: Table
    #: Is given the samples of panes by their ids, each with the run that it is of; and *failed* what was raised.
    sampled: Callable[[Mapping[Id, tuple[tuple[int, int], Sample]]], None]
    failed: Callable[[Exception], None]
    #: The tree of each pane, with the run of its first process.
    _trees: dict[Id, tuple[tuple[int, int], Tree]] = attrs.field(factory=dict)

    def look(self, panes: Mapping[Id, Pane], now: float) -> None:
        """Have the processes sampled of those *panes* that are due."""
        if not isinstance(self.table, ProcTable):
            return  # nobody else tells of sockets
        due: dict[Id, tuple[tuple[int, int], Tree]] = {}
        for id_, pane in panes.items():
            process = pane.processes.process
            if process is None:
                self._trees.pop(id_, None)
            elif pane.processes.due(now):
                if self._trees.get(id_, (None,))[0] != process.run:
                    self._trees[id_] = process.run, Tree(self.table, process.pid)
                due[id_] = self._trees[id_]
        if due:
            self.submit("processes", functools.partial(_read, due), self.sampled, self.failed)

    def forget(self, id_: Id) -> None:
        """The pane is gone."""
        self._trees.pop(id_, None)


def _read(due: Mapping[Id, tuple[tuple[int, int], Tree]]) -> dict[Id, tuple[tuple[int, int], Sample]]:
    samples = connections.look([tree for _, tree in due.values()])
    return {id_: (run, sample) for (id_, (run, _)), sample in zip(due.items(), samples, strict=True)}
