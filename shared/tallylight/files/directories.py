"""
Files and the directories they live in: where things are, how they are read and how they are written.

Reading is bounded and writing is by rename. (Where snapshots are, and who may write there, is `snapshot`'s.)
Standard library only, but for what is loaded with `load_config` and `load_agents`: the installer starts from here,
before there is anything else.

The directories are those of https://specifications.freedesktop.org/basedir-spec/ : a variable that holds a relative
path is ignored, as it demands.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from tallylight.agents.agent import Agents
    from tallylight.config.settings import Config

NAME = "tallylight"
#: No configuration or agent file comes near it; a file that does is not read on.
READ_LIMIT = 1 << 20
#: A user's agents directory is listed so far and no further.
MAX_AGENT_FILES = 200


class FileError(TallyError):
    """A file or a directory that is not used: *path* and *problem*."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def home(env: Mapping[str, str] = os.environ) -> Path:
    """The person's home: HOME, or where the user database has it. `TallyError` where neither says."""
    value = Path(env.get("HOME", ""))
    if value.is_absolute():
        return value
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise TallyError(f"there is no home for user {os.getuid()}: set HOME to an absolute path") from None


def _xdg(env: Mapping[str, str], variable: str, *default: str) -> Path:
    value = Path(env.get(variable, ""))
    return (value if value.is_absolute() else home(env).joinpath(*default)) / NAME


def config_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where `config.toml` and the user's own `agents/*.toml` are."""
    return _xdg(env, "XDG_CONFIG_HOME", ".config")


def config_file(env: Mapping[str, str] = os.environ) -> Path:
    return config_dir(env) / "config.toml"


def data_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where the private environment is."""
    return _xdg(env, "XDG_DATA_HOME", ".local", "share")


def state_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where the receipt and the backups are."""
    return _xdg(env, "XDG_STATE_HOME", ".local", "state")


def serve_token(env: Mapping[str, str] = os.environ) -> Path:
    """The file with the token of `tally serve`."""
    return state_dir(env) / "serve.token"


def read_limited(path: Path, limit: int = READ_LIMIT) -> bytes:
    """
    The bytes of a regular file of at most *limit* bytes; OSError if it cannot be read, `FileError` if it is too big.

    A FIFO or a device is refused: opening one could hang a terminal.
    """
    # O_NONBLOCK: a FIFO is opened at once, whether anybody writes to it or not.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FileError(path, "is not a regular file")
        return _bounded(path, file, limit)


def read_own(path: Path, limit: int, max_age_s: float | None = None) -> bytes:
    """
    As `read_limited`, but only what nobody else can have written: for files in directories that others might share.

    The directory and the file must be this user's, neither may be a link, and no other user may be able to change them.
    Both are looked at through their descriptors, so that neither can be exchanged between the look and the reading.
    With *max_age_s*, a file changed longer ago than that, in seconds, or as far in the future, is refused too.
    """
    parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        folder = os.fstat(parent)
        if problem := foreign(folder):
            raise FileError(path.parent, problem)
        fd = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileError(path, "is not a regular file") from None
        raise
    finally:
        os.close(parent)
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise FileError(path, "is not a regular file")
        # Where others cannot enter they cannot write either: what a program makes there may have any mode.
        if problem := foreign(found, is_closed=not folder.st_mode & 0o011):
            raise FileError(path, problem)
        if max_age_s is not None and abs(time.time() - found.st_mtime) > max_age_s:
            raise FileError(path, f"was not written within {max_age_s:g} seconds")
        return _bounded(path, file, limit)


def foreign(found: os.stat_result, *, is_closed: bool = False) -> str:
    """
    What makes a file or directory one that somebody else can have filled; nothing if it is this user's alone.

    *is_closed*: nobody else gets to it, whatever its own mode allows.
    """
    if found.st_uid != os.getuid():
        return f"belongs to the user {found.st_uid}, so other users can change it; remove it"
    return "can be changed by other users; remove it" if found.st_mode & 0o022 and not is_closed else ""


