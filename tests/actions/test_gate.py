"""The gate: which argument lists may run. Every refusal is named by its rule."""

from __future__ import annotations

import re
import shlex

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.gate import (
    MAX_VALUE_CHARS,
    Refusal,
    _shown,
    check_dangerous,
    check_program,
    check_said,
    check_said_program,
    fill,
    id_problem,
    is_denied,
    value_problem,
)
from tallylight.agents.agent import Agent, Template
from tallylight.agents.options import dangerous_flags
from tallylight.evidence.process import Process
from tests.actions.known import AGENTS, CLAUDE, CODEX, GEMINI, ID, process
from tests.tables import each

ALLOWED = re.compile(r"[A-Za-z0-9._:@/+-]{1,256}")


def rule(found: object) -> str:
    """The rule of a refusal; nothing for what passed."""
    return found.rule if isinstance(found, Refusal) else ""


# Values -----------------------------------------------------------------------------------------------------------


@each(
    ("value", "problem"),
    [
        (ID, ""),
        ("ses_4f2eABC.d:ef+g@h-i", ""),
        ("a.b", ""),
        ("+", ""),
        ("a/b", "has '/' in it"),
        ("/", "has '/' in it"),
        (".a", "begins with a dot"),
        ("a..b", "has '..' in it"),
        ("a..", "has '..' in it"),
        ("x" * MAX_VALUE_CHARS, ""),
        ("", "is empty"),
        ("x" * (MAX_VALUE_CHARS + 1), "is longer than 256 characters"),
        ("--dangerously-skip-permissions", "begins with a dash"),
        ("-", "begins with a dash"),
        ("@selection", "begins with @"),
        ("a b", "has a space in it"),
        ("a;b", "has ';' in it"),
        ("$(touch)", "has '$' in it"),
        ("a\nb", r"has '\n' in it"),
        ("a\x1b[2J", r"has '\x1b' in it"),
        ("сlaude", r"has '\u0441' in it"),
        ("{cwd}", "has '{' in it"),
    ],
)
def test_a_value_is_letters_digits_and_a_few_signs(value: str, problem: str) -> None:
    """What could be an option, two arguments, or more than one word to anything, is refused with its reason."""
    assert value_problem(value).startswith(problem)
    assert bool(value_problem(value)) == bool(problem)


@each("value", ["/w/api", ".hidden", "../x", "a/b", "./a..b"])
def test_a_directory_may_be_a_path(value: str) -> None:
    """And so may an id of an agent whose data file says that they are paths; it is no option for that."""
    own = attrs.evolve(CLAUDE, ids="path")

    assert value_problem(value) and not value_problem(value, is_path=True)
    assert id_problem(value, CLAUDE) and not id_problem(value, own)
    assert id_problem(f"-{value}", own) and id_problem(f"{value} x", own)


def test_an_id_is_no_word_of_the_command_line() -> None:
    """What the data file's own lists have means something else where an id stands."""
    assert id_problem("resume", CODEX) == "is a word of the command line of codex"
    assert id_problem("latest", GEMINI) and id_problem("--last", CODEX)
    assert not id_problem("resume", CLAUDE)


@given(st.text(max_size=300))
def test_no_value_passes_that_is_not_in_the_charset(value: str) -> None:
    """Whatever passes matches the charset whole, is no option, and is one word to a shell."""
    if not value_problem(value):
        assert ALLOWED.fullmatch(value)
        assert value[0] not in "-@"
        assert shlex.split(value) == [value]


# Filling ----------------------------------------------------------------------------------------------------------


@each(
    ("template", "values", "filled"),
    [
        (("claude", "--resume", "{session}"), {"session": ID}, ("claude", "--resume", ID)),
        (("copilot", "--resume={session}"), {"session": ID}, ("copilot", f"--resume={ID}")),
        (("x", "{SessionId}", "{ProjectFolder}"), {"session": "s", "cwd": "/p"}, ("x", "s", "/p")),
        (("x", "{session}{session}"), {"session": "s"}, ("x", "ss")),
        (("x", "--last"), {}, ("x", "--last")),
        (("x", "{"), {"session": "s"}, ("x", "{")),
    ],
)
def test_filling(template: tuple[str, ...], values: dict[str, str], filled: tuple[str, ...]) -> None:
    """Placeholders are replaced, by our names and by OSC 26's; words stay words."""
    assert fill(template, values, CLAUDE) == filled


