"""
The gate: whether an argument list may be run to continue a conversation.

An `Agent` that the host itself saw, the arguments of its process, and an argument list go in: one of the agent's data
file, or one that a program asked for (OSC 88, OSC 26). Out comes the list with its placeholders filled, or a `Refusal`
that names the rule. The list is never joined and never split: a value stays one argument, whatever is in it.

A program's own list is accepted only as a whole shape (`actions.shape`). It is one list of the agent's data file, with
a session id in the place of `{session}`. Beside it may be whole options of the running agent, each with all of its
values and no more often. So a list in a printed file can name a conversation, and can neither loosen the agent's
permissions nor give it a task. An agent that no file describes has the few lists of `evidence.stranger`, and runs only
by the very file of its process.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ParamSpec, TypeVar

import attrs

from tallylight.actions.shape import Mismatch, match
from tallylight.agents.agent import STRANGE_IDS, Agent, Template
from tallylight.agents.options import dangerous_flags, is_option
from tallylight.evidence.commands import REMOTE, interpreter_name, unwrap
from tallylight.evidence.process import Process, base_name
from tallylight.model.errors import SessionError

_P = ParamSpec("_P")
_T = TypeVar("_T")
#: Characters of one value, and of the session id of an agent that no file describes.
MAX_VALUE_CHARS, MAX_STRANGE_ID_CHARS = 256, 64

#: OSC 26's names for the placeholders of the data files.
_ALIASES = {"SessionId": "session", "ProjectFolder": "cwd"}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_VALUE = re.compile(r"[A-Za-z0-9._:/+][A-Za-z0-9._:@/+-]{0,255}", re.ASCII)
_GOOD = re.compile(r"[A-Za-z0-9._:@/+-]", re.ASCII)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs that run the programs in their arguments, or change the disk: never an agent, whatever a file names them.
_DENIED = _words(
    "sh bash dash zsh fish ksh mksh ash csh tcsh nu xonsh elvish pwsh powershell busybox toybox python ruby perl php "
    "node nodejs bun deno lua luajit tclsh wish expect pypy pypy3 jruby java groovy scala kotlin clojure bb dotnet "
    "mono elixir escript erl raku guile racket julia rscript swipl janet hy tsx ts-node dart go cargo osascript awk "
    "gawk mawk nawk sed ed ex vi vim nvim emacs sudo doas su run0 pkexec runuser env xargs nohup setsid setpriv nice "
    "ionice chrt taskset timeout time stdbuf unbuffer script unshare bwrap firejail chroot flock parallel find watch "
    "entr strace ltrace gdb make cmake just npx npm pnpm pnpx yarn bunx uvx uv pipx pip exec eval source command "
    "builtin trap at batch crontab systemctl systemd-run dbus-run-session dbus-send rm dd shred mv cp ln tee truncate "
    "chmod chown mkfs mount curl wget nc ncat netcat socat ftp scp sftp rsync git tmux screen open xdg-open start "
    "kill pkill killall"
)


@attrs.frozen
class Refusal:
    """Why nothing is run: the *rule*, one stable word, and the *text* for a person, one sentence without its dot."""

    rule: str
    text: str


class RefusedError(Exception):
    """A rule refuses the request, in the middle of it: the caller gets *refusal* (`refuses`)."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def must(found: _T | Refusal) -> _T:
    """Return *found*, but raise it if it is a refusal."""
    if isinstance(found, Refusal):
        raise RefusedError(found)
    return found


def refuses(call: Callable[_P, _T]) -> Callable[_P, _T | Refusal]:
    """Return *call* changed to return a refusal that is raised in it, or that the pane's host cannot be reached."""

    @functools.wraps(call)
    def refusing(*given: _P.args, **named: _P.kwargs) -> _T | Refusal:
        try:
            return call(*given, **named)
        except RefusedError as error:
            return error.refusal
        except SessionError as error:
            return Refusal("unreachable", str(error))

    return refusing


def is_denied(name: str) -> bool:
    """Return whether the program *name* may never be started for an agent."""
    short = base_name(name).lower()
    return short in _DENIED or short in REMOTE or bool(interpreter_name(short))


def value_problem(value: str, *, is_path: bool = False) -> str:
    """
    Return why *value* may not be a session id; "" if it may become an argument.

    *is_path*: it may have `/`, `..` and a dot in front, as a directory and the ids of few agents have.
    """
    if not value:
        return "is empty"
    if len(value) > MAX_VALUE_CHARS:
        return f"is longer than {MAX_VALUE_CHARS} characters"
    if value.startswith("-"):
        return "begins with a dash, so it would be read as an option"
    if value.startswith("@"):
        return "begins with @, so kitty would replace it"
    if " " in value:
        return "has a space in it"
    if not _VALUE.fullmatch(value):
        bad = next(character for character in value if not _GOOD.fullmatch(character))
        return f"has {bad!a} in it, so it is no session id"
    if not is_path and "/" in value:
        return "has '/' in it, as a path has"
    if not is_path and value.startswith("."):
        return "begins with a dot, as a path may"
    if not is_path and ".." in value:
        return "has '..' in it, as a path may"
    return ""


