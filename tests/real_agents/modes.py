"""Recordings of agents in their modes and appearances: as each starts by itself, and with what changes how it looks.

Every one plays the same: a streamed answer, a command that its mode asks about or not, and an answer that is stopped.
`start` is the agent with a fresh home and no options; `old` is a release of a year ago. They are the newest versions
(`TALLYLIGHT_AGENTS=latest`, see `make_corpus`), recorded on a busy machine.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from tests.real_agents.driver import wait_until
from tests.real_agents.install import AGENTS
from tests.real_agents.room import HOME
from tests.real_agents.scenes import Scene
from tests.real_agents.session import Session, is_on

#: What Claude's auto mode asks about, since the model has no safety check.
_RISKY = "TOOL curl -s http://127.0.0.1:9/x | sh"
_ESC = "\x1b"


@attrs.frozen
class Mode:
    """
    A mode or an appearance: the *words* behind the agent's name, *files* of its home with what is set in them, its
    environment, and its size. A file of JSON is added to, and any other gets the text at its end.

    *drops* are patterns of lines that are taken out of its files first: what `prepare` sets, and a person does not.
    *ready* is its prompt and *permission* its dialog, if they look different; *approve* and *interrupt* are its keys;
    *argv* is the agent, if its options go as well, and *call* what the model wants to run. *is_typed*: it loses what
    comes faster than a person types.
    """

    words: tuple[str, ...] = ()
    files: Mapping[str, Any] = attrs.field(factory=dict)
    env: Mapping[str, str] = attrs.field(factory=dict)
    size: tuple[int, int] = (100, 46)  # so high that nothing scrolls: the other terminal emulator cannot do that
    drops: str = ""
    ready: str = ""
    argv: tuple[str, ...] = ()
    interrupt: tuple[str, ...] = ()
    approve: tuple[str, ...] = ()
    permission: str = ""
    is_typed: bool = False
    call: str = "TOOL touch made; sleep 3"


def _claude(*words: str, **settings: object) -> Mode:
    return Mode(words, {".claude/settings.json": settings} if settings else {}, argv=("claude",), ready=_CLAUDE)


def _manual(**settings: object) -> Mode:
    return _claude("--permission-mode", "manual", **settings)


def _codex(tui: str = "", *words: str, drops: str = "^(approval_policy|sandbox_mode)") -> Mode:
    return Mode(words, {".codex/config.toml": f"\n[tui]\n{tui}\n"} if tui else {}, drops=drops)


def _ui(agent: str, *words: str, **settings: object) -> Mode:
    return Mode(words, {f".{agent}/settings.json": {"ui": settings}} if settings else {})


_NARROW = 45, 66
#: How the Codex of a year ago runs a command outside of its sandbox.
_OLD_SHELL = 'CALL shell {"command": ["bash", "-lc", "touch made; sleep 3"], "with_escalated_permissions": true}'
_CLAUDE = r"^[❯>]"
MODES: dict[str, dict[str, Mode]] = {
    "claude": {
        "start": _claude(),
        "narrow": attrs.evolve(_claude(), size=_NARROW),
        "manual": _manual(),
        "plan": _claude("--permission-mode", "plan"),
        "edits": _claude("--permission-mode", "acceptEdits"),
        "full": attrs.evolve(
            _claude("--dangerously-skip-permissions", skipDangerousModePermissionPrompt=True), env={"IS_SANDBOX": "1"}
        ),
        "still": _manual(prefersReducedMotion=True, spinnerTipsEnabled=False),
        "light": _manual(theme="light"),
        "classic": _manual(tui="default"),
        "focus": _manual(viewMode="focus"),
        "reader": attrs.evolve(_manual(axScreenReader=True), ready="", approve=("1", "\r")),
        "untitled": attrs.evolve(_manual(), env={"CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1"}),
        "status": _manual(statusLine={"type": "command", "command": "echo project on main, 12 %"}),
        "old": Mode(
            files={".claude.json": {"projects": {str(HOME / "project"): {"allowedTools": []}}}},
            argv=("claude",),
            ready="for shortcuts",
        ),
    },
    "codex": {
        "start": _codex(),
        "narrow": attrs.evolve(_codex(), size=_NARROW),
        "asking": _codex("", drops=""),
        "never": _codex("", "-a", "never"),
        "full": _codex("", "--dangerously-bypass-approvals-and-sandbox"),
        "still": _codex("animations = false", drops=""),
        "untitled": _codex("terminal_title = []\nanimations = false", drops=""),
        "inline": _codex("", "--no-alt-screen", drops=""),
        "status": _codex('status_line = ["model-with-reasoning", "current-dir", "context-remaining"]', drops=""),
        "light": _codex('theme = "github"', drops=""),
        "raw": _codex("raw_output_mode = true\ncollapse_turn_details = true\nshow_tooltips = false", drops=""),
        "old": Mode(ready="⏎ send", permission=r"Allow command\?", is_typed=True, call=_OLD_SHELL),
    },
    "opencode": {
        "start": Mode(files={".config/opencode/opencode.json": {"permission": {"bash": "allow", "edit": "allow"}}}),
        "narrow": Mode(size=_NARROW),
        "plan": Mode(("--agent", "plan")),
        "auto": Mode(("--auto",)),
        "still": Mode(files={".local/state/opencode/kv.json": {"animations_enabled": False}}),
        "light": Mode(files={".local/state/opencode/kv.json": {"theme_mode": "light", "theme": "github"}}),
        "mini": Mode(("--mini",)),
    },
    "gemini": {
        "start": Mode(),
        "narrow": Mode(size=_NARROW),
        "plan": Mode(("--approval-mode", "plan")),
        "edits": Mode(("--approval-mode", "auto_edit")),
        "full": Mode(("--approval-mode", "yolo")),
        "reader": Mode(("--screen-reader",)),
        "still": _ui("gemini", showSpinner=False, loadingPhrases="off"),
        "light": _ui("gemini", theme="Google Code"),
        "untitled": _ui("gemini", hideWindowTitle=True),
        "fixed": _ui("gemini", dynamicWindowTitle=False),
        "bare": _ui("gemini", hideBanner=True, hideTips=True, hideFooter=True, hideContextSummary=True),
        "buffer": _ui("gemini", useAlternateBuffer=True),
    },
    "qwen": {
        "start": Mode(files={".qwen/settings.json": {"tools": {"approvalMode": None}}}),
        "narrow": Mode(size=_NARROW),
        "plan": Mode(("--approval-mode", "plan")),
        "edits": Mode(("--approval-mode", "auto-edit")),
        "full": Mode(("--approval-mode", "yolo")),
        "reader": Mode(("--screen-reader",)),
        "still": _ui("qwen", accessibility={"enableLoadingPhrases": False}),
        "light": _ui("qwen", theme="Qwen Light"),
        "untitled": _ui("qwen", hideWindowTitle=True),
        "compact": _ui("qwen", compactMode=True, hideTips=True, hideBanner=True),
        "buffer": _ui("qwen", useTerminalBuffer=True),
    },
    "copilot": {
        "start": Mode(),
        "narrow": Mode(size=_NARROW),
        "plan": Mode(("--mode", "plan")),
        "autopilot": Mode(("--mode", "autopilot")),
        "full": Mode(("--allow-all",)),
        "reader": Mode(("--screen-reader",)),
        "plain": Mode(("--no-color", "--plain-diff")),
        "light": Mode(files={".copilot/config.json": {"theme": "light"}}),
    },
    "kimi": {
        "start": Mode(),
        "narrow": Mode(size=_NARROW),
        "plan": Mode(("--plan",)),
        "needed": Mode(("--yolo",)),
        "auto": Mode(("--auto",)),
        "light": Mode(files={".kimi-code/tui.toml": 'theme = "light"\n'}),
    },
    "pi": {
        "start": Mode(),
        "narrow": Mode(size=_NARROW),
        "regular": Mode(("--tui-mode", "regular")),
        "quiet": Mode(files={".pi/agent/settings.json": {"quietStartup": True, "hideThinkingBlock": True}}),
        "light": Mode(files={".pi/agent/settings.json": {"theme": "light"}}),
        "progress": Mode(files={".pi/agent/settings.json": {"terminal": {"showTerminalProgress": True}}}),
    },
}
#: Releases of a year ago, and how they came.
OLD = {
    "claude": AGENTS["claude"]._replace(
        version="1.0.90",
        package="@anthropic-ai/claude-code@{version}",
        program="node_modules/.bin/claude",
        how="npm",
    ),
    "codex": AGENTS["codex"]._replace(
        version="0.25.0", package="@openai/codex@{version}", program="node_modules/.bin/codex", how="npm"
    ),
}


@contextlib.contextmanager
def versions(scene: Scene) -> Iterator[None]:
    """Have the release of a year ago, for a scene that wants it."""
    before = AGENTS[scene.agent]
    if scene.name.endswith("old"):
        AGENTS[scene.agent] = OLD[scene.agent]
    try:
        yield
    finally:
        AGENTS[scene.agent] = before


def play(s: Session, mode: Mode) -> None:
    """Start the agent in a *mode*; an answer, a command, an answer that is stopped."""
    _set_up(s, mode)
    s.start(*mode.words, ready=mode.ready or None)
    s.rest(2)
    if mode.is_typed:
        s.pane.send = functools.partial(_typed, s.pane.send)  # type: ignore[method-assign]
    s.turn("AFTER 2 SLOW 3")
    s.mark("done", timeout=60)
    s.rest(4)
    s.turn(f"AFTER 2 {_RISKY if s.agent == 'claude' else mode.call} THEN SLOW 2")
    _command(s, mode)
    s.rest(4)
    s.turn("HOLD one")
    s.mark("working", timeout=30)
    s.rest(4)
    s.keys(mode.interrupt or s.manner.interrupt, "idle" if mode.is_typed else "")
    if not mode.is_typed:  # such an old one keeps its connection
        s.mark("interrupted", timeout=15)
    s.rest(4)
    s.leave()


def _typed(send: Callable[[str], float], text: str) -> float:
    """Type *text* a key at a time, with the pauses of a person; the time of the last one."""
    for key in text:
        time.sleep(0.05)
        at = send(key)
    return at


def _command(s: Session, mode: Mode) -> None:
    """Answer what is asked about the command, until the turn is over."""
    since = s.told[-1][0]
    while (asked := wait_until(lambda: _next(s, mode), 60, "the end of the turn, or a dialog")) != "done":
        truth, pattern, keys = asked
        s.dialog(truth, pattern, since)
        s.rest(4)
        since = time.time()
        s.keys(keys, "working")
        wait_until(functools.partial(_is_gone, s, pattern), 30, "the dialog to go")


def _is_gone(s: Session, pattern: str) -> bool:
    return not is_on(s.pane.text(), pattern)


def _next(s: Session, mode: Mode) -> Any:
    if any(mark["mark"] in ("done", "error") for mark in s.model.marks[s.since :]):
        return "done"
    text = s.pane.text()
    for truth, pattern, keys in (
        ("waiting:question", "Enter to stay in auto mode", ("\r",)),
        ("waiting:permission", r"❯ No\b", ("\x1b[B\r",)),
        ("waiting:permission", mode.permission or s.manner.permission, mode.approve or s.manner.approve),
    ):
        if is_on(text, pattern):
            return truth, pattern, keys
    return None


def _set_up(s: Session, mode: Mode) -> None:
    for name in s.home.glob(".codex/config.toml") if mode.drops else ():
        name.write_text(re.sub(f"{mode.drops}.*\n", "", name.read_text(), flags=re.M))
    for name, value in mode.files.items():
        path = s.home / name
        before = path.read_text() if path.exists() else ""
        s.write(name, before + value if isinstance(value, str) else _merged(json.loads(before or "{}"), value))
    s.launch = s.launch._replace(argv=list(mode.argv or s.launch.argv), env={**s.launch.env, **mode.env})


def _merged(one: Any, other: Any) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other
    found = {**one, **{key: _merged(one.get(key), value) for key, value in other.items()}}
    return {key: value for key, value in found.items() if value is not None}


def scenes() -> list[Scene]:
    """Every recording."""
    return [
        Scene(agent, f"mode-{name}", functools.partial(play, mode=mode), size=mode.size)
        for agent, modes in MODES.items()
        for name, mode in modes.items()
    ]
