"""Messages in a real browser: switched on and off on the page, shown by the worker, and opened at the agent."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import httpx2
import pytest
from websockets.sync.client import connect

from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tests.parts.web import axe
from tests.parts.web.browser import WIDTHS, Browser
from tests.parts.web.live import Live
from tests.parts.web.push_service import Phone, PushService, push_service
from tests.patience import until

pytestmark = pytest.mark.programs

#: A browser without a window reaches no push service of its maker: in the place of that one stands ours. What the page
#: and the worker do is their own.
FAKE = """
const told = %s;
let found = null;
const made = {
  endpoint: told.endpoint,
  toJSON: () => ({ endpoint: told.endpoint, keys: told.keys }),
  unsubscribe: async () => { found = null; return true; },
};
PushManager.prototype.getSubscription = async () => found;
PushManager.prototype.subscribe = async (options) => { window.asked = options; found = made; return made; };
"""
SHOWN = """
const done = arguments[arguments.length - 1];
navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) =>
  done(all.map(({ title, body, tag, data }) => ({ title, body, tag, data }))));
"""
LEFT = """
const done = arguments[arguments.length - 1];
navigator.serviceWorker.getRegistrations().then(async (all) => done([all.length, (await caches.keys()).length]));
"""
PANE = Pane(
    id="7", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", project="api", message="Run the migration?",
    question="Run the migration?", what="Bash: npm test",
)  # fmt: skip


@attrs.define
class Pushed:
    """A server that sends to a push service, and a browser whose messages come from there."""

    live: Live
    service: PushService
    phone: Phone
    browser: Browser

    def deliver(self, text: str) -> None:
        """Have the worker get a message, as its push service hands it over: by DevTools, which tell its number."""
        address = self.browser.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        pages = [one for one in httpx2.get(f"http://{address}/json").json() if one["type"] == "page"]
        (page,) = [one for one in pages if one["url"].startswith(self.live.url)]
        with connect(page["webSocketDebuggerUrl"], max_size=None) as tools:
            tools.send(json.dumps({"id": 1, "method": "ServiceWorker.enable"}))
            number = ""
            while not number:
                said = json.loads(tools.recv(timeout=60))
                if said.get("method") == "ServiceWorker.workerRegistrationUpdated":
                    for one in said["params"]["registrations"]:
                        if one["scopeURL"].startswith(self.live.url) and not one["isDeleted"]:
                            number = one["registrationId"]
            given = {"origin": self.live.url, "registrationId": number, "data": text}
            tools.send(json.dumps({"id": 2, "method": "ServiceWorker.deliverPushMessage", "params": given}))
            while (said := json.loads(tools.recv(timeout=60))).get("id") != 2:
                pass
            assert "error" not in said, said

    def told(self, text: str, titles: set[str], more_than: int = 0) -> None:
        """Deliver it until notifications of just these titles are shown: DevTools do not say that one was lost."""

        def is_shown() -> bool:
            self.deliver(text)
            end = time.monotonic() + 5
            while time.monotonic() < end:
                found = self.shown()
                if {one["title"] for one in found} == titles and len(found) > more_than:
                    return True
            return False

        until(is_shown, f"{titles} are not shown")

    def shown(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.browser.driver.execute_async_script(SHOWN)
        return found


@pytest.fixture
def pushed(tmp_path: Path, browser: Browser) -> Iterator[Pushed]:
    with push_service(tmp_path / "service") as service, contextlib.ExitStack() as stack:
        live = Live(tmp_path)
        config = tmp_path / ".config" / "tallylight"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(f'[push]\nprivate_hosts = ["{service.host}"]\nquestion = true\n')
        live.start({"SSL_CERT_FILE": str(service.authority), "XDG_CONFIG_HOME": str(config.parent)})
        stack.callback(live.stop)
        phone, driver = Phone(), browser.driver
        driver.execute_cdp_cmd("Browser.grantPermissions", {"origin": live.url, "permissions": ["notifications"]})
        told = json.dumps({"endpoint": service.endpoint("phone"), "keys": phone.keys})
        fake = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FAKE % told})
        stack.callback(driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", fake)
        stack.callback(driver.get, "about:blank")
        yield Pushed(live, service, phone, browser)


@pytest.mark.parametrize("width", WIDTHS)
def test_from_the_agent_to_the_notification(pushed: Pushed, width: int) -> None:
    """Switched on by a button; the message is encrypted, shown by the worker, and leads to the agent."""
    browser, live, service, driver = pushed.browser, pushed.live, pushed.service, pushed.browser.driver
    browser.width(width)
    live.shows(attrs.evolve(PANE, id="3", status=Status.IDLE, kind=None, since=time.time()))
    browser.open(live)
    browser.one(".card")
    browser.one("#push-open").click()
    button = browser.one("#push-switch", "messages are not offered")
    assert browser.violations(axe.script()) == []
    browser.picture(f"push-{width}")
    assert button.text == "Send messages to this browser"
    button.click()
    until(lambda: browser.text("#push-switch").startswith("Stop"), "it is not switched on")
    assert (
        driver.execute_script("return window.asked.userVisibleOnly && window.asked.applicationServerKey.length") == 65
    )
    assert browser.text("#push-devices") == "Messages go to one browser." and not browser.texts(
        "#push .problem:not(:empty)"
    )
    browser.one("#push form button:not([id])").click()

    waiting = attrs.evolve(PANE, since=time.time() + 1)
    live.shows(waiting)
    until(lambda: service.got, "nothing is sent")
    text = pushed.phone.read(service.got[0].body)
    address = text["address"]
    assert text == {
        "address": address, "status": "waiting", "title": "api: npm test",
        "body": "claude asks for permission: Run the migration?",
    }  # fmt: skip
    pushed.told(json.dumps(text), {text["title"]})
    assert pushed.shown() == [
        {"title": text["title"], "body": text["body"], "tag": address, "data": {"address": address}}
    ]
    # A second one about the same agent takes its place; one that cannot be read is shown all the same.
    pushed.told(json.dumps(text | {"title": "again"}), {"again"})
    assert len(pushed.shown()) == 1
    for garbage in ("{", "[]", '{"title": 5, "address": {"a": 1}}'):
        before = len(pushed.shown())
        pushed.told(garbage, {"again", "An agent needs you"}, more_than=before)

    # The window that is open is told where to go; so is a new one, which forgets it again.
    driver.execute_script(
        "navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { open: arguments[0] } }))", address
    )
    until(lambda: browser.texts(f'.card[data-address="{address}"] .view'), "the agent is not opened")
    driver.get("about:blank")
    driver.get(f"{live.url}/?open={address}#{live.token}")
    until(lambda: browser.texts(f'.card[data-address="{address}"] .view'), "a new window does not open the agent")
    assert driver.current_url == f"{live.url}/"
    # It goes on: what was told of it is taken away.
    live.shows(attrs.evolve(waiting, status=Status.WORKING, kind=None, since=time.time() + 2))
    until(lambda: {one["title"] for one in pushed.shown()} == {"An agent needs you"}, "the notification stays")
    assert len(service.got) == 1 and browser.problems() == []


def test_switched_off(pushed: Pushed) -> None:
    """Nothing more is sent, and nothing is kept: neither by the server nor by the browser."""
    browser, live, driver = pushed.browser, pushed.live, pushed.browser.driver
    browser.width(360)
    browser.open(live)
    for word in ("Stop", "Send"):
        browser.one("#push-open").click()
        browser.one("#push-switch").click()
        until(lambda word=word: browser.text("#push-switch").startswith(word), f"no {word}")
        browser.one("#push form button:not([id])").click()
    kept = json.loads((live.folder / "state/tallylight/push/subscriptions.json").read_text())
    assert kept == {"version": 1, "subscriptions": []}
    assert driver.execute_async_script(LEFT) == [0, 0]
    assert browser.problems() == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("Object.defineProperty(window, 'isSecureContext', {value: false})", "encrypted address"),
        ("delete window.PushManager", "takes no messages"),
        ("Object.defineProperty(Notification, 'permission', {get: () => 'denied'})", "allow them in its settings"),
        ("const real = fetch; window.fetch = async (path, more) => path === 'api/v1/push' ? new Response("
         "JSON.stringify({version: 1, key: '', why: 'run `tally setup --with push`', devices: 0})) : real(path, more)",
         "tally setup --with push"),
    ],
)  # fmt: skip
def test_where_there_are_none(pushed: Pushed, given: str, says: str) -> None:
    """The page says in plain words why, and has no button that could not work."""
    browser, driver = pushed.browser, pushed.browser.driver
    script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": given})
    try:
        browser.width(360)
        browser.open(pushed.live)
        browser.one("#push-open").click()
        until(lambda: says in browser.text("#push-why"), f"it says {browser.text('#push')!r}")
        assert not browser.texts("#push-switch") and browser.violations(axe.script()) == []
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
