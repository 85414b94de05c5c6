"""The application: what it says, what it refuses, and what is typed at whose word."""

from __future__ import annotations

import json
from collections.abc import Iterator

import attrs
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tallylight.model.repository_status import Changes, RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts.web.app import Service
from tallylight.parts.web.middleware import MAX_BODY
from tallylight.parts.work.repository_watch import Watch
from tallylight.snapshot.entries import ConversationEntry
from tests.parts.web.serving import AUTH, JSON, PANES, PROCESS, TOKEN, Served
from tests.tables import each

CHANGES = "ws://127.0.0.1:8787/api/v1/changes"
PROTOCOLS = ["tally.v1", f"tally.token.{TOKEN}"]


def test_sessions_are_listed_neediest_first(client: TestClient) -> None:
    """The oldest question is first, plain commands are left out, and text of programs is cleaned."""
    found = client.get("/api/v1/sessions").json()
    assert found["version"] == 1
    assert [session["id"] for session in found["sessions"]] == ["%4", "%1", "%3", "%2"]
    first = found["sessions"][1]
    assert (first["address"], first["status"], first["kind"]) == ("sessions-1:%1", "waiting", "permission")
    assert first["question"] == "Run the migration?"
    assert first["choices"] == [{"keys": "1", "label": "Yes"}, {"keys": "2", "label": "No"}]
    assert "\x1b" not in found["sessions"][2]["message"] and "\u202e" not in found["sessions"][2]["message"]
    assert [s["id"] for s in client.get("/api/v1/sessions?status=working").json()["sessions"]] == ["%2"]


def test_waiting_counts_and_one(client: TestClient) -> None:
    """Who waits longest is first, the counts add up, and one session can be asked for."""
    assert [s["id"] for s in client.get("/api/v1/waiting").json()["sessions"]] == ["%4", "%1"]
    counts = client.get("/api/v1/counts").json()
    assert (counts["counts"]["waiting"], counts["counts"]["idle"], counts["total"]) == (2, 0, 4)
    assert client.get("/api/v1/session", params={"address": "sessions-1:%3"}).json()["project"] == "<b>x</b>"
    assert client.get("/api/v1/session", params={"address": "sessions-1:%9"}).status_code == 404


#: Text that no screen can show and no terminal can be sent: halves of a pair, as JSON may spell them.
HALVES = [
    rb'{"text": "\ud800"}',
    rb'{"text": "a\udc00b", "enter": false}',
    rb'{"text": "x", "\ud800": 1}',
    rb'{"text": "x", "enter": "\ud800"}',
    b'{"text": "\xed\xa0\x80"}',
    b'{"text": NaN}',
    b'{"text": 1e999}',
    b"\xff\xfe",
    b"[" * 20_000,
    b"1" * 5000,
]


