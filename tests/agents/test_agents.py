"""Agent files: what the packaged ones hold, how a user's adds or overrides, and what each mistake is told as."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.agents import agent_files, names
from tallylight.agents.agent import Agents, load_agents, parse_agent
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.model.errors import DataFileError
from tallylight.model.status import Kind, Status
from tallylight.parts.transcripts import PART
from tests.agents import tables
from tests.tables import each

PACKAGED = agent_files.packaged_agents()
GOOD = 'name = "x"\nprocesses = ["x"]\n'


def test_packaged_files_are_all_good() -> None:
    """Every packaged file parses, is named after its agent, and has every agent we promise."""
    agents, errors = load_agents(PACKAGED)

    assert errors == []
    assert {agent.name for agent in agents} == {
        *("claude", "codex", "opencode", "gemini", "qwen", "copilot", "kilo", "aider", "cursor-agent", "amp", "goose"),
        *("crush", "kimi", "pi", "cline", "grok", "grok-build", "nanocoder", "vibe", "auggie", "droid"),
    }
    assert [parse_agent(text, name).name for name, text in PACKAGED] == [name for name, _ in PACKAGED]
    assert {parse_agent(text, name).like for name, text in PACKAGED} == {"", "common", "gemini", "opencode"}


def test_the_table_of_names_is_that_of_the_files() -> None:
    """What a relay knows the agents by is what the TOML says. (`python -m tests.agents.tables` writes it anew.)"""
    namespace: dict[str, object] = {}
    exec(tables.text(), namespace)

    assert namespace["NAMES"] == names.NAMES


def test_by_the_table_every_command_is_the_same_agent(tmp_path: Path) -> None:
    """A command line that is an agent's by the files, or is none, is so by the table; a user's own file counts too."""
    (tmp_path / "tallylight/agents").mkdir(parents=True)
    (tmp_path / "tallylight/agents/mine.toml").write_text(GOOD + 'like = "common"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    agents, quick = agent_files.load_agents(env)[0], agent_files.named_agents(env)
    commands = [("x",), ("vim",), ("npx", "-y", "@openai/codex@1.2")]
    for one in agents:
        programs = (*one.processes, *one.generic, *(f"/opt{path}/cli.js" for path in (*one.paths, *one.sign.paths)))
        arguments = ((), *((word,) for word in (*one.not_args.commands, *one.not_args.options, *one.sign.commands)))
        commands += [(program, *words) for program in programs for words in arguments]
        commands += [("node", program) for program in programs] + [("npx", package) for package in one.packages]

    def found(known: Agents) -> list[str]:
        identities = [identify([Process(7, argv=command)], known) for command in commands]
        return [f"{one.agent.name if one.agent else ''} {one.rule}" for one in identities]

    assert found(quick) == found(agents)
    assert found(quick)[:3] == ["x x by the program x", " ", "codex codex by the package @openai/codex@1.2"]


def test_every_fact_has_a_source() -> None:
    """A packaged file begins by saying where its facts are from."""
    for name, text in PACKAGED:
        assert text.startswith("# "), name
        assert "bserved with" in text or "https://" in text, name


@each("word", ["agent", "pi", "amp", "goose", "copilot", "kilo"])
def test_common_words_need_a_second_sign(word: str) -> None:
    """No packaged agent claims a name that other programs have without asking for a second sign."""
    agents, _ = load_agents(PACKAGED)

    assert all(word not in agent.processes for agent in agents)


def test_templates_are_split() -> None:
    """Resume and fork templates begin with the agent and hold the id as one argument."""
    agents, _ = load_agents(PACKAGED)
    for agent in agents:
        for template in (agent.resume, agent.fork):
            for words in (template.by_id, template.latest):
                assert not words or words[0] in (*agent.processes, *agent.generic)
            assert not template.by_id or sum("{session}" in word for word in template.by_id) == 1


def test_dangerous_options_are_in_no_template() -> None:
    """No packaged template asks for a dangerous option by itself."""
    for agent in load_agents(PACKAGED)[0]:
        words = {*agent.resume.by_id, *agent.resume.latest, *agent.fork.by_id, *agent.fork.latest}
        assert not words & set(agent.dangerous)


def test_ids_of_no_agent_are_paths() -> None:
    """None of ours has session ids with a slash in them; and what has many values has its options among the valued."""
    agents, _ = load_agents(PACKAGED)

    assert {agent.ids for agent in agents} == {"plain"}
    assert all(agent.not_args.many <= agent.not_args.takes for agent in agents)


def test_facts_the_engine_leans_on() -> None:
    """Claude keeps a status file, Copilot's progress bar means that it works, and forks are where they exist."""
    agents, _ = load_agents(PACKAGED)
    by_name = {agent.name: agent for agent in agents}

    assert [name for name, agent in by_name.items() if agent.registry] == ["claude", "copilot"]
    assert [name for name, agent in by_name.items() if agent.progress] == ["copilot"]
    assert {agent.record for agent in agents} == {"", *PART.readers}
    assert {name for name, agent in by_name.items() if agent.fork.by_id} == {
        "claude",
        "codex",
        "kilo",
        "opencode",
        "pi",
        "qwen",
    }
    assert {name for name, agent in by_name.items() if agent.title_rules} == {
        "claude",
        "codex",
        "gemini",
        "grok-build",
        "qwen",
    }


