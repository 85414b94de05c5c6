"""Tab titles: what is drawn, for which pane, at what cost, and beside whose handler."""

from __future__ import annotations

import itertools
from typing import Any

import attrs
import pytest

from tallylight.config.colour import parse_colour
from tallylight.model import contrast, lights
from tallylight.model.status import Kind, Status
from tallylight.wire import text
from tests.hosts.wezterm.conftest import Bench
from tests.hosts.wezterm.fake import NEW_TAB_CELLS, text_of
from tests.tables import each

WAITING = "state=waiting;tool=claude;project=web"


@attrs.frozen
class Run:
    """Cells side by side that are drawn in one way; a colour that the tab itself gives is ``""``."""

    text: str
    ground: str = ""
    sign: str = ""


def runs(items: list[Any]) -> list[Run]:
    """What a tab bar draws of format items, as WezTerm reads them."""
    found: list[Run] = []
    ground = sign = ""
    for item in items:
        if item == "ResetAttributes":
            ground = sign = ""
        elif "Background" in item:
            ground = item["Background"]["Color"]
        elif "Foreground" in item:
            sign = item["Foreground"]["Color"] if isinstance(item["Foreground"], dict) else ""
        elif item.get("Text"):
            if found and (found[-1].ground, found[-1].sign) == (ground, sign):
                found[-1] = Run(found[-1].text + item["Text"], ground, sign)
            else:
                found.append(Run(item["Text"], ground, sign))
    return found


#: Where the fancy bar has a button that closes a tab.
BUTTON = "  "
FANCY, RETRO = "", "config.use_fancy_tab_bar = false"
AMBER, RED, GREEN, BLUE = "#FFAA00", "#E5484D", "#22AA55", "#3399FF"
BLACK = "#000000"
#: A light bar: amber hardly stands out from it.
LIGHT = """config.colors = {tab_bar = {background = '#eee8d5',
    inactive_tab = {bg_color = '#eee8d5', fg_color = '#839496'}, active_tab = {bg_color = '#fdf6e3'}}}"""
SHOP = "state=waiting;tool=claude;project=shop;message=npm test"


def drawn(bench: Bench, number: int = 1, width: int = 40) -> list[Run]:
    """What stands in a tab, without the room for its button."""
    found = runs(bench.fake.format_tab(bench.tabs[number], width))
    if bench.fake.is_fancy and found[-1].text.endswith(BUTTON):
        found[-1] = attrs.evolve(found[-1], text=found[-1].text.removesuffix(BUTTON))
    return found


def lit(bench: Bench, bar: str, payload: str) -> None:
    """Start in the tab *bar*; an agent in the second tab, whose title is its own name, reports *payload*."""
    bench.start()
    bench.config(before=bar)
    bench.panes[1].title = "✳ Claude Code"
    bench.say(bench.panes[1], payload)


# The look -------------------------------------------------------------------------------------------------------


@each(
    ("payload", "expected"),
    [
        (SHOP, [Run(" ! 2: shop: npm test ", AMBER, BLACK), Run(" ", "#333333")]),
        ("state=waiting;kind=question;tool=claude;project=shop",
         [Run(" ? 2: shop ", AMBER, BLACK), Run(" ", "#333333")]),
        ("state=error;tool=claude;project=infra;message=exit 1",
         [Run(" × 2: infra: exit 1 ", RED, BLACK), Run(" ", "#333333")]),
        ("state=done;tool=claude;project=docs",
         [Run(" ✓ ", GREEN, BLACK), Run(" 2: docs ")]),
        ("state=done;kind=question;tool=claude;project=docs",
         [Run(" ✓? ", GREEN, BLACK), Run(" 2: docs ")]),
        ("state=working;tool=claude;project=api;message=tests", [Run("●", sign="#45A0FF"), Run(" 2: api ")]),
        ("state=idle;tool=claude;project=blog", [Run("2: blog ")]),
    ],
)  # fmt: skip
def test_the_retro_bar(bench: Bench, payload: str, expected: list[Run]) -> None:
    """What needs you is filled and says who and what; news has a filled mark, work a plain one, idle none."""
    lit(bench, RETRO, payload)
    assert drawn(bench) == expected


@each(
    ("payload", "expected"),
    [
        (SHOP, [Run(" ! 2: shop: npm test ", AMBER, BLACK)]),
        ("state=done;tool=claude;project=docs", [Run(" "), Run(" ✓ ", GREEN, BLACK), Run(" 2: docs")]),
        ("state=working;tool=claude;project=api", [Run(" "), Run("●", sign="#45A0FF"), Run(" 2: api")]),
        (f"state=waiting;tool=claude;project=shop;message={'x' * 60}",
         [Run(f" ! shop: {'x' * 15}… ", AMBER, BLACK)]),
        ("state=waiting;tool=claude;project=a-project-with-a-long-name;message=npm run publish",
         [Run(" ! a-project-…: npm run…  ", AMBER, BLACK)]),
    ],
)  # fmt: skip
def test_the_fancy_bar(bench: Bench, payload: str, expected: list[Run]) -> None:
    """The first cell colours a tab: that of a fill, and a blank of the tab's own before every other light."""
    lit(bench, FANCY, payload)
    assert drawn(bench) == expected
    assert bench.title(bench.panes[1])[0] == ({"Background": {"Color": AMBER}} if len(expected) == 1 else {"Text": " "})


