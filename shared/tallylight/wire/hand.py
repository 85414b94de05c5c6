"""
Hand a report to the host of sessions, over its socket, where nobody may hear the terminal.

Nobody hears a pane of a detached session of tmux, or any of GNU Screen. So `tally emit`, `tally hook` and `tally run`
also say there what they write into their pane. The kernel tells the host who does, and its line of parents which pane
that is. A report is one line, a payload of the `tally` variable; the host answers with an empty one once it knows who
asked. Without a host nothing happens.

`tally emit` and `tally hook` load this at every event of an agent, in a multiplexer: it imports nothing dear.
"""

from __future__ import annotations

import posix

from tallylight.wire import tty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: What the sockets of hosts are called that take reports: `reports-4711.sock`.
HOST = "reports"
#: How long, in seconds, the host may take to find out who asked. A hook ends sooner, if all of it takes too long.
PATIENCE_S = 3.0
#: Directories that are looked into have at most so many files.
MAX_FILES = 4096


def hand(payloads: Iterable[bytes], environ: Mapping[str, str], *, waits: bool = True) -> bool:
    """
    Hand *payloads* to the host, if this process runs in a multiplexer; return whether one took them.

    A process that ends afterwards *waits* until it is known: nobody can prove who a process was that is gone.
    """
    if not tty.multiplexer(environ):
        return False
    data = b"".join([payload + b"\n" for payload in payloads])
    return any(_give(path, data, waits=waits) for path in _sockets(environ))


def _sockets(environ: Mapping[str, str]) -> list[str]:
    """The sockets of hosts, in the directory of their snapshots if it is this user's alone."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    folder = f"{runtime}/tallylight"
    if not runtime.startswith("/") or not _is_own(runtime):
        folder = f"{environ.get('TMPDIR') or '/tmp'}/tallylight-{posix.getuid()}"  # noqa: S108 - as hosts have it
    if not _is_own(folder):
        return []
    try:
        names = posix.listdir(folder)[:MAX_FILES]
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if name.startswith(f"{HOST}-") and name.endswith(".sock")]


def _is_own(folder: str) -> bool:
    try:
        found = posix.lstat(folder)
    except OSError:
        return False
    return found.st_uid == posix.getuid() and not found.st_mode & 0o022


def _give(path: str, data: bytes, *, waits: bool) -> bool:
    # The module behind `socket`, which would pull in enum and selectors.
    import _socket

    made = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        made.settimeout(PATIENCE_S if waits else 0.0)
        made.connect(path)
        made.sendall(data)
        return not waits or made.recv(1) == b"\n"
    except OSError:
        return False
    finally:
        made.close()
