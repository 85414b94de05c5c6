"""Kitty's remote control protocol over a unix socket: https://sw.kovidgoyal.net/kitty/rc_protocol/

One request is ``ESC P @kitty-cmd {json} ESC \\``, one answer likewise. Spoken here directly, for ``kitten @`` costs a
process, and a noticeable fraction of a second, for every call. kitty closes nothing: each call has its own connection.
"""

from __future__ import annotations

import json
import socket
from typing import Any

_START = b"\x1bP@kitty-cmd"
_END = b"\x1b\\"

# A kitty refuses a client newer than itself; this is older than any we test with.
_VERSION = [0, 26, 0]


class RemoteError(Exception):
    """kitty answered that the command failed."""


def request(address: str, command: str, payload: dict[str, Any], timeout: float = 10.0) -> Any:
    """Run one remote control command and return its data."""
    message = {"cmd": command, "version": _VERSION, "no_response": False, "payload": payload}
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(address)
        connection.sendall(_START + json.dumps(message).encode() + _END)
        answer = b""
        while not answer.endswith(_END):
            chunk = connection.recv(65536)
            if not chunk:
                raise RemoteError(f"{command}: kitty closed the connection after {answer!r}")
            answer += chunk
    reply = json.loads(answer[len(_START) : -len(_END)])
    if not reply.get("ok"):
        raise RemoteError(f"{command}: {reply.get('error')}\n{reply.get('tb', '')}")
    return reply.get("data")
