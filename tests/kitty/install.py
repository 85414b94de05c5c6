"""Install: put the checkout into a test's home as ``install.sh`` would, but without a network or a build.

The layout is the real one: ``~/.local/share/tallylight/`` with ``lib/`` (a ``sys.path`` folder that has tallylight,
attrs and psutil) and ``kittens/``; the command is ``~/.local/bin/tally``. Everything is copied, not linked, so that no
path leads back into the checkout.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from tests.kitty.roots import CHECKOUT

# The Python of the room, which is the one that a person's install.sh would find.
_COMMAND = """#!/usr/bin/python3 -IS
import sys

sys.path.insert(0, {lib!r})
from tallylight.cli.main import run

run()
"""

_WITHOUT = shutil.ignore_patterns("__pycache__", "tests")


def install(home: Path) -> Path:
    """Install into `home` and return the data folder."""
    data = home / ".local/share/tallylight"
    lib = data / "lib"
    shutil.copytree(CHECKOUT / "shared/tallylight", lib / "tallylight", ignore=_WITHOUT)
    for package in ("attr", "attrs", "psutil"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        shutil.copytree(Path(spec.origin).parent, lib / package, ignore=_WITHOUT)
    kittens = CHECKOUT / "kittens"
    if kittens.exists():
        shutil.copytree(kittens, data / "kittens", ignore=_WITHOUT)
    command = home / ".local/bin/tally"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(_COMMAND.format(lib=str(lib)))
    command.chmod(0o755)
    return data


def watcher_line(data: Path) -> str:
    """The line of kitty.conf that turns the suite on."""
    return f"watcher {data}/kittens/tally_watcher.py\n"
