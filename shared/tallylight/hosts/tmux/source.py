"""
tmux as a source of panes: the panes of every server of this user. https://man.openbsd.org/tmux.1

Servers are found by their sockets: those in `$TMUX_TMPDIR/tmux-<uid>` (also of `-L` and of nested tmux), that of
`$TMUX`, those of clients in terminals' panes, and *sockets*. A server without an attached person runs one short command
for each look. Where a person is attached, a control client reports changes instead, and reads the output of that
session's panes (`ear`).

A screen is captured only while it would be evidence. The light goes into the window options `@tally` (the status),
`@tally_mark` and `@tally_colour`, for the user's own `window-status-format`. Text of a program never goes there.
"""

from __future__ import annotations

import contextlib
import functools
import getopt
import os
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from tallylight.evidence import process_table
from tallylight.evidence.process import base_name
from tallylight.files.program import StuckError
from tallylight.hosts.polling.pane_events import PaneEvent
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.sessions_inside import by_terminal
from tallylight.hosts.tmux.control_client import ControlClient
from tallylight.hosts.tmux.ear import Ears
from tallylight.hosts.tmux.pane_list import CLIENTS, PANES, SCREENS, QueryFormat
from tallylight.hosts.tmux.server import LIST_EVERY_S, Server, TerminalsState, id_in, id_of, run_tmux
from tallylight.pane.pane import Look
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import directory

#: After this part of the interval, a command that runs anyway brings the next list, too.
EARLY = 0.7
#: A socket that does not respond is tried again after so many seconds, or when it has changed.
RETRY_SOCKET_S = 30.0
MAX_SERVERS = 32
#: Sessions of one server that have a control client.
MAX_CONTROLLED_SESSIONS = 16
#: tmux's options before its command.
_OPTIONS = "2CDhlNuUvVc:f:L:S:T:"
#: Screens read by one command: their text must fit into the output limit of a command.
MAX_TOGETHER = 16
#: A format that the control client evaluates once a second; it reports each new text.
_WATCHED = "#{S:#{W:#{window_activity}#{P:#{pane_id}#{pane_pid}#{pane_dead}#{pane_title}}}}"


