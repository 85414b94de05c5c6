"""The colours of the page: those of the configuration, and readable on what they stand on, whatever they are."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from tallylight.model.contrast import FILL_CONTRAST, NEWS_HUE_CONTRAST, SIGN_CONTRAST
from tallylight.model.lights import COLOURS, FILLED, RGB
from tallylight.model.palettes import PALETTES
from tallylight.model.status import Status
from tallylight.parts.web.app import Service
from tallylight.parts.web.guard import Guard, allowed_hosts
from tallylight.parts.web.theme import CARD, PAGE, stylesheet
from tests.colour_vision import contrast
from tests.parts.web.serving import PORT, TOKEN, Served

ROW = re.compile(r"  --([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);")
#: Colours that somebody may have written who looks at other surfaces than these.
ODD: dict[Status, RGB] = {
    Status.WORKING: (255, 255, 255),
    Status.WAITING: (0, 0, 0),
    Status.BACKGROUND: (128, 128, 128),
    Status.DONE: (255, 255, 0),
    Status.ERROR: PAGE[1],
    Status.DOWN: PAGE[0],
    Status.IDLE: (0, 0, 255),
}


def properties(text: str) -> dict[str, tuple[RGB, RGB]]:
    """The custom properties in *text*, each in a light and in a dark page. There is nothing else in it."""
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (":root {", "}")
    rows = [ROW.fullmatch(line) for line in lines[1:-1]]
    assert all(rows)
    return {row[1]: (_rgb(row[2]), _rgb(row[3])) for row in rows if row}


def _rgb(text: str) -> RGB:
    red, green, blue = bytes.fromhex(text)
    return red, green, blue


@pytest.mark.parametrize("colours", [*PALETTES.values(), ODD], ids=[*PALETTES, "odd"])
def test_every_light_can_be_seen_and_read(colours: dict[Status, RGB]) -> None:
    """In a light and in a dark page, on the page and on a card, a light has the contrast of what is drawn and read."""
    found = properties(stylesheet(colours))
    assert (found["page"], found["card"]) == (PAGE, CARD)
    for status in COLOURS:
        for name, least in ((status.value, FILL_CONTRAST), (f"{status.value}-ink", SIGN_CONTRAST)):
            for number in (0, 1):
                for surface in (PAGE[number], CARD[number]):
                    assert contrast(found[name][number], surface) >= least, (name, number)


@pytest.mark.parametrize("colours", [*PALETTES.values(), ODD], ids=[*PALETTES, "odd"])
def test_what_is_filled_stands_out(colours: dict[Status, RGB]) -> None:
    """News stands out by its fill; what is on a fill can be read, mark and name alike."""
    found = properties(stylesheet(colours))
    for status in (*FILLED, Status.DONE):
        fill, on = found[f"{status.value}-fill"], found[f"{status.value}-on"]
        for number in (0, 1):
            assert contrast(on[number], fill[number]) >= SIGN_CONTRAST
            if status is Status.DONE and fill[number] != CARD[number]:
                for surface in (PAGE[number], CARD[number]):
                    assert contrast(fill[number], surface) >= NEWS_HUE_CONTRAST


def test_amber_is_one_area_on_a_light_page() -> None:
    """Amber is never moved for a light page, and no cell of it is black: that reads as two signs."""
    found = properties(stylesheet())
    assert found["waiting-fill"] == (COLOURS[Status.WAITING],) * 2
    assert found["waiting-on"] == ((0, 0, 0),) * 2


def test_a_colour_that_can_be_read_is_left_alone() -> None:
    """The default colours are the tab bar's own, wherever they have the contrast."""
    found = properties(stylesheet(COLOURS))
    assert found["waiting-ink"][1] == COLOURS[Status.WAITING]
    assert found["error"] == (COLOURS[Status.ERROR], COLOURS[Status.ERROR])


def test_the_page_has_the_colours_of_the_configuration() -> None:
    """The stylesheet of a server is that of its colours; those that are not given are the default ones."""
    guard, colours = Guard(TOKEN, allowed_hosts(PORT)), {Status.DONE: (1, 2, 255)}
    app = Service(guard, lambda: None, Served().client, colours).app()
    with TestClient(app, base_url="http://127.0.0.1:8787") as client:
        assert client.get("/theme.css").text == stylesheet({**COLOURS, Status.DONE: (1, 2, 255)})
