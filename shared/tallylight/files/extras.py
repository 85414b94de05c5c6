"""
Extras: packages that only some commands need, in directories that only these import from.

`tally setup --with NAME` puts them into `<data>/extras/NAME`; a Python that has them anyway works, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tallylight.files import directories
from tallylight.model.errors import TallyError

#: The packages of each extra. pyproject.toml repeats them for installations with pip.
EXTRAS = {
    "serve": ("fastapi>=0.115", "uvicorn>=0.35", "websockets>=15", "segno>=1.6"),
    "fleet": ("paho-mqtt>=2.1",),
    "push": ("cryptography>=44",),
}


def root(env: Mapping[str, str] = os.environ) -> Path:
    return directories.data_dir(env) / "extras"


def folder(name: str, env: Mapping[str, str] = os.environ) -> Path:
    """Return the directory for the packages of an extra."""
    return root(env) / name


def enable(name: str) -> None:
    """Let this process import the packages of an extra, if it is installed."""
    path = str(folder(name))
    if path not in sys.path and Path(path).is_dir():
        sys.path.append(path)


def missing(name: str) -> TallyError:
    """Return the error that says how to install an extra."""
    return TallyError(f"this needs {', '.join(EXTRAS[name])}: run `tally setup --with {name}`")
