"""A pane of any host: what is told of it becomes evidence, with a process table and files made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.own_files import FILE_REMOVED_S
from tallylight.pane.pane import Look, Pane
from tallylight.pane.run import MISSING_FILE_TICKS
from tallylight.tracker.attention import DWELL_S
from tallylight.wire import osc1338

SHELL = Process(10, 1, 10, "bash", ("-bash",), "/usr/bin/bash", 100)
CLAUDE = Process(20, 10, 20, "claude", ("claude",), "/opt/claude", 200)
AIDER = Process(30, 10, 30, "aider", ("/v/bin/python3", "/v/bin/aider"), "/usr/bin/python3.11", 300)
CRUSH = Process(70, 10, 70, "crush", ("crush",), "/usr/bin/crush", 700)
CODEX = Process(80, 10, 80, "codex", ("codex",), "/v/bin/codex", 800)
COPILOT = Process(60, 10, 60, "MainThread", ("node", "/v/.bin/copilot"), "/usr/bin/node", 600)
SSH = Process(40, 10, 40, "ssh", ("ssh", "host"), "/usr/bin/ssh", 400)
VIM = Process(50, 10, 50, "vim", ("vim", "claude.md"), "/usr/bin/vim", 500)


@attrs.define
class HandTable:
    """A process table that holds what it is given."""

    home: str
    processes: dict[int, Process] = attrs.Factory(
        lambda: {p.pid: p for p in (SHELL, CLAUDE, AIDER, CRUSH, CODEX, COPILOT, SSH, VIM)}
    )
    folder: str = ""

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def token(self, pid: int) -> object:
        process = self.get(pid)
        return process.exe if process is not None else None

    def fingerprint(self, pid: int) -> object:
        return self.get(pid)

    def start(self, pid: int) -> int | None:
        process = self.get(pid)
        return process.start if process is not None else None

    def start_time(self, pid: int) -> float | None:
        return None

    def cwd(self, pid: int) -> str:
        return self.folder

    def environ(self, pid: int) -> dict[str, str]:
        return {"HOME": self.home}

    def descendants(self, pid: int) -> tuple[Process, ...]:
        return ()

    def group(self, pgrp: int) -> tuple[Process, ...]:
        return tuple(p for p in self.processes.values() if p.pgrp == pgrp)


@pytest.fixture
def table(tmp_path: Path) -> HandTable:
    return HandTable(str(tmp_path))


@pytest.fixture
def pane(table: HandTable) -> Pane:
    agents, problems = agent_files.load_agents({"HOME": table.home})
    assert not problems
    return Pane(Timing(), ForegroundReader(agents, table), table)


def read_files(pane: Pane, now: float) -> None:
    """What a host's worker does for a pane."""
    wanted = pane.own_files.file_request()
    if wanted is not None:
        pane.take_result(wanted, wanted.read(), now)


