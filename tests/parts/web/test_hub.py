"""The hub: every listener learns every change, and one that falls behind learns what is true at last."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.status import Status
from tallylight.parts.web.hub import MAX_BEHIND, MAX_LISTENERS, Hub, Listener
from tallylight.parts.web.model import session_of
from tallylight.snapshot.addresses import Row
from tests.entries import new_pane


def publish(hub: Hub, **contexts: int) -> None:
    """Have the hub tell that there are these panes, with so much of their context used."""
    panes = [new_pane(id=id_, status=Status.WORKING, context=context) for id_, context in contexts.items()]
    found = [Row("kitty-1", pane) for pane in panes]
    hub.publish({one.pane.id: session_of(one, can_see=True, can_type=True) for one in found})


def join(hub: Hub, wake: Callable[[], None] = lambda: None) -> Listener:
    """One who listens."""
    listener = hub.join(wake)
    assert listener is not None
    return listener


def replayed(seen: dict[str, object], messages: list[str]) -> dict[str, object]:
    """What a reader has after *messages*."""
    for message in map(json.loads, messages):
        match message["type"]:
            case "state":
                seen = {one["id"]: one["context"] for one in message["sessions"]}
            case "change":
                seen[message["session"]["id"]] = message["session"]["context"]
            case "gone":
                del seen[message["address"]]
    return seen


states = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)), max_size=30)


@pytest.mark.slow
@given(states, st.sets(st.integers(0, 30)))
def test_a_listener_ends_with_the_truth(steps: list[dict[str, int]], reads: set[int]) -> None:
    """Whenever a listener reads, it has then exactly the present state."""
    hub = Hub()
    listener = join(hub)
    seen: dict[str, object] = {}
    for number, state in enumerate(steps):
        publish(hub, **state)
        if number in reads:
            seen = replayed(seen, hub.take(listener))
            assert seen == state
    seen = replayed(seen, hub.take(listener))
    assert seen == (steps[-1] if steps else {})


def test_a_prompt_listener_gets_every_change() -> None:
    """Who reads in time is told of each change, one by one and in order."""
    hub = Hub()
    listener = join(hub)
    hub.take(listener)
    for n in range(MAX_BEHIND):
        publish(hub, a=n + 1)
    assert [json.loads(message)["session"]["context"] for message in hub.take(listener)] == list(
        range(1, MAX_BEHIND + 1)
    )


@pytest.mark.slow
def test_one_that_is_behind_costs_nothing_and_nobody() -> None:
    """A listener that never reads holds no more than the limit, and another one misses nothing."""
    hub = Hub()
    slow, quick = join(hub), join(hub)
    hub.take(slow), hub.take(quick)
    told = 0
    for n in range(10 * MAX_BEHIND):
        publish(hub, a=n + 1)
        told += len(hub.take(quick))
        assert len(slow.queue) <= MAX_BEHIND
    assert told == 10 * MAX_BEHIND
    assert replayed({}, hub.take(slow)) == {"a": 10 * MAX_BEHIND}


def test_a_listener_is_woken_once() -> None:
    """However much happens, a listener is woken once until it has taken it."""
    hub, woken = Hub(), []
    listener = join(hub, lambda: woken.append(1))
    hub.take(listener)
    publish(hub, a=1)
    publish(hub, a=2)
    assert len(woken) == 1
    hub.take(listener)
    publish(hub, a=2)
    assert len(woken) == 1
    publish(hub, a=3)
    assert len(woken) == 2


def test_listeners_are_limited() -> None:
    """One more than the limit is refused, and a place that is left is free again."""
    hub = Hub()
    joined = [join(hub) for _ in range(MAX_LISTENERS)]
    assert hub.join(lambda: None) is None
    hub.leave(joined[0])
    join(hub)


def test_what_is_out_of_date_is_told_once() -> None:
    """Why the state may be old comes with the whole state, and then each time that it is another reason."""
    hub = Hub()
    early = join(hub)
    assert json.loads(hub.take(early)[0])["stale"] == ""
    for stale in ("as of noon", "as of noon", ""):
        hub.publish({}, stale)
    assert [json.loads(message)["stale"] for message in hub.take(early)] == ["as of noon", ""]
    hub.publish({}, "as of two")
    assert json.loads(hub.take(join(hub))[0])["stale"] == "as of two"
