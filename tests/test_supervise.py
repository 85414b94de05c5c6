"""A run of the tests leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import patient, until

SUPERVISE = Path(__file__).with_name("supervise.py")
#: A daemon in a session of its own, an orphan, that no polite signal ends; it writes its number to the file.
DAEMON = """
import os, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if not os.fork():
    os.setsid()
    if not os.fork():
        with open(sys.argv[1] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
        time.sleep(900)
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc"),
]


def supervised(script: str, *words: object) -> subprocess.Popen[str]:
    """A shell script that is supervised; `$1` and so on are *words*."""
    command = [sys.executable, SUPERVISE, "/bin/sh", "-c", script, "sh", sys.executable, DAEMON, *map(str, words)]
    return subprocess.Popen(command, text=True, stderr=subprocess.PIPE)


def is_there(pid: int) -> bool:
    """Whether a process runs; one that nobody reaps does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_stop_ends_all(tmp_path: Path, number: signal.Signals) -> None:
    """Also the daemons, those without the variable that still have a parent, and the script after its clearing up."""
    daemon, cleared = tmp_path / "daemon", tmp_path / "cleared"
    script = """
        trap 'exit 130' INT; trap 'echo done > "$4"' EXIT
        "$1" -c "$2" "$3"; env -i sleep 900 & env -i sleep 900
    """
    process = supervised(script, daemon, cleared)
    until(daemon.exists)
    below = f"/proc/{process.pid}/task/{process.pid}/children"
    shell = int(Path(below).read_text())
    sleeps = Path(f"/proc/{shell}/task/{shell}/children")
    until(lambda: len(sleeps.read_text().split()) == 2)
    pids = [shell, int(daemon.read_text()), *map(int, sleeps.read_text().split())]
    process.send_signal(number)
    _, told = process.communicate(timeout=patient(20))

    assert process.returncode == 130
    assert [pid for pid in pids if is_there(pid)] == []
    assert cleared.exists()
    assert f"stopped by {number.name}" in told


def test_what_is_left_at_the_end_is_told(tmp_path: Path) -> None:
    """A daemon that the command has left is killed and named; the exit code is that of the command."""
    daemon = tmp_path / "daemon"
    process = supervised('"$1" -c "$2" "$3"; while ! [ -e "$3" ]; do :; done; exit 3', daemon)
    _, told = process.communicate(timeout=patient(20))

    assert process.returncode == 3
    assert not is_there(int(daemon.read_text()))
    assert "1 processes were left and killed: python" in told


def test_others_are_left_alone(tmp_path: Path) -> None:
    """What runs beside the command, with another mark or none, goes on; a command that leaves nothing says nothing."""
    beside = subprocess.Popen(["sleep", "900"], env={**os.environ, "TALLYLIGHT_TESTS_RUN": "another"})
    process = supervised("exit 0")
    _, told = process.communicate(timeout=patient(20))

    try:
        assert (process.returncode, told, beside.poll()) == (0, "", None)
    finally:
        beside.kill()
        beside.wait()
