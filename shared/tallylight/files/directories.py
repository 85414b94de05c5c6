"""
The places of files: the home, the directories for configuration, data and state, and the names of our files in them.

Standard library only, for the installer starts from here. (`snapshot.writer` has the directory of snapshots.) The
directories are those of https://specifications.freedesktop.org/basedir-spec/ : a variable with a relative path is
ignored, as it demands.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from tallylight.model.errors import TallyError

NAME = "tallylight"
#: The most directories above that are searched for a repository.
MAX_LEVELS = 64


def home(env: Mapping[str, str] = os.environ) -> Path:
    """Return the person's home: HOME, else from the user database. Raises `TallyError` if neither has one."""
    value = Path(env.get("HOME", ""))
    if value.is_absolute():
        return value
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise TallyError(f"user {os.getuid()} has no home directory: set HOME to an absolute path") from None


def _xdg(env: Mapping[str, str], variable: str, *default: str) -> Path:
    value = Path(env.get(variable, ""))
    return (value if value.is_absolute() else home(env).joinpath(*default)) / NAME


def config_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of `config.toml` and of the user's own `agents/*.toml`."""
    return _xdg(env, "XDG_CONFIG_HOME", ".config")


def config_file(env: Mapping[str, str] = os.environ) -> Path:
    return config_dir(env) / "config.toml"


def data_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the private environment."""
    return _xdg(env, "XDG_DATA_HOME", ".local", "share")


def state_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Return the directory of the receipt and the backups."""
    return _xdg(env, "XDG_STATE_HOME", ".local", "state")


def serve_token(env: Mapping[str, str] = os.environ) -> Path:
    """Return the file with the token of `tally serve`."""
    return state_dir(env) / "serve.token"


def serve_devices(env: Mapping[str, str] = os.environ) -> Path:
    """Return the file with the browsers that stay signed in to `tally serve`."""
    return state_dir(env) / "devices" / "devices.json"


def work_tree(directory: str, home: str = "/") -> str:
    """
    Return the top of the work tree of git around the absolute *directory*; empty if it is in none.

    A repository at *home* or above it does not count: it is no project of the directories below.
    """
    here, above = (PurePosixPath(os.path.normpath(path)) for path in (directory, home if home.startswith("/") else "/"))
    for top in (here, *here.parents)[:MAX_LEVELS] if here.is_absolute() else ():
        if top == above or top in above.parents:
            break
        if os.path.lexists(f"{top}/.git"):
            return str(top)
    return ""
