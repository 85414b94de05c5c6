"""The scenes of the recordings that no rule was made with: steps dealt out by a seed, not chosen by anybody.

Each agent plays the steps that it has, each at most once; the order, the words, the commands, the pauses and the sizes
of the terminal are the seed's. `walk1` and on hold what happens in a turn, `around1` and on what goes on around one.
They are recorded before all else on their machine (`quiet`).
"""

from __future__ import annotations

import functools
import random
import shlex
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.real_agents.driver import wait_until
from tests.real_agents.held_out import EDITS
from tests.real_agents.scenes import Play, Scene, count
from tests.real_agents.session import Session
from tests.real_agents.situations import press_ctrl_c

#: The day on which they were first recorded.
SEED = 20261123
_UP, _DOWN, _RIGHT, _LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
_COMMANDS = (
    "mkdir -p out/{n}",
    "cp README.md copy-{n}.md",
    "printf 'stage %s' {n} > stage-{n}.txt",
    "git tag stage-{n}",
    "python3 -c 'print({n} ** 2)' > square-{n}",
    "rm -rf cache-{n}",
    "ln -s README.md link-{n}",
    "tar cf lamps-{n}.tar README.md",
)
_WORDS = ("why is lamp {n} red", "list what stage {n} needs", "sum up section {n}", "what changed in part {n}?")
#: How a pasted text may end.
_ENDS = ("Password:", "Overwrite? [y/N]", "Do you want to proceed?", "❯ 1. Yes", "Press Enter to continue")

#: One thing that happens between a person and an agent that is at its prompt, and is there again after it.
Step: TypeAlias = Callable[[Session, random.Random], None]


def _command(s: Session, r: random.Random, seconds: float = 0) -> str:
    command = r.choice(_COMMANDS).format(n=r.randint(10, 99))
    if s.agent == "copilot" and not seconds:
        command = command.replace("git tag", "touch")  # for that alone it does not ask
    if s.agent == "aider":
        command = command.replace("README.md", ".git/HEAD")  # it asks about files that a prompt names
    return f"{command}; sleep {seconds:.1f}" if seconds else command


def _pause(s: Session, r: random.Random, least: float = 3.0, most: float = 7.0) -> None:
    s.rest(r.uniform(least, most))


def _thinks(r: random.Random) -> str:
    return f"AFTER {r.uniform(0.8, 2.8):.1f} "


def _says(r: random.Random) -> str:
    """What the model answers."""
    return r.choice(
        (
            f"SLOW {r.uniform(1.5, 6):.1f}",
            f"PROSE {r.uniform(2, 6):.1f}",
            _thinks(r) + r.choice(_WORDS).format(n=r.randint(2, 98)),
        )
    )


# In a turn ----------------------------------------------------------------------------------------------------------


def answer(s: Session, r: random.Random) -> None:
    """A short answer, at once or after some thought."""
    s.turn(_thinks(r) + r.choice(_WORDS).format(n=r.randint(2, 98)))
    s.mark("done")
    _pause(s, r)


def prose(s: Session, r: random.Random) -> None:
    """A longer one, of lists and code."""
    s.turn(f"PROSE {r.uniform(4, 9):.1f}")
    s.mark("done")
    _pause(s, r)


def command(s: Session, r: random.Random) -> None:
    """A command that is approved and takes its time."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r, r.uniform(0.5, 7))} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 6)
    s.approve(40)
    _pause(s, r)


def refusal(s: Session, r: random.Random) -> None:
    """A command that is refused."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r)} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 6)
    s.keys(s.manner.deny, s.manner.denied)
    if s.manner.denied == "working":
        s.finished()
    _pause(s, r)


def stopped_answer(s: Session, r: random.Random) -> None:
    """Esc in the middle of an answer."""
    s.turn(f"{r.choice(('SLOW', 'PROSE'))} {r.randint(25, 40)}")
    s.mark("working")
    _pause(s, r, 2.5, 6)
    s.keys(s.manner.interrupt)
    s.mark("interrupted", timeout=10)
    _pause(s, r)


