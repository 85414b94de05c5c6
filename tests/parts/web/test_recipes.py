"""The scripts of docs/places.md that tell a phone, run as they stand there, against services on loopback."""

from __future__ import annotations

import email.policy
import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.parts.web.live import Stage
from tests.patience import until

pytestmark = pytest.mark.programs

PAGE = Path(__file__).parents[3] / "docs/places.md"
#: Chosen for the page's own: what a person puts there is theirs. Not every script has the last one.
_SETTINGS = {"server": r"^server=\S+", "page": r"^page=\S+", "api": r"^api=\S+"}


class Service:
    """A service that takes messages, and keeps what was posted to it: the body with its type."""

    def __init__(self) -> None:
        posted = self.posted = list[tuple[str, bytes]]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                posted.append((self.headers["Content-Type"], self.rfile.read(length)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def run(name: str, service: Service, stage: Stage, pane: str) -> None:
    """Run the script *name* of the page for a question in *pane*, with this service and this server."""
    (script,) = re.findall(rf"^```sh\n(#!/bin/sh\n# ~/bin/{name}\n.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    values = {"server": service.url, "page": stage.live.url, "api": f"{stage.live.url}/api/v1"}
    for setting, pattern in _SETTINGS.items():
        script, count = re.subn(pattern, f"{setting}={values[setting]}", script, flags=re.M)
        assert count == 1 or setting == "api"
    told = {
        "TALLY_TITLE": 'claude asks for permission · "api" $(id)',
        "TALLY_MESSAGE": "Bash: touch made1; `id`",
        "TALLY_STATUS": "waiting",
        "TALLY_KIND": "permission",
        "TALLY_PANE": pane,
    }
    subprocess.run(["sh", "-c", script], env={**stage.live.environ, **told}, check=True, timeout=60)


def asking(stage: Stage) -> str:
    """The address of the pane that asks."""

    def found() -> str:
        request = urllib.request.Request(
            f"{stage.live.url}/api/v1/waiting", headers={"Authorization": f"Bearer {stage.live.token}"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            sessions = json.load(answer)["sessions"]
        return str(sessions[0]["address"]) if sessions else ""

    return until(found, "nothing waits")


def form(posted: tuple[str, bytes]) -> dict[str, str]:
    """The fields of a form with parts."""
    kind, body = posted
    message = BytesParser(policy=email.policy.HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_content() for part in message.iter_parts()
    }


def test_ntfy(stage: Stage, service: Service) -> None:
    """The message is the whole question, and leads to the page; for a pane that does not ask it is what was told."""
    pane = asking(stage)
    run("to-ntfy", service, stage, pane)
    found: dict[str, Any] = json.loads(service.posted[0][1])
    assert (found["topic"], found["title"]) == ("choose-a-long-secret-name", 'claude asks for permission · "api" $(id)')
    assert "touch made1" in found["message"] and "Do you want to proceed?" in found["message"]
    assert found["click"] == stage.live.url
    assert stage.live.token not in json.dumps(found)
    run("to-ntfy", service, stage, "sessions-1:%99")
    assert json.loads(service.posted[1][1]) == {**found, "message": "Bash: touch made1; `id`"}
    assert stage.typed == []


def test_pushover(stage: Stage, service: Service) -> None:
    """The message is what was told, and leads to the page."""
    run("to-pushover", service, stage, asking(stage))
    found = form(service.posted[0])
    assert (found["token"], found["user"]) == ("YOUR_APP_TOKEN", "YOUR_USER_KEY")
    assert (found["message"], found["url"]) == ("Bash: touch made1; `id`", stage.live.url)
    assert stage.live.token not in str(found)
