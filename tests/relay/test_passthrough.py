"""What `tally emit` sends from inside a real tmux and a real GNU Screen, as it reaches the terminal around them."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal import Terminal, bare_environment, launcher

pytestmark = pytest.mark.programs
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux")
needs_screen = pytest.mark.skipif(shutil.which("screen") is None, reason="there is no GNU Screen")

#: Drawn by the command after the light, so that a light that does not come is noticed without waiting.
END = "the-end-of-it"


def frames(payload: str) -> bytes:
    value = base64.b64encode(payload.encode())
    return b"\x1b]1338;%b\x07\x1b]1337;SetUserVar=tally=%b\x07" % (payload.encode(), value)


def script(folder: Path, *arguments: str, hook: bool = False) -> str:
    """Write a program that sends one status, draws END and stays; as a *hook* it sends without a terminal."""
    command = " ".join([*launcher(folder), "emit", *arguments])
    if hook:
        command = f"setsid -w {command} </dev/null >/dev/null 2>&1"
    path = folder / "pane.sh"
    # tmux hands through only to clients, and starts the program before the first is attached.
    attached = '[ -z "$TMUX" ] || until [ -n "$(tmux list-clients)" ]; do sleep .02; done'
    # The parts of END are put together only when it is drawn: it must not be found in a command line.
    path.write_text(
        f"#!/bin/sh\n{attached}\n{command} || echo failed\nsleep .2\nprintf '%s-%s\\n' the-end of-it\nexec sleep 60\n"
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    with Terminal() as terminal:
        yield terminal
        subprocess.run(["tmux", "-S", str(tmp_path / "socket"), "kill-server"], stderr=subprocess.DEVNULL)


def start_tmux(terminal: Terminal, folder: Path, passthrough: str, command: str) -> bytes:
    """Attach to a new tmux server that runs *command*; return all that reached the terminal."""
    settings = folder / "tmux.conf"
    settings.write_text(f"set -g allow-passthrough {passthrough}\nset -g status off\n")
    terminal.start(
        ["tmux", "-S", str(folder / "socket"), "-f", str(settings), "new-session", command],
        bare_environment(TERM="xterm-256color"),
    )
    return terminal.wait_for(END.encode())


@needs_tmux
def test_tmux_with_passthrough_lets_the_light_through(tmux: Terminal, tmp_path: Path) -> None:
    """With `allow-passthrough on` both sequences reach the terminal around tmux byte for byte."""
    received = start_tmux(tmux, tmp_path, "on", script(tmp_path, "waiting", "--tool=claude", "--title=d%C3"))

    assert frames("state=waiting;tool=claude;title=d%25C3") in received
    assert b"Ptmux" not in received


@needs_tmux
def test_tmux_takes_the_longest_payload(tmux: Terminal, tmp_path: Path) -> None:
    """A payload at the limit of OSC 1338 comes through tmux whole."""
    received = start_tmux(tmux, tmp_path, "on", script(tmp_path, "done", f"--message={'m' * 5000}"))

    assert frames(f"state=done;message={'m' * (4088 - 19 - 9)}%E2%80%A6") in received


@needs_tmux
def test_tmux_without_passthrough_swallows_the_light(tmux: Terminal, tmp_path: Path) -> None:
    """With `allow-passthrough off`, the default, nothing arrives: neither a light nor garbage."""
    received = start_tmux(tmux, tmp_path, "off", script(tmp_path, "waiting", "--tool=claude"))

    assert b"1338" not in received
    assert b"SetUserVar" not in received
    assert b"failed" not in received


@needs_tmux
def test_hook_without_terminal_inside_tmux(tmux: Terminal, tmp_path: Path) -> None:
    """A hook in a session of its own reaches the pane of its agent, and through tmux the terminal."""
    received = start_tmux(tmux, tmp_path, "on", script(tmp_path, "waiting", hook=True))

    assert frames("state=waiting") in received


SCREEN_SETTINGS = "startup_message off\naltscreen off\ntermcapinfo xterm* ti@:te@\n"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Terminal]:
    sockets = tmp_path / "screens"
    sockets.mkdir(mode=0o700)
    with Terminal() as terminal:
        yield terminal
        subprocess.run(
            ["screen", "-S", "tally-test", "-X", "quit"],
            env=bare_environment(SCREENDIR=str(sockets)),
            stdout=subprocess.DEVNULL,
        )


def start_screen(terminal: Terminal, folder: Path, command: str) -> bytes:
    """Run *command* in a new GNU Screen on *terminal*; return all that reached the terminal."""
    settings = folder / "screenrc"
    settings.write_text(SCREEN_SETTINGS)
    terminal.start(
        ["screen", "-S", "tally-test", "-c", str(settings), command],
        bare_environment(TERM="xterm-256color", SCREENDIR=str(folder / "screens")),
    )
    return terminal.wait_for(END.encode())


@needs_screen
def test_screen_lets_the_light_through(screen: Terminal, tmp_path: Path) -> None:
    """Both sequences reach the terminal around GNU Screen byte for byte."""
    received = start_screen(screen, tmp_path, script(tmp_path, "waiting", "--tool=claude"))

    assert frames("state=waiting;tool=claude") in received


@needs_screen
@pytest.mark.parametrize("length", [700, 5000])
def test_screen_takes_long_payloads_in_chunks(screen: Terminal, tmp_path: Path, length: int) -> None:
    """A payload longer than Screen's 767 bytes arrives whole, and nothing of it is drawn as text."""
    received = start_screen(screen, tmp_path, script(tmp_path, "done", f"--message={'m' * length}"))

    message = "m" * length if length < 4000 else "m" * (4088 - 19 - 9) + "%E2%80%A6"
    sent = frames(f"state=done;message={message}")
    assert sent in received
    assert b"mmm" not in received.replace(sent, b"")
