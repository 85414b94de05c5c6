"""
`tally start`: start an agent in a new pane of the kitty or the tmux around us, for scripts and for other agents.

Only the agent's data file determines the command. The caller is recorded, and may type into this pane. The worktree is
made first, by the rules of `tally fork --worktree`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from tallylight.actions import request, start
from tallylight.actions.answer import Done
from tallylight.actions.caller import this_process
from tallylight.actions.client import own_caller
from tallylight.actions.gate import Refusal, must, refuses
from tallylight.actions.page import command_line
from tallylight.actions.permission import CONFINED, Verb, check, refusal_of
from tallylight.agents import agent_files
from tallylight.agents.agent import Agent
from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.output import JSON_VERSION, UNBOUNDED_CELLS, clean, complain, refused
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import client_of
from tallylight.cli.waiting import AT_REST, Wait, add_timeout, exit_code, follow
from tallylight.evidence import confinement, process_table
from tallylight.files.program import find_program
from tallylight.hosts.detached import starts
from tallylight.parts.conversations import worktrees
from tallylight.parts.conversations.worktrees import Base
from tallylight.snapshot import sockets
from tallylight.snapshot.addresses import Panes, own_place, read_panes
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory

#: Seconds until kitty should list the new pane.
LISTED_S = 10.0
#: Seconds until its prompt should have begun a turn: the agent starts first.
FIRST_TURN_S = 60.0
#: Seconds that tmux has to accept a connection.
TAKES_S = 5.0
_SESSIONS = "sessions-"
_CHECK_TURN_S = 0.1


def make_parser() -> Parser:
    parser = Parser(
        prog="tally start",
        description="Start an agent in this directory, in a new pane of the kitty or tmux around you. The caller may "
        "then use `tally send` and `tally interrupt` on that pane. The agent runs outside of the caller's sandbox: if "
        "there is one, kitty asks you first, and tmux refuses.",
        examples={
            "tally start claude --prompt 'fix the tests' --json": "and print the address of its pane",
            "tally start claude --wait --prompt 'fix the tests'": "the same once it has finished or needs you",
            "tally start codex --worktree parser": "in a new git worktree, on a new branch `parser`",
        },
        codes={
            0: "it runs",
            1: "failed, and nothing was started",
            "with --wait": "once it runs, as `tally wait`",
            REFUSED: "a rule refused it, and nothing was started; the message names the rule",
        },
    )
    parser.add_argument("agent", metavar="AGENT", help="its name: claude, codex, ...")
    places = ("split", "tab", "os-window", "tmux")
    parser.add_argument(
        "--in",
        dest="place",
        choices=places,
        default="",
        help="where; by default a window of your tmux, or else a tab of your kitty",
    )
    parser.add_argument("--worktree", metavar="NAME", help="in a new git worktree of that name, on a new branch")
    parser.add_argument("--prompt", metavar="TEXT", default="", help="the first prompt")
    parser.add_argument("--name", metavar="NAME", default="", help="the title of the pane")
    parser.add_argument("--wait", action="store_true", help="wait until the turn of its prompt is over")
    add_timeout(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(argv: list[str]) -> int:
    """Start the agent, and return the exit code."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.wait and not options.prompt:
        parser.error("--wait needs --prompt: without one no turn begins")
    panes = read_panes(os.environ)
    options.place = options.place or ("tmux" if os.environ.get("TMUX") else "tab")
    if options.place == "tmux":
        host = next((name for name in panes.hosts if name.startswith(_SESSIONS)), "")
    else:
        host, _ = own_place(os.environ)
    turn = Wait(AT_REST, is_all=True, since=time.time(), chosen=(), is_turn=True, starts_s=FIRST_TURN_S)
    base, reply = _started(options, panes, host)
    document: dict[str, object] = {
        "version": JSON_VERSION,
        "address": None,
        "state": None,
        "program": None,
        "cwd": None,
        "worktree": None,
        "refused": None,
        "text": "",
    }
    if isinstance(reply, Refusal):
        if base is not None:
            complain("start", f"the worktree {clean(str(base.path))} was made, and is left", cells=UNBOUNDED_CELLS)
        if options.json:
            sys.stdout.write(json.dumps(document | {"refused": reply.rule, "text": clean(reply.text)}) + "\n")
        return refused("start", reply)
    address, code = f"{host}:{reply.pane}", 0
    _await_listing(address)
    document |= {"address": address, "program": clean(reply.text), "cwd": str(Path.cwd())}
    if base is not None:
        document["worktree"] = {"path": str(base.path), "branch": base.branch}
    if options.wait:
        turn.chosen = (address,)
        ends = follow("start", turn, Feed(directory(os.environ)), options.timeout)
        document["state"], code = ends[0].state if ends else None, exit_code(ends)
    sys.stdout.write(f"{json.dumps(document) if options.json else address}\n")
    return code


def _await_listing(address: str) -> None:
    """Wait a limited time until the new pane is listed, so that the next command finds it."""
    end = time.monotonic() + LISTED_S
    while time.monotonic() < end and not any(found.address == address for found in read_panes(os.environ).panes):
        time.sleep(_CHECK_TURN_S)


def _started(options: argparse.Namespace, panes: Panes, host: str) -> tuple[Base | None, Done | Refusal]:
    """Start it in *host*, in a new worktree if one is requested."""
    is_tmux = options.place == "tmux"
    if not host.startswith(_SESSIONS if is_tmux else "kitty-"):
        what = "tmux needs `tally host sessions`: run it" if is_tmux else "run it in a window of kitty or tmux"
        return None, Refusal("place", f"{what}; nothing was started")
    agents, _ = agent_files.load_agents(os.environ)
    known = agents.get(options.agent)
    # kitty checks all of this itself; here it avoids a useless worktree.
    words = start.words_of(known, options.prompt) if known is not None else ()
    if isinstance(words, Refusal):
        return None, words
    base: Base | None = None
    if options.worktree is not None and known is not None:
        made = _worktree(options.worktree)
        if isinstance(made, Refusal):
            return None, made
        base = made
        os.chdir(base.cwd if Path(base.cwd).is_dir() else base.path)
    if is_tmux:
        return base, _start_in_tmux(known, options, panes.level(host))
    asked = request.Start(options.agent, options.place, options.name, options.prompt)
    reply = client_of(panes).start(host, asked)
    return base, reply if isinstance(reply, Done | Refusal) else request.SILENT


@refuses
def _start_in_tmux(known: Agent | None, options: argparse.Namespace, level: str) -> Done | Refusal:
    """Start it from this process, because any process can command tmux; by the same rules as kitty."""
    if known is None:
        return Refusal("agent", f"no agent is called {clean(options.agent, 40)!r}")
    table, caller = process_table.table(), own_caller(os.environ)
    must(refusal_of(check(level, caller, Verb.START)))
    path = must(starts.search_path(os.environ))
    tmux = sockets.listener(os.environ.get("TMUX", "").partition(",")[0], TAKES_S)
    if confinement.is_confined(this_process(), tmux, table):
        return CONFINED
    cwd = str(Path.cwd())
    plan = must(start.plan(known, options.prompt, options.name, cwd, lambda program: find_program(program, path)))
    return starts.start(plan, path, caller.being, os.environ, table)


@refuses
def _worktree(name: str) -> Base:
    """Announce and make the worktree."""
    named = must(worktrees.named(must(worktrees.inspect(str(Path.cwd()))), name))
    complain("start", *named.notes)
    complain("start", command_line(worktrees.command(named)), cells=UNBOUNDED_CELLS)
    must(worktrees.make(named))
    return named
