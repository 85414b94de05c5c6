"""
Faults of one pane: an exception while an input is processed costs that input, and no other pane and no later input.

A fault is a mistake in our code, for evidence of any form is expected. It is reported once, with its place, so that it
can be found; the same fault again is not reported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import attrs

#: The most characters of a reported line, and the most faults that are reported for one pane.
MAX_FAULT_CHARS = 300
MAX_FAULTS = 32


@attrs.define
class Faults:
    """The faults of one pane. *tell* is called with one line for each new one."""

    tell: Callable[[str], None]
    _reported: set[tuple[str, str, str]] = attrs.field(factory=set)

    def take(self, what: str, error: Exception) -> None:
        """Report that *error* was raised while *what* was processed, unless that was reported before."""
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else "nowhere"
        fault = (what, type(error).__name__, place)
        if fault not in self._reported and len(self._reported) < MAX_FAULTS:
            self._reported.add(fault)
            line = f"{what} could not be processed: {fault[1]} at {fault[2]}: {error}"[:MAX_FAULT_CHARS]
            self.tell("".join(c if c.isprintable() else "?" for c in line))


P = ParamSpec("P")


def isolates_faults(what: str) -> Callable[[Callable[Concatenate[Any, P], None]], Callable[Concatenate[Any, P], None]]:
    """Decorate a method that takes in *what*: an exception in it goes to `self.faults` and ends there."""

    def decorate(method: Callable[Concatenate[Any, P], None]) -> Callable[Concatenate[Any, P], None]:
        @functools.wraps(method)
        def guarded(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            try:
                method(self, *args, **kwargs)
            except Exception as error:  # one pane's fault is no reason to lose the others
                self.faults.take(what, error)

        return guarded

    return decorate
