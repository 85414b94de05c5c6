"""
The foreground of a pane: an agent, another machine, or nothing of interest.

The leader of the foreground process group goes in, then the processes behind it: the rest of its pipeline, and their
children. An `Identity` comes out. A leader that is an agent is the agent of the pane. Behind any other leader it is the
first agent in the foreground of a terminal. In front of it may be a shell without job control, a task runner, a
sandbox, or an editor with a terminal in it. Where the leader names an agent, only that one counts. The rules:

* A name is the base name of argv[0] or of the executable. `comm` comes last: Node 24 calls its main thread
  `MainThread`.
* An interpreter is named by its script; see `evidence.commands`. A shell counts as one: `bash ~/bin/codex` is codex,
  because a person named a script so, and its children are in the same group.
* A generic script (`cli.js`, `index.js`) and a program that is called by a version number are named by their path.
* A name that other programs have too needs a second sign of the agent's.
* An agent's own arguments may show that it is none: `claude mcp serve`, `codex app-server`, `--version`.
* The children of such an agent are its own, and so are another agent's: they are not read.
* Processes in a terminal are not read either: they are in panes of its own.
* Every process behind ssh, docker or similar is of another machine: `is_remote`.
* A program that no file names, and that is none of the best known (`evidence.ordinary`), may still be an agent: it is
  `unknown`, and `evidence.unknown` decides by its behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.commands import SHELLS, Chain, Invocation, far_name, interpreter_name, is_remote, unwrap
from tallylight.evidence.ordinary import is_ordinary, is_shell, own_name
from tallylight.evidence.process import (
    GENERIC_SCRIPTS,
    TERMINALS,
    Process,
    base_name,
    is_version,
    program_of,
    script_name,
)
from tallylight.model import attributes
from tallylight.model.status import Status


@attributes.frozen
class Identity:
    """
    The program in the foreground; *agent* is None if it is no agent of this machine.

    *process* is the agent's own process as far as it is known, else the one in front of it (`is_direct` is False).
    *leader* is another process if the agent was found behind it. *doubtful* is an agent with a fitting name, but
    without its second sign: a title may still give it. *is_open*: the processes behind the leader may show more.
    *unknown* is the name of a program that may be an agent, although no agent file names it. *speaks*: the process is
    surely the agent itself, and no script of its name, and it shows when it is idle. *is_candidate*: no agent file
    names the program, and it behaves like an agent. *far*: the name of the machine or container that it leads to, as it
    was typed. *is_drawn*: another program draws the agent's terminal, and may take keys itself; only
    `process_table.foreground` finds that out.
    """

    leader: Process | None = None
    agent: Agent | None = None
    process: Process | None = None
    is_direct: bool = False
    is_remote: bool = False
    is_open: bool = False
    doubtful: Agent | None = None
    rule: str = ""
    unknown: str = ""
    speaks: bool = False
    is_candidate: bool = False
    far: str = ""
    is_drawn: bool = False

    @property
    def is_behind(self) -> bool:
        """Return whether the agent's process was found behind another one, which leads the foreground."""
        return self.process is not None and self.leader is not None and self.process.pid != self.leader.pid

    @property
    def is_shell(self) -> bool:
        """Return whether it is a shell that runs nothing in the foreground."""
        process = self.process
        chain = unwrap(process.argv, process.exe, process.comm) if process is not None else Chain(())
        return bool(chain.invocations) and not chain.is_open and all(one.name in SHELLS for one in chain.invocations)

    def with_title(self, title: str) -> Identity:
        """Return the same, with the doubtful agent if *title* is its second sign."""
        if self.agent is None and self.doubtful is not None and title.startswith(self.doubtful.sign.titles or ("\0",)):
            rule = f"{self.rule}, and its title"
            return _with_speaks_flag(attributes.evolve(self.as_doubted, rule=rule))
        return self

    @property
    def as_doubted(self) -> Identity:
        """The same with the doubtful agent, after another sign has confirmed it."""
        return attributes.evolve(self, agent=self.doubtful, doubtful=None, is_direct=True, unknown="")

    @property
    def suspect(self) -> str:
        """The name of a program that may be an agent, or may show one of another machine; "" if it is neither."""
        return self.unknown or (self.rule.partition(" ")[0] if self.is_remote else "")

    @property
    def stranger(self) -> str:
        """The name of a program that no agent file knows, also of a candidate; "" if one does."""
        return self.unknown if self.doubtful is None else ""


NOBODY = Identity()


def identify(
    processes: Sequence[Process], agents: Agents, between: Callable[[Process], Iterable[Process]] = lambda _: ()
) -> Identity:
    """
    Return the identity in the foreground with these *processes*: the group's leader, then those shown behind it.

    *between* returns the processes between the leader and one behind it. If the leader is gone (`cat notes | claude`),
    the rest of the group takes its place, in the order given.
    """
    return _with_speaks_flag(_identify(processes, agents, between)) if processes else NOBODY


def leads_to(process: Process, agent: Agent) -> bool:
    """Return whether *process* only starts *agent*: a shell, a script, or the agent by its own name."""
    chain = unwrap(process.argv, process.exe, process.comm)
    return chain.is_open or is_shell(process) or _identify_one(process, Agents((agent,))).agent is not None


