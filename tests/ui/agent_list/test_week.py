"""The week in the list: `t` shows bars of an agent and a day each, at every size, and a key leads back."""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.snapshot import history_file
from tallylight.snapshot.history import History
from tallylight.snapshot.turns import Ending, Turn
from tallylight.snapshot.waiting_time_file import today
from tallylight.ui import ansi
from tallylight.ui.agent_list import press, reading, state, week
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.effects import Plain
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.keys import Key, Mouse
from tallylight.wire.text import width
from tests.tables import each
from tests.ui.agent_list.panes import listed, pane, pressed
from tests.ui.agent_list.program import List

#: A Sunday.
NOON = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
HOUR = 3600.0


def turn(back: int, agent: str, worked: float, waited: float, **more: object) -> Turn:
    """A turn *back* days ago; times in hours."""
    began = NOON - 24 * HOUR * back
    made = Turn(
        id=f"{back}-{agent}", agent=agent, began=began, ended=began, worked_s=worked * HOUR, waited_s=waited * HOUR
    )
    return attrs.evolve(made, **more)  # type: ignore[arg-type]


def history(*turns: Turn) -> History:
    return History(tuple(today(NOON - 24 * HOUR * back) for back in range(6, -1, -1)), turns, today)


WEEK = history(
    turn(0, "claude", 2, 0.5, questions=4),
    turn(0, "codex", 0.5, 0, questions=1, ending=Ending.ERROR),
    turn(1, "claude", 4, 4),
    turn(3, "codex", 0.001, 0),
)


def texts(shown: week.Week, columns: int = 80, lines: int = 12, scroll: int = 0) -> list[str]:
    return ["".join(span.text for span in line).rstrip() for line in week.draw(shown, columns, lines, scroll)]


def test_bars() -> None:
    """Today first; work and waiting to one scale, each with its time; a day without anything is named."""
    assert texts(WEEK) == [
        "the week: worked 6 h 30 min, waited for you 4 h 30 min",
        "Sun 22  claude  █████████▊▒▒                                2 h  30 min      4 ?",
        "        codex   ██▌                                      30 min     0 s  1 ? 1 ×",
        "Sat 21  claude  ███████████████████▌▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒     4 h     4 h",
        "Fri 20  –",
        "Thu 19  codex   ▏                                           4 s     0 s",
        "Wed 18  –",
        "Tue 17  –",
        "Mon 16  –",
        "",
        "",
        "█ worked  ▒ waited for you  t, Esc back   q quit",
    ]


def test_a_narrow_screen() -> None:
    """The bars stay, their times go."""
    assert texts(WEEK, 30, 5) == [
        "the week: worked 6 h 30 min,…",
        "Sun 22  claude  ███▌▒",
        "        codex   ▉",
        "Sat 21  claude  ███████▒▒▒▒▒▒▒",
        "t, Esc back   q quit",
    ]
    assert texts(WEEK, 30, 5, scroll=1)[1] == texts(WEEK, 30, 5)[2]


@each(("shown", "said"), [(None, "  reading …"), ("the disk is gone", "  the disk is gone"), (history(), "Sun 22  –")])
def test_without_bars(shown: week.Week, said: str) -> None:
    """While it is read, where it cannot be read, and where there is nothing."""
    assert texts(shown)[1] == said
    assert texts(shown)[0].startswith("the week")


