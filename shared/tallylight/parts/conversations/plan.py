"""
A plan: the argument list that continues a pane's conversation, its directory and its source; or the rule against it.

`plan` examines a `Scene`: the processes of the pane at this moment, the host's memory of its agents, and the program's
own request. For a fork and for a resume, in this order:

1. the program's own request: OSC 88 before OSC 26; if the gate refuses it, the plan has a note;
2. the agent's data file with the session id, from its own status file, a hook or a report;
3. the data file's list for the latest conversation of the directory, with a note.

The agent's wrapper, such as a sandbox, also precedes the new command: unchanged, if its own words end with those of the
agent. A wrapper that starts its agent in another way, such as `make`, cannot continue this conversation.

For a stranger, without an agent file, only the first counts, and the file of its own process runs.

A fork needs a running agent. A resume may also continue one that has ended, if the host had seen its process.
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
from tallylight.agents.options import dangerous_flags, is_option, kept_options, runs
from tallylight.evidence.commands import arguments, is_relayed
from tallylight.evidence.foreground import NOBODY, Identity, leads_to
from tallylight.evidence.ordinary import is_shell
from tallylight.evidence.process import Process, base_name
from tallylight.evidence.stranger import stranger
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.wire.text import sanitise

#: The start of the title of a forked, resumed or attached pane: signs that common fonts have. Some are drawn over the
#: next blank, so that there are two.
MARKS = {"fork": "⎇", "resume": "↻", "attach": "▸"}
#: The longest title of the new pane, in cells.
FORK_TITLE_CELLS = 60


class Verb(enum.StrEnum):
    """The kind of continuation."""

    FORK = "fork"
    RESUME = "resume"
    ATTACH = "attach"

    @property
    def mark(self) -> str:
        """The start of the title of the new pane."""
        return MARKS[self.value]


class Method(enum.StrEnum):
    """The source of the argument list, in words for a person."""

    SAID = "as the program itself asked"
    SESSION = "by its session id"
    LATEST = "the latest conversation of this directory"


@attrs.frozen
class ProgramFile:
    """The identity of a program's file, and when it was last replaced, in seconds since 1970."""

    device: int
    inode: int
    changed_at: float


@attrs.frozen(kw_only=True)
class Plan:
    """
    A command that continues a conversation. `argv[0]` is the agent's name until that program was found, in *file*.

    *display* is the agent's usual name. *pid* and *start* identify its process, None for an ended agent. *relayed*: it
    ran with our relay, and so will this. *notes* are sentences for the person to read first; *env* goes into the new
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
    #: The words of the agent's wrapper, and its process.
    front: tuple[str, ...] = ()
    front_pid: int | None = None
    relayed: bool = False
    #: The conversation cannot be found from another directory.
    is_local: bool = False
    #: Options of the running agent that are dropped and may have restricted it.
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: dict[str, str] = attrs.field(factory=dict)
    file: ProgramFile | None = None

    @property
    def warning(self) -> str:
        """The lost options, as a sentence; empty if there are none."""
        return f"Not kept: {', '.join(self.lost)}." if self.lost else ""

    def is_same(self, other: Plan) -> bool:
        """Return whether both would run the same, for the very same process. A title may change meanwhile."""
        what = attrgetter("argv", "lost", "cwd", "pid", "start", "file", "env")
        return bool(what(self) == what(other))


@attrs.frozen(kw_only=True)
class Scene:
    """
    A *pane* at one moment. Its reports (agent, session, lists for fork and resume) prove nothing.

    *identity* is its foreground in the process table, *in_tree* whether that process is below the pane's own;
    *process_cwd* its working directory. *program* is the file of an agent without an agent file. *wrappers* are the
    processes in front of the agent, the nearest first; *server* is one of them that outlives its terminal.
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
        """The agent's process, if identified for certain."""
        return self.identity.process if self.identity.agent is not None and self.identity.is_direct else None

    def known(self, agent: Agent) -> ConversationEntry:
        """
        Return the host's memory of *agent*'s own run here, completed from its report and its process.

        A folder that the agent reports through the terminal counts only if the agent itself works in it.
        """
        pane = self.pane
        entry = pane.conversation if pane.conversation.agent == agent.name else ConversationEntry()
        is_its = pane.agent in ("", agent.name)
        reported, folder = (pane.session, pane.cwd.rstrip("/")) if is_its else ("", "")
        cwd = entry.cwd or self.process_cwd
        is_around = folder == posixpath.normpath(folder) and f"{cwd}/".startswith(f"{folder}/")
        return attrs.evolve(entry, session=entry.session or reported, cwd=folder if is_around else cwd)


@refuses
def plan(verb: Verb, scene: Scene, agents: Agents) -> Plan:
    agent = must(_identified(verb, scene, agents))
    front = must(_front(verb, scene, agent))
    found = must(_continued(verb, scene, agent))
    return attrs.evolve(found, front=front.argv, front_pid=front.pid) if front is not None else found


