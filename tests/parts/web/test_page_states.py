"""
The page in all its states, in a real browser at the width of a phone and of a desk, light and dark: axe finds nothing
against it, and nothing reaches beyond its edge. With `TALLYLIGHT_PICTURES=FOLDER` each state is kept as a picture.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import ReasonEntry
from tallylight.snapshot.writer import SnapshotWriter
from tests.colour_vision import contrast
from tests.entries import new_pane, pane_with
from tests.parts.web import axe
from tests.parts.web.browser import WIDTHS, Browser
from tests.parts.web.conftest import SCREENS, painted
from tests.parts.web.live import Live, Stage
from tests.parts.web.test_page import pane
from tests.patience import until
from tests.story import better_told

pytestmark = pytest.mark.programs

NOW = time.time()
#: What a person with many agents has, every status of them.
MANY = (
    pane(11, Status.WAITING, kind=Kind.QUESTION, project="shop", question="Which database for the orders?",
         topic="Move the orders out of the cart", since=NOW - 340,
         model="Opus 5.2", context=83, mode="plan"),
    pane(12, Status.ERROR, project="search", message="API error: 529 overloaded", since=NOW - 65, model="Sonnet 5",
         context=31, limited_until=NOW + 3600),
    pane(13, Status.DONE, project="docs", topic="One page for every command", since=NOW - 610,
         reply="All nine pages are written, and every example in them was run. Two links were dead; I have put in the "
         "new ones.", model="Opus 5.2", context=47),
    pane(14, Status.WORKING, project="shop", progress="3/7", topic="Faster tests", since=NOW - 1500, worktree="fast",
         tasks=("Measure", "Share one database", "Run in parallel", "Drop the sleeps", "Cache the build", "Document",
                "Measure again"), model="Opus 5.2", context=62, children=(("reviewer", "working"),)),
    pane(15, Status.BACKGROUND, project="search", message="npm run build:watch", background=1, since=NOW - 4000),
    pane(16, Status.DOWN, project="mail", message="claude ended: exit status 137", since=NOW - 9000),
    pane(17, Status.IDLE, project="garden", since=NOW - 20000, context=4, model="Haiku 5"),
    pane(18, Status.LIMITED, project="docs", message="You've hit your session limit", since=NOW - 700, model="Opus 5.2",
         limited_until=NOW + 8040, queued="continue", queued_until=NOW + 8045),
)  # fmt: skip


def is_right(browser: Browser, state: str) -> None:
    """The page as it stands now has no fault, in each of its looks."""
    found: dict[str, object] = {}
    for width in WIDTHS:
        browser.width(width, 900)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            name = f"page-{state}-{width}-{scheme}"
            if faults := browser.violations(axe.script()):
                found[name] = faults
            if not browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"):
                found[f"{name}, its width"] = "something reaches beyond the edge"
            browser.picture(name)
    browser.scheme("light")
    assert found == {}


JUST_NOW = "This has changed just now, and nothing was sent: look, and press again."


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Stage]:
    """A stage whose first question is that of `tests.story`."""

    def paint(text: str) -> str:
        return painted(better_told(text))

    made = Stage(tmp_path, SCREENS, paint)
    try:
        yield made.start()
    finally:
        made.close()


MINE = ".card[data-address^=sessions]"
#: The colour of each piece of the open screen, as it is drawn, with its text.
DRAWN = """
return [...document.querySelectorAll(".screen span")]
  .map((node) => [node.textContent.trim(), getComputedStyle(node).color]);
