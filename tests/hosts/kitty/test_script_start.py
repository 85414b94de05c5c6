"""`tally start` in kitty: what is started beside the caller, who may type into it, and what starts nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done
from tallylight.actions.consent import STARTS
from tallylight.actions.gate import Refusal
from tallylight.actions.page import Place
from tallylight.actions.request import Start, to_json
from tallylight.evidence.process import Process
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_script_typing import CODEX, LONELY, ME, SCRIPT, SHELL, Room, asks_a_person, make_room
from tests.hosts.kitty.test_typist import Window
from tests.tables import each

SENTENCE = "fix the tests"


@attrs.define
class Starting:
    """The room, what kitty was told to launch, and the directories of the processes."""

    room: Room
    launched: list[tuple[int, tuple[str, ...], str, Place, str]]
    #: What each window got beside what kitty gives every one.
    more: list[Mapping[str, str]]
    folder: Path
    #: What kitty gives every window; what kitty finds by itself, beside their PATH; the directories of processes.
    environ: dict[str, str]
    finds: dict[str, str]
    cwd: dict[int, str]

    def ask(self, *words: str, until: Callable[[], bool] = bool) -> Any:
        """What comes of it, once the worker is done."""
        self.room.message = to_json(Start(*words))
        told = self.room.ask()
        for _ in range(2000):
            if told is not None or until():
                break
            self.room.desk.host.worker.lend(0.05)
            told = self.room.ask()
        return told


@pytest.fixture
def starting(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starting:
    return make_starting(kitty, tmp_path, monkeypatch)


def make_starting(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starting:
    """codex runs in window 2, with a `claude` in its PATH and another in that of its script; kitty has a third."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    room = make_room(kitty, monkeypatch, "say")
    for folder in ("bin", "forged", "script", "work", "login"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "claude").write_text("")
        (tmp_path / folder / "claude").chmod(0o755)
    forged = {
        one.pid: {"PATH": str(tmp_path / name), "LD_PRELOAD": "/forged.so"}
        for one, name in ((CODEX, "forged"), (SCRIPT, "script"), (SHELL, "forged"))
    }
    monkeypatch.setattr(type(room.table), "environ", lambda _, pid: forged.get(pid, {}))
    made = Starting(room, [], [], tmp_path, {"PATH": str(tmp_path / "bin")}, {}, {SCRIPT.pid: str(tmp_path / "work")})
    module = importlib.import_module("tallylight.hosts.kitty.script_starts")
    monkeypatch.setattr(module, "default_env", lambda: made.environ)
    monkeypatch.setattr(module, "which", made.finds.get)
    monkeypatch.setattr(type(room.table), "cwd", lambda _, pid: made.cwd.get(pid, ""))

    def launch(_boss: Any, window: Any, plan: Any, cwd: str, place: Place, more: Mapping[str, str]) -> Any:
        pid = 900 + len(made.launched)
        made.more.append(more)
        made.launched.append((window.id, plan.argv, cwd, place, plan.title))
        room.table.processes[pid] = Process(pid, 30, pid, "claude", ("claude",), "/usr/bin/claude", pid)
        new = Window(id=pid)
        new.child.pid = pid
        room.desk.host.boss.window_id_map[pid] = new
        return new

    monkeypatch.setattr("tallylight.hosts.kitty.script_starts.fork.launch", launch)
    return made


def test_an_agent_is_started_beside_its_caller(starting: Starting) -> None:
    """In the directory of the script; by the PATH of kitty, not that of what calls itself an agent or its script."""
    told = starting.ask("claude", "tab", "helper", SENTENCE)
    assert told == Done("900", str(starting.folder / "bin/claude"))
    assert starting.launched == [
        (2, (str(starting.folder / "bin/claude"), SENTENCE), str(starting.folder / "work"), Place.TAB, "helper")
    ]
    owner = (CODEX.pid, CODEX.start)
    assert (owner, (900, 900)) in starting.room.scripts.own
    assert ((SHELL.pid, SHELL.start), (900, 900)) not in starting.room.scripts.own


def test_without_an_agent_the_caller_is_its_terminal(starting: Starting) -> None:
    """A script at a shell starts by the PATH of kitty, too, and the shell may type into what it has started."""
    starting.room.start_from(SHELL)
    assert isinstance(starting.ask("claude", "split", "", ""), Done)
    assert starting.launched[0][1:4] == (
        (str(starting.folder / "bin/claude"),),
        str(starting.folder / "work"),
        Place.VSPLIT,
    )
    assert ((SHELL.pid, SHELL.start), (900, 900)) in starting.room.scripts.own


