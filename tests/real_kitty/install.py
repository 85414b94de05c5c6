"""Install: put the checkout into a test's home as ``install.sh`` would, but without a network or a build.

The layout is the real one: ``~/.local/share/tallylight/`` with ``lib/`` (a ``sys.path`` folder that has tallylight,
attrs and psutil) and ``kittens/``; the command is ``~/.local/bin/tally``. Everything is copied, not linked, so that no
path leads back into the checkout. As in a real installation it is compiled by the Python that will run it: once for all
homes, for kitty would otherwise take a second longer to start in each.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

from tallylight.setup.kitty import COMPILE
from tests.real_kitty.roots import CHECKOUT, SUITES, open_room

# The Python of the room, which is the one that a person's install.sh would find.
_COMMAND = """#!/usr/bin/python3 -IS
import sys

sys.path.insert(0, {lib!r})
from tallylight.cli.main import run

run()
"""

_WITHOUT = shutil.ignore_patterns("__pycache__", "tests")


def install(home: Path, version: str = "here") -> Path:
    """Install into `home` and return the data folder. With a `version` it is compiled for the room of that kitty."""
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
    """A data folder to copy, kept to the end of this process."""
    # Directly in /tmp, which every room sees.
    data = Path(tempfile.mkdtemp(prefix="tallylight-installed-", dir="/tmp"))
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    lib = data / "lib"
    shutil.copytree(CHECKOUT / "shared/tallylight", lib / "tallylight", ignore=_WITHOUT)
    for package in ("attr", "attrs", "psutil"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, lib / package, ignore=_WITHOUT)
    kittens = CHECKOUT / "kittens"
    if kittens.exists():
        shutil.copytree(kittens, data / "kittens", ignore=_WITHOUT)
    if version in SUITES:
        room = open_room(version)
        try:
            argv = ["/usr/bin/python3", "-IS", "-m", "compileall", "-q", str(lib)]
            assert room.popen(argv, env={}, cwd="/").wait(120) == 0
            # kitty's own Python goes by another optimisation level than the one of the command.
            argv = ["/usr/bin/kitty", "+runpy", COMPILE, str(lib)]
            assert room.popen(argv, env={"HOME": "/tmp"}, cwd="/").wait(120) == 0
        finally:
            room.close()
    return data


def watcher_line(data: Path) -> str:
    """The line of kitty.conf that turns the suite on."""
    return f"watcher {data}/kittens/tally_watcher.py\n"
