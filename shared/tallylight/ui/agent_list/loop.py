"""
The loop of the list: waits for a key or for a snapshot to change, and draws what has changed.

A key is drawn at once, and so is a changed snapshot. Between two changes the list waits for the feed to tell of one, or
for the next age that changes, and costs nothing; where a feed cannot tell, it is looked at every `POLL_S`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import attrs

from tallylight.actions.answer import Done, Occupant, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Busy
from tallylight.snapshot import rows
from tallylight.snapshot.feed import Feed, Hosts
from tallylight.snapshot.history import History
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.labels_file import Reader
from tallylight.snapshot.rows import Row
from tallylight.snapshot.writer import StaleError
from tallylight.ui import ansi
from tallylight.ui.agent_list import clock, draw, effects, geometry, press, preview, reading, state, writing
from tallylight.ui.agent_list.actions import Actions
from tallylight.ui.agent_list.effects import Verb
from tallylight.ui.agent_list.reading import Reading
from tallylight.ui.agent_list.record import State
from tallylight.ui.agent_list.screens import Screens
from tallylight.ui.agent_list.selection import Act, Proposal, Target, outcome
from tallylight.ui.keys import Decoder
from tallylight.ui.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.actions.beside import Watch

POLL_S = 0.05
#: How long, in seconds, a lone ESC may wait for the rest of a sequence.
ESCAPE_S = 0.05
#: How often ages are drawn again, at most.
CLOCK_S = 1.0
#: How long after its time an age is drawn: sooner, the clock might say that it has not come.
LATE_S = 0.01
#: How long, in seconds, to wait for a file that is as new as the picture. A host keeps it back for half a second at
#: most; a disk that does not respond is not waited for.
PATIENCE_S = 3.0

#: Makes the explanation of a row, at most so many columns wide, at this time.
Explain = Callable[[Row, int, float], list[str]]


def run(
    terminal: Terminal,
    feed: Hosts,
    actions: Actions,
    explain: Explain,
    *,
    own: str = "",
    selected: str = "",
    as_of: float = 0.0,
    depth: ansi.Depth = ansi.Depth.FULL,
    beside: Callable[[], Watch] | None = None,
    is_panel: bool = False,
    labels: Reader,
) -> None:
    """
    Show the list in *terminal* until the person leaves it. *own* names the host that it is drawn in.

    *labels* are what a person gave conversations, and are changed by the list.

    A list that *is_panel* stays when it has done what it was asked for, and does not have the keyboard at the start.

    *selected* is the address of the row that is selected in a picture that is there already. That picture may be newer
    than the host's file: it stays, and keys wait, until the file is as of *as_of*, or for `PATIENCE_S`.
    *beside* makes what reads the repositories of agents, once the first picture stands; None: they are not read.
    """
    first = State(selected=selected, is_panel=is_panel, has_focus=not is_panel)
    shown = _List(terminal, feed, actions, explain, own, depth, beside, labels, first)
    end = time.monotonic() + PATIENCE_S
    while shown.is_before(as_of) and time.monotonic() < end:
        time.sleep(POLL_S / 2)
    with terminal.opened():
        shown.run()


@attrs.define(eq=False)
class _List:
    terminal: Terminal
    feed: Hosts
    actions: Actions
    explain: Explain
    own: str
    depth: ansi.Depth
    make_beside: Callable[[], Watch] | None
    labels: Reader
    state: State
    _screen: ansi.Screen = attrs.Factory(ansi.Screen)
    _decoder: Decoder = attrs.Factory(Decoder)
    _is_open: bool = True
    #: What was told of hosts that cannot write what they show.
    _stale: str = ""
    _refreshed_at: float = float("-inf")
    _screens: Screens = attrs.Factory(lambda self: Screens(self.actions), takes_self=True)
    _week: Reading[History | str] = attrs.Factory(Reading)
    _beside: Watch | None = None
    #: What was explained in the preview: which row, as of which refresh, in how many columns.
    _explained: tuple[str, float, int] | None = None
    #: What stands on the screen.
    _drawn: State | None = None

    def is_before(self, as_of: float) -> bool:
        """Whether what the own host has written is older than *as_of*, in seconds since the epoch."""
        self.feed.poll(time.monotonic())
        return max((found.written for found in self.feed.snapshots if found.name == self.own), default=0.0) < as_of

    def refresh(self, now: float) -> None:
        """Take in what the hosts show, if it changed."""
        changed = self.feed.poll(now)
        if self.labels.poll():
            changed = True
            self.state = attrs.evolve(self.state, group=self.labels.labels.group)
            self._tell(self.labels.problem)
        if changed and isinstance(self.feed, Feed):
            stale = [problem for problem in self.feed.problems if isinstance(problem, StaleError)]
            words = f"{stale[0].path.stem}: {stale[0].problem}" if stale else ""
            if words != self._stale:
                self._stale = words
                self._tell(words)
        if changed or now - self._refreshed_at >= CLOCK_S:
            self._refreshed_at = now
            self._take_rows(time.time())

    def _take_rows(self, wall: float) -> None:
        built = rows.build(self.feed.snapshots, self.own, wall, self.labels.labels)
        self.state = state.refreshed(self.state, built, wall)

    def watch(self, now: float) -> None:
        """Have the preview show its agent as it is now."""
        if (found := self._screens.poll(state.watched(self.state), now)) is not None:
            self.state = state.pictured(self.state, *found)
        if (week := self._week.poll()) is not None:
            self.state = state.looked_back(self.state, week)
        self._look_beside(now)
        shown = self.state.preview
        if shown is None or shown.page is not preview.Page.WHY:
            return
        columns = geometry.preview_columns(self.state)
        wanted = (shown.address, self._refreshed_at, columns)
        row = self.state.row
        if row is not None and row.address == shown.address and wanted != self._explained:
            self._explained = wanted
            text = tuple(self.explain(row, columns, time.time()))
            self.state = attrs.evolve(self.state, preview=preview.explained(shown, row.address, text))

    def _look_beside(self, now: float) -> None:
        """Have the repositories read of the agents that can be seen."""
        if self.make_beside is None or self._drawn is None:
            return
        if self._beside is None:
            self._beside = self.make_beside()
        if self._beside.poll((row.pane for row in state.visible(self.state)), now):
            self.state = attrs.evolve(self.state, beside=self._beside.known)

    def _draw(self) -> None:
        # What a person has read by this drawing changes what the next one says of it.
        while self.state is not self._drawn:
            lines = [ansi.sgr(line, self.depth) for line in draw.draw(self.state)]
            if written := self._screen.update(lines):
                self.terminal.write(written)
            self._drawn = self.state
            self.state = state.drawn(self.state)

    def run(self) -> None:
        while self._is_open:
            if self.actions.is_seen:
                size = self.terminal.size()
                if size != (self.state.columns, self.state.lines):
                    self._screen.clear()
                    self.state = state.resized(self.state, *size)
                now = time.monotonic()
                self.refresh(now)
                self.watch(now)
                self._draw()
                told = self.feed.descriptors()
                patience = self._patience(is_told=told is not None)
            else:
                # In a hidden tab it costs nothing, whatever the agents do.
                told, patience = None, ESCAPE_S if self._decoder.is_pending else None
            read = self.terminal.read(patience, (*(told or ()), *self.actions.descriptors))
            if read is None:
                return
            self.actions.listen()
            events = self._decoder.feed(read) if read else self._decoder.flush()
            for event in events:
                if self._is_open:
                    self.state, effects = press.press(self.state, event)
                    for effect in effects:
                        self._carry_out(effect)

    def _patience(self, *, is_told: bool) -> float | None:
        """How long, in seconds, to wait for a key; for ever, where changes are told and nothing is due by the clock."""
        if self._decoder.is_pending:
            return ESCAPE_S
        if not is_told:
            return POLL_S
        now = time.monotonic()
        until_look = self._screens.due(state.watched(self.state)) - now
        until_age = max(self._refreshed_at + CLOCK_S - now, clock.due(self.state) + LATE_S - time.time())
        until_week = reading.WAIT_S if self._week.is_going else math.inf
        patience = min(until_look, until_age, until_week)
        if self.make_beside is not None:
            # At once, when the first picture stands.
            patience = min(patience, self._beside.due() - now if self._beside is not None else 0.0)
        return None if math.isinf(patience) else max(0.0, patience)

    def _carry_out(self, effect: effects.Effect) -> None:
        match effect:
            case effects.Plain.QUIT:
                self._is_open = False
            case effects.Plain.BACK:
                self.actions.back()
            case effects.Plain.LOOK_BACK:
                self._week.begin(reading.week)
            case effects.Plain.REGROUP:
                self._keep(lambda found: attrs.evolve(found, group=self.state.group))
            case effects.Do(Verb.GO | Verb.FORK | Verb.RESUME as verb, row):
                problem = self.actions.open(verb.value, row)
                self._tell(problem)
                if not problem and not self.state.is_panel:
                    self._is_open = False
            case effects.Do(Verb.WHY, row):
                text = self.explain(row, self.state.columns, time.time())
                self.state = state.explained(self.state, "why", tuple(text))
            case effects.Ask(row, word, args):
                self._tell(self.actions.mark(row, word, args))
            case effects.Propose(act, wanted):
                self._propose(act, wanted)
            case effects.Carry(proposal):
                self._carry(proposal)
            case effects.Relabel(row, label):
                self._keep(lambda found: found.with_label(row.host, row.pane, label, time.time()))
            case _:
                self._perform(effect)

    def _perform(self, effect: effects.Asked) -> None:
        """Have done what a person asks of one pane, and show what came of it."""
        row = effect.row
        match self.actions.perform(row, effects.request_of(effect)), effect:
            case Question(choices=()), _:
                self._tell("it asks for text, not for a choice; press Enter to go there")
            case Question() as question, _:
                self.state = state.asked(self.state, row, question)
            case Occupant() as holder, _:
                self.state = writing.begun(self.state, row, holder)
            case Busy(holder, why), _:
                self.state = writing.begun(self.state, row, holder, why)
            case Done(), effects.Say():
                self.state = writing.sent(self.state, "sent")
            case Done(), effects.Queue():
                self.state = writing.sent(self.state, "queued until its turn ends; E cancels it")
            case ((Done(text=text) | Refusal(text=text)), _):
                self._tell(text)

    def _propose(self, act: Act, wanted: tuple[rows.Row, ...]) -> None:
        found = [(row, self.actions.perform(row, act.look(row.pane.id))) for row in wanted]
        targets = tuple(Target(row, held) for row, held in found if isinstance(held, Occupant))
        left_out = tuple((row, told.text) for row, told in found if isinstance(told, Refusal))
        self.state = state.proposed(self.state, Proposal(act, targets, left_out))

    def _carry(self, proposal: Proposal) -> None:
        told = [(one.row, self.actions.perform(one.row, proposal.act.of(one.holder))) for one in proposal.targets]
        failed = tuple((row, why.text) for row, why in told if isinstance(why, Refusal))
        self._tell(outcome(proposal.act, len(told) - len(failed), failed))

    def _keep(self, how: Callable[[Labels], Labels]) -> None:
        self._tell(self.labels.change(how))
        # At once: the next key may be for the same row.
        self._take_rows(time.time())

    def _tell(self, message: str) -> None:
        """Tell the person *message*, if there is any."""
        if message:
            self.state = state.told(self.state, message)
