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
from tallylight.errors import DecodeError
from tallylight.list.rows import Row
from tallylight.list.state import Answer, Sight
from tallylight.requests import Request, RequestError
from tallylight.wire import values

#: Seconds that the terminal has to answer. While it is too busy for that it could not show the list either.
TIMEOUT_S = 30.0
#: Of one message on the channel, in bytes; it has to fit into a socket's buffer at once.
MAX_MESSAGE = 7000
#: The variables of a list that a terminal opened: the descriptor of its channel to there, and the row that was selected
#: in the first picture.
CHANNEL, SELECTED = "TALLYLIGHT_LIST_CHANNEL", "TALLYLIGHT_LIST_SELECTED"
_ELSEWHERE = "only from the list that its own terminal opened"


class Actions(Protocol):
    """Each method returns nothing when it is done, else what to tell the person."""

    def start(self, verb: str, row: Row) -> str:
        """`go` to a pane, `fork` or `resume` its conversation: when that is done the list ends."""

    def look(self, row: Row) -> Sight | str:
        """Read a question off the screen of its pane."""

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

    def look(self, row: Row) -> Sight | str:
        return f"answers to {row.address} go {_ELSEWHERE}"

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
    The private channel to the terminal that opened the list: a pair of connected sockets, this end inherited.

    A message is a line: a JSON list of words. So is its answer, a JSON object: *said*, nothing when it is done, else
    what to tell the person; or what a look found, as `sight_from` reads it.
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
            return self._said(verb, row.pane.id)
        if verb == "go" and row.pane.attach:
            return self._said("attach", *row.pane.attach)
        return super().start(verb, row)

    def look(self, row: Row) -> Sight | str:
        if not row.is_own:
            return super().look(row)
        reply = self._call("look", row.pane.id)
        found = sight_from(reply)
        return found if found is not None else _text(reply)

    def answer(self, answer: Answer) -> str:
        if not answer.row.is_own:
            return super().answer(answer)
        sight = answer.sight
        return self._said("answer", answer.row.pane.id, sight.prompt, sight.mark, str(answer.index), answer.keys)

    def _said(self, *words: str) -> str:
        return _text(self._call(*words))

    def _call(self, *words: str) -> object:
        """Have the terminal do it, and return its answer."""
        data = b""
        try:
            self._channel.sendall(json.dumps(words).encode("ascii") + b"\n")
            while not data.endswith(b"\n") and len(data) <= MAX_MESSAGE:
                chunk = self._channel.recv(MAX_MESSAGE)
                if not chunk:
                    break
                data += chunk
            return values.load(data)
        except (OSError, DecodeError):
            # An answer that comes late must not be taken for that to the next question.
            self._channel.close()
            return None


def _text(reply: object) -> str:
    said = reply.get("said") if isinstance(reply, dict) else None
    return said if isinstance(said, str) else "the terminal does not answer"


def read_words(message: bytes) -> list[str]:
    """The words of a message; none if it is something else."""
    try:
        words = values.load(message)
    except DecodeError:
        return []
    if not isinstance(words, list) or not all(values.exact(word, MAX_MESSAGE) is not None for word in words):
        return []
    return words


def sight_to(sight: Sight) -> dict[str, object]:
    """*sight* as JSON; of its context as much of the end as one message holds."""
    found: dict[str, object] = {"prompt": sight.prompt, "mark": sight.mark, "choices": [list(c) for c in sight.choices]}
    room, context = MAX_MESSAGE - 200 - len(json.dumps(found)), list[str]()
    for line in reversed(sight.context):
        room -= len(json.dumps(line)) + 2
        if room < 0:
            break
        context.insert(0, line)
    return {**found, "context": context}


def sight_from(value: object) -> Sight | None:
    """What `sight_to` made; None if it is something else."""
    if not isinstance(value, dict):
        return None
    prompt, mark, context, choices = (value.get(name) for name in ("prompt", "mark", "context", "choices"))
    if not isinstance(prompt, str) or not isinstance(mark, str) or not prompt:
        return None
    if not isinstance(context, list) or not isinstance(choices, list):
        return None
    pairs = [
        (c[0], c[1]) for c in choices if isinstance(c, list) and len(c) == 2 and all(isinstance(t, str) for t in c)
    ]
    return Sight(prompt, mark, tuple(line for line in context if isinstance(line, str)), tuple(pairs))
