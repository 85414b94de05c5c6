"""The panes of a fleet, for the commands that take `--broker`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from tallylight.cli.output import UNBOUNDED, clean, complain
from tallylight.config import config_file
from tallylight.files import directories, extras
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Panes, Row, in_order, pick
from tallylight.snapshot.schema import Pane

if TYPE_CHECKING:
    from tallylight.config.fleet import Fleet
    from tallylight.parts.remote.mirror import Mirror
    from tallylight.parts.remote.subscriber import Subscriber

#: How long, in seconds, a command that answers once waits for a broker that says nothing.
PATIENCE_S = 6.0
#: How long, in seconds, another machine may take to do what is asked.
DONE_S = 5.0


def configured(verb: str) -> Fleet:
    """The fleet of the configuration; `tally` *verb* reports its mistakes. `TallyError` if it names no broker."""
    config, problems = config_file.load_config(os.environ)
    complain(verb, *problems, cells=UNBOUNDED)
    if not config.fleet.broker:
        raise TallyError(f"no broker: set `broker` in [fleet] of {directories.config_file()}")
    return config.fleet


def subscriber(verb: str) -> Subscriber:
    """A link to the configured broker, for `tally` *verb*; `TallyError` if there is none, or no MQTT client."""
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
    """What *mirror* shows, as if all of it were of this machine: a host is named `machine/kitty-4711`."""
    panes = [Row(f"{machine}/{host}", pane) for machine, host, pane in mirror.panes()]
    hosts = tuple(dict.fromkeys(found.host for found in panes))
    gone = tuple(f"{machine} is gone" for machine, is_there in mirror.known.items() if not is_there)
    return Panes(in_order(panes, time.time()), hosts, machines=mirror.known, troubles=gone)


def mark(verb: str, wanted: str | None, minutes: float | None, outcome: Callable[[Pane], str]) -> int:
    """Ask the machine of the pane *wanted* for a mark, wait until it shows it, and say what it came to."""
    if wanted is None:
        raise TallyError("name a pane as `tally status --broker` lists it")
    fleet = subscriber(verb)
    _read(fleet)
    found = pick(panes_of(fleet.mirror), wanted, {})
    fleet.ask(found.host, found.pane, verb, minutes)
    machine, _, host = found.host.rpartition("/")
    end = time.monotonic() + DONE_S
    while (now := time.monotonic()) < end:
        fleet.step(now, 0.1)
        panes = fleet.mirror.panes_of(machine)
        shown = next((pane for name, pane in panes if (name, pane.id) == (host, found.pane.id)), None)
        is_done = shown is None or shown.seen
        if shown is not None and verb != "seen":
            is_changed = shown.snoozed_until != found.pane.snoozed_until
            is_done = is_changed or (minutes == 0 and not shown.snoozed_until)
        if is_done:
            sys.stdout.write(f"{clean(found.address)} {outcome(shown) if shown is not None else 'is gone'}\n")
            fleet.link.close()
            return 0
    fleet.link.close()
    raise TallyError(f"{clean(machine, 40)} refused: its pane has changed, or the broker lets you send no marks")


def read_fleet() -> Panes:
    """Ask the broker once; `TallyError` if it does not answer."""
    found = subscriber("status")
    _read(found)
    found.link.close()
    return attrs.evolve(panes_of(found.mirror), problems=tuple(TallyError(note) for note in found.notes()))


def _read(found: Subscriber) -> None:
    """Wait until the broker has told everything; `TallyError` if it does not, or says nothing for `PATIENCE_S`."""
    link = found.link
    end = time.monotonic() + PATIENCE_S
    while not found.is_complete:
        now = time.monotonic()
        if found.step(now, 0.1):
            end = now + PATIENCE_S
        if now >= end or (not link.is_up and link.has_failed):
            raise TallyError(f"the broker {link.standing}")
