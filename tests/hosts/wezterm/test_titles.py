"""Tab titles: what is drawn, for which pane, at what cost, and beside whose handler."""

from __future__ import annotations

import itertools

import pytest

from tests.hosts.wezterm.conftest import Bench

WAITING = "state=waiting;tool=claude;project=web"


def colours(items: list[object]) -> object:
    """What colours the light: all that is set before the first text that is not blank."""
    found = {}
    for item in items:
        if isinstance(item, dict) and item.get("Text", " ").strip():
            break
        if isinstance(item, dict) and "Text" not in item:
            found |= item
    return found


FANCY, RETRO = "", "config.use_fancy_tab_bar = false"


@pytest.mark.parametrize("bar", [FANCY, RETRO], ids=["fancy", "retro"])
@pytest.mark.parametrize(
    ("opts", "light", "coloured"),
    [
        ("{}", "▌!", {"Foreground": {"Color": "#FFAA00"}}),
        ("{mark=false}", "▌", {"Foreground": {"Color": "#FFAA00"}}),
        ("{style='icon'}", "!", {"Foreground": {"Color": "#FFAA00"}}),
        ("{style='colour'}", "! ", {"Background": {"Color": "#8C5E00"}, "Foreground": {"Color": "#FFFFFF"}}),
        ("{colours={waiting='#FFFFFF'}, style='colour'}", "! ",
         {"Background": {"Color": "#8C8C8C"}, "Foreground": {"Color": "#000000"}}),
    ],
)  # fmt: skip
def test_styles(bench: Bench, bar: str, opts: str, light: str, coloured: object) -> None:
    """The light is before the title, in its colour; in the fancy bar it colours the whole tab only with `colour`."""
    bench.config(opts, before=bar)
    bench.say(bench.panes[1], WAITING)
    items = bench.title(bench.panes[1])
    assert bench.light(bench.panes[1]) == light
    assert colours(items) == coloured
    assert items[-1] == {"Text": "2: bash" if bar == FANCY else "2: bash "}
    if "colour'" in opts:
        assert "Background" in items[0]
    else:
        # Blank, and of no colour: the rest of a fancy tab inherits from it.
        assert (items[0] == {"Text": " "}) is (bar == FANCY)
        assert items[items.index({"Text": light}) + 1] == "ResetAttributes"


def test_no_light_is_no_change(bench: Bench) -> None:
    """A tab with nothing to say keeps WezTerm's own title."""
    bench.config()
    assert bench.title(bench.panes[0]) is None
    bench.say(bench.panes[0], "state=active")
    assert bench.title(bench.panes[0]) is None
    bench.say(bench.panes[0], "state=done")
    bench.say(bench.panes[0], "state=clear")
    assert bench.title(bench.panes[0]) is None


def test_the_most_urgent_pane(bench: Bench) -> None:
    """Of the panes of a tab the most urgent is shown, and of the records of a pane, too."""
    bench.config()
    tab = bench.tabs[1]
    other = bench.system.pane(tab)
    bench.say(bench.panes[1], "state=working")
    assert bench.light(other) == "▌●"
    bench.say(other, "state=error")
    assert bench.light(other) == "▌×"
    bench.say(other, "state=waiting;kind=question;id=sub")
    assert bench.light(other) == "▌?"
    bench.say(other, "state=clear;id=sub")
    assert bench.light(other) == "▌×"


def test_the_active_tab_of_a_colour(bench: Bench) -> None:
    """In the style `colour` the active tab has the full colour and bold words, the others a darker one."""
    bench.config("{style='colour'}")
    bench.say(bench.panes[0], WAITING)
    active = bench.title(bench.panes[0])
    assert active[:3] == [
        {"Background": {"Color": "#FFAA00"}},
        {"Foreground": {"Color": "#000000"}},
        {"Attribute": {"Intensity": "Bold"}},
    ]
    bench.window.active = 1
    assert bench.title(bench.panes[0])[0] == {"Background": {"Color": "#8C5E00"}}


