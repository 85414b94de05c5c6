"""The panes of a fleet, for the commands that take `--broker`."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from tallylight import files
from tallylight.cli.panes import Found, Panes, in_order
from tallylight.errors import TallyError

if TYPE_CHECKING:
    from tallylight.broker import Subscriber
    from tallylight.fleet.mirror import Mirror

#: How long, in seconds, a command that answers once waits for the broker.
PATIENCE_S = 6.0


def subscriber() -> Subscriber:
    """A link to the broker of the configuration; `TallyError` if there is none, or no MQTT client."""
    config, problems = files.load_config(os.environ)
    for problem in problems:
        sys.stderr.write(f"tally: {problem}\n")
    if not config.fleet.broker:
        raise TallyError(f"no broker: set `broker` in [fleet] of {files.config_file()} (docs/fleet.md)")
    try:
        from tallylight.broker import Subscriber
    except ImportError:
        raise TallyError("a fleet needs the MQTT client: pip install 'tallylight[fleet]'") from None
    return Subscriber(config.fleet)


def panes_of(mirror: Mirror) -> Panes:
    """What *mirror* shows, as if all of it were of this machine: a host is named `machine/kitty-4711`."""
    panes = [Found(f"{machine}/{host}", pane) for machine, host, pane in mirror.panes()]
    machines = dict.fromkeys(mirror.machines, True) | dict.fromkeys(mirror.gone, False)
    return Panes(in_order(panes), tuple(dict.fromkeys(found.host for found in panes)), machines=machines)


def read_fleet() -> Panes:
    """Ask the broker once; `TallyError` if it does not answer."""
    found = subscriber()
    link = found.link
    end = time.monotonic() + PATIENCE_S
    while not found.is_complete:
        now = time.monotonic()
        found.step(now, 0.1)
        if now >= end or (not link.is_up and link.has_failed):
            raise TallyError(f"the broker {link.fleet.broker}:{link.fleet.port}: {link.state}")
    link.close()
    return panes_of(found.mirror)