def _bounded(path: Path, file: BinaryIO, limit: int) -> bytes:
    data = file.read(limit + 1)
    if len(data) > limit:
        raise FileError(path, f"is larger than {limit} bytes; nothing of ours is, so it is not read")
    return data


def atomic_write(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = True) -> None:
    """
    Put *data* into *path* by rename: a reader sees the old file or the new one, and a failure leaves the old one.

    *durable* waits until the bytes are on the disk; the snapshot, written many times a second, does not.
    """
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.", suffix=".new")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(fd, mode)
            if durable:
                os.fsync(fd)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def packaged_agents() -> list[tuple[str, str]]:
    """The agent files of this package: name without ending, and text."""
    found = [entry for entry in resources.files(NAME).joinpath("agents").iterdir() if entry.name.endswith(".toml")]
    return sorted((entry.name.removesuffix(".toml"), entry.read_text("utf-8")) for entry in found)


def load_config(env: Mapping[str, str] = os.environ) -> tuple[Config, list[TallyError]]:
    """The user's configuration, and what is wrong with it. What cannot be used has its default; no file is no error."""
    from tallylight.config.settings import Config, load

    path = config_file(env)
    try:
        text = _read_text(path)
    except FileNotFoundError:
        return Config(), []
    except TallyError as error:
        return Config(), [error]
    config, errors = load(text, str(path))
    return config, list(errors)


def load_agents(env: Mapping[str, str] = os.environ) -> tuple[Agents, list[TallyError]]:
    """The agents of this package and of the user, and what is wrong with their files. A bad file costs itself."""
    from tallylight.agents import agent

    errors: list[TallyError] = []
    users = []
    try:
        paths = sorted((config_dir(env) / "agents").glob("*.toml"))
    except OSError:
        paths = []
    if len(paths) > MAX_AGENT_FILES:
        errors.append(TallyError(f"{paths[0].parent}: only the first {MAX_AGENT_FILES} files are read"))
    for path in paths[:MAX_AGENT_FILES]:
        try:
            users.append((str(path), _read_text(path)))
        except FileNotFoundError:
            errors.append(TallyError(f"{path}: leads nowhere"))
        except TallyError as error:
            errors.append(error)
    packaged = [(f"{NAME}/agents/{name}.toml", text) for name, text in packaged_agents()]
    found, more = agent.load_agents(packaged, users)
    return found, [*errors, *more]


def _read_text(path: Path) -> str:
    """The text of *path*. Bytes that are not UTF-8 become replacement characters, which no key or name allows."""
    try:
        return read_limited(path).decode("utf-8", "replace")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TallyError(f"{path}: cannot be read: {error.strerror}") from None


def rewrite(path: Path, data: bytes) -> None:
    """
    Change a file that is the user's: follow links to it, keep its mode, its owner and its other names.

    By rename where that keeps everything. A file with a second hard link, or of another owner, or in a directory
    that may not be written to, is written in place: renaming would take its place, not change it.
    """
    target = Path(os.path.realpath(path))
    try:
        info = target.stat()
    except FileNotFoundError:
        atomic_write(target, data)
        return
    if info.st_nlink == 1 and info.st_uid == os.geteuid():
        try:
            atomic_write(target, data, stat.S_IMODE(info.st_mode))
            return
        except OSError as error:
            # EBUSY: the file itself is a mount point, as in a container.
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY):
                raise
    # Unbuffered: bytes that could not be written must not be tried again when it is closed.
    with target.open("r+b", buffering=0) as file:
        before = file.read()
        try:
            _overwrite(file, data)
        except OSError:
            # A full disk: the old bytes still have their place.
            _overwrite(file, before)
            raise


def _overwrite(file: BinaryIO, data: bytes) -> None:
    file.seek(0)
    rest = data
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
    os.fsync(file.fileno())
