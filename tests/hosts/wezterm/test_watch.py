"""The asynchronous half: what is heard, the feed, the snapshot, toasts, and a sidecar that is not there."""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.hosts.wezterm.conftest import Bench, light_of
from tests.hosts.wezterm.fake import text_of
from tests.tables import each

WAITING = "state=waiting;tool=claude;project=web;kind=question;message=Which one?"


def test_one_sidecar(bench: Bench) -> None:
    """The sidecar is started by the first event, once, with WezTerm's own pid and program; a reload does not again."""
    bench.config()
    assert bench.fake.commands == []
    for _ in range(5):
        bench.tick()
    started = ["host", "wezterm", "--pid", "4711", "--wezterm", "/usr/bin/wezterm"]
    assert [argv[1:] for argv in bench.fake.commands] == [started, started]
    assert [argv[0] for argv in bench.fake.commands] == ["/home/u/.local/bin/tally", "tally"]
    bench.start()
    bench.config()
    bench.tick()
    assert bench.fake.commands == []


@pytest.mark.slow
def test_no_tally(bench: Bench) -> None:
    """Without the program there is one line in the log, and the lights of the variables."""
    bench.has_tally = False
    bench.config()
    for _ in range(200):
        bench.tick(10)
    assert [level for level, _ in bench.fake.log if level != "warn"] == []
    assert sum("no sidecar" in line for _, line in bench.fake.log) == 1
    # Tried three times, a minute or more apart, by both names.
    assert len(bench.fake.commands) == 6
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "?"


def test_told_to_do_without(bench: Bench) -> None:
    """With `tally = false` nothing is ever started."""
    bench.config("{tally=false}")
    bench.tick()
    assert bench.fake.commands == [] and bench.fake.log == []


def test_a_snapshot_that_is_out_of_date(bench: Bench) -> None:
    """What a sidecar cannot write is shown with its age, once: in a toast and in the log."""
    bench.config()
    bench.tick()
    pane = {"id": str(bench.panes[1].id), "status": "waiting"}
    for is_stale in (False, True, True, False, True):
        bench.write_snapshot(pane)
        bench.written = 1000.0 - 0.5
        bench.write_scene(stale=is_stale, **bench.drawn)
        bench.tick(2)
        assert bench.light(bench.panes[1]) == "!"
    told = [text for title, text in bench.window.toasts if title == "tallylight"]
    as_of = time.strftime("%H:%M:%S", time.localtime(1000))
    words = f"The lights are as of {as_of}: the runtime directory is full or read-only. Make room there."
    assert told == [words] * 2
    assert sum(words in line for _, line in bench.fake.log) == 2


def test_nothing_waits_for_a_file(bench: Bench) -> None:
    """A FIFO, a device and a terminal in the place of the snapshot are none, and one in that of the feed is removed."""
    bench.config()
    bench.tick()
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "waiting"})
    bench.tick(2)
    aside = bench.folder / "wezterm-4711.feed.json.new"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to("/dev/ptmx")):
        bench.scene.unlink()
        make(bench.scene)
        os.mkfifo(aside)
        bench.panes[0].title += "x"
        bench.tick(2)
        assert not bench.fake.errors() and not aside.exists()
        assert bench.light(bench.panes[1]) == "!"


def test_a_sidecar_that_dies(bench: Bench) -> None:
    """A dead sidecar's snapshot is forgotten, and another one is started, which hears everything again."""
    bench.config()
    bench.say(bench.panes[0], "state=done")
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "waiting"})
    bench.tick(2)
    assert bench.light(bench.panes[1]) == "!"
    (bench.folder / "wezterm-4711.feed.json").unlink()
    bench.fake.living_pids = {100}
    bench.sidecar = 100
    # Found dead by the slow timer of an idle WezTerm, and started anew at once.
    bench.fake.advance(15)
    bench.fake.pump()
    # Its last word stands until another one can have found everything again.
    assert bench.light(bench.panes[1]) == "!"
    bench.write_snapshot()
    bench.tick(9)
    assert bench.light(bench.panes[1]) == ""
    assert len(bench.fake.commands) == 4
    assert bench.feed["panes"][str(bench.panes[0].id)]["said"][0]["value"] == "state=done"


