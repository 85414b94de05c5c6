"""Opening a pane for a conversation: the command that does it, and what of it is printed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tallylight.actions import worktrees
from tallylight.actions.fork_page import Place
from tallylight.actions.gate import Refusal
from tallylight.actions.plan import Plan
from tallylight.actions.worktrees import Base
from tallylight.cli.output import JSON_VERSION, clean

LAUNCH_S = 10.0


def to_json(plan: Plan | Refusal, base: Base | None = None) -> dict[str, object]:
    """The JSON object: what to run and where, or which rule forbids it."""
    if isinstance(plan, Refusal):
        return {"version": JSON_VERSION, "refused": plan.rule, "text": plan.text}
    document: dict[str, object] = {
        "version": JSON_VERSION,
        "argv": list(plan.argv),
        "cwd": plan.cwd,
        "title": plan.title,
        "agent": plan.agent,
        "session": plan.session,
        "method": plan.method.name.lower(),
        "lost": list(plan.lost),
        "notes": [*plan.notes, *(base.notes if base is not None else ())],
        "env": plan.env,
    }
    if base is not None:
        add = worktrees.command(base)
        document["worktree"] = {"path": str(base.path), "branch": base.branch, "changed": base.changed, "argv": add}
    return document


def launch(kitten: str, window: str, plan: Plan, place: Place, *more: str, tab: str = "") -> list[str]:
    """What has kitty start *plan* in a new pane, with the surroundings of the program in *window*, in a tab *tab*."""
    where = {
        Place.TAB: ["--type=tab"],
        Place.OS_WINDOW: ["--type=os-window"],
        Place.VSPLIT: ["--type=window", "--location=vsplit"],
        Place.HSPLIT: ["--type=window", "--location=hsplit"],
    }[place]
    # They come from the program in that pane, and so from no command line that others could read.
    same = ["--copy-env", f"--source-window=id:{window}", *more]
    names = [f"--tab-title={tab or plan.title}"] if place is Place.TAB else []
    names += [f"--title={plan.title}", f"--cwd={plan.cwd}"]
    if plan.pid is None:
        # That program is the shell, whose start-up files have set what the agent had.
        names += [f"--env={name}={value.replace('$', '$$')}" for name, value in plan.env.items()]
    return [kitten, "@", "launch", *where, *same, *names, *plan.argv]


def open_pane(command: list[str], env: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Run a `launch`; the id of kitty's new window, and why there is none."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LAUNCH_S, check=False, env=env)
    if done.returncode:
        return "", clean(done.stderr or done.stdout or "it does not say why")
    return done.stdout.strip(), ""
