"""
WezTerm's mux server as a source of panes, where the agents of an ssh or unix domain run: `tally host wezterm-mux`.

The GUI knows no process of such a pane, so its sidecar cannot judge it; here, on the server's side, everything is known
but who looks. What is found out goes back as a user variable of the pane, `tally_mux`, which the server hands on to the
GUI: a status and a kind, one of `WORDS`, nothing of a program's. It is written as `terminals` writes, and repeated,
for a GUI that is attached again has lost it. Where an agent speaks for itself (`tally`), the Lua does not look at it.

One a server, in the foreground; it ends with the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tallylight.evidence import process_table
from tallylight.files import read_write
from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.hosts.wezterm import terminals
from tallylight.hosts.wezterm.sidecar import runtime_of
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.hosts.wezterm.terminals import Terminal
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.wire.values import is_number

HOST = "weztermmux"
#: What is told of a lit pane is told again so often, in seconds.
REPEAT_S = 15.0
#: For how long, at each look, a moment is waited for in which it can be written, in seconds.
PATIENCE_S = 0.3
_DARK = ""


def word_of(entry: PaneEntry) -> str:
    """What is told of a pane: `waiting:question`, `working`; nothing for one without a light."""
    if entry.status is Status.ACTIVE or (entry.status is Status.IDLE and entry.reason.source == "shell"):
        return _DARK
    return f"{entry.status.value}:{entry.kind.value}" if entry.kind is not None else entry.status.value


class MuxSource(WezTermSource):
    """All panes of one mux server. There is no Lua of ours in it, and so no feed."""

    def __init__(self, environ: Mapping[str, str], server: int, wezterm: str, table: process_table.Table) -> None:
        super().__init__(environ, server, wezterm, Path("/nonexistent/feed"), table)
        self._words: dict[str, str] = {}
        #: What was written to the terminals of its panes, and when.
        self._written: dict[str, tuple[str, float]] = {}
        #: Those in whose foreground is an agent of this machine or their own shell: the others are not written to.
        self._plain: dict[str, Terminal] = {}

    def note(self, poller: PollingHost) -> None:
        """Note to whose terminals may be written."""
        terminals_ = {id_: terminal for id_ in self._rows if (terminal := self.own_terminal(id_)) is not None}
        self._plain = {
            id_: terminal
            for id_, terminal in terminals_.items()
            if (pane := poller.peek(id_)) is not None
            and (pane.pid == terminal.leader or (pane.agent is not None and not pane.unknown.is_remote))
        }

    def look(self) -> list[SourcePane] | None:
        """The panes of the server; what is to be told to their terminals is, if there is a moment."""
        found = super().look()
        self._tell_terminals()
        return list(found) if found is not None else None

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Tell the terminals what is new."""
        self.pace(entries)
        self._words = {id_: word_of(entry) for id_, entry in entries.items()}
        self._tell_terminals()

    def _tell_terminals(self) -> None:
        """Write what is new, or is to be repeated; to a dark pane of which nothing was said, nothing."""
        now = time.monotonic()
        self._written = {id_: written for id_, written in self._written.items() if id_ in self._words}
        due: dict[Terminal, str] = {}
        for id_, word in self._words.items():
            before, at = self._written.get(id_, (_DARK, 0.0))
            is_due = word != before or (word != _DARK and now - at >= REPEAT_S)
            if is_due and (terminal := self._plain.get(id_)) is not None:
                due[terminal] = id_
        words = {terminal: terminals.MUX_WORDS[self._words[id_]] for terminal, id_ in due.items()}
        for terminal in terminals.tell(words, self._table, patience=PATIENCE_S):
            self._written[due[terminal]] = self._words[due[terminal]], now


def server_of(environ: Mapping[str, str]) -> int:
    """The mux server of this user, by the file in which it notes its number. `TallyError` if there is none."""
    path = runtime_of(environ) / "pid"
    try:
        text = read_write.read_own(path, 32).decode("ascii", "replace").strip()
    except (OSError, TallyError):
        text = ""
    if not is_number(text, 10) or process_table.table().start(int(text)) is None:
        raise TallyError(f"{path} has no running mux server; give its process id with --pid")
    return int(text)


def serve(
    environ: Mapping[str, str],
    server: int,
    wezterm: str,
    started: Callable[[PollingHost], object],
    report: Callable[[str], None],
) -> None:
    """
    Be the host of the mux server with the process id *server* until that ends, or somebody ends us.

    *started* gets the host before it runs; what is wrong is reported. `TallyError` if there is no such process.
    """
    table = process_table.table()
    born = table.start(server)
    if born is None:
        raise TallyError(f"there is no process {server}; --pid is the mux server's")
    named = environ.get("WEZTERM_UNIX_SOCKET", "")
    socket = named if named and "/gui-sock-" not in named else str(runtime_of(environ) / "sock")
    source = MuxSource({**environ, "WEZTERM_UNIX_SOCKET": socket}, server, wezterm, table)
    poller = PollingHost(HOST, [source], environ, table=table, report=report)

    def is_over() -> bool:
        source.note(poller)
        return table.start(server) != born

    started(poller)
    poller.run(until=is_over)
