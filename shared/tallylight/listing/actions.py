"""
Actions: what the list does to panes, and by which way.

`Requests` reaches every host through its spool, and so can move a person's view and change the ledger, and no more.
`InKitty` also has the private channel of the kitty that opened the list: only there can a pane be answered, forked or
resumed, and only in panes of that very kitty.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from typing import Protocol

from tallylight import requests
from tallylight.list.rows import Row
from tallylight.list.state import Answer
from tallylight.requests import Request, RequestError

#: Seconds that kitty has to answer.
TIMEOUT_S = 5.0
#: Of one answer of kitty, in bytes.
MAX_ANSWER = 65_536
#: The variables that kitty gives the list: what tells it from every other program that speaks to kitty; the kitten to
#: speak to; the row that was selected in the first picture.
TOKEN, KITTEN, SELECTED = "TALLYLIGHT_LIST_TOKEN", "TALLYLIGHT_LIST_KITTEN", "TALLYLIGHT_LIST_SELECTED"
_START, _END = b"\x1bP@kitty-cmd", b"\x1b\\"
_CHUNK = 4096
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


class InKitty(Requests):
    """
    The private channel to one kitty: remote control over a descriptor that only this process has.

    https://sw.kovidgoyal.net/kitty/rc_protocol/ ; what it runs is the kitten that opened the list, with its token.
    """

    def __init__(self, environ: Mapping[str, str], channel: socket.socket) -> None:
        super().__init__(environ)
        self._channel = channel
        self._window = environ.get("KITTY_WINDOW_ID", "")
        self._token = environ[TOKEN]
        self._kitten = environ[KITTEN]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> InKitty | None:
        """The channel that *environ* names, if a kitty opened this list."""
        scheme, _, number = environ.get("KITTY_LISTEN_ON", "").partition(":")
        if scheme != "fd" or not number.isdigit() or TOKEN not in environ or KITTEN not in environ:
            return None
        try:
            channel = socket.socket(fileno=int(number))
            os.set_inheritable(channel.fileno(), False)
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
        """Have kitty do it, and return what it says."""
        payload = {"kitten": self._kitten, "args": [self._token, *words], "match": f"id:{self._window}"}
        message = {"cmd": "kitten", "version": [0, 26, 0], "no_response": False, "payload": payload}
        answer = b""
        try:
            self._channel.sendall(_START + json.dumps(message).encode() + _END)
            while not answer.endswith(_END) and len(answer) < MAX_ANSWER:
                chunk = self._channel.recv(_CHUNK)
                if not chunk:
                    break
                answer += chunk
            reply = json.loads(answer.removeprefix(_START).removesuffix(_END))
            said = reply["data"] if reply["ok"] else reply["error"]
        except (OSError, ValueError, KeyError, TypeError):
            return "kitty does not answer"
        return said if isinstance(said, str) else "kitty did not do it; its log may say why"
