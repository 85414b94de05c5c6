"""
Reports that programs hand over a socket of the host of sessions, `reports-<pid>.sock`: see `wire.hand`.

A report is of the pane in which its sender sits, and of no other: that pane's first process is in the line of the
sender's parents, and the first of that line with a terminal has the pane's. So a program can say of a pane what it
could write into it, and no more. What a report says is read as what comes through the terminal.
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

#: How long, in seconds, one that connects may take to say what it has to say.
TAKE_S = 0.5
#: Reports of one connection.
MAX_REPORTS = 32


def serve(poller: PollingHost, environ: Mapping[str, str]) -> None:
    """Take reports for *poller* from now on. Where there can be no socket they come through the terminal alone."""
    try:
        listener = sockets.listen(hand.HOST, environ)
    except (OSError, TallyError):
        return
    path = sockets.path_of(f"{hand.HOST}-{os.getpid()}", environ)
    poller.at_end.append(lambda: path.unlink(missing_ok=True))
    threading.Thread(target=_run, args=(poller, listener), name="tallylight-reports", daemon=True).start()


def _run(poller: PollingHost, listener: socket.socket) -> None:
    while True:
        select.select([listener], [], [])
        try:
            connection, _ = listener.accept()
        except OSError:
            continue  # it has gone again
        with connection:
            try:
                _take(poller, connection)
            except Exception as error:  # the next one may well succeed
                poller.problems["reports"] = f"{type(error).__name__}: {error}"


def _take(poller: PollingHost, connection: socket.socket) -> None:
    """Take what one sender has to say."""
    peer = sockets.peer(connection)
    if peer is None or peer.uid != os.getuid():
        return
    line = _line(peer.pid)
    # Until now it could not end: another process would have its number.
    is_proved = not sockets.has_ended(connection)
    reports = _received(connection)
    if is_proved and line and reports:
        poller.hearing.hand(line, reports)


def _line(pid: int) -> list[int]:
    """The process *pid* and its parents, as far as they have the terminal of the first of them that has one."""
    table = process_table.table()
    line = [(process.pid, process_table.terminal(process.pid, table)) for process, _, _ in line_of(pid, table)]
    terminal = next((one for _, one in line if one), 0)
    return [number for number, one in line if one == terminal] if terminal else []


def _received(connection: socket.socket) -> list[str]:
    """The reports that a sender has written, which is told at the first of them that it is known."""
    connection.settimeout(TAKE_S)
    data = b""
    with contextlib.suppress(OSError):  # it has said enough
        while len(data) <= MAX_REPORTS * PAYLOAD_LIMIT and (more := connection.recv(1 << 16)):
            is_first, data = not data, data + more
            with contextlib.suppress(OSError):  # it does not wait
                connection.sendall(b"\n" if is_first else b"")
    lines = data.split(b"\n")[:-1][:MAX_REPORTS]
    return [line.decode("utf-8", "replace") for line in lines if line]
