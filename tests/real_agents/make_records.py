"""Records of real agents, for the tests of their readers: `python -m tests.real_agents.make_records [NAME …]`.

Each agent is taken through turns by a scripted model in a room of its own (see `room`), where its home is `/home/user`.
What it kept of that is put into `tests/parts/transcripts/`: of files the lines as they were, of databases the tables
that are read, with every long text cut short, and beside it what was true when, by the same clock.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import platform
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "shared"))

from tests.real_agents.install import AGENTS, CACHE  # noqa: E402
from tests.real_agents.session import Session  # noqa: E402

RECORDS = ROOT / "tests" / "parts" / "transcripts"
#: Where each agent keeps its record, in its home.
PLACES = {
    "claude": ".claude/projects/-home-user-project/**/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "copilot": ".copilot/session-state/*/events.jsonl",
    "gemini": ".gemini/tmp/project/chats/session-*.jsonl",
    "qwen": ".qwen/projects/-home-user-project/chats/*.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
    "kilo": ".local/share/kilo/kilo.db",
    "aider": "project/.aider.chat.history.md",
    "kimi": ".kimi-code/sessions/*/*/agents/main/wire.jsonl",
    "pi": ".pi/agent/sessions/--home-user-project--/*.jsonl",
    "cline": ".cline/data/sessions/*/*.messages.json",
}
#: What is done with each, in turns: how a turn ends, and the script of the model for it.
_TEXT, _FAILS = ("done", "AFTER 1 fine"), ("error", "AFTER 1 ERROR 400")
_ASKS, _REFUSES = (
    ("approve", "AFTER 1 TOOL touch made THEN TOKENS 100000"),
    ("deny", "AFTER 1 TOOL touch again THEN fine"),
)
_STOPS, _PICKS, _CHILD = (
    ("escape", "HOLD one"),
    ("answer", "AFTER 1 ASK THEN fine"),
    ("done", "TASK SUB fine THEN AFTER 3 fine"),
)
_RUNS = "TASK SUB TOOL touch made THEN TASK SUB TOOL rm made"
_LIMITED = ("limit", "LIMIT 7200")
_PLANS = ("approve", "TODO 1 THEN TODO 2 THEN AFTER 1 TOOL touch made THEN TOKENS 100000")
_LISTS = ("done", "TODO 0 THEN TODO 1 THEN TODO 2 THEN TODO 3 THEN TODO 4 THEN TODO 5 THEN TOKENS 150000")
TURNS: dict[str, tuple[tuple[str, str], ...]] = {
    "claude": (_LISTS, _ASKS, _STOPS, _PICKS, _CHILD, _FAILS),
    "codex": (_TEXT, _PLANS, _STOPS, _REFUSES, _CHILD, _FAILS, _LIMITED),
    "copilot": (_TEXT, _ASKS, _STOPS, _REFUSES, _PICKS, _CHILD, ("approve", "BACKGROUND sleep 8 THEN fine"), _FAILS),
    "gemini": (_TEXT, ("approve", "AFTER 1 TOOL touch made THEN TOKENS 900000"), _PICKS, _STOPS, _REFUSES, _FAILS),
    "qwen": (_TEXT, _ASKS, _PICKS, _STOPS, _REFUSES, _FAILS),
    "opencode": (_TEXT, _PLANS, _STOPS, _REFUSES, _PICKS, _CHILD, _FAILS),
    "kilo": (_TEXT, _PLANS, _STOPS, _PICKS, _FAILS),
    "aider": (_TEXT, _ASKS, _STOPS, _REFUSES, _FAILS),
    "kimi": (_TEXT, _PLANS, _STOPS, ("proceed", _REFUSES[1]), _PICKS, _CHILD, _FAILS),
    "pi": (_TEXT, _ASKS, _STOPS, ("proceed", _REFUSES[1]), _PICKS, ("done", "ERROR 429 1 THEN AFTER 1 fine"), _FAILS),
    "cline": (_TEXT, _ASKS, _STOPS, ("proceed", _REFUSES[1]), _PICKS, _FAILS),
    # Those that give up when nothing more is to be had for hours. The others go on trying, or do not tell it apart.
    "claude-limit": (_TEXT, _LIMITED, _TEXT),
    # A command that fails, and one that a person denies.
    "claude-denied": (("approve", "AFTER 1 TOOL ls /nonexistent THEN fine"), _REFUSES),
    # Subagents run a command, and are denied one.
    "claude-subagent": (("done", f"{_RUNS} THEN TOOL ls made THEN AFTER 3 fine"),),
    "copilot-subagent": (("done", f"{_RUNS} THEN TOOL ls made THEN AFTER 3 fine"),),
    "copilot-limit": (_TEXT, _LIMITED, _TEXT),
    "gemini-limit": (_TEXT, ("give up", _LIMITED[1]), _TEXT),
    "kimi-limit": (_TEXT, _LIMITED),
    "pi-limit": (_TEXT, _LIMITED, _TEXT),
    # What the others do not show: a list of what is to be done, and what a model with a price has cost.
    "gemini-plan": (("allow", "TODO 1 THEN TODO 2 THEN TOKENS 100000"), _TEXT),
    "qwen-plan": (_PLANS, _TEXT),
    "opencode-price": (_TEXT,),
    "kilo-price": (_TEXT,),
    "aider-price": (_TEXT,),
}
#: Of a million tokens, in dollars: those of the prompt, those of the answer.
_PRICES = 3, 15
#: Without the first Claude keeps no list of tasks when nobody has asked for one.
ENV = {
    "claude": {"CLAUDE_CODE_ENABLE_TASKS": "1", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"},
    # Limits are those of a plan, which belongs to an account.
    "claude-limit": {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-scripted"},
}
#: More words behind its name: Codex plans only when it is told to.
WORDS = {
    "codex": ("-c", "tools.update_plan.enabled=true"),
    "gemini-plan": ("-m", "gemini-2.5-pro"),
    "claude-subagent": ("--settings", '{"permissions": {"allow": ["Bash"], "deny": ["Bash(rm:*)"]}}'),
    "copilot-subagent": ("--allow-all-tools", "--deny-tool", "shell(rm:*)"),
}
#: Most characters of a text that is kept.
MOST = 480
#: How long a turn may take on a machine that has much else to do, in seconds.
PATIENCE_S = 150.0
_TABLES = ("session", "message", "part", "todo")


def play(session: Session, turns: tuple[tuple[str, str], ...]) -> None:
    """Take a started agent through *turns*."""
    for end, prompt in turns:
        session.turn(prompt)
        match end:
            case "approve":
                session.asked("permission", PATIENCE_S)
                session.rest(1.5)
                session.approve(PATIENCE_S)
            case "allow":  # a call that it asks about alone, and others like it for the session
                session.shows("Do you want to proceed", PATIENCE_S)
                session.truth("waiting:permission")
                session.rest(1.5)
                session.keys(("\x1b[B", "\r"), "working")
                session.finished(PATIENCE_S)
            case "deny":
                session.asked("permission", PATIENCE_S)
                session.rest(1.5)
                session.keys(session.manner.deny, session.manner.denied)
            case "proceed":  # refused, after which it goes on
                session.asked("permission", PATIENCE_S)
                session.rest(1.5)
                session.keys(session.manner.deny, session.manner.denied)
                session.finished(PATIENCE_S)
            case "answer":
                session.asked("question", PATIENCE_S)
                session.rest(1.5)
                session.keys(session.manner.answer, "working")
                session.finished(PATIENCE_S)
            case "give up":  # of an agent that asks first
                session.shows("Keep trying", PATIENCE_S)
                session.rest(1.5)
                session.keys(("2",), "waiting:limit")
            case "escape":
                session.shows("scripted model answers", PATIENCE_S)
                session.rest(1.5)
                session.keys(session.manner.interrupt)
                session.mark("interrupted", timeout=30)
            case _:
                session.mark(end, timeout=PATIENCE_S)
        session.rest(3)


def scrub(text: str) -> str:
    """*text* without anything of this machine."""
    text = text.replace(platform.release(), "6.12.0")
    return re.sub(rf"{re.escape(str(CACHE))}/agents/\S*?/([^/\s\"]+)", r"/usr/bin/\1", text)


def cut(value: Any) -> Any:
    """A JSON value with every long text in it cut short, but for JSON within JSON, which is cut inside."""
    if isinstance(value, dict):
        return {key: cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [cut(one) for one in value[:32]]
    if isinstance(value, str) and len(value) > MOST:
        try:
            inner = json.loads(value)
        except ValueError:
            return scrub(value)[:MOST]
        return json.dumps(cut(inner), ensure_ascii=False, separators=(",", ":"))
    return scrub(value) if isinstance(value, str) else value


def keep_lines(path: Path) -> str:
    """A file of one JSON object a line, of one for all, or of Markdown."""
    text = path.read_text("utf-8")
    if path.suffix == ".json":
        return json.dumps(cut(json.loads(text)), ensure_ascii=False, indent=2) + "\n" * text.endswith("\n")
    if path.suffix != ".jsonl":
        return scrub(text)
    spaces = {} if '": ' in text[:200] else {"separators": (",", ":")}
    entries = [json.dumps(cut(json.loads(line)), ensure_ascii=False, **spaces) for line in text.splitlines()]
    return "".join(f"{entry}\n" for entry in entries)


def keep_tables(path: Path) -> str:
    """The tables of a database that are read, as statements that make them."""
    database, kept = sqlite3.connect(f"file:{path}?mode=ro", uri=True), sqlite3.connect(":memory:")
    for table in _TABLES:
        (statement,) = database.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()
        kept.execute(re.sub(r",\s*CONSTRAINT [^,]*FOREIGN KEY[^,]*?ON DELETE CASCADE", "", statement))
        for row in database.execute(f"select * from {table} order by rowid"):
            cells = [json.dumps(cut(json.loads(cell))) if _is_json(cell) else cut(cell) for cell in row]
            kept.execute(f"insert into {table} values ({','.join('?' * len(cells))})", cells)
    return "\n".join(kept.iterdump()) + "\n"


def _is_json(cell: object) -> bool:
    return isinstance(cell, str) and cell.startswith("{")


def let_plan(home: Path) -> None:
    """Give Qwen its list of what is to be done, which it has only where that is set."""
    path = home / ".qwen/settings.json"
    settings = json.loads(path.read_text())
    settings["tools"]["todoWrite"] = {"enabled": True}
    path.write_text(json.dumps(settings))


def put_prices(agent: str, home: Path) -> None:
    """Let the scripted model have a price."""
    if agent == "aider":
        prices = {"input_cost_per_token": _PRICES[0] / 1e6, "output_cost_per_token": _PRICES[1] / 1e6}
        about = {"max_input_tokens": 200_000, "litellm_provider": "openai", "mode": "chat", **prices}
        (home / ".aider.model.metadata.json").write_text(json.dumps({"openai/scripted": about}))
        return
    path = home / f".config/{agent}/{agent}.json"
    settings = json.loads(path.read_text())
    settings["provider"]["scripted"]["models"]["scripted"]["cost"] = dict(
        zip(("input", "output"), _PRICES, strict=True)
    )
    path.write_text(json.dumps(settings))


class Watch(threading.Thread):
    """Cline's two files while they are written: when, the time and the status of the one, the messages of the other."""

    def __init__(self, home: Path) -> None:
        super().__init__(daemon=True)
        self.home, self.seen, self.is_over = home, list[tuple[float, float, str, int]](), False

    def run(self) -> None:
        while not self.is_over:
            for path in self.home.glob(PLACES["cline"]):
                status = path.with_name(path.name.replace(".messages.", "."))
                with contextlib.suppress(OSError, ValueError):  # it is being written
                    said = json.loads(status.read_text())["status"]
                    found = status.stat().st_mtime, said, len(json.loads(path.read_text())["messages"])
                    if not self.seen or self.seen[-1][1:] != found:
                        self.seen.append((time.time(), *found))
            time.sleep(0.02)


