"""Which record is the process's: by its open files, its session, its start and its directory; never the newest."""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.records.locate import Candidate, Facts, own_record
from tallylight.evidence.records.places import Place, Places
from tallylight.parts.transcripts import aider, claude, cline, codex, copilot, gemini, kimi, opencode, pi, qwen
from tests.parts.transcripts.kept import READERS, kept
from tests.tables import each


@attrs.define
class HandPlaces(Places):
    """A disk made by hand: files by path, each with when it was written and its first line."""

    files: Mapping[str, tuple[float, object]] = attrs.Factory(dict)
    grown: Mapping[str, float] = attrs.Factory(dict)
    answers: Sequence[tuple[object, ...]] = ()

    def names(self, folder: str) -> Sequence[str]:
        inside = [path.removeprefix(f"{folder}/") for path in self.files if path.startswith(f"{folder}/")]
        return sorted({path.partition("/")[0] for path in inside})

    def head(self, path: str) -> bytes:
        return json.dumps(self.files[path][1]).encode() + b"\n" if path in self.files else b""

    def changed(self, path: str) -> float:
        return self.files.get(path, (0.0, None))[0]

    def grew(self, place: Place) -> float:
        return self.grown.get(place.path, 0.0)

    def rows(self, path: str, query: str, arguments: tuple[object, ...]) -> Sequence[tuple[object, ...]]:
        return self.answers


FACTS = Facts(pid=7, pids=(8,), started=1_000.0, cwd="/w/api", home="/home/u")


def candidate(name: str, began: float) -> Candidate:
    return Candidate(Place(f"/{name}"), name, began)


@each(
    ("began", "others", "found"),
    [
        ({"a": 1_005}, (), Place("/a")),
        ({"old": 900}, (), None),
        # Two that are as likely: a record of a process that has ended may be among them.
        ({"a": 1_005, "b": 1_050}, (), None),
        # Nobody else was there when it began, and what began later is left for the other.
        ({"a": 1_005, "b": 1_050}, (1_020,), Place("/a")),
        ({"a": 995, "b": 1_050}, (990,), Place("/b")),
        # Either of the two may have begun it.
        ({"a": 1_005}, (990,), None),
        ({"a": 1_005, "b": 1_050}, (990,), None),
        ({"a": 1_005, "b": 1_050}, (1_001,), None),
        # Three in a row.
        ({"a": 985, "b": 1_005, "c": 1_050}, (980, 1_020), Place("/b")),
    ],
)
def test_a_session_belongs_to_the_one_that_could_begin_it(
    began: dict[str, float], others: tuple[float, ...], found: Place | None
) -> None:
    """Start times and the other processes in the directory decide; where they do not, there is none."""
    facts = attrs.evolve(FACTS, others=others)
    candidates = [candidate(name, at) for name, at in began.items()]

    assert own_record(facts, candidates, HandPlaces()) == found
    assert own_record(facts, candidates[::-1], HandPlaces()) == found


def test_of_several_of_its_own_the_one_that_grows_is_present() -> None:
    """A process alone in its directory has begun another one, or taken up one of before."""
    both = [candidate("a", 1_005), candidate("b", 1_050)]

    assert own_record(FACTS, both, HandPlaces(grown={"/b": 1_060.0})) == Place("/b")
    assert own_record(FACTS, both, HandPlaces(grown={"/a": 1_070.0, "/b": 1_060.0})) == Place("/a")


def test_a_session_that_was_heard_of_decides() -> None:
    """What a hook or a protocol said the session is stands above all times; one that is not there is none."""
    both = [candidate("a", 900), candidate("b", 1_050)]

    assert own_record(attrs.evolve(FACTS, session="a", others=(1_020,)), both, HandPlaces()) == Place("/a")
    assert own_record(attrs.evolve(FACTS, session="c"), both, HandPlaces()) is None


