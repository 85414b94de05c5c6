"""The scripted model in the dialects of Chat Completions and Gemini, and the pause before an answer."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real_agents.chat import find_step, prompt_in, tool_call
from tests.real_agents.dialect import Call
from tests.real_agents.model import ScriptedModel
from tests.tables import each

CHAT, GEMINI = "/v1/chat/completions", "/v1beta/models/any:streamGenerateContent?alt=sse"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """The server in this process."""
    with ScriptedModel() as model:
        yield model


def tool(name: str, *wanted: str) -> dict[str, Any]:
    """A tool as it is offered, which takes arguments of these names."""
    return {"name": name, "parameters": {"properties": {key: {"type": "string"} for key in wanted}}}


TOOLS = [tool("bash", "command"), tool("question", "questions"), tool("task", "prompt", "description")]


def post(url: str, body: dict[str, Any]) -> str:
    """One request; the whole answer."""
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode()), timeout=20) as answer:
        text: str = answer.read().decode()
    return text


def chat(model: ScriptedModel, *messages: dict[str, Any], tools: list[dict[str, Any]] = TOOLS, **more: Any) -> str:
    """A request of Chat Completions."""
    offered = [{"type": "function", "function": one} for one in tools]
    body = {"model": "m", "stream": True, "tools": offered, "messages": list(messages), **more}
    return post(model.url + CHAT, body)


def gemini(model: ScriptedModel, *contents: dict[str, Any], tools: list[dict[str, Any]] = TOOLS) -> str:
    """A request of Gemini's."""
    body = {"contents": list(contents), "tools": [{"functionDeclarations": tools}] if tools else []}
    return post(model.url + GEMINI, body)


def user(text: str) -> dict[str, Any]:
    """What a person said, in Chat Completions."""
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    """What a person said, in Gemini's dialect."""
    return {"role": "user", "parts": [{"text": text}]}


def chunks(text: str) -> list[Any]:
    """The events of a stream; a word that is no JSON stays one."""
    data = [block.removeprefix("data: ") for block in text.split("\n\n") if block]
    return [json.loads(one) if one.startswith("{") else one for one in data]


def words(model: ScriptedModel) -> list[str]:
    """The marks, by name."""
    return [mark["mark"] for mark in model.marks]


def test_chat_stream(model: ScriptedModel) -> None:
    """A streamed answer of Chat Completions names its role first, ends with `stop`, and then with `[DONE]`."""
    found = chunks(chat(model, user("hello"), stream_options={"include_usage": True}))
    model.wait_mark("done")

    assert found[0]["choices"][0]["delta"]["role"] == "assistant"
    assert found[1]["choices"][0]["delta"]["content"] == "Here is a short answer."
    assert [chunk["choices"][0]["finish_reason"] for chunk in found[:-2]] == [None, None, "stop"]
    assert found[-2]["usage"]["total_tokens"] > 0
    assert found[-1] == "[DONE]"


def test_chat_whole(model: ScriptedModel) -> None:
    """An answer that is not to be streamed is one object with the same words."""
    found = json.loads(chat(model, user("hello"), stream=False))

    assert found["choices"][0]["message"]["content"] == "Here is a short answer."
    assert found["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("prompt", "mark", "name", "key"),
    [
        ("TOOL touch x", "waiting:permission", "bash", "command"),
        ("ASK", "waiting:question", "question", "questions"),
        ("TASK SUB hello", "calling", "task", "prompt"),
    ],
)
def test_chat_calls(model: ScriptedModel, prompt: str, mark: str, name: str, key: str) -> None:
    """A tool call of Chat Completions is whole in one delta, and its result moves the script one step on."""
    found = chunks(chat(model, user(f"{prompt} THEN fine")))
    model.wait_mark(mark)
    call = found[1]["choices"][0]["delta"]["tool_calls"][0]
    chat(model, user(f"{prompt} THEN fine"), {"role": "assistant", "tool_calls": [call]}, {"role": "tool"})
    model.wait_mark("done")

    assert call["function"]["name"] == name
    assert key in json.loads(call["function"]["arguments"])
    assert found[2]["choices"][0]["finish_reason"] == "tool_calls"
    assert words(model) == ["working", mark, "working", "done"]


def test_chat_without_tools(model: ScriptedModel) -> None:
    """An agent that offers no tools gets a command in a block of its own; a request for a title leaves no mark."""
    found = chat(model, user("TOOL touch x"), tools=[])
    title = chat(model, {"role": "system", "content": "You are a title generator."}, user("TOOL touch x"), tools=[])

    assert "```bash\\ntouch x\\n```" in found
    assert "Scripted session" in title
    assert words(model) == ["working", "waiting:permission"]


