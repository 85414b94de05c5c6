"""
Fork and resume: makes a plan that can be run from a pane of a snapshot and the process table.

`act` looks again, whatever a snapshot has: the process must exist at this moment. The program is searched by the
agent's own name in the `PATH` of its running process, in absolute directories only. So it is the file that a person
would have started there. If the agent has ended, the `PATH` is the one that its host recorded, or else that of the
pane's shell. An agent without an agent file runs the file of its process. With our relay it starts as before: after
`tally run --`. Nothing is started or written here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from tallylight.actions.gate import Refusal
from tallylight.agents.agent import Agents
from tallylight.agents.agent_files import load_agents
from tallylight.evidence import process_table
from tallylight.evidence.foreground import NOBODY, Identity
from tallylight.evidence.process import Process, base_name, places
from tallylight.evidence.process_table import ProcTable, Table
from tallylight.evidence.stranger import process_and_file, stranger
from tallylight.files.program import find_program, own_command
from tallylight.parts.conversations import worktrees
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Method, Plan, ProgramFile, Scene, Verb, plan
from tallylight.parts.conversations.worktrees import Base
from tallylight.snapshot.schema import Pane


def act(
    verb: Verb, pane: Pane, agents: Agents, table: Table | None = None, *, root: int = 0, pgid: int = 0
) -> Plan | Refusal:
    """
    Plan *verb* for the conversation in *pane*; a resume may also continue an ended one.

    *root* is the pane's own first process, if known: the agent must be below it. *pgid* is the process group in the
    pane's foreground, if the caller can ask the terminal; else the process table is used.
    """
    source = table or process_table.table()
    scene = scene_of(pane, agents, source, root=root, pgid=pgid)
    found = plan(verb, scene, agents)
    if isinstance(found, Refusal):
        return found
    if not Path(found.cwd).is_absolute() or not Path(found.cwd).is_dir():
        return Refusal("directory", f"the directory {found.cwd!r} no longer exists")
    return _behind(found, source) if found.front else _bare(found, pane, scene, source)


def _bare(found: Plan, pane: Pane, scene: Scene, source: Table) -> Plan | Refusal:
    """
    Return *found* with the file of the agent's own program, without a wrapper, and with the environment of that
    program.
    """
    now = places(source.environ(found.pid or pane.pid or 0))
    before = dict(word.split("=", 1) for word in pane.conversation.places if "=" in word) if found.pid is None else {}
    for env in ({**now, **before}, now):
        path = _path(env)
        if program := _program(found.argv[0], path, scene.process):
            relay = own_command(path) if found.relayed else ""
            argv = (*((relay, "run", "--") if relay else ()), program, *found.argv[1:])
            notes = found.notes
            if found.pid is None and find_program(base_name(program), _path(now)) != program:
                # Another program may have written the recorded values.
                notes = (*notes, f"{program} is not in the PATH of this shell: only Tallylight's own files name it.")
            return attrs.evolve(found, argv=argv, env=env, file=_file(Path(program)), notes=notes)
    return Refusal("program", f"there is no program {found.argv[0]!r} in the PATH of the agent")


def _behind(found: Plan, table: Table) -> Plan | Refusal:
    """Return *found* with the words of the agent's wrapper in front: the wrapper starts the agent again."""
    env = places(table.environ(found.front_pid or 0))
    name = base_name(found.front[0])
    program = _program(name, _path(env), table.get(found.front_pid or 0))
    if not program:
        return Refusal("program", f"there is no program {name!r} in the PATH of the agent")
    argv = (program, *found.front[1:], *found.argv[1:])
    return attrs.evolve(found, argv=argv, env=env, file=_file(Path(program)))


def scene_of(pane: Pane, agents: Agents, table: Table, *, root: int = 0, pgid: int = 0) -> Scene:
    """Return the scene of *pane* for a plan, by its processes at this moment."""
    base = pane.agent_pid or pane.pid or 0
    identity = _identity(pane, agents, table, pgid or _foreground_of(base, table))
    known = pane.conversation
    own = process_and_file(identity, table) if known.program else None
    if own is not None and (identity.stranger, own[1]) == (known.agent, known.program):
        identity = attrs.evolve(identity, agent=stranger(known.agent), process=own[0], is_direct=True)
    process = identity.process
    wrappers = _wrappers(identity, table)
    return Scene(
        pane=pane,
        identity=identity,
        in_tree=not root or process is None or is_below(process.pid, root, table),
        process_cwd=table.cwd(process.pid if identity.agent is not None and process is not None else base),
        program=known.program if identity.agent is None or identity.stranger else "",
        wrappers=wrappers,
        server=next((one for one in wrappers if _is_server(one, wrappers[-1], table)), None),
    )


