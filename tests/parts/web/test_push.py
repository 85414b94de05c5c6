"""Web Push: who may be told, what, when and how, and what becomes of what cannot be sent."""

from __future__ import annotations

import base64
import json
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid02
from starlette.testclient import TestClient

from tallylight.config.settings import Push as Settings
from tallylight.model.bucket import Bucket
from tallylight.model.status import Kind, Status
from tallylight.parts.web import push
from tallylight.parts.web.devices import Devices
from tallylight.parts.web.guard import Guard, allowed_hosts
from tallylight.parts.web.push import endpoints, sealing
from tallylight.parts.web.push.endpoints import ForbiddenError, Reply, parse
from tallylight.parts.web.push.routes import Push
from tallylight.parts.web.push.sender import FIRST_PUSH_RETRY_S, LAST_S, MAX_PENDING, MAX_WAIT_S, Sender
from tallylight.parts.web.push.subscriptions import MAX_SUBSCRIPTIONS, Store, Subscription
from tallylight.parts.web.push.telling import PANE_RETURNS_S, Message, Teller
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tallylight.tracker.notify import NEED_SETTLES_S, NOTICE_GAP_S
from tallylight.tracker.notify import Settings as Notify
from tests.entries import pane_with
from tests.parts.web.push_service import Phone, PushService, push_service
from tests.parts.web.serving import AUTH, JSON, PANES, PORT, TOKEN, Served
from tests.patience import until
from tests.tables import each

FAR = "https://push.example.org/send/1"
#: The example of RFC 8291, section 5 and appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
SEALED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y"
    "l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# What is sent ----------------------------------------------------------------------------------------------------