@each(
    ("tabs", "expected"),
    [
        (3, [Run(" ! shop: npm test ", AMBER, BLACK)]),
        (5, [Run(" ! shop ", AMBER, BLACK)]),
        (6, [Run("! shop", AMBER, BLACK)]),
        (25, [Run("!", AMBER, BLACK)]),
    ],
)
def test_a_crowded_fancy_bar(bench: Bench, tabs: int, expected: list[Run]) -> None:
    """WezTerm shows each tab's share of the window, with a button on its end: there is room for so many letters."""
    lit(bench, FANCY, SHOP)
    while len(bench.window.tabs) < tabs:
        bench.system.pane(bench.system.tab(bench.window))
    assert drawn(bench) == expected


@each(
    ("bar", "expected"),
    [
        (f"{RETRO}\n{LIGHT}", [Run(" ! 2: shop: npm test ", AMBER, BLACK), Run(" ", "#eee8d5")]),
        (f"{FANCY}\n{LIGHT}", [Run(" ! 2: shop: npm test ", AMBER, BLACK)]),
        ("config.window_frame = {active_titlebar_bg = '#fdf6e3', inactive_titlebar_bg = '#eee8d5'}",
         [Run(" ! 2: shop: npm test ", AMBER, BLACK)]),
    ],
)  # fmt: skip
def test_a_light_bar_is_filled_alike(bench: Bench, bar: str, expected: list[Run]) -> None:
    """No cell of another colour is within the fill: it would read as two tabs."""
    bench.start()
    bench.config(before=bar)
    bench.say(bench.panes[1], SHOP)
    assert drawn(bench) == expected


@each("bar", [FANCY, RETRO, f"{RETRO}\n{LIGHT}"])
def test_the_active_tab_keeps_its_colours(bench: Bench, bar: str) -> None:
    """By these it is known: its mark alone is filled."""
    bench.start()
    bench.config(before=bar)
    bench.say(bench.panes[0], SHOP)
    blank = [Run(" ")] if bar == FANCY else []
    assert drawn(bench, 0) == [*blank, Run(" ! ", AMBER, BLACK), Run(" 1: shop: npm test" + " " * (bar != FANCY))]


#: What stands in a filled tab of the retro bar by the cells it is given, one of which parts it from the next.
LADDER = {
    40: " ! 2: shop: npm test ", 22: " ! 2: shop: npm test ", 21: " ! shop: npm test ", 16: " ! shop: npm…  ",
    15: " ! 2: shop ", 12: " ! 2: shop ", 11: " ! shop ", 9: " ! shop ", 8: "! shop", 7: "! shop", 6: "!2   ",
    5: "!2  ", 4: " ! ", 3: "!", 2: "!",
}  # fmt: skip


@each("bar", [RETRO, f"{RETRO}\n{LIGHT}"])
def test_the_widths(bench: Bench, bar: str) -> None:
    """From the widest to a single cell: first the words go, never the mark; below ten cells there is no `…`."""
    bench.start()
    bench.config(before=bar)
    bench.say(bench.panes[1], SHOP)
    shown = {width: "".join(run.text for run in drawn(bench, 1, width))[:-1] for width in LADDER}
    assert shown == LADDER


@pytest.mark.slow
@each("count", [3, 9, 25, 40])
@each("bar", [RETRO, f"{RETRO}\n{LIGHT}"])
def test_a_crowded_bar(bench: Bench, bar: str, count: int) -> None:
    """With many tabs WezTerm shares the cells out: none is drawn beyond its share, and no mark is lost."""
    bench.start()
    bench.config("{tally=false}", before=bar)
    bench.window.columns = 142
    while len(bench.window.tabs) < count:
        bench.system.pane(bench.system.tab(bench.window), "✳ Claude Code")
    asked = list(zip(bench.window.tabs[1:], itertools.cycle(("waiting", "working", "done", "idle", "error"))))
    for tab, state in asked:
        tab.panes[0].user_vars["tally"] = f"state={state};tool=claude;project=shop;message=npm test"
    bench.fake.draw()
    share = (142 - (count - 1) - NEW_TAB_CELLS) // count
    for tab, state in asked:
        items = bench.fake.titles[tab.id]
        if items is None:
            assert state == "idle"
            continue
        assert text.width(text_of(items)) <= (share if count > 9 else 16), (count, state)
        assert state == "idle" or lights.mark(Status(state)) in text_of(items)
        assert state not in ("waiting", "error") or {AMBER, RED} & {run.ground for run in runs(items)}


STATES = (
    "waiting", "waiting;kind=question", "waiting;kind=limit", "error", "done", "done;kind=question", "working",
    "background",
)  # fmt: skip
#: Bars: WezTerm's own, Solarized light and dark, Nord, Dracula, a grey one and a white one, with their two tabs.
BARS = (
    ("#333333", "#333333", "#000000"), ("#eee8d5", "#eee8d5", "#fdf6e3"), ("#002b36", "#073642", "#586e75"),
    ("#2e3440", "#3b4252", "#88c0d0"), ("#282a36", "#6272a4", "#bd93f9"), ("#777777", "#999999", "#ffaa00"),
    ("#ffffff", "#dddddd", "#ffffff"),
)  # fmt: skip
COLOURS = (
    "config.colors = {{tab_bar = {{background = '{}', inactive_tab = {{bg_color = '{}'}}, "
    "active_tab = {{bg_color = '{}'}}}}}}"
)


