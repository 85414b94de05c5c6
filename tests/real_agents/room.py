"""A room on the machine's own files, with nothing but loopback and a name and a home of nobody's.

For agents that need no kitty: scripts want the interpreter they were installed with, and what they draw should name
neither this machine nor its people. In the room `/home/user` is the given home, the host is called `studio`, /tmp is
the machine's, and processes count from 1. It dies with its owner. Needs to be root, and nothing else.
"""

from __future__ import annotations

from pathlib import Path

from tests.namespaces import Namespaces

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


class LoopbackRoom(Namespaces):
    """The room around `home`, a folder that may be written."""

    def __init__(self, home: Path) -> None:
        super().__init__(("mount", "pid", "net", "uts"), _SETUP, str(home.resolve()))
