"""The panes of all living hosts, as the commands address and sort them."""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence

from tallylight.files import read_write
from tallylight.files.toml import did_you_mean
from tallylight.model import attributes
from tallylight.model.errors import TallyError
from tallylight.snapshot import labels_file, writer
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.labels_file import LabelsFile
from tallylight.snapshot.names import spellings
from tallylight.snapshot.rows import Row as Row
from tallylight.snapshot.rows import in_order as in_order
from tallylight.snapshot.rows import listed
from tallylight.snapshot.schema import OWN, Snapshot
from tallylight.snapshot.writer import SnapshotError
from tallylight.wire.text import sanitise

#: How a person names a pane.
NAMED = "3, 'tmux 2', kitty-4711:3, or a project, name or agent, as `tally status` lists it"
#: How the argument list begins that shows a session without a pane of its own: by its address, by our own command.
LISTED = ("tally", "attach")
_LISTED = "`tally status --all` lists them"
#: Why there is no pane at all.
NO_HOST = "no terminal runs Tallylight: start kitty or WezTerm; `tally doctor` lists what is missing"
#: A script has an empty word if its own command failed. It means no pane, and never the most urgent one.
EMPTY = "the pane is empty; name one that `tally status` lists"


class NoPaneError(TallyError):
    """There is no pane of the name *wanted*, or more than one."""

    def __init__(self, wanted: str, problem: str) -> None:
        super().__init__(problem)
        self.wanted = wanted


@attributes.frozen
class Panes:
    """
    All panes, most urgent first, the names of the *hosts* they are from, and *problems* of files not read.

    *machines*: other machines, each with whether it is there; *troubles*: the problems of those that are not. *levels*:
    what programs may do to the panes of each host.
    """

    panes: tuple[Row, ...]
    hosts: tuple[str, ...]
    problems: tuple[TallyError, ...] = ()
    machines: Mapping[str, bool] = attributes.field(factory=dict)
    troubles: tuple[str, ...] = ()
    levels: Mapping[str, str] = attributes.field(factory=dict)

    def level(self, host: str) -> str:
        """What programs may do to the panes of *host*."""
        return self.levels.get(host, OWN)

    @property
    def why_none(self) -> str:
        """Why there is nothing to list."""
        return "no agent runs in any tab" if self.hosts or self.machines else NO_HOST

    @classmethod
    def of(cls, hosts: Iterable[Snapshot], problems: Iterable[SnapshotError]) -> Panes:
        """The panes that *hosts* show."""
        hosts = tuple(hosts)
        panes = [Row(host.name, pane) for host in hosts for pane in host.panes]
        machines = [machine for host in hosts for machine in host.machines]
        return cls(
            in_order(panes, time.time()),
            tuple(host.name for host in hosts),
            tuple(problems),
            {machine.name: machine.is_up for machine in machines},
            tuple(f"{machine.name}: {machine.says}" for machine in machines if not machine.is_up),
            {host.name: host.allow for host in hosts},
        )


def read_panes(environ: Mapping[str, str]) -> Panes:
    """Read the snapshots of all living hosts."""
    return Panes.of(*writer.read_snapshots(writer.directory(environ)))


def labelled(panes: Iterable[Row], labels: Labels) -> tuple[Row, ...]:
    """*panes*, each with what a person gave its conversation."""
    return tuple(attributes.evolve(found, label=labels.of(found.host, found.pane)) for found in panes)


def add_pane(parser: argparse._ActionsContainer, name: str = "pane", nargs: str | None = None, help_: str = "") -> None:
    """Let a command name a pane, as `pick` takes it, by the argument or the option *name*."""
    default = "; by default this one, else the most urgent" if nargs == "?" else ""
    parser.add_argument(name, nargs=nargs, type=_named, metavar="PANE", help=help_ or f"{NAMED}{default}")


def _named(word: str) -> str:
    if not word.strip():
        raise argparse.ArgumentTypeError(EMPTY)
    return word


