"""Devices: who stays signed in, for how long, how many, and that one that is signed out is out at once."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tallylight.actions.caller import PERSON, Caller, Who
from tallylight.cli.main import main
from tallylight.model.bucket import Bucket
from tallylight.parts.web import devices
from tallylight.parts.web.app import Service
from tallylight.parts.web.devices import MAX_DEVICES, NOTED_S, UNUSED_S, Devices
from tallylight.parts.web.guard import Guard, allowed_hosts
from tests.parts.web.serving import AUTH, PANES, PORT, TOKEN, Served
from tests.tables import each

CHANGES = "ws://127.0.0.1:8787/api/v1/changes"


class Clock:
    """A time that is set."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "devices" / "devices.json"


@pytest.fixture
def known(file: Path, clock: Clock) -> Devices:
    return Devices(file, clock)


@attrs.define
class Signed:
    """A server with devices, and what asks it."""

    devices: Devices
    client: TestClient
    who: list[Caller]

    def sign_in(self, name: str = "Chrome, Android") -> str:
        answer = self.client.post("/api/v1/device", json={"name": name}, headers=AUTH)
        assert answer.status_code == 200, answer.text
        key: str = answer.json()["key"]
        return key

    def status(self, key: str) -> int:
        return self.client.get("/api/v1/counts", headers={"Authorization": f"Bearer {key}"}).status_code


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch, known: Devices) -> Iterator[Signed]:
    served = Served(guard=Guard(TOKEN, allowed_hosts(PORT), known.holder))
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    served.shows("sessions", *PANES)
    who = [PERSON]
    app = Service(served.guard, served._read, served.client, devices=known, asking=lambda _request: who[0]).app()
    with TestClient(app, base_url="http://127.0.0.1:8787") as client:
        yield Signed(known, client, who)


def test_the_file_holds_a_hash_and_is_this_users_alone(known: Devices, file: Path) -> None:
    """Who reads the file has no key; nobody else reads it."""
    key = known.add("Firefox\x1b[31m, Linux\u202e")
    id_, _, secret = key.partition(".")
    text = file.read_text()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert secret not in text and len(secret) == 64
    (row,) = json.loads(text)["devices"]
    assert (row["id"], row["digest"]) == (id_, hashlib.sha256(secret.encode()).hexdigest())
    assert row["name"].isprintable() and row["name"].startswith("Firefox")


def test_a_key_opens_and_nothing_like_it_does(known: Devices) -> None:
    """The whole key of a device that is known is its own; its hash, a part of it and another's are not."""
    one, two = known.add("one"), known.add("two")
    assert [known.holder(key) for key in (one, two)] == [one[:8], two[:8]]
    digest = devices.read(known._file)[one[:8]].digest
    for wrong in (
        "",
        ".",
        one[:8],
        one[:-1],
        f"{one} ",
        f"{one[:8]}.{digest}",
        f"{one[:8]}.{two[9:]}",
        one[8:],
        "\udcff.ü",
    ):
        assert known.holder(wrong) == "", wrong


def test_one_that_is_ended_while_it_asks(known: Devices) -> None:
    """Another thread takes in the devices anew at any time."""

    class Going(dict[str, devices.Device]):
        def get(self, id_: str, *_: object) -> devices.Device | None:  # type: ignore[override]
            return self.pop(id_, None)

    key = known.add("one")
    known._known = Going(known._known)
    assert known.holder(key) in ("", key[:8])
    known.add("two")
    known._known = Going(known._known)
    assert known.proof(key[:8], "x")


