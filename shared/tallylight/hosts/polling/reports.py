"""
Serves the socket of the host of sessions, `reports-<pid>.sock`, where programs hand over reports: see `wire.hand`.

A report counts for its sender's own pane only. The pane's first process is among the sender's parents, and has the
terminal of the first of them with one. So a program can report only what it could also write into its pane. Reports are
read like those from the terminal.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Mapping

from tallylight.actions.caller import line_of
from tallylight.evidence import process_table
from tallylight.hosts.polling.host import PollingHost
from tallylight.model.errors import TallyError
from tallylight.snapshot import sockets
from tallylight.wire import hand
from tallylight.wire.osc1338 import PAYLOAD_LIMIT

#: How long, in seconds, a client may take to send its reports.
RECEIVE_REPORTS_S = 0.5
#: Reports of one connection.
MAX_REPORTS = 32


def serve(poller: PollingHost, environ: Mapping[str, str]) -> None:
    """Accept reports for *poller* from now on. Without a socket, reports arrive through the terminal only."""
    try:
        listener = sockets.listen(hand.HOST, environ)
    except (OSError, TallyError):
        return
    path = sockets.path_of(f"{hand.HOST}-{os.getpid()}", environ)
    poller.at_end.append(lambda: path.unlink(missing_ok=True))
    threading.Thread(target=_run, args=(poller, listener), name="tallylight-reports", daemon=True).start()


def _run(poller: PollingHost, listener: socket.socket) -> None:
    """Accept and serve clients, without end."""
    while True:
        select.select([listener], [], [])
        try:
            connection, _ = listener.accept()
        except OSError:
            continue  # it has gone again
        with connection:
            try:
                _take(poller, connection)
            except Exception as error:  # the next one can succeed
                poller.problems["reports"] = f"{type(error).__name__}: {error}"


def _take(poller: PollingHost, connection: socket.socket) -> None:
    """Take the reports of one client."""
    peer = sockets.peer(connection)
    if peer is None or peer.uid != os.getuid():
        return
    line = _line(peer.pid)
    # It could not end until now: then another process could have its number.
    is_proved = not sockets.has_ended(connection)
    reports = _received(connection)
    if is_proved and line and reports:
        poller.reports.from_socket(line, reports)


def _line(pid: int) -> list[int]:
    """Return *pid* and its parents, as far as they share the terminal of the first of them that has one."""
    table = process_table.table()
    line = [(process.pid, process_table.terminal(process.pid, table)) for process, _, _ in line_of(pid, table)]
    terminal = next((one for _, one in line if one), 0)
    return [number for number, one in line if one == terminal] if terminal else []


def _received(connection: socket.socket) -> list[str]:
    """Return the reports that a client sends; the first bytes are acknowledged with a line end."""
    connection.settimeout(RECEIVE_REPORTS_S)
    data = b""
    with contextlib.suppress(OSError):  # it has sent enough
        while len(data) <= MAX_REPORTS * PAYLOAD_LIMIT and (more := connection.recv(1 << 16)):
            is_first, data = not data, data + more
            with contextlib.suppress(OSError):  # it does not wait
                connection.sendall(b"\n" if is_first else b"")
    lines = data.split(b"\n")[:-1][:MAX_REPORTS]
    return [line.decode("utf-8", "replace") for line in lines if line]
