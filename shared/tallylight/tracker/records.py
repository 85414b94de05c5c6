"""
The records of a pane: the claims of each source about the pane itself, and about each child below it.

The pane's own record has the id path `""` and is always there; children have paths such as `a/b`. At most `MAX_RECORDS`
are kept: the child with the oldest report is dropped first. No call takes longer for a long history. Only the
withdrawal of a record with others below it visits all records.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from tallylight.model.limits import MAX_RECORDS as MAX_RECORDS
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim
from tallylight.tracker.table import CONTRADICTION_S

#: Sources with old claims once the agent has reported its exit through a richer source.
_POORER = (
    Source.RECORD,
    Source.PROCESS,
    Source.TITLE,
    Source.PROGRESS,
    Source.NOTIFICATION,
    Source.SCREEN,
    Source.HEURISTIC,
)
#: Sources that report each dialog once, with its subject.
_EXACT = (Source.RECORD, Source.REGISTRY)


class Records:
    """All records of one pane, each with one claim a source at most."""

    def __init__(self) -> None:
        #: How often the claims changed, and how many reports there were.
        self.revision = self.sequence = 0
        #: The `sequence` when the last question ended; and whether the pane asks, by its last decision.
        self.answered_sequence = 0
        self._is_asked = False
        #: How many children are below another child.
        self._nested = 0
        #: When a richer source last reported the agent's exit.
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
        """Every child's id path with the claims about it: at least one."""
        return ((id_, claims) for id_, claims in self._claims.items() if id_)

    @property
    def every_claim(self) -> Iterator[Claim]:
        """The claims about the pane and all children."""
        return (claim for claims in self._claims.values() for claim in claims.values())

    @property
    def has_protocol_claim(self) -> bool:
        """Return whether an agent's protocol report about the pane is among the claims."""
        return Source.PROTOCOL in self.own

    @property
    def tells_turns(self) -> bool:
        """Return whether the agent itself reports when its turns begin and end."""
        return any(claim.tells_turns for claim in self.own.values())

    @property
    def has_file_ask(self) -> bool:
        """Return whether the agent's status file says that it asks. That file will also say when the question ends."""
        claim = self.own.get(Source.REGISTRY)
        return claim is not None and claim.status is Status.WAITING

    def claim(self, report: Report, now: float, since: float | None = None) -> None:
        """
        Take in *report*, which has a status. The same status and kind as before keep their begin.

        *since* is when it became true, if not *now*. A poorer source's report from before the agent's exit is ignored.
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
        if not report.id and report.source in _EXACT and _is_other_question(before.report, report):
            self._replace_question(before, now)
        if _goes_on(before.report, report):
            before.renewed(report, at, self.sequence)
        else:
            claims[report.source] = Claim(report, at, since, self.sequence, before.finished_work(since))

    def _replace_question(self, before: Claim, now: float) -> None:
        """Mark the claims about the question before, which was answered, as not about the new one."""
        is_missed = before.report.status is Status.WAITING
        since = now - CONTRADICTION_S if is_missed else before.since
        for source, claim in self.own.items():
            # A recent hook may be about the new question, for a file is read late. The screen is not read yet.
            if claim.at < since or (is_missed and source is not Source.PROTOCOL):
                claim.sequence = 0

    def _claims_of(self, id_: str) -> dict[Source, Claim]:
        """Return the claims about the record *id_*, made if need be; the oldest child may have to go for it."""
        if id_ not in self._claims:
            while len(self._claims) >= MAX_RECORDS:
                self._drop(next(other for other in self._claims if other))
            self._claims[id_] = {}
            self._nested += "/" in id_
        self._claims.move_to_end(id_)
        return self._claims[id_]

    def decided(self, status: Status) -> None:
        """Take note that the pane shows *status*: once it no longer asks, earlier reports are about an old question."""
        was_asked, self._is_asked = self._is_asked, status is Status.WAITING
        if was_asked and not self._is_asked:
            self.answered_sequence = self.sequence

    def withdraw(self, id_: str, source: Source) -> None:
        """Drop the claims of *source* about the record *id_* and all records below it."""
        below: list[str] = []
        if self._nested or not id_:
            prefix = f"{id_}/" if id_ else ""
            below = [key for key in self._claims if key and key.startswith(prefix)]
        for key in [*([id_] if id_ in self._claims else []), *below]:
            self.revision += self._claims[key].pop(source, None) is not None
            if key and not self._claims[key]:
                self._drop(key)

    def goodbye(self, id_: str, source: Source, at: float) -> None:
        """
        Drop the claims of *source* about *id_*: it reported the exit *at* that time.

        For the pane itself older claims of poorer sources go, too.
        """
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
        """Mark every `done` claim as seen; with *is_so* False as not seen."""
        for claim in self.every_claim:
            claim.seen = is_so and claim.report.status is Status.DONE

    def pause(self, seconds: float) -> None:
        """Shift all times by *seconds*."""
        for claim in self.every_claim:
            claim.shift(seconds)
        self._gone_at += seconds

    def forget(self) -> None:
        """Drop all claims about the pane and its children."""
        self._claims, self._gone_at, self._nested = OrderedDict({"": {}}), float("-inf"), 0

    def _drop(self, id_: str) -> None:
        """Forget the record *id_* with all its claims."""
        del self._claims[id_]
        self._nested -= "/" in id_


def _is_other_question(before: Report, report: Report) -> bool:
    """Return whether *report*, of a source that reports each dialog once, is about another question than *before*."""
    is_same = (before.status, before.kind) == (report.status, report.kind) and before != report
    return report.status is Status.WAITING and (not is_same or before.what not in ("", report.what))


def _goes_on(before: Report, report: Report) -> bool:
    """Return whether *report* only repeats *before*. An end that a file repeats is that of another turn."""
    if report.source is Source.RECORD or (report.source is Source.REGISTRY and report.status is Status.DONE):
        return False
    return (before.status, before.kind) == (report.status, report.kind)
