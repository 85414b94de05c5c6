"""What a dialect of the scripted model has to know, and what it writes through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol


class Call(NamedTuple):
    """A tool call of the script: `TOOL`, `BACKGROUND`, `ASK` or `TASK`, and what follows the word."""

    word: str
    rest: str
    id: str


class Wire(Protocol):
    """The way back to the client."""

    def send_json(self, value: object, code: int = 200) -> None:
        """Send the whole answer."""

    def start_stream(self) -> None:
        """Begin a stream of events."""

    def event(self, kind: str, **fields: Any) -> None:
        """Send one event that has a name."""

    def data(self, value: object) -> None:
        """Send one event that has none: an object, or a string as it is."""


class Dialect(Protocol):
    """How a model is asked, and how it answers."""

    @property
    def retried(self) -> frozenset[int]:
        """The statuses that this dialect's client sends again by itself."""

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer a request beside the main loop; false if it is none of this dialect's."""

    def is_main(self, path: str) -> bool:
        """Whether this is where this dialect's main loop asks."""

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        """The prompt in force and how many tool calls have answered it so far."""

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str]) -> None:
        """Answer in words, and end the turn."""

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        """Answer with a tool call."""

    def error(self, code: int) -> dict[str, Any]:
        """The body of an error."""
