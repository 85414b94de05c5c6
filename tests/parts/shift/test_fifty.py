"""
Fifty stops of agents at their limits, with a night around each: clocks that move, machines that sleep, dialogs.

Each agent tells in its own words when its limit ends: all that the agents' programs can print with a time in it, as
they have it. Copilot's come from its server. A host looks at it twice a second. docs/measurements.md has the figure,
which `python -m tests.parts.shift.test_fifty` prints.
"""

from __future__ import annotations

import datetime
import math
import random
from typing import NamedTuple

import attrs
import pytest

from tallylight.actions.answer import Seen
from tallylight.actions.answered import InProcess
from tallylight.actions.once import Once
from tallylight.actions.queue import Moment, typing_time
from tallylight.evidence.records import usage_limits
from tallylight.model.queued import Queued
from tallylight.model.status import Kind, Status
from tallylight.parts.shift.steps import step
from tests.actions.desk import PID, START, Desk, seen

pytestmark = pytest.mark.slow

BEGAN = 1_796_000_040.0
HALF = 0.5
#: How long an agent works before it is done, in seconds.
WORKS_S = 30.0
#: And how long a person takes to answer a dialog of theirs.
ASKS_S = 20.0
STOPS = 50
_MANAGER = "an org owner or channel manager can raise it in the channel's Claude settings"
_USAGE = "https://claude.ai/admin-settings/usage"
_OWN = "https://claude.ai/settings/usage?from=cc_cli_limit_message"
#: What agents say, with the time in the form that is its own.
WORDS = (
    # Claude Code 2.1.330
    *(f"You've hit your {what} · resets {{claude}} · progress saved" for what in (
        "5-hour limit", "weekly limit", "Opus limit", "Sonnet limit", "usage limit", "limit",
    )),
    "You've hit your Fable limit · resets {claude}",
    "You've hit your weekly limit · resets {claude} · out of usage credits",
    "You've hit your individual usage limit · resets {claude}",
    "You've hit your org's monthly usage limit · resets {claude}",
    f"You've hit your channel's monthly usage limit · {_MANAGER} · resets {{claude}}",
    f"You've hit your channel's monthly spend limit · {_MANAGER} · your 5-hour limit resets {{claude}}",
    f"You've hit your monthly spend limit · raise it at {_OWN} · your weekly limit resets {{claude}}",
    f"You've hit your org's monthly spend limit · ask your admin to raise it at {_USAGE} · your weekly limit resets "
    "{claude}",
    "You've hit your individual spend limit · run /usage-credits to ask your admin for a higher limit · your 5-hour "
    "limit resets {claude}",
    f"You've hit your team's pooled group budget · resets {{later}} · ask your admin to raise it at {_USAGE} · your "
    "5-hour limit resets {claude}",
    "You're out of usage credits · resets {claude} · progress saved",
    # Claude Code 2.0
    "Claude AI usage limit reached|{epoch}",
    # Codex 0.169
    *(f"You’ve hit your usage limit{what} or try again at {{codex}}." for what in (
        ". Upgrade to Plus to continue using Codex (https://chatgpt.com/explore/plus),",
        ". Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more "
        "credits",
        ". Visit https://chatgpt.com/settings/usage to purchase more credits",
        ". To get more access now, send a request to your admin",
        " for gpt-5.3-codex-spark. Switch to another model now,",
    )),
    "You’ve hit your usage limit. Try again at {codex}.",
    # Gemini CLI 0.61, and its server
    "Usage limit reached for gemini-3-pro-preview.\nAccess resets at {gemini}.\n/stats model for usage details\n/model "
    "to switch models.\n/auth to switch to API key.",
    "We are currently experiencing high demand for gemini-3-pro-preview.\nWe apologize and appreciate your patience.\n"
    "Access resets at {gemini}.\n/model to switch models.",
    "[API Error: You have exhausted your capacity on this model. Your quota will reset after {minutes}m0s.]",
    "You exceeded your current quota, please check your plan and billing details. Please retry in {seconds}s.",
    # Copilot
    "You've hit your rate limit. Please wait for your limit to reset in {span} or switch to auto model to continue.",
    "You've reached your weekly rate limit. Please wait for your limit to reset on {copilot} or switch to auto model "
    "to continue.",
    "Sorry, you have been rate-limited. Please wait {span} before trying again or consider switching to Auto.",
    # OpenCode 1.18
    "5 hour usage limit reached. It will reset in {span}. To continue using this model now, enable usage from your "
    "available balance - https://opencode.ai/workspace/wrk_1/go",
    # pi
    "You have hit your ChatGPT usage limit (plus plan). Try again in ~{minutes} min.",
)  # fmt: skip


