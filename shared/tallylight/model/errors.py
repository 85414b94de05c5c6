"""
The errors that the package raises on purpose.

Each message says what was found, where, and what to do about it. The facts are attributes, so that callers
never parse a message.
"""

from __future__ import annotations


class TallyError(Exception):
    """The base of every error that a person sees as one line, without a traceback."""

    #: Whether it is only a note: the text was understood and nothing is lost.
    is_note = False


class DecodeError(TallyError, ValueError):
    """
    Raised for a sequence of a known protocol that breaks the protocol's rules.

    *reason* is a short stable word (`too-long`, `malformed`, `bad-encoding`, ...). Hosts and the relay silently drop
    such a sequence; tests and `tally doctor` name the reason.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class DataFileError(TallyError):
    """Raised for a configuration or agent file that cannot be used, with file, key, line and problem."""

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
    """Raised for a detached session that is gone, or that its multiplexer does not answer for."""