def status_file(home: str, pid: int = 20, **entries: object) -> Path:
    path = Path(home, ".claude/sessions", f"{pid}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"pid": pid, "procStart": "200", "sessionId": "s-1", "cwd": "/w/api", "status": "idle", **entries}
    path.write_text(json.dumps(content))
    return path


def rows(*texts: str, cursor: int = 9) -> Look:
    return Look([*texts, *[""] * (10 - len(texts))], cursor_row=cursor, cursor_column=0, columns=40)


@pytest.mark.parametrize("process", [SHELL, VIM, SSH], ids=lambda p: p.comm)
def test_what_is_no_agent_never_lights(pane: Pane, process: Process) -> None:
    """Output of a shell, an editor or a connection is nothing, however much there is of it."""
    pane.foreground(process.pid, 0)
    for second in range(1, 20):
        pane.screen(lambda s=second: rows(*(f"line {s} {i}" for i in range(9))), second)
        pane.tick(second)

    assert not pane.decision.is_lit


def test_an_agent_of_another_machine_is_called_by_that(pane: Pane) -> None:
    """As it was typed, until the agent over there says what it works on."""
    pane.foreground(SSH.pid, 0)
    assert pane.project == "host"
    pane.user_variable("state=waiting;tool=claude;cwd=/srv/cart", 1)
    pane.tick(1)
    assert pane.project == "cart"


def test_an_agent_that_says_nothing_is_watched(pane: Pane) -> None:
    """Blue while it draws, quiet 4 s after its last output, and still quiet ten minutes later."""
    pane.foreground(CRUSH.pid, 0)
    pane.screen(lambda: rows("a"), 0)
    pane.screen(lambda: rows("a", "b", "c", "d"), 1)
    assert pane.decision.status is Status.WORKING
    assert pane.decision.report.agent == "crush"

    pane.tick(4.9)
    assert pane.decision.status is Status.WORKING
    pane.tick(5)
    assert pane.decision.status is Status.QUIET

    pane.tick(605)
    assert pane.decision.status is Status.QUIET


def test_new_settings_do_not_feed_the_fuse(pane: Pane) -> None:
    """A report that is judged again is as old as before: its work ends 300 s after it came."""
    pane.foreground(CRUSH.pid, 0)
    pane.user_variable("state=working;tool=crush", 1)
    pane.reconsider_foreground(200)
    pane.tick(300.9)
    assert pane.decision.status is Status.WORKING
    pane.tick(301.1)
    assert pane.decision.status is not Status.WORKING


@pytest.mark.parametrize("is_gone", [True, False])
@pytest.mark.parametrize(("says", "left"), [("waiting", "waiting"), ("error", "error"), ("working", "")])
def test_a_program_leaves_a_shell_without_marks(
    pane: Pane, table: HandTable, says: str, left: str, is_gone: bool
) -> None:
    """What it asked stays until it is looked at, and its work ends: it has ended, or was stopped."""
    for at, process in enumerate((SHELL, VIM)):
        pane.foreground(process.pid, at)
    pane.user_variable(f"state={says}", 2)
    pane.look(True, 2)
    pane.look(True, 4)
    if is_gone:
        del table.processes[VIM.pid]
    pane.foreground(SHELL.pid, 5)

    assert (pane.decision.status if pane.decision.is_lit else "") == left
    assert not pane.attention.seen or not left
    pane.look(True, 5)
    pane.look(True, 7)
    assert not pane.decision.is_lit


@pytest.mark.parametrize("way", ["emit", "sleep", "marks"])
def test_what_a_script_says_outlives_its_commands(pane: Pane, way: str) -> None:
    """`tally emit waiting; sleep 5; read answer`: nobody has answered while the shell itself reads."""
    pane.foreground(SHELL.pid, 0)
    pane.foreground(VIM.pid, 1)
    if way == "marks":
        pane.marked(True, None, 1)
    pane.user_variable("state=waiting", 2)
    if way == "sleep":
        pane.foreground(CRUSH.pid + 1, 2.1)
    pane.foreground(SHELL.pid, 2.1 if way == "emit" else 9)
    pane.look(True, 9)
    pane.look(True, 11)

    assert pane.decision.status is Status.WAITING


def test_a_shell_that_becomes_a_command_ends_nothing(pane: Pane, table: HandTable) -> None:
    """The child that a shell has just made is the shell for a moment."""
    table.processes[99] = attrs.evolve(SHELL, pid=99, pgrp=99, start=990)
    pane.foreground(SHELL.pid, 0)
    pane.user_variable("state=working", 1)
    pane.foreground(99, 2)

    assert pane.decision.status is Status.WORKING


def test_a_relay_ends_what_was_looked_at(pane: Pane) -> None:
    """What its program asked is news again once that has ended, and a look ends it."""
    pane.foreground(SHELL.pid, 0)
    pane.user_variable("state=waiting", 1)
    pane.look(True, 1)
    pane.look(True, 3)
    pane.user_variable(f"state=clear;via={osc1338.EXIT}", 4)
    assert pane.decision.status is Status.WAITING
    pane.look(True, 4)
    pane.look(True, 6)

    assert not pane.decision.is_lit


def test_typing_at_a_prompt_is_no_work(pane: Pane) -> None:
    """The echo of what a person types leaves amber amber."""
    pane.foreground(CRUSH.pid, 0)
    pane.screen(lambda: rows("hello?", "> ", cursor=1), 0)
    pane.tick(5)
    for n in range(1, 12):
        pane.screen(lambda n=n: rows("hello?", "> " + "what now?"[:n], cursor=1), 5 + n / 4)

    assert pane.decision.status is Status.WAITING


def test_an_idle_prompt_on_the_screen_is_not_waiting(pane: Pane) -> None:
    """Of an agent whose prompt is known, silence at it is no question; a question below it is, with its words."""
    pane.foreground(AIDER.pid, 0)
    for tick in range(40):
        pane.screen(lambda: rows("hello", "> ", cursor=1), tick / 4)
        pane.tick(tick / 4)
    assert (pane.decision.status, pane.dialog) == ("idle", None)
    assert pane.decision.reason.rule == "screen rule: prompt"

    asked = rows("> ls", "Run it? (Y)es/(N)o [Yes]: ", cursor=1)
    for tick in range(3):
        pane.screen(lambda: asked, 10 + tick / 4)
    assert (pane.decision.status, pane.decision.kind) == ("waiting", "permission")
    assert pane.decision.report.message == "Run it? (Y)es/(N)o [Yes]:"
    assert pane.dialog is not None
    assert [choice.label for choice in pane.dialog.choices] == ["Yes", "No"]

    pane.foreground(SHELL.pid, 20)
    assert pane.dialog is None


@pytest.mark.parametrize(("process", "sign"), [(CODEX, "›"), (COPILOT, "❯")], ids=["codex", "copilot"])
def test_an_agent_that_is_starting_is_not_at_work(pane: Pane, process: Process, sign: str) -> None:
    """One whose screen will tell draws for two seconds when it starts, and none of that is blue.

    It is a program of its name, or comes from npm as a script of node.
    """
    pane.foreground(process.pid, 0)
    lit = set()
    for tick in range(1, 8):
        pane.screen(lambda n=tick: rows(*(f"line {n} {i}" for i in range(9))), tick / 4)
        pane.tick(tick / 4)
        lit.add(str(pane.decision.status))
    for tick in range(8, 40):
        pane.screen(lambda: rows("welcome", "─" * 30, f"{sign} Ask me", "─" * 30, "  model", cursor=2), tick / 4)
        pane.tick(tick / 4)
        lit.add(str(pane.decision.status))

    assert lit == {"idle"}


def test_the_screen_is_not_read_without_need(pane: Pane) -> None:
    """A shell's screen is never read: it is no evidence, and it is dear."""
    pane.foreground(SHELL.pid, 0)

    pane.screen(lambda: pytest.fail("the screen was read"), 1)


def test_claude_is_believed_by_its_status_file(pane: Pane, table: HandTable) -> None:
    """Its own words beat every guess; the last part of its directory is its project."""
    status_file(table.home, status="waiting", waitingFor="permission prompt")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)

    assert (pane.decision.status, pane.decision.kind) == ("waiting", "permission")
    assert pane.decision.report.cwd == "/w/api"
    pane.screen(lambda: rows("Do you want to proceed?", "❯ 1. Yes", "  2. No", cursor=1), 1)
    assert pane.decision.report.message == "Do you want to proceed?"

    status_file(table.home, status="busy", statusUpdatedAt=2)
    read_files(pane, 2)
    pane.screen(lambda: pytest.fail("no guess is needed"), 3)
    assert pane.dialog is None


