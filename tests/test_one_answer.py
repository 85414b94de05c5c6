"""Every surface that answers a pane from outside, in a process of its own: one question is answered once, by all."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from starlette.testclient import TestClient

from tallylight.actions import client as clients
from tallylight.actions.answer import Answer, Done
from tallylight.actions.caller import PERSON, Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.request import id_of
from tallylight.cli import reaching
from tallylight.cli.main import main
from tallylight.model.status import Status
from tallylight.parts.remote.messages import Ask, InitialStateSent, Reply, decode, encode
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.actions import Direct
from tests.actions.callers import as_caller, at
from tests.actions.desk import Desk, seen
from tests.cli.panes import publish
from tests.parts.remote.far import Far, HandPanes, far, shown
from tests.parts.web.serving import AUTH, PORT, Served
from tests.patience import until
from tests.ui.agent_list.panes import asking, rows_of

DIALOG, WORK = "claude/permission-bash-80", "claude/working-120"
WAITING = Pane(id="3", status=Status.WAITING, agent="claude", agent_pid=4711)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the agent to go on: it is slow."""
    monkeypatch.setattr(clients, "KEYS_SETTLE_S", 0.0)


@pytest.fixture
def desk() -> Desk:
    """The one pane that there is, and its agent, which draws nothing by itself."""
    return Desk(seen(DIALOG))


def _client(desk: Desk, who: Who = Who.PERSON) -> PaneClient:
    """What a new process reaches the pane with."""
    return PaneClient(HandPanes({"3": desk}), as_caller(who), at("all"))


def by_list(desk: Desk, given: Answer) -> str:
    """A key in a list."""
    row = attrs.evolve(rows_of(asking(3))[0], host="sessions-1", is_own=False)
    return _rule(Direct(os.environ, lambda: _client(desk)).perform(row, given))


def by_page(desk: Desk, given: Answer) -> str:
    """A tap on the page of a server."""

    @attrs.define
    class New(Served):
        @property
        def client(self) -> PaneClient:
            return PaneClient(self.panes, lambda: PERSON, lambda _: "none")

    served = New()
    served.panes.desks["3"] = desk
    served.shows("sessions", WAITING)
    body = {"address": "sessions-1:3", "pid": given.pid, "start": given.start, "choice": given.number}
    with TestClient(served.app(), base_url=f"http://127.0.0.1:{PORT}", headers=AUTH) as client:
        told = client.post("/api/v1/answer", json={**body, "fingerprint": given.fingerprint})
    return "typed" if told.status_code == 200 else str(told.json()["rule"])


def by_script(desk: Desk, given: Answer) -> str:
    """`tally send --answer`."""
    publish(Path(os.environ["XDG_RUNTIME_DIR"]), [WAITING], host="sessions", allow="all")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.setattr(reaching, "client_of", lambda _: _client(desk, Who.SCRIPT))
        main(["send", "3", "--answer", str(given.number), "--to", id_of(given), "--json"])
    return str(json.loads(out.getvalue())["refused"] or "typed")


def by_bridge(desk: Desk, given: Answer) -> str:
    """Another machine."""
    with far([shown(WAITING)], {"3": desk}) as end:
        return _rule(_answer(end, given))


def _rule(told: object) -> str:
    assert isinstance(told, Done | Refusal), told
    return told.rule if isinstance(told, Refusal) else "typed"


def _begin(end: Far) -> None:
    while decode(end.lines(1)[0]) != InitialStateSent():
        pass


def _answer(end: Far, given: Answer) -> object:
    _begin(end)
    end.send(encode(Ask(1, "sessions-7", given)))
    reply = decode(end.lines(1)[0])
    assert isinstance(reply, Reply)
    return reply.told


SURFACES = (by_list, by_page, by_script, by_bridge)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"), list(itertools.product(SURFACES, SURFACES)), ids=lambda by: by.__name__.removeprefix("by_")
)
def test_a_second_surface_answers_nothing(
    desk: Desk, first: Callable[[Desk, Answer], str], second: Callable[[Desk, Answer], str]
) -> None:
    """What one has answered no other answers, until the agent has drawn something else; then it is a new question."""
    given = desk.shown().answer(1)
    assert (first(desk, given), second(desk, given), desk.typed) == ("typed", "answered", ["1"])
    desk.now = seen(WORK, Status.WORKING)
    assert second(desk, given) != "typed"
    desk.now = seen(DIALOG)
    assert (second(desk, given), first(desk, given), desk.typed) == ("typed", "answered", ["1", "1"])


#: After how much of what is asked the connection ends, and after how many bytes of what is replied.
CUTS = [(0.0, 0), (0.1, 0), (0.5, 0), (0.99, 0), (1.0, 0), (1.0, 1), (1.0, 20), (1.0, 10_000)]


@pytest.mark.parametrize(("sent", "read"), CUTS)
def test_a_connection_that_ends(desk: Desk, sent: float, read: int) -> None:
    """Whatever it ends after: who comes again is refused if it was answered, and it is answered once if it was not."""
    given = desk.shown().answer(1)
    asked = encode(Ask(1, "sessions-7", given))
    with far([shown(WAITING)], {"3": desk}) as end:
        _begin(end)
        if data := asked[: int(len(asked) * sent)]:
            end.send(data)
        if read:
            os.read(end.out, read)
    was_typed = bool(desk.typed)
    assert was_typed or not read
    found = by_bridge(desk, given)
    # One that was cut while it was done may type after its end was seen, but then the one that came again did not.
    until(lambda: desk.typed, "nobody has typed")
    assert found == ("answered" if was_typed else found) and desk.typed == ["1"]
    if sent < 1:
        assert found == "typed"
    assert by_bridge(desk, given) == "answered" and desk.typed == ["1"]
