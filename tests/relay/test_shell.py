"""The shell of the relay: what reaches the program and what comes back, how it ends, and what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.patience import until
from tests.relay.relayed import Window, children, environment, field, is_alive, relay

#: Of Linux; the module does not have it.
_IUTF8 = 0o40000
_SIZE = struct.Struct("HHHH")
#: Prints its size in cells and pixels, at once and whenever it is told of another.
_SIZES = """
import fcntl, os, signal, sys, termios
def show(*_):
    size = fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8))
    os.write(1, b"size %d %d %d %d\\r\\n" % tuple(int.from_bytes(size[i:i+2], "little") for i in (0, 2, 4, 6)))
signal.signal(signal.SIGWINCH, show)
show()
while True: signal.pause()
"""
#: Answers each signal with its number and ends of SIGUSR2.
_SIGNALS = """
import os, signal, sys
def show(number, _):
    os.write(1, b"got %d\\n" % number)
    if number == signal.SIGUSR2: os._exit(9)
for number in (1, 2, 3, 15, 10, 12): signal.signal(number, show)
os.write(1, b"ready\\n")
while True: signal.pause()
"""


@pytest.fixture
def run(tmp_path: Path) -> list[str]:
    """The start of a command line that runs the rest of it behind the relay."""
    return relay(tmp_path)


def _program(window_process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The monitor and the program of a relay."""
    until(lambda: children(window_process.pid), "the monitor")
    monitor = children(window_process.pid)[0]
    until(lambda: children(monitor), "the program")
    return monitor, children(monitor)[0]


# -- what passes ---------------------------------------------------------------------------------------------------


def test_every_byte_passes_in_both_directions(run: list[str]) -> None:
    """Each of the 256 bytes reaches a raw program and comes back from it unchanged."""
    everything = bytes(range(256))
    code = "import os,tty;tty.setraw(0);os.write(1,b'ready')\nwhile (d:=os.read(0,999)): os.write(1,d)"
    with Window() as window:
        window.start([*run, sys.executable, "-ISc", code])
        window.wait_for(b"ready")
        window.type(everything)
        # What follows an ESC that begins nothing is a sequence of two, so all of it passes at once.
        assert window.wait_for(lambda received: len(received) >= 5 + 256)[5:] == everything


@pytest.mark.slow
def test_all_that_a_program_wrote_before_it_ended_arrives(run: list[str]) -> None:
    """The last words of a program that writes much and ends at once are complete."""
    with Window() as window:
        assert window.run([*run, "seq", "60000"]) == 0
        assert window.received.split() == [b"%d" % n for n in range(1, 60001)]


def test_the_inner_terminal_has_the_modes_of_the_outer_one(run: list[str], tmp_path: Path) -> None:
    """A program finds the same modes as without the relay: the erase key, flow control, UTF-8."""
    with Window() as window:
        modes = termios.tcgetattr(window.slave)
        modes[6][termios.VERASE] = b"\x08"
        modes[0] |= _IUTF8
        modes[0] &= ~termios.IXON
        termios.tcsetattr(window.slave, termios.TCSANOW, modes)
        window.run(["stty", "-a"])
        plain, window.received = window.received, b""
        window.run([*run, "stty", "-a"])
        assert window.received == plain
        assert b"erase = ^H" in plain


def test_the_size_follows_in_cells_and_in_pixels(run: list[str]) -> None:
    """The program has the size of the outer terminal from the start, and is told when it changes."""
    with Window() as window:
        fcntl.ioctl(window.slave, termios.TIOCSWINSZ, _SIZE.pack(33, 99, 990, 660))
        window.start([*run, sys.executable, "-ISc", _SIZES])
        window.wait_for(b"size 33 99 990 660")
        for size in ((20, 70, 700, 400), (20, 70, 1400, 800), (50, 200, 0, 0)):
            fcntl.ioctl(window.master, termios.TIOCSWINSZ, _SIZE.pack(*size))
            window.wait_for(b"size %d %d %d %d" % size)


