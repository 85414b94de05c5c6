"""The panes of a fleet, for the commands with `--broker`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from tallylight.cli.output import UNBOUNDED_CELLS, clean, complain
from tallylight.config import config_file
from tallylight.files import directories, extras
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Panes, Row, in_order, pick
from tallylight.snapshot.schema import Pane

if TYPE_CHECKING:
    from tallylight.config.fleet import Fleet
    from tallylight.parts.remote.mirror import Mirror
    from tallylight.parts.remote.subscriber import Subscriber

#: How long, in seconds, a single command waits for a silent broker.
BROKER_WAIT_S = 6.0
#: How long, in seconds, another machine may take to carry out a request.
REMOTE_REQUEST_S = 5.0


def configured(verb: str) -> Fleet:
    """
    Return the fleet of the configuration; `tally` *verb* reports its mistakes. Raise `TallyError` without a broker.
    """
    config, problems = config_file.load_config(os.environ)
    complain(verb, *problems, cells=UNBOUNDED_CELLS)
    if not config.fleet.broker:
        raise TallyError(f"no broker: set `broker` in [fleet] of {directories.config_file()}")
    return config.fleet


def subscriber(verb: str) -> Subscriber:
    """
    Return a link to the configured broker, for `tally` *verb*; raise `TallyError` without one, or without a client.
    """
    fleet = configured(verb)
    extras.enable("fleet")
    try:
        from tallylight.parts.remote.subscriber import Subscriber
    except ImportError as error:
        if (error.name or "").startswith("tallylight"):
            raise
        raise extras.missing("fleet") from None
    return Subscriber(fleet)


def panes_of(mirror: Mirror) -> Panes:
    """Return the panes of *mirror* as if they were this machine's: a host is named `machine/kitty-4711`."""
    panes = [Row(f"{machine}/{host}", pane) for machine, host, pane in mirror.panes()]
    hosts = tuple(dict.fromkeys(found.host for found in panes))
    gone = tuple(f"{machine} is gone" for machine, is_there in mirror.known.items() if not is_there)
    return Panes(in_order(panes, time.time()), hosts, machines=mirror.known, troubles=gone)


def mark(verb: str, wanted: str | None, minutes: float | None, outcome: Callable[[Pane], str]) -> int:
    """Ask the machine of the pane *wanted* for a mark, wait until it shows, and print the result."""
    if wanted is None:
        raise TallyError("name a pane as `tally status --broker` lists it")
    fleet = subscriber(verb)
    _read(fleet)
    found = pick(panes_of(fleet.mirror), wanted, {})
    fleet.ask(found.host, found.pane, verb, minutes)
    machine, _, host = found.host.rpartition("/")
    end = time.monotonic() + REMOTE_REQUEST_S
    while (now := time.monotonic()) < end:
        fleet.step(now, 0.1)
        panes = fleet.mirror.panes_of(machine)
        shown = next((pane for name, pane in panes if (name, pane.id) == (host, found.pane.id)), None)
        is_done = shown is None or shown.attention.seen
        if shown is not None and verb != "seen":
            is_changed = shown.attention.snoozed_until != found.pane.attention.snoozed_until
            is_done = is_changed or (minutes == 0 and not shown.attention.snoozed_until)
        if is_done:
            sys.stdout.write(f"{clean(found.address)} {outcome(shown) if shown is not None else 'is gone'}\n")
            fleet.link.close()
            return 0
    fleet.link.close()
    raise TallyError(f"{clean(machine, 40)} refused: its pane has changed, or the broker lets you send no marks")


def read_fleet() -> Panes:
    """Return the panes that the broker has now; raise `TallyError` if it does not answer."""
    found = subscriber("status")
    _read(found)
    found.link.close()
    return attrs.evolve(panes_of(found.mirror), problems=tuple(TallyError(note) for note in found.notes()))


def _read(found: Subscriber) -> None:
    """Wait until all of the broker's messages are here; raise `TallyError` after `BROKER_WAIT_S` without one."""
    link = found.link
    end = time.monotonic() + BROKER_WAIT_S
    while not found.is_complete:
        now = time.monotonic()
        if found.step(now, 0.1):
            end = now + BROKER_WAIT_S
        if now >= end or (not link.is_up and link.has_failed):
            raise TallyError(f"the broker {link.standing}")
