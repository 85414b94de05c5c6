"""Every key of every protocol, said through `tally run` in a real kitty: where it is kept and shown, and its end."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tallylight.cli import status, why
from tallylight.cli.output import UNBOUNDED_CELLS, Output
from tallylight.parts.web.model import session_of
from tallylight.snapshot import rows
from tallylight.snapshot.addresses import Panes
from tallylight.snapshot.schema import Snapshot
from tallylight.ui.agent_list import state
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.record import State
from tests.real_kitty.test_relay import Agent, Bench
from tests.wire.protocol_keys import BEFORE, CLEARS, ROWS, Row

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

TEMPLATE = 'tab_title_template "{tab.tally}{title} {tab.tally_project} {tab.tally_var_ticket}"\n'


@pytest.fixture(scope="module")
def agent(kitty_version: str) -> Iterator[Agent]:
    """The program in one kitty for all keys."""
    bench = Bench(kitty_version)
    bench.reload(f"tab_bar_style fade\nshell bash\n{TEMPLATE}")
    yield Agent(bench)
    bench.close()


def say(agent: Agent, *payloads: str) -> None:
    """Have the program write these sequences."""
    agent.say(b"".join(b"\x1b]%b\x07" % payload.encode() for payload in payloads))


def found(agent: Agent) -> tuple[Snapshot, Row] | None:
    """The snapshot, and the program's pane in it."""
    shown = agent.bench.snapshot()
    panes = Panes.of([shown], []).panes if shown is not None else ()
    pane = next((one for one in panes if one.pane.id == str(agent.window)), None)
    return (shown, pane) if shown is not None and pane is not None else None


def kept(agent: Agent, key: str) -> Any:
    """What `tally status --json` has under *key*."""
    here = found(agent)
    document: Any = status.to_json(Panes.of([here[0]], []), [here[1]]) if here is not None else {"panes": [{}]}
    return json.loads(json.dumps(document))["panes"][0].get(key)


def surfaces(agent: Agent) -> dict[str, str]:
    """The text of each surface."""
    here = found(agent)
    assert here is not None
    explained = io.StringIO()
    why.draw(Output(explained, UNBOUNDED_CELLS), here[1], here[0].written)
    listed = state.refreshed(
        state.resized(State(), 160, 40), rows.build([here[0]], "", here[0].written), here[0].written
    )
    return {
        "tab": agent.bench.bar(),
        "list": "\n".join("".join(span.text for span in line) for line in draw(listed)),
        "page": session_of(here[1], can_see=True, can_type=True).model_dump_json(),
        "why": explained.getvalue(),
    }


#: The keys that stand beside each other are said in one go, as a kitty on a busy machine takes its time.
_BESIDE = [row for row in ROWS if row.protocol == "OSC 26" and row.key not in ("CodeAgent", "Status")]
GROUPS = [_BESIDE, *([row] for row in ROWS if row not in _BESIDE)]


@pytest.mark.parametrize("rows_", GROUPS, ids=lambda rows_: f"{rows_[0].protocol} {rows_[0].key}")
def test_keys(agent: Agent, rows_: list[Row]) -> None:
    """What is said is kept and shown where the table says, until it is cleared as the table says."""
    wait = agent.bench.kitty.wait_until
    say(agent, *CLEARS, BEFORE[rows_[0].protocol], *(row.sent for row in rows_))
    for row in rows_:
        wait(lambda row=row: kept(agent, row.kept) == row.value, what=f"{row.kept} {row.value}")
        wait(lambda row=row: not missing(agent, row), what=f"{row.key} in {missing(agent, row)}")
    say(agent, *(row.cleared for row in rows_))
    for row in rows_:
        wait(lambda row=row: kept(agent, row.kept) != row.value, what=f"the end of {row.kept}")


def missing(agent: Agent, row: Row) -> dict[str, str]:
    """The surfaces that do not show what *row* says, and what they show."""
    texts = surfaces(agent)
    return {name: texts[name] for name, text in row.shown.items() if text not in texts[name]}
