"""A scripted model on loopback, speaking the dialects of the agents under test: Anthropic Messages, OpenAI Responses
and Chat Completions, Gemini.

The last thing the user typed is the script. Steps are joined with ` THEN `: the first answers the prompt, the next one
the request that follows a tool's result. A step is one of

    SLOW seconds      text, spread over that time
    PROSE seconds     the same with headings, lists, tables, code and what looks like a question
    HOLD name         some text, then nothing until `release(name)`; the rest of the text afterwards
    TOOL command      a call of the shell tool, for which the person is asked; `⏎` in it is the end of a line
    BACKGROUND cmd    the same, as a task in the background
    EDIT file         a call of the tool that writes a file
    FETCH url         a call of the tool that reads a page
    PLAN              a plan, for the person to agree to
    ASK               a question to the person
    PICK              a longer one, of several lines and with four choices
    TASK prompt       a call of the tool that starts a subagent, with this prompt
    CALL name {…}     a call of that tool with these arguments, for which the person is asked (Messages and Responses)
    TODO n            a call of the tool that keeps a list of what is to be done, so many of which are
    TOKENS n          a short text at the end of a conversation that is so long
    ERROR code [n]    that HTTP status, every time or for the first n requests
    LIMIT seconds     the error that says that nothing more is to be had for so long
    CUT               some text, then the connection is dropped (`refused`)
    THINK seconds     an answer that begins at once, and has nothing to say for so long
    AFTER seconds X   nothing for that time, as of a model that thinks, and then what the step X says
    anything else     a short text, at once

The server knows the truth, and writes it down as it happens, one JSON object a line in the marks file: `working` (a
request of the main loop arrived), `waiting:permission` and `waiting:question` (a tool call is out), `calling` (one for
which nobody is asked), `done`, `error` (an error no client retries), `refused` (one it may retry), `limit` (what LIMIT
answers), `interrupted` (the client hung up in mid-answer). A mark holds `epoch` and `monotonic` seconds, the prompt
and the step. A script that begins with `SUB` is a subagent's: the names of its marks begin with `sub:`. Requests
beside the main loop (session titles, token counts, probes) are answered at once and leave no mark.

Standard library only and Python 3.11 to 3.14, so that it runs with any root's own interpreter inside a network
namespace, in the checkout:
`python3 -m tests.real_agents.model --port-file F --marks F --control SOCKET [--requests F]`. The control socket takes a
line (`release NAME`, `mark NAME`, `quit`) and answers `ok`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.real_agents.anthropic import Anthropic
from tests.real_agents.chat import Chat
from tests.real_agents.dialect import PROSE, Call, Dialect
from tests.real_agents.gemini import Gemini
from tests.real_agents.responses import Responses

DIALECTS: tuple[Dialect, ...] = (Anthropic(), Responses(), Chat(), Gemini())
_STEP = re.compile(
    r"^(SLOW|PROSE|HOLD|TOOL|BACKGROUND|EDIT|FETCH|PLAN|ASK|PICK|CALL|TASK|TODO|TOKENS|THINK|ERROR|LIMIT|CUT)\b *(.*)$",
    re.S,
)
_AFTER = re.compile(r"^AFTER ([0-9.]+) (.*)$", re.S)
_CALLS = {
    "TOOL": "waiting:permission",
    "BACKGROUND": "waiting:permission",
    "EDIT": "waiting:permission",
    "FETCH": "waiting:permission",
    "PLAN": "waiting:permission",
    "ASK": "waiting:question",
    "PICK": "waiting:question",
    "CALL": "waiting:permission",
    "TASK": "calling",
    "TODO": "calling",
}
_TEXT = "The scripted model answers in a few plain words, one after the other. "
_WORDS = (
    "lamp",
    "studio",
    "camera",
    "tally",
    "light",
    "stage",
    "signal",
    "screen",
    "red",
    "on",
    "air",
    "and",
    "the",
    "of",
)


def _sentence(number: int) -> str:
    """One of many sentences: some agents take a model that repeats itself for one that is stuck."""
    words = random.Random(number).choices(_WORDS, k=12)
    return f"{' '.join(words).capitalize()}. "


class HungUpError(Exception):
    """The client closed the connection before the answer was complete."""


class Script:
    """What to answer, which answers are held back, and the record of what was true when. Shared by all requests."""

    def __init__(self, marks: Path | None = None, requests: Path | None = None) -> None:
        self.marks: list[dict[str, Any]] = []
        self._marks_file = marks
        self._requests_file = requests
        self._changed = threading.Condition()
        self._released: set[str] = set()
        self._refused: dict[str, int] = {}

    def mark(self, name: str, prompt: str = "", step: int = 0) -> None:
        """Write down that `name` is true from now on."""
        with self._changed:
            entry = {"mark": name, "epoch": time.time(), "monotonic": time.monotonic(), "prompt": prompt, "step": step}
            self.marks.append(entry)
            if self._marks_file is not None:
                _append(self._marks_file, entry)
            self._changed.notify_all()

    def wait_mark(self, name: str, *, after: int = 0, timeout: float = 30.0) -> dict[str, Any]:
        """The first mark called `name` among those from index `after` on; wait for it if need be."""

        def found() -> dict[str, Any] | None:
            return next((mark for mark in self.marks[after:] if mark["mark"] == name), None)

        with self._changed:
            if (mark := self._changed.wait_for(found, timeout)) is None:
                raise TimeoutError(f"no mark {name!r} after {[m['mark'] for m in self.marks[after:]]}")
            return mark

    def release(self, name: str) -> None:
        """Let the answer that a `HOLD name` keeps back go on, now or when it comes to that point."""
        with self._changed:
            self._released.add(name)
            self._changed.notify_all()

    def released(self, name: str, timeout: float) -> bool:
        """Wait up to `timeout` for `release(name)`; true uses it up."""
        with self._changed:
            if not self._changed.wait_for(lambda: name in self._released, timeout):
                return False
            self._released.discard(name)
            return True

    def refuse(self, prompt: str, times: int | None) -> bool:
        """Is this request of `prompt` among the ones to answer with an error?"""
        with self._changed:
            self._refused[prompt] = self._refused.get(prompt, 0) + 1
            return times is None or self._refused[prompt] <= times

    def saw(self, path: str, body: dict[str, Any]) -> None:
        """Keep a whole request, for whoever has to find out what an agent asks."""
        if self._requests_file is not None:
            _append(self._requests_file, {"epoch": time.time(), "path": path, "body": body})


def _append(path: Path, entry: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: Script


class Handler(BaseHTTPRequestHandler):
    """One request. HTTP/1.0 on purpose: the end of a body is the end of the connection, and nothing is pooled."""

    server: _Server

    def do_HEAD(self) -> None:
        self._start(200, "application/json", 0)

    def do_GET(self) -> None:
        if self.path.split("?")[0].endswith("/models"):
            models = [
                {"type": "model", "id": "claude-scripted", "display_name": "Scripted", "created_at": "2026-01-01"}
            ]
            self.send_json({"data": models, "has_more": False})
        else:
            self.send_json({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        self.server.script.saw(path, body)
        if any(dialect.side(path, body, self) for dialect in DIALECTS):
            return
        dialect = next((dialect for dialect in DIALECTS if dialect.is_main(path)), None)
        if dialect is None:
            self.send_json({})
        else:
            self._play(dialect, body)

    def _play(self, dialect: Dialect, body: dict[str, Any]) -> None:
        """Answer a request of the main loop, and mark what becomes true."""
        script = self.server.script
        prompt, index = dialect.find_step(body)
        whose = "sub:" if prompt.startswith("SUB ") else ""
        steps = prompt.removeprefix("SUB ").split(" THEN ")
        step = steps[index].strip() if index < len(steps) else ""
        pause, step = match.groups() if (match := _AFTER.match(step)) else ("0", step)
        word, rest = match.groups() if (match := _STEP.match(step)) else ("", "")
        script.mark(f"{whose}working", prompt, index)
        after = _CALLS.get(word, "done")
        try:
            if pause != "0":
                self._wait(float(pause))
            if word == "ERROR":
                code, *times = map(int, re.findall(r"\d+", rest))
                if script.refuse(prompt, times[0] if times else None):
                    name = "refused" if code in dialect.retried else "error"
                    script.mark(f"{whose}{name}", prompt, index)
                    self.send_json(dialect.error(code), code)
                    return
            if word == "LIMIT":
                script.mark(f"{whose}limit", prompt, index)
                seconds = int(rest)
                error, headers = dialect.limit(seconds, int(time.time()) + seconds)
                self.send_json(error, 429, {"retry-after": str(seconds), "x-should-retry": "false", **headers})
                return
            if word in _CALLS:
                dialect.call(body, self, Call(word, rest.replace("⏎", "\n"), f"{index}_{time.monotonic_ns():x}"))
            else:
                dialect.text(body, self, self._pieces(word, rest), int(rest) if word == "TOKENS" else 10)
        except (HungUpError, OSError):
            after = "refused" if word == "CUT" else "interrupted"
        script.mark(f"{whose}{after}", prompt, index)

    def _pieces(self, word: str, rest: str) -> Iterator[str]:
        """The text of an answer, in the rhythm its step asks for."""
        if word == "SLOW":
            for number in range(max(1, int(float(rest) / 0.1))):
                yield _TEXT if not number else _sentence(number)
                self._wait(0.1)
        elif word == "PROSE":
            lines = [f"{line}\n" for line in PROSE.splitlines()]
            for number in range(max(1, int(float(rest) / 0.2))):
                yield lines[number % len(lines)]
                self._wait(0.2)
        elif word == "THINK":
            self._wait(float(rest))
        elif word in ("HOLD", "CUT"):
            yield f"{_TEXT}\n\n"  # a client may draw whole paragraphs only
            if word == "CUT":
                self.connection.shutdown(socket.SHUT_RDWR)
                raise HungUpError
            while not self.server.script.released(rest.strip(), 0.02):
                self._wait(0.0)
        yield "Here is a short answer."

    def _wait(self, seconds: float) -> None:
        """Let time pass, unless the client hangs up: it has sent its whole request, so readable means closed."""
        if select.select([self.connection], [], [], seconds)[0]:
            raise HungUpError

    # The way back ------------------------------------------------------------------------------------------------

    def send_json(self, value: object, code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        raw = json.dumps(value).encode()
        self._start(code, "application/json", len(raw), headers or {})
        self.wfile.write(raw)

    def start_stream(self) -> None:
        self._start(200, "text/event-stream")

    def event(self, kind: str, **fields: Any) -> None:
        self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode())
        self.wfile.flush()

    def data(self, value: object) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def _start(self, code: int, kind: str, length: int | None = None, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("request-id", f"req_{time.monotonic_ns():x}")
        if length is not None:
            self.send_header("content-length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the marks are the log."""


