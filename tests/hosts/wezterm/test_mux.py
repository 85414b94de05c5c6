"""A mux server's Lua judges the panes there and tells the GUIs, each in its own Lua state."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.hosts.wezterm.conftest import CONFIG, Bench
from tests.hosts.wezterm.fake import Fake, Pane

ASKS = {
    "status": "waiting", "kind": "permission", "since": 5, "agent": "claude", "project": "shop",
    "what": "Bash: echo 50%; rm -r \u0007build", "question": "Do you want to proceed?",
}  # fmt: skip
SAID = "tool=claude;project=shop;detail=echo 50%25%3B rm -r build;message=Bash: echo 50%25%3B rm -r build"
#: Of a pane of the server 4711.
WORD = "waiting:permission;pane=4711.{};since=5;" + SAID


@pytest.fixture
def server(bench: Bench) -> Bench:
    """A mux server that has started."""
    bench.start(has_gui=False)
    bench.config()
    bench.fake.emit("mux-startup")
    bench.fake.advance(1)
    return bench


def word(pane: Pane) -> str:
    return pane.user_vars.get("tally_mux", "")


def tell(server: Bench, pane: Pane, **row: Any) -> None:
    server.write_snapshot({"id": str(pane.id), **row})
    server.fake.advance(1)


def test_what_it_tells(server: Bench) -> None:
    """A pane's light goes to the GUIs with its words, and goes out there; a dark pane is not written to."""
    pane, other = server.panes
    tell(server, pane, **ASKS)
    assert (word(pane), word(other)) == (WORD.format(pane.id), "")
    assert "tally_mux" not in other.user_vars
    tell(server, pane, **ASKS, snoozed_until=1_700_000_900.25, muted_until=1_700_000_901)
    assert f";since=5;snoozed_until=1700000900;muted_until=1700000901;{SAID}" in word(pane)
    tell(server, pane, status="done", kind="question", agent="claude", outcome="All pass.")
    assert word(pane) == f"done:question;pane=4711.{pane.id};tool=claude;message=All pass."
    tell(server, pane, status="active")
    assert word(pane) == ""
    assert server.fake.errors() == []


def test_news_is_told_at_once(server: Bench) -> None:
    """When the sidecar wakes the server, also after its configuration was loaded anew; one shell waits for that."""
    pane = server.panes[0]

    def tell_now(**row: Any) -> str:
        server.write_snapshot({"id": str(pane.id), **row})
        server.wake()
        return word(pane)

    assert tell_now(**ASKS) == WORD.format(pane.id)
    before, fed = server.fake, server.feed["life"]
    server.start(has_gui=False)
    server.config()
    server.fake.advance(1)
    assert [len(each) for each in server.system.waiting.values()] == [1]
    tell_now(status="active")
    server.fake.advance(1)
    assert (word(pane), server.feed["life"] != fed) == ("", True)
    assert tell_now(**ASKS) == WORD.format(pane.id)
    assert [len(each) for each in server.system.waiting.values()] == [1]
    assert server.fake.errors() == before.errors() == []


def test_it_tells_again(server: Bench) -> None:
    """A GUI that is attached again has lost what it was told, and hears it within seconds; no timer is left behind."""
    pane = server.panes[0]
    tell(server, pane, **ASKS)
    made = server.fake.timers_made
    pane.user_vars.clear()
    server.fake.advance(6)
    assert word(pane) == WORD.format(pane.id)
    server.system.close(pane)
    server.fake.advance(60)
    assert server.fake.timers_made == made and len(server.fake.timers) == 1
    assert server.fake.errors() == []


def test_what_it_hears(server: Bench) -> None:
    """Its sidecar is told what its panes say of themselves, and where they are; nobody is in front of one."""
    pane = server.panes[0]
    server.fake.set_var(pane, "tally", "state=working;tool=codex")
    server.fake.advance(1)
    since = int(server.fake.now)
    server.listen()
    server.fake.advance(1)
    assert word(pane) == f"working;pane=4711.{pane.id};since={since};tool=codex"
    fed = server.feed["panes"][str(pane.id)]
    assert fed["said"] == [{"n": 1, "value": "state=working;tool=codex"}]
    assert (fed["tab"], fed["window"], server.feed["front"]) == (pane.tab.id, pane.tab.window.id, "")
    assert server.fake.commands[0][1:5] == ["host", "wezterm", "--pid", "4711"]


def test_a_reload(server: Bench) -> None:
    """The new Lua state of a server goes on, and the last one stops."""
    pane = server.panes[0]
    before = server.fake
    server.start(has_gui=False)
    server.config()
    tell(server, pane, **ASKS)
    assert word(pane) == WORD.format(pane.id)
    before.now = server.fake.now
    before.advance(2)
    assert before.timers == []
    assert len(server.fake.timers) == 1


def test_a_program_that_only_reads_the_configuration() -> None:
    """`wezterm cli` evaluates the configuration without a GUI, too: it starts nothing."""
    fake = Fake(has_gui=False)
    fake.evaluate(CONFIG.format(opts="{}", before="", after=""))
    fake.advance(10)
    assert (fake.timers_made, fake.commands) == (0, [])


def test_what_the_gui_makes_of_it(bench: Bench) -> None:
    """The tab of a mux pane says what is asked there, as those of a local pane."""
    bench.config()
    pane = bench.panes[1]
    pane.domain = "SSHMUX:build"
    bench.fake.set_var(pane, "tally_mux", WORD.format(3))
    bench.tick(2)
    assert "shop: echo 50%; rm -r" in "".join(item.get("Text", "") for item in bench.title(pane))
    for bad in ("waiting;state=working", "waiting;tool=%zz", "waiting;message=" + "x" * 5000):
        bench.fake.set_var(pane, "tally_mux", bad)
        bench.tick(2)
        assert bench.light(pane) in ("", "!")
    assert bench.fake.errors() == []


def test_base64(bench: Bench) -> None:
    """Every length of a word is written as Python writes it."""
    for size in range(9):
        value = "aé✓%"[: size // 2] + "z" * (size % 3)
        code = f"return require('tallylight.wire.carrier').base64({json.dumps(value, ensure_ascii=False)})"
        assert bench.fake.half.evaluate(code, "base64") == base64.b64encode(value.encode()).decode()
