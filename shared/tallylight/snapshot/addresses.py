"""The panes of all living hosts, and the search for one by its name."""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence

from tallylight.files import read_write
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

#: The ways to name a pane, in words.
NAMED = "3, 'tmux 2', kitty-4711:3, or a project, name or agent, as `tally status` lists it"
#: The beginning of the command that shows a session without a pane, by its address.
LISTED = ("tally", "attach")
_LISTED = "`tally status --all` lists them"
#: The message for no host at all.
NO_HOST = (
    "no terminal runs Tallylight: start kitty or WezTerm, or in tmux run `tally setup --with tmux`; "
    "`tally doctor` lists what is missing"
)
#: The message for an empty name: a script has one if its own command failed. It never means the most urgent pane.
EMPTY = "the pane is empty; name one that `tally status` lists"


class NoPaneError(TallyError):
    """Raised if there is no pane of the name *wanted*, or more than one."""

    def __init__(self, wanted: str, problem: str) -> None:
        super().__init__(problem)
        self.wanted = wanted


@attributes.frozen
class Panes:
    """
    All panes, most urgent first, the names of their *hosts*, and the *problems* of unreadable files.

    *machines*: other machines, each with whether it is connected. *troubles*: the problems of the others. *levels*:
    the scripting level of each host.
    """

    panes: tuple[Row, ...]
    hosts: tuple[str, ...]
    problems: tuple[TallyError, ...] = ()
    machines: Mapping[str, bool] = attributes.field(factory=dict)
    troubles: tuple[str, ...] = ()
    levels: Mapping[str, str] = attributes.field(factory=dict)

    def level(self, host: str) -> str:
        """Return the scripting level of *host*: the word of `[scripting] allow` for its panes."""
        return self.levels.get(host, OWN)

    @property
    def why_none(self) -> str:
        """The message that says why there is nothing to list."""
        return "no agent runs in any tab" if self.hosts or self.machines else NO_HOST

    @classmethod
    def of(cls, hosts: Iterable[Snapshot], problems: Iterable[SnapshotError]) -> Panes:
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
    """Return *panes*, each with the label of its conversation."""
    return tuple(attributes.evolve(found, label=labels.of(found.host, found.pane)) for found in panes)


def add_pane(parser: argparse._ActionsContainer, name: str = "pane", nargs: str | None = None, help_: str = "") -> None:
    """Add the argument or option *name* to a command, for a pane as `pick` takes it."""
    default = "; by default this one, else the most urgent" if nargs == "?" else ""
    parser.add_argument(name, nargs=nargs, type=_named, metavar="PANE", help=help_ or f"{NAMED}{default}")


def _named(word: str) -> str:
    """Return *word* as the name of a pane; raise an error for an empty one."""
    if not word.strip():
        raise argparse.ArgumentTypeError(EMPTY)
    return word


def own_place(environ: Mapping[str, str], hosts: Sequence[str] = ()) -> tuple[str, str]:
    """
    Return the host and the pane around this process, by the variables of its terminal; empty if they do not name them.

    Inside tmux it is the pane of tmux, if one of *hosts* watches it. WezTerm's host is a sidecar, which has its process
    id in the lock file of that WezTerm.
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
    pid = read_write.own_or_nothing(writer.directory(environ) / f"wezterm-{gui}.lock", 32).decode("ascii", "replace")
    return (f"wezterm-{pid}", environ.get("WEZTERM_PANE", "")) if pid.isdigit() else ("", "")


def own(panes: Panes, environ: Mapping[str, str]) -> Row | None:
    """Return the pane around this process if it is one of *panes*, else None."""
    here = ":".join(own_place(environ, panes.hosts))
    return next((found for found in panes.panes if found.address == here), None)


def pick(panes: Panes, wanted: str | None, environ: Mapping[str, str]) -> Row:
    """
    Return the pane with the name *wanted*; for None the pane around this process, else the most urgent one.

    A name is one of the pane's `spellings`, else a project, an agent or a label. If panes of several hosts have the
    name, the one of this process's host is meant.

    Raises `NoPaneError` if no pane, or more than one, has the name.
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
    """Return the panes with *wanted* among their `spellings`; of several, those of the host *here* if it has any."""
    named = [f for f in panes.panes if wanted == f.pane.id or wanted in spellings(f.host, f.pane.id)]
    return [found for found in named if len(named) > 1 and found.host == here] or named


def _known_as(panes: Panes, wanted: str, environ: Mapping[str, str]) -> list[Row]:
    """
    Return the agents with *wanted* as project, agent or label, at least one; `NoPaneError` names the nearest word.

    Only a whole name counts, for its beginning may fit another agent. A bare number is no name: a script that names a
    pane which is gone must not reach another one.
    """
    labels = LabelsFile(labels_file.path(environ))
    labels.poll()
    known: dict[str, list[Row]] = {}
    for found in listed(labelled(panes.panes, labels.labels)):
        for name in {found.called.casefold(), found.pane.project.casefold(), found.pane.agent.casefold()}:
            known.setdefault(name, []).append(found)
    is_name = any(c.isalpha() for c in wanted)
    if not is_name or wanted.casefold() not in known:
        from tallylight.files.toml import did_you_mean  # few names are wrong

        meant = did_you_mean(wanted.casefold(), filter(None, known)) if is_name else ""
        raise NoPaneError(wanted, f"there is no pane {wanted!r}{meant}; {_LISTED}")
    return known[wanted.casefold()]
