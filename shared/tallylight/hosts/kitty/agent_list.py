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

from tallylight.actions import fork
from tallylight.actions.answer import Answer, Done, Holder, Question
from tallylight.actions.given import Later, given_of
from tallylight.actions.say import Busy, Say
from tallylight.hosts.kitty import actions, answering, queue, screens
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.own_code import own_code
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.snapshot import elsewhere, labels_file, rows
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.schema import Snapshot
from tallylight.ui import ansi, colours
from tallylight.ui.agent_list import draw, state
from tallylight.ui.agent_list.carrying import carried, examined
from tallylight.ui.agent_list.channel import (
    AS_OF,
    CHANNEL,
    CHUNK,
    MAX_WORDS,
    PANEL,
    SELECTED,
    Lines,
    Picture,
    Seen,
    TooLongError,
    answer_to,
    read_words,
    word_of,
)
from tallylight.ui.agent_list.pictures import Sender
from tallylight.ui.agent_list.record import State
from tallylight.ui.agent_list.selection import Act
from tallylight.wire.values import is_number

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
    heard: Lines = attrs.Factory(lambda: Lines(MAX_WORDS))
    unsent: bytes = b""
    #: What to do when it has gone.
    then: Callable[[], object] | None = None
    #: Its own window.
    window_id: int = 0
    pictures: Sender = attrs.Factory(Sender)

    def listen(self) -> None:
        """Do what was asked since the last time, and answer; never wait for the other side."""
        try:
            lines = self.heard.feed(self.channel.recv(CHUNK))
        except BlockingIOError:
            return  # nothing was asked
        except (OSError, TooLongError):
            self.close()  # it has gone, and its window will; or it is no list
            return
        for line in lines:
            self.unsent += self._answer(line)
        self._send()

    def _answer(self, line: bytes) -> bytes:
        try:
            return answer_to(self.act(read_words(line)))
        except Exception as error:  # the next one may well succeed
            log_error(f"tallylight: list of agents: {type(error).__name__}: {error}")
            return answer_to(f"it failed: {type(error).__name__}; see kitty's log")

    def tell_seen(self, is_seen: bool) -> None:
        """Tell its program whether it can be seen."""
        if is_seen != self.is_seen:
            self.is_seen = is_seen
            self.unsent += word_of(Seen(is_seen))
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

    def _do(self, what: Callable[[], object]) -> str:
        """Have it done: a list goes first, a panel stays."""
        if self.is_panel:
            add_timer(self.host.guarded("list of agents", lambda _: _call(what)), 0, False)
        else:
            self.then = what
        return ""

    def act(self, words: Sequence[str]) -> str | Question | Holder | Busy | Picture:
        """
        Do what is asked: a verb, the id of a window, and what the verb needs.

        Returns nothing when it is done, or will be as soon as the list is gone; else what to tell the person; or what
        they asked to see: a question, a screen, the agent that takes text.
        """
        boss, (verb, *rest) = self.host.boss, [*words, "", ""]
        if verb == "attach" and len(words) == 4 and words[1:3] == ["tally", "attach"]:
            # Of another machine: which command leads there, our own program finds in the configuration.
            if not (machine := elsewhere.parts(words[3])[0]):
                return "that host does not say how to attach"
            argv = command(self.host.command, "attach", "--hold", "--", words[3])
            there = SpecialWindow(argv, override_title=machine)
            return self._do(functools.partial(boss._new_tab, there))
        if verb == "attach":
            if len(words) < 2 or words[1].rpartition("/")[2] not in ATTACHERS:
                return "that host does not say how to attach"
            return self._do(functools.partial(boss._new_tab, SpecialWindow(list(words[1:]))))
        if verb == "back":
            own = boss.window_id_map.get(self.window_id)
            tab = own.tabref() if own is not None else None
            return self._do(functools.partial(tab.nth_window, -1)) if tab is not None else ""
        id_ = kitty_windows.id_of(rest[0])
        window, pane = boss.window_id_map.get(id_), self.host.panes.get(id_)
        if window is None or pane is None:
            return "that pane is gone"
        if verb == "go":
            return self._do(functools.partial(actions.focus, boss, id_))
        if verb in ("fork", "resume"):
            options = ["--resume"] if verb == "resume" else []
            return self._do(functools.partial(_run_kitten, boss, id_, self.kittens / "fork.py", options))
        if verb == "screen":
            return self._picture(window, rest[1])
        typist = WindowTypist(self.host, window, pane)
        if verb == "look":
            found = self.host.once.ask(typist)
            return found if isinstance(found, Question) else found.text
        if verb == "examine" and rest[1] in (Act.INTERRUPT.value, Act.CLOSE.value):
            held = examined(Act(rest[1]), typist, self.host.once)
            return held if isinstance(held, Holder) else held.text
        if verb in (Act.INTERRUPT.value, Act.CLOSE.value) and len(words) == 4:
            if not all(is_number(word, 23) for word in words[2:]):
                return "a list cannot ask for that"
            did = carried(Act(verb), typist, self.host.once, words[1], int(words[2]), int(words[3]))
            return "" if isinstance(did, Done) else did.text
        if verb == "taker":
            taker = self.host.once.taker(typist)
            return taker if isinstance(taker, Holder | Busy) else taker.text
        if verb == "unqueue":
            pane.queue(None)
            return ""
        match given_of(words):
            case Later() as later:
                refused = queue.put(typist, later)
                return refused.text if refused is not None else ""
            case Say() as text:
                done = self.host.once.say(typist, text)
                return "" if isinstance(done, Done) else done.text
            case Answer() as answer:
                return answering.answer(typist, answer).text
        return "a list cannot ask for that"

    def _picture(self, window: Any, has: str) -> Picture:
        """What stands on *window*, for a list that has the picture number *has*; nothing while nobody sees the list."""
        if self.window_id not in kitty_windows.visible(self.host.boss):
            return Picture(None)
        number = int(has) if is_number(has, 15) else 0
        shown, columns = screens.styled_rows(window), window.screen.columns
        return Picture(self.pictures.picture(str(window.id), shown, columns, screens.cursor_of(window), number))

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
