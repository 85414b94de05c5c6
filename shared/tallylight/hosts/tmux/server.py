"""One tmux server: its last list of panes, when to query it again, and the lights of its windows."""

from __future__ import annotations

import functools
import math
import platform
import threading
from collections.abc import Mapping

import attrs

from tallylight.files.program import Ran, run
from tallylight.hosts.polling.source import SourcePane, Together
from tallylight.hosts.tmux.control_client import ControlClient
from tallylight.hosts.tmux.ear import Ears
from tallylight.hosts.tmux.pane_list import Client, QueryFormat, TmuxPane
from tallylight.model import lights as paint
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.tracker import rollup

#: Seconds between two lists of a server: without, and with, a client that reports changes.
LIST_EVERY_S, LIST_WHILE_NOTIFIED_S = 0.5, 10.0
#: From so many panes on the first interval grows: a list costs the server 20 to 50 µs a pane.
MANY_PANES = 100
#: Seconds between two captures of one screen: as often as a host in a terminal looks.
CAPTURE_EVERY_S = 0.2
#: Attached terminals of one session that are kept.
MAX_TERMINALS = 8
#: A capture so many seconds after the second of the last drawing surely contains it.
DRAWING_SETTLES_S = 1.5
OPTION, MARK_OPTION, COLOUR_OPTION = "@tally", "@tally_mark", "@tally_colour"


def run_tmux(socket: str, env: Mapping[str, str], *command: str, given: bytes | None = None) -> Ran | None:
    """Run a command of the server at *socket*; see `files.program.run`."""
    return run(["tmux", "-u", "-S", socket, *command], env, given=given)


@attrs.frozen
class TerminalsState:
    """
    The state of all terminals: whether a person sees a pane, by its process, and the entry attached on each terminal.

    Such a terminal may be a pane of tmux itself.
    """

    in_front: Mapping[int, bool | None] = attrs.Factory(dict)
    inside: Mapping[str, tuple[PaneEntry, ...]] = attrs.Factory(dict)


