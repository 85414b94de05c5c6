"""Keys: jumping, the list, fork and resume; nothing happens without a key, and nothing of a program's is run."""

from __future__ import annotations

import os

import pytest

from tallylight.cli import doctor
from tallylight.hosts.wezterm import pane_list
from tests.hosts.wezterm.conftest import Bench

#: What the keys emit, by what they do: the command palette of WezTerm shows these words.
EVENTS = {
    "jump": "Tallylight: go to the agent that waits",
    "list": "Tallylight: list of agents",
    "panel": "Tallylight: open or close the panel of this tab",
    "fork": "Tallylight: fork the conversation of this pane",
    "resume": "Tallylight: resume the conversation of this pane",
    "snooze": "Tallylight: snooze the agent of this pane",
}


def keys(bench: Bench, config: object) -> dict[str, tuple[str, ...]]:
    """The keys of each action, one after the other; the prefix among them."""
    found: dict[str, tuple[str, ...]] = {}
    tables = bench.fake.to_python(config["key_tables"] or {})  # type: ignore[index]
    for binding in bench.fake.to_python(config["keys"]):  # type: ignore[index]
        action, key = binding["action"], f"{binding['mods']} {binding['key']}"
        if action["__action"] == "ActivateKeyTable":
            assert action["argument"]["one_shot"] is True
            for behind in tables[action["argument"]["name"]]:
                found[behind["action"]["argument"]] = key, behind["key"]
        else:
            found[action.get("argument", "")] = (key,)
    names = {event: name for name, event in EVENTS.items()}
    return {names.get(event, event): chords for event, chords in found.items()}


def test_default_keys(bench: Bench) -> None:
    """Those of kitty: two by themselves and four behind a prefix, each an event of ours."""
    prefix = "CTRL|SHIFT a"
    assert keys(bench, bench.config()) == {
        "jump": ("CTRL|SHIFT y",),
        "list": ("CTRL|SHIFT i",),
        "panel": (prefix, "p"),
        "fork": (prefix, "f"),
        "resume": (prefix, "r"),
        "snooze": (prefix, "s"),
    }


def test_own_keys(bench: Bench) -> None:
    """A key can be another one, or none, and the prefix too; with `keys = false` there is none of ours."""
    found = keys(bench, bench.config("{keys={jump={key='w', mods='LEADER'}, panel={key='o', mods='ALT'}, fork=false}}"))
    assert found == {
        "jump": ("LEADER w",), "list": ("CTRL|SHIFT i",), "panel": ("ALT o",), "resume": ("CTRL|SHIFT a", "r"),
        "snooze": ("CTRL|SHIFT a", "s"),
    }  # fmt: skip
    bench.start()
    assert keys(bench, bench.config("{keys={prefix={key='t', mods='ALT'}}}"))["fork"] == ("ALT t", "f")
    bench.start()
    assert keys(bench, bench.config("{keys={prefix=false}}")).keys() == {"jump", "list"}
    bench.start()
    config = bench.config("{keys=false}")
    assert config["keys"] is None and config["key_tables"] is None


def test_keys_of_others_stay(bench: Bench) -> None:
    """What is bound before keeps its action, however it is written, and key tables of others stay; ours move."""
    mine = "{key='Y', mods='CTRL', action=wezterm.action.Nop}, {key='I', mods='SHIFT|CTRL', action=wezterm.action.Nop}"
    config = bench.config(before=f"config.keys = {{{mine}}}; config.key_tables = {{mine={{}}}}")
    found = bench.fake.to_python(config["keys"])
    assert [(binding["mods"], binding["key"]) for binding in found] == [
        ("CTRL", "Y"), ("SHIFT|CTRL", "I"), ("CTRL|ALT", "y"), ("CTRL|ALT", "i"), ("CTRL|SHIFT", "a"),
    ]  # fmt: skip
    assert bench.fake.to_python(config["key_tables"]).keys() == {"mine", "tallylight"}


def test_doctor_knows_which_key_does_what(bench: Bench) -> None:
    """The sidecar is told, also of an action whose keys are all taken."""
    taken = ", ".join(
        f"{{key='i', mods='{mods}', action=wezterm.action.Nop}}"
        for mods in ("CTRL|SHIFT", "CTRL|ALT", "ALT|SHIFT", "CTRL|ALT|SHIFT")
    )
    bench.config(before=f"config.keys = {{ {taken}, {{key='y', mods='CTRL|SHIFT', action=wezterm.action.Nop}} }}")
    bench.tick()
    feed = pane_list.read_feed(bench.feed_path.read_bytes())
    assert feed is not None
    assert dict(feed.keys) == {
        "jump": "ALT|CTRL y", "list": "", "panel": "CTRL|SHIFT a, p", "fork": "CTRL|SHIFT a, f",
        "resume": "CTRL|SHIFT a, r", "snooze": "CTRL|SHIFT a, s",
    }  # fmt: skip
    assert doctor._key_words(dict(feed.keys)["panel"]) == "ctrl+shift+a then p"
    assert bench.fake.log == [] and bench.feed["problems"] == ""


def goal(bench: Bench, pane: int | str) -> None:
    """The sidecar says where to go, and knocks."""
    (bench.folder / "wezterm-4711.goal").write_text(str(pane))
    bench.wake()