def test_a_real_claude_is_given_time_to_start(pane: Pane) -> None:
    """What it draws before it speaks is no work; a script of its name is watched from the first moment."""
    pane.foreground(CLAUDE.pid, 0)
    assert pane.decision.status is Status.IDLE


def test_a_status_file_of_an_earlier_process_is_ignored(pane: Pane, table: HandTable) -> None:
    """A process id that was used before does not speak for this one."""
    status_file(table.home, status="waiting", waitingFor="permission prompt", procStart="199")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)

    assert pane.decision.status is Status.IDLE


def test_a_removed_status_file_is_a_goodbye(pane: Pane, table: HandTable) -> None:
    """`/exit` leaves nothing behind, whichever of file and process is seen to go first."""
    path = status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    assert pane.decision.status is Status.WORKING

    path.unlink()
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)
    assert not pane.decision.is_lit and pane.is_undecided
    read_files(pane, 1.1)
    pane.tick(1 + 2 * FILE_REMOVED_S)
    assert not pane.decision.is_lit and not pane.is_undecided


def test_a_status_file_left_behind_is_a_crash(pane: Pane, table: HandTable) -> None:
    """`kill -9` in mid-turn leaves a file that says busy, and a pane that says down."""
    status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)
    assert not pane.decision.is_lit, "nobody knows yet"
    read_files(pane, 1.1)

    assert pane.decision.status is Status.DOWN


