"""
Starts agents in tmux for scripts, in windows beside the caller's, and remembers which caller started which pane.

The pane keeps this itself, in a tmux option with the caller and the pane's first process. The option goes with the
pane, and is ignored once another process runs there. tmux reads names and directories as formats, which could run
commands, so their `#` are doubled. The argument list reaches the program word by word. Its environment is that of the
session: tmux takes only PATH from its caller, and the session's own is restored.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from tallylight.actions.answer import Done
from tallylight.actions.caller import Being, being_of
from tallylight.actions.gate import Refusal
from tallylight.actions.start import Runs, StartPlan
from tallylight.evidence.process_table import Table
from tallylight.hosts.detached.pane import argument, tmux_output, tmux_target
from tallylight.model.errors import SessionError
from tallylight.snapshot.schema import Pane
from tallylight.wire.values import is_number

#: The most panes of one caller that may run at a time.
MAX_OWN = 16
_OPTION = "@tallylight_started_by"
#: tmux runs a single word in a shell, and several words unchanged.
_EXEC = ("/bin/sh", "-c", 'PATH=$0; export PATH; exec "$@"')


def search_path(env: Mapping[str, str]) -> str | Refusal:
    """Return the PATH of the session around this process, or of all sessions; empty if tmux has none."""
    socket = env.get("TMUX", "").partition(",")[0]
    if not socket.startswith("/"):
        return Refusal("place", "this runs in no session of tmux; nothing was started")
    for scope in ((), ("-g",)):
        with contextlib.suppress(SessionError):
            answer = tmux_output(socket, env, "show-environment", *scope, "PATH").removesuffix("\n")
            if answer.startswith("PATH="):
                return answer.removeprefix("PATH=")
    return ""


def start(plan: StartPlan, path: str, caller: Being, env: Mapping[str, str], table: Table) -> Done | Refusal:
    """
    Start *plan* in a new window of the session around this process, with *path* as PATH.

    `Done.pane` is an id such as `tmux/4711/%3`.
    """
    socket = env.get("TMUX", "").partition(",")[0]
    try:
        listed = tmux_output(socket, env, "list-panes", "-a", "-F", f"#{{{_OPTION}}}")
        if sum(line.startswith(f"{caller[0]}.{caller[1]}.") for line in listed.splitlines()) >= MAX_OWN:
            return Refusal("too-many", f"{MAX_OWN} panes of one caller run at a time; nothing was started")
        made = tmux_output(
            *(socket, env, "new-window", "-d", "-P", "-F", "#{pid} #{pane_id} #{pane_pid}"),
            *_run_arguments(plan.argv, plan.cwd, path),
        )
        server, id_, pid = (*made.split(), "", "", "")[:3]
        pane = being_of(int(pid), table) if is_number(pid, 19) else None
        if pane is None:
            return Refusal("failed", "it ended as soon as it was started")
        tmux_output(socket, env, "set-option", "-p", "-t", id_, _OPTION, ".".join(map(str, (*caller, *pane))))
        # tmux reads the name in `new-window` as a format only since 3.1; `rename-window` always does.
        with contextlib.suppress(SessionError):
            tmux_output(socket, env, "rename-window", "-t", id_, "--", _literal_format(plan.title))
    except SessionError as error:
        return Refusal("failed", str(error))
    return Done(f"tmux/{server}/{id_}", plan.argv[0])


def beside(pane: Pane, how: Sequence[str], plan: Runs, env: Mapping[str, str]) -> list[str] | None:
    """
    Return the command that opens *plan* beside *pane*, with *how* as `new-window` or `split-window`.

    None if the pane is not in the tmux around this process.
    """
    target = tmux_target(pane.commands.attach)
    is_here = target is not None and target[0] == env.get("TMUX", "").partition(",")[0]
    path = search_path(env) if is_here else None
    if target is None or not isinstance(path, str):
        return None
    given = (word for name, value in plan.env.items() for word in ("-e", f"{name}={argument(value)}"))
    # A new window goes behind another window, and not behind a pane.
    where = target[1] if how[0] == "split-window" else pane.commands.attach[-1].rpartition(".")[0]
    return ["tmux", "-u", "-S", target[0], *how, "-t", where, *given, *_run_arguments(plan.argv, plan.cwd, path)]


def _run_arguments(argv: Sequence[str], cwd: str, path: str) -> list[str]:
    """Return the tmux arguments that run *argv* in *cwd* in a new pane."""
    return ["-c", _literal_format(cwd), "--", *_EXEC, *map(argument, (path, *argv))]


def started_by(pane: Pane, env: Mapping[str, str], table: Table) -> tuple[Being, Being] | None:
    """Return the process that started *pane* and the pane's first process; None unless that one still runs there."""
    target = tmux_target(pane.commands.attach)
    if target is None:
        return None
    socket, id_ = target
    try:
        answer = tmux_output(
            socket, env, "display-message", "-p", "-t", id_, f"#{{pane_id}} #{{pane_pid}} #{{{_OPTION}}}"
        )
    except SessionError:
        return None
    words = answer.split()
    numbers = words[2].split(".") if len(words) == 3 and words[0] == id_ else []
    if len(numbers) != 4 or not all(is_number(word, 19) for word in numbers):
        return None
    caller_pid, caller_start, pid, start_ = map(int, numbers)
    is_same = words[1] == numbers[2] and being_of(pid, table) == (pid, start_)
    return ((caller_pid, caller_start), (pid, start_)) if is_same else None


def _literal_format(text: str) -> str:
    """Return *text* as a tmux format that means exactly *text*."""
    return argument(text.replace("#", "##"))
