"""Turns of Claude Code: status file and transcript together, as time-lines."""

from __future__ import annotations

import json

import attrs

from tallylight.evidence.records.claude_ending import Ending, ending, path_parts, pending_call
from tallylight.evidence.records.claude_status import Reading
from tallylight.evidence.records.claude_turns import CALL_S, TRANSCRIPT_LAG_S, Turns
from tallylight.evidence.records.reading import TAIL_BYTES
from tallylight.model.status import Kind, Status
from tests.tables import each

#: The wall clock of the agent when its monotonic clock is 0.
EPOCH = 1_790_000_000.0


def stamp(at: float) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(EPOCH + at, datetime.UTC).isoformat().replace("+00:00", "Z")


def line(at: float, **entry: object) -> bytes:
    return json.dumps({"timestamp": stamp(at), **entry}).encode() + b"\n"


def duration(at: float, **more: object) -> bytes:
    return line(at, type="system", subtype="turn_duration", durationMs=1, **more)


def api_error(at: float, **more: object) -> bytes:
    message = {"content": [{"type": "text", "text": "API Error: 400 no\nsecond line"}]}
    return line(at, type="assistant", isApiErrorMessage=True, message=message, **more)


def said(at: float, by: str, **more: object) -> bytes:
    """A line of the conversation, as compact as Claude writes it."""
    entry = {"type": by, "message": {"content": "x"}, "timestamp": stamp(at), **more}
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


#: The end of a turn that leaves an agent running.
LEFT = duration(3, pendingBackgroundAgentCount=1)


def interrupted(at: float) -> bytes:
    content = [{"type": "text", "text": "[Request interrupted by user]"}]
    return line(at, type="user", message={"content": content})


def answer(at: float) -> bytes:
    return line(at, type="assistant", message={"stop_reason": "end_turn", "content": [{"type": "text", "text": "ok"}]})


def reading(raw: str, at: float, waiting_for: str = "", session: str = "s1") -> Reading:
    return Reading(raw, waiting_for, session, "/w", "name", int((EPOCH + at) * 1000), int(EPOCH * 1000))


