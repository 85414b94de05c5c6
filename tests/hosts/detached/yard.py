"""A yard: real tmux and real GNU Screen in a room with nothing but loopback, `tally host sessions` beside them, and
Claude Code with the scripted model in a detached session of each.

The truth is the model's marks, or what a person would see in the session. The light is the snapshot, read as it is
written; a `Light` has the time at which it was read.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tests.real_agents.driver import RemoteModel, prepare_claude, wait_until
from tests.real_agents.waits import waited_for_processors
from tests.real_kitty.install import install
from tests.real_kitty.roots import Room


class Light(NamedTuple):
    """What a pane showed from *at* on, on the monotonic clock."""

    at: float
    pane: Pane

    @property
    def name(self) -> str:
        return f"{self.pane.status}/{self.pane.kind}" if self.pane.kind else str(self.pane.status)


class Yard:
    """One room and what runs in it. *folder* is in /tmp, which the room shares."""

    def __init__(self, room: Room, folder: Path, version: str, claude: Path | None = None) -> None:
        self.room = room
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        install(self.home, version)
        self.runtime = self.made("runtime")
        self.screens = self.made("screens")
        self.model: RemoteModel | None = None
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "TMUX_TMPDIR": str(self.made("tmux")),
            "SCREENDIR": str(self.screens),
        }
        if claude is not None:
            self.model = RemoteModel(room, self.made("model"))
            launch = prepare_claude(self.home, claude, self.model.port)
            self.env = {**launch.env, **self.env, "PATH": f"{claude.parent}:{self.env['PATH']}"}
        self.lights: dict[str, list[Light]] = {}
        self._host: subprocess.Popen[bytes] | None = None
        #: How long anything has waited for a processor, by time.
        self._waited: list[tuple[float, float]] = []
        self._is_over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def made(self, name: str) -> Path:
        """A new folder for this user alone."""
        path = self.folder / name
        path.mkdir(mode=0o700)
        return path

    def run(self, *argv: str, timeout: float = 30, **env: str) -> str:
        """What a program in the room printed."""
        child = self.room.popen(
            argv, env={**self.env, **env}, cwd=str(self.folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        out, _ = child.communicate(timeout=timeout)
        return out.decode("utf-8", "replace")

    def start_host(self, *options: str) -> None:
        """Start `tally host sessions`."""
        with (self.folder / "host.log").open("wb") as log:
            self._host = self.room.popen(
                ["tally", "host", "sessions", *options], env=self.env, cwd=str(self.folder), stdout=log, stderr=log
            )

    def log(self) -> str:
        """What the host said, which should be nothing."""
        return (self.folder / "host.log").read_text()

    def stop_host(self) -> int:
        """Ask the host to end; its exit code."""
        return self.end_host("-TERM")

    def end_host(self, signal: str) -> int:
        """Send the host *signal*, `-KILL`, which ends it; its exit code."""
        assert self._host is not None
        self.run("kill", signal, str(self.host_pid()))
        return self._host.wait(10)

    def host_pid(self) -> int:
        """The host's pid, as the room counts."""
        folder = self.runtime / "tallylight"
        path: Path = wait_until(lambda: next(folder.glob("sessions-*.json"), None), 10, "a snapshot")
        return int(path.stem.partition("-")[2])

    def panes(self) -> list[Pane]:
        """What the snapshot says now."""
        for path in (self.runtime / "tallylight").glob("sessions-*.json"):
            with contextlib.suppress(FileNotFoundError):
                return list(writer.read(path).panes)
        return []

    def pane(self, host_title: str, timeout: float = 30) -> Pane:
        """The first pane of the session of that name, once there is one."""

        def found() -> Pane | None:
            return next((pane for pane in self.panes() if pane.place.host_title == host_title), None)

        pane: Pane = wait_until(
            found, timeout, f"a pane of {host_title!r} in {[p.place.host_title for p in self.panes()]}"
        )
        return pane

    def wait(self, id_: str, light: str, *, since: float, timeout: float = 30) -> Light:
        """The first light of that name (`waiting/permission`) from *since* on; one that is on already counts."""

        def found() -> Light | None:
            lights = self.lights.get(id_, [])
            current = [
                at for at, after in itertools.pairwise([*lights, None]) if at and (not after or after.at >= since)
            ]
            return next((one for one in current if one.name == light), None)

        try:
            one: Light = wait_until(found, timeout, f"{light} of {id_}")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.history(id_, since)}\n{self.log()}") from None
        return one

    def late(self, seen: float, truth: float) -> float:
        """How long after the *truth* it was *seen*, but for how long anything waited for a processor meanwhile."""
        if seen <= truth or not self._waited:
            return seen - truth
        first, last = (min(bisect.bisect_left(self._waited, (at,)), len(self._waited) - 1) for at in (truth, seen))
        return seen - truth - (self._waited[last][1] - self._waited[max(0, first - 1)][1])

    def history(self, id_: str, since: float = 0.0) -> str:
        """The lights of a pane, in words."""
        return "\n".join(
            f"{light.at - since:8.3f} {light.name} ({light.pane.reason.source}: {light.pane.reason.rule})"
            for light in self.lights.get(id_, [])
        )

    def _watch(self) -> None:
        while not self._is_over.wait(0.02):
            now = time.monotonic()
            self._waited.append((now, waited_for_processors()))
            with contextlib.suppress(Exception):
                for pane in self.panes():
                    known = self.lights.setdefault(pane.id, [])
                    if not known or known[-1].pane != pane:
                        known.append(Light(now, pane))

    def close(self) -> None:
        """End everything but the room."""
        self._is_over.set()
        self._watcher.join(2)
        if self.model is not None:
            self.model.close()


