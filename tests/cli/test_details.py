"""What an agent's own record tells, on every surface that has room for it."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli import doctor, status, why
from tallylight.cli.output import UNBOUNDED_CELLS, Output
from tallylight.files.system import System
from tallylight.model.decision import Decision, Reason
from tallylight.model.finding import Health
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.web.model import session_of
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.tracker.notify import View, notice
from tallylight.ui import details
from tallylight.ui.agent_list.draw import draw
from tallylight.wire.text import width
from tests.cli.panes import HOST, NOW, publish
from tests.cli.test_doctor import FakeWire
from tests.entries import field_of, new_pane, pane_with
from tests.tables import each
from tests.ui.agent_list.panes import listed, pane

TOLD = new_pane(
    id="3",
    status=Status.WORKING,
    agent="claude",
    project="shop",
    model="opus",
    context=82,
    progress="1/3",
    tasks=("Read", "Rename the helpers", "Test"),
    children=(("Explore", "working"), ("Review", "done")),
    reply="All of it is read. Now I rename.",
    cost=0.256,
)


def wide(told: Pane, columns: int = UNBOUNDED_CELLS, *, is_coloured: bool = False) -> list[str]:
    stream = io.StringIO()
    output = Output(stream, columns, colour=True) if is_coloured else Output(stream, columns)
    status.draw(output, [Row(HOST, told)], NOW, {})
    return stream.getvalue().splitlines()


def test_wide_has_a_second_line() -> None:
    """All of it in one line below the pane's own; a pane without a record has none."""
    first, second = wide(TOLD)

    assert "claude" in first
    assert "1/3  Rename the helpers" in first
    told = ["opus", "context 82%", "$0.26", "Explore working, Review done"]
    assert [word for word in second.split("  ") if word] == [*told, TOLD.reply]
    assert len(wide(pane_with(TOLD, model="", context=None, tasks=(), children=(), reply="", cost=None))) == 1