def test_gemini_stream(model: ScriptedModel) -> None:
    """A streamed answer of Gemini's has its words in parts, and a reason to end in the last one."""
    found = chunks(gemini(model, said("hello")))
    model.wait_mark("done")

    assert found[0]["candidates"][0]["content"]["parts"][0]["text"] == "Here is a short answer."
    assert "finishReason" not in found[0]["candidates"][0]
    assert found[-1]["candidates"][0]["finishReason"] == "STOP"
    assert words(model) == ["working", "done"]


def test_gemini_calls(model: ScriptedModel) -> None:
    """A call of Gemini's is a part of its own, and its result moves the script one step on."""
    prompt = said("TOOL touch x THEN fine")
    found = chunks(gemini(model, prompt))
    model.wait_mark("waiting:permission")
    part = found[0]["candidates"][0]["content"]["parts"][0]
    result = {"role": "user", "parts": [{"functionResponse": {"name": "bash"}}]}
    gemini(model, prompt, {"role": "model", "parts": [part]}, result)
    model.wait_mark("done")

    assert part["functionCall"]["name"] == "bash"
    assert part["functionCall"]["args"]["command"] == "touch x"


def test_gemini_aside(model: ScriptedModel) -> None:
    """What Gemini asks beside its main loop is answered in JSON, and leaves no mark."""
    url = model.url + "/v1beta/models/any"
    count = json.loads(post(f"{url}:countTokens", {"contents": []}))
    found = json.loads(post(f"{url}:generateContent", {"contents": [said("TOOL touch x")]}))
    streamed = chunks(gemini(model, said("TOOL touch x"), tools=[]))

    assert count["totalTokens"] > 0
    assert json.loads(found["candidates"][0]["content"]["parts"][0]["text"])["next_speaker"] == "user"
    assert streamed[0]["candidates"][0]["finishReason"] == "STOP"
    assert model.marks == []


@pytest.mark.parametrize(("code", "mark"), [(400, "error"), (429, "refused"), (503, "refused")])
@pytest.mark.parametrize(
    "ask", [lambda m, t: chat(m, user(t)), lambda m, t: gemini(m, said(t))], ids=["chat", "gemini"]
)
def test_errors(model: ScriptedModel, ask: Any, code: int, mark: str) -> None:
    """An error has its status, a body that says so, and a mark that tells the final from the retried."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(model, f"ERROR {code}")

    assert caught.value.code == code
    assert json.load(caught.value)["error"]["message"] == f"the script says {code}"
    assert words(model) == ["working", mark]


def test_after(model: ScriptedModel) -> None:
    """`AFTER` answers that much later, and is `working` all the while; what follows it is a step like any other."""
    start = time.monotonic()
    chat(model, user("AFTER 0.3 TOOL touch x"))
    mark = model.wait_mark("waiting:permission")

    assert words(model) == ["working", "waiting:permission"]
    assert mark["monotonic"] - start >= 0.3
    assert model.marks[0]["monotonic"] - start < 0.3


@each(
    ("text", "prompt"),
    [
        ("ASK", "ASK"),
        ("<current_datetime>now</current_datetime>\n\nASK", "ASK"),
        ("<system-reminder>be kind</system-reminder>", ""),
        ("ASK\n\nReply in English.", "ASK"),
        ("\n\n<environment_details>\nhere\n</environment_details>", ""),
    ],
)
def test_prompt_in(text: str, prompt: str) -> None:
    """What agents add to a prompt, in tags and in paragraphs, is no part of the script."""
    assert prompt_in(text) == prompt


def test_find_step() -> None:
    """Parts that hold only what the agent added are passed over."""
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "<environment_details>x</environment_details>"}]
    calls = {"role": "assistant", "content": "", "tool_calls": [{}]}

    assert find_step([{"role": "user", "content": parts}, calls, {"role": "tool", "content": "ok"}]) == ("a", 1)
    assert find_step([]) == ("", 0)


@each(
    ("call", "offered", "expected"),
    [
        (Call("BACKGROUND", "x", "1"), tool("run_shell_command", "command", "is_background"), {"is_background": True}),
        (Call("TOOL", "x", "1"), tool("run_shell_command", "command", "is_background"), {"is_background": False}),
        (Call("BACKGROUND", "x", "1"), tool("bash", "command", "mode"), {"mode": "async"}),
        (Call("ASK", "", "1"), tool("ask_user", "message", "requestedSchema"), {"message": "Which colour?"}),
        (Call("TASK", "SUB x", "1"), tool("invoke_agent", "agent_name", "prompt"), {"agent_name": "generalist"}),
        (Call("TASK", "SUB x", "1"), tool("task", "prompt", "agent_type"), {"agent_type": "general-purpose"}),
    ],
)
def test_tool_call(call: Call, offered: dict[str, Any], expected: dict[str, Any]) -> None:
    """A call is made of the arguments that the tool says it takes."""
    name, arguments = tool_call(call, {offered["name"]: offered})

    assert name == offered["name"]
    assert expected.items() <= arguments.items()
