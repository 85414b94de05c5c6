"""
What scripts ask of this kitty, by the socket at which it listens: `tally read` and its neighbours.

It is all done on kitty's main thread, where nothing may wait: each tick looks who has come, and while somebody
is there, more often. Who asks is what the kernel says (`snapshot.sockets`); another user is not heard.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Sequence

import attrs
from kitty.fast_data_types import add_timer, remove_timer
from kitty.utils import log_error

from tallylight.actions.gate import Refusal
from tallylight.hosts import scripting
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.hosts.script_messages import MAX_ASKED, Told, encode
from tallylight.snapshot import sockets
from tallylight.snapshot.sockets import Peer
from tallylight.ui.agent_list.channel import CHUNK, Lines, TooLongError, read_words

#: Scripts that are heard at a time; others wait until one has gone.
MAX_CALLERS = 16
#: How often, in seconds, a script that is there is listened to, and how long one may stay that says nothing.
LISTEN_S, IDLE_S = 0.03, 10.0
_UNKNOWN = Refusal("unknown", "this kitty does not know what was asked; is it of the same version?")


@attrs.define
class _Caller:
    """One connection, since when nothing came over it, and what of its answers is not sent yet."""

    connection: socket.socket
    peer: Peer
    since: float
    heard: Lines = attrs.Factory(lambda: Lines(MAX_ASKED))
    unsent: bytes = b""

    def hear(self) -> list[bytes] | None:
        """What was asked since the last time; None if the other side has gone, or sends too much."""
        try:
            data = self.connection.recv(CHUNK)
            return self.heard.feed(data) if data else None
        except BlockingIOError:
            return []
        except (OSError, TooLongError):
            return None

    def send(self) -> bool:
        """As much as the socket takes; False if nobody is there to take it."""
        try:
            self.unsent = self.unsent[self.connection.send(self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


@attrs.define
class Scripts:
    """The scripts that are connected to *host*. Nobody can be before `opened`."""

    host: KittyHost
    _listener: socket.socket | None = None
    _callers: list[_Caller] = attrs.Factory(list)
    _timer: int | None = None

    def opened(self, result: object) -> None:
        """The socket is there, or what is wrong."""
        if isinstance(result, socket.socket):
            self._listener = result
        else:
            log_error(f"tallylight: scripts: {result}; nothing can be asked of this kitty")

    def look(self) -> None:
        """Take those who have come; what they ask is heard from now on until all have gone."""
        if self._listener is None:
            return
        while len(self._callers) < MAX_CALLERS:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                break  # nobody is there, or not any more
            connection.setblocking(False)
            who = sockets.peer(connection)
            if who is None or who.uid != os.getuid():
                connection.close()
                continue
            self._callers.append(_Caller(connection, who, time.monotonic()))
        if self._callers:
            self._listen(None)
            if self._timer is None and self._callers:
                self._timer = add_timer(self.host.guarded("scripts", self._listen), LISTEN_S, True)

    def _listen(self, _timer: int | None) -> None:
        """Hear everybody once."""
        now = time.monotonic()
        for caller in list(self._callers):
            if not self._serve(caller, now):
                self._callers.remove(caller)
                with contextlib.suppress(OSError):
                    caller.connection.close()
        if not self._callers and self._timer is not None:
            remove_timer(self._timer)
            self._timer = None

    def _serve(self, caller: _Caller, now: float) -> bool:
        """Do what *caller* asks; whether it is to be heard again."""
        if not caller.unsent:
            lines = caller.hear()
            if lines is None:
                return False
            for line in lines:
                caller.since = now
                caller.unsent += encode(self._told(read_words(line)))
        return now - caller.since < IDLE_S and (not caller.unsent or caller.send())

    def _told(self, words: Sequence[str]) -> Told:
        try:
            return self.act(words)
        except Exception as error:  # the next one may well succeed
            log_error(f"tallylight: scripts: {type(error).__name__}: {error}")
            return Refusal("failed", f"it failed: {type(error).__name__}; see kitty's log")

    def act(self, words: Sequence[str]) -> Told:
        """Do what is asked: a verb, the id of a window, and what the verb needs."""
        verb, pane = [*words, "", ""][:2]
        id_ = int(pane) if pane.isascii() and pane.isdigit() and len(pane) < 20 else 0
        window, shown = self.host.boss.window_id_map.get(id_), self.host.panes.get(id_)
        if window is None or shown is None:
            return Refusal("gone", "that pane is gone")
        typist = WindowTypist(self.host, window, shown)
        if verb == "screen" and len(words) == 2:
            return scripting.screen(typist)
        if verb == "question" and len(words) == 2:
            return self.host.once.ask(typist)
        return _UNKNOWN


def serve(host: KittyHost) -> None:
    """Let scripts ask *host* from now on."""
    scripts = Scripts(host)
    host.scripts = host.guarded("scripts", scripts.look)
    host.worker.submit("scripts", lambda: sockets.listen("kitty"), scripts.opened)
