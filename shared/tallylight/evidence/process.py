"""
A process as evidence: its entry in the process table, and its possible names.

`process_table` reads the table; this module only holds and reduces the entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallylight.model import attributes
from tallylight.model.limits import MAX_ARGUMENTS, MAX_PATH

#: Extensions of scripts that are not part of a program's name.
_SCRIPT_SUFFIXES = (".js", ".mjs", ".cjs", ".py")
#: Script names that say nothing about their program.
GENERIC_SCRIPTS = frozenset(
    {"cli", "index", "main", "start", "run", "bin", "entry", "bundle", "npm-loader", "__main__"}
)
#: The variables of an environment that locate things. No other part of it is ever shown or kept as text.
_PLACES = re.compile(r"PATH|XDG_[A-Z]+_HOME|[A-Z0-9]+_(HOME|CONFIG_DIR)", re.ASCII)
#: The programs that run panes, by the names of their executables; a version may follow (`screen-5.0.0`).
TERMINALS = frozenset(
    [
        "alacritty",
        "contour",
        "deepin-terminal",
        "foot",
        "ghostty",
        "gnome-terminal-server",
        "kgx",
        "kitty",
        "konsole",
        "lxterminal",
        "mate-terminal",
        "mosh-server",
        "ptyxis-agent",
        "qterminal",
        "rio",
        "rxvt",
        "screen",
        "st",
        "terminology",
        "tilix",
        "tmux",
        "urxvt",
        "urxvtd",
        "uxterm",
        "wezterm-gui",
        "wezterm-mux-server",
        "xfce4-terminal",
        "xterm",
        "yakuake",
        "zellij",
    ]
)
_VERSIONED = re.compile(r"-[0-9][0-9.]*\Z")
_VERSION = re.compile(r"v?\d+(\.\d+)+([-+.][0-9A-Za-z.-]+)?", re.ASCII)


@attributes.frozen
class Process:
    """
    One process at one moment. A field that could not be read is empty.

    *start* only serves for comparison: the same *pid* with another *start* is another process. From `/proc` it is field
    22 of `stat`, the number that Claude Code writes into its status file.
    """

    pid: int
    ppid: int = 0
    pgrp: int = 0
    comm: str = ""
    argv: tuple[str, ...] = ()
    exe: str = ""
    start: int = 0

    @property
    def run(self) -> tuple[int, int]:
        """The identity of the process."""
        return self.pid, self.start


def places(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of *environ* that locate things, its `PATH` first, up to `MAX_PATH` characters."""
    found: dict[str, str] = {}
    room = MAX_PATH
    for name in sorted(filter(_PLACES.fullmatch, environ), key=lambda name: (name != "PATH", name))[:MAX_ARGUMENTS]:
        value = environ[name]
        if value and value.isprintable() and len(name) + len(value) < room:
            found[name], room = value, room - len(name) - len(value) - 1
    return found


def base_name(word: str) -> str:
    """Return the name of a program: no directories, no `-` of a login shell, no `.exe`, no packager's affixes."""
    name = word.rpartition("/")[2].removesuffix(" (deleted)").lstrip("-.").removesuffix(".exe")
    # Nix keeps the program as .NAME-wrapped or .NAME-unwrapped behind a script of its name.
    return name.removesuffix("-wrapped").removesuffix("-unwrapped")


def program_of(process: Process) -> str:
    """Return the name of the executable of *process*, without a version; "" if it cannot be read."""
    return _VERSIONED.sub("", base_name(process.exe))


def script_name(word: str) -> str:
    """Return the name of the script at the path *word*: as `base_name`, without the extension of its language."""
    name = base_name(word)
    for suffix in _SCRIPT_SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def package_name(word: str) -> str:
    """Return the package that *word* asks a runner for: no `npm:`, no `@1.2.3`, no `==1.2.3`, no `[extras]`."""
    name = word.removeprefix("npm:").partition("==")[0].partition("[")[0]
    scope, at, _ = name[1:].partition("@")
    return name[: 1 + len(scope)] if at else name


def is_version(name: str) -> bool:
    """Return whether a program's name is its version number: `2.1.329`."""
    return _VERSION.fullmatch(name) is not None
