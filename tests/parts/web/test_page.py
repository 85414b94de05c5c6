"""The page in a real browser: what it lists, how it answers, and that what was not shown cannot be agreed to."""

from __future__ import annotations

import contextlib
import http.server
import os
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tallylight.model.status import Kind, Status
from tallylight.parts.web import devices
from tallylight.snapshot import labels_file
from tallylight.snapshot.labels import Label
from tallylight.snapshot.schema import Pane, ReasonEntry
from tests.entries import new_pane
from tests.parts.web.browser import WIDTHS, Browser
from tests.parts.web.live import TALLY, Live, Stage
from tests.patience import until

pytestmark = pytest.mark.programs

#: The name of every field and button that can be reached, as a screen reader says it.
NAMES = """
return [...document.querySelectorAll("button, input, select, textarea, progress, [tabindex], [role=group]")]
  .filter((node) => node.checkVisibility())
  .map((node) => node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent);
"""
#: Whether anything that a screen reader watches holds something that ticks by itself.
TICKS = """
return [...document.querySelectorAll("[aria-live], [role=status], [role=alert], [role=log]")]
  .filter((node) => node.querySelector(".age, .screen, .card") || node.closest("#list .screen")).length;
"""


def pane(number: int, status: Status = Status.WORKING, **more: object) -> Pane:
    return new_pane(id=f"%{number}", status=status, agent="claude", reason=ReasonEntry(source="screen"), **more)  # type: ignore[arg-type]


#: How each choice of the open question looks.
LOOKS = """
return [...document.querySelectorAll(".choices button")].map((node) => getComputedStyle(node))
  .map((one) => [one.backgroundColor, one.color, one.borderColor, one.borderWidth, one.fontWeight, one.fontSize]);
"""


def test_the_list(live: Live, browser: Browser) -> None:
    """On a phone's screen the page lists who waits and why, follows a change, and shows text of programs as text."""
    question = "<img src=x onerror=document.title='owned'> Run it?"
    live.shows(
        pane(1, Status.WAITING, kind=Kind.PERMISSION, question=question, host_title="deploy", since=time.time() - 90),
        pane(2, project="docs", progress="3/7", tasks=("a", "b", "c", "Ship it"), topic="The docs", mode="plan"),
    )
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 2, "there are not two sessions")
    first = browser.one(".card")
    assert first.get_attribute("data-status") == "waiting"
    assert question in first.text and "1 min" in first.text
    assert browser.texts(".name") == ["deploy", "docs"] and browser.texts(".what") == [question, "3/7 · Ship it"]
    assert live.token not in browser.driver.current_url
    # The token was given, so nobody is asked for it.
    for unwanted in ("#enter", ".view", "pre", "#nothing", "#lost", "dialog"):
        assert browser.texts(unwanted) == []
    assert browser.driver.execute_script(TICKS) == 0
    live.shows(pane(1, Status.DONE, host_title="deploy"), pane(2, project="docs", progress="4/7"))
    until(lambda: browser.one(".card").get_attribute("data-status") == "done", "the change is not shown")
    until(lambda: browser.driver.title == "Tallylight", "the title still counts")
    changes = {"added": 12, "removed": 3, "new": 2, "ahead": 1, "behind": 0}
    beside = {"branch": "main", "is_detached": False, "worktree": "main", "changes": changes}
    assert browser.driver.execute_script("return repository(arguments[0])", beside) == "main +12 −3 2 new ↑1"
    bare = {"branch": "1a2b3c4", "is_detached": True, "worktree": "fast", "changes": None}
    assert browser.driver.execute_script("return repository(arguments[0])", bare) == "(1a2b3c4) worktree fast"
    # A change of status is told to those who cannot see it, once.
    assert browser.driver.execute_script("return document.getElementById('news').textContent") == "deploy: done"
    for width in WIDTHS:
        browser.width(width)
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.problems() == []


def test_what_a_person_called_a_conversation(live: Live, browser: Browser) -> None:
    """A name that is given in the list shows on the open page at once."""
    asks, docs = pane(1, Status.WAITING, host_title="deploy"), pane(2, project="docs", agent_pid=2)
    live.shows(asks, docs)
    browser.open(live)
    until(lambda: browser.texts(".name") == ["deploy", "docs"], "there are not two sessions")

    called, host = Label("the <b>manual</b>"), f"kitty-{os.getpid()}"
    labels_file.change(labels_file.path(live.environ), lambda found: found.with_label(host, docs, called, 1.0))

    until(lambda: browser.texts(".name") == ["deploy", "the <b>manual</b>"], "the name is not shown")
    assert browser.problems() == []


def test_the_token_of_another_run(live: Live, browser: Browser) -> None:
    """With a token that is not of this run the page shows nothing and asks for the new address, which may be pasted."""
    live.shows(pane(1))
    browser.driver.get(f"{live.url}/#{'0' * 64}")
    field = browser.one("#token", "the token is not asked for")
    assert "has expired" in browser.text("#why")
    # Nobody can tell what runs.
    assert browser.texts("#nothing, .card") == []
    field.send_keys(f"{live.url}/#{live.token}", Keys.ENTER)
    browser.one(".card", "the token is not taken")
    assert browser.texts("#enter") == []


