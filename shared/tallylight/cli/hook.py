"""
`tally hook`: the command of agents' hooks. A payload comes in on standard input, a report goes to the agent's terminal.

It prints nothing and always succeeds: an agent must never see a failure of ours. It takes no longer than `HOOK_S`,
and about the time of an empty Python program, because an agent waits for its hooks. So the mapping is a table
(`hooks.tables`), and nothing is imported that would load `re`, `enum`, `attrs`, `json` or even `os`.

The terminal is that of the agent itself, found among our ancestors, and never one that a variable names. A terminal
below another agent's, or a daemon that serves many, has no light of ours.
"""

from __future__ import annotations

import posix
import sys

from tallylight.hooks import mapping, payload
from tallylight.wire import envelope, pairs, tty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from tallylight.cli.parser import Parser

#: Seconds for everything, and seconds for the terminal to accept the report.
HOOK_S = 3.0
WRITE_S = 0.5
#: Bytes of an installed table of a user's own agent, at most.
_TABLE_BYTES = 1 << 20


def make_parser() -> Parser:
    """Return the parser for the help; `main` reads the arguments by hand, to start in no time."""
    from tallylight.cli.parser import Parser

    parser = Parser(
        prog="tally hook",
        usage="tally hook AGENT [EVENT] < PAYLOAD",
        description="Report one event of an agent to the agent's own terminal. `tally hooks install` writes this "
        "command into the agent's settings. It prints nothing, and always succeeds.",
        examples={"tally hook claude < payload.json": "one event of Claude Code", "tally hook codex": "one of Codex"},
        codes={0: "always", 1: "", 2: ""},
    )
    parser.add_argument("agent", metavar="AGENT", help="the agent, by the name of its file")
    parser.add_argument("event", metavar="EVENT", nargs="?", help="needed if the payload does not name it")
    return parser


def main(argv: list[str]) -> NoReturn:
    """Report one event and leave, with 0."""
    if argv[:1] in (["-h"], ["--help"]):
        sys.stdout.write(make_parser().format_help())
        sys.stdout.flush()
        posix._exit(0)
    try:
        # The module behind `signal`, which would pull in enum.
        import _signal  # type: ignore[import-not-found, unused-ignore]

        def give_up(*_: object) -> NoReturn:
            raise TimeoutError

        _signal.signal(_signal.SIGALRM, give_up)
        _signal.setitimer(_signal.ITIMER_REAL, HOOK_S)
        # As `os.environ` would have it.
        handle(argv, {tty.decoded(key): tty.decoded(value) for key, value in posix.environ.items()})
    except BaseException:  # noqa: S110 - silence is the contract, for an interrupt and the alarm too
        pass
    # Without the interpreter's shutdown, which would complain of closed standard streams.
    posix._exit(0)


def handle(argv: list[str], environ: Mapping[str, str]) -> bool:
    """Report one event; return whether there was a report and a terminal for it."""
    table = _table(argv[0], environ) if argv else None
    if table is None:
        return False
    data = _read(0)
    report = mapping.report(table, argv[1] if len(argv) > 1 else "", payload.members(data))
    sent = False
    if report is not None:
        report = {"state": report["state"], "tool": argv[0]} | report | {"at": str(_started())}
        fd = tty.first_terminal(agent_devices(table, environ, ancestors()))
        if fd is not None:
            made = pairs.fit({key: value for key, value in report.items() if value})
            try:
                tty.write(fd, tty.wrap(envelope.user_var(envelope.CARRIER, made), environ), timeout=WRITE_S)
            finally:
                if tty.multiplexer(environ):
                    from tallylight.wire import hand

                    hand.send_to_host([made], environ)
            sent = True
    if len(data) > payload.MAX_HOOK_BYTES:
        # A writer into a pipe without a reader fails.
        while posix.read(0, 1 << 16):
            pass
    return sent


def _table(agent: str, environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return the agent's table: a user's own, written when its hooks were installed, else ours."""
    if not agent or not all(c.isalnum() or c in "._-" for c in agent) or agent[0] in ".-":
        return None
    home = environ.get("XDG_STATE_HOME", "")
    folder = home if home.startswith("/") else environ.get("HOME", "") + "/.local/state"
    try:
        fd = posix.open(f"{folder}/tallylight/hooks/{agent}.json", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        from tallylight.hooks import tables

        return tables.TABLES.get(agent)  # type: ignore[return-value, unused-ignore]
    try:
        found = payload.members(posix.read(fd, _TABLE_BYTES))
    finally:
        posix.close(fd)
    return found if found.get("version") == 1 else None


def _read(stdin: int) -> bytes:
    """Return the payload, and at most one piece beyond its limit. A person's terminal is not read."""
    data = b""
    try:
        while len(data) <= payload.MAX_HOOK_BYTES and not (not data and posix.isatty(stdin)):
            piece = posix.read(stdin, 1 << 16)
            if not piece:
                break
            data += piece
    except (OSError, TimeoutError):
        pass  # closed, or held open by a program that writes no more
    return data


def _started() -> int:
    """Return when this process was started, in hundredths of a second; it orders the hooks of an agent."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 - pathlib costs more than the whole command
            return int(file.read(4096).rpartition(b")")[2].split()[19]) * 100 // posix.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        from time import monotonic_ns

        return monotonic_ns() // 10_000_000


# The terminal ------------------------------------------------------------------------------------------------


class Ancestor:
    """A process above this one: its pid, its terminal's devices, best first, and its arguments."""

    def __init__(self, pid: int, devices: list[str], words: list[str]) -> None:
        self.pid = pid
        self.devices = devices
        self.words = words


def ancestors() -> list[Ancestor]:
    """Return the processes above this one, nearest first."""
    found: list[Ancestor] = []
    pid = posix.getppid()
    while pid > 1 and len(found) < tty.MAX_ANCESTORS:
        process = tty.read_process(pid)
        if process is None:
            break
        words: list[str] = []
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123
                words = [tty.decoded(word) for word in file.read(4096).split(b"\0") if word]
        except OSError:
            pass
        found.append(Ancestor(pid, process[2], words))
        if process[2] and not words:
            break  # without /proc each step runs a program, so the nearest terminal must do
        pid = process[0]
    return found


def agent_devices(table: Mapping[str, Any], environ: Mapping[str, str], chain: list[Ancestor]) -> list[str]:
    """
    Return the devices of the agent's terminal; none if it has none, or if that is unknown.

    The agent is the ancestor that its own variable names, else the nearest one that has its name. Without either it
    runs under an unknown name: then the nearest terminal is its.
    """
    named = environ.get(table["pid_env"], "") if table["pid_env"] else ""
    agent = next((one for one in chain if str(one.pid) == named), None)
    agent = agent or next((one for one in chain if _is_named(one.words, table["names"])), None)
    agent = agent or next((one for one in chain if one.devices), None)
    if agent is None:
        return []
    for one in chain:
        if any(word in one.words for word in table["daemon"]):
            return []
        if one is agent:
            break
    return agent.devices


def _is_named(words: list[str], names: list[str]) -> bool:
    """Return whether the program, or the script that an interpreter runs, has one of *names*."""
    scripts = [word for word in words[1:8] if not word.startswith("-")][:1]
    for word in (*words[:1], *scripts):
        name = word.rpartition("/")[2].removeprefix(".")
        if name.removesuffix(".exe").removesuffix(".js") in names:
            return True
    return False
