"""Real agents in a room with nothing but loopback: a scripted model, a prepared home, a pty that is read all the time.

The room is `tests.real_kitty.roots.Room`, whose /tmp is the machine's. `RemoteModel` runs the scripted model in it;
`prepare_claude` writes what Claude Code wants to find in a home so that no first-start screen appears (no hook is
installed, no setting of Claude's is touched); `Pane` is the agent on a pty; `StatusWatch` follows Claude's own status
file. What an agent says is kept with the monotonic time it was seen, which is comparable with the model's marks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyte

from tests.patience import patient
from tests.real_agents.install import CLAUDE, Agent, install
from tests.real_kitty.roots import CHECKOUT

FAKE_KEY = "sk-ant-api03-" + "0" * 60 + "-tallylight-test-key"


def wait_until(found: Callable[[], Any], timeout: float, what: str, every: float = 0.02) -> Any:
    """Ask `found` until it answers something true; say what was awaited if it never does (see `patient`)."""
    end = time.monotonic() + patient(timeout)
    while not (value := found()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {timeout} s still not: {what}")
        time.sleep(every)
    return value


class Host(Protocol):
    """Where programs are started: a `roots.Room`, or a `harness.Kitty`, which has one (tests/real_kitty)."""

    def popen(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start a program there."""


class RemoteModel:
    """The scripted model, running where the agent runs; `folder` (in /tmp) is what both sides see."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.folder = folder
        self._marks, self._control = folder / "marks.jsonl", folder / "control"
        port = folder / "port"
        files = {"--port-file": port, "--marks": self._marks, "--control": self._control}
        files["--requests"] = folder / "requests.jsonl"
        command = ["python3", "-m", "tests.real_agents.model", *(str(word) for pair in files.items() for word in pair)]
        self._process = host.popen(command, env={"PATH": "/usr/bin:/bin"}, cwd=str(CHECKOUT))
        self.port = int(wait_until(lambda: port.exists() and port.read_text(), 10, "the model's port"))
        wait_until(self._control.exists, 5, "the model's control socket")

    @property
    def marks(self) -> list[dict[str, Any]]:
        """All marks so far."""
        if not self._marks.exists():
            return []
        return [json.loads(line) for line in self._marks.read_text().splitlines(True) if line.endswith("\n")]

    def wait_mark(self, name: str, *, after: int = 0, timeout: float = 30.0) -> dict[str, Any]:
        """The first mark called `name` from index `after` on."""

        def found() -> dict[str, Any] | None:
            return next((mark for mark in self.marks[after:] if mark["mark"] == name), None)

        mark: dict[str, Any] = wait_until(found, timeout, f"mark {name!r}")
        return mark

    def order(self, line: str) -> str:
        """Give an order over the control socket: `release NAME`, `mark NAME`, `quit`."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._control))
            connection.sendall(f"{line}\n".encode())
            return connection.makefile().readline().strip()

    def release(self, name: str) -> None:
        """Let the answer that `HOLD name` keeps back go on."""
        self.order(f"release {name}")

    def close(self) -> None:
        """End the server."""
        with contextlib.suppress(OSError):
            self.order("quit")
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()


class Launch(NamedTuple):
    """How to start an agent."""

    argv: list[str]
    env: dict[str, str]
    cwd: Path


def place(agent: Agent, folder: Path) -> Path:
    """Put `agent` into `folder`, which a room can see, under its own name: hard links, or copies where none can be."""
    source = install(agent)
    target = folder / f"{agent.name}-{agent.version}"
    if not target.exists():
        try:
            shutil.copytree(agent.folder, target, copy_function=os.link)
        except (OSError, shutil.Error):
            shutil.copytree(agent.folder, target, dirs_exist_ok=True)
    return target / source.relative_to(agent.folder)