@pytest.mark.parametrize("argv", [["sleep", "9"], ["python3", "tally", "host", "wezterm", "--pid", "4712"]])
def test_another_process_with_its_number(bench: Bench, argv: list[str]) -> None:
    """A process that has the sidecar's number and is not it is found within a minute, over a reload too."""
    bench.config()
    bench.tick()
    started = len(bench.fake.commands)
    bench.tick(70)
    assert len(bench.fake.commands) == started
    bench.start()
    bench.config()
    bench.tick(70)
    assert bench.fake.commands == []
    bench.fake.arguments[99] = argv
    bench.tick(70)
    assert [argv[1] for argv in bench.fake.commands] == ["host", "host"]


def test_a_sidecar_that_cannot_be_started_again(bench: Bench) -> None:
    """Its last word stands for some seconds; then a pane is lit by what it says of itself."""
    bench.config()
    bench.say(bench.panes[0], "state=working;tool=claude;project=web")
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "waiting"})
    bench.tick(2)
    bench.has_tally, bench.fake.living_pids = False, set()
    bench.fake.advance(6)
    assert (bench.light(bench.panes[0]), bench.light(bench.panes[1])) == ("●", "!")
    bench.tick(9)
    assert (bench.light(bench.panes[0]), bench.light(bench.panes[1])) == ("●", "")


def test_the_feed(bench: Bench) -> None:
    """The feed says what the variables said, in order, what the titles are, and what is in front; only on change."""
    bench.config()
    first, second = bench.panes
    second.domain = "ssh"
    for payload in ("state=working", WAITING, "state=working;id=sub", "rubbish", WAITING):
        bench.say(second, payload)
    feed = bench.feed
    said = feed["panes"][str(second.id)]["said"]
    assert [word["value"] for word in said] == ["state=working", WAITING, "state=working;id=sub", WAITING]
    assert [word["n"] for word in said] == [1, 2, 3, 4]
    bar = {"progress": False} if bench.profile == "nightly" else {}
    place = {"tab": first.tab.id, "window": bench.window.id}
    assert feed["panes"][str(first.id)] == {"title": "bash", "is_local": True, **place, **bar}
    assert feed["panes"][str(second.id)]["is_local"] is False
    assert feed["front"] == str(first.id)
    written = (bench.folder / "wezterm-4711.feed.json").stat().st_mtime_ns
    for _ in range(5):
        bench.tick()
    assert (bench.folder / "wezterm-4711.feed.json").stat().st_mtime_ns == written
    first.title = "✳ thinking\x07"
    bench.window.active = 1
    bench.tick()
    assert bench.feed["panes"][str(first.id)]["title"] == "✳ thinking"
    assert bench.feed["front"] == str(second.id)
    bench.window.is_focused = False
    bench.tick()
    assert bench.feed["front"] == ""


def test_a_progress_bar(bench: Bench) -> None:
    """The sidecar is told of progress bars, where WezTerm has them."""
    bench.config()
    for progress, bar in (("Indeterminate", True), ({"Percentage": 0}, True), ({"Error": 5}, True), ("None", False)):
        bench.panes[0].progress = progress
        bench.tick()
        found = bench.feed["panes"][str(bench.panes[0].id)].get("progress")
        assert found is (bar if bench.profile == "nightly" else None)


@pytest.mark.slow
def test_the_feed_is_bounded(bench: Bench) -> None:
    """Of a pane that says very much the last words are kept, with their numbers."""
    bench.config()
    for number in range(100):
        bench.fake.set_var(bench.panes[1], "tally", f"state=working;progress={number}/100")
    bench.fake.pump()
    bench.tick()
    said = bench.feed["panes"][str(bench.panes[1].id)]["said"]
    numbers = [word["n"] for word in said]
    assert numbers == list(range(numbers[0], numbers[0] + 16))
    assert said[-1]["value"] == "state=working;progress=99/100"


