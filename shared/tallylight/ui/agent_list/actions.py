"""
Actions: what the list does to panes, and by which way.

`Requests` reaches every host through its spool, and so can move a person's view and change the ledger. It also answers
in detached sessions of tmux and GNU Screen, which it can look at and type into by itself. `Private` has a channel to
the terminal that opened the list, too: there a pane of that very terminal can be answered, forked and resumed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tallylight.actions import say
from tallylight.actions.answer import Done, Holder, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.given import Later, words_of
from tallylight.actions.once import SETTLE_S, Once
from tallylight.actions.panes import Panes
from tallylight.actions.say import Busy
from tallylight.model.errors import SessionError
from tallylight.snapshot import requests, sockets
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.requests import Request, RequestError
from tallylight.snapshot.rows import Row
from tallylight.snapshot.sockets import SocketError
from tallylight.ui.agent_list.carrying import carried, examined, refused
from tallylight.ui.agent_list.channel import (
    CHANNEL,
    CHUNK,
    MAX_MESSAGE,
    RING,
    Lines,
    Picture,
    Seen,
    TooLongError,
    encode,
    first_line,
    read_answer,
)
from tallylight.ui.agent_list.effects import Answer, Queue, Say
from tallylight.ui.agent_list.other_machines import Reached, stays, there_of
from tallylight.ui.agent_list.pictures import Receiver
from tallylight.ui.agent_list.selection import Act, Target
from tallylight.wire.styled import StyledScreen

#: Seconds that the terminal has to answer. While it is too busy for that it could not show the list either.
TIMEOUT_S = 30.0
_ELSEWHERE = "only from the list that its own terminal opened"
_SILENT = "the terminal does not answer"


class Actions(Protocol):
    """Each method returns nothing when it is done, else what to tell the person."""

    def start(self, verb: str, row: Row) -> str:
        """`go` to a pane, `fork` or `resume` its conversation: when that is done the list ends."""

    def back(self) -> None:
        """Give the keyboard back to the pane beside a panel, where that is possible."""

    def listen(self) -> None:
        """Take what the terminal has said unasked; at most `descriptors` tell of it."""

    @property
    def descriptors(self) -> Sequence[int]:
        """What can be read when the terminal has said something."""

    @property
    def is_seen(self) -> bool:
        """Whether somebody could see the list."""

    def look(self, row: Row) -> Question | str:
        """Read a question off the screen of its pane."""

    def answer(self, answer: Answer) -> str:
        """Answer a question; what to tell the person, also when it is done."""

    def taker(self, row: Row) -> Holder | Busy | str:
        """The agent in the pane of *row*, if it takes text now, or when its turn has ended."""

    def say(self, given: Say) -> str:
        """Type a text into an agent, and Enter."""

    def examine(self, act: Act, row: Row) -> Holder | str:
        """What is in the foreground of the pane of *row*, if *act* can be done to it."""

    def carry(self, act: Act, target: Target) -> str:
        """Do *act* to a pane, if what was shown is still in front there."""

    def queue(self, given: Queue) -> str:
        """Have a text wait for the end of an agent's turn, in place of what waits for that."""

    def unqueue(self, row: Row) -> str:
        """Forget what is queued in the pane of *row*."""

    def ask(self, row: Row, verb: str, args: tuple[str, ...]) -> str:
        """Put a request to the row's host."""

    @property
    def has_channel(self) -> bool:
        """Whether the terminal that the list is in tells the screens of its own panes at once."""

    def screen(self, row: Row) -> StyledScreen | str | None:
        """
        What is on the screen of *row* now; why not, in words; or None, while nobody can see the list.

        Without a channel it may take seconds; then it may be called on another thread.
        """