@pytest.mark.slow
@each("state", STATES)
def test_a_title_keeps_to_its_width(bench: Bench, state: str) -> None:
    """In all widths and both passes: never wider, the same again in what it took, and the mark is whole."""
    lit(bench, RETRO, f"state={state};tool=claude;project=店の仕事;message=日本 npm test")
    mark = lights.mark(Status(state.partition(";")[0]), Kind(state.rpartition("=")[2]) if "=" in state else None)
    mark = lights.mark(Status.LIMITED) if state.endswith("=limit") else mark
    for width in range(len(mark) + 1, 45):
        items = bench.fake.format_tab(bench.tabs[1], width)
        taken = text.width(text_of(items))
        assert taken <= width and mark in text_of(items), width
        assert width > 10 or "…" not in text_of(items)
        again = bench.fake.format_tab(bench.tabs[1], taken)
        assert text_of(again) == text_of(items), width


@pytest.mark.slow
@each(("bar", "number"), list(itertools.product(BARS, (0, 1))))
def test_what_is_drawn_can_be_read(bench: Bench, bar: tuple[str, str, str], number: int) -> None:
    """In any bar a mark can be read on its ground, and a fill differs from what it touches, by its hue at least."""

    def ratio(one: str, other: str) -> float:
        return contrast.ratio(parse_colour(one), parse_colour(other))

    def is_apart(one: str, other: str) -> bool:
        far = contrast.distance(parse_colour(one), parse_colour(other)) >= contrast.APART
        return far or ratio(one, other) >= contrast.FILL_CONTRAST

    bench.start()
    bench.config(before=f"{RETRO}\n{COLOURS.format(*bar)}")
    ground, beside = (bar[2], bar[2:]) if number == 0 else (bar[1], bar[:2])
    seen: dict[str, set[str]] = {}
    for state in (*STATES, "down"):
        if state == "down":
            bench.say(bench.panes[number], "state=clear")
            bench.write_snapshot({"id": str(bench.panes[number].id), "status": "down"})
            bench.wake()
        else:
            bench.say(bench.panes[number], f"state={state};tool=claude;project=shop")
        for width in (40, 8, 3, 2):
            lead = drawn(bench, number, width)[0]
            floor = contrast.SIGN_CONTRAST if lead.ground else contrast.FILL_CONTRAST
            assert ratio(lead.sign, lead.ground or ground) >= floor, (state, width)
            is_over = state.startswith("done")
            if lead.ground and width > 2:
                for one in beside if not is_over else (ground,):
                    assert is_apart(lead.ground, one), (state, width)
            seen.setdefault(lead.text.split()[0], set()).add(state)
    # By its shape alone each is told from the others.
    assert all(len(states) == 1 for states in seen.values()), seen


def test_a_limit_is_hollow_and_counts_down(bench: Bench) -> None:
    """Its words are red on the tab's own ground; how long it lasts is drawn when that changes, and nothing else is."""
    bench.start()
    bench.window.left_status = "clock"
    bench.config(before=RETRO)
    bench.tick()
    pane = bench.panes[1]
    bench.write_snapshot(
        {
            "id": str(pane.id),
            "status": "limited",
            "agent": "claude",
            "project": "shop",
            "message": "resets 3pm",
            "limited_until": bench.fake.now + 134 * 60,
        }
    )
    bench.wake()
    (whole, *_) = runs(bench.fake.titles[bench.tabs[1].id])
    assert (whole.text.strip(), whole.ground) == ("◷ shop: 2 h 14", "")
    assert contrast.distance(parse_colour(whole.sign), lights.COLOURS[Status.LIMITED]) < 0.2
    bench.tick(61)
    assert "shop: 2 h 13" in text_of(bench.fake.titles[bench.tabs[1].id])
    assert bench.window.left_status == "clock"


@each(
    ("tabs", "name", "shown"),
    [
        (2, "shop", "◷ 2: shop: 2 h 14"), (2, "a-long-project", "◷ a-long-proj…: 2 h 14"),
        (4, "a-long-project", "◷ a…: 2 h 14"), (5, "a-long-project", "◷ a-long-"),
    ],
)  # fmt: skip
def test_a_fancy_bar_shows_a_whole_countdown(bench: Bench, tabs: int, name: str, shown: str) -> None:
    """WezTerm cuts the end of a title that has no room: then the name is cut instead."""
    bench.start()
    bench.config()
    bench.tick()
    pane = {"id": str(bench.panes[1].id), "status": "limited", "agent": "claude", "project": name}
    bench.write_snapshot({**pane, "limited_until": bench.fake.now + 134 * 60})
    bench.wake()
    while len(bench.window.tabs) < tabs:
        bench.system.pane(bench.system.tab(bench.window))
    assert text_of(bench.fake.format_tab(bench.tabs[1], 40)).strip() == shown


def test_two_agents_that_change_the_same_lines(bench: Bench) -> None:
    """The mark has an amber one behind it, in a tab with room for a name; other lines of a file are not marked."""
    bench.start()
    bench.config(before=RETRO)
    bench.tick()
    found = {"id": str(bench.panes[1].id), "status": "working", "agent": "claude", "project": "shop"}
    for same in (False, True, False):
        other = {"pane": "kitty-1:1", "name": "api", "file": "cart.py", "lines": "40", "same": same}
        bench.fake.advance(1)
        bench.write_snapshot({**found, "collisions": [other]})
        bench.wake()
        mark, *rest = runs(bench.fake.titles[bench.tabs[1].id])
        assert (mark.text.strip(), mark.sign) == ("●", "#45A0FF")
        assert [run.sign for run in rest if run.text == lights.COLLISION] == ([AMBER] if same else [])
        assert (lights.COLLISION in text_of(bench.fake.format_tab(bench.tabs[1], 40))) is same
        assert lights.COLLISION not in text_of(bench.fake.format_tab(bench.tabs[1], 5))


