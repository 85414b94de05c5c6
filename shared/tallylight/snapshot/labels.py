"""
Labels: a person's names for conversations, and the grouping of the list.

A label belongs to the conversation, not to the pane: it stays after a resume, a move or a restart. The label of an
agent without a known conversation lasts as long as its process in that pane.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.model import attributes
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.values import MAX_TEXT_CHARS, Json, Reads, key, number, one_of, read, short, write
from tallylight.wire.text import sanitise
from tallylight.wire.values import exact

VERSION = 1
#: The groupings of a list; the first is none.
GROUPS = ("", "project", "machine", "terminal", "session", "agent")
#: The most cells of a name.
MAX_NAME = 40
#: The most labels; beyond that the one with the oldest change is dropped.
MAX_LABELS = 500
#: The most characters of a key.
MAX_LABEL_KEY_CHARS = 600


def named(name: str) -> str:
    """Return *name* as it is kept: one line of at most `MAX_NAME` cells, without control characters."""
    return sanitise(name, cells=MAX_NAME).strip()


@attributes.frozen
class Label:
    """A person's label of one conversation. Further fields in a file of an earlier version are left out."""

    name: str = key("", "the name that you gave the conversation", short(MAX_TEXT_CHARS, named))

    from_json = Reads()
    to_json = write


NOTHING = Label()


def keys(host: str, pane: Pane) -> tuple[str, ...]:
    """Return the keys under which the label of *pane* may be kept, best first: its conversation, its process."""
    found, found_agent = pane.conversation, pane.conversation.agent or pane.agent
    session = found.session or pane.session
    by_session = (f"{found_agent}/{session}",) if session and found_agent else ()
    return (*by_session, f"{host}:{pane.id}/{pane.agent_pid or 0}")


@attributes.frozen
class Labels:
    """All labels, and the grouping of lists: *group*, one of `GROUPS`."""

    group: str = key("", form=one_of(GROUPS))
    #: The labels by key, each with the time of its change, in seconds since the epoch.
    _entries: Mapping[str, tuple[Label, float]] = attributes.field(factory=dict)

    @classmethod
    def from_json(cls, value: object) -> Labels | None:
        """Return the labels in a document; None if it is none of this version."""
        if not isinstance(value, dict) or value.get("version") != VERSION or (found := read(cls, value)) is None:
            return None
        entries: dict[str, tuple[Label, float]] = {}
        listed = value.get("labels")
        for one in listed[:MAX_LABELS] if isinstance(listed, list) else ():
            label = Label.from_json(one) or NOTHING
            if label != NOTHING and (kept := exact(one.get("key"), MAX_LABEL_KEY_CHARS)):
                entries[kept] = label, number(one.get("at"))
        return cls(found.group, entries)

    def to_json(self) -> Json:
        listed = [{"key": kept, **label.to_json(), "at": at} for kept, (label, at) in self._entries.items()]
        return {"version": VERSION, **write(self), "labels": listed}

    def of(self, host: str, pane: Pane) -> Label:
        """Return the label of *pane* of *host*; `NOTHING` if it has none."""
        if not self._entries:
            return NOTHING
        return next((self._entries[key][0] for key in keys(host, pane) if key in self._entries), NOTHING)

    def with_label(self, host: str, pane: Pane, label: Label, now: float) -> Labels:
        """Return these labels with *label* for *pane*, changed at *now*, in seconds since the epoch."""
        places = keys(host, pane)
        kept = {key: entry for key, entry in self._entries.items() if key not in places}
        if label != NOTHING:
            kept[places[0]] = label, now
        if len(kept) > MAX_LABELS:
            del kept[min(kept, key=lambda key: kept[key][1])]
        return attributes.evolve(self, entries=kept)