TIMELINES: dict[str, tuple[list[tuple[float, Reading | None, bytes]], str | None]] = {
    "ready after start": ([(0, reading("idle", 0), b"")], "idle"),
    "answering": ([(0, reading("idle", 0), b""), (1, reading("busy", 1), b"")], "working"),
    "finished": ([(1, reading("busy", 1), b""), (3, reading("idle", 3), duration(3))], "done"),
    "finished, told a little later": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), b""), (3.2, reading("idle", 3), duration(3.1))],
        "done",
    ),
    "finished, with the time of turns switched off": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), answer(2.9))],
        "done",
    ),
    "not told yet": ([(1, reading("busy", 1), b""), (3, reading("idle", 3), b"")], "working"),
    "never told": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), b""), (3 + TRANSCRIPT_LAG_S, reading("idle", 3), b"")],
        "idle",
    ),
    "the end of the turn before is no end of this one": (
        [
            (1, reading("busy", 1), duration(0.5)),
            (3, reading("idle", 3), duration(0.5)),
            (3 + TRANSCRIPT_LAG_S, reading("idle", 3), duration(0.5)),
        ],
        "idle",
    ),
    "finished after the clock was set back by an hour": (
        [(1, reading("busy", 1), b""), (3, reading("idle", -3597), duration(0.5) + duration(-3596.9))],
        "done",
    ),
    "finished after it was set forward by an hour": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3603), duration(0.5) + duration(3603.1))],
        "done",
    ),
    "set back, and the end not told yet: that of the turn before seems to be newer": (
        [(1, reading("busy", 1), b""), (3, reading("idle", -3597), duration(0.5))],
        "working",
    ),
    "set back, and never told": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", -3597), duration(0.5)),
            (3 + TRANSCRIPT_LAG_S, reading("idle", -3597), duration(0.5)),
        ],
        "idle",
    ),
    "the turn after it was set back": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", -3597), duration(0.5) + duration(-3596.9)),
            (5, reading("busy", -3595), b""),
            (7, reading("idle", -3593), duration(0.5) + duration(-3596.9) + interrupted(-3593)),
        ],
        "idle",
    ),
    "set back while it asked": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("waiting", 2, "permission prompt"), b""),
            (9, reading("idle", -3591), interrupted(-3591)),
        ],
        "idle",
    ),
    "interrupted": ([(1, reading("busy", 1), b""), (3, reading("idle", 3), interrupted(3))], "idle"),
    "interrupted after an answer": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), answer(2) + interrupted(3))],
        "idle",
    ),
    "failed": ([(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3))], "error"),
    "failed for want of a login": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3, error="authentication_failed"))],
        "waiting/auth",
    ),
    "failed at a limit": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3, error="rate_limit"))],
        "waiting/limit",
    ),
    "failed for want of credit": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3, error="billing_error"))],
        "waiting/limit",
    ),
    "failed at a server that is overloaded": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3, error="overloaded"))],
        "error",
    ),
    "a limit, after which it asks what to do": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", 3), b""),
            (3.1, reading("busy", 3.1), b""),
            (3.3, reading("waiting", 3.3, "dialog open"), b""),
            (3.5, reading("waiting", 3.3, "dialog open"), api_error(2.9, error="rate_limit")),
            (60, reading("idle", 60), api_error(2.9, error="rate_limit")),
        ],
        "waiting/limit",
    ),
    "the same, told late": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", 3), b""),
            (3.7, reading("idle", 3), b""),
            (4, reading("waiting", 4, "dialog open"), b""),
            (4.4, reading("waiting", 4, "dialog open"), api_error(2.9, error="rate_limit")),
        ],
        "waiting/limit",
    ),
    "a dialog in the middle of a turn, after one that ended well": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("waiting", 3, "dialog open"), duration(0.5)),
            (9, reading("waiting", 3, "dialog open"), duration(0.5)),
        ],
        "waiting/input",
    ),
    "a dialog behind another one": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("waiting", 3, "permission prompt"), b""),
            (5, reading("waiting", 5, "dialog open"), b""),
            (9, reading("waiting", 5, "dialog open"), b""),
        ],
        "waiting/input",
    ),
    "a dialog in the middle of a turn, not yet known not to be its end": (
        [(1, reading("busy", 1), b""), (3, reading("waiting", 3, "dialog open"), b"")],
        "working",
    ),
    "a menu opened in the middle of a turn, which is over": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("waiting", 3, "dialog open"), duration(3)),
            (9, reading("waiting", 3, "dialog open"), duration(3)),
        ],
        "done",
    ),
    "a menu opened after a question was cancelled": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("waiting", 3, "permission prompt"), b""),
            (6, reading("waiting", 6, "dialog open"), interrupted(4)),
            (9, reading("waiting", 6, "dialog open"), interrupted(4)),
        ],
        "idle",
    ),
    "a dialog of a turn, left with the turn": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("waiting", 3, "dialog open"), b""),
            (4, reading("waiting", 3, "dialog open"), b""),
            (6, reading("idle", 6), interrupted(6)),
        ],
        "idle",
    ),
    "a dialog at its start, before anybody can have asked for one": (
        [(0, reading("idle", 0.1), b""), (1, reading("waiting", 1, "dialog open"), b"")],
        "waiting/input",
    ),
    "the same, at the first look": ([(5, reading("waiting", 1, "dialog open"), b"")], "waiting/input"),
    "the same of a session in the background": (
        [(99, attrs.evolve(reading("waiting", 50, "dialog open"), is_background=True), b"")],
        "waiting/input",
    ),
    "a dialog that was there before anybody looked": ([(99, reading("waiting", 50, "dialog open"), b"")], None),
    "a limit stays, also behind a menu": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", 3), api_error(3, error="rate_limit")),
            (9, reading("waiting", 9, "dialog open"), api_error(3, error="rate_limit")),
            (60, reading("idle", 3), api_error(3, error="rate_limit")),
        ],
        "waiting/limit",
    ),
    "a limit, and the person goes on": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", 3), api_error(3, error="rate_limit")),
            (9, reading("busy", 9), api_error(3, error="rate_limit")),
        ],
        "working",
    ),
    "a turn too short to be seen": ([(0, reading("idle", 0), b""), (1, reading("idle", 0.9), duration(0.9))], "done"),
    "agents left in the background": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), duration(3, pendingBackgroundAgentCount=2))],
        "background",
    ),
    "an agent left running, of which the file says nothing": (
        [(1, reading("busy", 1), b""), (3.2, reading("busy", 1), answer(3) + LEFT)],
        "background",
    ),
    "it still runs, and nothing new is said": (
        [(1, reading("busy", 1), b""), (3.2, reading("busy", 1), LEFT), (9, reading("busy", 1), b"")],
        "background",
    ),
    "what it writes itself is no new turn": (
        [(1, reading("busy", 1), b""), (5, reading("busy", 1), LEFT + said(4, "assistant", isSidechain=True))],
        "background",
    ),
    "a new turn while it runs": (
        [
            (1, reading("busy", 1), b""),
            (3.2, reading("busy", 1), LEFT),
            (6, reading("busy", 1), LEFT + said(5.9, "user")),
        ],
        "working",
    ),
    "the turn about what it found": (
        [(1, reading("busy", 1), b""), (3.2, reading("busy", 1), LEFT), (9, reading("busy", 8.9), LEFT)],
        "working",
    ),
    "the end of that turn is told late": (
        [
            (1, reading("busy", 1), b""),
            (9, reading("busy", 8.9), LEFT),
            (11, reading("idle", 11), LEFT),
            (11.2, reading("idle", 11), LEFT + answer(10.9) + duration(11)),
        ],
        "done",
    ),
    "the agent of a turn before": (
        [(8, reading("idle", 4), b""), (9, reading("busy", 9), LEFT), (9.5, reading("busy", 9), LEFT)],
        "working",
    ),
    "a background shell": ([(1, reading("busy", 1), b""), (3, reading("shell", 3), b"")], "background"),
    "permission": (
        [(1, reading("busy", 1), b""), (2, reading("waiting", 2, "permission prompt"), b"")],
        "waiting/permission",
    ),
    "sandbox": (
        [(1, reading("busy", 1), b""), (2, reading("waiting", 2, "sandbox request"), b"")],
        "waiting/permission",
    ),
    "question": ([(1, reading("busy", 1), b""), (2, reading("waiting", 2, "input needed"), b"")], "waiting/question"),
    "something new to wait for": ([(2, reading("waiting", 2, "a sign"), b"")], "waiting/input"),
    "a menu the person opened": (
        [(0, reading("idle", 0), b""), (9, reading("waiting", 9, "dialog open"), b"")],
        "idle",
    ),
    "a menu does not unsay done": (
        [
            (1, reading("busy", 1), b""),
            (3, reading("idle", 3), duration(3)),
            (5, reading("waiting", 5, "dialog open"), b""),
        ],
        "done",
    ),
    "dismissed": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("waiting", 2, "input needed"), b""),
            (3, reading("idle", 3), interrupted(3)),
        ],
        "idle",
    ),
    "dismissed, and its transcript says nothing": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("waiting", 2, "input needed"), b""),
            (3, reading("idle", 3), b""),
            (4, reading("idle", 3), b""),
        ],
        "idle",
    ),
    "approved, and finished before the next look": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("waiting", 2, "permission prompt"), b""),
            (3, reading("idle", 3), duration(2.9)),
        ],
        "done",
    ),
    "dismissed, after a turn that was finished": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("idle", 2), duration(2)),
            (4, reading("waiting", 4, "permission prompt"), duration(2)),
            (5, reading("idle", 5), duration(2)),
            (6, reading("idle", 5), duration(2)),
        ],
        "idle",
    ),
    "approved and finished": (
        [
            (1, reading("busy", 1), b""),
            (2, reading("waiting", 2, "permission prompt"), b""),
            (4, reading("busy", 4), b""),
            (6, reading("idle", 6), duration(6)),
        ],
        "done",
    ),
    "done stays": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), duration(3)), (60, reading("idle", 3), duration(3))],
        "done",
    ),
    "an error stays": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3), api_error(3)), (60, reading("idle", 3), api_error(3))],
        "error",
    ),
    "another session in the same process": (
        [(1, reading("busy", 1), b""), (3, reading("idle", 3, session="s2"), duration(3))],
        "idle",
    ),
    "a reading that cannot be read changes nothing": ([(1, reading("busy", 1), b""), (2, None, b"")], "working"),
}


