"""
Send a report to the host of sessions over its socket, where no host may see the terminal's output.

No host sees sequences in a detached session of tmux, or in GNU Screen. So `tally emit`, `tally hook` and `tally run`
also send to this socket. The kernel names the sender, and its parent processes lead to the pane. A report is one line,
a payload of the `tally` variable; the host answers with an empty line once it knows the sender. Without a host nothing
happens.

`tally emit` and `tally hook` load this at every event of an agent in a multiplexer, so it imports nothing slow.
"""

from __future__ import annotations

import posix

from tallylight.wire import tty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The names of the sockets on which hosts take reports begin with it: `reports-4711.sock`.
HOST = "reports"
#: The host may take so many seconds to find the sender. A hook has a limit of its own, and may end sooner.
HOST_ANSWER_S = 3.0
#: The most files of a directory that are looked at.
MAX_SOCKET_FILES = 4096


def send_to_host(payloads: Iterable[bytes], environ: Mapping[str, str], *, waits: bool = True) -> bool:
    """
    Send *payloads* to the host of sessions if this process runs in a multiplexer; return whether a host took them.

    A process that ends afterwards *waits* for the answer: the host cannot identify a process that is gone.
    """
    if not tty.multiplexer(environ):
        return False
    data = b"".join([payload + b"\n" for payload in payloads])
    return any(_send(path, data, waits=waits) for path in _sockets(environ))


def _sockets(environ: Mapping[str, str]) -> list[str]:
    """Return the sockets of hosts in the runtime directory; none if others could write there."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    folder = f"{runtime}/tallylight"
    if not runtime.startswith("/") or not _is_own(runtime):
        folder = f"{environ.get('TMPDIR') or '/tmp'}/tallylight-{posix.getuid()}"  # noqa: S108 - as hosts have it
    if not _is_own(folder):
        return []
    try:
        names = posix.listdir(folder)[:MAX_SOCKET_FILES]
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if name.startswith(f"{HOST}-") and name.endswith(".sock")]


def _is_own(folder: str) -> bool:
    """Return whether *folder* belongs to this user, and no other user can write there."""
    try:
        found = posix.lstat(folder)
    except OSError:
        return False
    return found.st_uid == posix.getuid() and not found.st_mode & 0o022


def _send(path: str, data: bytes, *, waits: bool) -> bool:
    """Send *data* to the socket at *path*; return whether the host took it."""
    # The module behind `socket`, which would pull in enum and selectors.
    import _socket

    made = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        made.settimeout(HOST_ANSWER_S if waits else 0.0)
        made.connect(path)
        made.sendall(data)
        return not waits or made.recv(1) == b"\n"
    except OSError:
        return False
    finally:
        made.close()
