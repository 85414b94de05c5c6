"""What the Lua half reads: a value of any type, in any place, costs its pane at most, and raises nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.wezterm import api
from tests.hosts.wezterm.conftest import Bench
from tests.tables import Row, sampled

#: As WezTerm's own JSON reader lets them through.
VALUES: list[Any] = [
    None, True, False, -1, 0, 1.5, 2**53, -(2**63), 2**63 - 1, 1e300, -1e300, 1e-300, "", "²", "9" * 5000, "x" * 70_000,
    "\0", "\x1b]0;x\x07", "\u202e", "\u0301" * 5000, [], {}, [[]], [None], [{}], {"a": 1}, {"": {}}, [1, "a", None, {}],
    ["x"] * 2000, json.loads("[" * 60 + "]" * 60),
]  # fmt: skip
PANE: dict[str, Any] = {
    "status": "waiting", "kind": "question", "agent": "claude", "project": "p", "message": "m", "question": "q",
    "since": 5.0, "snoozed_until": 5.0, "reason": {"source": "title", "rule": "r"},
}  # fmt: skip
HEAD: dict[str, Any] = {"version": 1, "host": "wezterm", "pid": 99, "written": 1.0, "panes": []}


def shared(bench: Bench, rows: list[Row]) -> list[Row]:
    """What the release of *bench* tries of *rows*: each is tried in one of them, for what reads it is the same."""
    return sampled(rows[api.PROFILES.index(bench.profile) :: len(api.PROFILES)])


def use(bench: Bench) -> list[str]:
    """Do what draws, lists, jumps and toasts; the errors in the log."""
    bench.tick(2)
    for pane in bench.panes:
        bench.title(pane)
    for name in ("tallylight.list", "tallylight.jump"):
        bench.fake.press(name, bench.panes[0])
    return bench.fake.errors()


@pytest.mark.slow
def test_a_pane_of_the_snapshot(bench: Bench) -> None:
    """A bad value in one pane is passed over; the other pane shows what is said of it."""
    bench.config("{toasts={'waiting','done','error','idle','working'}}")
    bench.tick()
    first, second = bench.panes
    bad = [{**PANE, key: value} for key in PANE for value in VALUES]
    bad += [{**PANE, "reason": {"source": value}} for value in VALUES]
    rows = [{"id": str(first.id), **row} for row in bad] + [{**PANE, "id": value} for value in VALUES]
    for number, row in enumerate(shared(bench, rows)):
        status = ("done", "error")[number % 2]
        bench.write_snapshot(row, {"id": str(second.id), "status": status})
        assert not use(bench), str(row)[:200]
        assert bench.light(second) == ("✓", "×")[number % 2], str(row)[:200]


@pytest.mark.slow
def test_the_head_of_the_snapshot(bench: Bench) -> None:
    """A snapshot with anything in its head is none, or one without panes."""
    bench.config()
    bench.tick()
    for key in HEAD:
        for number, value in enumerate(sampled(VALUES)):
            text = json.dumps({**HEAD, "written": 100.5 + number, key: value}, separators=(",", ":"))
            bench.snapshot.write_text(text)
            assert not use(bench), (key, str(value)[:80])
    for text in ("", "null", "[]", "5", '"written":1', '{"written":9.9.9,', "[" * 5000, '{"written":1e9}'):
        bench.snapshot.write_text(text)
        assert not use(bench), text[:80]


@pytest.mark.slow
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
        bench.snapshot.name,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tallylight_sidecar", "tallylight_told", "tallylight_snapshot"])
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


@pytest.mark.slow
def test_a_variable(bench: Bench) -> None:
    """A program may set the variable to any text."""
    bench.config()
    keys = ("state", "tool", "project", "id", "kind", "message", "progress", "background", "source", "title", "beat")
    for key in keys:
        for value in (value for value in VALUES if isinstance(value, str)):
            bench.say(bench.panes[0], f"state=waiting;{key}={value[:4000]}")
            assert not use(bench), (key, value[:80])
