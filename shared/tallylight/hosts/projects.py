"""The project names of agents' directories: looked up on a thread, and cached by directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tallylight.files.by_directory import ByDirectory
from tallylight.files.mounts import Mounts
from tallylight.model.jobs import Submit
from tallylight.pane.pane import Pane
from tallylight.pane.project import project_of


class Projects:
    """Names the projects of panes. *submit* runs one job per key on a thread; *home* is the user's home directory."""

    def __init__(self, submit: Submit, home: str, mounts: Mounts) -> None:
        def read(directories: Sequence[str]) -> dict[str, str]:
            return {directory: project_of(directory, home) for directory in directories}

        self._names = ByDirectory("projects", read, submit, mounts)

    def name_panes(self, panes: Iterable[Pane]) -> None:
        """Set the project name of each of *panes* where it is known; look up the others."""
        unknown = []
        for pane in panes:
            if cwd := pane.unnamed:
                if (name := self._names.get(cwd)) is not None:
                    pane.name_project(name)
                else:
                    unknown.append(cwd)
        self._names.ask(unknown)
