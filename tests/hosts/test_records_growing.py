"""Records that grow while they are read: files in pieces that end anywhere, databases by messages."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.evidence.records.places import Place
from tallylight.evidence.records.reading import Turn
from tallylight.model.status import Status
from tallylight.pane import transcript as transcript_module
from tallylight.pane.transcript import TranscriptRequest
from tests.hosts.test_pane import CODEX
from tests.hosts.test_records import Table
from tests.parts.transcripts.kept import AGENTS, DATABASES, FILES, kept, make_database


@pytest.mark.parametrize("agent", FILES)
def test_a_file_that_grows_while_it_is_read(agent: str, tmp_path: Path) -> None:
    """Written in pieces that end anywhere, and read after each: in the end it has told all, and never half a line."""
    record, path = kept(agent), tmp_path / "record"
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    known = next(found for found in agents if found.record == AGENTS[agent])
    found, told = transcript_module.TranscriptState(place=Place(str(path))), set[str]()
    of = transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), since=0.0)
    step = 1 + len(record.data) // 97
    for start in range(0, len(record.data), step):
        with path.open("ab") as file:
            file.write(record.data[start : start + step])
        request = TranscriptRequest(transcript=of, before=found, is_locating=False)
        found = request.read() or found
        told.add(repr(found.reading.turn) if found.reading is not None else "")

    assert found.reading is not None and found.offset == len(record.data)
    assert found.reading.details == record.reader.read(record.data, None).details
    assert told <= {"None", "", *(repr(reading.turn) for reading in record.steps())}


@pytest.mark.parametrize("agent", DATABASES)
def test_a_database_that_grows_while_it_is_read(agent: str, tmp_path: Path) -> None:
    """Messages come one by one into a log that is read at once; what is not committed yet is not read."""
    path = tmp_path / "record.db"
    session = make_database(agent, path)
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    known = next(found for found in agents if found.record == "opencode")
    writer = sqlite3.connect(path, isolation_level=None)
    columns = [row[1] for row in writer.execute("pragma table_info(message)")]
    messages = writer.execute("select * from message order by time_created, id").fetchall()
    writer.execute("delete from message")
    found, told = transcript_module.TranscriptState(place=Place(str(path), session)), list[Turn | None]()
    of = transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), since=0.0)

    def look() -> Turn | None:
        nonlocal found
        request = TranscriptRequest(transcript=of, before=found, is_locating=False)
        found = request.read() or found
        return found.reading.turn if found.reading is not None else None

    for message in messages:
        before = look()
        writer.execute("begin immediate")
        writer.execute(f"insert into message values ({','.join('?' * len(columns))})", message)
        assert look() == before
        writer.execute("commit")
        told.append(look())

    assert told == [reading.turn for reading in kept(agent).steps()][1:]


def test_only_news_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that tell nothing new stay with the worker, which goes on behind them; what is told is the same."""
    data, path = kept("codex").data, tmp_path / "record"
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    known = next(found for found in agents if found.record == "codex")
    monkeypatch.setattr(transcript_module, "AGAIN_EVERY", 1 << 30)
    record = transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), since=0.0)
    record.request("", "", "", Status.IDLE)
    record.take(transcript_module.TranscriptState(place=Place(str(path))), 1.0)
    handed, late, written = 0, record.request("", "", "", Status.IDLE), b""
    control = transcript_module.TranscriptState(place=Place(str(path)))
    beside = transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), since=0.0)
    for line in data.splitlines(keepends=True):
        written += line
        path.write_bytes(written)
        request = record.request("", "", "", Status.IDLE)
        assert request is not None
        if (found := request.read()) is not None:
            record.take(found, 1.0)
            handed += 1
        plain = TranscriptRequest(transcript=beside, before=control, is_locating=False)
        control = plain.read() or control
        assert record.details == control.details

    assert 0 < handed < len(data.splitlines()) // 2
    before = record.request("", "", "", Status.IDLE)
    assert late is not None and before is not None and late.read() is not None
    after = record.request("", "", "", Status.IDLE)
    assert after is not None and after.before is before.before, "one that was given up changes nothing"
