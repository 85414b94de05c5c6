"""Kitty: one real kitty under its own Xvfb, driven from a test.

    with Kitty("0.48", config="tab_bar_style powerline\n") as kitty:
        window = kitty.launch("sh", "-c", "echo hello; exec cat")
        kitty.wait_text(window, "hello")

The kitty runs in a room of `roots` with a home of its own; the test runs outside and talks to it through the remote
control socket (`remote`).

Focus: no window manager is needed, as tried with both versions. A new OS window takes the X focus itself; after that
`focus_os_window` and `unfocus` move it with ``xdotool``, kitty believes the X events, and watchers get their
``on_focus_change``. What kitty believes is in `focused_os_window`.
"""

from __future__ import annotations

import atexit
import functools
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

from tests.patience import patient
from tests.real_kitty.pixels import SPANS, Box, Colour, read_screen, saturated_colours
from tests.real_kitty.remote import RemoteControl, RemoteError
from tests.real_kitty.roots import Network, Room, open_room, read_line

T = TypeVar("T")

# The suite's own settings, read before the test's. Nothing here touches what the tests are about. A kitty.conf is read
# when a test says so: kitty 0.48 would read it by itself while it is written, and find no watcher in it.
_BASE = """
allow_remote_control socket-only
confirm_os_window_close 0
update_check_interval 0
auto_reload_config -1
cursor_blink_interval 0
enable_audio_bell no
remember_window_size no
initial_window_width {width}
initial_window_height {height}
linux_display_server x11
font_family DejaVu Sans Mono
font_size {font_size:g}
tab_bar_min_tabs 1
"""

#: The scale of a kitty of which no test looks at the pixels. Without a graphics card a picture that kitty draws takes
#: processor time by the pixel, and more than all else that most tests do; so it has a third of them. Not so where
#: pictures are wanted for a person.
SMALL = 1.0 if os.environ.get("TALLYLIGHT_PICTURES") else 0.55

#: Whether the watcher, if there is one, has been loaded, or could not be.
_IS_LOADED = """
import sys
starter = sys.modules.get("tallylight.hosts.kitty.starter")
return starter is None or starter.loading.is_over
"""


