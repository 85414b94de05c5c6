"""The Anthropic Messages dialect of the scripted model: https://docs.anthropic.com/en/api/messages"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from tests.real_agents.dialect import CHOICES, CONTENT, QUESTION, STEPS, TASKS, Call, Dialect, Wire, states

OPTIONS = ("Red", "Green")
_NOISE = ("<system-reminder>", "[Request interrupted", "<command-", "<local-command")
_ERRORS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}


class Anthropic(Dialect):
    """What Claude Code speaks."""

    #: Statuses that its client sends again by itself.
    retried = frozenset({401, 408, 409, 429, *range(500, 600)})

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer what is asked beside the main loop: token counts, session titles, probes."""
        if path.endswith("/count_tokens"):
            wire.send_json({"input_tokens": 100})
        elif not path.endswith("/v1/messages"):
            return False
        elif not any(tool.get("name") == "Bash" for tool in body.get("tools") or ()):
            self._answer(body, wire, {"type": "text", "text": ""}, ['{"title": "Scripted session"}'])
        else:
            return False
        return True

    def is_main(self, path: str) -> bool:
        return path.endswith("/v1/messages")

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        return find_step(body["messages"])

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str], tokens: int = 10) -> None:
        self._answer(body, wire, {"type": "text", "text": ""}, pieces, tokens)

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        arguments: dict[str, Any]
        if call.word == "PICK":
            options = [{"label": label, "description": text} for label, text in CHOICES.items()]
            ask = {"question": QUESTION, "header": "Ledger", "multiSelect": False, "options": options}
            name, arguments = "AskUserQuestion", {"questions": [ask]}
        elif call.word == "EDIT":
            name, arguments = "Write", {"file_path": call.rest, "content": CONTENT}
        elif call.word == "FETCH":
            name, arguments = "WebFetch", {"url": call.rest, "prompt": "What does it say?"}
        elif call.word == "PLAN":
            name, arguments = "ExitPlanMode", {"plan": STEPS}
        elif call.word == "ASK":
            options = [{"label": label, "description": f"{label} it is"} for label in OPTIONS]
            ask = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": options}
            name, arguments = "AskUserQuestion", {"questions": [ask]}
        elif call.word == "TASK":
            name = next(tool["name"] for tool in body["tools"] if tool["name"] in ("Task", "Agent"))
            arguments = {"description": "A task", "prompt": call.rest, "subagent_type": "general-purpose"}
        elif call.word == "CALL":
            name, _, rest = call.rest.partition(" ")
            arguments = json.loads(rest)
        elif call.word == "TODO":
            name, arguments = _todo(body, int(call.rest))
        else:
            name, arguments = "Bash", {"command": call.rest, "description": "A command of the script"}
            if call.word == "BACKGROUND":
                arguments["run_in_background"] = True
        self._answer(body, wire, {"type": "tool_use", "id": f"toolu_{call.id}", "name": name, "input": arguments})

    def error(self, code: int) -> dict[str, Any]:
        error = {"type": _ERRORS.get(code, "api_error"), "message": f"the script says {code}"}
        return {"type": "error", "error": error}

    def limit(self, seconds: int, until: int) -> tuple[dict[str, Any], dict[str, str]]:
        windows = {"status": "rejected", "reset": str(until), "representative-claim": "five_hour"}
        headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in windows.items()}
        return self.error(429), headers

    def _answer(
        self, body: dict[str, Any], wire: Wire, block: dict[str, Any], pieces: Iterable[str] = (), tokens: int = 10
    ) -> None:
        """Send `block`, whose text is `pieces`, as the model's message, streamed if asked for."""
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": tokens, "output_tokens": 10}
        usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {
            "id": f"msg_{time.monotonic_ns():x}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "claude-scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            whole = {**block, "text": "".join(pieces)} if block["type"] == "text" else block
            wire.send_json({**message, "content": [whole], "stop_reason": stop})
            return
        wire.start_stream()
        wire.event("message_start", message=message)
        empty = block if block["type"] == "text" else {**block, "input": {}}
        wire.event("content_block_start", index=0, content_block=empty)
        for piece in pieces:
            wire.event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            wire.event("content_block_delta", index=0, delta=delta)
        wire.event("content_block_stop", index=0)
        wire.event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 10})
        wire.event("message_stop")


def _todo(body: dict[str, Any], done: int) -> tuple[str, dict[str, Any]]:
    """The call that keeps the list: all of it at once where that can be, else one task after the other."""
    if any(tool["name"] == "TodoWrite" for tool in body["tools"]):
        todos = [{"content": task, "status": state, "activeForm": task} for task, state in states(done)]
        return "TodoWrite", {"todos": todos}
    if done < len(TASKS):
        return "TaskCreate", {"subject": TASKS[done], "description": TASKS[done], "activeForm": TASKS[done]}
    number, state = divmod(done - len(TASKS), 2)
    return "TaskUpdate", {"taskId": str(number + 1), "status": ("in_progress", "completed")[state]}


def find_step(messages: list[dict[str, Any]]) -> tuple[str, int]:
    """The prompt in force and how many tool calls have answered it so far."""
    calls = 0
    for message in reversed(messages):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            calls += any(block["type"] == "tool_use" for block in blocks)
            continue
        if message["role"] != "user":  # "system" turns may stand in mid-conversation
            continue
        for block in reversed(blocks):
            text = block.get("text", "").strip() if block["type"] == "text" else ""
            if text and not text.startswith(_NOISE):
                return text, calls
    return "", 0
