"""Routes that other parts add to the server: behind the same guard, and a fault costs one answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from starlette.testclient import TestClient

from tallylight.parts import Part, index
from tests.parts.web.serving import AUTH, Served

ROUTES = {"phase": f"{__name__}:phase", "broken": f"{__name__}:broken", "gone": "no.such.module:answer"}
BASE = "http://127.0.0.1:8787"


def phase(query: Mapping[str, str]) -> dict[str, object]:
    return {"phase": "full", "of": query.get("of", "")}


def broken(query: Mapping[str, str]) -> object:
    raise ValueError(query)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(index, "all_parts", lambda: (index.InstalledPart(Part(name="moon", about="", routes=ROUTES)),))
    index.forget()
    with TestClient(Served().app(), BASE, headers=AUTH) as client:
        yield client
    index.forget()


def test_a_route_of_a_part(client: TestClient) -> None:
    """It answers who has the token, and nobody else."""
    assert client.get("/api/parts/moon/phase?of=Mars").json() == {"phase": "full", "of": "Mars"}
    assert client.get("/api/parts/moon/phase", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.post("/api/parts/moon/phase").status_code == 405
    assert client.get("/api/parts/sun/phase").status_code == 404


def test_a_fault_costs_that_answer(client: TestClient) -> None:
    """What is wrong is in the log of the server, and the others answer."""
    for route in ("broken", "gone"):
        found = client.get(f"/api/parts/moon/{route}")
        assert found.status_code == 500 and "log" in found.json()["detail"]
    assert client.get("/api/parts/moon/phase").status_code == 200
