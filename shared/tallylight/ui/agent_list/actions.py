"""
Actions: how the list reaches panes: it has requests carried out by `actions.client`, or goes to the pane.

A list that a terminal opened has a channel to it (`Channelled`): there a pane of that very terminal can be answered,
forked and resumed. Any other list reaches sessions of tmux, GNU Screen and WezTerm, and panes of other machines. A list
that no person has opened has no more rights than any program: an agent may run one in a terminal of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tallylight.actions import request
from tallylight.actions.answer import Done
from tallylight.actions.caller import Who
from tallylight.actions.gate import Refusal
from tallylight.actions.request import (
    Lines,
    LookRequest,
    Mark,
    Open,
    Picture,
    Reply,
    Request,
    Rows,
    TooLongError,
    Visible,
)
from tallylight.model.errors import SessionError, TallyError
from tallylight.parts import index
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import LISTED
from tallylight.snapshot.elsewhere import is_elsewhere, parts
from tallylight.snapshot.requests import RequestError
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.channel import CHANNEL, RING
from tallylight.ui.agent_list.pictures import Receiver
from tallylight.ui.layout import clean
from tallylight.wire.styled import MAX_COLUMNS, StyledScreen, read_screen
from tallylight.wire.text import sanitise, width

if TYPE_CHECKING:
    from tallylight.actions.client import PaneClient

#: Seconds to wait for the terminal. While it is too busy for that it could not show the list either.
LIST_REPLY_S = 30.0
_LOST = Refusal("unreachable", "the list has lost its terminal, so nothing was done; open it again")
_LOOKS = {request.PROMPT_AGENT: request.HOLDER, request.STOPPABLE: request.HOLDER}


class Direct:
    """
    Reaches panes from this process. *client* makes the client when it is first needed.

    *panel* is the host and the pane of a panel.
    """

    #: Whether the terminal that opened the list sends the screens of its own panes at once.
    has_channel = False
    #: The descriptors that become readable when the terminal has sent something; and whether the list can be seen.
    descriptors: Sequence[int] = ()
    is_seen = True

    def __init__(
        self, environ: Mapping[str, str], client: Callable[[], PaneClient], panel: tuple[str, str] = ("", "")
    ) -> None:
        self._environ, self._client = environ, client
        self._host, self._panel = panel

    def perform(self, row: Row, asked: Request) -> Reply:
        """Have the request *asked* carried out for the pane of *row*, and return the reply."""
        if isinstance(asked, Mark):
            try:
                requests.send(row.host, requests.Request(asked.verb, row.pane.id, asked.args), self._environ)
            except RequestError as error:
                return Refusal("unreachable", str(error))
            return Done(row.pane.id, "")
        machine = parts(row.pane.id)[0] if is_elsewhere(row.host) else ""
        if isinstance(asked, Open):
            if asked.verb != "go":
                return Refusal("elsewhere", _not_opened(asked, machine))
            if row.pane.commands.attach[: len(LISTED)] == LISTED:
                return Refusal("elsewhere", f"run `tally attach '{row.name}'` in a terminal")
            # In one request, or they might be carried out in another order.
            return self.perform(row, Mark("focus", row.pane.id, (self._panel,) if row.host == self._host else ()))
        if isinstance(asked, LookRequest) and is_elsewhere(row.host):
            # A machine reports who is there; it checks whether they take a text when there is one.
            asked = LookRequest(asked.pane, _LOOKS.get(asked.what, asked.what))
        elif row.host.startswith("kitty-") and self._is_person():
            return Refusal(
                "elsewhere",
                f"pane {row.name} can be reached only from its kitty's own list (ctrl+shift+i); Enter goes there",
            )
        return self._client().perform(row, asked)

    def back(self) -> None:
        """Give the keyboard back to the pane beside a panel; only its terminal knows which that was."""
        if self._panel:
            with contextlib.suppress(RequestError):
                requests.send(self._host, requests.Request("focus", self._panel, (self._panel,)), self._environ)

    def listen(self) -> None:
        """Take messages of the terminal that nobody asked for; `descriptors` become readable then."""

    def screen(self, row: Row) -> StyledScreen | str | None:
        """
        Return the screen of *row* now; a message if it cannot be read; None while nobody can see the list.

        Without a channel it may take seconds; then it may be called on another thread.
        """
        client = self._client()
        if is_elsewhere(row.host) or not self._is_person():
            return _plain(client.look(row, request.SCREEN))
        if not client.panes.can_type(row.host, row.pane):
            return "its screen can be seen only in the list that its own terminal opens; Enter goes there"
        try:
            return client.panes.screen(row.host, row.pane)
        except SessionError as error:
            return str(error)

    def _is_person(self) -> bool:
        return self._client().asker.who is Who.PERSON


def _plain(reply: Reply) -> StyledScreen | str:
    """Return the screen in *reply*, without colours; the message if the reply is a refusal."""
    if not isinstance(reply, Rows):
        return reply.text if isinstance(reply, Refusal) else request.SILENT.text
    rows = [sanitise(line, cells=MAX_COLUMNS) for line in reply.rows]
    return read_screen(rows, max(map(width, rows), default=1))


class Channelled(Direct):
    """
    Reaches panes by the channel to the terminal that opened the list, too.

    The channel is a pair of connected sockets, with this end inherited.
    """

    has_channel = True

    def __init__(self, environ: Mapping[str, str], client: Callable[[], PaneClient], channel: socket.socket) -> None:
        super().__init__(environ, client)
        self._channel = channel
        self._lines = Lines(request.MAX_MESSAGE_BYTES)
        self._picture = Receiver()
        self.descriptors = (channel.fileno(),)

    @classmethod
    def of(cls, environ: Mapping[str, str], client: Callable[[], PaneClient]) -> Channelled | None:
        """Return the actions over the channel that *environ* names; None if no terminal opened this list."""
        number = environ.get(CHANNEL, "")
        if not (number.isascii() and number.isdigit() and len(number) < 6):
            return None
        try:
            channel = socket.socket(fileno=int(number))
            channel.set_inheritable(False)
            channel.settimeout(LIST_REPLY_S)
        except OSError:
            return None
        return cls(environ, client, channel)

    def perform(self, row: Row, asked: Request) -> Reply:
        if row.is_own and not isinstance(asked, Mark):
            # A refusal is shown here; the page that asks is in another tab.
            return _refused(asked, row) or self._ask(asked)
        if row.pane.commands.attach and asked == Open("go", row.pane.id):
            return self._ask(request.Attach(row.pane.commands.attach))
        return super().perform(row, asked)

    def back(self) -> None:
        self._ask(request.Open("back"))

    def listen(self) -> None:
        try:
            # A socket with a timeout waits for it, whatever its flags are.
            while self.descriptors and select.select(self.descriptors, [], [], 0)[0]:
                self._take(self._channel.recv(request.MESSAGE_CHUNK_BYTES))
        except (OSError, TooLongError):
            self._close()

    def screen(self, row: Row) -> StyledScreen | str | None:
        if not row.is_own:
            return super().screen(row)
        reply = self._ask(request.Draw(row.pane.id, self._picture.has(row.pane.id)))
        return self._picture.take(row.pane.id, reply.message) if isinstance(reply, Picture) else _plain(reply)

    def _ask(self, asked: Request) -> Reply:
        """Send the request *asked* to the terminal, and return its reply."""
        if not self.descriptors:
            return _LOST
        try:
            self._channel.sendall(request.encode(asked))
            with contextlib.suppress(OSError):
                # Only the list's own output wakes the terminal.
                if os.isatty(1):
                    os.write(1, RING.encode("ascii"))
            while True:
                for reply in self._take(self._channel.recv(request.MESSAGE_CHUNK_BYTES)):
                    return reply
        except (OSError, TooLongError):
            # An answer that comes late must not be taken for that to the next question.
            self._close()
        return request.no_reply("the terminal", asked)

    def _take(self, chunk: bytes) -> list[Reply]:
        """Return the replies in the received bytes; note messages that nobody asked for."""
        if not chunk:
            raise ConnectionResetError
        answers: list[Reply] = []
        for line in self._lines.feed(chunk):
            found = request.decode_reply(line)
            if isinstance(found, Visible):
                self.is_seen = found.is_seen
            else:
                answers.append(found)
        return answers

    def _close(self) -> None:
        self._channel.close()
        self.descriptors, self.is_seen = (), True


def _not_opened(asked: Open, machine: str) -> str:
    """Return why a list without a terminal does not open the page that is *asked* for, and which command does."""
    if machine:
        return f"{asked.verb} is for {machine} itself: Enter goes there"
    return f"{asked.verb} works only in the list that its own terminal opens"


def _refused(asked: Request, row: Row) -> Refusal | None:
    """Return why a part refuses to open its page over *row*; None if it does not, or the page is of no part."""
    call = index.named("opens", asked.verb) if isinstance(asked, Open) else None
    found: Refusal | None = call(row.pane) if call is not None else None
    return found


class Elsewhere(Direct):
    """Shows panes of other machines, and marks them where *ask* can."""

    def __init__(self, ask: Callable[[str, Pane, str, float | None], None]) -> None:
        self._ask = ask

    def perform(self, row: Row, asked: Request) -> Reply:
        if not isinstance(asked, Mark) or asked.verb not in ("seen", "snooze"):
            return Refusal("elsewhere", self.screen(row))
        try:
            self._ask(row.host, row.pane, asked.verb, float(asked.args[0]) if asked.args else None)
        except TallyError as error:
            return Refusal("elsewhere", str(error))
        return Done(row.pane.id, "")

    def screen(self, row: Row) -> str:
        return f"do this on {clean(row.host.partition('/')[0], 40)} itself"
