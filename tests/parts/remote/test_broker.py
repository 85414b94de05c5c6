"""The fleet on a real mosquitto: three machines in one list, a broker that restarts, machines that vanish."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.config.fleet import Fleet
from tallylight.model.errors import TallyError
from tallylight.model.status import Kind, Status
from tallylight.parts.remote.broker import Link
from tallylight.parts.remote.outbox import Outbox
from tallylight.parts.remote.subscriber import Subscriber
from tallylight.parts.remote.topics import Mark, Presence
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Pane, Snapshot
from tests.entries import pane_with
from tests.parts.remote.broker import Authority, Broker, Machine, follow, seen_by, tls_lines
from tests.patience import until

pytestmark = pytest.mark.programs

OWN = Presence(True, 1.0, "one")
WAITING = Pane(id="3", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", message="Which one?", since=5.0)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path).start()
    yield made
    made.stop()


@pytest.fixture
def machines(broker: Broker, tmp_path: Path) -> Iterator[list[Machine]]:
    made = [Machine(name, tmp_path / name, broker.fleet()).start() for name in ("atlas", "zeus", "hera")]
    yield made
    for machine in made:
        machine.stop()


def test_three_machines_in_one_list(broker: Broker, machines: list[Machine]) -> None:
    """Three machines with 100 agents each are all in one list, on the command line too."""
    for machine in machines:
        machine.shows(*(attrs.evolve(WAITING, id=str(n), project=machine.name) for n in range(100)))
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: len(seen_by(subscriber)) == 300, "not all panes arrived")
    listed = machines[0].tally("status", "--broker", "--json")
    found = json.loads(listed.stdout)
    assert len(found["panes"]) == 300
    assert found["machines"] == {"atlas": True, "hera": True, "zeus": True}
    assert {pane["host"].partition("/")[0] for pane in found["panes"]} == {"atlas", "zeus", "hera"}


def test_a_restarted_broker_loses_no_final_state(broker: Broker, machines: list[Machine]) -> None:
    """What changes while the broker is away, also a pane that closes, is right once it is back."""
    for machine in machines:
        machine.shows(WAITING, attrs.evolve(WAITING, id="4"))
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: len(seen_by(subscriber)) == 6, "not all panes arrived")
    broker.stop()
    follow(subscriber, lambda: not subscriber.link.is_up, "the loss was not noticed")
    for machine in machines:
        for status in (Status.WORKING, Status.ERROR, Status.DONE):
            machine.shows(attrs.evolve(WAITING, status=status, kind=None))
    broker.start()

    def is_right() -> bool:
        panes = seen_by(subscriber)
        return len(panes) == 3 and all(pane.status is Status.DONE for pane in panes.values())

    follow(subscriber, is_right, f"the final states did not arrive: {seen_by(subscriber)}")


def test_a_killed_publisher_is_gone_at_once_and_returns(broker: Broker, machines: list[Machine]) -> None:
    """A machine whose publisher is killed is gone; started again it is back, without what has closed since."""
    atlas = machines[0]
    atlas.shows(WAITING, attrs.evolve(WAITING, id="4"))
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: len(seen_by(subscriber)) == 2, "the panes did not arrive")
    atlas.stop(signal.SIGKILL)
    follow(subscriber, lambda: not subscriber.mirror.known["atlas"], "the machine is not gone", 5.0)
    assert seen_by(subscriber) == {}
    atlas.folder = atlas.folder.with_name("atlas-again")
    atlas.start().shows(WAITING)
    follow(subscriber, lambda: list(seen_by(subscriber)) == [("atlas", "3")], "the machine did not come back")


def test_a_machine_that_hangs_is_gone_within_its_keepalive(broker: Broker, tmp_path: Path) -> None:
    """A machine from which nothing comes any more, not even a closed connection, is gone within `keepalive_s`."""
    keepalive_s = 10.0
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet(keepalive_s=keepalive_s)).start()
    try:
        machine.shows(WAITING)
        subscriber = Subscriber(broker.fleet())
        follow(subscriber, lambda: len(seen_by(subscriber)) == 1, "the pane did not arrive")
        assert machine.process is not None
        machine.process.send_signal(signal.SIGSTOP)
        took = follow(subscriber, lambda: not subscriber.mirror.known["atlas"], "the machine is not gone", 20.0)
        # mosquitto looks for the silent once a second or so.
        assert took <= keepalive_s + 2
    finally:
        machine.stop(signal.SIGKILL)


def test_a_publisher_that_is_stopped_says_goodbye(broker: Broker, tmp_path: Path) -> None:
    """An orderly end shows the machine as gone, and says nothing on the way out."""
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet()).start()
    machine.shows(WAITING)
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: len(seen_by(subscriber)) == 1, "the pane did not arrive")
    process = machine.process
    assert process is not None
    process.terminate()
    _, errors = process.communicate(timeout=10)
    machine.process = None
    assert process.returncode == 0
    assert errors.count("\n") == 1  # that it is connected
    follow(subscriber, lambda: subscriber.mirror.known == {"atlas": False}, "no goodbye")


def test_a_broker_that_is_away_is_said(broker: Broker, tmp_path: Path) -> None:
    """Without its broker `publish` says why and tries on; `status --broker` fails with the reason."""
    broker.stop()
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet()).start()
    process = machine.process
    assert process is not None and process.stderr is not None
    assert "refused" in process.stderr.readline()
    found = machine.tally("status", "--broker")
    assert found.returncode == 1
    assert "refused" in found.stderr
    broker.start()
    machine.shows(WAITING)
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: len(seen_by(subscriber)) == 1, "the pane did not arrive")
    machine.stop()


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Authority]:
    folder = tmp_path_factory.mktemp("authorities")
    return Authority(folder, "ca"), Authority(folder, "other")


def test_credentials(tmp_path: Path, authorities: tuple[Authority, Authority]) -> None:
    """With TLS and a password the right credentials get in, and a wrong password does not."""
    ca, _ = authorities
    subprocess.run(["mosquitto_passwd", "-b", "-c", "passwords", "me", "right"], cwd=tmp_path, check=True)
    lines = ("allow_anonymous false", f"password_file {tmp_path}/passwords", *tls_lines(ca))
    broker = Broker(tmp_path, lines).start()
    try:
        secret = tmp_path / "secret"
        secret.write_text("right\n")
        secret.chmod(0o600)
        fleet = broker.fleet(tls=True, ca_file=f"{ca.folder}/ca.crt", username="me", password_file=str(secret))
        right = Subscriber(fleet)
        follow(right, lambda: right.is_complete, "the right credentials do not get in")
        secret.write_text("wrong")
        wrong = Subscriber(fleet)
        follow(wrong, lambda: "refused the connection" in wrong.link.state, "the wrong password is not named")
        assert not wrong.link.is_up
        secret.chmod(0o644)
        with pytest.raises(TallyError, match="chmod 600"):
            Subscriber(fleet).step(0.0, 0.1)
    finally:
        broker.stop()


def test_client_certificates(tmp_path: Path, authorities: tuple[Authority, Authority]) -> None:
    """A certificate of the right authority gets in; without one, with another's or an old one the reason is said."""
    ca, other = authorities
    broker = Broker(tmp_path, (*tls_lines(ca), "require_certificate true", "use_identity_as_username true")).start()

    def fleet(certificate: str = "", authority: str = "ca") -> Fleet:
        keys = {"cert_file": f"{certificate}.crt", "key_file": f"{certificate}.key"} if certificate else {}
        return broker.fleet(tls=True, ca_file=f"{ca.folder}/{authority}.crt", **keys)

    def state(fleet: Fleet) -> str:
        reader = Subscriber(fleet)
        follow(reader, lambda: reader.link.has_failed or reader.is_complete, "nothing happens")
        return reader.link.state

    good = ca.sign("atlas")
    try:
        assert state(fleet(good)) == "connected"
        refused = "the broker refused this machine's certificate (`cert_file` in [fleet]): "
        assert state(fleet()).startswith(refused)
        assert state(fleet(ca.sign("atlas", is_over=True))) == f"{refused}certificate expired"
        assert state(fleet(other.sign("atlas"))) == f"{refused}unknown ca"
        wrong = state(fleet(good, authority="other"))
        assert wrong.startswith("the broker's certificate is not good: ") and "`ca_file` in [fleet]" in wrong
        with pytest.raises(TallyError, match=r"key_file of \[fleet\]: .*gone\.key cannot be read"):
            state(attrs.evolve(fleet(good), key_file="/gone.key"))
        with pytest.raises(TallyError, match="cannot be used"):
            state(attrs.evolve(fleet(good), key_file=f"{ca.folder}/ca.key"))
    finally:
        broker.stop()
    old = Broker(tmp_path, tls_lines(ca, is_over=True)).start()
    try:
        broker.port = old.port
        assert "certificate has expired" in state(fleet(good))
    finally:
        old.stop()