def _continued(verb: Verb, scene: Scene, agent: Agent) -> Plan | Refusal:
    """
    Return the plan that runs *agent* itself, as if it had no wrapper.

    The list is the program's own request, else one of the agent's data file, with the options that restrict the agent.
    """
    process = scene.process
    flags = dangerous_flags(process.argv[1:], agent) if process is not None else scene.pane.conversation.flags
    known = scene.known(agent)
    if not known.cwd:
        return Refusal("directory", "the directory of this conversation is not known")
    template, words, session = _lists_for(verb, scene.pane, agent, known.session)
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
        notes=tuple(_notes(verb, scene, agent, method, asked, known.cwd)),
    )


def _lists_for(verb: Verb, pane: Pane, agent: Agent, session: str) -> tuple[Template, Sequence[str], str]:
    """Return the argument lists of *agent* for *verb*, the list that the program asked for, and the *session* id."""
    if verb is Verb.ATTACH:
        # A host names a session without a pane by the word that opens it.
        return agent.attach, (), pane.id.partition("/")[2] or session
    if verb is Verb.FORK:
        return agent.fork, pane.commands.fork, session
    return agent.resume, pane.commands.resume, session


def _front(verb: Verb, scene: Scene, agent: Agent) -> Process | Refusal | None:
    """Return the agent's wrapper, with only the words before the agent's own; None without one."""
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
    """Return the refusal for an agent behind a *wrapper* that starts it in its own way."""
    name = base_name(wrapper.argv[0] if wrapper.argv else wrapper.exe or wrapper.comm)
    return Refusal("wrapper", f"{agent.display} runs behind {name}, which has no option to {verb} a conversation")


def _identified(verb: Verb, scene: Scene, agents: Agents) -> Agent | Refusal:
    """Return the agent with a process there or, for a resume, the one that was there."""
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
    """Return why no agent in *found* can be continued: the words of a refusal."""
    if found.stranger:
        return f"{found.stranger} has no agent file, and did not report how to continue"
    leader = found.leader or found.process
    if leader is not None and not found.is_shell:
        name = base_name(leader.argv[0] if leader.argv else leader.exe or leader.comm)
        return f"{name} runs in this pane, and is not known as an agent"
    return "no agent runs in this pane"


def _allowed(agent: Agent, program: str) -> Agent | Refusal:
    """Return *agent*, or a refusal if one of its names, or *program*, may never be started."""
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
    """Return the list that the program requested, filled."""
    must(check_said_program(words[0], agent, process))
    filled = must(fill(words, values, agent))
    running = process.argv[1:] if process is not None else ()
    must(check_dangerous(filled[1:], agent, flags))
    must(check_said(filled[1:], template, agent, running, values["cwd"]))
    return filled


def _known(
    verb: Verb, template: Template, agent: Agent, values: Mapping[str, str], flags: Sequence[str]
) -> tuple[tuple[str, ...], Method] | Refusal:
    """Return the list of the data file, filled."""
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
    Return *argv* with the options that restrict the agent of *scene*, in order; and the names of lost ones.

    Each option must pass the gate as if the program had requested it. If it did, the option occurs only once.
    """
    process, entry = scene.process, scene.pane.conversation
    if template is agent.attach:
        return argv, ()  # it is only shown, as it is
    running = arguments(process.argv, process.exe, process.comm) if process is not None else entry.options
    found = kept_options(running, agent)
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
    # Options in the program's own request are not lost.
    has, had = _names(argv), _names(running)
    return words, tuple(name for name in dict.fromkeys(lost) if not 0 < had[name] <= has[name])


def _names(words: Sequence[str]) -> Counter[str]:
    return Counter(word.partition("=")[0] for word in words if is_option(word))


def _name(pane: Pane) -> str:
    """Return the name of a pane without a mark of ours."""
    name = sanitise(pane.project or posixpath.basename(pane.conversation.cwd.rstrip("/")), cells=FORK_TITLE_CELLS)
    for mark in MARKS.values():
        name = name.strip().removeprefix(mark)
    return name.strip()


def _notes(
    verb: Verb, scene: Scene, agent: Agent, method: Method, asked: tuple[str, ...] | Refusal | None, cwd: str
) -> list[str]:
    """Return the sentences that a person has to read before they start the plan."""
    notes = []
    if isinstance(asked, Refusal):
        notes.append(f"The program asked for something else, which is refused: {asked.text}.")
    if scene.program:
        notes.append(f"{agent.display} has no agent file: it supplied this command itself.")
    if method is Method.SAID and scene.pane.cwd.rstrip("/") not in ("", cwd.rstrip("/")):
        notes.append(f"It reports the directory {scene.pane.cwd}, which is not used: it does not work below that.")
    if method is Method.LATEST:
        notes.append(
            f"It is the latest conversation of this directory, and may belong to another {agent.display} there."
        )
    if verb is Verb.RESUME and scene.process is not None:
        notes.append(f"{agent.display} still runs in this pane, and both would continue one conversation.")
    return notes