class Requests:
    """
    The way that every host knows: a request in its spool. *detached* makes what reaches detached sessions, *elsewhere*
    what reaches other machines.
    """

    has_channel = False
    descriptors: Sequence[int] = ()
    is_seen = True

    def __init__(self, environ: Mapping[str, str], detached: Callable[[], Panes], elsewhere: Reached = None) -> None:
        self._environ = environ
        self._detached, self._there = detached, functools.partial(there_of, elsewhere)
        self._once = Once(SETTLE_S)

    def start(self, verb: str, row: Row) -> str:
        if verb == "go" and is_elsewhere(row.host) and row.pane.attach:
            return f"run `tally attach '{row.name}'` in a terminal"
        return self.ask(row, "focus", ()) if verb == "go" else stays(verb, row) or f"{verb} {_ELSEWHERE}"

    def back(self) -> None:
        """Which pane was in front before, only its terminal knows."""

    def listen(self) -> None:
        """Nobody says anything."""

    @functools.cached_property
    def _sessions(self) -> Panes:
        return self._detached()  # not needed to open the list

    def look(self, row: Row) -> Question | str:
        if (there := self._there(row)) is not None:
            return there.look()
        typist = self._sessions.at(row.host, row.pane)
        if isinstance(typist, Refusal):
            return f"answers to {row.name} go {_ELSEWHERE}"
        found = self._once.ask(typist)
        return found if isinstance(found, Question) else found.text

    def answer(self, answer: Answer) -> str:
        if (there := self._there(answer.row)) is not None:
            return there.give(answer.question.answer(answer.number)).text
        typist = self._sessions.at(answer.row.host, answer.row.pane)
        if isinstance(typist, Refusal):
            return f"answers to {answer.row.name} go {_ELSEWHERE}"
        return self._once.answer(typist, answer.question.answer(answer.number)).text

    def taker(self, row: Row) -> Holder | Busy | str:
        if (there := self._there(row)) is not None:
            return there.taker()
        typist = self._sessions.at(row.host, row.pane)
        if isinstance(typist, Refusal):
            return f"text for {row.name} goes {_ELSEWHERE}"
        found = self._once.taker(typist)
        return found if isinstance(found, Holder | Busy) else found.text

    def say(self, given: Say) -> str:
        held, row = given.holder, given.row
        said = say.Say(held.pane, held.pid, held.start, given.text, enter=True)
        if (there := self._there(row)) is not None:
            told = there.give(said)
            return "" if isinstance(told, Done) else told.text
        typist = self._sessions.at(row.host, row.pane)
        if isinstance(typist, Refusal):
            return f"text for {row.name} goes {_ELSEWHERE}"
        done = self._once.say(typist, said)
        return "" if isinstance(done, Done) else done.text

    def examine(self, act: Act, row: Row) -> Holder | str:
        if (there := self._there(row)) is not None:
            return there.examine(act)
        typist = self._sessions.at(row.host, row.pane)
        if isinstance(typist, Refusal):
            return f"{act.value} it {_ELSEWHERE}"
        found = examined(act, typist, self._once)
        return found if isinstance(found, Holder) else found.text

    def carry(self, act: Act, target: Target) -> str:
        if (there := self._there(target.row)) is not None:
            return there.carry(act, target.holder)
        typist = self._sessions.at(target.row.host, target.row.pane)
        if isinstance(typist, Refusal):
            return f"{act.value} it {_ELSEWHERE}"
        held = target.holder
        done = carried(act, typist, self._once, held.pane, held.pid, held.start)
        return "" if isinstance(done, Done) else done.text

    def queue(self, given: Queue) -> str:
        return self._host_says(given.row, *words_of(_later(given)))

    def unqueue(self, row: Row) -> str:
        return self._host_says(row, "unqueue", row.pane.id)

    def _host_says(self, row: Row, *words: str) -> str:
        """Ask the host of a pane that this process reaches as well; nothing when it is done."""
        if not self._sessions.can_type(row.host, row.pane):
            return stays("queue", row) or f"a text for {row.name} is queued {_ELSEWHERE}"
        try:
            with sockets.connect(row.host, TIMEOUT_S, self._environ) as connection:
                connection.sendall(encode(words))
                reply = _reply(connection)
        except (SocketError, OSError, TooLongError) as error:
            return f"{row.host} takes no texts: {error}"
        return f"{row.host} does not answer" if reply is None else reply

    def screen(self, row: Row) -> StyledScreen | str | None:
        if (there := self._there(row)) is not None:
            return there.screen()
        if not self._sessions.can_type(row.host, row.pane):
            return "its screen can be seen only in the list that its own terminal opened; Enter goes there"
        try:
            return self._sessions.screen(row.host, row.pane)
        except SessionError as error:
            return str(error)

    def ask(self, row: Row, verb: str, args: tuple[str, ...]) -> str:
        try:
            requests.send(row.host, Request(verb, row.pane.id, args), self._environ)
        except RequestError as error:
            return str(error)
        return ""