def test_what_was_read_before_the_end_is_no_last_word(pane: Pane, table: HandTable) -> None:
    """A file that was read while its agent lived may be gone by the time that this is told."""
    path = status_file(table.home, status="waiting", waitingFor="permission prompt")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    wanted = pane.own_files.file_request()
    assert wanted is not None
    found = wanted.read()
    path.unlink()
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)

    pane.take_result(wanted, found, 1.1)
    assert pane.is_undecided, "it is still to be looked up"
    read_files(pane, 1.2)
    assert not pane.decision.is_lit and not pane.is_undecided


def test_what_its_shell_runs_for_the_prompt_is_no_answer(pane: Pane, table: HandTable) -> None:
    """A prompt that runs a program, or a command typed at once: whether the agent left in peace is still looked up."""
    path = status_file(table.home, status="waiting", waitingFor="permission prompt")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    assert pane.decision.status is Status.WAITING
    path.unlink()
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)
    pane.foreground(VIM.pid, 1.25)
    pane.foreground(SHELL.pid, 1.5)
    assert not pane.decision.is_lit and pane.is_undecided
    read_files(pane, 1.6)
    pane.tick(1 + 2 * FILE_REMOVED_S)

    assert not pane.decision.is_lit and not pane.is_undecided


def test_last_words_that_nobody_can_read(pane: Pane, table: HandTable) -> None:
    """Where the disk does not answer, an agent that ended in mid-turn is down after a moment, until it does."""
    path = status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)
    pane.tick(1 + FILE_REMOVED_S)
    assert pane.decision.status is Status.DOWN

    while pane.own_files.file_request() is not None:
        pass
    pane.own_files.files(path, None, b"", 30)
    assert not pane.decision.is_lit, "what was asked for is answered, though it is not asked for any more"


def test_last_words_are_not_asked_for_for_ever(pane: Pane, table: HandTable) -> None:
    """A disk that never answers is left alone, and so is the word on an agent whose pane has the next one by then."""
    path = status_file(table.home, status="busy")
    for _ in range(2):
        pane.foreground(CLAUDE.pid, 0)
        read_files(pane, 0.25)
        claude = table.processes.pop(CLAUDE.pid)
        pane.foreground(SHELL.pid, 1)
        table.processes[CLAUDE.pid] = claude
    asked = [pane.own_files.file_request() is not None for _ in range(2 * MISSING_FILE_TICKS)]
    assert sum(asked) == MISSING_FILE_TICKS and not pane.is_undecided

    pane.foreground(AIDER.pid, 5)
    before = pane.decision
    pane.own_files.files(path, None, b"", 6)
    assert pane.decision == before


def test_the_shell_tells_of_the_end_before_the_file_does(pane: Pane, table: HandTable) -> None:
    """An exit code that comes while the file is being looked up counts as one that comes after it."""
    status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    del table.processes[CLAUDE.pid]
    pane.foreground(SHELL.pid, 1)
    pane.tracker.command_end(0, 1)
    read_files(pane, 1.2)

    assert (pane.decision.status, pane.decision.reason.rule) == ("done", "its command ended well")


def test_a_stopped_agent_is_no_crash(pane: Pane, table: HandTable) -> None:
    """Ctrl-Z in mid-turn is a person's doing; `fg` brings the light back."""
    status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 0.25)
    pane.foreground(SHELL.pid, 1)
    assert not pane.decision.is_lit

    pane.foreground(CLAUDE.pid, 5)
    read_files(pane, 5.25)
    assert (pane.decision.status, pane.decision.reason.source) == ("working", Source.REGISTRY)


