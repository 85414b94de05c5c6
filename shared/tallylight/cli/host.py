"""
`tally host`: a process that puts panes into the lists that no terminal reports itself.

`tally host sessions` is one for this user's GNU Screen and tmux, and for agents without a pane. It prints nothing while
all is well. It ends on a signal, or with `--with-parent` when the process that started it has ended.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tallylight.cli.ending import on_signal
from tallylight.cli.output import complain
from tallylight.cli.parser import Parser, within
from tallylight.evidence import process_table
from tallylight.files.lock import locked
from tallylight.model.errors import TallyError
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import checked_directory, directory

#: Seconds that a host that ends with its parent may take to make way.
MAKES_WAY_S = 10.0

if TYPE_CHECKING:
    from tallylight.hosts.polling.host import PollingHost


def make_parser() -> Parser:
    parser = Parser(
        prog="tally host",
        description="Watch the panes that no terminal reports itself, and put them into the lists.",
        examples={"tally host sessions": "tmux and GNU Screen"},
        codes={0: "it was stopped", 1: "failed, or already running"},
    )
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, (what, example, _) in KINDS.items():
        examples = {f"tally host {example}": "until you stop it"}
        kind = kinds.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", examples=examples)
        if name == "sessions":
            kind.add_argument("--no-screen", action="store_true", help="ignore GNU Screen")
            kind.add_argument("--no-tmux", action="store_true", help="ignore tmux")
            kind.add_argument("--no-tmux-option", action="store_true", help="do not set options in the windows of tmux")
            kind.add_argument(
                "--socket", action="append", default=[], metavar="PATH", help="another tmux server; may be repeated"
            )
            kind.add_argument("--quiet", action="store_true", help="exit with 0 if they are watched already")
            kind.add_argument("--no-machines", action="store_true", help="ignore [machines] of the configuration")
            kind.add_argument(
                "--with-parent",
                nargs="?",
                type=within(0, 2**31, int),
                const=0,
                metavar="PID",
                help="exit when the process that started this one exits; PID: which, for it may be gone already",
            )
            continue
        kind.add_argument(
            "--pid", type=int, required=True, metavar="PID", help="the process id of WezTerm's GUI or mux server"
        )
        kind.add_argument("--wezterm", default="wezterm", metavar="PATH", help="the `wezterm` program to run")
    return parser


def main(argv: list[str]) -> int:
    """Run one host until you stop it."""
    options = make_parser().parse_args(argv)
    return KINDS[options.kind][2](options, os.environ)


def _sessions(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the host of sessions, unless another one does."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(_only_one(environ, yields=options.with_parent is not None))
        except TallyError:
            if options.quiet:
                return 0
            raise
        return _watch_sessions(options, environ)


@contextlib.contextmanager
def _only_one(environ: Mapping[str, str], *, yields: bool) -> Iterator[None]:
    """Be the one host of sessions: two would show every session twice. One that ends with its parent makes way."""
    other = _running("sessions", environ)
    if other is not None and not yields:
        pid = int(other.rpartition("-")[2])
        process = process_table.table().get(pid)
        if process is not None and "--with-parent" in process.argv:
            os.kill(pid, signal.SIGTERM)
            other = None
    taken = f"the sessions are already watched by {other or 'another process'}"
    if other is not None:
        raise TallyError(taken)
    lock = checked_directory(checked_directory(directory(environ), create=True) / "sessions.lock", create=True)
    with locked(lock, taken, patience_s=0.0 if yields else MAKES_WAY_S):
        yield


def _watch_sessions(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Watch tmux, GNU Screen and sessions without a pane, until a signal."""
    from tallylight.agents.agent_files import load_agents
    from tallylight.hosts.detached.sessions import PaneAccess
    from tallylight.hosts.gnu_screen.source import ScreenSource
    from tallylight.hosts.polling import reports
    from tallylight.hosts.polling.host import PollingHost, Source
    from tallylight.hosts.polling.queue import DeferredTexts
    from tallylight.hosts.registry.source import RegistrySource
    from tallylight.hosts.tmux.source import TmuxSource

    sources: list[Source] = []
    tmux = None if options.no_tmux else TmuxSource(environ, options.socket, shows_lights=not options.no_tmux_option)
    if tmux is not None:
        sources.append(tmux)
    if not options.no_screen:
        sources.append(ScreenSource(environ))
    sources.append(RegistrySource(environ, load_agents(environ)[0]))
    poller = PollingHost("sessions", sources, environ, report=_report)
    if tmux is not None:
        tmux.changed = lambda: poller.refresh(tmux)
        tmux.receive = poller.reports.from_output
    poller.notify()
    reports.serve(poller, environ)
    DeferredTexts.serve(poller, "sessions", PaneAccess(environ), environ)
    if not options.no_machines:
        from tallylight.parts import index

        if (machines := index.ask("machines")) is not None:
            poller.at_end.append(machines.MachinesHost.serve(environ).stop)
    on_signal(lambda *_: poller.stop(), signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    poller.run(until=_until_parent_ends(options.with_parent))
    return 0


def _until_parent_ends(given: int | None) -> Callable[[], bool]:
    """
    Return a function that reports whether the parent of this process has ended, or the process *given* has.

    0: only the parent counts. None: it never reports so.
    """
    parent, table = os.getppid(), process_table.table()
    if given is None:
        return lambda: False
    return lambda: os.getppid() != parent or (given > 0 and table.start(given) is None)


def _running(host: str, environ: Mapping[str, str]) -> str | None:
    """Return the name of a living host of this kind, "" if there is none: two would show every session twice."""
    feed = Feed(directory(environ))
    feed.poll(0.0)
    return next((found.name for found in feed.snapshots if found.host == host), None)


def _wezterm(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Start the host of one WezTerm in the background."""
    from tallylight.hosts.wezterm import sidecar

    def began(poller: PollingHost) -> None:
        from tallylight.hosts.detached.sessions import PaneAccess
        from tallylight.hosts.polling.queue import DeferredTexts
        from tallylight.hosts.sessions_process import SessionsProcess

        poller.sessions_process = SessionsProcess(environ)
        DeferredTexts.serve(poller, sidecar.HOST, PaneAccess(environ), environ)

    sys.stdout.write(sidecar.start(environ, options.pid, options.wezterm, began) + "\n")
    return 0


def _report(problem: str) -> None:
    complain("host", problem, cells=500)


#: Each kind: its description, an example, and its function.
KINDS: dict[str, tuple[str, str, Callable[[argparse.Namespace, Mapping[str, str]], int]]] = {
    "sessions": (
        "watch the sessions of GNU Screen and tmux, attached or not, and those without a pane",
        "sessions --no-screen",
        _sessions,
    ),
    "wezterm": (
        "watch the panes of one WezTerm, in the background; started by its Lua",
        "wezterm --pid 4711",
        _wezterm,
    ),
}
