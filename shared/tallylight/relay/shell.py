"""
The shell of the relay: whether there is anything to relay, a program on a terminal of its own, and its end as ours.

The terminal around us is restored on every way out. Where nothing is to be relayed this process becomes the program.
"""

from __future__ import annotations

import os
import sys

from tallylight.relay import monitor, pty, signals
from tallylight.relay.loop import Relay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tallylight.relay.passing import Core


def steps_aside() -> bool:
    """Whether this process has nothing to relay: it is configured not to, or it runs inside a relay already."""
    mark = os.environ.get(monitor.MARKER, "")
    if mark == "0":
        return True
    try:
        return bool(mark) and mark == monitor.marker(0)
    except OSError:
        return False


def execute(command: list[str]) -> int:
    """Become *command*; the exit code if that is not possible."""
    try:
        monitor.execute(command, monitor.program_environment())
    except OSError as error:
        return monitor.refused(command[0], error)


def run(command: list[str], outer: pty.Outer, make_core: Callable[[], Core], *, is_lazy: bool = False) -> int:
    """
    Run *command* on a terminal of its own, with a core between it and *outer*; return its exit code.

    The core is made while the program starts; one that *is_lazy* not for a program that is over at once and has said
    nothing. Where the program died of a signal, so does this process.
    """
    collected = signals.Signals()
    try:
        outer.enter_raw()
        relay = Relay(command, outer, make_core, collected, is_lazy=is_lazy)
        status = relay.run()
    finally:
        outer.close()
        collected.close()
    if relay.refusal:
        return monitor.refused(command[0], OSError(relay.refusal, ""))
    if os.WIFSIGNALED(status):
        sys.stdout.flush()
        signals.die(os.WTERMSIG(status))
    return os.WEXITSTATUS(status)
