"""Classes of values made without attrs: that they are what attrs would have made."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

from tallylight.model import attributes
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tests.terminal import SHARED

MAKERS = pytest.mark.parametrize("maker", [attrs, attributes], ids=["attrs", "ours"])


def place(maker: ModuleType) -> Any:
    """A class with a field of every kind that is in use."""

    @maker.frozen
    class Place:
        row: int
        _name: str = "a"
        seen: bool = maker.field(default=False, eq=False)
        marks: dict[str, int] = maker.field(factory=dict)

        @property
        def name(self) -> str:
            return self._name

    return Place


def counter(maker: ModuleType) -> Any:
    """A class whose values change, with arguments by name and a field that is no argument."""

    @maker.define(kw_only=True)
    class Counter:
        start: int = 3
        step: int
        _now: int = maker.field(init=False)
        told: list[int] = maker.field(init=False, factory=list)

        def __attrs_post_init__(self) -> None:
            self._now = self.start

        def next(self) -> int:
            self._now += self.step
            self.told.append(self._now)
            return self._now

    return Counter


@MAKERS
def test_a_frozen_value(maker: ModuleType) -> None:
    """Made by place or by name, equal and hashed by what is compared, and never changed."""
    made = place(maker)
    one = made(1, "b", marks={})

    assert (one.row, one.name, one.seen, one.marks) == (1, "b", False, {})
    assert one == made(row=1, name="b") == made(1, "b", True)
    assert one != made(1)
    assert one != (1, "b", {})
    assert one.__eq__(3) is NotImplemented
    assert made(1).marks is not made(1).marks
    assert repr(one).endswith("Place(row=1, _name='b', seen=False, marks={})")
    for change in (lambda: setattr(one, "row", 2), lambda: delattr(one, "row"), lambda: setattr(one, "other", 2)):
        with pytest.raises(AttributeError):
            change()
    for wrong in (lambda: made(), lambda: made(1, other=2), lambda: made(1, _name="b"), lambda: made(1, 2, 3, 4, 5)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError):
        hash(one)  # as the dict in it
    assert made.__match_args__ == ("row", "_name", "seen", "marks")


@MAKERS
def test_a_value_that_changes(maker: ModuleType) -> None:
    """Its slots are all it has, what is no argument is made for each, and it has no hash."""
    made = counter(maker)
    one = made(step=2)

    assert (one.next(), one.next(), one.told) == (5, 7, [5, 7])
    assert made(step=2).told == []
    assert one != made(step=2)
    with pytest.raises(AttributeError):
        one.other = 1
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(TypeError):
        made(3, 4)
    assert made.__match_args__ == ()


@MAKERS
@pytest.mark.parametrize("evolve", [attrs.evolve, attributes._evolve], ids=["attrs", "ours"])
def test_a_copy_with_changes(maker: ModuleType, evolve: Any) -> None:
    """`evolve` of both takes what either has made; so do `asdict` and `fields`."""
    one = place(maker)(1, "b", marks={"x": 1})

    assert (evolve(one, row=2).row, evolve(one, row=2).marks) == (2, {"x": 1})
    assert evolve(one, name="c").name == "c"
    assert evolve(one) == one
    with pytest.raises(TypeError):
        evolve(one, other=1)
    assert attrs.asdict(one) == {"row": 1, "_name": "b", "seen": False, "marks": {"x": 1}}
    assert [field.name for field in attrs.fields(type(one))] == ["row", "_name", "seen", "marks"]
    assert attrs.has(type(one))


def test_a_value_is_copied_and_pickled() -> None:
    """A frozen value goes through `copy` and `pickle` as one of attrs does."""
    report = Report(source=Source.PROTOCOL, status=Status.WAITING, id="a", tasks=("x", "y"))

    assert copy.copy(report) == copy.deepcopy(report) == pickle.loads(pickle.dumps(report)) == report
    assert len({report, copy.copy(report), attributes.evolve(report, id="b")}) == 2


def test_what_it_does_not_know_is_refused() -> None:
    """A class that inherits belongs to attrs."""

    class Base:
        pass

    class Below(Base):
        row: int

    with pytest.raises(AssertionError, match="inherits"):
        attributes._frozen(Below)


#: What nobody needs who is to start at once: to load it takes longer than all else, and more memory.
DEAR = {"attr", "attrs", "inspect", "dataclasses"}
#: What names the agents is loaded by a child that tells the name.
_TABLES = "tallylight.agents.names"
_RELAY = (
    "from tallylight.cli.run import make_core; core = make_core(['claude'])\n"
    "core.from_child(b'\\x1b]1338;state=working\\x07', 1.0)\n"
)


@pytest.mark.parametrize(
    ("load", "dear"),
    [
        ("import tallylight.cli.status", DEAR),
        ("from tallylight.relay import shell", DEAR | {"collections", "contextlib", "enum", "re", "signal"}),
        (f"{_RELAY}assert core.reports()[0].agent == 'claude'", DEAR | {"typing", "pathlib", "shlex", "json", _TABLES}),
    ],
    ids=["status", "monitor", "relay"],
)
def test_who_loads_no_attrs(load: str, dear: set[str], tmp_path: Path) -> None:
    """
    `tally status` and a relay start without attrs and what it needs; neither a relay nor its monitor, which has what
    the relay had loaded at its start, keeps another large module.
    """
    code = f"import sys; sys.path.insert(0, {str(SHARED)!r})\n{load}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code],
        env={"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert dear & set(done.stdout.split()) == set()