def stopped_command(s: Session, r: random.Random) -> None:
    """Esc in the middle of a command."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r, r.randint(22, 29))} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 4)
    s.keys(s.manner.approve, "working")
    _pause(s, r, 3, 6)
    s.keys(s.manner.interrupt, "idle")
    _pause(s, r)


def question(s: Session, r: random.Random) -> None:
    """A question that is answered."""
    thinks, word = _thinks(r), r.choice(("ASK", "PICK"))
    if s.agent in _ALSO and s.agent != "claude":  # no scene has shown yet that they have the longer one
        word = "ASK"
    s.turn(f"{s.manner.plan}{thinks}{word} THEN {_says(r)}")
    s.asked("question")
    _pause(s, r, 3, 6)
    s.keys(s.manner.answer, "working")
    s.finished()
    _pause(s, r)


def error(s: Session, r: random.Random) -> None:
    """A request that fails for good."""
    thinks, code = _thinks(r), r.choice((400, 404, 422))
    s.turn(f"{thinks}ERROR {400 if s.agent in _ALSO else code}")
    s.mark("error")
    _pause(s, r)


def edit(s: Session, r: random.Random) -> None:
    """A file that is written."""
    s.turn(f"{_thinks(r)}EDIT /home/user/project/part_{r.randint(10, 99)}.py THEN {_says(r)}")
    s.asked("permission", pattern=EDITS[s.agent])
    _pause(s, r, 2, 6)
    s.approve()
    _pause(s, r)


def series(s: Session, r: random.Random) -> None:
    """Two or three commands in one turn, each of which is asked for."""
    number = r.randint(2, 3)
    commands = (f"{_thinks(r)}TOOL {_command(s, r, r.choice((0, r.uniform(1, 3))))}" for _ in range(number))
    s.turn(" THEN ".join((*commands, _says(r))))
    for index in range(number):
        s.asked("permission")
        _pause(s, r, 1.5, 4)
        s.since = len(s.model.marks)
        if index == number - 1:
            s.approve()
        else:
            s.keys(s.manner.approve, "working")
    _pause(s, r)


# Around a turn ------------------------------------------------------------------------------------------------------


def _size(r: random.Random) -> tuple[int, int]:
    return r.randint(56, 150), r.randint(22, 46)


def paste(s: Session, r: random.Random) -> None:
    """A pasted text, whose end looks like a question."""
    lines = [f"{n:03} stage {n % 7}: {r.choice(_COMMANDS).format(n=n)}" for n in range(r.randint(60, 400))]
    s.since = len(s.model.marks)
    s.pane.send(
        "\x1b[200~" + "\n".join([f"AFTER {r.uniform(2, 4):.1f} read this", *lines, r.choice(_ENDS)]) + "\x1b[201~"
    )
    _pause(s, r, 3, 6)
    s.keys(("\r",), "working")
    s.mark("done")
    _pause(s, r)


def resized(s: Session, r: random.Random) -> None:
    """Other sizes in the middle of an answer and of a dialog."""
    name = f"hold-{r.randint(100, 999)}"
    s.turn(f"HOLD {name}")
    s.shows("scripted model answers")
    for _ in range(2):
        _pause(s, r, 1.5, 3)
        s.resize(*_size(r))
    _pause(s, r, 1.5, 3)
    s.model.release(name)
    s.mark("done")
    _pause(s, r)
    s.turn(f"{_thinks(r)}TOOL {_command(s, r)} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 4)
    s.resize(*_size(r))
    _pause(s, r, 2, 4)
    s.approve()
    _pause(s, r)


def queued(s: Session, r: random.Random) -> None:
    """A second prompt, sent while the first is answered."""
    name = f"hold-{r.randint(100, 999)}"
    s.turn(f"HOLD {name}")
    s.shows("scripted model answers")
    _pause(s, r, 1.5, 3)
    s.submit(f"SLOW {r.uniform(2, 5):.1f}")
    _pause(s, r, 2, 4)
    s.model.release(name)
    wait_until(lambda: count(s, "working") >= 2, 30, "the second turn")
    wait_until(lambda: s.model.marks[-1]["mark"] == "done", 30, "the end of the second turn")
    _pause(s, r)


def typing(s: Session, r: random.Random) -> None:
    """Keys beside a dialog that choose nothing."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r)} THEN {_says(r)}")
    s.asked("permission")
    pairs = ((_DOWN, _UP),) if s.manner.approve != ("\r",) or s.agent == "copilot" else ((_RIGHT, _LEFT), (_DOWN, _UP))
    for key in ("q" * r.randint(1, 2), "x", *r.choice(pairs)):
        _pause(s, r, 0.8, 2)
        s.keys((key,))
    _pause(s, r, 1.5, 3)
    s.approve()
    _pause(s, r)


