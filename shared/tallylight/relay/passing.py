"""A core that passes everything on and reads nothing. What decides about the bytes of a relay is of its kind."""

from __future__ import annotations


class Core:
    """
    What is between a program and its terminal, without input, output or clock: bytes in, bytes out.

    Times are monotonic seconds. The shell around it moves the bytes, and sleeps until the `deadline`.
    """

    def __init__(self) -> None:
        self._terminal: list[bytes] = []
        self._child: list[bytes] = []

    def from_child(self, data: bytes, now: float) -> None:  # noqa: ARG002
        """The program wrote *data*."""
        self._terminal.append(data)

    def from_user(self, data: bytes, now: float) -> None:  # noqa: ARG002
        """The terminal sent *data*: keys, pastes, answers to the program's own questions."""
        self._child.append(data)

    def to_terminal(self) -> bytes:
        """Take what is ready for the terminal."""
        return _taken(self._terminal) if self._terminal else b""

    def to_child(self) -> bytes:
        """Take what is ready for the program."""
        return _taken(self._child) if self._child else b""

    def deadline(self) -> float | None:
        """When `tick` is to be called, perhaps a time that has passed; None if only bytes can change anything."""
        return None

    def tick(self, now: float) -> None:
        """Let time pass."""

    def resized(self, now: float) -> None:
        """The terminal has another size, or the program was resumed after a stop: it may be another terminal."""

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        """The program has ended; nothing more comes from it."""


def _taken(pieces: list[bytes]) -> bytes:
    """All of *pieces*, which are taken out; one alone is not copied."""
    taken = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    pieces.clear()
    return taken