@pytest.mark.parametrize("reminder", [";beat=1", ""])
def test_a_repetition(bench: Bench, reminder: str) -> None:
    """A heartbeat is no news; the same said again by the agent is, because it holds off the fuse."""
    bench.config()
    bench.say(bench.panes[1], "state=working")
    bench.say(bench.panes[1], "state=working" + reminder)
    said = bench.feed["panes"][str(bench.panes[1].id)]["said"]
    assert len(said) == (1 if reminder else 2)


def test_reattach(bench: Bench) -> None:
    """A mux pane whose variables were lost over a re-attach is lit again by the next heartbeat."""
    bench.config("{tally=false}")
    bench.panes[1].domain = "unix"
    bench.say(bench.panes[1], WAITING)
    # The client's pane is a new one, with nothing in it.
    tab = bench.tabs[1]
    bench.system.close(bench.panes[1])
    pane = bench.system.pane(tab, domain="unix")
    bench.tick()
    assert bench.light(pane) == ""
    bench.say(pane, WAITING + ";beat=1")
    assert bench.light(pane) == "?"


@pytest.mark.slow
def test_a_flood_is_looked_at_some_times_a_second(bench: Bench) -> None:
    """Hundreds of words in a second cost a few looks at all panes, and the last one is shown a second later."""
    bench.config()
    pane = bench.panes[1]
    for n in range(300):
        bench.fake.set_var(pane, "tally", f"state=working;message=m{n}")
        bench.fake.pump()
    bench.fake.set_var(pane, "tally", WAITING)
    bench.fake.pump()
    looks = {name: count for name, count in bench.fake.counts.items() if name.endswith("all_windows")}
    assert max(looks.values()) < 100, looks
    bench.fake.now += 1.1
    bench.fake.run_timers()

    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "?"


# The snapshot -------------------------------------------------------------------------------------------------


def test_the_snapshot_lights(bench: Bench) -> None:
    """A pane that has said nothing is lit by what the sidecar found out, and WezTerm is made to draw it."""
    bench.config()
    bench.tick()
    bench.write_snapshot(
        {"id": str(bench.panes[1].id), "status": "waiting", "kind": "input", "agent": "claude", "since": 1.5}
    )
    bench.tick()
    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "!"
    assert "waiting" in {pane.user_vars.get("tally_status") for pane in bench.panes}, "a variable in the same window"
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "active"})
    bench.tick()
    assert bench.fake.titles[bench.tabs[1].id] is None


def test_a_shell_at_its_prompt(bench: Bench) -> None:
    """`idle` from the shell's marks, and `active`, are no light."""
    bench.config("{style='stripe'}")
    rows = [
        {"id": str(bench.panes[0].id), "status": "idle", "reason": {"source": "shell"}},
        {"id": str(bench.panes[1].id), "status": "idle"},
    ]
    bench.write_snapshot(*rows)
    bench.tick()
    assert (bench.light(bench.panes[0]), bench.light(bench.panes[1])) == ("", "▌·")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", "null", '"written":1.5', '{"written":1.5}',
        '{"version":2,"host":"wezterm","pid":99,"written":1.5,"panes":[{"id":"5","status":"done"}]}',
        '{"version":1,"host":"kitty","pid":99,"written":1.5,"panes":[{"id":"5","status":"done"}]}',
        '{"version":1,"host":"wezterm","pid":98,"written":1.5,"panes":[{"id":"5","status":"done"}]}',
        '{"version":1,"host":"wezterm","pid":99,"written":1.5,"panes":{"id":"5"}}',
        '{"version":1,"host":"wezterm","pid":99,"written":1.5,"panes":[3,{"id":5,"status":"done"},{"id":"5","status":"x"},null]}',
        '{"version":1,"host":"wezterm","pid":99,"written":1.5,"panes":[{"id":"99","status":"done","agent":{},"since":"x","reason":7}]}',
    ],
)  # fmt: skip
def test_broken_snapshots(bench: Bench, text: str) -> None:
    """A snapshot that is none, or another's, is nothing; and no handler fails over it."""
    assert bench.panes[1].id == 5
    bench.config()
    bench.snapshot.write_text(text)
    bench.tick()
    bench.tick()
    assert bench.light(bench.panes[0]) == bench.light(bench.panes[1]) == ""
    assert bench.fake.errors() == []


