"""The records of agents in a pane: what is read of them, when, and what becomes of it."""

from __future__ import annotations

import itertools
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records.places import Place, Places, StrangeError, added, ask
from tallylight.evidence.records.reading import TAIL_BYTES, Reading, Turn
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane import transcript as transcript_module
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.pane.transcript import Transcript, TranscriptRequest
from tests.hosts.test_pane import CODEX, SHELL, HandTable
from tests.parts.transcripts.kept import Kept, kept, make_database
from tests.parts.transcripts.test_readers import LATE_S
from tests.tables import each


@attrs.define
class Table(HandTable):
    """One that also says when a process started, and where it works."""

    started: float = 1.0

    def start_time(self, pid: int) -> float | None:
        return self.started

    def cwd(self, pid: int) -> str:
        return "/home/user/project"


@pytest.fixture
def record() -> Kept:
    return kept("codex")


@pytest.fixture
def rollout(tmp_path: Path) -> Path:
    """Where Codex writes; the folder is there, the file is not."""
    path = (
        tmp_path / ".codex/sessions/2026/11/22/rollout-2026-11-22T08-56-08-01a20278-4d7d-7180-97a9-3729dd904e37.jsonl"
    )
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    """A pane in which Codex runs."""
    table = Table(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CODEX.pid, 0.0)
    return pane


def look(pane: Pane, now: float, ticks: int = transcript_module.EAGER_EVERY) -> None:
    """What a host does in so many ticks."""
    for _ in range(ticks):
        for request in pane.requests():
            pane.take_result(request, request.read(), now)


def test_what_a_record_tells_reaches_the_snapshot(pane: Pane, rollout: Path, record: Kept) -> None:
    """Model, context, reply, subagents and limit are fields of the pane's entry; the session is remembered."""
    rollout.write_bytes(record.data)
    look(pane, 1.0)

    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")
    assert (entry.about.model, entry.reply, entry.limited_until > 0) == ("scripted", "Here is a short answer.", True)
    assert pane.conversation.entry.session
    assert not entry.evidence.strange_record


def test_a_record_that_begins_with_the_first_turn(pane: Pane, rollout: Path, record: Kept) -> None:
    """It is looked for seldom beside a silent agent, and at once when that begins to work."""
    look(pane, 1.0, ticks=3 * transcript_module.EAGER_TICKS + 1)
    rollout.write_bytes(record.data)
    look(pane, 60.0, ticks=1)
    assert pane.transcript.session == ""

    pane.title("⠋ codex", 61.0)
    look(pane, 61.5, ticks=1)
    assert pane.transcript.session


def test_a_call_in_a_record_is_no_subject(pane: Pane, rollout: Path, record: Kept) -> None:
    """A title says that it asks, and the record is late: a call without a result there may be of the dialog before."""
    lines = record.lines
    call = next(number for number, line in enumerate(lines) if b'"exec_command"' in line)
    rollout.write_bytes(b"".join(lines[: call + 1]))
    pane.title("[ ! ] Action Required | codex", 0.5)
    look(pane, 1.0)

    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")
    assert (entry.status, entry.kind, entry.message, entry.what) == ("waiting", "permission", "", "")


def test_an_end_of_long_ago_is_old_news(pane: Pane, rollout: Path, record: Kept) -> None:
    """What a record says happened before the agent was first seen here lights nothing."""
    rollout.write_bytes(record.data)
    look(pane, 1.0)

    assert Source.RECORD not in pane.tracker.answers.claims


