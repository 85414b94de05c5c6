"""
The readers of records, which parts add by the name that an agent's file has for them (`record`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.reading import Reading
from tallylight.parts import index


@attrs.frozen
class Reader:
    """
    One kind of record.

    *locate* finds that of a process, and *read* takes what it holds, or what was added to it, and the reading before.
    *queries* are asked of a database, with the session's id, and *rows* makes of the answers what *read* takes; a file
    has none. A file that is *rewritten* is given to *read* again whole, or as much of its end as is read of any.
    """

    locate: Callable[[Facts, Places], Place | None]
    read: Callable[[bytes, Reading | None], Reading]
    queries: tuple[str, ...] = ()
    rows: Callable[[Sequence[tuple[object, ...]]], bytes] = lambda _: b""
    is_rewritten: bool = False
    #: Whether it has all of a turn as it is: that it goes on, that a person is asked and has answered, how it ended.
    is_exact: bool = False
    #: Where the record of a subagent is, by its id and the place of its agent's, if it has one of its own.
    child: Callable[[Place, str, Places], str] | None = None
    #: Whether *locate* wants to know the open files of a process, and the other processes of its agent.
    wants_files: bool = False
    wants_others: bool = False
    #: Whether it finds nothing with them that it does not find without: then they are looked for only if there is one.
    others_last: bool = False


def reader(name: str) -> Reader | None:
    """Return the reader of a part by the *name* that an agent's file has for it, imported now; None if none has it."""
    found = index.named("readers", name)
    if found is not None and not isinstance(found, Reader):
        raise TypeError(f"the reader {name} is no evidence.records.readers.Reader but {type(found).__name__}")
    return found
