"""
The keys that are free in a user's kitty, as kitty itself reports them: it reads its configuration, in a process of its
own.

Nothing is guessed from the text of kitty.conf, with its includes, its `kitty_mod` and the defaults of each version.
"""

from __future__ import annotations

from typing import NamedTuple

from tallylight.config import key_bindings
from tallylight.files import directories, read_write, toml
from tallylight.files.install_paths import Layout
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.setup import environment
from tallylight.setup.kitty import Kitty
from tallylight.wire import values

#: Run by kitty's own Python: prints, as JSON, the value of `kitty_mod` and the bindings of each key. The last argument
#: is the folder of our kittens: keys for them are not taken.
_PROBE = """
def main():
    import json, sys
    from kitty import fast_data_types as f
    from kitty.config import load_config
    from kitty.options.utils import parse_shortcut

    conf, ours, *candidates = sys.argv[1:]
    opts = load_config("/etc/xdg/kitty/kitty.conf", conf)
    names = {"ctrl": f.GLFW_MOD_CONTROL, "alt": f.GLFW_MOD_ALT, "super": f.GLFW_MOD_SUPER, "shift": f.GLFW_MOD_SHIFT}
    taken, wrong = {}, []
    for candidate in candidates:
        try:
            first, *rest = [parse_shortcut(key).resolve_kitty_mod(opts.kitty_mod) for key in candidate.split(">")]
        except Exception:
            first, rest = None, []
        if first is None or not all(key.key for key in (first, *rest)):
            wrong.append(candidate)
            continue
        found = []
        for d in opts.keyboard_modes[""].keymap.get(first, ()):
            theirs = list(d.rest) if d.is_sequence else []
            short = min(len(theirs), len(rest))
            if theirs[:short] == rest[:short] and ours not in d.definition:
                found.append(d.definition)
        taken[candidate] = found
    print(json.dumps({
        "mod": "+".join(name for name, bit in names.items() if opts.kitty_mod & bit),
        "taken": taken,
        "wrong": wrong,
        "remote_control": opts.allow_remote_control,
        "bar_style": opts.tab_bar_style,
        "bar_min_tabs": opts.tab_bar_min_tabs,
        "has_decorations": not opts.hide_window_decorations,
    }))

# kitty runs this inside a function, where a name of the top could not be seen from below.
main()
"""
#: Seconds to wait for kitty, which takes a tenth; a machine under load more.
_ASK_KITTY_S = 20.0
#: Characters of a key's binding.
_MAX_BINDING_CHARS = 1000


class Answer(NamedTuple):
    """
    The reply of kitty: the value of `kitty_mod`, the present bindings of each key, invalid keys, and some of its
    options.
    """

    mod: str
    taken: dict[str, list[str]]
    wrong: frozenset[str] = frozenset()
    #: `allow_remote_control`, "" if kitty does not report it.
    remote_control: str = ""
    #: `tab_bar_style`, and the number of tabs that shows a bar; 0 if kitty does not report it.
    bar_style: str = ""
    bar_min_tabs: int = 0
    #: Whether OS windows have a title bar, as far as kitty decides that.
    has_decorations: bool = True

    def shown(self, key: str) -> str:
        """Return *key* as a person presses it."""
        return key.replace("kitty_mod", self.mod) if self.mod else key


def ask(system: System, place: Layout, here: Kitty, also: tuple[str, ...] = ()) -> Answer | None:
    """Ask kitty about all candidates and the keys *also*; None without kitty, or without a reply."""
    if here.program is None:
        return None
    asked = dict.fromkeys((*key_bindings.CANDIDATES, *also))
    done = system.run([here.program, "+runpy", _PROBE, here.conf, place.kittens, *asked], timeout=_ASK_KITTY_S)
    found = values.members("".join(done.stdout.splitlines()[-1:]))
    taken = found.get("taken")
    if not isinstance(taken, dict) or not all(isinstance(on, list) for on in taken.values()):
        return None
    keys_taken = {
        key: [text for each in on if (text := values.text(each, _MAX_BINDING_CHARS))] for key, on in taken.items()
    }
    wrong = found.get("wrong")
    told = wrong if isinstance(wrong, list) else []
    return Answer(
        values.text(found.get("mod"), _MAX_BINDING_CHARS),
        keys_taken,
        frozenset(asked) & {str(key) for key in told},
        values.text(found.get("remote_control"), _MAX_BINDING_CHARS),
        values.text(found.get("bar_style"), _MAX_BINDING_CHARS),
        values.integer(found.get("bar_min_tabs"), 0, 1000) or 0,
        found.get("has_decorations") is not False,
    )


def wishes(system: System) -> dict[str, str]:
    """Return the person's own keys in config.toml. `tally doctor` reports the errors there."""
    path = directories.config_file(system.env)
    try:
        data = toml.load(read_write.read_limited(path).decode("utf-8", "replace"), str(path))
    except (OSError, TallyError):
        return {}
    return key_bindings.wanted(data.get("keys"))


def plan(system: System, place: Layout, here: Kitty) -> tuple[list[key_bindings.Binding], Answer | None]:
    """Return the future bindings, and the reply of kitty to them."""
    before = environment.present_keys(place)
    wanted = wishes(system)
    asked = tuple(key for key in (*wanted.values(), *(binding.key for binding in before)) if key)
    answer = ask(system, place, here, asked)
    was = {binding.action.name: binding.key for binding in before}
    if answer is not None:
        # A line that kitty cannot read would open a window of errors at every start.
        wanted = {name: key for name, key in wanted.items() if key not in answer.wrong}
    return key_bindings.choose(wanted, was, answer.taken if answer is not None else None), answer


def rows(bindings: list[key_bindings.Binding], answer: Answer | None) -> list[tuple[str, str]]:
    """Return each key and its action."""
    return [(answer.shown(b.key) if answer is not None else b.key, b.action.what) for b in bindings]


def lacking(system: System, bindings: list[key_bindings.Binding]) -> list[str]:
    """Return the names of the actions that should have a key, and have none."""
    wanted, bound = wishes(system), {binding.action.name for binding in bindings}
    return [a.name for a in key_bindings.ACTIONS if a.name not in bound and wanted.get(a.name) != ""]


def impossible(system: System, answer: Answer | None) -> list[str]:
    """Return a message for each key in config.toml that is none."""
    if answer is None:
        return []
    wanted = wishes(system).items()
    return [f"keys.{name}: kitty knows no key {key!r:.60}" for name, key in wanted if key in answer.wrong]


def hidden(bindings: list[key_bindings.Binding], answer: Answer) -> list[tuple[key_bindings.Binding, tuple[str, str]]]:
    """Return the bindings on a key that has another action too: the key as it is pressed, and that action."""
    return [
        (binding, (answer.shown(binding.key), "; ".join(answer.taken[binding.key])))
        for binding in bindings
        if answer.taken.get(binding.key)
    ]