class Session(Protocol):
    """One detached session with a shell in it."""

    name: str

    def send(self, text: str) -> float:
        """Type *text*; the time it was typed."""

    def text(self) -> str:
        """What a person who attached would see."""


class Tmux:
    """A session of tmux, on a server of its own."""

    within = 1.0

    def __init__(self, yard: Yard, name: str, *command: str, server: str = "work", columns: int = 100) -> None:
        self.yard, self.name, self.server = yard, name, server
        self.tmux("new-session", "-d", "-s", name, "-x", str(columns), "-y", "30", *command)

    def tmux(self, *words: str) -> str:
        return self.yard.run("tmux", "-u", "-L", self.server, "-f", "/dev/null", *words)

    def send(self, text: str) -> float:
        self.tmux("send-keys", "-t", f"={self.name}:", "-l", text)
        return time.monotonic()

    def text(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", f"={self.name}:")


class Screen:
    """A session of GNU Screen."""

    within = 3.0
    _copies = itertools.count()

    def __init__(self, yard: Yard, name: str, *command: str) -> None:
        self.yard, self.name = yard, name
        self.said = yard.run("screen", "-U", "-dmS", name, *(command or ("bash", "--norc", "-i")))
        wait_until(lambda: self.address, 5, f"the session {name!r} in {list(yard.screens.iterdir())}")

    @property
    def address(self) -> str:
        ends = f".{self.name}"
        return next((path.name for path in self.yard.screens.iterdir() if path.name.endswith(ends)), "")

    def order(self, *words: str) -> str:
        return self.yard.run("screen", "-S", self.address, "-p", "0", "-X", *words)

    def send(self, text: str) -> float:
        self.order("stuff", text)
        return time.monotonic()

    def text(self) -> str:
        path = self.yard.folder / f"copy-{next(self._copies)}"
        self.order("hardcopy", str(path))
        wait_until(path.exists, 5, "a hardcopy")
        time.sleep(0.05)  # it is being written
        return path.read_bytes().decode("latin-1")


def shows(session: Session, pattern: str, timeout: float = 30) -> float:
    """Wait for the session to show what matches; the time it was seen."""
    text = ""

    def found() -> bool:
        nonlocal text
        text = session.text()
        return re.search(pattern, text) is not None

    try:
        wait_until(found, timeout, f"{pattern!r} in the session {session.name!r}", every=0.1)
    except TimeoutError as error:
        raise TimeoutError(f"{error}; it shows\n{text}") from None
    return time.monotonic()


def submit(session: Session, prompt: str) -> float:
    """Type a prompt, wait to see it, press Enter; the time of Enter."""
    session.send(prompt)
    shows(session, re.escape(prompt[:40]))
    return session.send("\r")


def truths(model: RemoteModel, prompt: str) -> Iterator[tuple[str, float]]:
    """The marks of one prompt: its name and time."""
    for mark in model.marks:
        if mark["prompt"].strip() == prompt:
            yield mark["mark"], mark["monotonic"]


def truth(model: RemoteModel, prompt: str, name: str, *, timeout: float = 30) -> float:
    """When the mark *name* of *prompt* was made."""
    at: float = wait_until(
        lambda: next((at for mark, at in truths(model, prompt) if mark == name), None), timeout, f"{name} of {prompt!r}"
    )
    return at


def names(lights: Sequence[Light]) -> list[str]:
    """The names of lights, one for each that follows another."""
    return [name for name, _ in itertools.groupby(light.name for light in lights)]


#: An agent that says nothing by itself: it works for a while, asks, and goes on when it is answered.
AGENT = """#!/bin/bash
for step in 1 2 3 4 5 6; do echo "line $step of work"; sleep 0.3; done
printf '\\n\\n────────────────────────────────────────\\n Do you want to proceed?\\n'
printf ' ❯ 1. Yes\\n   2. No, and tell it why\\n\\n Esc to cancel\\n'
read -r answer
while :; do for row in 1 2 3 4 5 6 7 8 9; do echo "after $answer $RANDOM $RANDOM"; done; sleep 0.2; done
"""


def agent(yard: Yard) -> str:
    """The path of that agent, under a name that is known."""
    path = yard.home / "bin/aider"
    path.parent.mkdir(exist_ok=True)
    path.write_text(AGENT)
    path.chmod(0o755)
    return str(path)