def test_the_example_of_the_standard() -> None:
    """The same keys and salt give the bytes of RFC 8291."""
    to = sealing.reader(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    key = ec.derive_private_key(
        int.from_bytes(decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big"), ec.SECP256R1()
    )
    assert sealing.seal(PLAIN, to, salt=decoded("DGv6ra1nlYgDCS1FRnbzlw"), key=key) == decoded(SEALED)


def test_another_program_reads_what_is_sealed() -> None:
    """Messages of one length class look alike, each is another time another one, and only one browser reads them."""
    phone = Phone()
    to = sealing.reader(**phone.keys)
    short, longer = (json.dumps({"title": "x" * length}).encode() for length in (1, 300))
    first, second, third = sealing.seal(short, to), sealing.seal(short, to), sealing.seal(longer, to)
    assert phone.read(first) == phone.read(second) == {"title": "x"} and phone.read(third) == {"title": "x" * 300}
    assert len(first) == len(second) == len(third) and first != second
    assert len(sealing.seal(bytes(endpoints.MAX_PLAIN), to)) <= 4096
    with pytest.raises(Exception, match=r".*"):
        Phone().read(first)
    with pytest.raises(ValueError, match="more than"):
        sealing.seal(bytes(endpoints.MAX_PLAIN + 1), to)


GARBAGE = ["", "!!", "AAAA", "A" * 86, "A" * 87, "é" * 87, "\0" * 87, "BA" + "_" * 85]


@each("bad", GARBAGE)
def test_garbage_for_keys(bad: str) -> None:
    """What is no point of the curve, or no secret, is refused in words."""
    good = Phone().keys
    with pytest.raises(sealing.BadKeyError):
        sealing.reader(bad, good["auth"])
    with pytest.raises(sealing.BadKeyError):
        sealing.reader(good["p256dh"], bad)


# Where to --------------------------------------------------------------------------------------------------------

FORBIDDEN = [
    "", "x", "file:///etc/passwd", "http://push.example.org/1", "ftp://push.example.org/1", "//push.example.org/1",
    "https://", "https:///1", "https://localhost/1", "https://a.localhost/1", "https://127.0.0.1/1", "https://127.1/1",
    "https://0x7f.1/1", "https://2130706433/1", "https://0/1", "https://[::1]/1", "https://[::ffff:127.0.0.1]/1",
    "https://[::ffff:7f00:1]/1", "https://10.0.0.1/1", "https://192.168.1.1/1", "https://172.16.0.1/1",
    "https://169.254.169.254/latest/meta-data", "https://100.64.0.1/1", "https://0.0.0.0/1", "https://224.0.0.1/1",
    "https://[fe80::1]/1", "https://[fe80::1%25eth0]/1", "https://[fc00::1]/1", "https://[2002:7f00:1::1]/1",
    "https://[64:ff9b::7f00:1]/1", "https://[::]/1", "https://240.0.0.1/1", "https://255.255.255.255/1",
    "https://router/1", "https://printer.local/1", "https://nas.home/1", "https://x.internal/1",
    "https://me@push.example.org/1", "https://push.example.org@127.0.0.1/1", "https://push.example.org:22/1",
    "https://push.example.org:0/1", "https://push.example.org:99999/1", "https://push.example.org:x/1",
    "https://push.example.org/1#x", "https://push.example.org\\@127.0.0.1/", "https://push.example.org/a b",
    "https://push.example.org/\r\nHost: x", "https://push.exämple.org/1", "https://[::1/1", "https://push..org/1",
    "https://-/1", f"https://push.example.org/{'x' * 1024}", "HTTPS://LOCALHOST/", "https://localhost./1",
]  # fmt: skip


#: Addresses that are not of the public internet, or lead on to one that nobody has checked.
INNER = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.9", "192.0.0.10", "192.0.0.170",
    "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.1.1", "192.175.48.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::10.0.0.1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1",
    "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1:fffe::10.0.0.1",
    "64:ff9b:2::1", "100::1", "100:0:0:1::1", "200::1", "1::1", "1fff::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:1::2", "2001:2::1", "2001:3::1", "2001:4:112::1",
    "2001:5::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff::1", "2001:db8::1", "2002:a00:1::1",
    "2002:7f00:1::1", "2002:808:808::1", "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:10.0.0.1", "2620:4f:8000::1",
    "3ffe::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "8000::1", "e000::1", "fc00::1", "fd12:3456::1",
    "fe00::1", "fe80::1", "fe80::1%eth0", "fe80::1%25eth0", "febf::1", "fec0::1", "fec0::1%1", "feff::1", "ff02::1",
    "ff0e::1", "2606:4700::1111%eth0", "fec0:0:0:0:0:0:0:1", "FEC0::1", "0:0:0:0:0:ffff:a00:1", "fec0::10.0.0.1",
]  # fmt: skip
#: How addresses are written that some resolvers take for those of this machine, and names that look like one.
SPELLED = [
    "0", "127.1", "127.0.1", "0x7f.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1",
    "127.0.0.01", "127.0.0.1.", "10.0.0.1.", "1.1.1.1.", "8.8.8.8%eth0", "0300.0250.1.1", "3232235777", "127.0.0.0x1",
    "127.0.0.1..", "localhost", "localhost.", "LOCALHOST.", "a.localhost.", "127。0。0。1", "１２７.0.0.1", "①②⑦.0.0.1",
    "127．0．0．1", "localhost。", "push.example.org。", "printer.local.", "[127.0.0.1]", "[0x7f::1]",
    "[::ffff:0x7f.1]", "[v1.fe80]",
]  # fmt: skip


@each("host", [*INNER, *SPELLED])
def test_no_spelling_of_an_inner_address(host: str) -> None:
    """Only global unicast addresses get messages, as they are named and as a name is resolved to them."""
    with pytest.raises(ForbiddenError):
        parse(f"https://[{host}]/1" if ":" in host and "[" not in host else f"https://{host}/1")
    if host in INNER:
        assert not endpoints.is_public(host)


OUTER = [
    "1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.254", "2000::1",
    "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "3ffd::1", "3fff:1000::1",
]  # fmt: skip


@each("host", OUTER)
def test_outer_addresses(host: str) -> None:
    """The neighbours of inner networks are public."""
    assert endpoints.is_public(host)
    assert parse(f"https://[{host}]/1" if ":" in host else f"https://{host}/1").host == host


@each("url", FORBIDDEN)
def test_where_nothing_is_sent(url: str) -> None:
    """Neither by another protocol, nor to this machine or its network, however that is written."""
    with pytest.raises(ForbiddenError):
        parse(url)


def test_where_messages_go() -> None:
    """To the services that there are; and to one of a person's own network that they have named."""
    for host in ("fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "1.1.1.1"):
        found = parse(f"https://{host}/a/b?c=d")
        assert (found.host, found.port, found.target, found.audience) == (host, 443, "/a/b?c=d", f"https://{host}")
    assert parse("https://[2606:4700::1111]/").audience == "https://[2606:4700::1111]"
    own = parse("https://push.lan:8443/x", ("push.lan:8443",))
    assert own.is_private and own.audience == "https://push.lan:8443"
    for host in ("push.lan", "push.lan:8444"):
        with pytest.raises(ForbiddenError):
            parse(f"https://{host}/x", ("push.lan:8443",))


@pytest.mark.slow
def test_a_name_that_leads_into_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of the public internet with an inner address, alone or beside a public one, is not connected to."""
    for rows in (["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1"], ["fe80::1%eth0"], ["fec0::1"]):
        found = [(0, 0, 0, "", (address, 443)) for address in rows]
        monkeypatch.setattr(endpoints.socket, "getaddrinfo", lambda *_words, found=found, **_more: found)
        monkeypatch.setattr(endpoints.socket, "socket", lambda *_words: pytest.fail("it is connected to"))
        with pytest.raises(ForbiddenError, match="not public"):
            endpoints.post(parse(FAR), {}, b"")


# What is told, and when --------------------------------------------------------------------------------------------

WAITS = Pane(
    id="1", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", project="api", since=2000.0,
    message="Run the secret migration?", what="Bash: npm test",
)  # fmt: skip


@attrs.define
class Told:
    """A teller and its clock: what is said of one pane."""

    teller: Teller
    now: float = 100.0
    minute: int = 600

    def see(self, *panes: Pane, after: float = 0.0) -> list[dict[str, str]]:
        self.now += after
        found = [Row("kitty-1", pane) for pane in panes]
        messages = self.teller.look(found, self.now, 2000.0 + self.now, self.minute)
        return [json.loads(message.text) for message in messages]

    def settled(self, *panes: Pane) -> list[dict[str, str]]:
        return self.see(*panes) + self.see(*panes, after=NEED_SETTLES_S + 0.1)


def told(notify: Notify | None = None, *, question: bool = False, since: float = 1000.0) -> Told:
    return Told(Teller(notify or Notify(), with_question=question, since=since))


def test_one_message_for_a_question() -> None:
    """It names the agent and the project, and nothing of the conversation unless that was said."""
    one = told()
    assert one.settled(WAITS) == [
        {"address": "kitty-1:1", "status": "waiting", "title": "api: claude asks for permission"}
    ]
    for _ in range(50):
        assert one.see(attrs.evolve(WAITS), after=1.0) == []
    # Its host starts again, or says no more for a moment.
    assert one.see(after=PANE_RETURNS_S / 2) == [] and one.settled(attrs.evolve(WAITS)) == []
    # Another question is another message.
    assert one.see(attrs.evolve(WAITS, message="And the rest?"), after=NOTICE_GAP_S) == []
    assert len(one.see(attrs.evolve(WAITS, message="And the rest?"), after=NEED_SETTLES_S + 0.1)) == 1
    (full,) = told(question=True).settled(WAITS)
    assert (full["title"], full["body"]) == (
        "api: npm test", "claude asks for permission: Run the secret migration?",
    )  # fmt: skip


def test_the_rules_of_notifications() -> None:
    """Quiet hours, what was seen, is in front, snoozed or muted, what is not to be told, and what is old: nothing."""
    for pane in (
        pane_with(WAITS, seen=True),
        pane_with(WAITS, visible=True),
        pane_with(WAITS, snoozed_until=9000.0),
        pane_with(WAITS, muted_until=9000.0),
        attrs.evolve(WAITS, since=999.0),
        attrs.evolve(WAITS, status=Status.WORKING),
        attrs.evolve(WAITS, status=Status.DONE, kind=None),
    ):
        assert told().settled(pane) == []
    assert told(Notify(quiet=((540, 660),))).settled(WAITS) == []
    assert told(Notify(mute=frozenset({"api"}))).settled(WAITS) == []
    assert told(Notify(when=frozenset())).settled(WAITS) == []
    assert told(Notify(delay_s=20)).settled(WAITS) == []
    assert len(told(Notify(when=frozenset({Status.ERROR}))).settled(attrs.evolve(WAITS, status=Status.ERROR))) == 1
    # A snooze that is over tells once more.
    one = told()
    assert one.settled(pane_with(WAITS, snoozed_until=2150.0)) == []
    assert one.see(pane_with(WAITS, snoozed_until=2150.0), after=60) == []
    assert len(one.see(WAITS, after=NOTICE_GAP_S)) == 1


def test_a_long_turn_and_a_flood_of_signs() -> None:
    """The end of a turn is told if it was long. What is longer than a message may be is told shorter."""
    one = told()
    working = attrs.evolve(WAITS, status=Status.WORKING, kind=None, since=2000.0)
    assert one.see(working) == []
    assert len(one.settled(attrs.evolve(working, status=Status.DONE, since=2040.0))) == 1
    (cut,) = told(question=True).settled(attrs.evolve(WAITS, message="e" + "\u0301" * 3000, what="z" + "\u0301" * 3000))
    assert len(json.dumps(cut, ensure_ascii=False).encode()) <= endpoints.MAX_PLAIN and cut["title"]


# The sending -------------------------------------------------------------------------------------------------------


@attrs.define
class Outside:
    """A world in which services answer what *answers* say, and then 201."""

    answers: list[Any] = attrs.field(factory=list)
    sent: list[tuple[str, str, float]] = attrs.field(factory=list)
    held: threading.Event | None = None
    now: float = 0.0

    def send(self, one: Subscription, message: Message, ttl_s: float) -> Reply:
        parse(one.endpoint)
        if self.held is not None and one.endpoint.endswith("/slow"):
            self.held.wait(60)
        answer = self.answers.pop(0) if self.answers else Reply(201)
        self.sent.append((one.endpoint, message.text.decode(), ttl_s))
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Reply)
        return answer

    def clock(self) -> float:
        return self.now


def message(text: str, address: str = "kitty-1:1") -> Message:
    return Message(address, text.encode(), is_urgent=True)


def subscribed(*urls: str) -> dict[str, Subscription]:
    return {url: Subscription(url, "", "", "", "") for url in urls}


def waits(sender: Sender) -> list[tuple[float, list[str]]]:
    """Of each browser: when it is tried again, and what waits; empty while one is being served."""
    with sender._changed:
        if any(line.is_served for line in sender._lines.values()):
            return []
        return [
            (line.not_before, [m.text.decode() for m, _ in line.pending.values()]) for line in sender._lines.values()
        ]


def test_a_browser_that_is_gone_is_forgotten() -> None:
    """404 and 410: nothing is sent there again."""
    for status in (404, 410):
        world, gone = Outside([Reply(status)]), list[str]()
        sender = Sender(world.send, gone.append)
        sender.keep(subscribed(FAR))
        sender.put(message("1"))
        until(lambda gone=gone: gone == [FAR], "it is not forgotten")


def test_what_fails_is_tried_again_later_and_later() -> None:
    """Twice as late each time, as late as the service says, and only the newest about each session."""
    world = Outside([OSError("no way"), Reply(503), Reply(429, 90.0), Reply(500, 1e9), Reply(201), Reply(400)])
    sender = Sender(world.send, lambda endpoint: pytest.fail(f"{endpoint} is forgotten"), world.clock)
    sender.keep(subscribed(FAR))
    sender.put(message("1"))
    tried = []
    for count in range(1, 5):
        until(lambda count=count: len(world.sent) == count and waits(sender), "it is not tried")
        tried.append(waits(sender)[0][0] - world.now)
        assert waits(sender)[0][1] == ["1" if count == 1 else "2"]
        sender.put(message("2"))
        assert len(world.sent) == count
        world.now += tried[-1]
        # Another message about another session wakes the thread, as time does.
        sender.keep(subscribed(FAR))
        with sender._changed:
            sender._changed.notify_all()
    assert tried == [FIRST_PUSH_RETRY_S, 2 * FIRST_PUSH_RETRY_S, 90.0, MAX_WAIT_S]
    until(lambda: waits(sender) and waits(sender)[0][1] == [], "it is not sent at last")
    # What the service will not have is not sent twice.
    sender.put(message("3"))
    until(lambda: len(world.sent) == 6 and waits(sender), "it is not sent")
    assert waits(sender)[0][1] == [] and LAST_S > FIRST_PUSH_RETRY_S


def test_a_slow_service_holds_up_nobody() -> None:
    """Another browser is told while it hangs; what waits for the slow one is bounded, and the newest."""
    world = Outside(held=threading.Event())
    sender = Sender(world.send, lambda _endpoint: None)
    slow = "https://push.example.org/slow"
    sender.keep(subscribed(slow, FAR))
    for number in range(500):
        sender.put(message(str(number), f"kitty-1:{number % 100}"))
    until(lambda: [row for row in world.sent if row[0] == FAR and row[1] == "499"], "the other one is not told")
    assert len(sender._lines[slow].pending) <= MAX_PENDING
    world.held.set()
    until(lambda: [row for row in world.sent if row[0] == slow and row[1] == "499"], "the slow one is never told")


# The routes --------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state" / "push")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PushService]:
    with push_service(tmp_path / "service") as made:
        monkeypatch.setenv("SSL_CERT_FILE", str(made.authority))
        yield made


@pytest.fixture
def served(store: Store) -> Served:
    made = Served()
    made.guard.writes = Bucket(rate=1e9, burst=10**9)
    made.push = Push(made.guard, store, Notify(), Settings(private_hosts=("127.0.0.1",)))
    made.shows("sessions", *PANES)
    return made


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(served.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as made:
        yield made


def asks(url: str = FAR, phone: Phone | None = None, **more: str) -> dict[str, str]:
    return {"endpoint": url, **(phone or Phone()).keys, **more}


@pytest.mark.slow
def test_a_message_reaches_a_browser(
    client: TestClient, served: Served, store: Store, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is signed with the key that the page was given, only the browser reads it, and it is sent once."""
    assert served.push is not None
    offer = client.get("/api/v1/push").json()
    assert (offer["why"], offer["devices"], len(decoded(offer["key"]))) == ("", 0, 65)
    phone = Phone()
    origin = {"Origin": "http://127.0.0.1:8787"}
    found = client.post("/api/v1/subscribe", json=asks(service.endpoint("a"), phone), headers=origin)
    assert (found.status_code, found.json()) == (200, offer | {"devices": 1})
    reason = PANES[0].reason
    now = time.time()
    pane = attrs.evolve(WAITS, id="%9", reason=reason, since=now)
    until(lambda: served.push._teller is not None, "nobody looks")
    served.shows("sessions", *PANES, attrs.evolve(pane, since=now + 1))
    until(lambda: service.got, "nothing is sent")
    (got,) = service.got
    assert phone.read(got.body) == {
        "address": "sessions-1:%9", "status": "waiting", "title": "api: claude asks for permission"
    }  # fmt: skip
    assert got.path == "/send/a" and len(got.body) <= 4096 and b"claude" not in got.body
    assert {k: got.headers[k] for k in ("content-encoding", "urgency", "host")} == {
        "content-encoding": "aes128gcm", "urgency": "high", "host": service.host
    }  # fmt: skip
    assert 3500 < int(got.headers["ttl"]) <= 3600 and len(decoded(got.headers["topic"])) == 24
    # By another program: the signature is of the key that the page was given, and for this service alone.
    assert Vapid02.verify(got.headers["authorization"])
    token, _, key = got.headers["authorization"].removeprefix("vapid t=").partition(",k=")
    claims = json.loads(decoded(token.split(".")[1]))
    assert key == offer["key"] and claims["aud"] == f"https://{service.host}" and "sub" not in claims
    assert now < claims["exp"] < now + 24 * 3600
    assert not Vapid02.verify(got.headers["authorization"].replace(token[-8:], "AAAAAAAA"))
    # The service says that the browser is gone: it is forgotten, also on the disk.
    service.answers.append((410, {}))
    served.shows("sessions", *PANES, attrs.evolve(pane, id="%8", since=now + 2))
    until(lambda: client.get("/api/v1/push").json()["devices"] == 0, "it is not forgotten")
    assert len(service.got) == 2 and store.load() == {}


@pytest.mark.slow
def test_what_is_kept(client: TestClient, served: Served, store: Store) -> None:
    """Key and browsers are for this user alone, outlive the server, and one server at a time has them."""
    key = client.get("/api/v1/push").json()["key"]
    client.post("/api/v1/subscribe", json=asks())
    for path in store.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o700
    second = Served(push=Push(served.guard, Store(store.path)))
    with TestClient(second.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as other:
        assert "another `tally serve`" in other.get("/api/v1/push").json()["why"]
        assert other.post("/api/v1/subscribe", json=asks()).status_code == 409
    store.close()
    third = Served(push=Push(served.guard, Store(store.path)))
    with TestClient(third.app(), base_url="http://127.0.0.1:8787", headers=AUTH) as other:
        assert other.get("/api/v1/push").json() == {"version": 1, "key": key, "why": "", "devices": 1}
        assert other.post("/api/v1/unsubscribe", json={"endpoint": FAR}).json()["devices"] == 0
        assert other.post("/api/v1/unsubscribe", json={"endpoint": FAR}).json()["devices"] == 0
    assert store.load() == {}


@pytest.mark.slow
def test_a_thousand_browsers(client: TestClient, served: Served, store: Store) -> None:
    """Of a thousand the first ones are told; one that is known may say other keys. Faster than a person: refused."""
    phone = Phone()
    codes = [
        client.post("/api/v1/subscribe", json=asks(f"https://push.example.org/{number}", phone)).status_code
        for number in range(1_000)
    ]
    assert codes == [200] * MAX_SUBSCRIPTIONS + [409] * (1_000 - MAX_SUBSCRIPTIONS)
    assert len(store.load()) == MAX_SUBSCRIPTIONS and store.file.stat().st_size < 16 * 1024
    assert client.post("/api/v1/subscribe", json=asks("https://push.example.org/3")).status_code == 200
    refused = client.post("/api/v1/subscribe", json=asks("https://push.example.org/x"))
    assert refused.json()["rule"] == "full"
    served.guard.writes = Bucket(rate=0.0, burst=1)
    assert client.post("/api/v1/unsubscribe", json={"endpoint": FAR}).status_code == 200
    assert client.post("/api/v1/subscribe", json=asks()).status_code == 429


@pytest.mark.parametrize(("method", "route"), [("GET", "push"), ("POST", "subscribe"), ("POST", "unsubscribe")])
def test_who_may_not_ask(client: TestClient, store: Store, method: str, route: str) -> None:
    """Not without the token, not from another origin, not by another name: nothing is made or kept."""
    body = {"json": asks()} if method == "POST" else {}
    call = f"/api/v1/{route}"
    assert client.request(method, call, headers={"Authorization": ""}, **body).status_code == 401
    assert client.request(method, call, headers={"Authorization": "Bearer x"}, **body).status_code == 401
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9999"):
        assert client.request(method, call, headers={"Origin": origin}, **body).status_code == 403
    assert client.request(method, call, headers={"Host": "evil.example"}, **body).status_code == 421
    assert not store.path.exists()


BODIES: list[tuple[Any, int]] = [
    ({}, 422), ([], 422), ("x", 422), ({"endpoint": FAR}, 422), (asks() | {"more": 1}, 422),
    (asks() | {"auth": 1}, 422),
    (asks(FAR + "x" * 2000), 422), (asks() | {"p256dh": "A" * 500}, 422), (asks("http://push.example.org/"), 409),
    (asks("file:///etc/passwd"), 409), (asks("https://10.0.0.1/"), 409), (asks() | {"p256dh": "AAAA"}, 409),
    (asks() | {"auth": "\u0000\ud800"}, 422), (asks("https://[::1]/"), 409), (asks() | {"auth": "AAAA"}, 409),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), BODIES)
def test_hostile_bodies(client: TestClient, store: Store, body: Any, code: int) -> None:
    """Each costs that request, is answered in words, and nothing is kept."""
    found = client.post("/api/v1/subscribe", content=json.dumps(body), headers=JSON)
    assert found.status_code == code and found.json()["detail"]
    assert store.path.exists() is (code == 409) and not store.file.exists()


def test_broken_files(client: TestClient, served: Served, store: Store) -> None:
    """A key or a list that cannot be read is told and left alone; the server goes on."""
    store.path.mkdir(parents=True, mode=0o700)
    for name, text in (("key.pem", b"x"), ("subscriptions.json", b"[]")):
        file = store.path / name
        file.write_bytes(text)
        offer = client.get("/api/v1/push").json()
        assert offer["key"] == "" and name in offer["why"] and "remove it" in offer["why"]
        assert file.read_bytes() == text and client.get("/api/v1/counts").status_code == 200
        file.unlink()
    (store.path / "key.pem").write_bytes(sealing.new_key())
    (store.path / "key.pem").chmod(0o666)
    store.path.chmod(0o711)
    assert "other users" in client.get("/api/v1/push").json()["why"]
    (store.path / "key.pem").chmod(0o600)
    assert client.get("/api/v1/push").json()["why"] == ""


@pytest.mark.slow
def test_without_the_extra(client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to get it, makes nothing, and everything else is as it was."""
    monkeypatch.setitem(sys.modules, "tallylight.parts.web.push.sealing", None)
    monkeypatch.delattr(push, "sealing")
    offer = client.get("/api/v1/push").json()
    assert offer["key"] == "" and "tally setup --with push" in offer["why"]
    refused = client.post("/api/v1/subscribe", json=asks())
    assert (refused.status_code, refused.json()["rule"]) == (409, "missing")
    assert not store.path.exists() and len(client.get("/api/v1/sessions").json()["sessions"]) == 4


def test_a_device_that_is_signed_out_is_told_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A phone that was lost: it is forgotten, also on the disk, in place of the next message."""
    sent: list[str] = []

    def send(_key: object, _settings: object, one: Subscription, *_: object) -> Reply:
        sent.append(one.device)
        return Reply(201)

    monkeypatch.setattr("tallylight.parts.web.push.routes._send", send)
    known = Devices(store.path.parent / "devices" / "devices.json")
    lost, kept = known.add("lost"), known.add("kept")
    served = Served(guard=Guard(TOKEN, allowed_hosts(PORT), known.holder))
    served.guard.writes = Bucket(rate=1e9, burst=10**9)
    served.push = Push(served.guard, store, is_in=known.is_in)
    with TestClient(served.app(), base_url="http://127.0.0.1:8787") as client:
        for key in (lost, kept):
            given = {"Authorization": f"Bearer {key}"}
            assert client.post("/api/v1/subscribe", json=asks(f"{FAR}{key[:8]}"), headers=given).status_code == 200
        known.end(lost[:8])
        assert served.push._sender is not None
        served.push._sender.put(message("a question"))
        until(lambda: sent and len(store.load()) == 1, "it is not forgotten")
    assert sent == [kept[:8]] == [one.device for one in store.load().values()]