@attrs.define(eq=False)
class Server:
    """A server by the path of its socket; *together* reads several of its screens, *ears* the output of its panes."""

    socket: str
    together: Together
    ears: Ears
    panes: list[TmuxPane] = attrs.Factory(list)
    clients: list[Client] = attrs.Factory(list)
    #: The control client of each attached session, by its id. The first one answers queries.
    controls: dict[str, ControlClient] = attrs.Factory(dict)
    #: Whether a control client has reported a change since the last list.
    is_changed: bool = True
    looked_at: float = float("-inf")
    #: Whether the panes of the last list were returned to the host.
    is_reported: bool = True
    #: Held by the thread that reads a list; no thread waits for it.
    lock: threading.Lock = attrs.Factory(threading.Lock)
    silent_until: float = 0.0
    stamp: object = None
    #: When each pane was last captured, in seconds since the epoch.
    captured: dict[str, float] = attrs.Factory(dict)
    #: The `SourcePane` of each pane, with the pane it was made from, by id.
    source_panes: dict[str, tuple[TmuxPane, SourcePane]] = attrs.Factory(dict)
    #: The option values of its windows, as last set.
    lights: dict[str, tuple[str, ...]] = attrs.Factory(dict)
    _known: dict[str, TmuxPane] = attrs.Factory(dict)
    _drawn: dict[str, int] = attrs.Factory(dict)
    #: The visible windows at the last look, and the panes and clients this is based on.
    _seen: object = None

    @property
    def control(self) -> ControlClient | None:
        """The control client that answers queries."""
        return next(iter(self.controls.values()), None)

    def is_due(self, now: float, part: float = 1.0) -> bool:
        """Return whether a new list is due; with *part*, whether that share of the interval is over."""
        every = (
            LIST_WHILE_NOTIFIED_S
            if self.control is not None
            else max(LIST_EVERY_S, LIST_EVERY_S * len(self.panes) / MANY_PANES)
        )
        return self.is_changed or now - self.looked_at >= every * part

    def take(self, form: QueryFormat, text: str, seen: TerminalsState) -> None:
        """Apply a list in *text*. A pane that has not changed keeps its `SourcePane` object."""
        self.panes = form.read_panes(text, self._known)
        self.clients = form.read_clients(text)
        self._drawn = {pane.id: pane.drawn_at for pane in self.panes}
        self.ears.keep(self._drawn)
        for gone in self.captured.keys() - self._drawn.keys():
            self.captured.pop(gone, None)
        self.see(seen)

    def see(self, by: TerminalsState) -> bool:
        """Work out the panes that a person sees; return whether that changed. If unknown, a pane is not seen."""
        people = [client for client in self.clients if not client.is_control]
        shown = {client.window_id for client in people if by.in_front.get(client.pid, client.is_focused)}
        attached: dict[str, tuple[str, ...]] = {}
        for client in people:
            if client.tty:
                attached[client.session_id] = (*attached.get(client.session_id, ()), client.tty)[:MAX_TERMINALS]
        machine = platform.node()
        # The lists are new with each answer.
        seen = shown, attached, self.panes, by.inside
        if self._seen is not None and self._seen == seen:
            return False
        self._seen = seen
        before, self.source_panes = self.source_panes, {}
        for pane in self.panes:
            visible = pane.window_id in shown and (pane.is_active or not pane.is_zoomed)
            terminals = attached.get(pane.session_id, ())
            inside = next(iter(by.inside.get(pane.tty, ())), None)
            known, place = before.get(pane.id), (visible, terminals, inside)
            if known is None or known[0] is not pane or _place(known[1]) != place:
                source_pane = self._source_pane(pane, machine, *place)
                known = pane, (known[1] if known is not None and known[1] == source_pane else source_pane)
            self.source_panes[pane.id] = known
        return before != self.source_panes

    def _source_pane(
        self, pane: TmuxPane, machine: str, visible: bool, terminals: tuple[str, ...], inside: PaneEntry | None
    ) -> SourcePane:
        """
        Return *pane* as its host gets it: attached on *terminals*, with *inside*, the entry of a session shown in it.
        """
        return SourcePane(
            id=id_of(pane),
            leader=0 if pane.is_dead else pane.pid,
            # Until a program sets a title, it is the machine's name. A title from the output is newer than the list.
            title=pane.title if pane.title != machine and not self.ears.has_title(pane.id) else None,
            together=None if pane.is_dead else self.together,
            read_every=CAPTURE_EVERY_S,
            is_still=functools.partial(self._is_still, pane.id),
            still_since=functools.partial(self._still_since, pane.id),
            tab=f"{pane.session}:{pane.window}",
            os_window=pane.session_id,
            host_title=pane.session,
            attach=("tmux", "-S", self.socket, "attach-session", "-t", f"{pane.session_id}:{pane.window_id}.{pane.id}"),
            terminals=terminals,
            visible=visible,
            terminal=pane.tty,
            inside=inside,
        )

    def _still_since(self, pane_id: str) -> float:
        """Return since when, in seconds since the epoch, nothing was drawn for sure. tmux counts seconds."""
        drawn_at = self._drawn.get(pane_id, 0)
        return drawn_at + DRAWING_SETTLES_S if drawn_at > 0 else math.inf

    def _is_still(self, pane_id: str) -> bool:
        """Return whether the last capture surely contains the last drawing."""
        return self.captured.get(pane_id, 0.0) >= self._still_since(pane_id)

    def light(self, entries: Mapping[str, PaneEntry]) -> list[str]:
        """Return the commands that make its windows show the most urgent light of their panes; empty if they do."""
        lights: dict[str, PaneEntry] = {}
        colliding: set[str] = set()
        for pane in self.panes:
            entry = entries.get(id_of(pane))
            if entry is not None and _is_lit(entry):
                colliding |= {pane.window_id} if entry.collides else set()
                best = lights.get(pane.window_id)
                if best is None or rollup.precedence(entry.status) > rollup.precedence(best.status):
                    lights[pane.window_id] = entry
        before, self.lights = self.lights, {}
        there = {pane.window_id for pane in self.panes if pane.light or pane.window_id in before}
        commands: list[str] = []
        for window, entry in lights.items():
            mark = paint.mark(entry.status, None) + (paint.COLLISION if window in colliding else "")
            colour = "#{:02X}{:02X}{:02X}".format(*paint.COLOURS.get(entry.status, paint.COLOURS[Status.IDLE]))
            self.lights[window] = values = entry.status.value, mark, colour
            if before.get(window) != values:
                for option, value in zip((OPTION, MARK_OPTION, COLOUR_OPTION), values, strict=True):
                    commands += ["set-option", "-wq", "-t", window, option, value, ";"]
        for window in there - lights.keys():
            for option in (OPTION, MARK_OPTION, COLOUR_OPTION):
                commands += ["set-option", "-wqu", "-t", window, option, ";"]
        return commands[:-1]


def _place(source_pane: SourcePane) -> tuple[object, ...]:
    """Return the values of a source pane that depend on the attached terminals."""
    return source_pane.visible, source_pane.terminals, source_pane.inside


def _is_lit(entry: PaneEntry) -> bool:
    """Return whether the status needs a light: not that of a plain command, nor of a shell at its prompt."""
    return entry.status is not Status.ACTIVE and (entry.status is not Status.IDLE or bool(entry.agent))


def id_of(pane: TmuxPane) -> str:
    """Return the pane's id in the snapshot."""
    return id_in(pane.server, pane.id)


def id_in(server: int, pane: str) -> str:
    """Return the snapshot's id of *pane* (`%3`) of the server process *server*."""
    return f"tmux/{server}/{pane}"
