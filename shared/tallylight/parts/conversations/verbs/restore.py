"""
`tally restore`: resume the conversations of a terminal that has crashed, was killed or was closed.

Hosts record open conversations on disk; see `open_conversations`. Each one is planned by the rules of `tally resume`,
shown with its exact command, and planned again before it is started.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Place, command_line
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.cli.output import UNBOUNDED_CELLS, Output, ago, clean, complain
from tallylight.cli.parser import Parser
from tallylight.evidence import process_table
from tallylight.hosts.wezterm import pane_list
from tallylight.hosts.wezterm.typist import gui_of
from tallylight.model.errors import DecodeError, TallyError
from tallylight.model.status import Status
from tallylight.parts.conversations import fork
from tallylight.parts.conversations import session as restore_session
from tallylight.parts.conversations.open_conversations import NEEDS_PERSON, Lost, claim, put_back, read_lost
from tallylight.parts.conversations.page import Offered, RestorePage
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.parts.conversations.verbs.fork import LAUNCH_S, launch, open_pane, to_json
from tallylight.snapshot import writer
from tallylight.snapshot.addresses import own_place
from tallylight.snapshot.lives import birth_of, is_alive
from tallylight.snapshot.schema import Pane
from tallylight.ui import colours
from tallylight.ui.confirm import ask
from tallylight.wire import values

#: Seconds that an agent must run to have resumed its conversation: one that cannot fails and ends, late on a busy
#: machine. Then the seconds that the shell waits for it, and between two looks.
RESUMED_S, WAITED_S, CHECK_RESUMED_S = 30.0, 2.0, 1.0
_ENDED = f": it ended within {RESUMED_S:g} seconds; the conversation stays in the list of `tally restore`"
#: kitty's program or WezTerm's, which opens tabs, and our pane there.
Launcher = tuple[str, str]
_STATES = {
    Status.WAITING: "it was waiting for you",
    Status.WORKING: "it was working",
    Status.ERROR: "it had failed",
    Status.DOWN: "it had vanished during its turn",
    Status.LIMITED: "it had used up its limit",
    Status.QUIET: "it had shown nothing new",
    Status.BACKGROUND: "its background tasks ran",
}


def make_parser() -> Parser:
    parser = Parser(
        prog="tally restore",
        description="Resume the conversations that were open when a terminal crashed, was killed or was closed. "
        "You see each exact command first. In WezTerm, and in kitty with remote control, they open in new tabs; "
        "elsewhere one is resumed in this pane.",
        examples={
            "tally restore": "choose what to resume",
            "tally restore --list": "only list it",
            "tally restore 1 3": "choose among these",
            "tally restore --session ~/work.kitty-session": "have kitty's session file offer it in each window",
        },
        codes={1: "failed, or you said no"},
    )
    parser.add_argument(
        "number",
        nargs="*",
        type=_number,
        metavar="N",
        help="numbers from --list; or a PLACE from --json, to resume it in this pane",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print the list and start nothing")
    what.add_argument("--json", action="store_true", help="print the list as one JSON object and start nothing")
    what.add_argument("--forget", action="store_true", help="remove them from the list")
    what.add_argument("--session", metavar="FILE", help="let the windows of a saved kitty session offer to resume")
    parser.add_argument(
        restore_session.OTHERWISE,
        nargs=argparse.REMAINDER,
        default=[],
        metavar="PROGRAM",
        help="run the rest of the line if nothing is resumed",
    )
    parser.add_argument("--yes", action="store_true", help="with --session, change the file without a question")
    parser.add_argument(
        "--tabs",
        action="store_true",
        help="open tabs also if only this window may control kitty (`launch --allow-remote-control`)",
    )
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Show the resumable conversations, and start those that the person chooses."""
    options = make_parser().parse_args(argv)
    code = _restore(options)
    if options.otherwise:
        sys.stdout.flush()
        os.execvp(options.otherwise[0], options.otherwise)  # noqa: S606 - as the window would have without us
    return code


