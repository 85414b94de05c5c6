"""
A pane of tmux or GNU Screen, for `actions.answer` and `actions.say`: its screen and its keyboard.

Both panes read the process table again: the pane's leader, the foreground group of its terminal, and its program. They
compare the screen once more before they type. tmux does so in the command that types (`hosts.tmux.guard`): output that
tmux has not read yet is missed. Screen has no such command, so some milliseconds pass between the comparison and the
typing. If a program draws another question just then, it gets the keys that were meant for this one.
"""

from __future__ import annotations

import re
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs

from tallylight.actions.answer import Seen
from tallylight.actions.gate import Refusal
from tallylight.evidence.foreground import Identity
from tallylight.files.program import StuckError, run
from tallylight.hosts.gnu_screen.source import ScreenSource
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.tmux import guard
from tallylight.hosts.tmux.pane_list import SCREENS, TARGET, QueryFormat, Target
from tallylight.hosts.tmux.server import run_tmux
from tallylight.model.errors import SessionError
from tallylight.pane.pane import Look
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import StyledScreen
from tallylight.wire.styled import read_screen as read_styled

#: A Screen that does not execute a command within so many seconds hangs.
TAKEN_S = 2.0
#: The register that holds the text. Screen's own commands use `.` and those that a person names.
_REGISTER = "~"
_TARGET = re.compile(r"\$[0-9]+:@[0-9]+\.(%[0-9]+)\Z")
_ADDRESS = re.compile(r"[0-9]+\.[^\0\n]{1,512}\Z")
_GONE = Refusal("gone", "that pane is gone; nothing was typed")
#: Keys that tmux has a name for: it sends them in the program's cursor key mode.
_TMUX_KEYS = {
    "\r": "Enter", "\x1b": "Escape", "\t": "Tab", "\x1b[Z": "BTab", "\x03": "C-c",
    "\x1b[A": "Up", "\x1b[B": "Down", "\x1b[C": "Right", "\x1b[D": "Left",
}  # fmt: skip
_NAMED = re.compile("(" + "|".join(map(re.escape, sorted(_TMUX_KEYS, key=len, reverse=True))) + ")")
#: The text that tmux prints after it has typed.
_TYPED = "typed"
_T = TypeVar("_T")
#: Returns the program in the foreground of a process's terminal, read again at each call; a title may add to it.
Holder = Callable[[int, str], Identity]


@attrs.define
class TmuxPane:
    """
    The pane *target* (`%3`) of the tmux server at *socket*, with its *entry* in a snapshot.

    *holder* returns the program in the foreground of a process's terminal.
    """

    entry: Pane
    socket: str
    target: str
    holder: Holder
    env: Mapping[str, str]
    #: Whether this tmux can look for a row on the screen, as of the last look.
    _finds: bool = False

    def see(self) -> Seen | Refusal:
        """Read the screen and the state of the pane with one command; refuse if it cannot be typed into."""
        found = self._look()
        if found is None:
            return _GONE
        target, look = found
        self._finds = target.finds
        if not target.has_keys:
            return Refusal("mode", "that pane is in copy mode, or its input is off; nothing was typed")
        if target.is_synchronized:
            return Refusal("synchronized", "input of that pane also goes to other panes; nothing was typed")
        return Seen.of(self.entry, self.holder(target.pid, target.title), look, takes_paste=target.takes_paste)

    def screen(self) -> StyledScreen:
        found = self._look("-e")
        if found is None:
            raise SessionError("the session is gone")
        look = found[1]
        cursor = (look.cursor_row, look.cursor_column) if look.cursor_visible else None
        return read_styled(look.lines, look.columns, len(look.lines), cursor)

    def _look(self, *how: str) -> tuple[Target, Look] | None:
        """
        Return the state of the pane and its screen, read with the options *how* of `capture-pane`; None if it is gone.
        """
        form = QueryFormat(secrets.token_hex(8))
        command = [
            *("capture-pane", "-p", *how, "-t", self.target, ";"),
            *("display-message", "-p", "-t", self.target, form.ask(SCREENS), ";"),
            *("display-message", "-p", "-t", self.target, form.ask(TARGET)),
        ]
        done = or_session_error(lambda: run_tmux(self.socket, self.env, *command))
        text = done.output.decode("utf-8", "surrogateescape") if done is not None else ""
        target, look = form.read_target(text), form.read_screens(text).get(self.target)
        if target is None or look is None or self.entry.id != f"tmux/{target.server}/{target.id}":
            return None
        return target, look

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        """Press *keys* with one command: special keys by their names, other text literally."""
        send = ["send-keys", "-t", self.target]
        parts = filter(None, _NAMED.split(keys))
        commands = [[*send, _TMUX_KEYS[part]] if part in _TMUX_KEYS else [*send, "-l", "--", part] for part in parts]
        return self._type(commands, seen)

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """Paste *text* through a buffer of its own, filled from standard input: no argument list shows the text."""
        name = f"tallylight-{secrets.token_hex(8)}"
        tmux_output(self.socket, self.env, "load-buffer", "-b", name, "-", given=text.encode())
        commands = [["paste-buffer", "-p", "-d", "-b", name, "-t", self.target]]
        commands += [["send-keys", "-t", self.target, "Enter"]] if enter else []
        is_typed = self._type(commands, seen)
        if not is_typed:
            tmux_output(self.socket, self.env, "delete-buffer", "-b", name)
        return is_typed

    def _type(self, commands: Sequence[Sequence[str]], seen: Seen | None) -> bool:
        """Run *commands*; with *seen*, tmux compares the screen with it in the same step. Return whether they ran."""
        if seen is None or not self._finds:
            words = [word for command in commands for word in (";", *map(argument, command))]
            tmux_output(self.socket, self.env, *words[1:])
            return True
        then = guard.one_argument([*commands, ["display-message", "-p", _TYPED]])
        said = tmux_output(
            self.socket, self.env, "if-shell", "-F", "-t", self.target, guard.screen_condition(seen.look), then
        )
        return said.strip() == _TYPED

    def close(self) -> None:
        """Close the pane; if it is the last one of its window, the window closes too."""
        tmux_output(self.socket, self.env, "kill-pane", "-t", self.target)


