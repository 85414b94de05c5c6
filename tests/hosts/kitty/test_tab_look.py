"""
What a tab looks like in the forty most used themes: contrast, salience, and what people see who see no red or green.

`python -m tests.hosts.kitty.test_tab_look` writes the figures into docs/contrast.md.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tallylight.hosts.kitty import tab_look
from tallylight.hosts.kitty.tab_look import NARROW_TAB_CELLS, Run
from tallylight.model import contrast
from tallylight.model.lights import COLOURS, FILLED, RGB, mark
from tallylight.model.status import Status
from tallylight.wire.text import width
from tests.colour_vision import BLINDNESS, oklab
from tests.tables import each

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/contrast.md"
STYLES = ("fade", "powerline")
#: Cells of a tab: one of every kind, and both ends of each.
SIZES = (1, 2, 3, 4, 5, 6, 9, 10, 20, 40)
LIT = tuple(status for status in Status if status not in (Status.IDLE, Status.ACTIVE))
#: How much of its cell a mark covers, roughly: `●` in common fonts.
INK = 0.4
#: Of a colour's chroma so much is left where it is moved for contrast; in Dracula's bar blue is light.
LEAST_CHROMA = 0.36
#: Of two colours beside each other that nobody takes for one, by the lightness of OKLab.
LIGHTNESS = 0.1


class Theme(NamedTuple):
    name: str
    bar: RGB
    active: RGB
    active_text: RGB
    inactive: RGB
    text: RGB
    background: RGB

    def look(self, style: str) -> contrast.Fills:
        """The bar as it is in this theme."""
        touching = {self.bar} if style == "fade" else {self.bar, self.inactive}
        needs = (COLOURS[status] for status in (Status.WAITING, Status.ERROR, Status.DOWN))
        return tab_look.bar_of(*needs, frozenset(touching), self.active)

    def touching(self, style: str) -> set[RGB]:
        """What stands beside a tab, but for the active one."""
        return {self.bar} if style == "fade" else {self.bar, self.inactive}


def _themes() -> Iterator[Theme]:
    for line in (ROOT / "tests/themes.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, *colours = line.rsplit(maxsplit=6)
            yield Theme(name.strip(), *(tuple(bytes.fromhex(colour)) for colour in colours))  # type: ignore[arg-type]


THEMES = {theme.name: theme for theme in _themes()}
every_theme = each("name", THEMES)


def tab(theme: Theme, style: str, status: Status, size: int) -> tuple[Run, list[Run], RGB]:
    """An inactive tab of *size* cells: its sign, all of its text, and its ground."""
    bar = theme.look(style)
    ground = bar.get(status, theme.inactive)
    fore = contrast.readable_on(ground) if status in FILLED else theme.text
    one = tab_look.sign(status, mark(status), ground, bar, COLOURS, is_box=False, size=size)
    if size < NARROW_TAB_CELLS:
        return one, tab_look.narrow(one, fore, "shop", 3, size, size), ground
    runs = tab_look.before_title(one, fore, is_filled=status in FILLED)
    room = size - sum(width(run.text) for run in runs)
    return one, [*runs, Run(tab_look.fitted("shop", "npm test" * (status in FILLED), room).ljust(room), fore)], ground


def edge(theme: Theme, style: str, status: Status) -> float:
    """The contrast of a tab that needs a person with what it touches."""
    fill = theme.look(style)[status]
    return min(contrast.ratio(fill, ground) for ground in theme.touching(style))


def is_apart(fill: RGB, grounds: Iterable[RGB]) -> bool:
    """Return whether *fill* differs from each of *grounds* at a glance, by its lightness or by its hue."""
    return all(
        contrast.ratio(fill, ground) >= contrast.FILL_CONTRAST or contrast.distance(fill, ground) >= contrast.APART
        for ground in grounds
    )


def legibility(theme: Theme, style: str, status: Status, size: int = 20) -> float:
    """The contrast of a mark with the cell that it stands in."""
    one, _, ground = tab(theme, style, status, size)
    return contrast.ratio(one.fore, one.back or ground)


def test_there_are_forty_themes() -> None:
    assert len(THEMES) >= 40


@every_theme
def test_marks_can_be_read_and_fills_stand_out(name: str) -> None:
    """4.5:1 for text and each mark on a fill, 3:1 for a plain mark; a fill differs from what it touches."""
    theme = THEMES[name]
    for style, status in itertools.product(STYLES, LIT):
        one, runs, ground = tab(theme, style, status, 20)
        is_plain = one.back is None and status not in FILLED
        floor = contrast.FILL_CONTRAST if is_plain else contrast.SIGN_CONTRAST
        assert legibility(theme, style, status) >= floor
        if status in FILLED:
            assert is_apart(ground, theme.touching(style))
            assert one.back is None, "a cell of another colour within a fill reads as two tabs"
            assert contrast.ratio(runs[-1].fore, ground) >= contrast.SIGN_CONTRAST
        elif one.back is not None:
            assert is_apart(one.back, [theme.inactive])


@every_theme
def test_each_light_is_seen_in_its_colour(name: str) -> None:
    """Also on a bar of middling grey, as kitty's own is: no blue, red or green that is nearly black."""
    for status in (Status.WORKING, Status.LIMITED, Status.DONE):
        one, _, _ = tab(THEMES[name], "fade", status, 20)
        kept = contrast.chroma(one.back or one.fore) / contrast.chroma(COLOURS[status])
        assert kept >= LEAST_CHROMA, (status, one, kept)


