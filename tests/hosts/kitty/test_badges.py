"""Badges: what an older kitty shows in the corner of a window."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tallylight.hosts.kitty.badges import BADGE_CELLS, picture
from tallylight.model.contrast import readable_on
from tallylight.model.lights import COLOURS, mark
from tallylight.model.status import Kind, Status
from tests.tables import each


@each("size", [(9, 18), (7, 13), (21, 44), (3, 5)])
def test_a_badge_is_a_picture_of_its_mark(size: tuple[int, int]) -> None:
    """Three cells in the light's colour, with a mark that can be read on it, whatever the font."""
    colour = COLOURS[Status.WAITING]
    image = Image.open(io.BytesIO(picture("!", readable_on(colour), colour, *size))).convert("RGBA")
    counts = {found: n for n, found in image.getcolors(1 << 20) or ()}

    assert image.size == (BADGE_CELLS * size[0], size[1])
    assert set(counts) == {(*colour, 255), (*readable_on(colour), 255)}
    assert counts[*colour, 255] > counts[*readable_on(colour), 255] > 0


def test_every_mark_has_its_own_picture() -> None:
    """Colour is not the only difference between two badges."""
    lit = [(status, None) for status in COLOURS if status is not Status.IDLE] + [(Status.WAITING, Kind.QUESTION)]
    pictures = {picture(mark(*one), (0, 0, 0), (255, 170, 0), 9, 18) for one in lit}

    assert len(pictures) == len(lit)
    assert pictures.isdisjoint({picture(" ", (0, 0, 0), (255, 170, 0), 9, 18)})


@pytest.mark.parametrize("size", [(1, 1), (2, 3)])
def test_a_tiny_cell_is_no_fault(size: tuple[int, int]) -> None:
    """There is a picture of the right size, if nothing to read in it."""
    assert Image.open(io.BytesIO(picture("?", (0, 0, 0), (1, 2, 3), *size))).size == (BADGE_CELLS * size[0], size[1])
