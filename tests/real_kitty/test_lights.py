"""The lights on kitty's tabs: their colours on the screen, their marks, their pulse and their end."""

from __future__ import annotations

import itertools
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from PIL import Image

from tallylight.model.lights import mark
from tallylight.model.palettes import PALETTES
from tallylight.model.status import Status
from tests.real_kitty import desk as desks
from tests.real_kitty.desk import BEFORE, FEW, LIGHTS, MANY, SPILL, Desk
from tests.real_kitty.pixels import Colour, counted
from tests.real_kitty.roots import CHECKOUT

#: Where to put a picture of every style, for a person to look at.
PICTURES = "TALLYLIGHT_PICTURES"

STEADY = "[kitty]\npulse = false\n"
#: kitty's own colour of the tab in front.
ACTIVE = (0xEE, 0xEE, 0xEE)
STYLES = ("powerline", "slant", "fade", "separator")

MARK = "§"
#: Those that docs/lights.md shows, and the template there.
RECIPES = re.findall(r"```python\n(.*?)```", (CHECKOUT / "docs/lights.md").read_text("utf-8"), re.DOTALL)
TEMPLATES = re.findall(r'tab_title_template "[^"]*"', (CHECKOUT / "docs/lights.md").read_text("utf-8"))
#: A person's own tab_bar.py that has kitty draw the title, and one that draws it itself.
CALLS_KITTY = f"""
from kitty.tab_bar import draw_title

def draw_tab(draw_data, screen, tab, before, max_title_length, index, is_last, extra_data):
    screen.draw(" {MARK}")
    draw_title(draw_data, screen, tab, index)
    screen.draw(" ")
    return screen.cursor.x
"""
DRAWS_ITSELF = f"""
def draw_tab(draw_data, screen, tab, before, max_title_length, index, is_last, extra_data):
    screen.draw(" {MARK}" + tab.title + " ")
    return screen.cursor.x
"""

#: Count from now on how often a tab bar is drawn.
COUNT = """
import kitty.tab_bar as module
if not hasattr(module, "times_drawn"):
    update = module.TabBar.update
    def counting(bar, data):
        module.times_drawn += 1
        return update(bar, data)
    module.TabBar.update = counting
module.times_drawn = 0
"""


@pytest.fixture(scope="module")
def _desk(kitty_version: str) -> Iterator[Desk]:
    desk = Desk(kitty_version, config=STEADY, size=(1280, 300))
    yield desk
    desk.close()


@pytest.fixture
def desk(_desk: Desk) -> Desk:
    """A kitty whose lights are steady, with one plain tab."""
    _desk.close_all_but_first()
    return _desk


@pytest.fixture
def lamps(desk: Desk) -> dict[str, int]:
    """Five tabs, each with its light: its name and its tab."""
    windows = {name: desk.lamp(name, name) for name in LIGHTS}
    for name, window in windows.items():
        desk.wait_status(window, name)
    tabs = desk.kitty.tabs()
    return {name: next(t["id"] for t in tabs if t["windows"][0]["id"] == w) for name, w in windows.items()}


def expected(desk: Desk, lamps: dict[str, int]) -> dict[int, str]:
    """What each tab of the desk is to be: the lamps, and the plain tab without a light."""
    return {desk.kitty.tabs()[0]["id"]: ""} | {tab: name for name, tab in lamps.items()}


def picture(desk: Desk, name: str, folder: str | None) -> Path | None:
    """Where to keep the picture of a style, if anywhere."""
    return Path(folder) / f"{desk.kitty.version}-{name}.png" if folder else None


@pytest.fixture
def pictures() -> str | None:
    """The folder for pictures, if there is to be one."""
    return os.environ.get(PICTURES)


def check_styles(desk: Desk, lamps: dict[str, int], settings: dict[str, str], pictures: str | None) -> None:
    """Reload with each of these settings and look at the lights and at the marks."""
    for name, lines in settings.items():
        desk.reload(lines)
        desk.wait_colours(expected(desk, lamps), image=picture(desk, name, pictures))
        bar = desk.bar()
        for light in lamps:
            assert f"{BEFORE.get(light, '')}{light[:4]}" in bar, (name, bar)
        assert desk.marks() == len(BEFORE), bar