def test_more_panes_than_a_broker_keeps_for_a_client(broker: Broker) -> None:
    """A broker drops what is more than 1000 messages behind, so nobody asks for all of a large fleet at once."""
    machines, each = 30, 100
    link = Link(broker.fleet(), subscribe="nothing", take=lambda _topic, _payload, _stored: None)
    outboxes = [Outbox("tallylight", f"m{n}", OWN) for n in range(machines)]
    waiting: set[str] = set()
    panes = tuple(attrs.evolve(WAITING, id=str(n)) for n in range(each))
    for outbox in outboxes:
        outbox.show([Snapshot(host="kitty", pid=1, started=0.0, written=0.0, panes=panes)])

    def acknowledged(topic: str) -> None:
        waiting.discard(topic)
        for outbox in outboxes:
            outbox.acknowledged(topic)

    link.acknowledged = acknowledged

    def send() -> bool:
        link.step(time.monotonic(), 0.01)
        for outbox in outboxes if link.is_up else ():
            for place, payload in outbox.take(0.0).items():
                link.send(place, payload)
                waiting.add(place)
        return link.is_up and not waiting

    until(send, "not all is sent")
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: subscriber.is_complete, "it is never complete", 60.0)
    assert len(seen_by(subscriber)) == machines * each
    assert subscriber.notes() == []


