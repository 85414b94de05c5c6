"""Connections without the token: how many, for how long, and who goes first."""

from __future__ import annotations

import asyncio

from tallylight.parts.web.connections import ACCEPTED_AT_ONCE, MAX_UNKNOWN, Unknown


def test_the_oldest_goes_when_there_are_too_many() -> None:
    """A new connection takes the place of the oldest one that has not shown the token, and of no other."""

    async def run() -> None:
        ended: list[int] = []
        unknown = Unknown(most=3, seconds=600)
        made = [unknown.add(lambda n=n: ended.append(n)) for n in range(3)]  # type: ignore[misc]
        made[0].know()
        assert made[0].is_known
        made[1].leave()
        for n in range(3, 6):
            unknown.add(lambda n=n: ended.append(n))  # type: ignore[misc]
        assert (ended, len(unknown.timers)) == ([2], 3)
        # One that is gone or known is not ended later.
        for n in range(6, 20):
            unknown.add(lambda n=n: ended.append(n))  # type: ignore[misc]
        assert ended == [2, *range(3, 17)]

    asyncio.run(run())


def test_each_has_its_time() -> None:
    """A connection that does not show the token in time is ended; one that has shown it is not."""

    async def run() -> None:
        ended = asyncio.Event()
        unknown = Unknown(most=9, seconds=0.01)
        known = unknown.add(lambda: None)
        known.know()
        unknown.add(ended.set)
        await asyncio.wait_for(ended.wait(), 30)
        assert not unknown.timers

    asyncio.run(run())


def test_nobody_is_the_oldest_before_being_heard() -> None:
    """What is accepted in a few turns of the loop does not fill the places of those who have not been heard yet."""
    assert ACCEPTED_AT_ONCE * 8 <= MAX_UNKNOWN