def test_it_is_compared_in_constant_time(known: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key is hashed and compared by `compare_digest`, also where no such device is known."""
    key, compared = known.add("one"), []

    def compare(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    for given in (key, f"{key}0", "ffffffff.0", "no key"):
        known.holder(given)
    assert compared == [(64, 64)] * 4


def test_it_is_known_after_a_restart(known: Devices, file: Path, clock: Clock) -> None:
    """Another server of the same person knows it as soon as it has looked."""
    key = known.add("one")
    again = Devices(file, clock)
    assert again.holder(key) == ""
    again.poll()
    assert again.holder(key) == key[:8]


def test_the_one_not_used_for_longest_loses_its_place(known: Devices, clock: Clock) -> None:
    """So many are kept, the most recently used."""
    keys = []
    for number in range(MAX_DEVICES):
        clock.now += 1
        keys.append(known.add(str(number)))
    clock.now += 1
    assert known.holder(keys[0])
    late = known.add("late")
    assert [bool(known.holder(key)) for key in keys] == [True, False] + [True] * (MAX_DEVICES - 2)
    assert known.holder(late) and len(devices.read(known._file)) == MAX_DEVICES


def test_what_is_not_used_expires(known: Devices, file: Path, clock: Clock) -> None:
    """A use is noted, at most once a day; ninety days after the last one the key opens nothing and is forgotten."""
    key, idle = known.add("one"), known.add("idle")
    clock.now += NOTED_S / 2
    assert known.holder(key)
    before = file.stat().st_mtime_ns
    known.poll()
    assert file.stat().st_mtime_ns == before
    clock.now += NOTED_S
    assert known.holder(key)
    known.poll()
    assert devices.read(file)[key[:8]].used == clock.now
    clock.now = 1e9 + UNUSED_S + 1
    # Even before anybody has looked.
    assert known.holder(idle) == "" and known.proof(idle[:8], "x") == "" and known.holder(key)
    known.poll()
    assert list(devices.read(file)) == [key[:8]]


@each("text", ["", "[]", "{", '{"version": 2}', '{"version": 1, "devices": {}}', '{"version": 1, "devices": [7, {}]}'])
def test_a_file_that_is_none_lets_nobody_in(known: Devices, file: Path, text: str) -> None:
    """What was written by something else is as if there were nothing; the next sign-in writes it anew."""
    key = known.add("one")
    known.poll()
    file.write_text(text)
    known.poll()
    assert known.holder(key) == ""
    assert known.holder(known.add("two"))


def test_a_file_others_can_change_lets_nobody_in(known: Devices, file: Path) -> None:
    """A file that another user could have filled is not believed."""
    key = known.add("one")
    file.parent.chmod(0o777)
    known.poll()
    assert known.holder(key) == ""
    file.parent.chmod(0o700)
    known.poll()
    assert known.holder(key)


def test_signing_in_takes_the_token(signed: Signed) -> None:
    """The key of a device opens what the token opens, and signs in no other device."""
    assert signed.status("0" * 64) == 401
    key = signed.sign_in()
    assert signed.status(key) == 200
    with signed.client.websocket_connect(CHANGES, subprotocols=["tally.v1", f"tally.token.{key}"]) as socket:
        assert socket.receive_json()["type"] == "state"
    again = signed.client.post("/api/v1/device", json={"name": ""}, headers={"Authorization": f"Bearer {key}"})
    assert (again.status_code, again.json()["rule"]) == (409, "device")
    assert signed.client.post("/api/v1/device", json={"name": ""}).status_code == 401


def test_an_agent_signs_nothing_in(signed: Signed) -> None:
    """An agent that has read the token gets no key from it."""
    for who in (Who.AGENT, Who.STRAY):
        signed.who[0] = Caller(who, (1, 1))
        answer = signed.client.post("/api/v1/device", json={"name": "x"}, headers=AUTH)
        assert (answer.status_code, answer.json()["rule"]) == (409, "permission")
    assert signed.devices._known == {}


@each("way", ["the page", "another process"])
def test_what_is_signed_out_is_out_at_once(signed: Signed, file: Path, way: str) -> None:
    """Its requests are refused and its socket is closed; another device goes on."""
    key, other = signed.sign_in(), signed.sign_in()
    protocols = ["tally.v1", f"tally.token.{key}"]
    with signed.client.websocket_connect(CHANGES, subprotocols=protocols) as socket:
        assert socket.receive_json()["type"] == "state"
        if way == "the page":
            bearer = {"Authorization": f"Bearer {key}"}
            assert signed.client.delete("/api/v1/device", headers=bearer).status_code == 200
        else:
            devices.change(file, lambda known: devices.without(known, key[:8]))
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.reason == "signed out"
    assert (signed.status(key), signed.status(other)) == (401, 200)


def test_the_server_proves_that_it_knows_the_device(signed: Signed) -> None:
    """For one nonce and one name of the server; it says nothing of a device that it does not know."""
    key, nonce = signed.sign_in(), "0" * 32
    answer = signed.client.get("/proof", params={"device": key[:8], "nonce": nonce})
    secret = hashlib.sha256(key[9:].encode()).digest()
    assert answer.json() == {"proof": hmac.new(secret, f"{nonce} 127.0.0.1:8787".encode(), "sha256").hexdigest()}
    other = signed.client.get(
        "/proof", params={"device": key[:8], "nonce": nonce}, headers={"Host": "localhost:8787"}
    ).json()
    assert other != answer.json()
    assert signed.client.get("/proof", params={"device": "00000000", "nonce": nonce}).status_code == 404
    assert signed.client.get("/proof", params={"device": key[:8], "nonce": "x"}).status_code == 422
    assert (
        signed.client.get("/proof", params={"device": key[:8], "nonce": nonce}, headers={"Host": "x"}).status_code
        == 421
    )


def test_they_are_listed_and_signed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--devices` lists them without their hashes; `--revoke` takes one of the list, or all."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file = tmp_path / "tallylight" / "devices" / "devices.json"
    assert main(["serve", "--devices"]) == 0
    assert capsys.readouterr().out == "no device is signed in\n"
    assert main(["serve", "--revoke", "all"]) == 0
    known = Devices(file)
    one, two = known.add("Chrome, Android"), known.add("Firefox, Linux")
    capsys.readouterr()
    assert main(["serve", "--devices"]) == 0
    said = capsys.readouterr().out
    assert one[:8] in said and "Firefox, Linux" in said and devices.read(file)[one[:8]].digest not in said
    assert main(["serve", "--revoke", "nobody"]) == 1
    assert "`tally serve --devices` lists them" in capsys.readouterr().err
    assert main(["serve", "--revoke", one[:8]]) == 0
    assert capsys.readouterr().out == "Chrome, Android signed out\n"
    assert list(devices.read(file)) == [two[:8]]
    assert main(["serve", "--revoke", "all"]) == 0
    assert devices.read(file) == {}
