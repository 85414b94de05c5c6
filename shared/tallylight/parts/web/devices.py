"""
Devices: browsers that stay signed in over restarts.

They are in `<state directory>/devices/devices.json`, readable by this user alone. Each has a key of its own; only its
hash is stored. The most recently used ones are kept, each for ninety days after its last use. Servers and `tally serve
--revoke` write the file one at a time, by rename; a server reads it again after a change. If the file cannot be read,
no device is let in.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tallylight.files import directories, read_write
from tallylight.model import attributes
from tallylight.model.errors import TallyError
from tallylight.snapshot.row_file import RowFile
from tallylight.snapshot.values import ID, NUMBER, TEXT, Form, declared
from tallylight.wire.text import sanitise

MAX_DEVICES = 16
#: Seconds that a device stays signed in after its last use; and seconds until a use is recorded again.
UNUSED_S, NOTED_S = 90 * 86400.0, 86400.0
#: The longest name of a device.
DEVICE_NAME_CELLS = 60
#: Bytes of an id and of a key, and hexadecimal digits of a hash.
_ID_BYTES, _KEY_BYTES, _DIGITS = 4, 32, 64
#: How long, in seconds, another process may write before a change is dropped.
FILE_LOCK_S = 1.0
_HASH = re.compile("[0-9a-f]{64}")
_DIGEST = Form(lambda value: value if isinstance(value, str) and _HASH.fullmatch(value) else None, {"type": "string"})

Known = Mapping[str, "Device"]


@attributes.frozen
class Device:
    """A browser, and the SHA-256 of its key; when it was signed in and last used, in seconds since the epoch."""

    id: str = attributes.field(metadata=declared("", ID))
    name: str = attributes.field(metadata=declared("", TEXT))
    digest: str = attributes.field(metadata=declared("", _DIGEST))
    made: float = attributes.field(metadata=declared("", NUMBER))
    used: float = attributes.field(metadata=declared("", NUMBER))

    def proof(self, said: str) -> str:
        """Return a proof that only a server with this device's hash can make."""
        return hmac.new(bytes.fromhex(self.digest), said.encode("utf-8", "replace"), "sha256").hexdigest()


_KEPT = RowFile(Device, "devices", MAX_DEVICES)


def path(environ: Mapping[str, str]) -> Path:
    return directories.serve_devices(environ)


def read(file: Path) -> dict[str, Device]:
    """Return all stored devices by their ids; raise `OSError` or `TallyError` if the file cannot be used."""
    return {device.id: device for device in _KEPT.read(file)}


def change(file: Path, how: Callable[[dict[str, Device]], Known]) -> dict[str, Device]:
    """Replace the stored devices by the result of *how*, and return that. `OSError` or `TallyError` if that fails."""

    def made(rows: tuple[Device, ...]) -> Iterable[Device]:
        return how({device.id: device for device in rows}).values()

    after = _KEPT.change(file, made, "another process keeps that file busy; try again", FILE_LOCK_S)
    return {device.id: device for device in after}


class Devices:
    """
    The devices in *file*. `is_in`, `holder` and `proof` use the last `poll`, and wait for nothing.

    `poll`, `add` and `end` wait for the disk: call them on threads.
    """

    def __init__(self, file: Path, clock: Callable[[], float] = time.time) -> None:
        self._file, self._clock = file, clock
        self._known: Known = {}
        self._stamp: read_write.Stamp | None = None
        #: Uses since they were last recorded, by device.
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def _of(self, id_: str) -> Device | None:
        """Return a device if it is signed in. Another thread may change them meanwhile."""
        one = self._known.get(id_)
        return one if one is not None and self._clock() - one.used <= UNUSED_S else None

    def is_in(self, id_: str) -> bool:
        """Return whether this device is signed in; `""` means the token."""
        return not id_ or self._of(id_) is not None

    def holder(self, given: str) -> str:
        """Return the id of the device with the key *given*, `ID.KEY`; empty without one. Compares in constant time."""
        id_, _, key = given.partition(".")
        one = self._of(id_)
        if not hmac.compare_digest(_hash(key), one.digest if one is not None else "0" * _DIGITS):
            return ""
        self._used[id_] = self._clock()
        return id_

    def proof(self, id_: str, said: str) -> str:
        """Return the proof that this server knows a device; empty if it does not."""
        one = self._of(id_)
        return one.proof(said) if one is not None else ""

    def add(self, name: str) -> str:
        """Sign in a device, and return its key, `ID.KEY`. It may replace the least recently used one."""
        id_, key, now = secrets.token_hex(_ID_BYTES), secrets.token_hex(_KEY_BYTES), self._clock()
        made = Device(id_, sanitise(name, cells=DEVICE_NAME_CELLS)[:_DIGITS], _hash(key), now, now)

        def grown(known: dict[str, Device]) -> Known:
            latest = sorted(known.values(), key=lambda one: self._used.get(one.id, one.used))[-(MAX_DEVICES - 1) :]
            return {one.id: one for one in (*latest, made)}

        with self._lock:
            self._known = change(self._file, grown)
        return f"{id_}.{key}"

    def end(self, id_: str) -> None:
        """Sign a device out."""
        with self._lock:
            self._known = change(self._file, lambda known: without(known, id_))

    def poll(self) -> None:
        """Read changes of the file, record uses in it, and remove devices unused for too long."""
        with self._lock:
            stamp = read_write.stamp(self._file)
            if stamp != self._stamp:
                try:
                    self._known, self._stamp = read(self._file), stamp
                except (OSError, TallyError):
                    self._known, self._stamp = {}, None
            now, known = self._clock(), self._known
            self._used = {id_: at for id_, at in dict(self._used).items() if id_ in known}
            is_due = any(at - known[id_].used > NOTED_S for id_, at in self._used.items())
            if is_due or any(now - one.used > UNUSED_S for one in known.values()):
                with contextlib.suppress(OSError, TallyError):  # a use that cannot be recorded now is recorded later
                    self._known = change(self._file, lambda kept: self._noted(kept, now))

    def _noted(self, known: Known, now: float) -> Known:
        """Return *known* with the times of use since, without devices that were unused for too long."""
        used = {id_: attributes.evolve(one, used=max(one.used, self._used.get(id_, 0.0))) for id_, one in known.items()}
        return {id_: one for id_, one in used.items() if now - one.used <= UNUSED_S}


def without(known: Known, id_: str) -> Known:
    return {key: one for key, one in known.items() if key != id_}


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