def test_colours_that_are_none(bench: Bench) -> None:
    """A bar that lets the window shine through counts as the window; names and wrong values as WezTerm's own."""
    bench.config(
        before=f"{RETRO}\n{COLOURS.format('rgba(0% 0% 0% 0%)', 'red', 7)} config.colors.background = '#ffffff'"
    )
    bench.say(bench.panes[1], SHOP)
    assert drawn(bench)[-1] == Run(" ", "#ffffff")
    assert bench.fake.errors() == []


def test_a_palette_of_ones_own(bench: Bench) -> None:
    """A person's colours take the place of ours, by the same rules."""
    bench.config("{colours={waiting='#0000AA'}}", before=RETRO)
    bench.say(bench.panes[1], SHOP)
    (fill, _) = drawn(bench)
    assert fill.ground != "#0000AA"
    assert contrast.ratio(parse_colour(fill.ground), (0x33, 0x33, 0x33)) >= contrast.FILL_CONTRAST


def test_the_stripe(bench: Bench) -> None:
    """With `style = 'stripe'` every light is a stripe and its mark, idle too, and the tab keeps its colours."""
    bench.config("{style='stripe'}", before=f"{RETRO}\n{LIGHT}")
    for payload, light in (
        (SHOP, "▌!"), ("state=done;kind=question", "▌✓?"), ("state=idle", "▌·"),
    ):  # fmt: skip
        bench.say(bench.panes[1], payload)
        stripe, words = drawn(bench)
        assert stripe.text == light and stripe.ground == words.ground == ""
        assert contrast.ratio(parse_colour(stripe.sign), parse_colour("#eee8d5")) >= contrast.FILL_CONTRAST
    bench.say(bench.panes[1], SHOP)
    assert drawn(bench)[1] == Run(" 2: shop: npm test ")
    bench.say(bench.panes[1], "state=clear")
    bench.write_snapshot({"id": str(bench.panes[1].id), "status": "down"})
    bench.wake()
    assert drawn(bench)[0].text == "▯▼"


# Names ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each(
    ("title", "agent", "named"),
    [
        ("✳ Claude Code", "claude", "shop"), ("claude", "claude", "shop"), ("⠋ Claude", "claude", "shop"),
        ("", "claude", "shop"), ("node", "gemini", "shop"), ("python3.11", "aider", "shop"), ("wezterm", "x", "shop"),
        ("[ ! ] Action Required | Codex", "codex", "shop"), ("Unknown", "unknown", "shop"),
        ("✳ Fix the flaky tests", "claude", "Fix the flaky tests"), ("⠋ codex-rs", "codex", "codex-rs"),
        ("~/src/shop", "claude", "~/src/shop"), ("claude --continue", "claude", "shop"),
        ("Claude Code", "codex", "Claude Code"),
    ],
)  # fmt: skip
def test_names(bench: Bench, title: str, agent: str, named: str) -> None:
    """A tab is called by its project where its program's title says no more than which program it is."""
    bench.start()
    bench.config(before=RETRO)
    bench.panes[1].title = title
    bench.say(bench.panes[1], f"state=working;tool={agent};project=shop")
    assert drawn(bench)[-1].text == f" 2: {named} "


@each(("style", "light"), [("filled", " ! "), ("stripe", "▌! ")])
def test_a_name_of_ones_own(bench: Bench, style: str, light: str) -> None:
    """A title that the person gave the tab stays; with `names = false` every title does, and nothing is added."""
    bench.panes[1].title = "✳ Claude Code"
    for title, names, shown in (("mine", "true", "2: mine: npm test "), ("", "false", "2: ✳ Claude Code ")):
        bench.start()
        bench.config(f"{{style='{style}', names={names}}}", before=RETRO)
        bench.tabs[1].title = title
        bench.say(bench.panes[1], SHOP)
        assert text_of(bench.title(bench.panes[1])) == f"{light}{shown}" + " " * (style == "filled")


def test_a_session_names_a_tab(bench: Bench) -> None:
    """What an agent calls its session names the tab where the title of its terminal says nothing, idle too."""
    bench.config(before=RETRO)
    for title, named in (("Fix%20the%20tests", "Fix the tests"), ("Claude%20Code", "shop")):
        bench.say(bench.panes[1], f"state=working;tool=claude;project=shop;title={title}")
        assert drawn(bench)[-1].text == f" 2: {named} "
    bench.say(bench.panes[1], "state=idle;tool=claude;project=shop;title=Fix%20the%20tests")
    assert drawn(bench) == [Run("2: Fix the tests ")]


