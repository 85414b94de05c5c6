"""Payloads: what is read of them, and what each event says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.agents import agent as agents
from tallylight.agents import agent_files
from tallylight.hooks import mapping, payload, tables
from tallylight.parts.agent_hooks import compact
from tallylight.wire import osc1338, pairs
from tests.hooks.tables import text
from tests.strategies import at_most
from tests.tables import each

AGENTS = agents.load_agents(agent_files.packaged_agents())[0]


def said(agent: str, event: str, /, **members: Any) -> dict[str, str]:
    """What an event says, without what is empty."""
    found = mapping.report(tables.TABLES[agent], event, members)
    return {key: value for key, value in (found or {}).items() if value}


def test_the_tables_are_those_of_the_agent_files() -> None:
    """What `tally hook` reads is what the TOML says. (`python -m tests.hooks.tables` writes it anew.)"""
    namespace: dict[str, Any] = {}
    exec(text(), namespace)

    assert namespace["TABLES"] == tables.TABLES
    assert namespace["PLACES"] == tables.PLACES


def test_a_table_as_json_says_the_same() -> None:
    """A user's own agent, whose table is kept as JSON, is read like one of ours."""
    for agent in AGENTS:
        if agent.hooks is None or not agent.hooks.form:
            continue
        table = compact.table(agent, agent.hooks)
        again = payload.members(json.dumps(table).encode())
        for event in agent.hooks.events:
            members = {"tool_name": "x", "notification_type": "idle_prompt", "agent_id": "a"}
            assert mapping.report(again, event, members) == mapping.report(table, event, members)


LS = {"tool_input": {"command": "ls"}}
LS_L = {"tool_name": "shell", "tool_input": {"command": ["ls", "-l"]}}
PLAN = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "# Plan\nx"}}
LIMITED = {"last_assistant_message": "You've hit your limit"}
QUOTA = {"error_message": "429 no"}
ALLOW = {"notification_type": "permission_prompt", "message": "m"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "npm test\nnpm run x"}}
ASK = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which one?"}]}}


@each(
    ("agent", "event", "members", "name", "message"),
    [
        ("claude", "SessionStart", {"source": "startup"}, "idle", ""),
        ("claude", "UserPromptSubmit", {"prompt": "do"}, "working", ""),
        ("claude", "PreToolUse", BASH, "working", "Bash: npm test"),
        ("claude", "PermissionRequest", BASH, "waiting/permission", "Bash: npm test"),
        ("claude", "PermissionRequest", ASK, "waiting/question", "Which one?"),
        ("claude", "PermissionRequest", PLAN, "waiting/question", "# Plan"),
        ("claude", "PostToolUse", BASH, "working", "Bash: npm test"),
        ("claude", "PostToolUseFailure", {**BASH, "is_interrupt": False}, "working", "Bash: npm test"),
        ("claude", "PostToolUseFailure", {**BASH, "is_interrupt": True}, "idle", ""),
        ("claude", "Notification", ALLOW, "waiting/permission", "m"),
        ("claude", "Notification", {"notification_type": "elicitation_dialog"}, "waiting/question", ""),
        ("claude", "Notification", {"notification_type": "idle_prompt"}, "idle", ""),
        ("claude", "Elicitation", {"message": "Name?"}, "waiting/question", "Name?"),
        ("claude", "Stop", {"last_assistant_message": "Two files.\n\nAll done."}, "done", "All done."),
        ("claude", "StopFailure", {"error": "unknown"}, "error", "unknown"),
        ("claude", "StopFailure", {"error": "overloaded"}, "error", "overloaded"),
        ("claude", "StopFailure", {"error": "rate_limit"} | LIMITED, "waiting/limit", "You've hit your limit"),
        ("claude", "StopFailure", {"error": "billing_error"}, "waiting/limit", "billing_error"),
        ("claude", "PostCompact", {"trigger": "manual"}, "idle", ""),
        ("claude", "SessionEnd", {"reason": "other"}, "clear", ""),
        ("codex", "Interrupt", {}, "idle", ""),
        ("codex", "PermissionRequest", LS_L, "waiting/permission", "shell: ls -l"),
        ("codex", "PreToolUse", ASK | {"tool_name": "request_user_input"}, "waiting/question", "Which one?"),
        ("codex", "PostToolUse", {"tool_name": "request_user_input"}, "working", "request_user_input"),
        ("codex", "Stop", {}, "done", ""),
        ("gemini", "Notification", ALLOW | {"notification_type": "ToolPermission"}, "waiting/permission", "m"),
        ("gemini", "AfterAgent", {}, "done", ""),
        ("qwen", "PermissionRequest", {"tool_name": "run_sh", **LS}, "waiting/permission", "run_sh: ls"),
        ("qwen", "StopFailure", {"error": "rate_limit"}, "waiting/limit", "rate_limit"),
        ("qwen", "StopFailure", {"error": "billing_error"}, "error", "billing_error"),
        ("kimi", "StopFailure", {"error_type": "APIStatusError", "error_message": "400 no"}, "error", "400 no"),
        ("kimi", "StopFailure", {"error_type": "APIProviderQuotaExhaustedError"} | QUOTA, "waiting/limit", "429 no"),
        ("kimi", "StopFailure", {"error_type": "APIProviderRateLimitError"} | QUOTA, "waiting/limit", "429 no"),
        ("copilot", "notification", ALLOW, "waiting/permission", "m"),
        ("copilot", "errorOccurred", {"error": {"message": "boom"}, "recoverable": False}, "error", "boom"),
        ("copilot", "preToolUse", {"toolName": "bash", "toolArgs": '{"command": "ls"}'}, "working", "bash"),
        ("goose", "PreToolUse", {"tool_name": "dev__sh", **LS}, "working", "dev__sh: ls"),
        ("cursor-agent", "stop", {"status": "completed"}, "done", ""),
        ("cursor-agent", "stop", {"status": "aborted"}, "idle", ""),
        ("cursor-agent", "stop", {"status": "error"}, "error", ""),
        ("opencode", "permission.asked", {"tool_name": "bash", **LS}, "waiting/permission", "bash: ls"),
        ("opencode", "session.error", {"error": "MessageAbortedError"}, "idle", ""),
        ("opencode", "session.error", {"error": "APIError", "status": 400, "message": "400"}, "error", "400"),
        ("opencode", "session.error", {"error": "APIError", "status": 429, "message": "429"}, "waiting/limit", "429"),
        ("opencode", "session.limited", {"message": "Free limit"}, "waiting/limit", "Free limit"),
        ("kilo", "session.error", {"error": "APIError", "status": 429, "message": "429"}, "waiting/limit", "429"),
        ("kilo", "question.asked", {"message": "Which?"}, "waiting/question", "Which?"),
    ],
)  # fmt: skip
def test_what_an_event_says(agent: str, event: str, members: dict[str, Any], name: str, message: str) -> None:
    """Status, kind and message of each event, as the tables of the agents have it."""
    found = said(agent, event, session_id="s", **members)

    assert "/".join(filter(None, [found["state"], found.get("kind", "")])) == name
    assert found.get("message", "") == message


