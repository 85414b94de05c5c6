"""
Titles: the status that an agent's own title shows, and the title without its glyphs.

Many agents draw a glyph in front of their title. Only rules of the agent that holds the foreground are applied, since
any program can set a title. A glyph counts as the first character, followed by a space or the end: `✳Claude` and
`Windows PowerShell` mean nothing. U+FE0E, which asks for the plain form of a character, is ignored.
"""

from __future__ import annotations

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.titles import TitleRule
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire.text import sanitise

#: Work that begins within so many seconds of the last title is a turn only if it lasts `SPINNER_TURN_S`, until there
#: was one. Codex sets its title many seconds after its process begins, on a busy machine. It then draws a frame or two
#: of its spinner.
TITLE_START_S = 3.0
SPINNER_TURN_S = 1.0
#: Characters of a title that are read; agents write 240 at most.
MAX_TITLE_CHARS = 4096
_SEPARATOR = " | "
#: Replaces every frame of a spinner: no title has it.
_STILL = "\0"
_VARIATION = str.maketrans("", "", "\ufe0e\ufe0f")
_BRAILLE = frozenset(map(chr, range(0x2800, 0x2900)))
_CIRCLES = frozenset(map(chr, range(0x25D0, 0x25D8)))
#: The status glyphs of all agents: they change many times a second and mean nothing to a reader beside ours.
LAMPS = _BRAILLE | _CIRCLES | frozenset("✳✶✻✽✢✦✧⏲✋◇◆◈⚠")
_ITEM_LAMPS = frozenset({"[ ! ] Action Required", "[ . ] Action Required"})


def read_title(agent: Agent, title: str, *, has_drawn: bool = False) -> Report | None:
    """
    Return the status that *title* shows of *agent*; None if none.

    *has_drawn*: this run of the agent has drawn work or rest into its title before. Then a bare title means rest, for
    an agent that draws none while it is idle. Before, the title may still be the shell's.
    """
    text = title[:MAX_TITLE_CHARS].translate(_VARIATION).strip()
    if not text:
        return None
    items = text.split(_SEPARATOR)
    report = Report(source=Source.TITLE, status=Status.IDLE, agent=agent.name, title=clean_title(title))
    for rule in agent.title_rules:
        if found := _match(rule, items):
            return attrs.evolve(report, status=rule.status, kind=rule.kind, rule=f"title {found}")
    is_idle = has_drawn and agent.title_plain_is_idle
    return attrs.evolve(report, rule="title without a glyph") if is_idle else None


def _match(rule: TitleRule, items: list[str]) -> str:
    """
    Return the part of *rule* that fits the title, or "". It is not named if it is one of several glyphs: it may be a
    frame.
    """
    for item in items if rule.anywhere else items[:1]:
        if item[:1] in rule.glyphs and item[1:2] in ("", " "):
            return f"glyph {item[0]}" if len(rule.glyphs) == 1 else "glyph"
    return f"item {rule.items[0]}" if any(item in rule.items for item in items) else ""


def spinner_glyphs(agent: Agent) -> dict[int, str]:
    """Return a table for `str.translate` that makes all frames of *agent*'s working title the same."""
    rules = [rule for rule in agent.title_rules if rule.status is Status.WORKING]
    return {ord(glyph): _STILL for rule in rules for glyph in rule.glyphs}


class TitleReader:
    """
    `read_title` for one run of one agent, with a memory of earlier titles.

    A title that shows *idle* after *working* is a turn that ended: *done*, until the next one begins, or until the
    screen shows that a person stopped it (`note_stop`). Work at the start of an agent is no turn; see `TITLE_START_S`.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._had_turn = False
        #: Whether it has drawn more than a dialog: with animations off, some agents draw no work into their titles.
        self._has_drawn = False
        #: Whether it has shown no work so far; and whether its screen has shown work.
        self._is_unmoved, self._is_outdone = True, False
        #: When there was a title last, and how long before the present status began.
        self._heard_at: float | None = None
        self._rested = 0.0
        self._status: Status | None = None
        self._since = 0.0

    def read(self, title: str, now: float) -> Report | None:
        """Return the report of *title*, set at *now* (monotonic seconds); None if it shows nothing."""
        report = read_title(self.agent, title, has_drawn=self._has_drawn)
        rested = now - self._heard_at if self._heard_at is not None else 0.0
        self._heard_at = now
        if report is None or (report.status is Status.IDLE and self._is_outdone):
            return self._without_dialog() if report is None else None
        self._has_drawn |= report.status is not Status.WAITING
        if report.status is Status.WORKING:
            self._is_unmoved = self._is_outdone = False
        was_at_work = self._status is Status.WORKING
        if was_at_work:
            self._had_turn = self._had_turn or now - self._since >= SPINNER_TURN_S or self._rested >= TITLE_START_S
        if report.status is Status.IDLE and (self._status is Status.DONE or (was_at_work and self._had_turn)):
            report = attrs.evolve(report, status=Status.DONE, rule=f"{report.rule}, after work")
        if report.status is not self._status:
            self._status, self._since, self._rested = report.status, now, rested
        return report

    def _without_dialog(self) -> Report | None:
        """Return the report that withdraws a dialog, if the title no longer shows it and has drawn nothing else."""
        if self._status is not Status.WAITING:
            return None
        self._status = None
        return Report(source=Source.TITLE, status=None, agent=self.agent.name, rule="title that draws no work")

    def note_work_on_screen(self) -> Report | None:
        """
        Note that the screen shows work; return the report that takes back a title that has only shown rest, if any.
        """
        if not self._is_unmoved or self._is_outdone or self._status is None:
            return None
        self._is_outdone, self._status = True, None
        return Report(source=Source.TITLE, status=None, agent=self.agent.name, rule="a title that never moved")

    def note_stop(self) -> Report | None:
        """Note that a person stopped the turn, by the screen; return the report that takes `done` back, if any."""
        if self._status is not Status.DONE:
            return None
        self._status = Status.IDLE
        rule = "title of an agent at rest; its screen shows that you stopped it"
        return Report(source=Source.TITLE, status=Status.IDLE, agent=self.agent.name, rule=rule)


def clean_title(title: str) -> str:
    """Return *title* for display: sanitised, without spinners and glyphs, so that it changes only with its words."""
    text = sanitise(title[:MAX_TITLE_CHARS].translate(_VARIATION)).strip()
    kept = [stripped for item in text.split(_SEPARATOR) if (stripped := _without_lamp(item)) not in _ITEM_LAMPS]
    return _SEPARATOR.join(item for item in kept if item)


def _without_lamp(item: str) -> str:
    """Return *item* without the status glyphs in front of it."""
    item = item.strip()
    while item and item[0] in LAMPS and item[1:2] in ("", " "):
        item = item[1:].lstrip()
    return item
