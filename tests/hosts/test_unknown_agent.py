"""A pane in which a program runs that no agent file names: when it has a light, and that most have none."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Seen, holder_of
from tallylight.actions.gate import Refusal
from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.queued import Queued
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.package import PackageRequest
from tallylight.pane.pane import Look, Pane
from tallylight.snapshot.entries import ConversationEntry
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.hosts.test_pane import SHELL, HandTable

MYSTERY = Process(90, 10, 90, "mystery", ("/opt/bin/mystery",), "/opt/bin/mystery", 900)
BOX = ["Hello", "", "{}", "╭" + "─" * 40 + "╮", "│ >" + " " * 38 + "│", "╰" + "─" * 40 + "╯", " model", ""]
ASKING = [
    "Hello",
    "",
    "Run this command?",
    "  touch made",
    "",
    "❯ 1. Yes",
    "  2. No",
    "",
    "Enter to select, Esc to cancel",
]


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    return made(tmp_path, Timing())


def made(home: Path, timing: Timing, program: Process = MYSTERY) -> Pane:
    table = HandTable(str(home))
    table.processes[MYSTERY.pid] = program
    agents, _ = agent_files.load_agents({"HOME": str(home)})
    pane = Pane(timing, ForegroundReader(agents, table), table)
    pane.foreground(SHELL.pid, 0.0)
    pane.foreground(MYSTERY.pid, 1.0)
    return pane


def spin(pane: Pane, now: float) -> None:
    for number, glyph in enumerate("⠋⠙⠹"):
        pane.title(f"{glyph} mystery", now + number / 10)


def show(
    pane: Pane, rows: list[str], now: float, seconds: float = 2.0, work: str = "", cursor: tuple[int, int] = (4, 3)
) -> float:
    """Let the host look at *rows* for so long; the time afterwards."""
    frames = "⠋⠙⠹⠸"
    for tick in range(int(seconds * 4)):
        now += 0.25
        lines = [row.format(f"{frames[tick % 4]} {work}" if work else "") for row in rows]
        pane.foreground(MYSTERY.pid, now)
        pane.screen(lambda lines=lines: Look(lines, *cursor, 80), now)  # type: ignore[misc]
        pane.tick(now)
    return now


def test_what_it_is_made_with(pane: Pane) -> None:
    """What its package says is read once: it makes a candidate, whose first dialog is seen, and gives no light."""
    (request,) = pane.requests()
    assert isinstance(request, PackageRequest)
    pane.take_result(request, "made with openai", 1.0)
    assert pane.requests() == ()
    now = show(pane, BOX, 1.0, 10.0)
    assert not pane.decision.is_lit

    now = show(pane, ["Run make?", "", "  * Yes (y)", "    No (n)", ""], now)

    assert (pane.decision.status, pane.decision.kind) == (Status.WAITING, Kind.PERMISSION)
    assert pane.decision.reason.rule.startswith("screen rule: structure: ")
    assert pane.dialog is not None
    assert [(choice.label, choice.keys) for choice in pane.dialog.choices] == [("Yes (y)", ""), ("No (n)", "")]


UNSEEN = "\x1b\x07\x9b\u202e\u2066\u200b\ufeff"


def test_nothing_of_it_is_hidden(pane: Pane) -> None:
    """Its package, its titles, its screen and a queued text hold what nobody sees; what is told of it holds none."""
    (request,) = pane.requests()
    pane.take_result(request, f"made with openai{UNSEEN}", 1.0)
    pane.title(f"⠋ {UNSEEN}a", 1.5)
    now = show(pane, BOX, 2.0, 10.0)
    show(pane, [f"Run {UNSEEN}make?", "", f"  * Yes{UNSEEN} (y)", "    No (n)", ""], now)
    pane.queue(Queued(pid=90, start=900, text=f"go{UNSEEN} on", problem=f"gone{UNSEEN}"))
    told = pane_entry(pane, float, id_="1", tab="2", os_window="3", title=f"{UNSEEN}a", terminal=f"/dev/{UNSEEN}")

    assert told.program.name and told.program.signs and told.queue.text and told.title and told.question, (
        "it is not told at all"
    )
    said = json.dumps(told.to_json())
    assert [odd for odd in UNSEEN if f"\\u{ord(odd):04x}" in said] == []


def test_a_package_that_says_nothing(pane: Pane) -> None:
    """A program of which nothing was found has no light, and is not read again."""
    (request,) = pane.requests()
    pane.take_result(request, "", 1.0)
    show(pane, ASKING, 1.0, 10.0)

    assert pane.requests() == ()
    assert not pane.decision.is_lit and pane.agent is None


def test_without_signs_it_has_no_light(pane: Pane) -> None:
    """A dialog, output and silence of any program are nobody's business."""
    now = show(pane, ASKING, 1.0, 10.0)
    now = show(pane, BOX, now, 10.0)

    assert not pane.decision.is_lit
    assert pane.agent is None
    assert pane.unknown.program is not None and pane.unknown.program.name == "mystery"


