"""A core that passes everything on and reads nothing: the interface and base of every core of a relay."""

from __future__ import annotations


class Core:
    """
    Passes bytes between a program and its terminal, without input, output or clock of its own.

    Times are monotonic seconds. `relay.loop` moves the bytes, and sleeps until the `deadline`.
    """

    def __init__(self) -> None:
        self._terminal: list[bytes] = []
        self._child: list[bytes] = []

    def from_child(self, data: bytes, now: float) -> None:  # noqa: ARG002
        """Take in *data*, written by the program."""
        self._terminal.append(data)

    def from_user(self, data: bytes, now: float) -> None:  # noqa: ARG002
        """Take in *data* from the terminal: keys, pastes, answers to the program's own queries."""
        self._child.append(data)

    def to_terminal(self) -> bytes:
        """Remove and return the bytes for the terminal."""
        return _taken(self._terminal) if self._terminal else b""

    def to_child(self) -> bytes:
        """Remove and return the bytes for the program."""
        return _taken(self._child) if self._child else b""

    def deadline(self) -> float | None:
        """Return when to call `tick`, which may be past; None if only bytes can change anything."""
        return None

    def tick(self, now: float) -> None:
        """Let time pass."""

    def resized(self, now: float) -> None:
        """Take in that the terminal has another size, or that the program was resumed, maybe in another terminal."""

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        """Take in that the program has ended."""


def _taken(pieces: list[bytes]) -> bytes:
    """Remove and return all of *pieces*; a single one is not copied."""
    taken = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    pieces.clear()
    return taken
