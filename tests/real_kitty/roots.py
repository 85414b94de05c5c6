"""Kitty roots: the chroots that hold the kittys we test with, and the rooms in which their programs run.

``tests/run`` builds the roots (Debian trixie and sid, by mmdebstrap) into a cache directory; this module finds them.
A **room** is where programs of one test run. There are two kinds:

* `Chroot` (needs to be root): a mount, pid and, unless asked otherwise, net namespace around one root. The root is
  read-only; ``/tmp`` is the machine's, so that every path under it is the same inside and outside; the checkout is
  bound read-only at its own path. Everything in the room dies with the room, and the room dies with its owner: its
  first process waits for the end of a pipe that only the owner holds.
* `Here`: no root rights, so whatever kitty and Xvfb are on ``PATH``, as plain processes in sessions of their own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from tests.namespaces import Namespaces
from tests.patience import patient

Network = Literal["loopback", "host"]

#: The name a test uses for a kitty, and the Debian suite that carries it.
SUITES = {"0.41": "trixie", "0.48": "sid"}

CHECKOUT = Path(__file__).resolve().parents[2]


def cache_dir() -> Path:
    """Where tests/run keeps what is dear to build. The same three steps as in that script."""
    if chosen := os.environ.get("TALLYLIGHT_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "tallylight-tests"


# Read at import: the tests' own fixtures later point HOME and XDG_* into a temporary directory.
ROOTS_DIR = cache_dir() / "roots"


def root_of(version: str) -> Path | None:
    """The root that holds kitty `version`, or None while it is not built."""
    root = ROOTS_DIR / SUITES[version]
    return root if (root / "usr/bin/kitty").exists() else None


class Room(Protocol):
    """A place to run programs in."""

    def popen(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start `argv` with exactly this environment. `how` goes to `subprocess.Popen`."""

    def close(self) -> None:
        """End every process of the room. Safe to call twice."""


# Runs as the first process of the new namespaces, still seeing the whole machine: mounts, then steps into the root
# and waits there. bash, because the first process must also reap orphans, which its `read` does.
_SETUP = """
set -eu
root=$1 checkout=$2 network=$3
mkdir -p "$root$checkout" /tmp/.X11-unix
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount --bind /tmp "$root/tmp"
# X servers of two rooms must not see each other's sockets: each would take display 0 for its own.
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp/.X11-unix"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/var/tmp"
mount --bind "$checkout" "$root$checkout"
mount -o remount,bind,ro "$root$checkout"
mount -o remount,bind,ro "$root"
if [ "$network" = loopback ]; then ip link set lo up; fi
# Ready only in there: whoever enters before sees the whole machine.
exec chroot "$root" /bin/bash -c 'echo ready; read -r _'
"""


class Chroot(Namespaces):
    """A room around one kitty root. Needs to be root."""

    def __init__(self, root: Path, *, network: Network = "loopback") -> None:
        kinds = ("mount", "pid", "net") if network == "loopback" else ("mount", "pid")
        super().__init__(kinds, _SETUP, str(root.resolve()), str(CHECKOUT), network, enter=["--root"])


class Here:
    """A room that is just this machine, for a person without root rights."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def popen(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start `argv` in a session of its own."""
        process = subprocess.Popen(argv, env=dict(env), cwd=cwd, start_new_session=True, **how)
        self._started.append(process)
        return process

    def close(self) -> None:
        """End every session that was started here."""
        while self._started:
            process = self._started.pop()
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(5)
                os.killpg(process.pid, signal.SIGKILL)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            except ProcessLookupError:
                process.wait()


def open_room(version: str, *, network: Network = "loopback") -> Room:
    """The room for kitty `version`; for a version that is not in `SUITES`, this machine."""
    if version not in SUITES:
        return Here()
    root = root_of(version)
    if root is None:
        raise RuntimeError(f"no kitty root at {ROOTS_DIR / SUITES[version]}: run tests/run once as root")
    return Chroot(root, network=network)


def kitty_here() -> bool:
    """Whether this machine itself has what `Here` needs."""
    return bool(shutil.which("kitty") and shutil.which("Xvfb"))


def read_line(pipe: IO[bytes], timeout: float, what: str) -> str:
    """One line from a pipe, or an error that says `what` did not come."""
    os.set_blocking(pipe.fileno(), False)
    line, deadline = b"", time.monotonic() + patient(timeout)
    while not line.endswith(b"\n"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come within {timeout} s")
        line += pipe.read(256) or b""
        time.sleep(0.01)
    return line.decode().strip()
