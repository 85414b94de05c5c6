"""A real browser: Chromium without a window, driven over WebDriver."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.parts.web.live import Live
from tests.patience import until

if TYPE_CHECKING:
    from selenium.webdriver.remote.webelement import WebElement

WIDTHS = (360, 1280)


class Browser:
    """A browser without a window, of a phone's width or another."""

    def __init__(self) -> None:
        from selenium import webdriver  # takes longer to load than most files of tests, which share this one's folder

        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900"):
            options.add_argument(word)
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))

    def width(self, width: int, height: int = 740) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def scheme(self, name: str) -> None:
        """Have the person prefer `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def violations(self, axe: Path) -> list[dict[str, Any]]:
        """What axe finds against the page as it stands: the rule, and the element with the reason of each."""
        # What fades is measured when it stands still.
        self.driver.execute_script("document.getAnimations().forEach((one) => one.finish())")
        if not self.driver.execute_script("return Boolean(window.axe)"):
            # By the driver: the page itself would not load it.
            self.driver.execute_script(axe.read_text("utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run(document).then((found) => done(found.violations))"
        )
        return [{rule["id"]: [(node["html"], node["failureSummary"]) for node in rule["nodes"]]} for rule in found]

    def picture(self, name: str) -> None:
        """Keep what the window shows as `NAME.png` in the folder of pictures, where one is wanted."""
        if folder := os.environ.get("TALLYLIGHT_PICTURES"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))

    def open(self, live: Live) -> None:
        self.driver.get(f"{live.url}/#{live.token}")

    def texts(self, found: str) -> list[str]:
        """What stands in the elements that can be seen, all of one moment."""
        seen = "[...document.querySelectorAll(arguments[0])].filter((node) => node.checkVisibility())"
        texts: list[str] = self.driver.execute_script(f"return {seen}.map((node) => node.innerText)", found)
        return texts

    def text(self, found: str) -> str:
        return " ".join(self.texts(found))

    def one(self, found: str, problem: str = "") -> WebElement:
        """The first one that can be seen, once there is one."""
        until(lambda: self.texts(found), problem or f"there is no {found}")
        return next(node for node in self.driver.find_elements("css selector", found) if node.is_displayed())

    def press(self, found: str, result: str) -> None:
        """Press it, again where the page says that it has just moved, until *result* has a text."""

        def pressed() -> bool:
            if not self.text(result):
                self.one(found).click()
            return bool(self.text(result)) and "just now" not in self.text(".problem")

        until(pressed, f"{found} does nothing")

    def keys(self, *keys: str) -> None:
        """Type on the keyboard, to whatever has it."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def problems(self) -> list[str]:
        """What the browser has to complain about, refusals apart."""
        log = self.driver.get_log("browser")
        return [entry["message"] for entry in log if entry["level"] == "SEVERE" and "409" not in entry["message"]]
