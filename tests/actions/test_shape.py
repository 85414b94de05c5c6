"""The shape of a list: what is accepted is one list of the data file and whole options of the running agent."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions.gate import id_problem
from tallylight.actions.shape import Mismatch, is_option, match
from tallylight.agents.agent import Agent, parse_agent
from tests.actions.declarations import HARMLESS, HOSTILE
from tests.actions.known import AGENTS, CLAUDE, CODEX, ID
from tests.strategies import at_most
from tests.tables import each

MINE = parse_agent(
    """
name = "mine"
processes = ["mine"]
dangerous = ["--bold", "--mode=bold"]
aliases = ["-r=--resume"]
[not_args]
takes = ["-m", "--model", "--add"]
many = ["--add"]
[resume]
by_id = ["mine", "--resume", "{session}", "--quiet"]
latest = ["mine", "go", "on", "--last"]
[fork]
by_id = ["mine", "go", "{session}", "--from={session}", "--in", "{cwd}"]
latest = ["mine", "--raw", "--", "{session}"]
""",
    "mine.toml",
)
BY_ID, LATEST, FORK, RAW = (words[1:] for words in MINE.lists)


def fits(said: str, template: tuple[str, ...], running: str = "", agent: Agent = MINE) -> str | None:
    """The session id in the words of *said*; None if they do not fit."""
    found = match(said.split(), template, agent, running.split(), "/w")
    return None if isinstance(found, Mismatch) else found


@each(
    ("said", "template", "running", "session"),
    [
        ("--resume 7 --quiet", BY_ID, "", "7"),
        ("--quiet --resume 7", BY_ID, "", "7"),
        ("--quiet --resume=7", BY_ID, "", "7"),
        ("-r 7 --quiet", BY_ID, "", "7"),
        ("-r=7 --quiet", BY_ID, "", None),
        ("-r7 --quiet", BY_ID, "", None),
        ("--resume=7=8 --quiet", BY_ID, "", "7=8"),
        ("--resume= --quiet", BY_ID, "", None),
        ("--resume=7 8 --quiet", BY_ID, "", None),
        ("--resume 7", BY_ID, "", None),
        ("--resume 7 --quiet --quiet", BY_ID, "", None),
        ("--quiet=7 --resume 7", BY_ID, "", None),
        ("x --resume 7 --quiet", BY_ID, "", None),
        ("go on --last", LATEST, "", ""),
        ("--last go on", LATEST, "", None),
        ("go --last on", LATEST, "", None),
        ("go on", LATEST, "", None),
        ("go", LATEST, "", None),
        ("", LATEST, "", None),
        ("go on 7 --last", LATEST, "", None),
        ("go 7 --from=7 --in /w", FORK, "", "7"),
        ("go 7 --in /w --from=7", FORK, "", "7"),
        ("go 7 --in=/w --from=7", FORK, "", "7"),
        ("go 7 --from=8 --in /w", FORK, "", None),
        ("go 7 --from 7 --in /w", FORK, "", None),
        ("go 7 --from=7 --in /v", FORK, "", None),
        ("go 7 --from=7 --in .w", FORK, "", None),
        ("--raw -- 7", RAW, "", "7"),
        ("-- 7 --raw", RAW, "", None),
        ("--raw -- 7 --bold", RAW, "--bold", None),
        ("--bold --raw -- 7", RAW, "--bold", "7"),
        # Options of the running agent.
        ("go on --last -m x", LATEST, "-m x", ""),
        ("go on -m x --last", LATEST, "-m x", ""),
        ("-m x go on --last", LATEST, "-m x", None),
        ("go on --last -m x", LATEST, "-m x y", ""),
        ("go on --last -m x y", LATEST, "-m x y", None),
        ("go on --last -m", LATEST, "-m x", None),
        ("go on --last -m", LATEST, "-m", None),
        ("go on --last --flag", LATEST, "-m --flag", None),
        ("go on --last --other", LATEST, "-m --flag --other", ""),
        ("go on --last --flag", LATEST, "-m x --flag", ""),
        ("go on --last -m x -m x", LATEST, "-m x", None),
        ("go on --last -m x -m x", LATEST, "-m x -m x", ""),
        ("go on --last -m x -m y", LATEST, "-m y -m x", ""),
        ("go on --last --model=x", LATEST, "--model=x y", ""),
        ("go on --last --model=x y", LATEST, "--model=x y", None),
        ("go on --last --add a b", LATEST, "--add a b", ""),
        ("go on --add a b --last", LATEST, "--add a b --flag", ""),
        ("go on --last --add a", LATEST, "--add a b", None),
        ("go on --last --add b", LATEST, "--add a b", None),
        ("go on --last --add", LATEST, "--add", None),
        ("go on --last --add=a", LATEST, "--add=a", ""),
        ("go on --add=a --last", LATEST, "--add=a --flag", ""),
        ("go on --last --add=a", LATEST, "--add=a b", None),
        ("go on --last --add=a b", LATEST, "--add=a b", None),
        ("go on --last --bold", LATEST, "--bold", ""),
        ("go on --bold --last", LATEST, "--bold x", ""),
        ("go on --last --bold x", LATEST, "--bold x", None),
        ("go on --last --mode bold", LATEST, "--mode bold", None),
        ("go on --last --mode=bold", LATEST, "--mode=bold", ""),
        ("go on --last a", LATEST, "a", None),
        ("go on --last -", LATEST, "-", None),
        # Of one that nobody knows it is not known whether what stands behind it is its value.
        ("go on --last --flag", LATEST, "--flag x", None),
        ("go on --last --flag x", LATEST, "--flag x", None),
        ("go on --flag --last", LATEST, "--flag", ""),
        ("go on --flag --last", LATEST, "--flag -m x", None),
        ("go on --last --flag", LATEST, "--flag -m x", ""),
        ("go on --last --flag -m x", LATEST, "--flag -m x", ""),
        ("go on --last --flag --bold", LATEST, "--flag -m x --bold", None),
        ("go on --last --flag --bold", LATEST, "--flag --bold -m x", ""),
        ("go on --last --flag --bold", LATEST, "--flag --flag --bold", ""),
        ("go on --last --bold --flag -m x", LATEST, "--flag -m x --bold", ""),
        ("go on --flag --bold --last", LATEST, "--flag --bold", ""),
        # What the lists of the data file have is never something else.
        ("go on --last --resume 8", LATEST, "--resume 8", None),
        ("go on --last --resume=8", LATEST, "--resume=8", None),
        ("go on --last -r 8", LATEST, "-r 8", None),
        ("go on --last -r8", LATEST, "-r8", None),
        ("go on --last --last", LATEST, "--last", None),
        ("go on --last --from=8", LATEST, "--from=8", None),
        ("go on --last -m x", LATEST, "--resume 8 -m x", ""),
        ("go on --last -- x", LATEST, "-- x", None),
        ("go on --last --flag", LATEST, "-- --flag", None),
        ("go on --last --flag", LATEST, "--flag -- x", ""),
    ],
)
def test_shapes(said: str, template: tuple[str, ...], running: str, session: str | None) -> None:
    """Each row is one way in which a list may, or may not, be spelled."""
    assert fits(said, template, running) == session


def test_what_follows_an_option_may_end_in_nothing() -> None:
    """An empty value of the next option takes nothing from what may stand behind the one before."""
    for value in ("x", ""):
        found = match(["go", "on", "--last", "--flag", "--bold"], LATEST, MINE, ["--flag", "-m", value, "--bold"], "/w")
        assert isinstance(found, Mismatch), value


def test_what_does_not_fit_is_told() -> None:
    """A mismatch has the whole run that does not fit, and how many words before it do."""
    assert match(["--resume", "7", "--x", "y"], BY_ID, MINE, (), "") == Mismatch(2, ("--x", "y"))
    assert match(["--resume", "7"], BY_ID, MINE, (), "") == Mismatch(2)
    assert match(["go", "away", "x"], LATEST, MINE, (), "") == Mismatch(1, ("away",))
    assert match(["go"], LATEST, MINE, (), "") == Mismatch(1)


def test_is_option() -> None:
    """A dash alone is standard input."""
    assert [is_option(word) for word in ("-", "", "x", "x-", "-x", "--", "--x")] == [False] * 4 + [True] * 3


@pytest.mark.slow
def test_as_many_words_as_fit_into_a_frame() -> None:
    """A list of thousands of words is refused as fast as it is read."""
    words = ["--model", "x"] * 20_000

    assert isinstance(match(words, BY_ID, MINE, words, ""), Mismatch)


WORDS = ["--resume", "-r", "--quiet", "--last", "go", "on", "7", "--resume=7", "-m", "x", "y", "--add", "a", "--flag"]
WORDS += ["--val", "v", "--bold", "--model=x", "--", "-", "prompt"]


@pytest.mark.slow
@settings(max_examples=at_most(500))
@given(
    st.lists(
        st.sampled_from([("-m", "x"), ("--add", "a", "x"), ("--flag",), ("--val", "v"), ("--bold",), ("prompt",)])
    ),
    st.data(),
)
def test_what_is_accepted_means_no_more(options: list[tuple[str, ...]], data: st.DataObject) -> None:
    """
    However the agent reads its arguments, a list that passed has no prompt and no option that is new to it.

    `-m` and `--val` have one value, though the data file only knows the first; `--add` has many, the others none.
    """
    running = flat(options)
    near = [*BY_ID[:1], "7", *BY_ID[2:], *running, *LATEST]
    mixed = st.permutations([("--resume", "7"), ("--quiet",), *options])
    said = data.draw(
        st.one_of(
            st.lists(st.sampled_from(WORDS), max_size=8), st.lists(st.sampled_from(near), max_size=9), mixed.map(flat)
        )
    )
    for template in (BY_ID, LATEST):
        session = match(said, template, MINE, running, "")
        if not isinstance(session, Mismatch):
            own = [("--resume", session), ("--quiet",)] if session else [("go",), ("on",), ("--last",)]
            assert Counter(as_read(said)) - Counter(as_read(running)) <= Counter(own), (said, running)


def flat(pieces: list[tuple[str, ...]]) -> list[str]:
    return [word for piece in pieces for word in piece]


def as_read(words: list[str]) -> list[tuple[str, ...]]:
    """*words* as the agent itself reads them: its options with their values, and what it takes for a prompt alone."""
    found: list[tuple[str, ...]] = []
    position = 0
    while position < len(words):
        word, rest = words[position], words[position + 1 :]
        size = 0
        if word in ("-m", "--val", "--resume", "-r"):
            size = min(1, len(rest))  # whatever it is
        elif word == "--add":
            size = len(list(itertools.takewhile(lambda word: not is_option(word), rest)))
        option, equals, value = word.partition("=")
        first = (option, value) if equals and option == "--resume" else ("--resume" if word == "-r" else word,)
        found.append((*first, *rest[:size]))
        position += 1 + size
    return found


@pytest.mark.slow
@settings(max_examples=at_most(300))
@given(st.data())
def test_an_accepted_list_is_a_template_and_slices(data: st.DataObject) -> None:
    """Of every agent: take the runs of a list of the data file away, and what is left stands whole in what runs."""
    lines = [*HOSTILE, *HARMLESS]
    line = data.draw(st.sampled_from(lines))
    running = list(line.running[1:])
    agent = data.draw(
        st.sampled_from([agent for agent in AGENTS if agent.name in (*line.running, *line.said)] or [CODEX])
    )
    template = data.draw(st.sampled_from([words[1:] for words in agent.lists if words]))
    pieces = [[ID if word == "{session}" else word.replace("{session}", ID)] for word in template]
    pieces += [[word] for word in (*line.said[1:], *running)]
    said = [word for piece in data.draw(st.lists(st.sampled_from(pieces), max_size=8)) for word in piece]
    found = match(said, template, agent, running, "")
    # An id is looked at by the gate, which refuses one that begins with a dash.
    if isinstance(found, Mismatch) or (found and id_problem(found, agent)):
        return
    filled = [word.replace("{session}", found) for word in template]
    own = {word.partition("=")[0] for words in agent.lists for word in words if is_option(word)}
    text = "\0".join(["", *running, ""])
    head = len(list(itertools.takewhile(lambda word: not is_option(word), template)))
    assert said[:head] == filled[:head]
    for option, *values in _by_option(said[head:]):
        name, _, value = dict(agent.aliases).get(option, option).partition("=")
        if name in own:
            assert [name, *([value] if value else []), *values] in _by_option(
                [part for word in filled[head:] for part in (word.split("=") if "=" in word else [word])]
            )
        else:
            assert is_option(option)
            assert "\0".join(["", option, *values, ""]) in text
            assert said.count(option) <= running.count(option)


def _by_option(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for word in words:
        if is_option(word) or not found:
            found.append([])
        found[-1].append(word)
    return found


def test_the_lists_of_claude_in_any_order() -> None:
    """With what a person may well have started it with."""
    running = "--model opus --verbose --add-dir /w /v --dangerously-skip-permissions fix"
    parts = [("--resume", ID), ("--fork-session",), ("--model", "opus"), ("--add-dir", "/w", "/v")]
    for order in itertools.permutations(parts):
        words = " ".join(word for part in order for word in part)
        assert fits(words, CLAUDE.fork.by_id[1:], running, CLAUDE) == ID
