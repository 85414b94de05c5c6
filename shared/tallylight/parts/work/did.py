"""
The calls of an agent's last turn: commands, files outside its project, and denials.

They are in its transcript (`evidence.records.reading.Ran`). The host keeps them for `tally did`, in
`<state directory>/work/did/`, one file for each pane, and shows counts in the row.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.actions import git
from tallylight.evidence.records.reading import LONG_CELLS, Ran
from tallylight.files import directories, read_write
from tallylight.model import attributes
from tallylight.model.jobs import Submit
from tallylight.pane.pane import Pane
from tallylight.parts.work.row_fields import DID
from tallylight.parts.work.trees import prune
from tallylight.snapshot import values
from tallylight.snapshot.values import ID, declared, key, many, read, short, write
from tallylight.wire import values as wire_values

#: Seconds between two writings of one pane.
SAVE_DID_S = 1.0
MAX_DID_BYTES = 4_000_000
_MAX_COMMANDS = 1000

Id = TypeVar("Id", bound=Hashable)


@attributes.frozen(kw_only=True)
class Call:
    """One call as it is kept: see `Ran`. *outside* are the files that it wrote outside the project."""

    what: str = attributes.field(metadata=declared("", short(LONG_CELLS * 4)))
    at: float = key(0.0)
    is_command: bool = key(False, is_always=False)
    code: int | None = key(None, form=values.COUNT, is_always=False)
    by: str = key("", form=short(80), is_always=False)
    is_denied: bool = key(False, is_always=False)
    subagent: str = key("", form=short(80), is_always=False)
    outside: tuple[str, ...] = key((), form=values.PATHS, is_always=False)

    @property
    def is_network(self) -> bool:
        """Return whether a program that it names is known to ask the network."""
        return asks_network(self.what)


@attributes.frozen(kw_only=True)
class Did:
    """The calls of one pane's agent in its last turn, as of *at*, in seconds since the epoch."""

    pane: str = attributes.field(metadata=declared("", ID))
    agent: str = key("", form=short(80))
    at: float = key(0.0)
    calls: tuple[Call, ...] = key((), form=many(Call, _MAX_COMMANDS))

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Return what the row says."""
        in_a_row: dict[str, int] = {}
        for call in self.calls:
            in_a_row[call.subagent] = in_a_row.get(call.subagent, 0) + 1 if call.is_denied else 0
        denied = sum(call.is_denied for call in self.calls)
        ran = sum(call.is_command and not call.is_denied for call in self.calls)
        outside = {path for call in self.calls if not call.is_denied for path in call.outside}
        return ran, denied, len(outside), max(in_a_row.values(), default=0)


def path_of(address: str, environ: Mapping[str, str]) -> Path:
    """Return where the file of the pane at *address* is."""
    name = hashlib.sha256(address.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return directories.state_dir(environ) / "work" / "did" / f"{name}.json"


def load(address: str, environ: Mapping[str, str]) -> Did | None:
    """Return what is known of a pane; None for nothing."""
    found = read(Did, wire_values.members(read_write.own_or_nothing(path_of(address, environ), MAX_DID_BYTES)))
    return found if isinstance(found, Did) and found.pane == address else None


@attrs.define
class Doings(Generic[Id]):
    """Keeps the calls in all panes of the host *name*. *changed* is called with each pane that has other counts."""

    name: str
    environ: Mapping[str, str]
    submit: Submit
    clock: Callable[[], float]
    changed: Callable[[Id], None]
    #: The calls that were read last of each pane, and when, monotonic.
    _seen: dict[Id, tuple[Mapping[str, Ran], float]] = attrs.field(factory=dict)

    def look(self, id_: Id, pane: Pane, now: float) -> None:
        """Take in what is new in the transcript of *pane*."""
        reading = pane.transcript.found.reading if pane.transcript is not None else None
        before, at = self._seen.get(id_, ({}, 0.0))
        if reading is None or reading.ran == before or now - at < SAVE_DID_S:
            return
        cwd, agent = pane.conversation.entry.cwd, pane.agent.name if pane.agent is not None else ""
        ran = tuple(reading.ran.values())
        job = functools.partial(_kept, f"{self.name}:{id_}", agent, cwd, ran, self.environ, self.clock())
        if self.submit(("did", id_), job, functools.partial(self._was_kept, id_, pane)):
            self._seen[id_] = reading.ran, now

    def forget(self, id_: Id) -> None:
        """Forget a pane that is gone."""
        self._seen.pop(id_, None)

    def _was_kept(self, id_: Id, pane: Pane, counts: tuple[int, int, int, int]) -> None:
        if (counts if any(counts) else None) != pane.more.get(DID):
            pane.more.pop(DID, None)
            if any(counts):
                pane.more[DID] = counts
            pane.tracker.touch()
            self.changed(id_)


def _kept(
    address: str, agent: str, cwd: str, ran: tuple[Ran, ...], environ: Mapping[str, str], now: float
) -> tuple[int, int, int, int]:
    """Write what *ran* into the file of its pane; return its counts."""
    calls = tuple(_calls(ran, cwd, environ))
    found = Did(pane=address, agent=agent, at=now, calls=calls)
    file = path_of(address, environ)
    if not file.parent.is_dir():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not file.exists():
        prune(file.parent, now)
    read_write.atomic_write(file, json.dumps(write(found), separators=(",", ":")).encode(), 0o600, durable=False)
    return found.counts


def _calls(ran: tuple[Ran, ...], cwd: str, environ: Mapping[str, str]) -> Iterator[Call]:
    place = git.place_of(cwd, environ.get("HOME", "/")) if cwd else None
    top = place.top if place is not None else cwd
    for one in sorted(ran, key=attrgetter("at")):
        whole = [os.path.normpath(Path(cwd, path)) for path in one.paths]
        outside = tuple(path for path in whole if not Path(path).is_relative_to(top))
        if one.is_command or one.paths or one.is_denied or asks_network(one.what):
            yield Call(
                what=one.what, at=one.at, is_command=one.is_command, code=one.code, by=one.by,
                is_denied=one.is_denied, subagent=one.subagent, outside=outside,
            )  # fmt: skip


#: Programs that ask the network: with any words, and with these.
_WITH = {
    "": "aws az curl dig ftp gcloud gh glab kubectl nc ncat nslookup npx ping rsync scp sftp ssh telnet wget "
    "WebFetch WebSearch",
    **dict.fromkeys(("apt", "apt-get", "brew", "dnf", "yum"), "install update upgrade"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), "install i ci add publish update exec dlx x"),
    **dict.fromkeys(("pip", "pip3", "uv", "poetry", "pipx"), "install sync add download lock"),
    **dict.fromkeys(("docker", "podman"), "pull push login build run"),
    "cargo": "install add fetch publish update",
    "git": "push pull fetch clone ls-remote submodule",
    "go": "get install mod",
}
_PARTS = re.compile(r"[;&|()\n`]+|\$\(")
#: Words before the name of a program.
_BEFORE = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+|(?:sudo|env|time|nohup|exec|command)\s+)*")


def asks_network(what: str) -> bool:
    """Return whether a program that *what* names, `Bash: git push`, is known to ask the network."""
    tool, _, command = what.partition(": ")
    parts = [tool, *(_BEFORE.sub("", part.strip(), count=1) for part in _PARTS.split(command))]
    return any(_asks(*part.split()[:6]) for part in parts if part.strip())


def _asks(program: str, *words: str) -> bool:
    name = program.rpartition("/")[2]
    return name in _WITH[""].split() or not set(_WITH.get(name, "").split()).isdisjoint(words)
