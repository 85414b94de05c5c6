"""Plans: whose conversation, by which argument list, where; and who is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.actions.gate import Refusal
from tallylight.agents.agent import Agents, parse_agent
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.parts.conversations.plan import Method, Plan, Scene, Verb, plan
from tallylight.snapshot.schema import ConversationEntry
from tests.actions.declarations import HARMLESS, HOSTILE, Declaration
from tests.actions.known import AGENTS, ID, process, scene_of
from tests.tables import each

CLAUDE = process("claude")
GONE = ConversationEntry(agent="claude", session=ID, cwd="/w/api")


def scene(*processes: Process, **how: Any) -> Scene:
    """A pane with these processes in front, in `/w`."""
    how.setdefault("process_cwd", "/w")
    return scene_of(identify(processes, AGENTS), **how)


#: What begins another conversation, or goes on with one; a session that is attached goes on by itself.
CONTINUES = (Verb.FORK, Verb.RESUME)


def planned(verb: Verb, scene_: Scene) -> Plan:
    """The plan, which must not be refused."""
    found = plan(verb, scene_, AGENTS)
    assert isinstance(found, Plan), found
    return found


def rule(verb: Verb, scene_: Scene, agents: Agents = AGENTS) -> str:
    """The rule that refuses it."""
    found = plan(verb, scene_, agents)
    return found.rule if isinstance(found, Refusal) else ""


@each(
    ("process_", "argv"),
    [
        (CLAUDE, ("claude", "--resume", ID, "--fork-session")),
        (process("codex"), ("codex", "fork", ID)),
        (process("opencode"), ("opencode", "--session", ID, "--fork")),
        (process("node", "/v/.bin/qwen"), ("qwen", "--resume", ID, "--fork-session")),
    ],
)
def test_a_fork_by_the_session_id(process_: Process, argv: tuple[str, ...]) -> None:
    """The data file's list with the id in it, in the agent's directory, for the process that was identified."""
    name = argv[0]
    found = planned(Verb.FORK, scene(process_, conversation=ConversationEntry(agent=name, session=ID, cwd="/w/api")))

    assert found.argv == argv
    assert (found.cwd, found.agent, found.session, found.method) == ("/w/api", name, ID, Method.SESSION)
    assert (found.pid, found.start) == (20, 200)
    assert not found.notes


def test_the_latest_where_no_id_is_known() -> None:
    """Without an id it is the latest conversation of the directory, and the page says so."""
    found = planned(Verb.FORK, scene(CLAUDE))

    assert found.argv == ("claude", "--continue", "--fork-session")
    assert found.method is Method.LATEST
    assert "latest conversation of this directory" in found.notes[0]
    assert found.cwd == "/w"


def test_what_the_program_asked_for_wins() -> None:
    """An arm of OSC 88 or a method of OSC 26 goes before the data file, its placeholders filled."""
    said = ("claude", "--resume", "{SessionId}")
    found = planned(Verb.RESUME, scene(CLAUDE, conversation=GONE, resume=said))

    assert (found.argv, found.method) == (("claude", "--resume", ID), Method.SAID)


def pane_of(said: Declaration) -> Scene:
    """The pane in which *said* was printed while its agent runs; the host knows the session."""
    words = said.said
    # Programs whose names others have too are known by where they lie; `goose` by its first word.
    exe = {"amp": "/opt/@ampcode/cli/bin/amp", "aider": "/v/bin/aider", "kilo": "/opt/@kilocode/cli/kilo"}
    lies = exe.get(said.running[0], "/opt/@github/copilot/copilot" if said.running[0] == "copilot" else "")
    identity = identify([process(*said.running, exe=lies)], AGENTS)
    known = ConversationEntry(agent=identity.agent.name if identity.agent else "", session=ID, cwd="/w")
    return scene_of(identity, process_cwd="/w", conversation=known, resume=words, fork=words)


def test_no_hostile_declaration_passes() -> None:
    """Whatever was printed, for either verb: it is never what would run. The agent's own list is, or nothing."""
    assert len(HOSTILE) >= 180
    passed = []
    for said in HOSTILE:
        scene_ = pane_of(said)
        for verb in CONTINUES:
            found = plan(verb, scene_, AGENTS)
            if isinstance(found, Plan) and (found.method is Method.SAID or not found.notes):
                passed.append(f"{verb}: {said}")
            agent = scene_.identity.agent
            assert agent is not None or said.running[0] in ("node /v/.bin/gemini", "kilo"), said
    assert not passed


