"""Finding the terminal of a process that has none, and writing to it, on real pseudoterminals."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tallylight.wire import tty
from tests.patience import until
from tests.tables import each
from tests.terminal import SHARED, Terminal, bare_environment

NOBODY = "/dev/no-such-terminal"

#: Opens the terminal from its environment and its ancestors and writes a word there.
SAY = (
    f"import os,sys;sys.path.insert(0,{str(SHARED)!r})\n"
    "from tallylight.wire import tty\n"
    "fd=tty.open_terminal(os.environ)\n"
    "sys.stderr.write(f'{fd is not None}\\n')\n"
    "if fd is not None: tty.write(fd,b'<light>')\n"
)

#: Runs the rest of its command line in a session of its own, without a terminal, as agents run their hooks.
AS_HOOK = (
    "import subprocess,sys\n"
    "d=subprocess.run(sys.argv[1:],start_new_session=True,stdin=subprocess.DEVNULL,capture_output=True)\n"
    "sys.stdout.write('<'+d.stderr.decode()+'>')\n"
)


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-IS", "-c", code, *arguments]


def hook(code: str, depth: int = 1) -> list[str]:
    command = python(code)
    for _ in range(depth):
        command = [sys.executable, "-I", "-c", AS_HOOK, *command]
    return command


def test_own_terminal_is_used() -> None:
    """A process with a controlling terminal writes to that, whatever its descriptors are."""
    with Terminal() as terminal:
        code = terminal.run(["sh", "-c", '"$@" >/dev/null 2>&1 </dev/null', "sh", *python(SAY)])

        assert code == 0
        assert terminal.received == b"<light>"


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 3])
def test_hook_without_terminal_reaches_its_agents(depth: int) -> None:
    """A process in a session of its own, with pipes for descriptors, finds the terminal its ancestor has."""
    with Terminal() as terminal:
        terminal.run(hook(SAY, depth))

        assert b"<light>" in terminal.received
        assert b"False" not in terminal.received


def test_ancestor_with_no_open_descriptor_is_found_by_number() -> None:
    """An agent that holds its terminal on none of 0, 1 and 2 is still found, by the number of its terminal."""
    detach = (
        f"import os,subprocess;n=os.open('/dev/null',2)\nfor i in 0,1,2: os.dup2(n,i)\nsubprocess.run({hook(SAY)!r})"
    )
    with Terminal() as terminal:
        terminal.run([sys.executable, "-I", "-c", detach])

        assert terminal.received == b"<light>"


def test_nobody_has_a_terminal() -> None:
    """In a chain without any terminal there is none, and that is no error."""
    orphan = (
        "import os,sys,time\nparent=os.getpid()\nif os.fork(): os._exit(0)\nos.setsid()\n"
        f"while os.getppid()==parent: time.sleep(.01)\n{SAY}"
    )
    read, write = os.pipe()
    process = subprocess.Popen(python(orphan), stdin=subprocess.DEVNULL, stdout=write, stderr=write)
    os.close(write)
    process.wait()

    with os.fdopen(read, "rb") as file:
        said = file.read()

    # Whoever adopts orphans here is the end of the chain, with or without a terminal.
    assert said == b"False\n" or os.getppid() != 1


FAKE = {
    10: (9, 0, []),
    9: (8, 0, ["/dev/nothing-there", "TERMINAL"]),
    8: (1, 0, ["OTHER"]),
    50: (51, 0, []),
    51: (50, 0, []),
}


def reader(named: Mapping[str, str]) -> tty.Reader:
    def read(pid: int) -> tuple[int, int, list[str]] | None:
        found = FAKE.get(pid)
        return None if found is None else (*found[:2], [named.get(path, path) for path in found[2]])  # type: ignore[has-type]

    return read


def opened(fd: int | None) -> str | None:
    if fd is None:
        return None
    try:
        return os.ttyname(fd)
    finally:
        os.close(fd)


def test_nearest_ancestor_wins_and_the_unusable_is_passed_over() -> None:
    """The first device that opens as a terminal is taken, going up."""
    with Terminal() as near, Terminal() as far:
        read = reader({"TERMINAL": near.name, "OTHER": far.name})
        assert opened(tty.open_terminal({}, device=NOBODY, parent=10, read=read)) == near.name

        read = reader({"TERMINAL": "/dev/null", "OTHER": far.name})
        assert opened(tty.open_terminal({}, device=NOBODY, parent=10, read=read)) == far.name


@each("parent", [0, 1, 7, 50])
def test_chain_ends(parent: int) -> None:
    """The search ends at init, at a process that is gone, and in a circle of reused numbers."""
    assert tty.open_terminal({}, device=NOBODY, parent=parent, read=reader({})) is None


@each("value", ["", "x", "-1", "1e3", "٣", "99999999999", "0", "1", "3999999999"])
def test_claude_pid_that_is_no_process(value: str) -> None:
    """A CLAUDE_PID that names no process is ignored."""
    assert tty.open_terminal({"CLAUDE_PID": value}, device=NOBODY, parent=1) is None


def test_claude_pid_is_the_last_resort() -> None:
    """A detached hook finds Claude's terminal by CLAUDE_PID, if the process is called claude."""
    sleeper = "import sys,time;time.sleep(60)"
    with Terminal() as terminal, Terminal() as other:
        claude, stranger = terminal.start(python(sleeper, "/x/claude")), other.start(python(sleeper))
        wait_for_terminal(claude.pid)
        wait_for_terminal(stranger.pid)

        found = opened(tty.open_terminal({"CLAUDE_PID": str(claude.pid)}, device=NOBODY, parent=1))
        wrong = opened(tty.open_terminal({"CLAUDE_PID": str(stranger.pid)}, device=NOBODY, parent=1))

        assert found == terminal.name
        assert wrong is None


