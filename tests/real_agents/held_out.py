"""The scenes of the held-out recordings: other words, tools, lengths, orders and sizes than those of `scenes`.

No rule of Tallylight was made or looked at with these at hand when they were first recorded and measured: they are to
show how often the light is right on what it was not made for. Each agent is recorded in the newest version that its
registry had, and some in an older one than the rules were made for (`OLDER`).
"""

from __future__ import annotations

from typing import NamedTuple

from tests.real_agents.scenes import Play, Scene
from tests.real_agents.session import Session

_DOWN = "\x1b[B"
_PROJECT = "/home/user/project/"


def edit(s: Session) -> None:
    """A file that is to be written: the dialog holds its text. It is approved, and much is said about it."""
    target = "area.py" if s.agent in ("codex", "aider") else f"{_PROJECT}area.py"
    s.turn(f"AFTER 1.5 EDIT {target} THEN PROSE 4")
    s.asked("permission", pattern=EDITS[s.agent])
    s.rest(6)
    s.approve()
    s.rest(4)
    s.leave()


def page(s: Session) -> None:
    """A page that is to be read from the web; the person says no, and goes on with something else."""
    if s.agent == "aider":  # which sees the address in the prompt, and asks before it asks a model
        s.submit("AFTER 2 see http://example.org/ledger")
        s.truth("working")
        s.dialog("waiting:question", _PAGES[s.agent], s.told[-1][0])
        s.since = len(s.model.marks)
        s.rest(5)
        s.keys(("n\r",), "working")
        s.mark("done")
    else:
        s.turn("AFTER 1 FETCH http://example.org/ledger THEN AFTER 1 fine")
        s.asked("permission", pattern=_PAGES[s.agent])
        s.rest(5)
        s.keys(s.manner.deny, s.manner.denied)
    s.rest(3)
    s.turn("SLOW 2")
    s.mark("done")
    s.rest(3)
    s.leave()


def pick(s: Session) -> None:
    """A question of three lines with four choices, of which the third is taken after some reading."""
    s.turn(f"{s.manner.plan}AFTER 1 PICK THEN AFTER 2 fine")
    s.asked("question")
    s.rest(5)
    s.keys((_DOWN,))
    s.rest(2)
    s.keys((_DOWN, "\r"), "working")
    s.finished()
    s.rest(4)
    s.leave()


def prose(s: Session) -> None:
    """A long answer with headings, lists, a table, code and what looks like questions, and a look at it."""
    s.turn("PROSE 13")
    s.mark("done")
    s.rest(7)
    s.leave()


def twice(s: Session) -> None:
    """A prompt that is typed in two halves, and two more turns, each right after the one before."""
    s.since = len(s.model.marks)
    s.keys(("AFTER 3 ",))
    s.rest(3)
    s.keys(("fine",))
    s.rest(s.manner.settles)
    s.keys(("\r",), "working")
    s.mark("done")
    s.rest(0.6)
    s.turn("AFTER 4 what about the tests")
    s.mark("done")
    s.rest(0.6)
    s.turn("SLOW 4")
    s.mark("done")
    s.rest(5)
    s.leave()


