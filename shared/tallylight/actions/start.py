"""
Starting an agent for a script: its argument list, its place, and the reasons to refuse it.

The list is the agent's name, or that of its data file for a first prompt, with the prompt as one word at its end. No
script adds an option: the new agent asks for its permissions as it does by itself. The prompt must never be read as
anything else: `-` in front would be an option, and `@` is special to kitty. One word alone may be a command, which a
space behind it prevents. The host looks for the program by the agent's own name where it looks for programs. No
environment of a script or an agent counts: any program can call itself an agent, and put a program of that name into a
directory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import attrs

from tallylight.actions.gate import Refusal, check_dangerous, check_program, is_denied
from tallylight.actions.say import text_problem
from tallylight.agents.agent import Agent
from tallylight.wire.text import sanitise

#: Cells of a pane's name.
PANE_NAME_CELLS = 60


class Runs(Protocol):
    """A program for a new pane, its directory and its title."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments."""

    @property
    def cwd(self) -> str:
        """The directory."""

    @property
    def title(self) -> str:
        """The name of the pane."""

    @property
    def env(self) -> Mapping[str, str]:
        """Its environment, beside that of the terminal."""


@attrs.frozen(kw_only=True)
class StartPlan:
    """The agent to start, and the *title* of its pane; `argv[0]` is the path of the program."""

    argv: tuple[str, ...]
    cwd: str
    agent: str
    title: str
    env: Mapping[str, str] = attrs.field(factory=dict)


def words_of(agent: Agent, prompt: str) -> tuple[str, ...] | Refusal:
    """Return the argument list that starts *agent*, with *prompt* if there is one."""
    denied = next((name for name in (*agent.processes, *agent.generic) if is_denied(name)), "")
    if denied:
        return Refusal("deny-list", f"the data file names {denied}, which runs other programs")
    program = next((words[0] for words in (agent.start, *agent.lists, agent.processes, agent.generic) if words), "")
    if not program:
        return Refusal("program", f"the data file of {agent.name} names no program of its own")
    if not prompt:
        return check_program(program, agent) or (program,)
    if not agent.start:
        how = "start it without one and use `tally send`"
        return Refusal("prompt", f"{agent.display} takes no prompt on its command line: {how}")
    if (problem := text_problem(prompt)) is not None:
        return Refusal(problem.rule, problem.text.replace("typed", "started"))
    if prompt[0] in "-@":
        return Refusal("prompt", f"a prompt cannot begin with {prompt[0]}")
    words = agent.start[:-1]
    if not words[-1].startswith("-") and len(prompt.split()) < 2:
        # `update` is a command of some agents; no program has one that ends with a space.
        prompt = f"{prompt.strip()} "
    return check_program(words[0], agent) or check_dangerous(words[1:], agent, ()) or (*words, prompt)


def plan(agent: Agent, prompt: str, name: str, cwd: str, find: Callable[[str], str]) -> StartPlan | Refusal:
    """
    Return the plan that starts *agent* in the directory *cwd*; reads the disk.

    *find* is the way in which the host finds a program: it returns the absolute path for a name, "" if there is none.
    """
    words = words_of(agent, prompt)
    if isinstance(words, Refusal):
        return words
    if not Path(cwd).is_absolute() or not Path(cwd).is_dir():
        return Refusal("directory", f"the directory {cwd!r} does not exist")
    program = find(words[0])
    if not program:
        text = f"{words[0]!r} is not on the terminal's PATH; the caller's PATH does not count"
        return Refusal("program", f"{text}: link the program into ~/.local/bin, or set PATH for the terminal")
    title = sanitise(name, cells=PANE_NAME_CELLS).strip() or agent.display
    return StartPlan(argv=(program, *words[1:]), cwd=cwd, agent=agent.name, title=title)
