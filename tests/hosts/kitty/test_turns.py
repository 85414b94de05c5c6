"""Turns: which panes are looked at in a tick: those at rest seldom, all others always, within a slice of time."""

from __future__ import annotations

import itertools

from tallylight.hosts.kitty.turns import A_CHECK, REST_A_TICK, REST_TICKS, SLICE_S, Turns

FEW = range(REST_A_TICK)
MANY = range(1000)


def frozen() -> float:
    """A clock of a thread that needs no time."""
    return 0.0


def settled(ids: range) -> Turns:
    """All of *ids* are at rest."""
    turns = Turns(frozen)
    turns.begin(ids, ())
    assert turns.look(lambda _: True) == list(ids)
    return turns


def test_few_are_looked_at_in_every_tick() -> None:
    """As long as those at rest are few, rest changes nothing."""
    turns = settled(FEW)
    assert turns.looks_often
    for _ in range(3):
        turns.begin(FEW, ())
        assert sorted(turns.look(lambda _: True)) == list(FEW)


def test_many_take_turns() -> None:
    """Each that rests is looked at once in `REST_TICKS` ticks, and no tick looks at more than its share."""
    turns = settled(MANY)
    ticks = []
    for _ in range(REST_TICKS):
        turns.begin(MANY, ())
        ticks.append(turns.look(lambda _: True))
    assert not turns.looks_often
    assert max(map(len, ticks)) <= -(-len(MANY) // REST_TICKS)
    assert {*itertools.chain(*ticks)} == {*MANY}


def test_those_that_are_awake_in_sight_or_heard_of() -> None:
    """What does not rest, what a person has in front of them and what said something is looked at in each tick."""
    turns = settled(MANY)
    for _ in range(2):
        turns.wake(998)
        turns.begin(MANY, (999,))
        assert {998, 999} <= {*turns.look(lambda id_: id_ != 997)}
    for _ in range(REST_TICKS):
        turns.begin(MANY, ())
        looked = turns.look(lambda id_: id_ != 997)
    assert turns.awake(MANY) == [997] and 997 in looked


def test_a_slice_is_enough_for_all_in_the_end() -> None:
    """Where each takes half of a slice, a call ends soon after its slice, and the next goes on where it ended."""
    spent = 0.0
    turns = Turns(lambda: spent)
    turns.begin(range(40), ())

    def at(_: int) -> bool:
        nonlocal spent
        spent += SLICE_S / 2
        return True

    calls = []
    while turns.is_short:
        calls.append(turns.look(at))
    assert list(itertools.chain(*calls)) == list(range(40))
    assert {len(looked) for looked in calls} == {A_CHECK}


def test_one_that_is_gone() -> None:
    """It is no longer looked at, at rest or not."""
    turns = settled(FEW)
    turns.begin(FEW, (1,))
    turns.forget(0)
    turns.forget(1)
    assert turns.look(lambda _: True) == list(FEW)[2:]
    assert turns.awake((0, 1, 2)) == [0, 1]
