"""Each of the eight agents, real, in a room with nothing but loopback: recognised, and its light right, with no set-up.

One turn that is answered and one that asks for permission, recorded as `tally record` does and taken through the
engine as a host would have heard it. Claude and Codex, which say more to a terminal that answers, run behind the relay
as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.accuracy import name_of
from benchmarks.accuracy import read as read_recording

from tallylight.agents.agent_files import load_agents
from tallylight.model.decision import Decision
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab.events import ForegroundChange
from tallylight.parts.lab.replay import Replay
from tallylight.relay.core import RelayCore
from tests.real_agents.install import AGENTS, InstallError, install
from tests.real_agents.session import Session

pytestmark = pytest.mark.agents

#: How long each truth is given at least, once the agent itself shows it, and how long before its end the light must be
#: right. How soon it is right is for the corpus to measure: here many agents may share a machine.
LONG, BEFORE = 3.0, 0.3
AT_ONCE = 3


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
    "copilot": Way(Source.RECORD, Source.RECORD),
    "aider": Way(Source.SCREEN, Source.SCREEN),
}
#: Those whose own record tells that a turn is over, and how soon after it is: here many agents may share a machine.
RECORDED, SOON = ("codex", "copilot", "opencode", "kilo"), 4.0
CASES = [*WAYS, "claude-relay", "codex-relay"]
#: What is true in the two turns; which of all truths is the long answer.
TRUTH = ["working", "done", "working", "waiting:permission", "working", "done"]
TURN = 2


@pytest.fixture(scope="module")
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Path]]]:
    """The recordings of all cases that are to be tested, three at a time: an agent mostly waits."""
    if os.geteuid() != 0:
        pytest.skip("real agents run in a network namespace with nothing but loopback: that needs root")
    folder = tmp_path_factory.mktemp("eight")
    wanted = [case for case in CASES if any(item.name == f"test_eight[{case}]" for item in request.session.items)]
    with ProcessPoolExecutor(AT_ONCE) as pool:
        yield {case: pool.submit(_play, case, folder / f"{case}.cast") for case in wanted}


@pytest.mark.parametrize("case", CASES)
def test_eight(case: str, played: dict[str, Future[Path]]) -> None:
    """
    An agent is recognised by its process, and its light is `working`, `waiting` and over when that is so.

    Its own record, where it is exact, tells each end of a turn, and no other.
    """
    agent, _, relay = case.partition("-")
    try:
        recording = read_recording(played[case].result())
    except InstallError as error:
        pytest.skip(str(error))
    agents, _ = load_agents(os.environ)
    core = RelayCore(agent=name_of(recording.header.command, agents)) if relay else None
    replay = Replay(recording.header, agents, relay=core)
    decisions: list[tuple[float, Decision]] = [
        (replay.now, decision) for event in recording.events for decision in replay.play(event)
    ]

    def at(time: float) -> Decision:
        return next(decision for when, decision in reversed(decisions) if when <= time)

    known = [e.what.foreground for e in recording.events if isinstance(e.what, ForegroundChange)]
    assert [found.name for found in known if found is not None and not found.is_candidate] == [agent]
    way = Way(Source.PROTOCOL, Source.PROTOCOL) if relay else WAYS[agent]
    ends = [start for start, _ in recording.truth[1:]]
    lights = [(word, at(end - BEFORE)) for (_, word), end in zip(recording.truth, ends, strict=False)]
    assert [word for word, _ in lights if word not in ("starting", "idle", "leaving")] == TRUTH
    for index, (word, light) in enumerate(lights):
        shown = light.status, light.report.agent, light.reason.source
        if index == TURN:
            assert shown == (Status.WORKING, agent, way.working), light.reason
        elif word.startswith("waiting"):
            assert (*shown, light.kind) == (Status.WAITING, agent, way.waiting, Kind.PERMISSION), light.reason
        elif word == "done":
            assert light.status in (Status.DONE, Status.IDLE), light.reason
    assert decisions[-1][1].status not in (Status.WORKING, Status.WAITING)
    records = [
        (e.time, e.what) for e in recording.events if isinstance(e.what, Report) and e.what.source is Source.RECORD
    ]
    told = [time for time, report in records if report.status is Status.DONE]
    done = [start for start, word in recording.truth if word == "done"]
    assert len(told) == (len(done) if agent in RECORDED else 0)
    assert all(start - BEFORE <= time < start + SOON for time, start in zip(told, done, strict=False))


def _play(case: str, path: Path) -> Path:
    agent, _, set_up = case.partition("-")
    install(AGENTS[agent])
    with Session(agent, set_up=set_up) as session:
        session.start()
        session.turn("HOLD one")
        session.mark("working")
        session.rest(LONG)
        session.model.release("one")
        session.mark("done")
        session.at_rest()
        session.rest(LONG)
        session.turn("AFTER 1 TOOL touch made THEN AFTER 1 fine")
        session.asked("permission")
        session.rest(LONG)
        session.approve()
        session.at_rest()
        session.rest(LONG)
        session.truth("leaving")  # on a busy machine it withdraws its status well before it has ended
        session.leave()
        session.rest(0.5)
        session.save(path)
    return path
