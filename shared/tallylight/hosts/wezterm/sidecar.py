"""
The sidecar of one WezTerm: at most one for a GUI process or mux server; it ends with that process.

Our Lua starts it with `tally host wezterm --pid PID`, and gets one line of JSON at once: the paths of the snapshot and
the feed, and the sidecar's pid. If one runs already, that one is named instead: starting twice does no harm.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

import tallylight
from tallylight.agents import agent_files
from tallylight.evidence import process_table
from tallylight.files import read_write
from tallylight.hosts.polling.host import PollingHost
from tallylight.hosts.wezterm.source import WezTermSource, is_server, remove
from tallylight.hosts.wezterm.toasts import Toasts
from tallylight.model.errors import TallyError
from tallylight.snapshot.changes import Changes
from tallylight.snapshot.writer import aside, checked_directory, directory
from tallylight.wire.values import is_number

HOST = "wezterm"
#: The version of that line.
VERSION = 1
#: Seconds between two checks that WezTerm still runs.
CHECK_ALIVE_S = 1.0
#: Seconds between two looks for changes by Lua, where the system does not notify.
POLL_LUA_S = 0.2
#: Seconds from a signal to the end. A logout ends WezTerm within them, and its open conversations are then kept.
LOGOUT_S = 1.0
#: The largest Lua file, in bytes.
_MAX_LUA = 1 << 20
#: Seconds in which a sidecar with the lock writes its pid.
HOLDER_S = 1.0
#: The endings of its files.
_OURS = ("lock", "feed.json", "feed.json.new", "goal", "log", "news", "scene.json", "toasts", "told")
#: The longest line in the log.
_MAX_LOG_LINE_CHARS = 500
#: Called with the host of a sidecar that has begun.
Began = Callable[[PollingHost], None]


@attrs.frozen
class Place:
    """The files of the sidecar of the GUI process *gui*, in the directory of the snapshots."""

    folder: Path
    gui: int

    def file(self, ending: str) -> Path:
        """Return one of its files: `lock`, `feed.json`, `scene.json`, `goal`, `toasts`, `told` or `log`."""
        return self.folder / f"{HOST}-{self.gui}.{ending}"

    @property
    def news(self) -> Path:
        """The FIFO of this process, a sidecar."""
        return self.folder / f"{HOST}-{os.getpid()}.news"


def release() -> str:
    """Return the installed release, including its Lua files: another text after an update."""
    digest = hashlib.sha256()
    for folder in Path(tallylight.__file__).parents[1:3]:
        # In an installation the Lua files are beside `lib`, in a checkout beside `shared`.
        for path in sorted((folder / "wezterm").rglob("*.lua")):
            with contextlib.suppress(OSError, TallyError):
                digest.update(path.name.encode() + b"\0" + read_write.read_limited(path, _MAX_LUA))
    return f"{tallylight.__version__}-{digest.hexdigest()[:12]}"


def installed() -> read_write.Stamp | None:
    """Return a stamp that changes when an update replaces our files."""
    return read_write.stamp(Path(tallylight.__file__))


def start(environ: Mapping[str, str], gui: int, wezterm: str, began: Began) -> str:
    """
    Start the sidecar of *gui* as a process of its own, unless it runs; return the line for Lua either way.

    *began* is called in the sidecar, with its host. `TallyError` if the snapshot directory is unusable, or the process
    does not exist.
    """
    if process_table.table().start(gui) is None:
        raise TallyError(f"there is no process {gui}; --pid is WezTerm's own")
    folder = directory(environ)
    with read_write.explained(str(folder)):
        place = Place(checked_directory(folder, create=True), gui)
    sweep(place.folder)
    sys.stdout.flush()
    sys.stderr.flush()
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        _detach(place, receiver, sender, environ, wezterm, began)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        answer = pipe.read(32)
    os.waitpid(child, 0)
    pid = int(answer) if is_number(answer.decode("ascii", "replace"), 10) else 0
    if not pid:
        raise TallyError(f"the sidecar did not start; see {place.file('log')}")
    paths = {"snapshot": str(place.folder / f"{HOST}-{pid}.json"), "feed": str(place.file("feed.json"))}
    return json.dumps({"version": VERSION, "pid": pid, "release": release(), **paths})


def _detach(place: Place, receiver: int, sender: int, environ: Mapping[str, str], wezterm: str, began: Began) -> None:
    """Start the sidecar as an orphan, in a child of the command; never returns."""
    code = 1
    try:
        os.close(receiver)
        os.setsid()
        if os.fork() == 0:
            nowhere = os.open(os.devnull, os.O_RDWR)
            log = os.open(
                place.file("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            for number, target in enumerate((nowhere, nowhere, log)):
                os.dup2(target, number)
            lock = take(place)
            if lock is not None:
                # Before Lua learns of us: it waits there at once. Without a FIFO it uses its timer.
                place.news.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    os.mkfifo(place.news, 0o600)
            os.write(sender, str(os.getpid() if lock is not None else holder(place)).encode())
            os.close(sender)
            if lock is not None:
                os.ftruncate(2, 0)
                with contextlib.suppress(OSError):
                    os.chdir("/")
                serve(place, lock, environ, wezterm, began)
        code = 0
    except BaseException as error:  # only the log is there to hear of it
        _log(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def take(place: Place) -> int | None:
    """Become the sidecar: return the descriptor of the lock, or None if another process holds it."""
    while True:
        fd = os.open(place.file("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return None
        with contextlib.suppress(OSError):
            if os.fstat(fd).st_ino == place.file("lock").stat().st_ino:
                os.ftruncate(fd, 0)
                os.write(fd, str(os.getpid()).encode())
                return fd
        # The last holder has just removed the file that we locked.
        os.close(fd)


def holder(place: Place) -> int:
    """Return the pid of the sidecar that holds the lock; 0 if it does not write it in time."""
    end = time.monotonic() + HOLDER_S
    while time.monotonic() < end:
        if is_number(text := read_write.own_or_nothing(place.file("lock"), 32).decode("ascii", "replace"), 10):
            return int(text)
        time.sleep(0.01)
    return 0


def serve(place: Place, lock: int, environ: Mapping[str, str], wezterm: str, began: Began) -> None:
    """Run the sidecar until WezTerm ends or a signal ends this process."""
    table = process_table.table()
    born = table.start(place.gui)
    env = {**environ, "WEZTERM_UNIX_SOCKET": socket_of(environ, place.gui)}
    agents = agent_files.load_agents(environ)[0]
    source = WezTermSource(env, place.gui, wezterm, place.file("feed.json"), table, agents)
    has_screen = not is_server(place.gui, table)
    # Where there was a sidecar before this one, its WezTerm has not ended, and its conversations are still open.
    may_offer = has_screen and not place.file("scene.json").exists()

    def offer(number: int) -> None:
        toasts.offer(number)

    poller = PollingHost(HOST, [source], environ, table=table, report=_log, resumable=offer if may_offer else None)
    wake = functools.partial(poller.later, "toast", source.wake)
    toasts = Toasts(place.file("toasts"), place.file("told"), source.inside, source.server, wake)
    source.news = place.news
    looked, end = 0.0, math.inf
    release_before = installed()

    def is_over() -> bool:
        nonlocal looked
        now = time.monotonic()
        source.listen(poller, now)
        if now - looked < CHECK_ALIVE_S and now < end:
            return False
        looked = now
        poller.is_lost = born is None or table.start(place.gui) != born
        # After an update, Lua starts the installed release.
        return poller.is_lost or now >= end or installed() != release_before

    def stop(*_: object) -> None:
        nonlocal end
        end = min(end, time.monotonic() + LOGOUT_S)
        poller.post(lambda: None)

    def hurry() -> None:
        changes = Changes(place.folder)
        while True:
            changes.look()
            if source.is_new():
                poller.post(lambda: None)
            if (descriptors := changes.descriptors(())) is not None:
                select.select(descriptors, [], [])
            else:
                time.sleep(POLL_LUA_S)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    threading.Thread(target=hurry, name="tallylight-feed", daemon=True).start()
    if has_screen:
        poller.notify(toasts)
    began(poller)
    try:
        poller.run(until=is_over)
    finally:
        with contextlib.suppress(OSError):
            if place.file("log").stat().st_size == 0:
                place.file("log").unlink()
        if poller.is_lost:
            _clear(place)
        # Before the lock is released: the next holder makes a file of its own.
        with contextlib.suppress(OSError):
            place.file("lock").unlink()
        os.close(lock)


def _clear(place: Place) -> None:
    """Remove files that only another sidecar of the same WezTerm would read, and the snapshots set aside."""
    files = [place.file(ending) for ending in ("scene.json", "toasts", "told", "goal")]
    if not any(lock != place.file("lock") for lock in place.folder.glob(f"{HOST}-*.lock")):
        files += aside(place.folder, HOST)
    for path in files:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _log(line: str) -> None:
    text = "".join(c if c.isprintable() else "?" for c in line[:_MAX_LOG_LINE_CHARS])
    sys.stderr.write(f"tally host wezterm: {text}\n")
    sys.stderr.flush()


def sweep(folder: Path) -> None:
    """Remove the files of sidecars of ended WezTerms."""
    table = process_table.table()
    for path in list(folder.glob(f"{HOST}-*"))[:1000]:
        number, _, ending = path.name.removeprefix(f"{HOST}-").partition(".")
        if ending in _OURS and is_number(number, 10):
            with contextlib.suppress(OSError):
                if table.start(int(number)) is None:
                    remove(path) if ending == "news" else path.unlink()


def socket_of(environ: Mapping[str, str], gui: int) -> str:
    """Return the socket of the process *gui*, a GUI or a mux server: from the environment, else WezTerm's default."""
    named = environ.get("WEZTERM_UNIX_SOCKET", "")
    if is_server(gui, process_table.table()):
        return named if named and "/gui-sock-" not in named else str(runtime_of(environ) / "sock")
    if named.endswith(f"/gui-sock-{gui}"):
        return named
    return str(runtime_of(environ) / f"gui-sock-{gui}")


def runtime_of(environ: Mapping[str, str]) -> Path:
    """Return the directory of WezTerm's sockets."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    return Path(runtime, "wezterm") if runtime else Path(environ.get("HOME", os.sep), ".local/share/wezterm")