def rollout(time: str, id_: str, **meta: object) -> tuple[str, tuple[float, object]]:
    path = f"/home/u/.codex/sessions/2026/11/22/rollout-2026-11-22T{time}-{id_}.jsonl"
    payload = {"id": id_, "timestamp": "1970-01-01T00:17:00Z", "cwd": "/w/api", "source": "cli", **meta}
    return path, (1_030.0, {"type": "session_meta", "payload": payload})


A, B = "0" * 8 + "-0000-0000-0000-" + "a" * 12, "0" * 8 + "-0000-0000-0000-" + "b" * 12


def test_codex_by_directory_and_start() -> None:
    """Of the rollouts of a day the one that began here, no subagent's and none of another directory."""
    path, file = rollout("00-17-00", A)
    other, of_child = rollout("00-17-01", B, source={"subagent": {}})
    elsewhere, of_other = rollout("00-17-02", B, cwd="/w/web")

    assert codex.locate(FACTS, HandPlaces({path: file, other: of_child, elsewhere: of_other})) == Place(path)
    assert codex.locate(attrs.evolve(FACTS, others=(1_001.0,)), HandPlaces({path: file})) is None
    assert codex.locate(attrs.evolve(FACTS, others=(1_001.0,), open_files=(path,)), HandPlaces({path: file})) == Place(
        path
    )
    moved = {"CODEX_HOME": "/home/u/.codex"}
    assert codex.locate(attrs.evolve(FACTS, home="/x", environ=moved), HandPlaces({path: file})) == Place(path)


def test_copilot_by_what_it_holds_open() -> None:
    """Two in one directory are told apart by the file that each holds."""
    top = "/home/u/.copilot/session-state"
    held = attrs.evolve(FACTS, open_files=("/dev/null", f"{top}/aa-1/inuse.8.hold"), others=(1_001.0,))
    places = HandPlaces({f"{top}/bb-2/inuse.9.lock": (1_002.0, ""), f"{top}/aa-1/inuse.8.lock": (1_002.0, "")})

    assert copilot.locate(held, places) == Place(f"{top}/aa-1/events.jsonl")
    assert copilot.locate(attrs.evolve(held, open_files=()), places) == Place(f"{top}/aa-1/events.jsonl")
    assert copilot.locate(attrs.evolve(held, pids=(), open_files=()), places) is None
    # What an earlier process of the same number left.
    stale = HandPlaces({f"{top}/aa-1/inuse.8.lock": (900.0, "")})
    assert copilot.locate(attrs.evolve(held, open_files=()), stale) is None


def test_qwen_by_its_status_file() -> None:
    """The file with the number of one of its processes names the session; of another start it names nothing."""
    path = "/home/u/.qwen/sessions/8.json"
    says = {"pid": 8, "sessionId": "ab-1", "workDir": "/w/api"}

    found = Place("/home/u/.qwen/projects/-w-api/chats/ab-1.jsonl")
    assert qwen.locate(FACTS, HandPlaces({path: (1_003.0, says)})) == found
    assert qwen.locate(FACTS, HandPlaces({path: (900.0, says)})) is None
    assert qwen.locate(FACTS, HandPlaces({path: (1_003.0, {**says, "pid": 9})})) is None
    assert qwen.locate(FACTS, HandPlaces({path: (1_003.0, {**says, "sessionId": "../../x"})})) is None


def test_gemini_by_directory_and_start() -> None:
    """The directory's project is looked up, and a name that would lead elsewhere is none."""
    chat = "/home/u/.gemini/tmp/api-2/chats/session-2026-11-22T08-57-c424afd3.jsonl"
    head = {"sessionId": "s", "startTime": "1970-01-01T00:17:00Z", "kind": "main"}

    def places(project: str) -> HandPlaces:
        known = {"projects": {"/w/api": project}}
        return HandPlaces({"/home/u/.gemini/projects.json": (1.0, known), chat: (1_030.0, head)})

    assert gemini.locate(FACTS, places("api-2")) == Place(chat)
    assert gemini.locate(FACTS, places("../api-2")) is None
    assert gemini.locate(attrs.evolve(FACTS, others=(1_001.0,)), places("api-2")) is None


