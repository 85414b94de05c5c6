"""
The check of `tally doctor` whether sessions of tmux and GNU Screen are watched. Reads only.

`tmux list-sessions` changes nothing and starts no server.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tallylight.files.system import System
from tallylight.model.finding import Finding, Health
from tallylight.snapshot.schema import Snapshot
from tallylight.wire.text import sanitise

#: Servers that are asked, at most.
MAX_ASKED_SERVERS = 8
_START = "run `tally setup --with tmux` or `tally host sessions`; kitty and WezTerm watch their own sessions"


def findings(system: System, living: list[Snapshot]) -> Iterator[Finding]:
    """Yield a finding for the host of sessions, and one for each machine; none where there are no sessions."""
    answers = any(_answers(system, path) for path in _sockets(system))
    screens = _screens(system)
    host = next((found.name for found in living if found.host == "sessions"), None)
    if host is not None:
        yield Finding("sessions", Health.OK, f"watched by {host}")
    elif answers or screens:
        what = " and ".join([*(["tmux"] if answers else []), *(["GNU Screen"] if screens else [])])
        yield Finding("sessions", Health.HINT, f"the sessions of {what} are not watched", _START)
    for machine in (machine for host in living for machine in host.machines):
        health = Health.OK if machine.is_up else Health.SKIPPED
        yield Finding("machine", health, f"{sanitise(machine.name)}: {sanitise(machine.says)}")


def _sockets(system: System) -> list[Path]:
    """Return this user's tmux sockets."""
    folder = Path(system.env.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}")  # noqa: S108 - where tmux has it
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return []
        return [path for path in sorted(folder.iterdir()) if stat.S_ISSOCK(path.lstat().st_mode)][:MAX_ASKED_SERVERS]
    except OSError:
        return []


def _answers(system: System, socket: Path) -> bool:
    """Return whether a server answers there; none is started."""
    return system.run(["tmux", "-S", str(socket), "list-sessions", "-F", "x"], timeout=3).returncode == 0


def _screens(system: System) -> bool:
    """Return whether GNU Screen lists a session."""
    done = system.run(["screen", "-ls"], timeout=3)
    return "\t" in done.stdout and "tached)" in done.stdout
