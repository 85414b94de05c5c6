"""The OpenAI Chat Completions dialect of the scripted model: https://platform.openai.com/docs/api-reference/chat"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

from tests.real_agents.dialect import CHOICES, CONTENT, QUESTION, STEPS, Call, Dialect, Wire, states

#: What agents call the tools that the script calls: the first one that is offered is taken.
_SHELLS = (
    "bash",
    "run_shell_command",
    "shell",
    "Bash",
    "run_commands",
    "execute_command",
    "execute_bash",
    "exec_command",
    "run_terminal_command",
    "run_command",
)
_QUESTIONS = (
    *("question", "ask_user_question", "ask_user", "AskUserQuestion", "ask_question", "ask_followup_question"),
    "ask_user_choice",
)
_TASKS = ("task", "agent", "invoke_agent", "Agent", "spawn_subagent")
_EDITS = ("write_file", "create", "create_file", "write", "Write", "write_to_file", "editor", "save")
_FETCHES = ("web_fetch", "webfetch")
_TODOS = ("todowrite", "todo_write", "write_todos", "update_todo", "TodoList")
_PLANS = ("exit_plan_mode", "plan_exit")
#: What agents add to a prompt in turns of its own.
_NOISE = ("<system-reminder>", "<environment", "<current_datetime>", "<context", "<reminder>")
#: How an agent begins the person's words with its own.
_AROUND = re.compile(r"^(Please solve this issue|The user added a new task|Interrupted by user): ")
#: How a request beside the main loop begins its instructions, or says what it is for.
_SIDE = re.compile(
    r"title generator|name coding-agent sessions|generate a [^.]{0,60}title|session title|suggestion mode"
    r"|^Conversation transcript:",
    re.I,
)


class Chat(Dialect):
    """What OpenCode, Kilo, Qwen, Copilot and aider speak."""

    #: Statuses that its clients send again by themselves.
    retried = frozenset({408, 409, 429, *range(500, 600)})

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer what is asked beside the main loop: session titles and summaries, which are given no tools."""
        if not self.is_main(path) or body.get("tools"):
            return False
        first = next((text_of(m) for m in body["messages"] if m["role"] in ("system", "developer")), "")
        last = text_of(body["messages"][-1])
        if not _SIDE.search(first[:400]) and not _SIDE.search(last[:400]):
            return False
        self.text(body, wire, ["Scripted session"])
        return True

    def is_main(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        return find_step(body["messages"])

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str], tokens: int = 10) -> None:
        usage = {**_USAGE, "prompt_tokens": tokens, "total_tokens": tokens + 10}
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(pieces)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            wire.send_json({**_head(body, "chat.completion"), "choices": [choice], "usage": usage})
            return
        head = self._start(body, wire)
        for piece in pieces:
            self._delta(wire, head, {"content": piece})
        self._end(body, wire, head, "stop", usage)

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        if not body.get("tools"):
            self.text(body, wire, _in_words(call))
            return
        name, arguments = tool_call(call, {tool["function"]["name"]: tool["function"] for tool in body["tools"]})
        function = {"name": name, "arguments": json.dumps(arguments)}
        tool = {"index": 0, "id": f"call_{call.id}", "type": "function", "function": function}
        if not body.get("stream"):
            message = {"role": "assistant", "content": None, "tool_calls": [tool]}
            choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
            wire.send_json({**_head(body, "chat.completion"), "choices": [choice], "usage": _USAGE})
            return
        head = self._start(body, wire)
        self._delta(wire, head, {"tool_calls": [tool]})
        self._end(body, wire, head, "tool_calls")

    def error(self, code: int) -> dict[str, Any]:
        return {"error": {"type": "scripted", "message": f"the script says {code}", "code": str(code), "param": None}}

    def limit(self, seconds: int, until: int) -> tuple[dict[str, Any], dict[str, str]]:
        message = "You exceeded your current quota, please check your plan and billing details."
        return {"error": {"type": "insufficient_quota", "message": message, "code": "insufficient_quota"}}, {}

    def _start(self, body: dict[str, Any], wire: Wire) -> dict[str, Any]:
        head = _head(body, "chat.completion.chunk")
        wire.start_stream()
        self._delta(wire, head, {"role": "assistant", "content": ""})
        return head

    def _delta(self, wire: Wire, head: dict[str, Any], delta: dict[str, Any]) -> None:
        wire.data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    def _end(
        self, body: dict[str, Any], wire: Wire, head: dict[str, Any], reason: str, usage: dict[str, int] | None = None
    ) -> None:
        wire.data({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if (body.get("stream_options") or {}).get("include_usage"):
            wire.data({**head, "choices": [], "usage": usage or _USAGE})
        wire.data("[DONE]")


_USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}


def _head(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{time.monotonic_ns():x}",
        "object": kind,
        "created": int(time.time()),
        "model": body.get("model", "scripted"),
    }


def text_of(message: dict[str, Any]) -> str:
    """The words of a message, whose content is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content)


def find_step(messages: Sequence[dict[str, Any]]) -> tuple[str, int]:
    """The prompt in force and how many tool calls have answered it so far."""
    calls = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            calls += bool(message.get("tool_calls"))
        elif message["role"] == "user":
            content = message.get("content") or ""
            parts = [content] if isinstance(content, str) else [part.get("text") or "" for part in content]
            for part in reversed(parts):
                if text := prompt_in(part):
                    return text, calls
    return "", 0


def prompt_in(text: str) -> str:
    """What the person typed in a user's turn, which is one paragraph: an agent's own additions are left out."""
    text = re.sub(r"</?user_query>", "", text)  # Grok Build
    text = re.sub(r"<([a-z_-]+)(?: [^>]*)?>.*?</\1>", "", text, flags=re.S).strip()
    return "" if text.startswith(_NOISE) else _AROUND.sub("", text.partition("\n\n")[0].strip())


def tool_call(call: Call, tools: dict[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call, by what the agent offers and says it wants."""
    if call.word in ("ASK", "PICK"):
        name = next(name for name in _QUESTIONS if name in tools)
        return name, _question(_wanted(tools[name]), call.word)
    if call.word in _OTHERS:
        names, offered = (
            _OTHERS[call.word],
            {**dict.fromkeys(_TARGETS, call.rest), **_GIVEN, "prompt": f"Read {call.rest}"},
        )
        name = next((name for name in names if name in tools), names[0])
        if name not in tools:  # one that has to be looked up first: its name is known all the same
            return "tool_call", {"name": name, "arguments": {"url": call.rest, "prompt": offered["prompt"]}}
        return name, {key: value for key, value in offered.items() if key in _wanted(tools[name])}
    if call.word == "TODO":
        name = next((name for name in _TODOS if name in tools), _TODOS[0])
        return name, _todo(name, int(call.rest))
    if call.word == "TASK":
        name = next(name for name in _TASKS if name in tools)
        wanted = _wanted(tools[name])
        arguments = {"description": "A task", "prompt": call.rest, **_SUBAGENTS.get(name, {})}
        if "agent_type" in wanted:
            arguments |= {"agent_type": "general-purpose", "name": "scripted"}
        return name, {key: value for key, value in arguments.items() if key in wanted}
    name = next(name for name in _SHELLS if name in tools)
    wanted = _wanted(tools[name])
    offered: dict[str, Any] = {"command": call.rest, "description": "A command of the script"}
    if "commands" in wanted:
        return name, {"commands": [call.rest]}
    if "is_background" in wanted:
        offered["is_background"] = call.word == "BACKGROUND"
    if "mode" in wanted and call.word == "BACKGROUND":
        offered["mode"] = "async"
    return name, {key: value for key, value in offered.items() if key in wanted} if wanted else offered


#: The tools that a word may mean, and what they take: the target under its several names, and all else.
_OTHERS = {"EDIT": _EDITS, "FETCH": _FETCHES, "PLAN": _PLANS}
_TARGETS = ("file_path", "filePath", "filepath", "path", "url")
_GIVEN = {"content": CONTENT, "file_text": CONTENT, "new_text": CONTENT, "format": "text", "plan": STEPS}

#: Which kind of subagent to ask for, by the name of the tool that starts one.
_SUBAGENTS: dict[str, dict[str, str]] = {
    "task": {"subagent_type": "general"},
    "agent": {"subagent_type": "general-purpose"},
    "invoke_agent": {"agent_name": "generalist"},
    "Agent": {"subagent_type": "coder"},
}


def _todo(name: str, done: int) -> dict[str, Any]:
    """The list of what is to be done, in the words of the tool *name*."""
    if name == "update_todo":
        return {
            "todos": "\n".join(f"- [{'x' if state == 'completed' else ' '}] {task}" for task, state in states(done))
        }
    if name == "TodoList":
        return {
            "todos": [{"title": task, "status": state.replace("completed", "done")} for task, state in states(done)]
        }
    words = "description" if name == "write_todos" else "content"
    entries = [{words: task, "status": state} for task, state in states(done)]
    if name != "write_todos":
        entries = [{**entry, "id": str(number), "priority": "medium"} for number, entry in enumerate(entries)]
    return {"todos": entries}


def _wanted(tool: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a tool takes."""
    schema = tool.get("parameters") or tool.get("parametersJsonSchema") or {}
    wanted: dict[str, Any] = schema.get("properties") or {}
    return wanted


def _question(wanted: dict[str, Any], word: str) -> dict[str, Any]:
    choices = CHOICES if word == "PICK" else {label: f"{label} it is" for label in ("Red", "Green")}
    text, header = (QUESTION, "Ledger") if word == "PICK" else ("Which colour?", "Colour")
    if "requestedSchema" in wanted:
        field = {"type": "string", "title": header, "enum": list(choices)}
        return {
            "message": text,
            "requestedSchema": {"properties": {header.lower(): field}, "required": [header.lower()]},
        }
    options = [{"label": label, "description": description} for label, description in choices.items()]
    if "options" in wanted:  # one question, whose options are words or objects
        are_words = wanted["options"].get("items", {}).get("type") == "string"
        return {"question": text, "options": list(choices) if are_words else options}
    question = {"question": text, "header": header, "options": options, "multiSelect": False, "type": "choice"}
    known = wanted.get("questions", {}).get("items", {}).get("properties") or question.keys() - {"type"}
    return {"questions": [{key: value for key, value in question.items() if key in known}]}


def _in_words(call: Call) -> list[str]:
    """What a model says to an agent that gives it no tools: a command in a block, or the name of a file."""
    if call.word == "EDIT":
        return [f"{call.rest}\n```python\n<<<<<<< SEARCH\n=======\n{CONTENT}>>>>>>> REPLACE\n```\n"]
    if call.word == "ASK":
        return ["I should like to see README.md first.\n"]
    return [f"This is the command:\n\n```bash\n{call.rest}\n```\n"]
