"""Job control: ctrl-Z and `fg` around the relay, in a shell inside it, and what kill -9 leaves to a shell."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.patience import until
from tests.relay.relayed import Window, children, descendants, environment, field, is_alive, relay

pytestmark = pytest.mark.programs
SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
#: Shows what it reads in raw mode, stops itself at ctrl-Z as an editor or an agent does, and says when it goes on.
_EDITOR = """
import os, signal, termios, tty
before = termios.tcgetattr(0)
def enter():
    tty.setraw(0)
    os.write(1, b"[in %d %d]" % os.get_terminal_size())
enter()
while (key := os.read(0, 1)) != b"q":
    if key == b"\\x1a":
        os.write(1, b"[out]")
        termios.tcsetattr(0, termios.TCSANOW, before)
        os.kill(0, signal.SIGTSTP)
        enter()
    else:
        os.write(1, b"<%b>" % key)
termios.tcsetattr(0, termios.TCSANOW, before)
"""


class Prompt(Window):
    """A window with an interactive shell in it."""

    def __init__(self, shell: str, folder: Path) -> None:
        super().__init__()
        if not shutil.which(shell):
            pytest.skip(f"NOT TESTED: {shell} is not installed")
        self.shell = shell
        self.relay = " ".join(relay(folder))
        (folder / "editor.py").write_text(_EDITOR)
        self.editor = f"{self.relay} {sys.executable} -IS {folder / 'editor.py'}"
        # Answers to what fish asks the terminal, which it would otherwise wait for.
        self.process = self.start(SHELLS[shell], environment(fish_features="no-query-term"))
        self.ask("echo here-$((1+1))" if shell != "fish" else "echo here-(math 1+1)", b"here-2")

    def line(self, text: str) -> None:
        """Type a line."""
        self.received = b""
        self.type(text.encode() + b"\r")

    def ask(self, command: str, expected: bytes) -> None:
        """Run a command and wait for what it says."""
        self.line(command)
        self.wait_for(expected)

    def job(self) -> int:
        """The relay that this shell runs."""
        found: list[int] = []
        # fish also starts helpers of its own.
        until(lambda: found.extend(filter(_is_ours, children(self.process.pid))) or found, "a job")
        return found[-1]


def _is_ours(pid: int) -> bool:
    try:
        return b"/tally\0run\0" in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b" ", b"\0")
    except OSError:
        return False  # a helper that is gone already


@pytest.fixture(params=SHELLS)
def prompt(request: pytest.FixtureRequest, tmp_path: Path) -> Prompt:
    """Each shell at its prompt."""
    window = Prompt(request.param, tmp_path)
    request.addfinalizer(lambda: window.__exit__(None, None, None))
    return window


def _stty(prompt: Prompt) -> bytes:
    """The modes in which this shell runs a command."""
    prompt.line("stty -g; echo stty-done")
    shown = prompt.wait_for(lambda received: b"\nstty-done" in received)
    found = re.search(rb"[0-9a-f]+(:[0-9a-f]+){30,}", shown)
    assert found, shown
    return found[0]


def test_ctrl_z_and_fg(prompt: Prompt) -> None:
    """A program that stops itself gives the prompt back in its own modes; `fg` goes on with it, in the present size."""
    before = _stty(prompt)
    prompt.ask(prompt.editor, b"[in 80 24]")
    prompt.type(b"ab")
    prompt.wait_for(b"<a><b>")
    job = prompt.job()
    for round_ in range(3):
        prompt.type(b"\x1a")
        prompt.wait_for(b"[out]")
        until(lambda: field(job, "State").startswith("T"), "a stopped relay")
        assert _stty(prompt) == before
        prompt.ask("jobs", b" run ")
        # bash reads the size and sets it again before each prompt: a size that comes between the two is undone.
        until(prompt.is_raw, "the prompt")
        rows = 30 + round_
        prompt.resize(rows, 100)
        prompt.ask("fg", b"[in 100 %d]" % rows)
        prompt.type(b"c")
        prompt.wait_for(b"<c>")
    prompt.type(b"q")
    until(lambda: not is_alive(job), "the end")
    assert _stty(prompt) == before


def test_fg_continues_the_program_once(tmp_path: Path) -> None:
    """A second SIGCONT could come when the program has stopped again, and would run it under the shell's prompt."""
    code = "import os,signal\nsignal.signal(signal.SIGCONT, lambda *_: os.write(1, b'[on]'))\n"
    code += "os.write(1, b'[in]')\nwhile (line := os.read(0, 99)): os.write(1, b'<%b>' % line.strip())"
    (tmp_path / "counts.py").write_text(code)
    with Prompt("bash", tmp_path) as prompt:
        prompt.ask(f"{prompt.relay} {sys.executable} -IS {tmp_path / 'counts.py'}", b"[in]")
        job = prompt.job()
        for _ in range(3):
            prompt.type(b"\x1a")
            until(lambda: field(job, "State").startswith("T"), "a stopped relay")
            prompt.ask("echo prom''pt", b"prompt")
            prompt.ask("fg", b"[on]")
            prompt.type(b"a\r")
            prompt.wait_for(b"<a>")
            assert prompt.received.count(b"[on]") == 1
        prompt.type(b"\x04")
        until(lambda: not is_alive(job), "the end")


