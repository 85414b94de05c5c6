"""A real `tally serve` on loopback, and a stage on which a fake agent asks for it in a real tmux."""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tests.actions.desk import SCREENS

TALLY = [sys.executable, "-c", "from tallylight.cli.main import run; run()"]
#: The same, where every request is a person's: the tests may be run in a terminal, or by an agent.
_FOR_A_PERSON = "from tallylight.parts.web import asking; asking.who_asks = lambda *_, **_more: asking.PERSON\n"


@attrs.define
class Live:
    """`tally serve` in a home of its own, and the host whose state it serves."""

    folder: Path
    state: Path | None = None
    port: int = 0
    token: str = ""
    process: subprocess.Popen[str] | None = None
    environ: dict[str, str] = attrs.field(factory=dict)
    #: Whether every request is taken for a person's.
    is_for_persons: bool = True
    _writer: SnapshotWriter | None = None

    def prepare(self, environ: Mapping[str, str] | None = None) -> None:
        """Have a home and a host, without the server, and these variables beside its own."""
        run = self.folder / "run"
        (run / "tallylight").mkdir(parents=True, mode=0o700, exist_ok=True)
        self._writer = SnapshotWriter(
            run / "tallylight" / f"kitty-{os.getpid()}.json", "kitty", time.time, min_interval=0.0
        )
        kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
        self.environ = {
            **kept,
            **(environ or {}),
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(run),
            "XDG_STATE_HOME": str(self.state or self.folder / "state"),
            "PYTHONPATH": str(Path("shared").resolve()),
        }

    def start(self, environ: Mapping[str, str] | None = None, *words: str) -> Live:
        """With these variables beside its own, and *words* behind the command."""
        self.prepare(environ)
        python, how, code = TALLY
        code = (_FOR_A_PERSON if self.is_for_persons else "") + code
        command = [python, how, code, "serve", "--port", "0", *words]
        self.process = subprocess.Popen(command, env=self.environ, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        assert self.process.stdout is not None
        # It takes connections before it says where.
        where, _, self.token = self.process.stdout.readline().strip().partition("/#")
        self.port = int(where.rpartition(":")[2])
        return self

    def shows(self, *panes: Pane) -> None:
        assert self._writer is not None
        self._writer.publish(panes, time.monotonic())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {self.token}"}, timeout=60)

    async def listen(self) -> ClientConnection:
        protocols = [Subprotocol("tally.v1"), Subprotocol(f"tally.token.{self.token}")]
        # A listener that does not read must not end itself for want of an answer to its own pings.
        waits: dict[str, Any] = {"max_queue": None, "open_timeout": 60, "ping_interval": None}
        return await connect(f"ws://127.0.0.1:{self.port}/api/v1/changes", subprotocols=protocols, **waits)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it; it is to say nothing of that."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.communicate(timeout=20)
            assert self.process.returncode == 0
            self.process = None

    def connections(self) -> int:
        """Sockets that the server has open."""
        assert self.process is not None
        links = []
        for path in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                links.append(str(path.readlink()))
        return sum(link.startswith("socket:") for link in links)

    def memory(self) -> int:
        """Resident bytes of the server."""
        assert self.process is not None
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


#: Shows the screens that it is given, one after the other: a digit or Enter goes on from one that asks. Before it draws
#: the next one it waits a little, as agents do, so that the old one still stands while it has taken the key. Everything
#: that it is typed is noted, with the number of the screen that stood there.
AGENT = """#!{python}
import os, sys, termios, time, tty
folder = {folder!r}
screens = sorted(os.listdir(folder + "/screens"))
keep = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\\x1b[?2004h")
number, line = 0, b""
def draw():
    row, _, text = open(folder + "/screens/" + screens[number], encoding="utf-8").read().partition("\\n")
    os.write(1, ("\\x1b[2J\\x1b[H" + text.replace("\\n", "\\r\\n") + "\\x1b[%d;3H" % (int(row) + 1)).encode())
draw()
while line != b"exit":
    key = os.read(0, 1)
    if not key:
        break
    with open(folder + "/typed", "a") as file:
        file.write("%d %r\\n" % (number, key.decode("latin-1")))
    if number < len(screens) - 1:
        if key.isdigit() or key == b"\\r":
            time.sleep(0.4)
            number += 1
            draw()
    else:
        line = b"" if key == b"\\r" else line + key
termios.tcsetattr(0, termios.TCSADRAIN, keep)
os.write(1, b"\\x1b[?2004l\\x1b[2J\\x1b[H")
"""


@attrs.define
class Stage:
    """
    A tmux of its own with one session, `deploy`, in whose shell the fake agent `claude` asks what *screens* ask, as
    they were recorded, but in the colours that *paint* puts into their text; `tally host sessions`, which follows it;
    and `tally serve`, if it *serves*.
    """

    folder: Path
    screens: tuple[str, ...]
    paint: Callable[[str], str] = str
    serves: bool = True
    live: Live = attrs.field(init=False)
    _host: subprocess.Popen[bytes] | None = None

    def start(self) -> Stage:
        self.live = Live(self.folder / "live")
        for name in ("tmux", "bin", "agent/screens", "cart"):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        for number, name in enumerate(self.screens):
            head, _, body = (SCREENS / f"{name}.txt").read_text("utf-8").partition("---\n")
            cursor = dict(line.split(": ", 1) for line in head.splitlines())["cursor"]
            (self.folder / f"agent/screens/{number}").write_text(f"{cursor}\n{self.paint(body.rstrip())}", "utf-8")
        agent = self.folder / "bin/claude"
        agent.write_text(AGENT.format(python=sys.executable, folder=str(self.folder / "agent")))
        agent.chmod(0o755)
        (self.live.start if self.serves else self.live.prepare)(self.environ)
        self.tmux("-f", os.devnull, "new-session", "-d", "-s", "deploy", "-x", "80", "-y", "30", "sh")
        self.run("claude")
        self._host = subprocess.Popen([*TALLY, "host", "sessions", "--no-screen"], env=self.live.environ)
        return self

    @property
    def environ(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {"TMUX_TMPDIR": str(self.folder / "tmux"), "PATH": path, "LC_ALL": "C.UTF-8"}

    def tmux(self, *words: str) -> str:
        # Nobody's repository: what has changed in the checkout is in no picture.
        done = subprocess.run(
            ["tmux", *words],
            env=self.live.environ,
            cwd=self.folder / "cart",
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def run(self, command: str) -> None:
        """Have the shell of the session run *command*."""
        self.tmux("send-keys", "-t", "=deploy:", "-l", command)
        self.tmux("send-keys", "-t", "=deploy:", "Enter")

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "=deploy:")

    def holder(self) -> str:
        """The name of the program in the foreground."""
        return self.tmux("display-message", "-p", "-t", "=deploy:", "#{pane_current_command}").strip()

    @property
    def typed(self) -> list[tuple[int, str]]:
        """What the agent was typed: before which screen, and the keys."""
        found: list[tuple[int, str]] = []
        with contextlib.suppress(FileNotFoundError):
            for line in (self.folder / "agent/typed").read_text().splitlines():
                number, _, key = line.partition(" ")
                keys = ast.literal_eval(key)
                if found and found[-1][0] == int(number):
                    found[-1] = (int(number), found[-1][1] + keys)
                else:
                    found.append((int(number), keys))
        return found

    def close(self) -> None:
        if self._host is not None:
            self._host.terminate()
            self._host.wait(timeout=20)
        subprocess.run(["tmux", "kill-server"], env=self.live.environ, check=False, capture_output=True)
        self.live.stop()
