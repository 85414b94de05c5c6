"""The readers of records, on what real agents wrote: all of it, cut anywhere, as it grows, and in another format."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.records.places import StrangeError, ask
from tallylight.evidence.records.reading import MAX_CALL_EDITS, Edit, Reading, Turn
from tallylight.model.details import NO_DETAILS, Child, Details
from tallylight.model.report import Progress
from tallylight.model.status import Kind, Status
from tests.parts.transcripts.kept import AGENTS, DATABASES, FILES, Kept, grown, kept, read
from tests.tables import each

TASKS = ("Read the parser", "Rename the helpers", "Run the tests")
ANSWER = "Here is a short answer."
#: What each agent's record tells at its end.
DETAILS = {
    "aider": Details(model="openai/scripted"),
    "claude": Details(
        model="claude-opus-5-5",
        context=0,
        tasks=TASKS,
        progress=Progress(1, 3),
        prompt="AFTER 1 ERROR 400",
        reply=ANSWER,
    ),
    "cline": Details(model="scripted", reply=ANSWER),
    "codex": Details(model="scripted", context=0, tasks=TASKS, progress=Progress(2, 3), reply=ANSWER),
    "copilot": Details(model="scripted", context=10, reply=ANSWER),
    "gemini": Details(model="gemini-3.1-pro-preview", context=0, reply=ANSWER),
    "kimi": Details(model="scripted", tasks=TASKS, progress=Progress(2, 3), reply=ANSWER),
    "kilo": Details(model="scripted", tasks=TASKS, progress=Progress(2, 3), reply=ANSWER),
    "opencode": Details(
        model="scripted",
        tasks=TASKS,
        progress=Progress(2, 3),
        reply=ANSWER,
    ),
    "pi": Details(model="scripted", reply=ANSWER),
    "qwen": Details(model="scripted", reply="The scripted model answers in a few plain words, one after the other."),
    "qwen-plan": Details(model="scripted", tasks=TASKS, progress=Progress(2, 3), reply=ANSWER),
    "gemini-plan": Details(model="gemini-2.5-pro", context=0, tasks=TASKS, progress=Progress(2, 3), reply=ANSWER),
    "kilo-price": Details(model="scripted", reply=ANSWER, cost=0.00018),
    "opencode-price": Details(model="scripted", reply=ANSWER, cost=0.00018),
    "claude-denied": Details(
        model="claude-opus-5-5", context=0, prompt="AFTER 1 TOOL touch again THEN fine", reply=ANSWER
    ),
    "claude-limit": Details(model="claude-sonnet-5-5", prompt="AFTER 1 fine", reply=ANSWER),
    "claude-subagent": Details(
        model="claude-opus-5-5",
        context=0,
        children=(Child("A task", Status.WORKING),) * 2,
        prompt="TASK SUB TOOL touch made THEN TASK SUB TOOL rm made THEN TOOL ls made THEN AFTER 3 fine",
        reply=ANSWER,
    ),
    "copilot-limit": Details(model="scripted", reply=ANSWER),
    "kimi-limit": Details(model="scripted", reply=ANSWER),
    "aider-price": Details(model="openai/scripted", reply=ANSWER, cost=0.0071),
}
#: Those whose last turn failed before the agent said anything.
NO_REPLY = {
    "claude", "claude-2.1.329", "claude-denied", "cline", "codex", "gemini", "kilo", "kilo-7.7.7", "kimi", "kimi-limit",
    "opencode", "pi", "pi-0.73.1", "qwen",
}  # fmt: skip
#: How its turns ended, by those records that tell.
_LIMIT = "waiting/limit"
ENDS = {
    "cline": ["done", "done", "idle", "done", "done", "error"],
    "codex": ["done", "done", "idle", "idle", "done", "error", _LIMIT],
    "copilot": ["done", "done", "idle", "idle", "done", "done", "background", "error", "done"],
    "gemini": ["idle", "idle", "error"],
    "kimi": ["done", "done", "idle", "done", "done", "done", "error"],
    "pi": ["done", "done", "idle", "done", "done", "done", "error"],
    "qwen": ["error"],
    "copilot-limit": ["done", _LIMIT, "done"],
    "copilot-subagent": ["done"],
    "gemini-limit": [_LIMIT],
    "kimi-limit": ["done", _LIMIT],
    "pi-limit": ["done", _LIMIT, "done"],
}
#: What may be true when such an end is told, and how much later, in seconds, a busy agent writes that it was.
OVER = {"done", "idle", "error", "waiting:limit"}
LATE_S = 3.0


def _base(name: str) -> str:
    """The agent of a record."""
    return name.partition("-")[0]


@each("agent", AGENTS)
def test_what_a_record_tells(agent: str) -> None:
    """All that a whole record says of model, context, tasks, subagents and reply."""
    found = read(kept(agent))

    assert found.is_known
    limited = found.limited_until
    expected = DETAILS.get(agent) or DETAILS[_base(agent)]
    # Each of these replies is one sentence.
    outcome = "" if agent in NO_REPLY else expected.reply
    assert found.details == Details(**{**_fields(expected), "outcome": outcome, "limited_until": limited})
    assert (limited > 0) is (agent == "codex")


def _fields(details: Details) -> dict[str, object]:
    return {name: getattr(details, name) for name in Details.__slots__ if not name.startswith("__")}


@each("agent", FILES)
def test_a_record_that_grows(agent: str) -> None:
    """Line by line it comes to the same as at once, and nothing that was handed out is changed by what follows."""
    record = kept(agent)
    state: Reading | None = None
    before: list[tuple[Reading, str]] = []
    for line in record.lines:
        state = record.reader.read(line, state)
        before.append((state, repr(state)))

    assert state is not None and state.details == read(record).details
    assert all(repr(found) == told for found, told in before)


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_a_record_cut_anywhere(agent: str) -> None:
    """After every line, and in the middle of every line, it can be read; half a line adds nothing."""
    record = kept(agent)
    for whole, line in zip(record.prefixes(), record.lines, strict=True):
        known = read(record, whole)
        if AGENTS[agent] != "aider":  # whose lines are text: half of one is one
            half = read(record, whole + line[: len(line) // 2])
            assert (half.details, half.turn) == (known.details, known.turn)
    # What is read of a long record begins in the middle of a line.
    start = len(record.lines[0]) // 2
    assert read(record, record.data[start:]).details.reply == read(record).details.reply


@pytest.mark.slow
@each("agent", [name for name in AGENTS if _base(name) in ENDS and "plan" not in name])
def test_how_turns_ended(agent: str) -> None:
    """Every end is told once, none that was not one; and when it is told, it is so."""
    record = kept(agent)
    told: list[tuple[str, float]] = []
    for state in record.steps():
        turn = state.turn
        if turn is None or turn.status is Status.WORKING or state.asked:
            continue
        word = f"{turn.status}/{turn.kind}" if turn.kind else str(turn.status)
        if (word, turn.at) not in told:
            told.append((word, turn.at))

    assert [word for word, _ in told] == (ENDS.get(agent) or ENDS[_base(agent)])
    for word, at in told:
        around = {record.truth(at), *(name for since, name in record.truths if at - LATE_S <= since <= at + 0.3)}
        true = {_LIMIT: "waiting:limit", "background": "done"}.get(word, word)
        assert true in around, (word, at)


@pytest.mark.parametrize("agent", ["codex", "copilot", "kimi", "pi"])
def test_a_turn_that_ends_with_a_question(agent: str) -> None:
    """Where the last reply of a turn ends with a question, the end of that turn asks it."""
    record = kept(agent)
    asked = attrs.evolve(record, data=record.data.replace(ANSWER.encode(), b"All is done. Shall I go on?"))
    state: Reading | None = None
    told = set()
    for line in asked.lines:
        state = asked.reader.read(line, state)
        if state.turn is not None and state.turn.status is Status.DONE:
            told.add((state.turn.kind, state.turn.message))

    assert told == {(Kind.QUESTION, "Shall I go on?")}


@each("agent", ("codex", "copilot", "kimi", "pi"))
def test_nothing_ends_while_it_works_or_asks(agent: str) -> None:
    """Of an agent whose record tells all ends: while a turn goes on, or a dialog is open, its record says so."""
    record = kept(agent)
    state: Reading | None = None
    for line in record.lines:
        before, state = state, record.reader.read(line, state)
        turn = before.turn if before is not None else None
        if turn is not None and state.turn != turn and turn.status is not Status.WORKING:
            # It stood until now: nothing was true since but that the turn was over, until the next prompt.
            since = [name for at, name in record.truths if turn.at + 0.3 < at < (state.turn or turn).at - LATE_S]
            assert set(since) <= OVER, (turn, since)


def test_the_end_of_a_limit() -> None:
    """A used-up plan is a wait of its own kind, with the time that Codex tells: two hours later, to the minute."""
    record = kept("codex")
    found = read(record)

    assert found.turn is not None and (found.turn.status, found.turn.kind) == (Status.WAITING, Kind.LIMIT)
    assert abs(found.limited_until - found.turn.at - 7_200) <= 60
    assert "usage limit" in found.turn.message


def test_what_a_pending_call_is_about() -> None:
    """While it asks, the call that it asks about is known; when it is answered, no more; none where two wait."""
    seen = {agent: set[str]() for agent in ("cline", "copilot", "kimi")}
    for agent, calls in seen.items():
        states = list(kept(agent).steps())
        assert not any(state.asked_for for state in states if not state.asked)
        calls.update(state.asked_for for state in states)
        two = next(state for state in states if state.asked_for).copy()
        two.called("another", "Bash", "ls")
        assert two.asked_for == ""

    assert {"bash: touch made", "ask_user: Which colour?", ""} <= seen["copilot"]
    assert {"run_commands: touch made", "ask_question: Which colour?", ""} <= seen["cline"]
    assert {"Bash: touch made", "AskUserQuestion: Which colour?", ""} <= seen["kimi"]


def test_what_a_person_is_asked() -> None:
    """A record that tells it does so within a moment of the call, and of the answer; what it is and what is asked."""
    expected = {
        "cline": [(Kind.PERMISSION, ""), (Kind.PERMISSION, ""), (Kind.QUESTION, "Which colour?")],
        "copilot": [
            (Kind.PERMISSION, ""),
            (Kind.PERMISSION, ""),
            (Kind.QUESTION, "Which colour?"),
            (Kind.PERMISSION, ""),
        ],
        "kimi": [(Kind.PERMISSION, ""), (Kind.PERMISSION, ""), (Kind.QUESTION, "Which colour?")],
    }
    for agent, dialogs in expected.items():
        record, told = kept(agent), list[Turn]()
        for state in record.steps():
            turn = state.turn
            assert not state.asked or (turn is not None and turn.status is Status.WAITING)
            if turn is not None and turn not in told:
                told.append(turn)
        waits = [turn for turn in told if turn.status is Status.WAITING]
        assert [(turn.kind, turn.message) for turn in waits] == dialogs
        for turn in waits:
            around = {record.truth(turn.at), record.truth(turn.at + 0.3)}
            assert f"waiting:{turn.kind}" in around
            after = told[told.index(turn) + 1]
            assert after.status is Status.WORKING and not record.truth(after.at).startswith("waiting")


def test_subagents() -> None:
    """Each by name from its start, with what it does as far as the record tells; those of the present turn alone."""
    seen: dict[str, set[tuple[Child, ...]]] = {agent: set() for agent in ("claude", "codex", "copilot", "kimi")}
    for agent, children in seen.items():
        state: Reading | None = None
        for line in kept(agent).lines:
            state = kept(agent).reader.read(line, state)
            children.add(state.details.children)

    def states(name: str, *statuses: Status) -> set[tuple[Child, ...]]:
        return {(), *((Child(name, status),) for status in statuses)}

    assert seen["claude"] == states("A task", Status.WORKING, Status.DONE)
    assert seen["copilot"] == states("scripted", Status.WORKING, Status.DONE)
    assert seen["kimi"] == states("A task", Status.WORKING, Status.DONE)
    assert seen["codex"] == states("Nash", Status.WORKING)


def test_the_last_prompt() -> None:
    """The first line of what was typed; not of what Claude writes in a person's name. It is repeated in the record."""

    def told(*entries: dict[str, object]) -> str:
        state: Reading | None = None
        for entry in entries:
            state = kept("claude").reader.read(json.dumps(entry, separators=(",", ":")).encode() + b"\n", state)
        assert state is not None
        return state.details.prompt

    def typed(text: object, **more: object) -> dict[str, object]:
        return {"type": "user", "message": {"role": "user", "content": text}, **more}

    for other in (
        typed("Caveat: the messages below", isMeta=True),
        typed("This session continues", isCompactSummary=True),
        typed("<command-name>/clear</command-name>"),
        typed([{"type": "tool_result", "content": "done"}]),
        {"type": "last-prompt", "lastPrompt": None},
    ):
        assert told(typed("Fix it\nplease"), other) == "Fix it"
    assert told({"type": "last-prompt", "lastPrompt": "Rewrite the tutorial"}) == "Rewrite the tutorial"


