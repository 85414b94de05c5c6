"""A real server on loopback: hundreds of listeners, slow and dead ones, floods, and the page in a browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection

from tallylight.model.status import Kind, Status
from tallylight.parts.web.connections import MAX_UNKNOWN
from tallylight.parts.web.hub import MAX_BEHIND
from tallylight.snapshot.schema import Pane, ReasonEntry
from tests.actions.real_panes import real_panes
from tests.entries import new_pane
from tests.parts.web.live import Live
from tests.patience import until

pytestmark = pytest.mark.programs

LISTENERS = 500
CHANGES = 40


def pane(number: int, status: Status = Status.WORKING, **more: object) -> Pane:
    return new_pane(id=f"%{number}", status=status, agent="claude", reason=ReasonEntry(source="screen"), **more)


async def statuses_until(listener: ClientConnection, last: str) -> list[str]:
    """The messages of *first pane* that a listener gets, until *last* is one."""
    found: list[str] = []
    while not found or found[-1] != last:
        event = json.loads(await asyncio.wait_for(listener.recv(), 30))
        if event["type"] == "change":
            found.append(event["session"]["message"])
    return found


def test_hundreds_of_listeners_get_every_change(live: Live) -> None:
    """Of 503 listeners one never reads and one died without a word; all the others get every change, in order."""

    async def run() -> None:
        live.shows(pane(1))
        listeners = await asyncio.gather(*(live.listen() for _ in range(LISTENERS)))
        lead, slow, dead = [await live.listen() for _ in range(3)]
        slow.transport.pause_reading()
        dead.transport.abort()
        for listener in listeners:
            assert json.loads(await asyncio.wait_for(listener.recv(), 30))["type"] == "state"
        told = [asyncio.create_task(statuses_until(listener, str(CHANGES))) for listener in listeners]
        for number in range(1, CHANGES + 1):
            live.shows(pane(1, message=str(number)))
            # The next one only after this one was seen: the server looks ten times a second.
            await statuses_until(lead, str(number))
        expected = [str(number) for number in range(1, CHANGES + 1)]
        for task in told:
            assert await task == expected
        async with live.client() as client:
            assert (await client.get("/api/v1/counts")).json()["total"] == 1
        slow.transport.resume_reading()
        assert (await statuses_until(slow, str(CHANGES)))[-1] == str(CHANGES)
        await asyncio.gather(*(listener.close() for listener in (*listeners, lead, slow)))

    asyncio.run(run())


def test_a_flood_hurts_nobody_else(live: Live) -> None:
    """Large bodies and wrong tokens in numbers are refused, while a listener hears of a change in time."""

    async def run() -> None:
        live.shows(pane(1))
        listener = await live.listen()
        await listener.recv()
        before = live.memory()
        async with live.client() as client:

            async def bad(number: int) -> int:
                if number % 2:
                    return (await client.get("/api/v1/sessions", headers={"Authorization": "Bearer x"})).status_code
                body = b"x" * 10_000_000
                try:
                    found = await client.post("/api/v1/text?address=a", content=body)
                except httpx2.TransportError:
                    return 413  # it is answered and closed before all of it was sent
                return found.status_code

            flood = asyncio.gather(*(bad(number) for number in range(100)))
            await asyncio.sleep(0)
            live.shows(pane(1, Status.WAITING, kind=Kind.QUESTION))
            async with asyncio.timeout(30):
                while json.loads(await listener.recv())["session"]["status"] != "waiting":
                    pass
            statuses = await flood
        assert set(statuses) <= {401, 413, 429}
        assert 429 in statuses and 413 in statuses
        assert live.memory() - before < 64 * 1024 * 1024
        await listener.close()

    asyncio.run(run())


def test_the_token_is_of_this_run_alone(live: Live, tmp_path: Path) -> None:
    """The token lies in a file that only its owner reads, for as long as the server runs; the next has another."""
    file = live.folder / "state" / "tallylight" / "serve.token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().strip() == live.token
    assert len(live.token) == 64
    again = Live(tmp_path / "again", state=tmp_path / "state").start()
    assert again.token != live.token and file.read_text().strip() == again.token
    # Whoever took the token from a page that was left open has nothing.
    headers = {"Authorization": f"Bearer {live.token}"}
    assert httpx2.get(f"{again.url}/api/v1/counts", headers=headers).status_code == 401
    live.stop()
    assert file.read_text().strip() == again.token
    again.stop(signal.SIGTERM)
    assert not file.exists()


#: What a connection that never shows the token may have sent before it falls silent.
SILENT = {
    "nothing": b"",
    "half of the headers": b"GET /api/v1/counts HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "a body that does not come": b"POST /api/v1/text HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
    "a page that is not read": b"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20,
    "a WebSocket without the token": (
        b"GET /api/v1/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ),
}
CROWD = 2000


def test_a_crowd_without_the_token_locks_nobody_out(live: Live) -> None:
    """Beside 2,000 connections that never show the token the owner is served as before, and they are ended."""

    async def run() -> None:
        live.shows(pane(1))
        # Open before, and idle: the crowd must not cost it its place.
        listener = await live.listen()
        await listener.recv()

        async def owner() -> float:
            at = time.monotonic()
            async with live.client() as client:
                assert (await client.get("/api/v1/counts", timeout=30)).status_code == 200
            return time.monotonic() - at

        async def silent(words: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
            writer.write(words)
            return reader, writer

        alone = max([await owner() for _ in range(5)])
        crowd = []
        for start in range(0, CROWD, 100):
            words = [list(SILENT.values())[number % len(SILENT)] for number in range(start, start + 100)]
            crowd += await asyncio.gather(*map(silent, words))
        beside = max([await owner() for _ in range(5)])
        assert beside < max(50 * alone, 1.0)
        assert live.connections() <= MAX_UNKNOWN + 20
        live.shows(pane(1, message="still heard"))
        await statuses_until(listener, "still heard")
        # Each is ended by the server, whatever it was in the middle of.
        async with asyncio.timeout(60):
            for reader, writer in crowd:
                with contextlib.suppress(OSError):
                    await reader.read()
                writer.close()
        await listener.close()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * CROWD + 1000), hard))
    try:
        asyncio.run(run())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


assert MAX_BEHIND > CHANGES


_ASK = """
import sys, urllib.request, urllib.error
url, token, out = sys.argv[1:]
body = b'{{"address": "{address}", "pid": 1, "start": 1}}'
headers = {{"Authorization": "Bearer " + token, "Content-Type": "application/json", "X-Forwarded-For": "203.0.113.9"}}
try:
    text = urllib.request.urlopen(urllib.request.Request(url + "/api/v1/interrupt", body, headers)).read()