@pytest.mark.parametrize("way", ["title", "screen"])
def test_a_candidate_asks(pane: Pane, way: str) -> None:
    """Once it has called out as agents do, its dialog is a light; what ends it is the dialog's end, and no silence."""
    now = 3.0
    if way == "title":
        spin(pane, now)
        assert pane.decision.status is Status.WORKING
    now = show(pane, BOX, now, 3.0, work="Thinking")
    assert pane.agent is not None
    now = show(pane, ASKING, now)
    decision = pane.decision

    assert (decision.status, decision.kind, decision.reason.source) == (Status.WAITING, Kind.PERMISSION, Source.SCREEN)
    assert decision.report.agent == "mystery"
    pane.title("mystery", now)
    now = show(pane, BOX, now, 60.0)
    assert pane.decision.status is not Status.WAITING


def test_nothing_is_concluded_of_it(pane: Pane) -> None:
    """A candidate that draws and falls silent neither works nor waits, and its end is nobody's."""
    now = show(pane, BOX, 1.0, 3.0, work="Thinking")
    for tick in range(20):
        now = show(pane, [f"line {tick} {n} " * 5 for n in range(20)], now, 0.25)
    assert not pane.decision.is_lit
    now = show(pane, BOX, now, 30.0)
    assert not pane.decision.is_lit
    now = show(pane, ASKING, now)
    assert pane.decision.status is Status.WAITING
    pane.foreground(SHELL.pid, now + 1)
    assert not pane.decision.is_lit


def test_a_wish(tmp_path: Path) -> None:
    """With `trust.unknown_agents = false` nothing is noted at all, and no screen is read."""
    pane = made(tmp_path, Timing(unknown_agents=False))
    spin(pane, 2.0)

    def never() -> Look:
        raise AssertionError("its screen is read")

    pane.screen(never, 3.0)
    assert pane.agent is None and pane.unknown.program is None


def test_its_own_words_need_no_candidate(pane: Pane) -> None:
    """What a program says of itself is shown as ever, and is no reason to take it for an agent."""
    pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WAITING, kind=Kind.QUESTION), 2.0)

    assert pane.decision.status is Status.WAITING
    assert pane.agent is None


def test_it_is_told(pane: Pane) -> None:
    """The snapshot names the program, and what it is taken for an agent by; nobody's answer is typed into it."""
    entry = pane_entry(pane, lambda at: at, id_="1", tab="1", os_window="1", title="")
    assert (entry.program.name, entry.program.signs) == ("mystery", "")
    spin(pane, 2.0)
    entry = pane_entry(pane, lambda at: at, id_="1", tab="1", os_window="1", title="")

    assert (entry.program.name, entry.program.signs) == ("mystery", "a spinner in its title")
    assert pane.holder().agent is None
    assert pane.conversation.entry == ConversationEntry()


def test_a_screen_that_has_to_be_read_first(pane: Pane) -> None:
    """A host that reads screens later is asked again until it has read one."""
    asked = []

    class UnreadError(Exception):
        pass

    def unread() -> Look:
        asked.append(True)
        raise UnreadError

    for _ in range(3):
        with pytest.raises(UnreadError):
            pane.screen(unread, 2.0)
    pane.screen(lambda: Look(BOX, 4, 3, 80), 2.0)
    assert len(asked) == 3