def tmux_output(socket: str, env: Mapping[str, str], *command: str, given: bytes | None = None) -> str:
    """
    Return the output of *command*, run by the tmux server at *socket* with *given* as input; raise `SessionError` if it
    fails.
    """
    done = or_session_error(lambda: run_tmux(socket, env, *command, given=given))
    if done is None or done.code != 0:
        raise SessionError("tmux refused, or the session is gone")
    return done.output.decode("utf-8", "replace")


def argument(text: str) -> str:
    """Return *text* as an argument for tmux, where a `;` at the end would end the command."""
    return f"{text[:-1]}\\;" if text.endswith(";") else text


@attrs.define
class ScreenPane:
    """
    The window *window* of the GNU Screen session *address*, with its *entry* in a snapshot.

    *holder* is as in `TmuxPane`. *lock* makes sure that only one thread at a time uses the register.
    """

    entry: Pane
    address: str
    window: str
    screens: ScreenSource
    holder: Holder
    env: Mapping[str, str]
    lock: threading.Lock

    def see(self) -> Seen | Refusal:
        """Read the screen with a hardcopy, and the program from the process table."""
        with self.lock:
            source_pane, look = self._look()
        if source_pane is None or look is None or screen_target(source_pane.attach) != (self.address, self.window):
            return _GONE
        return Seen.of(self.entry, self.holder(source_pane.leader, ""), look)

    def screen(self) -> StyledScreen:
        """Return the screen; a hardcopy has no colours."""
        with self.lock:
            _, look = self._look()
        if look is None:
            raise SessionError("the session is gone")
        cursor = (look.cursor_row, look.cursor_column) if look.cursor_visible else None
        return read_styled(look.lines, look.columns, cursor=cursor)

    def _look(self) -> tuple[SourcePane | None, Look | None]:
        """Read the window and its screen again, with the lock held; each is None if it is gone."""
        found = or_session_error(self.screens.look) or ()
        source_pane = next((source_pane for source_pane in found if source_pane.id == self.entry.id), None)
        read = source_pane.read if source_pane is not None else None
        return source_pane, or_session_error(read) if read is not None else None

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        r"""Press *keys*, passed in a file: Screen's `stuff` would interpret `^`, `\\` and `$`."""
        parent = writer.checked_directory(writer.directory(self.env), create=True)
        with self.lock, tempfile.TemporaryDirectory(prefix="typed-", dir=parent) as folder:
            file, read = Path(folder, "text"), Path(folder, "read")
            file.write_bytes(keys.encode())
            self._command("readreg", _REGISTER, str(file))
            # As late as possible: only one command follows.
            if seen is not None and self._look()[1] != seen.look:
                return False
            self._command("paste", _REGISTER)
            # Screen runs commands in order: once this one is done, the file may be deleted.
            self._command("hardcopy", str(read))
            end = time.monotonic() + TAKEN_S
            while not read.exists():
                if time.monotonic() > end:
                    raise SessionError("screen does not answer")
                time.sleep(0.01)
        return True

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """Paste *text* as keys: Screen has no bracketed paste."""
        return self.press(f"{text}\r" if enter else text, seen)

    def close(self) -> None:
        self._command("kill")

    def _command(self, *command: str) -> None:
        done = or_session_error(
            lambda: run(["screen", "-S", self.address, "-p", self.window, "-X", *command], self.env)
        )
        if done is None or done.code != 0:
            raise SessionError("the session is gone")


def tmux_target(attach: Sequence[str]) -> tuple[str, str] | None:
    """Return the socket and the pane in the argument list *attach*; None if that is not one of tmux."""
    match attach:
        case ("tmux", "-S", socket, "attach-session", "-t", target) if socket.startswith("/"):
            found = _TARGET.match(target)
            return (socket, found[1]) if found is not None else None
    return None


def screen_target(attach: Sequence[str]) -> tuple[str, str] | None:
    """Return the session and the window in *attach*; None if that is not one of GNU Screen."""
    match attach:
        case ("screen", "-r" | "-x", address, "-p", window) if _ADDRESS.match(address) and window.isdecimal():
            return address, window
    return None


def names_pane(attach: Sequence[str]) -> bool:
    """Return whether the argument list *attach* names a pane of tmux or GNU Screen."""
    return (tmux_target(attach) or screen_target(attach)) is not None


def or_session_error(call: Callable[[], _T]) -> _T:
    """Return the result of *call*; raise `SessionError` if a program hangs."""
    try:
        return call()
    except StuckError as error:
        raise SessionError(f"{error} does not answer") from None