def test_hostile_snapshot(bench: Bench) -> None:
    """Texts of a snapshot are cleaned again here."""
    bench.config()
    bench.window.is_focused = False
    row = {"id": str(bench.panes[1].id), "status": "waiting", "agent": "a\x1b[31mb\u202e", "question": "x\ny\u0007"}
    bench.write_snapshot(row)
    bench.tick()
    assert text_of(bench.title(bench.panes[1])).strip().endswith(": x y")


def test_reading_is_cheap(bench: Bench) -> None:
    """An unchanged snapshot costs one short read a tick and no parsing; more ticks in one second cost nothing."""
    bench.config()
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "done"})
    bench.tick(2)
    before = bench.fake.counts
    bench.tick()
    spent = {name: n - before.get(name, 0) for name, n in bench.fake.counts.items() if n != before.get(name, 0)}
    assert spent.pop("async io.open") == 2
    assert "async wezterm.json_parse" not in spent
    before = bench.fake.counts
    bench.tick(0)
    spent = {n for n, c in bench.fake.counts.items() if c != before.get(n, 0)}
    assert {name for name in spent if name.startswith("async")} == {"async wezterm.strftime"}


# Toasts -------------------------------------------------------------------------------------------------------


def test_the_sidecars_toasts(bench: Bench) -> None:
    """What the sidecar says is to be told is shown once, over ticks, reloads and another sidecar."""
    bench.config()
    bench.toast(1, "waiting", "web: npm test", "claude asks")
    bench.tick()
    bench.toast(2, "done", "web: claude is done", "All pass.")
    bench.wake()
    told = [("web: npm test", "claude asks"), ("web: claude is done", "All pass.")]
    assert bench.window.toasts == told
    for sidecar in (99, 100):
        bench.fake.living_pids, bench.sidecar = {sidecar}, sidecar
        bench.start()
        bench.config()
        bench.fake.loaded()
        bench.tick(20)
    assert bench.window.toasts == told


@pytest.mark.parametrize(
    ("opts", "shown"), [("{}", "ab"), ("{toasts=true}", "ab"), ("{toasts=false}", ""), ("{toasts={'done'}}", "b")]
)
def test_which_toasts(bench: Bench, opts: str, shown: str) -> None:
    """The option leaves out statuses; what it left out does not come later."""
    bench.config(opts)
    bench.toast(1, "waiting", "a", "")
    bench.toast(2, "done", "b", "")
    bench.tick()
    assert "".join(title for title, _ in bench.window.toasts) == shown
    bench.start()
    bench.config("{}")
    bench.tick(2)
    assert "".join(title for title, _ in bench.window.toasts) == shown


@each("text", ["", "x", "{}", "[7]", "[[]]", '[["1", "waiting", "a", "b"]]', "[[1.5]]", "[[null]]", "[" * 500, "\x00"])
def test_broken_toasts(bench: Bench, text: str) -> None:
    """A file of toasts that is none is nothing."""
    bench.config()
    bench.tick()
    (bench.folder / "wezterm-4711.toasts").write_text(text)
    bench.tick()
    assert bench.window.toasts == [] and bench.fake.errors() == []


def test_a_hostile_toast(bench: Bench) -> None:
    """Texts are cleaned again here, and one that is none is empty."""
    bench.config()
    bench.tick()
    (bench.folder / "wezterm-4711.toasts").write_text(json.dumps([[1, "waiting", "a\x1b[31mb\u202e", 7]]))
    bench.tick()
    assert bench.window.toasts == [("a[31mb", "")]


# Time ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_week_leaves_nothing_behind(bench: Bench) -> None:
    """WezTerm keeps each function that a timer is given: thousands of looks, at work and at rest, give it a handful."""
    bench.config()
    row = {"id": str(bench.panes[1].id), "status": "working", "agent": "claude"}
    made, looks = 0, bench.fake.counts.get("async mux.all_windows", 0)
    for hour in range(6):
        bench.write_snapshot({**row, "status": ("working", "idle")[hour % 2]})
        bench.tick(2)
        made = bench.fake.timers_made if hour == 1 else made
        bench.fake.advance(2500)
    assert bench.fake.counts["async mux.all_windows"] - looks > 1800
    # A rest that ends begins a loop; no look does.
    assert bench.fake.timers_made - made <= 6
    assert len(bench.fake.timers) <= 2


