"""
Forking and resuming in kitty: both sides of `kittens/fork.py`.

`main` runs in a process of its own, in a window over the pane it is about: it asks the person, and makes the worktree.
`handle_result` runs inside kitty on its main thread, when that window has closed: it looks at everything afresh, and
only if the same argument list comes out again it is started, by kitty's own launch and without a shell.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tallylight import files, forking, processes, snapshot, worktrees
from tallylight.actions.gate import Refusal
from tallylight.actions.offer import Offer, Place, sentence
from tallylight.actions.plan import Plan, Verb
from tallylight.agents import Agents
from tallylight.ask import ask
from tallylight.errors import TallyError
from tallylight.processes import Table
from tallylight.snapshot_schema import Pane

Json = dict[str, Any]
#: Of the argument list that comes back from the other process, in words; our relay may stand before an agent's.
MAX_WORDS = 64 + 3


# In the window over the pane ---------------------------------------------------------------------------------------


def main(args: Sequence[str]) -> Json | None:
    """Ask the person; what is to be started, or nothing."""
    options = _options(args)
    verb = Verb.RESUME if options.resume else Verb.FORK
    agents, _ = files.load_agents(os.environ)
    root = int(os.environ.get("KITTY_CHILD_PID", "0"))
    found = plan(verb, agents, root)
    offer = Offer(verb, found, Place(options.location), wants_worktree=options.worktree and verb is Verb.FORK)
    while ask(offer, 0, os.environ, forking.complete):
        assert isinstance(offer.found, Plan)
        again = plan(verb, agents, root)
        if isinstance(again, Refusal) or not again.is_same(offer.found):
            offer.found = again if isinstance(again, Refusal) else _changed()
            continue
        cwd: str | Refusal = again.cwd
        if offer.wants_worktree and isinstance(offer.worktree, worktrees.Base):
            cwd = worktrees.make(offer.worktree)
        if isinstance(cwd, Refusal):
            offer.worktree = cwd
            continue
        told = {"verb": str(verb), "argv": list(again.argv), "place": str(offer.place)}
        return {**told, "cwd": cwd, "shown_cwd": again.cwd}
    return None


def plan(verb: Verb, agents: Agents, root: int, table: Table | None = None) -> Plan | Refusal:
    """Plan *verb* for the pane whose first process is *root*, by the snapshot of the kitty around us."""
    source = table or processes.table()
    pane = pane_of(root, os.environ, source)
    if pane is None:
        return Refusal("host", "Tallylight does not run in this kitty; `tally doctor` tells why")
    return forking.act(verb, pane, agents, source, root=root)


def pane_of(root: int, environ: Any, table: Table) -> Pane | None:
    """The pane of this kitty's snapshot whose foreground is *root* or below it."""
    path = snapshot.directory(environ) / f"kitty-{environ.get('KITTY_PID', '')}.json"
    try:
        panes = snapshot.read(path).panes
    except (OSError, TallyError):
        return None
    for pane in panes:
        for pid in (pane.agent_pid, pane.pid):
            if pid is not None and forking.is_below(pid, root, table):
                return pane
    return None


def _changed() -> Refusal:
    return Refusal("changed", "what runs in this pane changed in the meantime; ask again")


def _options(args: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fork.py", description="Continue this pane's conversation in a new pane.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--fork", action="store_true", help="a new conversation that begins with all of this one")
    what.add_argument("--resume", action="store_true", help="go on with this very conversation")
    parser.add_argument("--worktree", action="store_true", help="in a fresh git worktree, on a new branch")
    parser.add_argument("--location", choices=[str(place) for place in Place], default=str(Place.VSPLIT))
    return parser.parse_args(list(args[1:]))


# Inside kitty ------------------------------------------------------------------------------------------------------


def handle_result(answer: object, window_id: int, boss: Any) -> None:
    """Start what the person agreed to, if everything is still as it was when they did."""
    from kitty.fast_data_types import add_timer

    # kitty is about to take the page away; what is looked up before that may find it half gone.
    add_timer(lambda _timer: _finish(answer, window_id, boss), 0.0, False)


def _finish(answer: object, window_id: int, boss: Any) -> None:
    try:
        refusal = _start(answer, window_id, boss)
    except Exception as error:  # kitty must not see our faults
        refusal = Refusal("fault", f"kitty did not open a pane: {type(error).__name__}: {error}")
    if refusal is not None:
        boss.show_error("Tallylight", f"{sentence(refusal.text)}\n\n(rule: {refusal.rule}; nothing was started)")


def _start(answer: object, window_id: int, boss: Any) -> Refusal | None:
    from tallylight.hosts import kitty

    window = boss.window_id_map.get(window_id)
    asked = _read(answer)
    if window is None or asked is None:
        return _changed()
    verb, argv, cwd, shown_cwd, place = asked
    host = kitty.running()
    pane = host.entry(window_id, time.monotonic()) if host is not None else None
    if pane is None:
        return Refusal("host", "Tallylight does not run in this kitty; `tally doctor` tells why")
    try:
        pgid = os.tcgetpgrp(window.child.child_fd)
    except (OSError, TypeError):
        return _changed()
    agents, _ = files.load_agents(os.environ)
    found = forking.act(verb, pane, agents, root=window.child.pid or 0, pgid=pgid)
    if isinstance(found, Refusal):
        return found
    if (list(found.argv), found.cwd) != (argv, shown_cwd):
        return _changed()
    launch(boss, window, found, cwd, place)
    return None


def _read(answer: object) -> tuple[Verb, list[str], str, str, Place] | None:
    """
    What the other process sent: believed no further than that it has the right shape.

    The first directory is where to run, which may be a worktree of the second, that of the conversation.
    """
    if not isinstance(answer, dict):
        return None
    try:
        verb, place = Verb(answer.get("verb")), Place(answer.get("place"))  # type: ignore[arg-type]
    except ValueError:
        return None
    argv, cwd, shown_cwd = answer.get("argv"), answer.get("cwd"), answer.get("shown_cwd")
    if not isinstance(argv, list) or not 0 < len(argv) <= MAX_WORDS:
        return None
    if not isinstance(cwd, str) or not isinstance(shown_cwd, str):
        return None
    if not all(isinstance(word, str) for word in argv) or not Path(cwd).is_dir():
        return None
    return verb, argv, cwd, shown_cwd, place


def launch(boss: Any, window: Any, plan: Plan, cwd: str, place: Place) -> Any:
    """Start *plan* next to *window*, with the surroundings of the program in it; the new window."""
    from kitty.launch import launch as kitty_launch
    from kitty.launch import parse_launch_args

    options = parse_launch_args(["--copy-env"]).opts
    options.type = {Place.TAB: "tab", Place.OS_WINDOW: "os-window"}.get(place, "window")
    if place in (Place.VSPLIT, Place.HSPLIT):
        options.location = str(place)
    options.source_window = options.next_to = f"id:{window.id}"
    options.cwd = cwd
    options.window_title = plan.title
    if place is Place.TAB:
        options.tab_title = plan.title
    return kitty_launch(boss, options, list(plan.argv))
