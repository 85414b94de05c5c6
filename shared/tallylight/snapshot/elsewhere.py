"""
Panes of other machines in the lists of this one: what they are called, and what is left out of them.

What another machine says is shown, and nothing of it is ever run, typed or taken for a process, a terminal or a pane of
this machine.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.snapshot.entries import ConversationEntry
from tallylight.snapshot.schema import Pane

#: The host of the panes of other machines: `machines-4711`.
HOST = "machines"


def harmless(pane: Pane) -> Pane:
    """*pane* of another machine, without what could be run or typed, or name something of this one."""
    return attributes.evolve(
        pane,
        resume=(),
        fork=(),
        attach=(),
        choices=(),
        conversation=ConversationEntry(),
        pid=None,
        agent_pid=None,
        terminals=(),
        terminal="",
        visible=False,
    )


def is_elsewhere(host: str) -> bool:
    """Whether *host* is the one of this machine that shows the panes of others."""
    return host.partition("-")[0] == HOST


def fleet_machine(host: str) -> str:
    """The machine of *host* as a broker names it, `atlas/kitty-4711`; nothing only for a host of this machine."""
    machine, slash, _ = host.partition("/")
    return (machine or "?") if slash else ""


def local_id(machine: str, host: str, id_: str) -> str:
    """What the pane *id_* of *host* of *machine* is called here: `devbox/kitty-4711:3`."""
    return f"{machine}/{host}:{id_}"


def parts(id_: str) -> tuple[str, str, str]:
    """The machine, the host and the pane there that `local_id` put together; three times nothing for something else."""
    machine, slash, rest = id_.partition("/")
    host, colon, pane = rest.partition(":")
    return (machine, host, pane) if slash and colon and machine and host and pane else ("", "", "")


def place_of(host: str, id_: str) -> tuple[str, str, str]:
    """The machine, nothing for this one, of a pane that is shown here, its host over there, and what it is there."""
    if not is_elsewhere(host):
        return fleet_machine(host), host.partition("/")[2] or host, id_
    return there if (there := parts(id_))[0] else ("?", host, id_)