@pytest.mark.slow
def test_the_program_finds_the_surroundings_it_would_find_without(run: list[str], tmp_path: Path) -> None:
    """Environment, ignored signals, open files and limits are those of a program started directly, but for the mark."""
    probe = "env | grep -v '^_=' | sort; grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd; ulimit -a"
    for surroundings in (environment(), {"PATH": os.environ["PATH"]}):
        found = []
        for words in ([], run):
            with Window() as window:
                # The tests' own interpreter ignores two signals.
                window.run(["env", "--default-signal=PIPE,XFSZ", *words, "sh", "-c", probe], surroundings)
                found.append([line for line in window.received.splitlines() if b"SHLVL" not in line])
        plain, relayed = found
        assert [line for line in relayed if not line.startswith(b"TALLY_RELAY=")] == plain


def test_standard_error_into_a_file_stays_there(run: list[str], tmp_path: Path) -> None:
    """Only what was the terminal becomes the inner terminal."""
    log = tmp_path / "log"
    with Window() as window:
        window.run(["sh", "-c", f'exec "$@" 2>{log}', "sh", *run, "sh", "-c", "echo out; echo err >&2"])
        assert window.received == b"out\r\n"
    assert log.read_text() == "err\n"


# -- how it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 1, 7, 126, 127, 255])
def test_the_exit_code_is_the_programs(run: list[str], code: int) -> None:
    """The relay leaves with the code of its program."""
    with Window() as window:
        assert window.run([*run, "sh", "-c", f"exit {code}"]) == code


@pytest.mark.parametrize(("script", "words"), [("exit 3", b""), ("echo said; exit 3", b"said\r\n")])
def test_what_is_over_at_once_and_says_nothing_needs_no_core(script: str, words: bytes, tmp_path: Path) -> None:
    """The core is made for the first words, if they are the last ones too, and not before; the end is the same."""
    run = relay(tmp_path)
    launcher = tmp_path / "tally"
    spy = (
        "import pathlib\nfrom tallylight.cli import run as verb\nfrom tallylight.relay import loop\n"
        "loop.FIRST_SIGN_MS = 30_000\nmake = verb.make_core\n"
        f"def spy(*words, **options):\n    pathlib.Path({str(tmp_path / 'made')!r}).touch()\n"
        "    return make(*words, **options)\nverb.make_core = spy\nrun()\n"
    )
    launcher.write_text(launcher.read_text().removesuffix("run()\n") + spy)
    with Window() as window:
        assert window.run([*run, "sh", "-c", script]) == 3
        assert window.received == words
    assert (tmp_path / "made").exists() == bool(words)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1"])
def test_the_relay_dies_of_the_signal_its_program_died_of(run: list[str], name: str, tmp_path: Path) -> None:
    """A shell sees the same death as without the relay, and there is no core of the relay's."""
    number = signal.Signals[f"SIG{name}"]
    with Window() as window:
        before = window.modes
        assert window.run([*run, "sh", "-c", f"ulimit -c 0; kill -{name} $$"]) == -number
        assert window.modes == before


