"""What a question is about is said of that question alone, however late the files and the hooks of its agent are."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Look, Pane
from tests.evidence.test_turn import EPOCH, line
from tests.hosts.test_pane import CLAUDE, HandTable, read_files, status_file, table

pytestmark = pytest.mark.slow

__all__ = ["table"]
SCREEN = Path(__file__).parents[1] / "evidence/screens/claude/permission-bash-80.txt"
#: Between two looks; how old a screen is when it was read.
POLL_S, READ_S = 0.25, 0.1


@attrs.frozen
class Turn:
    """Claude runs `touch zz0`, asked about it or not, and then asks for `touch zz1`."""

    is_asked: bool
    #: How long the first call runs, and how long the model then takes.
    runs_s: float
    thinks_s: float

    @property
    def answered(self) -> float:
        return 4.0 if self.is_asked else 2.0

    @property
    def asks(self) -> float:
        """When it asks the second time."""
        return self.answered + self.runs_s + self.thinks_s + 0.05

    @property
    def states(self) -> Iterator[tuple[float, str]]:
        yield 1.0, "busy"
        if self.is_asked:
            yield 2.05, "waiting"
            yield self.answered, "busy"
        yield self.asks, "waiting"

    @property
    def entries(self) -> Iterator[tuple[float, dict[str, object]]]:
        """The record, with the time of each entry."""
        ended = self.answered + self.runs_s
        yield 2.0, _call("zz0")
        yield ended, {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "zz0"}]}}
        yield ended + self.thinks_s, _call("zz1")

    @property
    def hooks(self) -> Iterator[tuple[float, str]]:
        """What hooks say, where there are any."""
        if self.is_asked:
            yield 2.05, "state=waiting;tool=claude;kind=permission;what=Bash: touch zz0"
        yield self.answered + self.runs_s, "state=working;tool=claude"
        yield self.asks, "state=waiting;tool=claude;kind=permission;what=Bash: touch zz1"

    def dialog(self, now: float) -> str:
        """What stands on the screen."""
        if self.is_asked and 2.05 <= now < self.answered:
            return "touch zz0"
        return "touch zz1" if now >= self.asks else ""


def _call(name: str) -> dict[str, object]:
    call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": f"touch {name}"}}
    return {"type": "assistant", "message": {"content": [call]}}


def _screen(command: str) -> Look:
    rows = SCREEN.read_text("utf-8").partition("---\n")[2].split("\n")
    row = next(number for number, text in enumerate(rows) if "❯ 1." in text)
    lines = [text.replace("touch made1", command) for text in rows] if command else [*rows[:3], "● At work"]
    return Look(lines, row if command else 3, 0, 80)


def run(pane: Pane, home: str, turn: Turn, held_s: float, phase_s: float, hook_s: float | None) -> str:
    """Play a *turn* with its record *held_s* back; what is wrong in what it is said to ask; nothing if all is right."""
    folder = Path(home, ".claude/projects/-w-api")
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "s-1.jsonl"
    pane.foreground(CLAUDE.pid, 0)
    said = list(turn.hooks) if hook_s is not None else []
    for number in itertools.count():
        now = 0.5 + phase_s + number * POLL_S
        at, state = max(((at, state) for at, state in turn.states if at <= now), default=(0.0, "idle"))
        waits = {"waitingFor": "permission prompt"} if state == "waiting" else {}
        status_file(home, status=state, statusUpdatedAt=int(1000 * (EPOCH + at)), **waits)
        written = [(at, entry) for at, entry in turn.entries if at + held_s <= now]
        record.write_bytes(b"".join(line(at, **entry) for at, entry in written))
        while said and said[0][0] + (hook_s or 0.0) <= now:
            pane.user_variable(said.pop(0)[1], now)
        read_files(pane, now)
        pane.screen(functools.partial(_screen, turn.dialog(now - READ_S)), now)
        pane.tick(now)
        entry = pane_entry(pane, float, id_="1", tab="1", os_window="1", title="")
        words = f"{entry.what} {entry.question} {entry.message} {pane.decision.report.what}"
        if now >= turn.asks and "zz0" in words:
            return f"{now - turn.asks:.2f} s: {words}"
        if now > turn.asks + 5:
            return "" if "zz1" in words else f"nothing: {words}"
    raise AssertionError


@pytest.mark.parametrize("hook_s", [None, 0.05, 0.6], ids=["no hooks", "hooks", "late hooks"])
@pytest.mark.parametrize("is_asked", [True, False], ids=["asked", "allowed"])
def test_no_question_has_the_words_of_another(table: HandTable, is_asked: bool, hook_s: float | None) -> None:
    """Not where the record is up to two seconds late, nor where it was never seen that the one before was answered."""
    agents, _ = agent_files.load_agents({"HOME": table.home})
    late = (0.0, 0.5, 1.0, 1.5, 2.0)
    for thinks_s, held_s, phase_s in itertools.product((0.05, 1.0), late, (0.0, 0.15)):
        pane = Pane(Timing(), ForegroundReader(agents, table), table)
        turn = Turn(is_asked, 0.02, thinks_s)
        assert run(pane, table.home, turn, held_s, phase_s, hook_s) == "", (turn, held_s, phase_s)