def test_zoom_hides_no_light(bench: Bench) -> None:
    """A pane that a zoomed one hides lights its tab all the same, and is never in front of a person."""


def test_no_green_while_another_pane_works(bench: Bench) -> None:
    """Work is shown before a turn that is over, which is a second mark; green only when nothing works any more."""
    bench.config()
    other = bench.system.pane(bench.tabs[1])
    bench.say(bench.panes[1], "state=done")
    assert bench.light(other) == "▌✓"
    bench.say(other, "state=working")
    assert bench.light(other) == "▌●✓"
    bench.say(other, "state=waiting")
    assert bench.light(other) == "▌!"
    bench.say(other, "state=done")
    assert bench.light(other) == "▌✓"


def test_zoom_shows_the_pane_that_is_zoomed(bench: Bench) -> None:
    """WezTerm lists only the zoomed pane of a tab; the light is that pane's, and all of them again after it."""
    bench.config()
    bench.window.active = 1
    other = bench.system.pane(bench.tabs[1])
    bench.tabs[1].is_zoomed = True
    bench.say(other, WAITING + ";message=Which%3F")
    assert bench.light(other) == "▌!"
    assert bench.window.toasts == [("claude needs you: web", "Which?")]
    assert bench.feed["front"] == str(bench.panes[1].id)
    bench.tabs[1].is_zoomed = False
    bench.tick()
    assert bench.light(other) == "▌!"
    assert set(bench.feed["front"].split(",")) == {str(bench.panes[1].id), str(other.id)}


def test_zoom_while_a_pane_closes(bench: Bench) -> None:
    """A tab that goes while its title is made costs nothing."""
    bench.config()
    bench.system.pane(bench.tabs[1])
    bench.tabs[1].is_zoomed = True
    information = bench.fake.tab_information(bench.tabs[1])
    bench.window.tabs.remove(bench.tabs[1])
    assert bench.fake.require("tallylight").tab_state(information) is None


def test_overlay(bench: Bench) -> None:
    """Copy mode, search or a selector over a pane, which has no variables, does not put its light out."""
    bench.config()
    bench.say(bench.panes[1], WAITING)
    bench.tabs[1].overlay = True
    assert bench.light(bench.panes[1]) == "▌!"


def test_mux_pane(bench: Bench) -> None:
    """A pane of an ssh or unix domain is lit by its variable, with neither process nor terminal to look at."""
    bench.panes[1].domain = "SSHMUX:build"
    bench.config()
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "▌!"
    assert "tally_status" not in bench.panes[1].user_vars


def test_what_a_mux_server_says(bench: Bench) -> None:
    """The side of a mux server lights a pane of which nobody else knows; an agent's own words come first."""
    bench.config("{toasts=false}")
    pane = bench.panes[1]
    pane.domain = "SSHMUX:build"
    bench.write_snapshot({"id": str(pane.id), "status": "active"})

    def mux(word: str) -> None:
        bench.fake.advance(1)
        bench.fake.set_var(pane, "tally_mux", word)
        bench.fake.pump()

    for word, light in (
        ("waiting:question", "▌?"), ("waiting", "▌!"), ("working", "▌●"), ("down", "▯▼"), ("", ""),
        ("idle", "▌·"), ("active", ""), ("rm -rf", ""), ("waiting:x:y", ""), ("waiting:other", "▌!"), ("x" * 9999, ""),
    ):  # fmt: skip
        mux(word)
        assert bench.light(pane) == light, word
    mux("working")
    bench.say(pane, WAITING)
    assert bench.light(pane) == "▌!"
    bench.say(pane, "state=clear")
    assert bench.light(pane) == "▌●"
    assert bench.fake.errors() == []


def test_dead_pane(bench: Bench) -> None:
    """A pane that closes takes its light along, and no handler fails over it."""
    bench.config()
    other = bench.system.pane(bench.tabs[1])
    bench.say(other, WAITING)
    bench.system.close(other)
    bench.tick()
    assert bench.light(bench.panes[1]) == ""
    assert bench.fake.errors() == []