def test_wishes(bench: Bench) -> None:
    """Jump and snooze are told to the sidecar at once, with the pane and a number that grows."""
    bench.config()
    bench.tick()
    here, there = bench.panes
    numbers = []
    for verb, pane in (("jump", here), ("jump", here), ("snooze", there)):
        bench.fake.advance(0.2)
        bench.fake.press(EVENTS[verb], pane)
        number, *rest = bench.feed["wish"].split(" ")
        assert rest == [verb, str(pane.id)]
        numbers.append(int(number))
    assert numbers == sorted(set(numbers))


def test_jump(bench: Bench) -> None:
    """To the pane that the sidecar names; across tabs, with a zoom undone. Where it names none, that is said."""
    bench.config()
    bench.tick()
    beside = bench.system.pane(bench.tabs[1])
    bench.tabs[1].is_zoomed = True
    goal(bench, beside.id)
    assert bench.tabs[1].active_pane is beside and bench.window.active == 1
    assert bench.tabs[1].is_zoomed is False
    goal(bench, "none")
    assert bench.window.toasts == [("tallylight", "no agent needs you")]


def test_asked_for_from_elsewhere(bench: Bench) -> None:
    """The sidecar leaves a note of a pane in another window, and knocks: it is shown, once; nothing else is."""
    bench.config()
    bench.tick()
    other = bench.system.window("other")
    pane = bench.system.pane(bench.system.tab(other))
    note = bench.folder / "wezterm-4711.goal"
    note.write_text(str(pane.id))
    bench.wake()
    assert (bench.system.workspace, other.is_focused, note.exists()) == ("other", True, False)
    bench.system.workspace = "default"
    bench.wake()
    for text in ("", "x", f"{pane.id} ", "999", "9" * 5000):
        note.write_text(text)
        bench.wake()
    note.unlink(missing_ok=True)
    os.mkfifo(note)
    bench.wake()
    assert bench.system.workspace == "default"
    assert bench.fake.errors() == []


def test_list(bench: Bench) -> None:
    """Our own list opens over the whole tab, with its answers; in a server's tab, in a new one."""
    bench.config()
    bench.tick()
    here, there = bench.panes
    bench.fake.press("tallylight.list", here)
    command = {"args": ["tally", "agents"], "cwd": "/home/u", "domain": {"DomainName": "local"}}
    assert here.split == [{**command, "direction": "Bottom"}]
    assert bench.tabs[0].is_zoomed and bench.tabs[0].active_pane is not here
    there.domain = "SSHMUX:build"
    bench.fake.press("tallylight.list", there)
    assert there.split == [] and bench.window.spawned == [command]
    assert bench.fake.errors() == []


@pytest.mark.parametrize("verb", ["list", "jump", "snooze"])
def test_without_tally(bench: Bench, verb: str) -> None:
    """Without a sidecar a key says what it needs."""
    bench.has_tally = False
    bench.config()
    bench.fake.press(f"tallylight.{verb}", bench.panes[0])
    assert bench.window.toasts == [
        ("tallylight", f"{'the ' * (verb == 'list')}{verb} needs the program tally and its sidecar")
    ]


@pytest.mark.parametrize("verb", ["fork", "resume"])
@pytest.mark.parametrize("is_key", [True, False])
def test_fork(bench: Bench, verb: str, is_key: bool) -> None:
    """`tally` shows its page in a split beside the pane, on this machine, and runs there what is agreed to."""
    bench.config()
    bench.tick()
    here = bench.panes[0]
    here.domain = "SSHMUX:build"
    bench.fake.press(EVENTS[verb] if is_key else f"tallylight.{verb}", here)
    argv = ["tally", verb, "--here", "--location", "vsplit", f"wezterm-99:{here.id}"]
    assert here.split == [{"args": argv, "direction": "Right", "domain": {"DomainName": "local"}}]
    emitted = {action["argument"] for action in bench.window.performed}
    assert emitted <= {"tallylight.news"} and {argv[1] for argv in bench.fake.commands} == {"host"}


def test_fork_without_tally(bench: Bench) -> None:
    """Without a sidecar there is nothing to fork from, and that is said."""
    bench.has_tally = False
    bench.config()
    bench.fake.press("tallylight.fork", bench.panes[0])
    assert bench.window.toasts == [("tallylight", "fork needs the program tally and its sidecar")]


def test_nothing_without_a_key(bench: Bench) -> None:
    """Whatever a program says, no process but the sidecar is started, nothing is split and no pane comes forward."""
    bench.config()
    for payload in ("state=waiting;session=x;resume=rm", "state=done;fork=claude", "state=waiting;tool=tally;id=jump"):
        bench.say(bench.panes[1], payload)
        for name in ("user_action", "tally_action", "tallylight.fork"):
            bench.fake.set_var(bench.panes[1], name, "fork")
        bench.fake.pump()
    assert {argv[1] for argv in bench.fake.commands} == {"host"}
    assert bench.panes[1].split == [] and bench.panes[1].activated == 0


def test_a_fault_is_told(bench: Bench) -> None:
    """A pane that closes under an action costs a toast and a line in the log."""
    bench.config()
    bench.tick()
    pane = bench.system.pane(bench.tabs[0])
    closing = iter([pane])
    # While the split is made the pane goes.
    bench.fake.paused = lambda: bench.system.close(p) if (p := next(closing, None)) else None
    bench.fake.press("tallylight.fork", pane)
    assert bench.window.toasts == [("tallylight", "fork failed; see the log")]
    assert "not found in mux" in bench.fake.errors()[0]
