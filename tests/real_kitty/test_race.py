"""In a real kitty, no answer is typed into a dialog that came before it. `benchmarks.races` counts many more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tallylight.actions.request import encode
from tests.real_kitty.race import BETWEEN, FIRST, SECOND, SURFACES, Race
from tests.real_kitty.test_agents_list import Board

#: Seconds between the other dialog and the answer: kitty has not parsed it, or not even read it.
AFTER = (0.0, 0.0002, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.05)


@pytest.fixture(scope="module")
def race(kitty_version: str) -> Iterator[Race]:
    board = Board(kitty_version)
    try:
        yield Race.start(board)
    finally:
        board.close()


@pytest.mark.parametrize("surface", SURFACES)
def test_an_answer_after_another_dialog_is_not_typed(race: Race, surface: str) -> None:
    """However soon after it: it is refused. Where no other dialog comes, it is typed."""
    found = [race.run(surface, after) for after in AFTER]
    assert [one for one in found if one.what == "other"] == []
    assert {one.rule for one in found if one.what == "refused"} in (
        {"changed"},
        {"the screen has changed since you saw it; nothing was typed"},
    )
    assert race.run(surface, None).what == "typed"


#: The person scrolls back a little, so that the dialog can still be seen as a whole.
_SCROLL = "import race; race.agent.screen.scroll({lines}, True); return race.agent.screen.scrolled_by"
_SHOWN = "import race; return race.text()"


def test_what_is_scrolled_back_to_is_not_compared(race: Race) -> None:
    """What a person has scrolled back to stands still; the program shows another dialog below, which gets nothing."""
    kitty = race.board.kitty
    # What is scrolled back to stands still only where it is drawn.
    kitty.focus_window(race.agent)
    for asked, below in ((BETWEEN, True), (FIRST, False)):
        kitty.eval(f"import race; race.tell({asked!r}, below={below})")
        kitty.wait_until(lambda asked=asked: asked in kitty.eval(_SHOWN), what=asked)
    assert kitty.eval(_SCROLL.format(lines=1)) == 1
    seen, question = kitty.eval(_SHOWN), race.ask()
    assert question is not None
    kitty.eval(f"import race; del race.writes[:]; race.tell({SECOND!r}, below=True)")
    rows = "chunks = []; race.agent.screen.as_text_non_visual(chunks.append, False, False); return ''.join(chunks)"
    kitty.wait_until(lambda: SECOND in kitty.eval(f"import race; {rows}"), what=SECOND)
    kitty.wait_until(lambda: kitty.eval(_SHOWN) == seen, what="what was scrolled back to")
    assert FIRST in seen

    line = encode(question.answer(1)).decode()
    ask = f"asked, _ = race.request.decode_request({line!r}.encode())"
    perform = "told = race.answering.perform(race.host, asked, race.PERSON)"
    told = kitty.eval(f"import race\n{ask}\n{perform}\nreturn [str(told), len(race.writes)]")
    assert "changed" in told[0] and told[1] == 0, told
