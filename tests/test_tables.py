"""The tables of these tests: every row is checked, and every failure told."""

from __future__ import annotations

import inspect

import pytest

from tests.tables import each, sampled


def test_every_row_is_checked_and_every_failure_told() -> None:
    """One bad row hides no other, and each is told by its name and with its reason."""
    seen: list[int] = []

    @each("number, name", [(1, "a"), pytest.param(2, "b", id="two"), (3, "c")], ids=["x", "y", "z"])
    def check(number: int, name: str) -> None:
        seen.append(number)
        assert number == 1, name

    with pytest.raises(ExceptionGroup, match="2 of 3 rows failed") as caught:
        check()  # type: ignore[call-arg]
    assert seen == [1, 2, 3]
    assert [(str(error).splitlines()[0], error.__notes__) for error in caught.value.exceptions] == [
        ("b", ["in the row two"]),
        ("c", ["in the row z"]),
    ]


def test_what_a_row_may_not_do() -> None:
    """A row is no way to skip the others, and `pytest.fail` in one is told as a failure of that one."""

    @each("how", [pytest.skip, pytest.fail, str])
    def check(how: type[str]) -> None:
        how("so")

    with pytest.raises(ExceptionGroup, match="2 of 3") as caught:
        check()  # type: ignore[call-arg]
    assert [str(error) for error in caught.value.exceptions] == ["a row of a table was skipped: so", "so"]
    with pytest.raises(AssertionError, match="without rows"):
        each("x", [])
    with pytest.raises(AssertionError, match="of its own"):
        each("x", [pytest.param(1, marks=pytest.mark.xfail)])
    with pytest.raises(AssertionError, match="2 values for 1"):
        each("x", [pytest.param(1, 2)])
    with pytest.raises(AssertionError, match="not all of"):
        each("y", [1])(lambda x: None)


def test_tables_multiply_and_fixtures_stay() -> None:
    """Two tables are every pair; what is in none is a fixture."""
    seen: list[tuple[int, str, str]] = []

    @each("a", [1, 2])
    @each("b", ["x", "y"])
    def check(tmp: str, a: int, b: str) -> None:
        seen.append((a, b, tmp))

    assert list(inspect.signature(check).parameters) == ["tmp"]
    check(tmp="t")  # type: ignore[call-arg]
    assert sorted(seen) == [(a, b, "t") for a in (1, 2) for b in "xy"]


def test_a_sample_of_a_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner loop tries one row in four, from the first one on; every other run tries all."""
    monkeypatch.setenv("FAST", "1")
    assert list(sampled("abcdefghi")) == ["a", "e", "i"]
    assert 240 < len(sampled(range(4321))) < 260
    monkeypatch.delenv("FAST")
    assert list(sampled("abc")) == ["a", "b", "c"]