@pytest.mark.slow
def test_how_full_the_context_was() -> None:
    """The share of the window that the last answer used, as the record states both."""
    most = dict.fromkeys(("claude", "codex", "gemini"), 0)
    for agent in most:
        for whole in kept(agent).prefixes():
            most[agent] = max(most[agent], read(kept(agent), whole).details.context or 0)

    assert most == {"claude": 15, "codex": 39, "gemini": 86}


@each("agent", FILES)
def test_a_format_of_tomorrow(agent: str) -> None:
    """A record whose entries are all of another kind is not known, and tells nothing."""
    data = kept(agent).data.replace(b'"type"', b'"sort"').replace(b"#### ", b"@@@ ").replace(b"# aider", b"% aider")
    found = read(kept(agent), data)

    assert not found.is_known
    assert (found.details.model, found.details.reply, found.turn) == ("", "", None)


@each("agent", [name for name in AGENTS if name not in FILES])
def test_rows_and_messages_of_tomorrow(agent: str) -> None:
    """The same of a database whose tables are as they were, and of a document."""
    data = kept(agent).data
    found = read(kept(agent), data.replace(b'"role', b'"part').replace(b'\\"role', b'\\"part'))

    assert read(kept(agent)).is_known and not found.is_known
    assert (found.details.model, found.details.reply, found.turn) == ("", "", None)


