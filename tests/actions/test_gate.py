"""The gate: which argument lists may run. Every refusal is named by its rule."""

from __future__ import annotations

import re
import shlex

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.gate import (
    MAX_VALUE,
    Refusal,
    check_dangerous,
    check_program,
    check_said,
    dangerous_flags,
    fill,
    is_denied,
    value_problem,
)
from tallylight.agents import Agent
from tests.actions.known import AGENTS, CLAUDE, CODEX, GEMINI, ID, OPENCODE

ALLOWED = re.compile(r"[A-Za-z0-9._:@/+-]{1,256}")


def rule(found: object) -> str:
    """The rule of a refusal; nothing for what passed."""
    return found.rule if isinstance(found, Refusal) else ""


# Values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (ID, ""),
        ("ses_4f2eABC.d:e/f+g@h-i", ""),
        ("x" * MAX_VALUE, ""),
        ("", "is empty"),
        ("x" * (MAX_VALUE + 1), "is longer than 256 characters"),
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


@given(st.text(max_size=300))
def test_no_value_passes_that_is_not_in_the_charset(value: str) -> None:
    """Whatever passes matches the charset whole, is no option, and is one word to a shell."""
    if not value_problem(value):
        assert ALLOWED.fullmatch(value)
        assert value[0] not in "-@"
        assert shlex.split(value) == [value]


# Filling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
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
    assert fill(template, values) == filled


@pytest.mark.parametrize(
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
        (("x", "{cwd}"), {"cwd": "/a b"}, "value"),
    ],
)
def test_what_cannot_be_filled(template: tuple[str, ...], values: dict[str, str], refused: str) -> None:
    """An unknown placeholder, an unknown value and a value with a placeholder in it are refused."""
    assert rule(fill(template, values)) == refused


@given(st.lists(st.sampled_from(["x", "{session}", "--a={session}", "{cwd}"]), max_size=6), st.text(max_size=20))
def test_a_list_never_grows(template: list[str], value: str) -> None:
    """Whatever a value is, the list has as many words after filling as before, or is refused."""
    found = fill(template, {"session": value, "cwd": value})

    assert isinstance(found, Refusal) or len(found) == len(template)


# Programs ---------------------------------------------------------------------------------------------------------


_DENIED = """
bash sh zsh fish dash BASH python python3 python3.12 node perl ruby3.1 sudo doas env xargs nohup setsid timeout ssh mosh
docker podman kubectl rm dd curl wget eval npx uvx git tmux -bash /bin/bash vim .bash-wrapped bash.exe
"""


@pytest.mark.parametrize("name", _DENIED.split())
def test_the_deny_list(name: str) -> None:
    """Shells, interpreters, what runs a command, and ways to other machines, by any path and in any spelling."""
    assert is_denied(name)


@pytest.mark.parametrize("agent", list(AGENTS), ids=lambda agent: agent.name)
def test_no_agent_of_ours_is_denied(agent: Agent) -> None:
    """None of the agents that come with the package is on the deny-list."""
    assert not [name for name in (*agent.processes, *agent.generic) if is_denied(name)]


@pytest.mark.parametrize(
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


# Dangerous options ------------------------------------------------------------------------------------------------

SKIP = "--dangerously-skip-permissions"


@pytest.mark.parametrize(
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
        (GEMINI, ("--yes",), ()),
        (GEMINI, (), ()),
    ],
)
def test_dangerous_flags(agent: Agent, words: tuple[str, ...], flags: tuple[str, ...]) -> None:
    """They are found in every spelling a command line has for them."""
    assert dangerous_flags(words, agent) == flags


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("agent", "words", "running"),
    [
        (CLAUDE, ("--resume", ID), ()),
        (CLAUDE, ("--fork-session", "--resume", ID), ()),
        (CLAUDE, ("--continue",), ()),
        (CLAUDE, ("--resume", ID, "--model", "opus"), ("--model", "opus")),
        (CLAUDE, ("--resume", ID, SKIP), (SKIP,)),
        (CODEX, ("resume", ID), ()),
        (CODEX, ("fork", "--last"), ()),
        (OPENCODE, ("--fork", "--session", "ses_1"), ()),
        (AGENTS.get("copilot"), (f"--resume={ID}",), ()),
    ],
)
def test_what_is_known_of_an_agent_passes(agent: Agent, words: tuple[str, ...], running: tuple[str, ...]) -> None:
    """The data file's own words in any order, one session id, and options the running agent has."""
    assert check_said(words, agent, running) is None