def test_ctrl_z_on_a_program_that_knows_nothing_of_it(prompt: Prompt) -> None:
    """The inner terminal stops a plain program as any terminal does, and `fg` goes on with it."""
    prompt.line(f"{prompt.relay} cat")
    job = prompt.job()
    until(lambda: any(field(pid, "Name") == "cat" for pid in descendants(job)), "cat")
    prompt.type(b"one\r")
    prompt.wait_for(b"one\r\none\r\n")
    prompt.type(b"\x1a")
    until(lambda: field(job, "State").startswith("T"), "a stopped relay")
    prompt.ask("echo prom''pt", b"prompt")
    prompt.line("fg")
    until(lambda: not field(job, "State").startswith("T"), "a relay that goes on")
    prompt.type(b"two\r")
    prompt.wait_for(b"two\r\ntwo\r\n")
    prompt.type(b"\x04")
    until(lambda: not is_alive(job), "the end")


def test_in_the_background_it_stays_stopped(prompt: Prompt) -> None:
    """After `bg` the relay stops again, as an editor would: there cannot be two readers. `fg` brings it back."""
    prompt.ask(prompt.editor, b"[in 80 24]")
    job = prompt.job()
    prompt.type(b"\x1a")
    until(lambda: field(job, "State").startswith("T"), "a stopped relay")
    prompt.line("bg")
    prompt.ask("echo prom''pt", b"prompt")
    until(lambda: field(job, "State").startswith("T"), "a relay stopped again")
    prompt.ask("fg", b"[in 80 24]")
    prompt.type(b"q")
    until(lambda: not is_alive(job), "the end")


def test_kill_9_of_a_stopped_relay_ends_its_program(prompt: Prompt) -> None:
    """Nothing stopped is left behind."""
    prompt.ask(prompt.editor, b"[in 80 24]")
    job = prompt.job()
    below = list(descendants(job))
    prompt.type(b"\x1a")
    until(lambda: field(job, "State").startswith("T"), "a stopped relay")
    os.kill(job, signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in below), "the end of everything below")


def test_after_kill_9_the_terminal_is_sane(prompt: Prompt) -> None:
    """The prompt comes back and takes lines, in bash and in a frozen zsh for certain in the modes it had."""
    # fish, and zsh unless it is told, take the modes that a killed program leaves for their own if they see them before
    # the monitor has put them back. Without the relay they always do.
    if prompt.shell == "zsh":
        prompt.line("ttyctl -f")
    before = _stty(prompt)
    prompt.ask(prompt.editor, b"[in 80 24]")
    job = prompt.job()
    below = list(descendants(job))
    os.kill(job, signal.SIGKILL)
    until(lambda: not any(is_alive(pid) for pid in below), "the end of everything below")
    prompt.ask("echo prom''pt", b"prompt")
    assert prompt.shell == "fish" or _stty(prompt) == before


