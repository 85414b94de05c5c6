"""
Recordings of what people met: screens of real agents in versions, languages and settings that no rule was made with.

`field/lights.tsv` tells, for moments of them, the light that a person would give, and what is asked, in words.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from benchmarks import accuracy

from tallylight.model.decision import Decision
from tallylight.parts.lab.replay import Replay, with_program
from tallylight.relay.core import RelayCore
from tests.evidence.agents import AGENTS
from tests.tables import each

FIELD = Path(__file__).parent / "field"
LIGHTS = list(csv.DictReader((FIELD / "lights.tsv").open(encoding="utf-8"), delimiter="\t"))


def shown(name: str, at: float) -> Decision:
    """Return what a replay shows at that time, in seconds, behind a relay as `tally replay` does."""
    recording = accuracy.read(FIELD / f"{name}.cast")
    name = accuracy.name_of(recording.header.command, AGENTS)
    replay = Replay(recording.header, AGENTS, relay=RelayCore(agent=name))
    for event in with_program(recording.header, recording.events, name):
        if event.time > at:
            break
        [*replay.play(event)]
    [*replay.advance(at)]
    return replay.decision


@pytest.mark.slow
@each("light", LIGHTS, ids=lambda light: f"{light['case']} at {light['at']} s")
def test_lights(light: dict[str, str]) -> None:
    """Each moment has its light, with the question in the dialog's own words."""
    decision = shown(light["case"], float(light["at"]))

    assert (str(decision.status), str(decision.kind or "")) == (light["status"], light["kind"])
    assert not light["question"] or decision.report.message == light["question"]
    assert not light["what"] or decision.report.what == light["what"]


def test_each_recording_has_a_light() -> None:
    """None is kept for nothing."""
    assert {path.stem for path in FIELD.glob("*.cast")} == {light["case"] for light in LIGHTS}
