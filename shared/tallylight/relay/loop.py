"""
The loop of the relay: it reads, writes, waits, stops and ends, which the core does not.

It sleeps until a descriptor, a signal or the core's deadline wakes it; while nothing happens it does not wake at all.
The program is read while nothing waits for the terminal, and the terminal while at most `MAX_WAITING_BYTES` wait for
the program. So a side that does not read stops the other one, and no memory grows.
"""

from __future__ import annotations

import os
import select
import termios
from time import monotonic

from tallylight.relay import monitor, pty, signals
from tallylight.relay.queue import Queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

    from tallylight.relay.passing import Core
else:
    import _signal as signal  # without names for the numbers, which load as much again as all of this


#: The most bytes of one read, and the size of a read after which there may be more: the kernel returns up to 4 KiB.
OUTPUT_CHUNK_BYTES, _FULL_READ_BYTES = 8192, 2048
#: The most bytes that are read from the program before everything else gets a turn.
TURN_BYTES = 65536
#: The most bytes that are read when a program ends or stops while another still writes to its terminal.
MAX_LAST_BYTES = 1 << 20
#: The most bytes that may wait for the program before the terminal is read no further.
MAX_WAITING_BYTES = 1 << 18
#: The seconds from input or output to the next look at the program's directory.
CWD_DELAY_S = 0.2
#: The milliseconds for which a lazy core waits for its program's first output. An agent takes ten times as long.
FIRST_SIGN_MS = 10
_IN, _OUT = select.POLLIN, select.POLLOUT
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Relay:
    """
    One program on its terminal, the terminal around it, and the core between them.

    The core is made while the program starts. With *is_lazy* it is not made for a program that ends at once without
    output.
    """

    def __init__(
        self,
        command: list[str],
        outer: pty.Outer,
        make_core: Callable[[], Core],
        collected: signals.Signals,
        *,
        is_lazy: bool = False,
    ) -> None:
        self._outer = outer
        self._signals = collected
        self._inner, slave = pty.open_inner(outer)
        self._monitor, self._pipe = monitor.start(command, outer, (self._inner, slave), collected)
        self._make_core = make_core
        if not is_lazy:
            self._core = make_core()
        self._out, self._in = Queue(outer.fd), Queue(self._inner)
        self._polls: dict[tuple[int, int], select.poll] = {}
        self._program = 0
        self._lines = b""
        self._status: int | None = None
        self._stops = False
        self._resync = False
        self._look: float | None = None
        self._cwd = ""
        self.refusal = 0

    def __getattr__(self, name: str) -> Core:
        """Make the core when `_core` is first read."""
        if name != "_core":
            raise AttributeError(name)
        self._core = core = self._make_core()
        return core

    @property
    def _has_core(self) -> bool:
        return "_core" in vars(self)

    def run(self) -> int:
        """Relay until the program has ended; return its wait status."""
        outer, inner = self._outer.fd, self._inner
        while not self._program and self._status is None:
            self._read_monitor()  # so that a signal for the program finds it
        # The size may have changed since it was copied, before the program could get the signal.
        pty.copy_size(outer, inner)
        timeout: float | None = 0 if self._has_core else FIRST_SIGN_MS
        while self._status is None:
            for fd, event in self._poll().poll(timeout):
                if fd == inner:
                    if event & _OUT:
                        self._in.write()
                    if event & _IN:
                        self._read_program()
                elif fd == outer:
                    self._serve_terminal(event)
                elif fd == self._pipe:
                    self._read_monitor()
                else:
                    self._serve_signals()
            if self._status is None:
                timeout = self._pass_time()
            if self._stops and not self._out.size:
                self._stop()
        self._write_rest()
        os.close(inner)
        return self._status

    def _poll(self) -> select.poll:
        """Return the poll for signals, the monitor, and the present needs of both terminals; each is made once."""
        out, into = self._out.size, self._in.size
        # Nothing is read that could not be written: output without room on the terminal stays with the program.
        terminal = (_IN if into < MAX_WAITING_BYTES else 0) | (_OUT if out else 0)
        program = (0 if out or self._stops else _IN) | (_OUT if into else 0)
        poll = self._polls.get((terminal, program))
        if poll is None:
            poll = self._polls[terminal, program] = select.poll()
            wanted = {self._outer.fd: terminal, self._inner: program, self._signals.fd: _IN, self._pipe: _IN}
            for fd, events in wanted.items():
                poll.register(fd, events)
        return poll

    def _write_rest(self) -> None:
        """Write the rest, unless the terminal goes or a deadly signal comes."""
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

    def _read_program(self, *, waits: bool = True) -> int:
        """
        Pass on the program's output, about `TURN_BYTES` at most; return the number of bytes.

        Each piece is written as it is read, so that program, relay and terminal work in parallel. With *waits* the next
        one is read only once the terminal has taken the last.
        """
        size, now = 0, monotonic()
        while size < TURN_BYTES and not (waits and self._out.size):
            try:
                data = os.read(self._inner, OUTPUT_CHUNK_BYTES)
            except OSError:
                break  # nothing more; or no process has that terminal open any more
            self._core.from_child(data, now)
            self._flush()
            size += len(data)
            if len(data) < _FULL_READ_BYTES:
                break
        if size and self._look is None:
            self._look = now + CWD_DELAY_S
        return size

    def _serve_terminal(self, event: int) -> None:
        """Write to the terminal and read from it, as *event* allows."""
        if event & _GONE:
            return self._hang_up()
        if event & _OUT:
            self._out.write()
            if self._resync and not self._out.size:
                self._resync = False
                self._core.resized(monotonic())
                self._flush()
        if event & _IN:
            try:
                data = os.read(self._outer.fd, OUTPUT_CHUNK_BYTES)
            except BlockingIOError:
                return None
            except OSError:
                data = b""
            if not data:
                return self._hang_up()
            now = monotonic()
            self._core.from_user(data, now)
            self._flush()
            if self._look is None:
                self._look = now + CWD_DELAY_S
        return None

    def _flush(self) -> None:
        """Write the core's output to terminal and program; a queue keeps the rest."""
        if data := self._core.to_terminal():
            self._out.put(data)
        # Answers for a program that reads none of them are dropped in the end.
        if (data := self._core.to_child()) and self._in.size < MAX_WAITING_BYTES:
            self._in.put(data)

    # -- time --------------------------------------------------------------------------------------------------------

    def _pass_time(self) -> float | None:
        """Do all that is due; return the milliseconds until the next deadline, or None if there is none."""
        now = monotonic()
        due = self._core.deadline()
        if due is not None and due <= now and not self._out.size:
            self._core.tick(now)
            self._flush()
            due = self._core.deadline()
        if self._look is not None and self._look <= now:
            self._look = None
            self._follow()
        if self._out.size:
            due = None  # the core waits until the terminal reads on
        if self._look is not None and (due is None or self._look < due):
            due = self._look
        return None if due is None else max(0.0, (due - now) * 1000 + 0.5)

    def _follow(self) -> None:
        """Change to the directory of the program in the foreground: a terminal asks this process for it."""
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
        """Act on each signal that has come. *continued*: SIGCONT has come, even if it is not among them."""
        numbers = self._signals.take()
        if continued:
            self._resume()
        for number in numbers:
            if number == signal.SIGWINCH:
                pty.copy_size(self._outer.fd, self._inner)
                if self._out.size:
                    self._resync = True
                else:
                    self._core.resized(monotonic())
                    self._flush()
            elif number == signal.SIGCONT:
                if not continued:
                    self._resume()
            else:
                check = select.poll()
                check.register(self._outer.fd, 0)
                if number == signal.SIGHUP and any(event & _GONE for _, event in check.poll(0)):
                    self._hang_up()
                elif self._program:
                    _kill(self._program, number)

    def _read_monitor(self) -> None:
        """Act on the reports of the monitor: the program was started, has stopped, or has ended."""
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
            # The monitor was killed. With the leader of its session the program has lost its terminal.
            self._end(signal.SIGKILL)

    def _end(self, status: int) -> None:
        """Pass on the last output, and have the core write its last reports; the program ended with *status*."""
        self._program = 0
        self._drain()
        if self._has_core:
            if os.WIFSIGNALED(status):
                self._core.finished(monotonic(), None, os.WTERMSIG(status))
            else:
                self._core.finished(monotonic(), os.WEXITSTATUS(status))
            self._flush()
        self._status = status
        self._stops = False
        with pty.ignoring(ChildProcessError):
            os.waitpid(self._monitor, 0)

    def _drain(self) -> None:
        """Read all output from before the program ended or stopped. The kernel has it by now."""
        left = MAX_LAST_BYTES
        while left > 0 and (size := self._read_program(waits=False)):
            left -= size

    def _stop(self) -> None:
        """Stop like the program, so that the shell around us gets its prompt; go on when continued."""
        self._stops = False
        self._follow()
        if signals.has_shell():
            self._outer.restore()
            signals.stop_group()
        # SIGCONT is sent once: a second one could reach the program when it has stopped again.
        self._serve_signals(continued=True)

    def _resume(self) -> None:
        """Take the terminal again after a stop, send everything again, and continue the program."""
        # A terminal that is gone has no modes; the next read from it will fail.
        with pty.ignoring(termios.error):
            self._outer.enter_raw()
        pty.copy_size(self._outer.fd, self._inner)
        self._core.resized(monotonic())
        self._flush()
        _kill(self._monitor, signal.SIGCONT)

    def _hang_up(self) -> None:
        """End, for the terminal is gone: when we close the program's one, the kernel signals that."""
        self._out.clear()
        if self._status is None:
            self._status = signal.SIGHUP


def _cwd(pid: int) -> str:
    """Return the working directory of the process *pid*; empty if it cannot be read."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115
    except OSError:
        return ""


def _kill(pid: int, number: int) -> None:
    with pty.ignoring(OSError):
        os.kill(pid, number)
