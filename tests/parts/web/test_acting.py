"""What a person does by way of REST: answers, text and interrupts, and all that is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from starlette.testclient import TestClient

from tallylight.actions.answer import Seen
from tallylight.actions.gate import Refusal
from tallylight.evidence.screen import Look
from tallylight.model.bucket import Bucket
from tallylight.model.status import Status
from tallylight.parts.web.answering import MAX_PAGE_CELLS, MAX_PAGE_ROWS, MAX_PAGE_RUNS
from tests.actions.desk import PID, START, holder, seen
from tests.actions.hostile import HARMLESS, HOSTILE
from tests.parts.web.serving import JSON, ONE, PROCESS, Served
from tests.tables import sampled


@pytest.mark.slow
def test_a_buffer_and_its_question(client: TestClient, served: Served) -> None:
    """One look gives the screen, the question with all that an answer names, and what may be done."""
    found = client.get("/api/v1/buffer", params={"address": ONE}).json()
    assert " Do you want to proceed?" in found["lines"]
    assert (found["pid"], found["start"], found["can_say"], found["can_interrupt"]) == (PID, START, False, False)
    asked = client.get("/api/v1/question", params={"address": ONE}).json()
    assert found["question"] == asked
    assert asked["context"][asked["first"]] == " Bash command"
    assert [(choice["number"], choice["keys"]) for choice in asked["choices"]] == [(n, str(n)) for n in (1, 2, 3, 4)]
    # Of a pane in which nothing may be done there still is the screen, and the reason.
    gone = client.get("/api/v1/buffer", params={"address": "sessions-1:%2"})
    assert (gone.status_code, gone.json()["rule"]) == (409, "gone")
    served.panes.desks["%1"].now = Refusal("mode", "somebody reads back in that pane")
    back = client.get("/api/v1/buffer", params={"address": ONE}).json()
    assert (back["lines"], back["why"]) == (["$ claude", "Run the migration?"], "somebody reads back in that pane")
    assert (back["question"], back["can_say"], back["can_interrupt"], back["pid"]) == (None, False, False, 0)


@pytest.mark.slow
def test_a_screen_in_colours(client: TestClient, served: Served) -> None:
    """Colours are of a look just after, and only where a row still says the same; the text is that of the look."""
    desk = served.panes.desk("%1")
    screen = ["Run it?", "", "❯ 1. Yes  ", "2. No", "plain"]
    desk.now = attrs.evolve(seen("claude/permission-bash-80"), look=Look(screen, 0, 0, 80))
    # A fourth row has been drawn anew since, and a sixth one has come.
    served.panes.drawn = [
        "\x1b[1;31mRun\x1b[0m it?",
        "",
        "\x1b[38;2;1;2;255;48;5;9m❯ 1. Yes\x1b[0m",
        "\x1b[32m3. Never\x1b[0m",
        "plain",
        "more",
    ]
    found = client.get("/api/v1/buffer", params={"address": ONE}).json()
    none = {"foreground": None, "background": None, "style": []}
    assert found["screen"] == [
        [{**none, "text": "Run", "foreground": 1, "style": ["bold"]}, {**none, "text": " it?"}],
        [],
        [{**none, "text": "❯ 1. Yes", "foreground": "#0102ff", "background": 9}],
        [{**none, "text": "2. No"}],
        [{**none, "text": "plain"}],
    ]
    assert [row.rstrip() for row in found["lines"]] == [row.rstrip() for row in screen]
    # Of a screen in more pieces than are shown, the rest is in no colour.
    row = "".join(f"\x1b[3{number % 8}mx" for number in range(400))
    desk.now = attrs.evolve(seen("claude/permission-bash-80"), look=Look(["x" * 400] * 60, 0, 0, 400))
    served.panes.drawn, served.panes.columns = [row] * 60, 400
    pieces = [len(line) for line in client.get("/api/v1/buffer", params={"address": ONE}).json()["screen"]]
    assert pieces == [400] * (MAX_PAGE_RUNS // 400) + [1] * (60 - MAX_PAGE_RUNS // 400)


@pytest.mark.slow
def test_long_screens_are_cut_with_a_mark(client: TestClient, served: Served) -> None:
    """A row or a screen that is too long to be handed out ends in `…`."""
    desk = served.panes.desk("%1")
    desk.now = attrs.evolve(seen("claude/permission-bash-80"), look=Look(["x" * 9000] * 2000, 0, 0, 9000))
    lines = client.get("/api/v1/buffer", params={"address": ONE}).json()["lines"]
    assert (len(lines), lines[-1]) == (MAX_PAGE_ROWS + 1, "…")
    assert lines[0] == "x" * (MAX_PAGE_CELLS - 1) + "…"


def test_an_answer_is_typed_once(client: TestClient, served: Served) -> None:
    """A choice by its number is typed as its keys alone; sent again before the screen has changed, it is refused."""
    desk = served.panes.desk("%1")
    shown = desk.shown()
    given = {**PROCESS, "fingerprint": shown.fingerprint, "choice": 4}
    first = client.post("/api/v1/answer", json=given)
    assert (first.status_code, first.json()["done"]) == (200, "answered 4. No")
    for choice in (4, 1):
        again = client.post("/api/v1/answer", json={**given, "choice": choice})
        assert (again.status_code, again.json()["rule"]) == (409, "answered")
    assert desk.typed == ["4"]
    # Once something else stood there, the same question is another one.
    desk.now = seen("claude/working-120", Status.WORKING, pane="%1")
    assert client.get("/api/v1/buffer", params={"address": ONE}).json()["question"] is None
    desk.now = seen("claude/permission-bash-80", pane="%1")
    assert client.post("/api/v1/answer", json=given).status_code == 200
    assert desk.typed == ["4", "4"]


def test_text_and_interrupt(client: TestClient, served: Served) -> None:
    """Text goes to an agent at its prompt, with Enter only when that is said; the key to stop to one that works."""
    desk = served.panes.desk("%1", "claude/idle-start-80", status=Status.IDLE, takes_paste=True)
    view = client.get("/api/v1/buffer", params={"address": ONE}).json()
    assert (view["can_say"], view["can_interrupt"]) == (True, False)
    for text, enter in (("grüße;", {}), ("go on;\n;", {"enter": True})):
        assert client.post("/api/v1/text", json={**PROCESS, "text": text, **enter}).status_code == 200
    idle = client.post("/api/v1/interrupt", json=PROCESS)
    assert (idle.status_code, idle.json()["rule"]) == (409, "no-turn")
    assert desk.typed == ["grüße;", "go on;\n;\r"]
    desk = served.panes.desk("%1", "claude/working-120", status=Status.WORKING)
    view = client.get("/api/v1/buffer", params={"address": ONE}).json()
    assert (view["can_say"], view["can_interrupt"]) == (False, True)
    busy = client.post("/api/v1/text", json={**PROCESS, "text": "x"})
    assert (busy.status_code, busy.json()["rule"]) == (409, "working")
    assert client.post("/api/v1/interrupt", json=PROCESS).status_code == 200
    assert desk.typed == ["\x1b"]


#: Bodies that are none of `answer`, `text` and `interrupt`.
WRONG_BODIES: list[object] = [
    {}, [], "x", 1, None,
    {**PROCESS, "text": ""}, {**PROCESS, "text": "x" * 4097}, {**PROCESS, "text": 1},
    {**PROCESS, "text": "x", "run": "y"},
    {**PROCESS, "text": "x", "enter": "yes"}, {**PROCESS, "text": "x", "enter": 1}, {"text": "1"},
    {"text": "1", "enter": True}, {"address": ONE, "text": "1"},
    {**PROCESS, "choice": 1}, {**PROCESS, "fingerprint": "a" * 32}, {**PROCESS, "fingerprint": "a" * 32, "choice": 0},
    {**PROCESS, "fingerprint": "a" * 32, "choice": "1"}, {**PROCESS, "fingerprint": "a" * 32, "choice": True},
    {**PROCESS, "fingerprint": "a" * 32, "choice": 1.5}, {**PROCESS, "fingerprint": "a" * 32, "choice": 10**400},
    {**PROCESS, "fingerprint": "a" * 32, "choice": -1}, {**PROCESS, "fingerprint": "a" * 65, "choice": 1},
    {**PROCESS, "fingerprint": None, "choice": 1}, {**PROCESS, "fingerprint": "a" * 32, "choice": 1, "keys": "1"},
    {**PROCESS, "pid": str(PID), "fingerprint": "a" * 32, "choice": 1}, {**PROCESS, "pid": 0, "text": "x"},
    {**PROCESS, "pid": -1, "text": "x"}, {**PROCESS, "start": None, "text": "x"},
    {**PROCESS, "start": 0.5, "text": "x"},
    {**PROCESS, "address": "", "text": "x"}, {**PROCESS, "address": ["x"], "text": "x"},
    {**PROCESS, "address": "x" * 401, "text": "x"}, {**PROCESS, "keys": "1"}, {**PROCESS, "pid": PID + 0.5},
]  # fmt: skip


@pytest.mark.slow
def test_other_bodies_are_refused(client: TestClient, served: Served) -> None:
    """A body of another shape types nothing, at whatever route it is sent."""
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    found = {}
    for body in WRONG_BODIES:
        for route in ("answer", "text", "interrupt"):
            answer = client.post(f"/api/v1/{route}", content=json.dumps(body), headers=JSON)
            found[f"{route} {body!r:.80}"] = answer.status_code
    assert {case: status for case, status in found.items() if status not in (422, 409)} == {}
    assert served.panes.typed == {}


def _other(name: str = "claude/permission-bash-80", **more: Any) -> Callable[[], Seen | Refusal]:
    return lambda: seen(name, **{"pane": "%1", **more})


_ANOTHER = ["process", "process", "process"]
#: What may have become of the pane between the moment at which a person saw the question and the answer; and the rules
#: that refuse the answer, a text, and to interrupt. Nothing: that may be done.
SINCE: dict[str, tuple[Callable[[], Seen | Refusal], list[str]]] = {
    "the next question": (_other("claude/permission-write-80"), ["changed", "asking", "asking"]),
    "another width": (_other("claude/permission-bash-120"), ["changed", "asking", "asking"]),
    "a question of another kind": (_other("claude/plan-approval-80"), ["changed", "asking", "asking"]),
    "it works": (_other("claude/working-120", status=Status.WORKING), ["no-question", "working", ""]),
    "a menu": (_other("claude/menu-model-80", status=Status.IDLE), ["no-question", "prompt", "no-turn"]),
    "another process": (_other(foreground=holder("claude", PID + 1)), _ANOTHER),
    "its number given anew": (_other(foreground=holder("claude", PID, START + 1)), _ANOTHER),
    "its start is not known": (_other(foreground=holder("claude", PID, 0)), _ANOTHER),
    "a shell, or cat": (_other(foreground=holder("")), _ANOTHER),
    "another pane": (_other(pane="%9"), ["gone", "gone", "gone"]),
    "it is gone": (lambda: Refusal("gone", "that pane is gone"), ["gone", "gone", "gone"]),
    "copy mode": (lambda: Refusal("mode", "somebody reads back"), ["mode", "mode", "mode"]),
}


@pytest.mark.slow
def test_what_has_changed_since_is_refused(client: TestClient, served: Served) -> None:
    """Whatever happened to the pane since a person saw it: 409 with a named rule, a sentence, and nothing typed."""
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    fingerprint = served.panes.desk("%1").shown().fingerprint
    wrong = []
    for case, (now, rules) in SINCE.items():
        bodies: dict[str, dict[str, object]] = {
            "answer": {"fingerprint": fingerprint, "choice": 1},
            "text": {"text": "1", "enter": True},
            "interrupt": {},
        }
        for (route, body), rule in zip(bodies.items(), rules, strict=True):
            served.panes.desk("%1").now = now()
            answer = client.post(f"/api/v1/{route}", json={**PROCESS, **body})
            found = (answer.status_code, answer.json().get("rule", ""), served.panes.typed)
            expected = (409, rule, {}) if rule else (200, "", {"%1": ["\x1b"]})
            if found != expected:
                wrong.append((case, route, found))
            served.panes.desks.clear()
    assert wrong == []


#: Choices, fingerprints and texts that a person cannot have meant.
HOSTILE_ANSWERS = [
    ("answer", {"fingerprint": "0" * 32, "choice": 1}, "changed"),
    ("answer", {"fingerprint": "", "choice": 1}, "changed"),
    ("answer", {"fingerprint": "*", "choice": 1}, "changed"),
    *[("answer", {"choice": number}, "choice") for number in (5, 6, 20)],
    *[
        ("text", {"text": text, "enter": True}, "text")
        for text in (
            "\x03", "ls\x1b[A", "a\x7f", "a\u2028b", "\x9b", "a\x00", "\r", "1\r1", "a\u202eb", "\x1b", "\x04",
            "\u200b", "\x1b[201~rm", "\ufeff", "\u2066x", "\x85", "\ue000",
        )
    ],
    *[
        ("text", {"text": text, "enter": enter, **more}, "asking")
        for text in ("1", "y", "yes", " ", "\n", "\t", "1\n1", "rm -rf ~;", "2")
        for enter in (True, False)
        for more in ({}, {"fingerprint": "0" * 32})
    ],
]  # fmt: skip


@pytest.mark.slow
def test_hostile_answers_and_texts(client: TestClient, served: Served) -> None:
    """To a pane that asks a question, no text goes at all, and of the answers only those that there are."""
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    desk = served.panes.desk("%1")
    right = {"fingerprint": desk.shown().fingerprint}
    assert len(HOSTILE_ANSWERS) >= 40
    wrong = []
    for route, body, rule in HOSTILE_ANSWERS:
        given = {**PROCESS, **(right if route == "answer" else {}), **body}
        answer = client.post(f"/api/v1/{route}", json=given)
        if (answer.status_code, answer.json().get("rule")) != (409, rule):
            wrong.append((route, body, answer.status_code, answer.text))
    assert wrong == []
    assert served.panes.typed == {}


@pytest.mark.slow
def test_every_hostile_answer_of_the_tables(client: TestClient, served: Served) -> None:
    """What `actions.answer` refuses, REST refuses by the same rule, with a sentence and nothing typed."""
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    wrong = []
    for case in sampled(HOSTILE):
        served.panes.desks.clear()
        desk = served.panes.desk("%1")
        desk.now = attrs.evolve(case.before, pane="%1")
        shown = desk.shown()
        given = case.change(shown.answer(case.number))
        desk.now = case.after
        if not isinstance(case.after, Refusal):
            # In the tables the pane is another one, where it is not its own any more.
            desk.now = attrs.evolve(case.after, pane="%1" if case.after.pane == case.before.pane else "%9")
        body = {"pid": given.pid, "start": given.start, "fingerprint": given.fingerprint, "choice": given.number}
        answer = client.post("/api/v1/answer", json={"address": ONE if given.pane == "%1" else "sessions-1:%9", **body})
        found = (answer.status_code, answer.json().get("rule", ""))
        # What is no number of a choice or of a process is not even read; a pane that is not there is not asked.
        unread = found == (422, "") and not (1 <= given.number <= 20 and given.number is not True and given.pid)
        if desk.typed or not (unread or found == (404, "") or (found[0] == 409 and found[1] in case.rules)):
            wrong.append((case.name, found, desk.typed))
    assert wrong == []


@pytest.mark.slow
def test_every_harmless_answer_of_the_tables(client: TestClient, served: Served) -> None:
    """What `actions.answer` lets through, REST lets through, and types it once."""
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    wrong = []
    for case in HARMLESS:
        # It is seen to have gone on since the last answer.
        desk = served.panes.desk("%1", "claude/working-120", status=Status.WORKING)
        assert client.get("/api/v1/buffer", params={"address": ONE}).status_code == 200
        desk.now = attrs.evolve(case.before, pane="%1")
        shown = desk.shown()
        assert not isinstance(case.after, Refusal)
        desk.now = attrs.evolve(case.after, pane="%1")
        body = {"pid": shown.pid, "start": shown.start, "fingerprint": shown.fingerprint, "choice": case.number}
        answer = client.post("/api/v1/answer", json={"address": ONE, **body})
        if answer.status_code != 200 or desk.typed != [shown.choices[case.number - 1].keys]:
            wrong.append((case.name, answer.text, desk.typed))
    assert wrong == []
