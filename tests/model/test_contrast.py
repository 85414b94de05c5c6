"""Contrast: ratios and distances as published, and colours that are moved no further than they must be."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tallylight.model.contrast import (
    BLACK,
    FILL_CONTRAST,
    NEWS_HUE_CONTRAST,
    SIGN_CONTRAST,
    VIVID,
    WHITE,
    chroma,
    distance,
    filled,
    legible,
    marked,
    moved,
    news,
    ratio,
    readable_on,
)
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.status import Status
from tests.tables import each

AMBER, RED, GREEN = (COLOURS[status] for status in (Status.WAITING, Status.ERROR, Status.DONE))
#: kitty's own inactive tab, on its own bar.
GREY = (0x99, 0x99, 0x99)
#: Nord's bar and its inactive tab.
NORD = frozenset({(0x2E, 0x34, 0x40), (0x3B, 0x42, 0x52)})

colours = st.tuples(*[st.integers(0, 255)] * 3)


@each(
    "one, other, expected",
    [(BLACK, WHITE, 21.0), (WHITE, WHITE, 1.0), ((0x76, 0x76, 0x76), WHITE, 4.54), ((0xFF, 0, 0), WHITE, 4.0)],
)
def test_ratios_are_those_of_wcag(one: RGB, other: RGB, expected: float) -> None:
    """The examples that its own pages name."""
    assert math.isclose(ratio(one, other), expected, abs_tol=0.005)
    assert ratio(one, other) == ratio(other, one)


def test_distances_are_those_of_oklab() -> None:
    """White is 1 away from black; what is equal is not away at all."""
    assert math.isclose(distance(BLACK, WHITE), 1, abs_tol=0.001)
    assert distance(AMBER, AMBER) == 0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(colours, st.frozensets(colours, min_size=1, max_size=3), st.sampled_from([FILL_CONTRAST, SIGN_CONTRAST]))
def test_a_moved_colour_stands_out_from_all(colour: RGB, grounds: frozenset[RGB], least: float) -> None:
    """What stands out already stays as it is; where a colour is found it has the ratio, and no channel overflows."""
    found = moved(colour, grounds, least)
    if found is None:
        return
    assert all(0 <= channel <= 255 for channel in found)
    assert min(ratio(found, ground) for ground in grounds) >= least
    if all(ratio(colour, ground) >= least for ground in grounds):
        assert found == colour


@settings(max_examples=60, deadline=None)
@given(colours, colours)
def test_a_sign_can_be_read_on_any_ground(colour: RGB, ground: RGB) -> None:
    """Any colour on any ground."""
    assert ratio(legible(colour, ground), ground) >= SIGN_CONTRAST
    assert readable_on(ground) in (BLACK, WHITE)
    assert ratio(readable_on(ground), ground) >= SIGN_CONTRAST


def test_fills() -> None:
    """
    Amber stays amber, also where it hardly differs from a tab; red moves from a dark bar.

    The red of Nord is that of a table made by another program.
    """
    assert filled(AMBER, frozenset({BLACK, GREY})) == AMBER
    assert filled(RED, NORD) == (0xF3, 0x56, 0x59)


def test_news_is_not_filled_where_it_would_look_like_amber() -> None:
    """On Dracula's tabs a green with enough contrast is as light as amber: its mark stands without a fill."""
    fill = news(GREEN, GREY, AMBER)
    assert fill is not None and ratio(fill, GREY) >= NEWS_HUE_CONTRAST and chroma(fill) >= VIVID * chroma(GREEN)
    assert news(GREEN, (0x62, 0x72, 0xA4), AMBER) is None


@each("colour", [COLOURS[Status.WORKING], RED])
def test_a_mark_is_in_its_colour(colour: RGB) -> None:
    """On a middling grey text would be nearly black: a mark has less contrast there, and the more of its colour."""
    assert chroma(legible(colour, GREY)) < 0.7 * chroma(colour) <= chroma(marked(colour, GREY))
    assert ratio(marked(colour, GREY), GREY) >= FILL_CONTRAST
    assert marked(colour, BLACK) == legible(colour, BLACK)
