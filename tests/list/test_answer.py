"""An answer is typed only into the prompt that the person saw: against screens of real agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from benchmarks.accuracy import read

from tallylight.agents import Agent
from tallylight.evidence.grid import Grid
from tallylight.hosts import kitty_actions
from tallylight.hosts.pane import Look
from tallylight.list.state import Sight
from tallylight.listing.actions import MAX_MESSAGE, sight_from, sight_to
from tallylight.recording import Output
from tallylight.scanner import Scanner
from tests.evidence.agents import agent

CORPUS = Path(__file__).parents[1] / "corpus"
SCREENS = Path(__file__).parents[1] / "evidence/screens"


@attrs.define
class FakePane:
    """A pane whose foreground is held by *agent*."""

    agent: Agent | None


@attrs.define
class Window:
    """A window that notes what is typed into it."""

    look: Look
    typed: list[str] = attrs.field(factory=list)

    def write_to_child(self, text: str) -> None:
        self.typed.append(text)


def look(name: str) -> Look:
    """The screen of that name, as it was recorded."""
    head, _, body = (SCREENS / name).read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return Look(body.split("\n"), int(facts["cursor"]), 0, int(facts["columns"]))


@pytest.fixture
def window() -> Window:
    """Claude Code asks whether it may run a command."""
    return Window(look("claude/permission-bash-120.txt"))


def seen(window: Window) -> Sight:
    """What the person saw of it."""
    found = kitty_actions.sight(FakePane(agent("claude")), window.look)  # type: ignore[arg-type]
    assert found is not None
    return found


def answered(window: Window, by: Agent | None, saw: Sight, **changed: Any) -> str:
    """What comes of the person's second choice of what they saw, or of something that is *changed*."""
    words = {"prompt": saw.prompt, "mark": saw.mark, "index": 1, "keys": saw.choices[1][0]} | changed
    return kitty_actions.answer(window, FakePane(by), window.look, **words)  # type: ignore[arg-type]


def test_the_keys_of_the_choice_are_typed(window: Window) -> None:
    """The second answer of a real prompt of Claude Code is chosen by its number."""
    assert answered(window, agent("claude"), seen(window)) == ""
    assert window.typed == ["2"]


def test_a_person_sees_what_is_asked(window: Window) -> None:
    """The command stands above the question, and neither the answers nor what is below them are in it."""
    context = seen(window).context

    assert context[-2:] == ("touch made1", "Do you want to proceed?")
    assert seen(window).choices[0] == ("1", "Yes")


@pytest.mark.parametrize("name", sorted(path.name for path in (SCREENS / "claude").glob("permission-*.txt")))
def test_every_recorded_question_can_be_answered(name: str) -> None:
    """On every recorded permission prompt, of any width, what is seen is what is answered."""
    window = Window(look(f"claude/{name}"))

    assert answered(window, agent("claude"), seen(window)) == "" and len(window.typed) == 1


@pytest.mark.parametrize("index", [-1, 4, 99])
def test_a_choice_that_is_not_there_is_not_made(window: Window, index: int) -> None:
    """An answer beyond those on the screen types nothing."""
    assert answered(window, agent("claude"), seen(window), index=index) == kitty_actions.CHANGED
    assert window.typed == []


@pytest.mark.parametrize(
    "changed", [{"prompt": "0" * 16}, {"prompt": ""}, {"mark": ""}, {"keys": "1"}, {"keys": "rm\r"}]
)
def test_what_the_person_did_not_see_is_not_typed(window: Window, changed: dict[str, str]) -> None:
    """Another prompt, or other keys than were shown, and nothing is typed: least of all what the list asks for."""
    assert answered(window, agent("claude"), seen(window), **changed) == kitty_actions.CHANGED
    assert window.typed == []


