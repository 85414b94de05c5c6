"""A room of namespaces: programs in it see what they are let see, and die with it.

The room dies with its owner: its first process waits for the end of a pipe that only the owner holds. Needs to be root.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Namespaces:
    """
    New namespaces of these `kinds`, as `unshare` calls them, `pid` and `mount` among them.

    `setup` is bash and gets `arguments`. It runs as the first process inside, with the machine's files still there,
    says `ready` once whoever enters finds everything in its place, and waits to read a line. `enter` is more of what
    `nsenter` is to take from that process.
    """

    def __init__(self, kinds: Sequence[str], setup: str, *arguments: str, enter: Sequence[str] = ()) -> None:
        names = [f"--{kind}" for kind in kinds]
        command = ["unshare", *names, "--fork", "--kill-child", "--", "bash", "-c", setup, "room", *arguments]
        self._owner = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert self._owner.stdout is not None
        if self._owner.stdout.readline() != b"ready\n":
            _, complaint = self._owner.communicate()
            raise RuntimeError(f"no room: {complaint.decode(errors='replace').strip()}")
        unshare = self._owner.pid
        #: The process that is the first inside, by its number outside.
        self.first = int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()[0])
        self._enter = ["nsenter", f"--target={self.first}", *names, *enter, "--"]

    def popen(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> subprocess.Popen[bytes]:
        """
        Start `argv` inside, in a session of its own.

        Signals to the process returned do not get in: end the room, or kill from inside.
        """
        settings = [f"{name}={value}" for name, value in env.items()]
        command = [*self._enter, "/usr/bin/env", "-i", f"--chdir={cwd}", *settings, *argv]
        return subprocess.Popen(command, start_new_session=True, **how)

    def close(self) -> None:
        """Kill the first process, and the kernel kills all the others with it."""
        self._owner.kill()
        self._owner.wait()
        for pipe in (self._owner.stdin, self._owner.stdout, self._owner.stderr):
            if pipe is not None:
                pipe.close()
