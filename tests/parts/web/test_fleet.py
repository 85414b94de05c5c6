"""`tally serve --broker`: the other machines of a fleet on the page, to look at and nothing else."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import httpx2
import pytest
from starlette.testclient import TestClient

from tallylight.actions.caller import PERSON
from tallylight.actions.client import PaneClient
from tallylight.parts.web.answering import Answering
from tallylight.parts.web.verbs import serve
from tallylight.snapshot import labels_file
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Snapshot
from tallylight.snapshot.writer import SnapshotWriter
from tests.parts.remote.broker import Broker, Machine
from tests.parts.remote.test_feed import HARMFUL, WAITING
from tests.parts.web.browser import Browser
from tests.parts.web.live import Live
from tests.parts.web.serving import AUTH, FakePanes, Served
from tests.patience import until


class Willing(FakePanes):
    """PaneAccess that would, too."""

    def can_type(self, host: str, pane: object) -> bool:
        return True


@pytest.mark.parametrize("host", ["kitty-7/kitty-4711", "sessions-1/sessions-2", "atlas/x/kitty-1", "/kitty-4711"])
def test_whatever_a_machine_calls_itself_nothing_is_done_for_it(host: str) -> None:
    """A host that a broker told of is no terminal of this machine, though it may be named like one."""
    found = Row(host, HARMFUL)
    willing = Answering(PaneClient(Willing(), lambda: PERSON, lambda _: "all"))
    assert not willing.can_see(found)
    assert not willing.can_type(found)
    own = Row(host.replace("/", "-"), HARMFUL)
    assert willing.can_see(own)
    assert willing.can_type(own) or own.host.startswith("kitty-")


def test_it_is_refused(served: Served) -> None:
    """Its screen cannot be asked for, and no answer leads anywhere."""
    served.panes = Willing()
    served.shows("atlas/sessions", HARMFUL)
    with TestClient(served.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as client:
        (row,) = rows_of(client.get("/api/v1/sessions").json(), "atlas")
        given = {"address": row["address"], "pid": 1, "start": 1}
        refused = [
            client.get("/api/v1/buffer", params={"address": row["address"]}),
            client.get("/api/v1/question", params={"address": row["address"]}),
            client.post("/api/v1/answer", json={**given, "fingerprint": "x", "choice": 1}),
            client.post("/api/v1/text", json={**given, "text": "x"}),
            client.post("/api/v1/interrupt", json=given),
        ]
    assert [(answer.status_code, answer.json()["rule"]) for answer in refused] == [(409, "unreachable")] * 5
    assert not row["can_see"] and not row["can_type"]
    assert served.panes.typed == {}


class Slow:
    """A fleet whose broker takes its time, and a client of it that fails at last."""

    link, problem = SimpleNamespace(has_failed=False), ""
    others = (Snapshot(host="atlas/kitty", pid=1, started=0.0, written=0.0, panes=(WAITING,)),)

    def __init__(self) -> None:
        self.answers, self.fails = threading.Event(), threading.Event()
        self.is_told = False

    def poll(self, now: float) -> bool:
        self.answers.wait(60)
        if self.is_told:
            self.fails.wait(60)
            raise RuntimeError("a fault in the client")
        self.is_told = True
        return True


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_this_machine_does_not_wait_for_a_broker(tmp_path: Path) -> None:
    """Its own state is read while the broker is waited for; what nobody follows any more is not shown."""
    fleet = Slow()
    folder = tmp_path / "hosts"
    folder.mkdir(mode=0o700)
    writer = SnapshotWriter(folder / f"kitty-{os.getpid()}.json", "kitty", time.time, min_interval=0.0)
    writer.publish([WAITING], time.monotonic())
    everyone = serve.Everyone(Feed(folder), labels_file.LabelsFile(tmp_path / "labels"), fleet)  # type: ignore[arg-type]
    (own,) = everyone.read() or ()
    assert own.host == "kitty"
    assert everyone.read() is None
    fleet.answers.set()
    until(lambda: len(everyone.read() or ()) == 2, "the fleet does not come")
    fleet.fails.set()
    until(lambda: len(everyone.read() or ()) == 1, "the fleet does not go")
    writer.close()


def rows_of(said: dict[str, Any], machine: str) -> list[dict[str, Any]]:
    """What the server says of one machine."""
    return [row for row in said["sessions"] if row["machine"] == machine]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path).start()
    yield made
    made.stop()


@pytest.mark.programs
def test_a_fleet_on_the_page(broker: Broker, tmp_path: Path, browser: Browser) -> None:
    """Other machines are shown as long as they are there; this one says itself what it shows, broker or not."""
    studio = Machine("studio", tmp_path / "studio", broker.fleet()).start()
    atlas = Machine("atlas", tmp_path / "atlas", broker.fleet()).start()
    atlas.shows(HARMFUL)
    studio.shows(attrs.evolve(WAITING, id="9"))
    live = Live(tmp_path / "live")
    live.folder.mkdir()
    try:
        live.start({"XDG_CONFIG_HOME": studio.environ["XDG_CONFIG_HOME"]}, "--broker")
        live.shows(attrs.evolve(WAITING, id="5"))

        def shown() -> dict[str, list[str]]:
            headers = {"Authorization": f"Bearer {live.token}"}
            said = httpx2.get(f"{live.url}/api/v1/sessions", headers=headers).json()
            assert not any(row["choices"] for row in said["sessions"])
            machines = {row["machine"] for row in said["sessions"]}
            return {machine: [row["id"] for row in rows_of(said, machine)] for machine in machines}

        until(lambda: shown() == {"": ["5"], "atlas": ["3"]}, "the machine does not come")
        browser.open(live)
        until(lambda: "atlas 3" in browser.texts(".name"), f"not on the page: {browser.texts('.name')}")
        assert len(browser.texts(".card")) == 2 and not browser.texts(".choices button")
        browser.picture("fleet")
        atlas.stop(signal.SIGKILL)
        until(lambda: shown() == {"": ["5"]}, "the machine does not go")
        until(lambda: len(browser.texts(".card")) == 1, "it does not leave the page")
        atlas.stop()
        broker.stop()
        live.shows(attrs.evolve(WAITING, id="6"))
        until(lambda: shown() == {"": ["6"]}, "this machine waits for the broker")
        live.stop()
    finally:
        if live.process is not None:
            live.process.kill()
        studio.stop()
        atlas.stop()
