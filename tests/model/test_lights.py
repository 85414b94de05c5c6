"""Lights: the pulse, signs that can be read, and palettes, measured as people see them."""

from __future__ import annotations

import colorsys
import itertools
import re
from pathlib import Path

from tallylight.model import plain
from tallylight.model.contrast import SIGN_CONTRAST, legible
from tallylight.model.lights import COLOURS, MARKS, PULSE_S, RGB, mark, pulsed
from tallylight.model.palettes import PALETTES, THEME_NUMBERS
from tallylight.model.status import Status
from tests.colour_vision import BLINDNESS, contrast, distance, luminance
from tests.tables import each

#: The lights that a person meets most, told apart at a glance.
FIVE = (Status.WORKING, Status.WAITING, Status.DONE, Status.ERROR, Status.IDLE)
#: Below about 2 two patches look the same; this is four of the default's nearest pairs for those with a blindness.
FAR = 20.0
#: A dark tab, and a light one.
DARK, LIGHT = (0x23, 0x27, 0x2F), (0xFF, 0xFF, 0xFF)


def nearest_pair(palette: dict[Status, RGB], blindness: str = "") -> float:
    """How far apart the two of the five are that are nearest to each other."""
    return min(distance(palette[one], palette[other], blindness) for one, other in itertools.combinations(FIVE, 2))


@each("name", PALETTES)
def test_the_pulse_is_from_the_full_colour_to_brighter(name: str) -> None:
    """Never darker, which makes a brown of amber, and never so pale that no colour is left; its hue stays."""
    colour = PALETTES[name][Status.WAITING]
    hue, saturation, _ = colorsys.rgb_to_hsv(*(channel / 255 for channel in colour))
    shades = [pulsed(colour, PULSE_S * step / 40) for step in range(41)]
    brightest = max(shades, key=luminance)

    assert min(luminance(shade) for shade in shades) >= luminance(colour)
    assert any(distance(shade, colour) < 1 for shade in shades)
    assert distance(brightest, colour) > 5
    for shade in shades:
        now_hue, now_saturation, _ = colorsys.rgb_to_hsv(*(channel / 255 for channel in shade))
        assert abs(now_hue - hue) < 0.02
        assert now_saturation > saturation / 2


@each("background", [DARK, LIGHT, (0x99, 0x99, 0x99), (0, 0, 0), (0xFF, 0xAA, 0)])
def test_a_sign_can_be_read(background: RGB) -> None:
    """In every colour of every palette, on dark and light tabs and kitty's own grey."""
    for palette in PALETTES.values():
        for colour in palette.values():
            found = legible(colour, background)
            assert contrast(found, background) >= SIGN_CONTRAST
            assert found == colour or contrast(colour, background) < SIGN_CONTRAST


@each("name", BLINDNESS)
def test_a_palette_for_those_it_is_named_for(name: str) -> None:
    """They, and people who see all colours, can tell the five apart, on a dark tab, and far better than the default."""
    palette = PALETTES[name]

    assert nearest_pair(palette, name) > FAR > 2 * nearest_pair(COLOURS, name)
    assert nearest_pair(palette) > FAR
    assert min(contrast(palette[status], DARK) for status in FIVE) >= 3
    assert min(distance(palette[Status.BACKGROUND], palette[status], name) for status in FIVE) > 9


def test_the_palette_for_light_tabs() -> None:
    """Each light stands out from white as WCAG 2.2 has it for what is no text; its waiting is no brown."""
    palette = PALETTES["light"]

    assert min(contrast(palette[status], LIGHT) for status in FIVE) >= 3
    assert nearest_pair(palette) > 15
    _, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in palette[Status.WAITING]))
    assert saturation > 0.9 and value > 0.8


def test_every_palette_is_whole() -> None:
    """Each has a colour for each light that is drawn, and the theme a number for all that is not made of another."""
    assert all(set(palette) == set(COLOURS) for palette in PALETTES.values())
    assert set(THEME_NUMBERS) == set(COLOURS) - {Status.BACKGROUND}


def test_the_distances_are_those_of_the_documentation() -> None:
    """The table in docs/configuration.md is what is measured here."""
    text = Path(__file__).parents[2].joinpath("docs/configuration.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", text, re.MULTILINE)
    measured = {
        name: [f"{nearest_pair(palette, blindness):.1f}" for blindness in ("", *BLINDNESS)]
        for name, palette in PALETTES.items()
    }

    assert {name: [cell.strip(" *") for cell in cells] for name, *cells in rows} == measured


def test_each_mark_has_an_ascii_sign_of_its_own() -> None:
    signs = [mark(status).encode("ascii", plain.ERRORS) for status in MARKS]
    assert len({*signs}) == len(signs)
    assert all(len(sign) == 1 for sign in signs)
