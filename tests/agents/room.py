"""A room on the machine's own files, with nothing but loopback and a name and a home of nobody's.

For agents that need no kitty: scripts want the interpreter they were installed with, and what they draw should name
neither this machine nor its people. In the room `/home/user` is the given home, the host is called `studio`, /tmp is
the machine's, and processes count from 1. It dies with its owner. Needs to be root, and nothing else.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: What the home is called in there.
HOME = Path("/home/user")

_SETUP = """
set -eu
home=$1
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /home
mkdir /home/user
mount --bind "$home" /home/user
mount -t tmpfs -o mode=755 tmpfs /run
# Codex keeps the sockets of its daemon there, by the name of the home: another room's would be taken for its own.
mkdir -p -m 700 "/tmp/codex-daemon-$(id -u)"
mount -t tmpfs -o mode=700 tmpfs "/tmp/codex-daemon-$(id -u)"
ip link set lo up
hostname studio
echo ready
read -r _
"""


class LoopbackRoom:
    """The room around `home`, a folder that may be written."""

    def __init__(self, home: Path) -> None:
        command = ["unshare", "--mount", "--pid", "--net", "--uts", "--fork", "--kill-child", "--"]
        command += ["bash", "-c", _SETUP, "room", str(home.resolve())]
        self._owner = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert self._owner.stdout is not None
        if self._owner.stdout.readline() != b"ready\n":
            _, complaint = self._owner.communicate()
            raise RuntimeError(f"no room: {complaint.decode(errors='replace').strip()}")
        unshare = self._owner.pid
        self.first = int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()[0])
        self._enter = ["nsenter", f"--target={self.first}", "--mount", "--pid", "--net", "--uts", "--"]

    def popen(self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, **how: Any) -> subprocess.Popen[bytes]:
        """Start `argv` inside, in a session of its own."""
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