_TURNS = st.lists(
    st.builds(
        turn,
        st.integers(0, 6),
        st.sampled_from(["claude", "日本語のエージェント", "a" * 40]),
        st.floats(0, 24),
        st.floats(0, 24),
        questions=st.integers(0, 10**6),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(_TURNS, st.integers(1, 200), st.integers(1, 40), st.integers(0, 30))
def test_any_size(turns: list[Turn], columns: int, lines: int, scroll: int) -> None:
    """As many lines as the screen has, none wider than it, whatever agents did."""
    shown = attrs.evolve(state.resized(State(), columns, lines), mode=Mode.WEEK, week=history(*turns), scroll=scroll)
    drawn = draw(shown)

    assert len(drawn) <= lines
    assert all(sum(width(span.text) for span in line) <= columns for line in drawn)


def test_work_and_waiting_differ_without_colour() -> None:
    """The two have characters of their own; with colour those of their lights."""
    (line,) = [line for line in week.draw(WEEK, 80, 12, 0) if line and "Sun" in line[0].text]

    assert "█▒" in ansi.sgr(line, ansi.Depth.NONE).replace("▊", "")
    assert ansi.sgr(line, ansi.Depth.FULL).count("\x1b[38;2;") == 2


def test_the_key() -> None:
    """`t` asks for the week and shows that it is read; what was read is shown; any key leads back, and `q` quits."""
    shown, effects = press.press(listed(pane(1)), Key("t"))
    assert effects == (Plain.LOOK_BACK,) and shown.mode is Mode.WEEK
    found = state.looked_back(shown, WEEK)
    assert "Sun 22" in draw(found)[1][0].text
    assert press.press(found, Key("q"))[1] == (Plain.QUIT,)
    for event in (Key("t"), Key("escape"), Mouse("press", 1, 1)):
        back, effects = press.press(found, event)
        assert (back.mode, back.week, effects) == (Mode.LIST, None, ())
    assert state.looked_back(listed(pane(1)), WEEK).week is None, "it comes late, and nobody looks any more"
    assert state.refreshed(found, found.rows, found.now + 60).mode is Mode.WEEK


def test_without_any_agent() -> None:
    """What was done is there to be seen also when nobody works."""
    assert press.press(listed(), Key("t"))[0].mode is Mode.WEEK


def test_it_scrolls() -> None:
    """By keys and the wheel, and not beyond its end."""
    shown = state.looked_back(press.press(state.resized(listed(pane(1)), 80, 5), Key("t"))[0], WEEK)
    assert pressed(shown, "down")[0].scroll == 1
    assert pressed(shown, "end")[0].scroll == week.count(WEEK) - 3
    assert pressed(pressed(shown, "end")[0], "page_down", "home")[0].scroll == 0
    assert press.press(shown, Mouse("wheel_down", 1, 1))[0].scroll == press.WHEEL


def test_the_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It reads on a thread, once at a time, and says what is wrong."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    reader = reading.Reading[History | str]()
    assert reader.poll() is None and not reader.is_going

    def read() -> History | str:
        reader.begin(reading.week)
        reader.begin(lambda: "a second time")
        assert reader.is_going
        end = time.monotonic() + 30
        while (found := reader.poll()) is None:
            assert time.monotonic() < end
            time.sleep(0.005)
        return found

    found = read()
    assert isinstance(found, History) and len(found.days) == 7 and found.turns == ()
    path = history_file.path({"XDG_STATE_HOME": str(tmp_path)})
    path.parent.mkdir(parents=True)
    path.parent.chmod(0o777)
    path.write_bytes(b"")
    assert "other users" in str(read())
    assert reader.poll() is None


@pytest.mark.slow
def test_in_a_terminal(tmp_path: Path) -> None:
    """The real list, on a real file: `t` shows today's bar, and `t` again the list."""
    began = time.time() - 60
    path = history_file.path({"XDG_STATE_HOME": str(tmp_path / "state")})
    history_file.append(path, [turn(0, "claude", 2, 1, began=began, ended=began + 30)])
    shown = List(tmp_path, XDG_STATE_HOME=str(tmp_path / "state"))
    shown.wait("No agent runs yet")
    shown.terminal.type(b"t")
    assert any("█▒" in line or "▒" in line for line in shown.wait("worked"))
    shown.terminal.type(b"t")
    shown.wait("No agent runs yet")
    shown.terminal.type(b"q")

    assert shown.end() == 0
