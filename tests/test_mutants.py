"""The mutants of the mutation run: which are made of a source, and that each changes it in one place."""

from __future__ import annotations

import ast
import tomllib

from benchmarks.mutants import mutants
from benchmarks.mutation import EQUAL, MODULES, ROOT

SOURCE = '''
"""A module."""
LIMIT = 2
WORDS = {"a", "b"}

def decide(a: int = 0, b: str | None = None) -> bool:
    """Not changed."""
    assert a is not None
    if a < LIMIT and not b:
        return swap(a, b)
    b = None
    return any(each == f"{a} 7" for each in WORDS)
'''
CHANGES = [
    "2 → 3",
    "2 → 1",
    "{'a', 'b'} without 'a'",
    "{'a', 'b'} without 'b'",
    "0 → 1",
    "0 → -1",
    "None → 1",
    "a < LIMIT and (not b) negated",
    "a < LIMIT and (not b) → a < LIMIT or not b",
    "a < LIMIT and (not b) without a < LIMIT",
    "a < LIMIT and (not b) without not b",
    "a < LIMIT → a <= LIMIT",
    "a < LIMIT → a >= LIMIT",
    "not b → b",
    "return swap(a, b) → return None",
    "swap(a, b) → swap(b, a)",
    "b = None → pass",
    "return any((each == f'{a} 7' for each in WORDS)) → return None",
    "any((each == f'{a} 7' for each in WORDS)) → all((each == f'{a} 7' for each in WORDS))",
    "each == f'{a} 7' → each != f'{a} 7'",
]


def test_which_are_made() -> None:
    """Those of what decides; types, texts, documentation and assertions are left alone."""
    assert [mutant.change for mutant in mutants(SOURCE, ast.parse(SOURCE))] == CHANGES


def test_each_is_another() -> None:
    """Carried out, each makes a module that compiles, and none makes the same as another."""
    made = set()
    for number in range(len(CHANGES)):
        tree = ast.parse(SOURCE)
        mutants(SOURCE, tree)[number].make()
        compile(ast.fix_missing_locations(tree), "mutant", "exec")
        made.add(ast.unparse(tree))

    assert len(made) == len(CHANGES) and ast.unparse(ast.parse(SOURCE)) not in made


def test_the_tables_name_what_there_is() -> None:
    """Every module and every file of tests is there, and each mutant that is not made has its reason."""
    for module, tests in MODULES.items():
        assert (ROOT / "shared/tallylight" / f"{module.replace('.', '/')}.py").is_file()
        assert all((ROOT / test).is_file() for test in tests)
    for module, tables in tomllib.loads(EQUAL.read_text("utf-8")).items():
        assert module in MODULES
        assert all(set(table) == {"function", "line", "change", "why"} and table["why"] for table in tables)