def own_place(environ: Mapping[str, str], hosts: Sequence[str] = ()) -> tuple[str, str]:
    """
    The host and the pane that this process runs in, by the variables of its terminal; empty if they do not name them.

    Within tmux it is the pane of tmux, if one of *hosts* watches it. WezTerm's host is a sidecar, with its pid in
    the lock that there is one of for each WezTerm.
    """
    sessions = next((host for host in hosts if host.startswith("sessions-")), "")
    server = environ.get("TMUX", "").rsplit(",", 2)[1:2]
    if sessions and server and environ.get("TMUX_PANE"):
        return sessions, f"tmux/{server[0]}/{environ['TMUX_PANE']}"
    if environ.get("TERM_PROGRAM") != "WezTerm" and environ.get("KITTY_PID"):
        return f"kitty-{environ['KITTY_PID']}", environ.get("KITTY_WINDOW_ID", "")
    gui = environ.get("WEZTERM_UNIX_SOCKET", "").rpartition("/gui-sock-")[2]
    if not (gui.isascii() and gui.isdigit()):
        return "", ""
    try:
        pid = read_write.read_own(writer.directory(environ) / f"wezterm-{gui}.lock", 32).decode("ascii", "replace")
    except (OSError, TallyError):
        return "", ""
    return (f"wezterm-{pid}", environ.get("WEZTERM_PANE", "")) if pid.isdigit() else ("", "")


def own(panes: Panes, environ: Mapping[str, str]) -> Row | None:
    """The pane that this process runs in, if it is one of *panes*."""
    here = ":".join(own_place(environ, panes.hosts))
    return next((found for found in panes.panes if found.address == here), None)


def pick(panes: Panes, wanted: str | None, environ: Mapping[str, str]) -> Row:
    """
    Find the pane that *wanted* names. None: the pane we are in, else the most urgent.

    It is one of its `spellings`, else what a person knows an agent by. A name that panes of several hosts have means
    the one of the host we are in.
    """
    if wanted is None:
        lit = (found for found in panes.panes if found.is_lit)
        if nearest := own(panes, environ) or next(itertools.chain(lit, panes.panes), None):
            return nearest
        raise NoPaneError("", f"there is no pane; {_LISTED}")
    wanted = " ".join(wanted.split())
    if not wanted:
        raise NoPaneError(wanted, EMPTY)
    if not (panes.panes or panes.hosts or panes.machines):
        raise NoPaneError(wanted, NO_HOST)
    named = _spelled(panes, wanted, own_place(environ)[0]) or _known_as(panes, wanted, environ)
    if len(named) > 1:
        who = [", ".join(filter(None, (found.called, found.pane.agent))) for found in named]
        which = (f"{found.name} ({sanitise(words, cells=40)})" for found, words in zip(named, who, strict=True))
        raise NoPaneError(wanted, f"several panes are {wanted}: {', '.join(which)}")
    return named[0]


def _spelled(panes: Panes, wanted: str, here: str) -> list[Row]:
    """The panes with *wanted* among their `spellings`; of several, those of the host *here*, if it has any."""
    named = [f for f in panes.panes if wanted == f.pane.id or wanted in spellings(f.host, f.pane.id)]
    return [found for found in named if len(named) > 1 and found.host == here] or named


def _known_as(panes: Panes, wanted: str, environ: Mapping[str, str]) -> list[Row]:
    """
    Return the agents with *wanted* as project, agent or own name, at least one; `NoPaneError` names the nearest word.

    A name counts whole, for the beginning of a word may be that of another agent. A bare number is no name: a script
    that names a pane which is gone must not reach another one.
    """
    labels = LabelsFile(labels_file.path(environ))
    labels.poll()
    known: dict[str, list[Row]] = {}
    for found in listed(labelled(panes.panes, labels.labels)):
        for name in {found.called.casefold(), found.pane.project.casefold(), found.pane.agent.casefold()}:
            known.setdefault(name, []).append(found)
    is_name = any(c.isalpha() for c in wanted)
    if not is_name or wanted.casefold() not in known:
        meant = did_you_mean(wanted.casefold(), filter(None, known)) if is_name else ""
        raise NoPaneError(wanted, f"there is no pane {wanted!r}{meant}; {_LISTED}")
    return known[wanted.casefold()]
