"""`tally demo`: the script tells the truth about the engine, and the drawing stays in its place."""

from __future__ import annotations

import io
import re
import signal
from pathlib import Path

import pyte
import pytest

from tallylight.cli.main import main
from tallylight.cli.output import Output
from tallylight.parts.guide.verbs import demo
from tallylight.parts.guide.verbs.demo import SCRIPT, Demo
from tests.cli.test_status import launcher_with_attrs
from tests.tables import each
from tests.terminal import Terminal, bare_environment


def decisions(said: str) -> list[tuple[float, str, str]]:
    """Read the time-line: when, which tab, which light."""
    lines = [line.split(" s  ", 1) for line in said.splitlines() if " s  " in line and line.startswith(" ")]
    return [(float(at), rest[:5].strip(), rest[9:29].strip()) for at, rest in lines]


def test_plain_time_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal the whole script comes out at once, and shows each rule it speaks of."""
    assert main(["demo"]) == 0

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert decisions(said) == [
        (0.0, "pilot", "working"),
        (1.2, "pilot", "waiting (permission)"),
        (1.5, "pilot", "working"),
        (3.0, "pilot", "done"),
        (4.5, "pilot", "idle"),
        (5.5, "pilot", "working"),
        (6.5, "pilot", "waiting (permission)"),
        (612.0, "pilot", "working"),
        (613.0, "pilot", "down"),
        (615.0, "pilot", "no light"),
        (617.0, "scout", "working"),
        (623.5, "scout", "quiet"),
        (627.0, "scout", "working"),
        (629.0, "scout", "done"),
        (631.0, "scout", "no light"),
    ]


def test_script_is_in_order() -> None:
    """The steps are in the order of their times, whatever order they were written in."""
    assert [step.at for step in SCRIPT] == sorted(step.at for step in SCRIPT)


def played(columns: int, *, speed: float = 1.0) -> tuple[str, float]:
    """Play the script as on a terminal with a clock that takes no time; return what was drawn and the time waited."""
    stream, waited = io.StringIO(), []
    Demo(Output(stream, columns, colour=True, full_colour=True), speed, True, waited.append).run()
    return stream.getvalue(), sum(waited)


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_speed(speed: float) -> None:
    """The person waits for the script's own time over the speed, but not for what it skips."""
    _, waited = played(80, speed=speed)

    assert waited == pytest.approx((SCRIPT[-1].at + demo.ASKING_S + demo.REST_S) / speed)


def test_the_question_comes_first_and_one_key_answers_it() -> None:
    """It stands within two seconds, says which key, and goes when that is pressed; else it goes by itself."""

    def play(answers_at: float) -> tuple[float, str]:
        stream, passed = io.StringIO(), [0.0]

        def wait(seconds: float) -> bool:
            passed[0] += seconds
            return passed[0] >= answers_at

        Demo(Output(stream, 100, colour=False), 1.0, True, wait).run()
        said = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", stream.getvalue())
        return passed[0], said[: said.index("The answer is typed")]

    patient, said = play(1e9)
    assert "Press 1 to allow it" in said and "waiting (permission)" in said
    assert decisions(said)[-1][0] <= 2.0
    quick, _ = play(2.0)
    assert patient - quick == pytest.approx(demo.ASKING_S - 0.8, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 60, 100])
def test_drawing_stays_in_its_place(columns: int) -> None:
    """On a screen of any width every decision is on a line of its own, and the last strip is gone."""
    screen = pyte.HistoryScreen(columns, 12, history=500, ratio=1.0)
    stream = pyte.Stream(screen)

    said, _ = played(columns)
    stream.feed(said.replace("\n", "\r\n"))

    top = ["".join(line[x].data for x in range(columns)).rstrip() for line in screen.history.top]
    lines = [*top, *(line.rstrip() for line in screen.display)]
    marked = [line for line in lines if " s  scout" in line or " s  pilot" in line]
    assert len(marked) == 15
    assert not any("! pilot" in line or "until:" in line for line in lines)


def test_strip_pulses_only_while_something_waits() -> None:
    """Dark text on many shades of amber for what waits, on one red for what failed, on one green for news."""
    said, _ = played(80)
    fills = set(re.findall(r"\x1b\[48;2;([\d;]+)m\x1b\[38;2;0;0;0m", said))

    ambers = {shade for shade in fills if shade.startswith("255;")}
    assert len(ambers) > 10
    assert fills - ambers == {"34;170;85", "229;72;77"}


def test_on_a_real_terminal(tmp_path: Path) -> None:
    """On a pty it hides the cursor, draws, ends after the script and gives the cursor back."""
    with Terminal() as terminal:
        command = [*launcher_with_attrs(tmp_path), "demo", "--once", "--speed", "1000"]
        assert terminal.run(command, bare_environment(LANG="C.UTF-8")) == 0

        assert b"\x1b[?25l" in terminal.received
        assert terminal.received.endswith(b"\x1b[?25h")
        assert b"! scout" not in terminal.received.split(b"\x1b[?25h")[-1]
        assert b"waiting (permission)" in terminal.received


@pytest.mark.slow
def test_interrupt_gives_the_cursor_back(tmp_path: Path) -> None:
    """ctrl-C ends the demo with 130, the cursor shown and no traceback."""
    with Terminal() as terminal:
        process = terminal.start([*launcher_with_attrs(tmp_path), "demo"], bare_environment(LANG="C.UTF-8"))
        terminal.wait_for(b"Press 1 to allow it")
        process.send_signal(signal.SIGINT)
        received = terminal.wait_for(b"\x1b[?25h")

        assert process.wait(30) == 130
        assert b"Traceback" not in received


@pytest.mark.slow
def test_q_leaves_it(tmp_path: Path) -> None:
    """It says so at its beginning, for it runs again and again; the cursor is back, and nothing has failed."""
    with Terminal() as terminal:
        process = terminal.start([*launcher_with_attrs(tmp_path), "demo"], bare_environment(LANG="C.UTF-8"))
        assert b"until you press q" in terminal.wait_for(b"Press 1 to allow it")
        terminal.type(b"q")
        terminal.wait_for(b"\x1b[?25h")
        assert process.wait(30) == 0


def test_dumb_terminal_gets_the_plain_time_line(tmp_path: Path) -> None:
    """A terminal that cannot move its cursor gets no sequences."""
    with Terminal() as terminal:
        environment = bare_environment(LANG="C.UTF-8") | {"TERM": "dumb"}
        assert terminal.run([*launcher_with_attrs(tmp_path), "demo"], environment) == 0
        assert b"\x1b" not in terminal.received
        assert b"waiting (permission)" in terminal.received


@each("speed", ["0", "-1", "nan", "inf", "x", "1e9"])
def test_wrong_speed(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A speed at which nothing could be seen, or none, is wrong usage."""
    assert main(["demo", "--speed", speed]) == 2
    assert "usage:" in capsys.readouterr().err