def _wrappers(found: Identity, table: Table) -> tuple[Process, ...]:
    """Return the processes in front of the agent of *found*, the nearest first, the leader of the foreground last."""
    if found.process is None or found.leader is None or not found.is_behind:
        return ()
    return (*process_table.between(found.process, found.leader, table), found.leader)


def _is_server(process: Process, leader: Process, table: Table) -> bool:
    """Return whether *process*, between *leader* and an agent, has no terminal, and goes on without one."""
    return not process_table.terminal(process.pid, table) and not process_table.is_shown(process, leader, table)


def _identity(pane: Pane, agents: Agents, table: Table, pgid: int) -> Identity:
    """Return the program in the foreground group *pgid*, also an agent that the host knew by its title."""
    if not pgid:
        return NOBODY
    found = process_table.foreground(pgid, agents, table)
    if found.agent is not None or found.doubtful is None or found.process is None:
        return found
    # Other programs have this name too: the host saw a title that proved the agent, for this very process.
    if (found.process.pid, found.doubtful.name) == (pane.agent_pid, pane.conversation.agent):
        return found.as_doubted
    return found


def _foreground_of(pid: int, table: Table) -> int:
    """Return the process group in the foreground of the terminal of *pid*, as far as the table knows."""
    if pid <= 0:
        return 0
    if isinstance(table, ProcTable):
        stat = table.stat(pid)
        return (stat.tpgid or stat.pgrp) if stat is not None else 0
    process = table.get(pid)
    return process.pgrp or pid if process is not None else 0


def is_below(pid: int, root: int, table: Table) -> bool:
    """Return whether *pid* is *root* or descends from it."""
    for _ in range(process_table.MAX_PARENTS):
        if pid == root:
            return True
        process = table.get(pid)
        if process is None or process.ppid <= 0:
            return False
        pid = process.ppid
    return False


def worktree_of(plan_: Plan) -> Base | Refusal:
    """Return the worktree that *plan_* would run in, or why there can be none. It runs git, which may take a while."""
    if plan_.method is Method.LATEST:
        return Refusal("worktree", "without its session id the conversation cannot be found from a new directory")
    if plan_.is_local:
        return Refusal("worktree", f"{plan_.display} can resume a conversation only in the directory where it was held")
    return worktrees.inspect(plan_.cwd)


def complete(offer: ForkPage) -> None:
    """Look up the worktree for the page of *offer*, once a person wants one."""
    if offer.wants_worktree and offer.worktree is None and isinstance(offer.found, Plan):
        offer.worktree = worktree_of(offer.found)


def _path(env: Mapping[str, str]) -> str:
    return env.get("PATH") or os.environ.get("PATH", "")


def _program(name: str, path: str, process: Process | None) -> str:
    """Return the program *name* in *path*, else the executable of the running agent, if it has that name."""
    own = process.exe if process is not None and base_name(process.exe) == name else ""
    return find_program(name, path) or find_program(own, "")


def _file(path: Path) -> ProgramFile | None:
    """Return the identity of the file at *path*, which may be a link; None if it is gone."""
    try:
        link, file = path.lstat(), path.stat()
    except OSError:
        return None
    return ProgramFile(file.st_dev, file.st_ino, max(link.st_ctime, file.st_ctime))


def attached(pane: Pane) -> tuple[str, ...] | Refusal:
    """Return the argument list that shows the session of *pane*, which has no terminal, in this one."""
    found = act(Verb.ATTACH, pane, load_agents(os.environ)[0], pgid=pane.agent_pid or 0)
    return found if isinstance(found, Refusal) else found.argv


def forked(pane: Pane) -> Refusal | None:
    """Return why the conversation of *pane* is not forked, as it is now; None if it can be."""
    return _refused(Verb.FORK, pane, "forked")


def resumed(pane: Pane) -> Refusal | None:
    """Return why the conversation of *pane* is not resumed, as it is now; None if it can be."""
    return _refused(Verb.RESUME, pane, "resumed")


def _refused(verb: Verb, pane: Pane, how: str) -> Refusal | None:
    """Return why *verb* is refused for *pane* now, with *how* as the word for it; None if it is not."""
    found = act(verb, pane, load_agents(os.environ)[0])
    return Refusal(found.rule, f"not {how}: {found.text}") if isinstance(found, Refusal) else None