def test_a_device_stays_signed_in(live: Live, browser: Browser) -> None:
    """The page goes on with the next server at its address, until its device is signed out there."""
    live.shows(pane(1, project="shop"))
    browser.open(live)
    until(lambda: browser.texts(".name") == ["shop"], "it is not signed in")
    (device,) = devices.read(devices.path(live.environ)).values()
    assert device.name.startswith("Chrome")
    assert browser.driver.execute_script("return [sessionStorage.length, token]") == [0, ""]
    port, old = live.port, live.token
    live.stop()
    browser.one("#lost", "it is not said that the server is gone")
    assert browser.text("#summary") == "not connected"
    live.start(None, "--port", str(port))
    assert live.token != old
    live.shows(pane(1, project="shop"))
    until(lambda: "1 agent" in browser.text("#summary"), "the page does not go on by itself")
    assert browser.text("#lost") == ""
    live.stop()
    browser.one("#lost", "it is not said that the server is gone")
    # Another program at its port is shown nothing that opens anything.
    key = browser.driver.execute_script("return localStorage['tally.device']")
    with impostor(port) as heard:
        until(lambda: any("/proof" in one for one in heard), "nobody asks")
    assert not any(key[9:] in one for one in heard)
    live.start(None, "--port", str(port))
    live.shows(pane(1, project="shop"), pane(2, project="docs"))
    browser.driver.get(live.url)
    until(lambda: len(browser.texts(".card")) == 2, "the next server does not know it")
    done = subprocess.run([*TALLY, "serve", "--revoke", device.id], env=live.environ, check=True, capture_output=True)
    assert b"signed out" in done.stdout
    browser.one("#token", "it goes on after it was signed out")
    assert browser.texts(".card") == [] and "not signed in" in browser.text("#why")
    # What the browser says of a server that is not there is no fault of the page.
    browser.problems()


