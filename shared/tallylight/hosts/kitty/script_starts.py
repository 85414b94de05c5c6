"""
Starting agents for scripts: `tally start`, inside kitty.

The new pane is beside the caller's window, in the directory of the script's process, as the process
table has it. Its program is what kitty itself would run by that name, and its environment is what kitty gave that
window when it opened it: nothing that a program has put into its own. The disk is looked at by the host's worker; that
all is still so is compared on the main thread, just before kitty's own launch starts the list, without a shell.
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
from tallylight.actions.start import Start
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.files.program import find_program
from tallylight.hosts.kitty import fork
from tallylight.hosts.kitty.host import KittyHost
from tallylight.wire.text import sanitise

#: Panes of one caller, and of all, that were started for scripts and live.
MAX_OWN, MAX_ALL = 16, 64
#: Starts that are looked up at a time.
MAX_JOBS = 8
_PLACES = {place.value: place for place in (Place.TAB, Place.OS_WINDOW)} | {"split": Place.VSPLIT}


@attrs.define
class Starts:
    """What is being started in *host*; who has started what is kept in *own*."""

    host: KittyHost
    own: Pairs
    #: What the worker has found for a process that asked, None while it looks.
    _jobs: dict[tuple[Being, request.Start], Start | Refusal | None] = attrs.Factory(dict)
    _numbers: Any = attrs.field(factory=lambda: itertools.count(1))

    def start(
        self, asked: request.Start, caller: Caller, window: Any, consent: Callable[[], bool | Refusal]
    ) -> Done | Refusal | None:
        """
        Start what is *asked* by *caller*, in *window*.

        None while it is looked up, or while a person is asked for their *consent*: then it is to be called again.
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
            lambda: _look(asked, cwd, path),
            lambda found: self._found(key, found),
            lambda error: self._found(key, Refusal("failed", f"the program was not found: {error}")),
        )
        self.host.worker.lend()
        return None

    def _found(self, key: tuple[Being, request.Start], found: Start | Refusal) -> None:
        if key in self._jobs:
            self._jobs[key] = found

    def forget(self, being: Being) -> None:
        """The process that asked has gone."""
        for key in [key for key in self._jobs if key[0] == being]:
            del self._jobs[key]

    def _launch(self, found: Start | Refusal, asked: request.Start, caller: Caller, window: Any) -> Done | Refusal:
        table = process_table.table()
        if isinstance(found, Refusal):
            return found
        if table.cwd(caller.asker[0]) != found.cwd:
            return Refusal("changed", "the caller is in another directory now; nothing was started")
        # A new window gets what *window* got beside what kitty gives every one, and what lies beside its program.
        folder, path = str(Path(found.argv[0]).parent), _path(window)
        path = path if folder in path.split(os.pathsep) else f"{path}{os.pathsep}{folder}"
        env = {**window.child.env, "PATH": path}
        made = fork.launch(self.host.boss, window, found, found.cwd, _PLACES[asked.place], env)
        pane = being_of(made.child.pid, table) if made is not None else None
        if pane is None:
            return Refusal("failed", "kitty did not open a pane")
        self.own.put(caller.being, pane)
        return Done(str(made.id), " ".join(found.argv[:1]))


def _look(asked: request.Start, cwd: str, path: str) -> Start | Refusal:
    """On the worker: the agents' files, the directory and the program are on a disk."""
    agents, _ = agent_files.load_agents(os.environ)
    agent = agents.get(asked.agent)
    if agent is None:
        known = ", ".join(sorted(one.name for one in agents))
        return Refusal("agent", f"no agent is called {sanitise(asked.agent, cells=40)!r}; known are {known}")
    return start.plan(agent, asked.prompt, asked.name, cwd, lambda program: _find(program, path))


def _find(program: str, path: str) -> str:
    """
    What kitty runs by this name: by the *path* that it gives its windows, else as it finds programs itself.

    That looks into a few directories more, and last asks the login shell for its PATH, which takes up to 1.5 seconds.
    """
    found = find_program(program, path) or which(program) or ""
    return found if found.startswith("/") else ""


def _path(window: Any) -> str:
    """The PATH that kitty gave *window*, by what kitty itself remembers."""
    return str(window.child.env.get("PATH") or default_env().get("PATH", ""))