def test_what_is_no_text_at_all(client: TestClient, served: Served) -> None:
    """Half of a surrogate pair, or no JSON, is the mistake of whoever sends it: 4xx, and nothing of it comes back."""
    strange = "%ED%A0%80"
    answers = {
        body: client.post(f"/api/v1/{route}", content=body, headers=JSON)
        for route in ("answer", "text", "interrupt")
        for body in HALVES
    }
    for path in ("session?address=", "buffer?address=", "question?address=", "sessions?status=", ""):
        answers[path] = client.get(f"/api/v1/{path}{strange}")
    wrong = {key: (found.status_code, found.text) for key, found in answers.items() if found.status_code // 100 != 4}
    assert wrong == {}
    assert all(isinstance(found.json()["detail"], str) for found in answers.values())
    assert served.panes.typed == {}


def test_a_terminals_own_panes_take_no_text(served: Served) -> None:
    """A pane of kitty is listed, and cannot be typed into from here."""
    served.shows("kitty", *PANES)
    with TestClient(served.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as client:
        assert client.get("/api/v1/sessions").json()["sessions"][0]["can_type"] is False
        for route, body in (("text", {"text": "1"}), ("interrupt", {}), ("answer", {"fingerprint": "a", "choice": 1})):
            answer = client.post(f"/api/v1/{route}", json={**PROCESS, "address": "kitty-1:%1", **body})
            assert (answer.status_code, answer.json()["rule"]) == (409, "unreachable")
    assert served.panes.typed == {}


ROUTES = [
    ("GET", "/api/v1/sessions"),
    ("GET", "/api/v1/waiting"),
    ("GET", "/api/v1/counts"),
    ("GET", "/api/v1/session?address=sessions-1:%251"),
    ("GET", "/api/v1/buffer?address=sessions-1:%251"),
    ("GET", "/api/v1/question?address=sessions-1:%251"),
    ("POST", "/api/v1/answer"),
    ("POST", "/api/v1/text"),
    ("POST", "/api/v1/interrupt"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_said_without_the_token(client: TestClient, served: Served, method: str, path: str) -> None:
    """Without the token, or with a wrong one, no route says or does anything."""
    for header in ({"Authorization": ""}, {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"Authorization": TOKEN}):
        answer = client.request(method, path, headers=header, json={"text": "x"} if method == "POST" else None)
        assert answer.status_code == 401
        assert "sessions" not in answer.text
    assert served.panes.typed == {}


@pytest.mark.slow
@each(("method", "path"), [*ROUTES, ("GET", "/"), ("GET", "/openapi.json")])
@each(
    ("header", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8787"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost"}, 403),
        ({"Origin": "http://localhost:8787"}, 403),
        ({"Origin": "https://127.0.0.1:8787"}, 403),
        ({"Host": "[::1]:8787", "Origin": "http://[::1]"}, 403),
    ],
)
def test_other_hosts_and_origins_are_refused(
    client: TestClient, served: Served, method: str, path: str, header: dict[str, str], status: int
) -> None:
    """A right token does not help a page of another origin, nor a name that only points here."""
    answer = client.request(method, path, headers=header, json={"text": "x"} if method == "POST" else None)
    assert answer.status_code == status
    assert served.panes.typed == {}


@each(("address", "status"), [("", 422), (" ", 404), ("\t", 404), ("7", 404)])
@each("path", ["session", "buffer", "question"])
def test_an_empty_address_is_no_session(client: TestClient, path: str, address: str, status: int) -> None:
    """It never means another one, such as the neediest."""
    assert client.get(f"/api/v1/{path}", params={"address": address}).status_code == status


def test_a_large_body_is_refused(client: TestClient, served: Served) -> None:
    """A body over the limit is refused, whether it says its length or not; one at the limit is read."""

    def parts() -> Iterator[bytes]:
        for _ in range(160):
            yield b"x" * 65536

    served.panes.desk("%1", "claude/idle-start-80", status=Status.IDLE)
    post = {"headers": JSON}
    assert client.post("/api/v1/text", content=b"x" * 10_000_000, **post).status_code == 413
    assert client.post("/api/v1/text", content=parts(), **post).status_code == 413
    at_limit = json.dumps({**PROCESS, "text": "x"}).encode().ljust(MAX_BODY)
    assert client.post("/api/v1/text", content=at_limit, **post).status_code == 200
    assert client.post("/api/v1/text", content=at_limit + b" ", **post).status_code == 413
    assert served.panes.typed == {"%1": ["x"]}


@pytest.mark.slow
def test_a_flood_of_text_is_refused(client: TestClient, served: Served) -> None:
    """More text than a person types is refused with 429."""
    served.panes.desk("%1", "claude/idle-start-80", status=Status.IDLE)
    statuses = [client.post("/api/v1/text", json={**PROCESS, "text": "x"}).status_code for _ in range(60)]
    assert statuses[:20] == [200] * 20
    assert 429 in statuses
    assert len(served.panes.typed["%1"]) == statuses.count(200)


@pytest.mark.slow
def test_changes_over_the_socket(client: TestClient, served: Served) -> None:
    """A listener is told everything first, then each change, then that a session is gone."""
    with client.websocket_connect(CHANGES, subprotocols=PROTOCOLS) as socket:
        first = socket.receive_json()
        assert first["type"] == "state"
        assert {session["id"] for session in first["sessions"]} == {"%1", "%2", "%3", "%4"}
        served.shows("sessions", attrs.evolve(PANES[0], status=PANES[2].status, kind=None), *PANES[1:3])
        second, third = socket.receive_json(), socket.receive_json()
        assert (second["type"], second["session"]["status"]) == ("change", "done")
        assert (third["type"], third["address"]) == ("gone", "sessions-1:%4")


def test_what_stands_beside_a_status(served: Served) -> None:
    """The repository of an agent is read on a thread while somebody listens, and told as a change; not before."""
    read = []

    def read_one(directory: str, _home: str) -> tuple[RepositoryStatus, bool]:
        read.append(directory)
        return RepositoryStatus(branch="ma\x1bin", changes=Changes(added=12, removed=3, ahead=1)), False

    work = ConversationEntry(agent="codex", cwd="/work")
    pane = attrs.evolve(PANES[1], agent_pid=4711, conversation=work)
    served.shows("sessions", pane, *PANES[2:])
    watch = Watch("/nowhere", read_one)
    app = Service(served.guard, served._read, served.client, watch=watch).app()
    with TestClient(app, base_url="http://127.0.0.1:8787", headers=AUTH) as client:
        address = "sessions-1:%2"
        assert client.get("/api/v1/session", params={"address": address}).json()["beside"] is None
        assert read == []
        with client.websocket_connect(CHANGES, subprotocols=PROTOCOLS) as socket:
            assert socket.receive_json()["type"] == "state"
            told = socket.receive_json()["session"]
        assert (told["address"], told["beside"]) == (
            address,
            {"branch": "main", "is_detached": False, "worktree": "",
             "changes": {"added": 12, "removed": 3, "new": 0, "ahead": 1, "behind": 0}},
        )  # fmt: skip
        # Panes of which no directory is known have nothing beside them.
        assert read == ["/work"]
        assert client.get("/api/v1/session", params={"address": "sessions-1:%3"}).json()["beside"] is None


@pytest.mark.parametrize("protocols", [[], ["tally.v1"], ["tally.v1", "tally.token.x"]])
def test_a_socket_without_the_token_is_closed(client: TestClient, protocols: list[str]) -> None:
    """No token, no changes."""
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect(CHANGES, subprotocols=protocols),
    ):
        pass
    assert "token" in closed.value.reason


@each(
    "origin",
    ["http://evil.example", "http://localhost", "http://127.0.0.1", "http://127.0.0.1:8788", "http://[::1]:8787"],
)
def test_a_socket_of_another_origin_is_closed(client: TestClient, origin: str) -> None:
    """A page of another origin cannot listen, even with the token."""
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect(CHANGES, subprotocols=PROTOCOLS, headers={"Origin": origin}),
    ):
        pass
    assert "origin" in closed.value.reason


def test_the_page_may_load_nothing_from_elsewhere(client: TestClient) -> None:
    """The page comes without the token, and with a policy that lets it talk to this server alone."""
    answer = client.get("/", headers={"Authorization": ""})
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    for name, kind in (("page.js", "javascript"), ("page.css", "css"), ("theme.css", "css")):
        asset = client.get(f"/{name}", headers={"Authorization": ""})
        assert (asset.status_code, kind in asset.headers["content-type"]) == (200, True)