def test_every_style_shows_every_light(desk: Desk, lamps: dict[str, int], pictures: str | None) -> None:
    """On each of kitty's tab bar styles, at the top and at the bottom, each tab has its very colour and its mark."""
    settings = {f"{s}-{e}": f"tab_bar_style {s}\ntab_bar_edge {e}\n" for s in STYLES for e in ("top", "bottom")}
    check_styles(desk, lamps, settings, pictures)


def test_a_configuration_without_us_puts_them_out(desk: Desk, lamps: dict[str, int]) -> None:
    """Without our watcher in kitty.conf every light goes out, and nothing is published; with it they come again."""
    marks = {mark(Status(light)) for light in lamps if light != "idle"}
    desk.kitty.wait_until(lambda: marks <= set(desk.bar()), what="the lights")
    watcher, desk._watcher = desk._watcher, ""
    desk.reload("tab_bar_style fade\n")
    desk.kitty.wait_until(lambda: not marks & set(desk.bar()), what="tabs without lights")
    desk.kitty.wait_until(lambda: desk.snapshot() is None, what="the end of the snapshot")
    desk._watcher = watcher
    desk.reload("tab_bar_style fade\n")
    window = desk.lamp("again", "waiting")
    desk.wait_status(window, "waiting")
    desk.kitty.wait_until(lambda: desk.snapshot() is not None, what="a snapshot again")


def test_bars_at_the_side_show_every_light(desk: Desk, lamps: dict[str, int], pictures: str | None) -> None:
    """On a tab bar at the left or the right each tab has its very colour and its mark."""
    if desk.kitty.version == "0.41":
        pytest.skip("kitty 0.41 has no tab bar at a side")
    settings = {f"{s}-{e}": f"tab_bar_style {s}\ntab_bar_edge {e}\n" for s in STYLES for e in ("left", "right")}
    check_styles(desk, lamps, settings, pictures)


def test_a_bar_at_the_side_has_the_project_below_the_title(
    desk: Desk, lamps: dict[str, int], pictures: str | None
) -> None:
    """Once a person gives tabs two lines; one line less where the project is the title. What is filled stays filled."""
    if not desk.kitty.eval("from kitty.tab_bar import DrawData; return 'max_tab_title_lines' in DrawData._fields"):
        pytest.skip("this kitty has one line for each tab")
    tabs = desk.kitty.tabs()
    for name, tab in lamps.items():
        window = next(one["windows"][0]["id"] for one in tabs if one["id"] == tab)
        desk.send(window, f"state={name};tool=claude;project={'done' if name == 'done' else 'shop'};what=npm test")

    def rows(settings: str) -> list[str]:
        desk.reload(settings)
        return [row.strip() for row in desk.bar().splitlines()]

    for style in STYLES:
        one_line = f"tab_bar_style {style}\ntab_bar_edge left\n"
        assert not any("shop" in row for row in rows(one_line)), desk.bar()
        found = rows(f"{one_line}tab_title_max_lines 2\n")
        desk.wait_colours(expected(desk, lamps), image=picture(desk, f"{style}-two-lines", pictures))
        assert sum("shop" in row for row in found) == len(lamps) - 1, desk.bar()
        assert desk.marks() == len(BEFORE), desk.bar()
        desk.kitty.focus_tab(lamps["waiting"])
        found = rows(f"{one_line}tab_title_max_lines 3\ntab_title_wrap 17\ntab_title_template {{index}} {{title}}\n")
        desk.kitty.screenshot(picture(desk, f"{style}-folded", pictures))
        folded = next(number for number, row in enumerate(found) if "waiting:" in row)
        assert ["npm test" in found[folded + 1], "shop" in found[folded + 2]] == [True, True], desk.bar()
        desk.kitty.focus_window(tabs[0]["windows"][0]["id"])


@pytest.mark.parametrize("code", [CALLS_KITTY, DRAWS_ITSELF], ids=["calls-kitty", "draws-itself"])
def test_a_persons_own_tab_bar_is_kept_and_lit(
    desk: Desk, lamps: dict[str, int], code: str, pictures: str | None, request: pytest.FixtureRequest
) -> None:
    """Tabs drawn by a person's tab_bar.py have that person's mark, and the light, once."""
    (desk.kitty.config_dir / "tab_bar.py").write_text(code)
    desk.reload("tab_bar_style custom\n")
    desk.wait_colours(expected(desk, lamps), image=picture(desk, request.node.callspec.id, pictures))

    bar = desk.bar()
    assert bar.count(MARK) == len(lamps) + 1
    assert desk.marks() == len(BEFORE)
    assert all(light[:4] in bar for light in lamps)

    # In kitty's own colours, too, what needs a person is what the eye sees first: the cells of its mark are filled.
    desk.reload("tab_bar_style custom\ninactive_tab_background #999999\ninactive_tab_foreground #444444\n")
    image = picture(desk, f"{request.node.callspec.id}-bright", pictures)
    found: Counter[Colour] = Counter()

    def is_bright() -> bool:
        found.clear()
        found.update(desk.pixels([lamps["waiting"]], desk.kitty.screenshot(image))[lamps["waiting"]])
        return found[(0x99, 0x99, 0x99)] > MANY

    desk.kitty.wait_until(is_bright, what="the other colours")
    assert found[LIGHTS["waiting"]] > SPILL / 4, found.most_common(4)


