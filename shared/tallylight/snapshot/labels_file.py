"""
The file of labels: `<state directory>/labels/labels.json`, readable by this user alone.

Every list of this user writes it, by rename, one at a time; a reader sees either the old file or the new one, whole. A
broken file is reported to readers and otherwise ignored; the next change sets it aside.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from tallylight.files import directories, read_write
from tallylight.model.errors import DecodeError, TallyError
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.writer import held
from tallylight.wire import values

#: The most bytes of the file. Five hundred labels fit.
MAX_LABELS_BYTES = 1024 * 1024
#: The seconds for which another list may hold the file before a change is dropped.
LOCK_WAIT_S = 1.0


class BrokenError(TallyError):
    """Raised for a file of labels that cannot be read as one."""


def path(environ: Mapping[str, str]) -> Path:
    return directories.state_dir(environ) / "labels" / "labels.json"


def read(file: Path) -> Labels:
    """
    Return the labels in *file*; none if there is no file.

    Raises `BrokenError` if it is no file of labels; `OSError` and `TallyError` if it cannot be read, or may be another
    user's.
    """
    try:
        data = read_write.read_own(file, MAX_LABELS_BYTES)
    except FileNotFoundError:
        return Labels()
    try:
        found = Labels.from_json(values.load(data))
    except DecodeError:
        found = None
    if found is None:
        raise BrokenError(f"{file} has another version's format; it is ignored")
    return found


def change(file: Path, how: Callable[[Labels], Labels]) -> tuple[Labels, str]:
    """
    Replace the labels by *how* of the labels; return the new ones, and a message if a broken file was set aside.

    Raises `OSError` and `TallyError` if the disk or the directory cannot be used, or another list holds the file.
    """
    with held(file.parent, "another list keeps that file busy; try again", LOCK_WAIT_S):
        message = ""
        try:
            found = read(file)
        except BrokenError:
            aside = file.with_suffix(".broken")
            file.replace(aside)
            found, message = Labels(), f"{file.name} could not be read: it is {aside} now, and a new one was begun"
        after = how(found)
        if after != found:
            read_write.atomic_write(file, json.dumps(after.to_json()).encode("ascii"), 0o600)
    return after, message


class LabelsFile:
    """The labels in *file*, read again only after a change; *problem* says why there are none."""

    def __init__(self, file: Path) -> None:
        self.labels, self.problem = Labels(), ""
        self._file = file
        self._stamp: read_write.Stamp | None = None

    def change(self, how: Callable[[Labels], Labels]) -> str:
        """Replace the labels by *how* of the labels; return a message for the person, empty if there is none."""
        try:
            self.labels, message = change(self._file, how)
            return message
        except OSError as error:
            return f"{self._file} cannot be written: {error.strerror or error}"
        except TallyError as error:
            return str(error)

    def poll(self) -> bool:
        """Read the file if it has changed; return whether the labels have. An unreadable file has none."""
        stamp = read_write.stamp(self._file, follows=False)
        if stamp == self._stamp:
            return False
        before, self._stamp = (self.labels, self.problem), stamp
        try:
            self.labels, self.problem = read(self._file), ""
        except OSError as error:
            self.labels, self.problem = Labels(), f"{self._file}: cannot be read: {error.strerror or error}"
        except TallyError as error:
            self.labels, self.problem = Labels(), str(error)
        return (self.labels, self.problem) != before
