"""
Writes the scene that our Lua draws, `wezterm-<pid of the GUI>.scene.json`, and keeps parts of it for the next sidecar.

A new sidecar starts without knowledge, and gets a title before the agent's files. Until it has looked at everything, it
shows a pane as the last sidecar did, where that knew more.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
import time
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, NamedTuple

from tallylight.agents.agent import Agents
from tallylight.files import read_write
from tallylight.hosts.wezterm import scene
from tallylight.hosts.wezterm.pane_list import TabBar
from tallylight.hosts.wezterm.scene import VERSION, Place
from tallylight.model.errors import TallyError
from tallylight.model.limits import MAX_PANES
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.tracker.rollup import urgency
from tallylight.wire import values

#: Seconds in which a new sidecar has looked at everything.
LOOKS_S = 8.0
#: A server's finished turn counts as seen after so many seconds in front of a person; and how many are remembered.
DWELL_S, MAX_SEEN_TURNS = 1.0, 200
_MAX_SCENE_BYTES = 1024 * 1024
_FRESH, _STALE = b'"stale": false', b'"stale": true '


class SceneFile:
    """The scene file at *path*; *agents* are all known agents."""

    def __init__(self, path: Path, agents: Agents) -> None:
        self._path, self._agents = path, agents
        self._lock = threading.Lock()
        #: Whether the file may have to be written again, and when a text of it changes, by the monotonic clock.
        self.is_due = False
        self._changes_at = math.inf
        before = _read(path)
        self._former = before.panes
        self._until = time.monotonic() + LOOKS_S if before.panes else 0.0
        self._seen = before.seen
        self._looked_at: dict[str, float] = {}
        #: The panes as they are drawn.
        self.shown: tuple[Pane, ...] = ()
        self._written: dict[str, Any] = {}

    def has_to_change(self, now: float) -> bool:
        """Return whether the file may have to change although no pane did. *now* is monotonic."""
        return self.is_due or now >= self._changes_at

    def write(self, entries: Mapping[str, Pane], places: Mapping[str, Place], front: Set[str], bar: TabBar) -> bool:
        """Write the scene of *entries*, where a person sees those of *front*; return whether anything changed."""
        with self._lock:
            now = time.monotonic()
            self._note_seen_turns(places, front, now)
            panes = {
                id_: (scene.shown(self._settled(entry, places[id_], now), places[id_], self._seen), places[id_])
                for id_, entry in entries.items()
            }
            self.shown = tuple(pane for pane, _ in panes.values())
            made = scene.compose(panes, bar, self._agents, time.time())
            self._changes_at = now + made.changes_in
            if self._former:
                self._changes_at = min(self._changes_at, self._until)
            if self._looked_at:
                self._changes_at = min(self._changes_at, min(self._looked_at.values()) + DWELL_S)
            drawn = {"tabs": made.tabs, "paints": made.paints, "summary": made.summary}
            return self._write_if_changed(drawn | {"seen": self._seen})

    def write_words(self, words: Mapping[str, str]) -> bool:
        """Write the reports of a mux server's Lua to the GUIs; return whether anything changed."""
        with self._lock:
            return self._write_if_changed({"words": {id_: word for id_, word in words.items() if word}})

    def _write_if_changed(self, made: dict[str, Any]) -> bool:
        """
        Write *made* unless the file has it already; return whether it was written. A failed write marks the file as
        stale.
        """
        if made == self._written:
            return False
        head = {"version": VERSION, "stale": False, "written": time.time(), "pid": os.getpid()}
        data = json.dumps({**head, **made}, ensure_ascii=False).encode()
        try:
            read_write.atomic_write(self._path, data, 0o600, durable=False)
        except (OSError, TallyError):
            # The file is out of date. Marking it so takes no room on the disk.
            with contextlib.suppress(OSError), self._path.open("r+b") as file:
                at = file.read(100).find(_FRESH)
                if at >= 0:
                    file.seek(at)
                    file.write(_STALE)
            return True
        self._written = made
        return True

    def _note_seen_turns(self, places: Mapping[str, Place], front: Set[str], now: float) -> None:
        """Record finished turns of servers that a person sees: the server does not know of that."""
        in_front = [told for id_ in front if (told := places[id_].server) is not None and told.where]
        turns = {told.where: told.pane.since for told in in_front if told.pane.status is Status.DONE}
        turns = {where: since for where, since in turns.items() if self._seen.get(where) != since}
        self._looked_at = {where: self._looked_at.get(where, now) for where in turns}
        for where, since in list(self._looked_at.items()):
            if now - since >= DWELL_S:
                self._seen = dict([*self._seen.items(), (where, turns[where])][-MAX_SEEN_TURNS:])
                del self._looked_at[where]

    def _settled(self, entry: Pane, place: Place, now: float) -> Pane:
        """Return *entry*, or that of the last sidecar while this one has not looked at the whole pane."""
        if place.server is not None:
            return entry
        if now >= self._until:
            self._former = {}
        before = self._former.get(entry.id)
        return before if before is not None and _is_hasty(entry, before) else entry


def _is_hasty(entry: Pane, before: Pane) -> bool:
    """Return whether *entry* is a guess of a new sidecar that is worth less than the state *before*."""
    is_guess = entry.status is Status.ACTIVE or entry.reason.source == Source.HEURISTIC.word
    is_less = entry.reason.source != before.reason.source and urgency(entry.status) < urgency(before.status)
    return is_guess or is_less


class _Before(NamedTuple):
    """The contents of the last sidecar's file: the pane of each tab that it drew, and the finished turns seen."""

    panes: dict[str, Pane]
    seen: dict[str, float]


def _read(path: Path) -> _Before:
    """Return the contents of the file at *path*; nothing if it is missing or damaged."""
    found = values.members(read_write.own_or_nothing(path, _MAX_SCENE_BYTES))
    if found.get("version") != VERSION:
        return _Before({}, {})
    tabs, seen = found.get("tabs"), found.get("seen")
    drawn = list(tabs.values())[:MAX_PANES] if isinstance(tabs, dict) else []
    panes = [pane for value in drawn if isinstance(value, dict) and (pane := scene.pane_of(value)) is not None]
    turns = list(seen.items())[:MAX_SEEN_TURNS] if isinstance(seen, dict) else []
    return _Before(
        {pane.id: pane for pane in panes},
        {where: float(since) for where, since in turns if isinstance(since, int | float)},
    )
