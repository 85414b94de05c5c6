"""
What scripts may type into a kitty: one request of each kind that is typed, and over 150 that are not.

The processes are made by hand: an agent `codex` (pid 50) runs a script (pid 60) in window 2 and has started window 3,
in which `claude` works for it. Whoever asks is what the kernel says; each variant changes one thing of all that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done, Question
from tallylight.actions.caller import Being, Caller
from tallylight.actions.consent import DECLINED_S
from tallylight.actions.gate import Refusal
from tallylight.actions.request import UNKNOWN, DeferredText, Request, decode_request, to_json
from tallylight.actions.say import Interrupt, Say
from tallylight.evidence.process import Process
from tallylight.model.queued import Queued
from tallylight.model.status import Kind, Status
from tests.actions.desk import PID, START, holder, look
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import CLAUDE, CODEX, KITTY, LONELY, SCRIPT, SHELL, ScriptDesk
from tests.hosts.kitty.test_typist import Window
from tests.hosts.test_pane import HandTable

ME: Being = (SCRIPT.pid, SCRIPT.start)
DIALOG, PERMISSION = "claude/question-80", "claude/permission-bash-80"
IDLE, WORKING = "claude/idle-after-turn-80", "claude/working-80"


@attrs.define
class Room:
    """The kitty, its processes, and what is asked of it."""

    desk: ScriptDesk
    table: HandTable
    scripts: Any
    #: As it comes over the socket.
    message: dict[str, Any]
    asker: Being = ME

    def ask(self) -> Any:
        """What comes of it."""
        return self.ask_as(attrs.evolve(self.scripts.identify(self.asker[0]), asker=self.asker))

    def ask_as(self, caller: Caller) -> Any:
        """What comes of it for *caller*."""
        asked, _ = decode_request(json.dumps(self.message).encode())
        return self.scripts.act(asked, caller) if asked is not None else UNKNOWN

    def put(self, process: Process, **change: Any) -> None:
        """Change a process."""
        self.table.processes[process.pid] = attrs.evolve(process, **change)

    def start_from(self, process: Process) -> None:
        """Have *process* start the script."""
        start = max(SCRIPT.start, process.start)
        self.put(SCRIPT, ppid=process.pid, start=start)
        self.asker = (SCRIPT.pid, start)


@attrs.frozen
class Asked:
    """What a person is asked, in which window, and what is called with their answer."""

    over: Any
    what: tuple[str, ...]
    answered: Callable[[bool], None]


def make_room(kitty: Kitty, monkeypatch: pytest.MonkeyPatch, verb: str) -> Room:
    """One in which *verb* is typed."""
    screen, status = {
        "answer": (DIALOG, Status.WAITING), "say": (IDLE, Status.IDLE), "interrupt": (WORKING, Status.WORKING),
        "queue": (WORKING, Status.WORKING),
    }[verb]  # fmt: skip
    desk = ScriptDesk.of(kitty, screen, status, kind=Kind.QUESTION)
    table, scripts = desk.table, desk.scripts
    monkeypatch.setattr("tallylight.evidence.process_table.table", lambda: table)
    scripts.own.put((CODEX.pid, CODEX.start), (CLAUDE.pid, CLAUDE.start))
    being = ("3", PID, START)
    asked: Request
    if verb == "answer":
        question = desk.host.once.ask(desk.module.WindowTypist(desk.host, desk.window, desk.host.panes[3]))
        assert isinstance(question, Question)
        asked = question.answer(1)
    elif verb == "say":
        asked = Say(*being, "go on", enter=True)
    elif verb == "queue":
        asked = DeferredText(*being, "go on")
    else:
        asked = Interrupt(*being)
    return Room(desk, table, scripts, to_json(asked))


@pytest.fixture
def make(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Room]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return lambda verb: make_room(kitty, monkeypatch, verb)


Change = Callable[[Room], object]


def says(name: str, value: object) -> Change:
    """It says something else there."""
    return lambda room: room.message.__setitem__(name, value)


def process(one: Process, **change: Any) -> Change:
    return lambda room: room.put(one, **change)


def gone(one: Process) -> Change:
    return lambda room: room.table.processes.pop(one.pid)


def pane(**change: Any) -> Change:
    """Change the pane as its host knows it."""
    return lambda room: [setattr(room.desk.host.panes[3], name, value) for name, value in change.items()]


def shows(name: str, status: Status) -> Change:
    return lambda room: room.desk.show(name, status)


def asks_as(pid: int, start: int) -> Change:
    """The process that asks is another one."""
    return lambda room: setattr(room, "asker", (pid, start))


def allows(allow: str, then: Change) -> Change:
    """The same with another setting."""

    def change(room: Room) -> None:
        room.desk.host.config.scripting = allow
        then(room)

    return change


def forgets(room: Room) -> None:
    """Nobody has started the pane."""
    room.scripts.own = room.desk.module.Pairs()


def in_a_loop(room: Room) -> None:
    room.put(SCRIPT, ppid=SCRIPT.pid)


def very_deep(room: Room) -> None:
    for pid in range(1000, 1100):
        room.table.processes[pid] = Process(pid, pid + 1, pid, "sh", ("sh",), "/bin/sh", 550)
    room.put(room.table.processes[1099], ppid=CODEX.pid)
    room.put(SCRIPT, ppid=1000)


def left_behind(room: Room) -> None:
    """Forked twice, in the session of the shell that has started the agent in window 3."""
    forgets(room)
    room.scripts.own.put((SHELL.pid, SHELL.start), (CLAUDE.pid, CLAUDE.start))
    room.put(SCRIPT, ppid=1, pgrp=SHELL.pid)


def in_another_terminal(room: Room) -> None:
    """A tmux that was started in a window, and has gone on alone."""
    room.table.processes[45] = Process(45, 1, 45, "tmux: server", ("tmux",), "/usr/bin/tmux", 450)
    room.put(SCRIPT, ppid=45)


def below_the_agent(room: Room) -> None:
    room.start_from(CLAUDE)


def below_the_pane(room: Room) -> None:
    """The pane's first process is a shell, and the agent's own; the script runs behind its back in there."""
    shell = Process(80, 30, 80, "bash", ("bash",), "/usr/bin/bash", 800)
    room.table.processes[80] = shell
    room.desk.window.child.pid = 80
    room.start_from(shell)


def inner_agent(room: Room) -> None:
    """Another agent that codex runs: what codex has started is not its own."""
    room.table.processes[55] = Process(55, 50, 50, "gemini", ("gemini",), "/usr/bin/gemini", 550)
    room.put(SCRIPT, ppid=55)


def other_agent(room: Room) -> None:
    """The agent of the same name in the same pane, started again."""
    room.put(CODEX, start=501)


def closed(room: Room) -> None:
    del room.desk.host.boss.window_id_map[3]


def dead_window(room: Room) -> None:
    room.desk.window.child.child_fd = None


#: Of every kind of request: what is different, and the rules that may refuse it.
EVERY: dict[str, tuple[Change, str]] = {
    "its screen asks something else": (shows("claude/permission-write-80", Status.WAITING), "changed asking no-turn"),
    "its screen is blank": (lambda room: setattr(room.desk.host, "screen", attrs.evolve(look(DIALOG), lines=[""] * 24)),
                            "no-question prompt no-turn working"),
    "the window is closed": (closed, "gone"),
    "the window's program has ended": (dead_window, "gone"),
    "a shell is in the foreground": (pane(foreground=holder("")), "process"),
    "another machine is in the foreground": (
        pane(foreground=attrs.evolve(holder("claude"), is_remote=True)), "remote"),
    "another process is in the foreground": (pane(foreground=holder("claude", PID + 1)), "process"),
    "the pid was given away": (pane(foreground=holder("claude", PID, START + 1)), "process"),
    "its start is not known": (pane(foreground=holder("claude", PID, 0)), "process"),
    "another agent is in the foreground": (pane(foreground=holder("codex", 99)), "process"),
    "the pane was reused": (process(CLAUDE, start=START + 1), "permission"),
    "the pane has another first process": (lambda room: setattr(room.desk.window.child, "pid", 40), "self"),
    "the pane's first process is gone": (gone(CLAUDE), "gone"),
    "the pane is another one": (says("pane", "2"), "self"),
    "the pane does not exist": (says("pane", "4"), "gone"),
    "the pane has no name": (says("pane", ""), "unknown"),
    "the pane is negative": (says("pane", "-3"), "gone"),
    "the pane is a superscript": (says("pane", "³"), "gone"),
    "the pane has a space": (says("pane", "3 "), "gone"),
    "the pane is an address": (says("pane", "kitty-1:3"), "gone"),
    "the pane is very large": (says("pane", "3" * 30), "gone"),
    "the process is another": (says("pid", PID + 1), "process"),
    "the process is none": (says("pid", 0), "process"),
    "the process is negative": (says("pid", -PID), "unknown"),
    "the process is a word": (says("pid", "claude"), "unknown"),
    "the start is another": (says("start", START + 1), "process"),
    "the start is none": (says("start", 0), "process"),
    "the start is a fraction": (says("start", f"{START}.0"), "unknown"),
    "the verb is shouted": (lambda room: says("type", room.message["type"].upper())(room), "unknown"),
    "the verb is a key": (says("type", "press"), "unknown"),
    "the verb is a paste": (says("type", "paste"), "unknown"),
    "there is no verb": (says("type", ""), "unknown"),
    "a field is missing": (lambda room: room.message.popitem(), "unknown"),
    "who asks is gone": (gone(SCRIPT), "caller"),
    "who asks was replaced": (asks_as(SCRIPT.pid, SCRIPT.start - 1), "caller"),
    "who asks never was": (asks_as(4242, 1), "caller"),
    "who asks has left its agent": (process(SCRIPT, ppid=1), "caller"),
    "who asks has left its agent, and all is allowed": (allows("all", process(SCRIPT, ppid=1)), "caller"),
    "who asks has left its shell, which has started the pane": (left_behind, "caller"),
    "who asks is alone": (asks_as(LONELY.pid, LONELY.start), "caller"),
    "who asks is in another terminal": (in_another_terminal, "caller"),
    "who asks is below no window": (process(SCRIPT, ppid=KITTY.pid), "caller"),
    "who asks has a parent that is younger": (
        lambda room: (room.start_from(SHELL), room.put(SHELL, start=601)), "caller"),
    "who asks has a shell alone": (process(SCRIPT, ppid=40), "permission"),
    "who asks is of another agent": (inner_agent, "permission"),
    "who asks is of an agent that came later": (other_agent, "permission"),
    "the agent that asks has ended": (gone(CODEX), "caller"),
    "who asks has parents in a loop": (in_a_loop, "caller"),
    "who asks is too deep": (very_deep, "caller"),
    "the agent asks itself": (below_the_agent, "self"),
    "the agent asks itself, and all is allowed": (allows("all", below_the_agent), "self"),
    "the agent asks itself, and a person is asked": (allows("ask", below_the_agent), "self"),
    "the pane asks itself": (below_the_pane, "self"),
    "nobody has started it": (forgets, "permission"),
    "programs may do nothing": (allows("none", lambda _: None), "permission"),
}  # fmt: skip
#: Of one kind.
OWN: dict[str, dict[str, tuple[Change, str]]] = {
    "answer": {
        "only its screen says that it is a question": (pane(is_confirmed=False), "permission"),
        "another source says that it is a permission": (pane(kind=Kind.PERMISSION), "permission"),
        "there is no such choice": (says("number", 9), "choice"),
        "the choice is 0": (says("number", 0), "choice"),
        "the choice is negative": (says("number", -1), "unknown"),
        "the choice is a key": (says("number", "y"), "unknown"),
        "the choice is two": (says("number", "1,2"), "unknown"),
        "the choice is fullwidth": (says("number", "\uff11"), "unknown"),
        "the choice is very large": (says("number", 10**30), "unknown"),
        "no fingerprint": (says("fingerprint", ""), "changed"),
        "another fingerprint": (says("fingerprint", "0" * 32), "changed"),
        "a fingerprint in capitals": (
            lambda room: says("fingerprint", room.message["fingerprint"].upper())(room), "changed"),
        "it works again": (shows(WORKING, Status.WORKING), "no-question"),
        "it has finished": (shows(IDLE, Status.DONE), "no-question"),
        "the command has changed": (
            lambda room: setattr(room.desk.host, "screen", attrs.evolve(
                look(DIALOG), lines=[row.replace("Green", "Blue") for row in look(DIALOG).lines])), "changed"),
        "the window is wider": (
            lambda room: setattr(room.desk.host, "screen", attrs.evolve(look(DIALOG), columns=120)), "changed"),
        "it was answered already": (lambda room: room.ask(), "answered"),
        "its host takes it for a permission": (pane(kind=Kind.PERMISSION), "permission"),
    },
    "say": {
        "nothing to type": (says("text", ""), "text"),
        "an escape": (says("text", "a\x1b[A"), "text"),
        "a line end that is a key": (lambda room: (says("text", "a\rb")(room)), "text"),
        "a control": (says("text", "\x03"), "text"),
        "the end of a paste": (says("text", "a\x1b[201~rm -rf /\r"), "text"),
        "a C1 control": (says("text", "a\x9b201~"), "text"),
        "what turns the text around": (says("text", "a\u202eb"), "text"),
        "a half of a character": (says("text", "a\ud800"), "unknown"),
        "a separator of lines": (says("text", "a\u2028b"), "text"),
        "too much": (says("text", "x" * 4097), "too-long"),
        "two lines without a paste": (
            lambda room: (setattr(room.desk.window, "takes_paste", False), says("text", "a\nb")(room)), "lines"),
        "Enter is something else": (says("enter", 2), "unknown"),
        "Enter is a word": (says("enter", "yes"), "unknown"),
        "it works": (shows(WORKING, Status.WORKING), "working"),
        "it asks": (shows(DIALOG, Status.WAITING), "asking"),
        "it asks, and its id is claimed": (
            lambda room: (shows(DIALOG, Status.WAITING)(room), says("fingerprint", "0" * 32)(room)), "asking"),
        "it asks for a word that was not shown": (shows("claude/question-80", Status.WAITING), "asking"),
    },
    "queue": {
        "nothing to type": (says("text", ""), "text"),
        "an escape": (says("text", "a\x1b[A"), "text"),
        "too much": (says("text", "x" * 4097), "too-long"),
        "two lines without a paste": (
            lambda room: (setattr(room.desk.window, "takes_paste", False), says("text", "a\nb")(room)), "lines"),
        "a text waits already": (lambda room: room.ask(), "queued"),
    },
    "interrupt": {
        "it is at its prompt": (shows(IDLE, Status.IDLE), "no-turn"),
        "it has finished": (shows(IDLE, Status.DONE), "no-turn"),
        "it asks": (shows(DIALOG, Status.WAITING), "asking"),
    },
}  # fmt: skip
#: Where the fingerprint is of a question only, or the screen was not told to be any other, it is no other request.
HARMLESS = {
    ("interrupt", "its screen is blank"), ("interrupt", "its screen asks something else"),
    ("interrupt", "there is a word less"), ("queue", "there is a word less"),
    ("queue", "its screen is blank"), ("queue", "its screen asks something else"),
}  # fmt: skip
CASES = [(verb, name) for verb in OWN for name in (*EVERY, *OWN[verb]) if (verb, name) not in HARMLESS]


@pytest.mark.parametrize("verb", OWN)
def test_what_is_allowed_is_typed_once(make: Callable[[str], Room], verb: str) -> None:
    """Nothing else changed, each of them is typed: none of the variants is refused for a mistake of this table."""
    room = make(verb)
    assert isinstance(room.ask(), Done)
    assert room.desk.window.written == {
        "answer": ["1"], "say": ["\x1b[200~go on\x1b[201~\r"], "interrupt": ["\x1b"], "queue": []
    }[verb]  # fmt: skip


def test_a_queued_text_is_for_that_process(make: Callable[[str], Room]) -> None:
    """What waits is the text, for the agent that was meant: `actions.queue` types it, to that one alone."""
    room = make("queue")
    assert isinstance(room.ask(), Done)
    assert room.desk.host.panes[3].queued == Queued(pid=PID, start=START, text="go on")


@pytest.mark.slow
def test_nothing_hostile_is_typed(make: Callable[[str], Room]) -> None:
    """Each is refused by the rule that is meant, and not one key is written."""
    assert len(CASES) >= 150
    wrong = []
    for verb, name in CASES:
        change, rules = {**EVERY, **OWN[verb]}[name]
        room = make(verb)
        change(room)
        before = [*room.desk.window.written, room.desk.host.panes[3].queued]
        told = room.ask()
        after = [*room.desk.window.written, room.desk.host.panes[3].queued]
        if not isinstance(told, Refusal) or told.rule not in rules.split() or after != before:
            wrong.append((verb, name, told))
    assert wrong == [], "\n".join(map(str, wrong))


def test_a_permission_is_a_persons(make: Callable[[str], Room], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has started the pane: by default no program answers it, with `ask` a person agrees first."""
    room = make("answer")
    room.desk.show(PERMISSION, Status.WAITING)
    room.desk.host.panes[3].kind = Kind.PERMISSION
    asked = room.desk.host.once.ask(
        room.desk.module.WindowTypist(room.desk.host, room.desk.window, room.desk.host.panes[3])
    )
    room.message["fingerprint"] = asked.fingerprint
    told = room.ask()
    assert isinstance(told, Refusal) and told.rule == "permission" and "only a person" in told.text
    room.desk.host.config.scripting = "ask"
    agreed: list[Callable[[bool], None]] = []
    monkeypatch.setattr(room.desk.module.consents, "ask", lambda _over, _page, answered: agreed.append(answered))
    assert room.ask() is None
    assert room.desk.window.written == []
    agreed[0](True)
    assert isinstance(room.ask(), Done)
    assert room.desk.window.written == ["1"]


