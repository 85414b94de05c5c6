"""The paths of an installation: the private environment, the kittens, the Lua and the command."""

from __future__ import annotations

from pathlib import Path

from tallylight.files import directories
from tallylight.files.system import System


class Layout:
    """All paths of an installation below the data directory, and the path of the command."""

    def __init__(self, data: Path, command: Path) -> None:
        self.data = data
        self.command = command
        self.releases = data / "releases"
        self.lib = data / "lib"
        self.kittens = data / "kittens"
        self.wezterm = data / "wezterm"
        self.watcher = self.kittens / "tally_watcher.py"
        self.kitty_conf = data / "kitty.conf"
        self.tmux_conf = data / "tmux.conf"
        self.launcher = data / "bin" / "tally"


def layout(system: System) -> Layout:
    return Layout(directories.data_dir(system.env), system.home / ".local" / "bin" / "tally")