def test_two_machines_of_one_name(broker: Broker, tmp_path: Path) -> None:
    """The second one is not shown, and both are told; it takes the place of the first when that ends."""
    first = Machine("atlas", tmp_path / "one", broker.fleet()).start()
    first.shows(WAITING)
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: list(seen_by(subscriber)) == [("atlas", "3")], "the first one is not there")
    second = Machine("atlas", tmp_path / "two", broker.fleet()).start()
    second.shows(attrs.evolve(WAITING, id="9"))
    try:
        follow(
            subscriber, lambda: subscriber.mirror.there["atlas"][0].namesake, "the first one says nothing of the other"
        )
        assert list(seen_by(subscriber)) == [("atlas", "3")]
        assert "another machine also uses the name atlas" in first.tally("status", "--broker").stderr
        assert second.process is not None and second.process.stderr is not None
        assert "connected" in second.process.stderr.readline()
        told = second.process.stderr.readline()
        assert "is called atlas since" in told and "`machine` in [fleet]" in told
        first.stop(signal.SIGKILL)
        follow(subscriber, lambda: list(seen_by(subscriber)) == [("atlas", "9")], "the second one is not shown then")
    finally:
        first.stop()
        second.stop()


@pytest.mark.parametrize("is_allowed", [True, False])
def test_marks(broker: Broker, tmp_path: Path, *, is_allowed: bool) -> None:
    """A mark becomes a request to the host of the pane, where the machine allows it and it is what the person saw."""
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet(marks=is_allowed)).start()
    reader = Machine("zeus", tmp_path / "zeus", broker.fleet()).start()
    spool = Spool("kitty", environ=machine.environ)
    done = attrs.evolve(WAITING, status=Status.DONE, kind=None)
    machine.shows(done)
    subscriber = Subscriber(broker.fleet())
    follow(subscriber, lambda: ("atlas", "3") in seen_by(subscriber), "the pane did not arrive")
    address = f"atlas/kitty-{os.getpid()}:3"
    try:
        found = subprocess.Popen(
            reader.command("seen", "--broker", address), env=dict(reader.environ), cwd=reader.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if not is_allowed:
            assert "atlas takes no marks: `marks = true` in [fleet]" in found.communicate(timeout=30)[1]
            subscriber.mark("atlas", f"kitty-{os.getpid()}", "3", Mark("seen", Status.DONE, done.since))
            assert machine.process is not None and machine.process.stderr is not None
            subscriber.step(time.monotonic(), 0.1)
            lines = [machine.process.stderr.readline() for _ in range(2)]
            assert "mark ignored: this machine takes no marks" in lines[1]
            assert spool.take() == []
            return
        asked: list[Request] = []
        until(lambda: bool(asked.extend(spool.take()) or asked), "no request")
        assert asked == [Request("seen", "3")]
        machine.shows(pane_with(done, seen=True))
        assert found.communicate(timeout=30)[0] == f"{address} is marked as looked at\n"
        # What the person saw is no longer so.
        subscriber.mark("atlas", f"kitty-{os.getpid()}", "3", Mark("snooze", Status.WAITING, done.since, 5.0))
        subscriber.mark("atlas", f"kitty-{os.getpid()}", "3", Mark("snooze", Status.DONE, done.since, 7.0))
        asked.clear()
        follow(subscriber, lambda: bool(asked.extend(spool.take()) or asked), "no request")
        assert asked == [Request("snooze", "3", ("7",))]
    finally:
        spool.close()
        machine.stop()
        reader.stop()


@pytest.mark.parametrize("jitter", [0.0, 1.0])
def test_retries_grow_and_are_bounded(tmp_path: Path, jitter: float) -> None:
    """A broker that is away is tried after 1, 2, 4 … and never more than 30 seconds, or up to a quarter earlier."""
    link = Link(
        Broker(tmp_path).fleet(), subscribe="t/#", take=lambda _topic, _payload, _stored: None, jitter=lambda: jitter
    )
    now, waits = 100.0, []
    for _ in range(8):
        link.step(now, 0.0)
        waits.append((link._retry_at - now) / (1 - jitter / 4))
        now = link._retry_at
    assert waits == pytest.approx([1, 2, 4, 8, 16, 30, 30, 30])