def test_users_file_adds_and_overrides() -> None:
    """A user's file adds an agent, or takes the whole place of the packaged one of its name."""
    agents, errors = load_agents(
        PACKAGED, [("u.toml", 'name="mine"\nprocesses=["m"]'), ("c.toml", 'name="claude"\nprocesses=["c"]')]
    )

    assert errors == []
    assert [agent.name for agent in agents.with_process("m")] == ["mine"]
    assert agents.with_process("claude") == ()
    assert agents.with_package("@anthropic-ai/claude-code") is None
    assert [agent.name for agent in agents.with_process("c")] == ["claude"]
    assert len(agents) == len(load_agents(PACKAGED)[0]) + 1


LENT = '[[screen.rules]]\nname = "{}"\nstatus = "idle"\nlines = ["{}"]\n'


def test_a_file_is_like_another() -> None:
    """The rules of the packaged file come with it, and those that come with that one; its own replace namesakes."""
    packaged = [
        ("a", 'name = "a"\nlike = "b"\nprocesses = ["a"]\n' + LENT.format("box", "a")),
        ("b", 'name = "b"\nlike = "c"\nprocesses = ["b"]\n' + LENT.format("box", "b") + LENT.format("end", "b")),
        ("c", 'name = "c"\nadds = true\n' + LENT.format("top", "c") + LENT.format("end", "c")),
    ]
    mine = 'name = "mine"\nlike = "b"\nprocesses = ["m"]\n' + LENT.format("top", "m")
    agents, errors = load_agents(packaged, [("m.toml", mine), ("n.toml", GOOD + 'like = "mine"\n')])
    shown = {agent.name: [(rule.name, rule.lines[0].pattern) for rule in agent.screen_rules] for agent in agents}

    assert shown == {
        "a": [("box", "a"), ("end", "b"), ("top", "c")],
        "b": [("box", "b"), ("end", "b"), ("top", "c")],
        "mine": [("top", "m"), ("box", "b"), ("end", "b")],
    }
    assert [(error.path, error.key) for error in errors] == [("n.toml", "like")]


def test_bad_file_costs_itself() -> None:
    """A file that cannot be used is reported and the others stand."""
    agents, errors = load_agents(PACKAGED, [("bad.toml", "name ="), ("good.toml", GOOD)])

    assert len(agents) == len(load_agents(PACKAGED)[0]) + 1
    assert [(error.path, error.line) for error in errors] == [("bad.toml", 1)]


def test_lookups() -> None:
    """An agent is found by process, generic name and package, and nothing is found by anything else."""
    agents = Agents(
        [parse_agent('name="x"\nprocesses=["p"]\ngeneric=["g"]\npackages=["@s/k"]\n[sign]\nbare=true', "x")]
    )

    assert agents.get("x") is not None and agents.get("p") is None
    assert [len(agents.with_process(name)) for name in ("p", "g", "x", "P", "")] == [1, 1, 0, 0, 0]
    assert agents.with_package("@s/k") is not None and agents.with_package("k") is None


def test_all_keys() -> None:
    """Each documented key arrives where it belongs."""
    agent = parse_agent(
        """
name = "x"
display = "Ex"
processes = ["x"]
generic = ["y"]
packages = ["@s/x"]
paths = ["/x/"]
registry = "claude-sessions"
progress = "busy"
dangerous = ["--all"]
aliases = ["-f=--fork", "-C=-c"]
ids = "path"
[sign]
paths = ["/y/"]
interpreters = ["node"]
commands = ["go"]
bare = true
titles = ["X - "]
[not_args]
commands = ["serve"]
options = ["-v"]
takes = ["-m", "--add"]
many = ["--add"]
[title]
plain_is_idle = true
[[title.rules]]
status = "waiting"
kind = "auth"
glyphs = ["x", "U+2800-2801"]
items = ["Log in"]
anywhere = true
[resume]
by_id = ["x", "--in", "{cwd}", "{session}"]
latest = ["x", "-c"]
[fork]
by_id = ["x", "--fork={session}"]
""",
        "x.toml",
    )

    assert (agent.display, agent.paths, agent.sign.bare, agent.not_args.takes) == (
        "Ex",
        ("/x/",),
        True,
        frozenset({"-m", "--add"}),
    )
    assert (agent.aliases, agent.ids, agent.not_args.many) == (
        (("-f", "--fork"), ("-C", "-c")),
        "path",
        frozenset({"--add"}),
    )
    (rule,) = agent.title_rules
    assert (rule.status, rule.kind, rule.glyphs, rule.anywhere) == (
        Status.WAITING,
        Kind.AUTH,
        frozenset({"x", "⠀", "⠁"}),
        True,
    )
    assert agent.fork.by_id == ("x", "--fork={session}")