def keep(name: str, home: Path, truths: list[tuple[float, str]], seen: list[tuple[float, float, str, int]]) -> None:
    """Put what an agent kept in *home* into the tests, with what was true."""
    agent = name.partition("-")[0]
    # Those of subagents come last.
    found = sorted(home.glob(PLACES[agent]), key=lambda path: (len(path.parts), path.name))
    how: Callable[[Path], str] = keep_tables if found[0].suffix == ".db" else keep_lines
    folder = RECORDS / name
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".sql" if how is keep_tables else found[0].suffix
    for number, path in enumerate(found):
        status = path.with_name(path.name.replace(".messages.", "."))
        if status != path:
            (folder / "status.json").write_text(keep_lines(status))
        (folder / f"record{number or ''}{suffix}.gz").write_bytes(gzip.compress(how(path).encode(), 9, mtime=0))
    about = {"version": AGENTS[agent].version, "truths": truths, **({"seen": seen} if seen else {})}
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n")


def make(name: str) -> None:
    """Drive an agent, and keep its record; behind a `-` stands what is special about it."""
    agent, _, way = name.partition("-")
    with Session(agent) as session:
        session.launch.env.update(ENV.get(name, {}))
        if way == "price":
            put_prices(agent, session.home)
        if name == "qwen-plan":
            let_plan(session.home)
        watch = Watch(session.home)
        if agent == "cline":
            watch.start()
        session.start(*WORDS.get(name, ()))
        play(session, TURNS[name])
        watch.is_over = True
        keep(name, session.home, session.truths_so_far(), watch.seen)


def main(names: list[str]) -> int:
    """Make the records of all agents, or of those named."""
    for agent in names or list(TURNS):
        make(agent)
        sys.stdout.write(f"{agent}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
