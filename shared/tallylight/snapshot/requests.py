"""
Requests of other processes to a host, as small files in a directory that the host reads.

`<runtime directory>/tallylight/<host>-<pid>.requests/` is next to the host's snapshot and made by the host. It has one
JSON file for each request, put there by rename. At most `MAX_WAITING_REQUESTS` files of `MAX_REQUEST_FILE_BYTES` wait
at a time; a file that is older than `MAX_AGE_S`, or no request, is removed. There is no answer: the snapshot shows the
result.

A request may only move a person's view or change marks. None will ever type into a pane or start a program, for the
writer of a file is unknown. That needs a key pressed in the terminal itself, or a permitted caller that the kernel
names (`snapshot.sockets`, `actions.permission`).

They are files, not lines over a socket, because nothing has to be proved and no caller waits. A terminal may look only
every half minute, and not every system shows a host who connects.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

import attrs

from tallylight.files import read_write
from tallylight.model.errors import TallyError
from tallylight.snapshot.writer import SnapshotError, checked_directory, directory, is_alive, read
from tallylight.wire import values

VERSION = 1
#: The verbs take a pane, `jump` and `mute` also none. `focus` may have the panel that gives the keyboard back, `snooze`
#: its minutes. `jump` has the options of `tally jump`, and `mute` the words of `tracker.mutes.Mutes.ask`.
VERBS = ("focus", "jump", "snooze", "unread", "seen", "mute")
#: The verbs that need no pane.
_FOR_ALL = ("jump", "mute")
#: The most requests that wait at a time.
MAX_WAITING_REQUESTS = 64
#: The most bytes of one file.
MAX_REQUEST_FILE_BYTES = 4096
#: The most characters of a text in a request, and the most arguments.
MAX_ARG_CHARS = 256
MAX_ARGS = 8
#: Older requests, in seconds, are dropped: the host was stopped meanwhile.
MAX_AGE_S = 10.0

_HOST = re.compile(r"\A[a-z]{1,16}-[0-9]{1,10}\Z")
_FOLDER = re.compile(r"\A([a-z]{1,16}-([0-9]{1,10}))\.requests\Z")
_FILE = re.compile(r"\A[0-9]{1,20}-[0-9]{1,10}-[0-9]{1,10}\.json\Z")
_count = itertools.count()


class RequestError(TallyError):
    """Raised for a request that cannot be sent."""


@attrs.frozen
class Request:
    """A request: a verb of `VERBS`, the id of a pane of that host (may be empty for `jump`, `mute`), and arguments."""

    verb: str
    pane: str = ""
    args: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: object) -> Request | None:
        """Return the request in *value*; None if it is none."""
        if not isinstance(value, dict) or value.get("version") != VERSION:
            return None
        verb, pane, args = value.get("verb"), value.get("pane"), value.get("args")
        if verb not in VERBS or not isinstance(args, list) or len(args) > MAX_ARGS:
            return None
        if not all(values.exact(text, MAX_ARG_CHARS) is not None for text in (pane, *args)):
            return None
        if not str(pane).strip() and verb not in _FOR_ALL:
            return None
        return cls(str(verb), str(pane), tuple(args))

    def to_json(self) -> dict[str, object]:
        return {"version": VERSION, "verb": self.verb, "pane": self.pane, "args": list(self.args)}


def is_host(value: object) -> TypeGuard[str]:
    """Return whether *value* names a host: `kitty-4711`."""
    return isinstance(value, str) and _HOST.match(value) is not None


def folder_of(name: str, environ: Mapping[str, str]) -> Path:
    """Return the directory for requests to the host *name*, `kitty-4711`."""
    if not is_host(name):
        raise RequestError(f"{name[:40]!r} is not the name of a host; they are like kitty-4711")
    return directory(environ) / f"{name}.requests"


def send(name: str, request: Request, environ: Mapping[str, str] = os.environ) -> None:
    """
    Send *request* to the host *name*, `kitty-4711`.

    Raises `RequestError` if it takes none: it is gone, of an older version, or does not read its earlier requests.
    """
    if Request.from_json(request.to_json()) is None:
        raise RequestError(f"{request.verb[:40]!r} cannot be asked of a host")
    folder = folder_of(name, environ)
    try:
        if len(list(checked_directory(folder).iterdir())) >= MAX_WAITING_REQUESTS:
            raise RequestError(f"{name} does not answer; {MAX_WAITING_REQUESTS} requests wait already")
        path = folder / f"{time.time_ns()}-{os.getpid()}-{next(_count)}.json"
        data = json.dumps(request.to_json(), separators=(",", ":")).encode("ascii")
        read_write.atomic_write(path, data, 0o600, durable=False)
    except FileNotFoundError:
        raise RequestError(f"{name} accepts no requests; is it running, and the same version?") from None
    except OSError as error:
        raise RequestError(f"{folder}: {error.strerror or error}") from None
    except SnapshotError as error:
        raise RequestError(str(error)) from None


class Spool:
    """
    The requests to the host *host* with *pid*. It makes their directory, and removes those of hosts that are gone.

    If the directory is not this user's alone, or the disk fails, *error* says so and no request is taken any more. The
    directories and files are checked each time.
    """

    def __init__(self, host: str, pid: int | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self.path = folder_of(f"{host}-{os.getpid() if pid is None else pid}", environ)
        self.error = ""
        try:
            parent = checked_directory(self.path.parent, create=True)
            _sweep(parent)
            # Requests in it were for an earlier process of the same number.
            _remove(self.path)
            checked_directory(self.path, create=True)
        except (OSError, SnapshotError) as error:
            self.error = str(error)

    def is_empty(self) -> bool:
        """Return whether no request waits. It lists one directory, cheap enough for every tick of a terminal."""
        return not any(path.suffix == ".json" for path in self._paths())

    def take(self) -> list[Request]:
        """Remove and return all requests, oldest first."""
        taken: list[Request] = []
        for path in sorted(self._paths()):
            if _FILE.match(path.name) and len(taken) < MAX_WAITING_REQUESTS:
                with contextlib.suppress(OSError, TallyError):
                    value = values.load(read_write.read_own(path, MAX_REQUEST_FILE_BYTES, MAX_AGE_S))
                    if (request := Request.from_json(value)) is not None:
                        taken.append(request)
            elif not _is_old(path):
                # It is being written just now.
                continue
            with contextlib.suppress(OSError):
                path.unlink()
        return taken

    def close(self) -> None:
        """Remove the directory: the host ends."""
        if not self.error:
            _remove(self.path)

    def _paths(self) -> list[Path]:
        """Return the files in the directory; none if other users could write there."""
        if self.error:
            return []
        try:
            checked_directory(self.path.parent)
            return list(checked_directory(self.path).iterdir())
        except SnapshotError as error:
            self.error = str(error)
        except OSError:
            # The directory was removed by a cleanup.
            pass
        return []


def _is_old(path: Path) -> bool:
    """Return whether the file is no regular one, or older than `MAX_AGE_S`."""
    try:
        found = path.lstat()
    except OSError:
        return True
    return not stat.S_ISREG(found.st_mode) or not -MAX_AGE_S <= time.time() - found.st_mtime <= MAX_AGE_S


def _sweep(parent: Path) -> None:
    """Remove the directories of hosts that are gone."""
    for entry in itertools.islice(parent.iterdir(), 4 * MAX_WAITING_REQUESTS):
        found = _FOLDER.match(entry.name)
        if found is None:
            continue
        try:
            birth = read(parent / f"{found[1]}.json").birth
        except (OSError, SnapshotError):
            birth = ""  # it has shown nothing yet
        if not is_alive(int(found[2]), birth):
            _remove(entry)


def _remove(folder: Path) -> None:
    """Remove *folder* and all in it, even if another program made it a file."""
    with contextlib.suppress(OSError):
        # It may be no directory: `rmtree` would open a FIFO and wait for its writer without end.
        if stat.S_ISDIR(folder.lstat().st_mode):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink()