@pytest.mark.slow
def test_what_cannot_be_run_is_said_as_a_shell_says_it(run: list[str], tmp_path: Path) -> None:
    """An unknown command leaves 127, one that is no program 126, each with a line that says why."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with Window() as window:
        before = window.modes
        for command, code, text in (
            ("no-such-command", 127, b"no-such-command: command not found"),
            (str(tmp_path / "nothing"), 127, b"No such file or directory"),
            ("/etc/passwd", 126, b"Permission denied"),
            (str(folder), 126, b"Permission denied"),
        ):
            window.received = b""
            assert window.run([*run, command]) == code
            assert text in window.received
            assert window.modes == before
            direct = subprocess.run([*run, command], stdin=subprocess.DEVNULL, capture_output=True)
            assert (direct.returncode, text in direct.stderr) == (code, True)


@pytest.mark.slow
def test_a_script_without_a_first_line_is_run_by_sh(run: list[str], tmp_path: Path) -> None:
    """As every shell does."""
    script = tmp_path / "script"
    script.write_text("echo $1-$2\n")
    script.chmod(0o755)
    with Window() as window:
        assert window.run([*run, str(script), "a", "b"]) == 0
        assert window.received == b"a-b\r\n"
        window.received = b""
        assert window.run([*run, "script", "c", "d"], environment(PATH=f"{tmp_path}:/usr/bin:/bin")) == 0
        assert window.received == b"c-d\r\n"


def test_signals_are_passed_on(run: list[str]) -> None:
    """Each signal that would have reached the program reaches it, and it decides."""
    with Window() as window:
        before = window.modes
        process = window.start([*run, sys.executable, "-ISc", _SIGNALS])
        window.wait_for(b"ready")
        for number in (1, 2, 3, 15, 10, 12):
            process.send_signal(number)
            window.wait_for(b"got %d\r\n" % number)
        assert process.wait(30) == 9
        assert window.modes == before


def test_signals_that_were_ignored_reach_who_handles_them(run: list[str]) -> None:
    """After `nohup` a program with a handler of its own gets SIGHUP, as it does without the relay."""
    with Window() as window:
        process = window.start(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *run, sys.executable, "-ISc", _SIGNALS])
        window.wait_for(b"ready")
        process.send_signal(signal.SIGHUP)
        window.wait_for(b"got 1\r\n")
        process.send_signal(signal.SIGUSR2)
        assert process.wait(30) == 9


def test_signals_that_were_ignored_stay_ignored(run: list[str]) -> None:
    """`nohup` holds for the relay and for its program."""
    with Window() as window:
        process = window.start(
            ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *run, "sh", "-c", "echo on; read x; exit 3"]
        )
        window.wait_for(b"on")
        process.send_signal(signal.SIGHUP)
        window.type(b"\n")
        assert process.wait(30) == 3


@pytest.mark.slow
def test_typed_signals_reach_the_program(run: list[str]) -> None:
    """ctrl-C and ctrl-\\ are bytes to the relay, and signals to its program."""
    for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
        with Window() as window:
            process = window.start([*run, "sh", "-c", "ulimit -c 0; echo on; exec sleep 100"])
            window.wait_for(b"on")
            until(lambda p=process: field(_program(p)[1], "Name") == "sleep", "sleep")
            window.type(key)
            assert process.wait(30) == -number


def test_what_the_program_leaves_running_lives_on(run: list[str], tmp_path: Path) -> None:
    """A helper left in the program's own group is not told that a terminal hung up, as without the relay."""
    note = tmp_path / "pid"
    with Window() as window:
        assert window.run([*run, "sh", "-c", f"sleep 100 & echo $! > {note}"]) == 0
        helper = int(note.read_text())
        try:
            assert is_alive(helper)
            window.drain(0.2)
            assert is_alive(helper)
        finally:
            os.kill(helper, signal.SIGKILL)


# -- when it steps aside -------------------------------------------------------------------------------------------


def test_without_a_terminal_it_becomes_the_command(run: list[str]) -> None:
    """With standard input or output elsewhere there is one process, and it is the command."""
    with Window() as window:
        for redirect in ("</dev/null", "| cat", ">/dev/null"):
            window.received = b""
            inner = "exec sh -c 'echo $$ $TALLY_RELAY >&2'"
            command = (
                f'echo $$ >&2; exec "$@" {redirect}'
                if redirect != "| cat"
                else f'sh -c \'echo $$ >&2; exec "$0" "$@"\' "$@" {redirect}'
            )
            window.run(["sh", "-c", command, "sh", *run, "sh", "-c", inner])
            first, second = window.received.split()
            assert first == second


def test_it_can_be_switched_off(run: list[str]) -> None:
    """TALLY_RELAY=0 has the command run without it, and the variable stays for what that starts."""
    with Window() as window:
        process = window.start([*run, "sh", "-c", "echo $$ $TALLY_RELAY; tty"], environment(TALLY_RELAY="0"))
        process.wait(30)
        name = window.name
        window.drain(0.05)
        assert window.received.split() == [b"%d" % process.pid, b"0", name.encode()]


def test_a_relay_inside_a_relay_steps_aside(run: list[str]) -> None:
    """The inner one becomes its command: one terminal, one monitor."""
    with Window() as window:
        process = window.start([*run, *run, *run, "sh", "-c", "tty; echo $PPID; echo $TALLY_RELAY; read x"])
        name, parent, mark = window.wait_for(lambda received: received.count(b"\n") == 3).split()
        assert int(parent) == _program(process)[0]
        assert mark == b"%b:%b" % (name, parent)
        window.type(b"\n")
        assert process.wait(30) == 0


