"""When limits end: the words of agents, what their records tell of real ones, and what is no time."""

from __future__ import annotations

import datetime
import json

from tallylight.evidence.records import usage_limits
from tallylight.evidence.records.reading import Reading
from tallylight.model.status import Kind, Status
from tests.parts.transcripts.kept import READERS, kept
from tests.tables import each

UTC = datetime.UTC
#: A Tuesday.
AT = datetime.datetime(2026, 11, 24, 12, 43, 11, tzinfo=UTC).timestamp()
DAY = 86_400


def epoch(*parts: int) -> float:
    return datetime.datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc]


def minute(*parts: int) -> float:
    """Late in the minute of a clock that leaves out the seconds."""
    return epoch(*parts) + 54


#: What agents say, each in its own words, and when that is.
SAID = {
    # Claude Code
    "You've hit your 5-hour limit · resets 2:43pm (UTC)": minute(2026, 11, 24, 14, 43),
    "You've hit your session limit · resets 3pm (Europe/Berlin)": epoch(2026, 11, 24, 14),
    "You've hit your limit · resets 2am (Europe/Berlin)": epoch(2026, 11, 25, 1),
    "You've hit your session limit · resets 5:30am (Asia/Calcutta)": minute(2026, 11, 25, 0, 0),
    "You've hit your weekly limit · resets Nov 29, 3pm (UTC)": epoch(2026, 11, 29, 15),
    "You've hit your weekly limit · resets Jan 2 at 7pm (UTC)": epoch(2027, 1, 2, 19),
    "Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage": epoch(2026, 11, 25, 1),
    "Weekly limit reached ∙ resets Mon 9am (UTC)": epoch(2026, 11, 30, 9),
    "Weekly limit reached ∙ resets Thursday at 9:59 AM (UTC)": minute(2026, 11, 26, 9, 59),
    "resets Tue 9am (UTC)": epoch(2026, 12, 1, 9),
    "resets Tuesday, 3pm (UTC)": epoch(2026, 11, 24, 15),
    "Claude usage limit reached. Your limit will reset at 2pm (America/New_York)": epoch(2026, 11, 24, 19),
    "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5)": epoch(2026, 11, 24, 18),
    "Claude AI usage limit reached|1762952400": 1_762_952_400,
    # Codex
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours "
    "11\nminutes.": AT + 5 * DAY + 22 * 3600 + 11 * 60,
    "You've hit your usage limit. Try again in 3 hours 2 minutes.": AT + 3 * 3600 + 120,
    "You've hit your usage limit. Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus), or try "
    "again at Jan 5th, 2027 8:19 PM (UTC).": minute(2027, 1, 5, 20, 19),
    # Gemini CLI
    "[API Error: You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.]":
        AT + 8 * 3600 + 44 * 60 + 7,
    "Usage limit reached for gemini-3-flash-preview.\nAccess resets at 10:57 PM GMT-3.": minute(2026, 11, 25, 1, 57),
    "Access resets at 11:00 AM GMT+2.": minute(2026, 11, 25, 9),
    "Access resets at 11:00 AM GMT+5:30.": minute(2026, 11, 25, 5, 30),
    "Please retry in 7200s.": AT + 7_200,
    "Please retry in 30.5s.": AT + 30.5,
    # Copilot
    "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific "
    "time period. Please try again in 51 hours. Please review our Terms of Service": AT + 51 * 3600,
    "You've reached your weekly rate limit. Please wait for your limit to reset on April 20, 2027 at 2:00 AM (UTC) or "
    "switch to auto model": minute(2027, 4, 20, 2),
    "Sorry, you have been rate-limited. Please wait 2 minutes before trying again": AT + 120,
    "Sorry, your request was rate-limited. Please wait 587 hours 33 minutes before trying again.":
        AT + 587 * 3600 + 33 * 60,
    # pi
    "You have hit your ChatGPT usage limit (plus plan). Try again in ~120 min.": AT + 7_200,
    # Whoever reports one by a hook or a protocol
    "try again in 2 h 14 min": AT + 2 * 3600 + 14 * 60,
    "resets in 1d 2h": AT + DAY + 7_200,
    "limit resets at 2026-11-27T03:00:00Z": epoch(2026, 11, 27, 3),
    "try again at 2026-11-27T03:00:00.5+02:00": epoch(2026, 11, 27, 1) + 0.5,
    "resets 12am (UTC)": epoch(2026, 11, 25),
    "resets 12pm (UTC)": epoch(2026, 11, 25, 12),
    "resets 21:55 UTC": minute(2026, 11, 24, 21, 55),
    "resets 12:43pm (UTC)": minute(2026, 11, 24, 12, 43),  # this minute, and not tomorrow
    "resets 12:42pm (UTC)": minute(2026, 11, 25, 12, 42),
    "resets Jan 2, 2027, 3pm (Europe/Berlin)": epoch(2027, 1, 2, 14),
}  # fmt: skip
#: What is no time.
NOTHING = (
    "resets 25pm (UTC)", "resets 0am (UTC)", "resets 3:99pm (UTC)", "resets 24:00 (UTC)", "resets Feb 30, 3pm (UTC)",
    "resets 3pm (Not/AZone)", "resets 3pm (../../etc/passwd)", "resets 3pm (Europe)", "resets 3pm (UTC+99)",
    "resets soon", "retry in 99999999s", "retry in 900ms", "try again later", "resets 5", "try again 5 times",
    "limit reached|99999999999", "resets at 2026-13-27T03:00:00Z", "", None, 7,
)  # fmt: skip


