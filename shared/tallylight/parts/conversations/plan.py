"""
A plan: which argument list continues a pane's conversation, where, and how that is known; or the rule that forbids it.

`plan` looks at a `Scene`: what the process table says of the pane at this moment, what the host remembers of the agents
with processes that it saw there, and what the program asked for. The order, for a fork and for a resume:

1. what the program asked for itself: OSC 88 before OSC 26; if the gate refuses that, the plan says so;
2. the agent's data file with the session id, which its own status file, a hook or a report told;
3. the data file's list for the latest conversation of the directory, with a note that says so.

What the agent runs behind, a sandbox for one, is before the new command too: as it was, if its own words end with those
of the agent. One that leads to its agent in another way, such as `make`, cannot be asked for this conversation.

Of a stranger, which no agent file names, only the first counts, and what runs is the file of its own process.

A fork needs a living agent. A resume may also continue one that is gone, if the host had seen its process.
"""

from __future__ import annotations

import enum
import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter

import attrs

from tallylight.actions.gate import (
    Refusal,
    check_dangerous,
    check_program,
    check_said,
    check_said_program,
    fill,
    is_denied,
    must,
    refuses,
)
from tallylight.agents.agent import Agent, Agents, Template
from tallylight.agents.options import carried, dangerous_flags, is_option, runs
from tallylight.evidence.commands import arguments, is_relayed
from tallylight.evidence.foreground import NOBODY, Identity, leads_to
from tallylight.evidence.ordinary import is_shell
from tallylight.evidence.process import Process, base_name
from tallylight.evidence.stranger import stranger
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.wire.text import sanitise

#: How a title begins that marks a fork, and a resumed conversation: signs that common fonts have. Some draw them over
#: the blank behind them, so that there are two.
MARKS = {"fork": "⎇", "resume": "↻", "attach": "▸"}
#: Cells of the title of the new pane.
TITLE_CELLS = 60


class Verb(enum.StrEnum):
    """What is asked for."""

    FORK = "fork"
    RESUME = "resume"
    ATTACH = "attach"

    @property
    def mark(self) -> str:
        """How the title of the new pane begins."""
        return MARKS[self.value]


class Method(enum.StrEnum):
    """How the argument list is known, in the words a person reads."""

    SAID = "as the program itself asked"
    SESSION = "by its session id"
    LATEST = "the latest conversation of this directory"


@attrs.frozen
class ProgramFile:
    """The file of a program: what identifies it, and when it was last replaced, in seconds since 1970."""

    device: int
    inode: int
    changed_at: float


@attrs.frozen(kw_only=True)
class Plan:
    """
    What would run. `argv[0]` is the agent's name until the program of that name has been found, in *file*; *display* is
    what people call the agent.

    *pid* and *start* are the process that was identified, None for an agent that is gone. *relayed*: that one ran
    behind our relay, and so will this. *notes* are sentences a person should read first; *env* goes into the new
    program's environment.
    """

    verb: Verb
    argv: tuple[str, ...]
    cwd: str
    agent: str
    display: str
    session: str
    method: Method
    title: str
    pid: int | None = None
    start: int = 0
    #: The words of what the agent runs behind, and the process that has them.
    front: tuple[str, ...] = ()
    front_pid: int | None = None
    relayed: bool = False
    #: Nothing finds the conversation from another directory.
    is_local: bool = False
    #: Options of the running agent that are not kept and may have restricted it.
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: dict[str, str] = attrs.field(factory=dict)
    file: ProgramFile | None = None

    @property
    def warning(self) -> str:
        """What a person must know first: what is lost; nothing if nothing is."""
        return f"Not kept: {', '.join(self.lost)}." if self.lost else ""

    def is_same(self, other: Plan) -> bool:
        """Whether both would run the same, for the very same process. A title may change meanwhile."""
        what = attrgetter("argv", "lost", "cwd", "pid", "start", "file", "env")
        return bool(what(self) == what(other))


@attrs.frozen(kw_only=True)
class Scene:
    """
    A *pane* at one moment. What it has of reports (agent, session, lists for fork and resume) proves nothing.

    *identity* is what the process table says of its foreground, *in_tree* whether that process is below the pane's own;
    *process_cwd* its working directory. *program* is the file of the agent, if no agent file names it. *wrappers* are
    the processes that the agent runs behind, the nearest first; *server* is one of them that outlives its terminal.
    """

    pane: Pane
    identity: Identity = NOBODY
    in_tree: bool = True
    process_cwd: str = ""
    program: str = ""
    wrappers: tuple[Process, ...] = ()
    server: Process | None = None

    @property
    def process(self) -> Process | None:
        """The agent's process, if it is sure which one that is."""
        return self.identity.process if self.identity.agent is not None and self.identity.is_direct else None

    def known(self, agent: Agent) -> ConversationEntry:
        """
        The host's memory of *agent*'s own run here, completed from its report and its process.

        A folder that the agent reports through the terminal counts only if the agent itself works in it.
        """
        pane = self.pane
        entry = pane.conversation if pane.conversation.agent == agent.name else ConversationEntry()
        reported, folder = (pane.session, pane.cwd.rstrip("/")) if pane.agent == agent.name else ("", "")
        cwd = entry.cwd or self.process_cwd
        is_around = folder == posixpath.normpath(folder) and f"{cwd}/".startswith(f"{folder}/")
        return attrs.evolve(entry, session=entry.session or reported, cwd=folder if is_around else cwd)


