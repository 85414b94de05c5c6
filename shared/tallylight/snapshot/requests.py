"""
Requests of other processes to a host, as datagrams to a socket of the host.

`<runtime directory>/tallylight/<host>-<pid>.requests` is next to the host's snapshot, and only this user can reach it.
Each datagram is one request as JSON, of at most `MAX_DATAGRAM_BYTES`; the kernel keeps some until the host looks. One
that is older than `MAX_AGE_S`, or no request, is dropped. There is no answer: the snapshot shows the result.

A request may only move a person's view or change marks. None will ever type into a pane or start a program, for the
sender is unknown. That needs a key pressed in the terminal itself, or a permitted caller that the kernel names
(`snapshot.sockets`, `actions.permission`). Nothing has to be proved here, no caller waits for a reply, and not every
system shows a host who connects.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping

import attrs

from tallylight.model.errors import TallyError
from tallylight.snapshot.sockets import SocketError, address_of, bound, path_of
from tallylight.snapshot.writer import SnapshotError, checked_directory
from tallylight.wire import values

VERSION = 1
#: The verbs take a pane, `jump` and `mute` also none. `focus` may have the panel that gives the keyboard back, `snooze`
#: its minutes. `jump` has the options of `tally jump`, and `mute` the words of `tracker.mutes.Mutes.ask`.
VERBS = ("focus", "jump", "snooze", "unread", "seen", "mute")
#: The verbs that need no pane.
_FOR_ALL = ("jump", "mute")
#: The most requests that a host takes at a time.
MAX_TAKEN_REQUESTS = 64
#: The most bytes of one request.
MAX_DATAGRAM_BYTES = 4096
#: The most characters of a text in a request, and the most arguments.
MAX_ARG_CHARS = 256
MAX_ARGS = 8
#: Older requests, in seconds, are dropped: the host was stopped meanwhile.
MAX_AGE_S = 10.0
#: How long, in seconds, a sender waits for room: the kernel keeps about ten requests (`net.unix.max_dgram_qlen`).
SEND_REQUEST_S = 2.0
_ENDING = ".requests"


class RequestError(TallyError):
    """Raised for a request that cannot be sent."""


@attrs.frozen
class Request:
    """A request: a verb of `VERBS`, the id of a pane of that host (may be empty for `jump`, `mute`), and arguments."""

    verb: str
    pane: str = ""
    args: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: object) -> Request | None:
        """Return the request in *value*; None if it is none."""
        if not isinstance(value, dict) or value.get("version") != VERSION:
            return None
        verb, pane, args = value.get("verb"), value.get("pane"), value.get("args")
        if verb not in VERBS or not isinstance(args, list) or len(args) > MAX_ARGS:
            return None
        if not all(values.exact(text, MAX_ARG_CHARS) is not None for text in (pane, *args)):
            return None
        if not str(pane).strip() and verb not in _FOR_ALL:
            return None
        return cls(str(verb), str(pane), tuple(args))

    def to_json(self) -> dict[str, object]:
        return {"version": VERSION, "verb": self.verb, "pane": self.pane, "args": list(self.args)}


def send(name: str, request: Request, environ: Mapping[str, str] = os.environ) -> None:
    """
    Send *request* to the host *name*, `kitty-4711`.

    Raises `RequestError` if it takes none: it is gone, of an older version, or does not read its earlier requests.
    """
    if Request.from_json(request.to_json()) is None:
        raise RequestError(f"{request.verb[:40]!r} cannot be asked of a host")
    data = json.dumps({**request.to_json(), "at": time.time()}, separators=(",", ":")).encode("ascii")
    try:
        path = path_of(name, environ, _ENDING)
        checked_directory(path.parent)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as made:
            made.settimeout(SEND_REQUEST_S)
            with address_of(path) as address:
                made.sendto(data, address)
    except (FileNotFoundError, ConnectionRefusedError):
        raise RequestError(f"{name} accepts no requests; is it running, and the same version?") from None
    except TimeoutError:
        raise RequestError(f"{name} does not answer; earlier requests still wait") from None
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror or error}") from None
    except (SnapshotError, SocketError) as error:
        raise RequestError(str(error)) from None


class Spool:
    """
    The requests to a host. *error* is why there are none, empty if there is no reason.

    A host that cannot make its socket starts all the same, only without requests.
    """

    def __init__(self, host: str, pid: int | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self.path = path_of(f"{host}-{os.getpid() if pid is None else pid}", environ, _ENDING)
        self.error = ""
        self._socket: socket.socket | None = None
        try:
            self._socket = bound(self.path, socket.SOCK_DGRAM)
        except (OSError, SnapshotError) as error:
            self.error = str(error)

    def take(self) -> list[Request]:
        """Return the waiting requests in their order. It waits for nothing, and reads no disk."""
        taken: list[Request] = []
        for _ in range(MAX_TAKEN_REQUESTS if self._socket is not None else 0):
            try:
                data = self._socket.recv(MAX_DATAGRAM_BYTES + 1)  # type: ignore[union-attr]
            except OSError:  # that was all
                break
            value = values.members(data) if len(data) <= MAX_DATAGRAM_BYTES else {}
            at, request = values.number(value.get("at"), 0, values.LATEST) or 0.0, Request.from_json(value)
            if request is not None and abs(time.time() - at) <= MAX_AGE_S:
                taken.append(request)
        return taken

    def close(self) -> None:
        """Take no more requests: the host ends."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self.path.unlink(missing_ok=True)