@each(("text", "expected"), [*SAID.items(), *((text, 0) for text in NOTHING)])
def test_words(text: object, expected: float) -> None:
    """A clock is the next one by the zone that is named, a date the next such day; what is no time tells nothing."""
    assert usage_limits.ends(text, AT) == expected
    assert usage_limits.ends(text, None) == 0.0


@each(
    ("said", "now", "expected"),
    [
        ("resets 3am (Europe/Berlin)", (2026, 10, 24, 20, 0), (2026, 10, 25, 2, 0)),  # the night is an hour longer
        ("resets 3am (Europe/Berlin)", (2027, 3, 27, 20, 0), (2027, 3, 28, 1, 0)),  # and one shorter
        ("resets Mon 9am (Europe/Berlin)", (2026, 10, 24, 20, 0), (2026, 10, 26, 8, 0)),
        ("resets Dec 31 at 11pm (UTC)", (2026, 12, 31, 23, 30), (2027, 12, 31, 23, 0)),
        ("resets 1am (Pacific/Kiritimati)", (2026, 12, 31, 10, 30), (2026, 12, 31, 11, 0)),
    ],
)
def test_a_day_that_is_no_day_long(said: str, now: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """It is the clock of that place, over a change of its offset, a year and the line of the date."""
    assert usage_limits.ends(said, epoch(*now)) == epoch(*expected)


def test_long_words_cost_no_time() -> None:
    """Numbers and units without end, and what nearly fits, are read once."""
    for text in (
        "wait " + "1h " * 9999,
        "resets " + "mon " * 9999,
        "again in " + "9" * 9999,
        "resets 3pm (" + "a" * 9999,
    ):
        usage_limits.ends(text, AT)


def test_the_clock_of_this_place() -> None:
    """Without a zone it is a time of this place."""
    here = datetime.datetime.fromtimestamp(AT).replace(hour=15, minute=5, second=0)  # noqa: DTZ006
    here += datetime.timedelta(days=here.timestamp() < AT)

    for text in ("try again at 3:05 PM.", "resets 3:05pm"):
        assert usage_limits.ends(text, AT) == here.timestamp() + 54
    day = datetime.datetime(2026, 11, 29, 11, 8).timestamp()  # noqa: DTZ001
    assert usage_limits.ends("try again at Nov 29th, 2026 11:08 AM", AT) == day + 54


@each(("header", "expected"), [("7200", AT + 7_200), ("0", AT), ("-1", 0), ("1e9", 0), ("٣", 0), (7200, 0), (None, 0)])
def test_retry_after(header: object, expected: float) -> None:
    """Its seconds count from the answer that it came with."""
    assert usage_limits.after(header, AT) == expected
    assert usage_limits.after(header, None) == 0.0


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
    assert 0 <= read(in_words.encode(), None).limited_until - found.limited_until < 60
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
