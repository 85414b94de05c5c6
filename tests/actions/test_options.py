"""The options that restrict an agent: kept when it is forked or resumed, or named before anything else."""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.options import MAX_REMEMBERED_CHARS, dangerous_flags, kept_options, remembered
from tallylight.evidence.foreground import Identity, identify
from tallylight.evidence.process_table import ProcTable
from tallylight.pane.conversation import Conversation
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.page import Offered, RestorePage
from tallylight.parts.conversations.plan import Plan, Scene, Verb, plan
from tallylight.snapshot import values
from tallylight.snapshot.schema import ConversationEntry
from tests.actions.known import AGENTS, CLAUDE, CODEX, GEMINI, ID, agent, process, scene_of
from tests.tables import each


def scene(agent_: Agent, *words: str, **how: Any) -> Scene:
    """A pane in whose foreground that agent runs with these arguments."""
    name = (agent_.processes or agent_.generic)[0]
    found = Identity(agent=agent_, process=process(name, *words), is_direct=True)
    entry = ConversationEntry(agent=agent_.name, session=ID, cwd="/w")
    return scene_of(found, process_cwd="/w", conversation=entry, **how)


def planned(verb: Verb, scene_: Scene) -> Plan:
    found = plan(verb, scene_, AGENTS)
    assert isinstance(found, Plan), found
    return found


def verbs(agent_: Agent) -> list[Verb]:
    """What the agent can be asked for."""
    return [
        verb
        for verb, template in ((Verb.FORK, agent_.fork), (Verb.RESUME, agent_.resume))
        if template.by_id or template.latest
    ]


def given(agent_: Agent, option: str) -> tuple[str, ...]:
    """The words of *option*, with values if it takes any."""
    name, equals, value = option.partition("=")
    if equals:
        return name, value
    if name in agent_.not_args.many:
        return name, "one", "Two(three *)"
    return (name, "a value") if name in agent_.not_args.takes else (name,)


RESTRICTED = [one for one in AGENTS if one.restricts and verbs(one)]


@each("one", RESTRICTED, ids=lambda one: one.name)
def test_every_option_that_restricts_is_kept(one: Agent) -> None:
    """Each by itself, as it stands and as one word, and all in their order, behind the list that continues it."""
    for verb in verbs(one):
        bare = planned(verb, scene(one)).argv
        for option in one.restricts:
            words = given(one, option)
            spelled = [words]
            if len(words) == 2 and words[0].startswith("--") and words[0] not in one.not_args.many:
                spelled.append((f"{words[0]}={words[1]}",))
            for each_ in spelled:
                found = planned(verb, scene(one, *each_))
                assert (found.argv, found.lost) == ((*bare, *each_), ())
                assert found.warning == ""
        every = tuple(word for option in one.restricts for word in given(one, option))
        assert planned(verb, scene(one, *every)).argv == (*bare, *every)


@each("one", RESTRICTED, ids=lambda one: one.name)
def test_what_is_not_known_is_named(one: Agent) -> None:
    """An option that nobody knows, one without its value, one in front of what may be another value: by their names."""
    for verb in verbs(one):
        bare = planned(verb, scene(one)).argv
        found = planned(verb, scene(one, "--only-read", "x", "--only-write=y", *given(one, one.restricts[0]), "-Z"))
        assert found.argv == (*bare, *given(one, one.restricts[0]))
        assert found.lost == ("--only-read", "--only-write", "-Z")
        assert found.warning == "Not kept: --only-read, --only-write, -Z."


@each("one", RESTRICTED, ids=lambda one: one.name)
def test_what_is_harmless_and_what_is_dangerous_go_without_a_word(one: Agent) -> None:
    """What may be lost without loosening anything; and a fork of an agent that may do anything asks again."""
    for verb in verbs(one):
        bare = planned(verb, scene(one)).argv
        for option in (*one.harmless, *one.dangerous):
            found = planned(verb, scene(one, *given(one, option)))
            assert (found.argv, found.lost) == (bare, ()), option