def test_its_environment_is_what_kitty_gave_the_window(starting: Starting) -> None:
    """Nothing of the caller's. What lies beside a program that kitty finds elsewhere is found by it, too."""
    path, given = str(starting.folder / "bin"), starting.room.desk.host.boss.window_id_map[2].child.env
    assert isinstance(starting.ask("claude", "tab", "", ""), Done)
    starting.environ["PATH"] = "/usr/bin"
    starting.finds["claude"] = str(starting.folder / "login/claude")
    assert isinstance(starting.ask("claude", "tab", "", ""), Done)
    given |= {"PATH": path, "KEY": "$1"}
    assert isinstance(starting.ask("claude", "tab", "", ""), Done)
    assert starting.more == [
        {"PATH": path}, {"PATH": f"/usr/bin:{starting.folder}/login"}, {"PATH": path, "KEY": "$1"}
    ]  # fmt: skip
    programs = [argv[0] for _, argv, *_ in starting.launched]
    assert programs == [f"{path}/claude", starting.finds["claude"], f"{path}/claude"]

    given.clear()
    starting.finds["claude"] = "claude"
    told = starting.ask("claude", "tab", "", "")
    assert isinstance(told, Refusal) and told.rule == "program"


def _out_of_kitty(starting: Starting) -> None:
    starting.room.asker = (LONELY.pid, LONELY.start)


def _replaced(starting: Starting) -> None:
    starting.room.asker = (ME[0], ME[1] - 1)


def _too_many(starting: Starting) -> None:
    for pid in range(2000, 2016):
        starting.room.table.processes[pid] = attrs.evolve(CODEX, pid=pid, start=pid)
        starting.room.scripts.own.put((CODEX.pid, CODEX.start), (pid, pid))


def _no_directory(starting: Starting) -> None:
    starting.cwd.clear()


def _removed_directory(starting: Starting) -> None:
    starting.cwd[SCRIPT.pid] = str(starting.folder / "gone")


def _no_path(starting: Starting) -> None:
    starting.environ.clear()


def _relative_path(starting: Starting) -> None:
    starting.environ["PATH"] = "bin:.:"


def _closed(starting: Starting) -> None:
    del starting.room.desk.host.boss.window_id_map[2]


def _daemon(starting: Starting) -> None:
    starting.room.put(SCRIPT, ppid=1)


def _closed_below_a_shell(starting: Starting) -> None:
    starting.room.start_from(SHELL)
    _closed(starting)


def _daemon_and_all_is_allowed(starting: Starting) -> None:
    starting.room.desk.host.config.scripting = "all"
    _daemon(starting)


def _no_change(_: Starting) -> None:
    pass


@each(
    "change, words, rule",
    [
        (_out_of_kitty, ("claude", "tab", "", ""), "caller"),
        (_daemon, ("claude", "tab", "", ""), "caller"),
        (_closed, ("claude", "tab", "", ""), "place"),
        (_closed_below_a_shell, ("claude", "tab", "", ""), "caller"),
        (_daemon_and_all_is_allowed, ("claude", "tab", "", ""), "place"),
        (_replaced, ("claude", "tab", "", ""), "caller"),
        (_too_many, ("claude", "tab", "", ""), "too-many"),
        (_no_directory, ("claude", "tab", "", ""), "directory"),
        (_removed_directory, ("claude", "tab", "", ""), "directory"),
        (_no_path, ("claude", "tab", "", ""), "program"),
        (_relative_path, ("claude", "tab", "", ""), "program"),
        (_no_change, ("bash", "tab", "", ""), "agent"),
        (_no_change, ("/bin/sh", "tab", "", ""), "agent"),
        (_no_change, ("../claude", "tab", "", ""), "agent"),
        (_no_change, ("CLAUDE", "tab", "", ""), "agent"),
        (_no_change, ("", "tab", "", ""), "agent"),
        (_no_change, ("claude --yolo", "tab", "", ""), "agent"),
        (_no_change, ("claude", "overlay", "", ""), "unknown"),
        (_no_change, ("claude", "background", "", ""), "unknown"),
        (_no_change, ("claude", "", "", ""), "unknown"),
        (_no_change, ("claude", "tab", "", "--dangerously-skip-permissions now"), "prompt"),
        (_no_change, ("claude", "tab", "", "-c resume that"), "prompt"),
        (_no_change, ("claude", "tab", "", "@selection of it"), "prompt"),
        (_no_change, ("claude", "tab", "", "a \x1b b"), "text"),
    ],
)
def test_nothing_hostile_is_started(
    change: Callable[[Starting], None], words: tuple[str, ...], rule: str, kitty: Kitty, tmp_path_factory: Any
) -> None:
    """Each is refused by its rule, and kitty launches nothing."""
    with pytest.MonkeyPatch.context() as patch:
        one = make_starting(kitty, tmp_path_factory.mktemp("start"), patch)
        change(one)
        told = one.ask(*words)
        assert isinstance(told, Refusal) and told.rule == rule
        assert one.launched == []


