"""A lesson: what a person says of a wrong light becomes a rule, and the light is right on another recording."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import accuracy, unknown
from benchmarks import taught as lessons

from tallylight.agents import agent_files
from tallylight.agents.agent import Agent, load_agents
from tallylight.parts.lab.lesson import Lesson, changed
from tallylight.parts.lab.stretch import Stretch
from tests.tables import each

pytestmark = pytest.mark.slow

AGENTS, _ = agent_files.load_agents({})
#: An agent, what it has lost of its rules, the recording that teaches it, and another one.
LOST = [
    ("kimi", "input box", "kimi-denial", "kimi-permission"),
    ("kimi", "spinner", "kimi-denial", "kimi-question"),
    # One of its screens looks idle and is not, for a second after a prompt.
    ("kimi", "spinner", "kimi-question", "kimi-denial"),
    ("pi", "footer", "pi-denial", "pi-question"),
    # Only a screen that moves is wrong.
    ("opencode", "all working", "opencode-interrupt", "opencode-permission"),
    # A dialog stands below the sign of work.
    ("cline", "spinner", "cline-denial", "cline-error"),
    # It works where its prompt is gone; what was sent is the last row for a second.
    ("aider", "no prompt", "aider-error", "aider-denial"),
    ("aider", "no prompt", "aider-denial", "aider-error"),
    # Two spinners, and words beside them that are of this turn only.
    ("kimi", "all working", "kimi-denial", "kimi-interrupt"),
    ("kimi", "all working", "kimi-interrupt", "kimi-denial"),
    # It works for a second at a time.
    ("nanocoder", "spinner", "nanocoder-failure", "nanocoder-turns"),
    # Its spinner is of glyphs that nobody has listed, and the words beside it change.
    ("copilot", "esc to interrupt", "copilot-denial", "copilot-error"),
]


def taught(base: Agent, scene: str) -> Lesson:
    """What is learnt of one recording of the agent."""
    return lessons.teach(base, accuracy.read(unknown.recordings(base.name)[scene]))


def off(path: Path, agent: Agent) -> float:
    """For how many seconds the light is wrong."""
    return lessons.off(lessons.tried(path, agent))


def without(name: str, rule: str) -> Agent:
    agent = AGENTS.get(name)
    assert agent is not None
    return dict(lessons.losses(agent))[rule]


@each(("name", "rule", "scene", "other"), LOST)
def test_a_wrong_light_is_right_the_next_time(name: str, rule: str, scene: str, other: str) -> None:
    """A rule that was lost is learnt again from one recording, and another one is as right as before it was lost."""
    whole, base = AGENTS.get(name), without(name, rule)
    found = taught(base, scene)
    path = unknown.recordings(name)[other]

    assert whole is not None
    assert found.wrong and not found.left
    assert off(path, base) >= off(path, whole) + 2
    assert off(path, found.agent) <= off(path, whole) + 0.5


def test_what_is_right_is_left_alone() -> None:
    """Where the light was right on all that a person names, nothing is added."""
    whole = AGENTS.get("kimi")
    assert whole is not None
    found = taught(whole, "kimi-denial")

    assert (found.text, found.wrong) == ("", ())
    assert found.agent is whole


def test_the_file_adds_its_rules() -> None:
    """The file is read beside the agent's own, in whichever order, and takes nothing away; a later lesson goes on."""
    base = without("kimi", "input box")
    found = taught(base, "kimi-denial")
    packaged = dict(agent_files.packaged_agents())
    users = [("kimi.taught.toml", found.text), ("kimi.toml", packaged["kimi"])]
    agents, errors = load_agents([("common", packaged["common"])], users)
    kimi, whole = agents.get("kimi"), AGENTS.get("kimi")

    assert not errors
    assert kimi is not None and whole is not None
    assert {rule.name for rule in kimi.screen_rules} == {rule.name for rule in whole.screen_rules} | {"taught prompt"}
    assert (kimi.processes, kimi.title_rules, kimi.record) == (whole.processes, whole.title_rules, whole.record)


def test_another_stretch_is_tried() -> None:
    """How long another pane would have had another light is told: none of it where a rule changes nothing there."""
    whole, base = AGENTS.get("kimi"), without("kimi", "input box")
    assert whole is not None
    recording = accuracy.read(unknown.recordings("kimi")["kimi-text"])
    other = Stretch(recording.header, tuple(recording.events))

    assert changed(other, whole, whole) == 0
    assert changed(other, base, whole) > 5
