"""The JSON of commands: docs/json.md and docs/json.schema.json have every key that is printed, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tallylight.actions.answer import Question
from tallylight.actions.request import Rows
from tallylight.cli import status
from tallylight.cli.main import main
from tallylight.model.errors import TallyError
from tallylight.model.report import Progress, Report, Source
from tallylight.model.repository_status import Changes, RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts.scripts.verbs import read
from tallylight.parts.scripts.verbs.watch import BrokerWatch, Watch
from tallylight.snapshot.addresses import Panes, Row
from tallylight.snapshot.entries import REPORT_TEXTS
from tallylight.snapshot.schema import CollisionEntry, ConversationEntry, RecordEntry
from tests.cli import json_keys
from tests.cli.panes import WAITING, WORKING, publish
from tests.entries import pane_with
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk

_TEXTS: dict[str, Any] = dict.fromkeys(REPORT_TEXTS, "x")
_REPORT = Report(source=Source.PROTOCOL, status=Status.WAITING, progress=Progress(3, 7), background=2, **_TEXTS)
#: A pane of which there is everything to tell.
FULL = pane_with(
    WAITING,
    agent_pid=7,
    records=(RecordEntry.of(_REPORT, Status.WAITING, 1.0),),
    conversation=ConversationEntry(agent="claude", program="/bin/claude", places=("PATH=/bin",)),
    collisions=(CollisionEntry(),),
)
BESIDE = RepositoryStatus(branch="main", changes=Changes(added=1))


def is_as_said(name: str, document: object) -> None:
    """*document* has the keys of this definition, all that are always there, and right values."""
    jsonschema_rs.validate(json_keys.schema() | json_keys.schema()["definitions"][name], document)


def names(document: object) -> set[str]:
    """All keys of all objects in *document*."""
    if isinstance(document, dict):
        return set(document) | {name for value in document.values() for name in names(value)}
    return {name for value in document for name in names(value)} if isinstance(document, list) else set()


def test_the_page_and_the_schema_are_written() -> None:
    """`python -m tests.cli.json_keys` would change nothing."""
    assert {path: path.read_text("utf-8") for path in json_keys.files()} == json_keys.files()
    assert jsonschema_rs.meta.is_valid(json_keys.schema())


def test_every_key_is_printed_and_said(
    runtime: Path, kitty: Kitty, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the commands print is as the schema says; together they print all keys that it has."""
    publish(runtime, [FULL])
    printed: list[tuple[str, object]] = []
    found = Row("kitty-1", FULL)
    panes = Panes((found,), ("kitty-1",), (TallyError("x"),), machines={"devbox": True})
    printed.append(("status", status.to_json(panes, [found], {7: BESIDE})))
    assert main(["status", "--json"]) == 0
    printed.append(("status", json.loads(capsys.readouterr().out)))
    main(["wait", "--json"])
    printed.append(("wait", json.loads(capsys.readouterr().out)))

    desk = ScriptDesk.of(kitty, "claude/permission-bash-80")
    asked = desk.host.once.ask(desk.module.WindowTypist(desk.host, desk.window, desk.host.panes[3]))
    assert isinstance(asked, Question)
    printed += [("read", read.document(found, told)) for told in (asked, "All is well.", Rows(("a",)))]
    for verb in ("read", "send", "interrupt"):
        for pane in ("3", "99"):
            desk.run(lambda verb=verb, pane=pane: main([verb, pane, *["x"] * (verb == "send"), "--json"]))  # type: ignore[misc]
            printed.append(("read" if verb == "read" else "send", json.loads(capsys.readouterr().out)))

    watch, broker = Watch(), BrokerWatch()
    lines = list(watch.changes({"kitty-1": (FULL,)}))
    lines += [line for hosts in ({"kitty-2": (WORKING,)}, {}) for line in watch.changes(hosts)]
    lines += broker.changes("it is gone", {"devbox": True})
    assert {line["event"] for line in lines} == {"state", "pane", "gone", "host", "broker", "machine"}
    printed += [(f"watch_{line['event']}", {"version": 1, "at": 1.0, **line}) for line in lines]

    said = json_keys.schema()["definitions"]
    for name, document in printed:
        is_as_said(name, json.loads(json.dumps(document)))
    known = {name for one in said.values() for name in one["properties"]} | set(json_keys.COUNTED) | {"devbox"}
    assert {name for _, document in printed for name in names(document)} == known
