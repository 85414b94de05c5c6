"""A far end in this process: its hosts and its panes are in the hands of the test."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence

import attrs

from tallylight.actions.answer import Typist
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.parts.remote.bridge import Bridge
from tallylight.parts.remote.messages import Beat, decode
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.wire.styled import StyledScreen
from tests.actions.callers import CALLERS, as_caller, at


@attrs.define
class HandFeed:
    """The hosts that a test says there are."""

    snapshots: tuple[Snapshot, ...] = ()
    _seen: tuple[Snapshot, ...] | None = None

    def poll(self, now: float) -> bool:
        is_new, self._seen = self._seen is not self.snapshots, self.snapshots
        return is_new

    def descriptors(self) -> list[int] | None:
        return None


def shown(*panes: Pane, host: str = "sessions-7") -> Snapshot:
    """What *host* shows."""
    name, _, pid = host.rpartition("-")
    return Snapshot(host=name, pid=int(pid), started=0.0, written=0.0, panes=panes)


@attrs.define
class HandPanes:
    """Typists by the ids of panes, as `hosts.detached` finds them by what they show."""

    typists: Mapping[str, Typist] = attrs.field(factory=dict)

    def can_type(self, host: str, pane: Pane) -> bool:
        return pane.id in self.typists

    def at(self, host: str, pane: Pane) -> Typist | Refusal:
        return self.typists.get(pane.id) or Refusal("unreachable", f"{host}:{pane.id} is not a pane of ours")

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        raise NotImplementedError


@attrs.define
class Far:
    """A bridge that runs, and this end of it."""

    feed: HandFeed
    to: int
    out: int
    _read: list[bytes] = attrs.field(init=False, factory=list)
    _rest: bytes = attrs.field(init=False, default=b"")

    def send(self, data: bytes) -> None:
        os.write(self.to, data)

    def lines(self, count: int) -> list[bytes]:
        """The next *count* lines that it says, but for beats, which come when a machine is slow."""
        while len(self._read) < count:
            chunk = os.read(self.out, 65_536)
            assert chunk, self._read
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._read += [line for line in whole if decode(line) != Beat()]
        found, self._read = self._read[:count], self._read[count:]
        return found


@contextlib.contextmanager
def far(
    hosts: Sequence[Snapshot] = (),
    typists: Mapping[str, Typist] | None = None,
    environ: Mapping[str, str] | None = None,
    who: Who = Who.PERSON,
    level: str = "own",
) -> Iterator[Far]:
    """A bridge in a thread, until the end of the block; *who* asks by way of it."""
    feed = HandFeed(tuple(hosts))
    environ = environ or dict(os.environ)
    reach = PaneClient(HandPanes(typists or {}), as_caller(who), at(level), environ=environ, asks_for=CALLERS[who])
    bridge = Bridge(feed, reach, "1.2.3", environ, wall=lambda: 1000.0)
    far_in, to = os.pipe()
    out, far_out = os.pipe()

    def run() -> None:
        bridge.run(far_in, far_out)
        os.close(far_in)
        os.close(far_out)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield Far(feed, to, out)
    finally:
        os.close(to)
        thread.join(20)
        assert not thread.is_alive()
        os.close(out)
