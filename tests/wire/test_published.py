"""docs/protocol.md and docs/tally-variable.json, from which others write a reader or a sender, say what ours does."""

from __future__ import annotations

import json
import re
import subprocess

from tallylight import wire
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.wire import osc26, osc88, osc1338, user_var
from tests.helpers import only_sequence
from tests.wire import protocol_keys, published

PAGE = (published.FILE.parent / "protocol.md").read_text("utf-8")


def words(header: str) -> set[str]:
    """What stands in code in the first column of the table with this *header*."""
    rows = PAGE[PAGE.index(header) :].partition("\n\n")[0].splitlines()[2:]
    return {word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_the_vectors_are_those_of_our_tests() -> None:
    """The file is what `python -m tests.wire.published` writes, and some of it is refused."""
    assert published.FILE.read_text("ascii") == published.text()
    vectors = json.loads(published.text())["vectors"]
    assert len(vectors) > 100 and 10 < sum(vector["report"] is None for vector in vectors) < 50


def test_the_page_has_every_word() -> None:
    """Each key, state, kind and protocol that is read has its place on the page, and no other."""
    assert words("| key | value |") == set(osc1338._STRICT) | set(osc1338._EXTENDED)
    assert words("| `state` | means |") == {status.value for status in Status} - CONCLUDED | {"clear"}
    assert all(f"`{word}`" in PAGE for word in (*Kind, *osc1338.SPOKEN))
    limits = (
        osc1338.PAYLOAD_LIMIT,
        user_var.FRAME_LIMIT,
        osc1338.MAX_LISTED_TASKS,
        osc1338.MAX_LISTED_WORDS,
        osc1338.MAX_LISTED_WORD_CHARS,
    )
    assert all(f"{limit}" in PAGE for limit in limits)
    texts = {key: cells for key, (_, cells) in osc1338._TEXTS.items()}
    assert all(f"{cells}" in PAGE for cells in texts.values())


def test_a_sender_is_one_line_of_shell() -> None:
    """What the page shows, run by sh as it stands, is what a reader understands."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S):
        event = wire.decode(only_sequence(subprocess.check_output(["sh", "-c", block])))
        assert isinstance(event, user_var.UserVar) and event.name == "tally"
        found.append(osc1338.decode_variable(event.value))
    first, last = found
    assert first is not None and last is not None
    assert (first.status, first.agent, first.message) == (Status.WAITING, "mine", "Deploy?")
    assert last.status is None


def test_the_page_has_every_key_of_every_protocol() -> None:
    """The table is what `python -m tests.wire.protocol_keys` writes, and has each key that a codec reads."""
    assert protocol_keys.page_with_table() == PAGE
    table = protocol_keys.drawn()
    read = {"OSC 26": {*osc26._READERS, "UserVar:NAME"}, "OSC 1338": set(osc1338._STRICT)}
    for protocol, keys in read.items():
        assert {row.key for row in protocol_keys.ROWS if row.protocol == protocol} == keys
    assert all(f"`{key.decode()}`" in table for key in osc88._TEXTS)
