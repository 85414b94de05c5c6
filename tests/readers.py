"""
Every reader of a document that somebody else wrote, with a whole example of it: a new reader is one more line here.

`test_readers` puts values of the wrong type and of hostile size into each place of each example.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import attrs

from tallylight.actions import request
from tallylight.actions.answer import Question
from tallylight.agents import agent, agent_files
from tallylight.cli import hook, status, why
from tallylight.cli.output import Output
from tallylight.config import settings
from tallylight.evidence import made_with
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records import claude_status, claude_turns
from tallylight.evidence.records.readers import reader
from tallylight.files import read_write, receipt, toml
from tallylight.hooks import mapping, order, payload, tables
from tallylight.hosts.wezterm import pane_list
from tallylight.hosts.wezterm.pane_list import TabBar
from tallylight.hosts.wezterm.scene import Place
from tallylight.hosts.wezterm.scene_file import SceneFile
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.hosts.wezterm.toasts import Toasts
from tallylight.model.errors import DataFileError, DecodeError, TallyError
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane import marks, tape
from tallylight.pane.pane import Pane as HostPane
from tallylight.parts import index
from tallylight.parts.agent_hooks import json_edit, toml_edit
from tallylight.parts.agent_hooks import state as hooks_state
from tallylight.parts.conversations import in_kitty, kitty_session, open_conversations
from tallylight.parts.conversations.verbs.restore import listed_windows
from tallylight.parts.diary import history_file
from tallylight.parts.diary.turns import Ending, Turn
from tallylight.parts.diary.verbs import log
from tallylight.parts.lab import grades, stretch
from tallylight.parts.lab.asciicast import Event
from tallylight.parts.lab.asciicast import Output as Wrote
from tallylight.parts.lab.decoder import RecordingError
from tallylight.parts.lab.decoder import decode as decode_recording
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.verbs import accuracy
from tallylight.parts.remote import messages as bridge_messages
from tallylight.parts.remote.mirror import Mirror
from tallylight.parts.remote.outbox import Outbox
from tallylight.parts.remote.topics import Presence, decode_mark, decode_presence, topic
from tallylight.parts.scripts.verbs import read
from tallylight.parts.settings import reference
from tallylight.parts.shift.kept import QueuedRecorder
from tallylight.parts.web import devices, model
from tallylight.parts.web.push.endpoints import ForbiddenError, parse
from tallylight.parts.web.push.subscriptions import Store
from tallylight.parts.work import ledger
from tallylight.parts.work.ledger import Stretch
from tallylight.setup import dependencies, free_keys, made, online
from tallylight.snapshot import addresses, feed, labels_file, requests, rows, waiting_time_file, writer
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.labels import Label, Labels
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import (
    ConversationEntry,
    LosingEntry,
    Pane,
    ReasonEntry,
    RecordEntry,
    Snapshot,
)
from tallylight.snapshot.values import write
from tallylight.ui import layout
from tallylight.ui.agent_list import draw, record, state
from tallylight.wire import cli_agent, osc1338, pairs, values
from tallylight.wire.scanner import BEL, Sequence, SequenceKind
from tests.entries import new_pane
from tests.hosts.test_pane import CLAUDE, HandTable
from tests.living import sealed

Read = Callable[[bytes, Path], object]


@attrs.frozen(kw_only=True)
class Reader:
    """
    *read* gets a document, and a directory to put it into; it goes on to what the values are for.

    *modules* are those whose reading it covers; *errors* what it is documented to raise; *form* how *example* is
    written down.
    """

    modules: tuple[str, ...]
    example: Any
    read: Read
    errors: tuple[type[Exception], ...] = ()
    form: str = "json"


NOW = 1_763_690_000.0
PANE = new_pane(
    id="3",
    status=Status.WAITING,
    kind=Kind.PERMISSION,
    tab="1",
    agent="claude",
    project="api",
    title="fix",
    session="s-1",
    message="Which?",
    since=NOW,
    pid=7,
    reason=ReasonEntry(source="registry", rule="status file", at=NOW, changes="the agent"),
    records=(RecordEntry(id="a", status=Status.WORKING, source="protocol", at=NOW, fields={"title": "t"}),),
    losing=(LosingEntry(source="title", rule="glyph", status="working", at=NOW, why="older"),),
    cwd="/w",
    progress="3/7",
    question="Which?",
    choices=(("1", "Yes"),),
    prompt="f",
    resume=("claude", "--continue"),
    agent_pid=8,
    conversation=ConversationEntry(agent="claude", session="s", cwd="/w", flags=("--x",)),
    snoozed_until=NOW + 60,
    waited_s=5.0,
)


#: The panes that surfaces have shown: most bad values come to one of them, for they are passed over.
_SHOWN: set[bytes] = set()


def _use_pane(host: str, pane: Pane) -> None:
    """Do with a pane what every surface does, once."""
    text = json.dumps([host, pane.to_json()]).encode("utf-8")
    if text in _SHOWN:
        return
    now = NOW + 5
    out = Output(io.StringIO(), 80)
    found = addresses.Row(host, pane)
    why.draw(out, found, now)
    status.draw(out, [found], now)
    screen = state.refreshed(
        state.resized(record.State(), 80, 24), rows.build([_snapshot_of(host, pane)], host, now), now
    )
    str(draw.draw(screen)).encode("utf-8")
    model.session_of(found, can_see=True, can_type=True).model_dump_json().encode("utf-8")
    for at in (pane.since, pane.attention.snoozed_until, pane.reason.at):
        time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    for word in (*pane.commands.resume, *pane.commands.fork, *pane.commands.attach, pane.cwd, pane.conversation.cwd):
        assert b"\0" not in os.fsencode(word)
    _SHOWN.add(text)


def _snapshot_of(host: str, pane: Pane) -> Snapshot:
    return Snapshot(host=host, pid=1, started=0.0, written=0.0, panes=(pane,))


# Snapshots, requests, sums ---------------------------------------------------------------------------------------


def _runtime(folder: Path) -> Path:
    made = folder / "tallylight"
    made.mkdir(0o700, exist_ok=True)
    return made


def read_snapshot(document: bytes, folder: Path) -> object:
    runtime = _runtime(folder)
    try:
        made = json.loads(document)
    except (ValueError, RecursionError):
        made = None
    # The surfaces are shown what a host has written, as wrong as it is.
    text = sealed(made).encode() if isinstance(made, dict) else document
    (runtime / f"kitty-{os.getpid()}.json").write_bytes(text)
    found = feed.Feed(runtime)
    found.poll(0.0)
    for problem in found.problems:
        str(problem).encode("utf-8")
    for host in found.snapshots:
        str(host.started).encode("utf-8")
        for pane in host.panes:
            _use_pane(host.name, pane)
    writer.sweep(runtime)
    return found.snapshots


def read_conversations(document: bytes, folder: Path) -> object:
    environ = {"XDG_STATE_HOME": str(folder)}
    path = open_conversations.directory(environ) / "kitty-4194310-1763690000000.json"
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    path.write_bytes(document)
    lost, problems = open_conversations.read_lost(environ, ())
    for problem in problems:
        str(problem).encode("utf-8")
    for one in lost:
        _use_pane(one.host.name, one.pane)
    for one in open_conversations.claim(lost):
        open_conversations.put_back(one)
    open_conversations.offer(environ, NOW)
    return lost


def read_made(document: bytes, folder: Path) -> object:
    (folder / "made.json").write_bytes(document)
    found = made.read(folder / "made.json")
    made.remove(found)
    return [os.fsencode(one) for one in found]


def read_request(document: bytes, folder: Path) -> object:
    spool = Spool("kitty", environ={"XDG_RUNTIME_DIR": str(folder)})
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.sendto(document, str(spool.path))
    with mock.patch.object(requests, "MAX_AGE_S", float("inf")):
        taken = spool.take()
    pane = HostPane(Timing(), ForegroundReader(agent.Agents(), HandTable("/")), HandTable("/"))
    for one in taken:
        marks.carry_out(one, pane, 10, 1.0)
        json.dumps(one.to_json()).encode("utf-8")
    spool.close()
    return taken


def read_waited(document: bytes, folder: Path) -> object:
    (_runtime(folder) / "kitty-1.waited").write_bytes(document)
    seconds = waiting_time_file.waited_today({"XDG_RUNTIME_DIR": str(folder)}, NOW)
    return layout.duration(seconds)


def read_history(document: bytes, folder: Path) -> object:
    environ = {"XDG_STATE_HOME": str(folder)}
    path = history_file.path(environ)
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    path.write_bytes(document)
    found = history_file.recent(environ, NOW, 2)
    output = Output(io.StringIO(), 60)
    log._draw_days(output, found)
    log._draw_turns(output, found)
    json.dumps(found.to_json()).encode("utf-8")
    history_file.append(path, found.turns)
    history_file.trim(path, NOW)
    return found.turns


def read_ledger(document: bytes, folder: Path) -> object:
    ledger.path_of(folder).write_bytes(document)
    found = ledger.load(folder)
    json.dumps([write(one) for one in found]).encode("utf-8")
    ledger.add(folder, ledger.joined(ledger.of_pane(found, "kitty-1:3", 7)), NOW)
    return found


def read_grades(document: bytes, folder: Path) -> object:
    environ = {"XDG_STATE_HOME": str(folder)}
    path = grades.path(environ)
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    path.write_bytes(document)
    found = grades.read(path)
    told = [*accuracy.checks(environ, ())], [accuracy._row(one) for one in found]
    grades.add(path, found, "")
    return told


def read_package(document: bytes, _: Path) -> object:
    text = document.decode("utf-8", "replace")
    return made_with.of_npm(text), made_with.version(text, text)


def read_shifts(document: bytes, folder: Path) -> object:
    path = folder / "tallylight/shifts/70-700.json"
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    path.write_bytes(document)
    return QueuedRecorder({"XDG_STATE_HOME": str(folder)}).left(lambda _: 700)


def read_tape(document: bytes, _: Path) -> object:
    """As the data of a report, and of each other kind of entry, which may have another form."""

    def entry(kind: str) -> bytes:
        return tape._HEAD.pack(1.0, tape.KINDS.index(kind), 1, len(document)) + document

    for kind in tape.KINDS:
        with contextlib.suppress(ValueError):
            stretch.of_tape(entry(kind))
    return stretch.of_tape(entry("report"))


def read_labels(document: bytes, folder: Path) -> object:
    path = labels_file.path({"XDG_STATE_HOME": str(folder)})
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    path.write_bytes(document)
    reader = labels_file.LabelsFile(path)
    reader.poll()
    built = rows.build([_snapshot_of("kitty-1", PANE)], "kitty-1", NOW, reader.labels)
    shown = state.refreshed(state.resized(record.State(group=reader.labels.group), 80, 24), built, NOW)
    str(draw.draw(shown)).encode("utf-8")
    reader.change(lambda found: found.with_label("kitty-1", PANE, Label("n"), NOW))
    reader.poll()
    assert reader.labels.of("kitty-1", PANE).name == "n"
    return reader.labels


def read_devices(document: bytes, folder: Path) -> object:
    file = folder / "devices.json"
    read_write.atomic_write(file, document, 0o600)
    return devices.read(file)


def read_subscriptions(document: bytes, folder: Path) -> object:
    store = Store(folder)
    store.file.write_bytes(document)
    try:
        found = store.load()
    except TallyError:
        # It is told on the page, and left as it is.
        return None
    for url in found:
        with contextlib.suppress(ForbiddenError):
            parse(url)
    store.save(found)
    assert store.load() == found
    return found


# The agents' own ------------------------------------------------------------------------------------------------


_AGENTS = agent_files.load_agents({"HOME": "/nonexistent"})[0]
SESSION: dict[str, Any] = {
    "pid": CLAUDE.pid,
    "procStart": str(CLAUDE.start),
    "sessionId": "s-1",
    "cwd": "/w/api",
    "name": "Fix",
    "status": "busy",
    "waitingFor": "permission prompt",
    "statusUpdatedAt": 1_763_000_000_000,
}
ENDING = b'{"type":"user","timestamp":"2026-11-21T00:00:00Z","message":{"content":"[Request interrupted by user]"}}'


def read_session(document: bytes, folder: Path) -> object:
    table = HandTable(str(folder))
    faults: list[str] = []
    pane = HostPane(Timing(), ForegroundReader(_AGENTS, table), table, faults.append)
    pane.foreground(CLAUDE.pid, 0.0)
    wanted = pane.own_files.file_request()
    assert wanted is not None
    for number, content in enumerate((document, json.dumps({**SESSION, "status": "idle"}).encode(), document)):
        pane.own_files.files(wanted.status_file, content, ENDING, 1.0 + number)
        pane.own_files.file_request()
    assert not faults, faults
    _use_report(pane.decision)
    return claude_status.decode(document.decode("utf-8", "replace"), pid=CLAUDE.pid, start=CLAUDE.start)


def _use_report(decision: Any) -> None:
    for text in (decision.reason.rule, *(v for v in attrs.asdict(decision.report).values() if isinstance(v, str))):
        text.encode("utf-8")
        assert "\0" not in text and len(text) <= 4096


def read_transcript(document: bytes, _folder: Path) -> object:
    turns = claude_turns.Turns()
    busy = claude_status.Reading("busy", session="s", cwd="/w", at=1)
    turns.read(busy, b"", 0.0)
    found = turns.read(attrs.evolve(busy, raw="idle", at=2), document, 1.0)
    if found is not None:
        found.message.encode("utf-8")
        assert type(found.background) is int
    return found


def read_message(document: bytes, _folder: Path) -> object:
    """What the reader of Cline's document makes of one message in it."""
    inside = document.strip().removeprefix(b"{").removesuffix(b"}")
    whole = b'{\n  "messages": [\n    {\n' + inside + b"\n    }\n  ]\n}"
    found = reader("cline").read(whole, None)
    for text in (found.model, found.reply, *found.calls.values()):
        text.encode("utf-8")
        assert "\0" not in text and len(text) <= 500
    return found if found.is_known else None


