"""What a pane is said to be asked for is of the question that stands there, with all that a host really has."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.screen import Look
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.tracker.notify import View, notice
from tests.actions.desk import look
from tests.evidence.test_turn import EPOCH, answered, called
from tests.hosts.test_pane import CLAUDE, HandTable, status_file


@attrs.define
class Host:
    """A pane with Claude Code, its files, and what a host does with them in every tick."""

    pane: Pane
    home: Path
    transcript: bytes = b""
    tick: int = 0
    now: float = 0.0

    def file(self, status: str, at: float) -> None:
        """Claude's status file says so since *at*, and a worker reads it; so much is in its transcript."""
        said = {"status": status, "statusUpdatedAt": int(1000 * (EPOCH + at)), "cwd": "/w"}
        status_file(str(self.home), **said, **({"waitingFor": "permission prompt"} if status == "waiting" else {}))
        path = self.home / ".claude/projects/-w/s-1.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.transcript)
        self.now, self.tick = max(at, self.now + 0.25), self.tick + 1
        for request in self.pane.requests():
            self.pane.take_result(request, request.read(), self.now)

    def screen(self, shown: Look) -> None:
        """Its screen shows this in two looks."""
        for _ in range(2):
            self.now += 0.25
            self.pane.screen(lambda: shown, self.now)
            self.pane.tick(self.now)

    @property
    def words(self) -> tuple[str, ...]:
        """All that is told of what it asks: in the snapshot, and in a notification."""
        told = pane_entry(self.pane, lambda at: at, id_="1", tab="", os_window="", title="")
        assert told.status == "waiting"
        shown = notice("1", View(decision=self.pane.decision, visible=False))
        title = shown.title.removeprefix(f"{shown.project}: ")
        notified = [text.removeprefix("claude asks for permission").strip(": ") for text in (title, shown.body)]
        return tuple(filter(None, (told.what, told.message, told.question, *notified)))


def asks(command: str) -> Look:
    """Claude's dialog for *command*."""
    shown = look("claude/permission-bash-80")
    return attrs.evolve(shown, lines=[line.replace("touch made1", command) for line in shown.lines])


@pytest.mark.parametrize("result", [b"", answered(3, "a")], ids=["not written yet", "written"])
def test_the_command_before_is_not_what_is_asked(tmp_path: Path, result: bytes) -> None:
    """The file says that it waits before the transcript has the call and the screen was looked at: nothing is named."""
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    host = Host(Pane(Timing(), ForegroundReader(agents, table), table), tmp_path)
    host.pane.foreground(CLAUDE.pid, 0.0)
    host.file("busy", 1)
    host.transcript = called(2, "a", "touch zz0")
    host.file("waiting", 2.1)
    host.screen(asks("touch zz0"))
    question = "Do you want to proceed?"
    assert host.words == ("Bash: touch zz0", question, question, "touch zz0", question)

    host.transcript += result
    host.file("busy", 3)
    host.screen(look("claude/working-80"))
    host.file("waiting", 4)
    assert host.words == ()
    host.screen(asks("touch zz1"))
    assert host.words == ("Bash: touch zz1", question, question, "touch zz1", question)
    host.transcript += called(3.9, "b", "touch zz1 && ls")
    host.file("waiting", 4)
    assert host.words[0] == "Bash: touch zz1 && ls"
