"""The scripted model by itself: its dialects, its scripts, and the truth it writes down."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_agents.anthropic import find_step
from tests.real_agents.driver import wait_until
from tests.real_agents.model import ScriptedModel
from tests.real_kitty.roots import CHECKOUT
from tests.tables import each

BASH = [{"name": "Bash", "input_schema": {}}]


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ScriptedModel]:
    """The server in this process."""
    with ScriptedModel(tmp_path / "marks.jsonl") as model:
        yield model


def user(text: str) -> dict[str, Any]:
    """What a person said."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def called(name: str = "Bash") -> list[dict[str, Any]]:
    """A tool call and its result."""
    use = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def post(url: str, *messages: dict[str, Any], stream: bool = True, tools: Any = BASH) -> Any:
    """One request, answered by its events or by its JSON."""
    body = {"model": "m", "max_tokens": 9, "stream": stream, "tools": tools, "messages": list(messages)}
    request = urllib.request.Request(f"{url}/v1/messages?beta=true", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return events(answer.read().decode()) if stream else json.load(answer)


def events(text: str) -> list[dict[str, Any]]:
    """The events of a stream, each checked for its form."""
    found = []
    for block in text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


def words(model: ScriptedModel) -> list[str]:
    """The marks, by name."""
    return [mark["mark"] for mark in model.marks]


def test_stream_is_whole(model: ScriptedModel) -> None:
    """A streamed answer starts with message_start, ends with message_stop and closes every block it opens."""
    found = post(model.url, user("hello"))

    assert [event["type"] for event in found] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert found[-2]["delta"]["stop_reason"] == "end_turn"


@pytest.mark.parametrize(
    ("prompt", "marks", "stop"),
    [
        ("hello", ["working", "done"], "end_turn"),
        ("SLOW 0.2", ["working", "done"], "end_turn"),
        ("TOOL touch x", ["working", "waiting:permission"], "tool_use"),
        ("ASK", ["working", "waiting:question"], "tool_use"),
        ("TOOLS are a subject", ["working", "done"], "end_turn"),
    ],
)
def test_script_and_truth(model: ScriptedModel, prompt: str, marks: list[str], stop: str) -> None:
    """Each word of the script gives its answer and its marks, streamed or not."""
    streamed = post(model.url, user(prompt))
    whole = post(model.url, user(prompt), stream=False)
    model.wait_mark(marks[-1], after=3)

    assert words(model) == marks * 2
    assert streamed[-2]["delta"]["stop_reason"] == whole["stop_reason"] == stop


@pytest.mark.parametrize(("code", "mark"), [(400, "error"), (401, "refused"), (429, "refused"), (529, "refused")])
def test_error(model: ScriptedModel, code: int, mark: str) -> None:
    """An error has its status, the API's error body, and a mark that tells the final from the retried."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(model.url, user(f"ERROR {code}"))

    assert caught.value.code == code
    assert json.load(caught.value)["type"] == "error"
    assert words(model) == ["working", mark]


def test_error_that_passes(model: ScriptedModel) -> None:
    """`ERROR 529 1` refuses once and then answers."""
    with pytest.raises(urllib.error.HTTPError):
        post(model.url, user("ERROR 529 1"))
    post(model.url, user("ERROR 529 1"))
    model.wait_mark("done")

    assert words(model) == ["working", "refused", "working", "done"]


def test_cut(model: ScriptedModel) -> None:
    """`CUT` drops the connection in mid-answer, and the turn is not over."""
    found = post(model.url, user("CUT"))
    model.wait_mark("refused")

    assert found[-1]["type"] == "content_block_delta"


def test_hold_and_release(model: ScriptedModel) -> None:
    """A held answer ends when it is released and not before, even if the release came first."""
    model.release("early")
    post(model.url, user("HOLD early"))
    model.wait_mark("done")

    with socket.create_connection(("127.0.0.1", model.port)) as connection:
        start = len(model.marks)
        send(connection, "HOLD late")
        answer = connection.makefile("rb")
        while b"content_block_delta" not in answer.readline():
            pass
        assert words(model)[start:] == ["working"]
        model.release("late")
        rest = answer.read()
    model.wait_mark("done", after=start)

    assert b"message_stop" in rest


def test_hang_up(model: ScriptedModel) -> None:
    """A client that closes the connection in mid-answer is marked as an interrupt, at once."""
    with socket.create_connection(("127.0.0.1", model.port)) as connection:
        send(connection, "HOLD for ever")
        model.wait_mark("working")
    mark = model.wait_mark("interrupted", timeout=1)

    assert mark["prompt"] == "HOLD for ever"


def send(connection: socket.socket, prompt: str) -> None:
    """A request by hand, so that the test keeps the connection."""
    body = json.dumps({"stream": True, "tools": BASH, "messages": [user(prompt)]}).encode()
    connection.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))


def test_responses(model: ScriptedModel) -> None:
    """In the Responses dialect a stream starts with response.created and ends with response.completed."""
    found = respond(model.url, said("hello"))
    model.wait_mark("done")

    assert [event["type"] for event in found] == [
        "response.created",
        "response.output_item.added",
        "response.output_text.delta",
        "response.output_item.done",
        "response.completed",
    ]
    assert found[-1]["response"]["output"] == [found[-2]["item"]]
    assert found[-2]["item"]["content"][0]["text"] == found[2]["delta"]
    assert words(model) == ["working", "done"]


@pytest.mark.parametrize(
    ("prompt", "mark", "name"),
    [
        ("TOOL touch x", "waiting:permission", "exec_command"),
        ('CALL exec_command {"cmd": "ls"}', "waiting:permission", "exec_command"),
        ("ASK", "waiting:question", "request_user_input"),
        ("TASK SUB HOLD a", "calling", "spawn_agent"),
    ],
)
def test_responses_calls(model: ScriptedModel, prompt: str, mark: str, name: str) -> None:
    """A tool call is one item, with whole arguments, and what answers it moves the script one step on."""
    item = respond(model.url, said(f"{prompt} THEN fine"))[-2]["item"]
    model.wait_mark(mark)
    respond(model.url, said(f"{prompt} THEN fine"), item, {"type": "function_call_output", "output": "ok"})
    model.wait_mark("done")

    assert item["name"] == name
    assert json.loads(item["arguments"])
    assert words(model) == ["working", mark, "working", "done"]


def test_responses_error_and_titles(model: ScriptedModel) -> None:
    """An error has its status; a thread that is given no shell leaves no mark; the agent's own words are no script."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        respond(model.url, said("ERROR 400"))
    title = respond(model.url, said("ERROR 400"), tools=[])
    respond(model.url, said("hello"), said("<turn_aborted>"))
    model.wait_mark("done")

    assert caught.value.code == 400
    assert title[-1]["type"] == "response.completed"
    assert words(model) == ["working", "error", "working", "done"]


def test_subagent(model: ScriptedModel) -> None:
    """What a subagent does is marked as its own."""
    post(model.url, user("SUB hello"))
    model.wait_mark("sub:done")

    assert words(model) == ["sub:working", "sub:done"]


def said(text: str) -> dict[str, Any]:
    """What a person said, in the Responses dialect."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def respond(url: str, *items: dict[str, Any], tools: Any = ({"type": "function", "name": "exec_command"},)) -> Any:
    """One request in the Responses dialect, answered by its events."""
    body = {"model": "m", "stream": True, "tools": list(tools), "input": list(items)}
    request = urllib.request.Request(f"{url}/v1/responses", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return events(answer.read().decode())


REMINDER = user("<system-reminder>be kind</system-reminder>")


@each(
    ("messages", "step"),
    [
        ([user("a")], ("a", 0)),
        ([{"role": "user", "content": "a"}], ("a", 0)),
        ([user("a"), *called()], ("a", 1)),
        ([user("a"), *called(), *called(), REMINDER], ("a", 2)),
        ([user("a"), *called(), user("b")], ("b", 0)),
        ([user("a"), *called(), user("[Request interrupted by user for tool use]"), user("b"), *called()], ("b", 1)),
        ([user("a"), {"role": "system", "content": "tools changed"}], ("a", 0)),
        ([], ("", 0)),
    ],
)
def test_find_step(messages: list[dict[str, Any]], step: tuple[str, int]) -> None:
    """The script is what the person said last, and each tool call since then moves it one step on."""
    assert find_step(messages) == step


def test_steps(model: ScriptedModel) -> None:
    """` THEN ` joins the answer to a prompt with the answer to its tool's result."""
    post(model.url, user("TOOL touch x THEN ASK"))
    post(model.url, user("TOOL touch x THEN ASK"), *called())
    model.wait_mark("waiting:question")

    assert words(model) == ["working", "waiting:permission", "working", "waiting:question"]


def test_side_requests_leave_no_mark(model: ScriptedModel) -> None:
    """Titles, token counts, model lists and probes are answered, and the truth stays as it was."""
    title = post(model.url, user("TOOL touch x"), tools=[], stream=False)
    for path in ("/v1/models", "/", "/api/hello"):
        with urllib.request.urlopen(model.url + path, timeout=5) as answer:
            assert isinstance(json.load(answer), dict)
    count = urllib.request.Request(f"{model.url}/v1/messages/count_tokens?beta=true", b'{"messages":[]}')
    with urllib.request.urlopen(count, timeout=5) as answer:
        assert json.load(answer)["input_tokens"] > 0

    assert title["stop_reason"] == "end_turn"
    assert model.marks == []


def test_marks_file(model: ScriptedModel, tmp_path: Path) -> None:
    """The marks file holds what the marks hold, with both clocks, in order of time."""
    post(model.url, user("hello"))
    model.wait_mark("done")
    written = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]

    assert written == model.marks
    assert written == sorted(written, key=lambda mark: mark["monotonic"])
    assert abs((written[0]["epoch"] - written[1]["epoch"]) - (written[0]["monotonic"] - written[1]["monotonic"])) < 0.05


@pytest.mark.slow
def test_as_a_program(workspace: Path) -> None:
    """Run by a bare interpreter it says its port, takes orders on its socket and ends when told to."""
    files = [word for name in ("port-file", "marks", "control") for word in (f"--{name}", str(workspace / name))]
    with subprocess.Popen([sys.executable, "-S", "-m", "tests.real_agents.model", *files], cwd=CHECKOUT) as process:
        try:
            wait_until((workspace / "port-file").exists, 10, "the port file")
            url = f"http://127.0.0.1:{int((workspace / 'port-file').read_text())}"
            wait_until((workspace / "control").exists, 5, "the control socket")
            answers = [order(workspace / "control", line) for line in ("release a", "mark seen", "jump")]
            post(url, user("HOLD a"))
            answers.append(order(workspace / "control", "quit"))
            process.wait(5)
        finally:
            process.kill()
    marks = [json.loads(line)["mark"] for line in (workspace / "marks").read_text().splitlines()]

    assert answers == ["ok", "ok", "unknown", "ok"]
    assert marks == ["seen", "working", "done"]


def order(path: Path, line: str) -> str:
    """One order over the control socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(f"{line}\n".encode())
        return connection.makefile().readline().strip()
