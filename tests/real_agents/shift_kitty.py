"""
Real Claude Code and Codex at a limit, in a real kitty: they go on by themselves, once for each limit.

Twenty limits take minutes of the real clock, so this is run by hand: `pytest -s tests/real_agents/shift_kitty.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest

from tallylight.parts.shift.steps import WENT_ON
from tests.real_agents.desk import Tab
from tests.real_agents.driver import wait_until

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: Limits are those of a plan, which belongs to an account.
CLAUDE = "ANTHROPIC_API_KEY= CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-scripted claude --permission-mode manual"
#: Else it continues by itself, a minute late.
WAITS = """--settings '{"autoContinueAtUsageLimit": false}'"""
#: Two of each, at five limits one after the other.
AGENTS, LIMITS = (("claude", f"{CLAUDE} {WAITS}"), ("codex", "codex --no-daemon")) * 2, 5
IN_ONE_KITTY = {"test_twenty_stops": "0.48", "test_one_that_continues_by_itself": "0.48"}
#: As a person arms a pane in the list; until when its limit holds.
_ARM = """
from tallylight.actions.caller import PERSON
from tallylight.actions.queue import typing_time
from tallylight.actions.request import HOLDER, DeferredText, LookRequest
from tallylight.hosts.kitty import answering, watcher
host, until = watcher.running(), watcher.running().panes[{window}].limited_until
held = answering.perform(host, LookRequest("{window}", HOLDER), PERSON)
told = answering.perform(host, DeferredText("{window}", held.pid, held.start, "{words}", typing_time(until)), PERSON)
return [until, type(told).__name__, told.text]
"""
_KEPT = """
from tallylight.hosts.kitty import watcher
queued = watcher.running().panes[{window}].queued
return [queued is not None, queued.problem if queued is not None else ""]
"""


def _arm(tab: Tab, words: str) -> float:
    """Have *words* wait for the end of the limit of the agent in *tab*; when that is."""
    until, told, said = tab.kitty.eval(_ARM.format(window=tab.window, words=words))
    assert (told, said) == ("Done", "queued until its limit ends"), (told, said)
    return float(until)


def test_twenty_stops(borrow: Callable[[str, str], Tab]) -> None:
    """Four agents side by side, each at the ends that its server tells: soon after each, with one word, and no more."""
    tabs = [borrow(agent, command) for agent, command in AGENTS]
    ends: dict[str, float] = {}
    for number in range(LIMITS):
        for stop, tab in enumerate(tabs, len(tabs) * number):
            tab.wait("limited", since=tab.submit(f"LIMIT {30 + stop}"))
            if tab.agent == "claude":
                tab.answer("Stop and wait for limit to reset", key="enter")
            words = f"continue {stop}"
            ends[words] = max(_arm(tab, words), time.time())
        armed = time.monotonic()
        for tab in tabs:
            tab.wait("done", since=armed, timeout=150)
    marks = tabs[0].model.marks[tabs[0]._marks_before :]
    late = {mark["prompt"]: mark["epoch"] - ends[mark["prompt"]] for mark in marks if mark["mark"] == "done"}
    sys.stdout.write(f"{late}\n")
    assert late.keys() == ends.keys()
    assert all(0 <= seconds < 60 for seconds in late.values()), late
    names = [mark["mark"] for mark in marks]
    assert (names.count("limit"), names.count("done")) == (len(ends), len(ends)), names
    assert [tab.kitty.eval(_KEPT.format(window=tab.window)) for tab in tabs] == [[True, ""]] * len(tabs)


def test_one_that_continues_by_itself(borrow: Callable[[str, str], Tab]) -> None:
    """Nothing is typed into it, then or later, and the pane says why."""
    tab = borrow("claude", CLAUDE)
    tab.submit("LIMIT 30")
    tab.wait("limited", since=tab.truth("limit"))
    _arm(tab, "continue")
    wait_until(lambda: "done" in [mark["mark"] for mark in tab.model.marks[tab._marks_before :]], 200, "its next turn")
    tab.kitty.wait_until(
        lambda: tab.kitty.eval(_KEPT.format(window=tab.window)) == [True, WENT_ON], what="that it went on by itself"
    )
    assert [mark["mark"] for mark in tab.model.marks[tab._marks_before :]].count("done") == 1
