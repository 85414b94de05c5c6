"""
A control client of one session of a tmux server: asks without starting a program, and hears of changes and of output.
https://man.openbsd.org/tmux.1#CONTROL_MODE

It is attached in a way that changes nothing for the session's person: it has no size, hands on no environment and
sends no keys. It is only ever attached where a person is, and leaves when they do, because a session that is attached
is treated otherwise by `tmux attach` and by `destroy-unattached`.

The output of panes never slows the server, nor makes it grow. What is not wanted is paused, never turned `off`: with
nobody else attached tmux would stop reading a pane that is off, and its program would stand still. What we have not
read after three seconds tmux pauses itself: sooner, a busy machine would lose reports.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from tallylight.files.program import RUN_S, StuckError
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.tmux.control_protocol import ControlReader, Notice, Output, Reply
from tallylight.hosts.tmux.ear import LONG_PAUSE_S, PAUSE_S, Ears
from tallylight.model.limits import MAX_PANES

FLAGS = "read-only,ignore-size,pause-after=3"


class ControlClient:
    """
    Attached to the session *session_id* of the server at *socket*; *changed* is called on a thread of its own.

    *ears* hear what the panes of that session write. OSError if tmux cannot be started.
    """

    def __init__(
        self, socket: str, session_id: str, env: Mapping[str, str], changed: Callable[[], None], ears: Ears
    ) -> None:
        self._changed, self._ears = changed, ears
        self._reader = ControlReader(session_id)
        self._replies: Mailbox[Reply | None] = Mailbox()
        #: Of each command that was not answered yet, whether somebody waits for the reply. The attaching is one.
        self._sent = deque([True])
        self._lock, self._writing = threading.Lock(), threading.Lock()
        #: The panes that are paused, and until when; and how long each was last, and when it was heard again.
        self._paused: dict[str, float] = {}
        self._rested: dict[str, tuple[float, float]] = {}
        self.is_over = False
        argv = ["tmux", "-u", "-S", socket, "-C", "attach-session", "-E", "-f", FLAGS, "-t", session_id]
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(env)
        )
        threading.Thread(target=self._read, name="tallylight-tmux", daemon=True).start()
        try:
            if self._next().is_error:
                raise StuckError("tmux")
        except StuckError:
            self.close()
            raise

    def ask(self, command: Sequence[str]) -> str | None:
        """The answer to *command*; None if it fails. `StuckError` if there is none in time: then all is over."""
        with self._lock:
            try:
                self._send(command, is_awaited=True)
                reply = self._next()
            except (OSError, ValueError, StuckError):
                self.close()
                raise StuckError("tmux") from None
            return None if reply.is_error else reply.text

    def hear_again(self) -> None:
        """Have the panes heard again that were paused long enough."""
        now = time.monotonic()
        for pane in [pane for pane, until in list(self._paused.items()) if now >= until]:
            self._rested[pane] = self._rested.get(pane, (0.0, 0.0))[0], now
            del self._paused[pane]
            self._flow(pane, "continue")

    def _flow(self, pane: str, state: str) -> None:
        with contextlib.suppress(OSError, ValueError, StuckError):
            self._send(["refresh-client", "-A", f"{pane}:{state}"], is_awaited=False)

    def _send(self, command: Sequence[str], *, is_awaited: bool) -> None:
        with self._writing:
            if self.is_over or self._child.stdin is None:
                raise StuckError("tmux")
            self._sent.append(is_awaited)
            self._child.stdin.write((" ".join(map(quote, command)) + "\n").encode("utf-8", "surrogateescape"))
            self._child.stdin.flush()

    def _next(self) -> Reply:
        try:
            reply = self._replies.get(RUN_S)
        except queue.Empty:
            reply = None
        if reply is None:
            raise StuckError("tmux")
        return reply

    def _read(self) -> None:
        assert self._child.stdout is not None
        try:
            for line in self._child.stdout:
                found = self._reader.line(line.decode("utf-8", "surrogateescape").rstrip("\n"))
                if isinstance(found, Output):
                    self._hear(found)
                elif isinstance(found, Reply):
                    if not self._sent or self._sent.popleft():
                        self._replies.put(found)
                elif found is Notice.CHANGE:
                    self._changed()
                elif found is Notice.END:
                    break
        except (OSError, ValueError):
            pass
        self.is_over = True
        self._ears.leave(self)
        self._replies.put(None)
        self._changed()

    def _hear(self, output: Output) -> None:
        now = time.monotonic()
        if self.is_over:
            return
        if output.data is None:
            self._lose(output.pane, now)
        # Some of one that is paused was on its way.
        elif output.pane not in self._paused and not self._ears.hear(self, output.pane, output.data, now):
            self._lose(output.pane, now)
            self._flow(output.pane, "pause")

    def _lose(self, pane: str, now: float) -> None:
        length, again = self._rested.pop(pane, (0.0, 0.0))
        length = min(2 * length, LONG_PAUSE_S) if now - again < length else PAUSE_S
        if len(self._rested) >= MAX_PANES:
            self._rested.clear()
        self._paused[pane], self._rested[pane] = now + length, (length, now)
        self._ears.lost(self, pane)

    def close(self) -> None:
        """Detach, which is what the end of its input makes a control client do."""
        self.is_over = True
        self._ears.leave(self)
        with contextlib.suppress(OSError, ValueError):
            if self._child.stdin is not None:
                self._child.stdin.close()
        try:
            self._child.wait(0.5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


def quote(word: str) -> str:
    """*word* as tmux's command parser reads it back: in single quotes nothing means anything."""
    return "'" + word.replace("\n", " ").replace("'", "'\\''") + "'"
