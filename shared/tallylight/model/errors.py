"""
The errors the package raises on purpose.

Each message says what was found, where, and what to do about it. The facts are attributes, so that callers
never parse a message.
"""

from __future__ import annotations


class TallyError(Exception):
    """Base of every error that a person sees as one line, without a traceback."""

    #: Whether nothing is lost by it: what was written is understood.
    is_note = False


class DecodeError(TallyError, ValueError):
    """
    A sequence that is addressed to us but does not keep its protocol's rules.

    *reason* is a short stable word (`too-long`, `malformed`, `bad-encoding`, ...). Hosts and the relay drop
    such a sequence in silence; it is an exception only so that tests and `tally doctor` can name the rule.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class DataFileError(TallyError):
    """A configuration or agent file that cannot be used: which file, which key, which line, and why."""

    def __init__(
        self, path: str, problem: str, *, key: str = "", line: int | None = None, is_note: bool = False
    ) -> None:
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {key + ': ' if key else ''}{problem}")
        self.path = path
        self.problem = problem
        self.key = key
        self.line = line
        self.is_note = is_note


class SessionError(TallyError):
    """A detached session that cannot be read or typed into now: it is gone, or its multiplexer does not answer."""
