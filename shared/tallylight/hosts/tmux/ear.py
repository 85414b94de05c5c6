"""
Ears: what the programs in panes of tmux say, out of the output that tmux hands to its control clients.

tmux drops the sequences that it does not know for the terminal around it, and a control client gets them. Bytes of one
pane go in, the `Word`s that its `Pane` is to take come out: protocols by the codecs of the relay, titles, bars, marks
of the shell and notifications. Nothing goes back to a program.

What is read of a pane is bounded, and a pane that writes more is not heard for a while. Then, and when the person
detaches, its reports of work and of questions are withdrawn: its screen decides until it speaks again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import attrs

from tallylight.evidence import notified
from tallylight.hosts.polling.word import Word
from tallylight.model import attributes
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.pane.view import view_of
from tallylight.relay.records import NOTED
from tallylight.relay.splitter import Splitter
from tallylight.relay.spoken import ProtocolReader
from tallylight.tracker.notify import enriched
from tallylight.wire import envelope, osc9_4, osc133, osc1338
from tallylight.wire.notification import Notification
from tallylight.wire.passthrough import Unwrapper
from tallylight.wire.scanner import Sequence
from tallylight.wire.title import Title
from tallylight.wire.user_var import UserVar

#: Bytes of one pane that are heard at once, and in each second.
BURST, A_SECOND = 1 << 19, 1 << 17
#: Seconds for which a pane is not heard that has said more; and at most, for one that does so again and again.
PAUSE_S, LONG_PAUSE_S = 2.0, 32.0
_CLEAR = Report(source=Source.PROTOCOL, status=None, rule="")
#: Records that are handed over at once: all that there can be, and all that can be gone.
_ALL = 1024


class Ear:
    """Hears one pane."""

    def __init__(self) -> None:
        self._words: list[Word] = []
        self._now = 0.0
        self._begin()

    def _begin(self) -> None:
        self._protocols, self._unwrapper = ProtocolReader(), Unwrapper()
        self._splitter = Splitter(self._take, self._protocols.clear, self._open, hears_all=True)
        #: Whether the program's last title was heard.
        self.has_title = False

    def hear(self, data: bytes, now: float) -> list[Word]:
        """Take the next bytes of the pane; return what they said."""
        self._now = now
        self._splitter.feed(data, [])
        return self._said()

    def lost(self) -> list[Word]:
        """
        Some of its output is missing: return what withdraws the reports that may be out of date.

        The end of a turn stays news. The `tally` variable comes over the socket, too, and is withdrawn there.
        """
        stays = (Status.DONE, Status.ERROR)
        reports = [one for one in self._protocols.records.current() if one.rule != NOTED and one.status not in stays]
        self._begin()
        gone = [attributes.evolve(_CLEAR, id=report.id) for report in reports]
        return [Word.of_payload(osc1338.encode_payload(one)) for one in gone]

    def _said(self) -> list[Word]:
        self._say_records()
        words, self._words = self._words, []
        return words

    def _say_records(self) -> None:
        records = self._protocols.records
        if records.is_changed:
            self._words += map(Word.of_payload, records.take(_ALL, self._now))

    def _open(self, sequence: Sequence) -> None:
        """Take an envelope for the terminal around tmux: what it holds is the pane's word, except titles and bars."""
        for inner in self._unwrapper.feed(sequence):
            self._take(inner, is_own=False)

    def _take(self, sequence: Sequence, *, is_own: bool = True) -> bool:
        event, _ = self._protocols.take(sequence, self._now)
        if isinstance(event, UserVar):
            if event.name == envelope.CARRIER:
                self._words.append(Word.of_payload(event.value))
            return True
        call = _call(event, is_own=is_own)
        if call is not None:
            self._say_records()
            self.has_title = self.has_title or isinstance(event, Title)
            self._words.append(Word(call))
        return True


def _call(event: object, *, is_own: bool) -> Callable[[Pane, float], object] | None:
    """Return what a pane does with what a terminal hears by itself; None for all else."""
    match event:
        case Notification():
            return functools.partial(_notified, event)
        case Title(text) if is_own:
            return lambda pane, now: pane.title(text, now)
        case osc133.Mark(osc133.COMMAND_START | osc133.COMMAND_END as kind, code) if is_own:
            return lambda pane, now: pane.marked(kind == osc133.COMMAND_START, code, now)
        case osc9_4.ProgressReport(state) if is_own:
            return lambda pane, now: pane.progress(state != osc9_4.CLEAR, now)
    return None


def _notified(event: Notification, pane: Pane, now: float) -> None:
    """Hand over what an agent tells its person. An advertisement raises nothing, and neither does a plain command."""
    if pane.agent is not None and enriched(view_of(pane, ""), event.title, event.body)[0]:
        pane.notified(notified.shown(event), now)


@attrs.define
class _Voice:
    """One pane: its ear, what may yet be read of it, and which client hears it."""

    client: object
    at: float
    ear: Ear = attrs.Factory(Ear)
    left: float = BURST


@attrs.define
class Ears:
    """
    The panes of one server, heard by several clients: of a window that is linked to several sessions, each pane once.

    *tell* gets the id of a pane and its words. Each client calls on a thread of its own.
    """

    tell: Callable[[str, list[Word]], None]
    _voices: dict[str, _Voice] = attrs.Factory(dict)

    def hear(self, client: object, pane: str, data: bytes, now: float) -> bool:
        """
        Hear *data* of *pane*; return whether *client* is to get more of it now.

        One that another client hears is passed over, not paused: when that leaves, nothing is missed.
        """
        voice = self._voices.setdefault(pane, _Voice(client, now))
        if voice.client is not client:
            return voice.left > 0
        voice.left = min(BURST, voice.left + (now - voice.at) * A_SECOND) - len(data)
        voice.at = now
        if words := voice.ear.hear(data, now):
            self.tell(pane, words)
        return voice.left > 0

    def lost(self, client: object, pane: str) -> None:
        """The output of *pane* has a gap."""
        voice = self._voices.get(pane)
        if voice is not None and voice.client is client and (words := voice.ear.lost()):
            self.tell(pane, words)

    def leave(self, client: object) -> None:
        """*client* hears nothing any more, and another one may."""
        for pane, voice in list(self._voices.items()):
            if voice.client is client:
                self.lost(client, pane)
                del self._voices[pane]

    def has_title(self, pane: str) -> bool:
        """Return whether the title of *pane* was heard, and no other one can have been missed since."""
        voice = self._voices.get(pane)
        return voice is not None and voice.ear.has_title

    def keep(self, panes: Iterable[str]) -> None:
        """There are these *panes*, and no others."""
        for gone in self._voices.keys() - set(panes):
            self._voices.pop(gone, None)