def read_record(agent: str) -> Callable[[bytes, Path], object]:
    """What the reader of the record of *agent* makes of one line of it."""

    def read(document: bytes, _folder: Path) -> object:
        # One that stands in a file stands there in one line, in the way of its agent.
        try:
            line = json.dumps(json.loads(document), separators=(",", ":")).encode()
        except (ValueError, RecursionError):
            line = document.replace(b"\n", b" ")
        found = reader(agent).read(line + b"\n", None)
        details = found.details
        for text in (details.model, details.reply, found.asked_for, found.session, *details.tasks):
            text.encode("utf-8")
            assert "\0" not in text and len(text) <= 500
        assert details.context is None or 0 <= details.context <= 100
        assert type(details.limited_until) is float
        return found if found.is_known else None

    return read


def read_payload(document: bytes, _folder: Path) -> object:
    found = payload.members(document)
    last = None
    for table in tables.TABLES.values():
        for event in list(table["events"])[:4]:
            last = mapping.report(table, event, found)
            if last is None:
                continue
            made = pairs.fit({key: value for key, value in {**last, "at": "5"}.items() if value})
            said = osc1338.decode_variable(made.decode("ascii"))
            if said is not None:
                order.HookOrder().admit(made.decode("ascii"), said)
    return last


def read_hook_table(document: bytes, folder: Path) -> object:
    place = folder / "tallylight" / "hooks"
    place.mkdir(parents=True, exist_ok=True)
    (place / "claude.json").write_bytes(document)
    return hook._table("claude", {"XDG_STATE_HOME": str(folder)})


