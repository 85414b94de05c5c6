"""Kitty: one real kitty under its own Xvfb, driven from a test.

    with Kitty("0.48", config="tab_bar_style powerline\n") as kitty:
        window = kitty.launch("sh", "-c", "echo hello; exec cat")
        kitty.wait_text(window, "hello")

The kitty runs in a room of `roots` with a home of its own; the test runs outside and talks to it through the remote
control socket (`remote`). Window ids are ints, colours are ``(red, green, blue)``.

Focus: there is no window manager. The first OS window asks the X server for the focus itself and gets it; after that
`focus_os_window` and `unfocus` move it with ``xdotool``, and kitty believes the X events. What kitty believes is in
``ls()[n]["is_focused"]``.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from PIL import Image

from tests.kitty.remote import RemoteError, request
from tests.kitty.roots import CHECKOUT, Network, Room, open_room, read_line

T = TypeVar("T")
Colour = tuple[int, int, int]

# The suite's own settings, read before the test's. Nothing here touches what the tests are about.
_BASE = """
allow_remote_control socket-only
confirm_os_window_close 0
update_check_interval 0
cursor_blink_interval 0
enable_audio_bell no
remember_window_size no
initial_window_width {width}
initial_window_height {height}
linux_display_server x11
font_family DejaVu Sans Mono
font_size 11
tab_bar_min_tabs 1
"""


class Kitty:
    """A kitty process. Everything is set up by `start`; before it, tests may put files into `home`."""

    def __init__(
        self,
        version: str,
        config: str = "",
        *,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (1000, 600),
        network: Network = "loopback",
        args: Sequence[str] = (),
    ) -> None:
        self.version = version
        # Directly in /tmp: a unix socket's path may have no more than 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="tallylight-kitty-", dir="/tmp"))
        self.home = self.directory / "home"
        self.config_dir = self.home / ".config/kitty"
        self.runtime_dir = self.directory / "run"
        self.socket = self.directory / "socket"
        self.config_dir.mkdir(parents=True)
        self.runtime_dir.mkdir(mode=0o700)
        self.kitty_conf = self.config_dir / "kitty.conf"
        self.kitty_conf.write_text(config)
        self.size = size
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime_dir),
            "LIBGL_ALWAYS_SOFTWARE": "1",
            **(env or {}),
        }
        self._network: Network = network
        self._args = list(args)
        self._room: Room | None = None
        self._process: subprocess.Popen[bytes] | None = None

    # -- life ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def start(self) -> Self:
        """Start Xvfb and kitty and wait until kitty has drawn its first window."""
        try:
            self._room = open_room(self.version, network=self._network)
            self._start_x()
            self.start_kitty()
        except BaseException:
            self.close()
            raise
        return self

    def _start_x(self) -> None:
        width, height = self.size
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"]
        with (self.directory / "xvfb.log").open("wb") as log:
            server = self.popen(command, stdout=subprocess.PIPE, stderr=log)
        assert server.stdout is not None
        self.env["DISPLAY"] = ":" + read_line(server.stdout, 20, "the X server's display number")

    def start_kitty(self) -> None:
        """Start kitty in the room, once more after it ended if need be."""
        base = self.directory / "base.conf"
        base.write_text(_BASE.format(width=self.size[0], height=self.size[1]))
        self.socket.unlink(missing_ok=True)
        command = ["kitty", "--config", str(base), "--config", str(self.kitty_conf), *self._args]
        command += ["--listen-on", f"unix:{self.socket}"]
        with (self.directory / "kitty.log").open("ab") as log:
            self._process = self.popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_until(self._up, 30, "kitty's first window")

    def _up(self) -> bool:
        assert self._process is not None
        if (status := self._process.poll()) is not None:
            raise RuntimeError(f"kitty ended with {status}:\n{self.log}")
        try:
            return any(tab["windows"] for os_window in self.ls() for tab in os_window["tabs"])
        except (OSError, RemoteError):
            return False

    def alive(self) -> bool:
        """Whether the kitty process still runs."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End everything and remove the files."""
        if self._room is not None:
            self._room.close()
        if self._process is not None:
            self._process.wait(10)
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- programs in the room --------------------------------------------------------------------------------------

    def popen(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None, **how: Any
    ) -> subprocess.Popen[bytes]:
        """Start a program in kitty's room, with kitty's home, beside kitty (not in a window of it)."""
        assert self._room is not None
        return self._room.popen(argv, env={**self.env, **(env or {})}, cwd=cwd or str(self.home), **how)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
        timeout: float = 30,
        check: bool = True,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program in kitty's room to its end."""
        pipe = subprocess.PIPE
        process = self.popen(argv, env=env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)
        try:
            out, err = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if check and process.returncode:
            raise AssertionError(f"{list(argv)} failed with {process.returncode}:\n{err.decode(errors='replace')}")
        return subprocess.CompletedProcess(list(argv), process.returncode, out, err)

    # -- remote control --------------------------------------------------------------------------------------------

    def remote(self, command: str, **payload: Any) -> Any:
        """Any remote control command; `payload` has the keys of kitty's protocol specification."""
        return request(str(self.socket), command, payload)

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

    def tab_of(self, window: int) -> dict[str, Any]:
        """The tab that holds a window."""
        return next(tab for tab in self.tabs() if any(w["id"] == window for w in tab["windows"]))

    def launch(
        self, *argv: str, type: str = "tab", env: Mapping[str, str] | None = None, cwd: str | None = None, **more: Any
    ) -> int:
        """Open a window and return its id. `more` has keys of the ``launch`` command, as ``keep_focus=True``."""
        settings = [f"{name}={value}" for name, value in (env or {}).items()]
        return int(self.remote("launch", args=list(argv), type=type, env=settings, cwd=cwd or str(self.home), **more))

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
        """Make a window, and its tab, the one shown."""
        self.remote("focus-window", match=f"id:{window}")

    def focus_tab(self, tab: int) -> None:
        """Show a tab, by its id."""
        self.remote("focus-tab", match=f"id:{tab}")

    def close_window(self, window: int) -> None:
        """Close a window as the person would."""
        self.remote("close-window", match=f"id:{window}")

    def user_vars(self, window: int) -> dict[str, str]:
        """A window's user variables."""
        found: dict[str, str] = self.window(window)["user_vars"]
        return found

    # -- the screen ------------------------------------------------------------------------------------------------

    def xdotool(self, *argv: str) -> str:
        """Run xdotool on this kitty's display."""
        return self.run(["xdotool", *argv]).stdout.decode().strip()

    def screenshot(self, path: Path | None = None) -> Image.Image:
        """The whole X screen as it is now, kept as a PNG too if there is a `path`."""
        png = self.run(["import", "-silent", "-window", "root", "png:-"]).stdout
        if path is not None:
            path.write_bytes(png)
        return Image.open(io.BytesIO(png)).convert("RGB")

    def focus_os_window(self, os_window: dict[str, Any]) -> None:
        """Give the X focus to an OS window (an entry of `ls`), and wait until kitty knows."""
        self.xdotool("windowfocus", "--sync", str(os_window["platform_window_id"]))
        self.wait_until(lambda: self._focused() == os_window["id"], 5, f"the focus in OS window {os_window['id']}")

    def unfocus(self) -> None:
        """Take the X focus away from every kitty window, as a person who looks at another program."""
        # The root window: always there, and xdotool's windowfocus takes it as any other.
        root = self.xdotool("search", "--maxdepth", "0", ".*").splitlines()[0]
        self.xdotool("windowfocus", root)
        self.wait_until(lambda: self._focused() is None, 5, "kitty without the focus")

    def _focused(self) -> int | None:
        return next((os_window["id"] for os_window in self.ls() if os_window["is_focused"]), None)

    # -- evidence --------------------------------------------------------------------------------------------------

    @property
    def log(self) -> str:
        """What kitty, and the watchers in it, wrote on stdout and stderr."""
        path = self.directory / "kitty.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_text(self, window: int, text: str, timeout: float = 10) -> str:
        """Wait until a window shows `text`, and return all it shows."""
        return self.wait_until(
            lambda: shown if text in (shown := self.get_text(window)) else None, timeout, f"{text!r} in window {window}"
        )

    def wait_until(self, predicate: Callable[[], T | None], timeout: float = 10, what: str = "the condition") -> T:
        """Wait until `predicate` returns something true, and return that. The failure says all there is to know."""
        deadline = time.monotonic() + timeout
        while True:
            if found := predicate():
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come within {timeout} s\n{self.describe()}")
            time.sleep(0.02)

    def describe(self) -> str:
        """The texts of all windows, the tree and the log: for the reader of a failed test."""
        parts = []
        try:
            for window in self.windows():
                parts.append(f"-- window {window['id']}: {window['title']!r}\n{self.get_text(window['id']).rstrip()}")
                window["env"] = "…"
            parts.append(f"-- ls\n{json.dumps(self.ls(), indent=1)}")
        except (OSError, RemoteError) as error:
            parts.append(f"-- kitty does not answer: {error}")
        parts.append(f"-- stderr\n{self.log}")
        return "\n".join(parts)