@each(
    ("what", "question", "shown"),
    [
        ("Bash: npm test", "Run it?", "npm test"), ("Edit: a.py", "", "a.py"), ("Which port?", "", "Which port?"),
        ("", "Error: run it?", "Error: run it?"), ("Bash: cd x↵make", "", "cd x"), ("git: ", "", "git:"), ("", "", ""),
    ],
)  # fmt: skip
def test_what_is_asked(bench: Bench, what: str, question: str, shown: str) -> None:
    """By the snapshot: the first line, of a command without its tool; else the question."""
    bench.start()
    bench.config(before=RETRO)
    bench.tick()
    row = {"id": str(bench.panes[1].id), "status": "waiting", "agent": "claude", "project": "shop"}
    bench.write_snapshot({**row, "what": what, "question": question})
    bench.wake()
    assert drawn(bench)[0].text == (f" ! 2: shop: {shown} " if shown else " ! 2: shop ")


def test_the_name_given_in_the_list(bench: Bench) -> None:
    """A conversation's name stands before its program's title, idle too; not before the tab's own."""
    bench.config(before=RETRO)
    bench.tick()
    bench.panes[1].title = "✳ Fix the tests"
    row = {"id": str(bench.panes[1].id), "agent": "claude", "project": "shop", "name": "check\x1bout"}
    bench.write_snapshot({**row, "status": "waiting", "what": "Bash: npm test"})
    bench.wake()
    assert drawn(bench)[0].text == " ! 2: checkout: npm test "
    bench.tabs[1].title = "mine"
    assert drawn(bench)[0].text == " ! 2: mine: npm test "
    bench.tabs[1].title = ""
    bench.write_snapshot({**row, "status": "idle"})
    bench.wake()
    assert drawn(bench) == [Run("2: checkout ")]


def test_whose_name(bench: Bench) -> None:
    """The name is that of the pane whose light is shown, not of the shell beside it that is in front."""
    bench.config(before=RETRO)
    other = bench.system.pane(bench.tabs[1], "bash")
    bench.tabs[1].active = 1
    bench.panes[1].title = "claude"
    bench.say(bench.panes[1], SHOP)
    assert drawn(bench)[0].text == " ! 2: shop: npm test "
    bench.tabs[1].is_zoomed = True
    assert drawn(bench)[0].text == " ! 2: shop: npm test "
    bench.system.close(other)


def test_idle_keeps_the_title(bench: Bench) -> None:
    """Of an idle agent nothing is drawn: WezTerm's title stays, but for a bare one, which is the project."""
    bench.config(before=RETRO)
    bench.panes[1].title = "Fix the tests"
    bench.say(bench.panes[1], "state=idle;tool=claude;project=shop")
    assert bench.title(bench.panes[1]) is None
    bench.panes[1].title = "claude"
    bench.tick()
    assert drawn(bench) == [Run("2: shop ")]
    bench.tabs[1].title = "mine"
    assert bench.title(bench.panes[1]) is None


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
    """Of the panes of a tab the most urgent is shown."""
    bench.config()
    tab = bench.tabs[1]
    other = bench.system.pane(tab)
    bench.say(bench.panes[1], "state=working")
    assert bench.light(other) == "●"
    bench.say(other, "state=error")
    assert bench.light(other) == "×"


def test_no_green_while_another_pane_works(bench: Bench) -> None:
    """Work is shown before a turn that is over, which is a second mark; green only when nothing works any more."""
    bench.config()
    other = bench.system.pane(bench.tabs[1])
    bench.say(bench.panes[1], "state=done")
    assert bench.light(other) == "✓"
    bench.say(other, "state=working")
    assert bench.light(other) == "●✓"
    bench.say(other, "state=waiting")
    assert bench.light(other) == "!"
    bench.say(other, "state=done")
    assert bench.light(other) == "✓"


def test_zoom_shows_the_pane_that_is_zoomed(bench: Bench) -> None:
    """WezTerm lists only the zoomed pane of a tab; the light is that pane's, and all of them again after it."""
    bench.config()
    bench.window.active = 1
    other = bench.system.pane(bench.tabs[1])
    bench.tabs[1].is_zoomed = True
    bench.say(other, WAITING + ";message=Which%3F")
    assert bench.light(other) == "!"
    assert bench.feed["front"] == str(bench.panes[1].id)
    bench.tabs[1].is_zoomed = False
    bench.tick()
    assert bench.light(other) == "!"
    assert set(bench.feed["front"].split(",")) == {str(bench.panes[1].id), str(other.id)}


def test_overlay(bench: Bench) -> None:
    """Copy mode, search or a selector over a pane, which has no variables, does not put its light out."""
    bench.config()
    bench.say(bench.panes[1], WAITING)
    bench.tabs[1].overlay = True
    assert bench.light(bench.panes[1]) == "!"


def test_mux_pane(bench: Bench) -> None:
    """A pane of an ssh or unix domain is lit by its variable, with neither process nor terminal to look at."""
    bench.panes[1].domain = "SSHMUX:build"
    bench.config()
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "!"
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
        bench.listen()

    for word, light in (
        ("waiting:question", "?"), ("waiting", "!"), ("working", "●"), ("down", "▼"), ("", ""),
        ("idle", ""), ("active", ""), ("rm -rf", ""), ("waiting:x:y", ""), ("waiting:other", "!"), ("x" * 9999, ""),
    ):  # fmt: skip
        mux(word)
        assert bench.light(pane) == light, word
    mux("working")
    bench.say(pane, WAITING)
    assert bench.light(pane) == "!"
    bench.say(pane, "state=clear")
    assert bench.light(pane) == "●"
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
    bench.system.workspace = "other"
    bench.tick()
    assert bench.light(hidden) == "!"


