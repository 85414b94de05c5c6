"""What the Lua half reads: a value of any type, in any place, costs its pane at most, and raises nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.wezterm import api
from tests.hosts.wezterm.conftest import Bench
from tests.tables import Row, sampled

pytestmark = pytest.mark.slow

#: As WezTerm's own JSON reader lets them through.
VALUES: list[Any] = [
    None, True, False, -1, 0, 1.5, 2**53, -(2**63), 2**63 - 1, 1e300, -1e300, 1e-300, "", "²", "9" * 5000, "x" * 70_000,
    "\0", "\x1b]0;x\x07", "\u202e", "\u0301" * 5000, [], {}, [[]], [None], [{}], {"a": 1}, {"": {}}, [1, "a", None, {}],
    ["x"] * 2000, json.loads("[" * 60 + "]" * 60),
]  # fmt: skip
TAB: dict[str, Any] = {
    "pane": 5, "status": "waiting", "mark": "?", "stripe": "▌", "kind": "question", "agent": "claude", "project": "p",
    "message": "m", "name": "p", "what": "q", "since": 5.0, "vars": {}, "filled": True, "collides": True, "ours": True,
    "countdown": True,
}  # fmt: skip
HEAD: dict[str, Any] = {
    "version": 1,
    "stale": False,
    "written": 1.0,
    "pid": 99,
    "tabs": {},
    "paints": {},
    "summary": "",
}


def shared(bench: Bench, rows: list[Row]) -> list[Row]:
    """What the release of *bench* tries of *rows*: each is tried in one of them, for what reads it is the same."""
    return sampled(rows[api.PROFILES.index(bench.profile) :: len(api.PROFILES)])


def use(bench: Bench) -> list[str]:
    """Do what draws, lists, jumps and toasts; the errors in the log."""
    bench.tick(2)
    for pane in bench.panes:
        bench.title(pane)
    for name in ("tallylight.snooze", "tallylight.jump"):
        bench.fake.press(name, bench.panes[0])
    return bench.fake.errors()


def test_a_tab_of_the_scene(bench: Bench) -> None:
    """A text of any value in one tab is passed over; the other tab shows what is said of it."""
    bench.config()
    bench.tick()
    first, second = (str(tab.id) for tab in bench.tabs)
    keys = ("status", "mark", "stripe", "kind", "agent", "project", "message", "name", "what", "since", "pane")
    bad: list[Any] = [{**TAB, key: value} for key in keys for value in VALUES] + VALUES
    for number, row in enumerate(shared(bench, bad)):
        mark = "✓×"[number % 2]
        bench.write_scene(tabs={first: row, second: {"status": "done", "mark": mark}})
        assert not use(bench), str(row)[:200]
        assert bench.light(bench.panes[1]) == mark, str(row)[:200]


def test_the_head_of_the_scene(bench: Bench) -> None:
    """A scene with anything in its head is none, or one without tabs."""
    bench.config()
    bench.tick()
    for key in HEAD:
        for number, value in enumerate(sampled(VALUES)):
            bench.scene.write_text(json.dumps({**HEAD, "written": 100.5 + number, key: value}))
            assert not use(bench), (key, str(value)[:80])
    for text in ("", "null", "[]", "5", '"written":1', '{"written":9.9.9,', "[" * 5000, '{"written":1e9}'):
        bench.scene.write_text(text)
        assert not use(bench), text[:80]


@pytest.mark.parametrize("key", ["version", "pid", "snapshot", "feed"])
def test_the_answer_of_the_sidecar(bench: Bench, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What starts as a sidecar and answers nonsense is none, and no file of its naming is written or removed."""
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    for value in sampled(["victim", str(victim), "wezterm-1.json", "wezterm-1.feed.json", *VALUES]):
        victim.write_text("kept")
        bench.start()
        bench.system.globals["tallylight_sidecar"] = "{}"
        answer = {
            "version": 1,
            "pid": 99,
            "snapshot": str(bench.snapshot),
            "feed": str(bench.folder / "wezterm-4711.feed.json"),
            key: value,
        }
        bench.fake._run = lambda argv, answer=answer: (True, json.dumps(answer), "")  # type: ignore[misc]
        bench.config()
        bench.say(bench.panes[1], "state=waiting;tool=claude")
        assert not use(bench), (key, str(value)[:80])
        assert bench.light(bench.panes[1]) == "!"
        bench.fake.living_pids.clear()
        bench.tick(60)
        assert victim.read_text() == "kept" and list(tmp_path.glob("*.new")) == []
    assert {path.name for path in tmp_path.iterdir()} <= {
        "home",
        "victim",
        "wezterm-4711.feed.json",
        bench.scene.name,
        bench.snapshot.name,
    }


@pytest.mark.parametrize("name", ["tallylight_sidecar", "tallylight_toasted", "tallylight_scene"])
def test_what_was_kept_over_a_reload(bench: Bench, name: str) -> None:
    """What stands in WezTerm's memory under our names may be anybody's."""
    kept = ["", "null", "5", "[]", "{", '"x"', "[" * 5000]
    for value in VALUES:
        keys = (
            "started_at",
            "pid",
            "version",
            "snapshot",
            "feed",
            "program",
            "release",
            *(str(pane.id) for pane in bench.panes),
        )
        kept += [json.dumps({key: value}) for key in keys]
    for text in shared(bench, kept):
        bench.start()
        bench.system.globals[name] = text
        bench.config()
        bench.say(bench.panes[1], "state=waiting;tool=claude")
        assert not use(bench), text[:80]


def test_a_variable(bench: Bench) -> None:
    """A program may set the variable to any text."""
    bench.config()
    keys = ("state", "tool", "project", "id", "kind", "message", "progress", "background", "source", "title", "beat")
    for key in keys:
        for value in (value for value in VALUES if isinstance(value, str)):
            bench.say(bench.panes[0], f"state=waiting;{key}={value[:4000]}")
            assert not use(bench), (key, value[:80])
