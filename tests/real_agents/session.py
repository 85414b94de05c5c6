"""One agent in a room of its own, recorded as `tally record` does, and the truth about it, dated by the same clock.

The truth is what the scripted model marks, and what the model cannot know and the person at the keys does: `starting`,
`idle` at the first prompt, `working` from Enter on, `waiting` once there is something to answer on the screen,
`working` again when it is answered, `idle` after an interrupt, `gone`. `save` puts it into the recording as marks (`m`)
called `truth NAME`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.real_agents.driver import Launch, Pane, RemoteModel, Screen, wait_until
from tests.real_agents.hooked import install_hooks
from tests.real_agents.install import AGENTS, CACHE
from tests.real_agents.manners import MANNERS
from tests.real_agents.prepare import prepare
from tests.real_agents.room import HOME, LoopbackRoom
from tests.real_kitty.roots import CHECKOUT

#: What the model marks, and what it means; what is not in here changes nothing about the main loop.
TRUTHS = {
    "working": "working",
    "done": "done",
    "error": "error",
    "limit": "waiting:limit",
    "interrupted": "idle",
}

TALLY = "import sys; from tallylight.cli.main import run; sys.exit(run())"


class Session:
    """
    An agent that is to be recorded. `set_up` is `relay` for one behind the relay, which answers what agents ask;
    `hooks` for one with our hooks; and nothing for one that knows nothing of us.
    """

    def __init__(self, agent: str, *, set_up: str = "", columns: int = 100, lines: int = 30) -> None:
        self.agent, self.manner = agent, MANNERS[agent]
        self.is_behind_relay = set_up == "relay"
        self.folder = Path(tempfile.mkdtemp(prefix="tallylight-session-", dir="/tmp"))
        self.home = self.folder / "home"
        self.home.mkdir()
        self.cast = self.home / "session.cast"
        self.told: list[tuple[float, str]] = []
        #: Dialogs: when the model called for them, what they are, and what they look like.
        self._dialogs: list[tuple[float, str, str]] = []
        #: Marks of the model, by their times, that are no truth about what a person sees.
        self.passed_over: set[float] = set()
        #: Agents beside it.
        self.others: list[Pane] = []
        self._size = columns, lines
        self.room = LoopbackRoom(self.home)
        self.model = RemoteModel(self.room, self.folder)
        self.launch = prepare(agent, self.home, self.model.port)
        if set_up == "hooks":
            install_hooks(self.room, self.home, agent, called=HOME)
        self.pane: Pane

    def start(self, *words: str, argv: list[str] | None = None, ready: str | None = None) -> None:
        """Start the agent with more words behind its name, or another command; wait for its prompt."""
        self.begin(*words, argv=argv)
        self.shows(self.manner.ready if ready is None else ready, 110)
        self.rest(1.0)
        self.truth("idle")

    def begin(self, *words: str, argv: list[str] | None = None) -> None:
        """Start it, and do not wait."""
        command = argv or [*self.launch.argv, *words]
        tally = [sys.executable, "-c", TALLY, "record", str(HOME / "session.cast"), "--", *command]
        env = {**self.launch.env, "PYTHONPATH": str(CHECKOUT / "shared"), "PYTHONDONTWRITEBYTECODE": "1"}
        if not self.is_behind_relay:
            env["TALLY_RELAY"] = "0"
        self.truth("starting")
        self.pane = Pane(self.room, Launch(tally, env, self.launch.cwd), *self._size, answers=True)

    def beside(self, prompt: str) -> Pane:
        """The same agent on another terminal, which nobody records, with a prompt that the model marks as another's."""
        assert prompt.startswith("SUB "), "what the other does is no truth about this one"
        pane = Pane(self.room, self.launch, *self._size, answers=True)
        self.others.append(pane)
        wait_until(lambda: re.search(self.manner.ready, pane.text(), re.M), 110, f"a second {self.agent}")
        self.rest(1.0)
        pane.send(prompt)
        wait_until(lambda: prompt in pane.text(), 10, f"{prompt} on the other")
        self.rest(self.manner.settles)
        pane.send("\r")
        return pane

    # Before it is started ----------------------------------------------------------------------------------------

    def write(self, name: str, value: object) -> None:
        """Put a file into the home: text, or what JSON can hold."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))

    def forget(self, *names: str) -> None:
        """Take variables out of the environment that the agent is started in."""
        self.launch = self.launch._replace(env={k: v for k, v in self.launch.env.items() if k not in names})

    # What is done to it ------------------------------------------------------------------------------------------

    def truth(self, name: str) -> None:
        """What is true from now on."""
        self.told.append((time.time(), name))

    def rest(self, seconds: float) -> None:
        """Let time pass, as it does while a person reads."""
        time.sleep(seconds)

    def submit(self, prompt: str) -> None:
        """Type a prompt and press Enter."""
        if self.manner.wipe:
            self.pane.send(self.manner.wipe.format(row=self._size[1] - 3))
            self.rest(0.2)
        before = self.pane.text().count(prompt[:20])
        self.pane.send(prompt)
        wait_until(lambda: self.pane.text().count(prompt[:20]) > before, 15, f"{prompt!r} on\n{self.pane.text()}")
        self.rest(self.manner.settles)
        self.pane.send("\r")

    def keys(self, keys: tuple[str, ...], then: str = "") -> None:
        """Press keys, and tell what is true `then`."""
        for index, key in enumerate(keys):
            if index:
                self.rest(0.3)
            self.pane.send(key)
        if then:
            self.truth(then)

    def approve(self, timeout: float = 30) -> None:
        """Approve what is asked, and wait for the end of the turn."""
        self.keys(self.manner.approve, "working")
        self.finished(timeout)

    def finished(self, timeout: float = 30) -> None:
        """Wait for the end of the turn. Aider asks no model when a command has run: its prompt is the end then."""

        def is_ready() -> bool:
            lines = [line for line in self.pane.text().splitlines() if line.strip()]
            return bool(lines) and re.search(self.manner.ready, lines[-1]) is not None

        if self.agent == "aider":
            wait_until(is_ready, timeout, "aider's prompt")
            self.truth("done")
        else:
            self.mark("done", timeout=timeout)

    def at_rest(self) -> None:
        """Wait until its screen says no more that it works."""
        if self.manner.works:
            wait_until(lambda: not is_on(self.pane.text(), self.manner.works), 30, f"{self.agent} at rest")

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        self.pane.resize(columns, lines)

    def kill(self) -> None:
        """`kill -9` the agent: all that is in the foreground of the terminal it was given."""
        killed = 0
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "ns/pid").readlink() != Path(f"/proc/{self.room.first}/ns/pid").readlink():
                    continue
                command = (process / "cmdline").read_bytes()
                _, _, group, _, terminal, foreground = (process / "stat").read_text().rpartition(")")[2].split()[:6]
            except OSError:
                continue
            if terminal != "0" and group == foreground and TALLY.encode() not in command:
                os.kill(int(process.name), signal.SIGKILL)
                killed += 1
        assert killed, "no agent in the foreground"

    def leave(self) -> None:
        """End the agent as a person does."""
        self.submit(self.manner.leave)
        self.ended()

    def ended(self, timeout: float = 30) -> None:
        """Wait for the end of the agent."""
        with contextlib.suppress(TimeoutError):
            self.pane.wait_end(0.05)
        if self.pane.ended is None:
            self.pane.wait_end(timeout)
        assert self.pane.ended is not None
        self.told.append((time.time() - (time.monotonic() - self.pane.ended), "gone"))

    # What is seen of it ------------------------------------------------------------------------------------------

    def shows(self, pattern: str, timeout: float = 30) -> None:
        """Wait for a line of the screen to match."""
        wait_until(lambda: is_on(self.pane.text(), pattern), timeout, f"{pattern!r} on\n{self.pane.text()}")

    def asked(self, kind: str, timeout: float = 30, *, pattern: str = "") -> None:
        """Wait for the model to call a tool of which a person is asked, and then for the dialog."""
        called = self.mark(f"waiting:{kind}", timeout=timeout)["epoch"]
        pattern = pattern or {"permission": self.manner.permission, "question": self.manner.question}[kind]
        self.dialog(f"waiting:{kind}", pattern, called, timeout)

    def dialog(self, truth: str, pattern: str, since: float, timeout: float = 30) -> None:
        """Wait for a dialog that cannot have come before `since`; from its being drawn on `truth` is true."""
        self.shows(pattern, timeout)
        self._dialogs.append((since, truth, pattern))

    def mark(self, name: str, *, after: int | None = None, timeout: float = 30.0) -> dict[str, Any]:
        """Wait for a mark of the model's, from index `after` on."""
        return self.model.wait_mark(name, after=self.since if after is None else after, timeout=timeout)

    since = 0

    def turn(self, prompt: str) -> None:
        """Submit a prompt, whose marks are then waited for."""
        self.since = len(self.model.marks)
        self.submit(prompt)
        self.truth("working")

    # The recording -----------------------------------------------------------------------------------------------

    def truths(self) -> list[tuple[float, str]]:
        """All that was true, by the clock on the wall, in order; what only says the same again is left out."""
        return self._in_order(self.told + self._marked() + self._drawn())

    def truths_so_far(self) -> list[tuple[float, str]]:
        """The same while the recording goes on; a dialog counts from its call on."""
        return self._in_order(self.told + self._marked() + [(called, name) for called, name, _ in self._dialogs])

    def _marked(self) -> list[tuple[float, str]]:
        marks = [mark for mark in self.model.marks if mark["epoch"] not in self.passed_over]
        return [(mark["epoch"], TRUTHS[mark["mark"]]) for mark in marks if mark["mark"] in TRUTHS]

    def _in_order(self, truths: list[tuple[float, str]]) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        for at, name in sorted(truths):
            if not found or found[-1][1] != name:
                found.append((at, name))
            if name == "gone":  # the model may hear of it later
                break
        return found

    def _drawn(self) -> list[tuple[float, str]]:
        """When each dialog came to the screen after its call, by the times of the recording, on a screen of our own."""
        first, *lines = self.cast.read_text().splitlines()
        header = json.loads(first)
        screen = Screen(header["width"], header["height"])
        found, wanted = [], list(self._dialogs)
        for time_in, code, data in map(json.loads, lines):
            if code == "r":
                screen.resize(*map(int, data.split("x")))
            if code != "o" or not wanted:
                continue
            screen.draw(data.encode())
            at = header["started"] + time_in
            called, name, pattern = wanted[0]
            if at >= called and is_on(screen.text(), pattern):
                found.append((at, name))
                wanted.pop(0)
        assert not wanted, f"{wanted} not in the recording"
        return found

    def save(self, path: Path) -> None:
        """Write the recording, with the truth in it, to `path`."""
        version = f"agent {self.agent} {AGENTS[self.agent].version}"
        # Where the agent is installed, and its Python, names whoever records it.
        text = self.cast.read_text().replace(str(CACHE), f"{HOME}/.cache/tallylight-tests")
        text = text.replace(sys.base_prefix, "/usr")
        path.write_text(merge(text, self.truths(), version))

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pane = getattr(self, "pane", None)
        if error is not None and pane is not None:
            sys.stdout.write(f"{self.agent}: {[mark['mark'] for mark in self.model.marks]}\n{pane.text()}\n")
        for one in [*self.others, *([pane] if pane is not None else [])]:
            one.close()
        self.model.close()
        self.room.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_on(text: str, pattern: str) -> bool:
    """Whether a line of the screen matches, or several that are one in a wider terminal."""
    joined = re.sub(r"[\s│┃]+", " ", text)
    return re.search(pattern, text, re.M) is not None or re.search(pattern, joined) is not None


def merge(cast: str, truths: list[tuple[float, str]], title: str = "") -> str:
    """
    The lines of a recording with the truths, which are dated since the epoch, among them as marks, and a mark before.

    A relay inside is called as people call it, not as it was called here.
    """
    header, *lines = cast.splitlines()
    fields = json.loads(header)
    fields["command"] = fields.get("command", "").replace(shlex.join([sys.executable, "-c", TALLY]), "tally")
    first, started = json.dumps(fields, ensure_ascii=False), fields["started"]
    events = [(json.loads(line)[0], line) for line in lines]
    if title:
        events.append((0.0, json.dumps([0.0, "m", title])))
    for at, name in truths:
        time_in = max(0.0, round(at - started, 6))
        events.append((time_in, json.dumps([time_in, "m", f"truth {name}"])))
    return "\n".join([first, *(line for _, line in sorted(events, key=lambda event: event[0]))]) + "\n"