def test_a_configuration_without_us(bench: Bench) -> None:
    """After a reload that does not load us, the last Lua state looks at nothing any more."""
    bench.config()
    bench.tick()
    # The event is emitted to the new Lua state.
    bench.fake.handlers.pop("tallylight.news")
    bench.fake.advance(40)
    looks = bench.fake.counts["async mux.all_windows"]
    bench.fake.advance(100)
    assert bench.fake.counts["async mux.all_windows"] == looks
    assert bench.fake.timers == []


def test_an_event_that_comes_late(bench: Bench) -> None:
    """It costs no timer: the look that it leads to goes on."""
    bench.config()
    bench.tick()
    handlers = bench.fake.handlers.pop("tallylight.news")
    bench.fake.advance(40)
    bench.fake.handlers["tallylight.news"] = handlers
    bench.wake()
    bench.fake.press("tallylight.news", bench.panes[0])
    looks = bench.fake.counts["async mux.all_windows"]
    bench.fake.advance(60)
    assert bench.fake.counts["async mux.all_windows"] >= looks + 3


def test_a_look_that_waits_ends_with_what_there_is(bench: Bench) -> None:
    """While WezTerm is asked for the focus a pane says more: what is told is as it is then."""
    bench.config()
    bench.tick()
    once = iter([lambda: bench.panes[1].user_vars.__setitem__("tally", "state=waiting")])
    bench.fake.paused = lambda: next(once, lambda: None)()
    bench.tick(2)
    assert bench.feed["panes"][str(bench.panes[1].id)]["said"][0]["value"] == "state=waiting"


def test_an_idle_wezterm(bench: Bench) -> None:
    """While something is lit a slow timer looks for news, one at a time; where nothing is, a slower one."""
    bench.config()
    bench.tick()
    assert [at - bench.fake.now for at, _ in bench.fake.timers] == [15]
    bench.fake.advance(15)
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "working", "agent": "claude"})
    bench.tick()
    bench.fake.advance(15)
    assert len(bench.fake.timers) == 1
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "error"})
    bench.fake.advance(5)
    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "×"
    assert len(bench.fake.timers) == 1
    bench.write_snapshot()
    made = bench.fake.timers_made
    bench.fake.advance(155)
    assert len(bench.fake.timers) == 1 and bench.fake.timers_made - made <= 11


def test_no_timer_without_anything(bench: Bench) -> None:
    """Without a sidecar to look after, and without a light, there is no timer."""
    bench.config("{tally=false}")
    bench.tick()
    assert bench.fake.timers == []


@pytest.mark.parametrize("pane", [0, 1])
def test_the_sidecar_wakes_wezterm(bench: Bench, pane: int) -> None:
    """What the sidecar finds out is drawn at once, in an idle WezTerm and in the tab in front, too."""
    bench.config()
    bench.tick()
    hidden = bench.system.pane(bench.system.tab(bench.system.window("other")))
    rows = [{"id": str(p.id), "status": "waiting", "agent": "claude", "question": "Q?"} for p in bench.panes]
    bench.write_snapshot(*rows, {"id": str(hidden.id), "status": "waiting", "agent": "codex", "question": "R?"})
    bench.fake.advance(0.1)
    bench.wake()
    assert light_of(bench.fake.titles[bench.tabs[pane].id]) == "!"


@pytest.mark.slow
def test_a_flood_of_wakes(bench: Bench) -> None:
    """News without end cost some looks a second, and nothing else."""
    bench.config()
    bench.tick()
    before = bench.fake.counts
    for _ in range(300):
        bench.wake()
    looks = bench.fake.counts["async mux.all_windows"] - before["async mux.all_windows"]
    assert looks <= 25 and bench.fake.errors() == []