def test_who_connects_is_known_from_then_on(make: Callable[[str], Room]) -> None:
    """What it becomes later, below somebody else or nobody, makes it no other caller; once it has ended it is none."""
    room = make("say")
    caller = room.scripts.identify(SCRIPT.pid)
    room.put(SCRIPT, ppid=CLAUDE.pid)
    assert isinstance(room.ask_as(caller), Done)
    room.table.processes.pop(SCRIPT.pid)
    told = room.ask_as(caller)
    assert isinstance(told, Refusal) and told.rule == "caller"


def test_an_agent_that_runs_something_else_now(make: Callable[[str], Room]) -> None:
    """The process that this kitty has known as an agent is one still: what it runs now is no script of its shell."""
    room = make("say")
    room.scripts.own.put((SHELL.pid, SHELL.start), (CLAUDE.pid, CLAUDE.start))
    forgets(room)
    room.put(CODEX, argv=("sh", "-c", "tally send 3 x"), exe="/usr/bin/sh", comm="sh")
    was = {(CODEX.pid, CODEX.start): "Codex"}
    room.desk.host.reader.was_agent = lambda pid, start: was.get((pid, start), "")
    assert room.scripts.identify(SCRIPT.pid).agent == "Codex"
    assert isinstance(room.ask(), Refusal)