def id_problem(value: str, agent: Agent) -> str:
    """Return why *value* may not be a session id of *agent*; "" if it may become an argument."""
    # A word of its own list would be allowed there, and mean something else.
    if any(value in words for words in agent.lists):
        return f"is a word of the command line of {agent.name}"
    problem = value_problem(value, is_path=agent.ids == "path")
    if problem or agent.ids != STRANGE_IDS:
        return problem
    # Behind an option without a value it would be a prompt.
    if len(value) > MAX_STRANGE_ID_CHARS:
        return f"is longer than {MAX_STRANGE_ID_CHARS} characters, and {agent.name} has no agent file that allows it"
    return "" if any(map(str.isdigit, value)) else f"has no digit, so it may be a command of {agent.name}"


def fill(template: Sequence[str], values: Mapping[str, str], agent: Agent) -> tuple[str, ...] | Refusal:
    """
    Return *template* with its placeholders replaced, once each and word by word, by *values* that fit *agent*.

    A value is never filled again: a session id `{cwd}` is refused for its braces.
    """
    words: list[str] = []
    for word in template:
        for name in _PLACEHOLDER.findall(word):
            known = _ALIASES.get(name, name)
            if known not in ("session", "cwd"):
                return Refusal("placeholder", f"{f'{{{_shown(name)}}}'!r} is not a known placeholder")
            what = "session id" if known == "session" else "directory"
            if not values.get(known):
                return Refusal("placeholder", f"the {what} is not known")
            value = values[known]
            problem = id_problem(value, agent) if known == "session" else value_problem(value, is_path=True)
            if problem:
                return Refusal("value", f"the {what} {_shown(value)!r} {problem}")
        words.append(_PLACEHOLDER.sub(lambda match: values[_ALIASES.get(match[1], match[1])], word))
    return tuple(words)


def check_program(word: str, agent: Agent) -> Refusal | None:
    """Return a refusal unless *word*, the first of a list of its data file, is a name of *agent* without a path."""
    return _check_deny_list(word) or _check_name(word, (*agent.processes, *agent.generic), agent)


def check_said_program(word: str, agent: Agent, process: Process | None) -> Refusal | None:
    """
    Return a refusal unless *word*, the first of a list that a program asked for, is the very program that runs.

    It must be a name of *agent* that its *process* has, or the path of this process. An agent that is gone, or one
    without a name of its own, has its unique names, and those in its data file's lists.
    """
    denied = _check_deny_list(word)
    if denied is not None:
        return denied
    chain = unwrap(process.argv, process.exe, process.comm).invocations if process is not None else ()
    if word.startswith("/") and process is not None and word in (process.exe, *(one.word for one in chain)):
        return None
    seen = {one.name for one in chain} & {*agent.processes, *agent.generic}
    return _check_name(word, seen or {*agent.processes, *(words[0] for words in agent.lists)}, agent)


def _check_deny_list(word: str) -> Refusal | None:
    """Return a refusal if *word* is an interpreter, a launcher or another program on the fixed deny list."""
    if is_denied(word):
        return Refusal("deny-list", f"it asks for {_shown(base_name(word))}, which runs other programs")
    return None


def _check_name(word: str, names: Collection[str], agent: Agent) -> Refusal | None:
    """Return a refusal unless *word* is one of *names*, without a path."""
    if "/" in word:
        return Refusal("program", f"{_shown(word)!r} is a path; only an agent's own name is accepted")
    if word not in names:
        return Refusal("program", f"{_shown(word)!r} is not {agent.name}, the agent that runs here")
    return None


def check_dangerous(words: Sequence[str], agent: Agent, flags: Sequence[str]) -> Refusal | None:
    """Return a refusal if *words* have a dangerous option that is not among the *flags* of the running agent."""
    for flag in dangerous_flags(words, agent):
        if flag not in flags:
            return Refusal("dangerous", f"{_shown(flag)} is dangerous, and the agent here was not started with it")
    return None


def check_said(
    words: Sequence[str], template: Template, agent: Agent, running: Sequence[str], cwd: str = ""
) -> Refusal | None:
    """
    Return a refusal unless an argument list that a program asked for is one of *template*.

    Only whole options may be beside it. *words* are filled and without the program's name, *running* are the arguments
    of the agent's process, *cwd* is the value of the data file's `{cwd}`.
    """
    if not template.lists:
        return Refusal("method", f"{agent.display} has no known command for this")
    refusals = []
    for list_ in template.lists:
        found = match(words, list_[1:], agent, running, cwd)
        if isinstance(found, Mismatch):
            refusals.append((found.position, _mismatch(found, agent)))
        elif problem := id_problem(found, agent) if found else "":
            refusals.append((len(words), Refusal("value", f"the session id {_shown(found)!r} {problem}")))
        else:
            return None
    return max(refusals, key=lambda one: one[0])[1]


def _mismatch(found: Mismatch, agent: Agent) -> Refusal:
    """Return the refusal for words that do not fit."""
    if denied := next(filter(None, map(_check_deny_list, found.words)), None):
        return denied
    if not found.words:
        return Refusal("list", f"it lacks words that {agent.name} needs for this")
    shown = _shown(" ".join(found.words))
    if is_option(found.words[0]) and agent.ids == STRANGE_IDS:
        return Refusal("option", f"{shown!r} is unknown: {agent.name} has no agent file that names it")
    if is_option(found.words[0]):
        return Refusal("option", f"{shown!r} is not needed by {agent.name} for this, and it runs without that")
    return Refusal("word", f"{shown!r} is not a session id; {agent.name} would read it as a prompt")


def _shown(word: str) -> str:
    """Return the part of *word* that a sentence has room for."""
    return word if len(word) <= 40 else f"{word[:39]}…"
