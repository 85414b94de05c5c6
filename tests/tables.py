"""
Tables of cheap rows: one test for all of them, that tells of every row that fails.

`each` is written as `pytest.mark.parametrize` is, and means the same. A test of pytest's own costs some milliseconds in
each of its processes, which thousands of rows of microseconds are not worth; what is slow, or wants fixtures of its own
for each row, is better parametrised.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., None])
Row = TypeVar("Row")


def sampled(rows: Iterable[Row]) -> list[Row]:
    """
    All *rows* of a large table; in the inner loop (`FAST=1`), which tries fewer examples of all else too, one in four.

    Of more than 1000 rows it takes fewer: never more than 250 or so.
    """
    found = list(rows)
    return found[:: max(4, len(found) // 250)] if os.environ.get("FAST") else found


def each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """
    Call a test once for each of *rows*, whose values are its arguments *names*; fail with all the rows that failed.

    A row is a tuple, the value itself where there is one name, or a `pytest.param` without marks.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = list(rows)
    assert rows, "a table without rows tests nothing"
    values = [_values(row, len(words)) for row in rows]
    given = _labels(values, ids)
    assert len(given) == len(rows)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def all_rows(**fixtures: Any) -> None:
            failures: list[Exception] = []
            for number, row in enumerate(values):
                failure: Exception | None = None
                try:
                    test(**fixtures, **dict(zip(words, row, strict=True)))
                except pytest.skip.Exception as skipped:
                    failure = AssertionError(f"a row of a table was skipped: {skipped}")
                except pytest.fail.Exception as failed:
                    failure = AssertionError(str(failed))
                except Exception as error:
                    failure = error
                if failure is not None:
                    failure.add_note(f"in the row {_label(rows[number], given[number])}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(values)} rows failed", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in words]
        assert len(left) == len(signature.parameters) - len(words), f"{test.__name__} has not all of {words}"
        all_rows.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_rows  # type: ignore[return-value]

    return decorate


def _values(row: Any, many: int) -> tuple[Any, ...]:
    if isinstance(row, type(pytest.param())):
        assert not row.marks, "a marked row needs a test of its own"
        found = tuple(row.values)
    else:
        found = tuple(row) if many > 1 else (row,)
    assert len(found) == many, f"{len(found)} values for {many} names: {row!r}"
    return found


def _labels(
    values: Sequence[tuple[Any, ...]], ids: Iterable[str] | Callable[[Any], object] | None
) -> Sequence[str | None]:
    if ids is None:
        return [None] * len(values)
    if callable(ids):
        return ["-".join(str(ids(value)) for value in row) for row in values]
    return list(ids)


def _label(row: Any, given: str | None) -> str:
    own = getattr(row, "id", None) if isinstance(row, type(pytest.param())) else None
    return str(own or given or repr(row)[:200])
