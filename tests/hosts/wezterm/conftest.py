"""Fixtures: a fake WezTerm of either profile, with two tabs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tallylight.agents.agent_files import load_agents
from tallylight.hosts.wezterm import mux_word, pane_list, scene
from tallylight.hosts.wezterm.scene import Place
from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import ReasonEntry
from tallylight.snapshot.values import read
from tallylight.wire import osc1338
from tests.entries import new_pane
from tests.hosts.wezterm import api
from tests.hosts.wezterm.fake import Fake, Pane, System, Tab, Window

AGENTS = load_agents({"HOME": "/nowhere"})[0]
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
        #: What the sidecar heard and saw, by pane, and what it has written.
        self._received: set[tuple[str, str, int]] = set()
        self._said: dict[str, PaneEntry] = {}
        self._rows: dict[str, PaneEntry] = {}
        self.drawn: dict[str, Any] = {}
        self.written = 1_700_000_000.0
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
    def scene(self) -> Path:
        return self.folder / "wezterm-4711.scene.json"

    @property
    def feed_path(self) -> Path:
        return self.folder / "wezterm-4711.feed.json"

    @property
    def snapshot(self) -> Path:
        return self.folder / f"wezterm-{self.sidecar}.json"

    @property
    def feed(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.feed_path.read_text())
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
        """A hook sets the variable, a second later; the sidecar hears of it."""
        self.fake.advance(1)
        self.fake.set_var(pane, "tally", payload)
        self.fake.run_timers()
        self.listen()

    def tick(self, seconds: float = 1) -> None:
        """Time passes, and then something happens that has WezTerm update its titles."""
        self.fake.advance(seconds)
        self.fake.update_title(self.window)
        self.fake.run_timers()
        self.listen()

    def listen(self) -> None:
        """The sidecar, if there is one, reads what Lua wrote, and writes what is drawn where that is new."""
        if not self.feed_path.exists() or self.sidecar not in self.fake.living_pids:
            return
        feed = pane_list.read_feed(self.feed_path.read_bytes())
        assert feed is not None
        for id_, fed in feed.panes.items():
            for n, value in fed.said:
                if (feed.life, id_, n) not in self._received:
                    self._received.add((feed.life, id_, n))
                    self._hear(id_, value)
        panes = {}
        for id_, fed in feed.panes.items():
            processes = frozenset({"bash", "zsh", "node", "python3.11"})
            place = Place(tab=fed.tab, title=fed.title, processes=processes, server=fed.server)
            panes[id_] = (scene.shown(self._shown_pane(id_), place, {}), place)
        made = scene.compose(panes, feed.bar, AGENTS, self.fake.now)
        drawn = {"tabs": made.tabs, "paints": made.paints, "summary": made.summary}
        drawn |= {"words": {id_: mux_word.write(pane, 4711) for id_, (pane, _) in panes.items()}}
        if drawn != self.drawn:
            self.drawn = drawn
            self.write_scene(**drawn)
            self.wake()

    def _hear(self, id_: str, value: str) -> None:
        report = osc1338.decode_variable(value)
        if report is None:
            return
        self._rows.pop(id_, None)
        before = self._said.get(id_)
        if report.status is None:
            self._said.pop(id_, None)
            return
        status, kind = (Status.LIMITED, None) if report.kind is Kind.LIMIT else (report.status, report.kind)
        since = before.since if before is not None and before.status is status else self.fake.now
        self._said[id_] = new_pane(
            id=id_, status=status, kind=kind, agent=report.agent, project=report.project, since=since,
            message=report.message, what=report.what, topic=report.title, vars=report.vars,
            reason=ReasonEntry(source="protocol"),
        )  # fmt: skip

    def _shown_pane(self, id_: str) -> PaneEntry:
        """What was seen of a pane, else what it said."""
        own = self._said.get(id_, PaneEntry(id=id_, status=Status.ACTIVE))
        return self._rows.get(id_, own)

    def write_snapshot(self, *panes: dict[str, Any]) -> None:
        """The sidecar has seen these; what it draws, Lua gets when it is woken or looks."""
        found = [read(PaneEntry, {"reason": {"source": "title"}, **pane}) for pane in panes]
        self._rows = {pane.id: pane for pane in found}
        if not self.feed_path.exists():
            self.tick()
        wake, self.wake = self.wake, lambda: None  # type: ignore[method-assign]
        self.listen()
        self.wake = wake  # type: ignore[method-assign]

    def write_scene(self, *, stale: bool = False, **made: Any) -> None:
        """The sidecar writes."""
        self.written += 0.5
        head = {"version": 1, "stale": stale, "written": self.written, "pid": self.sidecar}
        self.scene.write_text(json.dumps({**head, **made}, ensure_ascii=False))

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
