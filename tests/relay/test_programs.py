"""Real programs behind the relay: their screens, cell by cell, are those of the same programs without it."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pyte
import pytest

from tests.patience import patient
from tests.relay.relayed import Window, environment, relay

pytestmark = pytest.mark.programs
_RC = {"HTOPRC": "/dev/null", "FZF_DEFAULT_OPTS": "", "LESS": "", "TERM": "xterm-256color"}


@attrs.frozen
class Step:
    """Type *keys*, then wait until *shows* is somewhere on the screen, if it is said, and compare."""

    keys: bytes = b""
    shows: str = ""
    size: tuple[int, int] | None = None


@attrs.frozen
class Session:
    """A program, and what is done to it."""

    command: Sequence[str]
    steps: Sequence[Step]
    needs: str = ""


SESSIONS = {
    "vim": Session(
        ["sh", "-c", "cd {folder}; exec vim.tiny -u NONE -i NONE -n text"],
        [
            Step(shows="line 3"),
            Step(b"5jdd", "line 7"),
            Step(b"onew text \xe2\x9c\xbb\x1b", "new text"),
            Step(b"G", "line 200"),
            Step(size=(40, 100), shows="line 165"),
            Step(b":set nu\r1G", "1 line 1"),
            Step(b"/line 42\r", "line 42"),
            Step(b":q!\r", "left 0"),
        ],
    ),
    "less": Session(
        ["less", "-R", "{text}"],
        [
            Step(shows="line 3"),
            Step(b" ", "line 40"),
            Step(b"/line 99\r", "line 99"),
            Step(size=(30, 60), shows="line 120"),
            Step(b"G", "(END)"),
            Step(b"q", "left 0"),
        ],
    ),
    # Its meters and processes differ from one moment to the next; its help does not, and ends at a resize.
    "htop": Session(["htop", "-d", "99"], [Step(b"h", "kernel threads")], "htop"),
    "fzf": Session(
        ["sh", "-c", "fzf --no-mouse < {text}"],
        [
            Step(shows="200/200"),
            Step(b"line 7", "38/200"),
            Step(b"\x1b[A\x1b[A", "> line 7"),
            Step(b"\x15", "200/200"),
            Step(size=(18, 50), shows="200/200"),
            Step(b"line 199", "1/200"),
            Step(b"\r", "left 0"),
        ],
        "fzf",
    ),
    "bash": Session(
        ["bash", "--norc", "--noprofile", "-i"],
        [
            Step(shows="ready>"),
            Step(b"cat\r", "cat"),
            Step(b"hello\r", "hello"),
            Step(b"\x1a", "Stopped"),
            Step(b"jobs\r", "[1]+"),
            Step(b"fg\r", "cat"),
            Step(b"\x04", "ready>"),
            Step(b"sleep 100\r", "sleep 100"),
            Step(b"\x03", "^C"),
            Step(b"echo one \\\x1b[D\x1b[Dtwo\r", "> "),
            Step(b"\x03", "ready>"),
            Step(b"stty size\r", "24 80"),
            Step(size=(20, 60), shows="ready>"),
            Step(b"stty size; stty -a\r", "20 60"),
            Step(b"exit\r", "left 0"),
        ],
    ),
    "stty": Session(["sh", "-c", "stty raw -echo; stty -a; stty sane; stty -a; stty size"], [Step(shows="left 0")]),
    "colours": Session(["sh", "-c", "cat {colours}"], [Step(shows="left 0")]),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """What the programs show."""
    text, colours = tmp_path / "text", tmp_path / "colours"
    text.write_text("".join(f"line {n}\n" for n in range(1, 201)))
    colours.write_bytes(
        b"".join(
            b"\x1b[38;5;%d;48;2;%d;9;9m%d\x1b[0m \x1b[1;3;4;7m\xe6\xbc\xa2\x1b[m\x1b[%d;%dH" % (n, n, n, n % 24, n % 70)
            for n in range(256)
        )
    )
    return {"text": str(text), "colours": str(colours), "folder": str(tmp_path)}


class _Drawn(pyte.Screen):  # type: ignore[misc]
    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        """Not stumble over a private one, such as vim's question about the keyboard."""
        if not private:
            super().select_graphic_rendition(*attributes)


