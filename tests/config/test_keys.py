"""Key bindings: a free key for each action, the person's own first, and lines that kitty reads as they were meant."""

from __future__ import annotations

from tallylight.config.key_bindings import ACTIONS, CANDIDATES, Binding, choose, is_free, read, text
from tallylight.config.settings import load
from tests.tables import each

FREE: dict[str, list[str]] = {key: [] for key in CANDIDATES}


def names(bindings: list[Binding]) -> dict[str, str]:
    return {binding.action.name: binding.key for binding in bindings}


def test_where_all_is_free_each_has_its_best_key() -> None:
    """Each action has the first of its keys, and no two the same."""
    chosen = names(choose({}, {}, FREE))

    assert chosen == {action.name: action.keys[0] for action in ACTIONS}
    assert len(set(chosen.values())) == len(ACTIONS)


def test_what_is_taken_is_left_alone() -> None:
    """A key that does something already is not bound; the next one is, and where none is free there is none."""
    taken = FREE | {"kitty_mod+y": ["new_tab"]}
    assert names(choose({}, {}, taken))["jump"] == "kitty_mod+a>j"
    everything = {key: ["new_tab"] for key in CANDIDATES}
    assert choose({}, {}, everything) == []


def test_without_kitty_nothing_new_is_bound() -> None:
    """Where kitty could not be asked, the keys of an earlier setup stay and no others come."""
    assert choose({}, {}, None) == []
    assert names(choose({}, {"jump": "kitty_mod+y"}, None)) == {"jump": "kitty_mod+y"}


def test_a_key_one_is_used_to_stays() -> None:
    """The key of an earlier setup stays though a better one has come free; not if something else took it."""
    assert names(choose({}, {"jump": "kitty_mod+alt+j"}, FREE))["jump"] == "kitty_mod+alt+j"
    taken = FREE | {"kitty_mod+alt+j": ["new_tab"]}
    assert names(choose({}, {"jump": "kitty_mod+alt+j"}, taken))["jump"] == "kitty_mod+y"


def test_a_persons_own_key_counts() -> None:
    """What a person chose is bound, taken or not; an empty one is no key; nobody else gets it."""
    chosen = names(choose({"jump": "f5", "agents": "", "fork": "kitty_mod+y"}, {}, {"f5": ["goto_tab 1"]} | FREE))

    assert chosen["jump"] == "f5" and "agents" not in chosen and chosen["fork"] == "kitty_mod+y"
    assert "resume" in chosen


def test_a_persons_own_key_is_no_beginning() -> None:
    """Where a person's own key begins the sequences of others, those get other keys."""
    chosen = names(choose({"jump": "kitty_mod+a"}, {}, FREE))

    assert chosen["jump"] == "kitty_mod+a" and chosen["fork"] == "kitty_mod+alt+f"
    assert not any(key.startswith("kitty_mod+a>") for key in chosen.values())


def test_a_key_of_an_earlier_choice_goes_with_it() -> None:
    """Who takes the own key out of the configuration gets a free one, not that."""
    assert names(choose({}, {"jump": "f5"}, FREE))["jump"] == "kitty_mod+y"


@each(
    ("key", "used", "free"),
    [("a>b", ["a"], False), ("a", ["a>b"], False), ("a>b", ["a>c"], True), ("a>b", ["a>b"], False), ("a", ["b"], True)],
)
def test_a_key_that_begins_another(key: str, used: list[str], free: bool) -> None:
    """A key cannot do something and begin a sequence."""
    assert is_free(key, used) is free


@each("folder", ["/k", "/home of me/kit'tens", "/a$HOME/k", '/quo"te/k'])
def test_lines(folder: str) -> None:
    """What is written is read back the same, whatever the folder is called."""
    bindings = choose({}, {}, FREE)
    written = text(bindings, folder)

    assert read(f"# a comment\nwatcher /x.py\n{written}map f1 new_tab\nmap f2 kitten 'x\n") == bindings
    assert len(written.splitlines()) == len(ACTIONS)


def test_the_lines_as_kitty_wants_them() -> None:
    """One `map` a key, the kitten by its whole path, then its options."""
    assert text(choose({}, {}, FREE), "/d/kittens").splitlines()[:2] == [
        "map kitty_mod+y kitten /d/kittens/jump.py",
        "map kitty_mod+a>k kitten /d/kittens/jump.py --previous",
    ]
    assert "'/d $$x/jump.py'" in text(choose({}, {}, FREE), "/d $x")


def test_keys_in_the_configuration() -> None:
    """Each action may be given a key or none."""
    config, errors = load('[keys]\njump = "ctrl+alt+j"\nsnooze = ""\n', "c.toml")

    assert (config.keys, errors) == ({"jump": "ctrl+alt+j", "snooze": ""}, [])


@each("value", ['"ctrl+x map y"', '"a\\nb"', "5", "true", '"' + "x" * 65 + '"', '"a#b"', '"a\'b"'])
def test_what_is_no_key_is_told(value: str) -> None:
    """A key that would be more than a key is named with its line and costs itself."""
    config, errors = load(f"[keys]\njump = {value}\nfork = 'f9'\n", "c.toml")

    assert [(error.key, error.line) for error in errors] == [("keys.jump", 2)]
    assert config.keys == {"fork": "f9"}


def test_an_unknown_action_is_told() -> None:
    """A misspelt action is no silent nothing."""
    (error,) = load('[keys]\njmup = "f5"\n', "c.toml")[1]

    assert error.key == "keys.jmup"
