"""
The list of agents in kitty: an overlay window, and its channel to this process.

kitty's own kittens start slowly, because each is a kitty of its own. So the list is our program `tally agents`. Its
first picture is drawn into the window at once, from what this process knows; the program draws the same a moment later,
and continues. A panel (`panels`) is the same program in a window of its own.

Only the program has the other end of the channel. It can answer, fork, resume or show a pane in the name of the person
at the list; nothing else. (kitty's remote control over a descriptor does not serve: kitty 0.41 then serves no other
client.) The program sets a user variable when it has sent a request, so this process need not poll.
"""

from __future__ import annotations

import contextlib
import functools
import os
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from kitty.child import default_env
from kitty.fast_data_types import add_timer, remove_timer
from kitty.tab_bar import draw_attributed_string
from kitty.tabs import SpecialWindow

from tallylight.actions import request
from tallylight.actions.answer import Done
from tallylight.actions.caller import PERSON
from tallylight.actions.gate import Refusal
from tallylight.actions.once import DECIDE_S, until_decided
from tallylight.actions.request import Attach, Draw, Open, Picture, Reply, Request, Visible
from tallylight.files.program import own_command
from tallylight.hosts.kitty import actions, answering, channel, fork, screens
from tallylight.hosts.kitty import colours as kitty_colours
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.peers import Channel
from tallylight.snapshot import elsewhere, labels_file, rows
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.schema import Snapshot
from tallylight.ui import ansi, colours
from tallylight.ui.agent_list import draw, state
from tallylight.ui.agent_list.channel import AS_OF, CHANNEL, FIRST_KEY, PANEL, SELECTED
from tallylight.ui.agent_list.pictures import Sender
from tallylight.ui.agent_list.record import State

#: Programs that may attach a terminal to a detached session. The argument list comes from another process.
ATTACHERS = ("screen", "tmux")
#: Seconds between two attempts to send the rest of an answer.
RESEND_S = 0.03