@each(
    ("template", "values", "refused"),
    [
        (("x", "{session}"), {}, "placeholder"),
        (("x", "{session}"), {"session": ""}, "placeholder"),
        (("x", "{cwd}"), {"session": "s"}, "placeholder"),
        (("x", "{session.__class__}"), {"session": "s"}, "placeholder"),
        (("x", "{}"), {"session": "s"}, "placeholder"),
        (("x", "{0}"), {"session": "s"}, "placeholder"),
        (("x", "{session}"), {"session": "{cwd}", "cwd": "/p"}, "value"),
        (("x", "{session}"), {"session": "a b"}, "value"),
        (("x", "{session}"), {"session": "--yolo"}, "value"),
        (("x", "{session}"), {"session": "/p"}, "value"),
        (("x", "{session}"), {"session": "--continue"}, "value"),
        (("x", "{cwd}"), {"cwd": "/a b"}, "value"),
        (("x", "{cwd}"), {"cwd": "-p"}, "value"),
    ],
)
def test_what_cannot_be_filled(template: tuple[str, ...], values: dict[str, str], refused: str) -> None:
    """An unknown placeholder, an unknown value and a value with a placeholder in it are refused."""
    assert rule(fill(template, values, CLAUDE)) == refused


def test_what_is_not_known_is_named() -> None:
    """By what it is to a person."""
    for name, what in (("session", "session id"), ("cwd", "directory"), ("SessionId", "session id")):
        assert fill((f"{{{name}}}",), {}, CLAUDE) == Refusal("placeholder", f"the {what} is not known")
    assert fill(("{x\ny}",), {}, CLAUDE) == Refusal("placeholder", r"'{x\ny}' is not a known placeholder")


@given(st.lists(st.sampled_from(["x", "{session}", "--a={session}", "{cwd}"]), max_size=6), st.text(max_size=20))
def test_a_list_never_grows(template: list[str], value: str) -> None:
    """Whatever a value is, the list has as many words after filling as before, or is refused."""
    found = fill(template, {"session": value, "cwd": value}, CLAUDE)

    assert isinstance(found, Refusal) or len(found) == len(template)


# Programs ---------------------------------------------------------------------------------------------------------


_DENIED = """
bash sh zsh fish dash BASH python python3 python3.12 node perl ruby3.1 sudo doas env xargs nohup setsid timeout ssh mosh
docker podman kubectl rm dd curl wget eval npx uvx git tmux -bash /bin/bash vim .bash-wrapped bash.exe
"""


@each("name", _DENIED.split())
def test_the_deny_list(name: str) -> None:
    """Shells, interpreters, what runs a command, and ways to other machines, by any path and in any spelling."""
    assert is_denied(name)


@each("agent", list(AGENTS), ids=lambda agent: agent.name)
def test_no_agent_of_ours_is_denied(agent: Agent) -> None:
    """None of the agents that come with the package is on the deny-list."""
    assert not [name for name in (*agent.processes, *agent.generic) if is_denied(name)]


@each(
    ("word", "refused"),
    [
        ("claude", ""),
        ("codex", "program"),
        ("/tmp/evil/claude", "program"),
        ("./claude", "program"),
        ("../claude", "program"),
        ("claude ", "program"),
        ("Claude", "program"),
        ("сlaude", "program"),
        ("-claude", "program"),
        ("", "program"),
        ("bash", "deny-list"),
        ("/bin/sh", "deny-list"),
        ("ssh", "deny-list"),
    ],
)
def test_the_program_is_the_agent_itself(word: str, refused: str) -> None:
    """The first word is the name of the agent that runs, exactly, and no path."""
    assert rule(check_program(word, CLAUDE)) == refused