def test_after_kill_9_in_a_script_the_terminal_is_sane(tmp_path: Path) -> None:
    """A script restores no modes; the monitor does, a moment after the script has gone on."""
    with Prompt("bash", tmp_path) as prompt:
        before = _stty(prompt)
        seen = f'until [ "$(stty -g)" = {before.decode()} ]; do sleep 0.01; done'
        prompt.ask(f"sh -c '{prompt.editor}; {seen}; echo script goes on'", b"[in 80 24]")
        relayed = next(pid for pid in descendants(prompt.process.pid) if "python" in field(pid, "Name"))
        os.kill(relayed, signal.SIGKILL)
        prompt.wait_for(b"script goes on")
        assert _stty(prompt) == before


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_inside_has_job_control(shell: str, tmp_path: Path) -> None:
    """Stopping, listing and resuming jobs, and ctrl-C, work in a shell behind the relay as in one without."""
    with Prompt("bash", tmp_path) as prompt:
        if not shutil.which(shell):
            pytest.skip(f"NOT TESTED: {shell} is not installed")
        prompt.line(f"{prompt.relay} {' '.join(SHELLS[shell])}")
        job = prompt.job()
        until(lambda: any(field(pid, "Name") == shell for pid in descendants(job)), shell)
        inner = next(pid for pid in descendants(job) if field(pid, "Name") == shell)
        prompt.ask("echo in''side", b"inside")
        prompt.line("sleep 1000")
        until(lambda: any(field(pid, "Name") == "sleep" for pid in children(inner)), "sleep")
        sleeper = children(inner)[-1]
        prompt.type(b"\x1a")
        until(lambda: field(sleeper, "State").startswith("T"), "a stopped sleep")
        assert not field(job, "State").startswith("T")
        prompt.ask("jobs", b"sleep")
        prompt.line("fg")
        until(lambda: not field(sleeper, "State").startswith("T"), "a sleep that goes on")
        prompt.type(b"\x03")
        until(lambda: not is_alive(sleeper), "the end of sleep")
        prompt.ask("echo still''inside", b"stillinside")
        prompt.line("exit")
        until(lambda: not is_alive(job), "the end of the shell")


def test_ctrl_z_in_a_window_of_its_own(tmp_path: Path) -> None:
    """Where no shell could resume it, a stopped program goes on at once, as the kernel lets it without the relay."""
    with Window() as window:
        process = window.start([*relay(tmp_path), "cat"])
        until(lambda: any(field(pid, "Name") == "cat" for pid in descendants(process.pid)), "cat")
        for line in (b"one\r", b"\x1atwo\r", b"\x1athree\r"):
            window.type(line)
            window.wait_for(line.lstrip(b"\x1a").strip() + b"\r\n" + b"")
        window.type(b"\x04")
        assert process.wait(30) == 0
        window.drain(0.05)
        assert window.received.count(b"three") == 2


def test_the_signals_of_job_control_from_elsewhere(tmp_path: Path) -> None:
    """SIGTSTP to the relay stops its program and then itself; after SIGSTOP and SIGCONT it is in raw mode again."""
    with Prompt("bash", tmp_path) as prompt:
        prompt.line(f"{prompt.relay} cat")
        job = prompt.job()
        until(lambda: any(field(pid, "Name") == "cat" for pid in descendants(job)), "cat")
        for number in (signal.SIGTSTP, signal.SIGSTOP):
            os.kill(job, number)
            until(lambda: field(job, "State").startswith("T"), "a stopped relay")
            prompt.ask("echo prom''pt", b"prompt")
            prompt.line("fg")
            until(lambda: not field(job, "State").startswith("T"), "a relay that goes on")
            until(prompt.is_raw, "raw mode")
            prompt.type(b"on\r")
            prompt.wait_for(b"on\r\non\r\n")
        prompt.type(b"\x04")
        until(lambda: not is_alive(job), "the end")


def test_ctrl_z_stops_the_script_around_it_too(tmp_path: Path) -> None:
    """A script that runs the relay is of the same job, and stops and goes on with it."""
    with Prompt("bash", tmp_path) as prompt:
        prompt.ask(f"sh -c '{prompt.editor}; echo script goes on'", b"[in 80 24]")
        script = prompt.job()
        prompt.type(b"\x1a")
        until(lambda: field(script, "State").startswith("T"), "a stopped script")
        prompt.ask("fg", b"[in 80 24]")
        prompt.type(b"q")
        prompt.wait_for(b"script goes on")