def _restore(options: argparse.Namespace) -> int:
    """Show or list the conversations, and start the chosen ones; return the exit code."""
    environ = colours.chosen(os.environ, options.color)
    if options.session is not None:
        return restore_session.main(options.session, is_agreed=options.yes)
    agents, problems = agent_files.load_agents(os.environ)
    live, more = writer.read_snapshots(writer.directory(os.environ))
    lost, bad = read_lost(os.environ, live)
    complain("restore", *problems, *more, *bad)
    places = [one.place for one in lost]
    # Those that asked are listed first; the new tabs keep the order of the old tabs.
    lost.sort(key=lambda one: (one.pane.status is not Status.WAITING, one.pane.status not in NEEDS_PERSON))
    chosen = _chosen(options.number, lost)
    if options.forget:
        sys.stdout.write(f"forgotten: {len(claim(chosen.values()))} of {len(lost)}\n")
        return 0
    choices = [_choice(number, one, agents, time.time()) for number, one in chosen.items()]
    _refuse_second(choices)
    if options.json:
        listed = [
            {
                "number": number,
                "host": one.host.name,
                "place": one.place,
                "last_seen": one.host.written,
                "tab": one.tab.name,
                "pane": one.pane.to_json(),
                "resume": to_json(choice.found),
            }
            for choice, (number, one) in zip(choices, chosen.items(), strict=True)
        ]
        sys.stdout.write(json.dumps({"version": 1, "conversations": listed}, indent=2) + "\n")
        return 0
    if not choices:
        sys.stdout.write("no conversation is left to resume\n")
        return 0
    if options.list or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _list(Output.to(sys.stdout, environ), choices)
        return _not_started(options)
    is_placed = any(isinstance(word, str) for word in options.number)
    launcher = None if is_placed else _launcher(os.environ, through_tty=options.tabs)
    started = _offer(choices, chosen, launcher, environ, places)
    return int(started is None or not _follow(*started, chosen, launcher, is_page=options.tabs))


def _follow(
    windows: Mapping[str, Offered],
    are_all: bool,
    lost: Mapping[int, Lost],
    launcher: Launcher | None,
    *,
    is_page: bool,
) -> bool:
    """
    Report each of *windows* that closes soon, and put its conversation back; return whether *are_all*, and all stay.

    A window of our own, *is_page*, stays open meanwhile; else the person's shell continues.
    """
    if windows and is_page:
        sys.stderr.write(f"{len(windows)} opened; this closes once they have run for {RESUMED_S:g} seconds\n")
    left = _watch_windows(windows, lost, launcher, RESUMED_S if is_page else WAITED_S)
    if left and not is_page:
        _in_background(lambda: _watch_windows(left, lost, launcher, RESUMED_S - WAITED_S))
    are_all = are_all and len(left) == len(windows)
    if not are_all and is_page:
        # It closes with this program, and its messages with it.
        sys.stderr.write("press Enter to close this\n")
        sys.stdin.readline()
    return are_all


def _offer(
    choices: list[Offered],
    lost: Mapping[int, Lost],
    launcher: Launcher | None,
    environ: Mapping[str, str],
    places: Sequence[str],
) -> tuple[dict[str, Offered], bool] | None:
    """
    Show the page, and start what the person chooses, in the order of *places*; return None if the person leaves.

    Return kitty's new windows, and whether all were started; failures are printed.
    """
    page = RestorePage(choices, *(("in this pane", 1) if launcher is None else ("in new tabs", len(choices))))
    if launcher is None:
        for choice in page.chosen[1:]:
            choice.is_chosen = False
    if not ask(page, sys.stdin.fileno(), environ, lambda _: None):
        return None
    windows: dict[str, Offered] = {}
    are_all = True
    for choice in sorted(page.chosen, key=lambda choice: places.index(lost[choice.number].place)):
        window, problem = _start(choice, lost[choice.number], launcher)
        if problem:
            are_all = False
            complain("restore", f"{choice.name}: not started{problem}", cells=UNBOUNDED_CELLS)
        elif window.isdecimal():
            windows[window] = choice
    return windows, are_all


def _watch_windows(
    windows: Mapping[str, Offered], lost: Mapping[int, Lost], launcher: Launcher | None, seconds: float
) -> dict[str, Offered]:
    """Report each of *windows* that closes within *seconds*, and put its conversation back; return the others."""
    left, end = dict(windows), time.monotonic() + seconds
    while launcher is not None and left and (now := time.monotonic()) < end:
        time.sleep(min(CHECK_RESUMED_S, end - now))
        for window in left.keys() - _open_windows(launcher, left):
            choice = left.pop(window)
            put_back(lost[choice.number])
            complain("restore", f"{choice.name}{_ENDED}", cells=UNBOUNDED_CELLS)
    return left


