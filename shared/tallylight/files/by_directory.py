"""
A cache of values that are read once for each directory, on a worker.

Directories on one mount are read by one job, so that a hanging mount costs only its own directories.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.files.mounts import Mounts
from tallylight.model.jobs import Submit

#: The most directories in the cache, and the most mounts that are read at a time, each by one thread.
MAX_CACHED_DIRECTORIES = 512
MAX_MOUNTS_READ = 4

Value = TypeVar("Value")


@attrs.define
class ByDirectory(Generic[Value]):
    """Caches the values that *read* returns for directories. *mounts* tells which of them are read by one job."""

    name: str
    read: Callable[[Sequence[str]], Mapping[str, Value]]
    submit: Submit
    mounts: Mounts
    _known: OrderedDict[str, Value] = attrs.field(factory=OrderedDict)
    #: The mounts that are being read.
    _asked: set[str] = attrs.field(factory=set)

    def get(self, directory: str) -> Value | None:
        """Return the cached value of *directory*; None if it has not been read."""
        if directory not in self._known:
            return None
        self._known.move_to_end(directory)
        return self._known[directory]

    def ask(self, directories: Iterable[str]) -> None:
        """Have all *directories* read that are not in the cache."""
        unknown: dict[str, list[str]] = {}
        for directory in directories:
            if directory not in self._known:
                unknown.setdefault(self.mounts.of(Path(directory)), []).append(directory)
        for mount, wanted in unknown.items():
            if mount not in self._asked and len(self._asked) < MAX_MOUNTS_READ:
                job, done = functools.partial(self.read, wanted), functools.partial(self._were_read, mount)
                if self.submit(f"{self.name} on {mount}", job, done, functools.partial(self._failed, mount)):
                    self._asked.add(mount)

    def _failed(self, mount: str, _error: object) -> None:
        self._asked.discard(mount)

    def _were_read(self, mount: str, found: Mapping[str, Value]) -> None:
        """Cache the values *found* of directories on *mount*; drop the oldest ones beyond the limit."""
        self._asked.discard(mount)
        self._known |= found
        while len(self._known) > MAX_CACHED_DIRECTORIES:
            self._known.popitem(last=False)
