"""Typing into real tmux and GNU Screen: text arrives as it is, and only in the session it is for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallylight.actions.answer import Typist
from tallylight.actions.gate import Refusal
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.hosts.gnu_screen.source import ScreenSource
from tallylight.hosts.polling.host import SourcePane
from tallylight.hosts.tmux.source import TmuxSource
from tallylight.model.errors import SessionError
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import plain
from tests.entries import new_pane
from tests.patience import until

pytestmark = pytest.mark.programs

HOST = "sessions-1"
#: Writes what it is typed, as Python would write it, into the file of its name.
LISTENER = """
import os, sys, termios, tty
tty.setraw(0)
print("listening to " + sys.argv[1], end="\\r\\n", flush=True)
while True:
    with open(sys.argv[1], "ab") as file:
        file.write(os.read(0, 65536))
"""
#: Everything a multiplexer's own command language could take for something else.
HARD = "a'b\"c $HOME ^C \\x03 \\\\ `id` #{pid} ;kill-server; %1 -t ~ {x} grüße 日本 ❯"


def rows(panes: PaneAccess, entry: Pane) -> list[str]:
    """What stands on the screen of a pane."""
    return [plain(line) for line in panes.screen(HOST, entry).lines]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("run", "tmux", "screen"):
        (tmp_path / name).mkdir(mode=0o700)
    kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
    return {
        **kept,
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "TMUX_TMPDIR": str(tmp_path / "tmux"),
        "SCREENDIR": str(tmp_path / "screen"),
        "LC_ALL": "C.UTF-8",
        "HOME": str(tmp_path),
    }


@pytest.fixture(params=["tmux", "screen"])
def sights(request: pytest.FixtureRequest, environ: dict[str, str], tmp_path: Path) -> Iterator[dict[str, SourcePane]]:
    """Two sessions of one multiplexer, `AUT` and `AUTHX`, in each of which a listener runs."""
    kind = request.param
    for name in ("AUT", "AUTHX"):
        listener = [sys.executable, "-c", LISTENER, str(tmp_path / name)]
        how = ["tmux", "new-session", "-d", "-s", name] if kind == "tmux" else ["screen", "-U", "-dmS", name]
        subprocess.run([*how, *listener], env=environ, check=True)
    source = TmuxSource(environ, shows_lights=False) if kind == "tmux" else ScreenSource(environ)
    found: dict[str, SourcePane] = {}

    def are_there() -> bool:
        # A window whose program has only just begun cannot be read yet.
        found.update({sight.host_title: sight for sight in source.look() or () if sight.read or sight.together})
        return found.keys() >= {"AUT", "AUTHX"}

    try:
        until(are_there, f"the sessions are not seen: {list(found)}")
        typist = PaneAccess(environ)
        for name, sight in found.items():
            until(lambda sight=sight: "listening" in "".join(rows(typist, pane(sight))), f"{name} does not listen")
        yield found
    finally:
        source.close()
        if kind == "tmux":
            subprocess.run(["tmux", "kill-server"], env=environ, check=False)
        for name in ("AUT", "AUTHX"):
            subprocess.run(["screen", "-S", name, "-X", "quit"], env=environ, check=False, stdout=subprocess.DEVNULL)


def pane(sight: SourcePane) -> Pane:
    return new_pane(id=sight.id, status=Status.WAITING, agent="claude", attach=sight.attach)


def reached(multiplexers: PaneAccess, sight: SourcePane) -> Typist:
    """What types into that pane."""
    found = multiplexers.at(HOST, pane(sight))
    assert not isinstance(found, Refusal)
    return found


def test_text_arrives_as_it_is(environ: dict[str, str], sights: dict[str, SourcePane], tmp_path: Path) -> None:
    """What a command language could take for its own is typed unchanged, and the session beside it gets nothing."""
    typist = PaneAccess(environ)
    assert typist.can_type(HOST, pane(sights["AUT"]))
    reached(typist, sights["AUT"]).paste(HARD, enter=True)
    expected = HARD.encode() + b"\r"
    file = tmp_path / "AUT"
    until(lambda: file.read_bytes().endswith(b"\r"), "the text did not arrive")
    assert file.read_bytes() == expected
    reached(typist, sights["AUT"]).paste("-l", enter=False)
    reached(typist, sights["AUT"]).press("\x1b")
    until(lambda: file.read_bytes() == expected + b"-l\x1b", f"Escape did not arrive: {file.read_bytes()!r}")
    assert (tmp_path / "AUTHX").read_bytes() == b""


def test_a_screen_is_read(environ: dict[str, str], sights: dict[str, SourcePane], tmp_path: Path) -> None:
    """The rows of the right session come back, without the empty ones below."""
    lines = rows(PaneAccess(environ), pane(sights["AUTHX"]))
    assert "".join(lines).replace(" ", "").endswith("/AUTHX")


def test_a_session_that_is_gone_says_so(environ: dict[str, str], sights: dict[str, SourcePane]) -> None:
    """After its end a session can be neither read nor typed into."""
    gone = pane(sights["AUT"])
    subprocess.run(["tmux", "kill-session", "-t", "=AUT"], env=environ, check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["screen", "-S", "AUT", "-X", "quit"], env=environ, check=False, stdout=subprocess.DEVNULL)
    typist = PaneAccess(environ)
    until(lambda: _fails(lambda: typist.screen(HOST, gone)), "a session that is gone is read")
    hand = reached(typist, sights["AUT"])
    seen = hand.see()
    assert isinstance(seen, Refusal) and seen.rule == "gone"
    assert _fails(lambda: hand.paste("x", enter=True))
    assert _fails(lambda: hand.press("\x1b"))


@pytest.mark.parametrize(
    "attach",
    [
        (),
        ("bash", "-c", "id"),
        ("tmux", "-S", "relative", "attach-session", "-t", "$1:@1.%1"),
        ("tmux", "-S", "/s", "attach-session", "-t", "$1:@1.%1; kill-server"),
        ("tmux", "-S", "/s", "attach-session", "-t", "name"),
        ("tmux", "-S", "/s", "run-shell", "-t", "$1:@1.%1"),
        ("screen", "-r", "AUT", "-p", "0"),
        ("screen", "-r", "1.AUT", "-p", "0 -X quit"),
        ("screen", "-r", "1.A\nB", "-p", "0"),
        ("screen", "-X", "1.AUT", "-p", "0"),
    ],
)
def test_other_argument_lists_are_not_typed_into(environ: dict[str, str], attach: tuple[str, ...]) -> None:
    """Only what our own hosts write is taken for a session; a pane of another host never is."""
    other = new_pane(id="x", status=Status.WAITING, attach=attach)
    typist = PaneAccess(environ)
    assert not typist.can_type(HOST, other)
    refused = typist.at(HOST, other)
    assert isinstance(refused, Refusal) and refused.rule == "unreachable"


def _fails(call: Callable[[], object]) -> bool:
    try:
        call()
    except SessionError:
        return True
    return False
