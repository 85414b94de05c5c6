"""
Files and the directories they live in: where things are, how they are read and how they are written.

Reading is bounded, writing is by rename, and the runtime directory is used only if it is ours and ours alone.
Standard library only: hooks and the installer start from here, before there is anything else.

The directories are those of https://specifications.freedesktop.org/basedir-spec/ : a variable that holds a relative
path is ignored, as it demands.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from tallylight.errors import TallyError

NAME = "tallylight"
#: No configuration, agent file or snapshot of ours comes near it; a file that does is not read on.
READ_LIMIT = 1 << 20
#: A user's agents directory is listed so far and no further.
MAX_AGENT_FILES = 200


def home(env: Mapping[str, str] = os.environ) -> Path:
    value = env.get("HOME", "")
    return Path(value) if os.path.isabs(value) else Path.home()


def _xdg(env: Mapping[str, str], variable: str, *default: str) -> Path:
    value = env.get(variable, "")
    base = Path(value) if os.path.isabs(value) else home(env).joinpath(*default)
    return base / NAME


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


def runtime_dirs(env: Mapping[str, str] = os.environ) -> list[Path]:
    """
    Where snapshots may be, best first; readers look in each, writers use `runtime_dir`.

    The fallback does not follow `TMPDIR`: kitty and the shell of a `nix-shell` in it have different ones and would
    miss each other.
    """
    found = []
    value = env.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(value) and Path(value).is_dir():
        found.append(Path(value) / NAME)
    tmp = "/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()  # noqa: S108: checked before use
    found.append(Path(tmp) / f"{NAME}-{os.getuid()}")
    return found


def runtime_dir(env: Mapping[str, str] = os.environ, *, create: bool = True) -> Path:
    """
    The directory for snapshots: a real directory, ours, mode 0700. A `TallyError` if it cannot be had.

    It may lie in `/tmp`, where anybody can make a directory, or a link, of our name before we do. So what is there
    is looked at without following links, and one that is not ours is refused and left alone.
    """
    problem = ""
    for path in runtime_dirs(env):
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=0o700)
            problem = private_problem(path)
            if problem == "mode" and create:
                path.chmod(0o700)
                problem = private_problem(path)
        except OSError as error:
            problem = error.strerror or str(error)
        if not problem:
            return path
        problem = f"{path}: {problem}"
    raise TallyError(f"no private directory for snapshots: {problem}")


def private_problem(path: Path) -> str:
    """Why *path* is not a directory of ours that nobody else may enter, or nothing. `mode` is one that can be mended."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return "does not exist"
    if stat.S_ISLNK(info.st_mode) or not stat.S_ISDIR(info.st_mode):
        return "is not a directory"
    if info.st_uid != os.geteuid():
        return f"belongs to user {info.st_uid}"
    return "mode" if stat.S_IMODE(info.st_mode) & 0o077 else ""


def read_limited(path: Path, limit: int = READ_LIMIT) -> bytes:
    """
    The bytes of a regular file of at most *limit* bytes; OSError if it cannot be read, `TallyError` if it is too big.

    A FIFO or a device is refused: opening one could hang a terminal.
    """
    # O_NONBLOCK: a FIFO is opened at once, whether anybody writes to it or not.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise TallyError(f"{path}: is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TallyError(f"{path}: is larger than {limit} bytes; nothing of ours is, so it is not read")
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
        os.replace(name, path)  # noqa: PTH105: no Path is made on the way
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise


def packaged_agents() -> list[tuple[str, str]]:
    """The agent files of this package: name without ending, and text."""
    found = [entry for entry in resources.files(NAME).joinpath("agents").iterdir() if entry.name.endswith(".toml")]
    return sorted((entry.name.removesuffix(".toml"), entry.read_text("utf-8")) for entry in found)


def user_agents(env: Mapping[str, str] = os.environ) -> list[tuple[Path, str | TallyError]]:
    """
    The agent files of the user: path, and text, or why it cannot be read.

    Bytes that are not UTF-8 become replacement characters, which the parser then refuses with a line number.
    """
    try:
        paths = sorted((config_dir(env) / "agents").glob("*.toml"))[:MAX_AGENT_FILES]
    except OSError:
        return []
    return [(path, _text_or_error(path)) for path in paths]


def _text_or_error(path: Path) -> str | TallyError:
    try:
        return read_limited(path).decode("utf-8", "replace")
    except OSError as error:
        return TallyError(f"{path}: cannot be read: {error.strerror}")
    except TallyError as error:
        return error