def test_the_lists_of_options_do_not_contradict() -> None:
    """No option is dangerous and restricts; none of a data file's own lists is said to be either."""
    for one in AGENTS:
        assert not {*one.restricts} & {*one.harmless, *one.dangerous}
        assert not dangerous_flags([word for option in one.restricts for word in given(one, option)], one)
        options = {word.partition("=")[0] for words in one.lists for word in words if word.startswith("-")}
        assert not {option.partition("=")[0] for option in one.restricts} & options
        # A value tells that the option takes one.
        assert {o.partition("=")[0] for o in one.restricts if "=" in o} <= one.not_args.takes


CASES: list[tuple[Agent, tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]] = [
    (
        CLAUDE,
        ("--disallowedTools", "Bash", "Edit", "--model", "x", "fix it"),
        (("--disallowedTools", "Bash", "Edit"),),
        (),
    ),
    (CLAUDE, ("--settings", "s.json", "fix it"), (("--settings", "s.json"),), ()),
    (CLAUDE, ("--settings", "--tools", "x"), (), ("--settings", "--tools")),
    (CLAUDE, ("--settings",), (), ("--settings",)),
    (CLAUDE, ("--settings", "@file"), (), ("--settings",)),
    (CLAUDE, ("--settings", "x" * 5000), (), ("--settings",)),
    (CLAUDE, ("--disallowedTools=Bash", "a prompt or a tool"), (), ("--disallowedTools",)),
    (CLAUDE, ("--tools", ""), (("--tools", ""),), ()),
    (CLAUDE, ("--permission-mode", "bypassPermissions"), (), ()),
    (CLAUDE, ("--permission-mode=plan", "--permission-mode", "acceptEdits"), (("--permission-mode=plan",),), ()),
    (CLAUDE, ("--restricted", "fix it"), (("--restricted",),), ()),
    (CLAUDE, ("--", "--settings", "x"), (), ()),
    (CLAUDE, ("--resume", "--settings", "x"), (), ("--settings",)),
    (CODEX, ("-s", "read-only", "-a", "untrusted"), (("-s", "read-only"), ("-a", "untrusted")), ()),
    (CODEX, ("-sread-only", "-a=untrusted", "go"), (("-sread-only",), ("-a=untrusted",)), ()),
    (CODEX, ("-s", "danger-full-access", "-a", "never"), (), ()),
    (CODEX, ("-c", 'sandbox_mode="read-only"', "-p", "safe"), (), ("-c", "-p")),
    (GEMINI, ("-s", "--policy", "a", "--policy", "b"), (("-s",), ("--policy", "a"), ("--policy", "b")), ()),
    (GEMINI, ("-s", "false"), (), ("-s",)),
    (GEMINI, ("-s", "write a poem"), (("-s",),), ()),
    (agent("pi"), ("-nt", "-na"), (("-nt",), ("-na",)), ()),
    (agent("qwen"), ("--exclude-tools", "a", "b"), (("--exclude-tools", "a", "b"),), ()),
    (agent("opencode"), ("--agent", "plan"), (("--agent", "plan"),), ()),
    (agent("cline"), ("-p", "--auto-approve", "false"), (("-p",), ("--auto-approve", "false")), ()),
]


@each(("one", "words", "kept", "lost"), CASES)
def test_what_goes_along(
    one: Agent, words: tuple[str, ...], kept: tuple[tuple[str, ...], ...], lost: tuple[str, ...]
) -> None:
    """An option goes along as a whole and as it stands, if it is certain where it ends; else its name is told."""
    found = kept_options(words, one)
    assert (found.kept, found.lost) == (kept, lost)


def test_it_is_in_the_first_row_of_every_page() -> None:
    """Before anything else: what is lost."""
    found = planned(Verb.FORK, scene(CLAUDE, "--plugin-url", "x", "--settings", "s"))
    first, empty, *_ = ForkPage(Verb.FORK, found).body(80)
    assert ("".join(text for _, text in first).strip(), empty) == ("Not kept: --plugin-url.", ())
    assert first[1][0] == "bad"

    known = planned(Verb.RESUME, scene(CLAUDE))
    choices = [Offered(1, "a", ["about"], known), Offered(2, "b", ["about"], found)]
    rows = ["".join(text for _, text in row).strip() for row in RestorePage(choices, "here", 9).body(80)]
    assert rows[0] == "Some options are not kept: see 2."
    assert rows[rows.index("[x] 2  b") + 1] == "Not kept: --plugin-url."