def test_one_shell_waits(bench: Bench) -> None:
    """However often the configuration is loaded anew. The last Lua state hears of it, if it is one of ours."""
    for status, light in (("waiting", "!"), ("done", "✓"), ("error", "×")):
        bench.start()
        bench.config()
        bench.tick()
        bench.write_snapshot({"id": str(bench.panes[0].id), "status": status})
        bench.wake()
        assert light_of(bench.fake.titles[bench.tabs[0].id]) == light
        assert [len(each) for each in bench.system.waiting.values()] == [1]
    bench.start()
    bench.fake.evaluate("return {}")
    bench.wake()
    assert "async mux.all_windows" not in bench.fake.counts and bench.fake.errors() == []


def test_where_the_shell_waits(bench: Bench) -> None:
    """At the FIFO of the sidecar that there is. Where that fails, nowhere until the configuration is loaded anew."""
    for sidecar in (99, 98):
        bench.sidecar, bench.fake.living_pids = sidecar, {sidecar}
        bench.config()
        bench.tick(20)
        bench.fake.run_timers()
        news = str(bench.snapshot.with_suffix(".news"))
        assert news in bench.system.waiting
    bench.fake.open_fifo(str(bench.folder / "wezterm-99.news"), is_there=False)
    assert [*bench.system.waiting] == [news]
    bench.fake.open_fifo(news, is_there=False)
    bench.tick()
    bench.tick()
    assert bench.system.waiting == {}
    bench.start()
    bench.fake.living_pids = {98}
    bench.config()
    bench.tick()
    assert [*bench.system.waiting] == [news] and bench.fake.errors() == []


def test_a_value_that_is_read_before_its_event(bench: Bench) -> None:
    """A look that comes between a value and its event does not make two words of it; saying it again does."""
    bench.config()
    bench.tick()
    bench.fake.advance(1)
    bench.fake.set_var(bench.panes[1], "tally", "state=working")
    bench.fake.update_title(bench.window)
    bench.fake.pump()
    assert [word["n"] for word in bench.feed["panes"][str(bench.panes[1].id)]["said"]] == [1]
    bench.say(bench.panes[1], "state=working")
    assert [word["n"] for word in bench.feed["panes"][str(bench.panes[1].id)]["said"]] == [1, 2]


def test_no_timer(bench: Bench) -> None:
    """With `tick_seconds = 0` no timer is ever made, but the one that begins to wait for news."""
    bench.config("{tick_seconds=0}")
    bench.say(bench.panes[1], WAITING)
    bench.wake()
    assert (bench.fake.timers_made, bench.fake.timers) == (1, [])


def test_the_fuse(bench: Bench) -> None:
    """Without a sidecar, who said to be working and says no more is idle after five minutes; waiting stays."""
    bench.config("{tally=false, style='stripe'}")
    bench.say(bench.panes[0], "state=working")
    bench.say(bench.panes[1], WAITING)
    bench.tick(301)
    bench.tick()
    assert bench.light(bench.panes[0]) == "▌·"
    assert bench.light(bench.panes[1]) == "▌?"


def test_handlers_of_others_run(bench: Bench) -> None:
    """A user's own handlers of the same events run, before ours and after."""
    calls = "wezterm.GLOBAL.{0} = (wezterm.GLOBAL.{0} or 0) + 1"
    own = "wezterm.on('update-status', function(window) window:set_right_status('clock') {} end)"
    bench.config(before=own.format(calls.format("a")), after=own.format(calls.format("b")))
    bench.tick()
    assert bench.system.globals["a"] == bench.system.globals["b"] == 1
    assert (bench.window.right_status, bench.window.left_status) == ("clock", "")


def test_a_fault_is_one_line(bench: Bench) -> None:
    """A fault of ours costs one line in the log, however often it happens, and no handler of others."""
    bench.config(
        before="require('tallylight.ui.toasts').show = function() error('oops') end",
        after="wezterm.on('update-status', function() wezterm.GLOBAL.ran = true end)",
    )
    for _ in range(5):
        bench.tick()
    assert len(bench.fake.errors()) == 1 and "oops" in bench.fake.errors()[0]
    assert bench.system.globals["ran"] is True


# What is wrong on this side -----------------------------------------------------------------------------------


def problems(bench: Bench) -> list[str]:
    return [line for level, line in bench.fake.log if level == "warn"]