def test_the_recipes_of_the_documentation(desk: Desk, lamps: dict[str, int], pictures: str | None) -> None:
    """Each draws every light once, where it says; in narrow tabs there is the number, and a coloured title."""
    own, custom = RECIPES
    recipes = [("", "separator", TEMPLATES[0]), (own, "custom", "")]
    if desk.kitty.version != "0.41":
        recipes.append((custom, "separator", next(found for found in TEMPLATES if "{custom}" in found)))
    for number, (code, style, template) in enumerate(recipes):
        (desk.kitty.config_dir / "tab_bar.py").write_text(code)
        wide = f"tab_bar_style {style}\n{template}\ninactive_tab_background #23272f\n"
        desk.reload(wide)
        desk.kitty.wait_until(lambda: "2 ● working" in desk.bar(), 10, f"recipe {number}")
        desk.kitty.wait_until(lambda: desk.marks() == len(BEFORE), 10, f"each light once: {desk.bar()}")
        desk.wait_colours(expected(desk, lamps), image=picture(desk, f"recipe-{number}", pictures))
        desk.reload(f"{wide}tab_bar_margin_width 300\n")
        desk.kitty.wait_until(lambda: "● working" not in desk.bar(), 10, f"narrow tabs, recipe {number}")
        desk.kitty.screenshot(picture(desk, f"recipe-{number}-narrow", pictures))
        assert desk.marks() == len(BEFORE), desk.bar()
    (desk.kitty.config_dir / "tab_bar.py").unlink()
    desk.reload("tab_bar_style fade\n")
    desk.kitty.wait_until(lambda: desk.bar().count("● working") == 1, 10, "the light in front")


def test_one_own_tab_bar_after_the_other(desk: Desk, lamps: dict[str, int]) -> None:
    """Going to and fro between tab_bar.py's of both kinds and a stock style never draws a light twice or not at all."""
    for code in (CALLS_KITTY, DRAWS_ITSELF, "", DRAWS_ITSELF, CALLS_KITTY):
        (desk.kitty.config_dir / "tab_bar.py").write_text(code)
        desk.reload(f"tab_bar_style {'custom' if code else 'fade'}\n")
        desk.kitty.wait_until(lambda code=code: (MARK in desk.bar()) is bool(code), what="the new tab bar")
        assert desk.marks() == len(BEFORE), desk.bar()


def test_a_persons_template_says_where_the_light_goes(desk: Desk, lamps: dict[str, int]) -> None:
    """With `{tab.tally}` in tab_title_template the light is there, and nowhere else."""
    desk.reload('tab_bar_style separator\ntab_title_template "<{index}:{tab.tally}{title}>"\n')
    desk.wait_colours(expected(desk, lamps))

    bar = desk.bar()
    assert "<2:● working>" in bar
    assert desk.marks() == len(BEFORE)


def test_an_active_tab_is_lit_by_its_own_template(desk: Desk) -> None:
    """The tab shown has its light too, with active_tab_title_template as well as without; and what it waits for."""
    window = desk.lamp("shown")
    desk.kitty.focus_tab(desk.kitty.tab_of(window))
    desk.send(window, "state=waiting;kind=permission;what={fmt.fg.red}%0Als")
    desk.reload("tab_bar_style powerline\n")
    desk.kitty.wait_until(lambda: "!  shown: {fmt.fg.red}" in desk.bar(), what="its mark, name and request")
    desk.reload('tab_bar_style powerline\nactive_tab_title_template "*{title}({tab.tally_what})"\n')
    desk.kitty.wait_until(lambda: "!  *shown({fmt.fg.red} ↵ ls)" in desk.bar(), what="what it waits for")