def _chosen(words: Sequence[int | str], lost: Sequence[Lost]) -> dict[int, Lost]:
    """Return the conversations of *lost* that are named, each with its number in the list; all if none is."""
    numbered = dict(enumerate(lost, 1))
    numbers = {one.place: number for number, one in numbered.items()}
    wanted = [numbers.get(word, 0) if isinstance(word, str) else word for word in words]
    unknown = [number for number in wanted if number not in numbered]
    # A place in a session file may have been resumed or forgotten since: then nothing is to be done.
    if unknown and not any(isinstance(word, str) for word in words):
        raise TallyError(f"there is no conversation {unknown[0]}; `tally restore --list` numbers them")
    return {number: numbered[number] for number in wanted if number in numbered} if words else numbered


def _number(word: str) -> int | str:
    """Return a number of the list, or the place of a conversation."""
    if ":" in word:
        return word
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError("must be a number of `tally restore --list`, or a place") from None


def _choice(number: int, lost: Lost, agents: Agents, now: float) -> Offered:
    """Return the conversation *lost* with its plan, as number *number* of the list."""
    pane = lost.pane
    plan = _plan(lost, agents)
    if isinstance(plan, Plan) and plan.file is not None and plan.file.changed_at > lost.host.written:
        note = f"{plan.display} has been updated or replaced since then; what runs is the program that is there now."
        plan = attrs.evolve(plan, notes=(*plan.notes, note))
    known = agents.get(pane.conversation.agent)
    name = pane.project or pane.conversation.cwd.rstrip("/").rpartition("/")[2] or pane.title
    where = f"tab “{clean(lost.tab.name, 60)}” of {lost.host.name}" if lost.tab.name else lost.host.name
    about = [f"{_STATES.get(pane.status, f'it was {pane.status}')}; last seen {ago(lost.host.written, now)} in {where}"]
    if pane.question:
        about.append(f"“{clean(pane.question, 160)}”")
    display = known.display if known is not None else pane.conversation.agent
    return Offered(number, f"{clean(display, 40)}  {clean(name, 60)}", about, plan)


def _refuse_second(choices: Sequence[Offered]) -> None:
    """Refuse to continue the latest conversation of one directory twice."""
    latest: dict[tuple[str, str], int] = {}
    for choice in choices:
        plan = choice.found
        if isinstance(plan, Plan) and plan.method is Method.LATEST:
            first = latest.setdefault((plan.agent, plan.cwd), choice.number)
            if first != choice.number:
                text = f"its session id is unknown, and {first} already continues the latest one of this directory"
                choice.found = Refusal("latest", text)


def _plan(lost: Lost, agents: Agents) -> Plan | Refusal:
    """Return the plan to resume *lost*: its process is gone, and only its conversation is trusted."""
    kept = lost.pane
    if not lost.is_over:
        text = f"its agent still runs without its window, as process {kept.agent_pid}; end that, then look again"
        return Refusal("running", text)
    gone = Pane(
        id=kept.id,
        status=Status.DOWN,
        project=kept.project,
        conversation=kept.conversation,
        commands=kept.commands,
    )
    return fork.act(Verb.RESUME, gone, agents)


def _list(output: Output, choices: list[Offered]) -> None:
    """Print each conversation with its command, or with the reason why it cannot be resumed."""
    for choice in choices:
        output.line(output.strong(f"{choice.number}  {choice.name}"))
        if isinstance(choice.found, Plan) and choice.found.warning:
            output.line(f"   {clean(choice.found.warning)}")
        for text in choice.about:
            output.line(f"   {clean(text)}")
        if isinstance(choice.found, Refusal):
            output.line(f"   not possible: {clean(choice.found.text)}")
        else:
            output.line(f"   cd {command_line([choice.found.cwd])} && {command_line(choice.found.argv)}")
            for note in choice.found.notes:
                output.line(f"   {clean(note)}")


def _not_started(options: argparse.Namespace) -> int:
    """Return the exit code after only the list was printed: 1 if something was to be started."""
    if options.list or not options.number:
        return 0
    complain("restore", "nothing was started: there is no terminal to ask on")
    return 1