def quiet(s: Session, r: random.Random) -> None:
    """A command that prints nothing for a long time."""
    # One that takes longer than half a minute has Copilot ask its model again.
    s.turn(f"{_thinks(r)}TOOL {_command(s, r, r.randint(20, 26))} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 4)
    s.approve(60)
    _pause(s, r)


def shell(s: Session, r: random.Random) -> None:
    """A command in the background, and a second turn while it runs."""
    s.turn(f"{_thinks(r)}BACKGROUND touch begun; sleep {r.randint(20, 27)}; touch over THEN {_thinks(r)}started")
    s.asked("permission")
    _pause(s, r, 2, 4)
    s.keys(s.manner.approve, "working")
    s.mark("done")
    s.truth("background")
    _pause(s, r, 3, 6)
    s.turn(f"SLOW {r.uniform(2, 4):.1f}")
    s.mark("done")
    s.truth("background")
    wait_until((s.home / "project/over").exists, 40, "the end of the command")
    if s.agent == "copilot":  # which takes it up by itself
        since = len(s.model.marks)
        wait_until(lambda: [m for m in s.model.marks[since:] if m["mark"] == "done"], 20, "a turn about its end")
    else:
        s.truth("done")
    _pause(s, r)


def child(s: Session, r: random.Random) -> None:
    """A subagent that asks, whose agent waits for it."""
    s.turn(f"{_thinks(r)}TASK SUB TOOL {_command(s, r)} THEN {_says(r)}")
    called = s.mark("sub:waiting:permission", timeout=40)["epoch"]
    s.dialog("waiting:permission", s.manner.permission, called)
    _pause(s, r, 3, 6)
    s.keys(s.manner.approve, "working")
    s.mark("done", timeout=60)
    _pause(s, r)


# Ends ---------------------------------------------------------------------------------------------------------------


def leave(s: Session, r: random.Random) -> None:
    """The agent is told to end."""
    s.leave()


def cancel(s: Session, r: random.Random) -> None:
    """Ctrl-C at a dialog."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r)} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 2, 5)
    press_ctrl_c(s)


def gone(s: Session, r: random.Random) -> None:
    """`kill -9` at a dialog."""
    s.turn(f"{_thinks(r)}TOOL {_command(s, r)} THEN {_says(r)}")
    s.asked("permission")
    _pause(s, r, 3, 6)
    s.kill()
    s.ended()


#: Who plays which steps, how many in a recording.
_IN = (answer, prose, command, refusal, stopped_answer, stopped_command, question, error, series)
_AROUND = (paste, resized, queued, typing, quiet)
_ENDINGS = (leave, cancel, gone)
_MORE: dict[str, tuple[tuple[Step, ...], tuple[Step, ...]]] = {
    "opencode": ((edit,), (child,)),
    "kilo": ((edit,), (child,)),
    "copilot": ((edit,), (shell,)),
    "qwen": ((edit,), (shell,)),
    "pi": ((), ()),
}


#: Those that play in a turn alone, and what they have not: aider asks once in a turn and has a question about a command
#: that was stopped; Codex asks in another mode, in which it stays.
_ALSO: dict[str, tuple[Step, ...]] = {
    "aider": (stopped_command, series),
    "cline": (),
    "codex": (question,),
    "claude": (),
    "gemini": (),
    "kimi": (),
}


def _parts(steps: list[Step], size: int) -> Iterator[list[Step]]:
    for start in range(0, len(steps), size):
        if len(part := steps[start : start + size]) > 1:
            yield part


def _play(s: Session, steps: tuple[Step, ...], seed: str) -> None:
    r = random.Random(seed)
    if r.random() < 0.3:  # as a script starts it
        s.start(argv=["bash", "-c", f"{shlex.join(s.launch.argv)}; true"])
    else:
        s.start()
    _pause(s, r, 2, 4)
    for step in steps:
        step(s, r)


def scenes() -> list[Scene]:
    """Every recording, dealt out by the seed."""
    found = []
    for agent, (more_in, more_around) in _MORE.items():
        r = random.Random(f"{SEED} {agent}")
        inside, around = [*_IN, *more_in], [*_AROUND, *more_around]
        r.shuffle(inside)
        r.shuffle(around)
        walks = [(*part, leave) for part in _parts(inside, 4)]
        others = [(*part, _ENDINGS[number]) for number, part in enumerate(_parts(around, 2))]
        for name, parts in (("walk", walks), ("around", others)):
            for number, steps in enumerate(parts, 1):
                play: Play = functools.partial(_play, steps=steps, seed=f"{SEED} {agent} {name}{number}")
                found.append(Scene(agent, f"{name}{number}", play, size=_size(r)))
    for agent, has_not in _ALSO.items():
        r = random.Random(f"{SEED} {agent}")
        steps = [step for step in _IN if step not in has_not]
        r.shuffle(steps)
        for number, part in enumerate(_parts(steps, 5), 1):
            if agent == "kimi":  # which sends what has failed once more, before the next prompt
                part.sort(key=lambda step: step is error)
            play = functools.partial(_play, steps=(*part, leave), seed=f"{SEED} {agent} walk{number}")
            found.append(Scene(agent, f"walk{number}", play, size=_size(r)))
    return found


def steps_of(scene: Scene) -> list[str]:
    """The names of the steps of one, in order."""
    assert isinstance(scene.play, functools.partial)
    return [step.__name__ for step in scene.play.keywords["steps"]]
