"""The main job: real Claude Code in a real kitty, and the light within a second of the truth.

kitty, Claude and the scripted model run in one room with nothing but loopback. No hook is installed and no file of
Claude's is touched. The truth is the model's marks, or the key press for what the model cannot know; the light is what
`kitten @ ls` says. Claude's tab is never the one shown, so that `done` is not seen away.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.agents.driver import RemoteModel, StatusWatch, prepare_claude, wait_until
from tests.kitty.harness import Kitty
from tests.kitty.install import install, watcher_line
from tests.kitty.roots import SUITES, root_of

pytestmark = [pytest.mark.agents, pytest.mark.kitty, pytest.mark.timeout(120)]

#: How late a light may be.
PROMPTLY = 1.0
#: Claude leaves a key alone that comes with the dialog (0.1 s was too early, 0.2 s was not).
DIALOG_SETTLES = 0.6


class Light(NamedTuple):
    """What one window's light was from `at` on."""

    at: float
    status: str
    kind: str
    variables: dict[str, str]

    @property
    def name(self) -> str:
        """`status`, and after a slash the kind."""
        return f"{self.status}/{self.kind}" if self.kind else self.status


class Desk:
    """A kitty with the suite installed, and the scripted model beside it."""

    def __init__(self, version: str, program: Path, folder: Path) -> None:
        self.kitty = Kitty(version)
        self.kitty.kitty_conf.write_text(watcher_line(install(self.kitty.home)))
        local = self.kitty.home / ".local/bin"
        local.mkdir(parents=True, exist_ok=True)
        os.link(program, local / "claude")
        self.kitty.start()
        self.model = RemoteModel(self.kitty, folder)
        self.launch = prepare_claude(self.kitty.home, local / "claude", self.model.port)

    def close(self) -> None:
        """End it all."""
        self.model.close()
        self.kitty.close()


class Tab:
    """A tab with a shell in it, in which Claude was started by name; a thread follows its light."""

    def __init__(self, desk: Desk) -> None:
        self.kitty, self.model = desk.kitty, desk.model
        variables = {name: value for name, value in desk.launch.env.items() if name.startswith(("ANTHROPIC", "CLAUDE"))}
        variables["DISABLE_AUTOUPDATER"] = "1"
        self.window = self.kitty.launch(env=variables, cwd=str(desk.launch.cwd), keep_focus=True)
        self.lights: list[Light] = []
        self._status = StatusWatch(self.kitty.home)
        self._from = len(self.model.marks)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self.kitty.wait_until(lambda: self.kitty.window(self.window)["at_prompt"], 10, "the shell's prompt")
        self.type(f"{' '.join(desk.launch.argv)}\r")
        self.kitty.wait_text(self.window, "manual mode on", 30)
        self.ready = time.monotonic()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            asked = time.monotonic()  # on a loaded machine the answer takes a while; what it says was true before
            try:
                found = self.kitty.user_vars(self.window)
            except StopIteration:  # the window is gone
                return
            variables = {name: value for name, value in found.items() if name.startswith("tally_")}
            if not self.lights or variables != self.lights[-1].variables:
                status, kind = variables.get("tally_status", ""), variables.get("tally_kind", "")
                self.lights.append(Light(asked, status, kind, variables))

    def wait(self, name: str, *, since: float = 0.0, timeout: float = 5.0) -> Light:
        """The first time from `since` on that the light was called `name`; at `since` itself, if it was on then."""

        def found() -> Light | None:
            lights = list(self.lights)
            for light, end in zip(lights, [*(light.at for light in lights[1:]), float("inf")], strict=True):
                if light.name == name and end > since:
                    return light
            return None

        try:
            light: Light = wait_until(found, timeout, f"light {name!r}")
        except TimeoutError as error:
            raise AssertionError(f"{error}; the lights were\n{self.history()}\n{self.kitty.describe()}") from None
        return light

    def history(self) -> str:
        """Lights, marks and the status file in words and in order of time, for a failed test."""
        events = [(light.at, f"{light.name} {light.variables}") for light in self.lights]
        events += [(mark["monotonic"], f"    mark {mark['mark']}") for mark in self.model.marks[self._from :]]
        events += [(seen.at, f"    file {seen.status}") for seen in self._status.history]
        return "\n".join(f"{at - self.lights[0].at:7.2f} {what}" for at, what in sorted(events))

    def truth(self, name: str, nth: int = 1) -> float:
        """When a mark of this tab's Claude came for the `nth` time."""

        def found() -> list[float]:
            marks = self.model.marks[self._from :]
            return [mark["monotonic"] for mark in marks if mark["mark"] == name][nth - 1 :]

        at: float = wait_until(found, 20, f"mark {name!r} number {nth}")[0]
        return at

    def type(self, text: str) -> float:
        """Type text; the time."""
        self.kitty.send_text(self.window, text)
        return time.monotonic()

    def key(self, key: str) -> float:
        """Press a key; the time."""
        self.kitty.send_key(self.window, key)
        return time.monotonic()

    def submit(self, prompt: str) -> float:
        """Type a prompt and press Enter; the time of Enter."""
        self.type(prompt)
        self.kitty.wait_text(self.window, prompt[:40])
        return self.key("enter")

    def shows(self, pattern: str, timeout: float = 10.0) -> float:
        """Wait for the window to show what matches; the time it was seen."""
        self.kitty.wait_until(
            lambda: re.search(pattern, self.kitty.get_text(self.window)), timeout, f"{pattern!r} in the window"
        )
        return time.monotonic()

    def pid(self) -> int:
        """Claude's pid, inside the room."""
        processes = self.kitty.window(self.window)["foreground_processes"]
        return next(int(found["pid"]) for found in processes if found["cmdline"][0].endswith("claude"))

    def close(self) -> None:
        """Stop watching and close the tab."""
        self._stop.set()
        self._thread.join(5)
        self._status.close()
        sys.stdout.write(f"{self.history()}\n")  # pytest shows it with a failed test
        self.kitty.close_window(self.window)