@refuses
def plan(verb: Verb, scene: Scene, agents: Agents) -> Plan:
    """Plan *verb* for the pane of *scene*."""
    agent = must(_identified(verb, scene, agents))
    front = must(_front(verb, scene, agent))
    found = must(_continued(verb, scene, agent))
    return attrs.evolve(found, front=front.argv, front_pid=front.pid) if front is not None else found


def _continued(verb: Verb, scene: Scene, agent: Agent) -> Plan | Refusal:
    """The plan for *agent* itself, whatever it runs behind."""
    process = scene.process
    flags = dangerous_flags(process.argv[1:], agent) if process is not None else scene.pane.conversation.flags
    known = scene.known(agent)
    if not known.cwd:
        return Refusal("directory", "the directory of this conversation is not known")
    template, words, session = _way(verb, scene.pane, agent, known.session)
    values = {"session": session, "cwd": known.cwd}
    asked = _asked(words, template, agent, process, values, flags) if words else None
    if isinstance(asked, tuple):
        argv, method = (scene.program or asked[0], *asked[1:]), Method.SAID
    elif scene.program:
        return asked or Refusal("method", f"{agent.display} did not report how to {verb} it, and has no agent file")
    else:
        chosen = _known(verb, template, agent, values, flags)
        if isinstance(chosen, Refusal):
            return chosen if asked is None else Refusal(asked.rule, f"{asked.text}; and without that, {chosen.text}")
        argv, method = chosen
    argv, lost = _with_options(argv, template, agent, scene, known.cwd)
    pid, start = (process.pid, process.start) if process is not None else (None, 0)
    return Plan(
        verb=verb,
        argv=argv,
        cwd=known.cwd,
        agent=agent.name,
        display=agent.display,
        session=session if method is Method.SESSION else "",
        method=method,
        title=f"{verb.mark}  {_name(scene.pane) or agent.display}",
        pid=pid,
        start=start,
        relayed=known.relayed,
        is_local=template.is_local,
        lost=lost,
        notes=tuple(_notes(verb, scene, agent, method, asked)),
    )


def _way(verb: Verb, pane: Pane, agent: Agent, session: str) -> tuple[Template, Sequence[str], str]:
    """The lists of *agent* for *verb*, what the program asked for, and what the *session* is called in them."""
    if verb is Verb.ATTACH:
        # The host of a session without a pane calls it by what opens it.
        return agent.attach, (), pane.id.partition("/")[2] or session
    return (agent.fork, pane.fork, session) if verb is Verb.FORK else (agent.resume, pane.resume, session)


def _front(verb: Verb, scene: Scene, agent: Agent) -> Process | Refusal | None:
    """What the agent runs behind, with only the words before the agent's own; None if it is nothing of its own."""
    process, found = scene.process, None
    if process is None or scene.program:
        return None
    if scene.server is not None:
        return _no_way(verb, scene.server, agent)
    running = arguments(process.argv, process.exe, process.comm)
    for wrapper in scene.wrappers:
        before, *own = wrapper.argv[-len(running) - 1 :] or ("",)
        is_named = base_name(before) in (*agent.processes, *agent.generic)
        if is_named and tuple(own) == running and not is_shell(wrapper) and not is_relayed(wrapper.argv):
            found = attrs.evolve(wrapper, argv=wrapper.argv[: len(wrapper.argv) - len(running)])
        elif not leads_to(wrapper, agent):
            return _no_way(verb, wrapper, agent)
    return found


def _no_way(verb: Verb, wrapper: Process, agent: Agent) -> Refusal:
    name = base_name(wrapper.argv[0] if wrapper.argv else wrapper.exe or wrapper.comm)
    return Refusal("wrapper", f"{agent.display} runs behind {name}, which has no option to {verb} a conversation")


