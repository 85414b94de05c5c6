"""Where the installation lies: the private environment, the kittens, the Lua and the command."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tallylight.files import directories
from tallylight.files.system import System


class Layout(NamedTuple):
    """Where everything of ours lies."""

    data: Path
    command: Path

    @property
    def releases(self) -> Path:
        return self.data / "releases"

    @property
    def lib(self) -> Path:
        return self.data / "lib"

    @property
    def kittens(self) -> Path:
        return self.data / "kittens"

    @property
    def wezterm(self) -> Path:
        return self.data / "wezterm"

    @property
    def watcher(self) -> Path:
        return self.kittens / "tally_watcher.py"

    @property
    def kitty_conf(self) -> Path:
        return self.data / "kitty.conf"

    @property
    def launcher(self) -> Path:
        return self.data / "bin" / "tally"


def layout(system: System) -> Layout:
    return Layout(directories.data_dir(system.env), system.home / ".local" / "bin" / "tally")
