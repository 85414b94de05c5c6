"""The outbox and the mirror: whatever happens to the broker, readers end with what the machine shows."""

from __future__ import annotations

import copy

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tallylight.model.status import Status
from tallylight.parts.remote import mirror as mirrors
from tallylight.parts.remote.mirror import MAX_FLEET_MACHINES, MAX_MACHINE_PANES, Mirror
from tallylight.parts.remote.outbox import MAX_UNACKNOWLEDGED, OBJECTION_S, Outbox
from tallylight.parts.remote.topics import Presence, encode_pane, encode_presence, topic
from tallylight.snapshot.schema import Pane, Snapshot
from tests.strategies import at_most

OWN = Presence(True, 1.0)
HERE, AWAY = encode_presence(OWN), encode_presence(Presence(False, 0.0))
MACHINE = topic("t", "atlas", "machine")


def shown(**panes: Status) -> Snapshot:
    made = tuple(Pane(id=name, status=status) for name, status in panes.items())
    return Snapshot(host="kitty", pid=1, started=0.0, written=0.0, panes=made)


def pane_topic(name: str) -> str:
    return topic("t", "atlas", "pane", "kitty-1", name)


def test_the_last_state_is_sent_and_nothing_twice() -> None:
    """Each topic is sent once per state, and nothing is sent again while its answer is awaited."""
    outbox = Outbox("t", "atlas", OWN)
    outbox.show([shown(a=Status.WORKING)])
    assert list(outbox.take(0.0)) == [MACHINE, pane_topic("a")]
    outbox.show([shown(a=Status.WAITING)])
    assert outbox.take(0.0) == {}
    outbox.acknowledged(pane_topic("a"))
    outbox.acknowledged(MACHINE)
    assert outbox.take(0.0) == {pane_topic("a"): encode_pane(Pane(id="a", status=Status.WAITING))}
    outbox.acknowledged(pane_topic("a"))
    assert outbox.take(0.0) == {}


def test_no_more_than_the_limit_is_unanswered() -> None:
    """A broker that does not answer is not flooded."""
    outbox = Outbox("t", "atlas", OWN)
    outbox.show([shown(**{f"p{n}": Status.WORKING for n in range(500)})])
    assert len(outbox.take(0.0)) == MAX_UNACKNOWLEDGED
    assert outbox.take(0.0) == {}


def test_a_broker_that_forgot_is_told_again() -> None:
    """After a link was lost everything is sent anew, for the broker may hold nothing any more."""
    outbox = Outbox("t", "atlas", OWN)
    outbox.show([shown(a=Status.WORKING)])
    first = outbox.take(0.0)
    for place in first:
        outbox.acknowledged(place)
    outbox.lost()
    assert outbox.take(0.0) == first


def test_what_a_former_life_left_is_taken_back() -> None:
    """A pane the broker still holds and nobody has is taken back; another machine's is left alone."""
    outbox = Outbox("t", "atlas", OWN)
    outbox.show([])
    outbox.received(pane_topic("old"), b"{}", 0.0, is_stored=True)
    outbox.received(topic("t", "zeus", "pane", "kitty-1", "3"), b"{}", 0.0, is_stored=True)
    assert outbox.take(0.0) == {MACHINE: HERE, pane_topic("old"): b""}


def test_panes_of_a_machine_that_is_gone_are_not_shown() -> None:
    """A last will hides a machine's panes and names it; its return shows them again."""
    mirror = Mirror("t")
    assert mirror.take(pane_topic("a"), encode_pane(Pane(id="a", status=Status.WORKING)))
    assert list(mirror.panes()) == []
    assert mirror.take(MACHINE, HERE)
    assert [pane.id for _, _, pane in mirror.panes()] == ["a"]
    assert mirror.take(MACHINE, AWAY)
    assert (list(mirror.panes()), mirror.known) == ([], {"atlas": False})
    assert not mirror.take(MACHINE, AWAY)
    assert mirror.take(MACHINE, HERE)
    assert [pane.id for _, _, pane in mirror.panes()] == ["a"]


def test_a_payload_under_another_panes_topic_is_refused() -> None:
    """A pane is believed only under its own id."""
    mirror = Mirror("t")
    mirror.take(MACHINE, HERE)
    assert not mirror.take(pane_topic("b"), encode_pane(Pane(id="a", status=Status.WORKING)))


