"""The Gemini dialect of the scripted model: https://ai.google.dev/api/generate-content"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.real_agents.chat import prompt_in, tool_call
from tests.real_agents.dialect import Call, Dialect, Wire

_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
#: What the questions asked beside the main loop want to hear, all in one: who speaks next, which model to take.
_ASIDE = {"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1}


class Gemini(Dialect):
    """What Gemini CLI speaks."""

    #: Statuses that its client sends again by itself.
    retried = frozenset({429, *range(500, 600)})

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer what is asked beside the main loop: token counts, and questions that want JSON."""
        if path.endswith(":countTokens"):
            wire.send_json({"totalTokens": 100})
        elif path.endswith(":generateContent") or (self.is_main(path) and not _functions(body)):
            answer = self._answer([{"text": json.dumps(_ASIDE)}], "STOP")
            if self.is_main(path):
                wire.start_stream()
                wire.data(answer)
            else:
                wire.send_json(answer)
        else:
            return False
        return True

    def is_main(self, path: str) -> bool:
        return path.endswith(":streamGenerateContent")

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        calls = 0
        for content in reversed(body["contents"]):
            parts = content.get("parts") or []
            if content.get("role") == "model":
                calls += any("functionCall" in part for part in parts)
                continue
            for part in reversed(parts):
                if text := prompt_in(part.get("text") or ""):
                    return text, calls
        return "", 0

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str], tokens: int = 10) -> None:
        wire.start_stream()
        for piece in pieces:
            wire.data(self._answer([{"text": piece}], tokens=tokens))
        wire.data(self._answer([{"text": ""}], "STOP", tokens))

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        name, arguments = tool_call(call, _functions(body))
        wire.start_stream()
        wire.data(self._answer([{"functionCall": {"id": call.id, "name": name, "args": arguments}}]))
        wire.data(self._answer([{"text": ""}], "STOP"))

    def error(self, code: int) -> dict[str, Any]:
        return {"error": {"code": code, "message": f"the script says {code}", "status": _STATUSES.get(code, "UNKNOWN")}}

    def limit(self, seconds: int, until: int) -> tuple[dict[str, Any], dict[str, str]]:
        quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}
        details = [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds}s"},
        ]
        message = f"You exceeded your current quota, please check your plan. Please retry in {seconds}s."
        return {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}, {}

    def _answer(self, parts: list[dict[str, Any]], reason: str | None = None, tokens: int = 10) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if reason is not None:
            candidate["finishReason"] = reason
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 10, "totalTokenCount": tokens + 10}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _functions(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The functions the agent offers, by name."""
    return {
        function["name"]: function
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    }
