"""Fixtures: a fake WezTerm of either profile, with two tabs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.wezterm import api
from tests.hosts.wezterm.fake import Fake, Pane, System, Tab, Window

CONFIG = """
local wezterm = require 'wezterm'
local config = wezterm.config_builder()
{before}
require('tallylight').apply_to_config(config, {opts})
{after}
return config
"""


class Bench:
    """A WezTerm with a window of two tabs, a pane each; the first is in front."""

    def __init__(self, profile: str, folder: Path) -> None:
        self.profile = profile
        self.folder = folder
        self.system = System()
        self.window: Window = self.system.window(focused=True)
        self.tabs: list[Tab] = [self.system.tab(self.window), self.system.tab(self.window)]
        self.panes: list[Pane] = [self.system.pane(tab) for tab in self.tabs]
        self.answers: dict[str, Any] = {}
        self.has_tally = True
        #: What is installed, as the sidecar's starter says.
        self.release = "1-aa"
        self.sidecar = 99
        self.fake = self.start()

    def start(self, **more: Any) -> Fake:
        """A new Lua state in the same world, as a reload makes."""
        now = self.fake.now if hasattr(self, "fake") else None
        self.fake = Fake(self.profile, self.system, run=self._run, **more)
        self.fake.now = now or self.fake.now
        self.fake.living_pids.add(99)
        return self.fake

    def wake(self) -> None:
        """The sidecar has found out something, and opens the FIFO at which a shell waits."""
        self.fake.open_fifo(str(self.snapshot.with_suffix(".news")))

    @property
    def snapshot(self) -> Path:
        return self.folder / f"wezterm-{self.sidecar}.json"

    @property
    def feed(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "wezterm-4711.feed.json").read_text())
        return found

    def _run(self, argv: list[str]) -> tuple[bool, str, str]:
        if not self.has_tally or argv[0].startswith("/home/u/"):
            raise FileNotFoundError(f"{argv[0]}: No such file or directory")
        if argv[1:3] == ["host", "wezterm"]:
            paths = {"snapshot": str(self.snapshot), "feed": str(self.folder / "wezterm-4711.feed.json")}
            return True, json.dumps({"version": 1, "pid": self.sidecar, "release": self.release, **paths}), ""
        code, answer = self.answers[argv[1]]
        return code, answer, ""

    def config(self, opts: str = "{}", before: str = "", after: str = "") -> Any:
        return self.fake.evaluate(CONFIG.format(opts=opts, before=before, after=after))

    def say(self, pane: Pane, payload: str) -> None:
        """A hook sets the variable, a second later."""
        self.fake.advance(1)
        self.fake.set_var(pane, "tally", payload)
        self.fake.run_timers()

    def tick(self, seconds: float = 1) -> None:
        """Time passes, and then something happens that has WezTerm update its titles."""
        self.fake.advance(seconds)
        self.fake.update_title(self.window)
        self.fake.run_timers()

    def write_snapshot(
        self,
        *panes: dict[str, Any],
        pid: int | None = None,
        written: float | None = None,
        heard: int = 0,
        stale: bool = False,
    ) -> None:
        """The sidecar writes, at the fake's time; it has read the feed of the number *heard*."""
        rows = [{"tab": "", "kind": None, "since": 0, "reason": {"source": "title"}, **pane} for pane in panes]
        head = {
            "version": 1,
            "host": "wezterm",
            "pid": pid or self.sidecar,
            "started": 1.0,
            "birth": "b",
            "written": self.fake.now + 0.5 if written is None else written,
            "stale": stale,
            "heard": heard,
        }
        data = {**head, "panes": rows}
        self.snapshot.write_text(json.dumps(data, separators=(",", ":")))

    def toast(self, number: int, status: str, title: str, body: str) -> None:
        """The sidecar says what is to be told, the newest last."""
        path = self.folder / "wezterm-4711.toasts"
        before = json.loads(path.read_text()) if path.exists() else []
        path.write_text(json.dumps([*before, [number, status, title, body]]))

    def title(self, pane: Pane) -> Any:
        """The title of a pane's tab, made now."""
        return self.fake.format_tab(pane.tab, 40)

    def light(self, pane: Pane) -> str:
        """The first text of the title: the light without blanks; nothing where WezTerm's own title stays."""
        return light_of(self.title(pane))


def light_of(items: Any) -> str:
    """The first text of a title that is not blank; nothing where WezTerm's own title stays."""
    if not isinstance(items, list):
        return ""
    texts = [item["Text"] for item in items if isinstance(item, dict) and "Text" in item]
    return next((text.strip() for text in texts if text.strip()), "")


@pytest.fixture(params=api.PROFILES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(request.param, tmp_path)
