"""
Subscriptions: the browsers that asked for messages, in `<state directory>/push/`, readable by this user alone.

One server at a time uses it: it holds a lock on the directory for as long as it runs, so that no two send the same.
Everything in here waits for the disk, and is called on threads.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

import attrs

from tallylight.files import directories, read_write
from tallylight.model.errors import DecodeError, TallyError
from tallylight.parts.web.push.endpoints import MAX_URL
from tallylight.snapshot.writer import held
from tallylight.wire import values

VERSION = 1
#: At most so many browsers.
MAX_SUBSCRIPTIONS = 16
#: Characters of the parts of one, and bytes of the file and of the key's.
MAX_PART, MAX_BYTES, MAX_KEY = 128, 64 * 1024, 4096


@attrs.frozen
class Subscription:
    """
    A browser: where it is reached, its two keys in base64url, the origin of the page that asked for it, and the device
    that it is signed in as; nothing for one with the token.
    """

    endpoint: str
    p256dh: str
    auth: str
    origin: str = ""
    device: str = ""


#: Characters of each part of one, at most.
_LIMITS = {"endpoint": MAX_URL, "p256dh": MAX_PART, "auth": MAX_PART, "origin": 2 * MAX_PART, "device": MAX_PART}


def decode(data: bytes) -> dict[str, Subscription]:
    """Those in the text of a file, by their endpoints, except broken ones. `DecodeError` if it is no such file."""
    found = values.members(data)
    rows = found.get("subscriptions") if found.get("version") == VERSION else None
    if not isinstance(rows, list):
        raise DecodeError("malformed", "it holds no subscriptions")
    known = {}
    for row in rows[:MAX_SUBSCRIPTIONS]:
        given = row if isinstance(row, dict) else {}
        read = {name: values.exact(given.get(name, ""), most) for name, most in _LIMITS.items()}
        parts = {name: part for name, part in read.items() if part is not None and part.isascii()}
        if len(parts) == len(_LIMITS) and parts["endpoint"]:
            known[parts["endpoint"]] = Subscription(**parts)
    return known


def folder(environ: Mapping[str, str]) -> Path:
    """Where they are kept."""
    return directories.state_dir(environ) / "push"


@attrs.define
class Store:
    """The directory *path*: `key.pem` and `subscriptions.json`. `TallyError`, `OSError`: what is wrong with it."""

    path: Path
    _held: contextlib.ExitStack | None = attrs.field(init=False, default=None)

    @property
    def file(self) -> Path:
        return self.path / "subscriptions.json"

    def open(self) -> None:
        """Make the directory, and hold it against other servers."""
        if self._held is not None:
            return
        lock = contextlib.ExitStack()
        lock.enter_context(held(self.path, "another `tally serve` sends the messages of this user; end it first"))
        self._held = lock

    def close(self) -> None:
        """Leave the directory to others."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def key(self, new: bytes) -> bytes:
        """The text of the key; *new* is written if there is none."""
        file = self.path / "key.pem"
        try:
            return read_write.read_own(file, MAX_KEY)
        except FileNotFoundError:
            read_write.atomic_write(file, new, 0o600)
            return new

    def load(self) -> dict[str, Subscription]:
        """All that are kept."""
        try:
            return decode(read_write.read_own(self.file, MAX_BYTES))
        except FileNotFoundError:
            return {}
        except DecodeError:
            raise TallyError(f"{self.file} cannot be read; remove it, and switch the messages on again") from None

    def save(self, found: Mapping[str, Subscription]) -> None:
        """Keep these and no others."""
        rows = [attrs.asdict(one) for one in found.values()]
        text = json.dumps({"version": VERSION, "subscriptions": rows})
        read_write.atomic_write(self.file, text.encode("ascii"), 0o600)