def test_what_changes_while_it_is_looked_up(starting: Starting) -> None:
    """The worker takes its time: the script that is in another directory by then, or gone, starts nothing."""
    looking = starting.room.scripts.starts
    starting.room.message = to_json(Start("claude", "tab", "", ""))
    assert starting.room.ask() is None
    while None in looking._jobs.values():
        starting.room.desk.host.worker.lend(0.05)
    starting.cwd[SCRIPT.pid] = str(starting.folder)
    told = starting.room.ask()
    assert isinstance(told, Refusal) and told.rule == "changed"

    assert starting.room.ask() is None
    looking.forget(ME)
    while starting.room.desk.host.worker.is_waiting:
        starting.room.desk.host.worker.lend(0.05)
    assert looking._jobs == {}
    assert starting.launched == []


def test_a_person_is_asked_before_anything_starts(starting: Starting, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `ask`: once for each caller; a no counts for all that runs in its window."""
    asked = asks_a_person(starting.room, monkeypatch)
    assert starting.ask("claude", "tab", "", "", until=lambda: True) is None
    assert starting.launched == []
    assert asked[0].what[0] == "Codex in 'two' (window 2) asks to start agents in new panes."
    asked[0].answered(True)
    assert isinstance(starting.ask("claude", "tab", "", ""), Done)
    assert isinstance(starting.ask("claude", "tab", "", SENTENCE), Done)
    assert len(asked) == 1

    starting.room.put(CODEX, start=501)
    assert starting.ask("claude", "tab", "", "", until=lambda: True) is None
    asked[1].answered(False)
    for _ in range(2):
        told = starting.ask("claude", "tab", "", "")
        assert isinstance(told, Refusal) and told.rule == "permission"
        starting.room.start_from(SHELL)
    assert len(starting.launched) == len(asked) == 2


def test_nothing_starts_where_a_person_cannot_be_asked(starting: Starting, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is why."""
    asks_a_person(starting.room, monkeypatch)
    monkeypatch.setattr(starting.room.desk.module.consents, "ask", lambda *_: Refusal("room", "make it larger"))
    assert starting.ask("claude", "tab", "", "") == Refusal("room", "make it larger")
    assert starting.launched == []


@pytest.mark.parametrize("level", ["own", "ask", "all"])
def test_a_person_is_asked_before_anything_leaves_a_sandbox(
    starting: Starting, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    """At every level that lets it start anything; what was agreed to for others of the caller does not count."""
    asked = asks_a_person(starting.room, monkeypatch)
    desk = starting.room.desk
    desk.host.config.scripting = level
    desk.scripts._consents.put((CODEX.pid, CODEX.start), (SHELL.pid, SHELL.start), STARTS, 0.0, is_allowed=True)
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(
        desk.module, "confinement", SimpleNamespace(is_confined=lambda pid, host, _: told.append((pid, host)) or True)
    )
    assert starting.ask("claude", "tab", "", "", until=lambda: True) is None
    assert starting.launched == [] and told == [(SCRIPT.pid, desk.scripts.pid)]
    assert asked[0].what[0] == "Codex in 'two' (window 2) asks to start agents in new panes OUTSIDE of its sandbox."
    assert "start them OUTSIDE of its sandbox" in asked[0].what[1]
    asked[0].answered(True)
    assert isinstance(starting.ask("claude", "tab", "", ""), Done)
    assert len(asked) == 1


def test_a_sandbox_opens_no_door(starting: Starting, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `none` nobody is asked."""
    asked = asks_a_person(starting.room, monkeypatch)
    starting.room.desk.host.config.scripting = "none"
    monkeypatch.setattr(starting.room.desk.module, "confinement", SimpleNamespace(is_confined=lambda *_: True))
    told = starting.ask("claude", "tab", "", "")
    assert isinstance(told, Refusal) and told.rule == "permission" and asked == []
