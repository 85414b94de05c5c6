"""The panes of kitty in the server: it asks kitty itself, by its socket, which types by its own rules or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from starlette.testclient import TestClient

from tallylight.actions.caller import Caller, Who
from tallylight.actions.client import PaneClient
from tallylight.model.status import Kind, Status
from tallylight.parts.web.app import Service
from tallylight.snapshot import sockets
from tallylight.snapshot.schema import Pane
from tests.actions.callers import CALLERS, at
from tests.actions.desk import PID, START, holder
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.parts.remote.far import HandPanes
from tests.parts.web.serving import AUTH, Served

DIALOG, IDLE, WORKING = "claude/permission-bash-80", "claude/idle-start-80", "claude/working-120"
HOST = f"kitty-{os.getpid()}"
ADDRESS = f"{HOST}:3"
BEING = {"address": ADDRESS, "pid": PID, "start": START}


@attrs.define
class Room:
    """A kitty that listens, the server that asks it, and a client of that."""

    desk: ScriptDesk
    client: TestClient

    def get(self, path: str) -> Any:
        return self.desk.run(lambda: self.client.get(f"/api/v1/{path}", params={"address": ADDRESS}))

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        return self.desk.run(lambda: self.client.post(f"/api/v1/{path}", json={**BEING, **body}))

    @property
    def typed(self) -> str:
        return "".join(self.desk.window.written)


def server() -> Caller:
    """The server is started in a window of this kitty, by a script."""
    return attrs.evolve(CALLERS[Who.SCRIPT], lineage=frozenset({(os.getpid(), 1)}))


def client_of(status: Status, reach: PaneClient) -> TestClient:
    """A client of a server that shows one pane of this kitty."""
    served = Served()
    pane = Pane(id="3", status=status, kind=Kind.PERMISSION, agent="claude", since=time.time())
    served.shows("kitty", pane, pid=os.getpid())
    app = Service(served.guard, served._read, reach).app()
    return TestClient(app, base_url="http://127.0.0.1:8787", headers=AUTH)


@pytest.fixture
def make(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Room]]:
    """Makes the room, for a screen, a status and a word of `[scripting]`."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    running = []

    def made(screen: str, status: Status, allow: str) -> Room:
        desk = ScriptDesk.of(kitty, screen, status, allow)
        client = client_of(status, PaneClient(HandPanes({}), server, at(allow)))  # type: ignore[arg-type] # nothing else is asked
        client.__enter__()
        running.append(client)
        return Room(desk, client)

    yield made
    for client in running:
        client.__exit__(None, None, None)


@pytest.mark.slow
def test_a_question_in_kitty_is_answered(make: Callable[..., Room]) -> None:
    """Its screen and its question are shown, and the choice is typed once, as its keys, where that is allowed."""
    room = make(DIALOG, Status.WAITING, "all")
    session = room.client.get("/api/v1/session", params={"address": ADDRESS}).json()
    assert (session["can_see"], session["can_type"]) == (True, True)
    seen = room.get("buffer").json()
    assert " Do you want to proceed?" in seen["lines"]
    assert [[run["text"] for run in row] for row in seen["screen"]] == [[row] if row else [] for row in seen["lines"]]
    assert (seen["pid"], seen["start"], seen["can_say"], seen["can_interrupt"]) == (PID, START, False, False)
    asked = seen["question"]
    assert asked == room.get("question").json()
    assert [choice["keys"] for choice in asked["choices"]] == ["1", "2", "3", "4"]

    other = room.post("answer", {"fingerprint": "0" * 32, "choice": 1})
    assert (other.status_code, other.json()["rule"], room.typed) == (409, "changed", "")
    found = room.post("answer", {"fingerprint": asked["fingerprint"], "choice": 4})
    assert (found.status_code, found.json()["done"], room.typed) == (200, "answered 4. No", "4")
    again = room.post("answer", {"fingerprint": asked["fingerprint"], "choice": 4})
    assert (again.status_code, again.json()["rule"], room.typed) == (409, "answered", "4")


@pytest.mark.slow
def test_text_and_interrupt_in_kitty(make: Callable[..., Room]) -> None:
    """An agent at its prompt is typed a text, one that works is interrupted; and neither the other way round."""
    room = make(IDLE, Status.IDLE, "all")
    seen = room.get("buffer").json()
    assert (seen["pid"], seen["can_say"], seen["can_interrupt"], seen["question"]) == (PID, True, False, None)
    assert room.post("interrupt", {}).json()["rule"] == "no-turn"
    assert room.post("text", {"text": "go on", "enter": True}).status_code == 200
    assert "go on" in room.typed
    room = make(WORKING, Status.WORKING, "all")
    seen = room.get("buffer").json()
    assert (seen["can_say"], seen["can_interrupt"]) == (False, True)
    assert room.post("text", {"text": "go on"}).json()["rule"] == "working"
    assert room.post("interrupt", {}).status_code == 200
    assert room.typed == "\x1b"


def test_kitty_is_only_looked_at_unless_that_is_allowed(make: Callable[..., Room]) -> None:
    """By default the screen and the question are shown without a way to answer, and kitty itself refuses."""
    room = make(DIALOG, Status.WAITING, "own")
    session = room.client.get("/api/v1/session", params={"address": ADDRESS}).json()
    assert (session["can_see"], session["can_type"]) == (True, False)
    seen = room.get("buffer").json()
    says = "this page only shows that agent: answer at its pane or in the list; to answer here, set `[scripting] allow"
    assert " Do you want to proceed?" in seen["lines"] and seen["why"].startswith(says)
    assert [choice["keys"] for choice in seen["question"]["choices"]] == [""] * 4
    assert (seen["can_say"], seen["can_interrupt"]) == (False, False)
    for path, body in (
        ("answer", {"fingerprint": seen["question"]["fingerprint"], "choice": 1}),
        ("text", {"text": "x"}),
        ("interrupt", {}),
    ):
        found = room.post(path, body)
        assert (found.status_code, found.json()["rule"]) == (409, "permission")
        assert found.json()["detail"].startswith(says)
    assert room.typed == ""


@pytest.mark.slow
def test_a_shell_in_kitty_is_not_shown(make: Callable[..., Room]) -> None:
    """What stands in a pane whose agent has gone is no business of the page."""
    room = make(DIALOG, Status.WAITING, "all")
    room.desk.host.panes[3].foreground = holder("")
    found = room.get("buffer")
    assert (found.status_code, found.json()["rule"]) == (409, "process")


@pytest.mark.slow
def test_a_kitty_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs those who ask for its panes a while, and nobody else anything."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    reach = PaneClient(HandPanes({}), server, at("all"), timeout_s=0.2, ask_timeout_s=0.2)  # type: ignore[arg-type] # nothing else is asked
    with client_of(Status.WAITING, reach) as client:
        listener = sockets.listen("kitty")
        for path in ("buffer", "question"):
            found = client.get(f"/api/v1/{path}", params={"address": ADDRESS})
            assert (found.status_code, found.json()["rule"]) == (409, "unreachable")
        found = client.post("/api/v1/interrupt", json=BEING)
        assert (found.status_code, found.json()["rule"]) == (409, "unreachable")
        assert client.get("/api/v1/counts").json()["total"] == 1
        listener.close()