def wait_for_terminal(pid: int, read: tty.Reader = tty.read_process) -> tuple[int, int, list[str]]:
    """What *read* says of a process that has its terminal; a busy machine may not give `ps` the second that it has."""
    return until(lambda: found if (found := read(pid)) and found[2] else None)


def test_both_readers_agree() -> None:
    """`ps`, which other systems need, says the same as `/proc`."""
    with Terminal() as terminal:
        process = terminal.start(python("import time;time.sleep(60)"))
        by_ps, by_proc = wait_for_terminal(process.pid, tty.read_ps), tty.read_proc(process.pid)

        assert by_ps == (os.getpid(), os.getuid(), [terminal.name])
        assert by_proc is not None
        assert by_proc[:2] == by_ps[:2]
        assert by_proc[2] == [*(f"/proc/{process.pid}/fd/{fd}" for fd in (0, 1, 2)), terminal.name]


@pytest.mark.parametrize("read", [tty.read_proc, tty.read_ps])
def test_process_that_is_gone(read: tty.Reader) -> None:
    """A number nobody has is not a process."""
    assert read(2**22 + 1) is None


def test_odd_process_name(tmp_path: Path) -> None:
    """A name with brackets and spaces does not shift the fields behind it."""
    odd = tmp_path / ") 1 (x y"
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(odd), "60"], start_new_session=True)
    try:
        found = tty.read_proc(process.pid)
    finally:
        process.kill()
        process.wait()

    assert found is not None
    assert found[0] == os.getpid()


def test_opening_does_not_take_the_terminal() -> None:
    """A session leader without a terminal that opens a free one still has none afterwards."""
    code = (
        f"import os,sys;sys.path.insert(0,{str(SHARED)!r})\nfrom tallylight.wire import tty\n"
        "assert tty.open_terminal({},device=sys.argv[1]) is not None\n"
        "try: os.open('/dev/tty',os.O_RDWR); sys.stdout.write('taken')\n"
        "except OSError: sys.stdout.write('free')\n"
    )
    with Terminal() as terminal:
        done = subprocess.run(python(code, terminal.name), start_new_session=True, capture_output=True, check=True)

        assert done.stdout == b"free"


