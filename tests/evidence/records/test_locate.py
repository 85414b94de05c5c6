"""Which record is the process's: by its open files, its session, its start and its directory; never the newest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import attrs
import pytest

from tallylight.evidence.records import aider, claude, codex, copilot, gemini, opencode, qwen
from tallylight.evidence.records.locate import Candidate, Facts, Place, mine
from tests.tables import each


@attrs.define
class HandPlaces:
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

    def grew(self, path: str) -> float:
        return self.grown.get(path, 0.0)

    def rows(self, path: str, query: str, arguments: tuple[object, ...]) -> Sequence[tuple[object, ...]]:
        return self.answers


FACTS = Facts(pid=7, pids=(8,), started=1_000.0, cwd="/w/api", home="/home/u")


def candidate(name: str, began: float) -> Candidate:
    return Candidate(f"/{name}", name, began)


@each(
    ("began", "rivals", "found"),
    [
        ({"a": 1_005}, (), "/a"),
        ({"old": 900}, (), ""),
        # Two that are as likely: a record of a process that has ended may be among them.
        ({"a": 1_005, "b": 1_050}, (), ""),
        # Nobody else was there when it began, and what began later is left for the other.
        ({"a": 1_005, "b": 1_050}, (1_020,), "/a"),
        ({"a": 995, "b": 1_050}, (990,), "/b"),
        # Either of the two may have begun it.
        ({"a": 1_005}, (990,), ""),
        ({"a": 1_005, "b": 1_050}, (990,), ""),
        ({"a": 1_005, "b": 1_050}, (1_001,), ""),
        # Three in a row.
        ({"a": 985, "b": 1_005, "c": 1_050}, (980, 1_020), "/b"),
    ],
)
def test_a_session_belongs_to_the_one_that_could_begin_it(
    began: dict[str, float], rivals: tuple[float, ...], found: str
) -> None:
    """Start times and the other processes in the directory decide; where they do not, there is none."""
    facts = attrs.evolve(FACTS, rivals=rivals)
    candidates = [candidate(name, at) for name, at in began.items()]

    assert mine(facts, candidates, HandPlaces()) == found
    assert mine(facts, candidates[::-1], HandPlaces()) == found


def test_of_several_of_its_own_the_one_that_grows_is_present() -> None:
    """A process alone in its directory has begun another one, or taken up one of before."""
    both = [candidate("a", 1_005), candidate("b", 1_050)]

    assert mine(FACTS, both, HandPlaces(grown={"/b": 1_060.0})) == "/b"
    assert mine(FACTS, both, HandPlaces(grown={"/a": 1_070.0, "/b": 1_060.0})) == "/a"


def test_a_session_that_was_heard_of_decides() -> None:
    """What a hook or a protocol said the session is stands above all times; one that is not there is none."""
    both = [candidate("a", 900), candidate("b", 1_050)]

    assert mine(attrs.evolve(FACTS, session="a", rivals=(1_020,)), both, HandPlaces()) == "/a"
    assert mine(attrs.evolve(FACTS, session="c"), both, HandPlaces()) == ""


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
    assert codex.locate(attrs.evolve(FACTS, rivals=(1_001.0,)), HandPlaces({path: file})) is None
    assert codex.locate(attrs.evolve(FACTS, rivals=(1_001.0,), open_files=(path,)), HandPlaces({path: file})) == Place(
        path
    )
    moved = {"CODEX_HOME": "/home/u/.codex"}
    assert codex.locate(attrs.evolve(FACTS, home="/x", environ=moved), HandPlaces({path: file})) == Place(path)


def test_copilot_by_what_it_holds_open() -> None:
    """Two in one directory are told apart by the file that each holds."""
    top = "/home/u/.copilot/session-state"
    held = attrs.evolve(FACTS, open_files=("/dev/null", f"{top}/aa-1/inuse.8.hold"), rivals=(1_001.0,))
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
    assert gemini.locate(attrs.evolve(FACTS, rivals=(1_001.0,)), places("api-2")) is None


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
    facts = attrs.evolve(FACTS, open_files=(database,), rivals=(1_001.0,), title=title)

    assert opencode.locate(facts, HandPlaces(answers=rows)) == Place(database, "s1")
    assert opencode.locate(attrs.evolve(facts, title="OC | "), HandPlaces(answers=rows)) is None
    assert opencode.locate(facts, HandPlaces(answers=(*rows, ("s3", "Fix the parser", 1_007_000)))) is None
    # Alone, and with a title that is not known yet.
    alone = attrs.evolve(facts, rivals=(), title="OpenCode")
    assert opencode.locate(alone, HandPlaces(answers=rows[:1])) == Place(database, "s1")
    assert opencode.locate(attrs.evolve(alone, open_files=()), HandPlaces(answers=rows)) is None


def test_aider_by_directory() -> None:
    """The history of the project above, while nobody else writes into it, and only if it was written to since."""
    history = "/w/.aider.chat.history.md"

    assert aider.locate(FACTS, HandPlaces({history: (1_001.0, "")})) == Place(history)
    assert aider.locate(attrs.evolve(FACTS, rivals=(990.0,)), HandPlaces({history: (1_001.0, "")})) is None
    assert aider.locate(FACTS, HandPlaces({history: (900.0, "")})) is None
    assert aider.locate(FACTS, HandPlaces({history: (1_001.0, ""), "/w/api/.git/HEAD": (1.0, "")})) is None
