"""
Agents as data: the contents of one `agents/*.toml` file, and the collection of all agents.

Text goes in (`parse_agent`), an `Agent` comes out or a `DataFileError` that names file, key and line. `Agents` finds an
agent by the name of a process or a package. Names are compared as they are, ASCII only: a look-alike of another script
is another program. docs/agents.md describes the keys.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from tallylight.model import attributes
from tallylight.model.errors import DataFileError

TYPE_CHECKING = False
if TYPE_CHECKING:  # what reads files is loaded with the first file: a relay starts without any
    from typing import Any

    from tallylight.agents.hooks import Hooks
    from tallylight.agents.screens import ScreenRule
    from tallylight.agents.titles import TitleRule
    from tallylight.files.toml import Table

REGISTRIES = ("claude-sessions", "copilot-locks")
PROGRESSES = ("busy",)
#: The forms of session ids: `plain` has no `/`, no `..` and no dot in front; `path` may have them.
IDS = ("plain", "path")
#: The form for an agent that no file describes: no word of a language has it.
STRANGE_IDS = "strange"
#: The keys that may stop an agent, with their bytes.
INTERRUPTS = {"escape": "\x1b", "escape twice": "\x1b\x1b", "ctrl+c": "\x03"}
#: The placeholders of an argument template; see `Template`.
PLACEHOLDERS = ("session", "cwd")

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_OPTION = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9-]*", re.ASCII)


@attributes.frozen
class Sign:
    """
    The signs that must be seen beside a name that other programs have too; one of them is enough.

    *paths*: a part of the program's or script's path. *interpreters*: it is a script of one of these. *commands*: its
    first word that is no option; *bare*: there is none. *titles*: the beginning of the pane's title.
    """

    paths: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    bare: bool = False
    titles: tuple[str, ...] = ()


@attributes.frozen
class NotArgs:
    """
    Arguments that make the program no agent that a person talks to: a server, a one-shot, a subcommand.

    *commands*: the first word that is no option. *options*: anywhere before `--`. *takes*: options with a value in the
    next word, so that it is not mistaken for a command. *many*: those of them with all words up to the next option as
    values.
    """

    commands: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()

    def refuses(self, args: tuple[str, ...]) -> str:
        """Return the argument that makes this no agent, or ""."""
        position = 0
        command_seen = False
        while position < len(args) and args[position] != "--":
            arg = args[position]
            name = arg.partition("=")[0]
            if name in self.options:
                return name
            if not arg.startswith("-") and not command_seen:
                command_seen = True
                if arg in self.commands:
                    return arg
            position += 2 if arg in self.takes else 1
        return ""

    def command(self, args: tuple[str, ...]) -> str:
        """Return the first word that is no option, nor the value of one."""
        position = 0
        while position < len(args):
            if args[position] == "--":
                position += 1
            elif args[position] and not args[position].startswith("-"):
                return args[position]
            else:
                position += 2 if args[position] in self.takes else 1
        return ""


@attributes.frozen
class Template:
    """
    Argument lists, split before they are filled: *by_id* with `{session}`, and the *latest* session's.

    *is_local*: a session continues only in its own directory, wherever the list is run. The field `said` has the lists
    that count only where the program itself asks for one.
    """

    by_id: tuple[str, ...] = ()
    latest: tuple[str, ...] = ()
    is_local: bool = False
    said: tuple[tuple[str, ...], ...] = ()

    @property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """Every argument list, without empty ones."""
        return tuple(words for words in (self.by_id, self.latest, *self.said) if words)


@attributes.frozen(kw_only=True)
class Agent:
    """One agent. *processes* are names that are its alone, *generic* names need a second `Sign`."""

    name: str
    display: str
    processes: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    #: The interpreters of its program, where it is a script: `node`, `python`.
    interpreters: frozenset[str] = frozenset()
    #: Parts of paths that are its alone: they name it where the script is a `cli.js` or the program a version number.
    paths: tuple[str, ...] = ()
    sign: Sign = Sign()
    not_args: NotArgs = NotArgs()
    #: Whether a title without a glyph means that it is idle, once it has drawn one.
    title_plain_is_idle: bool = False
    title_rules: tuple[TitleRule, ...] = ()
    #: The rules for its screen, those of a higher priority first; and whether dialogs without a rule count.
    screen_rules: tuple[ScreenRule, ...] = ()
    screen_generic: bool = True
    #: `busy`: a progress bar (`OSC 9;4`) is shown while it works and removed when its turn ends.
    progress: str = ""
    #: The kind of files that list its sessions; see `hosts.registries`.
    registry: str = ""
    #: The kind of its sessions' records.
    record: str = ""
    #: The keys that stop it in the middle of a turn.
    interrupt: str = INTERRUPTS["escape"]
    resume: Template = Template()
    fork: Template = Template()
    #: The command that shows a session without a pane, in a new one.
    attach: Template = Template()
    #: The command that starts a conversation with a first prompt, `{prompt}` as its last word; empty if unknown.
    start: tuple[str, ...] = ()
    #: Options a resumed or forked run may have only if the running one has them.
    dangerous: tuple[str, ...] = ()
    #: Options that limit its rights, which a resumed or forked run keeps; and options that may be lost without more
    #: rights. Both may be of one value, as `--mode=plan`.
    restricts: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()
    #: Other spellings of the options in `resume` and `fork`, each with the option: `("-r", "--resume")`.
    aliases: tuple[tuple[str, str], ...] = ()
    #: Sentences with which it advertises itself below the first row of a dialog: they are not shown.
    adverts: tuple[str, ...] = ()
    #: The form of its session ids, one of `IDS` or `STRANGE_IDS`.
    ids: str = "plain"
    #: Whether these rules are added to those of the agent of the same name, if there is one.
    adds: bool = False
    #: The packaged file that lends it screen rules, except those with the name of one of its own.
    like: str = ""
    #: Whether a person's file describes it, and none of ours: the generic reading applies to it too.
    is_own: bool = False
    #: Its hooks; None if unknown.
    hooks: Hooks | None = None

    @property
    def is_named(self) -> bool:
        """Return whether it has any name of its process."""
        return bool(self.processes or self.generic or self.packages)

    def may_be(self, words: str) -> bool:
        """Return whether *words*, a process's executable and arguments, have any name of this agent."""
        names = (*self.processes, *self.generic, *self.packages, *self.paths)
        return any(name in words for name in names)

    @property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """Every known argument list of it."""
        return (*self.resume.lists, *self.fork.lists)


