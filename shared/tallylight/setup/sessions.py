"""
What `tally doctor` looks at where there are sessions of tmux and GNU Screen: does somebody look after them, and does
tmux let through what agents say. Reads only; `tmux show-options` changes nothing and starts no server.
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

#: Servers that are asked.
MAX_SERVERS = 8
_START = "run `tally host sessions`; kitty and WezTerm watch their own sessions"


def findings(system: System, living: list[Snapshot]) -> Iterator[Finding]:
    """A finding for the host of sessions, and one for each tmux server; none where there are no sessions."""
    answers = {path: answer for path in _sockets(system) if (answer := _passthrough(system, path)) is not None}
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
    for path, answer in answers.items():
        name = sanitise(path.name)
        if answer in ("on", "all"):
            yield Finding("tmux server", Health.OK, f"{name}: allow-passthrough is {answer}")
        elif answer:
            # Not a fault: reading needs none of it, and it is the person's own setting.
            text = f"{name}: allow-passthrough is {sanitise(answer)}: reports of hooks and the relay do not pass"
            remedy = f"run `tmux -L {name} set -g allow-passthrough on`"
            yield Finding("tmux server", Health.HINT, text, remedy)


def _sockets(system: System) -> list[Path]:
    """The sockets of this user where tmux has them."""
    folder = Path(system.env.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}")  # noqa: S108 - where tmux has it
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return []
        return [path for path in sorted(folder.iterdir()) if stat.S_ISSOCK(path.lstat().st_mode)][:MAX_SERVERS]
    except OSError:
        return []


def _passthrough(system: System, socket: Path) -> str | None:
    """The value of the option, nothing where there is no such option, None if no server answers."""
    done = system.run(["tmux", "-S", str(socket), "list-sessions", "-F", "x"], timeout=3)
    if done.returncode != 0:
        return None
    return system.run(["tmux", "-S", str(socket), "show-options", "-gv", "allow-passthrough"], timeout=3).stdout.strip()


def _screens(system: System) -> bool:
    """Whether GNU Screen lists a session."""
    done = system.run(["screen", "-ls"], timeout=3)
    return "\t" in done.stdout and "tached)" in done.stdout
