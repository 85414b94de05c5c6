"""
A control client of one session of a tmux server: queries without starting programs, and gets changes and output.
https://man.openbsd.org/tmux.1#CONTROL_MODE

Attaching changes nothing for the session's user: the client has no size, passes no environment and sends no keys. It
attaches only where a person is attached, and leaves when they do: `tmux attach` and `destroy-unattached` treat an
attached session differently.

The output of panes neither slows the server nor makes it grow. Unwanted output is paused, never turned `off`: without
another client, tmux would stop reading the pane, and its program would block. tmux itself pauses output that we have
not read after three seconds. A shorter limit would lose reports on a busy machine.
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
from tallylight.hosts.tmux.ear import LISTENING_PAUSE_MAX_S, LISTENING_PAUSE_S, Ears
from tallylight.model.limits import MAX_PANES

FLAGS = "read-only,ignore-size,pause-after=3"


class ControlClient:
    """
    A client attached to the session *session_id* of the server at *socket*; *changed* is called on its own thread.

    *ears* get the output of that session's panes. OSError if tmux cannot be started.
    """

    def __init__(
        self, socket: str, session_id: str, env: Mapping[str, str], changed: Callable[[], None], ears: Ears
    ) -> None:
        self._changed, self._ears = changed, ears
        self._reader = ControlReader(session_id)
        self._replies: Mailbox[Reply | None] = Mailbox()
        #: For each unanswered command, whether a caller waits for its reply. Attaching is the first one.
        self._sent = deque([True])
        self._lock, self._writing = threading.Lock(), threading.Lock()
        #: Paused panes and the end of each pause; how long the last pause was, and when it ended.
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
        """Return the reply to *command*; None if it fails. Raise `StuckError`, and close, if there is none in time."""
        with self._lock:
            try:
                self._send(command, is_awaited=True)
                reply = self._next()
            except (OSError, ValueError, StuckError):
                self.close()
                raise StuckError("tmux") from None
            return None if reply.is_error else reply.text

    def end_pauses(self) -> None:
        """Read the output of panes again once their pause is over."""
        now = time.monotonic()
        for pane in [pane for pane, until in list(self._paused.items()) if now >= until]:
            self._rested[pane] = self._rested.get(pane, (0.0, 0.0))[0], now
            del self._paused[pane]
            self._flow(pane, "continue")

    def _flow(self, pane: str, state: str) -> None:
        """Ask tmux to continue or pause the output of *pane*, by *state*."""
        with contextlib.suppress(OSError, ValueError, StuckError):
            self._send(["refresh-client", "-A", f"{pane}:{state}"], is_awaited=False)

    def _send(self, command: Sequence[str], *, is_awaited: bool) -> None:
        """Send *command*; its reply goes to a caller if *is_awaited*, else it is dropped."""
        with self._writing:
            if self.is_over or self._child.stdin is None:
                raise StuckError("tmux")
            self._sent.append(is_awaited)
            self._child.stdin.write((" ".join(map(quote, command)) + "\n").encode("utf-8", "surrogateescape"))
            self._child.stdin.flush()

    def _next(self) -> Reply:
        """Return the next awaited reply; raise `StuckError` if it takes too long."""
        try:
            reply = self._replies.get(RUN_S)
        except queue.Empty:
            reply = None
        if reply is None:
            raise StuckError("tmux")
        return reply

    def _read(self) -> None:
        """Read lines until tmux ends: pass on replies, changes and output. Runs on a thread of its own."""
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
        """Pass *output* to the ears; pause the pane if it has written too much."""
        now = time.monotonic()
        if self.is_over:
            return
        if output.data is None:
            self._lose(output.pane, now)
        # A paused pane still had output on its way.
        elif output.pane not in self._paused and not self._ears.hear(self, output.pane, output.data, now):
            self._lose(output.pane, now)
            self._flow(output.pane, "pause")

    def _lose(self, pane: str, now: float) -> None:
        """Pause *pane*, for twice as long if it was paused a short time ago, and withdraw its reports."""
        length, again = self._rested.pop(pane, (0.0, 0.0))
        length = min(2 * length, LISTENING_PAUSE_MAX_S) if now - again < length else LISTENING_PAUSE_S
        if len(self._rested) >= MAX_PANES:
            self._rested.clear()
        self._paused[pane], self._rested[pane] = now + length, (length, now)
        self._ears.lost(self, pane)

    def close(self) -> None:
        """Detach: a control client does so at the end of its input."""
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
    """Return *word* quoted for tmux's command parser; within single quotes all characters are literal."""
    return "'" + word.replace("\n", " ").replace("'", "'\\''") + "'"
