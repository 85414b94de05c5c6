"""
Starting agents in tmux, for scripts beside the caller's own window, and who has started which pane there.

The pane itself keeps who started it: an option of tmux with the caller and the pane's first process. It goes with the
pane, and counts for nothing once another process runs in it. Names and directories are formats to tmux, which could run
commands: what could begin one is doubled. The argument list goes to the program word by word. Its environment is that
of the session: tmux takes nothing but the PATH from who asks, and that is put back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from tallylight.actions.answer import Done
from tallylight.actions.caller import Being, being_of
from tallylight.actions.gate import Refusal
from tallylight.actions.start import Runs, Start
from tallylight.evidence.process_table import Table
from tallylight.hosts.detached.pane import argument, order, tmux_target
from tallylight.model.errors import SessionError
from tallylight.snapshot.schema import Pane
from tallylight.wire.values import is_number

#: Panes of one caller that were started for scripts and are there.
MAX_OWN = 16
_OPTION = "@tallylight_started_by"
#: tmux runs one word alone by a shell, and several as they are.
_EXEC = ("/bin/sh", "-c", 'PATH=$0; export PATH; exec "$@"')


def search_path(env: Mapping[str, str]) -> str | Refusal:
    """The PATH of the session around this process, which has one of its own or that of all sessions."""
    socket = env.get("TMUX", "").partition(",")[0]
    if not socket.startswith("/"):
        return Refusal("place", "this runs in no session of tmux; nothing was started")
    for scope in ((), ("-g",)):
        with contextlib.suppress(SessionError):
            answer = order(socket, env, "show-environment", *scope, "PATH").removesuffix("\n")
            if answer.startswith("PATH="):
                return answer.removeprefix("PATH=")
    return ""


def start(plan: Start, path: str, caller: Being, env: Mapping[str, str], table: Table) -> Done | Refusal:
    """
    Start *plan* in a new window of the session around this process, with *path* as PATH.

    `Done.pane` is an id, as `tmux/4711/%3`.
    """
    socket = env.get("TMUX", "").partition(",")[0]
    try:
        listed = order(socket, env, "list-panes", "-a", "-F", f"#{{{_OPTION}}}")
        if sum(line.startswith(f"{caller[0]}.{caller[1]}.") for line in listed.splitlines()) >= MAX_OWN:
            return Refusal("too-many", f"{MAX_OWN} panes of one caller run at a time; nothing was started")
        made = order(
            *(socket, env, "new-window", "-d", "-P", "-F", "#{pid} #{pane_id} #{pane_pid}"),
            *_running(plan.argv, plan.cwd, path),
        )
        server, id_, pid = (*made.split(), "", "", "")[:3]
        pane = being_of(int(pid), table) if is_number(pid, 19) else None
        if pane is None:
            return Refusal("failed", "it ended as soon as it was started")
        order(socket, env, "set-option", "-p", "-t", id_, _OPTION, ".".join(map(str, (*caller, *pane))))
        # The name of a new window is a format only since tmux 3.1, and here it is one in every version.
        with contextlib.suppress(SessionError):
            order(socket, env, "rename-window", "-t", id_, "--", _plain(plan.title))
    except SessionError as error:
        return Refusal("failed", str(error))
    return Done(f"tmux/{server}/{id_}", plan.argv[0])


def beside(pane: Pane, how: Sequence[str], plan: Runs, env: Mapping[str, str]) -> list[str] | None:
    """
    What opens *plan* beside *pane* as *how* says, `new-window` or `split-window`, in the tmux around this process.

    None if the pane is not in that.
    """
    target = tmux_target(pane.attach)
    is_here = target is not None and target[0] == env.get("TMUX", "").partition(",")[0]
    path = search_path(env) if is_here else None
    if target is None or not isinstance(path, str):
        return None
    given = (word for name, value in plan.env.items() for word in ("-e", f"{name}={argument(value)}"))
    # A new window goes behind another window, and not behind a pane.
    where = target[1] if how[0] == "split-window" else pane.attach[-1].rpartition(".")[0]
    return ["tmux", "-u", "-S", target[0], *how, "-t", where, *given, *_running(plan.argv, plan.cwd, path)]


def _running(argv: Sequence[str], cwd: str, path: str) -> list[str]:
    """What has a new pane of tmux run *argv* in *cwd*."""
    return ["-c", _plain(cwd), "--", *_EXEC, *map(argument, (path, *argv))]


def started_by(pane: Pane, env: Mapping[str, str], table: Table) -> tuple[Being, Being] | None:
    """Who started *pane*, and its first process, if that is still the one that was started; None if nobody did."""
    target = tmux_target(pane.attach)
    if target is None:
        return None
    socket, id_ = target
    try:
        answer = order(socket, env, "display-message", "-p", "-t", id_, f"#{{pane_id}} #{{pane_pid}} #{{{_OPTION}}}")
    except SessionError:
        return None
    words = answer.split()
    numbers = words[2].split(".") if len(words) == 3 and words[0] == id_ else []
    if len(numbers) != 4 or not all(is_number(word, 19) for word in numbers):
        return None
    caller_pid, caller_start, pid, start_ = map(int, numbers)
    is_same = words[1] == numbers[2] and being_of(pid, table) == (pid, start_)
    return ((caller_pid, caller_start), (pid, start_)) if is_same else None


def _plain(text: str) -> str:
    """*text* as a format that is nothing but it."""
    return argument(text.replace("#", "##"))