def test_no_harmless_declaration_is_refused() -> None:
    """What agents ask for themselves, in every spelling that means the same, is what would run."""
    assert len(HARMLESS) >= 60
    refused = []
    for said in HARMLESS:
        found = plan(Verb(said.verb), pane_of(said), AGENTS)
        if isinstance(found, Refusal) or found.method is not Method.SAID:
            refused.append(f"{said}: {found.text if isinstance(found, Refusal) else found.notes}")
    assert not refused


@each(
    ("said", "refused"),
    [
        (("bash", "-c", "x"), "it asks for bash, which runs other programs"),
        (("claude", "bash", "-c", "x"), "it asks for bash, which runs other programs"),
        (("codex", "fork", ID), "'codex' is not claude, the agent that runs here"),
        (("/tmp/claude", "--resume", ID), "'/tmp/claude' is a path; only an agent's own name is accepted"),
        (("claude", "--resume", ID, "--dangerously-skip-permissions"), "was not started with it"),
        (("claude", "--mcp-config", "/tmp/x"), "it runs without that"),
        (("claude", "--resume", "{Nobody}"), "'{Nobody}' is not a known placeholder"),
        (("claude", "--resume", ID), "it lacks words that claude needs for this"),
        (("claude", "--fork", "{SessionId}"), "it runs without that"),
    ],
)
def test_what_is_refused_is_said_and_replaced(said: tuple[str, ...], refused: str) -> None:
    """The agent's data file does it instead, and the page says why the program's own wish was refused."""
    found = planned(Verb.FORK, scene(CLAUDE, conversation=GONE, fork=said))

    assert found.argv == ("claude", "--resume", ID, "--fork-session")
    assert found.method is Method.SESSION
    (note,) = found.notes
    assert note.startswith("The program asked for something else, which is refused: ")
    assert note.endswith(f"{refused}.")


def test_without_an_id_the_latest_replaces_it() -> None:
    """And where the data file has nothing, both reasons are given, by the first one's rule."""
    found = planned(Verb.FORK, scene(CLAUDE, fork=("claude", "--fork", "{SessionId}")))
    assert found.argv == ("claude", "--continue", "--fork-session")
    assert len(found.notes) == 2
    gemini = scene(process("node", "/v/.bin/gemini"), fork=("gemini", "--fork", "x"))
    nothing = plan(Verb.FORK, gemini, AGENTS)

    assert isinstance(nothing, Refusal) and nothing.rule == "method"
    assert nothing.text.count("Gemini CLI") == 2


@each("session", ["../x", "a b", "--yolo"])
def test_a_hostile_session_id_in_a_placeholder(session: str) -> None:
    """An id that the same program told goes through the same checks, in its wish and in the data file's list."""
    known = ConversationEntry(agent="claude", session=session, cwd="/w")
    found = plan(Verb.RESUME, scene(CLAUDE, conversation=known, resume=("claude", "--resume", "{SessionId}")), AGENTS)

    assert isinstance(found, Refusal) and found.rule == "value"


@pytest.mark.parametrize("said", [("claude", "--resume", ID, "--dangerously-skip-permissions", "--fork-session")])
def test_a_dangerous_flag_that_the_running_one_has(said: tuple[str, ...]) -> None:
    """A wish may have the dangerous flag of the running agent. A list of ours never carries one over."""
    bold = process("claude", "--dangerously-skip-permissions")

    assert planned(Verb.FORK, scene(bold, conversation=GONE, fork=said)).argv == said
    assert planned(Verb.FORK, scene(bold, conversation=GONE)).argv == ("claude", "--resume", ID, "--fork-session")


