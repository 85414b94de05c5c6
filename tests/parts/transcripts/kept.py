"""The records of real agents that `tests.real_agents.make_records` kept, and the truth about each."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import attrs

from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading
from tallylight.parts import index
from tallylight.parts.transcripts import PART

FOLDER = Path(__file__).parent
READERS: dict[str, Reader] = {name: index.load(path) for name, path in PART.readers.items()}
#: The name of the reader of every record that was kept, by its folder: an agent, and behind a `-` an older version or
#: what is special about it.
AGENTS = {
    path.parent.name: {"kilo": "opencode"}.get(base := path.parent.name.partition("-")[0], base)
    for path in sorted(FOLDER.glob("*/about.json"))
}
#: Those that keep a file of lines; the others a database, or a document that is written anew each time.
FILES = tuple(name for name, reader in AGENTS.items() if reader not in ("opencode", "cline"))
DATABASES = tuple(name for name, reader in AGENTS.items() if reader == "opencode")


@attrs.frozen
class Kept:
    """One record of a real agent."""

    agent: str
    data: bytes
    truths: tuple[tuple[float, str], ...]
    #: What stood beside it, and when that was written and what it said, and how many messages there were, in order.
    beside: bytes = b""
    seen: tuple[tuple[float, float, str, int], ...] = ()

    @property
    def reader(self) -> Reader:
        return READERS[AGENTS[self.agent]]

    @property
    def lines(self) -> list[bytes]:
        """Its lines, each with its end."""
        return self.data.splitlines(keepends=True)

    def truth(self, at: float) -> str:
        """What was true then."""
        return next((name for since, name in reversed(self.truths) if since <= at), "starting")

    def steps(self) -> Iterator[Reading]:
        """The readings of it as it grew: line by line, of a document whole each time, of a database by messages."""
        state: Reading | None = None
        parts: Iterable[bytes] = self.lines
        if self.reader.is_rewritten:
            parts = self.prefixes()
        elif self.reader.queries:
            parts = grown(self.agent)
        for part in parts:
            state = self.reader.read(part, state)
            yield state

    def prefixes(self) -> Iterator[bytes]:
        """It as it was after each of its lines; a document, after each of its messages."""
        if self.reader.is_rewritten:
            document = json.loads(self.data)
            for _, written, status, number in self.seen:
                said = re.sub(rb'"status": "[a-z]+"', f'"status": "{status}"'.encode(), self.beside)
                whole = document | {"messages": document["messages"][:number]}
                text = json.dumps(whole, ensure_ascii=False, indent=2).encode()
                yield b"%.6f\n%b\0%b" % (written, said, text)
            return
        length = 0
        for line in self.lines:
            length += len(line)
            yield self.data[:length]


@cache
def kept(agent: str, number: int = 0) -> Kept:
    """The record of *agent*: of a database, the rows that are read of its first session."""
    about = json.loads((FOLDER / agent / "about.json").read_text("utf-8"))
    truths = tuple((at, name) for at, name in about["truths"])
    beside = FOLDER / agent / "status.json"
    seen = tuple((at, written, status, count) for at, written, status, count in about.get("seen", ()))
    (path,) = (FOLDER / agent).glob(f"record{number or ''}.*.gz")
    text = gzip.decompress(path.read_bytes())
    if path.suffixes[0] != ".sql":
        return Kept(agent, text, truths, beside.read_bytes() if beside.exists() else b"", seen)
    database = sqlite3.connect(":memory:")
    database.executescript(text.decode())
    return Kept(agent, rows(database), truths)


def make_database(agent: str, path: Path) -> str:
    """Make the database of *agent* at *path*, in the mode that it has there; the id of its first session."""
    database = sqlite3.connect(path)
    database.execute("pragma journal_mode = wal")
    database.executescript(gzip.decompress((FOLDER / agent / "record.sql.gz").read_bytes()).decode())
    (session,) = database.execute("select id from session where parent_id is null").fetchone()
    database.close()
    return str(session)


def rows(database: sqlite3.Connection) -> bytes:
    """What the reader of databases is given of the first session in *database*."""
    reader = READERS["opencode"]
    (session,) = database.execute("select id from session where parent_id is null").fetchone()
    return reader.rows([row for query in reader.queries for row in database.execute(query, (session,))])


def grown(agent: str) -> Iterator[bytes]:
    """What the reader of databases was given of that of *agent*: before its first message, and after each."""
    database = sqlite3.connect(":memory:")
    database.executescript(gzip.decompress((FOLDER / agent / "record.sql.gz").read_bytes()).decode())
    messages = [row[0] for row in database.execute("select id from message order by time_created, id")]
    for number in range(len(messages) + 1):
        part = sqlite3.connect(":memory:")
        database.backup(part)
        part.executemany("delete from message where id = ?", [(id_,) for id_ in messages[number:]])
        yield rows(part)


def read(record: Kept, *parts: bytes) -> Reading:
    """What the reader makes of *parts*, one after the other; of all of the record if there are none."""
    state: Reading | None = None
    for part in parts or (record.data,):
        state = record.reader.read(part, state)
    assert state is not None
    return state
