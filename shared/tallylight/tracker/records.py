"""
The records of a pane: what each source claims about the pane itself, and about each child below it.

The pane's own record is `""` and always there; children have id paths such as `a/b`. At most `MAX_RECORDS` are kept:
the child least recently heard of is dropped first. Nothing here takes longer the more was said before, and only the
withdrawal of a record with others below it looks at all that are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from tallylight.model.limits import MAX_RECORDS as MAX_RECORDS
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim
from tallylight.tracker.table import STANDS_S

#: What said something of the pane before its agent said goodbye by a richer source.
_POORER = (
    Source.RECORD,
    Source.PROCESS,
    Source.TITLE,
    Source.PROGRESS,
    Source.NOTIFICATION,
    Source.SCREEN,
    Source.HEURISTIC,
)
#: Who tells each dialog once, and what it is about with it.
_EXACT = (Source.RECORD, Source.REGISTRY)


class Records:
    """All records of one pane, each with one claim a source at most."""

    def __init__(self) -> None:
        #: Counts what was newly said, and all that was.
        self.revision = self.sequence = 0
        #: What had been told when nobody was asked any more. Whether somebody is, as it was last decided.
        self.answered_sequence = 0
        self._is_asked = False
        #: How many children are below another child.
        self._nested = 0
        #: When a richer source said goodbye.
        self._gone_at = float("-inf")
        self._claims: OrderedDict[str, dict[Source, Claim]] = OrderedDict({"": {}})

    def __len__(self) -> int:
        return len(self._claims)

    def __getitem__(self, id_: str) -> dict[Source, Claim]:
        return self._claims[id_]

    @property
    def own(self) -> dict[Source, Claim]:
        """The claims about the pane itself."""
        return self._claims[""]

    @property
    def children(self) -> Iterator[tuple[str, dict[Source, Claim]]]:
        """Every child's id path, and the claims about it: at least one."""
        return ((id_, claims) for id_, claims in self._claims.items() if id_)

    @property
    def every_claim(self) -> Iterator[Claim]:
        """The claims about the pane and all children."""
        return (claim for claims in self._claims.values() for claim in claims.values())

    @property
    def is_told(self) -> bool:
        """Return whether something of the pane stands that an agent said by a protocol."""
        return Source.PROTOCOL in self.own

    @property
    def tells_turns(self) -> bool:
        """Return whether the agent tells its turns itself."""
        return any(claim.tells_turns for claim in self.own.values())

    @property
    def has_file_ask(self) -> bool:
        """Return whether the agent's status file tells that it asks: that file tells the end, too, and at once."""
        claim = self.own.get(Source.REGISTRY)
        return claim is not None and claim.status is Status.WAITING

    def claim(self, report: Report, now: float, since: float | None = None) -> None:
        """
        Take down what *report* says; it says something. The same status and kind go on from when they began.

        *since* is when that was first so, if not *now*. What a poorer source says late, of before a goodbye, is old.
        """
        since = now if since is None else since
        at = now if report.source is Source.SCREEN else since
        if not report.id and report.source in _POORER and at < self._gone_at:
            return
        claims = self._claims_of(report.id)
        before = claims.get(report.source)
        self.sequence += 1
        self.revision += before is None or before.report != report
        if before is None:
            claims[report.source] = Claim(report, at, since, self.sequence)
            return
        if not report.id and report.source in _EXACT and _asks_anew(before.report, report):
            self._ask_anew(before, now)
        if _goes_on(before.report, report):
            before.renewed(report, at, self.sequence)
        else:
            claims[report.source] = Claim(report, at, since, self.sequence, before.finished_work(since))

    def _ask_anew(self, before: Claim, now: float) -> None:
        """Another question stands there: what was told of the one that was answered meanwhile is not of this one."""
        is_missed = before.report.status is Status.WAITING
        since = now - STANDS_S if is_missed else before.since
        for source, claim in self.own.items():
            # What a hook has just told may be of this one, for a file is read late; the screen has yet to be read.
            if claim.at < since or (is_missed and source is not Source.PROTOCOL):
                claim.sequence = 0

    def _claims_of(self, id_: str) -> dict[Source, Claim]:
        """The claims about the record *id_*, which is heard of now; another one may have to go for it."""
        if id_ not in self._claims:
            while len(self._claims) >= MAX_RECORDS:
                self._drop(next(other for other in self._claims if other))
            self._claims[id_] = {}
            self._nested += "/" in id_
        self._claims.move_to_end(id_)
        return self._claims[id_]

    def decided(self, status: Status) -> None:
        """The pane shows *status*: what was told of a question that is answered by now is of no other one."""
        was_asked, self._is_asked = self._is_asked, status is Status.WAITING
        if was_asked and not self._is_asked:
            self.answered_sequence = self.sequence

    def withdraw(self, id_: str, source: Source) -> None:
        """*source* has nothing to say of the record *id_* any more, nor of those below it; all are below the pane's."""
        below: list[str] = []
        if self._nested or not id_:
            prefix = f"{id_}/" if id_ else ""
            below = [key for key in self._claims if key and key.startswith(prefix)]
        for key in [*([id_] if id_ in self._claims else []), *below]:
            self.revision += self._claims[key].pop(source, None) is not None
            if key and not self._claims[key]:
                self._drop(key)

    def goodbye(self, id_: str, source: Source, at: float) -> None:
        """*source* took back, *at* then, what it said of *id_*. What poorer sources said of the pane before is old."""
        self.withdraw(id_, source)
        if not id_ and source in (Source.REGISTRY, Source.PROTOCOL):
            self._gone_at = max(self._gone_at, at)
            for poorer in _POORER:
                claim = self.own.get(poorer)
                if claim is None or claim.at <= at:
                    self.withdraw("", poorer)
                else:
                    claim.since = claim.since if claim.since > at else claim.at
                    claim.begin = claim.begin if claim.begin is not None and claim.begin.time > at else None
                    claim.derive_facts()

    def seen(self, *, is_so: bool = True) -> None:
        """Whether a person had a look at all that is `done`."""
        for claim in self.every_claim:
            claim.seen = is_so and claim.report.status is Status.DONE

    def pause(self, seconds: float) -> None:
        """*seconds* passed that do not count."""
        for claim in self.every_claim:
            claim.shift(seconds)
        self._gone_at += seconds

    def forget(self) -> None:
        """Nothing is known of the pane and its children."""
        self._claims, self._gone_at, self._nested = OrderedDict({"": {}}), float("-inf"), 0

    def _drop(self, id_: str) -> None:
        del self._claims[id_]
        self._nested -= "/" in id_


def _asks_anew(before: Report, report: Report) -> bool:
    """Whether a source that tells each dialog once asks another question than *before*, by *report*."""
    is_same = (before.status, before.kind) == (report.status, report.kind) and before != report
    return report.status is Status.WAITING and (not is_same or before.what not in ("", report.what))


def _goes_on(before: Report, report: Report) -> bool:
    """Whether what was so *before* still is, by *report*. The same end in a file again is that of another turn."""
    if report.source is Source.RECORD or (report.source is Source.REGISTRY and report.status is Status.DONE):
        return False
    return (before.status, before.kind) == (report.status, report.kind)
