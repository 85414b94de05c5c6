"""
The gate: whether an argument list may be run to continue a conversation.

An `Agent` that the host itself saw, the arguments its process has, and an argument list go in: one of the agent's data
file, or one that a program asked for (OSC 88, OSC 26). Out comes the list with its placeholders filled, or a `Refusal`
that names the rule. The list is never joined and never split: a value stays one argument, whatever is in it.

What a program asked for may hold nothing but what the agent's own data file has in its lists (its options, its
commands, and one value where `{session}` stands), and options that the running agent has itself. So a list that came
out of a file somebody printed can name a conversation, and can neither loosen what the agent may do nor tell it to do
something.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

import attrs

from tallylight.agents import Agent
from tallylight.evidence.commands import REMOTE, interpreter_name
from tallylight.evidence.process import base_name

#: Of one value, in characters.
MAX_VALUE = 256

#: What OSC 26 calls the placeholders of the data files.
_ALIASES = {"SessionId": "session", "ProjectFolder": "cwd"}
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_VALUE = re.compile(r"[A-Za-z0-9._:/+][A-Za-z0-9._:@/+-]{0,255}", re.ASCII)
_GOOD = re.compile(r"[A-Za-z0-9._:@/+-]", re.ASCII)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs that run what their arguments say, or that change what is there: never an agent, whatever a file calls them.
_DENIED = _words(
    "sh bash dash zsh fish ksh mksh ash csh tcsh nu xonsh elvish pwsh powershell busybox toybox python ruby perl "
    "php node nodejs bun deno lua luajit tclsh wish osascript awk gawk mawk nawk sed ed ex vi vim nvim emacs sudo "
    "doas su run0 pkexec runuser env xargs nohup setsid setpriv nice ionice chrt taskset timeout time stdbuf "
    "unbuffer script unshare chroot flock parallel find watch entr strace ltrace gdb make cmake just npx npm pnpm "
    "pnpx yarn bunx uvx uv pipx pip exec eval source command builtin trap at batch crontab systemctl systemd-run "
    "dbus-run-session dbus-send rm dd shred mv cp ln tee truncate chmod chown mkfs mount curl wget nc ncat netcat "
    "socat ftp scp sftp rsync git tmux screen open xdg-open start kill pkill killall"
)


@attrs.frozen
class Refusal:
    """Why nothing is run: the *rule*, one stable word, and the *text* a person reads, one sentence without its dot."""

    rule: str
    text: str


def is_denied(name: str) -> bool:
    """Whether the program *name* may never be started for an agent."""
    short = base_name(name).lower()
    return short in _DENIED or short in REMOTE or bool(interpreter_name(short))


def value_problem(value: str) -> str:
    """What is wrong with *value* as a session id; nothing if it may become an argument."""
    if not value:
        return "is empty"
    if len(value) > MAX_VALUE:
        return f"is longer than {MAX_VALUE} characters"
    if value.startswith("-"):
        return "begins with a dash, and would be taken for an option"
    if value.startswith("@"):
        return "begins with @, which kitty would replace by something else"
    if " " in value:
        return "has a space in it"
    if not _VALUE.fullmatch(value):
        bad = next(character for character in value if not _GOOD.fullmatch(character))
        return f"has {bad!a} in it, which no session id has"
    return ""


def fill(template: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...] | Refusal:
    """
    *template* with its placeholders replaced, once each and word by word.

    What is put in is not looked at again: a session id `{cwd}` is refused for its braces.
    """
    words: list[str] = []
    for word in template:
        for name in _PLACEHOLDER.findall(word):
            known = _ALIASES.get(name, name)
            if known not in ("session", "cwd"):
                return Refusal("placeholder", f"{{{_shown(name)}}} is nothing that can be filled in")
            what = "session id" if known == "session" else "directory"
            if not values.get(known):
                return Refusal("placeholder", f"the {what} is not known")
            problem = value_problem(values[known])
            if problem:
                return Refusal("value", f"the {what} {_shown(values[known])!r} {problem}")
        words.append(_PLACEHOLDER.sub(lambda match: values[_ALIASES.get(match[1], match[1])], word))
    return tuple(words)


def check_program(word: str, agent: Agent) -> Refusal | None:
    """Whether *word*, the first of an argument list, is the name of *agent*, and no path to somewhere."""
    if is_denied(word):
        return Refusal("deny-list", f"it asks for {_shown(base_name(word))}, which runs other programs")
    if "/" in word:
        return Refusal("program", f"{_shown(word)!r} is a path; only an agent's own name is taken")
    if word not in (*agent.processes, *agent.generic):
        return Refusal("program", f"{_shown(word)!r} is not the agent that runs here, which is {agent.name}")
    return None


def check_dangerous(words: Sequence[str], agent: Agent, flags: Sequence[str]) -> Refusal | None:
    """Whether *words* have a dangerous option that is not among the *flags* which the running agent has."""
    for flag in dangerous_flags(words, agent):
        if flag not in flags:
            return Refusal("dangerous", f"{_shown(flag)} is dangerous, and the agent that runs here does not have it")
    return None


def dangerous_flags(words: Sequence[str], agent: Agent) -> tuple[str, ...]:
    """Which of its dangerous options an agent was given: `--mode=yolo` also as two words, `-y` also in `-xy`."""
    found: list[str] = []
    for word, after in itertools.pairwise((*words, "")):
        for flag in agent.dangerous:
            name, equals, value = flag.partition("=")
            is_short = len(flag) == 2 and flag[0] == "-" and word[:1] == "-" and word[1:2] != "-"
            if (
                word == flag
                or (not equals and word.startswith(f"{flag}="))
                or (equals and word == name and after == value)
                or (is_short and flag[1] in word[1:])
            ):
                found.append(flag)
    return tuple(dict.fromkeys(found))


def check_said(words: Sequence[str], agent: Agent, running: Sequence[str]) -> Refusal | None:
    """
    Whether an argument list that a program asked for holds nothing but what is known of *agent*.

    *words* are filled and without the program's name, *running* are the arguments its process has.
    """
    grammar = _Grammar.of(agent)
    values = 0
    position = 0
    while position < len(words):
        word = words[position]
        after = words[position + 1] if position + 1 < len(words) else ""
        joined = next((prefix for prefix in grammar.joined if word.startswith(prefix)), None)
        taken = ""
        if joined is not None:
            taken = word.removeprefix(joined)
            position += 1
        elif word in grammar.known:
            position += 1
            if word in grammar.valued and after and not after.startswith("-") and after not in grammar.known:
                taken = after
                position += 1
        elif word.startswith("-") and word != "--" and word in running:
            position += 1
            own = running.index(word)
            if after and not after.startswith("-") and tuple(running[own + 1 : own + 2]) == (after,):
                position += 1
        elif is_denied(word):
            return Refusal("deny-list", f"it asks for {_shown(base_name(word))}, which runs other programs")
        elif word.startswith("-"):
            return Refusal("option", f"{_shown(word)!r} is an option that {agent.name} is not known to need for this")
        else:
            return Refusal("word", f"{_shown(word)!r} is no session id; {agent.name} would take it for a prompt")
        if taken or joined is not None:
            values += 1
            problem = value_problem(taken)
            if problem:
                return Refusal("value", f"the session id {_shown(taken)!r} {problem}")
            if values > 1:
                return Refusal("value", "it names more than one session")
    return None


@attrs.frozen
class _Grammar:
    """What an agent's own argument lists are made of."""

    #: Options and commands.
    known: frozenset[str]
    #: Of these, the ones with a session id behind them.
    valued: frozenset[str]
    #: Options that hold it, as `--resume=`.
    joined: tuple[str, ...]

    @classmethod
    def of(cls, agent: Agent) -> _Grammar:
        known: set[str] = set()
        valued: set[str] = set()
        joined: set[str] = set()
        for template in (agent.resume.by_id, agent.resume.latest, agent.fork.by_id, agent.fork.latest):
            for before, word in itertools.pairwise(template):
                prefix, brace, _ = word.partition("{")
                if not brace:
                    known.add(word)
                elif prefix:
                    joined.add(prefix)
                else:
                    valued.add(before)
        return cls(frozenset(known), frozenset(valued), tuple(sorted(joined)))


def _shown(word: str) -> str:
    """As much of *word* as a sentence can bear."""
    return word if len(word) <= 40 else f"{word[:39]}…"