def test_the_same_question_about_another_command_gets_no_answer(window: Window) -> None:
    """The prompt's own words may be the same; the command above them is part of what a person agrees to."""
    saw = seen(window)
    lines = [line.replace("touch made1", "rm -rf ~") for line in window.look.lines]
    window.look = attrs.evolve(window.look, lines=lines)

    assert answered(window, agent("claude"), saw) == kitty_actions.CHANGED
    assert window.typed == []


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("● A command of the script", "  A command of the script", True),
        ("$ Shell touch it" + 9 * " " + "9s", "$ Shell touch it" + 8 * " " + "1m 10s", True),
        ("╚██╗  │ ~/project  │", "╚██╗  │ ~/project", True),
        ("● A command of the script", "● A command of the scripts", False),
        ("$ rm *", "$ rm", False),
        ("* rm", "rm", False),
        ("$ sleep 5s", "$ sleep 9s", False),
        ("é /etc", "/etc", False),
    ],
)
def test_what_blinks_is_no_change(before: str, after: str, same: bool) -> None:
    """An agent that waits moves a bullet or a clock; every other difference is one."""
    first, second = (look("claude/permission-bash-120.txt") for _ in range(2))
    row = next(number for number, line in enumerate(first.lines) if "A command of the script" in line)
    marks = []
    for seen_, line in ((first, before), (second, after)):
        lines = [line if number == row else old for number, old in enumerate(seen_.lines)]
        marks.append(seen(Window(attrs.evolve(seen_, lines=lines))).mark)

    assert (marks[0] == marks[1]) is same


@pytest.mark.parametrize("name", ["claude-permission", "codex-permission", "copilot-silent", "qwen-silent"])
def test_a_real_agent_that_waits_stays_the_same(name: str) -> None:
    """From one look to the next, in a whole recorded wait, a person's answer would have been typed."""
    recording = read(CORPUS / f"{name}.cast.gz")
    start = next(at for at, word in recording.truth if word == "waiting:permission")
    end = next(at for at, _ in recording.truth if at > start)
    grid, scanner = Grid(recording.header.columns, recording.header.rows), Scanner()
    marks = []
    for event in recording.events:
        if isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
            if start + 0.5 < event.time < end - 0.2:
                shown = Look(list(grid.lines), grid.cursor_row, grid.cursor_column, grid.columns, grid.cursor_visible)
                found = kitty_actions.sight(FakePane(agent(name.partition("-")[0])), shown)  # type: ignore[arg-type]
                marks.append(found and (found.prompt, found.mark))

    assert len(marks) > (name != "codex-permission") and len(set(marks)) <= 1 and None not in marks


def test_a_prompt_that_is_gone_gets_no_answer(window: Window) -> None:
    """When the person has answered it in the pane, or it was withdrawn, nothing is typed."""
    saw = seen(window)
    window.look = look("claude/idle-after-turn-80.txt")

    assert answered(window, agent("claude"), saw) == kitty_actions.CHANGED
    assert window.typed == []


def test_without_the_agent_in_front_nothing_is_typed(window: Window) -> None:
    """A shell that shows the same text, say with `cat`, gets no answer."""
    assert answered(window, None, seen(window)) == kitty_actions.CHANGED
    assert window.typed == []


def test_a_sight_goes_over_the_channel_whole() -> None:
    """What is seen comes out of a message as it went in; of a long context the end, in one message's size."""
    saw = seen(Window(look("claude/permission-bash-120.txt")))
    assert sight_from(json.loads(json.dumps(sight_to(saw)))) == saw

    long = attrs.evolve(saw, context=tuple(f"{n} " + "日" * 80 for n in range(48)))
    message = json.dumps(sight_to(long))
    found = sight_from(json.loads(message))
    assert found is not None and len(message) < MAX_MESSAGE
    assert found.context and found.context == long.context[-len(found.context) :]


@pytest.mark.parametrize(
    "value", [None, [], "x", {}, {"prompt": "", "mark": "", "context": [], "choices": []}, {"prompt": 1, "mark": "m"}]
)
def test_what_is_no_sight_is_none(value: object) -> None:
    """Anything else that comes over the channel shows no answers."""
    assert sight_from(value) is None
