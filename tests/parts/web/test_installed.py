"""The page as an app on a phone: below a path of a proxy, without its server, and signed in until it is locked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import uvicorn
from selenium.webdriver.common.keys import Keys
from starlette.types import ASGIApp, Receive, Scope, Send

from tallylight.parts.web.devices import Devices
from tallylight.parts.web.guard import Guard, allowed_hosts
from tallylight.parts.web.verbs.serve import listen
from tests.parts.web.browser import Browser
from tests.parts.web.serving import PANES, TOKEN, Served
from tests.patience import until

pytestmark = pytest.mark.programs

PATH = "/box/tally"
#: All that the browser has stored of this origin, as text.
STORED = """
const done = arguments[arguments.length - 1];
(async () => {
  const found = { local: { ...localStorage }, session: { ...sessionStorage }, shell: [] };
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found.shell.push([request.url, [...request.headers], await (await cache.match(request)).text()]);
    }
  }
  done(JSON.stringify(found));
})();
"""
#: Whether it is an app is asked of the browser, which without a window cannot be one.
AS_APP = """
const real = window.matchMedia.bind(window);
window.matchMedia = (query) => (query === "(display-mode: standalone)" ? { matches: true } : real(query));
"""
WORKERS = """
const done = arguments[arguments.length - 1];
navigator.serviceWorker.getRegistrations().then((all) => done(all.filter((one) => one.active).map((one) => one.scope)));
"""


@attrs.define
class Proxied:
    """A server behind a proxy that has it below `PATH`, and nothing else."""

    app: ASGIApp
    port: int
    _server: uvicorn.Server | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        if scope["type"] == "http" and not path.startswith(f"{PATH}/"):
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self.app({**scope, "path": path.removeprefix(PATH)}, receive, send)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}/"


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[tuple[Proxied, contextlib.ExitStack]]:
    """The server, and what ends it."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    devices = Devices(tmp_path / "devices" / "devices.json")
    served = Served(guard=Guard(TOKEN, allowed_hosts(port), devices.holder), devices=devices)
    served.shows("sessions", *PANES)
    made = Proxied(served.app(), port)
    server = uvicorn.Server(uvicorn.Config(made, log_level="error", lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
    thread.start()

    def end() -> None:
        server.should_exit = True
        thread.join(20)
        listener.close()

    with contextlib.ExitStack() as stack:
        stack.callback(end)
        yield made, stack


def stored(browser: Browser) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(browser.driver.execute_async_script(STORED))
    return found


def test_an_installed_page(proxied: tuple[Proxied, contextlib.ExitStack], browser: Browser) -> None:
    """
    It may be installed. It keeps its shell only as an app, and a key of its own; without its server it opens and says
    so.
    """
    server, running = proxied
    driver = browser.driver
    browser.width(360)
    driver.get(f"{server.url}#{TOKEN}")
    until(lambda: browser.texts(".card"), "there is no session below a path")
    assert driver.current_url == server.url
    manifest = driver.execute_cdp_cmd("Page.getAppManifest", {})
    assert (manifest["errors"], manifest["url"]) == ([], f"{server.url}manifest.webmanifest")
    assert driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"] in (
        [], [{"errorId": "in-incognito", "errorArguments": []}],
    )  # fmt: skip
    # Who merely looks in keeps nothing.
    assert driver.execute_async_script(WORKERS) == []
    # A device that is signed in has its own key, and no token.
    kept = stored(browser)
    assert list(kept) == ["local", "session", "shell"] and list(kept["local"]) == ["tally.device"]
    assert (kept["session"], kept["shell"]) == ({}, [])
    driver.execute_script("localStorage.clear()")

    # As an app, started from the home screen of a phone: by the address of the manifest, which has no token.
    started = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": AS_APP})
    try:
        is_an_app(server, running, browser)
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", started)


def is_an_app(server: Proxied, running: contextlib.ExitStack, browser: Browser) -> None:
    """What the page does as an app: it keeps its shell, and stays signed in."""
    driver = browser.driver
    driver.get("about:blank")
    driver.get(server.url)
    browser.one("#token", "the token is not asked for")
    until(lambda: driver.execute_async_script(WORKERS) == [server.url], "there is no worker for this path alone")
    browser.one("#token").send_keys(f"{server.url}#{TOKEN}", Keys.ENTER)
    until(lambda: browser.texts(".card"), "the token is not taken")
    found = stored(browser)
    (key,) = found["local"].values()
    shell = found["shell"]
    assert isinstance(shell, list)
    names = {url.removeprefix(server.url): (headers, text) for url, headers, text in shell}
    assert {"", "page.js", "card.js", "screen.js", "page.css", "theme.css", "manifest.webmanifest"} <= set(names)
    assert (
        key[9:] not in json.dumps(shell) and TOKEN not in json.dumps(found) and not any("api" in name for name in names)
    )
    # What the API has said is in no store.
    assert "Run the migration?" not in json.dumps(shell)
    driver.refresh()
    until(lambda: browser.texts(".card"), "the device is not signed in any more")

    running.close()
    driver.refresh()
    browser.one("#lost", "without its server the page does not open")
    assert browser.texts(".card") == []
    browser.one("#help-open").click()
    browser.one("#forget").click()
    browser.one("#token", "the page is not locked")
    found = stored(browser)
    assert (found["local"], found["session"]) == ({}, {})
