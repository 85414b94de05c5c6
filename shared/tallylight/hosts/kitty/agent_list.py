"""
The list of agents in kitty: an overlay window, and what its keys do to other windows.

kitty's own kittens take a while to start, for each is a kitty of its own. So the list is a program of ours, `tally
agents`, and its first picture is drawn into the window here and now, from what this process knows; the program draws
the same a moment later and goes on from there. A panel (`panels`) is the same program in a window of its own.

The program has a channel to this process that nobody else has. Through it a pane can be answered, forked, resumed or
shown, in the name of the person who pressed a key in the list, and nothing else can. (It is not kitty's remote control
over a descriptor: while such a one is open, kitty 0.41 answers nobody else.) The program rings when it has asked, by a
user variable, so that nothing has to look for it.
"""

from __future__ import annotations

import contextlib
import functools
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

from tallylight.actions import fork, request
from tallylight.actions.answer import Done
from tallylight.actions.caller import PERSON
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Attach, Draw, Lines, Open, Picture, Reply, Request, TooLongError, Visible
from tallylight.hosts.kitty import actions, answering, screens
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.own_code import own_code
from tallylight.snapshot import elsewhere, labels_file, rows
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.schema import Snapshot
from tallylight.ui import ansi, colours
from tallylight.ui.agent_list import draw, state
from tallylight.ui.agent_list.channel import AS_OF, CHANNEL, PANEL, SELECTED
from tallylight.ui.agent_list.pictures import Sender
from tallylight.ui.agent_list.record import State

#: What may attach a terminal to a detached session. The argument list comes from another process.
ATTACHERS = ("screen", "tmux")
#: Whether the command is still there is looked at by the new program itself: that is a disk. kitty's Python would heed
#: a variable that has it import from the directory of the pane.
_EITHER = (
    'kitty=$1 run=$2 own=$3; shift 3; test -x "$own" && exec "$own" "$@"; '
    'unset PYTHONPATH PYTHONHOME; exec "$kitty" +runpy "$run"'
)
#: How often, in seconds, the rest of an answer is sent that a list has not had room for.
REST_S = 0.03