@attrs.define
class _List:
    """A list on the screen."""

    host: KittyHost
    channel: Channel
    is_panel: bool = False
    #: Whether its program believes that it can be seen.
    is_seen: bool = True
    timer: int | None = None
    #: Called once the list is gone.
    then: Callable[[], Any] | None = None
    #: Its own window.
    window_id: int = 0
    #: Requests that wait, and whether one is being carried out.
    _asked: list[bytes] = attrs.Factory(list)
    _is_busy: bool = False
    pictures: Sender = attrs.Factory(Sender)

    def listen(self) -> None:
        """Carry out the requests since the last call, and answer; never wait for the other side."""
        lines = self.channel.receive()
        if lines is None:
            self.channel.close()  # it has closed, and its window will; or it is no list
            return
        self._asked += lines
        if not self._is_busy:
            self._next()

    def _next(self) -> None:
        """Carry out the oldest request; the others wait until it is decided."""
        self._is_busy = bool(self._asked)
        if self._is_busy:
            asked, _ = request.decode_request(self._asked.pop(0))
            act = functools.partial(answering.reply, "list of agents", self.act, asked)
            until_decided(act, self._reply, self._later)

    def _later(self, call: Callable[..., None]) -> None:
        """Make *call* at the next timer."""
        add_timer(self.host.guarded("list of agents", call), DECIDE_S, False)

    def _reply(self, line: bytes) -> None:
        """Send *line*, an encoded reply; then carry out the next request."""
        self.channel.unsent += line
        self._send()
        self._next()

    def notify_seen(self, is_seen: bool) -> None:
        """Pass on to its program whether it can be seen."""
        if is_seen != self.is_seen:
            self.is_seen = is_seen
            self.channel.unsent += request.encode(Visible(is_seen))
            self._send()

    def _send(self, timer: int | None = None) -> None:
        """Send as much as the socket takes; the rest in a moment."""
        self.channel.send()
        if self.channel.unsent and self.timer is None:
            self.timer = add_timer(self.host.guarded("list of agents", self._send), RESEND_S, True)
        elif not self.channel.unsent and timer is not None:
            remove_timer(timer)
            self.timer = None

    def act(self, asked: Request) -> Reply | None:
        """Carry out *asked*, at once or as soon as the list is gone."""
        match asked:
            case Attach(argv):
                return self._attach(argv)
            case Open("back"):
                return self._leave(self._back)
            case Open(verb, pane):
                return self._open(verb, kitty_windows.id_of(pane))
            case Draw(pane, has):
                return self._picture(self.host.boss.window_id_map.get(kitty_windows.id_of(pane)), has)
        return answering.perform(self.host, asked, PERSON)

    def _back(self) -> None:
        """Give the keyboard back to the window that had it before this panel."""
        own = self.host.boss.window_id_map.get(self.window_id)
        tab = own.tabref() if own is not None else None
        if tab is not None and tab.active_window is own:
            tab.nth_window(-1)

    def _leave(self, what: Callable[[], Any]) -> Done:
        """Call *what* once the list is gone; a panel stays, so call it soon."""
        if self.is_panel:
            add_timer(self.host.guarded("list of agents", lambda _: what()), 0, False)
        else:
            self.then = what
        return Done("", "")

    def _attach(self, argv: Sequence[str]) -> Done | Refusal:
        """Open a tab that shows a pane of another machine, or a detached session."""
        title = None
        if argv[:2] == ("tally", "attach") and len(argv) == 3:
            # Our program finds the command to that machine in the configuration.
            title = elsewhere.parts(argv[2])[0] or argv[2].rpartition("/")[0].rpartition(":")[2]
            argv = channel.command(self.host.command, "attach", "--hold", "--", argv[2])
        if title == "" or (title is None and (not argv or argv[0].rpartition("/")[2] not in ATTACHERS)):
            return Refusal("unreachable", "that host has no command to attach")
        return self._leave(functools.partial(self.host.boss._new_tab, SpecialWindow(list(argv), override_title=title)))

    def _open(self, verb: str, id_: int) -> Done | Refusal:
        """
        Once the list is gone, go to the window *id_*, fork or resume its session, or ask about its light, as *verb*
        says.
        """
        boss = self.host.boss
        if id_ not in boss.window_id_map or id_ not in self.host.panes:
            return answering.GONE
        if verb == "go":

            def go() -> None:
                if self.is_panel:
                    self._back()
                actions.focus(boss, id_)

            return self._leave(go)
        if verb in ("fork", "resume"):

            def hand_over() -> None:
                # The page shows what it will run, and asks.
                if actions.focus(boss, id_):
                    fork.page(self.host, id_, [f"--{verb}"])

            return self._leave(hand_over)
        return request.UNKNOWN

    def _picture(self, window: Any, has: int) -> Picture | Refusal:
        """
        Return the screen of *window* for a list that has picture number *has*; an empty picture while the list is
        hidden.
        """
        if window is None or window.id not in self.host.panes:
            return answering.GONE
        if self.window_id not in kitty_windows.visible(self.host.boss):
            return Picture(None)
        shown, columns = screens.styled_rows(window), window.screen.columns
        return Picture(self.pictures.picture(str(window.id), shown, columns, screens.cursor_of(window), has))

    def removed(self, window: Any) -> None:
        """Clean up after its window is gone."""
        del _lists[window.id]
        self.host.worker.submit("labels", _read_labels, _keep_labels)
        self.channel.close()
        if self.then is not None:
            self.then()


#: The lists by window.
_lists: dict[int, _List] = {}
#: The user's names of conversations, as of the last time that a list was opened or closed.
_labels = Labels()


