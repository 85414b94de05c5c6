"""The file of turns: several hosts write it, what is too old or too much goes, and nothing but a bad line is lost."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.files.read_write import FileError
from tallylight.model.errors import TallyError
from tallylight.model.limits import KEPT_S
from tallylight.parts.diary import history_file
from tallylight.parts.diary.history import Sum, added, merged, total, without_repeated
from tallylight.parts.diary.history_file import (
    MAX_HISTORY_BYTES,
    MAX_HISTORY_LINE_BYTES,
    append,
    path,
    read,
    recent,
    trim,
    trimmed,
)
from tallylight.parts.diary.turns import Ending, Turn

NOW = 1_763_690_000.0


def turn(id_: str = "kitty-1:3:1", began: float = NOW, **fields: object) -> Turn:
    made = Turn(id=id_, agent="claude", project="api", began=began, ended=began + 10, worked_s=10.0)
    return attrs.evolve(made, **fields)  # type: ignore[arg-type]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}


@pytest.fixture
def file(environ: dict[str, str]) -> Path:
    return path(environ)


def test_written_and_read(file: Path) -> None:
    """Lines are added at the end; read in the order in which the turns began; for nobody else to read."""
    append(file, [turn("b", NOW + 5)])
    append(file, [turn("a"), turn("c", NOW + 9)])
    append(file, [])

    assert [one.id for one in read(file)] == ["a", "b", "c"]
    assert [one.id for one in read(file, NOW + 5)] == ["b", "c"]
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_without_a_file(file: Path) -> None:
    """There is nothing to read, and nothing to trim."""
    trim(file, NOW)

    assert read(file) == [] and not file.parent.exists()


def test_the_last_word_counts(file: Path) -> None:
    """A turn that was written while it went on is the one that was written last."""
    append(file, [turn(worked_s=3.0), turn("b"), turn(worked_s=9.0, ending=Ending.DONE)])

    assert [(one.id, one.worked_s) for one in read(file)] == [("b", 10.0), ("kitty-1:3:1", 9.0)]


def test_broken_lines_cost_themselves(file: Path) -> None:
    """Half a line, another program's, a huge one, bytes that are no text: the others are read, before and after."""
    append(file, [turn("a")])
    junk = [
        b'{"id":"x"',
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"[" * 9000,
        b'{"id":"' + b"y" * MAX_HISTORY_LINE_BYTES + b'"}',
        b"null",
        b"",
    ]
    with file.open("ab") as out:
        out.write(b"\n".join(junk))  # the last line has no end
    append(file, [turn("b")])

    assert [one.id for one in read(file)] == ["a", "b"]
    trim(file, NOW)
    assert [json.loads(line)["id"] for line in file.read_bytes().splitlines()] == ["a", "b"]


def test_a_line_without_an_end(file: Path) -> None:
    """What the power cut off does not take the next line with it."""
    append(file, [turn("a"), turn("b")])
    os.truncate(file, file.stat().st_size - 5)
    append(file, [turn("c")])

    assert [one.id for one in read(file)] == ["a", "c"]


def test_what_is_old_goes(file: Path) -> None:
    """After thirty days; where nothing is to go, the file is not touched."""
    append(file, [turn("old", NOW - KEPT_S - 60), turn("new", NOW - KEPT_S + 60)])
    before = file.stat().st_ino
    trim(file, NOW - 3600)
    assert file.stat().st_ino == before
    trim(file, NOW)

    assert [one.id for one in read(file)] == ["new"]
    assert (file.stat().st_mode & 0o777) == 0o600


def test_it_never_grows_beyond_its_limit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest make room for the newest."""
    monkeypatch.setattr(history_file, "MAX_HISTORY_BYTES", 5000)
    for n in range(200):
        append(file, [turn(f"t{n:03}", NOW + n)])
        assert file.stat().st_size <= 5000

    ids = [one.id for one in read(file)]
    assert ids[-1] == "t199" and len(ids) > 20
    assert ids == [f"t{n:03}" for n in range(200 - len(ids), 200)]


def test_a_turn_of_many_bytes(file: Path) -> None:
    """Texts of emoji that would make the line too long are left out; the turn is not."""
    append(file, [turn(title="x" * 400, asked=("👩‍👩‍👧‍👦" * 500,))])

    assert [(one.title, one.worked_s) for one in read(file)] == [("", 10.0)]


_TURNS = st.builds(
    turn,
    st.sampled_from([f"kitty-{n}:3:1" for n in range(6)]),
    st.integers(0, 20).map(lambda n: NOW + n),
    title=st.text(max_size=20),
    worked_s=st.floats(0, 1000).map(lambda s: round(s, 1)),
)
_LINES = st.lists(st.one_of(_TURNS.map(history_file._line), st.binary(max_size=40).map(lambda data: data + b"\n")))


@pytest.mark.slow
@given(_LINES, st.integers(-5, 40), st.integers(0, 600) | st.none())
def test_trimming(lines: list[bytes], before: int, room: int | None) -> None:
    """Whole lines in their order, each turn once by its last word, none too old, the newest kept, no more than fits."""
    data, cut = b"".join(lines), NOW + before
    kept = trimmed(data, before=cut, room=room)
    turns = {one.id: one for _, one in history_file._turns(data)}
    ids = [one.id for _, one in history_file._turns(kept)]

    assert trimmed(kept, before=cut, room=room) == kept
    assert set(kept.splitlines(keepends=True)) <= set(data.replace(b"\n", b"\n\0").split(b"\0"))
    assert len(ids) == len(set(ids)) == kept.count(b"\n")
    assert {id_: turns[id_] for id_ in ids} == {one.id: one for _, one in history_file._turns(kept)}
    assert set(ids) == {id_ for id_, one in turns.items() if one.ended >= cut}


@given(st.lists(_TURNS, min_size=1, max_size=40), st.integers(0, 2000))
def test_trimming_for_room(turns: list[Turn], room: int) -> None:
    """What is left is the end of what there was, and one more line would have been too much."""
    lines = [history_file._line(attrs.evolve(one, id=f"t{n}")) for n, one in enumerate(turns)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_file, "MAX_HISTORY_BYTES", 5000)
        kept = trimmed(b"".join(lines), room=room)
    left = kept.splitlines(keepends=True)

    assert left == lines[len(lines) - len(left) :]
    assert len(kept) <= 4000 - room
    assert len(left) == len(lines) or len(kept) + len(lines[len(lines) - len(left) - 1]) > 4000 - room


def test_two_hosts_at_once(file: Path) -> None:
    """Who does not get the lock does not wait, and writes nothing."""
    append(file, [turn("a")])
    fd = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with pytest.raises(history_file.BusyError):
        append(file, [turn("b")])
    with pytest.raises(history_file.BusyError):
        trim(file, NOW)
    os.close(fd)
    append(file, [turn("c")])

    assert [one.id for one in read(file)] == ["a", "c"]


def test_a_full_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could be written of a line before the disk was full is taken back; what was there stays."""
    append(file, [turn("a")])
    before, write = file.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    with pytest.raises(OSError) as caught:
        append(file, [turn("b")])

    assert caught.value.errno == errno.ENOSPC
    assert file.read_bytes() == before