@pytest.mark.parametrize("is_candidate", [True, False])
def test_it_says_how_it_is_continued(pane: Pane, is_candidate: bool) -> None:
    """A candidate has a conversation by its own word alone, as any program has that no agent file names."""
    if is_candidate:
        spin(pane, 2.0)
    pane.user_variable("state=idle;tool=mystery;session=s1;fork=mystery%0A--fork%0A%7BSessionId%7D", 3.0)
    entry = pane_entry(pane, lambda at: at, id_="1", tab="1", os_window="1", title="")

    assert (entry.commands.fork, entry.agent_pid) == (("mystery", "--fork", "{SessionId}"), MYSTERY.pid)
    assert (entry.conversation.agent, entry.conversation.session) == ("mystery", "s1")
    assert entry.conversation.program == MYSTERY.exe
    assert bool(entry.program.signs) is is_candidate
    pane.foreground(SHELL.pid, 4.0)
    pane.user_variable("state=idle;tool=mystery;session=evil1;fork=mystery%0A--fork%0Aevil1", 5.0)
    entry = pane_entry(pane, lambda at: at, id_="1", tab="1", os_window="1", title="")

    assert (entry.commands.fork[2], entry.conversation.session, entry.agent_pid) == ("{SessionId}", "s1", None)


#: What is behind each of them runs elsewhere.
FAR = {
    "ssh": ("ssh", "-t", "devbox", "agent"),
    "mosh-client": ("mosh-client", "10.0.0.7", "60001"),
    "et": ("et", "devbox"),
    "docker": ("docker", "exec", "-it", "box", "agent"),
    "kubectl": ("kubectl", "exec", "-it", "pod", "--", "agent"),
    "kitten": ("kitten", "ssh", "devbox"),
}
#: What a person called that, where it can be told.
CALLED = {"mosh-client": "10.0.0.7", "docker": "box", "kubectl": "pod"}
PROMPT = ["you@devbox:~/shop$ "]


def far(home: Path, argv: tuple[str, ...] = FAR["ssh"]) -> Pane:
    return made(home, Timing(), attrs.evolve(MYSTERY, comm=argv[0], argv=argv, exe=f"/usr/bin/{argv[0]}"))


def told(pane: Pane) -> PaneEntry:
    return pane_entry(pane, lambda at: at, id_="1", tab="1", os_window="1", title="")


def prompt(pane: Pane, now: float, above: list[str] | None = None) -> float:
    """A shell's prompt stands at the end of the screen, below what was there."""
    rows = [*(above or []), *PROMPT, "", ""]
    return show(pane, rows, now, cursor=(len(above or []), len(PROMPT[0])))


@pytest.mark.parametrize("name", FAR)
def test_an_agent_of_another_machine(tmp_path: Path, name: str) -> None:
    """What an agent elsewhere asks is a light here; it is no process of this machine, and nothing is typed for it."""
    pane = far(tmp_path, FAR[name])
    now = show(pane, ASKING, 1.0, 10.0)
    assert not pane.decision.is_lit, "whatever asks there may be any program"
    assert (told(pane).program.name, told(pane).program.signs) == ("", "")
    now = show(pane, BOX, now, 3.0, work="Thinking")
    assert not pane.decision.is_lit
    now = show(pane, ASKING, now)
    entry = told(pane)

    assert (entry.status, entry.kind, entry.agent) == (Status.WAITING, Kind.PERMISSION, name)
    assert (entry.question, entry.choices) == ("Run this command?", ())
    assert (entry.program.name, entry.agent_pid, entry.project) == (name, None, CALLED.get(name, "devbox"))
    assert "work shown beside its input" in entry.program.signs
    assert entry.conversation == ConversationEntry()
    seen = Seen(pane="1", foreground=pane.holder(), look=Look(ASKING, 4, 3, 80), status=Status.WAITING)
    refusal = holder_of(seen)
    assert isinstance(refusal, Refusal) and refusal.rule == "remote"
    assert refusal.text == f"{name} shows another machine: go to that pane and answer there; nothing was typed"


