"""What other programs leave in the runtime directory: read as far as it makes sense, whatever it is."""

from __future__ import annotations

import json
import time

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.model.status import Kind, Status
from tallylight.snapshot.requests import MAX_ARGS, MAX_TEXT, VERBS, Request
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.values import MAX_NUMBER
from tallylight.snapshot.waiting_time import Waited
from tests.strategies import at_most

_WORDS = st.one_of(st.text(max_size=6), st.sampled_from([*VERBS, *Status, *Kind, "a/b", "\x1b]0;x\x07", "\ud800"]))
_NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([10**400, -(2**63), 1e308]))


def _documents(keys: list[str]) -> st.SearchStrategy[object]:
    """JSON whose objects have these keys, with anything in them."""
    return st.recursive(
        st.one_of(st.none(), st.booleans(), _NUMBERS, _WORDS),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(keys), inner, max_size=len(keys))
        ),
        max_leaves=20,
    )


_INNER = _documents(["source", "rule", "at", "status", "kind", "id", "agent", "session", "flags", "progress", "why"])
#: Making up documents takes longer than reading them.
FEW = settings(max_examples=at_most(60))
#: With a few of the other keys: they are read one by one.
PANES = st.builds(
    dict,
    st.dictionaries(st.sampled_from([field.name for field in attrs.fields(Pane)]), _INNER, max_size=6),
    id=st.one_of(_WORDS, _INNER),
    status=st.one_of(st.sampled_from(list(Status)), _INNER),
)


@pytest.mark.slow
@FEW
@given(PANES)
def test_a_pane(document: dict[str, object]) -> None:
    """A pane is none, or one that is the same when it is written and read again, with times that a clock can show."""
    pane = Pane.from_json(document)
    if pane is not None:
        assert Pane.from_json(json.loads(json.dumps(pane.to_json()))) == pane
        for at in (pane.since, pane.snoozed_until, pane.waited_s):
            time.strftime("%H:%M", time.localtime(at))


@FEW
@given(_documents(["version", "host", "pid", "started", "birth", "written", "panes", "id", "status"]))
def test_a_snapshot(document: object) -> None:
    """A snapshot with anything in it is one of a bounded number of panes."""
    if isinstance(document, dict):
        assert len(Snapshot.from_json(document, 2).panes) <= 2


@FEW
@given(
    st.fixed_dictionaries({"version": st.just(1)}, optional=dict.fromkeys(("verb", "pane", "args"), _INNER | _WORDS))
)
def test_a_request(document: dict[str, object]) -> None:
    """A request is none, or a verb with texts within their limits."""
    request = Request.from_json(document)
    if request is not None:
        assert request.verb in VERBS and len(request.args) <= MAX_ARGS
        assert all(isinstance(text, str) and len(text) <= MAX_TEXT for text in (request.pane, *request.args))


@FEW
@given(
    st.fixed_dictionaries(
        {"version": st.just(1)}, optional=dict.fromkeys(("day", "waited_s", "waiting", "written"), _INNER | _NUMBERS)
    ),
    st.floats(0, 1e11),
)
def test_a_sum_of_waiting(document: dict[str, object], clock: float) -> None:
    """A sum is a number of seconds that is not below zero, at any time."""
    waited = Waited.from_json(document)

    assert waited is not None and 0 <= waited.at(clock) <= MAX_NUMBER * 2**33
