"""The end of a verb that runs until it is stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType


def on_signal(handler: Callable[[int, FrameType | None], object], *numbers: signal.Signals) -> None:
    """Call *handler* at each of these signals, except for those that `nohup` or a shell made us ignore."""
    for number in numbers:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)
