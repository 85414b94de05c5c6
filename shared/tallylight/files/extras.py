"""
Extras: packages that only some commands need, in directories of their own, which nothing else ever imports from.

`tally setup --with NAME` puts them into `<data>/extras/NAME`; a Python that has them anyway does as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tallylight.files import directories
from tallylight.model.errors import TallyError

#: What each extra is made of. pyproject.toml says the same, for those who install with pip.
EXTRAS = {
    "serve": ("fastapi>=0.115", "uvicorn>=0.35", "websockets>=15", "segno>=1.6"),
    "fleet": ("paho-mqtt>=2.1",),
    "push": ("cryptography>=44",),
}


def root(env: Mapping[str, str] = os.environ) -> Path:
    """Where the directories of all extras are."""
    return directories.data_dir(env) / "extras"


def folder(name: str, env: Mapping[str, str] = os.environ) -> Path:
    """Where the packages of an extra are."""
    return root(env) / name


def enable(name: str) -> None:
    """Let this process import the packages of an extra, if they were put there."""
    path = str(folder(name))
    if path not in sys.path and Path(path).is_dir():
        sys.path.append(path)


def missing(name: str) -> TallyError:
    """What to say where they are not available."""
    return TallyError(f"this needs {', '.join(EXTRAS[name])}: run `tally setup --with {name}`")
