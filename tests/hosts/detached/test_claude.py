"""Real Claude Code in detached sessions: the light within a second of the truth in tmux, within three in GNU Screen.

No hook is installed and no file of Claude's is touched. Nobody is attached.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.hosts.detached.yard import Screen, Tmux, Yard, shows, submit, truth, truths
from tests.patience import until

pytestmark = pytest.mark.agents

DIALOG = "Do you want to proceed"
#: Claude leaves a key alone that comes with the dialog.
SETTLES = 0.6

Start = Callable[[Yard, str], "Tmux | Screen"]


@pytest.fixture(scope="module")
def sessions(claude_yard: Yard) -> dict[str, Tmux | Screen]:
    """A session of each kind, both with Claude at its prompt, and the host that looks after them."""
    found: dict[str, Tmux | Screen] = {
        "tmux": Tmux(claude_yard, "agent", "bash", "--norc", "-i"),
        "screen": Screen(claude_yard, "AUTHX"),
    }
    Screen(claude_yard, "AUT", "sleep", "1000")
    claude_yard.start_host()
    for session in found.values():
        session.send("cd ~/project && claude --permission-mode manual\r")
    for session in found.values():
        shows(session, "manual mode on", 40)
    return found


@pytest.mark.parametrize("kind", ["tmux", "screen"])
def test_course(claude_yard: Yard, sessions: dict[str, Tmux | Screen], kind: str) -> None:
    """Idle, working, done, a permission, a question, an error and a sudden death, each in time, and nothing between."""
    yard, session, model = claude_yard, sessions[kind], claude_yard.model
    assert model is not None
    pane = yard.pane(session.name)
    late: list[str] = []

    def promptly(light: str, at: float) -> float:
        seen = yard.wait(pane.id, light, since=at)
        if (after := yard.late(seen.at, at)) > session.within:
            late.append(f"{light} came {after:.2f} s late\n{yard.history(pane.id, at)}")
        return seen.at

    yard.wait(pane.id, "idle", since=0)

    submit(session, f"HOLD {kind}")
    promptly("working", truth(model, f"HOLD {kind}", "working"))
    model.release(kind)
    promptly("done", truth(model, f"HOLD {kind}", "done"))

    prompt = f"TOOL touch {kind}; sleep 2 THEN HOLD {kind}-2"
    submit(session, prompt)
    asked = shows(session, DIALOG)
    promptly("waiting/permission", asked)
    time.sleep(SETTLES)
    session.send("1")
    promptly("working", made_at(yard, kind))
    model.release(f"{kind}-2")
    promptly("done", truth(model, prompt, "done"))

    prompt = f"ASK THEN HOLD {kind}-4"
    submit(session, prompt)
    asked = shows(session, "Enter to select")
    promptly("waiting/question", asked)
    time.sleep(SETTLES)
    answered = session.send("1")
    yard.wait(pane.id, "working", since=answered)
    model.release(f"{kind}-4")
    promptly("done", truth(model, prompt, "done"))

    prompt = {"tmux": "ERROR 400 8", "screen": "ERROR 400 9"}[kind]  # the model goes by the prompt
    submit(session, prompt)
    shows(session, "API Error: 400")
    # Claude tries a few variants of a request that was refused so.
    promptly("error", max(at for _, at in truths(model, prompt)))

    submit(session, f"HOLD {kind}-3")
    promptly("working", truth(model, f"HOLD {kind}-3", "working"))
    agent = yard.pane(session.name)
    killed = time.monotonic()
    yard.run("kill", "-9", str(agent.agent_pid))
    promptly("down", killed)

    assert agent.agent == "claude"
    assert agent.commands.attach[0] == kind
    assert late == []
    assert yard.log() == ""


def made_at(yard: Yard, name: str) -> float:
    """When a tool made a file, on the monotonic clock."""
    path = yard.home / "project" / name
    until(path.exists)
    return path.stat().st_mtime - time.time() + time.monotonic()
