"""
Rows: the panes of all hosts as a person looks for them, in the order of need.

Times are seconds since the epoch, as in the snapshots the rows come from.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tallylight.model import attributes
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.snapshot.elsewhere import is_elsewhere, place_of
from tallylight.snapshot.labels import NOTHING, Label, Labels
from tallylight.snapshot.names import short_names
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.tracker.rollup import urgency

#: What a person has to deal with, the first first.
NEEDS = (Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.LIMITED)


def is_lit(pane: Pane) -> bool:
    """
    Whether there is anything to say of *pane*: not for a plain command, nor for a shell at its prompt.

    But a text that was written for it and could not be sent is shown, whatever runs there now.
    """
    if pane.unsent:
        return True
    if pane.status is Status.ACTIVE:
        return False
    return pane.status is not Status.IDLE or pane.reason.source != Source.SHELL.word


def is_snoozed(pane: Pane, now: float) -> bool:
    """Whether a person has put *pane* off until later than *now*."""
    return pane.snoozed_until > now


@attributes.frozen
class Row:
    """
    A pane of the host *host*, `kitty-4711`; *is_own*: of the terminal program that draws the list.

    *short* is its shortest name for commands; *label* is what a person gave its conversation. *same* are the names of
    the other panes that show this conversation.
    """

    host: str
    pane: Pane
    short: str = ""
    label: Label = NOTHING
    is_own: bool = False
    same: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """What a person knows it by: the name that they gave it, else its project or the next best name."""
        pane = self.pane
        return self.label.name or pane.project or pane.title or pane.agent or self.name

    @property
    def place(self) -> str:
        """The host of its terminal, of another machine with that in front: `kitty-4711`, `devbox/kitty-4711`."""
        machine, host, _ = place_of(self.host, self.pane.id)
        return f"{machine}/{host}" if machine else host

    @property
    def machine(self) -> str:
        """The other machine that it is of; nothing for this one."""
        return self.place.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The shortest name that no other pane has."""
        return self.short or self.address

    @property
    def address(self) -> str:
        """What names this pane among all hosts, as in `tally status`."""
        return f"{self.host}:{self.pane.id}"

    @property
    def where(self) -> str:
        """Return what a session is attached to that it shows: its terminal, if that is known, or itself."""
        return self.pane.terminal or self.address

    @property
    def is_lit(self) -> bool:
        """Whether there is anything to say: not for a plain command, nor for a shell at its prompt."""
        return is_lit(self.pane)

    def has(self, words: str) -> bool:
        """Whether each word of *words* occurs in what is known of the pane, in upper or lower case."""
        pane = self.pane
        fields = (
            self.address, self.name, pane.status, pane.kind or "", pane.agent, pane.project, pane.title, pane.message,
            pane.question, pane.what, pane.cwd, pane.host_title, self.label.name,
        )  # fmt: skip
        text = "\n".join(fields).casefold()
        return all(word in text for word in words.casefold().split())


def conversation_of(pane: Pane) -> tuple[str, str]:
    """The identity of the conversation of *pane* on its machine; of one without an id, the pane itself."""
    return (pane.agent, pane.session) if pane.session else ("", pane.id)


def repeated(panes: Iterable[tuple[str, Pane]]) -> set[tuple[str, str]]:
    """
    Of *panes*, each with its host, the host and id of those that show a session which another one shows better.

    An agent in tmux is seen where it runs, and again in the pane of the terminal that shows tmux. Where two hosts know
    a process of the same session, those are two agents. What another machine says never hides a row of this one: it is
    left out itself where a pane of this machine, one that shows `ssh` perhaps, reports the same session.
    """
    ranked = sorted(panes, key=_rank)
    # The agents that are lit in sessions, with each terminal that is attached to one: what is around reports them, too.
    here = [pane for host, pane in ranked if is_lit(pane) and not is_elsewhere(host)]
    inside = {(terminal, pane.agent) for pane in here for terminal in pane.terminals}
    best: dict[tuple[str, str, str], tuple[str, Pane]] = {}
    found = {(host, pane.id) for host, pane in ranked if (Row(host, pane).where, pane.agent) in inside}
    for host, pane in ranked:
        if not pane.session or not is_lit(pane):
            continue
        # Two machines are never taken for one: neither can hide a row of the other.
        machine = place_of(host, pane.id)[0]
        if machine and ("", pane.agent, pane.session) in best:
            found.add((host, pane.id))
        if is_elsewhere(host) or (host, pane.id) in found:
            continue
        key = (machine, pane.agent, pane.session)
        if best.setdefault(key, (host, pane))[1] is not pane and pane.agent_pid is None:
            found.add((host, pane.id))
    return found


def listed(rows: Iterable[Row]) -> list[Row]:
    """Return those of *rows*, which are of all hosts, that have something to say, one a session."""
    every = list(rows)
    left_out = repeated((row.host, row.pane) for row in every)
    return [row for row in every if row.is_lit and (row.host, row.pane.id) not in left_out]


def _rank(place: tuple[str, Pane]) -> tuple[bool, bool, int, float]:
    """A key to sort by: this machine's panes, those with a known process, the most urgent, the newest come first."""
    host, pane = place
    is_far = bool(place_of(host, pane.id)[0])
    return is_far, pane.agent_pid is None, -urgency(pane.status), -pane.since


def in_order(panes: Iterable[Row], now: float) -> tuple[Row, ...]:
    """All *panes* as a list shows them at *now* (epoch seconds): most urgent first, each with its name."""
    ordered = sorted(panes, key=lambda row: (*need(row.pane, now), row.address))
    names = short_names((row.host, row.pane.id) for row in ordered)
    return tuple(attributes.evolve(row, short=names[row.host, row.pane.id]) for row in ordered)


def build(snapshots: Iterable[Snapshot], own: str, now: float, labels: Labels | None = None) -> tuple[Row, ...]:
    """
    List the rows of all panes with something to say, in order, one a session, each with its label of *labels*.

    *own* names the host that draws the list, or none.
    """
    labels = labels or Labels()
    every = (
        Row(host.name, pane, label=labels.of(host.name, pane), is_own=host.name == own)
        for host in snapshots
        for pane in host.panes
    )
    return _together(listed(in_order(every, now)))


def _together(rows: Iterable[Row]) -> tuple[Row, ...]:
    """*rows* with those of one conversation where the most urgent of them is, and each with the names of the others."""
    found: dict[Hashable, list[Row]] = {}
    for row in rows:
        found.setdefault((row.machine, conversation_of(row.pane)), []).append(row)
    return tuple(
        attributes.evolve(row, same=tuple(one.name for one in members if one is not row)) if members[1:] else row
        for members in found.values()
        for row in members
    )


def need(pane: Pane, now: float) -> tuple[float, float]:
    """
    A key to sort by: the most urgent first.

    Of what waits the oldest comes first, of everything else the youngest. What was put off comes after all that was
    not, and before what needs nobody.
    """
    rank = float(-urgency(pane.status))
    if is_snoozed(pane, now) and pane.status in NEEDS:
        rank = -urgency(NEEDS[-1]) + 0.5
    return rank, pane.since if pane.status is Status.WAITING else -pane.since