def _with_speaks_flag(found: Identity) -> Identity:
    """Return *found* with its flag `speaks`."""
    agent, process = found.agent, found.process or found.leader
    if agent is None or process is None:
        return found
    tells = agent.registry or agent.title_rules or any(rule.status is Status.IDLE for rule in agent.screen_rules)
    program = base_name(process.exe)
    is_sure = program in agent.processes or interpreter_name(program) in agent.interpreters
    return attributes.evolve(found, speaks=bool(tells) and is_sure)


def _identify(
    processes: Sequence[Process], agents: Agents, between: Callable[[Process], Iterable[Process]]
) -> Identity:
    """Return the identity of the first agent among *processes*, as far as *between* does not rule it out."""
    first, rest = processes[0], processes[1:]
    found = _identify_one(first, agents)
    if first.pgrp and first.pid != first.pgrp:
        everyone = (found, *(_identify_one(process, agents) for process in rest))
        return attributes.evolve(next((one for one in everyone if one.agent), found), leader=None)
    for process in rest if found.is_open else ():
        if process.argv and interpreter_name(process.argv[0]) in SHELLS:
            continue  # a shell may start an agent, and is none
        behind = _identify_one(process, agents)
        if behind.agent is None or not behind.is_direct or found.agent not in (None, behind.agent):
            continue
        if all(_identify_one(one, agents).is_open for one in between(process)):
            return attributes.evolve(behind, leader=first, rule=behind.rule if found.agent is None else found.rule)
    return found


def _identify_one(process: Process, agents: Agents) -> Identity:
    """Return the identity of *process* alone, by the programs in its arguments."""
    chain = unwrap(process.argv, process.exe, process.comm)
    is_terminal = (program_of(process) or process.comm) in TERMINALS
    found = Identity(leader=process, process=process, is_open=not is_terminal)
    doubtful: Agent | None = None
    rule = ""
    for position, invocation in enumerate(chain.invocations):
        agent, is_sure = _named_agent(invocation, process, agents)
        if agent is not None:
            refused = agent.not_args.refuses(invocation.args)
            how = f"the program {invocation.word.rpartition('/')[2]}"
            if invocation.is_package:
                how = f"the package {invocation.word}"
            elif invocation.interpreter:
                how = f"the script {invocation.name} of {invocation.interpreter}"
            rule = f"{agent.name} by {how}"
            if refused:
                return attributes.evolve(found, is_open=False, rule=f"{rule}, but {refused} is not a conversation")
            if is_sure:
                is_itself = is_direct(chain, position)
                return attributes.evolve(found, agent=agent, is_direct=is_itself, is_open=not is_itself, rule=rule)
            doubtful = doubtful or agent
        elif is_remote(invocation):
            rule = f"{invocation.name} leads to another machine"
            return attributes.evolve(found, is_remote=True, is_open=False, far=far_name(invocation), rule=rule)
    unknown = "" if is_ordinary(chain) else own_name(chain)
    return attributes.evolve(found, doubtful=doubtful, rule=rule, unknown=unknown)


def is_direct(chain: Chain, position: int) -> bool:
    """
    Return whether the process itself is the agent: in front of it is at most an interpreter that runs nothing else.
    """
    invocation = chain.invocations[position]
    if invocation.is_package or invocation.interpreter in SHELLS:
        return False  # a script of a shell named as the agent will mostly start the agent
    own = chain.invocations[0].args
    outer = chain.invocations[:position]
    # argv[0] and the executable have the whole argument list; a script has it less its own name.
    if any(one.args is not own for one in outer):
        return False
    is_script = bool(invocation.interpreter) and any(interpreter_name(one.word) for one in outer)
    return invocation.args is own or is_script


def _named_agent(invocation: Invocation, process: Process, agents: Agents) -> tuple[Agent | None, bool]:
    """Return the agent that *invocation* names, and whether that needs no second sign."""
    name = invocation.name
    packaged = agents.with_package(name)
    if packaged is not None and (invocation.is_package or name.startswith("@")):
        return packaged, True
    doubtful: Agent | None = None
    for agent in agents.with_process(name):
        if name in agent.processes or invocation.is_package or _has_sign(agent, invocation, process):
            return agent, True
        doubtful = doubtful or agent
    is_script = bool(invocation.interpreter)
    is_nameless = script_name(invocation.word) in GENERIC_SCRIPTS if is_script else is_version(name)
    if doubtful is None and is_nameless:
        return next((agent for agent in agents if _lies_in(agent, invocation.word)), None), True
    return doubtful, False


def _lies_in(agent: Agent, path: str) -> bool:
    """Return whether *path* leads into an installation of *agent*."""
    packages = (f"/{name}/" if name.startswith("@") else f"/node_modules/{name}/" for name in agent.packages)
    return any(part in path for part in (*packages, *agent.paths))


def _has_sign(agent: Agent, invocation: Invocation, process: Process) -> bool:
    """Return whether the process has a second sign of *agent* (`Sign`)."""
    sign = agent.sign
    if any(part in path for part in (*sign.paths, *agent.paths) for path in (invocation.word, process.exe)):
        return True
    if invocation.interpreter and invocation.interpreter in sign.interpreters:
        return True
    command = agent.not_args.command(invocation.args)
    return command in sign.commands if command else sign.bare