def _launcher(environ: Mapping[str, str], *, through_tty: bool) -> Launcher | None:
    """Return the program that opens a tab of the terminal around us, and our pane there; None without one."""
    host, pane = own_place(environ)
    if (gui := gui_of(host, process_table.table())) is not None and pane.isdigit():
        return gui[1], pane
    kitten = shutil.which("kitten", path=environ.get("PATH"))
    window = environ.get("KITTY_WINDOW_ID", "")
    if kitten is None or not window.isdigit() or not (environ.get("KITTY_LISTEN_ON") or through_tty):
        return None
    return kitten, window


def _is_of_kitty(launcher: Launcher) -> bool:
    return Path(launcher[0]).name == "kitten"


def _open_windows(launcher: Launcher, windows: Iterable[str]) -> set[str]:
    """Return those of *windows* that the terminal still has; all of them if it does not answer."""
    is_kitty = _is_of_kitty(launcher)
    of_kitty = ["@", "ls", "--match=" + " or ".join(f"id:{window}" for window in windows)]
    command = [launcher[0], *(of_kitty if is_kitty else [*pane_list.CLI, "list", "--format", "json"])]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LAUNCH_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return set(windows)
    if done.returncode and b"No matching" in done.stderr:
        return set()
    found = listed_windows(done.stdout) if is_kitty else {row.id for row in pane_list.read_list(done.stdout) or ()}
    return set(windows) if done.returncode else found


def listed_windows(document: bytes) -> set[str]:
    """Return the ids of the windows that kitty lists in *document*; malformed parts are ignored."""
    try:
        found = [values.load(document)]
    except DecodeError:
        return set()
    for inner in ("tabs", "windows", "id"):
        outer = (one for some in found if isinstance(some, list) for one in some if isinstance(one, dict))
        found = [one.get(inner) for one in outer]
    return {str(id_) for id_ in found if isinstance(id_, int)}


def _opening(launcher: Launcher, plan: Plan, tab: str) -> list[str]:
    """Return the command that runs *plan* in a new tab *tab* with our environment; WezTerm's tabs name themselves."""
    if _is_of_kitty(launcher):
        return launch(*launcher, plan, Place.TAB, tab=tab)
    where = ["--pane-id", launcher[1], "--domain-name", "local", "--cwd", plan.cwd]
    return [launcher[0], *pane_list.CLI, "spawn", *where, "--", *plan.argv]


def _watch(choice: Offered, lost: Lost) -> int:
    """
    Put *lost* back if the program that replaces this process ends soon; return a descriptor to report failure.

    It closes when this process becomes the agent; a byte on it means that it did not.
    """
    pid, birth = os.getpid(), birth_of(os.getpid())
    read_end, write_end = os.pipe()

    def watch() -> None:
        os.close(write_end)
        end = time.monotonic() + RESUMED_S
        if os.read(read_end, 1):
            return
        while is_alive(pid, birth) and time.monotonic() < end:
            time.sleep(0.1)
        if not is_alive(pid, birth):
            put_back(lost)
            complain("restore", f"{choice.name}{_ENDED}", cells=UNBOUNDED_CELLS)

    _in_background(watch)
    os.close(read_end)
    return write_end


def _in_background(job: Callable[[], object]) -> None:
    """Run *job* in an orphan outside this process's group, so that an agent is alone there."""
    if (child := os.fork()) != 0:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            job()
    finally:
        os._exit(0)


def _start(choice: Offered, lost: Lost, launcher: Launcher | None) -> tuple[str, str]:
    """
    Resume *lost*, if that is still what was agreed to: with *launcher*, or in this terminal, which does not return.
    Return kitty's new window and the problem: either may be empty.
    """
    plan = choice.plan
    assert plan is not None
    agents, _ = agent_files.load_agents(os.environ)
    again = _plan(lost, agents)
    if isinstance(again, Refusal) or not again.is_same(plan):
        return "", ", because what would run has changed"
    if not lost.is_over or not claim([lost]):
        return "", ", because it was resumed elsewhere in the meantime"
    window, env = "", {**os.environ, **plan.env}
    try:
        if launcher is None:
            os.chdir(plan.cwd)
            sys.stdout.flush()
            watcher = _watch(choice, lost)
            try:
                os.execve(plan.argv[0], plan.argv, env)  # noqa: S606 - no shell is meant to come between
            finally:
                os.write(watcher, b"x")
        window, problem = open_pane(_opening(launcher, plan, clean(lost.tab.name, 60)), env)
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        put_back(lost)
        problem = f": {problem}"
    return window, problem