@functools.cache
def _shaders() -> Path:
    """What all kittys of this process keep their compiled shaders in; each would take a third of a second for them."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-shaders-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Kitty(RemoteControl):
    """A kitty process. Everything is set up by `start`; before it, tests may put files into `home`."""

    def __init__(
        self,
        version: str,
        config: str = "",
        *,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (1000, 600),
        scale: float = 1.0,
        network: Network = "loopback",
        args: Sequence[str] = (),
    ) -> None:
        self.version = version
        # Directly in /tmp: a unix socket's path may have no more than 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="tallylight-kitty-", dir="/tmp"))
        super().__init__(self.directory)
        self.home = self.directory / "home"
        self.config_dir = self.home / ".config/kitty"
        self.runtime_dir = self.directory / "run"
        self.config_dir.mkdir(parents=True)
        self.runtime_dir.mkdir(mode=0o700)
        self.kitty_conf = self.config_dir / "kitty.conf"
        self.kitty_conf.write_text(config)
        #: In pixels. As many cells go into it at any scale.
        self.size = (int(size[0] * scale), int(size[1] * scale))
        self.scale = scale
        self._font_size = 11 * scale
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.runtime_dir),
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "LP_NUM_THREADS": "0",
            "MESA_SHADER_CACHE_DIR": str(_shaders()),
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
        # What is on the screen is a file that `screenshot` reads; a pointer would be drawn into it.
        command += ["-fbdir", str(self.directory), "-nocursor"]
        with (self.directory / "xvfb.log").open("wb") as log:
            server = self.popen(command, stdout=subprocess.PIPE, stderr=log)
        assert server.stdout is not None
        self.env["DISPLAY"] = ":" + read_line(server.stdout, 20, "the X server's display number")

    def start_kitty(self) -> None:
        """Start kitty in the room, once more after it ended if need be."""
        base = self.directory / "base.conf"
        base.write_text(_BASE.format(width=self.size[0], height=self.size[1], font_size=self._font_size))
        self.socket.unlink(missing_ok=True)
        command = ["kitty", "--config", str(base), "--config", str(self.kitty_conf), *self._args]
        command += ["--listen-on", f"unix:{self.socket}"]
        with (self.directory / "kitty.log").open("ab") as log:
            self._process = self.popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_until(self._up, 30, "kitty's first window")
        if "tallylight" in self.kitty_conf.read_text(errors="replace"):
            self.wait_until(lambda: self.eval(_IS_LOADED), 60, "the loading of Tallylight")

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
            self._process.wait(30)
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

    # -- the screen ------------------------------------------------------------------------------------------------

    def xdotool(self, *argv: str) -> str:
        """Run xdotool on this kitty's display."""
        return self.run(["xdotool", *argv]).stdout.decode().strip()

    def screenshot(self, path: Path | None = None) -> Image.Image:
        """The whole X screen as it is now, kept as a PNG too if there is a `path`."""
        image = read_screen(self.directory / "Xvfb_screen0")
        if path is not None:
            image.save(path)
        return image

    def tab_colours(self, image: Image.Image | None = None, os_window: int | None = None) -> dict[int, list[Colour]]:
        """For every tab id of one OS window (the first, if not said), the saturated colours drawn in that tab."""
        number = self.ls()[0]["id"] if os_window is None else os_window
        spans: dict[str, Box] = self.eval(SPANS.format(os_window=number))
        shown = image or self.screenshot()
        return {int(tab): saturated_colours(shown, (*box,)) for tab, box in spans.items()}

    def focus_os_window(self, os_window: int) -> None:
        """Give the X focus to an OS window, put it on top, and wait until kitty knows."""
        x_window = next(found["platform_window_id"] for found in self.ls() if found["id"] == os_window)
        self.xdotool("windowraise", str(x_window), "windowfocus", "--sync", str(x_window))
        self.wait_until(lambda: self.focused_os_window() == os_window, 5, f"the focus in OS window {os_window}")

    def unfocus(self) -> None:
        """Take the X focus away from every OS window, as a person who looks at another program."""
        # The root window is always there, and takes the focus as any other.
        root = self.xdotool("search", "--maxdepth", "0", ".*").splitlines()[0]
        self.xdotool("windowfocus", root)
        self.wait_until(lambda: self.focused_os_window() is None, 5, "kitty without the focus")

    # -- evidence --------------------------------------------------------------------------------------------------

    @property
    def log(self) -> str:
        """What kitty, and the watchers in it, wrote on stdout and stderr."""
        path = self.directory / "kitty.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_text(self, window: int, text: str, timeout: float = 30) -> str:
        """Wait until a window shows `text`, and return all it shows."""
        return self.wait_until(
            lambda: shown if text in (shown := self.get_text(window)) else None, timeout, f"{text!r} in window {window}"
        )

    def wait_until(self, predicate: Callable[[], T | None], timeout: float = 30, what: str = "the condition") -> T:
        """
        Wait until `predicate` returns something true, and return that (see `patient`).

        The failure says all there is to know.
        """
        began = time.monotonic()
        while True:
            if found := predicate():
                return found
            waited = time.monotonic() - began
            if waited > patient(timeout):
                raise AssertionError(f"{what} did not come within {timeout} s\n{self.describe()}")
            # To ask kitty costs it as much as some tests do: what takes long may be known a little later.
            time.sleep(min(0.02 + waited / 20, 0.2))

    def describe(self) -> str:
        """The texts of all windows, the tree and the log: for the reader of a failed test."""
        parts = []
        try:
            for window in self.windows():
                try:
                    shown = self.get_text(window["id"]).rstrip()
                except RemoteError as error:  # it closes at this moment
                    shown = f"({error})"
                parts.append(f"-- window {window['id']}: {window['title']!r}\n{shown}")
            parts.append(f"-- ls\n{json.dumps(self.ls(), indent=1)}")
        except (OSError, RemoteError) as error:
            parts.append(f"-- kitty does not answer: {error}")
        parts.append(f"-- stderr\n{self.log}")
        return "\n".join(parts)
