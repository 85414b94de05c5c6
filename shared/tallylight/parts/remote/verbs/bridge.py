"""
`tally bridge`: the far end for another machine's `[machines]`, which starts it by `ssh` or a similar command.

It speaks JSON lines on standard input and output (docs/places.md), and ends when the other end is gone. While it runs,
this machine has a host for its sessions of tmux and GNU Screen.
"""

from __future__ import annotations

import os
import shutil
import signal
import time

import tallylight
from tallylight.cli.ending import on_signal
from tallylight.cli.parser import Parser
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import read_panes
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory

#: Seconds that this machine's terminals have to answer.
_BRIDGED_ANSWER_S, _PERSON_S = 10.0, 60.0


def make_parser() -> Parser:
    return Parser(
        prog="tally bridge",
        description="Report this machine's agents to another machine, and answer, write and mark for it. The sessions "
        "host there starts it, for an entry of [machines]; it speaks JSON lines. A login, as by ssh, counts as the "
        "person. Started by a program of this machine, it may do no more than that program.",
        examples={"ssh -T devbox tally bridge": "what the other machine runs"},
        codes={0: "the other end is gone", 1: "it was started in a terminal"},
    )


def main(argv: list[str]) -> int:
    """Report and answer until the other end is gone."""
    make_parser().parse_args(argv)
    if os.isatty(0) or os.isatty(1):
        raise TallyError(
            "another machine starts `tally bridge`, for an entry of its [machines]; it is not for a terminal"
        )
    from tallylight.actions.client import PaneClient, own_caller
    from tallylight.actions.seat import let_in
    from tallylight.hosts.detached.sessions import PaneAccess
    from tallylight.hosts.sessions_process import SessionsProcess
    from tallylight.pane.known import MULTIPLEXERS
    from tallylight.parts.remote.bridge import Bridge

    feed = Feed(directory(os.environ))
    # Before any request: the program that started this may be gone by then.
    caller, panes = own_caller(os.environ, let_in), PaneAccess(os.environ)
    client = PaneClient(
        panes,
        lambda: caller,
        lambda host: read_panes(os.environ).level(host),
        panes.started_by,
        timeout_s=_BRIDGED_ANSWER_S,
        ask_timeout_s=_PERSON_S,
        asks_for=caller,
    )
    sessions = SessionsProcess(os.environ)
    is_useful = any(shutil.which(program) for program in MULTIPLEXERS)

    def keep() -> None:
        if is_useful:
            sessions.keep(time.monotonic(), "--no-machines")

    on_signal(signal.default_int_handler, signal.SIGTERM, signal.SIGHUP)
    try:
        Bridge(feed, client, tallylight.__version__, os.environ, keep=keep).run(0, 1)
    except KeyboardInterrupt:
        return 0
    finally:
        sessions.close()
    return 0
