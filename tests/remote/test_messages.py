"""Messages of a bridge: every one comes back, and what is none costs itself."""

from __future__ import annotations

import json
from typing import Any

from tallylight.model.status import Kind, Status
from tallylight.remote.messages import (
    MAX_ID,
    MAX_LINE,
    PROTOCOL,
    VERBS,
    Ask,
    Beat,
    Hello,
    Message,
    PaneGone,
    PaneSaid,
    Reply,
    Whole,
    decode,
    encode,
)
from tallylight.snapshot.schema import Pane
from tests.tables import each

PANE = Pane(id="tmux/1867/%2", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", message="Which?", since=5.0)


@each(
    "message, line",
    [
        (
            Hello(PROTOCOL, "0.2.0", frozenset({"answer", "question"}), 5.5),
            '{"bridge":1,"tally":"0.2.0","can":["answer","question"],"at":5.5}',
        ),
        (Hello(PROTOCOL, "0.2.0", frozenset(VERBS), 0.0), None),
        (PaneSaid("kitty-4711", PANE), None),
        (PaneGone("sessions-7", "tmux/1867/%2"), '{"host":"sessions-7","gone":"tmux/1867/%2"}'),
        (PaneGone("sessions-7", "screen/12.höhle eins/0"), None),
        (Whole(), '{"whole":true}'),
        (Beat(), '{"beat":true}'),
        (Reply(7, b'{"done":"1. Yes","pane":"3"}\n'), '{"reply":7,"told":{"done":"1. Yes","pane":"3"}}'),
        (Ask(7, ("question", "kitty-4711", "3")), '{"ask":7,"words":["question","kitty-4711","3"]}'),
        (Ask(8, ("say", "kitty-1", "3", "7", "8", "", "1", "zwei\nZeilen")), None),
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
        *({"gone": id_, "host": "kitty-1"} for id_ in ("-oProxyCommand=x", " 3", "3\n", "3\x1b", "x" * (MAX_ID + 1))),
        *({"pane": PANE.to_json() | {"id": id_}, "host": "kitty-1"} for id_ in ("--help", "\u202e3", "/3", "3\0")),
        *({"reply": 7}, {"reply": "7", "told": {}}, {"reply": 0, "told": {}}, {"reply": 7, "told": []}),
        *({"ask": 7, "words": words} for words in (None, "focus", [], ["focus"], ["focus", "kitty-1"])),
        *({"ask": 7, "words": [verb, "kitty-1", "3"]} for verb in ("", "exec", "jump", "paste", "queue", 7)),
        {"ask": 7, "words": ["focus", "kitty-1", "3"] + ["x"] * 14},
        {"ask": 7, "words": ["focus", "../kitty-1", "3"]},
        {"ask": 7, "words": ["focus", "kitty-1", ""]},
        {"ask": 7, "words": ["say", "kitty-1", "3", "x" * 30_000]},
        {"ask": True, "words": ["focus", "kitty-1", "3"]},
        {"ask": 2**60, "words": ["focus", "kitty-1", "3"]},
    ],
)
def test_what_is_no_message(value: Any) -> None:
    """A value of another type or size, a name that could be taken for something else: no message."""
    assert decode(json.dumps(value).encode()) is None


@each("line", [b"", b"{", b"\xff", b"[" * 100_000, b'{"whole":true}' + b" " * MAX_LINE, b"Welcome to devbox!"])
def test_what_is_no_line(line: bytes) -> None:
    """What is not JSON, or too long, is no message."""
    assert decode(line) is None


def test_a_verb_of_another_version_is_not_told_of() -> None:
    """Of the verbs that a bridge has, those count that are known here."""
    found = decode(b'{"bridge":1,"tally":"9.0","can":["answer","teleport",7,null],"at":"x"}')
    assert found == Hello(1, "9.0", frozenset({"answer"}), 0.0)


def test_what_is_too_long_is_not_sent() -> None:
    """A message that the other end would refuse is not made."""
    assert encode(Ask(1, ("say", "x" * MAX_LINE))) == b""
