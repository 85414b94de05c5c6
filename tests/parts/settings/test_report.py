"""`tally doctor --report` has nothing private in it, whatever is put in; `--online` asks the index, and only then."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight import __version__
from tallylight.cli import doctor
from tallylight.config import settings
from tallylight.model.finding import Finding, Health
from tallylight.model.status import Status
from tallylight.parts.settings import report
from tallylight.setup import online
from tallylight.snapshot.schema import Pane, Snapshot
from tests.cli.conftest import home as home  # fixtures
from tests.cli.conftest import small_source as small_source
from tests.cli.test_doctor import FakeWire
from tests.entries import new_pane
from tests.setup.fakes import make_system
from tests.tables import each

#: What nobody wants to read in public: of letters and digits, as names and tokens are, so that no word of ours is one.
_SECRETS = st.one_of(
    st.from_regex(r"[a-z]{3,8}[0-9]{4,6}[A-Za-z0-9_-]{0,12}", fullmatch=True),
    st.from_regex(r"(sk|ghp|xox)[-_][A-Za-z0-9]{12,24}", fullmatch=True),
    st.sampled_from(
        ["alice.example", "buildbox7", "acme-billing", "10.23.42.17", "0123456789", "müller", "秘密のプロジェクト"]
    ),
)
_SHAPES = (
    "{}", "/home/{}/x/kitty.conf: cannot be read", "config.toml:3: notify.mute: is '{}'; it must be", "kitty {} runs",
    "ok {},{} and ({})", "{}/tallylight", "~/{}", "a {}\tb\n{}", "--token={}", "{}@{}:22", "title {}…", "\x1b]0;{}\x07",
)  # fmt: skip
_WORDS = [name for name, value in Pane(id="1", status=Status.IDLE).to_json().items() if value == ""]


@pytest.mark.slow
@given(st.lists(_SECRETS, min_size=1, max_size=3, unique=True), st.sampled_from(_SHAPES), st.data())
def test_no_secret_comes_out(secrets: list[str], shape: str, data: st.DataObject) -> None:
    """Planted in every text of the environment, settings, panes and findings, no secret is in the report."""
    secret = data.draw(st.sampled_from(secrets))
    text = shape.replace("{}", secret)
    keys = [setting for setting in settings.SETTINGS if isinstance(setting.default, str | list)]
    setting = data.draw(st.sampled_from(keys))
    value = json.dumps([text] if isinstance(setting.default, list) else text)
    table, _, name = setting.key.rpartition(".")
    toml = (f"[{table}]\n" if table else "") + f"{name} = {value}\n"
    config, mistakes = settings.load(toml, f"/home/{secret}/config.toml")
    names = ("HOME", "USER", "LOGNAME", "HOSTNAME", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "STY")
    environ = dict.fromkeys((*names, "SSH_CONNECTION"), text)
    pane = new_pane(
        id=secret, status=Status.WAITING, tasks=(text,), choices=((text, text),), **dict.fromkeys(_WORDS, text)
    )
    hosts = [Snapshot(host=secret, pid=1, started=0.0, written=0.0, panes=(pane,))]
    findings = [
        Finding(secret, Health.BROKEN, text, text),
        *(Finding("config.toml", Health.BROKEN, str(mistake)) for mistake in mistakes),
    ]

    told = report.report(findings, hosts, (config, toml), environ)

    assert not [one for one in secrets if one.casefold() in told.casefold()]
    assert report.MASK in told and told.startswith("```text\ntally ")


def test_a_word_of_ours_that_is_a_name_is_masked() -> None:
    """Who is called kitty, and a project called panes, are told of no more than others."""
    ours = report.vocabulary()
    assert {"kitty", "panes"} <= ours

    told = report.masked("kitty 12 has panes", ours, {"Kitty", "panes"})

    assert told == "… 12 has …"


def test_what_is_ours_is_told() -> None:
    """Words of findings, versions and short numbers stay, or the report would be of no use."""
    ours = report.vocabulary()
    for text in (
        "kitty 0.48.2",
        "allow-passthrough is off: agents in tmux are heard all the same",
    ):
        assert report.masked(text, ours, ()) == text
    assert report.masked("kitty.conf in /home/a/b is 31337", ours, ()) == "kitty.conf in … is …"


def test_on_a_whole_machine(home: Path) -> None:
    """With private names everywhere a person has put them, the real findings have none of them."""
    secret = "zebra4711"
    system = make_system(home, TERM="xterm-kitty", USER=secret, KITTY_LISTEN_ON=f"unix:/tmp/{secret}")
    folder = home / ".config/tallylight"
    (folder / "agents").mkdir(parents=True)
    (folder / "config.toml").write_text(f'poll_ms = 500\n{secret} = 1\n[notify]\ncommand = ["/opt/{secret}"]\n')
    (folder / "agents" / f"{secret}.toml").write_text(f'# x\nname = "{secret}"\nprocesses = ["{secret}"]\nbogus = 1\n')
    (home / ".config/kitty").mkdir()
    (home / ".config/kitty/kitty.conf").write_text(f"include {secret}.conf\n")

    assert doctor.main(["--report"], system, FakeWire()) == 1

    assert secret not in system.text and home.name not in system.text
    assert "poll_ms = 500" in system.text and "notify.command = …" in system.text
    assert "TERM=xterm-kitty" in system.text and "broken" in system.text


class Index(http.server.BaseHTTPRequestHandler):
    """A stand-in for the package index, which answers with what it was given."""

    answer: bytes = b""
    code: int = 200
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.code)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Index]]:
    """The stand-in, at the address where the index would be."""
    handler = type("Handler", (Index,), {"asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setattr(online, "URL", f"http://127.0.0.1:{server.server_port}/pypi/tallylight/json")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    yield handler
    server.shutdown()
    server.server_close()


def answer(version: object) -> bytes:
    return json.dumps({"info": {"name": "tallylight", "version": version}}).encode()


@each(
    ("published", "ours", "health", "said"),
    [
        ("0.2.0", "0.1.0", Health.STALE, "0.2.0 has been published; this is 0.1.0"),
        ("0.10", "0.9.9", Health.STALE, "0.10 has been published"),
        ("1.0.0", "1.0", Health.OK, "1.0 is the newest release"),
        ("0.1.0", "0.2.0", Health.OK, "0.2.0 is the newest release"),
        ("0.2.0rc1", "0.1.0", Health.SKIPPED, "cannot be read"),
        (7, "0.1.0", Health.SKIPPED, "cannot be read"),
        ("9" * 400, "0.1.0", Health.SKIPPED, "cannot be read"),
    ],
)
def test_versions(published: object, ours: str, health: Health, said: str, index: type[Index]) -> None:
    """Only a release that is newer is told as one; an answer that makes no sense is none."""
    index.answer = answer(published)
    (found,) = online.findings(ours)
    assert found.health is health and said in found.text and bool(found.remedy) == found.is_fault


def test_the_index_is_asked_only_if_told_to(home: Path, index: type[Index]) -> None:
    """`tally doctor` alone asks nobody; with --online it asks once, and a newer release is a finding."""
    index.answer = answer("99.0")
    system = make_system(home)
    doctor.main([], system, FakeWire())
    assert index.asked == [] and "update" not in system.text

    assert doctor.main(["--online"], system, FakeWire()) == 1
    assert index.asked == ["/pypi/tallylight/json"]
    assert f"99.0 has been published; this is {__version__}" in system.text


@each(
    ("code", "body", "said"),
    [(404, b"", "has no tallylight"), (503, b"", "answers with 503"), (200, b"<html>", "read")],
)
def test_an_index_that_is_unwell(code: int, body: bytes, said: str, index: type[Index]) -> None:
    """What is wrong with the index is told in its words, and is no fault of this installation."""
    index.code, index.answer = code, body
    (found,) = online.findings("0.1.0")
    assert (found.health, found.is_fault) == (Health.SKIPPED, False) and said in found.text


def test_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody there, and somebody who says nothing: both are told in words, within the time limit."""
    monkeypatch.setattr(online, "INDEX_WAIT_S", 0.2)
    (found,) = online.findings("0.1.0", "http://127.0.0.1:1/")
    assert found.health is Health.SKIPPED and "are you online?" in found.text
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (found,) = online.findings("0.1.0", f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert "timed out" in found.text


def test_of_a_machine_only_that_there_is_one_is_told() -> None:
    """Its name and its command are a person's own."""
    toml = '[machines]\nsecret = "ssh secret.example"\n'

    told = report.report([], [], (settings.load(toml, "")[0], toml), {})

    assert f"machines.{report.MASK} = {report.MASK}" in told and "secret" not in told