@each("verb", Verb)
@each("command", ["ssh", "mosh", "docker", "kubectl", "podman", "kitten", "et", "lxc", "machinectl", "gh"])
def test_another_machine(verb: Verb, command: str) -> None:
    """Nothing is started from behind ssh and the like, whatever is known of the pane."""
    args = {"kitten": ["ssh", "host"], "gh": ["codespace", "ssh"]}.get(command, ["host", "claude"])
    found = plan(verb, scene(process(command, *args), conversation=GONE, agent="claude", session=ID), AGENTS)

    assert isinstance(found, Refusal)
    assert found.rule == "remote"
    assert command in found.text


@pytest.mark.parametrize("verb", Verb)
def test_a_plain_shell(verb: Verb) -> None:
    """In a pane that never had an agent nothing that is printed makes one."""
    said = ("claude", "--resume", ID)
    shell = scene(process("bash"), agent="claude", session=ID, fork=said, resume=said)

    assert rule(verb, shell) == "process"


def test_an_agent_that_is_gone() -> None:
    """What the host had seen can be resumed, and not forked."""
    shell = scene(process("bash"), conversation=GONE)
    found = planned(Verb.RESUME, shell)

    assert (found.argv, found.cwd, found.pid) == (("claude", "--resume", ID), "/w/api", None)
    assert rule(Verb.FORK, shell) == "process"


def test_dangerous_flags_of_an_agent_that_is_gone() -> None:
    """What an agent that is gone was started with is not known well enough to be asked for by anybody."""
    said = ("claude", "--resume", ID, "--dangerously-skip-permissions")
    mild, bold = GONE, ConversationEntry(agent="claude", session=ID, cwd="/w", flags=(said[-1],))

    # Its arguments are gone with it: only the data file's words are known then.
    for known, refused in ((mild, "was not started with it"), (bold, "it runs without that")):
        found = planned(Verb.RESUME, scene(process("bash"), conversation=known, resume=said))
        assert found.argv == ("claude", "--resume", ID)
        assert found.notes[0].endswith(f"{refused}.")


def test_resuming_what_still_runs_is_said() -> None:
    """Two agents that go on with one conversation are possible, and the page says what that is."""
    found = planned(Verb.RESUME, scene(CLAUDE, conversation=GONE))

    assert any("still runs" in note for note in found.notes)


def test_a_process_of_another_pane() -> None:
    """An agent that does not come from the pane's own process is not this pane's."""
    assert rule(Verb.FORK, scene(CLAUDE, conversation=GONE, in_tree=False)) == "process"


def test_an_agent_that_is_only_named() -> None:
    """A script of a shell that is called like an agent is none until the agent's own process is found."""
    assert rule(Verb.FORK, scene(process("bash", "/home/u/bin/claude"), conversation=GONE)) == "process"


def test_another_agents_session_is_not_used() -> None:
    """An id that was remembered, or told, of another agent is no id of this one."""
    found = planned(Verb.FORK, scene(process("codex"), conversation=GONE, agent="claude", session=ID))

    assert found.argv == ("codex", "fork", "--last")
    assert found.cwd == "/w"


@each("session", ["--dangerously-skip-permissions", "a b", "x" * 10_000, "@selection", "{cwd}"])
@each("verb", Verb)
def test_a_hostile_session_id(verb: Verb, session: str) -> None:
    """It is refused, and not left out: the latest conversation might be another one."""
    known = ConversationEntry(agent="claude", session=session, cwd="/w")

    assert rule(verb, scene(CLAUDE, conversation=known)) == "value"


@each("name", ["gemini", "copilot", "aider"])
def test_an_agent_that_cannot_fork(name: str) -> None:
    """Where the command line has no fork, that is said."""
    known = ConversationEntry(agent=name, session=ID, cwd="/w")

    assert rule(Verb.FORK, scene(process("node", f"/v/.bin/{name}"), conversation=known)) == "method"


def test_a_file_that_calls_a_shell_an_agent() -> None:
    """A user's own agent file cannot make an agent of bash."""
    text = 'name = "mine"\nprocesses = ["bash"]\n[fork]\nlatest = ["bash", "-c", "x"]\n'
    agents = Agents([parse_agent(text, "mine.toml")])
    shell = scene_of(identify([process("bash")], agents), process_cwd="/w")

    assert rule(Verb.FORK, shell, agents) in ("deny-list", "process")
    assert rule(Verb.RESUME, scene_of(conversation=ConversationEntry(agent="mine", cwd="/w")), agents) == "deny-list"


