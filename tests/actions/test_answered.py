"""Processes that answer the same pane know of each other what was answered."""

from __future__ import annotations

import threading
from pathlib import Path

import attrs
import pytest

from tallylight.actions import answered, once
from tallylight.actions.answer import Seen
from tallylight.actions.answered import InProcess, OnDisk
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.say import Interrupt, Say
from tallylight.evidence.screen import Look
from tallylight.model.status import Status
from tests.actions.desk import PANE, PID, START, Desk, seen

DIALOG = "claude/permission-bash-80"
AGENT = (PANE, PID, START)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """One user's processes."""
    return {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}


@pytest.fixture
def folder(environ: dict[str, str], tmp_path: Path) -> Path:
    """Where their notes are, with one in it."""
    OnDisk(environ).add(("%9", 9, 9), "x")
    return next(path for path in tmp_path.rglob("answered"))


def _rule(found: object) -> str:
    return found.rule if isinstance(found, Refusal) else "typed"


def test_two_processes_answer_one_question_once(environ: dict[str, str]) -> None:
    """The agent has not drawn anything since the first did."""
    desk = Desk(seen(DIALOG))
    given = desk.shown().answer(1)
    assert [_rule(Once(0.0, OnDisk(environ)).answer(desk, given)) for _ in range(3)] == [
        "typed",
        "answered",
        "answered",
    ]
    assert len(desk.typed) == 1
    # A third one sees it go on: the same dialog is another question then.
    desk.now = seen("claude/working-120", Status.WORKING)
    Once(0.0, OnDisk(environ)).look(desk)
    desk.now = seen(DIALOG)
    assert _rule(Once(0.0, OnDisk(environ)).answer(desk, given)) == "typed"
    assert len(desk.typed) == 2


def test_words_for_a_dialog_are_typed_once(environ: dict[str, str]) -> None:
    """A dialog that asks for words is a question, too."""
    shown = seen("opencode/denied-80", Status.WAITING)
    rows = ["  ┃", "  ┃  △ Reject permission", "  ┃  Tell what to do instead", "  ┃", "  ┃   enter confirm"]
    desk = Desk(attrs.evolve(shown, look=Look([*shown.look.lines[:8], *rows], 10, 0, 80)))
    asked = Say(PANE, PID, START, "blue", enter=True, fingerprint=desk.shown().fingerprint)
    assert [_rule(Once(0.0, OnDisk(environ)).say(desk, asked)) for _ in range(2)] == ["typed", "answered"]
    assert desk.typed == ["blue\r"]


