"""
Projects: what the directories of agents are called, looked up on a worker and remembered by directory.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from tallylight.files.mounts import Mounts
from tallylight.hosts.jobs import Submit
from tallylight.pane.pane import Pane
from tallylight.pane.project import project_of

#: Directories that are remembered, and mounts that are asked at a time: one that hangs is asked by one thread.
MAX_KNOWN = 512
MAX_ASKED = 4


@attrs.define
class Projects:
    """*submit* does one job of a name at a time; *home* is the person's, *mounts* groups what lies together."""

    submit: Submit
    home: str
    mounts: Mounts = attrs.field(factory=Mounts)
    _known: OrderedDict[str, str] = attrs.field(factory=OrderedDict)
    #: The mounts that are being asked.
    _asked: set[str] = attrs.field(factory=set)

    def tell(self, panes: Iterable[Pane]) -> None:
        """Tell each of *panes* what its agent's project is called, as far as that is known; ask for the others."""
        unknown: dict[str, list[str]] = {}
        for pane in panes:
            cwd = pane.unnamed
            if cwd in self._known:
                self._known.move_to_end(cwd)
                pane.name_project(self._known[cwd])
            elif cwd:
                unknown.setdefault(self.mounts.of(Path(cwd)), []).append(cwd)
        for mount, cwds in unknown.items():
            if mount not in self._asked and len(self._asked) < MAX_ASKED:
                job = functools.partial(_read, cwds, self.home)
                if self.submit(f"projects on {mount}", job, functools.partial(self._were_read, mount)):
                    self._asked.add(mount)

    def _were_read(self, mount: str, result: object) -> None:
        self._asked.discard(mount)
        if isinstance(result, dict):
            self._known |= result
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)


def _read(cwds: Sequence[str], home: str) -> dict[str, str]:
    return {cwd: project_of(cwd, home) for cwd in cwds}