@pytest.mark.slow
def test_another_terminal_inside_a_relay_has_a_relay_of_its_own(run: list[str]) -> None:
    """A mark inherited by a terminal started inside, or left from one that is gone, says nothing."""
    with Window() as window:
        inner = " ".join([*run, "tty"])
        assert window.run([*run, "sh", "-c", f"tty; script -qec '{inner}' /dev/null"]) == 0
        assert len(set(window.received.split())) == 2
    with Window() as window:
        window.run([*run, "tty"], environment(TALLY_RELAY=f"{window.name}:1"))
        assert window.received.strip() != window.name.encode()


# -- violence ------------------------------------------------------------------------------------------------------


def test_a_killed_relay_leaves_nothing_behind(run: list[str]) -> None:
    """After kill -9 of the relay its program is told that the terminal is gone, and the terminal's modes are back."""
    with Window() as window:
        before = window.modes
        process = window.start([*run, "sleep", "100"])
        monitor, program = _program(process)
        until(window.is_raw, "raw mode")
        process.kill()
        process.wait()
        until(lambda: not is_alive(program), "the end of the program")
        until(lambda: not is_alive(monitor), "the end of the monitor")
        assert window.modes == before


def test_a_killed_monitor_ends_the_rest(run: list[str]) -> None:
    """Without the leader of its session the program has lost its terminal; the outer one is restored."""
    with Window() as window:
        before = window.modes
        process = window.start([*run, "sleep", "100"])
        monitor, program = _program(process)
        until(window.is_raw, "raw mode")
        os.kill(monitor, signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
        until(lambda: not is_alive(program), "the end of the program")
        assert window.modes == before


def test_signals_to_the_monitor_do_not_part_it_from_its_program(run: list[str]) -> None:
    """`pkill tally` reaches both processes; the program gets the signal once and its end is still told."""
    with Window() as window:
        before = window.modes
        process = window.start([*run, sys.executable, "-ISc", _SIGNALS])
        window.wait_for(b"ready")
        monitor, _ = _program(process)
        for number in (1, 2, 3, 15, 10):
            os.kill(monitor, number)
            process.send_signal(number)
            window.wait_for(b"got %d\r\n" % number)
        assert window.is_raw()
        process.send_signal(12)
        window.wait_for(b"got 12\r\n")
        assert process.wait(30) == 9
        assert window.received.count(b"got") == 6
        assert window.modes == before


@pytest.mark.parametrize("command", [["sleep", "100"], ["cat", "/dev/zero"], ["yes"]])
def test_a_closed_window_ends_all(run: list[str], command: list[str]) -> None:
    """The program gets SIGHUP as without the relay, in the middle of a flood too, and nothing is left."""
    with Window() as window:
        process = window.start([*run, *command])
        monitor, program = _program(process)
        until(window.is_raw, "raw mode")
        window.drain(0.1)
        window.hang_up()
        assert process.wait(30) == -signal.SIGHUP
        until(lambda: not is_alive(program), "the end of the program")
        until(lambda: not is_alive(monitor), "the end of the monitor")


def test_a_program_that_survives_a_closed_window_does_so_here(run: list[str], tmp_path: Path) -> None:
    """The relay leaves, the program goes on without a terminal."""
    note = tmp_path / "note"
    with Window() as window:
        process = window.start([*run, "sh", "-c", f'trap "" HUP; echo on; read x; echo gone > {note}; exec sleep 100'])
        window.wait_for(b"on")
        _, program = _program(process)
        window.hang_up()
        process.wait(30)
        until(note.exists, "the note")
        os.kill(program, signal.SIGKILL)


@pytest.mark.parametrize("command", [["sleep", "100"], ["cat"]])
def test_a_closed_window_ends_it_after_nohup_too(run: list[str], command: list[str]) -> None:
    """The relay and its monitor leave; the program ignores SIGHUP, as without the relay, and lives on what it reads."""
    with Window() as window:
        process = window.start(["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *run, *command])
        until(window.is_raw, "raw mode")
        monitor, program = _program(process)
        until(lambda: field(program, "Name") == command[0], "the program")
        window.hang_up()
        assert process.wait(30) == -signal.SIGHUP
        until(lambda: not is_alive(monitor), "the end of the monitor")
        if command == ["sleep", "100"]:
            assert is_alive(program)
            os.kill(program, signal.SIGKILL)
        until(lambda: not is_alive(program), "the end of the program")


# -- pressure ------------------------------------------------------------------------------------------------------


def _resident(pid: int) -> int:
    return int(field(pid, "VmRSS").split()[0])


@pytest.mark.slow
def test_a_terminal_that_does_not_read_stops_the_program(run: list[str], tmp_path: Path) -> None:
    """The flood waits with the program, not in our memory; when the terminal reads on, nothing is missing."""
    with Window() as window:
        process = window.start([*run, "seq", "300000"])
        _, program = _program(process)
        until(lambda: field(program, "Name") == "seq" and _blocks(program), "a program that waits")
        until(lambda: _sleeps(process.pid), "a relay that waits")
        assert _resident(process.pid) < 40_000
        window.drain(0)
        window.wait_for(b"\n300000\r\n")
        assert process.wait(30) == 0
        assert window.received.split() == [b"%d" % n for n in range(1, 300001)]


def _sleeps(pid: int) -> bool:
    """Whether *pid* has slept through a while."""
    before = field(pid, "voluntary_ctxt_switches"), field(pid, "nonvoluntary_ctxt_switches")
    time.sleep(0.3)
    return before == (field(pid, "voluntary_ctxt_switches"), field(pid, "nonvoluntary_ctxt_switches"))


_blocks = _sleeps


def test_a_program_that_does_not_read_stops_the_typist(run: list[str]) -> None:
    """A paste that nobody reads waits in the terminal, not in our memory; when it is read, nothing is missing."""
    code = "import os,signal,tty;tty.setraw(0);signal.signal(10,lambda *_:0);os.write(1,b'ready');signal.pause()\n"
    code += "n=0\nwhile b'q' not in (d:=os.read(0,65536)): n+=len(d)\nos.write(1,b'read %d' % (n+len(d)))"
    with Window() as window:
        process = window.start([*run, sys.executable, "-ISc", code])
        window.wait_for(b"ready")
        typed = 0
        while True:
            try:
                typed += os.write(window.master, b"x" * 4096)
            except BlockingIOError:
                takes_more = select.select([], [window.master], [], 0.3)[1]
                if not takes_more and _sleeps(process.pid):
                    break
        assert typed < 1 << 20
        assert _resident(process.pid) < 40_000
        process.send_signal(signal.SIGUSR1)
        while True:
            try:
                os.write(window.master, b"q")
                break
            except BlockingIOError:
                window.drain(0.01)
        window.wait_for(b"read %d" % (typed + 1))


@pytest.mark.slow
def test_it_does_not_wake_while_nothing_happens(run: list[str]) -> None:
    """Neither of our processes runs while the program is silent."""
    with Window() as window:
        process = window.start([*run, "sh", "-c", "echo on; exec sleep 100"])
        window.wait_for(b"on")
        monitor, _ = _program(process)

        def switches() -> list[str]:
            return [field(pid, "voluntary_ctxt_switches") for pid in (process.pid, monitor)]

        def is_quiet() -> bool:
            before = switches()
            window.drain(1.0)
            return switches() == before

        # Both have to come to rest first, on a busy machine later.
        until(is_quiet, "a second in which neither runs")


def test_it_is_where_its_program_is(run: list[str], tmp_path: Path) -> None:
    """A terminal that opens a window in the folder of the foreground process opens it in the program's."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with Window() as window:
        process = window.start([*run, "sh"], environment())
        window.wait_for(b"ready> ")
        for folder in ("a", "b"):
            window.type(f"cd {tmp_path / folder}\n".encode())
            until(lambda f=folder: Path(f"/proc/{process.pid}/cwd").readlink() == tmp_path / f, folder)


@pytest.mark.slow
def test_its_usage(run: list[str], tmp_path: Path) -> None:
    """`--help` explains, no command and an unknown option are errors, `--` ends the options."""
    done = subprocess.run([*run, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--passthrough" in done.stdout
    assert subprocess.run(run, capture_output=True).returncode == 2
    assert b"--no" in subprocess.run([*run, "--no", "true"], capture_output=True).stderr
    assert subprocess.run([*run, "--passthrough", "--", "sh", "-c", "exit 5"], stdin=subprocess.DEVNULL).returncode == 5
    verbs = subprocess.run([*run[:-1], "help", "--all"], capture_output=True, text=True).stdout
    assert re.search("^  run ", verbs, re.M)
