"""What the broker of a fleet keeps: topics, payloads, and what is nothing of ours."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.status import Kind, Status
from tallylight.parts.remote import topics
from tallylight.parts.remote.messages import PaneState
from tallylight.parts.remote.topics import Mark, Presence, names_of, topic
from tallylight.snapshot.schema import Pane
from tests.tables import each

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
PANE = Pane(id="3", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", message="Which?", since=5.0)


@given(names, names, names, names)
def test_every_name_is_one_level(prefix: str, machine: str, host: str, pane: str) -> None:
    """Whatever machines, hosts and panes are called, a topic holds no wildcard and leads back to the names."""
    prefix = f"p{len(prefix)}"
    for names in ((machine, "pane", host, pane), (machine, "mark", host, pane), (machine, "machine")):
        made = topic(prefix, *names)
        assert not set(made) & {"+", "#", "\0", "$"}
        assert made.count("/") == len(names)
        assert names_of(made, prefix) == names


@each(
    "of_others",
    [
        "tallylight",
        "tallylight/",
        "tallylight/a",
        "tallylight/a/machine/x",
        "tallylight//machine",
        "tallylight/a/pane/kitty-1",
        "tallylight/a/pane/kitty-1/3/4",
        "tallylightx/a/machine",
        "other/a/machine",
        "tallylight/%/machine",
        "tallylight/%ff/machine",
        "tallylight/" + "a" * 1100 + "/machine",
    ],
)
def test_other_topics_are_nobodys(of_others: str) -> None:
    """A topic of another shape is none of ours."""
    assert names_of(of_others, "tallylight") == ()


def test_a_pane_comes_back() -> None:
    """A pane is the same after its way through a payload."""
    assert topics.decode_pane(topics.encode_pane(PANE, "5f"), "kitty-1") == PaneState("kitty-1", PANE, "5f")
    here = Presence(True, 7.5, life="5f", marks=True, namesake=True)
    assert topics.decode_presence(topics.encode_presence(here)) == here
    for mark in (Mark("seen", Status.DONE, 7.5), Mark("snooze", Status.WAITING, 7.5, 60.0)):
        assert topics.decode_mark(topics.encode_mark(mark)) == mark


@each(
    "payload",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version":2,"pane":{"id":"3","status":"working"}}',
        b'{"version":1,"pane":{"id":"3","status":"thinking"}}',
        b'{"version":1,"pane":{"id":"","status":"working"}}',
        b'{"version":1,"pane":[]}',
        b'{"version":1,"pane":{"id":"3","status":"working"}}' + b" " * topics.MAX_PAYLOAD_BYTES,
        b'{"version":1,"online":1,"at":0}',
        b'{"version":1,"online":true,"at":true}',
        b'{"version":1,"online":true,"at":"now"}',
        b'{"version":1,"verb":"focus","status":"done","since":1}',
        b'{"version":1,"verb":"seen","status":"thinking","since":1}',
        b'{"version":1,"verb":"seen","status":"done","since":"1"}',
        b'{"version":1,"verb":"snooze","status":"done","since":1,"minutes":-1}',
        b'{"version":1,"verb":"snooze","status":"done","since":1,"minutes":1e9}',
        b'{"version":1,"verb":["seen"],"status":"done","since":1}',
        b'{"version":1,"verb":"seen","status":"done","since":1}' + b" " * topics.MAX_MARK_BYTES,
    ],
)
def test_bad_payloads_say_nothing(payload: bytes) -> None:
    """A payload that breaks a rule is no pane, no presence and no mark."""
    assert topics.decode_pane(payload, "kitty-1") is None
    assert topics.decode_presence(payload) is None
    assert topics.decode_mark(payload) is None


def test_a_payload_of_the_limit_is_read() -> None:
    """The size limit is inclusive."""
    body = json.dumps({"version": 1, "pane": PANE.to_json()}).encode()
    padded = body + b" " * (topics.MAX_PAYLOAD_BYTES - len(body))
    assert topics.decode_pane(padded, "kitty-1") == PaneState("kitty-1", PANE)
