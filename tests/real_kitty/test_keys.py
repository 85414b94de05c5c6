"""Keys in a real kitty: it says itself which are free, and pressed they start our kittens."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tests.real_kitty.desk import Desk

#: What `tally setup` would bind, and what it would show, for the kitty.conf in a directory.
_PLAN = """
import json, sys
sys.path.insert(0, {lib!r})
from tallylight.config import key_bindings as lines
from tallylight.files import install_paths
from tallylight.setup import free_keys as keys, kitty
from tallylight.files.system import System
system = System()
place = install_paths.layout(system)
bindings, answer = keys.plan(system, place, kitty.look(system))
hidden = keys.hidden(bindings, answer) if answer else None
print(json.dumps({{
    "lines": lines.text(bindings, str(place.kittens)),
    "keys": {{b.action.name: b.key for b in bindings}},
    "shown": [key for key, _ in keys.rows(bindings, answer)],
    "asked": answer is not None,
    "hidden": len(hidden or ()),
}}))
"""
ASK = "state=waiting;kind=permission;tool=claude;message=Go%20on%3F"


@pytest.fixture(scope="module")
def _desk(kitty_version: str) -> Iterator[Desk]:
    """A kitty with the keys that `tally setup` would bind in it."""
    desk = Desk(kitty_version)
    desk.reload(plan(desk, "")["lines"])
    yield desk
    desk.close()


@pytest.fixture
def desk(_desk: Desk) -> Desk:
    """That kitty with one plain tab."""
    _desk.close_all_but_first()
    return _desk


def plan(desk: Desk, conf: str, *, folder: str = "other", **more: str) -> dict:  # type: ignore[type-arg]
    """What would be bound for a user with this kitty.conf."""
    place = desk.kitty.home / folder
    place.mkdir(exist_ok=True)
    for name, text in {"kitty": conf, **more}.items():
        (place / f"{name}.conf").write_text(text)
    code = _PLAN.format(lib=str(desk.kitty.home / ".local/share/tallylight/lib"))
    done = desk.kitty.run(["python3", "-ISc", code], env={"KITTY_CONFIG_DIRECTORY": str(place)})
    found: dict = json.loads(done.stdout)  # type: ignore[type-arg]
    return found


def test_what_is_free_is_kittys_to_say(desk: Desk) -> None:
    """Defaults, includes, another kitty_mod, sequences and cleared shortcuts: kitty itself has read them."""
    bare = plan(desk, "")
    assert bare["keys"] == {
        "jump": "kitty_mod+y",
        "jump_previous": "kitty_mod+a>k",
        "agents": "kitty_mod+i",
        "panel": "kitty_mod+a>p",
        "fork": "kitty_mod+a>f",
        "resume": "kitty_mod+a>r",
        "diff": "kitty_mod+a>v",
        "snooze": "kitty_mod+a>s",
    }
    assert bare["shown"][:2] == ["ctrl+shift+y", "ctrl+shift+a>k"] and bare["asked"]

    taken = plan(desk, "include mine.conf\n", mine="map ctrl+shift+y new_tab\nmap kitty_mod+a new_window\n")
    assert taken["keys"]["jump"] == "kitty_mod+alt+j" and taken["keys"]["fork"] == "kitty_mod+alt+f"

    other = plan(desk, "kitty_mod ctrl+alt\nmap ctrl+alt+y new_tab\nmap ctrl+alt+a>f new_tab\n")
    assert (other["keys"]["jump"], other["keys"]["fork"]) == ("kitty_mod+a>j", "kitty_mod+a>o")
    assert other["shown"][0] == "ctrl+alt+a>j"

    cleared = plan(desk, "map ctrl+shift+y new_tab\nclear_all_shortcuts yes\n")
    assert cleared["keys"] == bare["keys"]

    # Ours are not in our own way.
    again = plan(desk, bare["lines"])
    assert again["keys"] == bare["keys"] and again["hidden"] == 0


def press(desk: Desk, *keys: str) -> None:
    desk.kitty.xdotool("key", "--clearmodifiers", *keys)


def front(desk: Desk) -> int:
    return int(desk.kitty.eval("return boss.active_window.id"))


def entry(desk: Desk, window: int) -> Pane:
    """What the snapshot says of a window."""
    found = desk.kitty.wait_until(desk.snapshot, what="a snapshot")
    return next((pane for pane in found.panes if pane.id == str(window)), Pane(id="", status=Status.ACTIVE))


def test_jump_and_back(desk: Desk) -> None:
    """Pressed, the key goes to the tab that waits, and from there back."""
    here = front(desk)
    window = desk.lamp("lamp")
    desk.send(window, ASK)
    desk.wait_status(window, "waiting")
    press(desk, "ctrl+shift+y")
    desk.kitty.wait_until(lambda: front(desk) == window, what="the waiting tab in front")
    press(desk, "ctrl+shift+y")
    desk.kitty.wait_until(lambda: front(desk) == here, what="the first tab in front again")
    press(desk, "ctrl+shift+a", "k")
    desk.kitty.wait_until(lambda: front(desk) == window, what="the waiting tab in front")


def test_the_list_and_the_fork_open(desk: Desk) -> None:
    """Either key opens its window over the pane."""
    for keys, word in ((["ctrl+shift+i"], "agent"), (["ctrl+shift+a", "f"], "Not forked")):
        before = {window["id"] for window in desk.kitty.windows()}
        press(desk, *keys)
        new = desk.kitty.wait_until(
            lambda: {window["id"] for window in desk.kitty.windows()} - before,  # noqa: B023
            what=f"the window of {keys}",
        )
        desk.kitty.wait_text(min(new), word)
        press(desk, "Escape")
        desk.kitty.wait_until(
            lambda: {window["id"] for window in desk.kitty.windows()} == before,  # noqa: B023
            what=f"its end after Escape; {keys}",
        )


def test_snoozed_is_amber_and_still(desk: Desk) -> None:
    """The key stops the pulse and leaves the amber, tells the snapshot, and pressed again lets it pulse on."""
    window, other = desk.lamp("lamp"), desk.kitty.windows()[0]["id"]
    desk.send(window, ASK)
    desk.wait_status(window, "waiting")
    desk.kitty.focus_window(window)
    tab = desk.kitty.tab_of(window)

    assert desk.host("host.surfaces.rollup.pulsing() != []") == "True"
    press(desk, "ctrl+shift+a", "s")
    desk.kitty.wait_until(lambda: entry(desk, window).attention.snoozed_until, what="the snooze in the snapshot")
    assert desk.host("host.surfaces.rollup.pulsing()") == "[]"
    desk.kitty.focus_window(other)  # a tab is filled while another one is in front
    desk.wait_colours({tab: "waiting"})
    assert desk.status(window) == "waiting"
    desk.kitty.focus_window(window)
    press(desk, "ctrl+shift+a", "s")
    desk.kitty.wait_until(lambda: not entry(desk, window).attention.snoozed_until, what="the end of the snooze")
    assert desk.host("host.surfaces.rollup.pulsing() != []") == "True"


def test_commands_from_a_tab(desk: Desk) -> None:
    """`tally unread` makes a seen `done` green again, `tally seen` grey, and `tally quiet` rests a question."""
    window = desk.lamp("lamp")
    desk.send(window, "state=done;tool=claude")
    desk.kitty.wait_until(lambda: entry(desk, window).status == "done", what="the light in the snapshot")
    for verb, status in (("seen", "idle"), ("unread", "done"), ("seen", "idle")):
        desk.kitty.run(["tally", verb, str(window)])
        desk.wait_status(window, status)
    desk.send(window, ASK)
    desk.kitty.wait_until(lambda: entry(desk, window).status == "waiting", what="the question in the snapshot")
    desk.kitty.run(["tally", "quiet", str(window), "5m"])
    desk.kitty.wait_until(
        lambda: b"waiting (permission), snoozed" in desk.kitty.run(["tally", "status"]).stdout, what="the snooze"
    )
    desk.kitty.run(["tally", "quiet", str(window), "off"])
    desk.let_pass(1.1)  # less than a second is not told
    desk.send(window, "state=working;tool=claude")
    desk.wait_status(window, "working")

    def told() -> bool:
        return b" for you today" in desk.kitty.run(["tally", "status"]).stdout

    desk.kitty.wait_until(told, what="how long agents waited")
