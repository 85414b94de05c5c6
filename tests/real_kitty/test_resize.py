"""A kitty that is resized again and again while an agent asks: nothing lies, nothing is typed, and kitty lives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_kitty.asking_claude import install_asking_claude
from tests.real_kitty.desk import Desk

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

#: Of the X window, in pixels: from far too small for a dialog to larger than it needs.
SIZES = [(200 + 130 * (n % 9), 120 + 90 * (n % 7)) for n in range(60)]


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    desk = Desk(kitty_version, "placement_strategy top-left\n", size=(1400, 900))
    install_asking_claude(desk.kitty.home)
    yield desk
    desk.close()


def test_a_storm_of_sizes(desk: Desk) -> None:
    """While it lasts, the agent that asks is at no time said to work or to be done; after it, it still asks."""
    kitty = desk.kitty
    window = kitty.launch(str(kitty.home / ".local/bin/claude"), type="tab")
    desk.wait_status(window, "waiting")
    desk.record()
    # Its program draws nothing anew: kitty alone moves its rows, and most of the dialog is not to be seen any more.
    for width, height in SIZES:
        kitty.xdotool("search", "--class", "kitty", "windowsize", str(width), str(height))
        desk.let_pass(0.05)
    kitty.xdotool("search", "--class", "kitty", "windowsize", "1000", "600")
    desk.let_pass(2)
    desk.wait_status(window, "waiting")
    assert {status for _, status in desk.history(window)} <= {"waiting"}
    assert not (kitty.home / "typed").exists()
    assert kitty.alive and not [line for line in kitty.log.splitlines() if "tallylight" in line]
