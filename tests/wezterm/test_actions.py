"""Keys: jumping, the list, fork and resume; nothing happens without a key, and nothing of a program's is run."""

from __future__ import annotations

import json

import pytest

from tests.wezterm.conftest import Bench


def keys(bench: Bench, config: object) -> dict[str, tuple[str, str]]:
    found = bench.fake.to_python(config["keys"])  # type: ignore[index]
    return {key["action"].get("argument", ""): (key["key"], key["mods"]) for key in found}


def test_default_keys(bench: Bench) -> None:
    """Four keys, each an event of ours."""
    mods = "CTRL|SHIFT|ALT"
    assert keys(bench, bench.config()) == {
        "tallylight.jump": ("j", mods),
        "tallylight.list": ("l", mods),
        "tallylight.fork": ("f", mods),
        "tallylight.resume": ("r", mods),
    }


def test_own_keys(bench: Bench) -> None:
    """A key can be another one, or none; with `keys = false` there is none of ours."""
    config = bench.config("{keys={jump={key='w', mods='LEADER'}, fork=false}}")
    assert keys(bench, config)["tallylight.jump"] == ("w", "LEADER")
    assert "tallylight.fork" not in keys(bench, config)
    bench.start()
    assert bench.config("{keys=false}")["keys"] is None


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
    choices = action["argument"]["choices"]
    assert [choice["id"] for choice in choices] == [str(there.id), str(here.id)]
    assert choices[0]["label"] == "? claude  web  Which one?  2 min"
    assert choices[1]["label"].startswith("● codex  working  ")
    bench.fake.choose(bench.window, here, str(there.id))
    assert bench.window.active == 1


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
def test_fork(bench: Bench, verb: str) -> None:
    """The plan of `tally` for this very pane is shown whole, and on Enter run in a split, as an argument list."""
    bench.config()
    bench.tick()
    plan = {
        "version": 1,
        "argv": ["claude", "--resume", "a;b $(c)'d"],
        "cwd": "/w/api",
        "title": "x",
        "env": {"A": "b"},
    }
    bench.answers[verb] = (True, json.dumps({**plan, "notes": ["Both would\x07 go on."]}))
    here = bench.panes[0]
    bench.fake.press(f"tallylight.{verb}", here)
    assert bench.fake.commands[-1] == ["tally", verb, "--json", f"wezterm-99:{here.id}"]
    assert here.split == []
    shown = bench.window.performed[-1]["argument"]["choices"]
    assert shown[0]["label"] == "claude --resume 'a;b $(c)'\\''d'  in /w/api  (Both would go on.)"
    bench.fake.choose(bench.window, here, "run")
    split = {"args": plan["argv"], "cwd": "/w/api", "direction": "Right", "set_environment_variables": {"A": "b"}}
    assert here.split == [split]


@pytest.mark.parametrize("answer", [None, "leave"])
def test_fork_left(bench: Bench, answer: str | None) -> None:
    """What a person leaves is not run, nor by a later answer."""
    bench.config()
    bench.tick()
    bench.answers["fork"] = (True, '{"version": 1, "argv": ["claude"]}')
    bench.fake.press("tallylight.fork", bench.panes[0])
    bench.fake.choose(bench.window, bench.panes[0], answer)
    bench.fake.choose(bench.window, bench.panes[0], "run")
    assert bench.panes[0].split == []


@pytest.mark.parametrize(
    ("is_good", "answer", "said"),
    [
        (
            False,
            '{"refused": "remote", "text": "the pane is on another\\u0007 machine"}',
            "the pane is on another machine",
        ),
        (True, '{"refused": "remote", "text": 7}', "remote"),
        (True, "", "tally gave no answer"),
        (True, "[]", "tally is of another version"),
        (True, '{"version": 2, "argv": ["x"]}', "tally is of another version"),
        (True, '{"version": 1, "argv": []}', "tally is of another version"),
        (True, '{"version": 1, "argv": ["x", 3]}', "tally gave an answer that is not valid"),
        (True, '{"version": 1, "argv": ["x\\u0000y"]}', "tally gave an answer that is not valid"),
        (True, '{"version": 1, "argv": ["x\\u202ey"]}', "not run: the command cannot be shown as it is"),
        (True, json.dumps({"version": 1, "argv": ["x" * 1001]}), "not run: the command cannot be shown as it is"),
    ],
)
def test_refusal(bench: Bench, is_good: bool, answer: str, said: str) -> None:
    """A refusal is told in its own words, an answer that is none in ours; nothing is run."""
    bench.config()
    bench.tick()
    bench.answers["fork"] = (is_good, answer)
    bench.fake.press("tallylight.fork", bench.panes[0])
    assert bench.panes[0].split == []
    assert bench.window.toasts == [("tallylight", said)]
    assert bench.fake.errors() == []


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
    bench.answers["fork"] = (True, '{"version": 1, "argv": ["x"]}')
    pane = bench.system.pane(bench.tabs[0])
    closing = iter([pane])
    bench.fake.paused = lambda: bench.system.close(p) if (p := next(closing, None)) else None
    # While `tally` is asked the pane goes.
    bench.fake.press("tallylight.fork", pane)
    assert bench.window.toasts == [("tallylight", "fork failed; see the log")]
    assert "not found in mux" in bench.fake.errors()[0]
