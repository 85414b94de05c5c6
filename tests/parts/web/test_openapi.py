"""The OpenAPI document: a property tester finds no answer that it does not describe."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tallylight.model.bucket import Bucket
from tallylight.parts.web.devices import Devices
from tests.parts.web.serving import PANES, TOKEN, Served
from tests.strategies import at_most

#: No other file needs it.
pytest_plugins = ["schemathesis.pytest.plugin"]


def _schema() -> schemathesis.BaseSchema:
    folder = Path(tempfile.mkdtemp(prefix="tallylight-openapi-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    served = Served(devices=Devices(folder / "devices" / "devices.json"))
    served.shows("sessions", *PANES)
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    return schemathesis.openapi.from_asgi("/openapi.json", served.app(), headers={"Host": "127.0.0.1:8787"})


schema = _schema()


@schema.parametrize()
@settings(max_examples=at_most(30), deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_described(case: schemathesis.Case) -> None:
    """Whatever is asked, with the token, the answer is one that the document describes, and never a fault."""
    answer = case.call(headers={"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1:8787"})
    assert answer.status_code < 500
    checks = [
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
        unsupported_method,
    ]
    case.validate_response(answer, checks=checks)


def test_every_route_is_in_the_document() -> None:
    """The tester has seen all routes that say or do something."""
    routes = [
        "sessions", "waiting", "counts", "session", "buffer", "question", "answer", "text",
        "interrupt", "push", "subscribe", "unsubscribe", "device",
    ]  # fmt: skip
    assert {operation.ok().path for operation in schema.get_all_operations()} == {f"/api/v1/{name}" for name in routes}
