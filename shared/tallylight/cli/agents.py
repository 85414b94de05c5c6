"""`tally agents`: every agent of every tab, live; in kitty a key binding opens it, too."""

from __future__ import annotations

import functools
import io
import math
import os
import sys

from tallylight.cli.parser import Parser
from tallylight.config import config_file
from tallylight.model.errors import TallyError
from tallylight.parts import index
from tallylight.snapshot import labels_file
from tallylight.snapshot.addresses import own_place, read_panes
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.rows import Row
from tallylight.snapshot.writer import directory
from tallylight.ui import colours
from tallylight.ui.agent_list import loop
from tallylight.ui.agent_list.actions import Channelled, Direct, Elsewhere
from tallylight.ui.agent_list.channel import AS_OF, CHANNEL, FIRST_KEY, SELECTED
from tallylight.ui.ansi import Depth
from tallylight.ui.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from tallylight.actions.client import PaneClient
    from tallylight.ui.repository_text import Watch


def make_parser() -> Parser:
    parser = Parser(
        prog="tally agents",
        description="Live list of all agents: go there, answer, filter, snooze, show why. Press ? for help.",
        examples={
            "tally agents": "the list; ? shows its keys",
            "tally agents --broker": "every machine of the fleet",
        },
        codes={0: "you left the list", 1: "no terminal to draw in"},
    )
    parser.add_broker()
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Show the list until the person leaves it."""
    options = make_parser().parse_args(argv)
    show(colours.depth(colours.chosen(os.environ, options.color)), is_fleet=options.broker)
    return 0


def show(depth: Depth, *, is_fleet: bool = False, is_panel: bool = False) -> None:
    """Show the list, of the fleet or of this machine, until the person leaves it; a panel stays and is marked."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise TallyError("the list needs a terminal; use `tally status` to print one line per pane")
    environ = dict(os.environ)

    @functools.cache
    def client() -> PaneClient:
        from tallylight.actions.client import PaneClient, seated_caller
        from tallylight.hosts.detached.sessions import PaneAccess

        panes = PaneAccess(environ)
        level = lambda host: read_panes(environ).level(host)  # noqa: E731
        return PaneClient(panes, seated_caller(environ), level, panes.started_by, environ, is_key=True)

    # Repositories are read for agents of this machine, unless a setting forbids it.
    has_branches = not is_fleet and not is_panel and config_file.load_config(environ)[0].listed.branches

    fleet = index.need("fleet", "other machines").subscriber("agents") if is_fleet else None
    # Within a session, the pane of the terminal around it is no panel.
    panel = own_place(environ) if is_panel and not {"TMUX", "STY"} & environ.keys() else ("", "")
    channel = Channelled.of(environ, client) if fleet is None else None
    # No program that is started from here gets hold of the channel.
    os.environ.pop(CHANNEL, None)
    os.environ.pop(FIRST_KEY, None)
    loop.run(
        Terminal(sys.stdin.fileno(), sys.stdout.fileno(), stays=is_panel),
        fleet or Feed(directory(environ)),
        Elsewhere(fleet.ask) if fleet is not None else channel or Direct(environ, client, panel),
        explain,
        # Without the channel, its panes are as far away as those of another kitty.
        own=f"kitty-{environ['KITTY_PID']}" if channel is not None and "KITTY_PID" in environ else "",
        selected=environ.get(SELECTED, ""),
        as_of=_seconds(environ.get(AS_OF, "")),
        depth=depth,
        repositories=_repositories(environ) if has_branches else None,
        is_panel=is_panel,
        key=environ.get(FIRST_KEY, ""),
        labels=labels_file.LabelsFile(labels_file.path(environ)),
    )


def _repositories(environ: Mapping[str, str]) -> Callable[[], Watch] | None:
    """Return a function that makes the reader of agents' repositories; None if no part has one."""
    found: Any = index.ask("repositories")
    return (lambda: found.Watch(environ.get("HOME", ""))) if found is not None else None


def _seconds(value: str) -> float:
    """Return the time that a terminal has passed on as text; 0 for any other text."""
    try:
        found = float(value)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


def explain(row: Row, columns: int, now: float) -> list[str]:
    """Return the output of `tally why` for a row."""
    from tallylight.cli import why
    from tallylight.cli.output import Output
    from tallylight.snapshot.addresses import Row

    stream = io.StringIO()
    why.draw(Output(stream, columns=columns), Row(row.host, row.pane, row.short), now)
    return stream.getvalue().splitlines()