def test_a_turn_that_ends_with_a_question() -> None:
    """It is done, with that question; a subagent's, or one with tasks that still run, is not."""
    asks = {"last_assistant_message": "I made two files.\n\nShall I commit them?"}
    found = said("claude", "Stop", **asks)
    assert (found["state"], found["kind"], found["message"]) == ("done", "question", "Shall I commit them?")
    found = said("claude", "Stop", background_tasks=[1], **asks)
    assert (found["state"], found.get("kind"), found["message"]) == ("background", None, "I made two files.")
    assert "kind" not in said("claude", "StopFailure", **asks)


def test_what_a_permission_is_asked_for() -> None:
    """A request for a permission says it, in one line, from what the agent tells of the tool; nothing else does."""
    edit = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y\nz"}
    assert (
        said("claude", "PermissionRequest", cwd="/w", tool_name="Edit", tool_input=edit)["what"] == "Edit a.py (+2 −1)"
    )
    assert said("claude", "PermissionRequest", **BASH)["what"] == "Bash: npm test\nnpm run x"
    assert said("opencode", "permission.asked", tool_name="bash", **LS)["what"] == "bash: ls"
    assert said("codex", "PermissionRequest", **LS_L)["what"] == "shell: ls -l"
    for agent, event, members in (
        ("claude", "PermissionRequest", ASK),
        ("claude", "PreToolUse", BASH),
        ("claude", "Notification", ALLOW | {"tool_name": "x"}),
        ("claude", "PermissionRequest", {"tool_name": "x"}),
    ):
        assert "what" not in said(agent, event, **members), (event, members)


@each(
    ("agent", "event", "members"),
    [
        ("claude", "SessionStart", {"source": "compact"}),
        ("claude", "Notification", {"notification_type": "auth_success"}),
        ("claude", "Notification", {}),
        ("claude", "PostCompact", {"trigger": "auto"}),
        ("claude", "FileChanged", {}),
        ("claude", "", {}),
        ("claude", "SubagentStop", {}),
        ("codex", "SubagentStart", {"agent_id": ""}),
        ("copilot", "errorOccurred", {"recoverable": True}),
    ],
)
def test_what_says_nothing(agent: str, event: str, members: dict[str, Any]) -> None:
    """These events, and those nobody has heard of, say nothing."""
    assert said(agent, event, **members) == {}


