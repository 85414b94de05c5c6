"""Limits: each name says what it limits, so that it has one value wherever it is defined."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from tests.limits import PACKAGE, Limit, limits

#: Names that do not say what they limit, or how much of what: they had another value in every module.
_VAGUE = {"PATIENCE_S", "HANGS_S", "EVERY_S", "PAUSE_S", "POLL_S", "WAIT_S", "LIMIT", "MOST", "MAX", "LEAST", "MIN"}
_VAGUE |= {"MAX_TEXT", "MAX_BYTES", "MAX_CHARS", "MAX_CELLS", "MAX_LINES", "MAX_KEPT", "MAX_ENTRIES"}


def _constants() -> set[tuple[str, str]]:
    """Return the module and the name of each constant."""
    return {
        (str(path.relative_to(PACKAGE)), name.id.lstrip("_"))
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }


@pytest.mark.slow
def test_limits_say_what_they_limit() -> None:
    assert {(module, name) for module, name in _constants() if name in _VAGUE} == set()


@pytest.mark.slow
def test_a_name_has_one_value() -> None:
    """Wherever a limit is defined again, by a module that may not import the other one."""
    values: dict[str, dict[float, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in limits():
        values[one.name][eval(one.value)].append(one.module)
    assert {name: dict(found) for name, found in values.items() if len(found) > 1} == {}
    assert len(values) > 500


SOURCE = """
#: For how long
#: it waits.
ONE_S, _MAX_TWO = 1.5, 2 << 3
THREE_BYTES = -1

MAX_FOUR = ONE_S
"""


def test_all_of_a_group_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    assert list(limits(tmp_path)) == [
        Limit("ONE_S", "a.py", "1.5", "For how long it waits."),
        Limit("MAX_TWO", "a.py", "2 << 3", "For how long it waits."),
        Limit("THREE_BYTES", "a.py", "-1", "For how long it waits."),
    ]
