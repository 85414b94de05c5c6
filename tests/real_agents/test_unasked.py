"""
What ran unasked: turns of a real agent in a mode that asks nobody, in tmux, with our host beside it.

`tally did` lists every command of each turn with its exit code, and no other; each denial is in the agent's row soon
after the model was told of it, as far as the machine is quick. So it is with subagents. Other agents, and as many turns
as one likes, by hand: `TALLY_UNASKED=codex,copilot TALLY_UNASKED_TURNS=30 pytest -s tests/real_agents/test_unasked.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import psutil
import pytest

from tallylight.model.errors import TallyError
from tallylight.parts.work import did
from tallylight.parts.work.did import Did
from tallylight.snapshot import writer
from tests.real_agents.driver import Pane, wait_until
from tests.real_agents.install import AGENTS, InstallError, install
from tests.real_agents.manners import MANNERS
from tests.real_agents.test_without_pane import Desk
from tests.real_agents.waits import Waits

pytestmark = pytest.mark.agents

TURNS = int(os.environ.get("TALLY_UNASKED_TURNS", "8"))
#: Seconds after which a denial is in the row at the latest.
SHOWN_S = 2.0


@attrs.frozen
class Way:
    """
    An agent in a mode: the *words* behind its name, and *files* of its home with what is denied.

    *call* is how the model calls for a command; *ready* is its prompt, if it looks different. It writes its record up
    to *lag* seconds after it has asked the model again.
    """

    agent: str
    words: tuple[str, ...] = ()
    files: Mapping[str, Any] = attrs.field(factory=dict)
    call: str = "TOOL {command}"
    ready: str = ""
    lag: float = 0.0


_CLAUDE = {"permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash"]}, "skipDangerousModePermissionPrompt": True}
_GEMINI = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "rm"
decision = "deny"
priority = 999
"""
WAYS = {
    "claude": Way(
        "claude", ("--permission-mode", "acceptEdits"), {".claude/settings.json": _CLAUDE}, ready="accept edits on"
    ),
    "claude-bypass": Way(
        "claude", ("--dangerously-skip-permissions",), {".claude/settings.json": _CLAUDE}, ready="bypass permissions on"
    ),
    "codex": Way(
        "codex",
        ("--dangerously-bypass-approvals-and-sandbox",),
        {".codex/rules/default.rules": 'prefix_rule(pattern = ["rm"], decision = "forbidden")\n'},
        'CALL exec_command {{"cmd": "{command}"}}',
    ),
    "copilot": Way("copilot", ("--allow-all-tools", "--deny-tool", "shell(rm:*)"), ready="/ commands"),
    "gemini": Way(
        "gemini",
        ("--approval-mode", "yolo"),
        {".gemini/policies/rm.toml": _GEMINI},
    ),
    "qwen": Way(
        "qwen",
        ("--approval-mode", "yolo"),
        {".qwen/settings.json": {"permissions": {"deny": ["Bash(rm:*)"]}}},
        lag=20.0,
    ),
}
WANTED = os.environ.get("TALLY_UNASKED", "claude").split(",")


def calls(turn: int) -> list[tuple[str, int | None]]:
    """The commands of a turn, and how each ends; None: it is denied."""
    every: list[tuple[str, int | None]] = [
        (f"touch made{turn}", 0),
        (f"sh -c 'exit {2 + turn % 5}'", 2 + turn % 5),
        (f"rm made{turn}", None),
        (f"echo made{turn}", 0),
        (f"curl -s http://127.0.0.1:9/{turn}", 7),
        (f"rm -f made{turn}", None),
    ]
    return every[turn % 3 :] if turn % 4 else [*every, *every[2:4]]


