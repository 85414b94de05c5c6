"""
The loop of the list: waits for a key or for a snapshot to change, and draws the changes.

A key is drawn at once, and so is a changed snapshot. Between two changes the list waits for the feed to report one, or
for the next age that changes, and costs nothing. A feed that cannot report is polled every `POLL_LIST_S`.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable

import attrs

from tallylight.actions.answer import Answer, Done, Occupant, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import PROMPT_AGENT, QUESTION, DeferredText, LookRequest, Open, Reply, Request
from tallylight.actions.say import Busy, Say
from tallylight.parts import index
from tallylight.snapshot import rows
from tallylight.snapshot.feed import Feed, Hosts
from tallylight.snapshot.labels import Labels
from tallylight.snapshot.labels_file import LabelsFile
from tallylight.snapshot.rows import Row
from tallylight.ui import ansi
from tallylight.ui.agent_list import clock, draw, effects, flow, geometry, press, preview, reading, state, writing
from tallylight.ui.agent_list.actions import Direct
from tallylight.ui.agent_list.facts import Facts
from tallylight.ui.agent_list.reading import Reading, Screens
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.agent_list.selection import Act, Proposal, outcome, shared_answer
from tallylight.ui.keys import Decoder, Event, Key, TerminalColour
from tallylight.ui.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.ui.repository_text import Watch

POLL_LIST_S = 0.05
#: Seconds that a lone ESC may wait for the rest of a sequence.
ESCAPE_S = 0.05
#: Seconds between two drawings of ages, at least.
CLOCK_S = 1.0
#: Seconds after its time at which an age is drawn: sooner, the clock might not have reached it.
DRAW_AGE_LATER_S = 0.01
#: Seconds that the first picture waits for the terminal's colours. Some never report them.
COLOURS_S = 0.1
#: Seconds to wait for a file that is as new as the picture. A host keeps it back for half a second at most; the list
#: does not wait for a dead disk.
FRESH_WAIT_S = 3.0
#: Seconds without a key after which a person was away, and seconds for which the news is shown then.
AWAY_S, BACK_S = 1800.0, 60.0

#: Returns the explanation of a row, at most so many columns wide, at this time.
Explain = Callable[[Row, int, float], list[str]]


def run(
    terminal: Terminal,
    feed: Hosts,
    actions: Direct,
    explain: Explain,
    *,
    own: str = "",
    selected: str = "",
    as_of: float = 0.0,
    depth: ansi.Depth = ansi.Depth.FULL,
    repositories: Callable[[], Watch] | None = None,
    is_panel: bool = False,
    labels: LabelsFile,
    key: str = "",
) -> None:
    """
    Show the list in *terminal* until the person leaves it. *own* names the host that it is drawn in.

    *labels* are a person's names for conversations, and are changed by the list. A list that *is_panel* stays after an
    action, and does not have the keyboard at the start. *selected* is the address of the row that is selected in a
    picture that is there already. That picture may be newer than the host's file: it stays, and keys wait, until the
    file is as of *as_of*, or for `FRESH_WAIT_S`. *repositories* makes the watch of the agents' repositories, once the
    first picture is drawn; None: they are not read. *key* is pressed at the start, and the list ends with what that
    shows.
    """
    first = State(selected=selected, is_panel=is_panel, has_focus=not is_panel, keys=index.keys())
    shown = _List(terminal, feed, actions, explain, own, depth, repositories, labels, first, key)
    end = time.monotonic() + FRESH_WAIT_S
    while time.monotonic() < end:
        feed.poll(time.monotonic())
        if max((found.written for found in feed.snapshots if found.name == own), default=0.0) >= as_of:
            break
        time.sleep(POLL_LIST_S / 2)
    with terminal.opened():
        shown.run()


@attrs.define(eq=False)
class _List:
    """The running list: its state, its feeds and the screen that it draws on."""

    terminal: Terminal
    feed: Hosts
    actions: Direct
    explain: Explain
    own: str
    depth: ansi.Depth
    make_repositories: Callable[[], Watch] | None
    labels: LabelsFile
    state: State
    #: A key to be pressed first.
    key: str = ""
    _screen: ansi.Screen = attrs.Factory(ansi.Screen)
    _decoder: Decoder = attrs.Factory(Decoder)
    _is_open: bool = True
    #: The message about hosts that cannot write their snapshots.
    _stale: str = ""
    _refreshed_at: float = float("-inf")
    _ground: ansi.Ground = ansi.UNKNOWN
    _questions: Reading[tuple[Row, Reply]] = attrs.Factory(Reading)
    _screens: Screens = attrs.Factory(lambda self: Screens(self.actions), takes_self=True)
    _away: Reading[str] = attrs.Factory(Reading)
    #: When a key came last, and when one came after a long time without any.
    _keyed_at: float = float("inf")
    _back_at: float = float("-inf")
    _repositories: Watch | None = None
    #: The words of parts; the row and the refresh that they were last asked for.
    _facts: Facts | None = None
    _facts_of: tuple[str, float] | None = None
    #: The explanation in the preview: its row, its refresh, and its columns.
    _explained: tuple[str, float, int] | None = None
    #: The present contents of the screen.
    _drawn: State | None = None

    def refresh(self, now: float) -> None:
        """Take in the hosts' snapshots, if they changed."""
        changed = self.feed.poll(now)
        if self.labels.poll():
            changed = True
            self.state = attrs.evolve(self.state, group=self.labels.labels.group)
            self._notify(self.labels.problem)
        if isinstance(self.feed, Feed) and self.feed.stale != self._stale:
            self._stale = self.feed.stale
            self._notify(self._stale)
        if changed or now - self._refreshed_at >= CLOCK_S:
            self._refreshed_at = now
            self._take_rows(time.time())

    def _take_rows(self, wall: float) -> None:
        """Build the rows from the present snapshots and labels, and show them."""
        built = rows.build(self.feed.snapshots, self.own, wall, self.labels.labels)
        self.state = state.refreshed(self.state, built, wall)

    def watch(self, now: float) -> None:
        """Read the question, the screen and the facts that the picture needs."""
        if (found := self._screens.poll(state.watched(self.state), now)) is not None:
            self.state = state.pictured(self.state, *found)
        if (asked := self._questions.poll()) is not None:
            self.state = flow.read(self.state, *asked)
        if (asks := flow.wanted(self.state)) is not None:
            is_near = self.actions.has_channel and asks.is_own
            self._questions.begin(functools.partial(self._ask, asks), at_once=is_near)
            if is_near and (asked := self._questions.poll()) is not None:
                self.state = flow.read(self.state, *asked)
        self._welcome(now)
        if self.make_repositories is not None and self._drawn is not None:
            # The repositories of the agents that can be seen.
            if self._repositories is None:
                self._repositories = self.make_repositories()
            if self._repositories.poll((row.pane for row in state.visible(self.state)), now):
                self.state = state.filtered(attrs.evolve(self.state, repositories=self._repositories.known))
        self._note_facts()
        self._explain()

    def _note_facts(self) -> None:
        """Ask the parts about the selected row, once it is another one or has changed."""
        row = self.state.row
        if row is None or self._drawn is None or self._facts_of == (row.address, self._refreshed_at):
            return
        self._facts_of = row.address, self._refreshed_at
        self._facts = self._facts or Facts()
        if (facts := self._facts.of(row.pane)) != self.state.facts:
            self.state = attrs.evolve(self.state, facts=facts)

    def _welcome(self, now: float) -> None:
        """Show the news from the person's absence, for a while."""
        if (away := self._away.poll()) is not None or (self.state.away and now - self._back_at >= BACK_S):
            self.state = attrs.evolve(self.state, away=away or "")

    def _explain(self) -> None:
        """Keep the explanation in the preview as new as its row."""
        shown = self.state.preview
        if shown is None or shown.page is not preview.Page.WHY:
            return
        columns = geometry.side_columns(self.state)
        wanted = (shown.address, self._refreshed_at, columns)
        row = self.state.row
        if row is not None and row.address == shown.address and wanted != self._explained:
            self._explained = wanted
            text = tuple(self.explain(row, columns, time.time()))
            if text != shown.why:
                self.state = attrs.evolve(self.state, preview=attrs.evolve(shown, why=text))

    def _ask(self, row: Row) -> tuple[Row, Reply]:
        """Return the question of *row*; a refusal if reading it fails."""
        try:
            return row, self.actions.perform(row, LookRequest(row.pane.id, QUESTION))
        except Exception as error:  # on a thread nobody else would hear of it
            return row, Refusal("fault", f"its question could not be read: {error or type(error).__name__}")

    def _draw(self) -> None:
        # The lines that a person has read by this drawing change the next one.
        """Draw the state until the drawing changes it no more."""
        while self.state is not self._drawn:
            lines = [ansi.sgr(line, self.depth, self._ground) for line in draw.draw(self.state)]
            if written := self._screen.update(lines):
                self.terminal.write(written)
            self._drawn = self.state
            self.state = flow.note_shown(state.drawn(self.state), time.monotonic())

    def _take(self, event: Event) -> None:
        """Take in a colour of the terminal's, or a person's action."""
        if isinstance(event, TerminalColour):
            name = "background" if event.is_background else "foreground"
            self._ground, self._drawn = attrs.evolve(self._ground, **{name: event.colour}), None
            return
        now = time.monotonic()
        if now - self._keyed_at >= AWAY_S:
            self._back_at = now
            self._away.begin(functools.partial(reading.away, self.state.rows, now - self._keyed_at))
        self._keyed_at = now
        self.state, effects = press.press(self.state, event, now)
        for effect in effects:
            self._carry_out(effect)

    def _learn_colours(self) -> list[Event]:
        """Wait a moment for the terminal's colours, so that the first picture has them; return the typed events."""
        end, typed = time.monotonic() + COLOURS_S, list[Event]()
        while None in (self._ground.background, self._ground.foreground) and not typed:
            if (patience := end - time.monotonic()) <= 0 or not (read := self.terminal.read(patience)):
                break
            for event in self._decoder.feed(read):
                if isinstance(event, TerminalColour):
                    self._take(event)
                else:
                    typed.append(event)
        return typed

    def run(self) -> None:
        """Draw and read keys until the person leaves, or the terminal is gone."""
        events = self._learn_colours() if self.depth is not ansi.Depth.NONE else []
        self.terminal.enter()
        if self.key:
            self.refresh(time.monotonic())
            self._take(Key(self.key))
            is_known = self.key in self.state.keys
            self._is_open = not is_known or self.state.mode is Mode.WRITE or bool(self.state.message)
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
                descriptors = self.feed.descriptors()
                patience = self._patience(is_woken=descriptors is not None)
            else:
                # In a hidden tab it costs nothing, whatever the agents do.
                descriptors, patience = None, ESCAPE_S if self._decoder.is_pending else None
                self.state = flow.after_absence(self.state)
            read = self.terminal.read(patience, (*(descriptors or ()), *self.actions.descriptors))
            if read is None:
                return
            self.actions.listen()
            events += self._decoder.feed(read) if read else self._decoder.flush()
            for event in events:
                if self._is_open:
                    self._take(event)
            events = []

    def _patience(self, *, is_woken: bool) -> float | None:
        """Return how long, in seconds, to wait for a key; None for ever, if changes are reported and nothing is due."""
        if self._decoder.is_pending:
            return ESCAPE_S
        if not is_woken:
            return POLL_LIST_S
        now = time.monotonic()
        until_look = self._screens.due(state.watched(self.state)) - now
        until_age = max(self._refreshed_at + CLOCK_S - now, clock.due(self.state) + DRAW_AGE_LATER_S - time.time())
        until_read = reading.CHECK_READING_S if any(one.is_going for one in (self._away, self._questions)) else math.inf
        patience = min(until_look, until_age, until_read)
        if self.make_repositories is not None:
            # At once, when the first picture is drawn.
            patience = min(patience, self._repositories.due() - now if self._repositories is not None else 0.0)
        return None if math.isinf(patience) else max(0.0, patience)

    def _carry_out(self, effect: effects.Effect) -> None:
        match effect:
            case effects.Plain.QUIT:
                self._is_open = False
            case effects.Plain.BACK:
                self.actions.back()
            case effects.Plain.REGROUP:
                self._change_labels(lambda found: attrs.evolve(found, group=self.state.group))
            case effects.Plain.WHY if self.state.row is not None:
                text = self.explain(self.state.row, self.state.columns, time.time())
                self.state = state.explained(self.state, "why", tuple(text))
            case effects.Perform(row, asked):
                self._show(row, asked, self.actions.perform(row, asked))
            case effects.Propose(act, wanted):
                self.state = state.proposed(self.state, self._proposal(act, wanted))
            case Proposal(act, targets):
                done = [(row, self.actions.perform(row, act.of(held))) for row, held in targets]
                failed = tuple((row, reply.text) for row, reply in done if isinstance(reply, Refusal))
                self._notify(outcome(act, len(done) - len(failed), failed))
            case effects.Gather(wanted, like):
                looks = [self._ask(row) for row in wanted]
                read = tuple((row, reply) for row, reply in looks if isinstance(reply, Question))
                self.state = state.proposed(self.state, shared_answer(read, like))
            case effects.Lend(row, call):
                self._lend(row, call)
            case effects.Relabel(row, label):
                self._change_labels(lambda found: found.with_label(row.host, row.pane, label, time.time()))

    def _lend(self, row: Row, call: str) -> None:
        """Lend the terminal to a part, and offer to send what text it returns."""
        text, problem = "", ""
        with self.terminal.lent():
            try:
                text = index.load(call)(row)
            except (Exception, KeyboardInterrupt) as error:  # a part must not cost the list
                problem = str(error) or type(error).__name__
        self._screen.clear()
        self._drawn = None
        self._notify(problem)
        if text:
            # As a draft it is kept where the agent takes none now.
            self.state = writing.drafted(self.state, row, text)
            self._carry_out(effects.Perform(row, LookRequest(row.pane.id, PROMPT_AGENT)))

    def _proposal(self, act: Act, wanted: tuple[Row, ...]) -> Proposal:
        """Return the proposal of *act* for the programs that are in the panes of *wanted* now."""
        found = [(row, self.actions.perform(row, act.look_request(row.pane.id))) for row in wanted]
        targets = tuple((row, held) for row, held in found if isinstance(held, Occupant))
        return Proposal(act, targets, tuple((row, reply.text) for row, reply in found if isinstance(reply, Refusal)))

    def _show(self, row: Row, asked: Request, reply: Reply) -> None:
        match reply, asked:
            case Question(choices=()), _:
                self._notify("it asks for text, not for a choice; press Enter to go there")
            case Question(), _:
                self.state = state.asked(self.state, row, reply)
            case Done(text=text), Answer():
                self.state = flow.answered(self.state, row, text)
            case Refusal(text=text), Answer():
                self.state = flow.refused(self.state, text)
            case Occupant(), _:
                self.state = writing.begun(self.state, row, reply)
            case Busy(holder, why), _:
                self.state = writing.begun(self.state, row, holder, why)
            case Done(), Say():
                self.state = writing.sent(self.state, "sent")
            case Done(text=text), DeferredText():
                self.state = writing.sent(self.state, f"{text}; E cancels it")
            case Done(), Open():
                self._is_open = self.state.is_panel
            case ((Done(text=text) | Refusal(text=text)), _):
                self._notify(text)

    def _change_labels(self, how: Callable[[Labels], Labels]) -> None:
        """Change the labels file by *how*, and show the change at once."""
        self._notify(self.labels.change(how))
        # At once: the next key may be for the same row.
        self._take_rows(time.time())

    def _notify(self, message: str) -> None:
        """Show *message* to the person, if there is any."""
        if message:
            self.state = state.notified(self.state, message)
