"""The panes of a fleet, for the commands that take `--broker`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from tallylight.cli.output import clean
from tallylight.config import config_file
from tallylight.files import directories, extras
from tallylight.model.errors import TallyError
from tallylight.snapshot.addresses import Found, Panes, in_order, pick
from tallylight.snapshot.elsewhere import harmless
from tallylight.snapshot.schema import Pane, Snapshot

if TYPE_CHECKING:
    from tallylight.config.fleet import Fleet
    from tallylight.remote.broker import Subscriber
    from tallylight.remote.mirror import Mirror
    from tallylight.snapshot.rows import Row

#: How long, in seconds, a command that answers once waits for a broker that says nothing.
PATIENCE_S = 6.0
#: How long, in seconds, another machine may take to do what is asked.
DONE_S = 5.0


def configured(command: str) -> Fleet:
    """The fleet of the configuration, whose mistakes *command* tells; `TallyError` if it names no broker."""
    config, problems = config_file.load_config(os.environ)
    for problem in problems:
        sys.stderr.write(f"{command}: {problem}\n")
    if not config.fleet.broker:
        raise TallyError(f"no broker: set `broker` in [fleet] of {directories.config_file()} (docs/fleet.md)")
    return config.fleet


def subscriber() -> Subscriber:
    """A link to the broker of the configuration; `TallyError` if there is none, or no MQTT client."""
    fleet = configured("tally")
    extras.enable("fleet")
    try:
        from tallylight.remote.broker import Subscriber
    except ImportError as error:
        if (error.name or "").startswith("tallylight"):
            raise
        raise extras.missing("fleet") from None
    return Subscriber(fleet)


def panes_of(mirror: Mirror) -> Panes:
    """What *mirror* shows, as if all of it were of this machine: a host is named `machine/kitty-4711`."""
    panes = [Found(f"{machine}/{host}", pane) for machine, host, pane in mirror.panes()]
    hosts = tuple(dict.fromkeys(found.host for found in panes))
    gone = tuple(f"{machine} is gone" for machine in mirror.gone)
    return Panes(in_order(panes, time.time()), hosts, machines=_machines(mirror), troubles=gone)


def mark(verb: str, wanted: str | None, minutes: float | None, told: Callable[[Pane], str]) -> int:
    """Ask the machine of the pane *wanted* for a mark, wait until it shows it, and say what it came to."""
    if wanted is None:
        raise TallyError("name a pane as `tally status --broker` lists it")
    fleet = subscriber()
    _read(fleet)
    found = pick(panes_of(fleet.mirror), wanted, {})
    _ask(fleet, found.host, found.pane, verb, minutes)
    machine, _, host = found.host.rpartition("/")
    end = time.monotonic() + DONE_S
    while (now := time.monotonic()) < end:
        fleet.step(now, 0.1)
        panes = fleet.mirror.panes_of(machine)
        shown = next((pane for name, pane in panes if (name, pane.id) == (host, found.pane.id)), None)
        if shown is None or _is_done(verb, minutes, found.pane, shown):
            sys.stdout.write(f"{clean(found.address)} {told(shown) if shown is not None else 'is gone'}\n")
            fleet.link.close()
            return 0
    fleet.link.close()
    raise TallyError(
        f"{clean(machine, 40)} did not do it: what it shows has changed, or the broker does not let you ask it"
    )


def _ask(fleet: Subscriber, host: str, pane: Pane, verb: str, minutes: float | None) -> None:
    """Send a mark; `TallyError` if the machine takes none."""
    from tallylight.remote.topics import Mark

    machine, _, name = host.rpartition("/")
    if not fleet.mirror.takes_marks(machine):
        raise TallyError(
            f"{clean(machine, 40)} takes no marks: `marks = true` in [fleet] of its configuration allows them"
        )
    fleet.mark(machine, name, pane.id, Mark(verb, pane.status, pane.since, minutes))


def _is_done(verb: str, minutes: float | None, before: Pane, now: Pane) -> bool:
    if verb == "seen":
        return now.seen
    return now.snoozed_until != before.snoozed_until or (minutes == 0 and not now.snoozed_until)


class FleetFeed:
    """
    The hosts of all machines, as a `feed.Hosts`: a host is named `machine/kitty-4711`.

    Argument lists and keys are left out: what another machine says is shown, and never run or typed on this one.
    """

    def __init__(self) -> None:
        self._subscriber = subscriber()
        self._snapshots: tuple[Snapshot, ...] = ()
        self._by_machine: dict[str, tuple[Snapshot, ...]] = {}

    def mark(self, row: Row, verb: str, minutes: float | None) -> str:
        """Ask for a mark of the pane of *row*; nothing, or why that cannot be."""
        try:
            _ask(self._subscriber, row.host, row.pane, verb, minutes)
        except TallyError as error:
            return str(error)
        return ""

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """What every host of every machine shows, while the broker is there to say so."""
        return self._snapshots

    @property
    def others(self) -> tuple[Snapshot, ...]:
        """The same without the hosts of this machine, which says itself what they show."""
        from tallylight.remote.broker import machine_name

        own = f"{machine_name(self._subscriber.link.fleet)}/"
        return tuple(found for found in self._snapshots if not found.host.startswith(own))

    @property
    def problem(self) -> str:
        """Why the broker cannot be reached; nothing while it can."""
        link = self._subscriber.link
        return "" if link.is_up else f"the broker {link.fleet.broker}:{link.fleet.port}: {link.state}"

    @property
    def has_failed(self) -> bool:
        """Whether it could not be reached, and is not being tried at this moment."""
        return self._subscriber.link.has_failed

    @property
    def is_complete(self) -> bool:
        """Whether the broker has told everything."""
        return self._subscriber.is_complete

    @property
    def machines(self) -> dict[str, bool]:
        """Every machine, and whether it is there."""
        return _machines(self._subscriber.mirror)

    def poll(self, now: float) -> bool:
        """Take what the broker has sent by monotonic *now*; tell whether anything has changed."""
        if not self._subscriber.step(now, 0.0):
            return False
        mirror = self._subscriber.mirror
        if self._subscriber.is_complete:
            for machine in mirror.changed:
                self._by_machine[machine] = _snapshots(machine, mirror)
                if not self._by_machine[machine]:
                    del self._by_machine[machine]
            mirror.changed.clear()
        elif not self._subscriber.link.is_up:
            mirror.changed |= self._by_machine.keys()
            self._by_machine.clear()
        before = self._snapshots
        self._snapshots = tuple(found for name in sorted(self._by_machine) for found in self._by_machine[name])
        return self._snapshots != before

    def descriptors(self) -> None:
        """The broker's client reports nothing by itself."""