@each(
    ("word", "process_", "refused"),
    [
        ("claude", process("claude"), ""),
        ("claude", process("/usr/bin/claude"), ""),
        ("claude", process("claude", exe="/claude/versions/2.1.329"), ""),
        ("claude", process("node", "/v/node_modules/@anthropic-ai/claude-code/cli.js", exe="/usr/bin/node"), ""),
        ("/usr/bin/claude", process("/usr/bin/claude", exe="/x"), ""),
        ("/x/claude", process("claude", exe="/x/claude"), ""),
        ("/claude/versions/2.1.329", process("claude", exe="/claude/versions/2.1.329"), ""),
        ("/v/.bin/claude", process("node", "/v/.bin/claude", exe="/usr/bin/node"), ""),
        ("/usr/bin/node", process("node", "/v/.bin/claude", exe="/usr/bin/node"), "deny-list"),
        ("node", process("node", "/v/.bin/claude", exe="/usr/bin/node"), "deny-list"),
        ("x/claude", process("x/claude", exe="/x/claude"), "program"),
        ("/tmp/claude", process("claude", exe="/x/claude"), "program"),
        ("/x/claude", None, "program"),
        ("claude", None, ""),
        ("cli", process("node", "/v/node_modules/@anthropic-ai/claude-code/cli.js"), "program"),
        ("codex", process("claude"), "program"),
        ("", process("claude"), "program"),
    ],
)
def test_the_program_that_was_asked_for_is_the_one_that_runs(word: str, process_: Process | None, refused: str) -> None:
    """By a name that its process goes by, or by the path that the process has; a path of nobody is refused."""
    assert rule(check_said_program(word, CLAUDE, process_)) == refused


@each(
    ("word", "seen", "refused"),
    [
        ("agent", "agent", ""),
        ("cursor-agent", "cursor-agent", ""),
        ("agent", "cursor-agent", "program"),
        ("cursor-agent", "agent", "program"),
        ("agent", "", "program"),
        ("cursor-agent", "", ""),
    ],
)
def test_a_name_that_others_have_must_have_been_seen(word: str, seen: str, refused: str) -> None:
    """Of an agent that has two names the one that was seen counts; of one that is gone the one that is its alone."""
    cursor, amp = AGENTS.get("cursor-agent"), AGENTS.get("amp")
    assert cursor is not None and amp is not None
    assert rule(check_said_program(word, cursor, process(seen) if seen else None)) == refused
    assert rule(check_said_program("amp", amp, None)) == ""


# Dangerous options ------------------------------------------------------------------------------------------------

SKIP = "--dangerously-skip-permissions"


@each(
    ("agent", "words", "flags"),
    [
        (CLAUDE, ("--resume", ID), ()),
        (CLAUDE, (SKIP,), (SKIP,)),
        (CLAUDE, (f"{SKIP}=true",), (SKIP,)),
        (CLAUDE, (f"{SKIP}x",), ()),
        (CLAUDE, ("--permission-mode", "bypassPermissions"), ("--permission-mode=bypassPermissions",)),
        (CLAUDE, ("--permission-mode", "manual"), ()),
        (CODEX, ("--sandbox", "danger-full-access"), ("--sandbox=danger-full-access",)),
        (CODEX, ("--yolo", "resume"), ("--yolo",)),
        (GEMINI, ("--approval-mode=yolo",), ("--approval-mode=yolo",)),
        (GEMINI, ("--approval-mode", "yolo"), ("--approval-mode=yolo",)),
        (GEMINI, ("--approval-mode", "default"), ()),
        (GEMINI, ("-y",), ("-y",)),
        (GEMINI, ("-dy",), ("-y",)),
        (GEMINI, ("-yd",), ("-y",)),
        (GEMINI, ("-y", "-y", "--yolo"), ("-y", "--yolo")),
        (GEMINI, ("--yes",), ()),
        (GEMINI, ("--y",), ()),
        (GEMINI, ("y",), ()),
        (GEMINI, ("-",), ()),
        (GEMINI, ("",), ()),
        (GEMINI, ("--approval-mode",), ()),
        (GEMINI, ("yolo", "--approval-mode"), ()),
        (GEMINI, ("--yolo", "x"), ("--yolo",)),
        (GEMINI, ("--approval-mode=yolox",), ()),
        (CODEX, ("-s", "danger-full-access"), ("-s=danger-full-access",)),
        (CODEX, ("-xs", "read-only"), ()),
        (GEMINI, (), ()),
    ],
)
def test_dangerous_flags(agent: Agent, words: tuple[str, ...], flags: tuple[str, ...]) -> None:
    """They are found in every spelling a command line has for them."""
    assert dangerous_flags(words, agent) == flags


@each(
    ("words", "running", "refused"),
    [
        ((SKIP,), (), "dangerous"),
        ((SKIP,), (SKIP,), ""),
        ((SKIP,), ("--allow-dangerously-skip-permissions",), "dangerous"),
        (("--resume", ID), (), ""),
    ],
)
def test_dangerous_only_if_the_running_one_has_it(
    words: tuple[str, ...], running: tuple[str, ...], refused: str
) -> None:
    """A dangerous option passes only if the running agent was started with the very same."""
    assert rule(check_dangerous(words, CLAUDE, running)) == refused


