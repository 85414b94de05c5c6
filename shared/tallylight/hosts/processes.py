"""Samples what the processes of panes do, on a thread, for all panes that are due at once (`evidence.connections`)."""

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
    """Samples the processes of panes. *submit* runs one job per key on a thread."""

    submit: Submit
    table: Table
    #: `sampled` gets the samples by pane id, each with the run of its process; `failed` gets the exception.
    sampled: Callable[[Mapping[Id, tuple[tuple[int, int], Sample]]], None]
    failed: Callable[[Exception], None]
    #: The process tree of each pane, with the run of its first process.
    _trees: dict[Id, tuple[tuple[int, int], Tree]] = attrs.field(factory=dict)

    def look(self, panes: Mapping[Id, Pane], now: float) -> None:
        """Start sampling the processes of those *panes* that are due."""
        if not isinstance(self.table, ProcTable):
            return  # only Linux shows the sockets of processes
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
        """Forget a pane that is gone."""
        self._trees.pop(id_, None)


def _read(due: Mapping[Id, tuple[tuple[int, int], Tree]]) -> dict[Id, tuple[tuple[int, int], Sample]]:
    """Return a sample of each process tree that is due; runs on a thread."""
    samples = connections.samples_of([tree for _, tree in due.values()])
    return {id_: (run, sample) for (id_, (run, _)), sample in zip(due.items(), samples, strict=True)}
