"""What a person sees of the page at a glance: how much room a card takes, what is filled, and that nothing jumps."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tallylight.model.status import Kind, Status
from tests.parts.web.browser import Browser
from tests.parts.web.live import Live
from tests.parts.web.test_page import pane
from tests.parts.web.test_page_states import MANY, is_right
from tests.patience import until

pytestmark = pytest.mark.programs

#: Keeps what moves by itself, from the first picture of a page on: https://web.dev/articles/cls
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(one.value);
}).observe({ type: "layout-shift", buffered: true });
"""
HEIGHTS = """
return Object.fromEntries([...document.querySelectorAll(".card")]
  .map((card) => [card.dataset.status, card.getBoundingClientRect().height]));
"""
#: The heights of the same cards before they were made of one or two lines, by the width of the window.
ONCE = {
    360: {"background": 140, "done": 161, "down": 117, "error": 121, "idle": 91, "waiting": 195, "working": 154},
    1280: {"background": 91, "done": 123, "down": 91, "error": 100, "idle": 91, "waiting": 149, "working": 123},
}
#: What is behind the name of each closed card, by its status: nothing, or a fill.
FILLS = """
return Object.fromEntries([...document.querySelectorAll(".card")].map((card) =>
  [card.dataset.status, [".look", ".mark"].map((part) => getComputedStyle(card.querySelector(part)).backgroundColor)]));
"""
#: The height of each thing that a finger presses: of a card its row, which is all one button; of a box its label.
TARGETS = """
return [...document.querySelectorAll("button, select, input, summary")].filter((node) => node.checkVisibility())
  .map((node) => node.closest(".look") ? node.closest(".row") : node.matches("[type=checkbox]") ? node.labels[0] : node)
  .map((node) => [node.id || node.className || node.nodeName, node.getBoundingClientRect().height]);
"""
CLEAR = "rgba(0, 0, 0, 0)"


@pytest.fixture
def watched(browser: Browser) -> Iterator[Browser]:
    """A browser that keeps what moves."""
    made = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    yield browser
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_a_card_is_small_and_nothing_jumps(live: Live, watched: Browser, width: int, height: int) -> None:
    """Cards take half of the room they took; from the first picture on, until somebody asks, nothing jumps."""
    # No limit: that was no status of its own then.
    *many, idle = (one for one in MANY if one.status is not Status.LIMITED)
    live.shows(*many, idle)
    watched.width(width, height)
    watched.open(live)
    until(lambda: len(watched.texts(".card")) == len(many) + 1, "not all agents are there")
    found = watched.driver.execute_script(HEIGHTS)
    assert sum(found.values()) <= sum(ONCE[width].values()) / 2, found
    assert all(found[status] <= ONCE[width][status] * 0.75 for status in found), found
    asks = pane(17, Status.WAITING, kind=Kind.QUESTION, project="garden", question="Water them?", since=time.time())
    live.shows(*many, asks)
    until(lambda: watched.texts(".card[data-status=waiting][data-address$=':%17']"), "the change is not shown")
    # The browser tells of what has moved after the next picture.
    watched.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert sum(watched.driver.execute_script("return window.shifts")) < 0.1


def test_what_is_filled(live: Live, browser: Browser) -> None:
    """What needs a person is filled over mark and name, news over its mark; the rest is not."""
    live.shows(*MANY)
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == len(MANY), "not all agents are there")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        found = browser.driver.execute_script(FILLS)
        kinds = {status: tuple(colour != CLEAR for colour in colours) for status, colours in found.items()}
        needy = dict.fromkeys(("waiting", "error", "down"), (True, True))
        plain = dict.fromkeys(("working", "background", "idle", "limited"), (False, False))
        assert kinds == needy | plain | {"done": (False, True)}


def test_what_a_row_says(live: Live, browser: Browser) -> None:
    """A row begins with the project; an advertisement of the agent is no news; what was changed stands at its end."""
    live.shows(
        pane(1, Status.WAITING, host_title="work", project="shop", question="Tip: auto mode answers for you"),
        pane(2, Status.DONE, host_title="work", project="docs", reply="All is written. It builds."),
        pane(3, Status.WORKING, host_title="work", message="tip: press Tab"),
    )
    browser.open(live)
    until(lambda: browser.texts(".name") == ["shop", "docs", "work"], "the rows begin with another word")
    assert browser.texts(".what") == ["All is written. It builds."]
    said = {"reply": "All is written. It builds.", "outcome": "It builds.", "more": {"diffstat": (120, 14)}}
    live.shows(pane(2, Status.DONE, project="docs", **said), pane(3, Status.WORKING, host_title="work"))
    until(lambda: browser.texts(".name") == ["docs", "work"], "the change is not shown")
    assert browser.texts(".what") == ["It builds."] and browser.texts(".diff") == ["+120 −14"]
    is_right(browser, "outcome")


def test_a_finger_hits_what_it_presses(live: Live, browser: Browser) -> None:
    """On a phone all that is pressed is at least 44 pixels high, in the dialogs, too."""
    live.shows(*MANY)
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == len(MANY), "not all agents are there")
    browser.one(".card .look").click()
    for opened in ("", "#help-open", "#push-open"):
        if opened:
            browser.one(opened).click()
            browser.one("dialog[open] button")
        small = [one for one in browser.driver.execute_script(TARGETS) if one[1] < 44]
        assert small == [], opened
        browser.keys(Keys.ESCAPE)
    assert browser.problems() == []
