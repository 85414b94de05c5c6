"""Calls that ran unasked: from the transcripts of real agents and of every kind of end, into rows and `tally did`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.cli.exit_codes import NOTHING
from tallylight.cli.main import main
from tallylight.evidence.records import reading
from tallylight.evidence.records.places import Place
from tallylight.evidence.records.reading import Ran, Reading
from tallylight.hosts.jobs import at_once
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.transcript import TranscriptRequest, TranscriptState
from tallylight.parts.transcripts import claude, codex
from tallylight.parts.work import did, row_fields
from tallylight.parts.work.did import SAVE_DID_S, Doings, asks_network, load
from tallylight.snapshot.fields import words
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.cli.panes import DONE, HOST, publish
from tests.hosts.test_projects import _pane as pane_in
from tests.parts.transcripts.kept import kept
from tests.parts.work.test_trees import state as state  # a fixture
from tests.tables import each


def ran(agent: str) -> list[Ran]:
    """All that ran in the record of a real agent, as it was at its end."""
    found: dict[str, Ran] = {}
    for step in kept(agent).steps():
        found |= step.ran
    return [one for one in found.values() if one.is_command]


def test_what_real_agents_ran() -> None:
    """With exit codes, and by whose word."""
    (one,) = ran("claude")
    assert (one.what, one.code, one.by, one.is_denied) == ("Bash: touch made", 0, "you allowed it once", False)
    failed, denied = ran("claude-denied")
    assert (failed.what, failed.code, failed.is_denied) == ("Bash: ls /nonexistent", 2, False)
    assert (denied.what, denied.code, denied.by, denied.is_denied) == ("Bash: touch again", None, "you denied it", True)
    made, again = ran("codex")
    assert (made.what, made.code, made.is_denied) == ("exec_command: touch made", 0, False)
    assert (again.what, again.code, again.by, again.is_denied) == (
        "exec_command: touch again", None, "you denied it", True,
    )  # fmt: skip


def test_what_subagents_ran(tmp_path: Path) -> None:
    """Of Claude Code in files of their own; of Copilot among its events. Each is named."""
    record = tmp_path / "s.jsonl"
    record.write_bytes(kept("claude-subagent").data)
    below = tmp_path / "s/subagents"
    below.mkdir(parents=True)
    for number, name in enumerate(("Make it", "Remove it")):
        (below / f"agent-a{number}.jsonl").write_bytes(kept("claude-subagent", 2 - number).data)
        (below / f"agent-a{number}.meta.json").write_text(json.dumps({"agentType": "x", "description": name}))
    (below / "agent-a2.jsonl").touch()
    own = claude.read(record.read_bytes(), None)
    os.utime(below / "agent-a2.jsonl", (own.since - 60, own.since - 60))

    request = SimpleNamespace(agent=SimpleNamespace(record="claude"), found=None)
    before = TranscriptState(place=Place(str(record)))
    found = TranscriptRequest(transcript=request, before=before, is_locating=False).read()  # type: ignore[arg-type]
    assert found is not None and found.reading is not None
    told = [(one.subagent, one.what, one.code, one.is_denied) for one in found.reading.ran.values()]
    assert told == [
        ("", "Bash: ls made", 0, False),
        ("Make it", "Bash: touch made", 0, False),
        ("Remove it", "Bash: rm made", None, True),
    ]
    assert [(one.subagent, one.what, one.is_denied) for one in ran("copilot-subagent")] == [
        ("scripted", "bash: touch made", False),
        ("scripted", "bash: rm made", True),
        ("", "bash: ls made", False),
    ]


def entry(kind: str, content: object, **more: object) -> bytes:
    message = {"content": content}
    told = {"type": kind, "timestamp": "2026-11-22T09:00:00Z", "message": message, **more}
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def call(id_: str, name: str, **given: object) -> bytes:
    return entry("assistant", [{"type": "tool_use", "id": id_, "name": name, "input": given}])


CLASSIFIER = "Permission for this action was denied by the Claude Code auto mode classifier. Reason: no"
#: What Claude Code 2.1.330 tells its model, and who that was.
DENIALS = {
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file).": "you denied it",
    CLASSIFIER: "auto mode denied it",
    "Permission to use Bash with command rm x has been denied.": "your settings denied it",
    "Claude requested permissions to use Bash, but you haven't granted it yet.": "nobody allowed it",
}


def result(id_: str, text: str = "", source: str = "config") -> bytes:
    """Claude Code 2.1.330 notes an end; a denial has no decision."""
    content = [{"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": bool(text)}]
    decided = {} if text in DENIALS else {"permissionDecision": {"decision": "accept", "source": source}}
    return entry("user", content, **decided)


TURN = (
    entry("user", "do it"),
    call("a", "Bash", command="npm test"),
    result("a", "Exit code 2\nfailed"),
    call("b", "Bash", command="git push origin main"),
    result("b", CLASSIFIER),
    call("c", "Write", file_path="/etc/motd", content="x"),
    result("c"),
    call("d", "Write", file_path="{root}/src/a", content="x"),
    result("d", source="user_permanent"),
    call("e", "TaskCreate", subject="Run the tests"),
    call("f", "Read", file_path="/etc/passwd"),
    result("f"),
    call("g", "WebFetch", url="https://example.org/x"),
    result("g", source="hook"),
)


def record(root: Path) -> bytes:
    return b"".join(TURN).replace(b"{root}", str(root).encode())


@attrs.define
class Desk:
    """A pane whose agent keeps a transcript, and what a host notes of it."""

    pane: Pane
    told: list[int] = attrs.field(factory=list)
    now: float = 10.0
    doings: Doings[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        name = HOST
        self.doings = Doings(name, os.environ, at_once, lambda: 1_790_000_000.0, self.told.append)

    def reads(self, data: bytes, before: Reading | None = None) -> Reading:
        found = claude.read(data, before)
        transcript = self.pane._run.transcript  # type: ignore[union-attr]
        assert transcript is not None
        transcript.found = TranscriptState(reading=found)
        self.now += SAVE_DID_S
        self.doings.look(1, self.pane, self.now)
        return found


@pytest.fixture
def desk(tmp_path: Path, runtime: Path, state: Path) -> Desk:
    root = tmp_path / "api"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return Desk(pane_in(root))


def test_counts_in_the_row(desk: Desk, tmp_path: Path) -> None:
    """Of a turn as it goes on; the next one begins with none."""
    found = desk.reads(record(tmp_path / "api"))
    assert desk.pane.more["did"] == (1, 1, 1, 0) and desk.told == [1]
    assert words({"did": (1, 1, 1, 0)}) == "1 command, 1 denied, 1 outside"
    entry_ = PaneEntry.from_json(PaneEntry(id="1", status=Status.DONE, more=desk.pane.more).to_json())
    assert entry_ is not None and entry_.more == {"did": (1, 1, 1, 0)}
    desk.doings.look(1, desk.pane, desk.now + 60)
    assert desk.told == [1]
    desk.reads(entry("user", "next"), found)
    assert "did" not in desk.pane.more and desk.told == [1, 1]
    known = load(f"{HOST}:1", os.environ)
    assert known is not None and known.calls == ()


@each(("text", "by"), list(DENIALS.items()))
def test_who_denied_it(text: str, by: str) -> None:
    found = claude.read(call("a", "Bash", command="rm x") + result("a", text), None).ran["a"]
    assert (found.is_denied, found.by, found.code) == (True, by, None)


@each(
    ("said", "by"),
    [
        ("aborted by user", "you denied it"),
        (
            "approval policy is Never; reject command — you cannot ask for escalated permissions",
            "your settings denied it",
        ),
        (
            'exec_command failed: CreateProcess { message: "Rejected(`rm /home/user/x` rejected: policy forbids it',
            "your settings denied it",
        ),
    ],
)
def test_how_codex_words_a_denial(said: str, by: str) -> None:
    given = json.dumps({"cmd": "rm /home/user/x"})
    payloads = (
        {"type": "function_call", "call_id": "a", "name": "exec_command", "arguments": given},
        {"type": "function_call_output", "call_id": "a", "output": said},
    )
    lines = (json.dumps({"type": "response_item", "payload": one}, separators=(",", ":")) for one in payloads)
    found = codex.read("\n".join(lines).encode(), None).ran["a"]
    assert (found.is_denied, found.by, found.code) == (True, by, None)


@each(
    ("said", "by"),
    [
        ('This "run_shell_command" invocation was denied by permission rules.', "your settings denied it"),
        ("Tool execution denied by policy.", "your settings denied it"),
        ("The user rejected permission to use this tool.", "you denied it"),
        ("Blocked by the guard", ""),
    ],
)
def test_how_others_word_a_denial(said: str, by: str) -> None:
    found = Reading()
    found.runs("a", "shell", {"command": "rm x"}, 1.0)
    found.took("a", said, is_error=True)
    assert (found.ran["a"].is_denied, found.ran["a"].by) == (True, by)


def test_an_agent_that_is_refused_again_and_again(desk: Desk) -> None:
    """It may stand still in other words, so a person is told; one that goes through ends that."""
    deny = [
        line
        for number in range(3)
        for line in (call(f"{number}", "Bash", command="rm x"), result(f"{number}", CLASSIFIER))
    ]
    found = desk.reads(b"".join([entry("user", "go"), *deny]))
    assert row_fields.show_did(desk.pane.more["did"]) == "refused 3 times in a row, 3 denied"
    assert row_fields.fact(PaneEntry(id="1", status=Status.WORKING, more=desk.pane.more)) == "refused 3 times in a row"
    desk.reads(call("z", "Bash", command="ls") + result("z"), found)
    assert row_fields.show_did(desk.pane.more["did"]) == "1 command, 3 denied"
    assert row_fields.fact(PaneEntry(id="1", status=Status.WORKING, more=desk.pane.more)) == ""
    assert row_fields.fact(PaneEntry(id="1", status=Status.WORKING)) == ""


def test_all_of_it_is_listed(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands with codes, who decided, what asks the network, what lies outside; nothing that only read."""
    desk.reads(record(tmp_path / "api"))
    publish(tmp_path, [attrs.evolve(DONE, id="1")])
    assert main(["did", "1"]) == 0
    lines = [re.sub(r"^.*\d\d:\d\d  ", "", line).strip() for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines == [
        "exit 2    Bash: npm test",
        "allowed by your settings or its mode",
        "denied    Bash: git push origin main",
        "auto mode denied it",
        "asks the network",
        "Write /etc/motd (+1 −0)",
        "allowed by your settings or its mode",
        "outside the project: /etc/motd",
        f"Write {tmp_path}/api/src/a (+1 −0)",
        "you allowed it for good",
        "WebFetch example.org/x",
        "allowed by a hook",
        "asks the network",
    ]
    assert main(["did", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one.get("code") for one in told["calls"]] == [2, None, None, None, None]
    assert [one["is_network"] for one in told["calls"]] == [False, True, False, False, True]


def test_nothing_is_known(runtime: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(runtime, [DONE])
    assert main(["did", "1"]) == NOTHING
    file = did.path_of(f"{HOST}:1", os.environ)
    file.parent.mkdir(parents=True)
    for wrong in ("", "[]", '{"pane": "another"}'):
        file.write_text(wrong)
        assert main(["did", "1"]) == NOTHING
    assert "tells of no calls" in capsys.readouterr().err


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> None:
    """The last calls of a turn are kept, and files of panes that are gone for a week are not."""
    monkeypatch.setattr(reading, "MAX_CALL_COMMANDS", 3)
    many = b"".join(call(f"{number}", "Bash", command=f"echo {number}") for number in range(9))
    assert [one.what for one in desk.reads(many).ran.values()] == ["Bash: echo 6", "Bash: echo 7", "Bash: echo 8"]
    folder = did.path_of("", os.environ).parent
    (folder / "old.json").touch()
    os.utime(folder / "old.json", (0, 0))
    desk.doings = Doings("kitty-2", os.environ, at_once, lambda: 1_790_000_000.0, desk.told.append)
    desk.reads(many)
    assert not (folder / "old.json").exists() and len(list(folder.iterdir())) == 2


def test_thirty_turns(desk: Desk) -> None:
    """Every command of each turn is listed, and none of another."""
    found: Reading | None = None
    for turn in range(30):
        asked = [f"make {turn}-{number}" for number in range(turn)]
        data = [entry("user", "go")]
        for number, command in enumerate(asked):
            id_ = f"{turn}.{number}"
            data += [
                call(id_, "Bash", command=command),
                result(id_, CLASSIFIER if number % 7 == 3 else ""),
            ]
        found = desk.reads(b"".join(data), found)
        known = load(f"{HOST}:1", os.environ)
        assert [one.what for one in known.calls] == [f"Bash: {one}" for one in asked] if known else not asked
        counts: Any = desk.pane.more.get("did", (0, 0, 0, 0))
        assert counts[0] + counts[1] == len(asked)


@each(
    ("what", "is_network"),
    [
        ("Bash: curl -s x", True), ("Bash: cd a && FOO=1 git push", True), ("Bash: git -C a fetch", True),
        ("Bash: sudo apt-get -y install x", True), ("exec_command: /usr/bin/ssh host", True), ("WebSearch: x", True),
        ("Bash: echo $(wget x)", True), ("Bash: npm test", False), ("Bash: git status", False), ("Edit git", False),
        ("Bash: echo curl", False), ("", False), ("Bash: ", False), ("Bash: && |", False),
    ],
)  # fmt: skip
def test_what_asks_the_network(what: str, is_network: bool) -> None:
    assert asks_network(what) is is_network


@each("odd", [[1], ["1"] * 4, [1, 2, 3, -4], {"a": 1}, "1234", 7, None])
def test_strange_counts_are_none(odd: object) -> None:
    found = PaneEntry.from_json({"id": "1", "status": "done", "did": odd})
    assert found is not None and "did" not in found.more


def test_calls_of_subagents(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They count, and are named, in the order of time; denials in a row are those of one agent."""
    own = claude.read(entry("user", "go") + call("a", "Bash", command="make"), None)
    theirs = claude.read(
        b"".join(
            line
            for number in range(3)
            for line in (call(f"{number}", "Bash", command="rm x"), result(f"{number}", CLASSIFIER))
        ),
        None,
    )
    both = own.with_calls({"1": ("Look around", theirs)})
    assert both.with_calls({"1": ("Look around", theirs)}) is both and len(own.ran) == 1
    both.ended_with("a", 0)
    transcript = desk.pane._run.transcript  # type: ignore[union-attr]
    assert transcript is not None
    transcript.found = TranscriptState(reading=both)
    desk.doings.look(1, desk.pane, desk.now)
    assert desk.pane.more["did"] == (1, 3, 0, 3)
    publish(tmp_path, [attrs.evolve(DONE, id="1")])
    assert main(["did", "1"]) == 0
    assert capsys.readouterr().out.count("its subagent Look around") == 3
    later = attrs.evolve(own, since=own.since + 1)
    assert later.with_calls({"1": ("Look around", theirs)}) is later
