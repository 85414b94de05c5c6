"""The fake itself: what was seen in a running WezTerm and is easily thought to be otherwise."""

from __future__ import annotations

from tests.hosts.wezterm.conftest import Bench


def test_format(bench: Bench) -> None:
    """`ResetAttributes` where nothing was set is nothing, not a sequence."""
    find = bench.fake.lua.eval("function(w, items) return w.format(items) end")
    reset = bench.fake.lua.eval("{ 'ResetAttributes' }")
    assert find(bench.fake.wezterm, reset) == ""
    assert find(bench.fake.wezterm, bench.fake.lua.eval("{ { Attribute = {} }, 'ResetAttributes' }")) != ""


def test_an_error_ends_the_chain(bench: Bench) -> None:
    """Handlers that were registered after one that fails do not run."""
    bench.fake.evaluate(
        "local w = require 'wezterm'\n"
        "w.on('bell', function() w.GLOBAL.first = true; error('oops') end)\n"
        "w.on('bell', function() w.GLOBAL.second = true end)\nreturn {}"
    )
    bench.fake.emit("bell", bench.fake.object("GuiWin", bench.window.id), bench.fake.object("Pane", bench.panes[0].id))
    assert bench.system.globals == {"first": True}
    assert len(bench.fake.errors()) == 1


def _count_statuses(bench: Bench, more: str = "") -> None:
    bench.fake.evaluate(
        "local w = require 'wezterm'\nw.GLOBAL.ticks = 0\n"
        f"w.on('update-status', function(window) w.GLOBAL.ticks = w.GLOBAL.ticks + 1; {more} end)\nreturn {{}}"
    )


def test_nothing_ticks_by_itself(bench: Bench) -> None:
    """`update-status` follows a title; then there is silence, also while a program draws in front of a person."""
    _count_statuses(bench)
    bench.fake.advance(60)
    assert bench.system.globals["ticks"] == 0
    bench.fake.set_title(bench.panes[0], "other")
    assert bench.system.globals["ticks"] == 1
    bench.fake.advance(60)
    bench.fake.output(bench.panes[0])
    assert bench.system.globals["ticks"] == 1
    bench.fake.output(bench.panes[1])
    assert bench.system.globals["ticks"] == 2
    bench.window.is_focused = False
    bench.fake.output(bench.panes[0])
    assert bench.system.globals["ticks"] == 3


def test_a_status_has_one_more_follow(bench: Bench) -> None:
    """Who sets a status, even the same, is called again after the interval; who does not ends it."""
    _count_statuses(bench, "if w.GLOBAL.ticks < 5 then window:set_right_status('') end")
    bench.fake.set_title(bench.panes[0], "other")
    bench.fake.advance(60)
    assert bench.system.globals["ticks"] == 5


def test_a_variable_is_there_before_its_event(bench: Bench) -> None:
    """Lua can read a value of which it has not been told yet."""
    bench.fake.set_var(bench.panes[0], "tally", "x")
    assert (
        bench.fake.lua.eval("function(p) return p:get_user_vars().tally end")(
            bench.fake.object("Pane", bench.panes[0].id)
        )
        == "x"
    )
    assert len(bench.system.queue) == 1


def test_zoom(bench: Bench) -> None:
    """A title handler sees the zoomed pane alone; the tab's own list has all of them, and says which is zoomed."""
    other = bench.system.pane(bench.tabs[0])
    bench.tabs[0].is_zoomed = True
    assert len(list(bench.fake.tab_information(bench.tabs[0]).panes.values())) == 1
    ask = bench.fake.lua.eval(
        "function(t) local all = {} for _, i in ipairs(t:panes_with_info()) do "
        "all[#all + 1] = i.pane:pane_id() .. tostring(i.is_active) .. tostring(i.is_zoomed) end "
        "return #t:panes(), table.concat(all, ' ') end"
    )
    assert ask(bench.fake.object("MuxTab", bench.tabs[0].id)) == (
        2,
        f"{bench.panes[0].id}truetrue {other.id}falsefalse",
    )


def test_the_two_passes(bench: Bench) -> None:
    """A title may have `tab_max_width` cells at first, then as many as it took, or its share of a bar that is full."""
    bench.fake.evaluate(
        "local w = require 'wezterm'\nw.GLOBAL.widths = ''\n"
        "w.on('format-tab-title', function(tab, _, _, _, _, width) "
        "w.GLOBAL.widths = w.GLOBAL.widths .. width .. ' '; return 'abc' end)\n"
        "return { tab_max_width = 20, use_fancy_tab_bar = false }"
    )
    bench.fake.draw()
    assert bench.system.globals["widths"] == "20 20 3 3 "
    bench.window.columns = 7
    bench.fake.draw()
    assert bench.system.globals["widths"] == "20 20 3 3 20 20 1 1 "


def test_a_reload(bench: Bench) -> None:
    """A new Lua state, in which the clock has gone on."""
    bench.fake.advance(50)
    before = bench.fake.now
    assert bench.start().now == before
    assert bench.fake.handlers == {}


def test_the_selector(bench: Bench) -> None:
    """Its lines end where the window does, and with `fuzzy` its title is not shown."""
    bench.config()
    choose = bench.fake.lua.eval(
        "function(w, window, pane, label) window:perform_action(w.action.InputSelector{title='T', fuzzy=true, "
        "choices={{id='1', label=label}}, action=w.action.EmitEvent 'tallylight.chosen'}, pane) end"
    )
    bench.fake.half.drive(
        choose, bench.fake.wezterm, bench.fake.object("GuiWin", bench.window.id),
        bench.fake.object("Pane", bench.panes[0].id), "x" * 100,
    )  # fmt: skip
    assert bench.fake.selector(bench.window) == ("Fuzzy matching: ", ["x" * 76])


def test_absent_and_synchronous(bench: Bench) -> None:
    """`is_last_active` is not in every nightly; a pane's dimensions suspend nobody."""
    half = bench.fake.lua.eval("function(o, key) local ok = pcall(function() return o[key] end) return ok end")
    assert half(bench.fake.tab_information(bench.tabs[0]), "is_last_active") is False
    ask = bench.fake.lua.eval("function(pane) return pane:get_dimensions().cols end")
    assert ask(bench.fake.object("Pane", bench.panes[0].id)) == 80