@pytest.mark.parametrize(
    ("agent", "words", "running", "refused"),
    [
        (CLAUDE, ("--settings", '{"hooks":{}}'), (), "option"),
        (CLAUDE, ("--fork", ID), (), "option"),
        (CLAUDE, ("--resume", ID, "--model", "opus"), (), "option"),
        (CLAUDE, ("--resume", ID, "--model", "haiku"), ("--model", "opus"), "word"),
        (CLAUDE, ("--resume", ID, "delete-everything"), (), "word"),
        (CLAUDE, ("--resume", ID, "--", "x"), ("--",), "option"),
        (CLAUDE, ("--resume", ID, "--resume", ID), (), "value"),
        (CLAUDE, ("--resume", "a b"), (), "value"),
        (CLAUDE, ("--resume", "$(touch x)"), (), "value"),
        (CLAUDE, ("--resume", ""), (), "word"),
        (CLAUDE, ("mcp", "serve"), (), "word"),
        (CLAUDE, ("bash", "-c", "touch x"), (), "deny-list"),
        (CLAUDE, ("--resume", ID, "sh"), (), "deny-list"),
        (CODEX, ("exec", "x"), (), "deny-list"),
        (CODEX, ("mcp", "x"), (), "word"),
        (CODEX, ("resume", ID, "-c", 'sandbox_mode="danger-full-access"'), (), "option"),
        (CODEX, ("-csandbox_mode=danger-full-access", "resume", ID), ("-cmodel=x",), "option"),
        (AGENTS.get("copilot"), ("--resume=a b",), (), "value"),
        (AGENTS.get("copilot"), ("--resume=",), (), "value"),
    ],
)
def test_everything_else_is_refused(
    agent: Agent, words: tuple[str, ...], running: tuple[str, ...], refused: str
) -> None:
    """An option nobody knows, a prompt, a second value, a shell: each is refused by its own rule."""
    assert rule(check_said(words, agent, running)) == refused


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["--resume", "--continue", "--fork-session", ID, "-c", "bash", "--", "=", SKIP]), st.text()
        ),
        max_size=6,
    )
)
def test_nothing_passes_but_known_words_and_one_id(words: list[str]) -> None:
    """Whatever list is asked for: what passes are Claude's own few words, and one session id behind one of them."""
    if check_said(words, CLAUDE, ()) is None:
        others = [word for word in words if word not in ("--resume", "--continue", "--fork-session")]
        assert len(others) <= 1
        assert all(not value_problem(word) for word in others)
        assert all(words[words.index(word) - 1] == "--resume" for word in others)


@pytest.mark.parametrize("agent", list(AGENTS), ids=lambda agent: agent.name)
def test_every_data_file_passes_its_own_gate(agent: Agent) -> None:
    """The lists of the data files, filled, are lists that the program itself might have asked for."""
    for template in (agent.resume.by_id, agent.resume.latest, agent.fork.by_id, agent.fork.latest):
        if template:
            filled = fill(template, {"session": ID, "cwd": "/p"})
            assert not isinstance(filled, Refusal)
            assert check_program(filled[0], agent) is None
            assert check_dangerous(filled[1:], agent, ()) is None
            assert check_said(filled[1:], agent, ()) is None


def test_a_refusal_is_a_value() -> None:
    """Two refusals by the same rule with the same words are the same."""
    assert Refusal("value", "x") == attrs.evolve(Refusal("value", "y"), text="x")