class Private(Requests):
    """
    The private channel to the terminal that opened the list: a pair of connected sockets, this end inherited.

    What goes over it, `channel` says.
    """

    has_channel = True

    def __init__(
        self,
        environ: Mapping[str, str],
        detached: Callable[[], Panes],
        elsewhere: Reached,
        channel: socket.socket,
    ) -> None:
        super().__init__(environ, detached, elsewhere)
        self._channel = channel
        self._lines = Lines(MAX_MESSAGE)
        self._picture = Receiver()
        self.descriptors = (channel.fileno(),)

    @classmethod
    def of(cls, environ: Mapping[str, str], detached: Callable[[], Panes], elsewhere: Reached = None) -> Private | None:
        """The channel that *environ* names, if a terminal opened this list."""
        number = environ.get(CHANNEL, "")
        if not (number.isascii() and number.isdigit() and len(number) < 6):
            return None
        try:
            channel = socket.socket(fileno=int(number))
            channel.set_inheritable(False)
            channel.settimeout(TIMEOUT_S)
        except OSError:
            return None
        return cls(environ, detached, elsewhere, channel)

    def start(self, verb: str, row: Row) -> str:
        if row.is_own:
            # What is refused is said here; the page that asks is in another tab.
            return refused(verb, row, self._environ) or self._said(verb, row.pane.id)
        if verb == "go" and row.pane.attach:
            return self._said("attach", *row.pane.attach)
        return super().start(verb, row)

    def back(self) -> None:
        self._call("back")

    def listen(self) -> None:
        try:
            # A socket with a timeout waits for it, whatever it is told.
            while self.descriptors and select.select(self.descriptors, [], [], 0)[0]:
                self._take(self._channel.recv(CHUNK))
        except (OSError, TooLongError):
            self._close()

    def look(self, row: Row) -> Question | str:
        if not row.is_own:
            return super().look(row)
        reply = self._call("look", row.pane.id)
        return reply if isinstance(reply, str | Question) else _SILENT

    def screen(self, row: Row) -> StyledScreen | str | None:
        if not row.is_own:
            return super().screen(row)
        reply = self._call("screen", row.pane.id, str(self._picture.has(row.pane.id)))
        if not isinstance(reply, Picture):
            return reply if isinstance(reply, str) else _SILENT
        return self._picture.take(row.pane.id, reply.message)

    def taker(self, row: Row) -> Holder | Busy | str:
        if not row.is_own:
            return super().taker(row)
        reply = self._call("taker", row.pane.id)
        return reply if isinstance(reply, str | Holder | Busy) else _SILENT

    def say(self, given: Say) -> str:
        if not given.row.is_own:
            return super().say(given)
        held = given.holder
        return self._said(*words_of(say.Say(held.pane, held.pid, held.start, given.text, enter=True)))

    def examine(self, act: Act, row: Row) -> Holder | str:
        if not row.is_own:
            return super().examine(act, row)
        reply = self._call("examine", row.pane.id, act.value)
        return reply if isinstance(reply, str | Holder) else _SILENT

    def carry(self, act: Act, target: Target) -> str:
        if not target.row.is_own:
            return super().carry(act, target)
        held = target.holder
        return self._said(act.value, held.pane, str(held.pid), str(held.start))

    def queue(self, given: Queue) -> str:
        if not given.row.is_own:
            return super().queue(given)
        return self._said(*words_of(_later(given)))

    def unqueue(self, row: Row) -> str:
        return self._said("unqueue", row.pane.id) if row.is_own else super().unqueue(row)

    def answer(self, answer: Answer) -> str:
        if not answer.row.is_own:
            return super().answer(answer)
        return self._said(*words_of(answer.question.answer(answer.number)))

    def _said(self, *words: str) -> str:
        reply = self._call(*words)
        return reply if isinstance(reply, str) else _SILENT

    def _call(self, *words: str) -> str | Question | Holder | Busy | Picture | None:
        """Have the terminal do it, and return its answer."""
        try:
            self._channel.sendall(encode(words))
            _ring()
            while True:
                for answer in self._take(self._channel.recv(CHUNK)):
                    return answer
        except (OSError, TooLongError):
            # An answer that comes late must not be taken for that to the next question.
            self._close()
        return None

    def _take(self, chunk: bytes) -> list[str | Question | Holder | Busy | Picture | None]:
        """The answers in what was received; what is said unasked is noted."""
        if not chunk:
            raise ConnectionResetError
        answers: list[str | Question | Holder | Busy | Picture | None] = []
        for line in self._lines.feed(chunk):
            found = read_answer(line)
            if isinstance(found, Seen):
                self.is_seen = found.is_seen
            else:
                answers.append(found)
        return answers

    def _close(self) -> None:
        self._channel.close()
        self.descriptors, self.is_seen = (), True


def _ring() -> None:
    """Have the terminal listen, by its own output: it has nothing else that wakes it."""
    with contextlib.suppress(OSError):
        if os.isatty(1):
            os.write(1, RING.encode("ascii"))


def _reply(connection: socket.socket) -> str | None:
    """What a host says; None if it goes first, or says something else."""
    line = first_line(connection.recv, MAX_MESSAGE)
    said = read_answer(line) if line is not None else None
    return said if isinstance(said, str) else None


def _later(given: Queue) -> Later:
    held = given.holder
    return Later(held.pane, held.pid, held.start, given.text)