@pytest.mark.parametrize("agent", DATABASES)
def test_rows_that_are_cut(agent: str) -> None:
    """After every row, and with every row cut in two, as a long one is: no end is told that there never was."""
    record = kept(agent)
    ends = {found.turn and (found.turn.status, found.turn.rule) for found in record.steps()}
    for number, line in enumerate(record.lines):
        before, after = b"".join(record.lines[:number]), b"".join(record.lines[number + 1 :])
        whole = record.reader.read(before, None)
        half = record.reader.read(before + line[: len(line) // 2], None)

        assert (whole.turn and (whole.turn.status, whole.turn.rule)) in ends
        assert (half.details, half.turn) == (whole.details, whole.turn)
        kind, _, row = line.partition(b'"data":"')
        cut = record.reader.read(before + kind + b'"data":"' + row[: len(row) // 2] + b'"}}\n' + after, None)
        assert cut.turn is None or (cut.turn.status, cut.turn.rule) in {*ends, (Status.WORKING, "")}


@each("agent", AGENTS)
@each("data", [b"", b"\0\xff\n", b"{}\n[]\nnull\n", b'{"type":"user"}\n' * 3, b"[" * 100_000 + b"\n"])
def test_what_is_no_record(agent: str, data: bytes) -> None:
    """Whatever stands in its place is no error, and tells nothing."""
    found = kept(agent).reader.read(data, None)

    assert (found.details, found.turn if AGENTS[agent] != "qwen" else None) == (NO_DETAILS, None)


def test_a_command_of_geminis_interface_that_fails() -> None:
    """It is no turn that failed: `/terminal-setup` writes its error into the chat as well."""
    data = b"".join(kept("gemini").lines)
    first = kept("gemini").reader.read(data, None)
    said = {"id": "1", "timestamp": "2027-01-01T10:00:00.000Z", "type": "error"}
    for content, is_failed in (("Could not detect terminal type.", False), ("[API Error: 500]", True)):
        line = json.dumps({**said, "content": content}, separators=(",", ":")).encode() + b"\n"
        prompt = b'{"id":"0","type":"user","timestamp":"2027-01-01T09:00:00.000Z","content":[{"text":"go"}]}\n'
        found = kept("gemini").reader.read(data + prompt + line, first)
        assert (found.turn is not None and found.turn.status is Status.ERROR) is is_failed, content


def test_a_turn_that_went_on_before_anybody_looked() -> None:
    """One that is found going on and is then broken off is told so; at rest from the first look it tells no end."""
    record = kept("cline")
    looks = list(zip(record.seen, record.prefixes(), strict=True))
    rests = next(n for n, ((_, _, status, count), _) in enumerate(looks) if (status, count) == ("idle", 7))
    going, over = (prefix for _, prefix in looks[rests - 1 : rests + 1])
    first = record.reader.read(going, None)
    after = record.reader.read(over, first)

    assert first.turn is not None and first.turn.status is Status.WORKING
    assert after.turn is not None and after.turn.status is Status.IDLE
    assert abs(after.turn.at - looks[rests][0][1]) < 0.001
    unseen = record.reader.read(over, None).turn
    assert unseen is None or unseen.status is Status.WORKING


def test_a_document_that_is_being_written() -> None:
    """One that is cut anywhere leaves all as it was; of a long one the end is read, whatever it begins with."""
    record = kept("cline")
    whole = read(record)
    for number in range(len(record.lines)):
        part = b"".join(record.lines[:number])
        assert record.reader.read(part, whole) is whole
        assert not record.reader.read(part, None).is_known
        rest = record.reader.read(b"".join(record.lines[number:]), whole)
        assert (rest.details.reply, rest.turn) in ((whole.details.reply, whole.turn), (whole.details.reply, None))


@pytest.mark.parametrize("agent", [name for name in DATABASES if not name.endswith("-price")])
def test_a_database_as_it_grows(agent: str) -> None:
    """Message by message: every end is told once the message is whole, and none before."""
    ends: list[tuple[str, float]] = []
    children: set[str] = set()
    for found in kept(agent).steps():
        children.update(child.name for child in found.details.children)
        turn = found.turn
        if turn is not None and turn.status is not Status.WORKING and ends[-1:] != [(str(turn.status), turn.at)]:
            ends.append((str(turn.status), turn.at))
    expected = ["done", "done", "idle", "idle", "done", "done", "error"]

    assert [word for word, _ in ends] == (
        expected if agent == "opencode" else ["done", "done", "idle", "done", "error"]
    )
    assert children == ({"A task (@general subagent)"} if agent == "opencode" else set())
    record = kept(agent)
    for word, at in ends:
        assert word in {record.truth(at), *(name for since, name in record.truths if at - LATE_S <= since <= at + 0.3)}


@pytest.mark.parametrize("agent", DATABASES)
def test_an_end_is_told_before_the_agent_has_tidied_up(agent: str) -> None:
    """A message that has its `finish` and no `completed` yet ends the turn, and when it has, that is no other end."""
    record, states = kept(agent), list[Turn | None]()
    for data in (record.data, re.sub(rb', \\"completed\\": \d+', b"", record.data)):
        ends = [line for line in data.splitlines(keepends=True) if b'\\"finish\\": \\"stop\\"' in line]
        parts = [line for line in data.splitlines(keepends=True) if b'"kind":"part"' in line]
        assert ends
        states.append(record.reader.read(b"".join([ends[-1], *parts]), None).turn)

    assert states[0] == states[1] and states[0] is not None and states[0].status is Status.DONE


def test_a_database_of_tomorrow(tmp_path: Path) -> None:
    """Tables of other columns are told to be strange."""
    path = tmp_path / "record.db"
    database = sqlite3.connect(path)
    database.executescript("create table session (id text, cost blob); create table message (name text);")
    database.close()
    record: Kept = kept("opencode")

    with pytest.raises(StrangeError):
        ask(str(path), record.reader.queries, ("x",))


#: A call of a command in the records of agents, as JSON or as JSON in a text; and a line of Codex that patches a file.
_COMMAND = re.compile(rb'{\\?"command\\?": ?\\?"touch made\\?"[^{}]*}')
_PATCH = (
    b'{"timestamp":"2026-11-22T09:00:00.000Z","type":"response_item","payload":{"type":"custom_tool_call",'
    b'"name":"apply_patch","input":"*** Begin Patch\\n*** Update File: a.py\\n-x\\n+y\\n*** End Patch"}}\n'
)


@pytest.mark.slow
@each("agent", ["claude", "codex", "copilot", "gemini", "opencode", "pi", "qwen"])
def test_what_an_agent_writes(agent: str) -> None:
    """A call that writes a file is kept, with its texts and its time, of late ones so many; one of a command is not."""
    record = kept(agent)
    assert read(record).edits == ()
    steps = grown(agent) if agent in DATABASES else [_PATCH if agent == "codex" else record.data]
    before = next(data for data in steps if agent == "codex" or _COMMAND.search(data))
    edit = json.dumps({"file_path": "a.py", "old_string": "x", "new_string": "y"})
    text = json.dumps(edit)[1:-1] if agent in DATABASES else edit
    data = _COMMAND.sub(lambda _: text.encode(), before)

    found = record.reader.read(data, None)
    assert {attrs.evolve(one, at=0.0) for one in found.edits} == {Edit("a.py", "x", "y", 0.0)}
    assert all(one.at > 1.7e9 for one in found.edits)
    for _ in range(MAX_CALL_EDITS):
        found = record.reader.read(data, found)
    assert len(found.edits) <= MAX_CALL_EDITS


@pytest.mark.parametrize(
    "name", ["claude-denied", "cline", "codex", "copilot", "gemini", "kimi", "opencode", "pi", "qwen"]
)
def test_commands_and_denials(name: str) -> None:
    """Each command is told as it ended: with its exit code, or denied by the person at the agent's own dialog."""
    ran = {id_: one for reading in kept(name).steps() for id_, one in reading.ran.items()}.values()

    ended = {one.what.partition(": ")[2]: (one.code, one.is_denied, one.by) for one in ran if one.is_command}

    code = {"claude-denied": ("ls /nonexistent", 2)}.get(name, ("touch made", 0))
    assert ended[code[0]][:2] == (code[1], False)
    assert ended["touch again"] == (None, True, "you denied it")


@each(
    ("text", "code", "found"),
    [
        ("make: *** [all] Error 2\n\nCommand exited with code 2", None, (2, False, "")),
        ("Command failed with exit code: 127.", None, (127, False, "")),
        ("The user rejected it", 1, (1, False, "")),
        ("cat: /etc/shadow: Permission denied", None, (None, False, "")),
        ("This tool call was blocked by your settings", None, (None, True, "")),
        ({"text": []}, None, (None, False, "")),
    ],
)
def test_the_end_of_a_failed_call(text: object, code: object, found: tuple[int | None, bool, str]) -> None:
    """A result's own words tell the exit code, or a denial and by whom; what a command printed tells neither."""
    reading = Reading()
    reading.runs("c1", "Bash", {"command": "make"}, 5.0)

    reading.took("c1", text, code, is_error=True)

    assert (reading.ran["c1"].code, reading.ran["c1"].is_denied, reading.ran["c1"].by) == found


def test_claude_tells_where_you_were() -> None:
    """Claude's own summary replaces the last sentence until the next reply, but no question; the reply stays."""

    def entry(**keys: object) -> bytes:
        return json.dumps(keys, separators=(",", ":")).encode() + b"\n"

    def said(text: str) -> bytes:
        return entry(type="assistant", message={"content": [{"type": "text", "text": text}]})

    summary = entry(
        type="system", subtype="away_summary", content="Fixed the bug; the tests are next. (disable recaps in /config)"
    )
    reader = kept("claude").reader
    after = reader.read(said("All is done.") + summary, None)

    assert (after.outcome, after.reply) == ("Fixed the bug; the tests are next.", "All is done.")
    assert reader.read(said("Now the tests pass."), after).outcome == "Now the tests pass."
    assert reader.read(said("Shall I commit it?") + summary, None).outcome == "Shall I commit it?"
