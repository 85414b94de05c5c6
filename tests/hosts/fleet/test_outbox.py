"""The outbox and the mirror: whatever happens to the broker, readers end with what the machine shows."""

from __future__ import annotations

import copy

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tallylight.hosts.fleet.messages import MachineTopic, PaneTopic, Presence, encode_pane, encode_presence
from tallylight.hosts.fleet.mirror import MAX_MACHINES, MAX_PANES, Mirror
from tallylight.hosts.fleet.outbox import MAX_UNACKNOWLEDGED, Outbox
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane, Snapshot
from tests.strategies import at_most

HERE, AWAY = encode_presence(Presence(True, 1.0)), encode_presence(Presence(False, 0.0))
MACHINE = MachineTopic("atlas").encode("t")


def shown(**panes: Status) -> Snapshot:
    made = tuple(Pane(id=name, status=status) for name, status in panes.items())
    return Snapshot(host="kitty", pid=1, started=0.0, written=0.0, panes=made)


def pane_topic(name: str) -> str:
    return PaneTopic("atlas", "kitty-1", name).encode("t")


def test_the_last_state_is_sent_and_nothing_twice() -> None:
    """Each topic is sent once per state, and nothing is sent again while its answer is awaited."""
    outbox = Outbox("t", "atlas")
    outbox.show([shown(a=Status.WORKING)], HERE)
    assert [message.topic for message in outbox.take()] == [MACHINE, pane_topic("a")]
    outbox.show([shown(a=Status.WAITING)], HERE)
    assert outbox.take() == []
    outbox.acknowledged(pane_topic("a"))
    outbox.acknowledged(MACHINE)
    (message,) = outbox.take()
    assert message.payload == encode_pane(Pane(id="a", status=Status.WAITING))
    outbox.acknowledged(message.topic)
    assert outbox.is_empty


def test_no_more_than_the_limit_is_unanswered() -> None:
    """A broker that does not answer is not flooded."""
    outbox = Outbox("t", "atlas")
    outbox.show([shown(**{f"p{n}": Status.WORKING for n in range(500)})], HERE)
    assert len(outbox.take()) == MAX_UNACKNOWLEDGED
    assert outbox.take() == []


def test_a_broker_that_forgot_is_told_again() -> None:
    """After a link was lost everything is sent anew, for the broker may hold nothing any more."""
    outbox = Outbox("t", "atlas")
    outbox.show([shown(a=Status.WORKING)], HERE)
    first = outbox.take()
    for message in first:
        outbox.acknowledged(message.topic)
    outbox.lost()
    assert outbox.take() == first


def test_what_a_former_life_left_is_taken_back() -> None:
    """A pane the broker still holds and nobody has is taken back; another machine's is left alone."""
    outbox = Outbox("t", "atlas")
    outbox.show([], HERE)
    outbox.found(pane_topic("old"), b"{}")
    outbox.found(PaneTopic("zeus", "kitty-1", "3").encode("t"), b"{}")
    assert [(m.topic, m.payload) for m in outbox.take()] == [(MACHINE, HERE), (pane_topic("old"), b"")]


def test_panes_of_a_machine_that_is_gone_are_not_shown() -> None:
    """A last will hides a machine's panes and names it; its return shows them again."""
    mirror = Mirror("t")
    assert mirror.take(pane_topic("a"), encode_pane(Pane(id="a", status=Status.WORKING)))
    assert list(mirror.panes()) == []
    assert mirror.take(MACHINE, HERE)
    assert [pane.id for _, _, pane in mirror.panes()] == ["a"]
    assert mirror.take(MACHINE, AWAY)
    assert (list(mirror.panes()), mirror.gone) == ([], ("atlas",))
    assert not mirror.take(MACHINE, AWAY)
    assert mirror.take(MACHINE, HERE)
    assert [pane.id for _, _, pane in mirror.panes()] == ["a"]


def test_a_payload_under_another_panes_topic_is_refused() -> None:
    """A pane is believed only under its own id."""
    mirror = Mirror("t")
    mirror.take(MACHINE, HERE)
    assert not mirror.take(pane_topic("b"), encode_pane(Pane(id="a", status=Status.WORKING)))


def test_the_mirror_is_bounded() -> None:
    """More machines or panes than the limits are not kept."""
    mirror = Mirror("t")
    for n in range(MAX_MACHINES + 5):
        mirror.take(MachineTopic(f"m{n:03}").encode("t"), HERE)
    assert len(mirror.machines) == MAX_MACHINES
    for n in range(MAX_PANES + 5):
        topic = PaneTopic("m000", "kitty-1", str(n)).encode("t")
        mirror.take(topic, encode_pane(Pane(id=str(n), status=Status.WORKING)))
    assert len(list(mirror.panes())) == MAX_PANES


class Broker(RuleBasedStateMachine):
    """A broker that delivers late, forgets, and dies; a machine whose panes come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.outbox = Outbox("t", "atlas")
        self.panes: dict[str, Status] = {}
        self.polled: dict[str, bytes] = {}
        self.wire: list[tuple[str, bytes]] = []
        self.is_up = False
        self.show()

    def show(self) -> None:
        self.outbox.show([shown(**self.panes)], HERE)

    @rule(name=st.sampled_from("abc"), status=st.sampled_from([None, Status.WORKING, Status.WAITING, Status.DONE]))
    def pane_changes(self, name: str, status: Status | None) -> None:
        if status is None:
            self.panes.pop(name, None)
        else:
            self.panes[name] = status
        self.show()

    @rule(forgets=st.booleans())
    def broker_comes(self, forgets: bool) -> None:
        if not self.is_up:
            self.is_up = True
            self.polled = {} if forgets else self.polled
            for topic, payload in self.polled.items():
                self.outbox.found(topic, payload)

    @rule(delivered=st.integers(0, 5))
    def broker_dies(self, delivered: int) -> None:
        if self.is_up:
            for topic, payload in self.wire[:delivered]:
                self.store(topic, payload)
            self.wire.clear()
            self.is_up = False
            self.store(MACHINE, AWAY)
            self.outbox.lost()

    @rule(count=st.integers(0, 4))
    def broker_works(self, count: int) -> None:
        """The machine sends all it may, and the broker takes the first of it."""
        if self.is_up:
            self.wire += [(m.topic, m.payload) for m in self.outbox.take()]
        for topic, payload in self.wire[:count]:
            self.store(topic, payload)
            self.outbox.acknowledged(topic)
        del self.wire[:count]

    def store(self, topic: str, payload: bytes) -> None:
        if payload:
            self.polled[topic] = payload
        else:
            self.polled.pop(topic, None)

    @invariant()
    def ends_with_the_truth(self) -> None:
        """From here, a broker that stays is told all: a late reader sees exactly what the machine shows."""
        twin = Broker()
        twin.outbox, twin.polled, twin.wire = copy.deepcopy((self.outbox, self.polled, self.wire))
        twin.is_up = self.is_up
        twin.broker_comes(forgets=False)
        for _ in range(20):
            twin.broker_works(count=10)
        mirror = Mirror("t")
        for topic, payload in twin.polled.items():
            mirror.take(topic, payload)
        assert {pane.id: pane.status for _, _, pane in mirror.panes()} == self.panes
        assert twin.outbox.is_empty


TestBroker = Broker.TestCase
TestBroker.settings = settings(max_examples=at_most(60), stateful_step_count=25, deadline=None)
