"""What `tally why` is told: three answers, who gave them, and what would change them."""

from __future__ import annotations

from tallylight.model.timing import Timing
from tallylight.pane.explained import explained
from tests.tables import each
from tests.tracker.test_tracker import run
from tests.tracker.test_trust_rules import steps

ANY = "any source but silence disagrees"


@each(
    ("line", "turn", "asks", "rest"),
    [
        ("0 agent", "running by heuristic: any source disagrees, 4 s without output",
         "nothing", "nothing"),
        ("0 prompt", "none: shell at its prompt", "nothing", "nothing"),
        ("0 agent, 1 registry working", "running by registry: protocol, registry or record disagrees",
         "nothing", "nothing"),
        ("0 agent, 1 protocol working", "running by protocol: protocol, registry, record or title disagrees,"
         " 300 s without output", "nothing", "nothing"),
        ("0 agent, 1 title working, 2 registry done",
         "over, finished by registry: protocol, registry, record or title disagrees, a look", "nothing", "nothing"),
        ("0 agent, 1 record error", f"over, failed by record: {ANY}", "nothing", "nothing"),
        ("0 agent, 1 title idle, 2 look", "over by title: protocol, registry, record, process or title disagrees",
         "nothing", "nothing"),
        ("0 agent, 1 registry done, 5 title working, 5.4 title idle, 6 tick", "over", "nothing", "nothing"),
        ("0 agent, 1 title idle, 2 registry waiting", "waits for an answer",
         "something by registry: protocol, registry or record disagrees", "nothing"),
        ("0 agent, 1 registry background", "over by registry: protocol, registry, record or title disagrees",
         "nothing", "something still runs by registry: registry or record disagrees"),
        ("0 protocol done, 1 protocol working a", "over, finished by protocol: protocol, registry, record or title"
         " disagrees, a look", "nothing", "1 of its subagents still run"),
        ("0 protocol working, 1 protocol waiting a", "running by protocol: protocol, registry, record or title"
         " disagrees, 300 s without output", "a: something", "nothing"),
    ],
)  # fmt: skip
def test_the_three_answers(line: str, turn: str, asks: str, rest: str) -> None:
    """Each as `ANSWER by SOURCE: what would change it`; its exit always would."""
    tracker = run(list(steps(line)))
    told = []
    for entry in explained(tracker.answers, tracker.decision, Timing(), float):
        by = f" by {entry.source}: {entry.changes.removesuffix(', or its exit')}" if entry.source else ""
        assert not entry.source or entry.changes.endswith(", or its exit")
        told.append(f"{entry.answer}{by}")

    assert told == [turn, asks, rest]
