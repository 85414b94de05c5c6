"""
`tally record`: runs a command with the relay, and records its output and a host's view of it in a file.

The file is a recording of the program's output, before the relay takes its part of it. Typed keys are recorded only
with `--input`: there are passwords among them. A full disk ends the recording, and never the session.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import stat
import time
from collections.abc import Callable

from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.cli.run import make_core
from tallylight.model.errors import TallyError
from tallylight.parts.lab.asciicast import Header
from tallylight.parts.lab.recorder import Recorder, Sink
from tallylight.relay import pty, shell
from tallylight.relay.passing import Core


def make_parser() -> Parser:
    """Return the parser of `tally record`, for the words before the `--`."""
    parser = Parser(
        prog="tally record",
        usage="tally record [--input] [--overwrite] FILE -- COMMAND [ARGUMENT …]",
        description="Run COMMAND through the relay and record it to FILE: asciicast v2 with evidence of its status.",
        examples={
            "tally record session.cast -- claude": "until claude ends",
            "tally record --overwrite session.cast -- claude": "also if the file is there",
        },
        codes={
            0: "COMMAND succeeded",
            1: "nothing was recorded; standard error says why",
            "other": "the exit code of COMMAND",
        },
    )
    parser.add_argument("file", metavar="FILE", help="created with mode 0600; must not exist")
    parser.add_argument("--input", action="store_true", help="also record what is typed, including passwords")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    return parser


def main(argv: list[str]) -> int:
    """Record one session; exit as the command did, with its code or by its signal."""
    parser = make_parser()
    dashes = argv.index("--") if "--" in argv else len(argv)
    options, command = parser.parse_args(argv[:dashes]), argv[dashes + 1 :]
    if not command:
        parser.error("put the command to record after `--`")
    if shutil.which(command[0]) is None:
        raise TallyError(f"{clean(command[0])}: command not found; nothing was recorded")
    outer = pty.open_outer()
    if outer is None:
        raise TallyError(
            "standard input and output are not a terminal, so there is nothing to record; run it in a terminal"
        )
    fd = _create(options.file, overwrite=options.overwrite)
    columns, rows = os.get_terminal_size(outer.fd)
    env = {name: os.environ[name] for name in ("SHELL", "TERM") if name in os.environ}
    now, start = time.time(), time.monotonic()
    header = Header(columns, rows, int(now), round(now, 6), shlex.join(command), env=env)
    sink = Sink(fd, options.file, header, start)
    before = _masters()

    def core() -> Recorder:
        # A relay around us reads the sequences, or they are to stay unread: then we read none.
        inner = Core() if shell.steps_aside() else make_core(command)
        made = next(iter(_masters() - before), -1)
        return Recorder(inner, sink, outer.fd, made, with_input=options.input)

    return shell.run(command, _Outer(outer.fd, sink.close), core)


def _create(path: str, *, overwrite: bool) -> int:
    """Return *path* opened for writing, empty, and accessible to this user only."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | (0 if overwrite else os.O_EXCL)
    name = clean(path)
    try:
        fd = os.open(path, flags, 0o600)
    except FileExistsError:
        raise TallyError(f"{name}: already exists; choose another name or use --overwrite") from None
    except OSError as error:
        raise TallyError(f"{name}: cannot be written: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TallyError(f"{name}: is not a regular file")
    os.fchmod(fd, 0o600)
    os.ftruncate(fd, 0)
    return fd


class _Outer(pty.Outer):
    """A terminal that calls back when it is restored, also before the relay dies of its program's signal."""

    def __init__(self, fd: int, closed: Callable[[], None]) -> None:
        super().__init__(fd)
        self._closed = closed

    def close(self) -> None:
        super().close()
        self._closed()


def _masters() -> set[int]:
    """Return our ends of terminals that this process or a parent made."""
    found = set()
    with contextlib.suppress(OSError):
        master = os.stat("/dev/ptmx").st_rdev  # noqa: PTH116
        for name in os.listdir("/dev/fd"):  # noqa: PTH208
            # The descriptor that listed the directory is closed by now.
            with contextlib.suppress(OSError):
                if os.fstat(int(name)).st_rdev == master:
                    found.add(int(name))
    return found