@each("name", TIMELINES)
def test_timeline(name: str) -> None:
    """Each moment of a real session means what a person would say of it."""
    steps, expected = TIMELINES[name]
    turns = Turns()
    said = None
    for now, found, tail in steps:
        said = turns.read(found, tail, now) or said

    assert (said is None) == (expected is None)
    assert said is None or (f"{said.status}/{said.kind}" if said.kind else str(said.status)) == expected


def test_the_same_end_of_another_turn_is_told() -> None:
    """A turn that went by between two looks at the status file ended as the one before."""
    turns = Turns()
    turns.read(reading("busy", 1), b"", 1)
    first = turns.read(reading("idle", 3), duration(2.9), 3)
    again = turns.read(reading("idle", 5), duration(2.9) + duration(4.9), 5)
    assert first is not None
    assert first.status is Status.DONE
    assert again == first
    assert turns.read(reading("idle", 5), duration(2.9) + duration(4.9), 6) is None


def test_the_error_is_told() -> None:
    """The first line of an API error is the message, and nothing of the second."""
    found = ending(api_error(3), EPOCH)

    assert found is not None
    assert (found.status, found.message) == (Status.ERROR, "API Error: 400 no")


def test_a_subagents_entries_end_no_turn() -> None:
    """What a side chain writes is not the end of the conversation a person sees."""
    assert ending(line(3, type="system", subtype="turn_duration", isSidechain=True), EPOCH) is None