def test_kimi_by_directory_and_start() -> None:
    """The directory's workspace is looked up; of two sessions in it each process has the one that only it can have."""
    top = "/home/u/.kimi-code"

    def session(name: str, began: int) -> tuple[str, tuple[float, object]]:
        path = f"{top}/sessions/wd_api_1/session_{name}/agents/main/wire.jsonl"
        return path, (1_090.0, {"type": "metadata", "protocol_version": "1.5", "created_at": began * 1000})

    def places(workspace: str) -> HandPlaces:
        known = {"version": 1, "workspaces": {workspace: {"root": "/w/api"}, "wd_web_2": {"root": "/w/web"}}}
        return HandPlaces({f"{top}/workspaces.json": (1.0, known), one: first, two: second})

    (one, first), (two, second) = session("a", 1_005), session("b", 1_050)
    here, beside = attrs.evolve(FACTS, others=(1_020.0,)), attrs.evolve(FACTS, started=1_020.0, others=(1_000.0,))
    assert kimi.locate(here, places("wd_api_1")) == Place(one)
    assert kimi.locate(beside, places("wd_api_1")) == Place(two)
    assert kimi.locate(attrs.evolve(beside, session="session_a"), places("wd_api_1")) == Place(one)
    assert kimi.locate(FACTS, places("wd_api_1")) is None
    assert kimi.locate(here, places("../wd_api_1")) is None


def test_pi_by_directory_and_start() -> None:
    """As many as began in the directory, each has its own; the folder may be another one."""

    def session(folder: str, id_: str, began: str, cwd: str = "/w/api") -> tuple[str, tuple[float, object]]:
        head = {"type": "session", "version": 3, "id": id_, "timestamp": f"1970-01-01T{began}.500Z", "cwd": cwd}
        return f"{folder}/1970-01-01T{began.replace(':', '-')}-500Z_{id_}.jsonl", (1_090.0, head)

    usual = "/home/u/.pi/agent/sessions/--w-api--"
    (one, first), (two, second) = session(usual, "a-1", "00:16:45"), session(usual, "b-2", "00:17:30")
    (other, elsewhere) = session("/s", "c-3", "00:16:45")
    foreign, of_web = session(usual, "d-4", "00:16:46", "/w-api")
    files = {one: first, two: second, other: elsewhere, foreign: of_web}
    here, beside = attrs.evolve(FACTS, others=(1_020.0,)), attrs.evolve(FACTS, started=1_020.0, others=(1_000.0,))

    assert pi.locate(here, HandPlaces(files)) == Place(one)
    assert pi.locate(beside, HandPlaces(files)) == Place(two)
    assert pi.locate(attrs.evolve(here, environ={"PI_CODING_AGENT_DIR": "/x"}), HandPlaces(files)) is None
    moved = {"PI_CODING_AGENT_SESSION_DIR": "/s"}
    assert pi.locate(attrs.evolve(FACTS, environ=moved), HandPlaces(files)) == Place(other)


def test_cline_by_its_database(tmp_path: Path) -> None:
    """The database that a process has open has the session of its number; that of an earlier process is none."""
    path = tmp_path / "db/sessions.db"
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.execute("create table sessions (session_id text, pid integer, is_subagent integer, updated_at text)")
    rows = [
        ("100_old", 7, 0, "1970-01-01T00:15:00.000Z"),
        ("200_mine", 7, 0, "1970-01-01T00:17:00.000Z"),
        ("300_child", 7, 1, "1970-01-01T00:17:02.000Z"),
        ("400_other", 9, 0, "1970-01-01T00:17:03.000Z"),
        ("../x", 11, 0, "1970-01-01T00:17:03.000Z"),
    ]
    database.executemany("insert into sessions values (?, ?, ?, ?)", rows)
    database.commit()
    facts = attrs.evolve(FACTS, open_files=("/dev/null", str(path), f"{path}-wal"))

    def found(pid: int) -> Place | None:
        return cline.locate(attrs.evolve(facts, pid=pid, pids=()), Places())

    def place(session: str) -> Place:
        path = str(tmp_path / "sessions" / session / session)
        return Place(f"{path}.messages.json", beside=f"{path}.json")

    assert found(7) == place("200_mine")
    assert found(9) == place("400_other")
    assert found(8) is None and found(11) is None
    assert cline.locate(attrs.evolve(FACTS, pid=7), Places()) is None


