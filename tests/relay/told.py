"""What a relay writes of its own: told apart from what it passes on, and read as a host reads it."""

from __future__ import annotations

from collections.abc import Iterable

from tallylight import wire
from tallylight.model.report import Report
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore
from tallylight.relay.passthrough import Unwrapper
from tallylight.wire import osc1338
from tallylight.wire.scanner import Sequence
from tallylight.wire.user_var import UserVar

QUERY = b"\x1b]7501;?\x1b\\"


def told(data: bytes) -> list[Report]:
    """The reports in the `tally` variables of *data*, read as a host reads them."""
    found = []
    unwrapper = Unwrapper()
    sequences = [item for item in Scanner().feed(data) if isinstance(item, Sequence)]
    for sequence in [inner for each in sequences for inner in (each, *unwrapper.feed(each))]:
        event = wire.decode(sequence)
        if not isinstance(event, UserVar) or event.name != "tally":
            continue
        if (report := osc1338.decode_variable(event.value)) is not None:
            found.append(report)
    return found


def words(data: bytes) -> list[str]:
    """The same in short: `a/b=working`, `=clear`."""
    return [f"{report.id}={report.status or 'clear'}" for report in told(data)]


class Line:
    """A core on a time-line: what is fed at which second, and what has come out."""

    def __init__(self, core: RelayCore | None = None) -> None:
        self.core = core or RelayCore()

    def at(self, now: float, *pieces: bytes) -> bytes:
        """Feed the program's bytes at *now*; return what goes to the terminal."""
        for piece in pieces:
            self.core.from_child(piece, now)
        return self.core.to_terminal()

    def tick(self, now: float) -> bytes:
        """Let time pass until *now*; return what goes to the terminal."""
        self.core.tick(now)
        return self.core.to_terminal()

    def run(self, until: float, now: float) -> list[tuple[float, bytes]]:
        """Tick whenever the core asks for it; return when something came out, and what."""
        found = []
        while (due := self.core.deadline()) is not None and due <= until:
            now = max(now, due)
            if data := self.tick(now):
                found.append((now, data))
        return found


def state(reports: Iterable[Report]) -> dict[str, Report]:
    """What a host knows after *reports*, by id."""
    known: dict[str, Report] = {}
    for report in reports:
        if report.status is None:
            known = {id_: kept for id_, kept in known.items() if not _is_within(id_, report.id)}
        else:
            known[report.id] = report
    return known


def _is_within(id_: str, top: str) -> bool:
    return not top or id_ == top or id_.startswith(f"{top}/")
