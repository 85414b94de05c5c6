"""What other programs leave in the runtime directory: read as far as it makes sense, whatever it is."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.cli.main import main
from tallylight.model.status import Kind, Status
from tallylight.snapshot import writer
from tallylight.snapshot.entries import REPORT_TEXTS, RecordEntry
from tallylight.snapshot.requests import MAX_ARG_CHARS, MAX_ARGS, VERBS, Request
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.values import MAX_NUMBER
from tallylight.snapshot.waiting_time import Waited
from tests.living import sealed
from tests.strategies import at_most
from tests.tables import each

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
    st.dictionaries(st.sampled_from([*Pane(id="1", status=Status.IDLE).to_json()]), _INNER, max_size=6),
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
        for at in (pane.since, pane.attention.snoozed_until, pane.attention.waited_s):
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
        assert all(isinstance(text, str) and len(text) <= MAX_ARG_CHARS for text in (request.pane, *request.args))


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


# Characters that nobody sees ---------------------------------------------------------------------------------------

#: Controls, direction marks, invisible characters and half ones.
UNSEEN = "\x1b\x07\x7f\x9b\u202e\u2066\u200f\u200b\ufeff\u2028\U000e0041\ud800"
#: What some program wrote; in the second the ends of lines are all that is odd.
HOSTILE = [f"a{UNSEEN}[2Jb", "a\tb\r\nc"]


def _hostile(form: dict[str, Any], text: str, is_object: bool) -> Any:
    """A value of *form*, as the schema describes it, with *text* for every text; an object of ours or one of JSON."""
    if cls := form.get("record"):
        fields = attrs.fields(cls)
        keys = [(one.name, one.metadata["key"]) for one in fields if "key" in one.metadata]
        found = {
            name if is_object else key.name or name: _hostile(key.form.schema, text, is_object) for name, key in keys
        }
        for one in fields:
            if inner := one.metadata.get("inline"):
                values = _hostile({"record": inner}, text, is_object)
                found |= {one.name: values} if is_object else values
        if cls is RecordEntry:
            said = dict.fromkeys(REPORT_TEXTS, text)
            found = found | ({"fields": said} if is_object else said)
        return cls(**found) if is_object else found
    if items := form.get("items"):
        rows = [_hostile(items, text, is_object) for _ in range(2)]
        return tuple(rows) if is_object else rows
    if known := form.get("enum"):
        words = {one.value: one for one in (*Status, *Kind)}
        return words.get(known[0], known[0]) if is_object else known[0]
    return {"string": text, "number": 1.0, "integer": 1, "boolean": True}[form["type"]]


def _texts(found: object) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(found, dict):
        for key, value in found.items():
            # The keys of a choice are an agent file's: they may be controls.
            yield from (key, *_texts([label for _, label in value] if key == "choices" else value))
    elif isinstance(found, list):
        for one in found:
            yield from _texts(one)
    elif isinstance(found, str):
        yield found


@each("text", HOSTILE)
def test_no_text_of_a_snapshot_has_what_nobody_sees(text: str) -> None:
    """Whatever programs, packages and files said, and whether this host or an older one wrote it."""
    pane = _hostile({"record": Pane}, text, is_object=True)
    snapshot = attrs.evolve(_hostile({"record": Snapshot}, text, is_object=True), panes=(pane,))
    document = _hostile({"record": Snapshot}, text, is_object=False)
    written = snapshot.to_json() | {"panes": [pane.to_json()]}
    for found in (written, Snapshot.from_json(document, 2).to_json()):
        assert found["panes"], "a pane is dropped"
        odd = {one for one in _texts(found) if set(one) & set(f"{UNSEEN}\t\r\n")}
        assert odd == set()


@each("argv", [["status", "--all"], ["status", "--json"], ["why", "1"], ["why", "1", "--json"]])
def test_no_command_shows_what_nobody_sees(argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor where another program has written the snapshot."""
    for text in HOSTILE:
        document = _hostile({"record": Snapshot}, text, is_object=False)
        pid = os.getpid()
        head = {"version": 1, "host": "kitty", "pid": pid, "birth": writer.birth_of(pid), "stale": False}
        panes = [pane | {"id": "1", "status": "waiting"} for pane in document["panes"][:1]]
        folder = tmp_path / "tallylight"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / f"kitty-{pid}.json").write_text(sealed(document | head | {"panes": panes}))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
            assert main(argv) == 0
        shown = capsys.readouterr()
        words = [*_texts(json.loads(shown.out)), shown.err] if "--json" in argv else [shown.out, shown.err]
        assert [one for one in words if set(one) & set(f"{UNSEEN}\t\r")] == []