def read_settings(document: bytes, _folder: Path) -> object:
    text = document.decode("utf-8", "replace")
    json_edit.ours(text, "claude", grouped=True)
    held = json_edit.holds(text)
    hooks = {"Stop": json_edit.entry('{"type":"command","command":"{command}"}', "tally hook claude")}
    made = json_edit.insert(text, hooks, grouped=True) if not json_edit.ours(text, "claude", grouped=True) else None
    if made is not None:
        assert json_edit.remove(made[0], "claude", made[1], grouped=True) == text
    return held


def read_settings_toml(document: bytes, _folder: Path) -> object:
    text = document.decode("utf-8", "replace")
    if toml_edit.ours(text):
        return toml_edit.remove(text)
    done, piece = toml_edit.insert(text, {"Stop": "tally hook kimi"})
    assert toml_edit.remove(done, [piece]) == text
    return toml_edit.ours(done)


def read_need(document: bytes, _folder: Path) -> object:
    text = document.decode("utf-8", "replace")
    return [hooks_state._written(hooks_state._setting(text, key, is_toml=False)) for key in ("hooks", "a.b", "n")]


def read_need_toml(document: bytes, _folder: Path) -> object:
    text = document.decode("utf-8", "replace")
    return [hooks_state._written(hooks_state._setting(text, key, is_toml=True)) for key in ("hooks", "a.b", "n")]


# The fleet and the wire ------------------------------------------------------------------------------------------


def _cross_the_bridge(found: bridge_messages.Message) -> None:
    line = bridge_messages.encode(found)
    assert not line or bridge_messages.decode(line) == found


def read_bridge_message(document: bytes, _folder: Path) -> object:
    found = bridge_messages.decode(document)
    if found is not None:
        _cross_the_bridge(found)
    if isinstance(found, bridge_messages.PaneState):
        _use_pane(found.host, found.pane)
    return found


def read_pane_message(document: bytes, _folder: Path) -> object:
    mirror, outbox = Mirror("p"), Outbox("p", "m", Presence(online=True, at=5.0))
    mirror.take("p/m/machine", b'{"version":1,"online":true,"at":5}')
    place = topic("p", "m", "pane", "kitty-1", "3")
    mirror.take(place, document)
    outbox.received(place, document, 1.0, is_stored=True)
    assert outbox.take(1.0).get(place, b"") == b""
    found = list(mirror.panes())
    for machine, host, pane in found:
        _use_pane(f"{machine}/{host}", pane)
        # The options of its agent are for its own machine alone.
        told = attrs.evolve(pane, conversation=attrs.evolve(pane.conversation, options=(), lost=()))
        _cross_the_bridge(bridge_messages.PaneState(host, told))
    return found


