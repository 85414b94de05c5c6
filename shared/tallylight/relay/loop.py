"""
The loop of the relay: everything the core may not do itself: read, write, wait, stop, end.

It sleeps until one of its descriptors, a signal or the core's own deadline wakes it; while nothing happens it does
not wake at all. Neither direction is read while more than `MAX_WAITING` waits to be written in it, so a terminal or a
program that does not read stops its counterpart and nobody's memory grows.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from tallylight.relay import monitor, pty, signals
from tallylight.relay.queue import Queue

#: What one turn takes from the program. The kernel hands out a terminal's bytes in pieces of at most 4 KiB.
CHUNK = 65536
_FULL_READ = 2048
#: What a program may leave behind when it ends or stops while another still writes to its terminal.
MAX_LAST_WORDS = 1 << 20
#: What one direction may hold back before it is read no further.
MAX_WAITING = 1 << 18
#: How long after a sign of life we look where the program is.
CWD_DELAY = 0.2
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Core(Protocol):
    """What decides about the bytes: `tallylight.relay.core.RelayCore`, or one that records what passes it."""

    def from_child(self, data: bytes, now: float) -> None: ...
    def from_user(self, data: bytes, now: float) -> None: ...
    def tick(self, now: float) -> None: ...
    def resized(self, now: float) -> None: ...
    def attached(self, now: float) -> None: ...
    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None: ...
    def deadline(self) -> float | None: ...
    def to_terminal(self) -> bytes: ...
    def to_child(self) -> bytes: ...


class Relay:
    """One program on its terminal, the terminal around it, and the core between them."""

    def __init__(
        self, command: list[str], outer: pty.Outer, make_core: Callable[[], Core], collected: signals.Signals
    ) -> None:
        self._outer = outer
        self._signals = collected
        self._inner, slave = pty.open_inner(outer)
        self._monitor, self._pipe = monitor.start(command, outer, (self._inner, slave), collected)
        self._core = make_core()
        self._out, self._in = Queue(outer.fd), Queue(self._inner)
        self._program = 0
        self._lines = b""
        self._status: int | None = None
        self._stops = False
        self._resync = False
        self._look: float | None = None
        self._cwd = ""
        self.refusal = 0

    def run(self) -> int:
        """Relay until the program has ended; return its wait status."""
        outer, inner = self._outer.fd, self._inner
        while not self._program and self._status is None:
            self._hear_monitor()  # so that a signal for the program finds it
        poll = select.poll()
        for fd in (self._signals.fd, self._pipe):
            poll.register(fd, select.POLLIN)
        interests = (-1, -1)
        # The size may have changed since it was copied, and then the signal came to nobody.
        pty.copy_size(outer, inner)
        while self._status is None:
            wanted = self._interests()
            if wanted != interests:
                poll.register(outer, wanted[0])
                poll.register(inner, wanted[1])
                interests = wanted
            for fd, event in poll.poll(self._timeout()):
                if fd == inner:
                    if event & select.POLLOUT:
                        self._in.write()
                    if event & select.POLLIN:
                        self._read_program()
                elif fd == outer:
                    self._serve_terminal(event)
                elif fd == self._pipe:
                    self._hear_monitor()
                else:
                    self._serve_signals()
            self._tick()
            if self._stops and not self._out.size:
                self._stop()
        self._say_goodbye()
        os.close(inner)
        return self._status

    def _interests(self) -> tuple[int, int]:
        """What to wait for at the terminal and at the program: never for more to read than can be written."""
        reads_program = self._out.size < MAX_WAITING and not self._stops
        return (
            (select.POLLIN if self._in.size < MAX_WAITING else 0) | (select.POLLOUT if self._out.size else 0),
            (select.POLLIN if reads_program else 0) | (select.POLLOUT if self._in.size else 0),
        )

    def _say_goodbye(self) -> None:
        """Write what is left, unless the terminal goes, or someone wants us gone."""
        poll = select.poll()
        poll.register(self._signals.fd, select.POLLIN)
        poll.register(self._outer.fd, select.POLLOUT)
        while self._out.size:
            for fd, event in poll.poll():
                if fd == self._signals.fd:
                    if any(self._signals.is_deadly(number) for number in self._signals.take()):
                        return
                elif event & _GONE:
                    return
                else:
                    self._out.write()

    # -- bytes -------------------------------------------------------------------------------------------------------

    def _read_program(self) -> None:
        data = self._read(self._inner)
        if data:
            now = monotonic()
            self._core.from_child(data, now)
            self._flush()
            self._see_life(now)

    def _read(self, fd: int) -> bytes:
        """What can be read now, up to about CHUNK."""
        try:
            data = os.read(fd, CHUNK)
            if len(data) < _FULL_READ:
                return data
            pieces, size = [data], len(data)
            try:
                while size < CHUNK and len(data) >= _FULL_READ:
                    data = os.read(fd, CHUNK)
                    pieces.append(data)
                    size += len(data)
            except OSError:
                pass
            return b"".join(pieces)
        except OSError:
            return b""

    def _serve_terminal(self, event: int) -> None:
        """Write to the terminal, read from it."""
        if event & _GONE:
            return self._hang_up()
        if event & select.POLLOUT:
            self._out.write()
            if self._resync and not self._out.size:
                self._resync = False
                self._core.resized(monotonic())
                self._flush()
        if event & select.POLLIN:
            try:
                data = os.read(self._outer.fd, CHUNK)
            except BlockingIOError:
                return None
            except OSError:
                data = b""
            if not data:
                return self._hang_up()
            now = monotonic()
            self._core.from_user(data, now)
            self._flush()
            self._see_life(now)
        return None

    def _flush(self) -> None:
        """Take from the core what is ready, and write of it what is taken."""
        if data := self._core.to_terminal():
            self._out.put(data)
        # Answers for a program that reads none of them are dropped in the end.
        if (data := self._core.to_child()) and self._in.size < MAX_WAITING:
            self._in.put(data)

    # -- time --------------------------------------------------------------------------------------------------------

    def _timeout(self) -> float | None:
        """Milliseconds until something is due; None if nothing is."""
        due = self._core.deadline()
        if self._out.size:
            due = None  # what is not due before the terminal reads on
        if self._look is not None and (due is None or self._look < due):
            due = self._look
        if due is None:
            return None
        return max(0.0, (due - monotonic()) * 1000 + 0.5)

    def _tick(self) -> None:
        now = monotonic()
        due = self._core.deadline()
        if due is not None and due <= now and not self._out.size:
            self._core.tick(now)
            self._flush()
        if self._look is not None and self._look <= now:
            self._look = None
            self._follow()

    def _see_life(self, now: float) -> None:
        if self._look is None:
            self._look = now + CWD_DELAY

    def _follow(self) -> None:
        """Be in the folder of the program in the foreground, where a terminal looks for it."""
        try:
            leader = os.tcgetpgrp(self._inner)
            folder = _cwd(leader) or _cwd(self._program)
            if folder and folder != self._cwd:
                os.chdir(folder)
                self._cwd = folder
        except OSError:
            pass

    # -- signals and the program's fate --------------------------------------------------------------------------------

    def _serve_signals(self, *, continued: bool = False) -> None:
        """Do what each signal asks for that has come; *continued*: SIGCONT has, if it is among them or not."""
        numbers = self._signals.take()
        if continued:
            self._resume()
        for number in numbers:
            if number == signal.SIGWINCH:
                pty.copy_size(self._outer.fd, self._inner)
                self._resize()
            elif number == signal.SIGCONT:
                if not continued:
                    self._resume()
            elif number == signal.SIGHUP and self._is_hung_up():
                self._hang_up()
            elif self._program:
                _kill(self._program, number)

    def _is_hung_up(self) -> bool:
        check = select.poll()
        check.register(self._outer.fd, 0)
        return any(event & _GONE for _, event in check.poll(0))

    def _resize(self) -> None:
        if self._out.size:
            self._resync = True
        else:
            self._core.resized(monotonic())
            self._flush()

    def _hear_monitor(self) -> None:
        data = os.read(self._pipe, 4096)
        *lines, self._lines = (self._lines + data).split(b"\n")
        for line in lines:
            kind, value = line[:1], int(line[1:])
            if kind == b"P":
                self._program = value
            elif kind == b"E":
                self.refusal = value
            elif kind == b"T":
                self._drain()
                self._stops = True
            else:
                self._end(value)
        if not data and self._status is None:
            # Killed. With the leader of its session the program has lost its terminal.
            self._end(signal.SIGKILL)

    def _end(self, status: int) -> None:
        self._program = 0
        self._drain()
        if os.WIFSIGNALED(status):
            self._core.finished(monotonic(), None, os.WTERMSIG(status))
        else:
            self._core.finished(monotonic(), os.WEXITSTATUS(status))
        self._flush()
        self._status = status
        self._stops = False
        _reap(self._monitor)

    def _drain(self) -> None:
        """Read what the program has written before it ended or stopped. The kernel has all of it by now."""
        left = MAX_LAST_WORDS
        while left > 0 and (data := self._read(self._inner)):
            left -= len(data)
            self._core.from_child(data, monotonic())
            self._flush()

    def _stop(self) -> None:
        """Stop as the program has, so that the shell around us gets its prompt; go on with it when continued."""
        self._stops = False
        self._follow()
        if signals.has_shell():
            self._outer.restore()
            signals.stop_group()
        # Once: a second SIGCONT could reach the program when it has stopped again.
        self._serve_signals(continued=True)

    def _resume(self) -> None:
        # A terminal that is gone has no modes; the next look at it will say that it is gone.
        with contextlib.suppress(termios.error):
            self._outer.enter_raw()
        pty.copy_size(self._outer.fd, self._inner)
        self._core.attached(monotonic())
        self._flush()
        _kill(self._monitor, signal.SIGCONT)

    def _hang_up(self) -> None:
        """The terminal is gone: the program's goes too when we close our end, and the kernel tells it so."""
        self._out.clear()
        if self._status is None:
            self._status = signal.SIGHUP


def _cwd(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115
    except OSError:
        return ""


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