def test_how_a_turn_ended_counts(pane: Pane, rollout: Path, record: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Done, broken off, failed and stopped by a limit are told as they are written, each until the next turn begins."""
    pane.title("⠋ codex", 0.5)
    shown: list[tuple[Status, Kind | None]] = []
    for line in record.lines:
        with rollout.open("ab") as file:
            file.write(line)
        at = record.reader.read(line, None).turn
        monkeypatch.setattr(time, "time", lambda at=at: at.at + 0.1 if at is not None else 0.0)
        look(pane, 10.0 * (len(shown) + 1), ticks=transcript_module.AGAIN_EVERY)
        claim = pane.tracker.answers.claims.get(Source.RECORD)
        state = (claim.status, claim.report.kind) if claim is not None else None
        if state is not None and shown[-1:] != [state]:
            shown.append(state)

    limited = (Status.WAITING, Kind.LIMIT)
    assert shown == [(Status.DONE, None), (Status.IDLE, None), (Status.DONE, None), (Status.ERROR, None), limited]


def test_what_a_turn_came_to(pane: Pane, rollout: Path, record: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last sentence of its reply is told while it is done; a new turn begins without it."""
    end = next(number for number, line in enumerate(record.lines) if b'"task_complete"' in line)
    monkeypatch.setattr(time, "time", lambda: ((turn := record.reader.read(record.data, None).turn) and turn.at) or 0.0)
    pane.title("⠋ codex", 0.5)
    rollout.write_bytes(b"".join(record.lines[:end]))
    look(pane, 2.0)
    assert pane.outcome == ""
    with rollout.open("ab") as file:
        file.write(record.lines[end])
    look(pane, 3.0)
    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")
    assert (entry.status, entry.outcome) == (Status.DONE, "Here is a short answer.")
    pane.title("codex", 9.0)
    pane.title("⠙ codex", 10.0)
    assert pane.outcome == ""


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
def test_an_end_across_a_jump_of_the_clock(
    pane: Pane, rollout: Path, record: Kept, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    """The clock was set, or the machine suspended, after a turn had ended and before that was read: it is news."""
    end = next(number for number, line in enumerate(record.lines) if b'"task_complete"' in line)
    ended = record.reader.read(b"".join(record.lines[: end + 1]), None).turn
    assert ended is not None and ended.status is Status.DONE
    monkeypatch.setattr(time, "time", lambda: ended.at)
    pane.title("⠋ codex", 0.5)
    pane.tick(1.0)
    rollout.write_bytes(b"".join(record.lines[:end]))
    look(pane, 2.0)
    assert pane.decision.status is Status.WORKING
    monkeypatch.setattr(time, "time", lambda: ended.at + jump)
    with rollout.open("ab") as file:
        file.write(record.lines[end])
    look(pane, 3.0)
    assert pane.decision.status is Status.DONE
    assert pane.decision.since >= 2.0


@each("agent", ("copilot", "kimi"))
def test_a_turn_after_the_clock_was_set_back(agent: str, tmp_path: Path) -> None:
    """It seems to be older than its process. What was not there when the transcript was first read is its own."""
    kept_one, path = kept(agent), tmp_path / "record"
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    known = next(found for found in agents if found.name == agent)
    own = transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), 0.0)
    found = transcript_module.TranscriptState(place=Place(str(path)), started=kept_one.truths[-1][0] + 3_600)
    shown = set()
    for line in kept_one.lines:
        with path.open("ab") as file:
            file.write(line)
        found = TranscriptRequest(transcript=own, before=found, is_locating=False).read() or own.found
        report = own.take(found, 10.0)
        shown.add(report.status if report is not None else None)

    assert {Status.WORKING, Status.WAITING, Status.DONE} <= shown


@each("agent", ("cline", "copilot", "kimi"))
def test_all_of_a_turn_by_an_exact_record(agent: str, tmp_path: Path) -> None:
    """That it works and asks is told as well, and then it is so; what an earlier process left goes on no more."""
    kept_one, told = kept(agent), list[tuple[str, float]]()
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    known = next(found for found in agents if found.name == agent)
    started = kept_one.truths[0][0]
    own, other = (transcript_module.Transcript(known, CODEX, Table(str(tmp_path)), 0.0) for _ in range(2))
    for state in kept_one.steps():
        report = own.take(transcript_module.TranscriptState(reading=state, is_exact=True, started=started), 10.0)
        if report is not None and report.status is not None and state.turn is not None:
            told.append((str(report.status), state.turn.at))
            assert bool(report.what) is (report.status is Status.WAITING)
        later = other.take(
            transcript_module.TranscriptState(reading=state, is_exact=True, started=started + 3_600), 10.0
        )
        assert later is None or later.status not in (Status.WORKING, Status.WAITING)

    assert {status for status, _ in told} >= {"working", "waiting", "done", "idle", "error"}
    for (status, at), (_, until) in itertools.pairwise([*told, ("", math.inf)]):
        if until - at < 0.1:
            continue  # an answer that ends the turn
        around = {name.partition(":")[0] for name in (kept_one.truth(at + 0.3), kept_one.truth(at - LATE_S))}
        around |= {name.partition(":")[0] for since, name in kept_one.truths if at - LATE_S <= since <= at + 0.3}
        assert ("done" if status == "background" else status) in around, (status, at)