def read_machine_message(document: bytes, _folder: Path) -> object:
    mirror = Mirror("p")
    mirror.take("p/m/machine", document)
    asked = decode_mark(document)
    if asked is not None:
        assert Request.from_json(Request(asked.verb, "1", (str(asked.minutes),)).to_json()) is not None
    outbox = Outbox("p", "m", Presence(online=True, at=1.0, life="x"))
    outbox.received("p/m/machine", document, 1.0, is_stored=False)
    presence = decode_presence(document)
    if presence is not None:
        time.localtime(presence.at)
    return mirror.known


def read_cli_agent(document: bytes, _folder: Path) -> object:
    body = cli_agent.PREFIX + document
    raw = b"\x1b]777;" + body + BEL
    event = cli_agent.decode(Sequence(SequenceKind.OSC, b"777;" + body, BEL, raw, 777))
    report = cli_agent.to_report(event, Status.WORKING)
    if report is not None:
        osc1338.encode_payload(report).encode("utf-8")
    return report


# WezTerm ---------------------------------------------------------------------------------------------------------


@attrs.define
class _Poller:
    """Stands for the poller, with one pane."""

    found: HostPane

    def pane(self, _id: str) -> HostPane:
        return self.found

    peek = pane

    def heard(self, _number: int) -> None:
        pass

    def refresh(self, _source: object) -> None:
        pass

    def later(self, _name: str, job: Callable[[], None]) -> None:
        job()


def read_wezterm_scene(document: bytes, folder: Path) -> object:
    """What a sidecar takes over from the one before it, drawn again."""
    path = folder / "wezterm-1.scene.json"
    path.write_bytes(document)
    path.chmod(0o600)
    file = SceneFile(path, agent.Agents())
    file.write({"1": Pane(id="1", status=Status.ACTIVE)}, {"1": Place(tab="3")}, frozenset(), TabBar())
    return file.shown


def read_fork_page(document: bytes, _folder: Path) -> object:
    """What the page of a fork sends to its kitty."""
    near, far = socket.socketpair()
    with far:
        far.sendall(document)
    near.setblocking(False)
    return in_kitty._read(in_kitty.received(near))


def read_wezterm_told(document: bytes, folder: Path) -> object:
    """What the person knows of, kept for the next sidecar."""
    path = folder / "wezterm-1.told"
    path.write_bytes(document)
    path.chmod(0o600)
    nobody: dict[str, Any] = {}
    toasts = Toasts(folder / "toasts", path, nobody.get, nobody.get, lambda: None)
    toasts.remember({"3": Status.DONE})
    return path.read_bytes()


def read_wezterm_feed(document: bytes, folder: Path) -> object:
    path = folder / "feed.json"
    path.write_bytes(document)
    table = HandTable("/")
    source = WezTermSource({"HOME": "/"}, 1, "wezterm", path, table)
    faults: list[str] = []
    pane = HostPane(Timing(), ForegroundReader(_AGENTS, table), table, faults.append)
    pane.foreground(CLAUDE.pid, 0.0)
    source.listen(_Poller(pane), 1.0)  # type: ignore[arg-type]
    assert not faults, faults
    _use_report(pane.decision)
    return source._feed


def read_wezterm_list(document: bytes, _folder: Path) -> object:
    found = pane_list.read_list(document)
    for row in found or ():
        os.fsencode(row.tty)
        assert len(pane_list.screen("a\nb", row)) == row.rows
        assert b"\0" not in " ".join((row.id, row.tab, row.window, row.workspace, row.title)).encode("utf-8")
    return found


# The list and its terminal ---------------------------------------------------------------------------------------


def read_reply(document: bytes, _folder: Path) -> object:
    found = request.decode_reply(document)
    if isinstance(found, request.Visible):
        return found
    request.encode_reply(found)
    if isinstance(found, Question | request.Rows):
        json.dumps(read.document(Row("kitty-1", Pane(id="3", status=Status.WAITING)), found)).encode("utf-8")
        "".join(read.lines(found)).encode("utf-8")
    return found


def read_saved_window(document: bytes, _: Path) -> object:
    """The windows of a session file of kitty, with a command each."""
    line = "launch " + shlex.quote("kitty-unserialize-data=" + document.decode("utf-8", "replace"))
    found = kitty_session.windows(line, "/")
    kitty_session.with_commands(line, {window.line: ("tally",) for window in found})
    return found


def read_asked(document: bytes, _folder: Path) -> object:
    found, _ = request.decode_request(document)
    return None if found is None else request.encode(found)


# Setup -----------------------------------------------------------------------------------------------------------

ENTRY = {"path": "/k/kitty.conf", "pristine": "00", "backup": "kitty.conf-1", "made": ["/k"], "at": NOW}


def read_parts(document: bytes, _folder: Path) -> object:
    found = index.listed(values.members(document))
    for one in found:
        os.fsencode(one.part.name + one.part.about + one.fault + one.version)
    return found


def read_receipt(document: bytes, folder: Path) -> object:
    (folder / "receipt.json").write_bytes(document)
    found = receipt.load(folder)
    for entry in found.entries:
        with contextlib.suppress(OSError):
            entry.path.lstat()
        time.localtime(entry.at)
        os.fsencode(entry.backup)
    found.save()
    return found.entries


def read_book(document: bytes, folder: Path) -> object:
    (folder / "hooks.json").write_bytes(document)
    found = receipt.load(folder, receipt.HOOKS)
    found.save()
    return found.entries