@attrs.define
class _List:
    """A list on the screen."""

    host: KittyHost
    #: The folder of our kittens.
    kittens: Path
    channel: socket.socket
    is_panel: bool = False
    #: Whether its program has been told that it can be seen.
    is_seen: bool = True
    timer: int | None = None
    #: What was asked so far, and what of the answers is not sent yet.
    heard: Lines = attrs.Factory(lambda: Lines(request.MAX_REQUEST))
    unsent: bytes = b""
    #: What to do when it has gone.
    then: Callable[[], object] | None = None
    #: Its own window.
    window_id: int = 0
    pictures: Sender = attrs.Factory(Sender)

    def listen(self) -> None:
        """Do what was asked since the last time, and answer; never wait for the other side."""
        try:
            lines = self.heard.feed(self.channel.recv(request.CHUNK))
        except BlockingIOError:
            return  # nothing was asked
        except (OSError, TooLongError):
            self.close()  # it has gone, and its window will; or it is no list
            return
        for line in lines:
            self.unsent += self._answer(line)
        self._send()

    def _answer(self, line: bytes) -> bytes:
        asked, _ = request.decode_request(line)
        try:
            return request.encode_reply(self.act(asked) if asked is not None else request.UNKNOWN)
        except Exception as error:  # the next one may well succeed
            log_error(f"tallylight: list of agents: {type(error).__name__}: {error}")
            return request.encode_reply(Refusal("failed", f"it failed: {type(error).__name__}; see kitty's log"))

    def tell_seen(self, is_seen: bool) -> None:
        """Tell its program whether it can be seen."""
        if is_seen != self.is_seen:
            self.is_seen = is_seen
            self.unsent += request.encode(Visible(is_seen))
            self._send()

    def _send(self, timer: int | None = None) -> None:
        """As much as the socket takes; the rest in a moment."""
        try:
            self.unsent = self.unsent[self.channel.send(self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:  # nobody waits for it any more
            self.unsent = b""
        if self.unsent and self.timer is None:
            self.timer = add_timer(self.host.guarded("list of agents", self._send), REST_S, True)
        elif not self.unsent and timer is not None:
            remove_timer(timer)
            self.timer = None

    def close(self) -> None:
        """Hear and say nothing any more."""
        self.channel.close()
        self.unsent = b""

    def act(self, asked: Request) -> Reply:
        """Do what is *asked*, or have it done as soon as the list is gone."""
        match asked:
            case Attach(argv):
                return self._attach(argv)
            case Open("back"):
                own = self.host.boss.window_id_map.get(self.window_id)
                tab = own.tabref() if own is not None else None
                return self._leave(functools.partial(tab.nth_window, -1)) if tab is not None else Done("", "")
            case Open(verb, pane):
                return self._open(verb, kitty_windows.id_of(pane))
            case Draw(pane, has):
                return self._picture(self.host.boss.window_id_map.get(kitty_windows.id_of(pane)), has)
        return answering.perform(self.host, asked, PERSON) or request.UNKNOWN

    def _leave(self, what: Callable[[], object]) -> Done:
        """Have it done: a list goes first, a panel stays."""
        if self.is_panel:
            add_timer(self.host.guarded("list of agents", lambda _: _call(what)), 0, False)
        else:
            self.then = what
        return Done("", "")

    def _attach(self, argv: Sequence[str]) -> Done | Refusal:
        """Open a tab that shows a pane of another machine, or a detached session."""
        title = None
        if argv[:2] == ("tally", "attach") and len(argv) == 3:
            # Which command leads to that machine, our own program finds in the configuration.
            title, argv = elsewhere.parts(argv[2])[0], command(self.host.command, "attach", "--hold", "--", argv[2])
        if title == "" or (title is None and (not argv or argv[0].rpartition("/")[2] not in ATTACHERS)):
            return Refusal("unreachable", "that host does not say how to attach")
        return self._leave(functools.partial(self.host.boss._new_tab, SpecialWindow(list(argv), override_title=title)))

    def _open(self, verb: str, id_: int) -> Done | Refusal:
        boss = self.host.boss
        if id_ not in boss.window_id_map or id_ not in self.host.panes:
            return answering.GONE
        if verb == "go":
            return self._leave(functools.partial(actions.focus, boss, id_))
        if verb in ("fork", "resume"):
            options = ["--resume"] if verb == "resume" else []
            return self._leave(functools.partial(_run_kitten, boss, id_, self.kittens / "fork.py", options))
        return request.UNKNOWN

    def _picture(self, window: Any, has: int) -> Picture | Refusal:
        """What stands on *window*, for a list that has the picture number *has*; nothing while nobody sees the list."""
        if window is None or window.id not in self.host.panes:
            return answering.GONE
        if self.window_id not in kitty_windows.visible(self.host.boss):
            return Picture(None)
        shown, columns = screens.styled_rows(window), window.screen.columns
        return Picture(self.pictures.picture(str(window.id), shown, columns, screens.cursor_of(window), has))

    def removed(self, _window: Any) -> None:
        """Its window is gone."""
        self.close()
        if self.then is not None:
            self.then()


#: By window.
_lists: dict[int, _List] = {}
#: What a person gave conversations, as it was when a list was last opened or closed.
_labels = Labels()


def show(host: KittyHost, window_id: int, kittens: Path) -> None:
    """Open the list over window *window_id*, or close the list that it is. *kittens* is the folder of our kittens."""
    boss = host.boss
    if window_id in _lists and not _lists[window_id].is_panel:
        boss.mark_window_for_close(window_id)
        return
    window = boss.window_id_map.get(window_id)
    tab = window.tabref() if window is not None else None
    if window is None or tab is None:
        return

    def make(command: list[str], env: dict[str, str], fd: int) -> Any:
        special = SpecialWindow(command, override_title="Agents", env=env, cwd="/", overlay_for=window_id)
        return tab.new_special_window(special, copy_colors_from=window, pass_fds=(fd,))

    open_list(host, kittens, make)


#: Makes the window of a list: its command, its variables, and the descriptor that it inherits.
Make = Callable[[list[str], dict[str, str], int], Any]


def open_list(host: KittyHost, kittens: Path, make: Make, *, is_panel: bool = False) -> Any:
    """Open a list in the window that *make* makes; that window."""
    now, (panes, as_of) = time.time(), host.newest(time.monotonic())
    own = Snapshot(host="kitty", pid=os.getpid(), started=0.0, written=now, panes=panes)
    shown = rows.build([own], own.name, now, _labels)
    near, far = socket.socketpair()
    near.setblocking(False)
    far.set_inheritable(True)
    told = {CHANNEL: str(far.fileno()), SELECTED: shown[0].address if shown else "", AS_OF: repr(as_of)}
    try:
        window = make(command(host.command, "panel" if is_panel else "agents"), told, far.fileno())
    except BaseException:
        near.close()
        raise
    finally:
        far.close()
    _lists[window.id] = _List(host, kittens, near, is_panel=is_panel, window_id=window.id)
    window.actions_on_removal.append(_removed)
    if is_panel:
        window.set_user_var(PANEL, "1")
    # For the next one: it may have been installed elsewhere since.
    host.worker.submit("list of agents", fork.own_command, functools.partial(_know_command, host))
    host.worker.submit("labels", _read_labels, _know_labels)
    first = State(is_panel=is_panel, has_focus=not is_panel, group=_labels.group)
    _draw(window, first, shown, now, {**default_env(), "TERM": "xterm-kitty"})
    return window


def heard(window: Any) -> None:
    """A program in *window* has rung: if it is a list, it has asked for something."""
    if (found := _lists.get(window.id)) is not None:
        found.listen()


def tell_seen(window_id: int, is_seen: bool) -> None:
    """Tell the list in window *window_id* whether it can be seen."""
    if (found := _lists.get(window_id)) is not None:
        found.tell_seen(is_seen)


def is_open(window_id: int) -> bool:
    """Whether there is a list in window *window_id*."""
    return window_id in _lists


def _removed(window: Any) -> None:
    closed = _lists.pop(window.id)
    closed.host.worker.submit("labels", _read_labels, _know_labels)
    closed.removed(window)


def _call(what: Callable[[], object]) -> None:
    what()


def _know_command(host: KittyHost, found: object) -> None:
    if isinstance(found, str):
        host.command = found


def _read_labels() -> Labels:
    return labels_file.read(labels_file.path(os.environ))


def _know_labels(found: object) -> None:
    global _labels  # noqa: PLW0603 - one a process, as the host
    # What is wrong with the file, the list tells.
    if isinstance(found, Labels):
        _labels = found


def command(installed: str, *words: str) -> list[str]:
    """
    *words*, a verb and its arguments, as a program: by the *installed* command, else, or if that has gone since, by the
    Python in kitty.
    """
    given = list(words)
    run = own_code("tallylight.cli.main", f"sys.exit(main({given!r}))")
    return ["/bin/sh", "-c", _EITHER, "tally", kitty_exe(), run, installed, *given]


def _draw(window: Any, empty: State, shown: tuple[rows.Row, ...], now: float, environ: Mapping[str, str]) -> None:
    """The first picture."""
    with contextlib.suppress(termios.error, OSError):
        # What is typed from now on waits for the program, and is not echoed into the picture.
        settings = termios.tcgetattr(window.child.child_fd)
        settings[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(window.child.child_fd, termios.TCSANOW, settings)
    screen = window.screen
    first = state.refreshed(state.resized(empty, screen.columns, screen.lines), shown, now)
    for number, line in enumerate(draw.draw(first)):
        screen.cursor.x, screen.cursor.y = 0, number
        draw_attributed_string(ansi.sgr(line, colours.depth(environ)), screen)
    screen.cursor_visible = False


def _run_kitten(boss: Any, id_: int, kitten: Path, options: list[str]) -> None:
    """Hand window *id_* over to the kitten that forks and resumes, which shows what it will run and asks."""
    if actions.focus(boss, id_):
        boss.run_kitten_with_metadata(str(kitten), options, window=boss.window_id_map[id_])
