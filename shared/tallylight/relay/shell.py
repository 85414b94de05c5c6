"""
The shell of the relay: it runs a program on a terminal of its own, and ends like that program.

The terminal around us is always restored. If there is nothing to relay, this process becomes the program.
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
    """Return whether there is nothing to relay: it is configured so, or this process already runs inside a relay."""
    mark = os.environ.get(monitor.MARKER, "")
    if mark == "0":
        return True
    try:
        return bool(mark) and mark == monitor.marker(0)
    except OSError:
        return False


def execute(command: list[str]) -> int:
    """Replace this process by *command*; return an exit code if that fails."""
    try:
        monitor.execute(command, monitor.program_environment())
    except OSError as error:
        return monitor.refused(command[0], error)


def run(command: list[str], outer: pty.Outer, make_core: Callable[[], Core], *, is_lazy: bool = False) -> int:
    """
    Run *command* on a terminal of its own, with a core between it and *outer*; return its exit code.

    The core is made while the program starts. With *is_lazy* it is not made for a program that ends at once without
    output. If the program died of a signal, so does this process.
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