def test_stopped_terminal_does_not_hold_us_up() -> None:
    """A terminal stopped with ctrl-S gives an error after the timeout, and nothing was written."""
    with Terminal() as terminal:
        fd = os.open(terminal.name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        termios.tcflow(terminal.slave, termios.TCOOFF)
        started = time.monotonic()

        with pytest.raises(tty.TerminalStuckError) as caught:
            tty.write(fd, b"x" * 10, timeout=0.1)

        assert time.monotonic() - started >= 0.1
        assert (caught.value.written, caught.value.size) == (0, 10)
        termios.tcflow(terminal.slave, termios.TCOON)
        tty.write(fd, b"on again", timeout=5)
        terminal.wait_for(b"on again")
        os.close(fd)


def test_terminal_nobody_reads_does_not_hold_us_up() -> None:
    """A pty whose buffer is full gives an error after the timeout that says how far it came."""
    with Terminal() as terminal:
        fd = os.open(terminal.name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)

        with pytest.raises(tty.TerminalStuckError) as caught:
            tty.write(fd, b"x" * 1_000_000, timeout=0.05)

        assert 0 < caught.value.written < 1_000_000
        os.close(fd)


def test_background_process_is_not_stopped_by_tostop() -> None:
    """With `stty tostop` a background hook would be suspended for ever; ours writes."""
    background = f"import os,sys\nos.setpgid(0,0)\n{SAY}"
    with Terminal() as terminal:
        attributes = termios.tcgetattr(terminal.slave)
        attributes[3] |= termios.TOSTOP
        termios.tcsetattr(terminal.slave, termios.TCSANOW, attributes)
        # stderr would be the same terminal, and is not what is tested.
        terminal.run(["sh", "-c", '"$@" 2>/dev/null', "sh", *python(f"{KEEP_FOREGROUND}{background!r}]))")])

        assert b"<light>" in terminal.received


KEEP_FOREGROUND = "import subprocess,sys;sys.exit(subprocess.call([sys.executable,'-IS','-c',"


@each(
    ("environ", "kind"),
    [
        ({}, ""),
        ({"TERM": "screen-256color"}, ""),
        ({"TMUX": "/tmp/tmux-0/default,1,0", "TERM": "screen-256color"}, "tmux"),
        ({"TMUX": "x", "TERM": "xterm-256color"}, "tmux"),
        ({"TMUX": "x", "STY": "y", "TERM": "screen"}, "tmux"),
        ({"STY": "1234.pts-0.host", "TERM": "screen.xterm-256color"}, "screen"),
        ({"STY": "y", "TERM": "xterm-256color"}, "screen"),
        # The terminal around Screen is still in its environment.
        ({"STY": "y", "TERM": "screen", "TERM_PROGRAM": "WezTerm"}, "screen"),
        # tmux before 3.2 left the outer TERM_PROGRAM, too.
        ({"TMUX": "x", "TERM": "screen", "TERM_PROGRAM": "WezTerm"}, "tmux"),
        # kitty as default-terminal of a tmux.
        ({"TMUX": "x", "TERM": "xterm-kitty", "TERM_PROGRAM": "tmux"}, "tmux"),
        # A terminal started from inside a multiplexer.
        ({"TMUX": "x", "TERM": "xterm-kitty"}, ""),
        ({"STY": "y", "TERM": "xterm-kitty"}, ""),
        ({"TMUX": "x", "TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, ""),
        ({"TMUX": "", "STY": "", "TERM": "screen"}, ""),
    ],
)
def test_multiplexer(environ: dict[str, str], kind: str) -> None:
    """The multiplexer around us is told from one that only left its variables."""
    assert tty.multiplexer(environ) == kind


def test_harness_leaves_no_trace() -> None:
    """The environment the other tests run commands in knows no multiplexer."""
    assert tty.multiplexer(bare_environment()) == ""


def test_real_fork_of_pty_module() -> None:
    """A shell's child that calls setsid itself is found from the standard library's own pty.fork, too."""
    pid, master = pty.fork()
    if pid == 0:
        os.execv(sys.executable, hook(SAY))
    said = b""
    while b">" not in said.replace(b"<light>", b""):
        said += os.read(master, 1024)
    os.waitpid(pid, 0)
    os.close(master)

    assert b"<light>" in said