@each(
    ("text", "key", "line"),
    [
        ("name = ", "", 1),
        ('name = "x"\nprocesses = ["x"\n', "", 3),
        ("", "name", None),
        ('name = "X"\nprocesses = ["x"]', "name", 1),
        ('name = "a b"\nprocesses = ["x"]', "name", 1),
        ('name = "x/y"\nprocesses = ["x"]', "name", 1),
        ('name = "\\u0441laude"\nprocesses = ["x"]', "name", 1),
        ("name = 7", "name", 1),
        ('name = "x"', "processes", None),
        ('name = "x"\nprocesses = "x"', "processes", 2),
        ('name = "x"\nprocesses = [1]', "processes", 2),
        ('name = "x"\nprocesses = [""]', "processes", 2),
        ('name = "x"\nprocesses = ["\\u0441laude"]', "processes", 2),
        ('name = "x"\nprocesses = ["a b"]', "processes", 2),
        (GOOD + 'generic = ["y"]', "generic", 3),
        (GOOD + 'registry = "other"', "registry", 3),
        (GOOD + 'progress = "maybe"', "progress", 3),
        (GOOD + "colour = 1", "colour", 3),
        (GOOD + "title = 1", "title", 3),
        (GOOD + "[title]\nrules = 1", "title.rules", 4),
        (GOOD + '[title]\nstatus = "yes"', "title.status", 4),
        (GOOD + "[title]\nstaus = true", "title.staus", 4),
        (GOOD + '[[title.rules]]\nglyphs = ["x"]', "title.rules.status", 3),
        (GOOD + '[[title.rules]]\nstatus = "down"\nglyphs = ["x"]', "title.rules.status", 4),
        (GOOD + '[[title.rules]]\nstatus = "idle"', "title.rules.glyphs", 3),
        (GOOD + '[[title.rules]]\nstatus = "idle"\nglyphs = ["xy"]', "title.rules.glyphs", 5),
        (GOOD + '[[title.rules]]\nstatus = "idle"\nglyphs = ["U+2801-2800"]', "title.rules.glyphs", 5),
        (GOOD + '[[title.rules]]\nstatus = "idle"\nglyphs = ["U+0000-FFFF"]', "title.rules.glyphs", 5),
        (GOOD + '[[title.rules]]\nstatus = "waiting"\nkind = "coffee"\nglyphs = ["x"]', "title.rules.kind", 5),
        (GOOD + '[resume]\nby_id = ["x", "{shell}", "{session}"]', "resume.by_id", 4),
        (GOOD + '[resume]\nby_id = ["x", "{session.__class__}", "{session}"]', "resume.by_id", 4),
        (GOOD + '[resume]\nby_id = ["x"]', "resume.by_id", 4),
        (GOOD + '[resume]\nby_id = "x {session}"', "resume.by_id", 4),
        (GOOD + '[not_args]\noption = ["-v"]', "not_args.option", 4),
        (GOOD + '[not_args]\ntakes = ["-m"]\nmany = ["-v"]', "not_args.many", 5),
        (GOOD + 'ids = "any"', "ids", 3),
        (GOOD + 'aliases = ["-r"]', "aliases", 3),
        (GOOD + 'aliases = ["r=--resume"]', "aliases", 3),
        (GOOD + 'aliases = ["-r=--resume"]', "aliases", 3),
        (GOOD + 'aliases = ["-r=--resume"]\n[resume]\nlatest = ["x", "resume"]', "aliases", 3),
    ],
)
def test_mistakes(text: str, key: str, line: int | None) -> None:
    """A mistake is one error with the file, the key and its line."""
    with pytest.raises(DataFileError) as caught:
        parse_agent(text, "/home/u/x.toml")

    assert (caught.value.path, caught.value.key, caught.value.line) == ("/home/u/x.toml", key, line)
    assert str(caught.value).startswith("/home/u/x.toml")


@each("text", ["a = " + "[" * 100_000, "a = " + "9" * 5_000, "\0", "\ufffd", "x" * 2_000_000, "a.b.c = 1\na.b = 2"])
def test_hostile_files(text: str) -> None:
    """Whatever stands in a file, the worst is a `DataFileError`."""
    with pytest.raises(DataFileError):
        parse_agent(text, "x.toml")