class Screen:
    """A window that is drawn, and a program in it."""

    def __init__(self, command: Sequence[str], env: dict[str, str]) -> None:
        self.window = Window()
        self._screen = _Drawn(80, 24)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        # What it leaves with is part of what is compared.
        self.window.start(["sh", "-c", '"$@"; echo "left $?"; exec sleep 1000', "sh", *command], env)

    def play(self, step: Step) -> None:
        """Do one step to it."""
        if step.size:
            self._feed()
            self._screen.resize(*step.size)
            self.window.resize(*step.size)
        if step.keys:
            self.window.type(step.keys)

    def _feed(self) -> None:
        self.window.drain(0.02)
        new = self.window.received[self._fed :]
        self._fed += len(new)
        self._stream.feed(new)

    def cells(self) -> list[object]:
        """Every cell with its colours, and the cursor."""
        self._feed()
        screen = self._screen
        rows: list[object] = [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]
        return [*rows, (screen.cursor.x, screen.cursor.y, screen.cursor.hidden, sorted(screen.mode))]

    @property
    def text(self) -> str:
        """What a person reads on it."""
        self._feed()
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()


def _compare(plain: Screen, relayed: Screen, step: Step) -> None:
    plain.play(step)
    relayed.play(step)
    end = time.monotonic() + patient(20)
    quiet = 0
    while quiet < 3:
        alike = step.shows in plain.text and plain.cells() == relayed.cells()
        quiet = quiet + 1 if alike else 0
        if time.monotonic() > end:
            shown = "\n".join(f"-- {name}\n{screen.text}" for name, screen in (("plain", plain), ("relay", relayed)))
            raise AssertionError(f"{step}: not the same\n{shown}")


def _play(command: Sequence[str], steps: Sequence[Step], tmp_path: Path, **extra: str) -> None:
    env = environment(**_RC, **extra)
    plain, relayed = Screen(command, env), Screen([*relay(tmp_path), *command], env)
    with plain.window, relayed.window:
        for step in steps:
            _compare(plain, relayed, step)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_program_looks_the_same(name: str, tmp_path: Path, files: dict[str, str]) -> None:
    """The same keys and sizes lead to the same screen, attributes, cursor and exit code at every step."""
    session = SESSIONS[name]
    if not shutil.which(session.needs or session.command[0]):
        pytest.skip(f"NOT TESTED: {session.needs or session.command[0]} is not installed")
    _play([word.format(**files) if "{" in word else word for word in session.command], session.steps, tmp_path)


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[list[str]]:
    """A server of our own on this machine; the start of a command line that logs in."""
    if not (shutil.which("ssh") and (daemon := shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin"))):
        pytest.skip("NOT TESTED: ssh and sshd are not installed")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "keys").write_bytes((tmp_path / "user.pub").read_bytes())
    (tmp_path / "keys").chmod(0o600)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    Path("/run/sshd").mkdir(exist_ok=True)
    options = [
        "StrictModes=no",
        f"AuthorizedKeysFile={tmp_path / 'keys'}",
        "UsePAM=no",
        "PrintMotd=no",
        "PrintLastLog=no",
    ]
    log = tmp_path / "sshd.log"
    server = subprocess.Popen(
        [
            daemon,
            "-D",
            "-E",
            log,
            "-f",
            "/dev/null",
            "-h",
            tmp_path / "host",
            "-p",
            port,
            "-o",
            "ListenAddress=127.0.0.1",
        ]
        + [
            word
            for option in [*options, "PermitRootLogin=yes", f"PidFile={tmp_path / 'pid'}"]
            for word in ("-o", option)
        ]
    )
    client = [
        "ssh",
        "-F",
        "/dev/null",
        "-p",
        port,
        "-i",
        str(tmp_path / "user"),
        "-o",
        "BatchMode=yes",
        "-o",
        "LogLevel=ERROR",
    ]
    client += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-tt"]
    client += [f"{getpass.getuser()}@127.0.0.1"]
    try:
        end = time.monotonic() + patient(10)
        while subprocess.run([*client, "true"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
            if time.monotonic() > end or server.poll() is not None:
                pytest.skip(f"NOT TESTED: no login through sshd here: {log.read_text()[-300:]}")
            time.sleep(0.1)
        yield client
    finally:
        server.kill()
        server.wait()


def test_ssh_looks_the_same(sshd: list[str], tmp_path: Path, files: dict[str, str]) -> None:
    """A login to another machine has the size, the resizing, the job control and the exit code it has without."""
    shell = "TERM=xterm-256color PS1='there> ' exec bash --norc --noprofile -i"
    steps = [
        Step(shows="there>"),
        Step(b"stty size\r", "24 80"),
        Step(b"cat\r", "cat"),
        Step(b"\x1a", "Stopped"),
        Step(b"fg\r", "cat"),
        Step(b"\x03", "^C"),
        Step(f"cd {tmp_path}; vim.tiny -u NONE -i NONE -n text\r".encode(), "line 3"),
        Step(size=(30, 90), shows="line 25"),
        Step(b":q\r", "there>"),
        Step(b"stty size\r", "30 90"),
        Step(b"exit 7\r", "left 7"),
    ]
    _play([*sshd, shell], steps, tmp_path)