@each(
    "tail",
    [
        b"",
        b"\xff\xfe\x00" * 100,
        b'{"turn_duration"' * 10_000,
        b'["turn_duration"]',
        b'{"subtype":"turn_duration","type":"system"}',
        b'{"subtype":"turn_duration","type":"system","timestamp":7}',
        b'{"subtype":"turn_duration","type":"system","timestamp":"yesterday"}',
        b'{"type":"assistant","isApiErrorMessage":true,"timestamp":"x","message":[1]}',
        b'{"a":' + b"[" * 100_000 + b'"turn_duration"',
        b"x" * TAIL_BYTES,
    ],
    ids=range(10),
)
def test_an_odd_transcript_is_no_evidence(tail: bytes) -> None:
    """Whatever has another shape than observed is ignored, and never an error."""
    assert ending(tail, EPOCH) is None


def test_the_message_is_harmless() -> None:
    """An error's text is sanitised: it came from a server."""
    message = {"content": "API Error: \x1b[31m\u202ered"}
    found = ending(line(3, type="assistant", isApiErrorMessage=True, message=message), EPOCH)

    assert found is not None
    assert found.message == "API Error: [31mred"


def test_where_the_transcript_lies() -> None:
    """The directory's name is the working directory with every odd character a dash; odd ids have no transcript."""
    assert path_parts("/home/u/my.proj_1", "a-1") == ("projects", "-home-u-my-proj-1", "a-1.jsonl")
    assert path_parts("/w", "../../etc/passwd") is None
    assert path_parts("/w", "") is None


def test_kind_is_kept_while_waiting() -> None:
    """A question that follows a permission is another report."""
    turns = Turns()
    turns.read(reading("waiting", 1, "permission prompt"), b"", 1)
    second = turns.read(reading("waiting", 2, "input needed"), b"", 2)

    assert second is not None
    assert second.kind is Kind.QUESTION