def read_kitty_keys(document: bytes, _folder: Path) -> object:
    done = SimpleNamespace(stdout="noise\n" + document.decode("utf-8", "replace"), returncode=0)
    world: Any = SimpleNamespace(run=lambda *_, **__: done)
    answer = free_keys.ask(world, SimpleNamespace(kittens="/k"), SimpleNamespace(program="/kitty", conf="/c"))  # type: ignore[arg-type]
    if answer is not None:
        answer.shown("kitty_mod+y").encode("utf-8")
        free_keys.hidden([], answer)
    return answer


def read_pip_index(document: bytes, folder: Path) -> object:
    original = dependencies._download
    dependencies._download = lambda _url: document
    try:
        return dependencies.fetch_pip(folder)
    finally:
        dependencies._download = original


# Recordings and settings -----------------------------------------------------------------------------------------


def read_recording_header(document: bytes, _folder: Path) -> object:
    header, *rest = list(decode_recording(io.BytesIO(document.replace(b"\n", b" ") + b"\n").readline))
    time.localtime(header.timestamp)  # type: ignore[union-attr]
    time.localtime(header.started)  # type: ignore[union-attr]
    str(header).encode("utf-8")
    return header, rest


def read_recording_event(document: bytes, _folder: Path) -> object:
    lines = [b'{"version": 2, "width": 80, "height": 24}', document.replace(b"\n", b" "), b'[9, "o", "b"]']
    return list(decode_recording(io.BytesIO(b"\n".join(lines) + b"\n").readline))


def read_recorded(document: bytes, _folder: Path) -> object:
    event = json.dumps([1, "x", document.decode("utf-8", "replace")]).encode()
    header, *found = list(decode_recording(io.BytesIO(b'{"version": 2}\n' + event + b'\n[2, "o", "b"]\n').readline))
    str(found).encode("utf-8")
    replay = Replay(header, _AGENTS)  # type: ignore[arg-type]
    for each in found:
        if isinstance(each, Event):
            assert all(decision.status for decision in replay.play(each))
    assert replay.faults == []
    # A `raw` stands for what the next output was.
    return found[:-1] or [each for each in found if isinstance(each, Event) and each.what != Wrote(b"b")]


def read_config(document: bytes, _folder: Path) -> object:
    text = document.decode("utf-8", "replace")
    found, problems = settings.load(text, "config.toml")
    # What is in force is listed from the text once more.
    assert len(reference.in_force(found, text, problems)) == len(settings.SETTINGS) + len(found.machines)
    for problem in problems:
        str(problem).encode("utf-8", "replace")
    return found


def read_index(document: bytes, _folder: Path) -> object:
    return online.compare(document, "0.1.0")


def read_agent_file(document: bytes, _folder: Path) -> object:
    return agent.parse_agent(document.decode("utf-8", "replace"), "a.toml")


def read_toml(document: bytes, _folder: Path) -> object:
    return toml.parse(document.decode("utf-8", "replace"), "a.toml")