def test_what_the_program_asks_for_loosens_nothing() -> None:
    """Where its own list leaves out what restricts it, that is added; what it has is there once, and is not lost."""
    said = ("claude", "--resume", "{SessionId}", "--settings", "s", "--verbose", "--plugin-url", "x")
    running = ("--plugin-url", "x", "--tools", "Read", "--settings", "s", "--verbose")
    found = planned(Verb.RESUME, scene(CLAUDE, *running, resume=said[:6]))
    assert found.argv == ("claude", "--resume", ID, "--settings", "s", "--verbose", "--tools", "Read")
    assert found.lost == ("--plugin-url",)


@each(
    ("argv", "kept"),
    [
        (("node", "--max-old-space-size=4096", "/v/node_modules/.bin/gemini", "-s"), ("-s",)),
        (("node", "/v/node_modules/.bin/gemini", "--policy", "p"), ("--policy", "p")),
    ],
)
def test_the_options_of_an_interpreter_are_not_its_own(argv: tuple[str, ...], kept: tuple[str, ...]) -> None:
    """Nor is anything said of them."""
    entry = ConversationEntry(agent="gemini", session=ID, cwd="/w")
    found = planned(Verb.RESUME, scene_of(identify([process(*argv)], AGENTS), process_cwd="/w", conversation=entry))
    assert (found.argv, found.lost) == (("gemini", "--resume", ID, *kept), ())


def test_an_agent_that_is_gone_keeps_them() -> None:
    """They are remembered with its conversation; not what may hold a key, whose name is told."""
    words = ("--disallowedTools", "Bash", "Edit", "--settings", '{"env": {"KEY": "secret"}}', "--plugin-url", "x")
    made = Conversation(ProcTable())
    made.began(identify([process("claude", *words, "--system-prompt", "x" * (MAX_REMEMBERED_CHARS + 1))], AGENTS), "/w")
    entry = values.read(ConversationEntry, values.write(made.entry))
    assert entry == made.entry and "secret" not in str(entry)

    gone = scene_of(conversation=attrs.evolve(entry, session=ID))
    found = planned(Verb.RESUME, gone)
    assert found.argv == ("claude", "--resume", ID, "--disallowedTools", "Bash", "Edit")
    assert found.lost == ("--plugin-url", "--settings", "--system-prompt")
    # What is remembered is read as what runs is.
    assert remembered(kept_options(entry.options, CLAUDE)).kept == (("--disallowedTools", "Bash", "Edit"),)


@each("value", ["Bash\u202e", "Ba\x1b[2Jsh", "Bash\nEdit"])
def test_an_option_that_could_not_be_shown_is_named(value: str) -> None:
    """A value with what nobody sees is not remembered, and its option is among those that are lost."""
    made = Conversation(ProcTable())
    made.began(identify([process("claude", "--disallowedTools", value, "--tools", "Edit")], AGENTS), "/w")
    entry = values.read(ConversationEntry, values.write(made.entry))

    assert entry == made.entry
    assert (entry.options, entry.lost) == (("--tools", "Edit"), ("--disallowedTools",))


@each(
    "options",
    [("Bash",), ("--dangerously-skip-permissions",), ("--settings",), ("--resume", "x"), ("--", "--tools", "x")],
)
def test_a_file_that_lies_adds_nothing(options: tuple[str, ...]) -> None:
    """Of what is remembered nothing counts but whole options that restrict."""
    found = planned(
        Verb.RESUME, scene_of(conversation=ConversationEntry(agent="claude", session=ID, cwd="/w", options=options))
    )
    assert found.argv == ("claude", "--resume", ID)