@pytest.mark.slow
def test_the_mirror_is_bounded() -> None:
    """More machines or panes than the limits are not kept."""
    mirror = Mirror("t")
    for n in range(MAX_FLEET_MACHINES + 5):
        mirror.take(topic("t", f"m{n:03}", "machine"), HERE)
    assert len(mirror.known) == MAX_FLEET_MACHINES and mirror.is_full
    for n in range(MAX_MACHINE_PANES + 5):
        place = topic("t", "m000", "pane", "kitty-1", str(n))
        mirror.take(place, encode_pane(Pane(id=str(n), status=Status.WORKING)))
    assert len(list(mirror.panes())) == MAX_MACHINE_PANES


def tell(mirror: Mirror, machine: str, name: str, more: int = 0) -> bool:
    """Have *machine* show a pane, with so many bytes more than are needed."""
    payload = encode_pane(Pane(id=name, status=Status.WORKING)) + b" " * more
    return mirror.take(topic("t", machine, "pane", "kitty-1", name), payload)


def test_who_says_too_much_loses_panes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no more room, for panes or for bytes, that is at the cost of the machine that takes most of it."""
    monkeypatch.setattr(mirrors, "MAX_ALL_PANES", 40)
    for limit, more in ((10**9, 0), (80_000, 2000)):
        monkeypatch.setattr(mirrors, "MAX_ALL_BYTES", limit)
        mirror = Mirror("t")
        for machine in ("loud", "a", "b", "c"):
            mirror.take(topic("t", machine, "machine"), HERE)
        for n in range(100):
            tell(mirror, "loud", str(n), more)
        for n in range(5):
            for machine in ("a", "b", "c"):
                assert tell(mirror, machine, str(n))
        for n in range(100):
            tell(mirror, "loud", str(n), more)
        kept = [machine for machine, _, _ in mirror.panes()]
        assert [kept.count(machine) for machine in ("a", "b", "c")] == [5, 5, 5]
        assert kept.count("loud") == (25 if not more else kept.count("loud")) > 5
        assert [name for name, (_, panes) in mirror.there.items() if panes.is_cut] == ["loud"]
        assert mirror._size == sum(machine.panes.size for machine in mirror._machines.values()) <= limit
        assert mirror._rows == len(kept) <= 40
        mirror.clear()
        assert (mirror._rows, mirror._size) == (0, 0)


def test_a_pane_that_grows_too_big_is_not_shown_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """An update that does not fit takes the old state away: nothing is shown that is no longer true."""
    monkeypatch.setattr(mirrors, "MAX_MACHINE_BYTES", 3000)
    mirror = Mirror("t")
    mirror.take(MACHINE, HERE)
    assert tell(mirror, "atlas", "1") and tell(mirror, "atlas", "2")
    assert tell(mirror, "atlas", "1", 4000)
    assert [pane.id for _, _, pane in mirror.panes()] == ["2"]
    assert mirror.there["atlas"][1].is_cut


def test_panes_of_another_life_are_not_shown() -> None:
    """What another machine of the same name, or an earlier run, has told is not taken for this one's."""
    mirror = Mirror("t")
    for name, life in (("a", "one"), ("b", "two")):
        mirror.take(pane_topic(name), encode_pane(Pane(id=name, status=Status.WORKING), life))
    mirror.take(MACHINE, encode_presence(Presence(True, 1.0, "one")))
    assert [pane.id for _, _, pane in mirror.panes()] == ["a"]
    # The end of the other one is not the end of this one.
    assert not mirror.take(MACHINE, encode_presence(Presence(False, 0.0, "two")))
    mirror.take(MACHINE, encode_presence(Presence(True, 2.0, "two", namesake=True)))
    assert [pane.id for _, _, pane in mirror.panes()] == ["b"]
    assert mirror.there["atlas"][0].namesake


class Twin:
    """A machine called atlas, on a broker that hands on and keeps what it is told."""

    def __init__(self, life: str, at: float, pane: str) -> None:
        self.outbox = Outbox("t", "atlas", Presence(True, at, life))
        self.outbox.show([shown(**{pane: Status.WORKING})])
        self.name = self.outbox.name

    def connect(self, kept: dict[str, bytes], now: float) -> None:
        for place, payload in kept.items():
            self.outbox.received(place, payload, now, is_stored=True)