def test_our_styles(desk: Desk, lamps: dict[str, int], pictures: str | None) -> None:
    """A style written to config.toml is drawn in the running kitty: `stripe`, `off`, and filled again after."""
    desk.reload("tab_bar_style separator\n")
    desk.wait_colours(expected(desk, lamps), image=picture(desk, "our-filled", pictures))
    filled = desk.pixels([lamps["waiting"]])[lamps["waiting"]][LIGHTS["waiting"]]
    try:
        # The tab that is shown keeps its background, and has its mark in it.
        desk.kitty.focus_tab(lamps["waiting"])
        desk.kitty.wait_until(lambda: "!  waiting" in desk.bar(), what="the mark in the active tab")
        ((common, _),) = desk.pixels([lamps["waiting"]])[lamps["waiting"]].most_common(1)
        assert common == (0xEE, 0xEE, 0xEE)
        desk.kitty.focus_window(desk.kitty.windows()[0]["id"])
        desk.configure(STEADY + "style = 'stripe'\n")
        desk.kitty.wait_until(lambda: desk.bar().count("▌") == len(lamps), what="stripes")
        desk.wait_colours(expected(desk, lamps), image=picture(desk, "our-stripe", pictures))
        assert 2 * desk.pixels([lamps["waiting"]])[lamps["waiting"]][LIGHTS["waiting"]] < filled
        assert all(f"▌{mark(Status(light))} {light}" in desk.bar() for light in lamps)
        desk.configure(STEADY + "style = 'off'\n")
        desk.wait_colours(dict.fromkeys(expected(desk, lamps), ""), image=picture(desk, "our-off", pictures))
        assert "▌" not in desk.bar() and not desk.marks()
        desk.reload('tab_bar_style separator\ntab_title_template "<{tab.tally}{title}>"\n')
        desk.kitty.wait_until(lambda: "<working>" in desk.bar(), what="a template with nothing in it")
        assert not desk.marks()
    finally:
        desk.configure(STEADY)
    desk.reload("tab_bar_style separator\n")
    desk.wait_colours(expected(desk, lamps))


def test_the_command_lights_the_tab(desk: Desk) -> None:
    """`tally emit` as installed, run in a tab, lights that tab and no other."""
    desk.reload("tab_bar_style fade\n")
    silent = desk.lamp("silent")
    window = desk.kitty.launch(
        "sh", "-c", "tally emit waiting --tool claude --kind permission --project shop; exec cat", keep_focus=True
    )
    desk.wait_status(window, "waiting")

    tabs = {desk.kitty.tab_of(silent): "", desk.kitty.tab_of(window): "waiting"}
    desk.wait_colours(tabs)
    variables = desk.kitty.user_vars(window)
    assert variables["tally_kind"] == "permission"
    assert variables["tally_agent"] == "claude"
    assert variables["tally_reason"] == "protocol: user variable"


def test_variables_are_published_for_others(desk: Desk) -> None:
    """A match on `var:tally_status` finds the window; a light that goes out takes its variables away."""
    window = desk.lamp("lamp")
    desk.lamp("other", "working")
    desk.send(window, "state=waiting;kind=question;tool=codex")
    desk.wait_status(window, "waiting")
    tree = json.loads(desk.kitty.remote("ls", match="var:tally_status=waiting"))
    found = [w["id"] for o in tree for t in o["tabs"] for w in t["windows"]]
    assert found == [window]
    desk.send(window, "state=active")
    desk.wait_status(window, "")

    assert not [name for name in desk.kitty.user_vars(window) if name.startswith("tally_")]


def test_a_tab_shows_its_most_urgent_window(desk: Desk) -> None:
    """Of three windows in a tab the one that waits is shown, then the one that failed; no green while one works."""
    desk.reload("tab_bar_style fade\n")
    first = desk.lamp("three", "working")
    tab = desk.kitty.tab_of(first)
    second, third = (
        desk.kitty.launch("cat", type="window", match=f"id:{tab}", keep_focus=True, location="last") for _ in range(2)
    )
    desk.send(second, "state=waiting")
    desk.send(third, "state=error")
    desk.wait_colours({tab: "waiting"})
    desk.send(second, "state=working")
    desk.wait_colours({tab: "error"})
    desk.kitty.close_window(third)
    desk.wait_colours({tab: "working"})
    desk.send(second, "state=done")
    desk.wait_status(second, "done")
    desk.wait_colours({tab: "working"})
    assert desk.host(f"host.surfaces.tabs.rendered({tab})").count("●✓") == 1
    desk.send(first, "state=done")
    desk.wait_colours({tab: "done"})


