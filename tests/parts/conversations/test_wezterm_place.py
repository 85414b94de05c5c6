"""The places of a fork in WezTerm: the pane of the page moves there, or stays."""

from __future__ import annotations

import pytest

from tallylight.actions.page import Place
from tallylight.files.program import Ran
from tallylight.model.status import Status
from tallylight.parts.conversations import wezterm_place
from tallylight.parts.conversations.wezterm_place import Mover
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tests.tables import each

PANE = Pane(id="4", status=Status.WORKING)
FOUND = Row("wezterm-99", PANE)
HERE = {"WEZTERM_PANE": "7", "WEZTERM_UNIX_SOCKET": "/run/gui-sock-12", "HOME": "/h"}


@pytest.fixture(autouse=True)
def gui(monkeypatch: pytest.MonkeyPatch) -> None:
    """The WezTerm of that pane."""
    monkeypatch.setattr(wezterm_place, "gui_of", lambda host, _: (12, "/w") if host == "wezterm-99" else None)


@each(
    ("place", "said"),
    [
        (Place.VSPLIT, []),
        (Place.HSPLIT, ["split-pane --bottom --pane-id 4 --move-pane-id 7", "activate-pane --pane-id 7"]),
        (Place.TAB, ["move-pane-to-new-tab --pane-id 7", "activate-pane --pane-id 7"]),
        (Place.OS_WINDOW, ["move-pane-to-new-tab --new-window --pane-id 7", "activate-pane --pane-id 7"]),
    ],
)
def test_places(monkeypatch: pytest.MonkeyPatch, place: Place, said: list[str]) -> None:
    """Each place is one request to WezTerm, of numbers alone."""
    told: list[str] = []

    def run(argv: list[str], environ: dict[str, str]) -> Ran:
        assert argv[:3] == ["/w", "cli", "--no-auto-start"] and "WEZTERM_PANE" not in environ
        told.append(" ".join(argv[3:]))
        return Ran(0, b"")

    monkeypatch.setattr(wezterm_place, "run", run)
    mover = Mover.of(FOUND, HERE)
    assert mover is not None
    mover.move(place)
    assert told == said


@each(
    "other",
    [
        {"WEZTERM_PANE": "x"}, {"WEZTERM_PANE": "4"}, {"WEZTERM_UNIX_SOCKET": "/run/gui-sock-112"}, {"TMUX": "/t,1,0"},
        {"STY": "1.x"},
    ],
)  # fmt: skip
def test_no_place(other: dict[str, str]) -> None:
    """In another WezTerm, in a session, and in the pane itself, there is no choice."""
    assert Mover.of(FOUND, {**HERE, **other}) is None
    assert Mover.of(Row("kitty-3", PANE), HERE) is None
