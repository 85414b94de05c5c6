"""
Packages that the Python of this setup has already: they are copied, and nothing has to be fetched.

A distribution or a person may have installed them. Where Tallylight itself came as a package, by uv, pipx or pip, its
environment always has them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from tallylight.files.system import System

#: The modules of each package that can be copied.
_MODULES = {"attrs": ("attr", "attrs"), "psutil": ("psutil",)}
_REQUIREMENT = re.compile(r"(\w+)>=(\d+)\.(\d+)")
_VERSION = re.compile(r"(\d+)\.(\d+)")
#: The files of a package that are copied. Its tests, and Python's own files, stay where they are.
_KEPT = {".py", ".pyi", ".so", ".typed"}


def copy(system: System, target: Path, requirements: Iterable[str]) -> list[str]:
    """
    Copy the packages *requirements* (`name>=1.2`) that this Python has into *target*; return those that were copied.
    """
    copied = []
    for requirement in requirements:
        if folders := _found(system, requirement):
            for folder in folders:
                (target / folder.name).mkdir(parents=True)
                for path in folder.iterdir():
                    if path.suffix in _KEPT or path.name == "py.typed":
                        shutil.copyfile(path, target / folder.name / path.name)
            copied.append(requirement)
    return copied


def has(system: System, requirement: str) -> bool:
    """Return whether `copy` would find this package."""
    return bool(_found(system, requirement))


def _found(system: System, requirement: str) -> list[Path]:
    """Return the folders of a package that is new enough and can be used by another Python, too."""
    wanted = _REQUIREMENT.fullmatch(requirement)
    found = system.package(wanted[1], _MODULES[wanted[1]]) if wanted else None
    has = _VERSION.match(found[0]) if found else None
    if wanted is None or found is None or has is None:
        return []
    if (int(has[1]), int(has[2])) < (int(wanted[2]), int(wanted[3])):
        return []
    # kitty has a Python of its own, which cannot load a module that was compiled for this one alone. On Linux that
    # costs nothing: /proc is read there.
    compiled = [path for folder in found[1] for path in folder.glob("*.so")]
    if system.platform != "linux" and any(".abi3." not in path.name for path in compiled):
        return []
    return found[1]