@pytest.fixture
def odd(file: Path) -> Iterator[Path]:
    file.parent.mkdir(mode=0o700, parents=True)
    yield file


def test_a_file_that_is_none(odd: Path) -> None:
    """A FIFO, a link or a directory in its place is not written to and not waited for."""
    os.mkfifo(odd)
    for call in (lambda: append(odd, [turn()]), lambda: read(odd), lambda: trim(odd, NOW)):
        with pytest.raises((OSError, TallyError)):
            call()  # type: ignore[no-untyped-call]
    odd.unlink()
    odd.symlink_to(odd.parent / "elsewhere")
    with pytest.raises((OSError, TallyError)):
        append(odd, [turn()])
    assert not (odd.parent / "elsewhere").exists()


def test_a_directory_of_others(odd: Path) -> None:
    """Where other users can write, nothing is written and nothing is believed."""
    append(odd, [turn()])
    odd.parent.chmod(0o777)
    with pytest.raises(TallyError):
        append(odd, [turn("b")])
    with pytest.raises(TallyError):
        read(odd)


def test_a_huge_file(odd: Path) -> None:
    """It is refused with a reason, by the reader and by the writer."""
    with odd.open("wb") as out:
        out.truncate(2 * MAX_HISTORY_BYTES + 1)
    odd.chmod(0o600)
    for call in (lambda: append(odd, [turn()]), lambda: read(odd)):
        with pytest.raises(FileError, match="larger than"):
            call()  # type: ignore[no-untyped-call]


def test_what_doctor_says(environ: dict[str, str], file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing while it can be written, or could be made; else what is in the way."""
    assert history_file.problem(environ) == ""
    append(file, [turn()])
    assert history_file.problem(environ) == ""
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        assert "cannot be written to" in history_file.problem(environ)
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: os.statvfs_result((0,) * 10))
        assert "is full" in history_file.problem(environ)
    file.parent.chmod(0o777)
    assert "other users" in history_file.problem(environ)


# What turns come to ---------------------------------------------------------------------------------------------


def test_the_days(environ: dict[str, str], file: Path) -> None:
    """The last of them is today, each has the turns that began in it, and a day that the clocks are changed is one."""
    noon = time.mktime((2026, 3, 29, 12, 0, 0, 0, 0, -1))
    append(file, [turn("a", noon), turn("b", noon - 86400), turn("c", noon - 3 * 86400)])
    found = recent(environ, noon + 60, 3)

    assert found.days == ("2026-03-27", "2026-03-28", "2026-03-29")
    assert [(one.day, one.turns) for one in found.sums] == [("2026-03-28", 1), ("2026-03-29", 1)]
    assert found.to_json()["sums"][0]["agent"] == "claude"


def test_sums() -> None:
    """Each of a day, an agent and a project; the second half of a turn counts its time alone."""
    turns = [
        turn("a", worked_s=10.0, waited_s=5.0, questions=2, ending=Ending.ERROR),
        turn("b", worked_s=1.0, goes_on=True, ending=Ending.DOWN),
    ]
    whole = total(turns)

    assert whole == Sum(turns=1, worked_s=11.0, waited_s=5.0, questions=2, errors=2)
    monday, tuesday = (attrs.evolve(whole, day=day, agent="claude", project="api") for day in ("1", "2"))
    other = Sum(agent="codex", worked_s=99.0)
    assert merged([monday, tuesday, other]) == [other, added([whole, whole], agent="claude", project="api")]


def test_what_two_hosts_tell() -> None:
    """An agent in tmux counts once: by the host that saw its process. One on another machine counts as well."""
    inside = turn("sessions-5:%1:1", session="s")
    echo = turn("kitty-1:3:1", is_remote=True)
    same = attrs.evolve(echo, session="s")
    elsewhere = attrs.evolve(echo, session="t")
    later = attrs.evolve(echo, began=NOW + 11, ended=NOW + 20)
    other = attrs.evolve(echo, agent="codex")

    assert without_repeated([inside, echo]) == [inside] == without_repeated([same, inside])
    for alone in (elsewhere, later, other):
        assert without_repeated([inside, alone]) == [inside, alone]
    assert without_repeated([attrs.evolve(inside, id="kitty-1:4:1"), echo]) == [
        attrs.evolve(inside, id="kitty-1:4:1"), echo
    ]  # fmt: skip
