"""A sandbox around real processes: what the kernel shows of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallylight.evidence import process_table
from tallylight.evidence.confinement import is_confined
from tallylight.evidence.procfs import ProcTable

pytestmark = pytest.mark.slow

#: Each runs `cat`, which waits for its input, in a sandbox.
SANDBOXES = {
    "a mount namespace": "unshare --user --map-root-user --mount",
    "a network": "unshare --user --map-root-user --net",
    "a process namespace": "unshare --user --map-root-user --pid --fork",
    "a user namespace": "unshare --user",
    "no new privileges": "setpriv --no-new-privs",
}


@contextmanager
def running(*command: str) -> Iterator[int]:
    """The pid of `cat`, once *command* has become it or has started it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*command, "sh", "-c", "echo; exec cat"], **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"\n"
        below = process_table.children(process.pid, process_table.table())
        yield below[0] if below else process.pid
        process.stdin.close()


@pytest.mark.programs
@pytest.mark.parametrize("command", SANDBOXES.values(), ids=SANDBOXES)
def test_a_sandbox_is_seen(command: str) -> None:
    """By each namespace that is its own, and by the flag that it cannot take back; two of one kind differ."""
    if subprocess.run([*command.split(), "true"], check=False).returncode:
        pytest.skip("NOT TESTED: this kernel makes no such namespace for this user")
    table, own = ProcTable(), os.getpid()
    with running(*command.split()) as inside:
        assert is_confined(inside, own, table)
        assert is_confined(own, inside, table)
        assert not is_confined(inside, inside, table)


def test_what_is_in_none() -> None:
    """A plain child, in its own session too; what has gone may have been in one. Without /proc nothing is known."""
    table, own = ProcTable(), os.getpid()
    for command in ((), (shutil.which("setsid") or "setsid", "-w")):
        with running(*command) as beside:
            assert not is_confined(beside, own, table)
    assert is_confined(beside, own, table)
    assert is_confined(own, 0, table)
    assert not Path(f"/proc/{beside}").exists()
    assert not is_confined(beside, own, process_table.PsutilTable())