"""


def test_a_question_and_a_reply(told: Stage, browser: Browser) -> None:
    """By the keyboard alone: to the question, its answer, the next one, then a reply; and the server goes away."""
    told.live.shows(*MANY)
    browser.open(told.live)
    until(lambda: len(browser.texts(".card")) == 1 + len(MANY), "not all agents are there")
    until(lambda: "waiting" in browser.text(f"{MINE} .status"), "the detached one does not wait")
    is_right(browser, "list")

    browser.width(WIDTHS[1], 900)
    # The newest question is the second one.
    browser.keys("j", "j", Keys.ENTER)
    until(lambda: browser.texts(f"{MINE} .choices button[aria-disabled=false]"), "the question is not shown")
    until(
        lambda: ["Do you want to proceed?", "rgb(213, 218, 224)"] in browser.driver.execute_script(DRAWN), "no screen"
    )
    drawn = dict(browser.driver.execute_script(DRAWN))
    assert drawn["Bash command"] == drawn["❯ 1. Yes"] == "rgb(175, 215, 255)"
    is_right(browser, "question")

    browser.keys("?")
    browser.one("dialog[open]")
    is_right(browser, "help")
    # Behind the help nothing is pressed.
    browser.keys("1", Keys.ESCAPE)
    until(lambda: not browser.texts("dialog[open]"), "the help stays")
    assert told.typed == []

    answer_by_key(browser, lambda: len(told.typed) == 1)
    until(lambda: "new.txt" in browser.text(".context"), "the next question is not shown")
    until(lambda: browser.texts(f"{MINE} .choices button[aria-disabled=false]"), "the next question is not shown whole")
    answer_by_key(browser, lambda: len(told.typed) == 2)
    assert told.typed == [(0, "1"), (1, "1")]

    browser.one(".text", "it takes no text")
    until(lambda: browser.texts(".send:enabled"), "nothing can be sent")
    browser.keys("r")
    # Digits and letters are text in here; a new line does not send.
    browser.keys("1j?")
    browser.one(".text").send_keys(Keys.SHIFT + Keys.ENTER)
    browser.keys("and 2")
    assert browser.one(".text").get_property("value") == "1j?\nand 2"
    is_right(browser, "reply")
    assert len(told.typed) == 2
    # An older tmux does not tell whether a new line would be a key: without one.
    browser.keys(*[Keys.BACKSPACE] * len("\nand 2"))
    sent = until_sent(browser, told)
    assert sent.replace("\x1b[200~", "").replace("\x1b[201~", "") == "1j?\r"

    told.live.stop()
    browser.one("#lost", "it is not said that the server is gone")
    is_right(browser, "lost")
    # What the browser says of a server that is not there is no fault of the page.
    browser.problems()


def answer_by_key(browser: Browser, is_done: Callable[[], bool]) -> None:
    """Press `1` in the open card, again until it counts: not while the page has just moved, and never twice."""

    def pressed() -> bool:
        browser.keys("1")
        return is_done()

    until(pressed, "the key does nothing")


def until_sent(browser: Browser, stage: Stage) -> str:
    """Press Enter in the reply until it is taken; what the agent was typed."""

    def sent() -> bool:
        if browser.one(".text").get_property("value"):
            browser.keys(Keys.ENTER)
        assert browser.text(".problem") in ("", JUST_NOW)
        return len(stage.typed) == 3 and stage.typed[2][1].endswith("\r")

    until(sent, "the reply has not arrived")
    return stage.typed[2][1]


def test_groups_and_what_is_known(live: Live, browser: Browser) -> None:
    """Groups stand where their neediest member would, are kept, and open to tasks and the last reply."""
    live.shows(*MANY)
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == len(MANY), "not all agents are there")
    assert browser.driver.execute_script("return document.querySelector('#list h2').textContent") == "Agents"
    browser.keys("g")
    until(lambda: browser.texts("#list h2") == ["shop", "search", "mail", "docs", "garden"], "there are no groups")
    assert browser.texts("section:first-child .name") == ["shop"] * 2
    browser.driver.refresh()
    until(lambda: len(browser.texts("#list h2")) == 5, "the choice is not kept")
    browser.keys("j", "j", Keys.ENTER)
    assert browser.texts("section:first-child .tasks li")[2:4] == ["done:\nRun in parallel", "now:\nDrop the sleeps"]
    browser.width(WIDTHS[1], 900)
    is_right(browser, "groups")
    # The panes of one session stand together, under a heading of their own.
    of_shop = {"session": "0123456789ab", "agent_pid": os.getpid()}
    live.shows(*(pane_with(one, **of_shop) if one.project == "shop" else one for one in MANY))
    browser.keys("g", "g", "g")
    until(lambda: browser.texts("#list h2")[1:] == ["one pane each"], "there is no group of a session")
    assert browser.texts("section:first-child .name") == ["shop"] * 2
    browser.keys("g", "g", "g")
    # The keys can be switched off, for those whose words are taken for keys.
    browser.driver.execute_script("document.getElementById('keys').click()")
    browser.keys("g")
    assert browser.driver.execute_script("return document.getElementById('group').value") == "project"
    browser.driver.execute_script("localStorage.clear()")
    assert browser.problems() == []


def test_a_limit_is_told_once(live: Live, browser: Browser) -> None:
    """Its row counts down in front of what its agent said; opened, it does not repeat that."""
    limited = pane_with(MANY[7], limited_until=time.time() + 8040, queued="")
    live.shows(limited)
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 1, "there is no agent")
    browser.keys("j", Keys.ENTER)
    assert browser.text(".card .what").startswith("limit: 2 h 1") and limited.message in browser.text(".card .what")
    assert browser.text(".card .message") == ""


def test_a_model_that_does_not_answer(live: Live, browser: Browser) -> None:
    """It is said of one that works, in front of what that does."""
    late = pane_with(MANY[7], limited_until=0.0, queued="", status=Status.WORKING, unanswered_since=time.time() - 130)
    live.shows(late)
    browser.open(live)
    until(lambda: browser.texts(".card .what")[:1], "there is no agent")
    assert browser.text(".card .what").startswith("no answer from the model for 2")


def test_what_waits_to_be_typed(live: Live, browser: Browser) -> None:
    """Its words and when it types them are first, with the day of a later one; else why it never will."""
    browser.open(live)
    for about, expected in (
        (
            {"limited_until": time.time() + 8040, "queued_until": time.time() + 8045},
            r"types at \d\d:\d\d [AP]M: continue · limit: 2 h 1\d, until \d\d:\d\d [AP]M · You've hit",
        ),
        (
            {"limited_until": time.time() + 250_000, "queued_until": time.time() + 250_005},
            r"types at \w{3}, \w{3} \d+, \d\d:\d\d [AP]M: continue · limit: 2 d 22 h, until \w{3}, ",
        ),
        ({"limited_until": 0.0, "queued_until": 1.0}, r"queued: continue · You've hit"),
        ({"limited_until": 0.0, "queued_until": 1.0, "status": Status.WORKING}, "types after its next limit: continue"),
        ({"unsent": "its agent has gone on by itself"}, r"not sent, its agent has gone on by itself: continue · limit"),
    ):
        live.shows(pane_with(MANY[7], **about))
        until(lambda expected=expected: re.match(expected, "".join(browser.texts(".card .what"))), expected)


def test_what_is_out_of_date(live: Live, browser: Browser) -> None:
    """A terminal that cannot write what it shows is named, with the time of what stands there, until it can."""
    live.shows(pane(1))
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 1, "there is no agent")
    assert live._writer is not None
    live._writer._mark_stale()
    until(lambda: "its host cannot write it; it is as of" in browser.text("#lost"), "it is not said how old that is")
    browser.driver.refresh()
    until(lambda: "its host cannot write it; it is as of" in browser.text("#lost"), "it is said once only")
    live.shows(pane(1), pane(2))
    until(lambda: browser.text("#lost") == "", "it is still said")
    assert browser.problems() == []


#: As `tally host sessions` shows what other machines say.
THERE = (
    ("devbox/sessions-7:tmux/12/%3", "devbox: night", "shop", Status.WAITING, "Bash: alembic upgrade head"),
    ("devbox/kitty-9:4", "devbox", "docs", Status.WORKING, ""),
    ("開発機/sessions-8:tmux/1/%1", "開発機: 夜間ビルド", "検索サービス", Status.DONE, ""),
)


def test_other_machines(live: Live, browser: Browser) -> None:
    """Their rows are called after them, stand in groups of their own, and say why they are not answered here."""
    assert live.environ["XDG_RUNTIME_DIR"]
    file = Path(live.environ["XDG_RUNTIME_DIR"]) / "tallylight" / f"machines-{os.getpid()}.json"
    far = SnapshotWriter(file, "machines", time.time, min_interval=0.0)
    found = [
        new_pane(id=id_, status=status, kind=Kind.PERMISSION if what else None, agent="claude", project=project,
             what=what, host_title=title, question="Do you want to proceed?" if what else "", since=NOW - 100 - number,
             reason=ReasonEntry(source="record"), reply="214 tests pass." if status is Status.DONE else "")
        for number, (id_, title, project, status, what) in enumerate(THERE)
    ]  # fmt: skip
    far.publish(found, time.monotonic())
    live.shows(MANY[3], MANY[6])
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 5, "there are not five agents")
    names = ["devbox: shop", "開発機: 検索サービス", "devbox: docs"]
    assert [text for text in browser.texts(".name") if "devbox" in text or "開発機" in text] == names
    groups = browser.driver.find_element("id", "group")
    for value, wanted in (
        ("terminal", ["devbox", "開発機", "kitty"]),
        ("machine", ["devbox", "開発機", "this machine"]),
        ("agent", ["claude"]),
    ):
        Select(groups).select_by_value(value)
        until(lambda wanted=wanted: browser.texts("#list h2") == wanted, f"not by {value}")
    # Nothing listens where the other machine's answers would come from: that is told in its card, and nothing is typed.
    browser.one(".card[data-status=waiting] .look").click()
    until(lambda: browser.texts(".card[data-status=waiting] .problem"), "it is not said why")
    assert not browser.texts(".choices button") and not browser.texts(".send")
    is_right(browser, "machines")
    far.close()


def test_a_hundred_agents(live: Live, browser: Browser) -> None:
    """All are listed within the edges, in titles of any script; what changes is drawn without making the rest anew."""
    titles = ("端末の色を直す、長い長い題名", "an-unbroken-name-" * 12, "Ünï çødé", "مشروع الاختبار", "plain")
    many = [pane(n, project=titles[n % 5], topic=titles[(n + 1) % 5], since=NOW - n) for n in range(100)]
    live.shows(*many)
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 100, "not all agents are there")
    for width in WIDTHS:
        browser.width(width)
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    browser.driver.execute_script("window.before = [...document.querySelectorAll('.card')]")
    browser.keys(*"jjj", Keys.ENTER)
    kept = browser.driver.execute_script("return document.activeElement.closest('.card').dataset.address")
    live.shows(*many[:99], pane(99, Status.WAITING, kind=Kind.QUESTION, question="Which one?", since=NOW))
    until(lambda: "Which one?" in browser.texts(".card")[0], "what waits is not at the top")
    assert browser.driver.execute_script("return window.before.every((node) => node.isConnected)")
    assert browser.driver.execute_script("return document.activeElement.closest('.card').dataset.address") == kept
    assert browser.problems() == []


#: Draws a screen twice, whose last row alone is another one; what of it was made anew, and what it looks like.
TWICE = """
const node = document.createElement("pre");
document.body.append(node);
const screen = new Screen(node);
const run = (text, more) => ({ text, foreground: null, background: null, style: [], ...more });
const rows = [[run("<img src=x onerror=document.title='owned'>", { foreground: 4 })], [], arguments[0], [run("old")]];
screen.show(rows);
const before = [...node.children].map((row) => row.firstChild);
screen.show([...rows.slice(0, 3), [run("new")]]);
const kept = before.map((made, at) => made === node.children[at].firstChild);
const looks = [...node.children[2].children].map((one) => [one.style.color, one.style.backgroundColor, one.className]);
const text = node.innerText;
node.remove();
return { kept, looks, text, images: node.querySelectorAll("img").length };
"""
ODD_RUNS: list[dict[str, object]] = [
    {"foreground": 0},
    {"foreground": "#000001", "background": "#000000"},
    {"foreground": 16, "style": ["bold", "dim"]},
    {"foreground": 231, "background": 255, "style": ["underlined"]},
    {"style": ["reverse"]},
    {"foreground": "#7f7f7f", "background": "#808080", "style": ["reverse", "struck"]},
]


def test_a_screen_is_drawn(live: Live, browser: Browser) -> None:
    """Of a new picture the rows that changed are made anew; text is text; every colour can be read on its ground."""
    live.shows(pane(1))
    browser.open(live)
    browser.one(".card")
    plain = {"foreground": None, "background": None, "style": []}
    runs = [{**plain, "text": f"run {number} ", **odd} for number, odd in enumerate(ODD_RUNS)]
    found = browser.driver.execute_script(TWICE, runs)
    # An empty row has nothing to be made.
    assert found["kept"] == [True, True, True, False]
    assert found["text"].startswith("<img src=x") and found["text"].rstrip().endswith("new")
    assert found["images"] == 0
    assert [look[2] for look in found["looks"]] == ["", "", "bold", "underlined", "", "struck"]
    for color, ground, _ in found["looks"]:
        assert contrast(_channels(color), _channels(ground or "rgb(18, 22, 27)")) >= 4.5
    assert browser.driver.title != "owned"


def _channels(text: str) -> tuple[int, int, int]:
    red, green, blue = map(int, re.findall("[0-9]+", text))
    return red, green, blue


def test_no_agent_and_no_token(live: Live, browser: Browser) -> None:
    """The page of a machine without agents, and one that has no token."""
    browser.open(live)
    browser.one("#nothing")
    is_right(browser, "empty")
    # A browser that is signed in needs no token.
    browser.driver.execute_script("localStorage.clear()")
    browser.driver.get("about:blank")
    browser.driver.get(f"{live.url}/#{'0' * 64}")
    browser.one("#token")
    is_right(browser, "locked")


def test_a_fault_is_found(live: Live, browser: Browser) -> None:
    """axe is at work: what a person cannot read is found."""
    live.shows(pane(1))
    browser.open(live)
    browser.one(".card")
    browser.driver.execute_script("document.querySelector('.name').style.color = '#eee'")
    assert [list(fault) for fault in browser.violations(axe.script())] == [["color-contrast"]]
