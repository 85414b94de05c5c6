"""
A tracer of the disk: every call that touches one, made by our code on the main thread.

Self-contained, for its text is also run inside a real kitty. `install` puts it in place for good (an audit hook cannot
be taken out) and returns it; `is_on` switches it. A call is ours if ours is the first code above it that is neither the
standard library's nor attrs': what kitty does for us in its own functions, such as opening a window, is kitty's.
`/proc` is no disk. The loading of our own modules is the one thing that is allowed as long as `may_import`.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: https://docs.python.org/3/library/audit_events.html ; those that end in a dot stand for all that begin so.
EVENTS = (
    "open", "import", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link",
    "os.symlink", "os.truncate", "os.utime", "os.chmod", "os.chown", "os.chdir", "os.posix_spawn", "os.exec",
    "os.getxattr", "glob.", "shutil.", "tempfile.", "subprocess.Popen", "os.system", "os.spawn", "sqlite3.connect",
)  # fmt: skip
#: What has no audit event.
UNAUDITED = ("stat", "lstat", "access", "readlink", "statvfs", "mkfifo", "fsync", "fdatasync")
OURS = ("/lib/tallylight/", "/shared/tallylight/", "/tallylight/kittens/")
STANDARD = (str(Path(os.__file__).parent), "<frozen ", "/attr/", "<attrs ")
#: The directory whose files are made by the kernel.
NO_DISK = "/proc/"


class Tracer:
    """What was seen: one line a call, with the place in our code."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.is_on = True
        self.may_import = True
        self._main = threading.main_thread().ident
        self._is_in = False

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_on and any(event == name or (name[-1] == "." and event.startswith(name)) for name in EVENTS):
            self.note(event, args[0] if args else "")

    def wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*args: Any, **options: Any) -> Any:
            if self.is_on:
                self.note(name, args[0] if args else "")
            return call(*args, **options)

        return traced

    def note(self, what: str, path: Any) -> None:
        if self._is_in or threading.get_ident() != self._main or isinstance(path, int):
            return
        self._is_in = True
        try:
            place = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
            if not f"{place}/".startswith(NO_DISK) and (ours := self._ours()):
                self.found.append(f"{what} {place!r} at {ours}")
        finally:
            self._is_in = False

    def _ours(self) -> str:
        """The place of the call if it is ours and not allowed, else nothing."""
        place, is_loading = "", False
        for frame, line in traceback.walk_stack(sys._getframe(2)):
            name, function = frame.f_code.co_filename, frame.f_code.co_name
            is_loading = is_loading or name.startswith("<frozen importlib")
            if place or name == __file__ or name.startswith("<string"):
                continue
            if any(part in name for part in OURS):
                place = f"{name}:{line} in {function}"
                is_loading = is_loading or function == "<module>"
            elif not any(part in name for part in STANDARD):
                return ""
        return "" if is_loading and self.may_import else place


def install() -> Tracer:
    """Put a tracer in place."""
    import pwd

    tracer = Tracer()
    sys.addaudithook(tracer.hook)
    for module, names in ((os, UNAUDITED), (pwd, ("getpwuid", "getpwnam"))):
        for name in names:
            setattr(module, name, tracer.wrapped(name, getattr(module, name)))
    return tracer
