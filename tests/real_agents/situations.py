"""The scenes of the situations: what goes on around a turn, such as a start that asks, a paste, another size, an end.

A quarter of the recordings is held out. Which is decided by their names, so that nobody chooses: see `is_held_out`.
"""

from __future__ import annotations

import functools
import re
import shlex
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

from tests.real_agents.driver import wait_until
from tests.real_agents.install import AGENTS
from tests.real_agents.scenes import FEW, MANY, Play, Scene, count
from tests.real_agents.session import Session, is_on

_UP, _DOWN, _CTRL_C = "\x1b[A", "\x1b[B", "\x03"
_PLAN = "Exit plan mode|Would you like to proceed"


def quiet(s: Session) -> None:
    """A command that prints nothing for longer than a light should have to guess."""
    # These two ask their model again when a command takes longer than half a minute.
    seconds = 24 if s.agent in ("codex", "copilot", "cline") else 34
    s.turn(f"AFTER 1 TOOL touch made; sleep {seconds} THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(2)
    s.approve(60)
    s.rest(4)
    s.leave()


def queued(s: Session) -> None:
    """A second prompt, sent while the agent answers the first."""
    s.turn("HOLD one")
    s.shows("scripted model answers")
    s.rest(2)
    s.submit("SLOW 4")
    s.rest(3)
    s.model.release("one")
    # Some send it with the first one's answer still open, some after it, and some have to be asked for it.
    wait_until(lambda: count(s, "working") >= 2, 30, "the second turn")
    wait_until(lambda: s.model.marks[-1]["mark"] == "done", 30, "the end of the second turn")
    s.rest(5)
    s.leave()


def paste(s: Session) -> None:
    """Three hundred lines that are pasted, the last of which looks like a question, and sent after some reading."""
    lines = ["AFTER 3 what is in these lines", *(f"{n:03} the lamp of stage {n % 7} is on" for n in range(298))]
    s.since = len(s.model.marks)
    s.pane.send("\x1b[200~" + "\n".join([*lines, "Password:"]) + "\x1b[201~")
    s.rest(5)
    s.keys(("\r",), "working")
    s.mark("done")
    s.rest(5)
    s.leave()


def resize(s: Session) -> None:
    """A terminal that is made narrow in the middle of an answer and of a dialog, as when a window is split."""
    s.turn("HOLD one")
    s.shows("scripted model answers")
    s.rest(2)
    s.resize(60, 20)
    s.rest(3)
    s.resize(100, 30)
    s.rest(2)
    s.model.release("one")
    s.mark("done")
    s.rest(3)
    s.resize(70, 24)
    s.rest(2)
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(3)
    s.resize(100, 30)
    s.rest(3)
    s.resize(64, 30)
    s.rest(3)
    s.approve()
    s.rest(4)
    s.leave()


def typing(s: Session) -> None:
    """Keys beside a dialog that choose nothing: letters, and the selection that goes down and comes back."""
    s.turn("AFTER 2 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(2)
    for key in ("z", "\x7f") if s.agent == "aider" else ("z", "z", _DOWN, _UP):
        s.keys((key,))
        s.rest(1)
    s.rest(2)
    s.approve()
    s.rest(4)
    s.leave()


def shell(s: Session) -> None:
    """A second turn while a command of the first one runs in the background."""
    s.turn("AFTER 1 BACKGROUND touch made; sleep 22; touch over THEN started")
    s.asked("permission")
    s.rest(2)
    s.keys(s.manner.approve, "working")
    s.mark("done")
    s.truth("background")
    s.rest(4)
    s.turn("SLOW 4")
    s.mark("done")
    s.truth("background")
    wait_until((s.home / "project/over").exists, 40, "the end of the command")
    if s.agent in ("claude", "copilot"):  # which take it up by themselves
        since = len(s.model.marks)
        wait_until(lambda: [m for m in s.model.marks[since:] if m["mark"] == "done"], 20, "a turn about its end")
    else:
        s.truth("done")
    s.rest(5)
    s.leave()


def proxy(s: Session) -> None:
    """A subagent that asks for permission."""
    s.turn("AFTER 1 TASK SUB TOOL touch made THEN AFTER 1 fine")
    called = s.mark("sub:waiting:permission", timeout=40)["epoch"]
    s.dialog("waiting:permission", s.manner.permission, called)
    s.rest(5)
    ended = [mark["epoch"] for mark in s.model.marks[s.since :] if mark["mark"] == "done"]
    if ended and ended[0] < called:  # it runs on after its agent's turn
        s.told.append((ended[0] + 0.001, "background"))
    elif ended:  # the turn ended while it asked
        s.passed_over.add(ended[0])
    s.keys(s.manner.approve, "background" if ended else "working")
    s.mark("sub:done", timeout=40)
    if not ended:
        s.mark("done")
    elif s.agent == "claude":
        wait_until(lambda: count(s, "done") >= 2, 20, "a turn about what the subagent found")
    else:
        s.truth("done")
    s.rest(5)
    s.leave()


def replan(s: Session) -> None:
    """A plan that is refused, and another one that is agreed to."""
    s.turn("AFTER 1 PLAN THEN AFTER 1 fine")
    s.asked("permission", pattern=_PLAN)
    s.rest(4)
    s.keys(s.manner.deny, s.manner.denied)
    s.rest(4)
    s.turn("AFTER 1 PLAN THEN AFTER 2 fine")
    s.asked("permission", pattern=_PLAN)
    s.rest(4)
    s.approve()
    s.rest(4)
    s.leave()


def cancel(s: Session) -> None:
    """Ctrl-C at a dialog. Some agents put it away, some ask once more, some end, and some do nothing."""
    s.turn("AFTER 1 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(3)
    press_ctrl_c(s)


def press_ctrl_c(s: Session) -> None:
    """Press it at the dialog that is on the screen, and leave."""
    s.keys((_CTRL_C,))
    pressed = time.time()
    s.rest(4)
    if s.pane.ended is None:
        if is_on(s.pane.text(), s.manner.permission) and s.agent != "aider":  # aider's stays on the screen
            s.keys(s.manner.deny, s.manner.denied)
        else:
            s.told.append((pressed, "idle"))
        s.rest(4)
        s.leave()
    s.ended()


def gone(s: Session) -> None:
    """`kill -9` at a dialog."""
    s.turn("AFTER 1 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(4)
    s.kill()
    s.ended()


def wrapped(s: Session) -> None:
    """An agent that a script starts: `bash -c`, with more to do after it."""
    _two_turns(s)


def npx(s: Session) -> None:
    """An agent that `npx` starts."""
    _two_turns(s)


def _two_turns(s: Session) -> None:
    s.turn("SLOW 3")
    s.mark("done")
    s.rest(4)
    s.turn("AFTER 1 TOOL touch made THEN AFTER 1 fine")
    s.asked("permission")
    s.rest(4)
    s.approve()
    s.rest(4)
    s.leave()


class First(NamedTuple):
    """
    What an agent asks first: what the dialog looks like, and the keys that answer it; the file that its home `lacks`,
    together with every key for a model, or how its home is prepared besides.

    Without keys the agent is killed at it: nobody can log in here.
    """

    pattern: str
    keys: tuple[str, ...] = ()
    lacks: str = ""
    prepare: Callable[[Session], None] | None = None


def _servers(s: Session) -> None:
    servers = {name: {"command": "/bin/true"} for name in ("ledger", "lamps")}
    s.write("project/.mcp.json", {"mcpServers": servers})


def _imports(s: Session) -> None:
    s.write("rules.md", "Short answers.\n")
    s.write("project/CLAUDE.md", "@../rules.md\n")


def _sandbox(s: Session) -> None:
    s.launch = s.launch._replace(argv=["claude", "--dangerously-skip-permissions"])
    s.launch.env["IS_SANDBOX"] = "1"  # else it refuses that to root


def _gitignore(s: Session) -> None:
    conf = s.home / ".aider.conf.yml"
    conf.write_text(conf.read_text().replace('"gitignore": false', '"gitignore": true'))


def _unnamed(s: Session) -> None:
    conf = s.home / ".gemini/settings.json"
    conf.write_text(conf.read_text().replace('"selectedType": "gemini-api-key"', ""))
    s.forget("GEMINI_API_KEY")


def _unconfigured(s: Session) -> None:
    s.launch = s.launch._replace(argv=s.launch.argv[:1])
    s.forget(*(name for name in s.launch.env if name.startswith("KOLEGA")))


def _not_set_up(s: Session) -> None:
    s.forget("MSWEA_CONFIGURED")


def _no_model(s: Session) -> None:
    s.launch = s.launch._replace(argv=["gptme", *s.launch.argv[-2:]])
    s.forget("OPENAI_API_KEY", "OPENAI_BASE_URL")


def _no_name(s: Session) -> None:
    s.launch = s.launch._replace(argv=s.launch.argv[:-2])


def _untrusted(s: Session) -> None:
    conf = s.home / ".codex/config.toml"
    conf.write_text(conf.read_text().partition("[projects.")[0])


#: By agent and by the name of the scene.
FIRST = {
    ("claude", "servers"): First("MCP server", (_DOWN, _DOWN, "\r"), prepare=_servers),
    ("claude", "bypass"): First("Bypass Permissions mode", (_DOWN, "\r"), prepare=_sandbox),
    ("claude", "imports"): First("external", ("\r",), prepare=_imports),
    ("codex", "folder"): First("[Tt]rust", ("\r",), prepare=_untrusted),
    ("codex", "login"): First("Sign in with ChatGPT", lacks=".codex/config.toml"),
    ("gemini", "login"): First("authenticate", prepare=_unnamed),
    ("kimi", "folder"): First("[Tt]rust", ("\r",), lacks=".kimi-code/workspace-trust/wd_project_9dad1e4e08b0"),
    ("cline", "login"): First("[Pp]rovider|[Ss]ign", lacks=".cline/data/settings/providers.json"),
    ("cn", "login"): First("Enter your Anthropic API key:", lacks=".continue/config.yaml", prepare=_unconfigured),
    ("gptme", "login"): First("How would you like to connect", prepare=_no_model),
    ("gptme", "start"): First("New conversation or load", ("\r",), prepare=_no_name),
    ("kolega", "login"): First("Welcome to Kolega Code", prepare=_unconfigured),
    ("tunacode", "login"): First("TunaCode Setup", lacks=".config/tunacode.json"),
    ("mini", "login"): First("Enter your default model", prepare=_not_set_up),
    ("aider", "gitignore"): First("Add .aider", ("n\r",), prepare=_gitignore),
}


def first(s: Session, asked: First) -> None:
    """An agent that asks something before it has a prompt. Its screen is the truth: no model is asked."""
    if asked.prepare is not None:
        asked.prepare(s)
    if asked.lacks:
        (s.home / asked.lacks).unlink()
        s.forget("SCRIPTED_KEY")
    s.begin()
    s.dialog("waiting:auth", asked.pattern, 0.0, 60)
    s.rest(9)
    if not asked.keys:
        s.kill()
        s.ended()
        return
    s.keys(asked.keys, "starting")
    s.shows("bypass permissions on" if "dangerously" in " ".join(s.launch.argv) else s.manner.ready, 60)
    s.rest(1.5)
    s.truth("idle")
    s.rest(5)
    s.leave()


def begin(s: Session, scene: Scene) -> None:
    """Start the agent as its scene wants it; at its prompt, but for what it asks first."""
    if scene.play is wrapped:
        s.start(argv=["bash", "-c", f"{shlex.join(s.launch.argv)}; true"])
    elif scene.play is npx:
        (s.home / "node_modules").symlink_to(AGENTS[s.agent].folder / "node_modules")
        s.start(argv=["npx", "--offline", *s.launch.argv])
    elif scene.play is replan and s.agent == "claude":
        s.start(argv=["claude", "--permission-mode", "plan"], ready="plan mode on")
    elif (scene.agent, scene.name) not in FIRST:
        s.start()


_EVERY = (*MANY, *FEW)
#: Who plays what: those that have it.
_CAST: tuple[tuple[Play, tuple[str, ...]], ...] = (
    (quiet, _EVERY),
    (resize, _EVERY),
    (paste, _EVERY),
    (typing, _EVERY),
    (cancel, _EVERY),
    (gone, _EVERY),
    (queued, tuple(agent for agent in _EVERY if agent != "aider")),
    (wrapped, ("claude", "codex", "gemini", "aider", "opencode", "kimi")),
    (npx, ("gemini", "qwen", "copilot", "pi")),
    (shell, ("claude", "copilot", "qwen", "gemini")),
    (proxy, ("claude", "codex", "copilot", "opencode", "kilo")),
    (replan, ("claude",)),
)


def scenes() -> list[Scene]:
    """Every recording of a situation, the starts first."""
    starts = [Scene(agent, name, functools.partial(first, asked=asked)) for (agent, name), asked in FIRST.items()]
    return starts + [Scene(agent, play.__name__, play) for play, agents in _CAST for agent in agents]


def is_held_out(scene: Scene) -> bool:
    """Whether nobody looks at this one before the rules are frozen: a quarter of them, by their names."""
    return zlib.crc32(re.sub(r"\W", "", scene.file).encode()) % 4 == 0
