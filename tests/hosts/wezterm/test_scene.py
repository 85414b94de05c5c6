"""The scene that the sidecar writes for the Lua: what is drawn for a tab, and what outlives a sidecar."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.agents.agent import Agents
from tallylight.agents.agent_files import load_agents
from tallylight.config.colour import parse_colour
from tallylight.hosts.wezterm import mux_word, pane_list, scene, scene_file
from tallylight.hosts.wezterm import source as source_module
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.hosts.wezterm.pane_list import FeedState, Row, TabBar
from tallylight.hosts.wezterm.scene import Place
from tallylight.hosts.wezterm.scene_file import DWELL_S, LOOKS_S, SceneFile
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.model import contrast
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane, ReasonEntry
from tests.entries import pane_with
from tests.hosts.wezterm.test_list import Started
from tests.tables import each

AGENTS = load_agents({"HOME": "/nowhere"})[0]
ASKS = Pane(
    id="5", status=Status.WAITING, agent="claude", project="shop", what="Bash: npm test", since=5.0,
    reason=ReasonEntry(source="registry"),
)  # fmt: skip
HERE = Place(tab="3", title="claude")


class Clock:
    """Monotonic time by hand."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


def made(*panes: tuple[Pane, Place], bar: TabBar | None = None, now: float = 0.0) -> scene.Scene:
    return scene.compose({pane.id: (pane, place) for pane, place in panes}, bar or TabBar(), AGENTS, now)


def test_a_tab() -> None:
    """It has the light of its most urgent pane, the name and the request."""
    works = attrs.evolve(ASKS, id="6", status=Status.WORKING, what="")
    found = made((ASKS, HERE), (works, HERE), (works, Place(tab="4")))
    assert found.tabs["3"] | {"since": 0} == {
        "pane": 5, "status": "waiting", "agent": "claude", "project": "shop", "since": 0, "source": "registry",
        "mark": "!", "stripe": "▌", "name": "shop", "ours": True, "what": "npm test", "filled": True,
    }  # fmt: skip
    assert found.summary == "!1 ●1"


@each(
    ("title", "processes", "name"),
    [
        ("sleep", {"sleep"}, "shop"), ("sleep", set(), "sleep"), ("my-own-tool --watch", {"my-own-tool"}, "shop"),
        ("✳ Fix it", {"node"}, "Fix it"), ("", set(), "shop"), ("Claude Code", set(), "shop"),
    ],
)  # fmt: skip
def test_a_title_that_is_the_name_of_its_process(title: str, processes: set[str], name: str) -> None:
    """A program that sets none has that of WezTerm, whatever it is called: then the project names the tab."""
    place = Place(tab="3", title=title, processes=frozenset(processes))
    assert made((ASKS, place)).tabs["3"]["name"] == name


def test_a_countdown() -> None:
    """It is worded as everywhere, and says when it will be worded otherwise."""
    limited = attrs.evolve(ASKS, status=Status.LIMITED, limited_until=134 * 60.0)
    found = made((limited, HERE), now=30.0)
    assert (found.tabs["3"]["what"], found.changes_in) == ("2 h 14", 30.0)


@each("ground", ["#333333", "#FFFFFF", "#EEE8D5", "#FFAA00", "#000000"])
def test_paints_can_be_read(ground: str) -> None:
    """On the colour that another handler gives a tab, too."""
    colour = parse_colour(ground)
    assert colour is not None
    for name, paints in made((ASKS, HERE), bar=TabBar(grounds=(colour,))).paints.items():
        for paint in paints.values():
            on = parse_colour(paint.get("fill") or (name if name != "tab" else "#333333"))
            assert contrast.ratio(parse_colour(paint["sign"]), on) >= contrast.SIGN_CONTRAST, (name, paint)


def file_with(path: Path, entry: Pane = ASKS) -> dict[str, Any]:
    """What a new sidecar writes of one pane."""
    SceneFile(path, AGENTS).write({entry.id: entry}, {entry.id: HERE}, frozenset(), TabBar())
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def status(written: Path) -> str:
    found = json.loads(written.read_text())["tabs"].get("3", {"status": ""})
    return str(found["status"])


def test_a_new_sidecar_has_not_looked_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes for idle at first is as its predecessor said; what it knows better counts."""
    clock = Clock()
    monkeypatch.setattr(scene_file.time, "monotonic", clock.monotonic)
    path = tmp_path / "scene.json"
    assert file_with(path)["tabs"]["3"]["what"] == "npm test"
    successor = SceneFile(path, AGENTS)

    def shows(**change: Any) -> str:
        entry = attrs.evolve(ASKS, what="", **change)
        successor.write({"5": entry}, {"5": HERE}, frozenset(), TabBar())
        return status(path)

    assert shows(status=Status.ACTIVE) == "waiting"
    assert shows(status=Status.WORKING, reason=ReasonEntry(source="heuristic")) == "waiting"
    assert shows(status=Status.IDLE, reason=ReasonEntry(source="title")) == "waiting"
    assert json.loads(path.read_text())["tabs"]["3"]["what"] == "npm test"
    assert shows(status=Status.WORKING) == "working"
    assert shows(status=Status.ACTIVE) == "waiting"
    assert successor.has_to_change(clock.now) is False
    clock.now += LOOKS_S
    assert successor.has_to_change(clock.now)
    assert shows(status=Status.ACTIVE) == ""


def test_a_finished_turn_that_was_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server does not know what is in front: its light goes out after a second, and another sidecar knows that."""
    clock = Clock()
    monkeypatch.setattr(scene_file.time, "monotonic", clock.monotonic)
    path = tmp_path / "scene.json"
    rests = attrs.evolve(ASKS, status=Status.ACTIVE)

    def shows(drawer: SceneFile, since: int, front: str = "") -> str:
        told = mux_word.read(f"done;pane=4711.3;since={since};tool=claude")
        drawer.write({"5": rests}, {"5": attrs.evolve(HERE, server=told)}, frozenset(front), TabBar())
        return status(path)

    drawer = SceneFile(path, AGENTS)
    assert shows(drawer, 7) == "done"
    assert shows(drawer, 7, "5") == "done", "a glance"
    clock.now += DWELL_S
    assert drawer.has_to_change(clock.now)
    assert shows(drawer, 7, "5") == "idle"
    assert shows(drawer, 7) == "idle"
    assert shows(drawer, 8) == "done"
    clock.now += 60
    assert shows(SceneFile(path, AGENTS), 7) == "idle"