class ScriptedModel(Script):
    """The server in a thread of this process: `with ScriptedModel() as model: … model.url … model.release('a')`."""

    def __init__(self, marks: Path | None = None, requests: Path | None = None) -> None:
        super().__init__(marks, requests)
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.script = self
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def serve_control(script: Script, path: Path) -> None:
    """Take orders on a unix socket, one line each, until `quit`. It is there once it listens."""
    partial = path.with_suffix(".partial")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(partial))
        listener.listen()
        partial.rename(path)
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as lines:
                verb, _, name = lines.readline().strip().partition(" ")
                if verb == "release":
                    script.release(name)
                elif verb == "mark":
                    script.mark(name)
                with contextlib.suppress(OSError):
                    lines.write("ok\n" if verb in ("release", "mark", "quit") else "unknown\n")
                    lines.flush()
            if verb == "quit":
                return


def main(argv: list[str] | None = None) -> int:
    """The command line, for a server inside a namespace."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.real_agents.model")
    parser.add_argument("--port-file", type=Path, required=True, help="written, by rename, once the server listens")
    parser.add_argument("--marks", type=Path, required=True)
    parser.add_argument("--control", type=Path, required=True)
    parser.add_argument("--requests", type=Path)
    arguments = parser.parse_args(argv)
    with ScriptedModel(arguments.marks, arguments.requests) as model:
        partial = arguments.port_file.with_suffix(".partial")
        partial.write_text(f"{model.port}\n", encoding="ascii")
        partial.replace(arguments.port_file)
        serve_control(model, arguments.control)
    return 0


if __name__ == "__main__":
    sys.exit(main())
