"""
kitty on this machine: its program, its version, and the kitty.conf it will read.

The directories are searched as kitty itself does: https://sw.kovidgoyal.net/kitty/conf/
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from tallylight.files.system import System

#: The oldest and newest versions that the lights are tested in.
OLDEST = (0, 41)
NEWEST = (0, 48)

#: Run by kitty's Python: compiles the folder in its argument, for kitty's own optimisation level.
COMPILE = "import compileall, sys; sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1))"

_VERSION = re.compile(r"kitty (\d+)\.(\d+)\.(\d+)")


class Kitty(NamedTuple):
    """kitty on this machine; *program* and *version* are None if not found."""

    program: Path | None
    version: tuple[int, ...] | None
    #: Where kitty.conf is, or where kitty would look for it first.
    conf: Path

    @property
    def is_here(self) -> bool:
        return self.program is not None or os.path.lexists(self.conf)

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version)) if self.version else ""


def look(system: System) -> Kitty:
    """Return the state of kitty: its program, its version and its kitty.conf."""
    program = find_program(system)
    found = _VERSION.search(system.run([program, "--version"]).stdout) if program is not None else None
    return Kitty(program, tuple(map(int, found.groups())) if found is not None else None, find_conf(system))


def find_program(system: System) -> Path | None:
    """Return the kitty on PATH, else in the places of its own installer."""
    on_path = system.which("kitty")
    if on_path is not None:
        return on_path
    place = system.home / ".local/kitty.app/bin/kitty"
    return place if os.access(place, os.X_OK) else application(system, "kitty.app/Contents/MacOS/kitty")


def application(system: System, program: str) -> Path | None:
    """Return the *program* of an application of macOS."""
    places = [base / "Applications" / program for base in (Path("/"), system.home) if system.platform == "darwin"]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def compile_modules(system: System, program: Path, lib: Path) -> bool:
    """
    Have the kitty *program* compile the modules in *lib*, so that it starts faster; return whether it did.

    Only kitty itself can: its Python is often its own, and uses an optimisation level that no other compiles for.
    """
    done = system.run([program, "+runpy", COMPILE, lib], timeout=120)
    return done.returncode == 0


def find_conf(system: System) -> Path:
    """Return the kitty.conf that kitty reads, whether it is there yet or not."""
    chosen = system.env.get("KITTY_CONFIG_DIRECTORY", "")
    if chosen:
        return _expanded(system, chosen) / "kitty.conf"
    bases = [_expanded(system, system.env["XDG_CONFIG_HOME"])] if "XDG_CONFIG_HOME" in system.env else []
    bases.append(system.home / ".config")
    if system.platform == "darwin":
        bases.append(system.home / "Library/Preferences")
    parts = filter(None, system.env.get("XDG_CONFIG_DIRS", "").split(os.pathsep))
    for base in (*bases, *(_expanded(system, part) for part in parts)):
        folder = base / "kitty"
        if os.access(folder, os.W_OK) and (folder / "kitty.conf").exists():
            return folder / "kitty.conf"
    # Also a link that leads nowhere yet, and a file in a directory that may not be written to.
    return _expanded(system, system.env.get("XDG_CONFIG_HOME") or "~/.config") / "kitty" / "kitty.conf"


def _expanded(system: System, text: str) -> Path:
    """Return *text* as an absolute path, `~` being the home directory."""
    if text == "~" or text.startswith("~/"):
        return system.home / text[2:]
    return Path(text).absolute()
