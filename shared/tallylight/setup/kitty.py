"""
kitty on this machine: its program, its version, and the kitty.conf it will read.

The directories are searched as kitty itself does: https://sw.kovidgoyal.net/kitty/conf/
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tallylight.files.system import World

#: The versions that the lights are tested in, oldest and newest.
OLDEST = (0, 41)
NEWEST = (0, 48)

_VERSION = re.compile(r"kitty (\d+)\.(\d+)\.(\d+)")


class Kitty(NamedTuple):
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


def look(world: World) -> Kitty:
    program = find_program(world)
    return Kitty(program, find_version(world, program) if program else None, find_conf(world))


def find_program(world: World) -> Path | None:
    """The kitty on PATH, else the places its own installer uses."""
    on_path = world.which("kitty")
    if on_path is not None:
        return on_path
    places = [world.home / ".local/kitty.app/bin/kitty"]
    if world.platform == "darwin":
        places += [base / "Applications/kitty.app/Contents/MacOS/kitty" for base in (Path("/"), world.home)]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def find_version(world: World, program: Path) -> tuple[int, ...] | None:
    match = _VERSION.search(world.run([program, "--version"]).stdout)
    return tuple(int(part) for part in match.groups()) if match else None


def find_conf(world: World) -> Path:
    """The kitty.conf that kitty reads, whether it is there yet or not."""
    chosen = world.env.get("KITTY_CONFIG_DIRECTORY", "")
    if chosen:
        return _expanded(world, chosen) / "kitty.conf"
    for base in _bases(world):
        folder = base / "kitty"
        if os.access(folder, os.W_OK) and (folder / "kitty.conf").exists():
            return folder / "kitty.conf"
    # Also a link that leads nowhere yet, and a file in a directory that may not be written to.
    return _expanded(world, world.env.get("XDG_CONFIG_HOME") or "~/.config") / "kitty" / "kitty.conf"


def _bases(world: World) -> Iterator[Path]:
    if "XDG_CONFIG_HOME" in world.env:
        yield _expanded(world, world.env["XDG_CONFIG_HOME"])
    yield world.home / ".config"
    if world.platform == "darwin":
        yield world.home / "Library/Preferences"
    for part in world.env.get("XDG_CONFIG_DIRS", "").split(os.pathsep):
        if part:
            yield _expanded(world, part)


def _expanded(world: World, text: str) -> Path:
    if text == "~" or text.startswith("~/"):
        return world.home / text[2:]
    return Path(text).absolute()
