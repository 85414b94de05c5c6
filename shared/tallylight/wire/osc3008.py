"""
Agent presence: `OSC 3008 ; start=agent ; event=busy ST`, as Supacode and others send it. It has no page of its own.

In: one sequence. Out: a Report or a Notification, or DecodeError. At most 4096 bytes a frame, 32 pairs of it.

systemd sends 3008 too, with another meaning (https://uapi-group.org/specifications/specs/osc_context): its frames also
begin with `start=` and `end=` but have neither `event` nor `kind`. Only the known words of these two are ours.
"""

from __future__ import annotations

from tallylight.model.errors import DecodeError
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire import base64
from tallylight.wire.agent_name import agent_name
from tallylight.wire.frame import check_ours
from tallylight.wire.notification import Notification, from_texts
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import is_ascii_id

NUMBER = 3008
FRAME_LIMIT = 4096
PAIR_LIMIT = 32
#: The events of `start=`. The event of `end=` is `session_end`, which withdraws.
STATUSES = {
    b"session_start": Status.IDLE,
    b"idle": Status.IDLE,
    b"busy": Status.WORKING,
    b"awaiting_input": Status.WAITING,
}
RULE = "osc-3008"
BEGINNINGS = b"3008;start=", b"3008;end="
#: The beginning of a frame that is certainly of this protocol.
CERTAIN = rb"3008;start=[a-z]{1,32};event=(?:busy|idle)(?=[;\x07\x1b])"


def decode(sequence: Sequence) -> Report | Notification:
    """Read one frame; `not-ours` for systemd's."""
    check_ours(sequence, NUMBER, FRAME_LIMIT)
    first, *tokens = sequence.body.split(b";", PAIR_LIMIT)[:PAIR_LIMIT]
    what, _, name = first.partition(b"=")
    fields = {key: value for key, equals, value in [token.partition(b"=") for token in tokens] if equals}
    event, kind = fields.get(b"event"), fields.get(b"kind")
    agent = name.decode("ascii", "replace")
    if what not in (b"start", b"end") or not is_ascii_id(agent):
        raise DecodeError("not-ours")
    if what == b"start" and event in STATUSES:
        return Report(source=Source.PROTOCOL, rule=RULE, status=STATUSES[event], agent=agent_name(agent))
    if what == b"end" and event == b"session_end":
        return Report(source=Source.PROTOCOL, rule=RULE, status=None, agent=agent_name(agent))
    if what == b"start" and event is None and kind == b"notify":
        return from_texts(*[base64.decode_text(fields.get(key, b"")) for key in (b"title", b"body")])
    raise DecodeError("not-ours", "neither a known event nor a known kind")
