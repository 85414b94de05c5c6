"""Messages of a bridge: every one comes back, and what is none costs itself."""

from __future__ import annotations

import json
from typing import Any

from tallylight.actions.answer import Done
from tallylight.actions.request import LookRequest
from tallylight.actions.say import Say
from tallylight.model.status import Kind, Status
from tallylight.parts.remote.messages import (
    CAN,
    MAX_LINE_BYTES,
    MAX_PANE_ID_CHARS,
    PROTOCOL,
    Ask,
    Beat,
    Hello,
    InitialStateSent,
    Message,
    PaneGone,
    PaneState,
    Reply,
    decode,
    encode,
)
from tallylight.snapshot.schema import Pane
from tests.tables import each

PANE = Pane(id="tmux/1867/%2", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", message="Which?", since=5.0)


FOCUS = {"type": "mark", "verb": "focus", "pane": "3", "args": []}
SAY = {"type": "say", "pane": "3", "pid": 7, "start": 8, "text": "x", "enter": True, "fingerprint": ""}
LOOK = {"type": "look", "pane": "3", "what": "question"}


@each(
    "message, line",
    [
        (
            Hello(PROTOCOL, "0.2.0", frozenset({"answer", "look"}), 5.5),
            '{"bridge":2,"tally":"0.2.0","can":["answer","look"],"at":5.5}',
        ),
        (Hello(PROTOCOL, "0.2.0", CAN, 0.0), None),
        (PaneState("kitty-4711", PANE), None),
        (PaneGone("sessions-7", "tmux/1867/%2"), '{"host":"sessions-7","gone":"tmux/1867/%2"}'),
        (PaneGone("sessions-7", "screen/12.höhle eins/0"), None),
        (InitialStateSent(), '{"whole":true}'),
        (Beat(), '{"beat":true}'),
        (Reply(7, Done("3", "1. Yes")), '{"reply":7,"told":{"type":"done","pane":"3","text":"1. Yes"}}'),
        (
            Ask(7, "kitty-4711", LookRequest("3", "question")),
            '{"ask":7,"host":"kitty-4711","of":{"type":"look","pane":"3","what":"question"}}',
        ),
        (Ask(8, "kitty-1", Say("3", 7, 8, "zwei\nZeilen", enter=True)), None),
    ],
)
def test_every_message_comes_back(message: Message, line: str | None) -> None:
    """What is encoded is one line of ASCII, that which the documentation shows, and means the same."""
    encoded = encode(message)
    assert encoded.endswith(b"\n") and encoded.count(b"\n") == 1 and encoded.isascii()
    assert line is None or encoded.decode() == f"{line}\n"
    assert decode(encoded.rstrip(b"\n")) == message


@each(
    "value",
    [
        *(None, 7, "x", [], {}, {"whole": False}, {"whole": 1}, {"beat": "true"}),
        *({"bridge": "1"}, {"bridge": True}, {"bridge": -1}, {"bridge": 10**9}, {"bridge": None}),
        *({"pane": PANE.to_json()}, {"pane": None, "host": "kitty-1"}, {"pane": {"id": "3"}, "host": "kitty-1"}),
        *({"gone": "3"}, {"gone": 3, "host": "kitty-1"}, {"gone": "", "host": "kitty-1"}),
        *(
            {"gone": "3", "host": host}
            for host in ("", "kitty", "Kitty-1", "a/kitty-1", "kitty-1\n", "kitty-²", "-o-1")
        ),
        *(
            {"gone": id_, "host": "kitty-1"}
            for id_ in ("-oProxyCommand=x", " 3", "3\n", "3\x1b", "x" * (MAX_PANE_ID_CHARS + 1))
        ),
        *({"pane": PANE.to_json() | {"id": id_}, "host": "kitty-1"} for id_ in ("--help", "\u202e3", "/3", "3\0")),
        *({"reply": 7}, {"reply": "7", "told": {}}, {"reply": 0, "told": {}}, {"reply": 7, "told": []}),
        *({"ask": 7, "host": "kitty-1", "of": of} for of in (None, "focus", [], {}, {"type": "mark"})),
        *({"ask": 7, "host": "kitty-1", "of": FOCUS | {"verb": verb}} for verb in ("", "exec", "jump", "mute", 7)),
        *({"ask": 7, "host": "kitty-1", "of": SAY | {"type": type_}} for type_ in ("later", "close", "seen", "tuple")),
        *({"ask": 7, "host": "kitty-1", "of": LOOK | {"what": what}} for what in ("occupant", "prompt_agent", "", 7)),
        {"ask": 7, "host": "kitty-1", "of": {"type": "start", "agent": "x", "place": "tab", "name": "", "prompt": ""}},
        {"ask": 7, "host": "../kitty-1", "of": FOCUS},
        {"ask": 7, "host": "kitty-1", "of": FOCUS | {"pane": ""}},
        {"ask": 7, "host": "kitty-1", "of": SAY | {"text": "x" * 30_000}},
        *({"ask": 7, "host": "kitty-1", "of": SAY | {"pid": pid}} for pid in ("7", True, -1, 2**64, None)),
        {"ask": True, "host": "kitty-1", "of": FOCUS},
        {"ask": 2**60, "host": "kitty-1", "of": FOCUS},
    ],
)
def test_what_is_no_message(value: Any) -> None:
    """A value of another type or size, a name that could be taken for something else: no message."""
    assert decode(json.dumps(value).encode()) is None


@each("line", [b"", b"{", b"\xff", b"[" * 100_000, b'{"whole":true}' + b" " * MAX_LINE_BYTES, b"Welcome to devbox!"])
def test_what_is_no_line(line: bytes) -> None:
    """What is not JSON, or too long, is no message."""
    assert decode(line) is None


def test_a_verb_of_another_version_is_not_told_of() -> None:
    """Of the verbs that a bridge has, those count that are known here."""
    found = decode(b'{"bridge":2,"tally":"9.0","can":["answer","teleport",7,null],"at":"x"}')
    assert found == Hello(2, "9.0", frozenset({"answer"}), 0.0)


def test_what_is_too_long_is_not_sent() -> None:
    """A message that the other end would refuse is not made."""
    assert encode(Ask(1, "kitty-1", Say("3", 7, 8, "x" * MAX_LINE_BYTES, enter=True))) == b""
