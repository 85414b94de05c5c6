"""Panes for tests of the list: made from few words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallylight.actions.answer import Choice, Question
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import PERSON
from tallylight.actions.client import PaneClient
from tallylight.actions.once import Once
from tallylight.actions.request import PROMPT_AGENT, QUESTION, LookRequest, Open, Request
from tallylight.model.status import Kind, Status
from tallylight.snapshot import rows
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.ui.agent_list import flow, press, state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Effects, Perform
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.keys import Event, Key
from tests.entries import new_pane

#: The present, in seconds since the epoch.
NOW = 1_800_000_000.0
OWN = "kitty-7"

CHOICES = (("1", "Yes"), ("2", "Yes, always"), ("\x1b", "No"))


def pane(id_: int | str, status: str = "working", age: float = 60.0, **more: Any) -> Pane:
    """A pane whose status began *age* seconds ago."""
    return new_pane(id=str(id_), status=Status(status), **{"agent": "claude", "since": NOW - age, **more})


def asking(id_: int | str, age: float = 60.0, **more: Any) -> Pane:
    """A pane with a question whose answers are known."""
    fields = {"kind": Kind.PERMISSION, "question": "May I?", "choices": CHOICES, "prompt": f"print-of-{id_}"}
    return pane(id_, "waiting", age, **{**fields, **more})


def snapshot(*panes: Pane, host: str = "kitty", pid: int = 7) -> Snapshot:
    """What a host says."""
    return Snapshot(host=host, pid=pid, started=NOW, written=NOW, panes=panes)


def rows_of(*panes: Pane) -> tuple[Row, ...]:
    """The rows of panes of the terminal that draws the list."""
    return rows.build([snapshot(*panes)], OWN, NOW)


def listed(*panes: Pane, columns: int = 80, lines: int = 24) -> State:
    """The list of these panes."""
    return state.refreshed(state.resized(State(), columns, lines), rows_of(*panes), NOW)


def question_of(found: Pane, *above: str) -> Question:
    """What a look at the screen of this pane shows: *above* the dialog, the command, the question, the choices."""
    return Question(
        pane=found.id,
        agent="claude",
        pid=70,
        start=700,
        fingerprint="f" * 32,
        prompt=found.prompt,
        question=found.question,
        context=(*above, "$ rm -r build", found.question),
        first=len(above),
        choices=tuple(Choice(number, label, keys) for number, (keys, label) in enumerate(found.choices, 1)),
    )


def asked(start: State, *keys: str) -> State:
    """After these keys, `a`, and a look at the screen of the selected pane, when all that fits was drawn."""
    start, effects = pressed(start, *keys, "a")
    row = row_for(question, effects)
    assert start.mode is Mode.LIST
    return state.drawn(state.asked(start, row, question_of(row.pane)))


def glanced(start: State, *above: str) -> State:
    """After its question was read off the screen of the selected pane, and drawn for long enough."""
    row = flow.wanted(start)
    assert row is not None
    return flow.note_shown(state.drawn(flow.read(start, row, question_of(row.pane, *above))), 0.0)


def row_for(asked: Callable[[str], Request], effects: Effects) -> Row:
    """The row of whose pane this is *asked*, the last of *effects*."""
    found = effects[-1]
    assert isinstance(found, Perform) and found.asked == asked(found.row.pane.id)
    return found.row


def question(pane: str) -> Request:
    """What it asks."""
    return LookRequest(pane, QUESTION)


def prompt_agent(pane: str) -> Request:
    """Who would take a text."""
    return LookRequest(pane, PROMPT_AGENT)


def going(pane: str) -> Request:
    """To go there."""
    return Open("go", pane)


def pressed(start: State, *keys: str | Event) -> tuple[State, Effects]:
    """What comes of these keys, and the effects of all of them."""
    effects: Effects = ()
    for key in keys:
        start, more = press.press(start, Key(key) if isinstance(key, str) else key)
        effects += more
    return start, effects


def texts(now: State) -> list[str]:
    """The lines without their looks."""
    return ["".join(span.text for span in line).rstrip() for line in draw(now)]


def no_client() -> PaneClient:
    """For a list that reaches no pane by itself."""
    raise AssertionError("the list asked for other panes")


def client_of(panes: object) -> Callable[[], PaneClient]:
    """What reaches *panes* for a person; nobody draws anything there after it was typed to."""
    made = PaneClient(panes, lambda: PERSON, lambda _: "none", once=Once(0.0, InProcess()))  # type: ignore[arg-type]
    return lambda: made
