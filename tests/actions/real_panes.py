"""
Real programs in a pane of a terminal: a copy of Python that is called `xterm` runs a shell in a pseudo-terminal, at
whose prompt a line is typed.

It is an orphan without the environment of a pane, as a terminal is that the desktop has started: what runs the tests is
not among its parents.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

_XTERM = """
import os, pty, sys
if os.fork():
    os._exit(0)
os.setsid()
pid, fd = pty.fork()
if not pid:
    os.environ |= {"TERM": "xterm", "WINDOWID": "7"}
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(fd, sys.argv[1].encode() + b"\\n")
try:
    while os.read(fd, 65536):
        pass
except OSError:
    pass
"""
#: Takes in what is left behind below it.
_REAPER = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
if not os.fork():
    if not os.fork():
        os.execv(sys.argv[1], sys.argv[1:])
    os._exit(0)
time.sleep(100)
"""


@attrs.frozen
class RealPanes:
    """Panes whose programs find in *folder* an agent, `claude`, which runs what a shell would, and what they need."""

    folder: Path

    def run(self, script: str, *, by_agent: bool = True) -> None:
        """Have a new pane run *script*, in the agent or in its shell."""
        (self.folder / "script").write_text(f"{script}\ntrue\n")
        self.type(f"{self.folder / ('claude' if by_agent else 'bash')} {self.folder}/script")

    def type(self, line: str, *first: str) -> None:
        """Have a new pane with *line* typed in it; *first* is what its terminal starts there, by default a shell."""
        words = first or (str(self.folder / "bash"), "--norc", "--noprofile", "-i")
        subprocess.run([self.folder / "xterm", self.folder / "xterm.py", line, *words], env=self.env, check=True)

    @property
    def env(self) -> dict[str, str]:
        python = Path(sys.executable).resolve()
        own = {"FOLDER": str(self.folder), "PYTHON": str(python), "PROBE": f"{self.folder}/probe"}
        fixed = {"PYTHONHOME": sys.base_prefix, "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
        return {**own, **fixed, "HOME": str(self.folder)}


@contextlib.contextmanager
def real_panes(folder: Path) -> Iterator[RealPanes]:
    """In *folder*, until the end of the block: then nothing of it runs any more."""
    (folder / "xterm.py").write_text(_XTERM)
    (folder / "reaper.py").write_text(_REAPER)
    shutil.copy(Path(sys.executable).resolve(), folder / "xterm")
    for name in ("claude", "bash"):
        shutil.copy(shutil.which("bash") or "/bin/bash", folder / name)
    try:
        yield RealPanes(folder)
    finally:
        for server in ("person", "own"):
            subprocess.run(["tmux", "-S", folder / server, "kill-server"], capture_output=True, check=False)
        for path in Path("/proc").iterdir():
            if path.name.isdecimal() and str(folder) in _told(path):
                with contextlib.suppress(OSError):
                    os.kill(int(path.name), 9)


def _told(path: Path) -> str:
    """The environment and the arguments of a process."""
    with contextlib.suppress(OSError):
        return "".join((path / name).read_text("utf-8", "replace") for name in ("environ", "cmdline"))
    return ""
