"""
Forking and resuming in kitty: both sides of `kittens/fork.py`, except kitty's own functions (`hosts.kitty.fork`).

`page` runs in a process of its own, in a window over the pane: it asks the person, and makes the worktree. `Start` runs
inside kitty on its main thread, after that window has closed. Everything is read again, the disk by the host's worker.
Only if the same argument list results, and the process table still agrees, kitty's launch starts it, without a shell.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Place, sentence
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.process_table import Table
from tallylight.model.errors import DecodeError
from tallylight.model.jobs import raised
from tallylight.parts.conversations import fork, worktrees
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Plan, Verb
from tallylight.parts.conversations.plan import plan as plan_of
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.ui.confirm import announce, ask
from tallylight.wire import values

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

Json = dict[str, Any]
#: How long, in seconds, a person waits for the disk of an agent and its directory.
DISK_WAIT_S = 10.0
#: How long, in seconds, the key press itself may block kitty.
LEND_FOR_KEY_S = 0.1
#: The variables of the page's program: the descriptor for its answer, and the first process of the pane.
CHANNEL, ROOT = "TALLYLIGHT_PAGE_CHANNEL", "TALLYLIGHT_PAGE_ROOT"
#: The longest answer.
MAX_ANSWER_BYTES = 1 << 18
#: The longest argument list from the other process, in words; our relay may precede an agent's.
MAX_RELAYED_WORDS = 64 + 3
CHANGED = Refusal("changed", "what runs in this pane changed in the meantime; ask again")
NO_HOST = Refusal("host", "Tallylight does not run in this kitty; run `tally doctor` to see why")


# In the window over the pane ---------------------------------------------------------------------------------------


def page(verb: Verb, place: Place, *, wants_worktree: bool) -> int:
    """Show the page and ask; send what is to be started to the kitty that has opened it."""
    answers, root = int(os.environ.pop(CHANNEL)), int(os.environ.get(ROOT, "0"))
    os.set_inheritable(answers, False)
    announce(verb, 1)
    agreed = _agreed(verb, place, root, wants_worktree=wants_worktree)
    if agreed is None:
        return 1
    os.write(answers, json.dumps(agreed).encode("ascii"))
    return 0


def _agreed(verb: Verb, place: Place, root: int, *, wants_worktree: bool) -> Json | None:
    """Return what the person agreed to start for the pane with the first process *root*; None for nothing."""
    agents, _ = agent_files.load_agents(os.environ)
    offer = ForkPage(verb, plan(verb, agents, root), place, wants_worktree=wants_worktree)
    while ask(offer, 0, os.environ, fork.complete):
        assert isinstance(offer.found, Plan)
        again = plan(verb, agents, root)
        if isinstance(again, Refusal) or not again.is_same(offer.found):
            offer.found = again if isinstance(again, Refusal) else CHANGED
            continue
        cwd: str | Refusal = again.cwd
        if offer.wants_worktree and isinstance(offer.worktree, worktrees.Base):
            cwd = worktrees.make(offer.worktree)
        if isinstance(cwd, Refusal):
            offer.worktree = cwd
            continue
        agreed = {"verb": str(verb), "argv": list(again.argv), "place": str(offer.place)}
        return {**agreed, "cwd": cwd, "shown_cwd": again.cwd}
    return None


def plan(verb: Verb, agents: Agents, root: int) -> Plan | Refusal:
    """Plan *verb* for the pane with the first process *root*, from the snapshot of the kitty around us."""
    table = process_table.table()
    pane = pane_of(root, os.environ, table)
    return fork.act(verb, pane, agents, table, root=root) if pane is not None else NO_HOST


def pane_of(root: int, environ: Any, table: Table) -> Pane | None:
    """
    Return the pane of this kitty's snapshot with *root*, or a process below it, in the foreground; None without one.
    """
    path = writer.directory(environ) / f"kitty-{environ.get('KITTY_PID', '')}.json"
    found = writer.read_living(path)
    for pane in found.panes if isinstance(found, Snapshot) else ():
        for pid in (pane.agent_pid, pane.pid):
            if pid is not None and fork.is_below(pid, root, table):
                return pane
    return None


# Inside kitty ------------------------------------------------------------------------------------------------------


def received(answers: socket.socket) -> object:
    """Return what the page has sent through *answers*, and close that; None if it has sent nothing."""
    data = b""
    with answers, contextlib.suppress(OSError):
        while len(data) <= MAX_ANSWER_BYTES and (chunk := answers.recv(MAX_ANSWER_BYTES)):
            data += chunk
    try:
        return values.load(data.decode("ascii", "replace"), strict=True) if data else None
    except DecodeError:
        return ""


@attrs.define
class Start:
    """Starts the command that a person agreed to in the page over window *window_id*."""

    boss: Any
    window_id: int
    #: kitty's own timer, and the function that opens a window with a plan.
    add_timer: Callable[[Callable[[object], None], float, bool], object]
    launch: Callable[..., object]
    #: Whether it was started, or the person saw why not.
    _is_over: bool = False

    def guarded(self, call: Callable[[], Refusal | None]) -> None:
        """Make *call*; if it refuses or fails, show the person why nothing was started."""
        if self._is_over:
            return
        try:
            refusal = call()
        except Exception as error:  # kitty must not see our faults
            refusal = Refusal("fault", f"kitty did not open a pane: {type(error).__name__}: {error}")
        if refusal is not None:
            self._is_over = True
            self.boss.show_error("Tallylight", f"{sentence(refusal.text)}\n\nNothing was started.")

    def begin(self, answer: object, host: KittyHost | None) -> Refusal | None:
        """Start reading everything again; the rest follows when that is done."""
        asked = _read(answer)
        scene = _scene(host, self.boss, self.window_id)
        if host is None or asked is None or scene is None:
            return CHANGED if host is not None else NO_HOST
        if not host.worker.submit(
            "fork",
            lambda: _plan_again(asked, *scene),
            lambda found: self.guarded(lambda: self._start_if_agreed(asked, scene[2], found, host)),
            lambda error: self.guarded(lambda: raised(error)),
        ):
            return Refusal("busy", "the disk has not responded yet for the previous new pane")
        late = Refusal("disk", f"the disk did not respond within {DISK_WAIT_S:g} seconds")
        self.add_timer(lambda _timer: self.guarded(lambda: late), DISK_WAIT_S, False)
        host.worker.lend(LEND_FOR_KEY_S)
        host.schedule_tick(time.monotonic())
        return None

    def _start_if_agreed(
        self, asked: _Agreed, pgid: int, found: tuple[Plan, Agents] | Refusal, host: KittyHost
    ) -> Refusal | None:
        """
        Start the command, if everything that was read is still what the person agreed to; return why it is not started.
        """
        if isinstance(found, Refusal):
            return found
        plan, agents = found
        scene = _scene(host, self.boss, self.window_id)
        if scene is None or scene[2] != pgid:
            return CHANGED
        pane, root, _ = scene
        # No disk: the process table alone. The program was searched just now.
        look = fork.scene_of(pane, agents, process_table.table(), root=root, pgid=pgid)
        now = plan_of(asked.verb, look, agents)
        if isinstance(now, Refusal):
            return now
        is_same = (now.pid, now.start, now.cwd) == (plan.pid, plan.start, plan.cwd)
        # Our relay may precede them; and a program named without its path was found at one.
        program, *words = plan.argv[-len(now.argv) :]
        is_same = is_same and tuple(words) == now.argv[1:] and (now.argv[0] == program or "/" not in now.argv[0])
        if not is_same:
            return CHANGED
        self._is_over = True
        window = self.boss.window_id_map[self.window_id]
        self.launch(self.boss, window, plan, asked.cwd, asked.place, plan.env, has_its_environment=True)
        return None


@attrs.frozen
class _Agreed:
    """The command that the person agreed to start, and its place."""

    verb: Verb
    argv: tuple[str, ...]
    #: The directory to run in: that of the conversation, *shown_cwd*, or a worktree of it.
    cwd: str
    shown_cwd: str
    place: Place


def _scene(host: KittyHost | None, boss: Any, window_id: int) -> tuple[Pane, int, int] | None:
    """
    Return the pane as *host* has it now, its own first process, and the process group in its foreground.

    None if the window or its foreground is gone.
    """
    window = boss.window_id_map.get(window_id)
    pane = host.entry(window_id, time.monotonic()) if host is not None else None
    if window is None or pane is None:
        return None
    try:
        return pane, window.child.pid or 0, os.tcgetpgrp(window.child.child_fd)
    except (OSError, TypeError):
        return None


def _plan_again(asked: _Agreed, pane: Pane, root: int, pgid: int) -> tuple[Plan, Agents] | Refusal:
    """
    Return the plan made again, with all agents. Call it on a worker: it reads agents' files, directories and the
    program.
    """
    if not Path(asked.cwd).is_dir():
        return CHANGED
    agents, _ = agent_files.load_agents(os.environ)
    found = fork.act(asked.verb, pane, agents, root=root, pgid=pgid)
    if isinstance(found, Refusal):
        return found
    agreed = (found.argv, found.cwd) == (asked.argv, asked.shown_cwd)
    return (found, agents) if agreed else CHANGED


def _read(answer: object) -> _Agreed | None:
    """
    Return the other process's answer, if it has the right shape; nothing else in it is trusted.

    The first directory is the one to run in, which may be a worktree of the second, that of the conversation.
    """
    match answer:
        case {"verb": verb, "place": place, "argv": [_, *_] as argv, "cwd": str(cwd), "shown_cwd": str(shown_cwd)}:
            if len(argv) > MAX_RELAYED_WORDS or not all(isinstance(word, str) for word in argv):
                return None
            try:
                return _Agreed(Verb(verb), tuple(argv), cwd, shown_cwd, Place(place))
            except ValueError:
                return None
    return None
