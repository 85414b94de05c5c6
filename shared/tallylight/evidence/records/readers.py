"""The readers of records, which parts add under the name that an agent's file has for them (`record`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.reading import Reading
from tallylight.parts import index

#: The names of subagents and the places of their records, by id.
Below = Mapping[str, tuple[str, Place]]


@attrs.frozen
class Reader:
    """
    One kind of record.

    *locate* finds the record of a process. *read* takes its contents, or the bytes added to it, and the reading before.
    *queries* are asked of a database, with the session's id, and *rows* turns the answers into the input of *read*; a
    file has none. *is_rewritten*: *read* gets the file whole again, or as much of its end as is read of any.
    """

    locate: Callable[[Facts, Places], Place | None]
    read: Callable[[bytes, Reading | None], Reading]
    queries: tuple[str, ...] = ()
    rows: Callable[[Sequence[tuple[object, ...]]], bytes] = lambda _: b""
    is_rewritten: bool = False
    #: Whether it records all of a turn: that it goes on, that a person is asked and has answered, how it ended.
    is_exact: bool = False
    #: Returns the subagents of a turn with records of their own. It takes the place and the reading of their agent's,
    #: and those that it has found before.
    children: Callable[[Place, Reading, Below, Places], Below] | None = None
    #: Whether *locate* needs the open files of a process, and the other processes of its agent.
    wants_files: bool = False
    wants_others: bool = False
    #: Whether the other processes only rule a record out: then they are looked for only if there is one.
    others_last: bool = False


def reader(name: str) -> Reader | None:
    """Return the reader called *name* in an agent's file, imported now; None if no part declares it."""
    found = index.named("readers", name)
    if found is not None and not isinstance(found, Reader):
        raise TypeError(f"the reader {name} is no evidence.records.readers.Reader but {type(found).__name__}")
    return found
