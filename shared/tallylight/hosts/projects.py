"""
Projects: what the directories of agents are called, looked up on a worker and remembered by directory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import attrs

from tallylight.hosts.jobs import Submit
from tallylight.pane.pane import Pane
from tallylight.pane.project import project_of

#: Directories that are remembered.
MAX_KNOWN = 512


@attrs.define
class Projects:
    """*submit* does one job of a name at a time; *home* is the person's."""

    submit: Submit
    home: str
    _known: OrderedDict[str, str] = attrs.field(factory=OrderedDict)

    def tell(self, panes: Iterable[Pane]) -> None:
        """Tell each of *panes* what its agent's project is called, as far as that is known; ask for the others."""
        unknown: set[str] = set()
        for pane in panes:
            cwd = pane.unnamed
            if cwd in self._known:
                self._known.move_to_end(cwd)
                pane.name_project(self._known[cwd])
            elif cwd:
                unknown.add(cwd)
        if unknown:
            self.submit("projects", lambda: {cwd: project_of(cwd, self.home) for cwd in unknown}, self._were_read)

    def _were_read(self, result: object) -> None:
        if isinstance(result, dict):
            self._known |= result
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
