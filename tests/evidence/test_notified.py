"""Notifications as evidence: they raise attention, and only that; with the vectors of their protocols."""

from __future__ import annotations

from typing import Any

import pytest

from tallylight.evidence.notified import RULE, is_machine_talk, message_report, notice_report
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire import notification
from tallylight.wire.scanner import Sequence
from tests.helpers import Vector, load_vectors
from tests.tables import each

RAISES = {
    "permission_request": (Status.WAITING, Kind.PERMISSION),
    "question_asked": (Status.WAITING, Kind.QUESTION),
    "stop": (Status.DONE, None),
    "stop_failure": (Status.ERROR, None),
}


def sequence(vector: Vector) -> Sequence | None:
    """The one sequence of a vector, if it has one that a terminal would read."""
    scanner = Scanner()
    found = [item for item in [*scanner.feed(vector.data)] if isinstance(item, Sequence) and item.number]
    return found[0] if len(found) == 1 and found[0].number in (9, 99, 777) else None


def heard(name: str, *numbers: int) -> list[Any]:
    """The vectors of one sequence that a terminal passes on; it makes text of all bytes, so UTF-8 is no matter."""
    found = [(vector, sequence(vector)) for vector in load_vectors(name) if not vector.id.endswith("not-utf8")]
    return [pytest.param(vector, id=vector.id) for vector, one in found if one is not None and one.number in numbers]


def payload(found: Sequence) -> tuple[int, str]:
    assert found.number is not None
    return found.number, found.body.decode("utf-8", "replace")


@each("vector", heard("cli_agent", 777))
def test_warps_events(vector: Vector) -> None:
    """Of each vector, what it raises and no more: not a start, not a prompt, nothing of what is malformed."""
    found = sequence(vector)
    assert found is not None
    number, text = payload(found)
    moment = vector.events[0]["cli_agent"]["moment"] if vector.events else ""
    report = message_report(number, text, Status.WORKING)

    assert is_machine_talk(number, text) == bool(vector.events)
    assert (report is not None) == (moment in RAISES)
    if report is not None:
        is_limit = vector.events[0]["cli_agent"]["report"].get("kind") == "limit"
        assert (report.status, report.kind) == ((Status.WAITING, Kind.LIMIT) if is_limit else RAISES[moment])
        assert report.source is Source.NOTIFICATION and report.id == ""


def test_there_are_vectors() -> None:
    """Most of them reach a terminal as one sequence, so that there is something to test."""
    assert len(heard("cli_agent", 777)) > 25 and len(heard("notification", 9, 777)) > 25


@each("event", ["tool_complete", "permission_replied", "prompt_submit", "stop", "idle_prompt"])
def test_nothing_is_cleared(event: str) -> None:
    """While the agent is known to wait, no notification says that it does not."""
    text = f'notify;warp://cli-agent;{{"event":"{event}"}}'

    assert message_report(777, text, Status.WAITING) is None and is_machine_talk(777, text)


@each(
    ("word", "status"), [("attention", Status.WAITING), ("finished", Status.DONE), ("working", None), ("dancing", None)]
)
def test_terax(word: str, status: Status | None) -> None:
    """Terax's words raise attention likewise."""
    report = message_report(777, f"notify;Terax;claude;{word}", Status.WORKING)

    assert (report.status if report is not None else None) is status
    assert is_machine_talk(777, f"notify;Terax;claude;{word}") == (word != "dancing")


@each("vector", heard("notification", 9, 777))
def test_plain_notifications(vector: Vector) -> None:
    """A vector with a notification of one sequence raises attention with its text; any other raises none."""
    found = sequence(vector)
    assert found is not None
    number, text = payload(found)
    # kitty reads nothing under 777 but `notify`, and what it is of.
    title, _, body = text.removeprefix("notify;").partition(";") if number == 777 else (text, "", "")
    report = notice_report(number, title, body) if number == 9 or text.startswith("notify;") else None

    expected = vector.events[0].get("notification") if vector.events else None
    assert (report.message if report is not None else None) == (": ".join(expected.values()) if expected else None)
    if report is not None:
        assert (report.status, report.source, report.rule) == (Status.WAITING, Source.NOTIFICATION, RULE)


@each("title", ["4;1;50", "1;x", "12"])
def test_other_uses_of_osc_9(title: str) -> None:
    """ConEmu's numbers are no notifications, whatever a terminal makes of them."""
    assert notice_report(9, title, "") is None
    assert notice_report(99, title, "") is not None


def test_texts_are_harmless() -> None:
    """What comes out has been sanitised, and nothing without text comes out."""
    report = notice_report(99, "a\x1b[31m\u202eb", "\x07")

    assert report is not None and report.message == "a[31mb"
    assert notice_report(99, "\u200b", "\x07") is None


def test_long_texts_are_cut() -> None:
    """Nobody needs a megabyte of attention."""
    report = notice_report(99, "x" * 1_000_000, "y" * 1_000_000)

    assert report is not None and len(report.message) <= 2 * notification.NOTIFICATION_CELLS + 2
