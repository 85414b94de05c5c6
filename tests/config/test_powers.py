"""What of a changed configuration lets programs do more, and waits; and what counts at once."""

from __future__ import annotations

import attrs

from tallylight.config.powers import COMMAND, MACHINES, Withheld, held, is_more
from tallylight.config.settings import SCRIPTING, Config, load
from tests.tables import each


def config(text: str) -> Config:
    found, problems = load(text, "config.toml")
    assert problems == []
    return found


def test_the_levels_are_in_order() -> None:
    """Each lets programs do more than those before it; what is no level is none of them."""
    for number, level in enumerate(SCRIPTING):
        assert [is_more(other, level) for other in SCRIPTING] == [n > number for n in range(len(SCRIPTING))]
    assert not is_more("", "own") and not is_more("all", "")
    assert not is_more("everything", "own")


def allow(level: str) -> str:
    return f'[scripting]\nallow = "{level}"\n'


@each(
    "before, found, in_force",
    [
        ("own", "all", "own"), ("own", "ask", "own"), ("ask", "all", "ask"),
        ("all", "own", "own"), ("all", "ask", "ask"), ("ask", "own", "own"), ("ask", "ask", "ask"),
    ],
)  # fmt: skip
def test_a_level_is_only_lowered(before: str, found: str, in_force: str) -> None:
    """All else of the file is taken over."""
    now, withheld = held(config(allow(before)), config(f"poll_ms = 400\n{allow(found)}"))
    assert (now.scripting, now.poll_ms) == (in_force, 400)
    assert withheld == ((Withheld("scripting.allow", f'"{found}"', f'"{before}"'),) if in_force != found else ())


@each(
    "before, found, in_force",
    [
        ([], ["a"], []), (["a"], ["b"], ["a"]), (["a"], ["a", "b"], ["a"]), (["a"], [], []), (["a"], ["a"], ["a"]),
    ],
)  # fmt: skip
def test_a_command_is_that_of_the_start(before: list[str], found: list[str], in_force: list[str]) -> None:
    """A host that runs none does not ask about it."""
    old, new = (config(f"[notify]\ncommand = {words}\nsnooze_min = 3\n") for words in (before, found))
    now, withheld = held(old, new, {COMMAND})
    assert list(now.notify.command) == in_force
    assert now.notify.snooze_min == 3
    assert [one.key for one in withheld] == ([COMMAND] if in_force != found else [])
    assert held(old, new, {MACHINES}) == (new, ())


@each(
    "before, found, in_force, keys",
    [
        ("", 'a = "x"', "", ["machines.a"]),
        ('a = "x"', 'a = "y"', 'a = "x"', ["machines.a"]),
        ('a = "x"', 'a = { command = "x", attach = "y" }', 'a = "x"', ["machines.a"]),
        ('a = "x"', 'a = "x"\nb = "y"', 'a = "x"', ["machines.b"]),
        ('a = "x"', 'b = "x"', 'b = "x"', []),
        ('a = "x"\nb = "y"', 'b = "y"', 'b = "y"', []),
        ('a = "x"', "", "", []),
    ],
)
def test_a_machine_is_reached_by_a_command_of_the_start(
    before: str, found: str, in_force: str, keys: list[str]
) -> None:
    """It may be taken out, or called otherwise."""
    old, new, wanted = (config(f"[machines]\n{text}\n").machines for text in (before, found, in_force))
    now, withheld = held(attrs.evolve(Config(), machines=old), attrs.evolve(Config(), machines=new), {MACHINES})
    assert now.machines == wanted
    assert [one.key for one in withheld] == keys