def test_without_a_tab_bar_the_light_is_in_the_title(desk: Desk) -> None:
    """With the bar hidden, or one tab below `tab_bar_min_tabs`, X is told of the mark; with a bar it is not."""
    kitty = desk.kitty
    window = kitty.windows()[0]["id"]
    x_window = str(kitty.ls()[0]["platform_window_id"])
    kitty.eval(f"boss.window_id_map[{window}].set_title('front')")

    def wait_name(name: str) -> None:
        kitty.wait_until(lambda: kitty.xdotool("getwindowname", x_window) == name, 10, f"the title {name}")

    desk.reload("tab_bar_style hidden\n")
    desk.send(window, "state=waiting;kind=question")
    wait_name("? front")
    # Of the tab that is shown, and of the other one that asks.
    other = desk.lamp("other")
    kitty.focus_window(other)
    kitty.eval(f"boss.window_id_map[{other}].set_title('behind')")
    wait_name("? front · behind")
    desk.reload("tab_bar_style fade\n")
    wait_name("behind")
    desk.reload("tab_bar_style fade\ntab_bar_min_tabs 3\n")
    kitty.focus_window(window)
    wait_name("? front")
    desk.send(window, "state=clear")
    wait_name("front")
    kitty.eval(f"boss.window_id_map[{window}].set_title('')")


THEMES = {
    "dark": "background #16181d\nforeground #c8ccd4\ntab_bar_background #16181d\nactive_tab_background #3a404c\n"
    "active_tab_foreground #ffffff\ninactive_tab_background #23272f\ninactive_tab_foreground #aab0bc\n",
    "light": "background #ffffff\nforeground #24292f\ntab_bar_background #eaeef2\nactive_tab_background #ffffff\n"
    "active_tab_foreground #24292f\ninactive_tab_background #eaeef2\ninactive_tab_foreground #57606a\n",
}
#: Some of a theme's own colours, by light: its numbers 4, 3, 2, 1 and 8.
OWN = {"working": "#0969da", "waiting": "#9a6700", "done": "#1a7f37", "error": "#cf222e", "idle": "#6e7781"}


def test_palettes_and_the_theme(desk: Desk, lamps: dict[str, int], pictures: str | None) -> None:
    """On a dark and on a light theme: the default, the palettes, and the theme's own colours, after a change too."""
    own = "".join(f"color{n} {OWN[name]}\n" for n, name in zip((4, 3, 2, 1, 8), OWN, strict=True))
    palettes = {
        "default": LIGHTS,
        **{name: {light: PALETTES[name][Status(light)] for light in LIGHTS} for name in ("light", "deutan")},
        "theme": {name: tuple(bytes.fromhex(text[1:])) for name, text in OWN.items()},
    }

    def has_colours(colours: Mapping[str, tuple[int, ...]]) -> bool:
        found = desk.pixels(list(lamps.values()))
        return all(found[lamps[name]][colours[name]] >= MANY for name in ("waiting", "error"))  # type: ignore[index]

    try:
        for theme, palette in (("dark", "default"), ("dark", "deutan"), ("light", "light"), ("light", "theme")):
            desk.configure(f'colours = "{palette}"\n{STEADY}')
            desk.reload(f"tab_bar_style separator\n{THEMES[theme]}{own if palette == 'theme' else ''}")
            colours = palettes[palette]
            desk.kitty.wait_until(lambda c=colours: has_colours(c), 20, f"{palette} on {theme}")  # type: ignore[misc]
            desk.kitty.screenshot(picture(desk, f"{theme}-{palette}", pictures))
        desk.kitty.remote("set-colors", colors={"color3": 0x123456}, configured=True, match_window="all")
        changed = {**palettes["theme"], "waiting": (0x12, 0x34, 0x56)}
        desk.kitty.wait_until(lambda: has_colours(changed), 20, "the theme's new yellow")
    finally:
        desk.configure(STEADY)
        desk.reload("tab_bar_style fade\n")


