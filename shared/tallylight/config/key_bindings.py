"""
Key bindings: free keys for our kittens, and the lines of kitty.conf for them.

https://sw.kovidgoyal.net/kitty/mapping/ . Text and tables go in and come out; which keys are taken, kitty itself is
asked by `setup.free_keys`. A person's own choice is the table `[keys]` of config.toml: a key, or `""` for none.
Standard library only, because `tally setup` runs before there is anything else.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: The form of a key as a person writes it: without blanks, which would end it, and without invisible characters.
KEY = r"[^\s#'\"\\]{1,64}"
_MAP = re.compile(r"map (\S+) kitten (.+)")


class Action(NamedTuple):
    """An action for a key: its name in `[keys]`, our kitten for it, and the keys to try, the best first."""

    name: str
    kitten: str
    options: tuple[str, ...]
    what: str
    keys: tuple[str, ...]


def _action(name: str, call: str, what: str, *keys: str) -> Action:
    """Return an action with *keys* to try, each behind `kitty_mod`."""
    kitten, *options = call.split()
    return Action(name, kitten, tuple(options), what, tuple(f"kitty_mod+{key}" for key in keys))


ACTIONS = (
    _action("jump", "jump.py", "go to the next agent that needs you, and back after the last", "y", "a>j", "alt+j"),
    _action("jump_previous", "jump.py --previous", "go to the previous agent", "a>k", "alt+k", "a>b"),
    _action("agents", "agents.py", "list all agents; answer, fork, resume from there", "i", "a>a", "alt+a"),
    _action("panel", "panel.py", "open or close the list as a panel that stays", "a>p", "alt+p", "a>l"),
    _action("fork", "fork.py", "fork this conversation into a new pane", "a>f", "alt+f", "a>o"),
    _action("resume", "fork.py --resume", "resume an ended conversation", "a>r", "alt+r", "a>e"),
    _action("diff", "agents.py --key d", "show what this agent changed", "a>v", "alt+v", "a>c"),
    _action("snooze", "snooze.py", "snooze this pane's question", "a>s", "alt+s", "a>z"),
)
#: All keys that may be tried.
CANDIDATES = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys))


class Binding(NamedTuple):
    """An action and its key."""

    action: Action
    key: str

    def line(self, kittens: str) -> str:
        """Return the line for kitty.conf; *kittens* is the folder of our kittens. kitty reads `$$` as a `$`."""
        path = shlex.quote(f"{kittens}/{self.action.kitten}".replace("$", "$$"))
        return " ".join(("map", self.key, "kitten", path, *self.action.options))


def wanted(keys: object) -> dict[str, str]:
    """Return a person's own keys by action, from the table `[keys]`; `""` is no key. Invalid entries are left out."""
    found = keys if isinstance(keys, dict) else {}
    pairs = ((action.name, found.get(action.name)) for action in ACTIONS)
    return {name: key for name, key in pairs if isinstance(key, str) and re.fullmatch(f"({KEY})?", key)}


def choose(
    wishes: Mapping[str, str], present: Mapping[str, str], taken: Mapping[str, Sequence[str]] | None
) -> list[Binding]:
    """
    Return a key for each action that can have one.

    *wishes* are the person's own keys and always count. *present* are the keys of an earlier setup, which stay if they
    are free. *taken* has for each candidate kitty's present actions; None if kitty was not asked, and
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
    """Return whether *key* differs from those *used*: `a` and `a>b` cannot both be bound."""
    pressed = key.split(">")
    others = [other.split(">") for other in used]
    return all(pressed[: len(other)] != other[: len(pressed)] for other in others)


def text(bindings: Sequence[Binding], kittens: str) -> str:
    """Return the lines of kitty.conf for *bindings*."""
    return "".join(f"{binding.line(kittens)}\n" for binding in bindings)


def read(conf: str) -> list[Binding]:
    """Return our bindings in a kitty.conf."""
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