except urllib.error.HTTPError as error:
    text = error.read()
open(out + ".new", "wb").write(text)
import os
os.rename(out + ".new", out)
"""


@pytest.mark.parametrize(
    ("way", "by_agent", "rule"),
    [
        ("$ASK", True, "permission"),
        # Whoever has the token and is below no agent is a person, as a browser is, wherever it was started.
        ("$ASK", False, "unreachable"),
        ("sh -c 'setsid sh -c \"$ASK & true\"'; sleep 100", True, "unreachable"),
    ],
    ids=["an agent", "a script", "left behind"],
)
def test_what_has_read_the_token(tmp_path: Path, way: str, by_agent: bool, rule: str) -> None:
    """An agent gets no more by way of the page than it has itself, whatever its headers say."""
    live = Live(tmp_path / "live", is_for_persons=False)
    live.folder.mkdir()
    live.start()
    (tmp_path / "panes").mkdir()
    try:
        live.shows(Pane(id="3", status=Status.WORKING, agent="claude"))
        with real_panes(tmp_path / "panes") as panes:
            address = f"kitty-{os.getpid()}:3"
            (panes.folder / "ask.py").write_text(_ASK.format(address=address))
            out = panes.folder / "out"
            ask = panes.folder / "ask"
            ask.write_text(f"#!/bin/sh\nenv -u PYTHONHOME {sys.executable} {ask}.py {live.url} {live.token} {out}\n")
            ask.chmod(0o755)
            served = httpx2.Client(base_url=live.url, headers={"Authorization": f"Bearer {live.token}"})
            until(lambda: served.get("/api/v1/counts").json()["total"], "it shows nothing")
            panes.run(way.replace("$ASK", str(ask)), by_agent=by_agent)
            until(out.exists, "it is not answered")
            assert json.loads(out.read_text())["rule"] == rule
    finally:
        live.stop()
