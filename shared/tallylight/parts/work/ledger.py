"""
The ledger: which trees a work tree had at the beginning and the end of each stretch of an agent's turn.

`<state directory>/work/<work tree>/turns.jsonl`, one JSON object a line. A turn is one stretch, or several: a person
who looks while it goes on ends one stretch, and begins the next. A line that cannot be read costs itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from tallylight.files import read_write
from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.parts.work.trees import OTHERS_S, kept_since
from tallylight.snapshot.values import ID, TEXTS, declared, key, read, short, write
from tallylight.snapshot.writer import held
from tallylight.wire import values

#: Bytes of the file; when there are more, the older half goes.
MAX_LEDGER_BYTES = 4_000_000
#: Paths that are kept of what others wrote.
MAX_OTHERS = 64


@attributes.frozen(kw_only=True)
class Stretch:
    """
    The time between two trees, *before* and *after*, in the turn of one agent that began at *turn*.

    Times are in seconds since the epoch. *pane* is its address, *pid* its process. *is_fresh*: a person had looked when
    it began. *others* are files that other agents wrote meanwhile, by their transcripts, and this one did not; *beside*
    counts those agents. *left* files were too large. *is_undo*: no agent did it, but `tally diff --undo`.
    """

    pane: str = attributes.field(metadata=declared("", ID))
    pid: int = key(0)
    agent: str = key("", form=short(MAX_WORD_CHARS))
    turn: float = key(0.0)
    began: float = key(0.0)
    ended: float = key(0.0)
    before: str = attributes.field(metadata=declared("", ID))
    after: str = attributes.field(metadata=declared("", ID))
    is_fresh: bool = key(False, is_always=False)
    is_undo: bool = key(False, is_always=False)
    others: tuple[str, ...] = key((), form=TEXTS, is_always=False)
    beside: int = key(0, is_always=False)
    left: int = key(0, is_always=False)


def path_of(folder: Path) -> Path:
    """Return where the ledger of a store is."""
    return folder / "turns.jsonl"


def add(folder: Path, stretches: Iterable[Stretch], now: float) -> None:
    """Write *stretches* behind what is there, without what is too old."""
    with held(folder, "another host writes there", OTHERS_S):
        first = kept_since(now)
        kept = [one for one in load(folder) if one.began >= first]
        lines = [json.dumps(write(one), separators=(",", ":")).encode() + b"\n" for one in (*kept, *stretches)]
        while sum(map(len, lines)) > MAX_LEDGER_BYTES:
            del lines[: len(lines) // 2 + 1]
        read_write.atomic_write(path_of(folder), b"".join(lines), 0o600)


def load(folder: Path) -> list[Stretch]:
    """Return all stretches, the oldest first."""
    try:
        data = read_write.read_own(path_of(folder), 2 * MAX_LEDGER_BYTES)
    except FileNotFoundError:
        return []
    found: list[Stretch] = []
    for line in data.splitlines():
        try:
            one = read(Stretch, values.load(line))
        except DecodeError:
            continue
        if isinstance(one, Stretch) and all(map(_is_tree, (one.before, one.after))):
            found.append(one)
    return found


def _is_tree(tree: str) -> bool:
    """Return whether *tree* is the name of an object, and nothing that git would take for an option."""
    return len(tree) in (40, 64) and not set(tree) - set("0123456789abcdef")


def of_pane(stretches: Iterable[Stretch], pane: str, pid: int | None) -> list[Stretch]:
    """Return those of one pane: by its address, or else by the process of its agent, which another host showed."""
    every = list(stretches)
    own = [one for one in every if one.pane == pane]
    return own or [one for one in every if pid is not None and one.pid == pid]


def last_turn(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the stretches of the last turn."""
    return [one for one in stretches if one.turn == stretches[-1].turn]


def since_looked(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return what came since the person had last looked before the last stretch began, or before it went on."""
    first = max((at for at, one in enumerate(stretches) if one.is_fresh), default=0)
    return list(stretches[first:])


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return *stretches* as few: one that begins with the tree that the one before ended with continues it."""
    found: list[Stretch] = []
    for one in stretches:
        last = found.pop() if found and found[-1].after == one.before else one
        others = tuple(dict.fromkeys((*last.others, *one.others)))[:MAX_OTHERS]
        beside, left = max(last.beside, one.beside), max(last.left, one.left)
        whole = attrs.evolve(last, after=one.after, ended=one.ended, others=others, beside=beside, left=left)
        found.append(whole)
    return found
