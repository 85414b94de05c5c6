"""Every answer that must not be typed, by way of a machine: nothing is typed over there, whatever has changed."""

from __future__ import annotations

import pytest

from tallylight.actions.gate import Refusal
from tallylight.model.status import Status
from tallylight.parts.remote.messages import Ask, Reply, decode, encode
from tallylight.snapshot.schema import Pane
from tests.actions.desk import PANE, Desk
from tests.actions.hostile import HOSTILE
from tests.parts.remote.far import far, shown
from tests.tables import sampled

pytestmark = pytest.mark.slow


def test_hostile_answers() -> None:
    """Out of date, another pane, an agent that is gone, a process number used again, a question drawn again."""
    desk = Desk(HOSTILE[0].before)
    with far([shown(Pane(id=PANE, status=Status.WAITING))], {PANE: desk}) as end:
        end.lines(3)
        for number, case in enumerate(sampled(HOSTILE), 1):
            desk.now = case.before
            given = case.change(desk.shown().answer(case.number))
            desk.now = case.after
            line = encode(Ask(number, "sessions-7", given))
            if not isinstance(decode(line), Ask):
                continue  # it is no message
            end.send(line)
            reply = decode(end.lines(1)[0])
            assert isinstance(reply, Reply), case.name
            assert isinstance(reply.told, Refusal) and desk.typed == [], (case.name, reply.told)
