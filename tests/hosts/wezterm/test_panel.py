"""The panel: opened and closed by one key, known by the id that WezTerm gave it, and no pane of anybody else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.wezterm import api
from tests.hosts.wezterm.conftest import Bench
from tests.hosts.wezterm.fake import Pane
from tests.ui.agent_list.program import List


@pytest.fixture
def panelled(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A WezTerm with its sidecar, which has the settings' own width."""
    monkeypatch.setenv("WEZTERM_UNIX_SOCKET", "/run/user/1000/wezterm/gui-sock-4711")
    bench.answers["config"] = (True, "[panel]\nwidth = 28    # default\n")
    bench.window.columns = 120
    bench.config()
    bench.tick()
    return bench


def press(bench: Bench, pane: Pane) -> None:
    """Press the key in a pane."""
    bench.fake.press("tallylight.panel", pane)


def meanwhile(bench: Bench, call: Callable[[], object]) -> None:
    """Have something happen once, while the next handler waits for the first time."""
    calls = iter([call])
    bench.fake.paused = lambda: next(calls, lambda: None)()


def added(bench: Bench, tab: int = 0) -> list[Pane]:
    """The panes of a tab that were not there at the start."""
    return [pane for pane in bench.tabs[tab].panes if pane not in bench.panes]


def test_opened_and_closed(panelled: Bench) -> None:
    """At the left edge of the tab, as wide as the settings say, the keyboard where it was; the key closes it again."""
    here = panelled.panes[0]
    press(panelled, here)
    (panel,) = added(panelled)
    assert here.split == [
        {
            "args": ["tally", "panel"], "cwd": "/home/u", "direction": "Left", "domain": {"DomainName": "local"},
            "size": 28,
        }
    ]  # fmt: skip
    assert panelled.tabs[0].active_pane is here
    press(panelled, here)
    assert panelled.fake.commands[-1] == [
        "/usr/bin/wezterm", "cli", "--no-auto-start", "kill-pane", "--pane-id", str(panel.id),
    ]  # fmt: skip
    assert panelled.tabs[0].panes == [here] and panelled.fake.errors() == [] and panelled.window.toasts == []


def test_a_tab_with_splits(panelled: Bench) -> None:
    """It is split off the tallest pane at the left edge, since WezTerm does not size one beside several."""
    here = panelled.panes[0]
    here.height, here.width = 10, 60
    below = panelled.system.pane(here.tab, height=13, width=60)
    panelled.system.pane(here.tab, left=61, width=59)
    panelled.tabs[0].active = 2
    press(panelled, here)
    assert [pane for pane in here.tab.panes if pane.split] == [below]
    assert added(panelled)[-1].is_sized and here.tab.active == 2


def test_closed_from_the_panel_itself(panelled: Bench) -> None:
    """The key closes it where it has the keyboard itself, too, and after the configuration was loaded anew."""
    press(panelled, panelled.panes[0])
    (panel,) = added(panelled)
    panelled.start()
    panelled.config()
    panelled.tick()
    press(panelled, panel)
    assert panel.is_dead and added(panelled) == []


def test_closed_by_the_person_meanwhile(panelled: Bench) -> None:
    """One that was left with q is not closed again: the key opens another."""
    here = panelled.panes[0]
    press(panelled, here)
    (panel,) = added(panelled)
    panelled.system.close(panel)
    press(panelled, here)
    assert len(added(panelled)) == 1 and not here.is_dead
    assert str(panelled.system.globals["tallylight_panels"]) == str(added(panelled)[0].id)


def test_two_tabs(panelled: Bench) -> None:
    """Each tab has its own, and the key closes that of its tab alone; one that was moved is closed where it is."""
    for pane in panelled.panes:
        press(panelled, pane)
    (first,), (second,) = added(panelled, 0), added(panelled, 1)
    press(panelled, panelled.panes[1])
    assert second.is_dead and not first.is_dead
    panelled.tabs[0].panes.remove(first)
    first.tab = panelled.tabs[1]
    panelled.tabs[1].panes.append(first)
    press(panelled, panelled.panes[1])
    assert first.is_dead


def test_tab_gone(panelled: Bench) -> None:
    """What went with its tab is forgotten when the next one opens."""
    press(panelled, panelled.panes[1])
    for pane in list(panelled.tabs[1].panes):
        panelled.system.close(pane)
    panelled.window.tabs.remove(panelled.tabs[1])
    press(panelled, panelled.panes[0])
    (panel,) = added(panelled)
    assert panelled.system.globals["tallylight_panels"] == str(panel.id)
    assert panelled.fake.errors() == []


def test_no_program_makes_itself_a_panel(panelled: Bench) -> None:
    """The variable of the panel decides nothing: the pane that sets it keeps its light and is not closed."""
    here = panelled.panes[0]
    agent = panelled.system.pane(panelled.tabs[0])
    panelled.fake.set_var(agent, "tally_panel", "1")
    panelled.say(agent, "state=waiting")
    panelled.tick()
    assert panelled.light(agent) != ""
    press(panelled, here)
    press(panelled, here)
    assert not agent.is_dead and panelled.tabs[0].panes == [here, agent]
    assert panelled.light(agent) != ""


def test_a_panel_has_no_light(panelled: Bench) -> None:
    """What the panel itself says of itself lights nothing."""
    press(panelled, panelled.panes[0])
    (panel,) = added(panelled)
    panelled.fake.set_var(panel, "tally_panel", "1")
    panelled.tick()
    assert panelled.light(panel) == "" and panel.user_vars.get("tally_status", "") == ""


