"""
Key bindings: which keys start our kittens, chosen among those that are free, and the lines of kitty.conf for them.

https://sw.kovidgoyal.net/kitty/mapping/ . Text and tables go in and come out; which keys are taken, kitty itself is
asked by `setup.free_keys`. A person's own choice is the table `[keys]` of config.toml: a key, or `""` for none.
Standard library only, because `tally setup` runs before there is anything else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: Of a key as a person writes it: no blank, which would end it, and nothing that does not show.
KEY = r"[^\s#'\"\\]{1,64}"
_MAP = re.compile(r"map (\S+) kitten (.+)")


class Action(NamedTuple):
    """Something to be done by a key: its name in `[keys]`, our kitten for it, and the keys to try, the best first."""

    name: str
    kitten: str
    options: tuple[str, ...]
    what: str
    keys: tuple[str, ...]


ACTIONS = (
    Action(
        "jump",
        "jump.py",
        (),
        "go to the next agent that needs you, and back after the last",
        ("kitty_mod+y", "kitty_mod+a>j", "kitty_mod+alt+j"),
    ),
    Action(
        "jump_previous",
        "jump.py",
        ("--previous",),
        "go to the previous agent",
        ("kitty_mod+a>k", "kitty_mod+alt+k", "kitty_mod+a>b"),
    ),
    Action(
        "agents",
        "agents.py",
        (),
        "list all agents; answer, fork, resume from there",
        ("kitty_mod+i", "kitty_mod+a>a", "kitty_mod+alt+a"),
    ),
    Action(
        "panel",
        "panel.py",
        (),
        "open or close the list as a panel that stays",
        ("kitty_mod+a>p", "kitty_mod+alt+p", "kitty_mod+a>l"),
    ),
    Action(
        "fork",
        "fork.py",
        (),
        "fork this conversation into a new pane",
        ("kitty_mod+a>f", "kitty_mod+alt+f", "kitty_mod+a>o"),
    ),
    Action(
        "resume",
        "fork.py",
        ("--resume",),
        "resume an ended conversation",
        ("kitty_mod+a>r", "kitty_mod+alt+r", "kitty_mod+a>e"),
    ),
    Action(
        "snooze",
        "snooze.py",
        (),
        "snooze this pane's question",
        ("kitty_mod+a>s", "kitty_mod+alt+s", "kitty_mod+a>z"),
    ),
)
#: Every key there may be a question about.
CANDIDATES = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys))


class Binding(NamedTuple):
    """An action and its key."""

    action: Action
    key: str

    def line(self, kittens: str) -> str:
        """The line of kitty.conf; *kittens* is the folder of our kittens. kitty expands variables: `$$` is a `$`."""
        path = shlex.quote(f"{kittens}/{self.action.kitten}".replace("$", "$$"))
        return " ".join(("map", self.key, "kitten", path, *self.action.options))


def wanted(keys: object) -> dict[str, str]:
    """A person's own keys by the names of the actions, of the table `[keys]`: `""` is none. No others are taken."""
    found = keys if isinstance(keys, dict) else {}
    said = ((action.name, found.get(action.name)) for action in ACTIONS)
    return {name: key for name, key in said if isinstance(key, str) and re.fullmatch(f"({KEY})?", key)}


def choose(
    wishes: Mapping[str, str], present: Mapping[str, str], taken: Mapping[str, Sequence[str]] | None
) -> list[Binding]:
    """
    A key for each action that can have one.

    *wishes* are the person's own and count whatever they hide. *present* are those of an earlier setup, which stay
    while they are free. *taken* names for each candidate what kitty does on it already; None if it was not asked, and
    then nothing new is bound.
    """
    chosen: list[Binding] = []
    used = [key for key in wishes.values() if key]
    for action in ACTIONS:
        if action.name in wishes:
            key = wishes[action.name]
        else:
            before = present.get(action.name, "")
            if taken is None:
                key = before if is_free(before, used) else ""
            else:
                tried = (before, *action.keys) if before in action.keys else action.keys
                key = next((key for key in tried if not taken.get(key) and is_free(key, used)), "")
        if key:
            used.append(key)
            chosen.append(Binding(action, key))
    return chosen


def is_free(key: str, used: Sequence[str]) -> bool:
    """Whether *key* can be told from those *used*: `a` and `a>b` cannot both be."""
    pressed = key.split(">")
    others = [other.split(">") for other in used]
    return all(pressed[: len(other)] != other[: len(pressed)] for other in others)


def text(bindings: Sequence[Binding], kittens: str) -> str:
    """The lines of kitty.conf for *bindings*."""
    return "".join(f"{binding.line(kittens)}\n" for binding in bindings)


def read(conf: str) -> list[Binding]:
    """The bindings in a kitty.conf that `text` wrote a part of."""
    found = []
    for line in conf.splitlines():
        if (match := _MAP.fullmatch(line)) is None:
            continue
        try:
            path, *options = shlex.split(match[2])
        except ValueError:
            continue
        file = path.rpartition("/")[2]
        action = next((a for a in ACTIONS if (a.kitten, list(a.options)) == (file, options)), None)
        if action is not None:
            found.append(Binding(action, match[1]))
    return found
