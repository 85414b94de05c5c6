"""The files of an agent's own: what there is of them, whatever else has their names."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.records.reading import TAIL_BYTES
from tallylight.pane.file_request import FileRequest

STATUS = b'{"status": "busy"}'


@pytest.fixture
def wanted(tmp_path: Path) -> FileRequest:
    """A turn whose end is to be told by a transcript; neither file is there yet."""
    transcript = tmp_path / "projects/-home-user/session.jsonl"
    transcript.parent.mkdir(parents=True)
    return FileRequest(tmp_path / "sessions.json", transcript, STATUS, is_undecided=True)


def read(wanted: FileRequest) -> tuple[bytes | None, bytes]:
    """What `FileRequest.read` gives, if it gives anything at all within a long time."""
    found: list[tuple[bytes | None, bytes]] = []
    thread = threading.Thread(target=lambda: found.append(wanted.read()), daemon=True)
    thread.start()
    thread.join(20)
    assert found, "it hangs"
    return found[0]


def test_what_is_not_there(wanted: FileRequest) -> None:
    """A status file that is not there is None, and a transcript nothing."""
    assert read(wanted) == (None, b"")


def test_the_end_of_a_transcript(wanted: FileRequest) -> None:
    """Of a long transcript the end is read, and of a short one everything."""
    assert wanted.transcript is not None
    wanted.status_file.write_bytes(STATUS)
    wanted.transcript.write_bytes(b"short")
    assert read(wanted) == (STATUS, b"short")

    wanted.transcript.write_bytes(b"begin" + b"x" * TAIL_BYTES + b"end")
    _, tail = read(wanted)
    assert (len(tail), tail[-4:]) == (TAIL_BYTES, b"xend")


def test_a_transcript_that_can_tell_nothing(wanted: FileRequest) -> None:
    """It is read after the status file has changed, or while a turn's end is open; else it is left alone."""
    assert wanted.transcript is not None
    wanted.status_file.write_bytes(STATUS)
    wanted.transcript.write_bytes(b"end")
    decided = attrs.evolve(wanted, is_undecided=False)

    assert read(decided) is None
    assert read(attrs.evolve(decided, known=b"other")) == (STATUS, b"end")
    assert read(attrs.evolve(wanted, transcript=None)) == (STATUS, b"")


def test_a_session_that_has_moved(wanted: FileRequest) -> None:
    """The transcript of a session that went to another directory lies where it began."""
    assert wanted.transcript is not None
    elsewhere = wanted.transcript.parents[1] / "-home-other" / wanted.transcript.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(b"end")

    assert read(wanted) == (None, b"end")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["a pipe that nobody writes to", "a directory"])
def test_no_file(wanted: FileRequest, make: Callable[[Path], None]) -> None:
    """What is no file in their places holds nothing, and is not waited for: the one worker has more to do."""
    assert wanted.transcript is not None
    make(wanted.status_file)
    make(wanted.transcript)

    assert read(wanted) == (b"", b"")