def asks_a_person(room: Room, monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Have a person be asked by *room*, whose pane 3 nobody has started; what they are asked."""
    forgets(room)
    room.desk.host.config.scripting = "ask"
    asked: list[Asked] = []
    monkeypatch.setattr(
        room.desk.module.consents, "ask", lambda over, page, answered: asked.append(Asked(over, page.what, answered))
    )
    return asked


def test_a_person_is_asked_once(make: Callable[[str], Room], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the caller's window, in words that leave nothing out; their yes is for this caller and this agent alone."""
    room = make("say")
    asked = asks_a_person(room, monkeypatch)
    assert room.ask() is None
    assert room.ask() is None
    (question,) = asked
    assert question.what == (
        "Codex in 'two' (window 2) asks to act for you in 'three' (window 3), where Claude Code runs.",
        "It, and all that it runs, may from then on type texts there, answer what is asked there, PERMISSIONS "
        "INCLUDED, and stop turns, until it or Claude Code ends.",
    )
    assert question.over is room.desk.host.boss.window_id_map[2]
    assert room.desk.window.written == []

    question.answered(True)
    assert isinstance(room.ask(), Done)
    assert len(room.desk.window.written) == 1
    room.put(CODEX, start=501)
    assert room.ask() is None
    assert len(asked) == 2


def test_a_no_counts_for_all_sessions_of_a_pane(make: Callable[[str], Room], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody there asks about that pane again for a while, whatever it calls itself; elsewhere it may be asked."""
    room = make("say")
    asked = asks_a_person(room, monkeypatch)
    now = 1000.0
    monkeypatch.setattr(room.desk.module.time, "monotonic", lambda: now)
    assert room.ask() is None
    asked[0].answered(False)
    others: list[Change] = [process(CODEX, start=501), inner_agent, process(SCRIPT, ppid=SHELL.pid)]
    for change in (lambda _: None, *others):
        change(room)
        told = room.ask()
        assert isinstance(told, Refusal) and told.rule == "permission"
    now += DECLINED_S - 1
    assert isinstance(room.ask(), Refusal)
    assert len(asked) == 1
    now += 2
    assert room.ask() is None
    asked[1].answered(False)

    other = Process(41, 30, 41, "bash", ("bash",), "/usr/bin/bash", 410)
    room.table.processes[41] = other
    window = Window(id=5, title="five")
    window.child.pid = other.pid
    room.desk.host.boss.window_id_map[5] = window
    room.put(CODEX, ppid=other.pid)
    room.put(SCRIPT, ppid=CODEX.pid)
    assert room.ask() is None
    assert asked[2].over is window
    assert room.desk.window.written == []


def test_a_person_is_asked_about_what_is_there(make: Callable[[str], Room], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not about a process that the caller names, and that may be another pane's; nor where it cannot be shown."""
    for change, rule in (
        (says("pid", SHELL.pid), "process"), (says("pid", 30), "process"), (says("start", 1), "process"),
        (pane(foreground=holder("")), "process"),
    ):  # fmt: skip
        room = make("say")
        asked = asks_a_person(room, monkeypatch)
        change(room)
        told = room.ask()
        assert (isinstance(told, Refusal) and told.rule, asked) == (rule, [])
    room = make("say")
    asks_a_person(room, monkeypatch)
    monkeypatch.setattr(room.desk.module.consents, "ask", lambda *_: Refusal("room", "make it larger"))
    for _ in range(2):
        told = room.ask()
        assert isinstance(told, Refusal) and told.rule == "room"


def test_the_setting_counts_that_kitty_has_read(make: Callable[[str], Room], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one that the environment of the caller leads to."""
    room = make("say")
    forgets(room)
    folder = Path(os.environ["XDG_RUNTIME_DIR"], "tallylight")
    (folder / "config.toml").write_text('[scripting]\nallow = "all"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    monkeypatch.setenv("KITTY_WINDOW_ID", "3")
    assert isinstance(told := room.ask(), Refusal) and told.rule == "permission"
    room.desk.host.config.scripting = "all"
    assert isinstance(room.ask(), Done)