def test_claude_by_its_status_file() -> None:
    """The status file names session and directory; a session that has moved lies where it began."""
    facts = attrs.evolve(FACTS, session="s-1")
    here, moved = (f"/home/u/.claude/projects/{name}/s-1.jsonl" for name in ("-w-api", "-w-old"))

    assert claude.locate(facts, HandPlaces({here: (1.0, ""), moved: (2.0, "")})) == Place(here)
    assert claude.locate(facts, HandPlaces({moved: (2.0, "")})) == Place(moved)
    assert claude.locate(facts, HandPlaces()) is None
    assert claude.locate(attrs.evolve(facts, session="../s"), HandPlaces({here: (1.0, "")})) is None


@pytest.mark.parametrize("title", ["OC | Fix the parser", "OC | Fix the pa…"])
def test_opencode_by_title(title: str) -> None:
    """Two sessions of one directory are told apart by the titles of the windows; alike titles tell nothing."""
    database = "/home/u/.local/share/opencode/opencode.db"
    rows = (("s1", "Fix the parser", 1_005_000), ("s2", "Write a test", 1_006_000))
    facts = attrs.evolve(FACTS, open_files=(database,), others=(1_001.0,), title=title)

    assert opencode.locate(facts, HandPlaces(answers=rows)) == Place(database, "s1")
    assert opencode.locate(attrs.evolve(facts, title="OC | "), HandPlaces(answers=rows)) is None
    assert opencode.locate(facts, HandPlaces(answers=(*rows, ("s3", "Fix the parser", 1_007_000)))) is None
    # Alone, and with a title that is not known yet.
    alone = attrs.evolve(facts, others=(), title="OpenCode")
    assert opencode.locate(alone, HandPlaces(answers=rows[:1])) == Place(database, "s1")
    assert opencode.locate(attrs.evolve(alone, open_files=()), HandPlaces(answers=rows)) is None


# Two sessions of one agent in one directory ---------------------------------------------------------------------------

#: When the two processes were started, and when their sessions began, in seconds since the epoch.
STARTS, BEGAN = (1_000.0, 1_020.0), (1_005.0, 1_050.0)