def called(at: float, id_: str, command: str, **more: object) -> bytes:
    call = {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": command}}
    return line(at, type="assistant", message={"content": [call]}, **more)


def answered(at: float, id_: str) -> bytes:
    return line(at, type="user", message={"content": [{"type": "tool_result", "tool_use_id": id_, "content": "ok"}]})


def test_the_call_that_waits() -> None:
    """The one call without a result; none of a subagent's, none where two wait, nothing of what is cut off."""
    asked = called(2, "b", "make\ncheck")
    for tail, expected in (
        (asked, "Bash: make ↵ check"),
        (called(1, "a", "ls") + answered(1, "a") + asked, "Bash: make ↵ check"),
        (asked + line(3, type="system", subtype="x"), "Bash: make ↵ check"),
        (asked + answered(3, "b"), ""),
        (called(1, "a", "ls") + asked, ""),
        (asked + called(3, "c", "rm", isSidechain=True), "Bash: make ↵ check"),
        (called(1, "a", "ls")[20:] + asked, "Bash: make ↵ check"),
        (b'{"tool_use": 1}\n{"message": {"content": [1, {"type": "tool_use"}]}}\n', ""),
        (b"", ""),
    ):
        assert pending_call(tail, "/w", 0) == expected, tail
    assert pending_call(called(1, "a", "ls") + answered(1, "a") * 64 + asked + answered(9, "x") * 63, "", 0) != ""
    assert len(pending_call(called(1, "a", "\x1b[31m" + "x" * 900), "", 0)) == 200
    for after, expected in ((1.5, "Bash: make ↵ check"), (2, "Bash: make ↵ check"), (2.1, "")):
        assert pending_call(called(1, "a", "ls") + asked, "/w", EPOCH + after) == expected
    assert pending_call(asked.replace(b"timestamp", b"when"), "/w", 0) == "", "who knows how old it is"


def test_what_a_permission_is_asked_for() -> None:
    """It is looked for as long as the transcript may be late, and told once; no question has one."""
    turns = Turns()
    asks = reading("waiting", 2, "permission prompt")
    turns.read(reading("busy", 1), b"", 1)
    first = turns.read(asks, b"", 2)
    assert first is not None and (first.what, turns.is_undecided) == ("", True)
    told = turns.read(asks, called(2, "b", "ls"), 2.2)
    assert told is not None and (told.what, told.status, turns.is_undecided) == ("Bash: ls", "waiting", False)
    assert turns.read(asks, b"", 2.4) is None
    turns.read(reading("waiting", 3, "permission prompt"), b"", 3)
    assert turns.read(reading("waiting", 3, "permission prompt"), b"", 3 + CALL_S) is None and not turns.is_undecided
    question = turns.read(reading("waiting", 5, "input needed"), called(5, "c", "ls"), 5)
    assert question is not None and (question.what, turns.is_undecided) == ("", False)
    working = turns.read(reading("busy", 6), called(2, "b", "ls"), 6)
    assert working is not None and working.what == ""


@each(
    "between, late",
    [
        ([reading("busy", 3)], called(2, "a", "touch zz0") + answered(3, "a")),
        ([reading("busy", 3)], called(2, "a", "touch zz0")),
        ([], called(2, "a", "touch zz0")),
    ],
    ids=["its result is there", "its result is not told yet", "nor was it seen to go on"],
)
def test_a_call_of_before_is_not_asked_for(between: list[Reading], late: bytes) -> None:
    """The file says that it asks before the transcript tells what: the call that was answered is not what it is."""
    turns = Turns()
    asks = "permission prompt"
    before = turns.read(reading("busy", 1), b"", 1), turns.read(reading("waiting", 2.1, asks), late, 2.2)
    assert [report.what for report in before if report is not None] == [
        "",
        "" if b"result" in late else "Bash: touch zz0",
    ]
    for one in between:
        turns.read(one, late, 3.1)
    now = turns.read(reading("waiting", 4, asks), late, 4.1)
    assert now is not None and (now.status, now.what, turns.is_undecided) == (Status.WAITING, "", True)
    told = turns.read(reading("waiting", 4, asks), late + called(3.9, "b", "touch zz1"), 4.4)
    assert told is not None and told.what == "Bash: touch zz1"
    called_anew = attrs.evolve(reading("waiting", 4, asks), name="a title of its own")
    named = turns.read(called_anew, late + called(3.9, "b", "touch zz1"), 5)
    assert named is not None and named.what == "Bash: touch zz1", "it is the same dialog"


def result(at: float, text: str, **more: object) -> bytes:
    """The end of a call."""
    part = {"type": "tool_result", "content": text, "is_error": True, "tool_use_id": f"t{at}"}
    return line(at, type="user", message={"content": [part]}, **more)


BY_MODE = "Permission for this action has been denied. Reason: the check failed"
#: Three denials that no person gave.
UNASKED = result(1.1, BY_MODE) + result(1.2, BY_MODE) + result(1.3, "Permission to use Bash has been denied.")


def test_a_turn_that_was_refused_again_and_again() -> None:
    """A turn whose last three calls nobody was asked about, and all were denied, is done with that as its question."""

    by_mode, unasked = BY_MODE, UNASKED
    refused = Ending(Status.DONE, "3 calls in a row were denied without asking you", kind=Kind.QUESTION)
    plain = Ending(Status.DONE)
    for tail, expected in (
        (unasked + answer(2), refused),
        (unasked + duration(2), refused),
        (result(1.05, "ok") + unasked + duration(2), refused),
        (unasked + result(1.4, "ok") + duration(2), plain),
        (unasked + result(1.4, "The user doesn't want to proceed") + duration(2), plain),
        (result(1.0, by_mode) + result(1.1, by_mode) + duration(2), plain),
        (unasked.replace(b'"content": "Perm', b'"content": "Say: Perm') + duration(2), plain),
        (result(-3, by_mode) + result(-2, by_mode) + result(-1, by_mode) + duration(2), plain),
        (unasked + result(1.4, "ok", isSidechain=True) + duration(2), refused),
        (unasked + said_at_the_end(1.5, "Shall I try another way?") + duration(2), None),
    ):
        found = ending(tail, EPOCH)
        assert found == (expected or Ending(Status.DONE, "Shall I try another way?", kind=Kind.QUESTION)), tail


def test_a_turn_that_is_denied_call_after_call() -> None:
    """While it goes on it waits with that as its question: until a call is let through, or until it is over."""
    turns = Turns()

    def told(tail: bytes, now: float) -> tuple[object, ...]:
        report = turns.read(reading("busy", 1), tail, now)
        return (report.status, report.kind, report.message) if report is not None else ()

    asks = (Status.WAITING, Kind.QUESTION, "3 calls in a row were denied without asking you")
    assert told(b"", 1) == (Status.WORKING, None, "")
    assert told(result(1.1, BY_MODE) + result(1.2, BY_MODE), 2) == ()
    assert told(UNASKED, 3) == asks
    assert told(UNASKED, 4) == ()
    assert told(UNASKED + result(1.4, "ok"), 5) == (Status.WORKING, None, "")
    assert told(UNASKED, 6) == asks
    over = turns.read(reading("idle", 3), UNASKED + duration(2), 7)
    assert over is not None and (over.status, over.kind) == (Status.DONE, Kind.QUESTION)
    again = turns.read(reading("busy", 8), b"", 8)
    assert again is not None and again.status is Status.WORKING


def said_at_the_end(at: float, text: str, **more: object) -> bytes:
    return line(at, type="assistant", message={"content": [{"type": "text", "text": text}], **more})


def test_a_turn_that_ends_with_a_question() -> None:
    """Its last words ask one: the turn is done with that question, whichever entry ends it."""
    question = said_at_the_end(2, "I made two files.\n\nShall I commit them?", stop_reason="end_turn")
    asked = Ending(Status.DONE, "Shall I commit them?", kind=Kind.QUESTION)
    plain = Ending(Status.DONE)
    prompt = line(1, type="user", message={"content": "Is it so?"})
    for tail, expected in (
        (prompt + question, asked),
        (prompt + question + duration(3), asked),
        (question + prompt + duration(3), plain),
        (question + said_at_the_end(2.5, "It is so.") + duration(3), plain),
        (question + duration(3, pendingBackgroundAgentCount=2), Ending(Status.BACKGROUND, background=2)),
        (line(2, type="assistant", isSidechain=True, message={"content": "Why?"}) + duration(3), plain),
    ):
        assert ending(tail, EPOCH) == expected, tail
    turns = Turns()
    turns.read(reading("busy", 1), b"", 1)
    told = turns.read(reading("idle", 3), question + duration(3), 3)
    assert told is not None and (told.status, told.kind, told.message) == ("done", "question", "Shall I commit them?")