AGENT = """
name = "made-up"
display = "Made up"
processes = ["made-up"]
interpreters = ["node"]
paths = ["/lib/made-up/"]
progress = "busy"
dangerous = ["--yolo"]
[sign]
bare = true
titles = ["M"]
[not_args]
commands = ["serve"]
[title]
plain_is_idle = true
[[title.rules]]
status = "working"
glyphs = ["U+2800-28FF"]
[screen]
generic = true
[[screen.rules]]
name = "asks"
status = "waiting"
kind = "question"
lines = ["Allow .*"]
question = "(Allow .*)"
last = 12
priority = 5
[resume]
by_id = ["made-up", "--resume", "{session}"]
local = true
[hooks]
form = "list"
folder = "~/.made-up"
file = "settings.json"
entry = '{"command": "{command}"}'
version = 1
[hooks.fields]
session = "id"
[[hooks.rules]]
events = ["stop"]
status = "done"
values = ["a=b"]
weak = true
[[hooks.needs]]
file = "settings.json"
key = "a.b"
value = "true"
problem = "p"
"""
CONFIG = """
poll_ms = 250
silence_s = 4.0
fuse_s = 300
[trust]
explicit_lasts = "agent"
[kitty]
style = "filled"
pulse = true
[colours]
working = "#3399FF"
[notify]
when = ["waiting"]
quiet = ["22:00-07:00"]
command = ["notify"]
snooze_min = 5
[keys]
jump = "ctrl+y"
[fleet]
broker = "localhost"
port = 1883
tls = false
prefix = "tallylight"
keepalive_s = 20
"""
EVENT = {"timestamp": "2026-11-21T00:00:00Z", "isSidechain": False}
READERS = {
    "snapshot": Reader(
        modules=("snapshot.writer",),
        example={
            **Snapshot(host="kitty", pid=os.getpid(), started=NOW, written=NOW, panes=()).to_json(),
            "birth": writer.birth_of(os.getpid()),
            # What may stand in a pane is that of `fleet: pane`.
            "panes": [{"id": "3", "status": "waiting", "since": NOW, "cwd": "/w"}],
            "machines": [{"name": "devbox", "up": False, "says": "does not answer"}],
        },
        read=read_snapshot,
    ),
    "open conversations": Reader(
        modules=("parts.conversations.open_conversations",),
        example={
            **Snapshot(host="kitty", pid=4194310, started=NOW, written=NOW, panes=()).to_json(),
            "birth": "earlier-boot/pid:[1]/5",
            "panes": [{"id": "3", "status": "waiting", "since": NOW, "conversation": {"agent": "claude", "cwd": "/w"}}],
            "births": {"3": "earlier-boot/pid:[1]/7"},
        },
        read=read_conversations,
    ),
    "agreed fork": Reader(
        modules=("parts.conversations.in_kitty",),
        example={"verb": "fork", "place": "vsplit", "argv": ["claude"], "cwd": "/w", "shown_cwd": "/w"},
        read=read_fork_page,
    ),
    "directories that setup made": Reader(
        modules=("setup.made",), example={"version": 1, "made": ["/nonexistent/a"]}, read=read_made
    ),
    "request": Reader(
        modules=("snapshot.requests",),
        example={**Request("snooze", "3", ("5",)).to_json(), "at": NOW},
        read=read_request,
    ),
    "sum of waiting": Reader(
        modules=("snapshot.waiting_time_file",),
        example={
            "version": 1, "day": waiting_time_file.today(NOW), "waited_s": 50.0, "waiting": 1, "written": NOW
        },
        read=read_waited,
    ),
    "kitty's own list": Reader(
        modules=("parts.conversations.verbs.restore",),
        example=[{"id": 1, "tabs": [{"id": 2, "windows": [{"id": 8, "title": "x"}]}]}],
        read=lambda document, _: listed_windows(document),
    ),
    "history": Reader(
        modules=("parts.diary.history_file",),
        example=Turn(
            id="kitty-1:3:5", agent="claude", project="api", session="s", title="Retry", began=NOW - 60, ended=NOW,
            worked_s=50.0, waited_s=10.0, questions=1, asked=("Bash: npm test",), ending=Ending.DONE, goes_on=True,
            is_remote=True,
        ).to_json(),
        read=read_history,
    ),
    "ledger of turns": Reader(
        modules=("parts.work.ledger",),
        example=write(
            Stretch(
                pane="kitty-1:3", pid=7, agent="claude", turn=NOW - 60, began=NOW - 60, ended=NOW, before="a" * 40,
                after="b" * 40, is_fresh=True, is_undo=True, others=("a.py",), beside=1, left=1,
            )
        ),
        read=read_ledger,
    ),
    "grades of the lights": Reader(
        modules=("snapshot.row_file",),
        example={
            "version": 1,
            "grades": [
                grades.Grade(
                    day="2026-11-20", agent="claude", version=version, turns=10, misread=misread, graded_s=60.0,
                    waiting_s=9.0, missed_s=misread, pane="kitty-1:3", at=NOW,
                ).to_json() for version, misread in (("2.1", 0), ("2.2", 9))
            ],
        },
        read=read_grades,
    ),
    "texts that wait for the end of a limit": Reader(
        modules=("parts.shift.kept",),
        example={"text": "continue", "at": 1_800_000_000, "count": 2, "typed_at": 1_800_000_009},
        read=read_shifts,
    ),
    "package of a program": Reader(
        modules=("evidence.made_with",),
        example={"version": "1", "description": "a coding agent", "keywords": ["ai"], "dependencies": {"openai": "1"}},
        read=read_package,
    ),
    "tape of a pane": Reader(
        modules=("pane.tape",),
        example=[{"type": "report", "source": "title", "status": "working"}, 0.5],
        read=read_tape,
        errors=(ValueError,),
    ),
    "labels": Reader(
        modules=("snapshot.labels_file",),
        example=Labels().with_label("kitty-1", PANE, Label("api"), NOW).to_json(),
        read=read_labels,
    ),
    "browsers that are signed in": Reader(
        modules=("snapshot.row_file",),
        example={
            "version": 1,
            "devices": [{"id": "0a1b2c3d", "name": "Firefox", "digest": "ab" * 32, "made": NOW, "used": NOW}],
        },
        read=read_devices,
        errors=(TallyError,),
    ),
    "subscriptions": Reader(
        modules=("snapshot.row_file",),
        example={
            "version": 1,
            "subscriptions": [{"endpoint": "https://push.example.org/1", "p256dh": "BA", "auth": "x", "origin": "https://box"}],
        },
        read=read_subscriptions,
    ),
    "Claude's status file": Reader(modules=("evidence.records.claude_status",), example=SESSION, read=read_session),
    "transcript: failed": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "assistant", "isApiErrorMessage": True, "error": "authentication_failed",
            "message": {"content": [{"type": "text", "text": "API Error"}], "stop_reason": "end_turn"},
        },
        read=read_transcript,
    ),
    "transcript: done": Reader(
        modules=("evidence.records.reading",),
        example={**EVENT, "type": "system", "subtype": "turn_duration", "pendingBackgroundAgentCount": 2},
        read=read_transcript,
    ),
    "transcript: interrupted": Reader(
        modules=("evidence.records.reading",), example=json.loads(ENDING), read=read_transcript
    ),
    "record: a call of Codex": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "response_item",
            "payload": {"type": "function_call", "call_id": "c", "name": "update_plan", "arguments": '{"plan":[{}]}'},
        },
        read=read_record("codex"),
    ),
    "record: a turn of Codex that failed": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "event_msg",
            "payload": {
                "type": "task_complete", "last_agent_message": "m",
                "error": {"message": "try again at 11:08 AM.", "codex_error_info": "usage_limit_exceeded"},
            },
        },
        read=read_record("codex"),
    ),
    "record: tokens of Codex": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "event_msg",
            "payload": {
                "type": "token_count",
                "info": {"last_token_usage": {"total_tokens": 10}, "model_context_window": 100},
                "rate_limits": {"primary": {"used_percent": 100.0, "resets_at": 1_795_345_680}},
            },
        },
        read=read_record("codex"),
    ),
    "record: a tool of Copilot": Reader(
        modules=("evidence.records.reading",),
        example={
            "type": "tool.execution_complete", "timestamp": EVENT["timestamp"],
            "data": {
                "toolCallId": "c", "result": {"content": "<command started in background with shellId: 0>"},
                "toolTelemetry": {"metrics": {"context_current_tokens": 5.0, "context_token_limit": 10.0}},
            },
        },
        read=read_record("copilot"),
    ),
    "record: an answer of Claude Code": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "assistant",
            "message": {
                "model": "claude-opus-5-5",
                "usage": {"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3},
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "tool_use", "id": "c", "name": "TodoWrite", "input": {"todos": [{"content": "a"}]}},
                ],
            },
        },
        read=read_record("claude"),
    ),
    "record: an answer of Gemini": Reader(
        modules=("evidence.records.reading",),
        example={
            "type": "gemini", "content": "c", "model": "m", "tokens": {"input": 5},
            "toolCalls": [{"id": "c", "name": "write_todos", "status": "s", "args": {"todos": [{"description": "d"}]}}],
        },
        read=read_record("gemini"),
    ),
    "record: an error of Gemini": Reader(
        modules=("evidence.records.reading",),
        example={**EVENT, "type": "error", "content": '[API Error: {"error":{"message":"m"}}]'},
        read=read_record("gemini"),
    ),
    "record: a call of Kimi Code": Reader(
        modules=("evidence.records.reading",),
        example={
            "type": "context.append_loop_event", "time": 1_795_386_567_620,
            "event": {"type": "tool.call", "toolCallId": "c", "name": "TodoList", "args": {"todos": [{"title": "t"}]}},
        },
        read=read_record("kimi"),
    ),
    "record: a question of Kimi Code": Reader(
        modules=("evidence.records.reading",),
        example={
            "type": "interaction.request", "id": "i", "kind": "question", "toolCallId": "c", "time": 1_795_386_567_620,
            "request": {
                "sessionId": "s", "toolName": "n", "display": {"command": "c"}, "questions": [{"question": "q"}],
            },
        },
        read=read_record("kimi"),
    ),
    "record: an answer of pi": Reader(
        modules=("evidence.records.reading",),
        example={
            "type": "message", "timestamp": EVENT["timestamp"],
            "message": {
                "role": "assistant", "model": "m", "usage": {"totalTokens": 5}, "stopReason": "error",
                "errorMessage": "400", "content": [{"type": "text", "text": "t"}, {"type": "toolCall", "id": "c"}],
            },
        },
        read=read_record("pi"),
    ),
    "record: an answer of Cline": Reader(
        modules=("evidence.records.reading",),
        example={
            "role": "assistant", "ts": 1_795_386_567_620, "modelInfo": {"id": "m"}, "metrics": {"inputTokens": 5},
            "content": [{"type": "tool_use", "id": "c", "name": "ask_question", "input": {"question": "q"}}],
        },
        read=read_message,
    ),
    "record: an answer of Qwen": Reader(
        modules=("evidence.records.reading",),
        example={
            **EVENT, "type": "assistant", "model": "m",
            "usageMetadata": {"promptTokenCount": 5}, "contextWindowSize": 10,
            "message": {"parts": [{"text": "t"}, {"functionCall": {"id": "c", "name": "n", "args": {"path": "p"}}}]},
        },
        read=read_record("qwen"),
    ),
    "record: a message of OpenCode": Reader(
        modules=("evidence.records.reading",),
        example={
            "kind": "message",
            "row": {"id": "m", "at": 1_795_338_154_904, "data": '{"role":"assistant","modelID":"m","finish":"stop"}'},
        },
        read=read_record("opencode"),
    ),
    "hook payload": Reader(
        modules=("hooks.payload",),
        example={
            "hook_event_name": "Stop", "session_id": "s", "cwd": "/w", "permission_mode": "default",
            "agent_id": "a", "agent_type": "t", "tool_name": "Bash",
            "tool_input": {"command": "ls", "path": ["a"]},
            "background_tasks": [{"id": 1}], "notification_type": "permission_prompt", "message": "m", "prompt": "p",
            "sessionId": "s", "toolName": "Bash", "toolArgs": "{}", "workspace_roots": ["/w"],
            "error": {"message": "x"},
        },
        read=read_payload,
    ),
    "hook table": Reader(
        modules=("hooks.payload",),
        example={"version": 1, "names": ["claude"], "events": {"Stop": [[[], "idle", "", [], False, False, False]]}},
        read=read_hook_table,
    ),
    "settings of an agent": Reader(
        modules=("parts.agent_hooks.jsonc", "parts.agent_hooks.json_edit"),
        example={"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}, "a": {"b": 1}, "n": 5},
        read=read_settings, errors=(TallyError,),
    ),
    "settings of an agent, TOML": Reader(
        modules=("parts.agent_hooks.toml_edit",),
        example='model = "x"\n[[hooks]]\nevent = "Stop"\ncommand = "mine"\n[a]\nb = 1\n',
        read=read_settings_toml, errors=(TallyError,), form="toml",
    ),
    "a needed setting, JSON": Reader(
        modules=("parts.agent_hooks.state",), example={"hooks": True, "a": {"b": "x"}, "n": 5}, read=read_need
    ),
    "a needed setting, TOML": Reader(
        modules=("parts.agent_hooks.state",),
        example='hooks = true\nn = 5\n[a]\nb = "x"\n',
        read=read_need_toml,
        form="toml",
    ),
    "fleet: pane": Reader(
        modules=("parts.remote.messages",), example={"version": 1, "pane": PANE.to_json()}, read=read_pane_message
    ),
    "bridge: hello": Reader(
        modules=("parts.remote.messages",),
        example={"bridge": 1, "tally": "0.2.0", "can": ["answer"], "at": NOW},
        read=read_bridge_message,
    ),
    "bridge: pane": Reader(
        modules=("parts.remote.messages",),
        # What may stand in a pane is that of `fleet: pane`.
        example={"host": "kitty-1", "pane": {"id": "3", "status": "waiting", "since": NOW, "cwd": "/w"}},
        read=read_bridge_message,
    ),
    "bridge: reply": Reader(
        modules=("parts.remote.messages",),
        example={"reply": 1, "told": {"done": "x", "pane": "3"}},
        read=read_bridge_message,
    ),
    "bridge: question": Reader(
        modules=("parts.remote.messages",),
        example={"ask": 1, "host": "kitty-1", "of": {"type": "look", "pane": "3", "what": "question"}},
        read=read_bridge_message,
    ),
    "fleet: machine": Reader(
        modules=("parts.remote.messages",), example={"version": 1, "online": True, "at": NOW}, read=read_machine_message
    ),
    "OSC 777 of an agent": Reader(
        modules=("wire.cli_agent",),
        example={
            "v": 1, "event": "permission_request", "agent": "claude", "session_id": "s", "cwd": "/w", "project": "p",
            "query": "q", "summary": "s", "response": "r", "error_type": "e", "tool_name": "Bash",
            "tool_input": {"command": "ls", "file_path": "/f"},
        },
        read=read_cli_agent, errors=(DecodeError,),
    ),
    "WezTerm's feed": Reader(
        modules=("hosts.wezterm.pane_list",),
        example={
            "version": 1, "life": "a", "front": "1,2",
            "bar": {"touching": ["#333333"], "tab": "#333333", "active": "#000000", "grounds": ["#FFFFFF"],
                    "colours": {"waiting": "#FFAA00"}, "names": True},
            "wish": "1700000000000 jump 1", "keys": "jump=CTRL|SHIFT y",
            "panes": {"1": {"title": "✳ x", "is_local": True, "mux": "waiting;pane=1.2;since=5",
                            "said": [{"n": 1, "value": "state=waiting;message=m"}]}},
        },
        read=read_wezterm_feed,
    ),
    "WezTerm's scene": Reader(
        modules=("hosts.wezterm.scene_file",),
        example={
            "version": 1, "stale": False, "written": NOW, "pid": 7, "seen": {"4711.3": NOW},
            "tabs": {"3": {"pane": 1, "status": "waiting", "kind": "permission", "agent": "claude", "project": "p",
                           "message": "m", "name": "n", "what": "w", "since": NOW, "source": "registry", "ours": True}},
        },
        read=read_wezterm_scene,
    ),
    "WezTerm's toasts": Reader(
        modules=("hosts.wezterm.toasts",), example={"3": "waiting", "4711.3": "done 5 7"}, read=read_wezterm_told
    ),
    "WezTerm's list": Reader(
        modules=("hosts.wezterm.pane_list",),
        example=[
            {
                "window_id": 0, "tab_id": 1, "pane_id": 2, "workspace": "w", "title": "t", "tty_name": "/dev/pts/3",
                "size": {"rows": 24, "cols": 80}, "cursor_x": 1, "cursor_y": 2, "cursor_visibility": "Visible",
            }
        ],
        read=read_wezterm_list,
    ),
    "reply about a pane": Reader(
        modules=("actions.request",),
        example={
            "type": "question", "pane": "3", "agent": "claude", "pid": 7, "start": 8, "fingerprint": "f", "prompt": "p",
            "question": "q", "context": ["a"], "first": 0, "choices": [{"number": 1, "label": "Yes", "keys": "1"}],
            "missing": "", "is_plain": True,
        },
        read=read_reply,
    ),
    "request of a pane": Reader(
        modules=("actions.request",),
        example={"type": "answer", "pane": "3", "pid": 7, "start": 8, "fingerprint": "f", "number": 1},
        read=read_asked,
    ),
    "window of a saved session": Reader(
        modules=("parts.conversations.kitty_session",),
        example={"id": 4, "cmd_at_shell_startup": ["claude"]},
        read=read_saved_window,
    ),
    "index of parts": Reader(
        modules=("parts.index",),
        example={
            "version": 1, "build": "0", "off": ["b"],
            "parts": [
                {"name": "a", "about": "x", "version": "1", "fault": "", "verbs": {"v": ["See", "y", "a.v"]},
                 "host": "a:H", "checks": "a:c", "serves": {"s": "a:s"}},
            ],
        },
        read=read_parts, errors=(DecodeError,),
    ),
    "receipt": Reader(
        modules=("files.receipt",), example={"version": 1, "files": [ENTRY]}, read=read_receipt, errors=(TallyError,)
    ),
    "receipt of hooks": Reader(
        modules=("files.receipt",),
        example={"version": 1, "files": [{**ENTRY, "agent": "claude", "written": "00", "pieces": ["x"]}]},
        read=read_book, errors=(TallyError,),
    ),
    "keys of kitty": Reader(
        modules=("setup.free_keys",),
        example={"mod": "ctrl+shift", "taken": {"kitty_mod+y": ["copy"]}},
        read=read_kitty_keys,
    ),
    "index of pip": Reader(
        modules=("setup.dependencies",),
        example={
            "urls": [
                {
                    "packagetype": "bdist_wheel", "url": "https://x/p.whl", "filename": "p.whl",
                    "digests": {"sha256": "0"},
                }
            ]
        },
        read=read_pip_index, errors=(dependencies.NoWayError, OSError),
    ),
    "recording: header": Reader(
        modules=("parts.lab.decoder",),
        example={
            "version": 2, "width": 80, "height": 24, "timestamp": 1_763_690_000, "started": NOW, "command": "c",
            "title": "t", "env": {"TERM": "x"},
        },
        read=read_recording_header, errors=(RecordingError,),
    ),
    "recording: output": Reader(
        modules=("parts.lab.decoder",), example=[1.5, "o", "text"], read=read_recording_event
    ),
    "recording: size": Reader(
        modules=("parts.lab.decoder",), example=[1.5, "r", "80x24"], read=read_recording_event
    ),
    "recording: report": Reader(
        modules=("parts.lab.decoder",),
        example={
            "type": "report", "source": "registry", "status": "waiting", "kind": "question", "id": "a",
            "agent": "claude", "rule": "r", "title": "t", "cwd": "/w", "progress": [3, 7], "background": 2,
        },
        read=read_recorded,
    ),
    "recording: foreground": Reader(
        modules=("parts.lab.decoder",),
        example={"type": "foreground", "name": "claude", "instance": 5, "agent": True, "speaks": True, "gone": True},
        read=read_recorded,
    ),
    "recording: exit": Reader(
        modules=("parts.lab.decoder",), example={"type": "exit", "code": 1, "signal": None}, read=read_recorded
    ),
    "recording: bytes": Reader(
        modules=("parts.lab.decoder",), example={"type": "raw", "base64": "YQ=="}, read=read_recorded
    ),
    "configuration": Reader(
        modules=("config.settings", "parts.settings.reference"), example=CONFIG, read=read_config, form="toml"
    ),
    "package index": Reader(
        modules=("setup.online",), example={"info": {"version": "0.2.0"}}, read=read_index
    ),
    "agent file": Reader(
        modules=("agents.agent", "agents.hooks"),
        example=AGENT,
        read=read_agent_file,
        errors=(DataFileError,),
        form="toml",
    ),
}  # fmt: skip