def test_an_agent_that_is_seen_as_it_dies_is_down(pane: Pane, table: HandTable) -> None:
    """For some milliseconds its process is there without its words: it was not stopped."""
    pane.foreground(COPILOT.pid, 0)
    pane.user_variable("state=working", 1)
    table.processes[COPILOT.pid] = attrs.evolve(COPILOT, argv=(), exe="")
    pane.foreground(COPILOT.pid, 5)
    assert pane.decision.status is Status.WORKING
    del table.processes[COPILOT.pid]
    pane.foreground(SHELL.pid, 5.02)
    pane.marked(False, 137, 5.02)
    assert pane.decision.status is Status.DOWN


def test_a_missing_status_file_is_looked_for_less_and_less(pane: Pane) -> None:
    """An agent without one costs next to nothing after ten seconds, and is found all the same if it comes."""
    pane.foreground(CLAUDE.pid, 0)
    asked = [pane.own_files.file_request() is not None for _ in range(MISSING_FILE_TICKS + 80)]

    assert all(asked[:MISSING_FILE_TICKS])
    assert sum(asked[MISSING_FILE_TICKS:]) == 10


def test_a_file_that_was_read_for_another_agent_is_dropped(pane: Pane, table: HandTable) -> None:
    """What a slow disk brings after the foreground has changed is about nobody."""
    status_file(table.home, status="busy")
    pane.foreground(CLAUDE.pid, 0)
    wanted = pane.own_files.file_request()
    assert wanted is not None
    pane.foreground(AIDER.pid, 1)

    pane.take_result(wanted, wanted.read(), 1)
    assert pane.decision.report.agent == "aider"
    assert pane.decision.reason.source is not Source.REGISTRY


def test_the_end_of_a_progress_bar_is_the_end_of_a_turn(pane: Pane) -> None:
    """It says when an agent is done, and hides no question that is asked while it is shown."""
    pane.foreground(COPILOT.pid, 0)
    pane.progress(True, 1)
    pane.screen(lambda: rows("a"), 1)
    pane.tick(5)
    assert pane.decision.status is Status.QUIET

    pane.screen(lambda: rows("a", "b", "c", "d"), 6)
    assert pane.decision.status is Status.WORKING
    pane.progress(False, 7)
    pane.tick(60)
    assert (pane.decision.status, pane.decision.reason.rule) == ("done", "progress bar removed")

    pane.progress(True, 61)
    pane.screen(lambda: rows("e", "f", "g", "h"), 62)
    assert pane.decision.status is Status.WORKING


@pytest.mark.parametrize("ended", [9.7 + tenth / 10 for tenth in range(15)])
def test_a_progress_bar_that_ends_beside_a_dialog(pane: Pane, ended: float) -> None:
    """Whenever it ends: what waits goes on to."""
    asks = ["─" * 40, "Do you want to run this command?", "❯ 1. Yes", "  2. No", "↑↓ to select · Enter to confirm"]
    pane.foreground(COPILOT.pid, 0)
    pane.progress(True, 1)
    shown = []
    for tick in range(40, 60):
        now = tick / 4
        pane.screen(lambda: rows(*asks, cursor=3), now)
        if now < ended + 0.25:
            pane.progress(now < ended, now)
        pane.tick(now)
        shown.append(pane.decision.status)

    assert set(shown[shown.index(Status.WAITING) :]) == {Status.WAITING}


def test_a_plain_commands_progress_bar_is_nothing(pane: Pane) -> None:
    """A build that shows its progress lights nothing."""
    pane.foreground(VIM.pid, 0)
    pane.progress(True, 1)
    pane.progress(False, 2)

    assert not pane.decision.is_lit


def test_titles_count_for_the_agent_that_set_them(pane: Pane) -> None:
    """A spinner in the title of an editor is nothing; in that of its agent it is work."""
    pane.foreground(VIM.pid, 0)
    pane.title("◐ Fix the build", 1)
    assert not pane.decision.is_lit

    pane.foreground(CLAUDE.pid, 10)
    pane.title("◐ Fix the build", 11)
    assert pane.decision.reason.rule == "title glyph"


def test_an_old_title_is_not_a_new_agents(pane: Pane) -> None:
    """A crash leaves a spinner in the title, and the next run is not taken to be busy for it."""
    pane.title("◐ Fix the build", 0)
    pane.foreground(CLAUDE.pid, 60)

    assert pane.decision.status is Status.IDLE