@pytest.fixture(scope="module", params=list(SUITES))
def desk(
    request: pytest.FixtureRequest, claude_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """One kitty of each version for all tests of this file."""
    if root_of(request.param) is None:
        pytest.skip(f"no root with kitty {request.param}: run tests/run once as root")
    desk = Desk(request.param, claude_program, tmp_path_factory.mktemp("model"))
    yield desk
    desk.close()


@pytest.fixture
def tab(desk: Desk) -> Iterator[Tab]:
    """A fresh tab with Claude at its prompt."""
    tab = Tab(desk)
    yield tab
    tab.close()


def test_ready(tab: Tab) -> None:
    """Claude at its prompt is idle, and known by its name."""
    light = tab.wait("idle", since=tab.ready)

    assert light.at - tab.ready < PROMPTLY
    assert light.variables["tally_agent"] == "claude"


def test_answer(tab: Tab) -> None:
    """Blue while it works, green when it has finished."""
    tab.submit("HOLD text")
    working = tab.wait("working", since=tab.truth("working"))
    tab.shows("scripted model answers")
    tab.model.release("text")
    done = tab.wait("done", since=tab.truth("done"))

    assert working.at - tab.truth("working") < PROMPTLY
    assert done.at - tab.truth("done") < PROMPTLY


def test_short_answer(tab: Tab) -> None:
    """A turn that is over before anyone could look is still done."""
    tab.wait("idle")
    tab.submit("SLOW 0.3")
    done = tab.wait("done", since=tab.truth("done"))

    assert done.at - tab.truth("done") < PROMPTLY


def test_permission(tab: Tab) -> None:
    """Amber as long as the permission dialog is open, blue from the approval on, green at the end."""
    tab.submit("TOOL touch made; sleep 2 THEN fine")
    asked = tab.shows("Do you want to proceed")  # the truth: out, and on the glass
    waiting = tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    time.sleep(DIALOG_SETTLES)
    pressed = tab.type("1")
    working = tab.wait("working", since=pressed)
    done = tab.wait("done", since=tab.truth("done"))
    made = made_at(tab)

    assert waiting.at - asked < PROMPTLY
    assert working.at - made < PROMPTLY
    assert working.at < tab.truth("done")
    assert done.at - tab.truth("done") < PROMPTLY


def made_at(tab: Tab) -> float:
    """When the approved tool made its file, on the monotonic clock: the truth about when work went on."""
    return (tab.kitty.home / "project/made").stat().st_mtime - time.time() + time.monotonic()


def test_permission_dismissed(tab: Tab) -> None:
    """Esc in the dialog ends the turn: not amber, and not green either."""
    tab.submit("TOOL touch made")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    tab.shows("Do you want to proceed")
    time.sleep(DIALOG_SETTLES)
    pressed = tab.key("escape")
    shown = tab.shows(r"⎿\s+Interrupted ·")
    idle = tab.wait("idle", since=pressed)

    assert idle.at - shown < PROMPTLY
    assert "done" not in {light.status for light in tab.lights}


def test_question(tab: Tab) -> None:
    """A question is amber and says that it is one; its answer turns the light blue."""
    tab.submit("ASK THEN HOLD more")
    asked = tab.shows("Enter to select")  # the truth: out, and on the glass
    waiting = tab.wait("waiting/question", since=tab.truth("waiting:question"))
    time.sleep(DIALOG_SETTLES)
    pressed = tab.type("1")
    working = tab.wait("working", since=pressed)
    answered = tab.truth("working", 2)
    tab.model.release("more")
    done = tab.wait("done", since=tab.truth("done"))

    assert waiting.at - asked < PROMPTLY
    assert working.at - answered < PROMPTLY
    assert done.at - tab.truth("done") < PROMPTLY


def test_interrupted(tab: Tab) -> None:
    """Esc in mid-answer is idle, never done."""
    tab.submit("HOLD text")
    tab.shows("scripted model answers")
    tab.wait("working", since=tab.truth("working"))
    pressed = tab.key("escape")
    idle = tab.wait("idle", since=pressed)
    interrupted = tab.truth("interrupted")
    time.sleep(PROMPTLY)  # nothing is awaited: that no green comes is the claim

    assert idle.at - interrupted < PROMPTLY
    assert "done" not in {light.status for light in tab.lights}


def test_error(tab: Tab) -> None:
    """An API error is red."""
    tab.submit("ERROR 400")
    tab.truth("error")
    tab.shows("API Error: 400")
    truth = tab.model.marks[-1]["monotonic"]  # Claude tries a few variants of a request that was refused so
    error = tab.wait("error", since=truth)

    assert error.at - truth < PROMPTLY


def test_error_then_answer(tab: Tab) -> None:
    """The next turn is not red any more, though the old error is still on the screen."""
    tab.submit("ERROR 400")
    tab.wait("error", since=tab.truth("error"))
    tab.submit("HOLD text")
    tab.shows("scripted model answers")
    working = tab.wait("working", since=tab.model.marks[-1]["monotonic"])
    tab.model.release("text")
    done = tab.wait("done", since=tab.truth("done"))

    assert working.at < done.at
    assert done.at - tab.truth("done") < PROMPTLY


def test_background(tab: Tab) -> None:
    """A turn that is over but left a shell running is in the background, and done when that is over too."""
    tab.submit("BACKGROUND touch made; sleep 3 THEN started")
    tab.shows("Do you want to proceed")
    time.sleep(DIALOG_SETTLES)
    tab.type("1")
    over = tab.truth("done")
    background = tab.wait("background", since=over)
    done = tab.wait("done", since=tab.truth("done", 2), timeout=10)

    assert background.at - over < PROMPTLY
    assert done.at - tab.truth("done", 2) < PROMPTLY


def test_exit(tab: Tab) -> None:
    """After /exit the tab is a shell's: no agent, no light."""
    tab.wait("idle")
    pressed = tab.submit("/exit")
    tab.kitty.wait_until(lambda: tab.kitty.window(tab.window)["at_prompt"], 10, "the shell's prompt")
    prompt = time.monotonic()
    wait_until(lambda: not tab.lights[-1].variables.get("tally_agent"), 5, "a light without an agent")
    light = tab.lights[-1]

    assert light.at - prompt < PROMPTLY
    assert light.status in {"", "idle", "active"}
    assert "down" not in {light.status for light in tab.lights if light.at >= pressed}


def test_killed(tab: Tab) -> None:
    """`kill -9` in mid-answer is down: it vanished and said nothing."""
    tab.submit("HOLD text")
    tab.wait("working", since=tab.truth("working"))
    tab.kitty.run(["kill", "-9", str(tab.pid())])
    killed = time.monotonic()
    down = tab.wait("down", since=killed)

    assert down.at - killed < PROMPTLY


def test_nothing_of_claudes_was_changed(desk: Desk, tab: Tab) -> None:
    """No hook is installed and no settings file of Claude's exists: the lights come from looking alone."""
    known: dict[str, Any] = json.loads((desk.kitty.home / ".claude.json").read_text())

    assert "hooks" not in known
    assert not list((desk.kitty.home / ".claude").glob("settings*.json"))
