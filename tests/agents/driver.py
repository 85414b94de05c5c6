"""Real agents in a box: a namespace with nothing but loopback, a prepared home, a pty that is read all the time.

`Sandbox` makes the namespaces (mount and network) and, when asked, stands inside another root; its mounts and its
network die with its keeper process. `prepare_claude` writes what Claude Code wants to find in a home so that no
first-start screen appears; no hook and no setting of Claude's is touched. `start_model` runs the scripted model inside.
`Pane` is the agent on a pty; `StatusWatch` follows Claude's own status file. Everything an agent says is kept with the
monotonic time it was seen, so that a test can compare it with the model's marks.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import pyte

from tests.agents.install import CLAUDE_VERSION, claude_path

FAKE_KEY = "sk-ant-api03-" + "0" * 60 + "-tallylight-test-key"
MODEL_SOURCE = Path(__file__).with_name("model.py")
#: Where a sandbox puts what the test shares with it; the same path inside and outside.
SHARED = Path("/tmp/tallylight-agents")

_LO_UP = """
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', 0x49))
"""


def wait_until(found: Callable[[], Any], timeout: float, what: str, every: float = 0.02) -> Any:
    """Ask `found` until it answers something true; say what was awaited if it never does."""
    end = time.monotonic() + timeout
    while not (value := found()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {timeout} s still not: {what}")
        time.sleep(every)
    return value


class Sandbox:
    """Namespaces of their own; `argv(command)` is the command line that runs a command inside.

    `root` is another root to stand in (None: the machine's own). `binds` are shown inside at the same path. Pids are
    shared with the outside, so that a status file's pid means the same on both sides.
    """

    def __init__(self, root: Path | None = None, binds: Sequence[Path] = ()) -> None:
        self.root = root
        lines = ["set -e", "mount --make-rprivate /"]
        if root is not None:
            lines += [f"mount --rbind /{name} {root}/{name}" for name in ("proc", "dev", "sys")]
            for path in binds:
                lines += [f"mkdir -p {root}{path}", f"mount --rbind {path} {root}{path}"]
        lines += [f'python3 -c "$LO_UP"', "echo ready", "exec cat"]
        self._keeper = subprocess.Popen(
            ["unshare", "--mount", "--net", "sh", "-c", "\n".join(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "LO_UP": _LO_UP},
            text=True,
        )
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline() != "ready\n":
            raise RuntimeError("the sandbox could not be made")

    def argv(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> list[str]:
        """`command` inside, with exactly `env`, in `cwd`. The pid of what is started is the pid of `command`."""
        enter = ["nsenter", f"--target={self._keeper.pid}", "--mount", "--net", "--"]
        if self.root is not None:
            enter += ["chroot", str(self.root)]
        return [*enter, "env", "-i", f"--chdir={cwd}", *(f"{k}={v}" for k, v in env.items()), *command]

    def close(self) -> None:
        """Let the namespaces go. What still runs inside keeps them until it ends."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait(10)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RemoteModel:
    """The scripted model running inside a sandbox."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.folder = folder
        self._marks, self._control = folder / "marks.jsonl", folder / "control"
        source = folder / "model.py"
        shutil.copyfile(MODEL_SOURCE, source)
        port = folder / "port"
        files = {"--port-file": port, "--marks": self._marks, "--control": self._control}
        files["--requests"] = folder / "requests.jsonl"
        command = ["python3", str(source), *(str(word) for pair in files.items() for word in pair)]
        self._process = subprocess.Popen(sandbox.argv(command, {"PATH": "/usr/bin:/bin"}, folder))
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


def prepare_claude(home: Path, project: Path, port: int, *, version: str = CLAUDE_VERSION, **env: str) -> Launch:
    """Make `home` one in which Claude Code starts at its prompt in `project`, talking to the model on `port`."""
    home.mkdir(parents=True, exist_ok=True)
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
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": FAKE_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Launch([str(claude_path(version)), "--permission-mode", "manual"], {**variables, **env})


class Said(NamedTuple):
    """An OSC the agent sent."""

    at: float
    number: str
    payload: str


_OSC = re.compile(rb"\x1b\](\d+);?([^\x07\x1b]*)(?:\x07|\x1b\\)")


class Pane:
    """A command on a pty of its own, read by a thread into a screen, a list of OSCs and a list of writes."""

    def __init__(self, argv: Sequence[str], columns: int = 100, lines: int = 30) -> None:
        self.writes: list[tuple[float, int]] = []
        self.said: list[Said] = []
        self.raw = bytearray()
        self.ended: float | None = None
        self._lock = threading.Lock()
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], list(argv))
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
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
                # pyte knows no private-parameter CSI with an intermediate or a `<`, `=`, `>` marker: it would print them
                with contextlib.suppress(Exception):
                    self._stream.feed(re.sub(rb"\x1b\[[<=>][0-9;:]*[a-zA-Z]|\x1b\[\?[0-9;]*\$[a-z]", b"", data))

    def text(self) -> str:
        """The visible screen."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display)

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

    def wait_text(self, pattern: str, timeout: float = 20.0) -> float:
        """Wait for the screen to match; the time it was seen."""
        try:
            wait_until(lambda: re.search(pattern, self.text()), timeout, f"{pattern!r} on the screen")
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the screen is\n{self.text()}") from None
        return time.monotonic()

    def wait_end(self, timeout: float = 10.0) -> float:
        """Wait for the command to be gone; the time it went."""
        ended: float = wait_until(lambda: self.ended, timeout, "the end of the command")
        return ended

    def rate(self, since: float, until: float) -> tuple[float, float]:
        """Bytes and writes a second between two times."""
        sizes = [size for at, size in self.writes if since <= at < until]
        return sum(sizes) / (until - since), len(sizes) / (until - since)

    def close(self) -> None:
        """Kill what is left and reap it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self._reader.join(2)
        with contextlib.suppress(OSError):
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
    """`~/.claude/sessions/<pid>.json`, read every 20 ms by a thread; `history` has one entry a change."""

    def __init__(self, home: Path, pid: int, every: float = 0.02) -> None:
        self.path = home / ".claude" / "sessions" / f"{pid}.json"
        self.history: list[Seen] = [Seen(time.monotonic(), None)]
        self._stop = threading.Event()
        self._every = every
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(self._every):
            try:
                record = json.loads(self.path.read_text())
            except FileNotFoundError:
                record = None
            except ValueError:
                record = {"status": "UNREADABLE"}
            if record != self.history[-1].record:
                self.history.append(Seen(time.monotonic(), record))

    def wait(self, status: str | None, timeout: float = 10.0, *, since: float = 0.0) -> Seen:
        """The first state seen from `since` on whose status is `status`."""

        def found() -> Seen | None:
            return next((seen for seen in self.history if seen.at >= since and seen.status == status), None)

        seen: Seen = wait_until(found, timeout, f"status {status!r} in {[s.status for s in self.history]}")
        return seen

    def close(self) -> None:
        """Stop reading."""
        self._stop.set()
        self._thread.join(2)