@pytest.mark.parametrize(
    "payload", ["", "state=", "state=down", "tool=x", "state=waiting;tool=%ZZ", "\x1b]", "=" * 9999]
)
def test_a_broken_payload_changes_nothing(pane: Pane, payload: str) -> None:
    """Whatever a program puts into the user variable, what cannot be read is ignored."""
    pane.user_variable("state=waiting;tool=x", 0)
    pane.user_variable(payload, 1)

    assert pane.decision.status is Status.WAITING


def test_how_to_start_again_is_no_status(pane: Pane) -> None:
    """An argument list without a status changes no light and silences nobody, but is told to others at once."""
    pane.foreground(CLAUDE.pid, 0)
    pane.user_variable("state=waiting;tool=claude", 1)
    before, revision = pane.decision, pane.tracker.claims.revision
    pane.user_variable("resume=claude%0A--continue", 2)

    assert pane.decision is before
    assert pane.conversation.resume == ("claude", "--continue")
    assert pane.tracker.claims.revision > revision


def test_a_deleted_variable_withdraws(pane: Pane) -> None:
    """A program that deletes its variable has nothing more to say."""
    pane.user_variable("state=waiting;tool=x", 0)
    pane.user_variable(None, 1)

    assert not pane.decision.is_lit


def test_a_glance_is_no_look(pane: Pane) -> None:
    """Flipping past a finished tab leaves it green; staying a second does not."""
    pane.user_variable("state=done;tool=x", 0)
    pane.look(True, 1)
    pane.look(True, 1 + DWELL_S / 2)
    pane.look(False, 1 + DWELL_S / 2 + 0.1)
    pane.look(True, 5)
    assert pane.decision.status is Status.DONE

    pane.look(True, 5 + DWELL_S)
    assert (pane.decision.status, pane.attention.seen) == (Status.IDLE, True)


def test_looking_is_not_answering(pane: Pane) -> None:
    """A question that was seen is still a question, until the agent goes on."""
    pane.user_variable("state=waiting;tool=x", 0)
    pane.look(True, 1)
    pane.look(True, 3)
    assert (pane.decision.status, pane.attention.seen) == (Status.WAITING, True)

    pane.user_variable("state=working;tool=x", 9)
    pane.look(True, 9)
    assert pane.decision.status is Status.WORKING


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("status", ["waiting", "error"])
def test_what_was_seen_before_the_agent_ended(pane: Pane, table: HandTable, status: str, is_stopped: bool) -> None:
    """A question that was looked at stays when its agent ends or is stopped, until that has been looked at, too."""
    pane.foreground(CRUSH.pid, 0)
    pane.user_variable(f"state={status};tool=crush", 1)
    for at in (2, 3, 4):
        pane.look(True, at)
    assert pane.attention.seen and pane.decision.status is Status(status)
    if not is_stopped:
        del table.processes[CRUSH.pid]
    pane.foreground(SHELL.pid, 10)
    if is_stopped and status == "error":
        assert not pane.decision.is_lit
        return
    pane.look(True, 10 + DWELL_S - 0.1)
    assert pane.decision.status is Status(status) and not pane.attention.seen
    pane.look(True, 10 + DWELL_S)
    assert not pane.decision.is_lit


def test_what_ended_unseen_waits_for_a_look(pane: Pane, table: HandTable) -> None:
    """Looked at before its end and not after it, a question stays for any time, until somebody comes and looks."""
    pane.foreground(CRUSH.pid, 0)
    pane.user_variable("state=waiting;tool=crush", 1)
    pane.look(True, 2)
    pane.look(True, 3)
    pane.look(False, 4)
    del table.processes[CRUSH.pid]
    pane.foreground(SHELL.pid, 10)
    pane.look(False, 5000)
    pane.tick(5000)
    assert pane.decision.status is Status.WAITING and not pane.attention.seen
    pane.look(True, 5001)
    pane.look(True, 5001 + DWELL_S)
    assert not pane.decision.is_lit