def test_two_processes_interrupt_one_turn_once(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again while it works on, which it may do for a moment; the next turn is another one."""

    def interrupt() -> str:
        return _rule(Once(0.0, OnDisk(environ)).interrupt(desk, Interrupt(PANE, PID, START)))

    desk = Desk(seen("claude/working-120", Status.WORKING))
    assert [interrupt() for _ in range(2)] == ["typed", "answered"]
    # Its screen shows that it has stopped, and its light does not yet.
    desk.now = seen("claude/idle-start-80", Status.WORKING)
    assert interrupt() == "answered"
    desk.now = seen("claude/idle-start-80", Status.IDLE)
    assert interrupt() == "no-turn"
    desk.now = seen("claude/working-120", Status.WORKING)
    assert interrupt() == "typed"
    # It has missed the key.
    monkeypatch.setattr(once, "RETRY_INTERRUPT_S", 0.0)
    assert interrupt() == "typed"
    assert desk.typed == ["\x1b"] * 3


def test_a_question_behind_an_interruption_is_answered() -> None:
    """What was noted of the turn is no answer to what the agent asks then."""
    notes = InProcess()
    desk = Desk(seen("claude/working-120", Status.WORKING))
    assert _rule(Once(0.0, notes).interrupt(desk, Interrupt(PANE, PID, START))) == "typed"
    desk.now = seen(DIALOG)
    assert _rule(Once(0.0, notes).answer(desk, desk.shown().answer(1))) == "typed"


@pytest.mark.parametrize("act", ["answer", "interrupt"])
@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_at_the_same_moment(kind: str, act: str, environ: dict[str, str]) -> None:
    """Of many that answer or interrupt at the same time, each after its own look, one types."""
    shared = InProcess()
    desk = Desk(seen(DIALOG) if act == "answer" else seen("claude/working-120", Status.WORKING))
    given = desk.shown().answer(1) if act == "answer" else Interrupt(PANE, PID, START)
    start, found = threading.Barrier(8), []

    def answer() -> None:
        once = Once(0.0, shared if kind == "memory" else OnDisk(environ))
        start.wait()
        found.append(_rule(getattr(once, act)(desk, given)))

    threads = [threading.Thread(target=answer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["answered"] * 7 + ["typed"] and len(desk.typed) == 1


def test_it_is_noted_before_it_is_typed(environ: dict[str, str]) -> None:
    """A process that is killed while it types leaves the question answered."""

    class Killed(Desk):
        def press(self, keys: str, seen: Seen | None = None) -> bool:
            raise KeyboardInterrupt

    desk = Desk(seen(DIALOG))
    given = desk.shown().answer(1)
    with pytest.raises(KeyboardInterrupt):
        Once(0.0, OnDisk(environ)).answer(Killed(desk.now), given)
    assert _rule(Once(0.0, OnDisk(environ)).answer(desk, given)) == "answered"
    assert desk.typed == []


def test_what_cannot_be_noted_is_not_typed(tmp_path: Path) -> None:
    """The person is told why."""
    (tmp_path / "tallylight").write_text("")
    desk = Desk(seen(DIALOG))
    once = Once(0.0, OnDisk({"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}))
    found = once.answer(desk, desk.shown().answer(1))
    assert isinstance(found, Refusal) and found.rule == "answered"
    assert "so nothing was typed" in found.text and f"{tmp_path}/tallylight" in found.text
    assert desk.typed == []


def test_a_folder_that_others_can_change_is_not_used(environ: dict[str, str], folder: Path) -> None:
    """Somebody else could remove a note."""
    folder.chmod(0o777)
    with pytest.raises(match="other users"):
        OnDisk(environ).add(AGENT, "a")


def test_a_busy_folder_is_waited_for_not_for_ever(
    environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that hangs while it makes its note costs an answer, and says so."""
    monkeypatch.setattr(answered, "NOTE_LOCK_S", 0.0)
    with answered.locked(folder, ""), pytest.raises(match="another process answers"):
        OnDisk(environ).add(AGENT, "a")


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_notes_are_bounded(kind: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent that was answered longest ago is forgotten first."""
    assert answered.MAX_NOTES == 1000
    monkeypatch.setattr(answered, "MAX_NOTES", 20)
    notes = InProcess() if kind == "memory" else OnDisk(environ)
    for number in range(25):
        assert notes.add((f"%{number}", PID, START), "a")
    assert [notes.read((f"%{number}", PID, START)) is None for number in range(25)] == [True] * 5 + [False] * 20


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_only_the_last_note_is_forgotten(kind: str, environ: dict[str, str]) -> None:
    """What was answered after the look that saw the agent go on, stays."""
    notes = InProcess() if kind == "memory" else OnDisk(environ)
    assert notes.add(AGENT, "a") and not notes.add(AGENT, "a")
    old = notes.read(AGENT)
    assert old is not None and old.fingerprint == "a"
    assert notes.add(AGENT, "b")
    notes.forget(AGENT, old)
    new = notes.read(AGENT)
    assert new is not None and new.fingerprint == "b"
    notes.forget(AGENT, new)
    assert notes.read(AGENT) is None
    notes.forget(AGENT, new)


def test_bad_files_are_removed(environ: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no note, or was made before the machine was started or a day ago, is none."""
    now = answered.time.monotonic_ns()
    path = next(folder.iterdir())
    good = path.read_bytes()
    for data in (b"", b"x", b"\xff\n1\n1\n1\n%1", b"a\nb\nc\nd\ne", b"a" * 5000, good.replace(b"\n", b" ")):
        path.write_bytes(data)
        assert list(OnDisk(environ).all()) == []
    for at, count in ((now, 1), (now + 10**15, 0), (now - 2 * 86400 * 10**9, 0)):
        path.write_text(f"x\n{at}\n9\n9\n%9")
        assert len(list(OnDisk(environ).all())) == count
    OnDisk(environ).add(AGENT, "a")
    assert not path.exists() and len(list(folder.iterdir())) == 1


def test_what_is_noted_is_told_whole(environ: dict[str, str]) -> None:
    """A pane may be called anything."""
    agent = ("%1\nx é", PID, START)
    OnDisk(environ).add(agent, "a")
    ((found, note),) = OnDisk(environ).all()
    assert found == agent and note.fingerprint == "a"
    assert attrs.asdict(note)["at"] <= answered.time.monotonic_ns()