def show(host: KittyHost, window_id: int, key: str = "") -> None:
    """
    Open the list over window *window_id*, or close it if that window is a list.

    With a *key* that window is selected, and the key is pressed there.
    """
    boss = host.boss
    if window_id in _lists and not _lists[window_id].is_panel:
        boss.mark_window_for_close(window_id)
        return
    window = boss.window_id_map.get(window_id)
    tab = window.tabref() if window is not None else None
    if window is None or tab is None:
        return

    def make(command: list[str], env: dict[str, str], fd: int) -> Any:
        if key:
            env |= {FIRST_KEY: key, SELECTED: f"kitty-{os.getpid()}:{window_id}"}
        special = SpecialWindow(command, override_title="Agents", env=env, cwd="/", overlay_for=window_id)
        return tab.new_special_window(special, copy_colors_from=window, pass_fds=(fd,))

    open_list(host, make)


#: Makes the window of a list from its command, its variables, and the descriptor that it inherits.
Make = Callable[[list[str], dict[str, str], int], Any]


def open_list(host: KittyHost, make: Make, *, is_panel: bool = False) -> Any:
    """Open a list in the window that *make* makes; return that window."""
    now, (panes, as_of) = time.time(), host.newest(time.monotonic())
    own = Snapshot(host="kitty", pid=os.getpid(), started=0.0, written=now, panes=panes)
    shown = rows.build([own], own.name, now, _labels)
    env = {SELECTED: shown[0].address if shown else "", AS_OF: repr(as_of)}
    words = channel.command(host.command, "panel" if is_panel else "agents")
    window, near = channel.opened(lambda fd: make(words, {CHANNEL: str(fd), **env}, fd))
    opened = _lists[window.id] = _List(host, Channel(near), is_panel=is_panel, window_id=window.id)
    window.actions_on_removal.append(opened.removed)
    host.when_left.add(_close_all)
    if is_panel:
        window.set_user_var(PANEL, "1")
    # For the next list: our command may have moved.
    host.worker.submit("list of agents", own_command, functools.partial(setattr, host, "command"))
    host.worker.submit("labels", _read_labels, _keep_labels)
    first = State(is_panel=is_panel, has_focus=not is_panel, group=_labels.group)
    _draw(window, first, shown, now, {**default_env(), "TERM": "xterm-kitty"})
    return window


def is_list(window_id: int) -> bool:
    """Return whether window *window_id* is a list or a panel."""
    return window_id in _lists


def _close_all() -> None:
    """Close every list and panel: their kitty has us no more."""
    for id_, found in list(_lists.items()):
        found.host.boss.mark_window_for_close(id_)


def receive(window: Any) -> None:
    """Schedule reading the requests of the list in *window*, if it is one: its bell has rung."""
    if (found := _lists.get(window.id)) is not None:
        # Not now: kitty's parser is calling, and the request may need it.
        add_timer(found.host.guarded("list of agents", lambda _: found.listen()), 0, False)


def notify_seen(window_id: int, is_seen: bool) -> None:
    """Pass on to the list in window *window_id* whether it can be seen."""
    if (found := _lists.get(window_id)) is not None:
        found.notify_seen(is_seen)


def _read_labels() -> Labels:
    return labels_file.read(labels_file.path(os.environ))


def _keep_labels(found: Labels) -> None:
    """Keep the labels for the next list, which reports problems with their file."""
    global _labels  # noqa: PLW0603 - one a process, as the host
    _labels = found


def _draw(window: Any, empty: State, shown: tuple[rows.Row, ...], now: float, environ: Mapping[str, str]) -> None:
    """Draw the first picture."""
    with contextlib.suppress(termios.error, OSError):
        # Keys typed from now on wait for the program, and are not echoed into the picture.
        settings = termios.tcgetattr(window.child.child_fd)
        settings[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(window.child.child_fd, termios.TCSANOW, settings)
    screen = window.screen
    first = state.refreshed(state.resized(empty, screen.columns, screen.lines), shown, now)
    profile = screen.color_profile
    ground = ansi.Ground(kitty_colours.rgb(profile.default_bg), kitty_colours.rgb(profile.default_fg))
    for number, line in enumerate(draw.draw(first)):
        screen.cursor.x, screen.cursor.y = 0, number
        draw_attributed_string(ansi.sgr(line, colours.depth(environ), ground), screen)
    screen.cursor_visible = False
