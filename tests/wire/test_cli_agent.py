"""Warp's agent events: their vectors, their limits, and what they mean for an agent that waits."""

from __future__ import annotations

import pytest

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.wire import cli_agent
from tallylight.wire.cli_agent import CliAgentEvent, to_report
from tests.helpers import Vector, check_vector, least_seconds, only_sequence, vector_params
from tests.tables import each

START = b"\x1b]777;notify;warp://cli-agent;"


def decode(json: bytes) -> CliAgentEvent:
    return cli_agent.decode(only_sequence(START + json + b"\x07"))


@pytest.mark.slow
@each("vector", vector_params("cli_agent"))
def test_cli_agent(vector: Vector) -> None:
    """Warp's event is read strictly, and what is broken is neither an event nor a notification."""
    check_vector(vector, lambda data: cli_agent.decode(only_sequence(data)))


def test_frame_limit() -> None:
    """A sequence of exactly 64 KiB is read, one byte more is not."""
    json = b'{"event":"stop","x":"%b"}'
    room = cli_agent.FRAME_LIMIT - len(START) - len(json % b"") - 1

    assert decode(json % (b"x" * room)).moment == "stop"
    with pytest.raises(DecodeError, match="too-long"):
        decode(json % (b"x" * (room + 1)))


@pytest.mark.parametrize(("left", "right"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_limit(left: bytes, right: bytes) -> None:
    """JSON 16 levels deep is read, 17 are not, and ten thousand cost nothing."""

    def nested(depth: int) -> bytes:
        return b'{"event":"stop","x":' + left * (depth - 1) + b"1" + right * (depth - 1) + b"}"

    assert decode(nested(cli_agent.DEPTH_LIMIT)).moment == "stop"
    with pytest.raises(DecodeError, match="nested too deeply"):
        decode(nested(cli_agent.DEPTH_LIMIT + 1))
    for broken in (nested(8000), b"[" * 60_000, b'{"event":"stop","x":' + b"[" * 15 + b"]" * 60_000):
        with pytest.raises(DecodeError):
            decode(broken)


@each(
    "json",
    [
        b'{"event":"stop","x":' + b"9" * 60_000 + b"}",
        b'{"event":"stop","x":"' + b"\\" * 60_000 + b"}",
        b'"' * 60_001,
        b'{"event":"stop","x":[' + b"[]," * 20_000 + b"1]}",
        b"{" + b",".join(b'"%d":1' % index for index in range(6000)) + b"}",
        b'{"event":"stop","x":"' + b"[" * 60_000,
    ],
    ids=["digits", "backslashes", "quotes", "arrays", "keys", "unclosed"],
)
def test_hostile_json_costs_little(json: bytes) -> None:
    """Sixty thousand of anything is read or refused in a moment, not in the hours of a bad pattern."""
    assert least_seconds(lambda: wire.decode(only_sequence(START + json + b"\x07")), 2) < 2


def test_broken_is_not_foreign() -> None:
    """What is addressed to this codec and broken is never offered to the next one of the same number."""
    sequence = only_sequence(START + b"{\x07")

    with pytest.raises(DecodeError) as caught:
        wire.CODECS[777](sequence)
    assert caught.value.reason == "malformed"


@each("present", [None, *Status])
@each("moment", cli_agent.MOMENTS)
def test_meaning(moment: str, present: Status | None) -> None:
    """A finished tool and a reply release an agent only if it waits; a start and a reminder change nothing, ever."""
    report = to_report(decode(b'{"event":"%b"}' % moment.encode()), present)

    expected = {
        "prompt_submit": (Status.WORKING, None),
        "permission_request": (Status.WAITING, Kind.PERMISSION),
        "question_asked": (Status.WAITING, Kind.QUESTION),
        "stop": (Status.DONE, None),
        "stop_failure": (Status.ERROR, None),
    }.get(moment)
    if moment in ("tool_complete", "permission_replied") and present is Status.WAITING:
        expected = (Status.WORKING, None)
    assert (report and (report.status, report.kind)) == expected


@each(("word", "is_limit"), [("rate_limit", True), ("billing_error", True), ("overloaded", False), ("unknown", False)])
def test_a_limit(word: str, is_limit: bool) -> None:
    """Of what failed, Claude Code's words for a limit make it one; the same words at another moment do nothing."""
    said = b'{"event":"%b","error_type":"%b"}'
    failed, stopped = (decode(said % (event, word.encode())) for event in (b"stop_failure", b"stop"))
    limited = (Status.WAITING, Kind.LIMIT)

    report = to_report(failed, Status.WORKING)
    assert report is not None and (report.status, report.kind) == (limited if is_limit else (Status.ERROR, None))
    assert (report := to_report(stopped, Status.WORKING)) is not None and report.status is Status.DONE


def test_rank() -> None:
    """A report ranks as a protocol and names its rule."""
    report = to_report(decode(b'{"event":"stop"}'), None)

    assert report is not None
    assert (report.source, report.rule) == (Source.PROTOCOL, "cli-agent")