def test_wide_has_the_branch(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The branch of the directory that the host has seen stands first; JSON has all that was read."""
    root = runtime / "api"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/trunk\n")
    works = attrs.evolve(TOLD, agent_pid=5, conversation=ConversationEntry(agent="claude", cwd=str(root)))
    publish(runtime, [works, attrs.evolve(TOLD, id="4", cwd=str(root))])

    assert status.main(["-o", "wide"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[1] for line in lines if "opus" in line] == ["trunk", "opus"]
    assert status.main(["-o", "wide", "--json"]) == 0
    panes = json.loads(capsys.readouterr().out)["panes"]
    assert [found["beside"]["branch"] for found in panes] == ["trunk", ""]
    assert panes[0]["beside"]["changes"] is None, "git finds no repository in there"
    assert status.main(["--json"]) == 0
    assert "beside" not in json.loads(capsys.readouterr().out)["panes"][0]


@each("columns", [20, 40, 80, 120, 200])
def test_the_reply_goes_where_there_is_room(columns: int) -> None:
    """What is short comes first; a reply is cut to what is left, and left out where that is too little."""
    second = wide(TOLD, columns)[1]

    assert ("All of it" in second) is (columns >= 80)
    assert columns < 80 or width(second) <= columns


def test_a_full_context_is_amber_from_eighty() -> None:
    """The colour of what waits for a person, and no earlier."""
    amber, plain = (wide(pane_with(TOLD, context=used), is_coloured=True)[1] for used in (80, 79))

    assert "\x1b[" in amber and "\x1b[" not in plain


def test_why_tells_it() -> None:
    """In lines of their own."""
    stream = io.StringIO()
    why.draw(Output(stream, 200), Row(HOST, TOLD), NOW)
    lines = stream.getvalue().splitlines()

    assert "  record    opus, context 82%, $0.26" in lines
    assert "  children  Explore working, Review done" in lines
    assert f"  reply     {TOLD.reply}" in lines


def test_a_long_task_fits() -> None:
    """A name that is longer than the line is cut, in a list of tasks as everywhere."""
    stream = io.StringIO()
    why.draw(Output(stream, 40), Row(HOST, attrs.evolve(TOLD, tasks=("Read", "x" * 300))), NOW)

    assert all(width(line) <= 40 for line in stream.getvalue().splitlines() if "x" in line)


def test_the_list_has_it_in_the_detail() -> None:
    """What it does stands in the row; model, context and the rest below the rows alone, a full context in amber."""
    told = {
        name: field_of(TOLD, name) for name in ("model", "context", "progress", "tasks", "children", "reply", "cost")
    }
    lines = draw(listed(pane(1, project="shop", **told), columns=120, lines=40))
    texts = ["".join(span.text for span in line).rstrip() for line in lines]

    assert "Rename the helpers  ━━──── 1/3" in texts[1] and "opus" not in texts[1]
    assert {" ━━──── 1/3  Rename the helpers", " Explore working, Review done", f" {TOLD.reply}"} <= set(texts)
    assert any(line.startswith(" claude · opus · context 82% · $0.26") for line in texts), texts
    chips = [span.text for line in lines[2:] for span in line if span.chip is Status.WAITING]
    assert chips == ["context 82%"]


def test_a_model_that_does_not_answer() -> None:
    """It is said of an agent that works, and of no other."""
    late = Pane(id="1", status=Status.WORKING, unanswered_since=NOW - 125)
    assert details.unanswered(late, NOW) == "no answer from the model for 2 min"
    for other in (attrs.evolve(late, status=Status.WAITING), attrs.evolve(late, unanswered_since=0.0)):
        assert details.unanswered(other, NOW) == ""


def test_until_when_a_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the clock of this place; with the day where that is not today; over, it is gone."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    try:
        limited = attrs.evolve(TOLD, status=Status.LIMITED, limited_until=NOW + 3600)
        assert details.limit(limited, NOW) == "limit: 1 h 00, until 04:46"
        late = attrs.evolve(limited, limited_until=NOW + 90_000)
        assert details.limit(late, NOW) == "limit: 1 d 1 h, until Sat 03 Jan 04:46"
        assert details.limit(limited, NOW + 3600) == ""
        line, facts = wide(limited)[:2]
        assert "limit: 1 h 00, until 04:46" in line and "limit:" not in facts
    finally:
        monkeypatch.undo()
        time.tzset()


def test_doctor_tells_of_a_record_that_cannot_be_read() -> None:
    """One line an agent, and no fault."""

    class Wire(FakeWire):
        def snapshots(self):  # type: ignore[no-untyped-def]
            living, problems = super().snapshots()
            panes = tuple(new_pane(id=str(n), status=Status.IDLE, agent="codex", strange_record=True) for n in range(2))
            return [attrs.evolve(host, panes=panes) for host in living], problems

    found = [one for one in doctor.examine(System(), Wire(kitty=7)) if one.what == "records"]

    assert [(finding.what, finding.health) for finding in found] == [("records", Health.SKIPPED)]
    assert "codex" in found[0].text and not found[0].is_fault


def test_doctor_tells_of_a_disk_that_hangs() -> None:
    """Once a disk, with the agents that keep files there: a fault, until it responds."""

    class Wire(FakeWire):
        def snapshots(self):  # type: ignore[no-untyped-def]
            living, problems = super().snapshots()
            agents = ("codex", "claude", "claude", "pi")
            panes = tuple(
                new_pane(id=str(n), status=Status.IDLE, agent=agent, hangs="/mnt/far" if n < 3 else "")
                for n, agent in enumerate(agents)
            )
            return [attrs.evolve(host, panes=panes) for host in living], problems

    (found,) = (one for one in doctor.examine(System(), Wire(kitty=7)) if one.what == "disk")
    assert (found.what, found.is_fault) == ("disk", True)
    assert found.text == "/mnt/far does not respond: the files of claude, codex there are not read"


@each(
    ("shown", "kind", "what"),
    [
        (Status.WAITING, Kind.PERMISSION, "Bash: npm test"),
        (Status.WAITING, Kind.INPUT, ""),
        (Status.ERROR, None, ""),
        (Status.WORKING, None, ""),
    ],
)
def test_what_it_says_of_the_moment_stands_beside_every_status(shown: Status, kind: Kind | None, what: str) -> None:
    """Also while it waits or has failed, and beside its tasks: in both lists, `why`, the page and the notification."""
    word = "the API fails"
    told = pane_with(TOLD, status=shown, kind=kind, what=what, detail=word, since=NOW, vars=(("ticket", "X-1"),))
    explained = io.StringIO()
    why.draw(Output(explained, UNBOUNDED_CELLS), Row(HOST, told), NOW)
    listing = "\n".join("".join(span.text for span in line) for line in draw(listed(told, columns=120)))
    report = Report(source=Source.PROTOCOL, status=shown, agent="claude", detail=word, what=what, message="Look")
    decision = Decision(shown, kind, Reason(Source.PROTOCOL, "osc-26", 0.0, ""), 0.0, report)

    assert word in wide(told)[0]
    assert f"Rename the helpers: {word}" in explained.getvalue()
    assert word in listing
    assert "ticket X-1" in explained.getvalue() and "ticket X-1" in listing
    assert word in session_of(Row(HOST, told), can_see=True, can_type=True).doing
    assert shown is Status.WORKING or word in notice("1", View(decision=decision, visible=False)).body
