"""Kitty's remote control protocol over a unix socket: https://sw.kovidgoyal.net/kitty/rc_protocol/

One request is ``ESC P @kitty-cmd {json} ESC \\``, one answer likewise. Spoken here directly, for ``kitten @`` costs a
process, and a noticeable fraction of a second, for every call. kitty closes nothing: each call has its own connection.

`request` is the protocol; `RemoteControl` is what a test says with it. Window ids are ints.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_START = b"\x1bP@kitty-cmd"
_END = b"\x1b\\"

# A kitty refuses a client newer than itself; this is older than any we test with.
_VERSION = [0, 26, 0]

# A kitten without a user interface runs inside the kitty process, and remote control hands back what it returns.
_EVAL_KITTEN = """
import json, textwrap, traceback
from kittens.tui.handler import result_handler

def main(args):
    pass

@result_handler(no_ui=True)
def handle_result(args, answer, target_window_id, boss):
    scope = {"boss": boss}
    try:
        exec("def body():\\n" + textwrap.indent(args[1], "    "), scope)
        return json.dumps({"value": scope["body"]()})
    except Exception:
        return json.dumps({"error": traceback.format_exc()})
"""


class RemoteError(Exception):
    """kitty answered that the command failed."""


def request(address: str, command: str, payload: Mapping[str, Any], timeout: float = 30) -> Any:
    """Run one remote control command and return its data."""
    message = {"cmd": command, "version": _VERSION, "no_response": False, "payload": payload}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(address)
        connection.sendall(_START + json.dumps(message).encode() + _END)
        answer = b""
        while not answer.endswith(_END):
            chunk = connection.recv(65536)
            if not chunk:
                raise RemoteError(f"{command}: kitty closed the connection after {answer!r}")
            answer += chunk
    reply = json.loads(answer[len(_START) : -len(_END)])
    if not reply.get("ok"):
        raise RemoteError(f"{command}: {reply.get('error')}\n{reply.get('tb', '')}")
    return reply.get("data")


class RemoteControl:
    """A kitty that listens at `socket`. `directory` holds the helper files and must be visible to that kitty."""

    def __init__(self, directory: Path) -> None:
        self.socket = directory / "socket"
        self._eval_kitten = directory / "eval_kitten.py"
        self._eval_kitten.write_text(_EVAL_KITTEN)

    def remote(self, command: str, **payload: Any) -> Any:
        """Any remote control command; `payload` has the keys of kitty's protocol specification."""
        return request(str(self.socket), command, payload)

    def eval(self, body: str) -> Any:
        """Run `body`, a function body over `boss`, inside the kitty process; what it returns must fit in JSON."""
        answer = json.loads(self.remote("kitten", kitten=str(self._eval_kitten), args=[body]))
        if "error" in answer:
            raise RemoteError(f"in kitty:\n{answer['error']}")
        return answer["value"]

    def ls(self) -> list[dict[str, Any]]:
        """kitty's tree: OS windows, their tabs, their windows."""
        tree: list[dict[str, Any]] = json.loads(self.remote("ls"))
        return tree

    def tabs(self) -> list[dict[str, Any]]:
        """Every tab of every OS window, in order."""
        return [tab for os_window in self.ls() for tab in os_window["tabs"]]

    def windows(self) -> list[dict[str, Any]]:
        """Every window of every tab, in order."""
        return [window for tab in self.tabs() for window in tab["windows"]]

    def window(self, window: int) -> dict[str, Any]:
        """What ``ls`` says of one window."""
        return next(found for found in self.windows() if found["id"] == window)

    def tab_of(self, window: int) -> int:
        """The id of the tab that holds a window."""
        return int(next(tab["id"] for tab in self.tabs() if any(w["id"] == window for w in tab["windows"])))

    def user_vars(self, window: int) -> dict[str, str]:
        """A window's user variables."""
        # A fourth of what `ls` costs, which looks at every process in every window.
        found: dict[str, str] = self.eval(f"return boss.window_id_map[{window}].user_vars")
        return found

    def focused_os_window(self) -> int | None:
        """The id of the OS window that kitty believes to have the focus."""
        return next((os_window["id"] for os_window in self.ls() if os_window["is_focused"]), None)

    def launch(
        self, *argv: str, type: str = "tab", env: Mapping[str, str] | None = None, cwd: str | None = None, **more: Any
    ) -> int:
        """Open a window and return its id. `more` has keys of the ``launch`` command, as ``keep_focus=True``."""
        settings = [f"{name}={value}" for name, value in (env or {}).items()]
        if cwd is not None:
            more["cwd"] = cwd
        return int(self.remote("launch", args=list(argv), type=type, env=settings, **more))

    def send_text(self, window: int, text: str) -> None:
        """Write to the window's program, as if typed. ``\\r`` is the enter key."""
        self.remote("send-text", match=f"id:{window}", data=f"text:{text}")

    def send_key(self, window: int, *keys: str) -> None:
        """Send key presses, by kitty's names (``ctrl+c``), to the window's program."""
        self.remote("send-key", match=f"id:{window}", keys=list(keys))

    def get_text(self, window: int, extent: str = "screen", *, ansi: bool = False) -> str:
        """The text in a window."""
        return str(self.remote("get-text", match=f"id:{window}", extent=extent, ansi=ansi))

    def focus_window(self, window: int) -> None:
        """Make a window, and its tab, the one shown. Its OS window gets the X focus too."""
        self.remote("focus-window", match=f"id:{window}")

    def focus_tab(self, tab: int) -> None:
        """Show a tab, by its id."""
        self.remote("focus-tab", match=f"id:{tab}")

    def close_window(self, window: int) -> None:
        """Close a window as the person would, unless its program has ended meanwhile and the window with it."""
        try:
            self.remote("close-window", match=f"id:{window}")
        except RemoteError as error:
            if "No matching windows" not in str(error):
                raise
