"""Each of the eight agents, real, in a room with nothing but loopback: recognised, and its light right, with no set-up.

One turn that is answered and one that asks for permission, recorded as `tally record` does and taken through the
engine as a host would have heard it. Claude and Codex, which say more to a terminal that answers, run behind the relay
as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.accuracy import name_of
from benchmarks.accuracy import read as read_recording

from tallylight.decision import Decision
from tallylight.evidence.recorded import ForegroundChange
from tallylight.files import load_agents
from tallylight.relay.core import RelayCore
from tallylight.replay import Replay
from tallylight.report import Source
from tallylight.status import Kind, Status
from tests.agents.install import AGENTS, InstallError, install
from tests.agents.session import Session

pytestmark = [pytest.mark.agents, pytest.mark.timeout(150)]

#: How long after the truth the light is looked at: aider's screen is all there is of it, and that is looked at thrice.
SOON = 1.5


class Way(NamedTuple):
    """By what an agent is known to work, and to wait."""

    working: Source
    waiting: Source


WAYS = {
    "claude": Way(Source.REGISTRY, Source.REGISTRY),
    "codex": Way(Source.TITLE, Source.TITLE),
    "gemini": Way(Source.TITLE, Source.TITLE),
    "qwen": Way(Source.TITLE, Source.TITLE),
    "opencode": Way(Source.SCREEN, Source.SCREEN),
    "kilo": Way(Source.SCREEN, Source.SCREEN),
    "copilot": Way(Source.SCREEN, Source.SCREEN),
    "aider": Way(Source.SCREEN, Source.SCREEN),
}
CASES = [*WAYS, "claude-relay", "codex-relay"]


@pytest.mark.parametrize("case", CASES)
def test_eight(case: str, tmp_path: Path) -> None:
    """An agent is recognised by its process, and its light is `working`, `waiting` and over when that is so."""
    agent, _, relay = case.partition("-")
    if os.geteuid() != 0:
        pytest.skip("real agents run in a network namespace with nothing but loopback: that needs root")
    try:
        install(AGENTS[agent])
    except InstallError as error:
        pytest.skip(str(error))
    _play(agent, bool(relay), tmp_path / f"{case}.cast")
    recording = read_recording(tmp_path / f"{case}.cast")
    times = {name: at for at, name in reversed(recording.truth)}
    ends = [at for at, name in recording.truth if name == "done"]
    agents, _ = load_agents(os.environ)
    core = RelayCore(agent=name_of(recording.header.command, agents)) if relay else None
    replay = Replay(recording.header, agents, relay=core)
    shown: list[tuple[float, Decision]] = [
        (replay.now, decision) for event in recording.events for decision in replay.play(event)
    ]

    def at(time: float) -> Decision:
        return next(decision for when, decision in reversed(shown) if when <= time)

    known = [e.what.foreground for e in recording.events if isinstance(e.what, ForegroundChange)]
    assert [found.name for found in known if found is not None] == [agent]
    way = Way(Source.PROTOCOL, Source.PROTOCOL) if relay else WAYS[agent]
    working, waiting = at(times["working"] + SOON), at(times["waiting:permission"] + SOON)
    assert (working.status, working.reason.source) == (Status.WORKING, way.working), working.reason
    assert (waiting.status, waiting.kind, waiting.reason.source) == (Status.WAITING, Kind.PERMISSION, way.waiting)
    assert {working.report.agent, waiting.report.agent} == {agent}
    assert len(ends) == 2
    for end in ends:
        assert at(end + SOON).status in (Status.DONE, Status.IDLE)
    assert shown[-1][1].status not in (Status.WORKING, Status.WAITING)


def _play(agent: str, relay: bool, path: Path) -> None:
    with Session(agent, set_up="relay" if relay else "") as session:
        session.start()
        session.turn("HOLD one")
        session.mark("working")
        session.rest(SOON + 0.5)
        session.model.release("one")
        session.mark("done")
        session.rest(SOON + 0.5)
        session.turn("TOOL touch made THEN fine")
        session.asked("permission")
        session.rest(SOON + 0.5)
        session.approve()
        session.rest(SOON + 0.5)
        session.leave()
        session.rest(0.5)
        session.save(path)