def parse_agent(text: str, path: str) -> Agent:
    """Return the agent of one file; raises `DataFileError` at its first error."""
    agent, errors = check_agent(text, path)
    if errors:
        raise errors[0]
    return agent


def check_agent(text: str, path: str) -> tuple[Agent, list[DataFileError]]:
    """
    Return the agent of one file, and all errors in it; with any error the agent must not be used.

    Raises `DataFileError` if it is no TOML at all.
    """
    from tallylight.agents.hooks import parse_hooks
    from tallylight.agents.screens import parse_screen_rules
    from tallylight.agents.titles import parse_rules
    from tallylight.files.toml import parse

    table = parse(text, path)
    name = table.text("name")
    if not _NAME.fullmatch(name):
        table.complain("name", "is missing: at most 64 small ASCII letters, digits, dots, dashes and underscores")
    sign, not_args, title = table.table("sign"), table.table("not_args"), table.table("title")
    screen = table.table("screen")
    agent = Agent(
        name=name,
        display=table.text("display", name),
        processes=_names(table, "processes"),
        generic=_names(table, "generic"),
        packages=_names(table, "packages"),
        interpreters=frozenset(_names(table, "interpreters")),
        paths=_names(table, "paths"),
        sign=Sign(
            **{name: sign.words(name) for name in ("paths", "interpreters", "commands", "titles")},
            bare=sign.boolean("bare", False),
        ),
        not_args=NotArgs(
            **{name: frozenset(not_args.words(name)) for name in ("commands", "options", "takes", "many")}
        ),
        title_plain_is_idle=title.boolean("plain_is_idle", False),
        title_rules=parse_rules(title.tables("rules")),
        screen_rules=parse_screen_rules(screen.tables("rules")),
        screen_generic=screen.boolean("generic", True),
        progress=table.text("progress", choices=PROGRESSES),
        registry=table.text("registry", choices=REGISTRIES),
        record=table.text("record"),
        interrupt=INTERRUPTS.get(table.text("interrupt", "escape", choices=tuple(INTERRUPTS)), INTERRUPTS["escape"]),
        resume=_template(table.table("resume")),
        fork=_template(table.table("fork")),
        attach=_template(table.table("attach")),
        start=_start(table.table("start")),
        dangerous=table.words("dangerous"),
        restricts=table.words("restricts"),
        harmless=table.words("harmless"),
        aliases=_aliases(table),
        adverts=table.words("adverts"),
        ids=table.text("ids", "plain", choices=IDS),
        hooks=parse_hooks(table.table("hooks")),
        adds=table.boolean("adds", False),
        like=table.text("like"),
    )
    if not (agent.adds or agent.is_named):
        table.complain("processes", "is missing: name the processes of this agent")
    if agent.generic and agent.sign == Sign():
        table.complain("generic", "needs a [sign] table that separates this agent from others of the same name")
    if agent.not_args.many - agent.not_args.takes:
        not_args.complain("many", "names options that are not in takes; each of them must be there too")
    options = {word.partition("=")[0] for words in agent.lists for word in words if word.startswith("-")}
    if unknown := [option for _, option in agent.aliases if option not in options]:
        table.complain("aliases", f"has {unknown[0]}, which is in none of the lists of [resume] and [fork]")
    for each in (sign, not_args, title, screen, table):
        each.close()
    return agent, table.errors


