"""
A control client of one tmux server: asks it without starting a program, and hears of changes.
https://man.openbsd.org/tmux.1#CONTROL_MODE

It is attached in a way that changes nothing for the session's person: it has no size, gets no output, hands
on no environment and sends no keys. It is only ever attached where a person is, and leaves when they do, because a
session that is attached is treated otherwise by `tmux attach` and by `destroy-unattached`.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from tallylight.files.program import PATIENCE_S, StuckError
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.tmux.control_protocol import ControlReader, Notice, Reply

FLAGS = "read-only,ignore-size,no-output"


class ControlClient:
    """
    Attached to the session *session_id* of the server at *socket*; *changed* is called on a thread of its own.

    OSError if tmux cannot be started.
    """

    def __init__(self, socket: str, session_id: str, env: Mapping[str, str], changed: Callable[[], None]) -> None:
        self._changed = changed
        self._replies: Mailbox[Reply | None] = Mailbox()
        self._lock = threading.Lock()
        self.is_over = False
        argv = ["tmux", "-u", "-S", socket, "-C", "attach-session", "-E", "-f", FLAGS, "-t", session_id]
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(env)
        )
        threading.Thread(target=self._read, name="tallylight-tmux", daemon=True).start()
        # The attaching is itself answered.
        try:
            if self._next().is_error:
                raise StuckError("tmux")
        except StuckError:
            self.close()
            raise

    def ask(self, command: Sequence[str]) -> str | None:
        """The answer to *command*; None if it fails. `StuckError` if there is none in time: then all is over."""
        with self._lock:
            if self.is_over or self._child.stdin is None:
                raise StuckError("tmux")
            try:
                self._child.stdin.write((" ".join(map(quote, command)) + "\n").encode("utf-8", "surrogateescape"))
                self._child.stdin.flush()
                reply = self._next()
            except (OSError, ValueError, StuckError):
                self.close()
                raise StuckError("tmux") from None
            return None if reply.is_error else reply.text

    def _next(self) -> Reply:
        try:
            reply = self._replies.get(PATIENCE_S)
        except queue.Empty:
            reply = None
        if reply is None:
            raise StuckError("tmux")
        return reply

    def _read(self) -> None:
        reader = ControlReader()
        assert self._child.stdout is not None
        try:
            for line in self._child.stdout:
                found = reader.line(line.decode("utf-8", "surrogateescape").rstrip("\n"))
                if isinstance(found, Reply):
                    self._replies.put(found)
                elif found is Notice.CHANGE:
                    self._changed()
                elif found is Notice.END:
                    break
        except (OSError, ValueError):
            pass
        self.is_over = True
        self._replies.put(None)
        self._changed()

    def close(self) -> None:
        """Detach, which is what the end of its input makes a control client do."""
        self.is_over = True
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
