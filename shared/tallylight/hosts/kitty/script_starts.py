"""
Starts agents for scripts: `tally start`, inside kitty.

The new pane is beside the caller's window, in the directory of the script's process, from the process table. Its
program is the one that kitty finds by that name. Its environment is that of the caller's window when kitty opened it,
without changes by programs. A thread reads the disk. The main thread checks that nothing changed, just before kitty's
launch runs the list, without a shell.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
from kitty.child import default_env
from kitty.utils import which

from tallylight.actions import request, start
from tallylight.actions.answer import Done
from tallylight.actions.caller import Being, Caller, being_of
from tallylight.actions.gate import Refusal
from tallylight.actions.page import Place
from tallylight.actions.permission import Pairs
from tallylight.actions.start import StartPlan
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.files.program import find_program
from tallylight.hosts.kitty import fork
from tallylight.hosts.kitty.host import KittyHost
from tallylight.wire.text import sanitise

#: Running panes that scripts started: the most of one caller, and of all.
MAX_OWN, MAX_ALL = 16, 64
#: The most starts that are prepared at a time.
MAX_JOBS = 8
_PLACES = {place.value: place for place in (Place.TAB, Place.OS_WINDOW)} | {"split": Place.VSPLIT}


@attrs.define
class Starts:
    """Starts agents in *host*; *own* keeps which caller started which pane."""

    host: KittyHost
    own: Pairs
    #: Results of the thread for each caller's request; None while it looks.
    _jobs: dict[tuple[Being, request.Start], StartPlan | Refusal | None] = attrs.Factory(dict)
    _numbers: Any = attrs.field(factory=lambda: itertools.count(1))

    def start(
        self, asked: request.Start, caller: Caller, window: Any, consent: Callable[[], bool | Refusal]
    ) -> Done | Refusal | None:
        """
        Start the agent *asked* by *caller*, beside *window*.

        None while it is looked up, or while a person is asked for *consent*: then call it again.
        """
        key = (caller.asker, asked)
        if key in self._jobs:
            if (found := self._jobs[key]) is None:
                return None
            del self._jobs[key]
            return self._launch(found, asked, caller, window)
        if asked.place not in _PLACES:
            return Refusal("unknown", f"a pane cannot be put into {sanitise(asked.place, cells=20)!r}")
        table = process_table.table()
        living = [one for one in self.own.panes() if being_of(one[1][0], table) == one[1]]
        if len(living) >= MAX_ALL or sum(one[0] == caller.being for one in living) >= MAX_OWN:
            return Refusal("too-many", f"{MAX_OWN} panes of one caller run at a time, and {MAX_ALL} of all")
        if (agreed := consent()) is not True:
            return agreed or None
        if len(self._jobs) >= MAX_JOBS:
            return Refusal("busy", "too many agents are being started at this moment")
        path, cwd = _path(window), table.cwd(caller.asker[0])
        self._jobs[key] = None
        self.host.worker.submit(
            ("start", next(self._numbers)),
            lambda: _plan(asked, cwd, path),
            lambda found: self._found(key, found),
            lambda error: self._found(key, Refusal("failed", f"the program was not found: {error}")),
        )
        self.host.worker.lend()
        return None

    def _found(self, key: tuple[Being, request.Start], found: StartPlan | Refusal) -> None:
        if key in self._jobs:
            self._jobs[key] = found

    def forget(self, being: Being) -> None:
        """Drop the requests of a process that has ended."""
        for key in [key for key in self._jobs if key[0] == being]:
            del self._jobs[key]

    def _launch(self, found: StartPlan | Refusal, asked: request.Start, caller: Caller, window: Any) -> Done | Refusal:
        """Start the plan *found*, if the caller and its window are still as they were when it was made."""
        table = process_table.table()
        if isinstance(found, Refusal):
            return found
        if table.cwd(caller.asker[0]) != found.cwd:
            return Refusal("changed", "the caller is in another directory now; nothing was started")
        # A new window gets the caller's original environment; PATH also has the program's folder.
        folder, path = str(Path(found.argv[0]).parent), _path(window)
        path = path if folder in path.split(os.pathsep) else f"{path}{os.pathsep}{folder}"
        env = {**window.child.env, "PATH": path}
        made = fork.launch(self.host.boss, window, found, found.cwd, _PLACES[asked.place], env)
        pane = being_of(made.child.pid, table) if made is not None else None
        if pane is None:
            return Refusal("failed", "kitty did not open a pane")
        self.own.put(caller.being, pane)
        return Done(str(made.id), " ".join(found.argv[:1]))


def _plan(asked: request.Start, cwd: str, path: str) -> StartPlan | Refusal:
    """Return the plan to start the agent *asked* in *cwd*, or why not. It reads the disk: call it on a thread."""
    agents, _ = agent_files.load_agents(os.environ)
    agent = agents.get(asked.agent)
    if agent is None:
        known = ", ".join(sorted(one.name for one in agents))
        return Refusal("agent", f"no agent is called {sanitise(asked.agent, cells=40)!r}; known are {known}")
    return start.plan(agent, asked.prompt, asked.name, cwd, lambda program: _find(program, path))


def _find(program: str, path: str) -> str:
    """
    Return the program that kitty runs by this name: from the windows' *path*, else by kitty's own search.

    That search reads a few more directories, and last asks the login shell for its PATH, which takes up to 1.5 seconds.
    """
    found = find_program(program, path) or which(program) or ""
    return found if found.startswith("/") else ""


def _path(window: Any) -> str:
    """Return the PATH that kitty gave *window*, as kitty remembers it."""
    return str(window.child.env.get("PATH") or default_env().get("PATH", ""))