def said(words: str, minutes: int, *, has_day: bool) -> str:
    """These words of a limit that ends in so many minutes, with the day where an agent may add it."""
    here = datetime.datetime.fromtimestamp(BEGAN + 60 * minutes)  # noqa: DTZ006
    utc = here.astimezone(datetime.UTC)
    claude, day = (f"{when:%-I:%M%p} (UTC)".replace(":00", "").replace("AM", "am").replace("PM", "pm") for when in (
        utc, utc + datetime.timedelta(days=3)
    ))  # fmt: skip
    return words.format(
        claude=f"{utc:%b %-d}, {claude}" if has_day else claude,
        later=f"{utc + datetime.timedelta(days=3):%b %-d}, {day}",
        codex=f"{here:%b} {here.day}th, {here:%Y %-I:%M %p}" if has_day else f"{here:%-I:%M %p}",
        gemini=f"{utc:%-I:%M %p} UTC",
        copilot=f"{here:%B %-d, %Y} at {here:%-I:%M %p}",
        span=f"{minutes} minutes",
        minutes=minutes,
        seconds=60 * minutes,
        epoch=int(BEGAN) + 60 * minutes,
    )


def screen(name: str, status: Status, **more: Kind) -> Seen:
    found = seen(f"claude/{name}", status, **more)
    return attrs.evolve(found, look=attrs.evolve(found.look, cursor_column=2))


LIMITED, DONE = (screen("idle-after-turn-80", status) for status in (Status.LIMITED, Status.DONE))
WORKING = screen("working-80", Status.WORKING)
ASKING = screen("permission-bash-80", Status.WAITING, kind=Kind.PERMISSION)


class Stop(NamedTuple):
    """What came of one: how long after the limit, or a dialog then, it was typed; how often; and if into a dialog."""

    late: float
    typed: int
    into_dialog: bool
    #: How often it was typed before the end.
    early: int = 0


@attrs.define
class Agent(Desk):
    """An agent at a limit that ends at *until*, and which works for a while once it is told to go on after that."""

    until: float = 0.0
    true: float = BEGAN
    works_until: float = 0.0
    into_dialog: bool = False
    early: int = 0

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        self.into_dialog |= self.now is ASKING
        if self.true >= self.until:
            self.typed.append(text)
        else:
            self.early += 1
        self.works_until = self.true + (WORKS_S if self.true >= self.until else 1.0)
        return True

    def look(self, asks_at: float) -> Seen:
        """What it shows; for a while after *asks_at* a dialog that a person has opened."""
        self.true += HALF
        rest = DONE if self.works_until > self.until else LIMITED
        self.now = WORKING if self.true < self.works_until else rest
        self.now = ASKING if asks_at <= self.true < asks_at + ASKS_S else self.now
        return self.now


def stopped(number: int) -> Stop:
    """A night with what chance brings."""
    chance = random.Random(number)
    minutes = chance.randint(3, 20)
    until = usage_limits.ends(said(WORDS[number % len(WORDS)], minutes, has_day=number >= len(WORDS)), BEGAN)
    # A clock leaves out the seconds, and nobody knows in which of them the limit ends.
    ended = BEGAN + 60 * minutes + (chance.uniform(0, 60) if until % 60 else 0.0)
    agent, once = Agent(LIMITED, until=ended), Once(0.0, InProcess())
    queued: Queued | None = Queued(pid=PID, start=START, text="continue", at=typing_time(until))
    asks_at, slept, first = chance.choice((math.inf, math.inf, until + 2)), 0.0, math.inf
    naps_at = BEGAN + chance.choice((math.inf, 30.0, 60.0 * minutes - 20))
    wrong, lasts = chance.choice((0.0, 0.0, -3600.0, 3600.0)), chance.uniform(30, 280)
    while agent.true < until + 400 and queued is not None:
        if agent.true >= naps_at:
            nap, naps_at = chance.uniform(5, 50), math.inf
            agent.true, slept = agent.true + nap, slept + nap
        shown = agent.look(asks_at)
        # The clock is wrong for a while, and is set right in time.
        wall = agent.true + (wrong if 40 <= agent.true - BEGAN < 40 + lasts else 0.0)
        ends_at = 0.0 if shown in (WORKING, DONE) else until
        moment = Moment(agent.true - slept, True, wall, shown.status, ends_at, boot=agent.true - BEGAN)
        queued = step(agent, once, queued, moment)
        if agent.typed and first is math.inf:
            first = agent.true
    free = asks_at + ASKS_S if asks_at < math.inf else ended
    return Stop(first - max(ended, free), len(agent.typed), agent.into_dialog, agent.early)


def fifty() -> list[Stop]:
    """What came of all."""
    return [stopped(number) for number in range(STOPS)]


def test_fifty_stops() -> None:
    """Of all, 98 % go on within a minute of the end; nothing is typed into a dialog, and nothing twice."""
    found = fifty()
    assert sum(0 <= stop.late < 60 for stop in found) >= 0.98 * STOPS, found
    assert not any(stop.into_dialog for stop in found)
    assert all(stop.typed == 1 for stop in found), found
    assert not any(stop.early for stop in found), found


if __name__ == "__main__":
    stops = fifty()
    times = sorted(stop.late for stop in stops)
    print(f"{sum(late < 60 for late in times)} of {STOPS}; median {times[STOPS // 2]:.0f} s, last {times[-1]:.0f} s")  # noqa: T201
    print(f"typed too early: {sum(stop.early for stop in stops)}")  # noqa: T201
