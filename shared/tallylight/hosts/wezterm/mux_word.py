"""
The report of a mux server on a pane, in the pane's variable `tally_mux`, for the attached GUIs:
`waiting:permission;pane=4711.3;since=1700000000;tool=claude;…`.

The texts are those of OSC 1338. `pane` is its server and its number there: a GUI gives it a new number each time it
attaches. A value is untrusted: any program that can print to a pane can set it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tallylight.model.errors import DecodeError
from tallylight.model.status import Status
from tallylight.model.tool_call import request
from tallylight.snapshot import fields, rows
from tallylight.snapshot.schema import AttentionEntry, Pane
from tallylight.snapshot.values import kind_of, status_of
from tallylight.wire import osc1338
from tallylight.wire.text import sanitise

#: The longest text, in cells.
_MUX_TEXT_CELLS = 256
_HEAD = re.compile(r"([a-z]+)(?::([a-z]*))?((?:;.*)?)\Z", re.S)
_PANE = re.compile(r"\A;pane=([0-9]{1,10}\.[0-9]{1,12});")
_TIME = re.compile(r";(since|snoozed_until|muted_until)=([0-9]{1,12})(?=;|\Z)")


class ServerReport(NamedTuple):
    """The state of a server's pane: *where* names it there, empty if unknown, and *pane* is its entry."""

    where: str
    pane: Pane


def read(value: str) -> ServerReport | None:
    """Return the report in *value*; None if there is none."""
    found = _HEAD.match(value)
    if found is None or (status := status_of(found[1])) is None:
        return None
    try:
        said = osc1338.decode_payload(f"state=idle{found[3]}")
    except DecodeError:
        return None
    times = {name: float(time) for name, time in _TIME.findall(found[3])}
    where = _PANE.match(f"{found[3]};")
    pane = Pane(
        id="",
        status=status,
        kind=kind_of(found[2]),
        agent=said.agent,
        project=said.project,
        message=said.message,
        outcome=said.message,
        what=said.detail,
        since=times.get("since", 0.0),
        attention=AttentionEntry(
            snoozed_until=times.get("snoozed_until", 0.0), muted_until=times.get("muted_until", 0.0)
        ),
    )
    return ServerReport(where[1] if where is not None and pane.since else "", pane)


def write(pane: Pane, server: int) -> str:
    """Return the report of the mux server process *server* on *pane*; empty for a pane without a light."""
    if not rows.is_lit(pane):
        return ""
    attention = pane.attention
    times = {"since": pane.since, "snoozed_until": attention.snoozed_until, "muted_until": attention.muted_until}
    said = pane.outcome if pane.status is Status.DONE else ""
    if said and (behind := fields.words(pane.more)):
        said = f"{said} ({behind})"
    texts = {
        "tool": pane.agent,
        "project": pane.name or pane.project,
        "detail": request(pane.what),
        "message": said or pane.what or pane.question or pane.message,
    }
    head = f"{pane.status.value}:{pane.kind.value}" if pane.kind is not None else pane.status.value
    said_of = [f"pane={server}.{pane.id}", *(f"{name}={time:.0f}" for name, time in times.items() if time > 0)]
    said_of += [f"{name}={_encoded(text)}" for name, text in texts.items() if text]
    return ";".join((head, *said_of))


def _encoded(text: str) -> str:
    return sanitise(text, cells=_MUX_TEXT_CELLS).replace("%", "%25").replace(";", "%3B")