class Elsewhere:
    """
    What the list can do to panes of other machines: show them, and snooze them where *mark* can. See
    `ui.agent_list.actions.Actions`.
    """

    def __init__(self, mark: Callable[[Row, str, float | None], str]) -> None:
        self._mark = mark

    has_channel = False
    descriptors: Sequence[int] = ()
    is_seen = True

    def back(self) -> None:
        """There is no pane beside it that is known of."""

    def listen(self) -> None:
        """Nobody says anything."""

    def refuse(self, *given: Any) -> str:
        """What cannot be done from here. What is given last is the row, or has it."""
        row: Row = getattr(given[-1], "row", given[-1])
        return f"do this on {clean(row.host.partition('/')[0], 40)} itself"

    start = screen = look = taker = say = examine = carry = queue = unqueue = answer = refuse

    def ask(self, row: Row, verb: str, args: tuple[str, ...]) -> str:
        if verb not in ("seen", "snooze"):
            return self.refuse(row)
        return self._mark(row, verb, float(args[0]) if args else None)


def read_fleet() -> Panes:
    """Ask the broker once; `TallyError` if it does not answer."""
    found = subscriber()
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
            raise TallyError(f"the broker {link.fleet.broker}:{link.fleet.port}: {link.state}")


def _machines(mirror: Mirror) -> dict[str, bool]:
    return dict.fromkeys(mirror.machines, True) | dict.fromkeys(mirror.gone, False)


def _snapshots(machine: str, mirror: Mirror) -> tuple[Snapshot, ...]:
    """The hosts of one machine."""
    panes: dict[str, list[Pane]] = {}
    for host, pane in mirror.panes_of(machine):
        panes.setdefault(f"{machine}/{host}", []).append(harmless(pane))
    return tuple(_snapshot(name, panes[name]) for name in sorted(panes))


def _snapshot(name: str, panes: list[Pane]) -> Snapshot:
    host, _, pid = name.rpartition("-")
    number = int(pid) if pid.isascii() and pid.isdigit() and len(pid) <= 10 else 0
    return Snapshot(host=host if number else name, pid=number, started=0.0, written=0.0, panes=tuple(panes))