#: The tabs of the sheet: their names and what their agents report, over and over.
AGENTS = (
    ("shop", "waiting;kind=permission;what=Bash: npm test"), ("api", "working"), ("docs", "done"),
    ("infra", "error;message=exit 1"), ("blog", "idle"), ("mill", "background"),
    ("cart", "waiting;kind=question;message=Which port?"), ("db", "working"),
)  # fmt: skip
#: What the first eight of so many tabs show in a bar of 142 cells without ends: what is asked before the other names.
SHOWN = {
    25: (" ! shop", "●3", "✓4", "×5", "blog", "○7", " ? cart", "● db"),
    14: ("! shop: npm test", "● api", "✓ doc", "× infra: exit 1", "blog", "○ mill", "? cart: Which port?", "● db"),
    9: ("! shop: npm test", "● api", "✓  docs", "× infra: exit 1", "blog", "○ mill", "? cart: Which port?", "● db"),
    3: ("! shop: npm test", "● api"),
}


def test_a_bare_name_is_the_project(desk: Desk) -> None:
    """Of an agent that calls itself by its name alone, also one that only reports, as over ssh."""
    desk.reload("tab_bar_style powerline\n")
    window = desk.kitty.launch("cat", keep_focus=True)
    desk.say(window, b"\x1b]2;\xe2\x9c\xb3 Claude Code\x07")
    desk.send(window, "state=waiting;kind=permission;tool=claude;project=shop;what=Bash: npm test")
    desk.kitty.wait_until(lambda: " ! shop: npm test" in desk.bar(), what="the project and the request")
    desk.kitty.eval(f"boss.tab_for_id({desk.kitty.tab_of(window)}).set_title('mine')")
    desk.kitty.wait_until(lambda: " ! mine: npm test" in desk.bar(), what="the name that a person gave")


def another(desk: Desk, strips: list[Image.Image]) -> Image.Image | None:
    """The tab bar at the top, once it is drawn whole: it is not the last of *strips*, and it rests."""
    first, second = (desk.kitty.screenshot().crop((0, 0, 1280, 22)) for _ in range(2))
    is_new = not strips or second.tobytes() != strips[-1].tobytes()
    return second if is_new and first.tobytes() == second.tobytes() and counted(second)[LIGHTS["waiting"]] else None


def test_each_width_says_what_it_can(desk: Desk, tmp_path: Path) -> None:
    """With 3, 9, 14 and 25 tabs, in a dark theme, a light one and kitty's own: a sheet of what there is to see."""
    kitty = desk.kitty
    windows = [desk.lamp(AGENTS[n % len(AGENTS)][0]) for n in range(24)]
    for n, window in enumerate(windows):
        desk.send(window, f"tool=claude;state={AGENTS[n % len(AGENTS)][1]}".replace(" ", "%20"))
    themes = {"kitty": "inactive_tab_background #999999\n", **THEMES}
    strips: list[Image.Image] = []
    for number, texts in SHOWN.items():
        for window in windows[number - 1 :]:
            kitty.close_window(window)
        windows = windows[: number - 1]
        desk.reload('tab_bar_style separator\ntab_separator ""\n')
        kitty.wait_until(lambda t=texts: all(text in desk.bar() for text in t), 20, f"{number} tabs: {texts}")
        assert "…" not in desk.bar().replace("bl…", ""), desk.bar()
        for theme, style in itertools.product(themes, ("fade", "powerline")):
            desk.reload(f"tab_bar_style {style}\ntab_bar_edge top\n{themes[theme]}")
            strips.append(kitty.wait_until(lambda s=strips: another(desk, s), 10, f"{number} in {style}"))
    sheet = Image.new("RGB", (1280, 26 * len(strips)), "#808080")
    for n, strip in enumerate(strips):
        sheet.paste(strip, (0, 26 * n))
    desk.keep(sheet, "kitty-look")
    for window in windows:
        kitty.close_window(window)


#: The corner of a window in which its badge stands, in pixels of the OS window.
CORNER = """
from kitty.fast_data_types import cell_size_for_window
w = boss.window_id_map[{window}]
width, height = cell_size_for_window(w.os_window_id)
return [w.geometry.right - 3 * width, w.geometry.top, w.geometry.right, w.geometry.top + height]
"""
BAR = "bar = boss.window_id_map[{window}]._title_bar_screen\nreturn str(bar.screen.line(0)) if bar else ''"


