"""
Real Claude Code and Codex at a limit, in a real kitty: they go on by themselves, once for each limit.

Each limit lasts minutes of the real clock, so this is run by hand: `pytest tests/real_agents/shift_kitty.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tallylight.shift.steps import WENT_ON
from tests.real_agents.desk import Tab
from tests.real_agents.driver import wait_until
from tests.tables import each

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: Limits are those of a plan, which belongs to an account.
CLAUDE = "ANTHROPIC_API_KEY= CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-scripted claude --permission-mode manual"
#: Else it continues by itself, a minute late.
WAITS = """--settings '{"autoContinueAtUsageLimit": false}'"""
IN_ONE_KITTY = {"test_it_goes_on": "0.48", "test_one_that_continues_by_itself": "0.48"}
#: As a person arms a pane in the list; until when its limit holds.
_ARM = """
from tallylight.actions.caller import PERSON
from tallylight.actions.queue import ends
from tallylight.actions.request import HOLDER, DeferredText, Look
from tallylight.hosts.kitty import watcher
host, until = watcher.running(), watcher.running().panes[{window}].limited_until
held = host.perform(Look("{window}", HOLDER), PERSON)
told = host.perform(DeferredText("{window}", held.pid, held.start, "continue", ends(until)), PERSON)
return [until, type(told).__name__, told.text]
"""
_KEPT = """
from tallylight.hosts.kitty import watcher
queued = watcher.running().panes[{window}].queued
return [queued is not None, queued.problem if queued is not None else ""]
"""


@each(("agent", "command"), [("claude", f"{CLAUDE} {WAITS}"), ("codex", "codex")])
def test_it_goes_on(agent: str, command: str, borrow: Callable[[str, str], Tab]) -> None:
    """Three limits, each with the end that its server tells: soon after each, with one word, and no more."""
    tab = borrow(agent, command)
    late: list[float] = []
    for number in range(1, 4):
        tab.submit("LIMIT 30")
        limited = tab.wait("limited", since=tab.truth("limit", number))
        if agent == "claude":
            tab.answer("Stop and wait for limit to reset", key="enter")
        until, told, words = tab.kitty.eval(_ARM.format(window=tab.window))
        assert (told, words) == ("Done", "queued until its limit ends"), (told, words)
        armed = time.time()
        assert -60 < until - armed < 120
        tab.wait("done", since=limited.at, timeout=150)
        went_on = tab.truth("done", number)
        late.append(went_on - time.monotonic() + time.time() - max(until, armed))
    assert all(0 <= seconds < 60 for seconds in late), late
    kept, problem = tab.kitty.eval(_KEPT.format(window=tab.window))
    assert (kept, problem) == (True, "")
    marks = [mark["mark"] for mark in tab.model.marks[tab._marks_before :]]
    assert (marks.count("limit"), marks.count("done")) == (3, 3), marks


def test_one_that_continues_by_itself(borrow: Callable[[str, str], Tab]) -> None:
    """Nothing is typed into it, then or later, and the pane says why."""
    tab = borrow("claude", CLAUDE)
    tab.submit("LIMIT 30")
    tab.wait("limited", since=tab.truth("limit"))
    tab.kitty.eval(_ARM.format(window=tab.window))
    wait_until(lambda: "done" in [mark["mark"] for mark in tab.model.marks[tab._marks_before :]], 200, "its next turn")
    tab.kitty.wait_until(
        lambda: tab.kitty.eval(_KEPT.format(window=tab.window)) == [True, WENT_ON], what="that it went on by itself"
    )
    assert [mark["mark"] for mark in tab.model.marks[tab._marks_before :]].count("done") == 1
