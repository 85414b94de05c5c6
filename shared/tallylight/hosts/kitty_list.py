"""
The list of agents in kitty: an overlay window, and what its keys do to other windows.

kitty's own kittens take a while to start, for each is a kitty of its own. So the list is a program of ours, `tally
agents`, and its first picture is drawn into the window here and now, from what this process knows; the program draws
the same a moment later and goes on from there.

The program has a channel to this process that nobody else has. Through it a pane can be answered, forked, resumed or
shown, in the name of the person who pressed a key in the list, and nothing else can. (It is not kitty's remote control
over a descriptor: while such a one is open, kitty 0.41 answers nobody else.)
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from kitty.child import default_env
from kitty.constants import kitty_exe
from kitty.fast_data_types import add_timer, remove_timer
from kitty.tab_bar import draw_attributed_string
from kitty.tabs import SpecialWindow
from kitty.utils import log_error

from tallylight import forking
from tallylight.hosts import kitty_actions
from tallylight.hosts.kitty_host import KittyHost
from tallylight.list import ansi, draw, rows, state
from tallylight.listing.actions import CHANNEL, MAX_MESSAGE, SELECTED, read_words, sight_to
from tallylight.listing.terminal import depth
from tallylight.snapshot_schema import Snapshot
from tallylight.status import Status

#: What may attach a terminal to a detached session. The argument list comes from another process.
ATTACHERS = ("screen", "tmux")
#: Where our own package lies, found out before any disk could hang.
_LIBRARY = str(Path(__file__).resolve().parents[2])
#: How often, in seconds, an open list is listened to.
LISTEN_S = 0.03


@attrs.define
class _List:
    """A list on the screen."""

    host: KittyHost
    #: The folder of our kittens.
    kittens: Path
    channel: socket.socket
    timer: int | None = None
    #: What to do when it has gone.
    then: Callable[[], object] | None = None

    def listen(self, _timer: int | None) -> None:
        """Do what was asked since the last time, and answer."""
        try:
            message = self.channel.recv(MAX_MESSAGE)
        except OSError:
            return  # nothing was asked
        if not message:
            return  # it has gone, and its window will
        try:
            reply = self.act(read_words(message))
        except Exception as error:  # the next one may well succeed
            log_error(f"tallylight: list of agents: {type(error).__name__}: {error}")
            reply = f"it failed: {type(error).__name__}; kitty's log tells more"
        with contextlib.suppress(OSError):  # nobody waits for it any more
            self.channel.send(json.dumps(reply if isinstance(reply, dict) else {"said": reply}).encode("ascii") + b"\n")

    def act(self, words: Sequence[str]) -> str | dict[str, object]:
        """
        Do what is asked: a verb, the id of a window, and what the verb needs.

        Returns nothing when it is done, or will be as soon as the list is gone; else what to tell the person; or what
        they asked to see.
        """
        boss, (verb, *rest) = self.host.boss, [*words, "", ""]
        if verb == "attach":
            if len(words) < 2 or words[1].rpartition("/")[2] not in ATTACHERS:
                return "that host names no way to attach"
            self.then = functools.partial(boss._new_tab, SpecialWindow(list(words[1:])))
            return ""
        id_ = int(rest[0]) if rest[0].isascii() and rest[0].isdigit() and len(rest[0]) < 20 else 0
        window, pane = boss.window_id_map.get(id_), self.host.panes.get(id_)
        if window is None or pane is None:
            return "that pane is gone"
        if verb == "go":
            self.then = functools.partial(kitty_actions.focus, boss, id_)
            return ""
        if verb in ("fork", "resume"):
            options = ["--resume"] if verb == "resume" else []
            self.then = functools.partial(_run_kitten, boss, id_, self.kittens / "fork.py", options)
            return ""
        look = self.host.look_at(window, pane)
        if verb == "look":
            found = kitty_actions.sight(pane, look) if pane.decision.status is Status.WAITING else None
            return sight_to(found) if found is not None and found.choices else state.NO_QUESTION
        if verb == "answer" and len(words) == 6 and words[4].isascii() and words[4].isdigit() and len(words[4]) < 4:
            return kitty_actions.answer(window, pane, look, words[2], words[3], int(words[4]), words[5])
        return "that is nothing a list can ask for"

    def removed(self, _window: Any) -> None:
        """Its window is gone."""
        if self.timer is not None:
            remove_timer(self.timer)
        self.channel.close()
        if self.then is not None:
            self.then()


#: By window.
_lists: dict[int, _List] = {}


def show(host: KittyHost, window_id: int, kittens: Path) -> None:
    """Open the list over window *window_id*, or close the list that it is. *kittens* is the folder of our kittens."""
    boss = host.boss
    if window_id in _lists:
        boss.mark_window_for_close(window_id)
        return
    window = boss.window_id_map.get(window_id)
    tab = window.tabref() if window is not None else None
    if window is None or tab is None:
        return
    now, name = time.time(), f"kitty-{os.getpid()}"
    own = Snapshot(host="kitty", pid=os.getpid(), started=0.0, written=now, panes=host.entries(time.monotonic()))
    shown = rows.build([own], name, now)
    near, far = socket.socketpair()
    near.setblocking(False)
    far.set_inheritable(True)
    told = {CHANNEL: str(far.fileno()), SELECTED: shown[0].address if shown else ""}
    try:
        overlay = tab.new_special_window(
            SpecialWindow(command(host.command), override_title="Agents", env=told, cwd="/", overlay_for=window_id),
            copy_colors_from=window,
            pass_fds=(far.fileno(),),
        )
    except BaseException:
        near.close()
        raise
    finally:
        far.close()
    opened = _lists[overlay.id] = _List(host, kittens, near)
    opened.timer = add_timer(host.guarded("list of agents", opened.listen), LISTEN_S, True)
    overlay.actions_on_removal.append(_removed)
    # For the next one: it may have been installed elsewhere since.
    host.worker.submit("list of agents", forking.own_command, functools.partial(_know_command, host))
    _draw(overlay, shown, now, {**default_env(), "TERM": "xterm-kitty"})


def _removed(window: Any) -> None:
    _lists.pop(window.id).removed(window)


def _know_command(host: KittyHost, found: object) -> None:
    if isinstance(found, str):
        host.command = found


def command(installed: str) -> list[str]:
    """The list as a program: by the *installed* command, else by the Python in kitty."""
    if installed:
        return [installed, "agents"]
    run = f"import sys; sys.path.append({_LIBRARY!r}); from tallylight.cli.main import main; sys.exit(main(['agents']))"
    return [kitty_exe(), "+runpy", run]


def _draw(window: Any, shown: tuple[rows.Row, ...], now: float, environ: Mapping[str, str]) -> None:
    """The first picture."""
    with contextlib.suppress(termios.error, OSError):
        # What is typed from now on waits for the program, and is not echoed into the picture.
        settings = termios.tcgetattr(window.child.child_fd)
        settings[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(window.child.child_fd, termios.TCSANOW, settings)
    screen = window.screen
    first = state.refreshed(state.resized(state.State(), screen.columns, screen.lines), shown, now)
    for number, line in enumerate(draw.draw(first)):
        screen.cursor.x, screen.cursor.y = 0, number
        draw_attributed_string(ansi.sgr(line, depth(environ)), screen)
    screen.cursor_visible = False


def _run_kitten(boss: Any, id_: int, kitten: Path, options: list[str]) -> None:
    """Hand window *id_* over to the kitten that forks and resumes, which shows what it will run and asks."""
    if kitty_actions.focus(boss, id_):
        boss.run_kitten_with_metadata(str(kitten), options, window=boss.window_id_map[id_])