@pytest.mark.parametrize(
    ("answer", "columns", "size"),
    [
        ("width = 28 # 36\n", 120, 28),
        ("width = 28\n", 50, 25),
        ("width = 9000\n", 200, 40),
        ("width = 1\n", 200, 24),
        ("", 200, 32),
        ("not toml", 200, 32),
    ],
)
def test_width(panelled: Bench, answer: str, columns: int, size: int) -> None:
    """As the settings say, and no more than half of the tab; what cannot be read is the default."""
    panelled.answers["config"] = (False, answer)
    panelled.panes[0].width = columns
    press(panelled, panelled.panes[0])
    assert panelled.panes[0].split[0]["size"] == size


def test_zoomed(panelled: Bench) -> None:
    """WezTerm splits no zoomed tab, and a zoom would hide the panel: it is undone."""
    panelled.tabs[0].is_zoomed = True
    press(panelled, panelled.panes[0])
    assert len(added(panelled)) == 1 and not panelled.tabs[0].is_zoomed


def test_pressed_twice(panelled: Bench) -> None:
    """A second press while the first is at work does nothing: neither opens a second panel nor closes twice."""
    here, fake = panelled.panes[0], panelled.fake

    def again() -> None:
        fake.emit("tallylight.panel", fake.object("GuiWin", panelled.window.id), fake.object("Pane", here.id))

    for expected in (1, 0):
        before = len(fake.commands)
        meanwhile(panelled, again)
        press(panelled, here)
        assert (len(added(panelled)), len(fake.commands) - before) == (expected, 1)
    assert fake.errors() == []


def test_closed_while_it_is_closed(panelled: Bench) -> None:
    """A panel that goes by itself between the key and WezTerm's answer is no fault; one that stays is."""
    here = panelled.panes[0]
    press(panelled, here)
    (panel,) = added(panelled)
    meanwhile(panelled, lambda: panelled.system.close(panel))
    press(panelled, here)
    assert panelled.window.toasts == [] and panelled.fake.errors() == []
    press(panelled, here)
    panelled.fake._cli = lambda *_: (False, "", "no answer")  # type: ignore[method-assign]
    press(panelled, here)
    assert panelled.window.toasts == [("tallylight", "panel failed; see the log")]
    assert "no answer" in panelled.fake.errors()[0]


def test_another_tab_meanwhile(panelled: Bench) -> None:
    """A person who goes to another tab while it opens stays there, and the old tab keeps its keyboard."""
    here, there = panelled.panes
    beside = panelled.system.pane(panelled.tabs[0])

    def go() -> None:
        panelled.tabs[0].active = panelled.tabs[0].panes.index(beside)
        panelled.window.active = 1

    meanwhile(panelled, go)
    press(panelled, here)
    assert panelled.window.active == 1 and panelled.tabs[1].active_pane is there
    assert panelled.tabs[0].active_pane is beside and len(panelled.tabs[0].panes) == 3


def test_gone_meanwhile(panelled: Bench) -> None:
    """A tab that closes while the panel opens costs a toast, and the key works on in the others."""
    meanwhile(panelled, lambda: panelled.window.tabs.remove(panelled.tabs[0]))
    panelled.window.active = 0
    press(panelled, panelled.panes[0])
    assert panelled.window.toasts == [("tallylight", "panel failed; see the log")]
    press(panelled, panelled.panes[1])
    assert len(added(panelled, 1)) == 1


def test_where_there_is_none(panelled: Bench) -> None:
    """In a tab of a mux server and without the program nothing is done, and that is said."""
    here = panelled.panes[0]
    here.domain = "SSHMUX:build"
    press(panelled, here)
    assert "WezTerm's own domain" in panelled.window.toasts[-1][1]
    here.domain = "local"
    panelled.start()
    panelled.config("{tally=false}")
    panelled.tick()
    press(panelled, here)
    assert panelled.window.toasts[-1][1] == "the panel needs the program tally and its sidecar"
    assert added(panelled) == []


def test_the_socket_of_another(panelled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `wezterm cli` would ask another WezTerm, in which the number is another pane, nothing is closed."""
    press(panelled, panelled.panes[0])
    for socket in ("/run/user/1000/wezterm/gui-sock-14711", "/run/user/1000/wezterm/sock", ""):
        monkeypatch.setenv("WEZTERM_UNIX_SOCKET", socket)
        press(panelled, panelled.panes[0])
        assert "kill-pane" not in panelled.fake.commands[-1]
        assert panelled.window.toasts.pop()[1] == "the panel cannot be closed from here: press q in it"
    assert len(added(panelled)) == 1


def test_a_split_that_fails(panelled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A WezTerm that does not split as asked opens nothing, says so, and works on; the key can be tried again."""
    monkeypatch.setattr(api, "SPLIT_KEYS", api.SPLIT_KEYS - {"domain"})
    for _ in range(2):
        press(panelled, panelled.panes[0])
        assert panelled.window.toasts.pop()[1] == "panel failed; see the log"
    assert "domain" in panelled.fake.errors()[0] and added(panelled) == []
    monkeypatch.undo()
    press(panelled, panelled.panes[0])
    assert len(added(panelled)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("program", "titles"), [("WezTerm", ["tally agents", "wezterm"]), ("kitty", [])])
def test_the_tab_of_the_list(tmp_path: Path, program: str, titles: list[str]) -> None:
    """In WezTerm `tally agents` says what it is, since its process is `python3.11`, and takes that back at its end."""
    shown = List(tmp_path, TERM_PROGRAM=program)
    with shown.terminal:
        shown.wait(lambda lines: any(lines))
        shown.terminal.type(b"q")
        assert shown.end() == 0
        assert re.findall(r"\x1b\]2;(.*?)\x07", shown.terminal.received.decode()) == titles
