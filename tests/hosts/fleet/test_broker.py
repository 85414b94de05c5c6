"""The fleet on a real mosquitto: three machines in one list, a broker that restarts, machines that vanish."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.hosts.fleet.broker import BrokerError, Link, Subscriber
from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tests.hosts.fleet.broker import Broker, Machine, follow, seen_by

pytestmark = pytest.mark.programs

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
    follow(subscriber, lambda: "atlas" in subscriber.mirror.gone, "the machine is not gone", 5.0)
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
        took = follow(subscriber, lambda: "atlas" in subscriber.mirror.gone, "the machine is not gone", 20.0)
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
    follow(subscriber, lambda: subscriber.mirror.gone == ("atlas",), "no goodbye")


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


def test_credentials_and_certificates(tmp_path: Path) -> None:
    """With TLS and a password the right credentials get in, and a wrong password or authority does not."""
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.crt", folder=tmp_path)  # fmt: skip
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key",
            "-out", "server.csr", folder=tmp_path)  # fmt: skip
    tmp_path.joinpath("ext").write_text("subjectAltName=IP:127.0.0.1")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "ext", "-out", "server.crt", folder=tmp_path)  # fmt: skip
    subprocess.run(["mosquitto_passwd", "-b", "-c", "passwords", "me", "right"], cwd=tmp_path, check=True)
    lines = ("allow_anonymous false", f"password_file {tmp_path}/passwords", f"cafile {tmp_path}/ca.crt",
             f"certfile {tmp_path}/server.crt", f"keyfile {tmp_path}/server.key")  # fmt: skip
    broker = Broker(tmp_path, lines).start()
    try:
        secret = tmp_path / "secret"
        secret.write_text("right\n")
        secret.chmod(0o600)
        fleet = broker.fleet(tls=True, ca_file=str(tmp_path / "ca.crt"), username="me", password_file=str(secret))
        right = Subscriber(fleet)
        follow(right, lambda: right.is_complete, "the right credentials do not get in")
        other = Subscriber(attrs.evolve(fleet, ca_file=str(tmp_path / "other.crt")))
        follow(other, lambda: "certificate" in other.link.state.lower(), "the wrong authority is not named")
        secret.write_text("wrong")
        wrong = Subscriber(fleet)
        follow(wrong, lambda: "refused the connection" in wrong.link.state, "the wrong password is not named")
        assert not other.link.is_up
        assert not wrong.link.is_up
        secret.chmod(0o644)
        with pytest.raises(BrokerError, match="chmod 600"):
            Subscriber(fleet).step(0.0, 0.1)
    finally:
        broker.stop()


def test_retries_grow_and_are_bounded(tmp_path: Path) -> None:
    """A broker that is away is tried after 1, 2, 4 … and never more than 30 seconds."""
    link = Link(Broker(tmp_path).fleet(), subscribe="t/#", take=lambda _topic, _payload, _stored: None)
    now, waits = 100.0, []
    for _ in range(8):
        link.step(now, 0.0)
        waits.append(round(link._retry_at - now))
        now = link._retry_at
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def openssl(*words: str, folder: Path) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