def settle(twins: list[Twin], kept: dict[str, bytes], now: float) -> None:
    """Deliver all that is to be sent, until nobody has anything more to say."""
    for _ in range(100):
        sent = False
        for twin in twins:
            if word := twin.name.word():
                for each in twins:
                    each.outbox.received(topic("t", "atlas", "namesake"), word, now, is_stored=False)
            for place, payload in twin.outbox.take(now).items():
                sent = True
                kept[place] = payload
                for each in twins:
                    each.outbox.received(place, payload, now, is_stored=False)
                twin.outbox.acknowledged(place)
        if not sent:
            return
    raise AssertionError("they talk without end")


def panes_in(kept: dict[str, bytes]) -> list[str]:
    mirror = Mirror("t")
    for place, payload in kept.items():
        mirror.take(place, payload)
    return [pane.id for _, _, pane in mirror.panes()]


def test_two_machines_of_one_name_are_not_mixed() -> None:
    """Who was there first is shown, whoever comes to the broker first; both know; then the other takes its place."""
    for first_is_second in (False, True):
        old, new = Twin("old", 1.0, "a"), Twin("new", 2.0, "b")
        order = [new, old] if first_is_second else [old, new]
        kept: dict[str, bytes] = {}
        order[0].connect(kept, 10.0)
        settle(order[:1], kept, 10.0)
        order[1].connect(kept, 11.0)
        settle(order, kept, 11.0)
        settle(order, kept, 11.0 + OBJECTION_S)
        assert panes_in(kept) == ["a"]
        assert new.name.holder is not None and new.name.holder.life == "old" and old.name.holder is None
        assert (old.name.follower, new.name.follower) == ("new", None)
        # The will of the one that waits does not end the one that is shown.
        gone = encode_presence(Presence(False, 0.0, "new"))
        kept[MACHINE] = gone
        old.outbox.received(MACHINE, gone, 20.0, is_stored=False)
        settle([old], kept, 20.0)
        assert panes_in(kept) == ["a"] and old.name.follower is None
        # The end of the one that is shown lets the other one in.
        gone = encode_presence(Presence(False, 0.0, "old"))
        kept[MACHINE] = gone
        new.outbox.received(MACHINE, gone, 30.0, is_stored=False)
        settle([new], kept, 30.0)
        assert panes_in(kept) == ["b"]


def test_a_name_that_a_dead_life_left_online_is_free_soon() -> None:
    """A broker that keeps the word of a life that is over costs the time in which that one could object."""
    kept = {MACHINE: encode_presence(Presence(True, 1.0, "dead")), pane_topic("x"): b"{}"}
    twin = Twin("new", 2.0, "a")
    twin.connect(kept, 10.0)
    settle([twin], kept, 10.0)
    assert panes_in(kept) == [] and kept[pane_topic("x")] == b"{}"
    settle([twin], kept, 10.0 + OBJECTION_S)
    assert panes_in(kept) == ["a"] and kept[pane_topic("x")] == b""


class Broker(RuleBasedStateMachine):
    """A broker that delivers late, forgets, and dies; a machine whose panes come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.outbox = Outbox("t", "atlas", OWN)
        self.panes: dict[str, Status] = {}
        self.polled: dict[str, bytes] = {}
        self.wire: list[tuple[str, bytes]] = []
        self.is_up = False
        self.show()

    def show(self) -> None:
        self.outbox.show([shown(**self.panes)])

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
            for place, payload in self.polled.items():
                self.outbox.received(place, payload, 0.0, is_stored=True)

    @rule(delivered=st.integers(0, 5))
    def broker_dies(self, delivered: int) -> None:
        if self.is_up:
            for place, payload in self.wire[:delivered]:
                self.store(place, payload)
            self.wire.clear()
            self.is_up = False
            self.store(MACHINE, AWAY)
            self.outbox.lost()

    @rule(count=st.integers(0, 4))
    def broker_works(self, count: int) -> None:
        """The machine sends all it may, and the broker takes the first of it."""
        if self.is_up:
            self.wire += self.outbox.take(0.0).items()
        for place, payload in self.wire[:count]:
            self.store(place, payload)
            self.outbox.acknowledged(place)
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
        for place, payload in twin.polled.items():
            mirror.take(place, payload)
        assert {pane.id: pane.status for _, _, pane in mirror.panes()} == self.panes
        assert twin.outbox.take(0.0) == {}


TestBroker = Broker.TestCase
TestBroker.pytestmark = pytest.mark.slow
TestBroker.settings = settings(max_examples=at_most(60), stateful_step_count=25, deadline=None)