def test_another_workspace(bench: Bench) -> None:
    """Of a window no GUI shows WezTerm emits nothing; its variables are found all the same."""
    bench.config()
    hidden = bench.system.pane(bench.system.tab(bench.system.window("other")))
    bench.say(hidden, WAITING)
    bench.tick()
    bench.tick(2)
    assert bench.window.toasts == [("claude needs you: web", "waiting")]


def test_hostile_values(bench: Bench) -> None:
    """Escapes, line breaks and bidirectional overrides in a value or a title come out as plain text."""
    bench.config()
    bench.panes[1].title = "evil\x1b]0;x\x07\u202e\ntitle"
    bench.say(bench.panes[1], "state=waiting;tool=%1B]0%3Bx%07;message=%E2%80%AEgnp%0A")
    drawn = "".join(item["Text"] for item in bench.title(bench.panes[1]) if isinstance(item, dict) and "Text" in item)
    assert drawn == " ▌! 2: evil]0;x title"
    bench.say(bench.panes[1], "garbage")
    assert bench.fake.errors() == []


# The handlers of others ---------------------------------------------------------------------------------------

_THEIRS = "wezterm.on('format-tab-title', function(tab, _, _, _, _, width) return 'theirs ' .. width end)"


def test_a_handler_before_ours_stays(bench: Bench) -> None:
    """WezTerm runs the first handler only: a user's own, registered before, goes on as it did, and the log says so."""
    bench.config(before=_THEIRS)
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1]) == "theirs 40"
    for _ in range(30):
        bench.tick()
    hints = [line for level, line in bench.fake.log if level == "warn"]
    assert len(hints) == 1 and "another format-tab-title handler" in hints[0]


def test_a_handler_after_ours_is_called(bench: Bench) -> None:
    """A handler registered after ours would never be called by WezTerm; with `auto` it gives the title."""
    bench.config(after=_THEIRS)
    assert bench.title(bench.panes[1]) == "theirs 40"
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "▌!"
    assert bench.title(bench.panes[1])[-1] == {"Text": "theirs 36"}


def test_a_list_of_items_stays_whole(bench: Bench) -> None:
    """A handler that returns format items keeps all of them."""
    bench.config(after="wezterm.on('format-tab-title', function() return {{Background={Color='red'}}, {Text='x'}} end)")
    bench.say(bench.panes[1], WAITING)
    theirs = {"Background": {"Color": "red"}}
    # Their colour first, for the first cell colours a fancy tab; the light on it; theirs again behind the light.
    assert bench.title(bench.panes[1]) == [
        theirs, {"Text": " "}, {"Foreground": {"Color": "#FFAA00"}}, {"Text": "▌!"}, "ResetAttributes",
        theirs, {"Text": " "}, {"Text": "x"},
    ]  # fmt: skip


def test_own_takes_nobody_in(bench: Bench) -> None:
    """With `own` the titles are ours, and other events are registered as ever."""
    bench.config("{title='own'}", after=_THEIRS + " wezterm.on('bell', function() end)")
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1])[-1] == {"Text": "2: bash"}
    assert len(bench.fake.handlers["bell"]) == 1


def test_manual(bench: Bench) -> None:
    """With `manual` nothing is registered; `wrap`, `decorate` and `tab_state` are for a handler of one's own."""
    bench.config(
        "{title='manual'}",
        after="""
        local t = require 'tallylight'
        wezterm.on('format-tab-title', t.wrap(function(tab) return 'mine' end))
        wezterm.on('bell', function() end)
        """,
    )
    assert bench.title(bench.panes[1]) == "mine"
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1])[-1] == {"Text": "mine"}
    tallylight = bench.fake.require("tallylight")
    tab = bench.fake.tab_information(bench.tabs[1])
    state = tallylight.tab_state(tab)
    assert (state.status, state.agent, state.project, state.pane_id) == ("waiting", "claude", "web", bench.panes[1].id)
    assert bench.fake.to_python(tallylight.decorate(tab, "x"))[-1] == {"Text": "x"}
    assert tallylight.tab_state(bench.fake.tab_information(bench.tabs[0])) is None
    assert tallylight.decorate(bench.fake.tab_information(bench.tabs[0]), "x") == "x"