def test_hostile_values(bench: Bench) -> None:
    """Escapes, line breaks and bidirectional overrides in a value or a title come out as plain text."""
    bench.config()
    bench.panes[1].title = "evil\x1b]0;x\x07\u202e\ntitle"
    bench.say(bench.panes[1], "state=waiting;tool=%1B]0%3Bx%07;message=%E2%80%AEgnp%0A")
    shown = text_of(bench.title(bench.panes[1]))
    assert shown.rstrip() == " ! 2: evil]0;x title: gnp"
    bench.say(bench.panes[1], "garbage")
    assert bench.fake.errors() == []


# The handlers of others ---------------------------------------------------------------------------------------

_THEIRS = "wezterm.on('format-tab-title', function(tab, _, _, _, _, width) return 'theirs ' .. width end)"


def test_a_handler_before_ours_stays(bench: Bench) -> None:
    """WezTerm runs the first handler only: a user's own goes on as it did; a toast, the log and doctor soon say so."""
    bench.config(before=_THEIRS)
    bench.fake.loaded()
    bench.fake.advance(2)
    hints = [line for level, line in bench.fake.log if level == "warn"]
    assert len(hints) == 1 and "another format-tab-title handler" in hints[0]
    assert bench.feed["problems"] == "titles"
    assert [text for _, text in bench.window.toasts] == [f"No tab shows a light: {hints[0].partition(': ')[2]}"]
    bench.say(bench.panes[1], WAITING)
    assert bench.title(bench.panes[1]) == "theirs 40"
    assert [line for level, line in bench.fake.log if level == "warn"] == hints


@pytest.mark.slow
@each(
    ("opts", "before"),
    [("{}", ""), ("{}", "config.show_tabs_in_tab_bar = false"), ("{title='manual'}", _THEIRS), ("{title=false}", "")],
)
def test_no_handler_is_missed(bench: Bench, opts: str, before: str) -> None:
    """Nothing is wrong where ours is called by the second `update-status`, or where none is to be called."""
    bench.start()
    bench.config(opts, before=before)
    bench.fake._emit_status(bench.window)
    bench.fake.loaded()
    for _ in range(30):
        bench.tick()
    assert bench.fake.log == []
    assert bench.feed["problems"] == ""


def test_a_handler_after_ours_is_called(bench: Bench) -> None:
    """A handler registered after ours would never be called by WezTerm; with `auto` it gives the title."""
    bench.config(after=_THEIRS)
    assert bench.title(bench.panes[1]) == "theirs 40"
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "!"
    assert drawn(bench) == [Run(" ! theirs 35 ", AMBER, BLACK)], "with room for the button behind it"


@each("item", ["Background = {}", "Foreground = 'Red'", "Attribute = true", "Text = 'x', Foreground = 'Default'"])
def test_a_title_that_cannot_be_drawn(bench: Bench, item: str) -> None:
    """An item that WezTerm refuses would cost the light: the title is drawn without that handler; doctor says so."""
    bench.start()
    bench.config(after=f"wezterm.on('format-tab-title', function() return {{ {{ {item} }} }} end)")
    bench.say(bench.panes[1], WAITING)
    assert bench.light(bench.panes[1]) == "!"
    bench.tick(2)
    assert bench.feed["problems"] == "formatter"
    assert "it returns what WezTerm cannot draw" in bench.fake.log[-1][1]


def test_a_list_of_items_stays_whole(bench: Bench) -> None:
    """A handler that returns format items keeps all of them."""
    bench.config(after="wezterm.on('format-tab-title', function() return {{Background={Color='red'}}, {Text='x'}} end)")
    bench.say(bench.panes[1], WAITING)
    theirs = {"Background": {"Color": "red"}}
    # Their colour first, for the first cell colours a fancy tab; the light on it; theirs again behind the light.
    assert bench.title(bench.panes[1]) == [
        theirs, {"Text": " "}, {"Background": {"Color": AMBER}}, {"Foreground": {"Color": BLACK}},
        {"Attribute": {"Intensity": "Bold"}}, {"Text": " ! "}, "ResetAttributes", theirs, {"Text": " "}, {"Text": "x"},
        {"Text": BUTTON},
    ]  # fmt: skip


def test_a_text_with_colours_of_its_own(bench: Bench) -> None:
    """What `wezterm.format` made can be neither measured nor painted over: it stands whole behind the mark."""
    bench.config(after="wezterm.on('format-tab-title', function() return '\\27[31mtheirs' end)", before=RETRO)
    bench.say(bench.panes[1], WAITING)
    assert drawn(bench, 1, 9) == [Run(" ! ", AMBER, BLACK), Run(" \x1b[31mtheirs ")]


def test_a_list_on_a_ground_of_its_own(bench: Bench) -> None:
    """A mark in a title of others can be read on the colour that they give the tab."""
    bench.config(after="""wezterm.on('format-tab-title', function()
        return {{Background={Color='#FFFFFF'}}, {Text='x'}} end)""", before=RETRO)  # fmt: skip
    bench.say(bench.panes[1], "state=working")
    drawn(bench)
    bench.tick()
    mark = drawn(bench)[0]
    assert mark.ground == "#FFFFFF" and contrast.ratio(parse_colour(mark.sign), contrast.WHITE) >= 4.5


