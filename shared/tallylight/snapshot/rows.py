"""
Rows: the panes of all hosts as lists show them, the most urgent first.

Times are seconds since the epoch, as in the snapshots.
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

#: The statuses that need a person, the most urgent first.
NEEDS = (Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.LIMITED)


def is_lit(pane: Pane) -> bool:
    """
    Return whether lists show *pane*: not for a plain command, nor for a shell at its prompt.

    A pane with a queued text that could not be sent is always shown.
    """
    if pane.queue.problem:
        return True
    if pane.status is Status.ACTIVE:
        return False
    return pane.status is not Status.IDLE or pane.reason.source != Source.SHELL.word


def is_snoozed(pane: Pane, now: float) -> bool:
    """Return whether *pane* is snoozed until later than *now*."""
    return pane.attention.snoozed_until > now


@attributes.frozen
class Row:
    """
    A pane of the host *host*, `kitty-4711`; *is_own*: of the terminal program that draws the list.

    *short* is its shortest name for commands; *label* is the label of its conversation. *same* are the names of other
    panes with this conversation.
    """

    host: str
    pane: Pane
    short: str = ""
    label: Label = NOTHING
    is_own: bool = False
    same: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """Its display name: the person's own name for it, else its project or the next best."""
        pane = self.pane
        return self.label.name or pane.project or pane.title or pane.agent or self.name

    @property
    def place(self) -> str:
        """The host of its terminal, after its machine if that is another one: `kitty-4711`, `devbox/kitty-4711`."""
        machine, host, _ = place_of(self.host, self.pane.id)
        return f"{machine}/{host}" if machine else host

    @property
    def machine(self) -> str:
        """The name of its machine; empty for this one."""
        return self.place.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The shortest name that no other pane has."""
        return self.short or self.address

    @property
    def address(self) -> str:
        """The name of this pane among all hosts, as in `tally status`."""
        return f"{self.host}:{self.pane.id}"

    @property
    def where(self) -> str:
        """Return the terminal of the pane if that is known, else its address: the place where a session is attached."""
        return self.pane.place.terminal or self.address

    @property
    def is_lit(self) -> bool:
        """Return whether lists show the pane: not for a plain command, nor for a shell at its prompt."""
        return is_lit(self.pane)

    def has(self, words: str) -> bool:
        """Return whether each word of *words* occurs in a text of the pane, in upper or lower case."""
        pane = self.pane
        fields = (
            self.address, self.name, pane.status, pane.kind or "", pane.agent, pane.project, pane.title, pane.message,
            pane.question, pane.what, pane.cwd, pane.place.host_title, self.label.name,
        )  # fmt: skip
        text = "\n".join(fields).casefold()
        return all(word in text for word in words.casefold().split())


def conversation_of(pane: Pane) -> tuple[str, str]:
    """Return the identity of the conversation of *pane* on its machine; without a session id that of the pane."""
    return (pane.agent, pane.session) if pane.session else ("", pane.id)


def repeated(panes: Iterable[tuple[str, Pane]]) -> set[tuple[str, str]]:
    """
    Return host and id of those *panes* that show a session which another pane shows better.

    An agent in tmux is found in its own pane, and again in the pane of the terminal that shows tmux. If two hosts know
    a process of the same session, those are two agents. A pane of another machine never hides one of this machine. It
    is left out itself if a pane of this machine, perhaps with `ssh`, reports the same session.
    """
    ranked = sorted(panes, key=_rank)
    # Agents in sessions, with each attached terminal: the terminal around reports them, too.
    here = [pane for host, pane in ranked if is_lit(pane) and not is_elsewhere(host)]
    inside = {(terminal, pane.agent) for pane in here for terminal in pane.place.terminals}
    best: dict[tuple[str, str, str], tuple[str, Pane]] = {}
    found = {(host, pane.id) for host, pane in ranked if (Row(host, pane).where, pane.agent) in inside}
    for host, pane in ranked:
        if not pane.session or not is_lit(pane):
            continue
        # Machines are kept apart: neither can hide a row of another one.
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
    """Return the *rows* to list, one for each session. *rows* must be those of all hosts."""
    every = list(rows)
    left_out = repeated((row.host, row.pane) for row in every)
    return [row for row in every if row.is_lit and (row.host, row.pane.id) not in left_out]


def _rank(place: tuple[str, Pane]) -> tuple[bool, bool, int, float]:
    """Return a sort key: panes of this machine, with a known process, most urgent and newest come first."""
    host, pane = place
    is_far = bool(place_of(host, pane.id)[0])
    return is_far, pane.agent_pid is None, -urgency(pane.status), -pane.since


def in_order(panes: Iterable[Row], now: float) -> tuple[Row, ...]:
    """Return all *panes* in the order of a list at *now* (epoch seconds), most urgent first, with their names."""
    ordered = sorted(panes, key=lambda row: (*need(row.pane, now), row.address))
    names = short_names((row.host, row.pane.id) for row in ordered)
    return tuple(attributes.evolve(row, short=names[row.host, row.pane.id]) for row in ordered)


def build(snapshots: Iterable[Snapshot], own: str, now: float, labels: Labels | None = None) -> tuple[Row, ...]:
    """
    Return the rows of a list, in order, one for each session, each with its label of *labels*.

    *own* names the host that draws the list; empty for none.
    """
    labels = labels or Labels()
    every = (
        Row(host.name, pane, label=labels.of(host.name, pane), is_own=host.name == own)
        for host in snapshots
        for pane in host.panes
    )
    return _grouped_by_conversation(listed(in_order(every, now)))


def _grouped_by_conversation(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return *rows* with those of one conversation next to each other, each with the names of the others."""
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
    Return a sort key: the most urgent comes first.

    Among waiting panes the oldest comes first, among all others the newest. Snoozed panes come after all others that
    need a person.
    """
    rank = float(-urgency(pane.status))
    if is_snoozed(pane, now) and pane.status in NEEDS:
        rank = -urgency(NEEDS[-1]) + 0.5
    return rank, pane.since if pane.status is Status.WAITING else -pane.since