def _identified(verb: Verb, scene: Scene, agents: Agents) -> Agent | Refusal:
    """The agent with a process there or, to resume, one that was there."""
    found = scene.identity
    if found.is_remote:
        return Refusal("remote", f"{found.suspect} is in the foreground and shows another machine")
    if found.agent is not None:
        if scene.process is None:
            return Refusal("process", f"{found.agent.display} is named here, but its own process was not found")
        if not scene.in_tree:
            return Refusal("process", f"the process of {found.agent.display} does not belong to this pane")
        return _allowed(found.agent, scene.program)
    known = stranger(scene.pane.conversation.agent) if scene.program else agents.get(scene.pane.conversation.agent)
    if verb is not Verb.RESUME:
        if known is not None:
            return Refusal("process", f"{known.display} no longer runs in this pane; resume continues what it left")
        return Refusal("process", _nobody(found))
    if known is None:
        return Refusal("process", f"{_nobody(found)}; none was seen in it before")
    return _allowed(known, scene.program)


def _nobody(found: Identity) -> str:
    if found.stranger:
        return f"{found.stranger} has no agent file, and did not report how to continue"
    leader = found.leader or found.process
    if leader is not None and not found.is_shell:
        name = base_name(leader.argv[0] if leader.argv else leader.exe or leader.comm)
        return f"{name} is not known as an agent, so what it reports is not used to continue it"
    return "no agent runs in this pane"


def _allowed(agent: Agent, program: str) -> Agent | Refusal:
    names = (*agent.processes, *agent.generic, *([program] if program else ()))
    denied = next((base_name(name) for name in names if is_denied(name)), "")
    if denied:
        return Refusal("deny-list", f"its agent file names {denied}, which runs other programs")
    return agent


@refuses
def _asked(
    words: Sequence[str],
    template: Template,
    agent: Agent,
    process: Process | None,
    values: Mapping[str, str],
    flags: Sequence[str],
) -> tuple[str, ...]:
    """The list that the program asked for, filled."""
    must(check_said_program(words[0], agent, process))
    filled = must(fill(words, values, agent))
    running = process.argv[1:] if process is not None else ()
    must(check_dangerous(filled[1:], agent, flags))
    must(check_said(filled[1:], template, agent, running, values["cwd"]))
    return filled


def _known(
    verb: Verb, template: Template, agent: Agent, values: Mapping[str, str], flags: Sequence[str]
) -> tuple[tuple[str, ...], Method] | Refusal:
    """The list of the data file, filled."""
    if values["session"] and template.by_id:
        words, method = template.by_id, Method.SESSION
    elif template.latest:
        words, method = template.latest, Method.LATEST
    elif template.by_id:
        return Refusal("session", f"its session id is unknown, and {agent.display} cannot {verb} without one")
    else:
        return Refusal("method", f"{agent.display} has no way to {verb} from the command line")
    filled = fill(words, values, agent)
    if isinstance(filled, Refusal):
        return filled
    return check_program(filled[0], agent) or check_dangerous(filled[1:], agent, flags) or (filled, method)


def _with_options(
    argv: tuple[str, ...], template: Template, agent: Agent, scene: Scene, cwd: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    *argv* and behind it the options that restrict the agent of *scene*, in their order; and what of its own is lost.

    Each has to pass the gate as if the program had asked for it, and is there once if the program did ask for it.
    """
    process, entry = scene.process, scene.pane.conversation
    if template is agent.attach:
        return argv, ()  # it is only shown, as it is
    running = arguments(process.argv, process.exe, process.comm) if process is not None else entry.options
    found = carried(running, agent)
    asked = Counter(runs(argv[1:]))
    words, lost = argv, [*(entry.lost if process is None else ()), *found.lost]
    for run in found.kept:
        asked[run] -= 1
        if asked[run] >= 0:
            continue
        if check_said((*words[1:], *run), template, agent, running, cwd) is None:
            words += run
        else:
            lost.append(run[0].partition("=")[0])
    # What the program asked for itself is not lost.
    has, had = _names(argv), _names(running)
    return words, tuple(name for name in dict.fromkeys(lost) if not 0 < had[name] <= has[name])


def _names(words: Sequence[str]) -> Counter[str]:
    return Counter(word.partition("=")[0] for word in words if is_option(word))


def _name(pane: Pane) -> str:
    """What a pane is called, without a mark of ours."""
    name = sanitise(pane.project or posixpath.basename(pane.conversation.cwd.rstrip("/")), cells=TITLE_CELLS)
    for mark in MARKS.values():
        name = name.strip().removeprefix(mark)
    return name.strip()


def _notes(
    verb: Verb, scene: Scene, agent: Agent, method: Method, asked: tuple[str, ...] | Refusal | None
) -> list[str]:
    notes = []
    if isinstance(asked, Refusal):
        notes.append(f"The program asked for something else, which is refused: {asked.text} (rule: {asked.rule}).")
    if scene.program:
        notes.append(f"{agent.display} has no agent file: it supplied this command itself.")
    if method is Method.LATEST:
        notes.append(
            f"It is the latest conversation of this directory, and may belong to another {agent.display} there."
        )
    if verb is Verb.RESUME and scene.process is not None:
        notes.append(f"{agent.display} still runs in this pane, and both would continue one conversation.")
    return notes