def test_no_directory() -> None:
    """Where it would run has to be known."""
    assert rule(Verb.FORK, scene(CLAUDE, process_cwd="")) == "directory"


def test_the_title_marks_it() -> None:
    """A fork's pane is called ⎇ and the name, a resumed one's ↻; a fork of a fork has one mark."""
    titles = [
        planned(verb, scene(CLAUDE, conversation=GONE, project=name)).title
        for verb in CONTINUES
        for name in ("api", "⎇ api", "⎇  api")
    ]

    assert titles == [*["⎇  api"] * 3, *["↻  api"] * 3]


@given(
    verb=st.sampled_from(CONTINUES),
    said=st.lists(st.one_of(st.sampled_from(["claude", "--resume", "bash", ID]), st.text(max_size=8)), max_size=5),
    session=st.text(max_size=12),
    name=st.text(max_size=12),
)
def test_whatever_is_said_only_claude_runs(verb: Verb, said: list[str], session: str, name: str) -> None:
    """No words of a program make anything run but the agent that is there, with its own few words and one id."""
    words = tuple(said)
    known = ConversationEntry(agent="claude", session=session, cwd="/w")
    found = plan(verb, scene(CLAUDE, conversation=known, fork=words, resume=words, project=name), AGENTS)

    if isinstance(found, Plan):
        assert found.argv[0] == "claude"
        rest = [word for word in found.argv[1:] if word not in ("--resume", "--continue", "--fork-session")]
        assert len(rest) <= 1
        assert not any(word.startswith("-") or " " in word for word in rest)


@each(
    ("folder", "begins"),
    [
        ("/w/api", "/w/api"), ("/w/api/", "/w/api"), ("/w", "/w"), ("/w/ap", "/w/api/src"),
        ("/w/api/src/..", "/w/api/src"),        ("/", "/w/api/src"), ("/tmp/other", "/w/api/src"),
        ("/w/api/src/deep", "/w/api/src"), ("w", "/w/api/src"),
    ],
)  # fmt: skip
@each("verb", CONTINUES)
def test_a_folder_that_the_agent_reports(verb: Verb, folder: str, begins: str) -> None:
    """It is where a fork begins if the agent works in it or below it; any other is only shown."""
    pane = {"agent": "claude", "session": ID, "cwd": folder}
    assert planned(verb, scene(CLAUDE, process_cwd="/w/api/src", **pane)).cwd == begins
    assert planned(verb, scene(CLAUDE, process_cwd="/w/api/src", **{**pane, "agent": "codex"})).cwd == "/w/api/src"


@each(
    ("folder", "cwd", "is_named"),
    [("/w", "/w", False), ("/w/api/src/", "/w/api/src", False), ("/tmp", "/w/api/src", True)],
)
@each("agent", ["claude", ""])
def test_a_directory_that_came_with_a_command(agent: str, folder: str, cwd: str, is_named: bool) -> None:
    """It is used like a reported one, also without any other report; if it is not, the page says so."""
    pane = {"agent": agent, "cwd": folder, "resume": ("claude", "--resume", ID)}
    found = planned(Verb.RESUME, scene(CLAUDE, process_cwd="/w/api/src", **pane))

    assert found.cwd == cwd
    note = f"It reports the directory {folder}, which is not used: it does not work below that."
    assert (note in found.notes) is is_named


def test_the_reason_is_true() -> None:
    """An editor that asked to be resumed is named: that nobody runs there would be wrong. Of a shell it is right."""
    editor = plan(Verb.RESUME, scene(process("nvim", "a.txt")), AGENTS)
    shell = plan(Verb.FORK, scene(process("bash")), AGENTS)
    assert isinstance(editor, Refusal) and isinstance(shell, Refusal)
    assert editor.text.startswith("nvim runs in this pane, and is not known as an agent")
    assert shell.text == "no agent runs in this pane"