def _names(table: Table, key: str) -> tuple[str, ...]:
    """Return the names at *key*; complain of one that no process has."""
    names = table.words(key)
    for name in names:
        # Letters of other scripts can look like ours.
        if not name.isascii() or not name.isprintable() or " " in name:
            table.complain(key, f"has {name!a}; names are ASCII without spaces")
            return ()
    return names


def _aliases(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the aliases of options, each with the option; complain of a malformed one."""
    pairs = []
    for word in table.words("aliases"):
        alias, _, option = word.partition("=")
        if not (_OPTION.fullmatch(alias) and _OPTION.fullmatch(option)):
            table.complain("aliases", f"has {word!a}; an entry is two options, as in -r=--resume")
            return ()
        pairs.append((alias, option))
    return tuple(pairs)


def _template(table: Table) -> Template:
    """Return the argument lists in *table*; complain of a missing or misplaced placeholder."""
    template = Template(table.words("by_id"), table.words("latest"), table.boolean("local", False))
    for key, words in (("by_id", template.by_id), ("latest", template.latest)):
        for word in words:
            for placeholder in _PLACEHOLDER.findall(word):
                if placeholder not in PLACEHOLDERS:
                    known = " and ".join(f"{{{name}}}" for name in PLACEHOLDERS)
                    table.complain(key, f"has {{{placeholder}}}; only {known} are filled in")
    if template.by_id and not any("{session}" in word for word in template.by_id):
        table.complain("by_id", "has no {session} to put the id into")
    table.close()
    return template


def _start(table: Table) -> tuple[str, ...]:
    """Return the command that starts a conversation; complain unless it ends in `{prompt}`."""
    words = table.words("prompt")
    is_one = len(words) > 1 and words[-1] == "{prompt}" and not any("{" in word for word in words[:-1])
    if words and not is_one:
        table.complain("prompt", "has to end with {prompt}, and to have no other placeholder")
    table.close()
    return words if is_one else ()


def naming(agent: Agent) -> dict[str, Any]:
    """Return the parts of *agent* that identify its command line or process, without empty ones."""
    kept = ("name", "display", "processes", "generic", "packages", "interpreters", "paths", "sign", "not_args")

    def plain(_cls: type, _field: object, value: Any) -> Any:
        return tuple(sorted(value)) if isinstance(value, frozenset) else value

    import attrs  # only the generator of the table

    found = attrs.asdict(agent, value_serializer=plain)
    for name in ("sign", "not_args"):
        found[name] = {key: value for key, value in found[name].items() if value}
    return {name: found[name] for name in kept if found[name]}


def named(facts: Mapping[str, Any]) -> Agent:
    """Return the agent of `naming`, without everything else: how it shows its status, how it is resumed."""
    sets = {key: frozenset(words) for key, words in facts.get("not_args", {}).items()}
    return Agent(
        **{key: value for key, value in facts.items() if key not in ("interpreters", "sign", "not_args")},
        interpreters=frozenset(facts.get("interpreters", ())),
        sign=Sign(**facts.get("sign", {})),
        not_args=NotArgs(**sets),
    )


class Agents:
    """Every known agent. One added later replaces one of the same name."""

    def __init__(self, agents: Iterable[Agent] = ()) -> None:
        self._by_name: dict[str, Agent] = {}
        for agent in agents:
            self._by_name.pop(agent.name, None)
            self._by_name[agent.name] = agent
        self._by_process: dict[str, list[Agent]] = {}
        self._by_package: dict[str, Agent] = {}
        for agent in self._by_name.values():
            for process in dict.fromkeys((*agent.processes, *agent.generic)):
                self._by_process.setdefault(process, []).append(agent)
            for package in agent.packages:
                self._by_package[package] = agent

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Agent | None:
        return self._by_name.get(name)

    def with_process(self, name: str) -> tuple[Agent, ...]:
        """Return the agents that may have a process called *name*."""
        return tuple(self._by_process.get(name, ()))

    def with_package(self, name: str) -> Agent | None:
        return self._by_package.get(name)


def load_agents(
    packaged: Iterable[tuple[str, str]], users: Iterable[tuple[str, str]] = ()
) -> tuple[Agents, list[DataFileError]]:
    """
    Return the agents of *packaged* and *users* files, each a path and its text, and the errors.

    A file with an error is left out; the others are kept.
    """
    errors: list[DataFileError] = []

    def parsed(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Agent]]:
        for path, text in texts:
            try:
                yield path, parse_agent(text, path)
            except DataFileError as error:
                errors.append(error)

    ours = {agent.name: agent for _, agent in parsed(packaged)}
    found = [_in_full(agent, ours) for agent in ours.values()]
    for path, agent in parsed(users):
        # A relay asks for names alone, and brings no packaged files.
        if ours and agent.like and agent.like not in ours:
            errors.append(DataFileError(path, f"{agent.like!a} is not the name of a packaged file", key="like"))
        else:
            found.append(of_person(_in_full(agent, ours), ours))
    agents = Agents(agent for agent in found if not agent.adds)
    return Agents((*agents, *_all_together(agents, (agent for agent in found if agent.adds)))), errors


def _in_full(agent: Agent, ours: Mapping[str, Agent]) -> Agent:
    """Return *agent* with the screen rules that one of *ours* lends it."""
    base = ours.get(agent.like)
    if base is None:
        return agent
    names = {rule.name for rule in agent.screen_rules}
    rest = tuple(rule for rule in _in_full(base, ours).screen_rules if rule.name not in names)
    return together(attributes.evolve(agent, screen_rules=rest), agent)


def of_person(agent: Agent, ours: Container[str]) -> Agent:
    """Return *agent* of a person's own file, which adds to the generic reading unless it replaces one of *ours*."""
    return attributes.evolve(agent, is_own=agent.screen_generic and agent.name not in ours)


def together(base: Agent, added: Agent) -> Agent:
    """Return *base* with the screen rules of *added*, which come first among those of one priority."""
    rules = sorted((*added.screen_rules, *base.screen_rules), key=lambda rule: -rule.priority)
    return attributes.evolve(base, screen_rules=tuple(rules))


def _all_together(agents: Agents, added: Iterable[Agent]) -> list[Agent]:
    """Return the agents with *added* rules, each with all of its rules."""
    found: dict[str, Agent] = {}
    for agent in added:
        base = found.get(agent.name) or agents.get(agent.name)
        if base is not None:
            found[agent.name] = together(base, agent)
        elif agent.is_named:
            found[agent.name] = agent
    return list(found.values())
