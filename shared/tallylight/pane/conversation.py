"""
The conversation of a pane: how the last agent there could be continued, with its session, directory and options.

It outlives the agent, so that it can be resumed after a crash. Only an agent in the foreground may fill it, so that
text printed into a plain shell cannot. A session id from the agent's own status file is not replaced by one that came
through the terminal. Nor does a directory that came through the terminal take the place of the agent's own: commands
run where its status file says, else where its process works. One that came with a command is kept beside that.

A stranger, which is an agent without an agent file, has a conversation once it has reported how to continue it.
"""

from __future__ import annotations

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.options import dangerous_flags, kept_options, remembered
from tallylight.evidence.commands import arguments, is_relayed
from tallylight.evidence.foreground import NOBODY, Identity, leads_to
from tallylight.evidence.process import Process, base_name, places
from tallylight.evidence.process_table import Table
from tallylight.evidence.stranger import process_and_file, stranger
from tallylight.model.report import Report, Source
from tallylight.snapshot.schema import ConversationEntry
from tallylight.wire import osc26, osc1338

#: How often the process of a stranger is looked for, when it reports how to continue it.
_STRANGER_LOOKS = 8


@attrs.define
class Conversation:
    """
    The conversation of one pane, held in `entry`.

    `resume` and `fork` are the commands with which the program asked, in this run, to be continued. `resume_cwd` is the
    directory that came with the first one alone.
    """

    table: Table
    entry: ConversationEntry = attrs.field(factory=ConversationEntry)
    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
    resume_cwd: str = ""
    _run: tuple[int, int] = (0, 0)
    #: The agent's own process, once it is known.
    _own: tuple[int, int] = (0, 0)
    _is_listening: bool = False
    _own_session: bool = False
    #: The session id in the last OSC 26 report.
    _said_session: str = ""
    #: The working directory of the agent's process.
    _process_cwd: str = ""
    #: A directory, and the name of the project in it.
    _named: tuple[str, str] = ("", "")
    #: The arguments that were last read, and their agent.
    _read: tuple[tuple[str, ...], Agent] | None = None
    #: A stranger in the foreground that has no conversation yet, and how often its process may still be looked for.
    _stranger: Identity = NOBODY
    _looks: int = 0
    #: The process of a stranger with a conversation.
    _pid: int | None = None

    @property
    def strangers_pid(self) -> int | None:
        """
        Return the process of an agent in the foreground without an agent file, once it has reported how to resume it;
        else None.
        """
        return self._pid if self._is_listening else None

    @property
    def unnamed(self) -> str:
        """The agent's directory while its project has no name yet; empty if it has one, or there is no directory."""
        return self.entry.cwd if self.entry.cwd != self._named[0] else ""

    @property
    def project(self) -> str:
        """The name of the agent's project, or of its directory until that is known; empty without an agent."""
        return self.entry.cwd.rstrip("/").rpartition("/")[2] if self.unnamed else self._named[1]

    def name_project(self, name: str) -> None:
        """Take *name* for the project in the agent's directory."""
        self._named = self.entry.cwd, name

    def began(self, found: Identity, cwd: str) -> None:
        """Note that the agent of *found*, working in *cwd*, holds the foreground: of a new run, or of the same one."""
        first, agent = found.leader or found.process, found.agent
        if first is None:
            return
        if found.stranger:
            self._is_listening = (
                first.run == self._run and bool(self.entry.program) and self.entry.agent == found.stranger
            )
            self._stranger, self._looks = (NOBODY, 0) if self._is_listening else (found, _STRANGER_LOOKS)
        elif agent is not None:
            self._continue_or_begin(found, first, agent, cwd)

    def _continue_or_begin(self, found: Identity, first: Process, agent: Agent, cwd: str) -> None:
        """Take in *agent*, started by the command *first*: begin another conversation, or go on with the same."""
        if self._is_next(found, first) or self.entry.program:
            had = places(self.table.environ((found.process or first).pid))
            where = tuple(f"{name}={value}" for name, value in had.items())
            self._begin(first.run, ConversationEntry(agent=agent.name, cwd=cwd, places=where))
        elif self.entry.cwd == self._process_cwd:
            self.entry = attrs.evolve(self.entry, cwd=cwd)
        if found.is_direct and found.process is not None:
            self._own = found.process.run
        self._process_cwd, self._is_listening = cwd, True
        self.entry = attrs.evolve(self.entry, relayed=is_relayed(first.argv))
        if found.is_direct:
            self._read_arguments(found.process or first, agent)
            self._note_front(found, first, agent)

    def _read_arguments(self, process: Process, agent: Agent) -> None:
        """Note those arguments of *agent* with which it may be started again."""
        if (process.argv, agent) == self._read:
            return
        self._read = process.argv, agent
        kept = remembered(kept_options(arguments(process.argv, process.exe, process.comm), agent))
        flags, options = dangerous_flags(process.argv[1:], agent), tuple(word for run in kept.kept for word in run)
        self.entry = attrs.evolve(self.entry, flags=flags, options=options, lost=kept.lost)

    def _is_next(self, found: Identity, first: Process) -> bool:
        """Return whether another run begins: *first* may lead to one agent after the other, as an editor does."""
        own = found.process.run if found.is_direct and found.process is not None else (0, 0)
        return first.run != self._run or ((0, 0) not in (own, self._own) and own != self._own)

    def _note_front(self, found: Identity, first: Process, agent: Agent) -> None:
        """Note the program that started *agent*: it may restrict the agent, and cannot be started again with it."""
        if found.is_behind and not leads_to(first, agent):
            name = base_name(first.argv[0] if first.argv else first.exe or first.comm)
            self.entry = attrs.evolve(self.entry, lost=tuple(dict.fromkeys((*self.entry.lost, name))))

    def _begin(self, run: tuple[int, int], entry: ConversationEntry) -> None:
        """Begin the conversation of another run, with nothing known but *entry*."""
        self._run, self.entry = run, entry
        self._own_session, self._said_session, self._read, self._pid, self._own = False, "", None, None, (0, 0)
        self.resume, self.fork, self.resume_cwd = (), (), ""

    def _begin_for_stranger(self) -> None:
        """Begin a conversation for the stranger in the foreground, if there is one and its process is found."""
        found, self._looks = self._stranger, self._looks - 1
        first = found.leader or found.process
        own = process_and_file(found, self.table) if self._looks >= 0 else None
        if first is None or own is None:
            return
        process, file = own
        name = found.stranger
        entry = ConversationEntry(
            agent=name,
            cwd=self.table.cwd(process.pid),
            program=file,
            relayed=is_relayed(first.argv),
            lost=kept_options(arguments(process.argv, process.exe, process.comm), stranger(name)).lost,
        )
        self._begin(first.run, entry)
        self._stranger, self._pid, self._is_listening = NOBODY, process.pid, True

    def ended(self) -> None:
        """Note that no agent holds the foreground any more."""
        self._is_listening, self._stranger = False, NOBODY

    def take(self, report: Report) -> None:
        """Take session, directory and commands from a report about the pane itself."""
        if report.id or report.status is None:
            return
        if (report.resume or report.fork) and report.agent in ("", self._stranger.stranger):
            self._begin_for_stranger()
        if not self._is_listening or report.agent not in ("", self.entry.agent):
            return
        is_own = report.source is Source.REGISTRY
        if self._names_session(report) and (is_own or not self._own_session):
            self._own_session = is_own
            self.entry = attrs.evolve(self.entry, session=report.session)
        if report.cwd and is_own:
            self.entry = attrs.evolve(self.entry, cwd=report.cwd)
        if report.source is Source.PROTOCOL:
            self.resume, self.fork, self.resume_cwd = report.resume, report.fork, ""

    def _names_session(self, report: Report) -> bool:
        """Return whether *report* has a session id, or takes one back: a key that OSC 26 leaves out is withdrawn."""
        if report.rule != osc26.RULE:
            return bool(report.session)
        before, self._said_session = self._said_session, report.session
        return bool(report.session) or self.entry.session == before

    def name_session(self, session: str) -> None:
        """Take *session* from the agent's transcript, unless another source has named one."""
        if self._is_listening and session and not self.entry.session:
            self.entry = attrs.evolve(self.entry, session=session)

    def set_resume(self, recipe: osc1338.Recipe) -> None:
        """Keep the *recipe* with which the program asked to be resumed; an empty one withdraws it."""
        if recipe.argv:
            self._begin_for_stranger()
        if self._is_listening:
            self.resume, self.resume_cwd = recipe.argv, recipe.cwd
