"""The scenes of the corpus: what a person and a model do with an agent while it is recorded.

Each is a function of a started `Session` that leaves the agent ended. Pauses are as long as they are with people: what
makes a rule wrong is often nothing but time that passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from tests.real_agents.driver import wait_until
from tests.real_agents.session import Session


def text(s: Session) -> None:
    """Two answers, one of them slow to come, and long silence at the prompt between."""
    s.turn("HOLD one")
    s.mark("working")
    s.rest(3)
    s.model.release("one")
    s.mark("done")
    s.rest(8)
    s.turn("SLOW 6")
    s.mark("done")
    s.rest(6)
    s.leave()


def silent(s: Session) -> None:
    """A model that thinks for ten seconds and says nothing, and then a dialog that waits for ten."""
    s.turn("HOLD one")
    s.mark("working")
    s.rest(10)
    s.model.release("one")
    s.mark("done")
    s.rest(3)
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(10)
    s.approve()
    s.rest(4)
    s.leave()


def permission(s: Session) -> None:
    """A dialog that is approved, a command that is silent for eight seconds, and an answer."""
    s.turn("AFTER 2 TOOL touch made; sleep 8 THEN SLOW 2")
    s.asked("permission")
    s.rest(5)
    s.approve(30)
    s.rest(5)
    s.leave()


def denial(s: Session) -> None:
    """A dialog that is refused, and a turn after it."""
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(4)
    s.keys(s.manner.deny, s.manner.denied)
    s.rest(5)
    s.turn("SLOW 3")
    s.mark("done")
    s.rest(5)
    s.leave()


def question(s: Session) -> None:
    """A question that waits for an answer, and gets one."""
    s.turn(f"{s.manner.plan}AFTER 2 ASK THEN SLOW 3")
    s.asked("question")
    s.rest(6)
    s.keys(s.manner.answer, "working")
    s.finished()
    s.rest(5)
    s.leave()


def interrupt(s: Session) -> None:
    """Esc in the middle of an answer, and Esc in the middle of a command."""
    s.turn("HOLD one")
    s.shows("scripted model answers")
    s.rest(2)
    s.keys(s.manner.interrupt)
    s.mark("interrupted", timeout=10)
    s.rest(6)
    s.turn("AFTER 2 TOOL touch made; sleep 20 THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(2)
    s.keys(s.manner.approve, "working")
    s.rest(4)
    if s.agent == "aider":  # which has a question about what the command has said so far
        pressed = time.time()
        s.keys(s.manner.interrupt)
        s.dialog("waiting:question", "Add command output to the chat", pressed)
        s.rest(3)
        s.keys(("n\r",), "idle")
    else:
        s.keys(s.manner.interrupt, "idle")
    s.rest(5)
    s.leave()


def error(s: Session) -> None:
    """A request that fails for good, and one that is refused with 429, which most agents try again by themselves."""
    s.turn("AFTER 1 ERROR 400")
    s.mark("error")
    s.rest(6)
    s.turn("ERROR 429 2 THEN AFTER 1 fine")
    wait_until(lambda: count(s, "done") or count(s, "error"), 60, "the end of the refused turn")
    s.rest(5)
    s.leave()


def killed(s: Session) -> None:
    """A turn, and `kill -9` in the middle of the next one."""
    s.turn("SLOW 2")
    s.mark("done")
    s.rest(3)
    s.turn("HOLD one")
    s.mark("working")
    s.rest(4)
    s.kill()
    s.ended()


def background(s: Session) -> None:
    """A command in the background that outlives its turn, and whose end the agent takes up by itself."""
    s.turn("AFTER 2 BACKGROUND touch made; sleep 8 THEN started")
    s.asked("permission")
    s.rest(2)
    s.keys(s.manner.approve, "working")
    s.mark("done")
    s.truth("background")
    wait_until(lambda: count(s, "done") >= 2, 20, "a turn about the command's end")
    s.rest(5)
    s.leave()


def subagent(s: Session) -> None:
    """A subagent. Some agents wait for it; some end their turn, and one of these takes up by itself what it found."""
    s.turn("AFTER 2 TASK SUB SLOW 6 THEN AFTER 1 fine")
    if s.agent == "qwen":  # which asks first
        s.dialog("waiting:permission", "Do you want to proceed", s.mark("calling")["epoch"])
        s.rest(2)
        s.keys(s.manner.approve, "working")
    s.mark("done", timeout=40)
    if not any(mark["mark"] == "sub:done" for mark in s.model.marks):
        s.truth("background")
        s.mark("sub:done", timeout=40)
        if s.agent == "claude":
            wait_until(lambda: count(s, "done") >= 2, 20, "a turn about what the subagent found")
        else:
            s.truth("done")
    s.rest(5)
    s.leave()


def compaction(s: Session) -> None:
    """A conversation that is made short at the person's request."""
    s.turn("SLOW 2")
    s.mark("done")
    s.rest(3)
    s.turn("/compact")
    s.truth("working")
    s.shows("[Cc]ompact(ed|ion) |Context compacted", 40)
    s.truth("idle")
    s.rest(5)
    s.leave()