def test_own_takes_nobody_in(bench: Bench) -> None:
    """With `own` the titles are ours, and other events are registered as ever."""
    bench.config("{title='own'}", after=_THEIRS + " wezterm.on('bell', function() end)")
    bench.say(bench.panes[1], WAITING)
    assert drawn(bench) == [Run(" ! 2: web ", AMBER, BLACK)]
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
    assert drawn(bench) == [Run(" ! mine ", AMBER, BLACK)]
    tallylight = bench.fake.require("tallylight")
    tab = bench.fake.tab_information(bench.tabs[1])
    state = tallylight.tab_state(tab)
    assert (state.status, state.agent, state.project, state.pane_id) == ("waiting", "claude", "web", bench.panes[1].id)
    assert text_of(bench.fake.to_python(tallylight.decorate(tab, "x"))).rstrip() == " ! x"
    bench.say(bench.panes[1], f"{WAITING};vars=ticket=X-1")
    state = tallylight.tab_state(bench.fake.tab_information(bench.tabs[1]))
    assert bench.fake.to_python(state.vars) == {"ticket": "X-1"}
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
    bench.say(bench.panes[1], "state=idle;tool=claude")
    assert bench.title(bench.panes[1]) == "tab", "in a tab an idle agent has no mark"


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
    """What a user has set is there after ours, and nothing but keys is added; one that is taken moves."""
    config = bench.config(
        before="""config.font_size = 13
        config.keys = {{key='Y', mods='SHIFT|CTRL', action=wezterm.action.Nop}}"""
    )
    assert config.font_size == 13
    keys = bench.fake.to_python(config["keys"])
    assert [(key["key"], key["mods"]) for key in keys] == [
        ("Y", "SHIFT|CTRL"), ("y", "CTRL|ALT"), ("i", "CTRL|SHIFT"), ("a", "CTRL|SHIFT"),
    ]  # fmt: skip


def test_indexes(bench: Bench) -> None:
    """Where WezTerm shows no index, or counts from 0, ours do too."""
    bench.config(before="config.tab_and_split_indices_are_zero_based = true")
    bench.say(bench.panes[1], WAITING)
    assert drawn(bench)[0].text == " ! 1: web "
    bench.start()
    bench.config(before="config.show_tab_index_in_tab_bar = false")
    assert drawn(bench)[0].text == " ! web "


# The budget ---------------------------------------------------------------------------------------------------


def spent(bench: Bench, before: dict[str, int]) -> dict[str, int]:
    """What was called since *before*."""
    return {name: count - before.get(name, 0) for name, count in bench.fake.counts.items() if count != before.get(name)}


def test_budget(bench: Bench) -> None:
    """A title costs no process, no file, no clock; without a sidecar each pane's variables once."""
    bench.has_tally = False
    bench.config(before=RETRO)
    others = [bench.system.pane(bench.tabs[1]) for _ in range(9)]
    for pane in others:
        bench.say(pane, WAITING)
    bench.title(bench.panes[1])
    before = bench.fake.counts
    bench.title(bench.panes[1])
    assert spent(bench, before) == {
        "sync TabInformation.panes": 1,
        "sync PaneInformation.user_vars": 10,
        "sync PaneInformation.pane_id": 10,
        "sync TabInformation.tab_title": 1,
        "sync TabInformation.active_pane": 1,
        "sync PaneInformation.title": 1,
        "sync TabInformation.tab_index": 1,
        "sync TabInformation.is_active": 1,
    } | ({"sync PaneInformation.progress": 1} if bench.profile == "nightly" else {})
    assert not any(name.startswith(("sync io.", "sync os.")) for name in bench.fake.counts)


def test_budget_with_a_sidecar(bench: Bench) -> None:
    """What the sidecar has decided is drawn, and no pane is asked."""
    bench.config(before=RETRO)
    bench.say(bench.panes[1], WAITING)
    bench.title(bench.panes[1])
    before = bench.fake.counts
    bench.title(bench.panes[1])
    asked = {name for name in spent(bench, before) if name.startswith("sync PaneInformation")}
    assert asked <= {"sync PaneInformation.title", "sync PaneInformation.progress"}


def test_a_title_is_made_once(bench: Bench) -> None:
    """While a spinner turns, no title is measured or cut again, its own included; a new word makes one."""
    bench.config(before=RETRO)
    bench.panes[0].title = "⠋ Claude Code"
    bench.say(bench.panes[0], "state=working;tool=claude;project=api")
    bench.say(bench.panes[1], SHOP)
    bench.fake.draw()
    before, shown = bench.fake.counts, dict(bench.fake.titles)
    for frame in "⠙⠹⠸⠼⠴⠦⠧⠇⠏":
        bench.fake.set_title(bench.panes[0], f"{frame} Claude Code")
    assert not {"sync wezterm.column_width", "sync wezterm.truncate_right"} & spent(bench, before).keys()
    assert bench.fake.titles == shown
    bench.say(bench.panes[1], f"{SHOP} --watch")
    assert "sync wezterm.column_width" in spent(bench, before)
    assert "shop: npm" in text_of(bench.fake.titles[bench.tabs[1].id])


