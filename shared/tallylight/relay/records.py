"""
Records of a relay: the program's reports through all its protocols, merged into one state for the host.

`take` returns payloads of the `tally` user variable that update the host, one for each changed record. A record keeps
one claim for each rank of protocol. The claim of the best rank counts, and the others fill its empty fields: an agent
often reports through several protocols at once. A rank without a report for `FUSE_S` before the newest one does not
count any more: another program may have followed the first.

At most `limit` records are kept: the one with the oldest report is dropped first, and withdrawn from the host. At most
twice as many dropped records wait to be withdrawn. Beyond that the older half is forgotten: the host keeps as many
records as we do, and has dropped those by itself. The cost of a report does not grow with the number before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from tallylight.model import attributes
from tallylight.model.limits import MAX_RECORDS as MAX_RECORDS
from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.wire import osc1338, pairs

#: An identical report is sent again after so many seconds, so that the host's fuse does not burn down.
RESEND_REPORT_S = 30.0
#: The host's fuse for explicit reports, in seconds.
FUSE_S = 300.0
#: The mark of a repetition: a key that no reader knows, and so every reader skips.
BEAT = ";beat=1"
#: The rule of a report that the program itself wrote into the `tally` variable.
NOTED = osc1338.VARIABLE_RULE

#: The rank of each protocol by how much it can express, by the rule of its reports.
_RANKS = {NOTED: 4, "osc-7501": 4, "cli-agent": 4, "osc-26": 3, "osc-1338": 2}


#: The claims about a record by rank: the report, and its time.
_Claims = dict[int, tuple[Report, float]]


def _best(claims: _Claims) -> int:
    """Return the best rank among *claims* that has reported recently enough."""
    newest = max(at for _, at in claims.values())
    return max(rank for rank, (_, at) in claims.items() if newest - at < FUSE_S)


def _merged(claims: _Claims) -> Report:
    """Return the report of the best claim of one record, its empty fields filled from the others, best rank first."""
    best = claims[_best(claims)][0]
    return best.with_gaps_filled(*(claims[rank][0] for rank in sorted(claims, reverse=True)))


class Records:
    """All records of one relay. *agent* returns the agent's name for records without one."""

    def __init__(self, agent: Callable[[], str] = str, *, limit: int = MAX_RECORDS) -> None:
        self._agent = agent
        self._limit = limit
        self._records: OrderedDict[str, _Claims] = OrderedDict()
        #: The host's records: the last report sent (None for one to be sent again), and when.
        self._published: dict[str, tuple[Report | None, float]] = {}
        #: The ids of published records that were dropped here, the oldest first.
        self._gone: dict[str, None] = {}
        #: The ids to withdraw in place of a program that ended while it waited.
        self._left: set[str] = set()
        #: The number of present and dropped records below another one than the root.
        self._nested = 0
        #: The recipe of OSC 88. It is sent with the root record, or alone while there is none.
        self._recipe = osc1338.Recipe()
        #: The recipe that the host has.
        self._recipe_published = osc1338.Recipe()
        #: Ids for `take` to look at, in the order of their changes.
        self._changed: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._records)

    @property
    def is_changed(self) -> bool:
        """Return whether there may be something to send."""
        return bool(self._changed)

    def current(self) -> list[Report]:
        """Return the report of every record, the one with the oldest report first."""
        return [self._merged(id_) for id_ in self._records]

    def status(self, id_: str = "") -> Status | None:
        """Return the status of a record; None if there is no such record."""
        claims = self._records.get(id_)
        return claims[_best(claims)][0].status if claims else None

    def report(self, report: Report, now: float) -> None:
        """Take in a report of the program that has to be passed on to the host."""
        rank = _RANKS.get(report.rule, 1)
        if report.status is None:
            self._withdraw(report.id, rank)
            return
        claims = self._records.get(report.id)
        if claims is None:
            while len(self._records) >= self._limit:
                self._drop(next(iter(self._records)))
            claims = self._records[report.id] = {}
            self._nested += "/" in report.id and report.id not in self._gone
            self._gone.pop(report.id, None)
        self._records.move_to_end(report.id)
        before = claims.get(rank)
        claims[rank] = (report, now)
        if before is None or before[0] != report:
            self._changed[report.id] = None
            if (before[0].agent if before else "") != report.agent:
                # Records below inherit the name.
                for id_ in self._within(report.id, self._records):
                    self._changed[id_] = None
        elif (last := self._published.get(report.id)) and now - last[1] >= RESEND_REPORT_S and rank == _best(claims):
            self._published[report.id] = (None, last[1])
            self._changed[report.id] = None

    def note_sent(self, report: Report, now: float) -> None:
        """Take in a report that the program sent to the host itself: it need not be sent again."""
        self.report(report, now)
        self._changed.pop(report.id, None)
        self._forget(report.id)
        if report.status is None:
            for id_ in self._within(report.id, [*self._published, *self._changed]):
                self._changed.pop(id_, None)
                self._forget(id_)
        if report.id in self._records:
            self._published[report.id] = (self._merged(report.id), now)
            if not report.id and self._recipe.argv:  # the program's own variable lacks the recipe
                self._published[report.id] = (None, now)
                self._changed[""] = None
        elif not report.id and self._recipe != self._recipe_published:
            self._changed[""] = None

    def set_recipe(self, recipe: osc1338.Recipe) -> None:
        """Set the recipe of OSC 88, which wins over that in a report; an empty one withdraws it."""
        if self._recipe != recipe:
            self._recipe = recipe
            self._changed[""] = None

    def replace(self, report: Report, now: float) -> None:
        """Replace all claims about a record by *report*."""
        self._records[report.id] = {_RANKS.get(report.rule, 1): (report, now)}
        self._changed[report.id] = None

    def clear(self) -> None:
        """Drop all records; the next `take` withdraws those that the host has."""
        for id_ in list(self._records):
            self._drop(id_)

    def end(self, id_: str, *, is_waiting: bool) -> None:
        """Drop one record, without those below it: the program has ended, while *is_waiting* for an answer."""
        if id_ in self._records:
            self._drop(id_)
            if is_waiting:
                self._left.add(id_)

    def renew(self) -> None:
        """Have everything sent to the host again: it may have forgotten, or be another one."""
        for id_, (_, at) in self._published.items():
            self._published[id_] = (None, at)
        for id_ in (*self._published, *self._records):
            self._changed[id_] = None
        if self._recipe.argv:
            self._recipe_published = osc1338.Recipe()
            self._changed[""] = None

    def take(self, limit: int, now: float) -> list[str]:
        """Return at most *limit* payloads with changes; withdrawals first."""
        payloads: list[str] = []
        gone = [id_ for id_ in self._changed if id_ not in self._records]
        # Parents first: the host withdraws the records below with them.
        for id_ in sorted(gone, key=lambda id_: (id_.count("/"), bool(id_))):
            if id_ in self._published:
                if len(payloads) >= limit:
                    return payloads
                payloads.append(self._goodbye(id_))
                for below in [id_, *self._within(id_, self._published)]:
                    self._forget(below)
                    if below in self._records:
                        self._changed[below] = None
            if not id_ and self._recipe != self._recipe_published:
                if len(payloads) >= limit:
                    return payloads
                payloads.append(osc1338.encode_recipe(self._recipe))
                self._recipe_published = self._recipe
            self._changed.pop(id_, None)
        for id_ in list(self._changed):
            if len(payloads) >= limit:
                break
            del self._changed[id_]
            report, known = self._merged(id_), self._published.get(id_, (None, 0.0))[0]
            payload = _payload(report)
            if not id_:
                self._recipe_published = self._recipe
            if payload not in ("", _payload(known)):
                payloads.append(payload)
                self._published[id_] = (report, now)
        return payloads

    def repeated(self, limit: int) -> list[str]:
        """Return at most *limit* payloads that the host has already, the newest last, each marked as a repetition."""
        published = [self._published[id_][0] for id_ in self._records if id_ in self._published]
        payloads = filter(None, map(_payload, published[-limit:]))
        return [payload + BEAT for payload in payloads if len(payload + BEAT) <= osc1338.PAYLOAD_LIMIT]

    def _goodbye(self, id_: str) -> str:
        """Return the payload that withdraws the record *id_*."""
        fields = [("state", osc1338.CLEAR), ("id", id_), ("via", osc1338.EXIT if id_ in self._left else "")]
        return pairs.join([pair for pair in fields if pair[1]]).decode()

    def _within(self, top: str, ids: Iterable[str]) -> list[str]:
        """Return the *ids* below *top*, without itself. They are of present or dropped records."""
        if not top:
            return [id_ for id_ in ids if id_]
        prefix = f"{top}/"
        return [id_ for id_ in ids if id_.startswith(prefix)] if self._nested else []

    def _drop(self, id_: str) -> None:
        """Drop the record *id_*, and withdraw it from a host that has it."""
        del self._records[id_]
        if id_ not in self._published:
            self._nested -= "/" in id_
            self._changed.pop(id_, None)
            return
        self._changed[id_] = None
        self._published[id_] = (None, self._published[id_][1])
        self._gone[id_] = None
        if len(self._gone) > 2 * self._limit:
            for old in sorted(self._gone, key=lambda each: self._published[each][1])[: self._limit]:
                self._forget(old)
                self._changed.pop(old, None)

    def _forget(self, id_: str) -> None:
        """Take note that the host has no such record."""
        self._published.pop(id_, None)
        if id_ in self._gone:
            del self._gone[id_]
            self._nested -= "/" in id_

    def _withdraw(self, top: str, rank: int) -> None:
        """Drop the claims of *rank* about *top* and all records below it; with the best rank the records themselves."""
        for id_ in [top, *self._within(top, self._records)]:
            claims = self._records.get(id_)
            # The best protocol ends the record; a weaker one only withdraws its own report.
            if claims and rank >= _best(claims):
                self._drop(id_)
            elif claims and claims.pop(rank, None):
                self._changed[id_] = None

    def _merged(self, id_: str) -> Report:
        """Return the merged report of a record; that of the program itself with its recipe."""
        report = _merged(self._records[id_])
        if self._recipe.argv and not id_:
            report = attributes.evolve(report, resume=self._recipe.argv, cwd=report.cwd or self._recipe.cwd)
        if report.agent:
            return report
        above = id_
        while above:
            above = above.rpartition("/")[0]
            claims = self._records.get(above)
            if claims and (agent := _merged(claims).agent):
                return attributes.evolve(report, agent=agent)
        return attributes.evolve(report, agent=agent) if (agent := self._agent()) else report


def _payload(report: Report | None) -> str:
    """Return *report* as a payload; empty for one that the wire cannot express."""
    try:
        return osc1338.encode_payload(report, via=report.rule) if report is not None else ""
    except ValueError:
        # The wire has no word for the id or the status: it cannot be sent.
        return ""