class TmuxSource:
    """
    The panes of all servers. *shows_lights*: whether to set the window options for a status line.

    *changed* is called on any thread when a look would find something new. *receive* gets the id of a pane and its
    events.
    """

    every = LIST_EVERY_S

    def __init__(self, environ: Mapping[str, str], sockets: Sequence[str] = (), *, shows_lights: bool = True) -> None:
        self._env = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE")}
        self._inner = environ.get("TMUX", "").rsplit(",", 2)[0]
        self._named = tuple(sockets)
        self._shows_lights = shows_lights
        self._servers: dict[str, Server] = {}
        self._form = QueryFormat(secrets.token_hex(8))
        #: The commands that list all panes and all clients.
        self._questions = (
            ["list-panes", "-a", "-F", self._form.ask(PANES)],
            ["list-clients", "-F", self._form.ask(CLIENTS)],
        )
        self._lock = threading.Lock()
        #: The snapshots of terminals' hosts, for where tmux does not know whether a person looks.
        self._feed = Feed(directory(environ))
        self._shown: tuple[str, ...] = ()
        self._inside: Mapping[str, tuple[PaneEntry, ...]] = {}
        self._is_closed = False
        self.changed: Callable[[], None] = lambda: None
        self.receive: Callable[[str, Sequence[PaneEvent]], None] = lambda _id, _events: None

    # The panes -----------------------------------------------------------------------------------------------

    def look(self) -> Sequence[SourcePane] | None:
        """Return a `SourcePane` for every pane of every server that responds; None if no server had to be asked."""
        if shutil.which("tmux", path=self._env.get("PATH")) is None:
            return []
        now = time.monotonic()
        self._look_at_clients(now)
        sockets = self._sockets()
        with self._lock:
            gone = self._servers.keys() - sockets.keys()
            for path in gone:
                self._leave(self._servers.pop(path))
            for path, stamp in sockets.items():
                if path not in self._servers:
                    told = functools.partial(self._receive, path)
                    self._servers[path] = Server(path, functools.partial(self._capture, path), Ears(told))
                server = self._servers[path]
                if stamp != server.stamp:
                    server.stamp, server.is_changed, server.silent_until = stamp, True, 0.0
            servers = list(self._servers.values())
        is_new = bool(gone)
        for server in servers:
            is_new |= self._ask(server, now)
        seen = self._seen()
        for server in servers:
            if server.lock.acquire(blocking=False):
                try:
                    is_new |= server.see(seen)
                finally:
                    server.lock.release()
        if not is_new:
            return None
        return [source_pane for server in servers for _, source_pane in server.source_panes.values()]

    def _seen(self) -> TerminalsState:
        """Return which panes the terminals show, and the entries of tmux sessions attached in tmux panes."""
        panes = (pane for found in self._feed.snapshots for pane in found.panes)
        return TerminalsState(
            {pane.pid: pane.attention.visible for pane in panes if pane.pid is not None}, self._inside
        )

    def _look_at_clients(self, now: float) -> None:
        """Find the servers of tmux clients that run in terminals."""
        if self._feed.poll(now):
            here = (found for found in self._feed.snapshots if not is_elsewhere(found.name))
            self._shown = sockets_of(pane.pid for found in here for pane in found.panes)

    def _sockets(self) -> dict[str, object]:
        """Return the sockets of this user, each with a value that changes when a person attaches."""
        folder = Path(self._env.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}")  # noqa: S108 - where tmux has it
        paths = [*self._named, *([self._inner] if self._inner else []), *self._shown]
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                paths += sorted(str(path) for path in folder.iterdir())[:MAX_SERVERS]
        sockets: dict[str, object] = {}
        for path in dict.fromkeys(paths):
            with contextlib.suppress(OSError, ValueError):
                found = os.stat(path)  # noqa: PTH116
                is_ours = stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
                if is_ours and (path not in self._shown or _is_kept(path)):
                    # The inode alone may be another socket's by now.
                    sockets[path] = (found.st_ino, found.st_ctime_ns)
        return sockets

    def _ask(self, server: Server, now: float) -> bool:
        """List a server's panes if they may have changed; return whether anything is new."""
        if now < server.silent_until:
            return False
        for session, control in list(server.controls.items()):
            if control.is_over:
                self._leave(server, session)
            else:
                control.end_pauses()
        if not server.lock.acquire(blocking=False):
            return False
        try:
            was_reported, server.is_reported = server.is_reported, True
            if server.is_due(now):
                server.is_changed, server.looked_at = False, now
                try:
                    text = self._list(server)
                except StuckError:
                    # It hangs; its panes stay, because it may go on.
                    server.silent_until = now + RETRY_SOCKET_S
                    return not was_reported
                if not text:
                    server.silent_until = now + RETRY_SOCKET_S
                server.take(self._form, text, self._seen())
            elif was_reported:
                return False
            self._attach_or_leave(server)
            return True
        finally:
            server.lock.release()

    def _list(self, server: Server) -> str:
        """Return the lists of its panes and clients as text; empty if it does not respond."""
        if server.control is not None:
            try:
                panes, clients = (server.control.ask(command) for command in self._questions)
                if panes and clients is not None:
                    return f"{panes}\n{clients}"
            except StuckError:
                pass
            self._leave(server, next(iter(server.controls), None))
        return self._run(server, *self._questions[0], ";", *self._questions[1])

    def _run(self, server: Server, *command: str) -> str:
        """Return the output of a command; empty if it failed."""
        done = run_tmux(server.socket, self._env, *command)
        return done.output.decode("utf-8", "surrogateescape") if done is not None else ""

    def _attach_or_leave(self, server: Server) -> None:
        """Attach a control client to each session with an attached person, and detach all others."""
        theirs = dict.fromkeys(client.session_id for client in server.clients if not client.is_control)
        wanted = [*theirs][:MAX_CONTROLLED_SESSIONS] if not self._is_closed else []
        for session in server.controls.keys() - set(wanted):
            self._leave(server, session)
        for session in wanted:
            if session not in server.controls:
                with contextlib.suppress(StuckError, OSError):
                    self._attach(server, session)

    def _attach(self, server: Server, session: str) -> None:
        """Start a control client in *session* of *server*."""

        def changed() -> None:
            server.is_changed = True
            self.changed()

        control = ControlClient(server.socket, session, self._env, changed, server.ears)
        server.controls[session] = control
        if server.control is control:
            control.ask(["refresh-client", "-B", f"tallylight::{_WATCHED}"])

    def _leave(self, server: Server, session: str | None = None) -> None:
        """Detach from one session of *server*, or from all of them."""
        is_asked = [session] == [*server.controls][:1]
        for one in [*server.controls] if session is None else [session]:
            if (control := server.controls.pop(one, None)) is not None:
                control.close()
        if is_asked and server.control is not None:
            with contextlib.suppress(StuckError):
                server.control.ask(["refresh-client", "-B", f"tallylight::{_WATCHED}"])

    def _receive(self, path: str, pane: str, events: Sequence[PaneEvent]) -> None:
        """Pass on the events of a pane of the server at *path*."""
        server = self._servers.get(path)
        if server is not None and server.panes:
            self.receive(id_in(server.panes[0].server, pane), events)

    # A screen -------------------------------------------------------------------------------------------------

    def _capture(self, socket: str, ids: Sequence[str]) -> dict[str, Look | None]:
        """
        Return the screens of panes of one server, read by one command; None for one that is gone.

        Without `-J`, which joins wrapped rows: the cursor's row counts them as they are. Not through the control
        client: a screen can contain text like the end of a reply. The separator is new each time, so no screen
        can contain it.
        """
        server = self._servers.get(socket)
        if server is None:
            return dict.fromkeys(ids)
        form = QueryFormat(secrets.token_hex(8))
        panes = {id_: id_.rpartition("/")[2] for id_ in ids[:MAX_TOGETHER]}
        command: list[str] = []
        shown = form.ask(SCREENS)
        for pane in panes.values():
            command += ["capture-pane", "-p", "-t", pane, ";", "display-message", "-p", "-t", pane, shown, ";"]
        started = time.time()
        is_mine = server.lock.acquire(blocking=False)
        try:
            # A list that is due soon is read, too: starting a command costs most.
            now = time.monotonic()
            is_listed = is_mine and server.control is None and server.is_due(now, EARLY)
            if is_listed:
                for question in self._questions:
                    command += [*question, ";"]
            text = self._run(server, *command[:-1])
            found = form.read_screens(text)
            if is_listed and len(found) == len(panes):
                server.take(self._form, form.behind_screens(text), self._seen())
                server.is_changed, server.looked_at, server.is_reported = False, now, False
                self.changed()
        finally:
            if is_mine:
                server.lock.release()
        looks: dict[str, Look | None] = {}
        for id_, pane in panes.items():
            if pane not in found:
                # It is gone. The following ones were not read, and are asked for again.
                looks[id_] = None
                break
            server.captured[pane] = started
            looks[id_] = found[pane]
        return looks

    # The lights ----------------------------------------------------------------------------------------------

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Set the options of every window to the light of its most urgent pane."""
        with self._lock:
            servers = list(self._servers.values())
        # A pane that shows a session adds no light of its own: in a circle it would keep itself lit.
        around = {terminal for entry in entries.values() for terminal in entry.place.terminals}
        inside = by_terminal(entry for entry in entries.values() if entry.place.terminal not in around)
        if inside != self._inside:
            self._inside = inside
            self.changed()
        if not self._shows_lights:
            return
        for server in servers:
            self._light(server, entries)

    def _light(self, server: Server, entries: Mapping[str, PaneEntry]) -> None:
        """Set the window options of *server* that have changed."""
        command = server.light(entries)
        if command:
            with contextlib.suppress(StuckError):
                self._run(server, *command)

    def act(self, request: Request) -> None:
        """Select the pane in its session, and switch the client that typed last on that server to it."""
        for server in list(self._servers.values()):
            for pane in server.panes:
                if id_of(pane) == request.pane:
                    select = ["select-window", "-t", f"{pane.session_id}:{pane.window_id}", ";"]
                    self._run(server, *select, "select-pane", "-t", pane.id)
                    people = [client for client in server.clients if not client.is_control and client.tty]
                    person = max(people, key=lambda client: client.active_at, default=None)
                    if person is not None and person.session_id != pane.session_id:
                        self._run(server, "switch-client", "-c", person.tty, "-t", pane.session_id)

    def close(self) -> None:
        """Detach from all servers, and remove the lights from their windows."""
        self._is_closed = True
        for server in self._servers.values():
            self._leave(server)
            self._light(server, {})


def sockets_of(pids: Iterable[int | None]) -> tuple[str, ...]:
    """Return the sockets of tmux clients among *pids*, as far as their arguments and environment name them."""
    table, found = process_table.table(), dict[str, None]()
    for pid in filter(None, pids):
        process = table.get(pid)
        if process is None or base_name(process.exe) != "tmux" or len(found) >= MAX_SERVERS:
            continue
        with contextlib.suppress(getopt.GetoptError):
            options = dict(getopt.getopt(list(process.argv[1:]), _OPTIONS)[0])
            named = os.path.join(table.cwd(pid), options["-S"]) if "-S" in options else ""  # noqa: PTH118
            folder = table.environ(pid).get("TMUX_TMPDIR") or "/tmp"  # noqa: S108 - where tmux has it
            found[named or f"{folder}/tmux-{os.getuid()}/{options.get('-L', 'default')}"] = None
    return tuple(found)


def _is_kept(path: str) -> bool:
    """Return whether no other user can replace the socket *path*: tmux gets our environment through it."""
    folder = Path(path).parent.stat()
    is_closed = not folder.st_mode & stat.S_IWOTH or folder.st_mode & stat.S_ISVTX
    return bool(is_closed) and folder.st_uid in (0, os.getuid())
