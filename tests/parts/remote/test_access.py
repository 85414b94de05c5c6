"""The access list of docs/places.md on a real mosquitto: who may show, see and mark what."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.config.fleet import Fleet
from tallylight.model.status import Status
from tallylight.parts.remote.broker import Link
from tallylight.parts.remote.subscriber import Subscriber
from tallylight.parts.remote.topics import Mark, Presence, encode_pane, encode_presence, topic
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Pane
from tests.parts.remote.broker import Authority, Broker, Machine, follow, seen_by, tls_lines

pytestmark = pytest.mark.programs

DOCS = Path(__file__).parents[3] / "docs/places.md"
DONE = Pane(id="3", status=Status.DONE, agent="claude", since=5.0)


@attrs.frozen
class Organisation:
    """A broker as the page has it, and an authority that names machines and persons."""

    broker: Broker
    authority: Authority

    def fleet(self, name: str, **changes: object) -> Fleet:
        """What *name* has in its configuration."""
        file = self.authority.sign(name)
        keys = {"ca_file": f"{self.authority.folder}/ca.crt", "cert_file": f"{file}.crt", "key_file": f"{file}.key"}
        return self.broker.fleet(tls=True, **keys, **changes)


@pytest.fixture
def organisation(tmp_path: Path) -> Iterator[Organisation]:
    authority = Authority(tmp_path, "ca")
    page = DOCS.read_text()
    settings = re.search(r"```conf\nlistener 8883\n(.*?)```", page, re.DOTALL)
    rules = re.search(r"```text\n(# Every machine writes.*?)```", page, re.DOTALL)
    assert settings is not None and rules is not None
    acl = tmp_path / "tallylight.acl"
    acl.write_text(rules[1])
    acl.chmod(0o600)
    own = [line for line in settings[1].splitlines() if not re.match(r"(cafile|certfile|keyfile|acl_file) ", line)]
    assert own == ["require_certificate true", "use_identity_as_username true"]
    broker = Broker(tmp_path, (*tls_lines(authority), *own, f"acl_file {acl}")).start()
    yield Organisation(broker, authority)
    broker.stop()


def test_who_may_do_what(organisation: Organisation, tmp_path: Path) -> None:
    """A machine shows itself and nobody else; all may look; a mark of somebody who may not set one is not heard."""
    atlas = Machine("atlas", tmp_path / "atlas", organisation.fleet("atlas", marks=True)).start()
    spool = Spool("kitty", environ=atlas.environ)
    try:
        atlas.shows(DONE)
        anna, zeus = Subscriber(organisation.fleet("anna")), Subscriber(organisation.fleet("zeus"))
        for reader in (anna, zeus):
            follow(reader, lambda r=reader: list(seen_by(r)) == [("atlas", "3")], "the pane is not there")  # type: ignore[misc]
        host = f"kitty-{os.getpid()}"
        zeus.mark("atlas", host, "3", Mark("snooze", Status.DONE, DONE.since, 5.0))
        link = zeus.link
        gone = encode_presence(Presence(online=False, at=9.0))
        for names, payload in (
            (("atlas", "pane", host, "3"), b""),
            (("atlas", "pane", host, "4"), encode_pane(attrs.evolve(DONE, id="4"))),
            (("atlas", "machine"), gone),
            (("hera", "machine"), encode_presence(Presence(online=True, at=9.0))),
            (("zeus", "machine"), encode_presence(Presence(online=True, at=9.0))),
        ):
            link.send(topic("tallylight", *names), payload)
        follow(zeus, lambda: "zeus" in zeus.mirror.known, "what zeus may say of itself does not arrive")
        follow(anna, lambda: "zeus" in anna.mirror.known, "what zeus may say of itself does not arrive")
        anna.mark("atlas", host, "3", Mark("seen", Status.DONE, DONE.since))
        asked: list[Request] = []
        follow(anna, lambda: bool(asked.extend(spool.take()) or asked), "the mark did not arrive")
        assert asked == [Request("seen", "3")]
        assert [*anna.mirror.known] == ["atlas", "zeus"] and list(seen_by(anna)) == [("atlas", "3")]
        assert anna.notes() == zeus.notes() == []
    finally:
        spool.close()
        atlas.stop()


def test_a_machine_under_anothers_name(organisation: Organisation, tmp_path: Path) -> None:
    """With the certificate of another machine nothing is shown under this one's name."""
    reader = Subscriber(organisation.fleet("anna"))
    false = Machine("atlas", tmp_path / "false", organisation.fleet("zeus")).start()
    heard: list[str] = []
    spy = Link(organisation.fleet("zeus"), "tallylight/#", lambda topic, _payload, _stored: heard.append(topic))
    try:
        false.shows(DONE)
        assert false.process is not None and false.process.stderr is not None
        assert "connected" in false.process.stderr.readline()
        true = Machine("atlas", tmp_path / "true", organisation.fleet("atlas")).start()
        try:
            true.shows(attrs.evolve(DONE, id="7"))
            follow(reader, lambda: reader.is_complete and bool(seen_by(reader)), "the machine itself is not shown")
            assert list(seen_by(reader)) == [("atlas", "7")]
            spy.step(time.monotonic(), 0.5)
            assert not [topic for topic in heard if "/mark/" in topic]
        finally:
            true.stop()
    finally:
        false.stop()