def test_an_event_of_a_subagent_is_its_own() -> None:
    """With an agent id the report is of a record below, and never of the agent itself."""
    members = {"agent_id": "a1b2", "agent_type": "Explore", "session_id": "s", **BASH}

    assert said("claude", "PreToolUse", **members)["id"] == "a1b2"
    assert said("claude", "SubagentStart", **members)["title"] == "Explore"
    assert said("claude", "SubagentStop", **members)["state"] == "clear"
    assert said("claude", "SubagentStop", **members)["id"] == "a1b2"
    assert said("claude", "PreToolUse", **members | {"agent_id": "a/b c"})["id"] == "a-b-c"
    assert said("claude", "PreToolUse", **members | {"agent_id": "//"}) == {}


def test_a_turn_that_leaves_tasks_behind() -> None:
    """`Stop` with background tasks is `background` with their number; without, it is `done`."""
    found = said("claude", "Stop", background_tasks=[{"id": "1"}, {"id": "2"}])

    assert (found["state"], found["background"]) == ("background", "2")
    assert said("claude", "Stop", background_tasks=[])["state"] == "done"
    assert said("claude", "Stop", background_tasks="many")["state"] == "done"


def test_the_payload_names_the_event_where_the_arguments_do_not() -> None:
    """`tally hook claude` alone reads the event's name from the payload."""
    assert said("claude", "", hook_event_name="Stop")["state"] == "done"
    assert said("goose", "", event="Stop")["state"] == "done"


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
)
NAMES = st.sampled_from(
    [
        "session_id",
        "cwd",
        "agent_id",
        "agent_type",
        "tool_name",
        "tool_input",
        "background_tasks",
        "message",
        "source",
        "notification_type",
        "error",
        "hook_event_name",
        "session_title",
        "permission_mode",
        "is_interrupt",
    ]
)


@pytest.mark.slow
@settings(max_examples=at_most(300), deadline=None)
@given(st.sampled_from(sorted(tables.TABLES)), st.data())
def test_any_payload_gives_a_report_that_can_be_read(agent: str, data: st.DataObject) -> None:
    """Whatever is in a payload, what comes out is nothing, or a report that the receiving side reads."""
    event = data.draw(st.sampled_from(tuple(tables.TABLES[agent]["events"])))
    members = data.draw(st.dictionaries(NAMES, JSON, max_size=8))
    found = mapping.report(tables.TABLES[agent], event, members)
    if found is None:
        return
    assert set(found) <= {
        "state",
        "kind",
        "id",
        "title",
        "background",
        "session",
        "cwd",
        "mode",
        "message",
        "what",
        "of",
        "weak",
    }
    joined = pairs.join((key, value) for key, value in found.items() if value)
    if len(joined) < osc1338.PAYLOAD_LIMIT:
        assert osc1338.decode_variable(joined.decode()) is not None


# What is read of a payload --------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=at_most(200), deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=6), st.booleans(), st.integers(0, 2**32))
def test_as_far_as_it_goes(found: dict[str, Any], ascii_only: bool, cut: int) -> None:
    """A whole payload is read as `json` reads it; one that is cut off gives the members before the cut."""
    data = json.dumps(found, ensure_ascii=ascii_only).encode("utf-8", "replace")
    whole = payload.members(data)
    assert whole == json.loads(data)

    part = payload.members(data[: cut % (len(data) + 1)])
    assert list(part.items()) == list(whole.items())[: len(part)]


@settings(max_examples=at_most(300), deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text(alphabet='{}[]",:\\ \n1etu', max_size=30).map(str.encode)))
def test_any_bytes_are_taken(data: bytes) -> None:
    """Nothing that comes in makes it raise."""
    assert isinstance(payload.members(data), dict)


def test_odd_payloads() -> None:
    """A byte order mark, raw control characters, endless brackets, a lone surrogate, and no object at all."""
    assert payload.members(b'\xef\xbb\xbf {"a": 1}') == {"a": 1}
    assert payload.members(b'{"a": "x\ny"}') == {"a": "x\ny"}
    assert payload.members(b'{"a": 1, "b": ' + b"[" * 200_000) == {"a": 1}
    assert payload.members(b'{"a": "\\ud800"}') == {"a": "\ud800"}
    assert payload.members(b'{"a": "\xff\xfe"}') == {"a": "��"}
    assert payload.members(b"[1, 2]") == {}
    assert payload.members(b"") == {}
    assert payload.members(b'{"a": NaN, "b": 2}') == {"a": None, "b": 2}
