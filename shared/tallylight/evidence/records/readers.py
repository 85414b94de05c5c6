"""
The readers of records, by the name that an agent file has for them (`record`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tallylight.evidence.records import aider, claude, cline, codex, copilot, gemini, kimi, opencode, pi, qwen
from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.reading import Reading


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


READERS: dict[str, Reader] = {
    "aider": Reader(aider.locate, aider.read, wants_others=True, others_last=True),
    "claude": Reader(claude.locate, claude.read),
    "cline": Reader(cline.locate, cline.read, is_rewritten=True, is_exact=True, wants_files=True),
    "codex": Reader(codex.locate, codex.read, child=codex.child, wants_files=True, wants_others=True),
    "copilot": Reader(copilot.locate, copilot.read, is_exact=True, wants_files=True),
    "gemini": Reader(gemini.locate, gemini.read, wants_others=True),
    "kimi": Reader(kimi.locate, kimi.read, is_exact=True, wants_others=True),
    "opencode": Reader(
        opencode.locate, opencode.read, opencode.QUERIES, opencode.tail, wants_files=True, wants_others=True
    ),
    "pi": Reader(pi.locate, pi.read, wants_others=True),
    "qwen": Reader(qwen.locate, qwen.read),
}
