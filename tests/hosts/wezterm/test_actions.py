"""Keys: jumping, the list, fork and resume; nothing happens without a key, and nothing of a program's is run."""

from __future__ import annotations

import os

import pytest

from tests.hosts.wezterm.conftest import Bench

#: What the keys emit, by what they do: the command palette of WezTerm shows these words.
EVENTS = {
    "jump": "Tallylight: go to the agent that waits",
    "list": "Tallylight: list of agents",
    "panel": "Tallylight: open or close the panel of this tab",
    "fork": "Tallylight: fork the conversation of this pane",
    "resume": "Tallylight: resume the conversation of this pane",
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
    """Those of kitty: two by themselves and three behind a prefix, each an event of ours."""
    prefix = "CTRL|SHIFT a"
    assert keys(bench, bench.config()) == {
        "jump": ("CTRL|SHIFT y",),
        "list": ("CTRL|SHIFT i",),
        "panel": (prefix, "p"),
        "fork": (prefix, "f"),
        "resume": (prefix, "r"),
    }


def test_own_keys(bench: Bench) -> None:
    """A key can be another one, or none, and the prefix too; with `keys = false` there is none of ours."""
    found = keys(bench, bench.config("{keys={jump={key='w', mods='LEADER'}, panel={key='o', mods='ALT'}, fork=false}}"))
    assert found == {
        "jump": ("LEADER w",), "list": ("CTRL|SHIFT i",), "panel": ("ALT o",), "resume": ("CTRL|SHIFT a", "r"),
    }  # fmt: skip
    bench.start()
    assert keys(bench, bench.config("{keys={prefix={key='t', mods='ALT'}}}"))["fork"] == ("ALT t", "f")
    bench.start()
    assert keys(bench, bench.config("{keys={prefix=false}}")).keys() == {"jump", "list"}
    bench.start()
    config = bench.config("{keys=false}")
    assert config["keys"] is None and config["key_tables"] is None


def test_keys_of_others_stay(bench: Bench) -> None:
    """What is bound before keeps its action, however it is written, and key tables of others stay."""
    mine = "{key='Y', mods='CTRL', action=wezterm.action.Nop}, {key='I', mods='SHIFT|CTRL', action=wezterm.action.Nop}"
    config = bench.config(before=f"config.keys = {{{mine}}}; config.key_tables = {{mine={{}}}}")
    found = bench.fake.to_python(config["keys"])
    assert [(binding["mods"], binding["key"]) for binding in found] == [
        ("CTRL", "Y"), ("SHIFT|CTRL", "I"), ("CTRL|SHIFT", "a"),
    ]  # fmt: skip
    assert bench.fake.to_python(config["key_tables"]).keys() == {"mine", "tallylight"}


def test_jump(bench: Bench) -> None:
    """To the pane that has waited longest, then to the next, and round again; across tabs, with a zoom undone."""
    bench.config()
    here, there = bench.panes
    beside = bench.system.pane(bench.tabs[1])
    bench.say(beside, "state=waiting")
    bench.say(there, "state=waiting")
    bench.say(here, "state=error")
    bench.tabs[1].is_zoomed = True
    bench.fake.press("tallylight.jump", here)
    assert bench.tabs[1].active_pane is beside and bench.window.active == 1
    assert bench.tabs[1].is_zoomed is False
    bench.fake.press("tallylight.jump", beside)
    assert bench.tabs[1].active_pane is there
    bench.fake.press("tallylight.jump", there)
    assert bench.tabs[1].active_pane is beside


def test_jump_to_another_workspace(bench: Bench) -> None:
    """The workspace is changed, and the window comes to the front."""
    bench.config()
    other = bench.system.window("other")
    pane = bench.system.pane(bench.system.tab(other))
    bench.say(pane, "state=waiting")
    bench.tick()
    bench.fake.press("tallylight.jump", bench.panes[0])
    assert bench.system.workspace == "other"
    assert pane.activated == 1 and other.is_focused
    assert bench.fake.errors() == []


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


@pytest.mark.parametrize(("status", "goes"), [("error", True), ("done", True), ("working", False), ("idle", False)])
def test_jump_where_nobody_waits(bench: Bench, status: str, goes: bool) -> None:
    """Where nobody waits, to what ended; never to what is at work, and then it is said."""
    bench.config("{toasts=false}")
    bench.say(bench.panes[1], f"state={status}")
    bench.fake.press("tallylight.jump", bench.panes[0])
    assert (bench.window.active == 1) is goes
    assert bench.window.toasts == ([] if goes else [("tallylight", "no agent needs you")])


def test_list(bench: Bench) -> None:
    """The list has mark, agent, project, question and age, the most urgent first; choosing goes there."""
    bench.config("{toasts=false}")
    here, there = bench.panes
    bench.say(there, "state=waiting;kind=question;tool=claude;project=web;message=Which\x07 %E2%80%AEone?")
    bench.say(here, "state=working;tool=codex")
    bench.fake.now += 125
    bench.fake.press("tallylight.list", here)
    action = bench.window.performed[-1]
    assert action["__action"] == "InputSelector"
    assert bench.fake.selector(bench.window) == ("Agents: ", [each["label"] for each in action["argument"]["choices"]])
    choices = action["argument"]["choices"]
    assert [choice["id"] for choice in choices] == [str(there.id), str(here.id)]
    assert choices[0]["label"] == "? claude  web  Which one?  2 min"
    assert choices[1]["label"].startswith("● codex  working  ")
    bench.fake.choose(bench.window, here, str(there.id))
    assert bench.window.active == 1


def test_snoozed_panes_are_passed_over(bench: Bench) -> None:
    """The jump goes to a pane that was put off only when its time is over."""
    bench.config("{toasts=false}")
    later = bench.system.pane(bench.tabs[1])
    row = {"status": "waiting", "since": 5}
    bench.tick()
    bench.write_snapshot(
        {**row, "id": str(later.id), "since": 1, "snoozed_until": bench.fake.now + 60},
        {**row, "id": str(bench.panes[1].id)},
    )
    bench.tick()
    for _ in range(2):
        bench.fake.press("tallylight.jump", bench.panes[0])
        assert bench.tabs[1].active_pane is bench.panes[1]
    bench.tick(120)
    bench.fake.press("tallylight.jump", bench.panes[0])
    assert bench.tabs[1].active_pane is later


def test_list_left(bench: Bench) -> None:
    """Leaving the list, or a pane that has gone meanwhile, changes nothing."""
    bench.config()
    bench.say(bench.panes[1], "state=waiting")
    for chosen in (None, str(bench.panes[1].id)):
        bench.fake.press("tallylight.list", bench.panes[0])
        if chosen:
            bench.system.close(bench.panes[1])
        bench.fake.choose(bench.window, bench.panes[0], chosen)
        assert bench.window.active == 0
    assert bench.fake.errors() == []


def test_no_agents(bench: Bench) -> None:
    """With nothing lit there is no list, and that is said."""
    bench.config()
    bench.fake.press("tallylight.list", bench.panes[0])
    assert bench.window.performed == []
    assert bench.window.toasts == [("tallylight", "there are no agents")]


@pytest.mark.parametrize("verb", ["fork", "resume"])
@pytest.mark.parametrize("is_key", [True, False])
def test_fork(bench: Bench, verb: str, is_key: bool) -> None:
    """`tally` shows its page in a split beside the pane, on this machine, and runs there what is agreed to."""
    bench.config()
    bench.tick()
    here = bench.panes[0]
    here.domain = "SSHMUX:build"
    bench.fake.press(EVENTS[verb] if is_key else f"tallylight.{verb}", here)
    argv = ["tally", verb, "--here", f"wezterm-99:{here.id}"]
    assert here.split == [{"args": argv, "direction": "Right", "domain": {"DomainName": "local"}}]
    assert bench.window.performed == [] and {argv[1] for argv in bench.fake.commands} == {"host"}


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
