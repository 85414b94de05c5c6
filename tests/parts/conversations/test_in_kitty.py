"""The two halves of the fork kitten, apart: what one sends is believed by the other no further than its shape."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tallylight.actions.page import Place
from tallylight.evidence import process_table
from tallylight.model.status import Status
from tallylight.parts.conversations import in_kitty as fork
from tallylight.parts.conversations.plan import Verb
from tallylight.parts.conversations.verbs.fork import main
from tallylight.snapshot.schema import Pane
from tests.cli.panes import publish
from tests.tables import each

GOOD: dict[str, Any] = {
    "verb": "fork",
    "argv": ["/bin/claude", "--resume", "x"],
    "cwd": "/",
    "shown_cwd": "/w",
    "place": "tab",
}


def test_an_answer_is_read() -> None:
    """What the page sends when it is agreed to."""
    asked = fork._Agreed(Verb.FORK, ("/bin/claude", "--resume", "x"), "/", "/w", Place.TAB)
    assert fork._read(GOOD) == asked


@each(
    "answer",
    [
        None,
        [],
        "fork",
        {},
        {**GOOD, "verb": "rm"},
        {**GOOD, "verb": ["fork"]},
        {**GOOD, "place": "background"},
        {**GOOD, "argv": []},
        {**GOOD, "argv": "claude"},
        {**GOOD, "argv": ["claude", 7]},
        {**GOOD, "argv": ["x"] * (fork.MAX_RELAYED_WORDS + 1)},
        {**GOOD, "cwd": None},
        {**GOOD, "shown_cwd": None},
    ],
)
def test_any_other_shape_is_nothing(answer: object) -> None:
    """Whatever else comes back starts nothing, and is no fault."""
    assert fork._read(answer) is None


def test_the_pane_around_us(tmp_path: Path) -> None:
    """The page finds its pane by the process it was opened over, in the snapshot of its own kitty."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "KITTY_PID": str(os.getpid())}
    other = Pane(id="1", status=Status.IDLE, pid=1)
    own = Pane(id="2", status=Status.IDLE, pid=os.getpid())
    publish(tmp_path, [other, own])
    table = process_table.table()

    found = fork.pane_of(os.getppid(), environ, table)

    assert found is not None
    assert found.id == "2"
    assert fork.pane_of(2**30, environ, table) is None
    assert fork.pane_of(os.getppid(), {**environ, "KITTY_PID": "1"}, table) is None
    # Another program has written there what it wants to have started.
    file = tmp_path / "tallylight" / f"kitty-{os.getpid()}.json"
    file.write_text(file.read_text().replace('"cwd":""', '"cwd":"/evil"'))
    assert fork.pane_of(os.getppid(), environ, table) is None


@each(
    ("sent", "read"),
    [
        (b"", None),
        (b'{"verb": "fork"}', {"verb": "fork"}),
        (b'{"verb": ', ""),
        (b"\xff\xfe", ""),
        (b"[" * 10_000, ""),
        (b'"' + b"x" * fork.MAX_ANSWER_BYTES * 2, ""),
    ],
)
def test_what_the_page_sends(sent: bytes, read: object) -> None:
    """Its last words, whole; nothing if it was left, and whatever else comes starts nothing."""
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    for chunk in (sent[at : at + 4096] for at in range(0, len(sent), 4096)):
        with contextlib.suppress(BlockingIOError):
            far.send(chunk)
    far.close()
    assert fork.received(near) == read
    assert near.fileno() == -1


def test_wrong_options(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What the key's line has wrong stays to be read: the window would close with its program."""
    monkeypatch.setenv(fork.CHANNEL, "7")
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "")
    with pytest.raises(SystemExit):
        main(["--location", "background"])
    assert "background" in capsys.readouterr().err and "Press Enter" in asked[0]


@pytest.mark.slow
def test_the_page_loads_no_other_terminal() -> None:
    """A person waits for it: the hosts of tmux, Screen and WezTerm take three times as long as all the rest."""
    code = "import sys, tallylight.parts.conversations.verbs.fork; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not [name for name in done.stdout.split() if name.startswith("tallylight.hosts")]