def _iso(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _codex(number: int, began: float) -> tuple[str, tuple[float, object]]:
    head = json.loads(kept("codex").lines[0])
    id_ = head["payload"]["id"][:-1] + str(number)
    head["payload"] |= {"id": id_, "timestamp": _iso(began), "cwd": "/w/api"}
    return f"/home/u/.codex/sessions/1970/01/01/rollout-1970-01-01T00-17-0{number}-{id_}.jsonl", (1_090.0, head)


def _gemini(number: int, began: float) -> tuple[str, tuple[float, object]]:
    head = json.loads(kept("gemini").lines[0]) | {"startTime": _iso(began), "sessionId": str(number)}
    return f"/home/u/.gemini/tmp/api/chats/session-1970-01-01T00-16-0000000{number}.jsonl", (1_090.0, head)


def _kimi(number: int, began: float) -> tuple[str, tuple[float, object]]:
    head = json.loads(kept("kimi").lines[0]) | {"created_at": round(1000 * began)}
    return f"/home/u/.kimi-code/sessions/wd_api_1/session_{number}/agents/main/wire.jsonl", (1_090.0, head)


def _pi(number: int, began: float) -> tuple[str, tuple[float, object]]:
    head = json.loads(kept("pi").lines[0]) | {"id": f"a-{number}", "timestamp": _iso(began), "cwd": "/w/api"}
    name = _iso(began).replace(":", "-").replace(".", "-")
    return f"/home/u/.pi/agent/sessions/--w-api--/{name}_a-{number}.jsonl", (1_090.0, head)


_INDEX: dict[str, tuple[float, object]] = {
    "/home/u/.gemini/projects.json": (1.0, {"projects": {"/w/api": "api"}}),
    "/home/u/.kimi-code/workspaces.json": (1.0, {"version": 1, "workspaces": {"wd_api_1": {"root": "/w/api"}}}),
}


@each(("agent", "session"), [("codex", _codex), ("gemini", _gemini), ("kimi", _kimi), ("pi", _pi)])
def test_two_told_apart_by_when_they_began(
    agent: str, session: Callable[[int, float], tuple[str, tuple[float, object]]]
) -> None:
    """As real records begin: each process has its own; where either may have begun both, neither has any."""
    locate = READERS[agent].locate
    files = [session(number, began) for number, began in enumerate(BEGAN)]
    places = HandPlaces({**_INDEX, **dict(files)})
    for own, other, (path, _) in zip(STARTS, STARTS[::-1], files, strict=True):
        assert locate(attrs.evolve(FACTS, started=own, others=(other,)), places) == Place(path)
    late = [session(number, 1_050.0 + number) for number in range(2)]
    for own, other in zip(STARTS, STARTS[::-1], strict=True):
        assert locate(attrs.evolve(FACTS, started=own, others=(other,)), HandPlaces({**_INDEX, **dict(late)})) is None
    # The newest is not it because it is the newest.
    assert locate(FACTS, HandPlaces({**_INDEX, **dict(files)})) is None


def test_two_told_apart_by_what_says_whose_they_are() -> None:
    """Claude's status file names the session, Qwen's the process, Copilot holds a file, Kilo has a title."""
    one, two = (attrs.evolve(FACTS, pid=pid, pids=(), others=(1_000.0,)) for pid in (7, 9))

    folder = "/home/u/.claude/projects/-w-api"
    transcripts = HandPlaces({f"{folder}/s-{pid}.jsonl": (1_000.0 + pid, "") for pid in (7, 9)})
    status = {
        f"/home/u/.qwen/sessions/{pid}.json": (1_003.0, {"pid": pid, "sessionId": f"s-{pid}", "workDir": "/w/api"})
        for pid in (7, 9)
    }
    top = "/home/u/.copilot/session-state"
    locks = HandPlaces({f"{top}/s-{pid}/inuse.{pid}.lock": (1_003.0, "") for pid in (7, 9)})
    database = "/home/u/.local/share/kilo/kilo.db"
    rows = HandPlaces(answers=(("s-7", "Fix the parser", 1_005_000), ("s-9", "Write a test", 1_006_000)))
    titles = {7: "Kilo CLI | Fix the parser", 9: "Kilo CLI | Write a te…"}
    for facts in (one, two):
        name = f"s-{facts.pid}"
        assert claude.locate(attrs.evolve(facts, session=name), transcripts) == Place(f"{folder}/{name}.jsonl")
        assert qwen.locate(facts, HandPlaces(status)) == Place(f"/home/u/.qwen/projects/-w-api/chats/{name}.jsonl")
        assert copilot.locate(facts, locks) == Place(f"{top}/{name}/events.jsonl")
        titled = attrs.evolve(facts, open_files=(database,), title=titles[facts.pid])
        assert opencode.locate(titled, rows) == Place(database, name)
        assert opencode.locate(attrs.evolve(titled, title="Kilo CLI"), rows) is None
    assert claude.locate(one, transcripts) is None


def test_aider_by_directory() -> None:
    """The history of the project above, while nobody else writes into it, and only if it was written to since."""
    history = "/w/.aider.chat.history.md"

    assert aider.locate(FACTS, HandPlaces({history: (1_001.0, "")})) == Place(history)
    assert aider.locate(attrs.evolve(FACTS, others=(990.0,)), HandPlaces({history: (1_001.0, "")})) is None
    assert aider.locate(FACTS, HandPlaces({history: (900.0, "")})) is None
    assert aider.locate(FACTS, HandPlaces({history: (1_001.0, ""), "/w/api/.git/HEAD": (1.0, "")})) is None
