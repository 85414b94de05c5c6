"""Fields of a snapshot that parts declare: one declaration for reader, writer, schema and words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tallylight.model.status import Status
from tallylight.parts import Field, Part, index
from tallylight.snapshot import fields
from tallylight.snapshot.schema import Pane

DECLARED = {
    "phase": Field("text", "the phase of the moon", 12, f"{__name__}:shown"),
    "nights": Field("count", "nights until it is full"),
    "names": Field("texts", "its names"),
    "gone": Field("no.such.module:FORM", "nothing"),
    "wrong": Field(f"{__name__}:shown", "nothing"),
    "mute": Field("truth", "it raises when it is to be shown", shown=f"{__name__}:raises"),
}


def shown(value: str) -> str:
    return f"moon {value}\x1b[31m"


def raises(value: bool) -> str:
    raise ValueError(value)


@pytest.fixture
def _moon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        index, "all_parts", lambda: (index.InstalledPart(Part(name="moon", about="", fields=DECLARED)),)
    )
    index.forget()
    yield
    index.forget()


@pytest.mark.usefixtures("_moon")
def test_a_declared_field_goes_there_and_back() -> None:
    """It stands beside those of the core, cut and harmless; a field that is empty is there, and not kept."""
    pane = Pane(id="1", status=Status.IDLE, more={"phase": "full", "nights": 3, "names": ("Luna", "Mond")})
    written = pane.to_json()
    assert (written["phase"], written["nights"], written["names"]) == ("full", 3, ["Luna", "Mond"])
    assert Pane.from_json(written) == pane
    empty = Pane(id="1", status=Status.IDLE)
    assert empty.to_json()["names"] == [] and Pane.from_json(empty.to_json()) == empty
    hostile = Pane.from_json(written | {"phase": "\x1b[2J" + "x" * 99, "nights": -1, "names": [7], "mute": "yes"})
    assert hostile is not None and set(hostile.more) == {"phase"}
    assert len(hostile.more["phase"]) <= 12 and "\x1b" not in hostile.more["phase"]


@pytest.mark.usefixtures("_moon")
def test_a_faulty_field_costs_itself() -> None:
    """A form that there is not, one that is none, and words that raise."""
    pane = Pane(id="1", status=Status.IDLE, more={"gone": 1, "wrong": 1, "mute": True, "phase": "new"})
    written = pane.to_json()
    assert (written["gone"], written["wrong"], written["mute"]) == (None, None, True)
    assert fields.words(pane.more) == "moon new[31m"
    assert fields.words({}) == ""


def test_without_its_part_there_is_no_field(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is neither read nor written: the core has none of it."""
    pane = {"id": "1", "status": "done", "diffstat": [12, 3]}
    read = Pane.from_json(pane)
    assert read is not None and fields.words(read.more) == "+12 −3"
    monkeypatch.setattr(index, "all_parts", tuple)
    index.forget()
    bare = Pane.from_json(pane)
    assert bare is not None and bare.more == {} and "diffstat" not in bare.to_json()
    index.forget()