def trust(s: Session) -> None:
    """An agent that asks first whether the folder is to be trusted. Its screen is the truth: no model is asked."""
    s.dialog("waiting:auth", "[Tt]rust", 0.0, 60)
    s.rest(8)
    # Claude offers first not to be trusted.
    s.keys(("\x1b[B", "\r") if s.agent == "claude" else ("\r",), "starting")
    s.shows(s.manner.ready, 60)
    s.rest(1.5)
    s.truth("idle")
    s.rest(5)
    s.leave()


def tmux(s: Session) -> None:
    """An agent behind the relay inside tmux, of which the terminal hears through tmux alone."""
    s.turn("SLOW 4")
    s.mark("done")
    s.rest(6)
    s.turn("AFTER 2 TOOL touch made; sleep 3 THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(5)
    s.approve(20)
    s.rest(5)
    s.leave()


def neighbours(s: Session) -> None:
    """Two of one agent, in two terminals: while one asks the other works on."""
    other = s.beside("SUB HOLD other")
    s.rest(2)
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(5)
    s.approve()
    s.rest(3)
    s.model.release("other")
    s.rest(3)
    other.close()
    s.others.remove(other)
    s.leave()


def resume(s: Session) -> None:
    """A session of before that is taken up again: its last words are on the screen, and old news."""
    s.rest(4)
    s.turn("SLOW 2")
    s.mark("done")
    s.rest(3)
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(3)
    s.approve()
    s.rest(3)
    s.leave()


def turns(s: Session) -> None:
    """An answer, a command that is approved, one that is refused, and an answer and a command that are stopped."""
    s.turn("SLOW 3")
    s.mark("done")
    s.rest(4)
    s.turn("AFTER 1 TOOL rm -rf build; touch made; sleep 4 THEN SLOW 1")
    s.asked("permission")
    s.rest(4)
    s.approve(40)
    s.rest(4)
    s.turn("AFTER 1 TOOL touch two THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(3)
    s.keys(s.manner.deny, s.manner.denied)
    if s.manner.denied == "working":
        s.finished()
    s.rest(5)
    s.turn("SLOW 30")
    s.mark("working")
    s.rest(4)
    _stop(s)
    s.turn("AFTER 1 TOOL touch three; sleep 20 THEN fine")
    s.asked("permission")
    s.rest(2)
    s.keys(s.manner.approve, "working")
    s.rest(4)
    _stop(s)
    if keys := _LEAVE.get(s.agent):
        s.keys(keys)
        s.ended()
    else:
        s.leave()


#: Nanocoder takes no command while its model answers, and one goes on after it was stopped. Kolega's list of commands
#: takes the Enter.
_LEAVE = {"nanocoder": ("\x03", "\x03"), "kolega": ("\x11",)}


def _stop(s: Session) -> None:
    """Stop the agent; that its model goes on for a while, it does not show."""
    since = len(s.model.marks)
    s.keys(s.manner.interrupt, "idle")
    s.rest(5)
    s.passed_over |= {mark["epoch"] for mark in s.model.marks[since:]}


def failure(s: Session) -> None:
    """A request that fails, a question if the agent has any, and `kill -9` where it asks to write a file."""
    s.turn("AFTER 1 ERROR 400")
    s.mark("error")
    s.rest(6)
    if s.manner.question:
        s.turn("AFTER 1 ASK THEN AFTER 1 fine")
        s.asked("question")
        s.rest(4)
        s.keys(s.manner.answer, "working")
        s.mark("done")
        s.rest(4)
    s.turn("AFTER 1 EDIT /home/user/project/part.py THEN fine")
    s.asked("permission")
    s.rest(5)
    s.kill()
    s.ended()


def unasked(s: Session) -> None:
    """An agent that never asks: an answer, a command, a request that fails, an answer that is stopped, `kill -9`."""
    prompts = {"SLOW 3": "done", "AFTER 1 TOOL touch made; sleep 4 THEN SLOW 1": "done", "AFTER 1 ERROR 400": "error"}
    for prompt, end in prompts.items():
        s.turn(prompt)
        s.mark(end)
        s.rest(5)
    s.turn("SLOW 12")
    s.mark("working")
    s.rest(4)
    _stop(s)
    s.kill()
    s.ended()


def tasks(s: Session) -> None:
    """A task, which ends with a command of its own, one that is stopped twice, and a request that fails for good."""
    s.turn("AFTER 2 TOOL touch made; sleep 4 THEN AFTER 2 TOOL echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")
    s.keys(("\x1b\r",), "working")
    for pause in (5, 3):
        s.asked("permission")
        s.rest(pause)
        s.since = len(s.model.marks)
        s.keys(s.manner.approve, "working")
    s.shows("Agent wants to finish")
    s.truth("done")
    s.rest(6)
    s.turn("AFTER 30 TOOL touch two")
    s.mark("working")
    s.rest(4)
    _stop(s)
    s.turn("AFTER 1 TOOL touch three; sleep 20 THEN fine")
    s.asked("permission")
    s.rest(3)
    s.keys(s.manner.approve, "working")
    s.rest(4)
    _stop(s)
    s.turn("AFTER 3 ERROR 401")
    s.ended(60)


def count(s: Session, name: str) -> int:
    """How often the model has marked `name` since the last prompt that was sent."""
    return [mark["mark"] for mark in s.model.marks[s.since :]].count(name)


Play: TypeAlias = Callable[[Session], None]


class Scene(NamedTuple):
    """One recording: what is played, and how the agent is started."""

    agent: str
    name: str
    play: Play
    #: As of a `Session`, or `older` for an older version of the agent.
    set_up: str = ""
    #: Columns and lines.
    size: tuple[int, int] = (100, 30)

    @property
    def file(self) -> str:
        """The name of the recording."""
        return f"{self.agent}-{self.name}{f'-{self.set_up}' if self.set_up else ''}.cast.gz"


#: The agents that play every scene of `_ALL`, and those that play some.
MANY = ("claude", "codex", "gemini", "aider", "qwen", "copilot", "opencode", "kilo")
FEW = ("kimi", "pi", "cline")
#: Those that play two of their own, in two sizes.
NEW = ("grok", "nanocoder", "vibe")
#: Those that were recorded after the rules for unknown agents were frozen.
FROZEN = ("cn", "gptme", "kolega", "tunacode", "mini")
_ALL = (permission, question, interrupt, text, denial, error, silent, killed)
_SOME = (permission, question, interrupt, text, denial, error)
#: Those that never ask, or that take one task at a time.
_OWN = {"tunacode": (unasked, unasked), "mini": (tasks, tasks)}
#: What not every agent has.
_MORE = {
    "claude": (background, subagent, compaction, resume, trust, tmux, neighbours),
    "codex": (subagent, resume),
    "opencode": (subagent, compaction),
    "qwen": (subagent, trust),
    "gemini": (trust, neighbours),
    "copilot": (subagent, trust),
    "kilo": (subagent,),
}
#: How the last session is taken up again.
RESUME = {"claude": ("-c",), "codex": ("resume", "--last")}
#: What an agent has not: aider runs commands in its own terminal and waits, so that an interrupt is the command's.
_NOT = {"aider": (silent,)}
#: What is recorded behind the relay, and with hooks, as well: agents that say more then.
_RELAYED = ("claude", "codex")
_HOOKED = {"claude": (permission, question, interrupt, text, denial, error, background, subagent)}


def scenes() -> list[Scene]:
    """Every recording of the corpus, those that tell most first."""
    found = []
    for play in dict.fromkeys((*_ALL, *(play for plays in _MORE.values() for play in plays))):
        for agent in (*MANY, *FEW):
            usual = _ALL if agent in MANY else _SOME
            if play in _NOT.get(agent, ()) or play not in (*usual, *_MORE.get(agent, ())):
                continue
            if play is not tmux:
                found.append(Scene(agent, play.__name__, play))
            if agent in _RELAYED and play is not neighbours:
                found.append(Scene(agent, play.__name__, play, "relay"))
            if play in _HOOKED.get(agent, ()):
                found.append(Scene(agent, play.__name__, play, "hooks"))
    for agent in (*NEW, *FROZEN):
        one, other = _OWN.get(agent, (turns, failure))
        found += [Scene(agent, "turns", one), Scene(agent, "failure", other, size=(72, 26))]
    return found
