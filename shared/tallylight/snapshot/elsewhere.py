"""
Panes of other machines in the lists of this one: their names, and the fields that are removed.

Data of another machine is only shown. It is never run or typed, nor taken for a process, a terminal or a pane of this
machine.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.snapshot.entries import CommandsEntry, ConversationEntry
from tallylight.snapshot.schema import Pane

#: The kind of host that shows panes of other machines: `machines-4711`.
HOST = "machines"


def harmless(pane: Pane) -> Pane:
    """Return *pane* of another machine without fields that could be run or typed, or name something of this one."""
    return attributes.evolve(
        pane,
        commands=CommandsEntry(),
        choices=(),
        conversation=ConversationEntry(),
        pid=None,
        agent_pid=None,
        place=attributes.evolve(pane.place, terminals=(), terminal=""),
        attention=attributes.evolve(pane.attention, visible=False),
    )


def is_elsewhere(host: str) -> bool:
    """Return whether *host* is this machine's host for the panes of other machines."""
    return host.partition("-")[0] == HOST


def fleet_machine(host: str) -> str:
    """Return the machine in a broker's name of *host*, `atlas/kitty-4711`; empty only for a host of this machine."""
    machine, slash, _ = host.partition("/")
    return (machine or "?") if slash else ""


def local_id(machine: str, host: str, id_: str) -> str:
    """Return the id here of the pane *id_* of *host* of *machine*: `devbox/kitty-4711:3`."""
    return f"{machine}/{host}:{id_}"


def parts(id_: str) -> tuple[str, str, str]:
    """Split an id from `local_id` into machine, host and pane there; three empty texts for any other id."""
    machine, slash, rest = id_.partition("/")
    host, colon, pane = rest.partition(":")
    return (machine, host, pane) if slash and colon and machine and host and pane else ("", "", "")


def place_of(host: str, id_: str) -> tuple[str, str, str]:
    """Return the machine of a pane (empty for this one), its host on that machine, and its id there."""
    if not is_elsewhere(host):
        return fleet_machine(host), host.partition("/")[2] or host, id_
    return there if (there := parts(id_))[0] else ("?", host, id_)