def test_a_record_that_is_not_exact_tells_ends_alone(tmp_path: Path, record: Kept) -> None:
    """Codex writes nothing about what it asks, so that it works is nothing that its record could say."""
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    codex = next(found for found in agents if found.name == "codex")
    own = transcript_module.Transcript(codex, CODEX, Table(str(tmp_path)), 0.0)
    state: Reading | None = None
    for line in record.lines:
        state = record.reader.read(line, state)
        report = own.take(transcript_module.TranscriptState(reading=state, started=record.truths[0][0]), 10.0)
        assert report is None or report.status is not Status.WORKING
        assert report is None or report.status is not Status.WAITING or report.kind is Kind.LIMIT


def test_a_record_is_read_once(pane: Pane, rollout: Path, record: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it grows only what was added is read; while it does not, nothing."""
    read: list[int] = []
    added_to = added

    def counted(path: str, offset: int, size: int) -> tuple[bytes, int]:
        data, end = added_to(path, offset, size)
        read.append(len(data))
        return data, end

    monkeypatch.setattr(transcript_module, "added", counted)
    rollout.write_bytes(b"")
    for line in record.lines:
        with rollout.open("ab") as file:
            file.write(line[:20])
            file.flush()
            look(pane, 1.0)
            file.write(line[20:])
        look(pane, 1.0)
    before = len(read)
    look(pane, 2.0, ticks=50)

    assert sum(read) == len(record.data) and len(read) == before
    assert pane.transcript is not None
    assert pane.transcript.details == record.reader.read(record.data, None).details


def test_a_record_that_was_begun_anew(pane: Pane, rollout: Path, record: Kept) -> None:
    """One that is shorter than it was, or another file in its place, is read from its start."""
    rollout.write_bytes(record.data)
    look(pane, 1.0)
    rollout.write_bytes(record.lines[0] + record.lines[1])
    look(pane, 2.0)

    assert pane.transcript is not None and pane.transcript.details.reply == ""
    other = rollout.with_suffix(".new")
    other.write_bytes(record.data)
    other.replace(rollout)
    look(pane, 3.0)
    assert pane.transcript.details.reply


def test_a_document_that_is_written_anew(tmp_path: Path) -> None:
    """It is read whole each time it or what stands beside it changes, and half written all stays as it was."""
    path, beside, document = tmp_path / "s.messages.json", tmp_path / "s.json", kept("cline")
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    cline = next(agent for agent in agents if agent.name == "cline")
    found = transcript_module.TranscriptState(place=Place(str(path), beside=str(beside)))
    replies, told = [], list[Turn | None]()
    for prefix, reading in zip(document.prefixes(), document.steps(), strict=True):
        said, _, whole = prefix.partition(b"\0")
        written, _, text = said.partition(b"\n")
        for part in (whole[: len(whole) // 2], whole):
            path.write_bytes(part)
            beside.write_bytes(text)
            os.utime(beside, ns=(0, round(float(written) * 1e9)))
            record = Transcript(cline, CODEX, Table(str(tmp_path)), since=0.0)
            request = TranscriptRequest(transcript=record, before=found, is_locating=False)
            found = request.read() or found
            assert found.reading is not None
            replies.append(found.reading.details.reply)
        told.append(found.reading.turn)
        assert found.reading.turn == reading.turn

    first = replies.index("Here is a short answer.")
    assert all(replies[first:])
    assert {turn.status for turn in told if turn is not None} >= {
        Status.WORKING,
        Status.WAITING,
        Status.IDLE,
        Status.DONE,
    }


def test_a_subagent_that_goes_on_after_the_turn(pane: Pane, rollout: Path, record: Kept) -> None:
    """The turn counts as background until the subagent's own record tells an end; that may be of another day."""
    lines, below = record.lines, kept("codex", 1).lines
    first = next(n for n, line in enumerate(lines) if b'"name":"spawn_agent"' in line)
    end = next(n for n, line in enumerate(lines) if n > first and b'"task_complete"' in line)
    id_ = json.loads(below[0])["payload"]["id"]
    other = rollout.parents[1] / "23" / f"rollout-2026-11-23T00-00-01-{id_}.jsonl"
    other.parent.mkdir()
    other.write_bytes(b"".join(below[:-1]))
    rollout.write_bytes(b"".join(lines[: end + 1]))
    look(pane, 1e7)

    assert pane.decision.status is Status.BACKGROUND
    assert pane.transcript is not None and [child.name for child in pane.transcript.details.children] == ["Nash"]
    assert pane.decision.report.background == 1
    with other.open("ab") as file:
        file.write(below[-1])
    look(pane, 1e7 + 1)
    assert pane.decision.status is Status.DONE
    assert pane.transcript.details.children == ()
    assert pane.decision.since == 1e7 + 1


def test_a_subagent_without_a_record(pane: Pane, rollout: Path, record: Kept) -> None:
    """Of one whose record is nowhere nothing is known: the turn is over."""
    lines = record.lines
    first = next(n for n, line in enumerate(lines) if b'"name":"spawn_agent"' in line)
    end = next(n for n, line in enumerate(lines) if n > first and b'"task_complete"' in line)
    rollout.write_bytes(b"".join(lines[: end + 1]))
    look(pane, 1e7)

    assert pane.decision.status is Status.DONE
    assert pane.transcript is not None and pane.transcript.details.children == ()


def test_a_format_of_tomorrow(pane: Pane, rollout: Path, record: Kept) -> None:
    """A record in which nothing is known gives nothing, and is told as such; the light is not touched."""
    strange = record.lines[0] + b"".join(line.replace(b'"type":', b'"sort":') for line in record.lines[1:])
    rollout.write_bytes(strange)
    before = pane.decision
    look(pane, 1.0)

    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")
    assert entry.evidence.strange_record and not entry.about.model and not entry.reply
    assert pane.decision == before


def test_a_record_of_another_run_is_nobodys(pane: Pane, rollout: Path, record: Kept) -> None:
    """What a slow disk brings after the agent has gone is dropped."""
    rollout.write_bytes(record.data)
    requests = pane.requests()
    pane.foreground(SHELL.pid, 1.0)
    for request in requests:
        pane.take_result(request, request.read(), 2.0)

    assert pane.transcript is None and pane.requests() == ()


def test_files_of_a_daemon_are_nobodys(
    pane: Pane, rollout: Path, record: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a process has started in a group of its own may serve other terminals too: its files tell nothing."""
    own, daemon = Process(81, 80, CODEX.pgrp, "codex"), Process(82, 80, 82, "codex", ("codex", "app-server"))
    asked: list[int] = []

    def open_files(pids: Iterable[int], of: object) -> tuple[str, ...]:
        asked.extend(pids)
        return ()

    monkeypatch.setattr(transcript_module, "open_files", open_files)
    monkeypatch.setattr(Table, "descendants", lambda self, pid: (own, daemon))
    look(pane, 1.0, ticks=1)

    assert asked == [CODEX.pid, own.pid]


def test_a_record_is_looked_for_less_and_less(pane: Pane) -> None:
    """An agent that keeps none costs a search in every fourth tick at first, and in every sixteenth later."""
    asked = [any(isinstance(request, TranscriptRequest) for request in pane.requests()) for _ in range(200)]

    assert sum(asked[:40]) == 10 and sum(asked[40:]) == 10


def test_others_in_a_directory_are_looked_for_where_it_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """aider's history is nobody's where two write into it; where there is none, the process table is let alone."""
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    aider = next(agent for agent in agents if agent.name == "aider")
    others: list[float] = []
    looks: list[int] = []

    def rival_starts(process: Process, *_: object) -> tuple[float, ...]:
        looks.append(process.pid)
        return tuple(others)

    def place() -> Place | None:
        record = Transcript(aider, CODEX, Table(str(tmp_path)), since=0.0)
        request = TranscriptRequest(transcript=record, before=record.found, is_locating=True, cwd=str(tmp_path))
        found = request.read()
        return found.place if found is not None else None

    monkeypatch.setattr(transcript_module, "rival_starts", rival_starts)
    assert place() is None and not looks
    (tmp_path / ".aider.chat.history.md").write_text("# aider chat started at 1\n")
    assert place() is not None and looks
    others.append(1.0)
    assert place() is None


def test_no_more_than_its_end_is_read(tmp_path: Path) -> None:
    """Of a long file the last bytes, and a line that is cut in front is no entry; one without an end comes later."""
    path = tmp_path / "record"
    path.write_bytes(b"x" * TAIL_BYTES + b"\n" + b"whole\npart")
    size = path.stat().st_size
    data, end = added(str(path), 0, size)

    assert data.endswith(b"\nwhole\n") and len(data) <= TAIL_BYTES
    assert added(str(path), end, size) == (b"", end)
    path.write_bytes(b"y" * 2 * TAIL_BYTES)
    # A line that is longer than all that is read at once is passed over.
    assert added(str(path), 0, path.stat().st_size) == (b"", path.stat().st_size)


def test_what_grows_while_alone(tmp_path: Path) -> None:
    """A file that was written to, or made, between two looks at which nobody else was there has grown; no other has."""
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    Path(old).write_text("a")
    os.utime(old, (100, 100))
    first = Places()
    assert first.grew(Place(old)) == 0
    os.utime(old, (200, 200))
    Path(new).write_text("b")
    os.utime(new, (150, 150))

    alone = Places(before=first.seen, is_alone=True)
    assert (alone.grew(Place(old)), alone.grew(Place(new))) == (200, 150)
    beside = Places(before=first.seen)
    assert (beside.grew(Place(old)), beside.grew(Place(new))) == (0, 0)
    assert Places(before=alone.seen).grew(Place(old)) == 200


def test_a_database_is_neither_held_up_nor_written(tmp_path: Path) -> None:
    """Read while another writes into it; while it is locked there is nothing, at once; what is none is nothing."""
    path = tmp_path / "opencode.db"
    session = make_database("opencode", path)
    query = ("select id from session where id = ?",)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("begin immediate")
    writer.execute("update session set title = 'other'")
    assert ask(str(path), query, (session,)) == [(session,)]
    writer.execute("rollback")
    writer.execute("pragma journal_mode = delete")
    writer.execute("begin exclusive")
    assert ask(str(path), query, (session,)) == []
    writer.close()

    (tmp_path / "none").write_bytes(b"what is this")
    assert ask(str(tmp_path / "none"), query, (session,)) == []
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(StrangeError):
        ask(str(tmp_path / "empty"), query, (session,))
    assert ask(str(tmp_path / "absent"), query, (session,)) == [] and not (tmp_path / "absent").exists()
    os.mkfifo(tmp_path / "pipe")
    assert ask(str(tmp_path / "pipe"), query, (session,)) == []
    assert ask(str(path), ("delete from session",), ()) == []
    assert sqlite3.connect(path).execute("select count(*) from session").fetchone() != (0,)


def test_a_query_without_an_end_is_given_up(tmp_path: Path) -> None:
    """However much a database holds: a question takes so long and no longer."""
    path = tmp_path / "opencode.db"
    make_database("opencode", path)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"

    assert ask(str(path), (endless,), ()) == []