def test_what_cannot_be_written_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the file that is there says so; it takes no room."""
    path = tmp_path / "scene.json"
    drawer = SceneFile(path, AGENTS)
    drawer.write({"5": ASKS}, {"5": HERE}, frozenset(), TabBar())
    size = path.stat().st_size

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(scene_file.read_write, "atomic_write", full)
        drawer.write({}, {}, frozenset(), TabBar())
    assert (json.loads(path.read_text())["stale"], path.stat().st_size) == (True, size)
    drawer.write({}, {}, frozenset(), TabBar())
    assert json.loads(path.read_text())["stale"] is False


@each("data", ["", "[]", '{"version": 1}', '{"version": 1, "tabs": [], "seen": 5}', '{"version": 1, "tabs": {"3": 7}}',
               '{"version": 1, "tabs": {"3": {"pane": "x", "status": "waiting"}}, "seen": {"a": "b"}}'])  # fmt: skip
def test_what_a_predecessor_left_may_be_anything(data: str, tmp_path: Path) -> None:
    """It costs no more than what it would say."""
    path = tmp_path / "scene.json"
    path.write_text(data)
    path.chmod(0o600)
    assert file_with(path)["tabs"]["3"]["status"] == "waiting"


@each("bar", [None, 5, [], {}, {"touching": 7, "colours": [], "grounds": [None, "red", "#12345"], "tab": "#zzzzzz"}])
def test_a_bar_that_is_none(bar: object) -> None:
    """What cannot be read has the colours of WezTerm's own."""
    feed = pane_list.read_feed(json.dumps({"version": 1, "bar": bar}).encode())
    assert feed is not None and feed.bar == TabBar()


def test_a_bar() -> None:
    """It is read as Lua writes it."""
    told = {"touching": ["#333333", "#eee8d5"], "tab": "#111111", "active": "#222222", "grounds": ["#FFFFFF"],
            "colours": {"waiting": "#0000AA", "x": "#000000"}, "names": False}  # fmt: skip
    feed = pane_list.read_feed(
        json.dumps({"version": 1, "bar": told, "wish": "7 jump 3", "keys": "jump=ALT y"}).encode()
    )
    assert feed is not None and (feed.wish, feed.keys) == ((7, "jump", "3"), (("jump", "ALT y"),))
    assert feed.bar == TabBar(
        touching=frozenset({(0x33, 0x33, 0x33), (0xEE, 0xE8, 0xD5)}), tab=(17, 17, 17), active=(34, 34, 34),
        grounds=((255, 255, 255),), colours=((Status.WAITING, (0, 0, 0xAA)),), names=False,
    )  # fmt: skip


def test_a_jump_visits_each_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in kitty: the oldest question first, what was put off is passed over, and after the last one back."""
    goals: list[str] = []
    monkeypatch.setattr(WezTermSource, "_leave_note", lambda _, goal: goals.append(goal))
    source = WezTermSource({}, 1, "wezterm", tmp_path / "wezterm-1.feed.json", Started(""))
    ids = ("1", "2", "3", "4")
    source._rows = {id_: Row(id=id_, tab=id_, window="1") for id_ in ids}
    asks = {id_: attrs.evolve(ASKS, id=id_, session=id_, since=float(id_)) for id_ in ids[1:]}
    asks["4"] = pane_with(asks["4"], snoozed_until=time.time() + 60)
    monkeypatch.setattr(source_module.time, "sleep", lambda _: None)
    source.shown({"1": Pane(id="1", status=Status.IDLE), **asks})
    jobs: list[str] = []
    poller = SimpleNamespace(later=lambda name, job: (jobs.append(name), job()))

    def wish(number: int, here: str) -> None:
        source._feed = FeedState(life="one", wish=(number, "jump", here))
        source._grant(poller, 0.0)  # type: ignore[arg-type]

    wish(7, "1")
    assert goals == [], "what was wished for before this sidecar began"
    for number, here in enumerate(("1", "2", "3", "1"), 8):
        wish(number, here)
        wish(number, here)
    assert goals == ["2", "3", "1", "2"]
    assert jobs == [f"jump {number}" for number in range(8, 12)], "one pressed while another is on its way is not lost"


def test_nowhere_to_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is said, too."""
    goals: list[str] = []
    monkeypatch.setattr(WezTermSource, "_leave_note", lambda _, goal: goals.append(goal))
    WezTermSource({}, 1, "wezterm", tmp_path / "wezterm-1.feed.json", Started(""))._jump("1")
    assert goals == ["none"]


def test_no_agents_are_needed() -> None:
    """Of an agent that nobody has a file of the title is that of its program."""
    unknown = attrs.evolve(ASKS, agent="mine")
    found = scene.compose({"5": (unknown, Place(tab="3", title="mine"))}, TabBar(), Agents(), 0.0)
    assert found.tabs["3"]["name"] == "shop"
    told = ServerReport("4711.3", unknown)
    assert scene.shown(attrs.evolve(ASKS, status=Status.ACTIVE), attrs.evolve(HERE, server=told), {}).agent == "mine"
