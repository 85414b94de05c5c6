"""
Claims: the present report of each source about one record, and the display texts merged from them.

A record holds at most one claim a source, so nothing here grows. `tracker.questions` decides which one is shown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import attrs

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.table import CURRENT, EVENTS, KEEPS_DIALOG, REPEATED, Fact, facts_of

_FOREVER = float("inf")
_COUNTED, _GAPS = re.compile(r" \(\+\d+ −\d+\)$"), re.compile(r"[\s↵]+")


class DatedFact(NamedTuple):
    """A fact with its time. The order is by time, source and *sequence*; it counts from *since* until *until*."""

    time: float
    source: Source
    sequence: int
    claim: Claim
    fact: Fact
    since: float
    until: float = _FOREVER
    #: An open dialog may outlast this end of a turn: one in a record that nobody interrupted, or of a progress bar.
    keeps_dialog: bool = False


@attrs.define(eq=False)
class Claim:
    """
    One source's present report. It was last repeated *at*, and has been the same *since*.

    *sequence* is its number among the reports of all sources, for reports of the same moment have an order, too.
    """

    report: Report
    at: float
    since: float
    sequence: int = 0
    #: The last work of this source, if the source itself has reported its end.
    begin: DatedFact | None = None
    #: A person has looked at this `done` since it began.
    seen: bool = False
    #: The facts in the report, each with the number of its question: 0 the turn, 1 the dialog, 2 the background.
    facts: list[tuple[int, DatedFact]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.derive_facts()

    def derive_facts(self) -> None:
        """Set `facts`: the answers of the report to the three questions, each with its time."""
        source, key = self.report.source, (self.report.source, self.report.status)
        time = self.at if key in EVENTS else self.since
        times = (_FOREVER, time, _FOREVER) if key == CURRENT else (time, time, time)
        keeps_dialog = key in KEEPS_DIALOG
        self.facts = [
            (
                question,
                DatedFact(times[question], source, self.sequence, self, fact, self.since, _FOREVER, keeps_dialog),
            )
            for question, fact in enumerate(facts_of(self.report))
            if fact is not None
        ]
        if self.begin is not None and self.is_over:
            self.facts.append((0, self.begin))
        still = REPEATED.get(source)
        if still is not None and self._says(1, is_so=True):
            self.facts.append((1, DatedFact(self.at, source, self.sequence, self, still, self.since)))

    def _says(self, question: int, *, is_so: bool) -> bool:
        """Return whether the report answers *question* with yes, or with no if not *is_so*."""
        return any(number == question and word.fact.is_so is is_so for number, word in self.facts)

    @property
    def status(self) -> Status:
        """The status of the report; a `done` that a person has seen is `idle`."""
        status = self.report.status
        assert status is not None, "a withdrawn report is never kept as a claim"
        return Status.IDLE if status is Status.DONE and self.seen else status

    @property
    def is_only_a_name(self) -> bool:
        """Return whether the report names an agent, and knows nothing of what it does."""
        return self.report.status is Status.ACTIVE and bool(self.report.agent)

    @property
    def is_over(self) -> bool:
        """Return whether the source says that the turn is over."""
        return self._says(0, is_so=False)

    @property
    def tells_how(self) -> bool:
        """Return whether the report says how the turn ended. An idle screen or silence does not."""
        is_open = self.report.status is Status.IDLE and self.report.source is Source.SCREEN
        return self.is_over and not is_open and self.report.status not in (Status.BACKGROUND, Status.QUIET)

    @property
    def tells_turns(self) -> bool:
        """Return whether the agent itself reports through this source, and reports when its turns begin, too."""
        source = self.report.source
        is_exact = self.begin is not None or self.report.status in (Status.WORKING, Status.WAITING)
        return source in (Source.REGISTRY, Source.PROTOCOL) or (source is Source.RECORD and is_exact)

    def renewed(self, report: Report, at: float, sequence: int) -> None:
        """Take in *report*, which repeats the same status *at* that time."""
        self.report, self.at, self.sequence = report, at, sequence
        self.derive_facts()

    def finished_work(self, since: float) -> DatedFact | None:
        """
        Return this source's last work, ended at *since*, for the claim that follows; None if it reported none.

        The returned fact can be overruled by any other.
        """
        if self.report.status is not Status.WORKING:
            return self.begin
        word = self.facts[0][1]
        return word._replace(time=self.since, fact=word.fact._replace(holds=0), until=since)

    def shift(self, seconds: float) -> None:
        """Shift all times by *seconds*."""
        self.at, self.since = self.at + seconds, self.since + seconds
        if self.begin is not None:
            at, since, until = self.begin.time, self.begin.since, self.begin.until
            self.begin = self.begin._replace(time=at + seconds, since=since + seconds, until=until + seconds)
        self.derive_facts()


#: Sources that guess from the screen. A model writes there, so an agent's own report is better.
GUESSES = (Source.SCREEN, Source.HEURISTIC)


def merged(claims: dict[Source, Claim], claim: Claim | None, agent: str, answered_sequence: int) -> Report:
    """
    Return the report to show: that of *claim*, with display fields from all *claims*, the best source first.

    *claim* is None if none is shown. *agent* names the agent in the foreground. A question with a number up to
    *answered_sequence* has been answered and is left out.
    """
    best = claim.report if claim is not None else Report(source=Source.HEURISTIC, status=Status.ACTIVE)
    order = sorted(claims, reverse=True)
    is_asked = best.status is Status.WAITING
    gaps = _question(claims, claim, order, answered_sequence) if claim is not None and is_asked else {}
    best = best.with_gaps_filled(*(claims[source].report for source in order), **gaps)
    return best if best.agent or not agent else attrs.evolve(best, agent=agent)


def _question(
    claims: dict[Source, Claim], claim: Claim, order: list[Source], answered_sequence: int
) -> dict[str, object]:
    """Return the message, the subject and the kind of the question in *claim*, from all sources that report it."""
    told = [
        one for source in order if (one := claims[source]).status is Status.WAITING and one.sequence > answered_sequence
    ]
    screen = claims.get(Source.SCREEN)
    own = [claim] if claim in told or claim is not claims.get(claim.report.source) else []
    messages = (one.report.message for one in own + [one for one in told if one is screen])
    subjects = (one.report.what for one in own + told if not _is_denied(one, screen if screen in told else None))
    words: dict[str, object] = {
        "message": next(filter(None, messages), ""),
        "what": next(filter(None, subjects), ""),
    }
    if screen is not None and screen.report.kind is not None:
        # A title has one glyph for every kind of dialog.
        words["kind"] = (
            screen.report.kind if claim.report.source is Source.TITLE else claim.report.kind or screen.report.kind
        )
    return words


def confirmed_kind(claims: dict[Source, Claim], answered_sequence: int) -> Kind | None:
    """
    Return the kind of question that all sources except the screen agree on; None if none reports one, or they differ.

    A model writes what is on the screen, so the screen alone proves no kind. Reports up to *answered_sequence* are old.
    """
    kinds = {
        claim.report.kind
        for source, claim in claims.items()
        if source not in GUESSES
        and claim.status is Status.WAITING
        and claim.sequence > answered_sequence
        # A title has one glyph for every kind of dialog.
        and (source, claim.report.kind) != (Source.TITLE, Kind.PERMISSION)
    }
    return kinds.pop() if len(kinds) == 1 else None


def _is_denied(claim: Claim, screen: Claim | None) -> bool:
    """Return whether the *screen* shows another subject than *claim*, which is from a file and may be late."""
    is_file = claim.report.source in (Source.RECORD, Source.REGISTRY)
    if not is_file or screen is None or not is_other(claim.report.what, screen.report.what):
        return False
    return screen.report.what.partition(" ")[2] not in claim.report.what  # a dialog may show less of it


def is_other(before: str, after: str) -> bool:
    """Return whether two subjects belong to two questions. Sources name tools differently, and cut or join rows."""
    texts = [_GAPS.sub("", _COUNTED.sub("", what).partition(" ")[2] or what) for what in (before, after)]
    cut = min((text.index("…") for text in texts if "…" in text), default=None)
    return bool(before and after) and texts[0][:cut] != texts[1][:cut]