def prepare_claude(home: Path, program: Path, port: int, *, version: str = CLAUDE.version, **env: str) -> Launch:
    """Make `home` one in which Claude Code starts at its prompt, talking to the model on `port`.

    The program is called `claude` and found in `program`'s folder; the project is `home/project`.
    """
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    known = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": version,
        "customApiKeyResponses": {"approved": [FAKE_KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(known))
    variables = {
        "HOME": str(home),
        "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": FAKE_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Launch(["claude", "--permission-mode", "manual"], {**variables, **env}, project)


_CODEX_CONFIG = """
model = "scripted"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[analytics]
enabled = false  # without a network it would wait for that at its end

[model_providers.scripted]
name = "Scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[projects.{project}]
trust_level = "trusted"
"""


def prepare_codex(home: Path, program: Path, port: int, *words: str, **env: str) -> Launch:
    """Make `home` one in which Codex starts at its prompt, talking to the model on `port`.

    The program is found as `codex` in `program`'s folder; the project is `home/project`.
    """
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    config = home / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text(_CODEX_CONFIG.format(port=port, project=json.dumps(str(project))))
    variables = {
        "HOME": str(home),
        "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "SCRIPTED_KEY": FAKE_KEY,
    }
    return Launch(["codex", *words], {**variables, **env}, project)


class Said(NamedTuple):
    """An OSC the agent sent."""

    at: float
    number: str
    payload: str


#: CSI that pyte does not know and would print: with an intermediate, or a `<`, `=`, `>` marker.
_UNKNOWN = re.compile(rb"\x1b\[[<=>][0-9;:]*[a-zA-Z]|\x1b\[\?[0-9;]*\$[a-z]")
_OSC = re.compile(rb"\x1b\](\d+);?([^\x07\x1b]*)(?:\x07|\x1b\\)")


class Screen:
    """A screen that output is drawn on."""

    def __init__(self, columns: int, lines: int) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)

    def draw(self, data: bytes) -> None:
        """Draw what a program wrote."""
        with contextlib.suppress(Exception):  # what pyte cannot do
            self._stream.feed(_UNKNOWN.sub(b"", data))

    def resize(self, columns: int, lines: int) -> None:
        """Give it another size."""
        self._screen.resize(lines, columns)

    def text(self) -> str:
        """The visible text."""
        return "\n".join(line.rstrip() for line in self._screen.display)


def _take_terminal() -> None:
    """In the child, which leads a new session: make standard input its controlling terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Pane:
    """
    A command on a pty of its own, read by a thread into a screen, a list of OSCs and a list of writes.

    With `answers` it tells the cursor's place and its kind to a program that asks; else it is mute, as a log would be.
    """

    def __init__(
        self, host: Host, launch: Launch, columns: int = 100, lines: int = 30, *, answers: bool = False
    ) -> None:
        self.writes: list[tuple[float, int]] = []
        self.said: list[Said] = []
        self.raw = bytearray()
        self.ended: float | None = None
        self._lock = threading.Lock()
        self._screen = pyte.Screen(columns, lines)
        if answers:  # as a terminal does that is asked where the cursor is, and what it can do
            self._screen.write_process_input = self._answer
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process = host.popen(
            launch.argv,
            env=launch.env,
            cwd=str(launch.cwd),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        parsed = 0
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                data = b""
            now = time.monotonic()
            if not data:
                self.ended = now
                return
            with self._lock:
                self.writes.append((now, len(data)))
                self.raw += data
                for match in _OSC.finditer(self.raw, parsed):
                    self.said.append(Said(now, match[1].decode(), match[2].decode(errors="replace")))
                    parsed = match.end()
                with contextlib.suppress(Exception):
                    self._stream.feed(_UNKNOWN.sub(b"", data))

    def _answer(self, data: str) -> None:
        os.write(self._master, data.encode())

    def text(self) -> str:
        """The visible screen."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display)

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size, of which its programs are told."""
        with self._lock:
            self._screen.resize(lines, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def titles(self) -> list[Said]:
        """What was set as title so far."""
        return [said for said in self.said if said.number in ("0", "2")]

    def send(self, text: str) -> float:
        """Type `text`; the time it was typed."""
        os.write(self._master, text.encode())
        return time.monotonic()

    def submit(self, prompt: str) -> float:
        """Type a prompt, wait to see it, press Enter; the time of Enter."""
        self.send(prompt)
        self.wait_text(re.escape(prompt[:40]))
        return self.send("\r")

    def wait_text(self, pattern: str, timeout: float = 30) -> float:
        """Wait for the screen to match; the time it was seen."""
        try:
            wait_until(lambda: re.search(pattern, self.text()), timeout, f"{pattern!r} on the screen")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen is\n{self.text()}") from None
        return time.monotonic()

    def wait_end(self, timeout: float = 30) -> float:
        """Wait for the command to be gone; the time it went."""
        ended: float = wait_until(lambda: self.ended, timeout, "the end of the command")
        return ended

    def rate(self, since: float, until: float) -> tuple[float, float]:
        """Bytes and writes a second between two times."""
        sizes = [size for at, size in self.writes if since <= at < until]
        return sum(sizes) / (until - since), len(sizes) / (until - since)

    def close(self) -> None:
        """Kill what is left, which is a process group of its own, and reap it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(5)
        self._reader.join(2)
        # Where something still has the terminal: closed, its number would be that of another one, and be read from.
        if not self._reader.is_alive():
            os.close(self._master)


class Seen(NamedTuple):
    """A state of the status file; `record` is None while there is no file."""

    at: float
    record: dict[str, Any] | None

    @property
    def status(self) -> str | None:
        """`status`, and after a slash `waitingFor`."""
        if self.record is None:
            return None
        waiting = self.record.get("waitingFor")
        return f"{self.record.get('status')}/{waiting}" if waiting else self.record.get("status")


class StatusWatch:
    """The one `~/.claude/sessions/<pid>.json` of a home, read every 20 ms; `history` has one entry a change."""

    def __init__(self, home: Path, every: float = 0.02) -> None:
        self.folder = home / ".claude" / "sessions"
        self.history: list[Seen] = [Seen(time.monotonic(), None)]
        self._stop = threading.Event()
        self._every = every
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(self._every):
            record = None
            for path in self.folder.glob("*.json"):
                try:
                    record = json.loads(path.read_text())
                except FileNotFoundError:
                    continue
                except ValueError:
                    record = {"status": "UNREADABLE"}
            if record != self.history[-1].record:
                self.history.append(Seen(time.monotonic(), record))

    @property
    def pid(self) -> int:
        """The agent's pid, as its own namespace counts."""
        return next(int(seen.record["pid"]) for seen in reversed(self.history) if seen.record)

    def wait(self, status: str | None, timeout: float = 30, *, since: float = 0.0) -> Seen:
        """The first state seen from `since` on whose status is `status`."""

        def found() -> Seen | None:
            return next((seen for seen in self.history if seen.at >= since and seen.status == status), None)

        seen: Seen = wait_until(found, timeout, f"status {status!r} in {[s.status for s in self.history]}")
        return seen

    def close(self) -> None:
        """Stop reading."""
        self._stop.set()
        self._thread.join(2)
