"""
Mounts: the mounted file system of a path, found without access to a file system that hangs.

The kernel's table decides, by the parts of the path. Links are followed only on the mount that the path itself names.
https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

import attrs

TABLE = "/proc/self/mountinfo"
#: The most bytes of the table.
MAX_MOUNTS_BYTES = 1 << 20
#: The table and the results from it count for so many seconds.
TABLE_VALID_S = 3.0
#: The most cached paths, and the most links in one path.
MAX_CACHED_PATHS, MAX_LINKS = 4096, 40
_ESCAPED = re.compile(r"\\([0-7]{3})")


@attrs.define
class Mounts:
    """Finds the mounts of paths. On a system without a table of mounts each directory counts as one."""

    _points: frozenset[str] = frozenset()
    _read_at: float | None = None
    #: The mounts of paths without following links, and with.
    _known: dict[Path, str] = attrs.field(factory=dict)
    _behind: dict[Path, str] = attrs.field(factory=dict)

    def refresh(self, now: float) -> bool:
        """Read the table again at monotonic *now* if it is old; return whether it was."""
        if (
            self._read_at is not None
            and 0 <= now - self._read_at < TABLE_VALID_S
            and len(self._known) < MAX_CACHED_PATHS
        ):
            return False
        try:
            with open(TABLE, "rb") as file:  # noqa: PTH123 - half the time
                lines = file.read(MAX_MOUNTS_BYTES).decode("utf-8", "surrogateescape").splitlines()
        except OSError:
            lines = []
        fields = [line.split(" ", 5) for line in lines]
        names = (_ESCAPED.sub(lambda found: chr(int(found[1], 8)), field[4]) for field in fields if len(field) > 5)
        self._points, self._read_at, self._known, self._behind = frozenset(names), now, {}, {}
        return True

    def of(self, path: Path) -> str:
        """Return the mount point that *path* is on by its words alone, links not followed. Reads no disk."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._by_words(str(path))
        return found

    def behind(self, path: Path) -> str:
        """Return the mount of *path* after its links. May block on the mount that `of` returns, and on no other."""
        found = self._behind.get(path)
        if found is None:
            found = self._behind[path] = self._by_links(str(path))
        return found

    def _by_words(self, path: str) -> str:
        """Return the nearest mount point at or above *path*, without following links."""
        above = path
        while above not in self._points:
            if above in ("/", ""):
                return posixpath.dirname(path)
            above = posixpath.dirname(above)
        return above

    def _by_links(self, path: str) -> str:
        """Return the mount point after following links, but only those on the mount that *path* itself is on."""
        own = self._by_words(path)
        for _ in range(MAX_LINKS):
            led = _first_link(path)
            if led is None:
                break
            path = led
            if self._points and (found := self._by_words(path)) != own:
                return found
        return own


def _first_link(path: str) -> str | None:
    """Return *path* with the first link in it followed; None if there is none."""
    parts = path.split("/")
    for number in range(2, len(parts) + 1):
        part = "/".join(parts[:number])
        try:
            target = os.readlink(part)  # noqa: PTH115
        except (OSError, ValueError):
            continue
        return posixpath.normpath(posixpath.join(posixpath.dirname(part), target, *parts[number:]))
    return None