@pytest.mark.parametrize("above", [[], BOX[:6]], ids=["cleared", "left below"])
def test_another_program_there(tmp_path: Path, above: list[str]) -> None:
    """Once its agent has ended, what the next program asks there is as dark as before."""
    pane = far(tmp_path)
    now = show(pane, BOX, 1.0, 3.0, work="Thinking")
    now = show(pane, ASKING, now)
    assert pane.decision.status is Status.WAITING
    now = prompt(pane, now, [row.format("") for row in above])
    assert not pane.decision.is_lit and pane.agent is None
    now = show(pane, ASKING, now, 20.0)
    assert not pane.decision.is_lit
    now = show(pane, BOX, now, 3.0, work="Thinking")
    show(pane, ASKING, now)
    assert pane.decision.status is Status.WAITING


@pytest.mark.parametrize("ended", [0.1 * tenth for tenth in range(-4, 18)])
def test_a_progress_bar_that_ends_beside_a_dialog(pane: Pane, ended: float) -> None:
    """Whenever it ends, so long after the dialog is drawn: no end is shown before the dialog, and none after."""
    now = drawn = show(pane, BOX, 1.0, 3.0, work="Thinking")
    pane.progress(True, now)
    shown = []
    for tick in range(-3, 40):
        now = show(pane, ASKING if tick >= 0 else BOX, now, 0.25, "Thinking")
        pane.progress(now < drawn + 1.0 + ended, now)
        shown.append(pane.decision.status)

    assert Status.DONE not in shown
    assert set(shown[shown.index(Status.WAITING) :]) == {Status.WAITING}


def test_signs_of_two_programs_there(tmp_path: Path) -> None:
    """An input of one program and a progress bar of the next make no agent."""
    pane = far(tmp_path)
    now = show(pane, BOX, 1.0, 6.0)
    assert pane.unknown.program is not None and pane.unknown.program.signs == ("an input of its own",)
    now = prompt(pane, now)
    pane.progress(True, now)
    assert pane.agent is None


@pytest.mark.parametrize("is_first", [True, False])
def test_an_agent_there_that_speaks(tmp_path: Path, is_first: bool) -> None:
    """What it says itself by a protocol stands, whether its screen gave it away before that or after."""
    pane, now = far(tmp_path), 2.0
    if not is_first:
        now = show(pane, BOX, now, 3.0, work="Thinking")
        assert pane.agent is not None
    pane.user_variable("state=working;tool=claude", now)
    now = show(pane, BOX, now, 3.0, work="Thinking")
    now = show(pane, ASKING, now, 5.0)

    assert (pane.decision.status, pane.decision.report.agent) == (Status.WORKING, "claude")
    prompt(pane, now)
    assert pane.decision.status is Status.WORKING


HINTED = ["Hello", "", "Which folder?", "  this one", "  that one", "", "↑↓ move, enter select"]


def test_a_persons_file_adds_to_what_is_read_of_any_agent(tmp_path: Path) -> None:
    """An agent whose file knows its prompt alone works by its title and asks by a hint at keys, as without one."""
    folder = tmp_path / ".config/tallylight/agents"
    folder.mkdir(parents=True)
    rule = '[[screen.rules]]\nname = "ready"\nstatus = "idle"\nlines = [">$"]\n'
    (folder / "mystery.toml").write_text(f'name = "mystery"\nprocesses = ["mystery"]\n{rule}')
    described = made(tmp_path, Timing())
    assert described.agent is not None and described.agent.name == "mystery"
    spin(described, 2.0)
    described.tick(3.0)
    assert described.decision.status is Status.WORKING

    described.title("mystery", 6.0)
    for tick in range(8):
        described.screen(lambda: Look(HINTED, 6, 0, 80), 7.0 + tick / 4)
        described.tick(7.0 + tick / 4)
    assert described.decision.status is Status.WAITING


def test_our_own_files_say_all(tmp_path: Path) -> None:
    """What is read of any agent is added to a person's files alone, and to none that replaces one of ours."""
    folder = tmp_path / ".config/tallylight/agents"
    folder.mkdir(parents=True)
    (folder / "claude.toml").write_text('name = "claude"\nprocesses = ["claude"]\n')
    (folder / "plain.toml").write_text('name = "plain"\nprocesses = ["plain"]\n[screen]\ngeneric = false\n')
    (folder / "mine.toml").write_text('name = "mine"\nprocesses = ["mine"]\n')
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})

    assert [agent.name for agent in agents if agent.is_own] == ["mine"]