def test_each_split_has_its_light(desk: Desk, pictures: str | None) -> None:
    """Of several windows in a tab each has its own light, wherever it moves; alone in sight, or idle, none."""
    kitty = desk.kitty
    first = kitty.windows()[0]["id"]
    desk.reload("tab_bar_style hidden\nenabled_layouts tall,stack\n")
    programs = {"waiting": "Run the migration?", "working": "Rounding in the checkout", "idle": "zsh"}
    windows = {
        name: kitty.launch("sh", "-c", f"printf '{text}'; exec cat", type="window", keep_focus=True, location="last")
        for name, text in programs.items()
    }
    for name, window in windows.items():
        desk.send(window, f"state={name}")

    def lights_on(window: int) -> set[str]:
        box = kitty.eval(CORNER.format(window=window))
        counts = counted(kitty.screenshot().crop(tuple(box)))
        return {name for name, colour in LIGHTS.items() if counts[colour] >= FEW}

    def wait_lights(**expected: set[str]) -> None:
        kitty.wait_until(
            lambda: all(lights_on(windows[name]) == found for name, found in expected.items()), 10, f"{expected}"
        )

    def wait_bar(window: int, text: str) -> None:
        bar = BAR.format(window=window)
        kitty.wait_until(lambda: text in kitty.eval(bar), 10, f"{text} in the title bar of {window}")

    wait_lights(waiting={"waiting"}, working={"working"}, idle=set())
    shot = kitty.screenshot(picture(desk, "one-tab-splits", pictures))
    desk.keep(shot, "kitty-splits")
    kitty.eval(f"boss.window_id_map[{first}].tabref().move_window(2)")
    wait_lights(waiting={"waiting"}, working={"working"})
    desk.send(windows["waiting"], "state=done")
    wait_lights(waiting=set())
    kitty.focus_window(windows["working"])
    kitty.remote("goto-layout", layout="stack", match="all")
    wait_lights(working=set())
    kitty.remote("goto-layout", layout="tall", match="all")
    wait_lights(working={"working"})
    if desk.kitty.version != "0.41":
        bars = "tab_bar_style hidden\nwindow_title_bar_min_windows 2\nwindow_title_template "
        desk.reload(bars + "<{title}\n")
        desk.send(windows["waiting"], "state=waiting")
        wait_bar(windows["waiting"], "< !  ")
        wait_bar(windows["working"], "<● ")
        wait_bar(first, "<")
        wait_lights(waiting=set(), working=set())
        kitty.screenshot(picture(desk, "one-tab-title-bars", pictures))
        desk.reload(bars + "<{title}{tab.tally}>\n")
        wait_bar(windows["working"], "● >")
    desk.reload("tab_bar_style hidden\n")
    wait_lights(working={"working"})
    assert "tallylight" not in kitty.log


def test_done_lasts_until_a_person_looks(desk: Desk) -> None:
    """`done` stays in a tab not shown and in an OS window without the focus; it is idle once a person looks."""
    desk.reload("tab_bar_style fade\n")
    window = desk.lamp("lamp", "done")
    desk.wait_status(window, "done")
    desk.let_pass(1.5)
    assert desk.status(window) == "done"
    desk.kitty.unfocus()
    # Not by remote control, which would take the X focus back.
    desk.kitty.eval(f"tab = boss.tab_for_id({desk.kitty.tab_of(window)}); tab.tab_manager_ref().set_active_tab(tab)")
    desk.let_pass(2)
    assert desk.kitty.focused_os_window() is None
    assert desk.status(window) == "done"
    desk.wait_colours({desk.kitty.tab_of(window): "done"}, lights=desks.lights_on(ACTIVE))
    desk.kitty.focus_os_window(desk.kitty.ls()[0]["id"])
    desk.wait_status(window, "idle", 5)

    desk.wait_colours({desk.kitty.tab_of(window): "idle"})


def test_looking_does_not_answer(desk: Desk) -> None:
    """A tab that waits is still amber after a person has looked at it for three seconds."""
    window = desk.lamp("lamp", "waiting")
    desk.wait_status(window, "waiting")
    desk.kitty.focus_window(window)
    desk.let_pass(3)

    assert desk.kitty.focused_os_window() is not None
    assert desk.kitty.window(window)["is_focused"]
    desk.kitty.focus_window(desk.kitty.windows()[0]["id"])  # a tab is filled while another one is in front
    desk.wait_colours({desk.kitty.tab_of(window): "waiting"})
    pane = next(pane for pane in desk.snapshot().panes if pane.id == str(window))  # type: ignore[union-attr]
    assert (pane.status, pane.attention.seen) == (Status.WAITING, True)


