"""
The stand-in for WezTerm's GUI process: real terminals with real programs, and what `wezterm cli` would tell of them.

    python gui.py FOLDER

reads commands as JSON lines (`spawn`, `send`, `paste`, `close`, `name`) on standard input and answers each with a line;
one line each also from who connects to FOLDER/sock. What it knows stands in FOLDER: `list.json`, `text-<pane>` and
`styled-<pane>` as `wezterm cli` prints them, `vars.json` as Lua would see it.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import pty
import re
import selectors
import signal
import socket
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pyte

ROWS, COLUMNS = 24, 80
_VARIABLE = re.compile(rb"\x1b\]1337;SetUserVar=([^=;\x07]+)=([A-Za-z0-9+/=]*)(?:\x07|\x1b\\)")


class Pane:
    """One terminal, the program on it, and its screen."""

    def __init__(self, id_: int, argv: list[str], env: dict[str, str], domain: str) -> None:
        self.id = id_
        self.domain = domain
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.title = "wezterm"
        self.vars: dict[str, str] = {}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, {**os.environ, **env})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.tty = f"/dev/pts/{_number(self.fd)}"

    def feed(self, data: bytes) -> None:
        for name, value in _VARIABLE.findall(data):
            self.vars[name.decode()] = base64.b64decode(value).decode()
        self.stream.feed(_VARIABLE.sub(b"", data))
        self.title = self.screen.title or self.title

    def rows(self) -> list[list[Any]]:
        """The cells of the screen, row by row."""
        return [[self.screen.buffer[line][column] for column in range(COLUMNS)] for line in range(ROWS)]

    def row(self) -> dict[str, Any]:
        cursor = self.screen.cursor
        return {
            "window_id": 0, "tab_id": self.id, "pane_id": self.id, "workspace": "default",
            "size": {"rows": ROWS, "cols": COLUMNS, "pixel_width": 800, "pixel_height": 480, "dpi": 96},
            "title": self.title, "cwd": "file://here/", "cursor_x": cursor.x, "cursor_y": cursor.y,
            "cursor_shape": "Default", "cursor_visibility": "Hidden" if cursor.hidden else "Visible",
            "left_col": 0, "top_row": 0, "tab_title": "", "window_title": "web", "is_active": True, "is_zoomed": False,
            "tty_name": self.tty if self.domain == "local" else None,
        }  # fmt: skip


def _styled(cells: list[Any]) -> str:
    """The cells with sequences for what is red or bold, as `get-text --escapes` has them."""
    parts = [f"\x1b[0{';1' * cell.bold}{';31' * (cell.fg == 'red')}m{cell.data}" for cell in cells]
    return "".join(parts) + "\x1b[0m"


def _number(fd: int) -> int:
    return struct.unpack("I", fcntl.ioctl(fd, 0x80045430, b"\0\0\0\0"))[0]  # TIOCGPTN


class Gui:
    """All panes, and the folder that tells of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.panes: dict[int, Pane] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ, None)
        self.listener = socket.socket(socket.AF_UNIX)
        # By a short name: the path of a test's folder may be too long for a socket's.
        os.chdir(folder)
        self.listener.bind("sock")
        self.listener.listen()
        self.selector.register(self.listener, selectors.EVENT_READ, self.listener)
        self.next_id = 1
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def run(self) -> None:
        pending = b""
        self.write()
        while True:
            for key, _ in self.selector.select():
                pane = key.data
                if pane is self.listener:
                    self.serve()
                    continue
                if pane is not None:
                    self.read(pane)
                    continue
                data = os.read(0, 65536)
                if not data:
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    answer = self.command(json.loads(line))
                    self.write()
                    sys.stdout.write(json.dumps(answer) + "\n")
                    sys.stdout.flush()
            self.write()

    def serve(self) -> None:
        """Take one command from a `wezterm cli`."""
        connection = self.listener.accept()[0]
        with connection, connection.makefile("rw") as file:
            command = json.loads(file.readline())
            answer = self.command(command) if command["pane"] in self.panes else None
            file.write(json.dumps(answer) + "\n")

    def read(self, pane: Pane) -> None:
        try:
            data = os.read(pane.fd, 65536)
        except OSError:
            data = b""
        if data:
            pane.feed(data)
        else:
            self.drop(pane)

    def drop(self, pane: Pane) -> None:
        self.selector.unregister(pane.fd)
        os.close(pane.fd)
        del self.panes[pane.id]
        os.waitpid(pane.pid, 0)

    def command(self, command: dict[str, Any]) -> Any:
        if command["do"] == "spawn":
            pane = Pane(self.next_id, command["argv"], command["env"], command["domain"])
            self.next_id += 1
            self.panes[pane.id] = pane
            self.selector.register(pane.fd, selectors.EVENT_READ, pane)
            return {"pane": pane.id, "tty": pane.tty, "pid": pane.pid}
        if command["do"] == "name":
            Path("/proc/self/comm").write_text(command["name"], "utf-8")
            return {}
        pane = self.panes[command["pane"]]
        if command["do"] == "send":
            os.write(pane.fd, command["text"].encode())
        elif command["do"] == "paste":
            is_bracketed = 2004 << 5 in pane.screen.mode
            text = f"\x1b[200~{command['text']}\x1b[201~" if is_bracketed else command["text"]
            os.write(pane.fd, text.encode())
        elif command["do"] == "close":
            os.kill(pane.pid, signal.SIGHUP)
            time.sleep(0.01)
            os.kill(pane.pid, signal.SIGKILL)
        return {}

    def write(self) -> None:
        for pane in self.panes.values():
            text = "".join(line.rstrip() + "\n" for line in pane.screen.display)
            self.put(f"text-{pane.id}", text)
            self.put(f"styled-{pane.id}", "".join(f"{_styled(row)}\n" for row in pane.rows()))
        self.put("list.json", json.dumps([pane.row() for pane in self.panes.values()]))
        self.put("vars.json", json.dumps({pane.id: pane.vars for pane in self.panes.values()}))

    def put(self, name: str, text: str) -> None:
        aside = self.folder / f".{name}.new"
        aside.write_text(text, "utf-8")
        aside.replace(self.folder / name)


if __name__ == "__main__":
    Gui(Path(sys.argv[1])).run()
