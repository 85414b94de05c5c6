"""Install: put the checkout into a test's home as ``install.sh`` would, but without a network or a build.

The layout is the real one: ``~/.local/share/tallylight/`` with ``lib/`` (a ``sys.path`` folder that has tallylight,
attrs and psutil) and ``kittens/``; the command is ``~/.local/bin/tally``. Everything is copied, not linked, so that no
path leads back into the checkout. As in a real installation it is compiled by the Python that will run it: once for all
homes, for whatever starts first would otherwise take a second longer in each.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tallylight.setup.kitty import COMPILE
from tests.real_kitty.roots import CHECKOUT, ROOTS_DIR, SUITES, open_room

# The Python of the room, which is the one that a person's install.sh would find.
_COMMAND = """#!/usr/bin/python3 -IS
import sys

sys.path.insert(0, {lib!r})
from tallylight.cli.main import run

run()
"""

#: For how many seconds what nobody has used is kept.
_KEPT_S = 86400.0
_WITHOUT = shutil.ignore_patterns("__pycache__", "tests")


def install(home: Path, version: str = "here") -> Path:
    """Install into `home` and return the data folder. It is compiled for that kitty's room, or for this machine."""
    data = home / ".local/share/tallylight"
    data.mkdir(parents=True, exist_ok=True)
    # Several times as quick as `shutil.copytree`. What is compiled counts only beside sources of the same times.
    subprocess.run(["cp", "-a", f"{_compiled(version)}/.", data], check=True)
    command = home / ".local/bin/tally"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(_COMMAND.format(lib=str(data / "lib")))
    command.chmod(0o755)
    return data


@functools.cache
def _compiled(version: str) -> Path:
    """A data folder to copy, which is kept for all processes and later runs that have the same sources."""
    folders = {"lib/tallylight": CHECKOUT / "shared/tallylight", "kittens": CHECKOUT / "kittens"}
    for package in ("attr", "attrs", "psutil"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        folders[f"lib/{package}"] = Path(spec.origin).parent
    kept = ROOTS_DIR.parent / "installed" / f"{version}-{_digest(version, folders)}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (kept.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for old in kept.parent.glob("*-*"):
            if time.time() - old.stat().st_mtime > _KEPT_S:
                shutil.rmtree(old, ignore_errors=True)
        if not kept.exists():
            _compile(version, folders, kept)
        os.utime(kept)
    return kept


def _digest(version: str, folders: Mapping[str, Path]) -> str:
    found = hashlib.sha256()
    for folder in folders.values():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(b"%b\0%b" % (bytes(path.relative_to(folder)), path.read_bytes()))
    stamp = ROOTS_DIR / f"{SUITES.get(version)}.stamp"
    return hashlib.sha256(found.digest() + (stamp.read_bytes() if stamp.exists() else b"")).hexdigest()[:16]


def _compile(version: str, folders: Mapping[str, Path], kept: Path) -> None:
    # Directly in /tmp, which every room sees.
    data = Path(tempfile.mkdtemp(prefix="tallylight-installed-", dir="/tmp"))
    for name, folder in folders.items():
        shutil.copytree(folder, data / name, ignore=_WITHOUT)
    room = open_room(version)
    try:
        argv = ["/usr/bin/python3", "-IS", "-m", "compileall", "-q", str(data / "lib")]
        assert room.popen(argv, env={}, cwd="/").wait() == 0
        if version in SUITES:
            # kitty's own Python goes by another optimisation level than the one of the command.
            argv = ["/usr/bin/kitty", "+runpy", COMPILE, str(data / "lib")]
            assert room.popen(argv, env={"HOME": "/tmp"}, cwd="/").wait() == 0
        shutil.move(data, kept)
    finally:
        room.close()
        shutil.rmtree(data, ignore_errors=True)


def watcher_line(data: Path) -> str:
    """The line of kitty.conf that turns the suite on."""
    return f"watcher {data}/kittens/tally_watcher.py\n"