def salience(theme: Theme, style: str, status: Status, size: int) -> float:
    """How much of the bar a tab changes: each cell by how far its colour, and the ink in it, are from a plain tab."""
    _, runs, ground = tab(theme, style, status, size)
    found = 0.0
    for run in runs:
        back = run.back or ground
        found += width(run.text) * contrast.distance(back, theme.inactive)
        if run.text.strip() in ("", "shop"):
            continue
        found += INK * contrast.distance(run.fore, back) * (run.fore != theme.text)
    return found


@pytest.mark.slow
@every_theme
def test_amber_is_seen_first(name: str) -> None:
    """At every width a tab that waits differs more from a plain one than any that asks for nothing."""
    theme = THEMES[name]
    for style, size in itertools.product(STYLES, SIZES):
        amber = salience(theme, style, Status.WAITING, size)
        others = {status: salience(theme, style, status, size) for status in LIT if status not in FILLED}
        assert amber > max(others.values()), (style, size, amber, others)


@pytest.mark.slow
@every_theme
def test_waiting_and_done_differ_by_shape_and_lightness(name: str) -> None:
    """At every width, for everybody: another mark, and that, its cell or the rest of the tab is lighter or darker."""
    theme = THEMES[name]
    for style, size in itertools.product(STYLES, SIZES):
        both = [tab(theme, style, status, size) for status in (Status.WAITING, Status.DONE)]
        assert [one.text for one, _, _ in both] == ["!", "✓"]
        assert all(one.text in "".join(run.text for run in runs) for one, runs, _ in both)
        for blindness in ("", *BLINDNESS):
            waits, done = (
                [oklab(colour, blindness)[0] for colour in (one.back or ground, one.fore, ground)]
                for one, _, ground in both
            )
            apart = [abs(one - other) for one, other in zip(waits, done, strict=True)]
            assert max(apart) >= LIGHTNESS, (style, size, blindness, apart)


@each("size", SIZES)
@each("status", LIT)
@each("is_box", [False, True])
def test_a_tab_is_as_wide_as_it_is_to_be(size: int, status: Status, *, is_box: bool) -> None:
    """No run goes beyond its room, the mark is always whole, and an index is whole or absent."""
    bar = THEMES["default"].look("powerline")
    for text, index in ((mark(status), 3), (mark(status), 123), ("✓?", 7)):
        one = tab_look.sign(status, text, (0x99, 0x99, 0x99), bar, COLOURS, is_box=is_box, size=size)
        drawn = "".join(run.text for run in tab_look.narrow(one, (0, 0, 0), "a-long-name", index, size, size))
        assert width(drawn) <= size and "…" not in drawn
        assert (text if size >= width(text) else text[:1]) in drawn
        if size < tab_look.NAMELESS_CELLS:
            assert drawn.strip(f" {text}") in ("", str(index))
            assert size > 3 or is_box or not drawn.strip(f" {text}")


@each(
    ("room", "expected"),
    [
        (40, "shop: npm test"), (14, "shop: npm test"), (13, "shop: npm te…"), (11, "shop: npm…"), (10, "shop"),
        (4, "shop"), (3, "sh…"), (1, "…"),
    ],
)  # fmt: skip
def test_what_is_asked_follows_the_name_as_far_as_it_can(room: int, expected: str) -> None:
    """Five cells of it at least, or the name alone."""
    assert tab_look.fitted("shop", "npm test", room) == expected


@each(
    ("what", "project", "most", "expected"),
    [
        ("", "shop", 2, ["Fix the ro…", "\x1b[22mshop"]),
        ("", "Fix the rounding", 2, ["Fix the ro…"]),
        ("", "", 3, ["Fix the ro…"]),
        ("", "a-long-project", 2, ["Fix the ro…", "\x1b[22ma-long-pro…"]),
        ("", "shop", 1, ["Fix the ro…"]),
    ],
)
def test_the_project_is_below_the_title(what: str, project: str, most: int, expected: list[str]) -> None:
    """In one line of its own where there is one, and not where the title is the same."""
    assert tab_look.stacked("Fix the rounding", what, project, 11, most, is_folded=False) == expected


@each(
    ("most", "expected"),
    [
        (1, ["Fix the ro…"]),
        (2, ["Fix the", "rou…: npm…"]),
        (3, ["Fix the", "rounding:", "npm test"]),
        (4, ["Fix the", "rounding:", "npm test", "\x1b[22mshop"]),
    ],
)
def test_a_folded_title_goes_before_the_project(most: int, expected: list[str]) -> None:
    """What is asked is worth more than where: the project has the line that is left."""
    assert tab_look.stacked("Fix the rounding", "npm test", "shop", 11, most, is_folded=True) == expected


def drawn() -> str:
    """The figures as a table."""
    head = ["theme", "style", "amber", "its mark", "its edge", "red's edge", "done mark", "working mark"]
    lines = [head, ["---", "---", "---", *["---:"] * 5]]
    for theme in THEMES.values():
        for style in STYLES:
            bar = theme.look(style)
            lines.append(
                [
                    theme.name,
                    style,
                    "#" + bytes(bar[Status.WAITING]).hex(),
                    f"{legibility(theme, style, Status.WAITING):.1f}",
                    *(f"{edge(theme, style, status):.1f}" for status in (Status.WAITING, Status.ERROR)),
                    *(f"{legibility(theme, style, status):.1f}" for status in (Status.DONE, Status.WORKING)),
                ]
            )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page_with_table() -> str:
    marked = re.compile(r"(<!-- table -->\n).*?(<!-- /table -->)", re.DOTALL)
    return marked.sub(lambda match: f"{match[1]}{drawn()}{match[2]}", PAGE.read_text("utf-8"))


def test_the_page_has_the_figures() -> None:
    assert PAGE.read_text("utf-8") == page_with_table()


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), "utf-8")
