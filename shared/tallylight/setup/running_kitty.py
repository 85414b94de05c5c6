"""
Running kittys: the one around `tally setup` starts Tallylight, and all remove it, without a restart.

kitty reads its configuration again when it gets SIGUSR1 (https://sw.kovidgoyal.net/kitty/conf/); our keys work from
then on. A kitty that allows remote control then runs our kitten `attach.py`. It starts Tallylight as the watcher would,
and adds the windows that are open. Where remote control is off, any of our keys does the same, and so does the next new
window. A kitty without us in its configuration puts its lights out by itself.
"""

from __future__ import annotations

import signal
from pathlib import Path

from tallylight.files.install_paths import Layout
from tallylight.files.system import System
from tallylight.setup.free_keys import Answer
from tallylight.setup.kitty import Kitty
from tallylight.snapshot import writer
from tallylight.wire.values import digits

#: Values of kitty's `allow_remote_control` that need no password.
_OVER_SOCKETS = ("socket", "socket-only")
_ANYWHERE = ("y", "yes", "true")


def named(system: System) -> int:
    """Return the kitty that this process's variables name; 0 if they name none."""
    return digits(system.env.get("KITTY_PID", ""), 10)


def find(system: System) -> int | None:
    """Return the process of the kitty around this terminal, on this machine; None if there is none."""
    pid = named(system)
    # The variable outlives its kitty in a tmux server, and the number may be another program's by now.
    return pid if pid and _is_kitty(system, pid) else None


def _is_kitty(system: System, pid: int) -> bool:
    return Path(system.run(["ps", "-o", "comm=", "-p", str(pid)]).stdout.strip()).name == "kitty"


def give_back(system: System) -> int:
    """Have every kitty with lights, and the one around us, reload its configuration; return how many do."""
    names = [path.stem.rpartition("-")[2] for path in writer.directory(system.env).glob("kitty-*.json")]
    pids = {named(system), *(digits(name, 10) for name in names)}
    kittys = [pid for pid in pids if pid and _is_kitty(system, pid)]
    return sum(system.signal(pid, signal.SIGUSR1) for pid in kittys)


def take_over(system: System, place: Layout, here: Kitty, answer: Answer | None, pid: int) -> bool:
    """
    Have the kitty of process *pid* reload its configuration and start; False if a person must start it.

    *answer* is kitty's reply about its configuration, None without one.
    """
    if not system.signal(pid, signal.SIGUSR1):
        return False
    allowed = answer.remote_control if answer is not None else ""
    is_reachable = allowed in _ANYWHERE or (allowed in _OVER_SOCKETS and system.env.get("KITTY_LISTEN_ON", "") != "")
    # In a multiplexer the terminal of this process is not kitty's.
    is_inside = any(system.env.get(name) for name in ("TMUX", "STY"))
    if here.program is None or not is_reachable or (is_inside and not system.env.get("KITTY_LISTEN_ON")):
        return False
    return system.run([here.program, "@", "kitten", place.kittens / "attach.py"]).returncode == 0