@contextlib.contextmanager
def impostor(port: int) -> Iterator[list[str]]:
    """Another program at this port: all that it is shown."""
    heard: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"proof": "00"}')

        def log_message(self, *_words: object) -> None:
            """It says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield heard
    finally:
        server.shutdown()
        server.server_close()


def test_two_queued_questions(stage: Stage, browser: Browser) -> None:
    """Each question is answered by one press of the button that shows it; then text is taken; then nothing is."""
    # Another one of the same name: every field and button says all the same whose it is.
    stage.live.shows(pane(7, host_title="deploy", since=time.time()))
    browser.open(stage.live)
    until(lambda: browser.text(".card[data-status=waiting]"), "nobody waits")
    browser.one(".card[data-status=waiting] .look").send_keys(Keys.ENTER)
    browser.one(".choices button", "there are no choices")
    assert browser.texts(".choices button") == [
        "1. Yes",
        "2. Yes, and always allow access to /home/user/project from this project",
        "3. Yes, and switch to auto mode · auto mode handles these prompts for you",
        "4. No",
    ]
    assert "touch made1" in browser.text(".context")
    for width in WIDTHS:
        browser.width(width)
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    names = browser.driver.execute_script(NAMES)
    assert all(names) and len(set(names)) == len(names), names
    assert browser.driver.execute_script(TICKS) == 0
    browser.width(WIDTHS[0])
    # A button that is pressed twice, as a nervous finger does, is pressed once.
    driver = browser.driver
    until(lambda: browser.texts(".choices button[aria-disabled=false]"), "the question was not seen whole")

    def is_pressed() -> bool:
        driver.execute_script("for (const _ of [1, 2, 3]) document.querySelector('.choices button').click()")
        return "just now" not in browser.text(".problem")

    until(is_pressed, "it never stands still")
    until(lambda: "new.txt" in browser.text(".context"), "the next question is not shown")
    assert stage.typed == [(0, "1")]
    assert "answered 1. Yes" in browser.text(".said") and "has changed" in browser.text(".said")
    until(lambda: browser.texts(".choices button[aria-disabled=false]"), "the question was not seen whole")
    # Somebody at the terminal is quicker: what stood here is not answered any more.
    driver.execute_script(
        "const press = document.querySelectorAll('.choices button')[2]; window.kept = () => press.onclick();"
        "for (const card of cards.values()) card.look = () => {};"
    )
    stage.tmux("send-keys", "-t", "=deploy:", "-l", "2")
    until(lambda: "manual mode" in stage.screen(), "it has not gone on")

    def is_refused() -> bool:
        # The next press would take the words of the last one away.
        if "nothing was typed" in browser.text(".problem"):
            return True
        driver.execute_script("window.kept()")
        return False

    until(is_refused, "the old question is answered")
    assert stage.typed == [(0, "1"), (1, "2")]
    # Its light goes out, text is taken, and Enter is pressed only if that is said.
    driver.execute_script("for (const card of cards.values()) { delete card.look; card.look(); }")
    field = browser.one(".text", "it takes no text")
    assert browser.texts(".interrupt") == []
    driver.execute_script("document.querySelectorAll('.press').forEach((box) => { box.checked = false; })")
    field.send_keys("say hello;")
    browser.press(".send", ".said")
    until(lambda: len(stage.typed) == 3, "the text has not arrived")
    assert stage.typed[2][1].replace("\x1b[200~", "").replace("\x1b[201~", "") == "say hello;"
    assert "Enter not pressed" in browser.text(".said")
    # The agent leaves: there is nothing any more to be pressed.
    stage.run("")
    stage.run("exit")
    until(lambda: not browser.texts(".choices button, .send:enabled, .interrupt"), "there still is something to press")
    assert browser.problems() == []


def test_what_was_not_on_the_screen_cannot_be_agreed_to(stage: Stage, browser: Browser) -> None:
    """Where the question is longer than the window, each press shows more of it; only then one answers."""
    browser.width(360, 90)
    browser.open(stage.live)
    until(lambda: browser.text(".card[data-status=waiting]"), "nobody waits")
    browser.one(".card[data-status=waiting] .look").send_keys(Keys.ENTER)
    browser.one(".choices button", "there are no choices")
    driver = browser.driver
    # The whole question is longer than the window. Every press comes at once, as of a nervous finger.
    assert browser.texts(".choices button[aria-disabled=false]") == []
    assert "rest of the question" in browser.text(".unread")
    seen = driver.execute_script("return scrollY")

    def is_shown() -> bool:
        driver.execute_script("document.querySelector('.choices button').click()")
        return bool(browser.texts(".choices button[aria-disabled=false]"))

    until(is_shown, "the rest is not shown")
    # The press that came with the last of it has answered nothing.
    driver.execute_script("document.querySelector('.choices button').click()")
    assert "just now" in browser.text(".problem")
    assert stage.typed == [] and driver.execute_script("return scrollY") > seen

    def is_answered() -> bool:
        driver.execute_script("document.querySelector('.choices button').click()")
        return bool(stage.typed)

    until(is_answered, "it is not answered")
    assert stage.typed == [(0, "1")]


def test_what_stands_behind_a_dialog_was_not_shown(stage: Stage, browser: Browser) -> None:
    """A question that comes while the help covers the page cannot be answered before that is closed."""
    browser.width(1280, 900)
    browser.open(stage.live)
    until(lambda: browser.text(".card[data-status=waiting]"), "nobody waits")
    browser.one(".card .look").click()
    until(lambda: browser.texts(".choices button[aria-disabled=false]"), "the question is not shown whole")
    browser.one("#help-open").click()
    browser.one("dialog[open]")
    stage.tmux("send-keys", "-t", "=deploy:", "-l", "2")
    until(lambda: "new.txt" in browser.text(".context"), "the next question does not come")
    # The browser tells of what it shows between two pictures.
    for _ in range(3):
        browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert browser.texts(".choices button[aria-disabled=false]") == []
    browser.keys(Keys.ESCAPE)
    until(lambda: browser.texts(".choices button[aria-disabled=false]"), "it stays closed after the help was closed")


def test_a_card_below_the_fold(stage: Stage, browser: Browser) -> None:
    """A click on it brings the whole question onto the screen; what answers it is another press."""
    stage.live.shows(*(pane(number, Status.WAITING, question=f"{number}?", since=1.0) for number in range(30)))
    browser.width(1280, 800)
    browser.open(stage.live)
    until(lambda: len(browser.texts(".card")) == 31, "not all agents are there")
    mine = ".card[data-address^=sessions]"
    until(lambda: browser.text(f"{mine} .status").startswith("waiting"), "it does not wait")
    assert browser.driver.execute_script("return document.querySelector(arguments[0]).offsetTop > innerHeight", mine)
    browser.keys("k", Keys.ENTER)
    until(lambda: browser.texts(f"{mine} .choices button[aria-disabled=false]"), "the question is not shown whole")
    assert stage.typed == []
    # One weight for all that can be chosen.
    looks = browser.driver.execute_script(LOOKS)
    assert len(looks) == 4 and len(set(map(tuple, looks))) == 1


def test_finding(live: Live, browser: Browser) -> None:
    """The field shows the agents in which all of its words stand, by the keyboard alone, and says how many."""
    live.shows(
        pane(1, Status.WAITING, project="shop", question="Run the <b>migration</b>?", since=2.0),
        pane(2, project="docs", topic="Shop manual"),
        pane(3, project="mail"),
    )
    browser.open(live)
    until(lambda: len(browser.texts(".card")) == 3, "there are not three sessions")
    for words, names in (("MIGRA", ["shop"]), ("shop", ["shop", "docs"]), ("claude man", ["docs"]), ("nowhere", [])):
        browser.one("#find").clear()
        browser.keys("/", *words)
        until(lambda names=names: browser.texts(".name") == names, f"{words} finds {browser.texts('.name')}")
        counted = f"{len(names)} of 3 agents" if names else "No agent matches."
        assert browser.text("#found") == counted
        # Enter leads to the first one that is there.
        browser.keys(Keys.ENTER)
    browser.keys("/", Keys.ESCAPE)
    until(lambda: len(browser.texts(".card")) == 3, "what was found stays")
    assert browser.text("#found") == "" and browser.problems() == []
