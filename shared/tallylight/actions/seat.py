"""
The seat: whether a person sits at the terminal of a pane, or came in by a login, as far as the kernel proves it.

A program gets a person's keys where it has the terminal of its pane and no agent is in its line (`actions.caller`). Its
pane counts if a shell at its prompt began it, so that somebody typed there. A terminal that opens the list by a key may
begin one with that. And somebody must look at that pane:

* the pane of a server, as of tmux: by an attached client, which itself is a person's. So no program counts as a person
  in a session that an agent has made. The kernel reports who is attached, never the server;
* the window of a terminal: its own line has no agent, no scheduler, and no other terminal that started it outside of a
  pane. Most desktops leave no line behind; then the environment that they gave it decides. An environment of a pane
  proves that a program started it; without one nothing is proved, and docs/security.md explains it;
* a login over the network: by a connection from another machine, or from a program of this one that is a person's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import attrs

from tallylight.actions.caller import Being, Caller, End, Who, end_of, line_of
from tallylight.evidence import ports, process_table
from tallylight.evidence.commands import SHELLS
from tallylight.evidence.process import TERMINALS, Process, program_of, script_name
from tallylight.evidence.process_table import Table

#: Returns the caller behind a process.
Identify = Callable[[int], Caller]
#: The terminals with panes that nobody need look at, and the programs that show them.
_SERVERS: Mapping[str, str] = {
    "screen": "screen",
    "tmux": "tmux",
    "wezterm-mux-server": "wezterm-gui",
    "zellij": "zellij",
}
#: Terminals that open the list or the panel by a person's key: in a popup, an overlay or a split.
_OPEN_LISTS = frozenset({"kitty", "wezterm-gui", *_SERVERS})
_OPENED, _QUOTED = frozenset({"agents", "attach", "panel"}), re.compile("'([a-z]+)'")
_PROMPTS = SHELLS | {"elvish", "nu", "pwsh", "tcsh", "csh", "xonsh"}
#: Options of a shell that still comes to its prompt. kitty gives bash `--posix`.
_PROMPT_OPTIONS = frozenset({"-i", "-l", "-il", "-li", "--interactive", "--login", "--norc", "--noprofile", "--posix"})
#: Programs that start others at a set time, without a person.
_SCHEDULERS = frozenset({"anacron", "at", "atd", "cron", "crond", "fcron"})
#: The variables that terminals set in their panes.
_OF_PANES = frozenset(
    {
        "ALACRITTY_WINDOW_ID",
        "KITTY_WINDOW_ID",
        "KONSOLE_VERSION",
        "STY",
        "TERM_PROGRAM",
        "TMUX",
        "VTE_VERSION",
        "WEZTERM_PANE",
        "WINDOWID",
        "ZELLIJ",
    }
)
#: Values of `TERM` that a desktop may set for all its programs: a console's, and ones that people often set.
_NO_PANE = frozenset({"", "dumb", "linux", "xterm", "xterm-256color"})


def seated(caller: Caller, identify: Identify, table: Table) -> Caller:
    """Return *caller*, as the person if they sit at the terminal of the pane in which the program asks."""
    if (
        _has_terminal(caller, table)
        and _is_begun_at_a_prompt(caller, table)
        and _Seats(identify, table).is_taken(caller)
    ):
        return attrs.evolve(caller, who=Who.PERSON)
    return caller


def let_in(caller: Caller, identify: Identify, table: Table) -> Caller:
    """Return *caller*, as the person if they came in from elsewhere: by a login, or from outside of this container."""
    is_login = caller.who is Who.SCRIPT and caller.end is End.LOGIN
    return attrs.evolve(caller, who=Who.PERSON) if is_login and _Seats(identify, table).is_taken(caller) else caller


def _has_terminal(caller: Caller, table: Table) -> bool:
    """Return whether the program that asks has the terminal of its pane, and no agent is in its line."""
    is_script = caller.who is Who.SCRIPT and bool(caller.terminal)
    return is_script and process_table.terminal(caller.asker[0], table) == caller.terminal


def _is_begun_at_a_prompt(caller: Caller, table: Table) -> bool:
    """Return whether somebody typed a command there, or pressed a key of the terminal that opens the list."""
    if caller.end is not End.TERMINAL:
        return True
    asker, first, terminal = _pane_of(caller, table)
    if terminal is not None and program_of(terminal) in _OPEN_LISTS and asker is not None and _is_list(asker):
        return True
    if first is not None and first.comm == "login":
        # Where a terminal has login(1) begin its panes, the shell is the next process.
        first = next((one for one, above, _ in line_of(caller.asker[0], table) if above == first), None)
    if first is None or program_of(first) not in _PROMPTS:
        return False
    return _PROMPT_OPTIONS.issuperset(first.argv[1:]) and process_table.reads_terminal(first.pid, table)


def _is_list(process: Process) -> bool:
    """
    Return whether *process* is a list or panel by its own arguments; kitty's Python runs it by our package's name.
    """
    words = list(process.argv)
    known = next((at for at, word in enumerate(words) if script_name(word) == "tally" or "tallylight" in word), None)
    return known is not None and not _OPENED.isdisjoint([*words[known:], *_QUOTED.findall(words[known])])


def _pane_of(caller: Caller, table: Table) -> tuple[Process | None, Process | None, Process | None]:
    """Return the process that asks, the first one of its pane, and the terminal."""
    first = table.get(caller.being[0])
    return table.get(caller.asker[0]), first, table.get(first.ppid) if first is not None else None


@attrs.define
class _Seats:
    """Finds the persons at terminals, by the processes of *table*; *identify* returns the caller behind each."""

    identify: Identify
    table: Table
    #: The panes found so far; the one that is being checked counts as unseen.
    _known: dict[Being, bool] = attrs.Factory(dict)

    def is_taken(self, caller: Caller) -> bool:
        """Return whether a person looks at the pane of *caller*, or came in by the login above *caller*."""
        if caller.being not in self._known:
            self._known[caller.being] = False
            self._known[caller.being] = self._is_seen(caller)
        return self._known[caller.being]

    def _is_seen(self, caller: Caller) -> bool:
        """
        Return whether a person looks at the pane of *caller*: by an attached client, in its terminal, or after a login.
        """
        if caller.end is not End.TERMINAL:
            return caller.end is End.OWN or self._is_let_in(caller)
        _, _, terminal = _pane_of(caller, self.table)
        if terminal is None:
            return False
        client = _SERVERS.get(program_of(terminal))
        if client is None:
            return self._is_opened(terminal)
        return any(self._shows(one, terminal) for one in self._running(client) if one.pid != terminal.pid)

    def is_person(self, pid: int) -> bool:
        """Return whether a person runs the process *pid* in a terminal."""
        caller = self.identify(pid)
        return _has_terminal(caller, self.table) and self.is_taken(caller)

    def _running(self, program: str) -> Iterator[Process]:
        """Yield the processes of *program*."""
        found = map(self.table.get, process_table.pids(self.table))
        return (process for process in found if process is not None and program_of(process) == program)

    def _shows(self, client: Process, server: Process) -> bool:
        """Return whether *client* is attached to *server*, and a person sits at it."""
        if not (ports.is_linked(client.pid, server.pid, self.table) or self._has_opened_terminal(client, server)):
            return False
        if program_of(client) not in _SERVERS:
            return self._is_opened(client)
        # A host of ours joins a session, too, but gives it no key.
        return process_table.reads_terminal(client.pid, self.table) and self.is_person(client.pid)

    def _has_opened_terminal(self, client: Process, server: Process) -> bool:
        """
        Return whether *server*, a GNU Screen, has opened the terminal of *client*: its clients keep no connection.

        It must be the only server that has, for a second one might be anybody's.
        """
        if program_of(server) != "screen":
            return False
        opened = {one.pid: process_table.open_files([one.pid], self.table) for one in self._running("screen")}
        terminals = {
            path
            for path in opened.get(server.pid, ())
            if path.startswith("/dev/") and process_table.is_on_terminal(client.pid, path, self.table)
        }
        holders = {pid for pid, paths in opened.items() if not terminals.isdisjoint(paths)}
        return holders - {client.pid} == {server.pid}

    def _is_opened(self, terminal: Process) -> bool:
        """Return whether a person may have opened *terminal*, as far as its starters are known."""
        line: list[Process] = []
        for process, above, _ in line_of(terminal.pid, self.table):
            line.append(process)
            if end_of(process, above, self.table) is not None:
                break
        starters = {program_of(process) or process.comm for process in line[1:]}
        caller = self.identify(terminal.pid)
        if caller.who not in (Who.SCRIPT, Who.UNKNOWN) or not starters.isdisjoint(TERMINALS | _SCHEDULERS):
            return False
        if caller.who is Who.SCRIPT:
            return self.is_taken(caller)
        return not any(self._is_of_a_pane(process) for process in line if process.pid != 1)

    def _is_of_a_pane(self, process: Process) -> bool:
        """Return whether *process* was started with the environment of a pane."""
        environ = self.table.environ(process.pid)
        # A login by mosh has the name of the far terminal.
        is_named = program_of(process) != "mosh-server" and environ.get("TERM", "") not in _NO_PANE
        return is_named or not _OF_PANES.isdisjoint(environ)

    def _is_let_in(self, caller: Caller) -> bool:
        """Return whether the login of *caller* is at a console of this machine, or from a person's terminal."""
        inside: list[Process] = []
        login: Process | None = None
        for process, above, _ in line_of(caller.asker[0], self.table):
            inside.append(process)
            if end_of(process, above, self.table) is End.LOGIN:
                login = above
                break
        if login is None or (program_of(login) or login.comm) == "login":
            return True
        # The server of the login sets this in its first process; the kernel then confirms the connection.
        told = (self.table.environ(process.pid).get("SSH_CONNECTION", "") for process in reversed(inside))
        ends = ports.parse_connection(next(filter(None, told), ""))
        near = ports.near_end(*ends) if ends is not None else ()
        return near is None or (bool(near) and all(map(self.is_person, near)))
