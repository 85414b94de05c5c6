"""When limits end: the words of agents, what their records tell of real ones, and what is no time."""

from __future__ import annotations

import datetime
import json

from tallylight.evidence.records import limits
from tallylight.evidence.records.readers import READERS
from tallylight.evidence.records.reading import Reading
from tallylight.model.status import Kind, Status
from tests.evidence.records.kept import kept
from tests.tables import each

UTC = datetime.UTC
#: A Tuesday.
AT = datetime.datetime(2026, 11, 24, 12, 43, 11, tzinfo=UTC).timestamp()


def epoch(*parts: int) -> float:
    return datetime.datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc]


@each(
    ("text", "expected"),
    [
        ("You've hit your 5-hour limit · resets 2:43pm (UTC)", epoch(2026, 11, 24, 14, 43)),
        ("resets 3pm (Europe/Berlin)", epoch(2026, 11, 24, 14)),
        ("resets 12am (UTC)", epoch(2026, 11, 25)),
        ("resets 12pm (UTC)", epoch(2026, 11, 25, 12)),
        ("resets 12:43pm (UTC)", epoch(2026, 11, 24, 12, 43)),  # this minute, and not tomorrow
        ("resets 12:42pm (UTC)", epoch(2026, 11, 25, 12, 42)),
        ("weekly limit · resets Nov 29, 3pm (UTC)", epoch(2026, 11, 29, 15)),
        ("resets Jan 2, 10:05am (UTC)", epoch(2027, 1, 2, 10, 5)),
        ("resets Jan 2, 2027, 3pm (Europe/Berlin)", epoch(2027, 1, 2, 14)),
        ("Please retry in 7200s.", AT + 7_200),
        ("Please retry in 30.5s.", AT + 30.5),
        ("You have hit your ChatGPT usage limit (plus plan). Try again in ~120 min.", AT + 7_200),
        ("resets 25pm (UTC)", 0),
        ("resets 0am (UTC)", 0),
        ("resets 3:99pm (UTC)", 0),
        ("resets Feb 30, 3pm (UTC)", 0),
        ("resets 3pm (Not/AZone)", 0),
        ("resets 3pm (../../etc/passwd)", 0),
        ("resets 3pm (Europe)", 0),
        ("resets soon", 0),
        ("retry in 99999999s", 0),
        ("", 0),
        (None, 0),
        (7, 0),
    ],
)
def test_words(text: object, expected: float) -> None:
    """A clock is the next one by the zone that is named, a date the next such day; what is no time tells nothing."""
    assert limits.ends(text, AT) == expected
    assert limits.ends(text, None) == 0.0


def test_the_clock_of_this_place() -> None:
    """Without a zone it is a time of this place."""
    here = datetime.datetime.fromtimestamp(AT).replace(hour=15, minute=5, second=0)  # noqa: DTZ006
    here += datetime.timedelta(days=here.timestamp() < AT)

    for text in ("try again at 3:05 PM.", "resets 3:05pm"):
        assert limits.ends(text, AT) == here.timestamp()
    day = datetime.datetime(2026, 11, 29, 11, 8).timestamp()  # noqa: DTZ001
    assert limits.ends("try again at Nov 29th, 2026 11:08 AM", AT) == day


@each(("header", "expected"), [("7200", AT + 7_200), ("0", AT), ("-1", 0), ("1e9", 0), ("٣", 0), (7200, 0), (None, 0)])
def test_retry_after(header: object, expected: float) -> None:
    """Its seconds count from the answer that it came with."""
    assert limits.after(header, AT) == expected
    assert limits.after(header, None) == 0.0


def at_the_limit(agent: str) -> Reading:
    """What the record of *agent* said while it stood at a limit of two hours."""
    return next(
        state
        for state in kept(agent).steps()
        if state.limited_until or (state.turn is not None and state.turn.kind is Kind.LIMIT)
    )


@each("agent", ("copilot-limit", "gemini-limit", "kimi-limit", "pi-limit"))
def test_a_limit_in_a_record(agent: str) -> None:
    """It ends a turn in words of the agent's; it is no error; and it is over with the next turn."""
    found = at_the_limit(agent)

    assert found.turn is not None and found.turn.status is Status.WAITING
    assert "quota" in found.turn.message
    assert found.limited_until == 0, "it does not tell until when"
    goes_on = found.copy()
    goes_on.began(found.turn.at + 60)
    *_, last = kept(agent).steps() if agent != "kimi-limit" else (goes_on,)
    assert last.turn is not None and last.turn.kind is not Kind.LIMIT


def test_a_limit_of_claude_code() -> None:
    """Its transcript tells the end of two hours to the second, and in words for older versions; until the next turn."""
    record = kept("claude-limit")
    found = at_the_limit("claude-limit")
    began = next(at for at, name in record.truths if name == "waiting:limit")
    read = READERS["claude"].read

    assert abs(found.limited_until - began - 7_200) <= 2
    told = next(line for line in record.lines if b'"quotaLimits"' in line)
    entry = json.loads(told)
    in_words = json.dumps({key: value for key, value in entry.items() if key != "quotaLimits"}, separators=(",", ":"))
    assert 0 <= found.limited_until - read(in_words.encode(), None).limited_until < 60
    for odd in (-1, "soon", None, True, [], 1e300):
        assert read(json.dumps(entry | {"quotaLimits": {"resetsAt": odd}}, separators=(",", ":")).encode(), None)
    assert list(record.steps())[-1].limited_until == 0
    # An answer without a prompt: it went on by itself.
    answer = next(line for line in reversed(record.lines) if b'"type":"assistant"' in line)
    assert read(answer, found).limited_until == 0


def test_a_limit_of_opencode() -> None:
    """An answer that failed with 429, and how long to wait by its headers; another status is an error."""

    def failed(code: int) -> Reading:
        about = {"message": "no more", "statusCode": code, "responseHeaders": {"retry-after": "7200"}}
        message = {"role": "assistant", "time": {"completed": 1000 * AT}, "error": {"name": "APIError", "data": about}}
        row = {"kind": "message", "row": {"id": "m", "data": json.dumps(message)}}
        return READERS["opencode"].read(json.dumps(row).encode(), None)

    limited, error = failed(429), failed(400)
    assert limited.turn is not None and (limited.turn.status, limited.turn.kind) == (Status.WAITING, Kind.LIMIT)
    assert limited.limited_until == AT + 7_200
    assert error.turn is not None and (error.turn.status, error.limited_until) == (Status.ERROR, 0.0)


@each(
    ("said", "is_limit"),
    [
        ("429: rate limited", None),  # it tries again
        ("You have hit your ChatGPT usage limit. Try again in ~5 min.", True),
        ('402: {"message":"insufficient_quota"}', True),
        ("400: bad", False),
    ],
)
def test_a_limit_of_pi(said: str, is_limit: bool | None) -> None:
    """What it does not try again is a limit, by its own words, or an error."""
    message = {"role": "assistant", "stopReason": "error", "errorMessage": said, "content": []}
    entry = {"type": "message", "timestamp": 1000 * AT, "message": message}
    turn = READERS["pi"].read(json.dumps(entry, separators=(",", ":")).encode(), None).turn

    expected = {None: None, True: Kind.LIMIT, False: None}[is_limit]
    assert (turn.kind if turn is not None else None) is expected
    assert (turn is None) is (is_limit is None)