@pytest.mark.parametrize(
    "after", ["config.keys = {{key='x', mods='ALT', action=wezterm.action.Nop}}", "config.key_tables = {}"]
)
def test_keys_that_were_set_later(bench: Bench, after: str) -> None:
    """`config.keys = …` behind us takes our keys away: one line says so, and the sidecar is told."""
    bench.config(after=after)
    for _ in range(3):
        bench.tick()
    assert len(problems(bench)) == 1 and "config.keys was set after" in problems(bench)[0]
    assert bench.feed["problems"] == "keys"


@pytest.mark.parametrize(
    "after", ["", "config.keys = config.keys", "table.insert(config.keys, {key='x', mods='ALT', action='y'})"]
)
def test_keys_that_are_there(bench: Bench, after: str) -> None:
    """Keys that were added, ours untouched, are nobody's fault."""
    bench.config(after=after)
    bench.tick()
    assert problems(bench) == [] and bench.feed["problems"] == ""


@pytest.mark.parametrize("fault", ["error('oops')", "return false"])
def test_a_handler_before_ours_that_fails(bench: Bench, fault: str) -> None:
    """Where it keeps our handlers from being called, the timer has the light all the same, and one line says why."""
    bench.config(before=f"wezterm.on('user-var-changed', function() {fault} end)", opts="{toasts=false}")
    bench.fake.loaded()
    for word in ("state=working", WAITING):
        bench.fake.advance(1)
        bench.fake.set_var(bench.panes[1], "tally", word)
        bench.fake.pump()
        bench.fake.advance(30)
    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "?"
    assert len(problems(bench)) == 1 and "a handler registered before" in problems(bench)[0]
    assert bench.feed["problems"] == "handlers"


def test_no_handler_is_blamed(bench: Bench) -> None:
    """Values from before a reload, and those of windows that are not shown, have no event to wait for."""
    bench.config("{toasts=false}")
    hidden = bench.system.window("other")
    panes = [bench.system.pane(bench.system.tab(hidden)) for _ in range(3)]
    for pane in (*bench.panes, *panes):
        bench.say(pane, WAITING)
    bench.start()
    bench.config("{toasts=false}")
    bench.fake.loaded()
    for pane in panes:
        bench.say(pane, "state=done")
    bench.tick(10)
    bench.system.workspace = "other"
    bench.fake.advance(60)
    assert problems(bench) == []


def test_a_status_handler_before_ours_that_fails(bench: Bench) -> None:
    """A user's status bar that fails costs its own event, and not the sidecar's news or what a variable says."""
    bench.config(before="wezterm.on('update-status', function() error('oops') end)")
    bench.fake.loaded()
    bench.say(bench.panes[1], WAITING)
    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "?"
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "done"})
    bench.wake()
    assert light_of(bench.fake.titles[bench.tabs[1].id]) == "✓"


def test_an_update(bench: Bench) -> None:
    """When another release is installed, the configuration is loaded anew, once."""
    bench.config()
    bench.fake.loaded()
    assert bench.fake.reloads == 0
    bench.release = "2-bb"
    bench.fake.living_pids, bench.sidecar = {100}, 100
    bench.fake.advance(60)
    assert bench.fake.reloads == 1
    bench.start().living_pids.add(100)
    bench.config()
    bench.fake.loaded()
    bench.fake.advance(60)
    assert bench.fake.reloads == 0


def test_an_update_while_something_waits(bench: Bench) -> None:
    """The new sidecar has looked at everything before the configuration is loaded anew: no light blinks."""
    bench.config()
    bench.fake.loaded()
    rows = [{"id": str(pane.id), "status": "waiting", "question": "Q?"} for pane in bench.panes]
    bench.write_snapshot(*rows)
    bench.tick(2)
    bench.fake.advance(100)
    bench.release, bench.fake.living_pids, bench.sidecar = "2-bb", {100}, 100
    bench.tick(3)
    assert (bench.fake.reloads, bench.light(bench.panes[1])) == (0, "!")
    bench.write_snapshot(*rows)
    bench.tick(9)
    assert bench.fake.reloads == 1
    bench.start().living_pids.add(100)
    bench.config()
    bench.fake.loaded()
    bench.tick()
    assert bench.light(bench.panes[1]) == "!"