def test_off(bench: Bench) -> None:
    """With `false` no title is touched, not even by `wrap`."""
    bench.config("{title=false}", after="wezterm.on('format-tab-title', require('tallylight').wrap(nil))")
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1]) is None


def test_tabline_component(bench: Bench) -> None:
    """tabline.wez calls a component with a tab and puts the text it returns into its own title."""
    bench.config(
        "{title='manual'}",
        before="wezterm.on('format-tab-title', function(tab) return require('tallylight').component(tab) .. 'tab' end)",
    )
    assert bench.title(bench.panes[1]) == "tab"
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1]) == "! tab"


def test_summary(bench: Bench) -> None:
    """A status bar gets one text about all panes, those of other workspaces among them."""
    bench.config()
    summary = bench.fake.require("tallylight").summary
    bench.tick()
    assert summary() == ""
    hidden = bench.system.pane(bench.system.tab(bench.system.window("other")))
    bench.say(bench.panes[0], "state=working")
    bench.say(bench.panes[1], "state=waiting;kind=question")
    bench.say(hidden, WAITING)
    bench.tick()
    assert summary() == "!2 ●1"


def test_a_plain_configuration_stays(bench: Bench) -> None:
    """What a user has set is there after ours, and nothing but keys is added."""
    config = bench.config(
        before="""config.font_size = 13
        config.keys = {{key='J', mods='ALT|SHIFT|CTRL', action=wezterm.action.Nop}}"""
    )
    assert config.font_size == 13
    keys = bench.fake.to_python(config["keys"])
    assert [(key["key"], key["mods"]) for key in keys] == [
        ("J", "ALT|SHIFT|CTRL"), *((key, "CTRL|SHIFT|ALT") for key in "lpfr")
    ]  # fmt: skip


def test_indexes(bench: Bench) -> None:
    """Where WezTerm shows no index, or counts from 0, ours do too."""
    bench.config(before="config.tab_and_split_indices_are_zero_based = true")
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1])[-1] == {"Text": "1: bash"}
    bench.start()
    bench.config(before="config.show_tab_index_in_tab_bar = false")
    assert bench.title(bench.panes[1])[-1] == {"Text": "bash"}


def test_narrow(bench: Bench) -> None:
    """In the retro tab bar a title is cut to what its width leaves beside the light."""
    bench.config(before=RETRO)
    bench.panes[1].title = "a very long title indeed"
    bench.say(bench.panes[1], WAITING)
    items = bench.fake.format_tab(bench.tabs[1], 12)
    assert items[-1] == {"Text": "2: a very"}


# The budget ---------------------------------------------------------------------------------------------------


def test_budget(bench: Bench) -> None:
    """A title costs no process, no file, no clock: each pane's variables once, the panes once, nothing dear at all."""
    bench.config()
    others = [bench.system.pane(bench.tabs[1]) for _ in range(9)]
    for pane in others:
        bench.say(pane, WAITING)
    before = bench.fake.counts
    bench.title(bench.panes[1])
    after = bench.fake.counts
    spent = {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}
    assert spent == {
        "sync TabInformation.panes": 1,
        "sync PaneInformation.user_vars": 10,
        "sync PaneInformation.pane_id": 10,
        "sync TabInformation.tab_title": 1,
        "sync TabInformation.active_pane": 1,
        "sync PaneInformation.title": 1,
        "sync TabInformation.tab_index": 1,
        "sync TabInformation.is_active": 2,
    } | ({"sync PaneInformation.progress": 1} if bench.profile == "nightly" else {})
    assert not any(name.startswith(("sync io.", "sync os.")) for name in after)


