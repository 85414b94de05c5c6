"""
The unit of `systemd --user` that watches tmux and GNU Screen, for a person without a terminal that does.

It is offered where there is tmux or GNU Screen, neither kitty nor WezTerm, and a systemd of this user.
"""

from __future__ import annotations

from pathlib import Path

from tallylight.files import install_paths, read_write
from tallylight.files.system import System

NAME = "tallylight-sessions.service"
_TEXT = Path(__file__).with_name(NAME).read_text("utf-8")


def file(system: System) -> Path:
    """Return its path: https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html"""
    folder = system.env.get("XDG_CONFIG_HOME", "")
    return Path(folder if folder.startswith("/") else system.home / ".config", "systemd/user", NAME)


def is_stale(system: System, *, has_terminal: bool) -> bool:
    """Return whether it must be written. *has_terminal*: there is a terminal that watches the sessions by itself."""
    before = read_write.text_or_nothing(file(system))
    return before != text(system) and (_is_ours(before) or (not before and is_wanted(system) and not has_terminal))


def is_wanted(system: System) -> bool:
    """Return whether there are sessions to watch, and a systemd to run it."""
    runtime = system.env.get("XDG_RUNTIME_DIR", "")
    has_systemd = bool(runtime) and Path(runtime, "systemd").is_dir() and system.which("systemctl") is not None
    return has_systemd and any(map(system.which, ("tmux", "screen")))


def text(system: System) -> str:
    """Return its text. A `%` would begin a placeholder of systemd's."""
    return _TEXT.format(command=str(install_paths.layout(system).launcher).replace("%", "%%"))


def apply(system: System) -> str:
    """Write it and start it, now and at each login; return why it does not run, "" if it does."""
    path = file(system)
    path.parent.mkdir(parents=True, exist_ok=True)
    read_write.atomic_write(path, text(system).encode())
    for words in (("daemon-reload",), ("enable", NAME), ("restart", NAME)):
        done = system.run(["systemctl", "--user", *words], timeout=30)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["systemctl failed"])[-1]
    return ""


def is_there(system: System) -> bool:
    """Return whether one of ours is installed."""
    return _is_ours(read_write.text_or_nothing(file(system)))


def undo(system: System) -> None:
    """Stop it and remove it."""
    system.run(["systemctl", "--user", "disable", "--now", NAME], timeout=30)
    file(system).unlink(missing_ok=True)
    system.run(["systemctl", "--user", "daemon-reload"], timeout=30)


def _is_ours(content: str) -> bool:
    return content.startswith(_TEXT.partition("\n")[0])