@each(
    "change",
    [
        "pane.title = 'Fix it'", "tab.title = 'mine'", "window.active = 1", "tabs.reverse()",
        "tab.panes[0].user_vars['tally'] = 'state=waiting;kind=question'",
        "tab.panes[0].user_vars['tally'] = 'state=done;tool=claude;project=shop'",
        "tab.panes[0].user_vars['tally'] = 'state=waiting;tool=claude;project=shop;message=make'",
        "tab.panes[0].user_vars['tally'] = 'state=waiting;tool=claude;project=mill;message=npm test'",
    ],
)  # fmt: skip
def test_whatever_changes_is_drawn(bench: Bench, change: str) -> None:
    """Nothing that a title is made of can change without the title: the one that was kept is not shown then."""
    bench.start()
    bench.config(before=RETRO)
    bench.tabs[1].title, bench.window.active, bench.panes[1].title = "", 0, "claude"
    bench.window.tabs[:] = bench.tabs
    bench.say(bench.panes[1], "state=clear")
    bench.say(bench.panes[1], SHOP)
    before = bench.title(bench.panes[1])
    exec(change, {"pane": bench.panes[1], "tab": bench.tabs[1], "tabs": bench.window.tabs, "window": bench.window})
    bench.tick()
    assert bench.title(bench.panes[1]) != before


def test_another_look_is_drawn(bench: Bench) -> None:
    """The colours of one window may be others than those of the next, or become others."""
    bench.config(before=RETRO)
    bench.say(bench.panes[1], SHOP)
    before = drawn(bench)
    dark = bench.fake.effective
    bench.fake.evaluate(f"local config = {{use_fancy_tab_bar = false}} {LIGHT} return config")
    bench.tick()
    light = drawn(bench)
    assert light != before
    bench.fake.effective = dark
    bench.tick()
    bench.tick()
    assert drawn(bench) == before


@pytest.mark.slow
def test_what_is_kept_is_bounded(bench: Bench) -> None:
    """A program that sets hundreds of titles is drawn as it says, and a tab beside it stays as it is."""
    bench.config(before=RETRO)
    bench.say(bench.panes[1], SHOP)
    bench.say(bench.panes[0], "state=working")
    kept = drawn(bench)
    for number in range(200):
        bench.panes[0].title = f"task {number}"
        bench.tick()
        assert drawn(bench, 0)[-1].text == f" 1: task {number} "
    assert drawn(bench) == kept


def fills(bench: Bench, number: int) -> str:
    """What a tab is filled with, as it stands in the bar."""
    return runs(bench.fake.titles[bench.tabs[number].id])[0].ground


@each("interval", [1.0, 0.2])
def test_the_pulse(bench: Bench, interval: float) -> None:
    """A light that begins to wait is brighter in every other second, for ten seconds, and then it stands."""
    bench.start()
    bench.config("{pulse=true}", before=RETRO)
    bench.fake.status_interval = interval
    bench.say(bench.panes[1], "state=working")
    bench.fake.advance(20)
    assert bench.window.left_status == "" and bench.fake.status_due == {}
    bench.say(bench.panes[1], WAITING)
    seen = []
    for _ in range(10):
        bench.fake.advance(1)
        seen.append(fills(bench, 1))
        assert bench.window.left_status in ("", "\x1b[0m")
    assert set(seen) == {AMBER, "#FFCC66"} and (interval < 1 or all(a != b for a, b in itertools.pairwise(seen[:-1])))
    bench.fake.advance(2)
    assert fills(bench, 1) == AMBER
    assert bench.window.left_status == "" and bench.fake.status_due == {}
    bench.fake.advance(60)
    assert bench.window.left_status == "" and bench.fake.status_due == {}
    # The timer goes on beside it.
    assert bench.fake.timers


def test_each_light_pulses_by_itself(bench: Bench) -> None:
    """One that begins to wait later does not have an earlier one pulse again; a limit never does."""
    bench.config("{pulse=true}", before=RETRO)
    bench.window.active = 1
    bench.say(bench.panes[0], WAITING)
    third = bench.system.tab(bench.window)
    limited = bench.system.pane(bench.system.tab(bench.window))
    bench.fake.advance(15)
    bench.say(limited, f"{WAITING};kind=limit")
    bench.say(bench.system.pane(third), WAITING)
    seen, still = set(), set()
    for _ in range(4):
        bench.fake.advance(1)
        seen.add(runs(bench.fake.titles[third.id])[0].ground)
        still.add(str(bench.fake.titles[limited.tab.id]))
        assert fills(bench, 0) == AMBER
    assert seen == {AMBER, "#FFCC66"}
    assert len(still) == 1


@each(
    ("progress", "glyph"),
    [
        ("Indeterminate", ""), ("None", ""), ({"Percentage": 0}, "\U000f0130"), ({"Percentage": 6}, "\U000f0a9e"),
        ({"Percentage": 100}, "\U000f0aa5"), ({"Error": 50}, "\U000f0aa1"), ({"Percentage": "x"}, ""), ({}, ""),
    ],
)  # fmt: skip
def test_progress(bench: Bench, progress: object, glyph: str) -> None:
    """At work a tab of the nightlies keeps the circle that WezTerm shows for OSC 9;4; stable has none."""
    bench.start()
    bench.config(before=RETRO)
    bench.panes[1].progress = progress
    bench.panes[1].title = "a very long title indeed"
    bench.say(bench.panes[1], "state=working;tool=claude")
    items = bench.fake.format_tab(bench.tabs[1], 16)
    if glyph and bench.profile == "nightly":
        colour = "Red" if "Error" in progress else "Green"  # type: ignore[operator]
        assert items[-5:] == [
            {"Foreground": {"AnsiColor": colour}}, {"Text": f"{glyph} "}, {"Foreground": "Default"},
            {"Text": "a very lon…"}, {"Text": " "},
        ]  # fmt: skip
    else:
        assert items[-2:] == [{"Text": " a very long… "}, {"Text": " "}]