# What a program asked for -----------------------------------------------------------------------------------------


@each(
    ("words", "running", "refused", "text"),
    [
        (("--resume", ID), (), "", ""),
        (("--settings", "{}"), (), "option", "'--settings {}' is not needed by claude for this"),
        (("--resume", ID, "--model", "opus"), (), "option", "'--model opus' is not needed"),
        (("--resume", ID, "--model", "haiku"), ("--model", "opus"), "option", "'--model haiku' is not needed"),
        (("--resume", ID, "delete"), (), "option", f"--resume {ID[:20]}"),
        (("--resume", "a", "sh"), (), "deny-list", "it asks for sh, "),
        (("delete-everything",), (), "word", "'delete-everything' is not a session id; claude would read it as"),
        (("",), (), "word", "'' is not a session id"),
        ((), (), "list", "it lacks words that claude needs"),
        (("--resume", "a/b"), (), "value", "the session id 'a/b' has '/' in it"),
        (("--resume", "--continue"), (), "option", "'--resume' is not needed"),
        (("--resume=--x",), (), "value", "the session id '--x' begins with a dash"),
        (("bash", "-c"), (), "deny-list", "it asks for bash, "),
        (("--continue", "x"), (), "option", "'--continue x'"),
    ],
)
def test_why_a_list_is_refused(words: tuple[str, ...], running: tuple[str, ...], refused: str, text: str) -> None:
    """Each is refused by its own rule, and the sentence names what does not fit, where the list got furthest."""
    found = check_said(words, CLAUDE.resume, CLAUDE, running)

    assert rule(found) == refused
    assert found is None or text in found.text


def test_each_verb_has_its_own_lists() -> None:
    """A fork that would go on with the old conversation is none, and neither is a resume that would begin a new one."""
    words = ("--resume", ID, "--fork-session")

    assert rule(check_said(words, CLAUDE.fork, CLAUDE, ())) == ""
    assert rule(check_said(words, CLAUDE.resume, CLAUDE, ())) == "option"
    assert rule(check_said(words[:2], CLAUDE.fork, CLAUDE, ())) == "list"
    nothing = check_said(words, GEMINI.fork, GEMINI, ())
    assert nothing == Refusal("method", "Gemini CLI has no known command for this")


def test_an_id_may_be_a_word_of_the_other_list() -> None:
    """`--resume latest` is the list for the latest, though no id may be called so."""
    assert check_said(("--resume", "latest"), GEMINI.resume, GEMINI, ()) is None
    assert rule(check_said(("--resume", "--resume"), GEMINI.resume, GEMINI, ())) == "option"


def test_a_directory_in_a_list_is_the_agents_own() -> None:
    """Where the data file has `{cwd}`, no other directory is taken from anyone."""
    template = Template(("mine", "--cwd={cwd}", "--resume", "{session}"))
    mine = attrs.evolve(CLAUDE, resume=template, fork=Template())

    assert check_said(("--resume", ID, "--cwd=/w"), template, mine, (), "/w") is None
    assert rule(check_said(("--resume", ID, "--cwd=/v"), template, mine, (), "/w")) == "option"
    assert rule(check_said(("--resume", ID, "--cwd=."), template, mine, (), ".x")) == "option"


@each("agent", list(AGENTS), ids=lambda agent: agent.name)
def test_every_data_file_passes_its_own_gate(agent: Agent) -> None:
    """The lists of the data files, filled, are lists that the program itself might have asked for."""
    for template in (agent.resume, agent.fork):
        for list_ in (template.by_id, template.latest):
            if list_:
                filled = fill(list_, {"session": ID, "cwd": "/p"}, agent)
                assert not isinstance(filled, Refusal)
                assert check_program(filled[0], agent) is None
                assert check_dangerous(filled[1:], agent, ()) is None
                assert check_said(filled[1:], template, agent, ()) is None


def test_a_refusal_is_a_value() -> None:
    """Two refusals by the same rule with the same words are the same."""
    assert Refusal("value", "x") == attrs.evolve(Refusal("value", "y"), text="x")


def test_how_much_of_a_word_is_told() -> None:
    """Forty characters; of a longer one the first, and that there is more."""
    for length, expected in ((40, "x" * 40), (41, "x" * 39 + "…")):
        assert _shown("x" * length) == expected
