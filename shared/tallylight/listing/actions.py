"""
Actions: what the list does to panes, and by which way.

`Requests` reaches every host through its spool, and so can move a person's view and change the ledger, and no more.
`Private` also has a channel to the terminal that opened the list: only there can a pane be answered, forked or resumed,
and only in panes of that very terminal.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Protocol

from tallylight import requests
from tallylight.list.rows import Row
from tallylight.list.state import Answer
from tallylight.requests import Request, RequestError

#: Seconds that the terminal has to answer.
TIMEOUT_S = 5.0
#: Of one message on the channel, in bytes.
MAX_MESSAGE = 8192
#: The variables of a list that a terminal opened: the descriptor of its channel to there, and the row that was selected
#: in the first picture.
CHANNEL, SELECTED = "TALLYLIGHT_LIST_CHANNEL", "TALLYLIGHT_LIST_SELECTED"
_ELSEWHERE = "only from the list that its own terminal opened"


class Actions(Protocol):
    """Each method returns nothing when it is done, else what to tell the person."""

    def start(self, verb: str, row: Row) -> str:
        """`go` to a pane, `fork` or `resume` its conversation: when that is done the list ends."""

    def answer(self, answer: Answer) -> str:
        """Answer a question."""

    def ask(self, row: Row, verb: str, args: tuple[str, ...]) -> str:
        """Put a request to the row's host."""


class Requests:
    """The way that every host knows: a request in its spool."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def start(self, verb: str, row: Row) -> str:
        return self.ask(row, "focus", ()) if verb == "go" else f"{verb} {_ELSEWHERE}"

    def answer(self, answer: Answer) -> str:
        return f"answers to {answer.row.address} go {_ELSEWHERE}"

    def ask(self, row: Row, verb: str, args: tuple[str, ...]) -> str:
        try:
            requests.send(row.host, Request(verb, row.pane.id, args), self._environ)
        except RequestError as error:
            return str(error)
        return ""


class Private(Requests):
    """
    The private channel to the terminal that opened the list: a pair of datagram sockets, this end inherited.

    A message is a JSON list of words, its answer a text: nothing when it is done, else what to tell the person.
    """

    def __init__(self, environ: Mapping[str, str], channel: socket.socket) -> None:
        super().__init__(environ)
        self._channel = channel

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Private | None:
        """The channel that *environ* names, if a terminal opened this list."""
        number = environ.get(CHANNEL, "")
        if not (number.isascii() and number.isdigit() and len(number) < 6):
            return None
        try:
            channel = socket.socket(fileno=int(number))
            channel.set_inheritable(False)
            channel.settimeout(TIMEOUT_S)
        except OSError:
            return None
        return cls(environ, channel)

    def start(self, verb: str, row: Row) -> str:
        if row.is_own:
            return self._call(verb, row.pane.id)
        if verb == "go" and row.pane.attach:
            return self._call("attach", *row.pane.attach)
        return super().start(verb, row)

    def answer(self, answer: Answer) -> str:
        if not answer.row.is_own:
            return super().answer(answer)
        return self._call("answer", answer.row.pane.id, answer.prompt, str(answer.index), answer.keys)

    def _call(self, *words: str) -> str:
        """Have the terminal do it, and return what it says."""
        try:
            self._channel.send(json.dumps(words).encode("ascii"))
            return self._channel.recv(MAX_MESSAGE).decode("utf-8", "replace")
        except OSError:
            return "the terminal does not answer"
