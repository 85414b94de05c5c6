"""`tally doctor` where there are sessions: who looks after them."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.files.system import System
from tallylight.model.finding import Health
from tallylight.setup.sessions import findings
from tallylight.snapshot.schema import Snapshot

HOST = Snapshot(host="sessions", pid=7, started=0.0, written=0.0, panes=())
SCREENS = "There is a screen on:\r\n\t7.x\t(11/21/26 03:12:54)\t(Detached)\n1 Socket in /run/screen/S-me.\r\n"
NO_SCREENS = "No Sockets found in /run/screen/S-me.\r\n"


@attrs.define
class Answers:
    """Programs by their first words, and what they print; all others are not there."""

    folder: Path
    screens: str = NO_SCREENS
    #: The servers that answer.
    servers: tuple[str, ...] = ()
    asked: list[Sequence[str]] = attrs.Factory(list)

    def system(self) -> System:
        answers = self

        class Told(System):
            def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
                words = [str(word) for word in command]
                answers.asked.append(words)
                return subprocess.CompletedProcess(words, *answers.of(words))

        return Told(env={"TMUX_TMPDIR": str(self.folder)})

    def of(self, words: list[str]) -> tuple[int, str, str]:
        if words[0] == "screen":
            return 1, self.screens, ""
        return (0, "x\n", "") if Path(words[2]).name in self.servers else (1, "", "no server running")


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    import os

    folder = tmp_path / f"tmux-{os.getuid()}"
    folder.mkdir(mode=0o700)
    listening = []
    for name in ("a", "b", "c"):
        one = socket.socket(socket.AF_UNIX)
        one.bind(str(folder / name))
        listening.append(one)
    (folder / "no socket").touch()
    yield Answers(tmp_path)
    for one in listening:
        one.close()


def test_no_sessions(answers: Answers) -> None:
    """Where there is no session there is nothing to say."""
    assert list(findings(answers.system(), [])) == []


@pytest.mark.parametrize(("screens", "servers", "named"), [(SCREENS, (), "GNU Screen"), (NO_SCREENS, ("a",), "tmux")])
def test_nobody_looks_after_them(answers: Answers, screens: str, servers: tuple[str, ...], named: str) -> None:
    """Sessions without a host are named, with the command that would look after them, and are no fault."""
    answers.screens, answers.servers = screens, servers
    found = next(iter(findings(answers.system(), [])))

    assert (found.what, found.health, found.is_fault) == ("sessions", Health.HINT, False)
    assert named in found.text
    assert "tally host sessions" in found.remedy


def test_somebody_does(answers: Answers) -> None:
    """A living host of sessions is named."""
    answers.screens = SCREENS
    (found,) = findings(answers.system(), [HOST])

    assert (found.health, found.text) == (Health.OK, "watched by sessions-7")


def test_only_sockets_are_asked_and_no_server_is_started(answers: Answers) -> None:
    """Only what is a socket is asked, and only with commands that start nothing and change nothing."""
    list(findings(answers.system(), []))

    asked = {words[3] for words in answers.asked if words[0] == "tmux"}
    assert asked == {"list-sessions"}
    assert {Path(words[2]).name for words in answers.asked if words[0] == "tmux"} == {"a", "b", "c"}