def test_the_snapshot_is_private_and_says_what_is_shown(desk: Desk) -> None:
    """The snapshot has mode 0600, is read by its reader and names the tab; a closed tab is not in it any more."""
    window = desk.lamp("lamp")
    desk.send(window, "state=waiting;kind=permission;tool=claude;project=shop;message=may%20I")
    desk.wait_status(window, "waiting")

    def panes() -> dict[str, object]:
        found = desk.snapshot()
        return {pane.id: pane for pane in found.panes} if found is not None else {}

    def is_told() -> bool:
        pane = panes().get(str(window))
        return pane is not None and pane.status == "waiting"  # type: ignore[attr-defined]

    desk.kitty.wait_until(is_told, what="the question in the snapshot")
    pane = panes()[str(window)]
    assert (pane.status, pane.kind, pane.agent) == ("waiting", "permission", "claude")  # type: ignore[attr-defined]
    assert (pane.project, pane.message) == ("shop", "may I")  # type: ignore[attr-defined]
    assert pane.place.tab == str(desk.kitty.tab_of(window))  # type: ignore[attr-defined]
    folder = desk.kitty.runtime_dir / "tallylight"
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    modes.setdefault(".waited", 0o600)  # which comes a little later
    modes.setdefault(".former", 0o600)  # of a host that was here before in this kitty
    assert modes == {".json": 0o600, ".waited": 0o600, ".former": 0o600, ".requests": 0o600, ".sock": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    desk.kitty.close_window(window)
    desk.kitty.wait_until(lambda: str(window) not in panes(), what="the end of the window in the snapshot")
    (plain,) = desk.kitty.tabs()
    desk.wait_colours({plain["id"]: ""})


def amber_levels(desk: Desk, tab: int) -> set[Colour]:
    """The colours of the fill of a tab at this moment."""
    return {c for c, n in desk.pixels([tab])[tab].items() if n >= MANY and c[0] - c[2] >= 60}


def times_drawn(desk: Desk, seconds: float) -> float:
    """How often a second tab bars are drawn."""
    begin = float(desk.host("__import__('time').monotonic()"))
    desk.kitty.eval(COUNT)
    desk.let_pass(seconds)
    end, times = desk.kitty.eval("import time, kitty.tab_bar as m; return [time.monotonic(), m.times_drawn]")
    return float(times / (end - begin))


def test_steady_lights_cost_nothing(desk: Desk) -> None:
    """With `pulse = false` a tab that waits keeps its colour, and no tab bar is drawn that has not changed."""
    desk.reload("tab_bar_style separator\n")
    window = desk.lamp("lamp", "waiting")
    tab = desk.kitty.tab_of(window)
    desk.wait_colours({tab: "waiting"})

    assert times_drawn(desk, 2) < 1
    assert desk.host("host.surfaces.rollup._timer") == "None"
    assert amber_levels(desk, tab) == {LIGHTS["waiting"]}


def test_waiting_pulses(kitty_version: str) -> None:
    """Amber, and it alone, changes its brightness, at most ten times a second, for ten seconds; then it stands."""
    desk = Desk(kitty_version, "tab_bar_style separator\n")
    try:
        blue = desk.lamp("blue", "working")
        desk.wait_colours({desk.kitty.tab_of(blue): "working"})
        assert times_drawn(desk, 2) < 1
        window = desk.lamp("lamp", "waiting")
        tab = desk.kitty.tab_of(window)
        desk.wait_status(window, "waiting")
        rate = times_drawn(desk, 2)
        assert 1 < rate <= 10.5
        levels: set[Colour] = set()
        desk.kitty.wait_until(lambda: len(levels.update(amber_levels(desk, tab)) or levels) > 2, what="three levels")
        desk.wait_colours({desk.kitty.tab_of(blue): "working"})
        desk.kitty.wait_until(lambda: desk.host("host.surfaces.rollup._timer") == "None", 20, "the end of the pulse")
        assert times_drawn(desk, 2) < 1
        assert desk.status(window) == "waiting"
        desk.wait_colours({tab: "waiting"})
        assert amber_levels(desk, tab) == {LIGHTS["waiting"]}
    finally:
        desk.close()


def test_a_reload_changes_nothing(desk: Desk) -> None:
    """Reading kitty.conf anew, with its watcher line once more, leaves one host and one light."""
    desk.lamp("lamp", "working")
    host = desk.host("id(host)")
    for _ in range(3):
        desk.reload("tab_bar_style fade\n")

    assert desk.host("id(host)") == host
    desk.kitty.wait_until(lambda: "● lamp" in desk.bar(), what="the light")
    assert desk.marks() == 1
