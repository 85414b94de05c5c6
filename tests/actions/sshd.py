"""
A real sshd of root's, and the settings of `ssh` with which a key of this test gets in: from this machine, or from a
network namespace that stands for another one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def other_machine() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The address of this machine that another one sees, and what has a program run in the network of that one."""
    name, number = f"tally{os.getpid()}", os.getpid()
    ends = [f"t{number}n", f"t{number}f"]
    here, there = (f"10.{213 + (number >> 14 & 31)}.{number >> 6 & 255}.{(number & 63) << 2 | at}" for at in (1, 2))

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", name)
        ip("address", "add", f"{here}/30", "dev", ends[0])
        ip("link", "set", ends[0], "up")
        ip("-n", name, "address", "add", f"{there}/30", "dev", ends[1])
        ip("-n", name, "link", "set", ends[1], "up")
        yield here, ("nsenter", f"--net=/run/netns/{name}")
    finally:
        # Its end goes with it, and this one with that.
        ip("netns", "delete", name)


@contextlib.contextmanager
def sshd(folder: Path, *, address: str = "127.0.0.1", proxy: Sequence[str] = ()) -> Iterator[None]:
    """
    Listen at *address*; `ssh -F FOLDER/ssh.conf HOST` gets in as root until the end of the block, whatever HOST is.

    *proxy* is a program in between, which gets the address and the number of the port.
    """
    daemon = shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    assert daemon is not None, "no sshd"
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    Path("/run/sshd").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind((address, 0))
        port = str(probe.getsockname()[1])
    options = ["StrictModes=no", f"AuthorizedKeysFile={folder / 'user.pub'}", "UsePAM=no", "PrintMotd=no"]
    options += ["PermitRootLogin=yes", f"PidFile={folder / 'sshd.pid'}", f"ListenAddress={address}"]
    words = [word for option in options for word in ("-o", option)]
    server = subprocess.Popen([daemon, "-D", "-f", "/dev/null", "-h", folder / "host", "-p", port, *words])
    way = f"ProxyCommand {' '.join(proxy)} {address} {port}" if proxy else f"Port {port}"
    (folder / "ssh.conf").write_text(
        f"Host *\nHostname {address}\nUser root\nIdentityFile {folder / 'user'}\nStrictHostKeyChecking no\n"
        f"UserKnownHostsFile /dev/null\nLogLevel ERROR\nConnectionAttempts 60\n{way}\n"
    )
    try:
        yield
    finally:
        server.kill()
        server.wait()
