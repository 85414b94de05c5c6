"""
Claims: what each source currently says about one record, and the words that are shown of them.

A record holds at most one claim a source, so nothing here grows. Which of them is shown, `tracker.questions` decides.
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
    """A fact in the walk: in the order of its time, of its source, and of when it was told; and from when it counts."""

    time: float
    source: Source
    sequence: int
    claim: Claim
    fact: Fact
    since: float
    until: float = _FOREVER
    #: A dialog may outlive it: the end of a turn in a record, which nobody broke off, or of a progress bar.
    keeps_dialog: bool = False


@attrs.define(eq=False)
class Claim:
    """
    One source's present report. *at* is when it last said so, *since* when it began to; *told* counts the reports of
    all sources, for those of one moment have an order, too.
    """

    report: Report
    at: float
    since: float
    sequence: int = 0
    #: The last work of this source, if that is over by its own word.
    begin: DatedFact | None = None
    #: A person has looked at this `done` since it began.
    seen: bool = False
    #: What it says, each with the number of its question.
    facts: list[tuple[int, DatedFact]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.derive_facts()

    def derive_facts(self) -> None:
        """Work out what it says of the three questions, and where in time that stands."""
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
        return any(number == question and word.fact.is_so is is_so for number, word in self.facts)

    @property
    def status(self) -> Status:
        """The claimed status; a `done` that was looked at is `idle`."""
        status = self.report.status
        assert status is not None, "a withdrawn report is never kept as a claim"
        return Status.IDLE if status is Status.DONE and self.seen else status

    @property
    def is_over(self) -> bool:
        """Whether it says that the turn is over."""
        return self._says(0, is_so=False)

    @property
    def tells_how(self) -> bool:
        """Whether it tells how the turn ended. An idle screen shows no more than that it is over, silence even less."""
        is_open = self.report.status is Status.IDLE and self.report.source is Source.SCREEN
        return self.is_over and not is_open and self.report.status not in (Status.BACKGROUND, Status.QUIET)

    @property
    def tells_turns(self) -> bool:
        """Return whether it is the agent's own word, by a source that tells when its turns begin, too."""
        source = self.report.source
        is_exact = self.begin is not None or self.report.status in (Status.WORKING, Status.WAITING)
        return source in (Source.REGISTRY, Source.PROTOCOL) or (source is Source.RECORD and is_exact)

    def renewed(self, report: Report, at: float, sequence: int) -> None:
        """The source says the same *at* then, in the words of *report*."""
        self.report, self.at, self.sequence = report, at, sequence
        self.derive_facts()

    def finished_work(self, since: float) -> DatedFact | None:
        """The work that is over *since* then, for the claim that follows: it holds nothing."""
        if self.report.status is not Status.WORKING:
            return self.begin
        word = self.facts[0][1]
        return word._replace(time=self.since, fact=word.fact._replace(holds=0), until=since)

    def shift(self, seconds: float) -> None:
        """*seconds* passed that do not count."""
        self.at, self.since = self.at + seconds, self.since + seconds
        if self.begin is not None:
            at, since, until = self.begin.time, self.begin.since, self.begin.until
            self.begin = self.begin._replace(time=at + seconds, since=since + seconds, until=until + seconds)
        self.derive_facts()


#: Sources that guess by what is on the screen: a model writes there, and an agent that reports knows better.
GUESSES = (Source.SCREEN, Source.HEURISTIC)
#: The display fields that every source may fill in where a better one says nothing.
_SHARED = ("agent", "session", "title", "project", "cwd", "worktree", "mode", "resume", "fork", "vars")


def with_gaps_filled(report: Report, *others: Report, **gaps: object) -> Report:
    """*report*, with the display fields it leaves empty from the first of *others* that has them, and with *gaps*."""
    empty = [name for name in _SHARED if not getattr(report, name)]
    for other in others:
        for name in empty:
            if not gaps.get(name) and (value := getattr(other, name)):
                gaps[name] = value
    return attrs.evolve(report, **gaps) if gaps else report  # type: ignore[arg-type]


def merged(claims: dict[Source, Claim], claim: Claim | None, agent: str, answered_sequence: int) -> Report:
    """
    The display fields of all *claims*, best source first, so that a session id outlives the next report.

    *claim* is the one that is shown, None for none, and *agent* the name of the agent in the foreground. What was
    *told* of a question up to *answered* is of one that was answered, and left out.
    """
    best = claim.report if claim is not None else Report(source=Source.HEURISTIC, status=Status.ACTIVE)
    order = sorted(claims, reverse=True)
    is_asked = best.status is Status.WAITING
    gaps = _question(claims, claim, order, answered_sequence) if claim is not None and is_asked else {}
    best = with_gaps_filled(best, *(claims[source].report for source in order), **gaps)
    return best if best.agent or not agent else attrs.evolve(best, agent=agent)


def _question(
    claims: dict[Source, Claim], claim: Claim, order: list[Source], answered_sequence: int
) -> dict[str, object]:
    """The words of the question that *claim* tells of: what was told of it, and what stands on the screen."""
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
        # One glyph of a title stands for every dialog.
        words["kind"] = (
            screen.report.kind if claim.report.source is Source.TITLE else claim.report.kind or screen.report.kind
        )
    return words


def confirmed_kind(claims: dict[Source, Claim], answered_sequence: int) -> Kind | None:
    """
    Return the kind of question that all sources but the screen agree on; None if none reports one, or they differ.

    A model writes what is on the screen, so the screen alone proves no kind. Reports up to *answered* are old.
    """
    kinds = {
        claim.report.kind
        for source, claim in claims.items()
        if source not in GUESSES
        and claim.status is Status.WAITING
        and claim.sequence > answered_sequence
        # One glyph of a title stands for every dialog.
        and (source, claim.report.kind) != (Source.TITLE, Kind.PERMISSION)
    }
    return kinds.pop() if len(kinds) == 1 else None


def _is_denied(claim: Claim, screen: Claim | None) -> bool:
    """Whether the *screen* shows that something else is asked than a file says, which may be late."""
    is_file = claim.report.source in (Source.RECORD, Source.REGISTRY)
    if not is_file or screen is None or not is_other(claim.report.what, screen.report.what):
        return False
    return screen.report.what.partition(" ")[2] not in claim.report.what  # a dialog may show less of it


def is_other(before: str, after: str) -> bool:
    """Whether two subjects are of two questions: each source has its name of a tool, and may cut or join rows."""
    texts = [_GAPS.sub("", _COUNTED.sub("", what).partition(" ")[2] or what) for what in (before, after)]
    cut = min((text.index("…") for text in texts if "…" in text), default=None)
    return bool(before and after) and texts[0][:cut] != texts[1][:cut]