def test_pulse(bench: Bench) -> None:
    """A pulsing light is dim in every other second of an idle WezTerm, while somebody waits; others do not pulse."""
    bench.config("{pulse=true}")
    bench.say(bench.panes[0], "state=working")
    bench.fake.advance(20)
    assert bench.window.left_status == "" and bench.fake.status_due == {}
    bench.say(bench.panes[1], WAITING)
    seen = []
    for _ in range(6):
        bench.fake.advance(1)
        seen.append(bench.fake.titles[bench.tabs[1].id][1]["Foreground"]["Color"])
        assert bench.fake.titles[bench.tabs[0].id][1]["Foreground"]["Color"] == "#3399FF"
        assert bench.window.left_status in ("", "\x1b[0m")
    assert set(seen) == {"#FFAA00", "#664400"} and all(a != b for a, b in itertools.pairwise(seen))
    bench.say(bench.panes[1], "state=done")
    bench.fake.advance(20)
    assert bench.window.left_status == "" and bench.fake.status_due == {}
    # The timer goes on beside it.
    assert bench.fake.timers
    bench.say(bench.panes[1], f"{WAITING};kind=limit")
    for _ in range(4):
        bench.fake.advance(1)
        assert bench.fake.titles[bench.tabs[1].id][1]["Foreground"]["Color"] == "#FFAA00", "a limit waits for nobody"


def test_a_pulse_at_a_quick_interval(bench: Bench) -> None:
    """Where a user has `update-status` come more often, the pulse goes on all the same."""
    bench.config("{pulse=true}")
    bench.fake.status_interval = 0.2
    bench.say(bench.panes[1], WAITING)
    seen = set()
    for _ in range(40):
        bench.fake.advance(0.2)
        seen.add(bench.fake.titles[bench.tabs[1].id][1]["Foreground"]["Color"])
    assert seen == {"#FFAA00", "#664400"}


def test_fancy_titles_are_whole(bench: Bench) -> None:
    """The fancy tab bar draws all of a title, so nothing of it is cut; its progress stands where WezTerm has it."""
    bench.config()
    bench.panes[1].title = "a very long title indeed, of more than sixteen cells"
    bench.panes[1].progress = {"Percentage": 40}
    bench.say(bench.panes[1], WAITING)
    bench.fake.draw()
    texts = [item["Text"] for item in bench.fake.titles[bench.tabs[1].id] if isinstance(item, dict) and "Text" in item]
    glyph = ["", "\U000f0aa0 "] if bench.profile == "nightly" else []
    assert texts == [" ", "▌!", " ", *glyph, "2: a very long title indeed, of more than sixteen cells"]


@pytest.mark.parametrize(
    ("progress", "glyph"),
    [
        ("Indeterminate", ""), ("None", ""), ({"Percentage": 0}, "\U000f0130"), ({"Percentage": 6}, "\U000f0a9e"),
        ({"Percentage": 100}, "\U000f0aa5"), ({"Error": 50}, "\U000f0aa1"), ({"Percentage": "x"}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_progress(bench: Bench, progress: object, glyph: str) -> None:
    """A lit tab of the nightlies keeps the circle that WezTerm shows for OSC 9;4; stable has none."""
    bench.config(before=RETRO)
    bench.panes[1].progress = progress
    bench.panes[1].title = "a very long title indeed"
    bench.say(bench.panes[1], WAITING)
    items = bench.fake.format_tab(bench.tabs[1], 16)
    if glyph and bench.profile == "nightly":
        assert items[-4]["Foreground"]["AnsiColor"] == ("Red" if "Error" in progress else "Green")  # type: ignore[operator]
        assert items[-3:] == [{"Text": f"{glyph} "}, {"Foreground": "Default"}, {"Text": "2: a very l"}]
    else:
        assert items[-1] == {"Text": "2: a very lon"}
