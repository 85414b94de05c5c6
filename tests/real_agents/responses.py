"""The OpenAI Responses dialect of the scripted model: https://platform.openai.com/docs/api-reference/responses"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from tests.real_agents.dialect import CHOICES, CONTENT, QUESTION, Call, Dialect, Wire, states


class Responses(Dialect):
    """What Codex speaks."""

    #: Statuses that its client sends again by itself: a rate limit is an error to Codex.
    retried = frozenset({401, 408, 409, *range(500, 600)})

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer the threads that run beside the main one: they make titles, and are given no shell."""
        has_shell = any(tool.get("name") in ("exec_command", "shell") for tool in body.get("tools") or ())
        if not self.is_main(path) or has_shell:
            return False
        self.text(body, wire, ['{"title": "Scripted session"}'])
        return True

    def is_main(self, path: str) -> bool:
        return path.endswith("/v1/responses")

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        calls = 0
        for item in reversed(body["input"]):
            kind = item.get("type", "message")
            if kind == "function_call":
                calls += 1
            elif kind == "message" and item["role"] == "user":
                text = "".join(part.get("text", "") for part in item["content"]).strip()
                if text and not text.startswith("<"):
                    return text, calls
        return "", 0

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str], tokens: int = 10) -> None:
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": f"msg_{time.monotonic_ns():x}"}
        response = self._start(body, wire)
        wire.event("response.output_item.added", output_index=0, item={**item, "content": []})
        said = ""
        for piece in pieces:
            said += piece
            wire.event("response.output_text.delta", item_id=item["id"], output_index=0, content_index=0, delta=piece)
        item["content"] = [{"type": "output_text", "text": said, "annotations": []}]
        wire.event("response.output_item.done", output_index=0, item=item)
        self._end(wire, response, item, tokens)

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        name, arguments = self._tool(call)
        item: dict[str, Any] = {"type": "function_call", "id": f"fc_{call.id}", "call_id": f"call_{call.id}"}
        item |= {"name": name, "arguments": json.dumps(arguments)}
        if call.word == "TASK":
            item["namespace"] = "multi_agent_v1"
        response = self._start(body, wire)
        wire.event("response.output_item.added", output_index=0, item={**item, "arguments": ""})
        wire.event("response.output_item.done", output_index=0, item=item)
        self._end(wire, response, item)

    def _tool(self, call: Call) -> tuple[str, dict[str, Any]]:
        if call.word == "ASK":  # in plan mode only
            options = [{"label": label, "description": f"{label} it is"} for label in ("Red", "Green")]
            ask = {"id": "colour", "header": "Colour", "question": "Which colour?", "options": options}
            return "request_user_input", {"questions": [ask]}
        if call.word == "PICK":
            options = [{"label": label, "description": text} for label, text in CHOICES.items()]
            ask = {"id": "ledger", "header": "Ledger", "question": QUESTION, "options": options}
            return "request_user_input", {"questions": [ask]}
        if call.word == "EDIT":
            added = "".join(f"+{line}\n" for line in CONTENT.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {call.rest}\n{added}*** End Patch"
            return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}
        if call.word == "CALL":
            name, _, rest = call.rest.partition(" ")
            return name, json.loads(rest)
        if call.word == "TODO":
            return "update_plan", {"plan": [{"step": step, "status": state} for step, state in states(int(call.rest))]}
        if call.word == "TASK":
            return "spawn_agent", {"message": call.rest}
        # Outside the sandbox, so that the person is asked.
        why = {"sandbox_permissions": "require_escalated", "justification": "May the script run this?"}
        return "exec_command", {"cmd": call.rest, "yield_time_ms": 30_000, **why}

    def error(self, code: int) -> dict[str, Any]:
        return {"error": {"type": "scripted", "message": f"the script says {code}", "code": None, "param": None}}

    def limit(self, seconds: int, until: int) -> tuple[dict[str, Any], dict[str, str]]:
        message = "You've hit your usage limit."
        error = {"type": "usage_limit_reached", "message": message, "plan_type": "plus", "resets_at": until}
        return {"error": error}, {}

    def _start(self, body: dict[str, Any], wire: Wire) -> dict[str, Any]:
        response = {"id": f"resp_{time.monotonic_ns():x}", "object": "response", "model": body.get("model")}
        wire.start_stream()
        wire.event("response.created", response={**response, "status": "in_progress", "output": []})
        return response

    def _end(self, wire: Wire, response: dict[str, Any], item: dict[str, Any], tokens: int = 10) -> None:
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10, **details}
        wire.event("response.completed", response={**response, "status": "completed", "output": [item], "usage": usage})
