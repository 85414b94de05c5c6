"""The hub: every listener learns every change, and one that falls behind learns what is true at last."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from tallylight.serve.hub import MAX_BEHIND, MAX_LISTENERS, Hub, Listener


def make_hub() -> Hub:
    def state(values: Mapping[str, object]) -> str:
        return json.dumps({"state": dict(values)})

    return Hub(state, lambda key, value: json.dumps({"key": key, "value": value}))


def join(hub: Hub, wake: Callable[[], None] = lambda: None) -> Listener:
    """One who listens."""
    listener = hub.join(wake)
    assert listener is not None
    return listener


def replayed(seen: dict[str, object], messages: list[str]) -> dict[str, object]:
    """What a reader has after *messages*."""
    for message in map(json.loads, messages):
        if "state" in message:
            seen = dict(message["state"])
        elif message["value"] is None:
            seen.pop(message["key"], None)
        else:
            seen[message["key"]] = message["value"]
    return seen


states = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)), max_size=30)


@given(states, st.sets(st.integers(0, 30)))
def test_a_listener_ends_with_the_truth(steps: list[dict[str, int]], reads: set[int]) -> None:
    """Whenever a listener reads, it has then exactly the present state."""
    hub = make_hub()
    listener = join(hub)
    seen: dict[str, object] = {}
    for number, state in enumerate(steps):
        hub.publish(state)
        if number in reads:
            seen = replayed(seen, hub.take(listener))
            assert seen == state
    seen = replayed(seen, hub.take(listener))
    assert seen == (steps[-1] if steps else {})


def test_a_prompt_listener_gets_every_change() -> None:
    """Who reads in time is told of each change, one by one and in order."""
    hub = make_hub()
    listener = join(hub)
    hub.take(listener)
    for n in range(MAX_BEHIND):
        hub.publish({"a": n + 1})
    assert [json.loads(message)["value"] for message in hub.take(listener)] == list(range(1, MAX_BEHIND + 1))


def test_one_that_is_behind_costs_nothing_and_nobody() -> None:
    """A listener that never reads holds no more than the limit, and another one misses nothing."""
    hub = make_hub()
    slow, quick = join(hub), join(hub)
    hub.take(slow), hub.take(quick)
    told = 0
    for n in range(10 * MAX_BEHIND):
        hub.publish({"a": n + 1})
        told += len(hub.take(quick))
        assert len(slow._queue) <= MAX_BEHIND
    assert told == 10 * MAX_BEHIND
    assert hub.take(slow) == ['{"state": {"a": 2560}}']


def test_a_listener_is_woken_once() -> None:
    """However much happens, a listener is woken once until it has taken it."""
    hub, woken = make_hub(), []
    listener = join(hub, lambda: woken.append(1))
    hub.take(listener)
    hub.publish({"a": 1})
    hub.publish({"a": 2})
    assert len(woken) == 1
    hub.take(listener)
    hub.publish({"a": 2})
    assert len(woken) == 1
    hub.publish({"a": 3})
    assert len(woken) == 2


def test_listeners_are_limited() -> None:
    """One more than the limit is refused, and a place that is left is free again."""
    hub = make_hub()
    joined = [join(hub) for _ in range(MAX_LISTENERS)]
    assert hub.join(lambda: None) is None
    hub.leave(joined[0])
    join(hub)
