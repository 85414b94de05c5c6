"""
An agent that no file describes: the commands that may continue it.

None of its options are known, so no reported command is used unchecked. `stranger` has the few ways in which agents
continue a conversation; a reported command has to be one of them. `process_and_file` finds the process and the file of
the program in the foreground: nothing else is ever run for it, whatever its name leads to elsewhere.
"""

from __future__ import annotations

from tallylight.agents.agent import STRANGE_IDS, Agent, Template
from tallylight.evidence.commands import interpreter_name, unwrap
from tallylight.evidence.foreground import Identity, is_direct
from tallylight.evidence.ordinary import own_name, own_place
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import Table

_ID = "{session}"
_NOUNS = ("session", "sessions", "thread", "threads", "conversation", "conversations", "chat", "chats")
#: The words before the id of a conversation, which mean the same everywhere. A short option may mean anything.
_RESUMES = (
    *((option, _ID) for option in ("--resume", "--session", "--session-id", "--conversation", "--thread")),
    ("resume", _ID),
    *((noun, verb, _ID) for noun in _NOUNS for verb in ("resume", "continue", "--resume")),
)
_FORK_OPTIONS = ("--fork", "--fork-session")
_FORKS = (
    *((option, _ID) for option in _FORK_OPTIONS),
    ("fork", _ID),
    *((noun, "fork", _ID) for noun in _NOUNS),
    *((*words, option) for words in _RESUMES for option in _FORK_OPTIONS),
)


def stranger(name: str) -> Agent:
    """Return the agent with the program *name* that no file describes, with all commands that it may report."""
    resume, fork = (Template(said=tuple((name, *words) for words in lists)) for lists in (_RESUMES, _FORKS))
    return Agent(name=name, display=name, processes=(name,), resume=resume, fork=fork, ids=STRANGE_IDS)


def process_and_file(found: Identity, table: Table) -> tuple[Process, str] | None:
    """Return the process of the stranger *found*, which may run behind our relay, and its file; None if unknown."""
    front = found.leader or found.process
    if not found.stranger or front is None:
        return None
    for process in (front, *table.descendants(front.pid)):
        if file := file_of(process, found.stranger):
            return process, file
    return None


def file_of(process: Process, name: str = "") -> str:
    """
    Return the file that makes *process* the program *name*, or any; "" if it only leads to it, or is unknown.

    It is the script as its interpreter was given it, else the executable. A relative path may lead to another file by
    now. A program of an interpreter that has written its own title names no script.
    """
    chain = unwrap(process.argv, process.exe, process.comm)
    place = own_place(chain)
    if place is None or (name and own_name(chain) != name) or not is_direct(chain, place):
        return ""
    own = chain.invocations[place]
    file = own.word if own.interpreter else process.exe.removesuffix(" (deleted)")
    is_its_own = file.startswith("/") and (own.interpreter or not interpreter_name(file))
    return file if is_its_own else ""