@pytest.mark.parametrize("process", [CODEX, COPILOT], ids=lambda p: p.pid)
def test_a_turn_that_a_person_stopped_is_not_done(pane: Pane, process: Process) -> None:
    """Title and progress bar say the same after a turn that ended and one that was stopped; the screen tells which."""
    is_codex = process is CODEX
    row = "■ Conversation interrupted - use /feedback" if is_codex else "● Operation cancelled by user"
    below = ["› Ask Codex to do anything"] if is_codex else ["~/x", "─" * 40, "❯", "─" * 40]
    pane.foreground(process.pid, 0)

    def turn(now: float, *texts: str) -> Status:
        pane.title("⠋ x", now)
        pane.progress(True, now)
        pane.screen(lambda: rows("a b c d e f g h i", "j k l m n o p q r", "s t u v w x y z"), now + 1)
        pane.title("x", now + 10)
        pane.progress(False, now + 10)
        for look in range(4):
            pane.screen(lambda: rows(*texts, *below, cursor=len(texts)), now + 10 + look / 4)
            pane.tick(now + 10 + look / 4)
        return pane.decision.status

    assert turn(10, "an answer") is Status.DONE
    assert turn(30, "an answer", row) is Status.IDLE
    assert pane.decision.reason.rule.endswith("that you stopped it")
    assert turn(50, row, "› again", "• an answer") is Status.DONE


def test_a_transcript_is_read_while_it_grows(pane: Pane, table: HandTable) -> None:
    """An agent that a turn left running is seen although the status file stays as it was."""
    status_file(table.home, status="busy", statusUpdatedAt=1_790_000_001_000)
    transcript = Path(table.home, ".claude/projects/-w-api/s-1.jsonl")
    transcript.parent.mkdir(parents=True)
    transcript.write_text("{}\n")
    pane.foreground(CLAUDE.pid, 0)
    read_files(pane, 1)
    read_files(pane, 2)
    assert pane.decision.status is Status.WORKING
    wanted = pane.own_files.file_request()
    assert wanted is not None and wanted.read() is None  # nothing is read that was read before

    left = {"type": "system", "subtype": "turn_duration", "pendingBackgroundAgentCount": 1}
    transcript.write_text(json.dumps({**left, "timestamp": "2026-09-21T17:00:00Z"}) + "\n")
    read_files(pane, 3)
    assert (pane.decision.status, pane.decision.report.background) == (Status.BACKGROUND, 1)


def test_an_agent_that_was_first_seen_as_env_may_start_slowly(pane: Pane, table: HandTable) -> None:
    """The first look fell on `env node …/kilo`: once it is node, a blank screen for half a minute is its start."""
    words = ("node", "/v/node_modules/@kilocode/cli/bin/kilo")
    table.processes[90] = Process(90, 10, 90, "env", ("env", *words), "/usr/bin/env", 900)
    pane.foreground(90, 0)
    assert pane.decision.report.agent == "kilo"
    table.processes[90] = Process(90, 10, 90, "node", words, "/usr/bin/node", 900)
    shown = set()
    for tick in range(1, 30 * 4):
        pane.foreground(90, tick / 4)
        pane.screen(lambda tick=tick: rows("$ kilo") if tick < 8 else rows(), tick / 4)  # type: ignore[misc]
        pane.tick(tick / 4)
        shown.add(pane.decision.status)
        if tick == 1:
            shown.clear()

    assert shown == {Status.IDLE}
    pane.screen(lambda: rows("a b c d e f", "g h i j k l", "m n o p q r"), 30)
    pane.tick(30 + 4)
    assert pane.decision.status is Status.IDLE  # it has begun to draw, and loads


def test_a_line_across_is_no_text_yet(pane: Pane) -> None:
    """Aider draws one and loads on, on a busy machine for longer than anything else: nobody is asked anything."""
    pane.foreground(AIDER.pid, 0)
    for tick in range(1, 40 * 4):
        pane.screen(lambda tick=tick: rows("" if tick < 4 else "─" * 80), tick / 4)  # type: ignore[misc]
        pane.tick(tick / 4)
        assert pane.decision.status is Status.IDLE, tick


def test_a_pane_without_evidence_is_as_old_as_its_first_look(pane: Pane) -> None:
    """What is shown of a plain shell has been so since the pane was there, not since the machine was started."""
    pane.foreground(SHELL.pid, 5000)
    pane.tick(5025)

    assert (pane.decision.status, pane.decision.since) == (Status.ACTIVE, 5000)
