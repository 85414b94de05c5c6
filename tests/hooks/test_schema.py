"""The `[hooks]` table of an agent file: what it may hold, and how a mistake in it is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallylight.agents import agent as agents
from tallylight.agents import agent_files
from tallylight.agents.agent import parse_agent
from tallylight.model.errors import DataFileError
from tests.tables import each

HEAD = 'name = "mine"\nprocesses = ["mine"]\n'
HOOKS = '[hooks]\nform = "list"\nfolder = "~/.mine"\nfile = "hooks.json"\nentry = \'{"run": "{command}"}\'\n'
RULE = '[[hooks.rules]]\nevents = ["ping"]\nstatus = "working"\n'
DOCS = Path(__file__).resolve().parents[2] / "docs/agents.md"


def test_the_documented_table_is_read() -> None:
    """The example in docs/agents.md names every key there is but `why`, which stands in place of a `form`."""
    text = re.findall(r"```toml\n.*?^(\[hooks\].*?)```", DOCS.read_text(), re.DOTALL | re.MULTILINE)[0]

    hooks = parse_agent(HEAD + text, "mine.toml").hooks

    assert hooks is not None
    assert hooks.rules[0].values == (("tool_name", ("Ask",)),)
    assert hooks.events == ("PermissionRequest",)
    for keys in (hooks, hooks.fields, hooks.rules[0], hooks.needs[0]):
        for key in type(keys).__annotations__:
            assert key == "why" or re.search(rf"^(\[+hooks\.{key}\]|{key} = )", text, re.MULTILINE), key


def test_no_table_is_no_hooks() -> None:
    """An agent without the table has no hooks, and one with a reason alone has that."""
    assert parse_agent(HEAD, "mine.toml").hooks is None
    found = parse_agent(HEAD + '[hooks]\nwhy = "none"\n', "mine.toml").hooks
    assert found is not None
    assert (found.form, found.why) == ("", "none")


def test_every_packaged_agent_says_something_of_hooks() -> None:
    """Each has hooks, or the reason why not."""
    found, errors = agents.load_agents(agent_files.packaged_agents())
    assert not errors
    for agent in found:
        assert agent.hooks is not None, agent.name
        assert bool(agent.hooks.form) != bool(agent.hooks.why), agent.name
        assert bool(agent.hooks.rules) is bool(agent.hooks.form), agent.name


@each(
    ("text", "says"),
    [
        (HOOKS.replace('"list"', '"xml"') + RULE, "mine.toml:4: hooks.form: is 'xml'"),
        (HOOKS, "hooks.form: needs a folder, a file and rules"),
        (HOOKS.replace("~/.mine", "/etc") + RULE, "mine.toml:5: hooks.folder: must begin with ~/"),
        (HOOKS.replace("hooks.json", "../x") + RULE, "mine.toml:6: hooks.file: is '../x'; it must be below"),
        (HOOKS.replace("{command}", "x") + RULE, "mine.toml:7: hooks.entry: must be a JSON object"),
        (HOOKS.replace("'{", "'[") + RULE, "hooks.entry: must be a JSON object"),
        (HOOKS + RULE.replace("working", "busy"), "mine.toml:10: hooks.rules.status: is 'busy'"),
        (HOOKS + RULE.replace("working", "down"), "hooks.rules.status: is 'down'"),
        (HOOKS + RULE.replace("ping", "a b"), "hooks.rules.events: has 'a b', which is not the name of an event"),
        (HOOKS + '[[hooks.rules]]\nstatus = "idle"\n', "hooks.rules.events: is missing"),
        (HOOKS + RULE + 'kind = "question"\n', "hooks.rules.kind: is only for waiting"),
        (HOOKS + RULE + 'values = ["x"]\n', "hooks.rules.values: has 'x'; it must be field=value"),
        (HOOKS + RULE + 'message = ["a-b"]\n', "hooks.rules.message: has 'a-b', which is not the name of a field"),
        (HOOKS + RULE + "wek = true\n", "hooks.rules.wek: is unknown"),
        (HOOKS + '[hooks.fields]\nsession = "$x"\n' + RULE, "hooks.fields.session: is '$x'; a field is"),
        (HOOKS + '[hooks.fields]\nsesion = "x"\n' + RULE, "hooks.fields.sesion: is unknown"),
        (HOOKS + '[[hooks.needs]]\nfile = "a"\nkey = "b"\nproblem = "c"\n' + RULE, "hooks.needs.key: needs a file"),
        (HOOKS + '[[hooks.beside]]\nfile = "a"\n' + RULE, "hooks.beside.file: needs a name and a text"),
        (HOOKS + 'pid_env = "a b"\n' + RULE, "hooks.pid_env: is no name of a variable"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, says: str) -> None:
    """File, key and line of the first mistake."""
    with pytest.raises(DataFileError) as error:
        parse_agent(HEAD + text, "mine.toml")

    assert says in str(error.value)
