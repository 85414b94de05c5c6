"""
Subscriptions: the browsers that asked for messages, in `<state directory>/push/`, readable by this user alone.

One server at a time uses it: it holds a lock on the directory for as long as it runs, so that no two send the same. All
of this waits for the disk: call it on threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import attrs

from tallylight.files import directories, read_write
from tallylight.model import attributes
from tallylight.model.errors import TallyError
from tallylight.parts.web.push.endpoints import MAX_URL
from tallylight.snapshot.row_file import BrokenError, RowFile
from tallylight.snapshot.values import Form, declared
from tallylight.snapshot.writer import held
from tallylight.wire import values

#: The most browsers.
MAX_SUBSCRIPTIONS = 16
#: Characters of the parts of one, and bytes of the key's file.
MAX_PART, MAX_PUSH_KEY_CHARS = 128, 4096


def _part(most: int) -> Form:
    """Return the form of an ASCII text, which is never cut."""

    def read(value: object) -> str | None:
        found = values.exact(value, most)
        return found if found is not None and found.isascii() else None

    return Form(read, {"type": "string"})


@attributes.frozen
class Subscription:
    """
    A browser: its address, its two keys in base64url, and the origin of the page that asked for messages.

    *device* is the one that it is signed in as; empty for one with the token.
    """

    endpoint: str = attributes.field(metadata=declared("", _part(MAX_URL)))
    p256dh: str = attributes.field(metadata=declared("", _part(MAX_PART)))
    auth: str = attributes.field(metadata=declared("", _part(MAX_PART)))
    origin: str = attributes.field(metadata=declared("", _part(2 * MAX_PART)))
    device: str = attributes.field(default="", metadata=declared("", _part(MAX_PART)))


_KEPT = RowFile(Subscription, "subscriptions", MAX_SUBSCRIPTIONS)


def folder(environ: Mapping[str, str]) -> Path:
    """Return the folder that keeps them."""
    return directories.state_dir(environ) / "push"


@attrs.define
class Store:
    """The directory *path*: `key.pem` and `subscriptions.json`. Its methods raise `TallyError` or `OSError`."""

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
        """Return the text of the key; write *new* if there is none."""
        file = self.path / "key.pem"
        try:
            return read_write.read_own(file, MAX_PUSH_KEY_CHARS)
        except FileNotFoundError:
            read_write.atomic_write(file, new, 0o600)
            return new

    def load(self) -> dict[str, Subscription]:
        try:
            return {one.endpoint: one for one in _KEPT.read(self.file, is_strict=True) if one.endpoint}
        except BrokenError as error:
            raise TallyError(f"{error}, and switch the messages on again") from None

    def save(self, found: Mapping[str, Subscription]) -> None:
        """Store these subscriptions and no others."""
        _KEPT.write(self.file, found.values())