def again(s: Session) -> None:
    """A command that is refused, and at once another one that is approved and takes its time."""
    s.turn("AFTER 1 TOOL rm -r build THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(3)
    s.keys(s.manner.deny, s.manner.denied)
    s.rest(1.5)
    s.turn("AFTER 2 TOOL mkdir -p build; sleep 4 THEN PROSE 2")
    s.asked("permission")
    s.rest(4)
    s.approve(30)
    s.rest(3)
    s.leave()


def series(s: Session) -> None:
    """Three commands in one turn, each of them asked for, the second of them slow."""
    s.turn("AFTER 1 TOOL touch one THEN AFTER 1 TOOL mkdir two; sleep 3 THEN AFTER 1 TOOL touch three THEN SLOW 2")
    for last in (False, False, True):
        s.asked("permission")
        s.rest(3)
        s.since = len(s.model.marks)
        if last:
            s.approve()
        else:
            s.keys(s.manner.approve, "working")
    s.rest(4)
    s.leave()


def later(s: Session) -> None:
    """A session of before that is taken up again, and asks for permission in its first turn."""
    s.turn("AFTER 2 TOOL touch ledger.txt THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(5)
    s.approve()
    s.rest(4)
    s.leave()


def busy(s: Session) -> None:
    """A question while a command runs in the background; the command outlives the turn."""
    s.turn("AFTER 1 BACKGROUND touch made; sleep 16 THEN AFTER 1 ASK THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(2)
    s.keys(s.manner.approve, "working")
    s.asked("question")
    s.rest(5)
    s.keys(s.manner.answer, "working")
    s.mark("done")
    s.truth("background")
    s.rest(15)
    s.leave()


def plan(s: Session) -> None:
    """A plan that the person is asked to agree to."""
    s.turn("AFTER 2 PLAN THEN AFTER 2 fine")
    s.asked("permission", pattern="Exit plan mode")
    s.rest(6)
    s.approve()
    s.rest(4)
    s.leave()


#: What the two dialogs look like; every agent that has them.
EDITS = {
    "claude": "Do you want to create",
    "codex": "make the following edits",
    "gemini": "Apply this change",
    "qwen": "Apply this change",
    "copilot": "Do you want to create",
    "opencode": "Permission required",
    "kilo": "Permission required",
    "aider": "Create new file",
}
_PAGES = {
    "claude": "fetch this content",
    "gemini": "URLs to fetch",
    "qwen": "URLs to fetch",
    "aider": "Add URL to the chat",
}
#: How the last session is taken up again.
RESUMES = {"copilot": ("--continue",), "aider": ("--restore-chat-history",)}
#: The older versions that some are recorded in.
OLDER = {
    "claude": "2.1.316",
    "codex": "0.159.3",
    "gemini": "0.47.0",
    "qwen": "0.15.10",
    "copilot": "1.0.81",
}


class _Cast(NamedTuple):
    play: Play
    #: Agents, each with `+relay`, `+hooks` and `+older` for what it is recorded with besides.
    agents: str
    #: Columns and lines, taken by one agent after the other.
    sizes: tuple[tuple[int, int], ...]


_CASTS = (
    _Cast(
        edit,
        "claude+relay+older codex+relay+older gemini+older qwen+older copilot+older aider opencode kilo",
        ((60, 24), (80, 24), (48, 30), (72, 20)),
    ),
    _Cast(again, "claude+relay codex+relay gemini qwen copilot aider opencode kilo", ((80, 24), (56, 26))),
    _Cast(
        pick,
        "claude+relay+hooks codex+relay gemini+older qwen copilot+older opencode",
        ((160, 45), (50, 32), (132, 43)),
    ),
    _Cast(page, "claude+hooks gemini qwen aider", ((120, 36), (64, 30))),
    _Cast(series, "claude codex+relay gemini copilot", ((132, 43), (70, 22))),
    _Cast(twice, "claude+relay copilot qwen aider", ((90, 28), (40, 24), (90, 28), (90, 28))),
    _Cast(later, "copilot aider", ((110, 33),)),
    _Cast(prose, "claude codex+relay", ((200, 50), (40, 22))),
    _Cast(busy, "claude+relay copilot", ((84, 27),)),
    _Cast(plan, "claude", ((76, 30),)),
)


def scenes() -> list[Scene]:
    """Every held-out recording, those that tell most first."""
    found = []
    for play, agents, sizes in _CASTS:
        for number, words in enumerate(agents.split()):
            agent, *others = words.split("+")
            size = sizes[number % len(sizes)]
            found += [Scene(agent, play.__name__, play, set_up, size) for set_up in ("", *others)]
    return found
