"""The contrast of the Lua files against Python's: the palette on many grounds, each run by both."""

from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tallylight.hosts.kitty import tab_look
from tallylight.model import contrast, lights
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tests.hosts.kitty.test_tab_look import LIT, THEMES
from tests.hosts.wezterm.fake import Fake
from tests.tables import each

FAKE = Fake()
CONTRAST = FAKE.require("tallylight.model.contrast")
BAR = FAKE.require("tallylight.ui.bar")
AMBER = lights.COLOURS[Status.WAITING]
#: Bars and tabs of WezTerm, of kitty and of themes, dark, grey and light, and steps of grey and of six hues.
GROUNDS: list[RGB] = [
    (0x33, 0x33, 0x33), (0x2E, 0x34, 0x40), (0x3B, 0x42, 0x52), (0x28, 0x2A, 0x36), (0x62, 0x72, 0xA4),
    (0xEE, 0xE8, 0xD5), (0xFD, 0xF6, 0xE3), (0x99, 0x99, 0x99), (0x1A, 0x1B, 0x26), (0xFB, 0xF1, 0xC7),
    *((grey, grey, grey) for grey in range(0, 256, 15)),
    *itertools.product((0, 128, 255), repeat=3),
]  # fmt: skip

colours = st.tuples(*[st.integers(0, 255)] * 3)


def lua(colour: RGB | None) -> str | None:
    """A colour as the Lua files write it."""
    return None if colour is None else "#{:02X}{:02X}{:02X}".format(*colour)


def agree(colour: RGB, grounds: list[RGB]) -> None:
    """Check that both give the same for *colour* on or beside *grounds*."""
    ground, touching = grounds[0], frozenset(grounds)
    beside = FAKE.lua.table_from([lua(each) for each in grounds])
    assert CONTRAST.ratio(lua(colour), lua(ground)) == contrast.ratio(colour, ground)
    assert math.isclose(CONTRAST.distance(lua(colour), lua(ground)), contrast.distance(colour, ground), abs_tol=1e-9)
    assert CONTRAST.readable_on(lua(ground)) == lua(contrast.readable_on(ground))
    assert CONTRAST.legible(lua(colour), lua(ground)) == lua(contrast.legible(colour, ground))
    assert CONTRAST.filled(lua(colour), beside) == lua(contrast.filled(colour, touching))
    assert CONTRAST.news(lua(colour), lua(ground), lua(AMBER)) == lua(contrast.news(colour, ground, AMBER))
    fills = FAKE.lua.table_from([lua(AMBER), lua(colour)])
    assert CONTRAST.needs_caps(fills, beside) == contrast.needs_caps([AMBER, colour], touching)


@pytest.mark.slow
def test_the_palette() -> None:
    """Every colour of the palette on every ground, alone and with the next one beside it."""
    for colour in set(lights.COLOURS.values()):
        for ground, other in itertools.pairwise(GROUNDS):
            agree(colour, [ground])
            agree(colour, [ground, other])


@given(colours, st.lists(colours, min_size=1, max_size=3))
def test_any_colours(colour: RGB, grounds: list[RGB]) -> None:
    """Colours nobody thought of."""
    agree(colour, grounds)


@pytest.mark.slow
@each(("name", "status", "is_active"), list(itertools.product(THEMES, LIT, (False, True))))
def test_a_theme_is_painted_as_in_kitty(name: str, status: Status, is_active: bool) -> None:
    """In the forty most used themes, whose contrast is tested for kitty: the same fill, black cell and mark."""
    theme = THEMES[name]
    ground = theme.active if is_active else theme.inactive
    tabs = {"background": lua(theme.bar), "inactive_tab": {"bg_color": lua(theme.inactive)}}
    palette = {"tab_bar": {**tabs, "active_tab": {"bg_color": lua(theme.active)}}}
    look = BAR.look(FAKE.to_lua({"use_fancy_tab_bar": False, "resolved_palette": palette}))
    place = FAKE.to_lua({"colours": {}, "ground": lua(ground), "keeps": is_active})
    paint = BAR.paint(FAKE.to_lua({"status": status.value}), look, place)
    bar = theme.look("powerline")
    sign = tab_look.sign(status, "x", ground, bar, lights.COLOURS, is_box=is_active)
    is_whole = status in lights.FILLED and not is_active
    assert paint.ground == (lua(bar.needs[status]) if is_whole else None)
    assert (paint.sign, paint.fill) == (lua(sign.fore), lua(sign.back) or paint.ground)


@pytest.mark.slow
def test_what_was_found_is_kept_within_bounds() -> None:
    """The same is found again after a thousand others, and each result is one of its own arguments."""
    first = [CONTRAST.legible(lua(AMBER), lua((grey, grey, grey))) for grey in range(256)]
    for red, green in itertools.product(range(0, 256, 16), range(0, 256, 4)):
        CONTRAST.legible(lua(AMBER), lua((red, green, 0)))
    assert [CONTRAST.legible(lua(AMBER), lua((grey, grey, grey))) for grey in range(256)] == first


def test_lighter() -> None:
    """A share of white, as the pulse has it."""
    assert CONTRAST.lighter(lua(AMBER), lights.PULSE_WHITE) == lua(
        lights.blend(contrast.WHITE, AMBER, lights.PULSE_WHITE)
    )