class Shown(threading.Thread):
    """The counts in the row of the one pane, as any other program reads them, with the time of each change."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.seen, self.is_over = folder, list[tuple[float, tuple[int, ...]]](), False

    def run(self) -> None:
        while not self.is_over:
            for path in self.folder.glob("sessions-*.json"):
                with contextlib.suppress(TallyError, OSError):
                    for pane in writer.read(path).panes:
                        counts = tuple(pane.more.get("did") or ())
                        if not self.seen or self.seen[-1][1] != counts:
                            self.seen.append((time.time(), counts))
            time.sleep(0.02)

    def first(self, denied: int, since: float) -> float | None:
        """When the row had so many denials, or more."""
        return next((at for at, counts in self.seen if at >= since and counts and counts[1] >= denied), None)


def _prepare(desk: Desk, way: Way) -> None:
    for name, value in way.files.items():
        path = desk.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, dict):
            value = json.dumps({**(json.loads(path.read_text()) if path.exists() else {}), **value})
        path.write_text(value)


@pytest.fixture(params=WANTED)
def desk(request: pytest.FixtureRequest) -> Iterator[tuple[Desk, Way]]:
    way = WAYS[request.param]
    if os.geteuid() != 0 or shutil.which("tmux") is None:
        pytest.skip("real agents run in namespaces of their own: that needs root, and this tmux")
    try:
        install(AGENTS[way.agent])
    except InstallError as error:
        pytest.skip(str(error))
    folder = Path(tempfile.mkdtemp(prefix="tallylight-unasked-", dir="/tmp"))
    found = Desk(folder, way.agent)
    _prepare(found, way)
    yield found, way
    found.close()
    shutil.rmtree(folder, ignore_errors=True)


def _known(home: Path) -> Did | None:
    for path in (home / ".local/state/tallylight/work/did").glob("*.json"):
        with contextlib.suppress(OSError, ValueError):
            return did.load(json.loads(path.read_bytes())["pane"], {"HOME": str(home)})
    return None


def _told(home: Path) -> Sequence[tuple[str, int | None, bool]]:
    found = _known(home)
    return [(call.what.partition(": ")[2], call.code, call.is_denied) for call in found.calls] if found else []


def test_turns_that_ask_nobody(desk: tuple[Desk, Way]) -> None:
    """Every command and its end, and none of another turn; each denial soon."""
    here, way = desk
    argv = [way.agent, *way.words]
    here.env["IS_SANDBOX"] = "1"
    pane = here.in_tmux("one", *argv)
    pane.wait_text(way.ready or MANNERS[way.agent].ready, 60)
    here.wait("tmux/", "idle", 30)
    shown = Shown(here.home / "run/tallylight")
    shown.start()
    host = psutil.Process(here.host.pid)
    waits = Waits([host.pid, *(child.pid for child in host.children(recursive=True))])
    late: list[float] = []
    listed = 0
    for turn in range(TURNS):
        wanted = calls(turn)
        steps = [way.call.format(command=command) for command, _ in wanted]
        before, began = len(here.model.marks), time.time()
        waits.note()
        _submit(here, pane, way, f"AFTER 0.{100 + turn} {' THEN '.join(steps)} THEN fine")
        here.model.wait_mark("done", after=before, timeout=60)
        expected = [(command, code, code is None) for command, code in wanted]
        try:
            wait_until(lambda: _told(here.home) == expected, 10, "the calls of the turn", 0.05)  # noqa: B023
        except TimeoutError:
            raise AssertionError(f"{turn}: {_told(here.home)} is not {expected}\n{pane.text()}") from None
        listed += len(expected)
        denied = 0
        for step, (_, code) in enumerate(wanted, 1):
            if code is None:
                denied += 1
                asked = next(mark for mark in here.model.marks[before:] if mark["step"] == step)["epoch"]
                at = wait_until(lambda: shown.first(denied, began), 10, f"denial {denied} in the row")  # noqa: B023
                waits.note()
                clock = time.monotonic() - time.time()
                late.append(at - asked - waits.between(asked + clock, at + clock))
    shown.is_over = True
    sys.stdout.write(
        f"{way.agent} {' '.join(way.words)}: {TURNS} turns, {listed} calls listed, {len(late)} denials, shown after "
        f"{sorted(late)[len(late) // 2]:.2f} s (median), {max(late):.2f} s (most)\n"
    )
    assert max(late) < SHOWN_S + way.lag, late
    code, said = here.run(*here.tally("did", "--json"))
    assert code == 0 and len(json.loads(said)["calls"]) == len(calls(TURNS - 1)), said
    if way.agent == "claude":
        _check_refused(here, pane, way)
        _check_subagents(here, pane, way)
    pane.close()


def _submit(here: Desk, pane: Pane, way: Way, prompt: str) -> None:
    before = len(here.model.marks)
    pane.send("\x15")  # what the terminal has answered meanwhile
    pane.send(prompt)
    pane.wait_text(prompt[:9])
    time.sleep(MANNERS[way.agent].settles)

    def is_taken() -> bool:
        """Whether an Enter was one: a busy agent takes it for a part of what was pasted."""
        pane.send("\r")
        with contextlib.suppress(TimeoutError):
            return bool(here.model.wait_mark("working", after=before, timeout=4.0))
        return False

    wait_until(is_taken, 30, f"{prompt!r} at the model on\n{pane.text()}")


def _check_subagents(here: Desk, pane: Pane, way: Way) -> None:
    """What they run is listed with their name; they run side by side."""
    _submit(here, pane, way, "AFTER 0.9 TASK SUB TOOL touch below THEN TASK SUB TOOL rm below THEN fine")
    wanted = {("touch below", "A task", False), ("rm below", "A task", True)}

    def listed() -> bool:
        found = _known(here.home)
        calls = found.calls if found is not None else ()
        return {(call.what.partition(": ")[2], call.subagent, call.is_denied) for call in calls} == wanted

    wait_until(listed, 20, "the calls of subagents", 0.05)


def _check_refused(here: Desk, pane: Pane, way: Way) -> None:
    """Three denials in a row are amber while the turn goes on, and its question once it is over."""
    _submit(here, pane, way, "AFTER 0.8 TOOL rm a THEN TOOL rm b THEN TOOL rm c THEN HOLD more")
    here.wait("tmux/", "waiting/question", 20)
    here.model.release("more")
    here.wait("tmux/", "done/question", 20)
