"""
`tally fork` and `tally resume`: continue a pane's conversation in a new pane, or print the command.

The command is shown first and needs one key. Without a terminal, or outside the kitty or tmux of the pane, it is
printed and nothing is started. With `--here`, or if the terminal can open no pane there, it replaces this program in
this terminal. WezTerm's keys open a split with that, which moves to the chosen `--location`. docs/commands.md describes
the JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Place, command_line, sentence
from tallylight.agents import agent_files
from tallylight.cli.output import JSON_VERSION, Output, clean, complain
from tallylight.cli.parser import Parser
from tallylight.model.errors import TallyError
from tallylight.parts.conversations import fork, in_kitty, worktrees
from tallylight.parts.conversations.fork_page import ForkPage
from tallylight.parts.conversations.plan import Plan, Verb
from tallylight.parts.conversations.worktrees import Base
from tallylight.snapshot.addresses import Row, add_pane, pick, read_panes
from tallylight.ui import colours
from tallylight.ui.confirm import ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    # The hosts of other terminals take three times as long to load as the rest, which is a page that a person waits
    # for: they are imported where they are needed.
    from tallylight.parts.conversations.wezterm_place import Mover

#: Seconds for kitty to open the new pane.
LAUNCH_S = 10.0
_NOT_STARTED = (
    "nothing was started: this terminal is not in the kitty or tmux that has the pane; run the lines above, or use "
    "--here"
)
_DESCRIPTIONS = {
    Verb.FORK: "Fork a pane's conversation: start a copy with its history in a new pane. The old one continues.",
    Verb.RESUME: "Resume a pane's conversation in a new pane, also after its agent has ended or crashed.",
}


def make_parser(verb: Verb = Verb.FORK) -> Parser:
    """Return the parser of `tally fork` and `tally resume`."""
    parser = Parser(
        prog=f"tally {verb}",
        description=_DESCRIPTIONS[verb],
        examples={
            f"tally {verb}": "this pane, else the most urgent",
            f"tally {verb} 3 --location tab": "pane 3, in a new tab",
            f"tally {verb} 3 --dry-run": "only print what would run",
        },
        codes={1: "refused, failed, or you said no"},
    )
    add_pane(parser, nargs="?")
    parser.add_argument("--dry-run", action="store_true", help="print the exact argument list and start nothing")
    parser.add_argument("--json", action="store_true", help="print the same as one JSON object and start nothing")
    parser.add_argument("--here", action="store_true", help="ask, and start it, in this terminal")
    parser.add_argument(
        "--location",
        choices=[str(place) for place in Place],
        metavar="PLACE",
        help=f"where the new pane opens: {', '.join(Place)}; by default {Place.VSPLIT}, or this terminal where neither "
        "kitty nor tmux has the pane",
    )
    if verb is Verb.FORK:
        parser.add_argument("--worktree", action="store_true", help="in a new git worktree, on a new branch")
    parser.add_color()
    return parser


def main(argv: list[str], verb: Verb = Verb.FORK) -> int:
    """Fork, or resume, one pane."""
    try:
        options = make_parser(verb).parse_args(argv)
    except SystemExit as error:
        if in_kitty.CHANNEL in os.environ and error.code:
            input("\nPress Enter to close this.")  # the message would vanish with the window
        raise
    place = Place(options.location or Place.VSPLIT)
    if in_kitty.CHANNEL in os.environ:
        return in_kitty.page(verb, place, wants_worktree=getattr(options, "worktree", False))
    environ = colours.chosen(os.environ, options.color)
    panes = read_panes(os.environ)
    agents, problems = agent_files.load_agents(os.environ)
    complain(verb, *panes.problems, *problems)
    if not panes.panes and options.pane is None:
        raise TallyError(panes.why_none)
    found = pick(panes, options.pane, os.environ)
    here = fork.act(verb, found.pane, agents)
    plan, base = _in_worktree(here) if getattr(options, "worktree", False) else (here, None)
    # Offer exactly the request, or its refusal: never a fork without its worktree.
    offered = plan if isinstance(plan, Refusal) else here
    offer = ForkPage(verb, offered, place, base is not None, base, options.here)
    if options.json:
        sys.stdout.write(json.dumps(to_json(plan, base), indent=2) + "\n")
        return 1 if isinstance(plan, Refusal) else 0
    return _start(options, offer, found, plan, environ)


def _start(
    options: argparse.Namespace, offer: ForkPage, found: Row, plan: Plan | Refusal, environ: Mapping[str, str]
) -> int:
    """Ask and start *offer* for the pane *found*, or print it where no person can be asked."""
    verb = offer.verb
    if options.here:
        from tallylight.parts.conversations.wezterm_place import Mover

        mover = Mover.of(found, os.environ) if options.location else None
        return _ask_here(attrs.evolve(offer, is_here=mover is None), found, environ, mover)
    if isinstance(plan, Refusal):
        raise TallyError(f"not {'forked' if verb is Verb.FORK else 'resumed'}: {clean(plan.text)}")
    command = launch_command(found, plan, offer.place, os.environ)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if command is None and is_terminal and not (options.location or options.dry_run):
        return _ask_here(attrs.evolve(offer, is_here=True), found, environ)
    if options.dry_run or command is None or not is_terminal:
        describe(Output.to(sys.stdout, environ), plan, offer.made)
        if options.dry_run:
            return 0
        complain(verb, _NOT_STARTED)
        return 1
    return _ask(offer, found, environ)


def _in_worktree(plan: Plan | Refusal) -> tuple[Plan | Refusal, Base | None]:
    """Return *plan* in a new worktree, and that worktree; or why there can be none."""
    if isinstance(plan, Refusal):
        return plan, None
    made = fork.worktree_of(plan)
    if isinstance(made, Refusal):
        return made, None
    return attrs.evolve(plan, cwd=made.cwd), made


def to_json(plan: Plan | Refusal, base: Base | None = None) -> dict[str, object]:
    """Return the JSON object: the command and its directory, or the rule that forbids it."""
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


def describe(output: Output, plan: Plan, base: Base | None) -> None:
    """Print the command: a line that can be pasted into a shell, and its directory."""
    if plan.warning:
        output.line(f"# {clean(plan.warning)}")
    for note in (*plan.notes, *(base.notes if base is not None else ())):
        output.line(f"# {clean(note)}")
    if base is not None:
        add = worktrees.command(base)
        output.line(command_line(add))
    output.line(f"cd {command_line([plan.cwd])}")
    output.line(command_line(plan.argv))


def launch_command(found: Row, plan: Plan, place: Place, environ: Mapping[str, str]) -> list[str] | None:
    """
    Return the command that opens the new pane in the tmux or kitty around us; None without one that has this pane.
    """
    from tallylight.hosts.detached import starts

    how = {Place.VSPLIT: ["split-window", "-h"], Place.HSPLIT: ["split-window", "-v"]}
    if (command := starts.beside(found.pane, how.get(place, ["new-window", "-a"]), plan, environ)) is not None:
        return command
    kitten = shutil.which("kitten", path=environ.get("PATH"))
    is_here = found.host == f"kitty-{environ.get('KITTY_PID', '')}"
    if kitten is None or not is_here or not environ.get("KITTY_LISTEN_ON"):
        return None
    return launch(kitten, found.pane.id, plan, place, f"--next-to=id:{found.pane.id}")


def launch(kitten: str, window: str, plan: Plan, place: Place, *more: str, tab: str = "") -> list[str]:
    """
    Return the command with which *kitten* starts *plan* in a new pane, with the environment of the program in *window*.

    *more* are further options of `kitten @ launch`. A new tab is called *tab*, or else like the plan.
    """
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
        # That program is the shell: its start-up files have set the agent's variables.
        names += [f"--env={name}={value.replace('$', '$$')}" for name, value in plan.env.items()]
    return [kitten, "@", "launch", *where, *same, *names, *plan.argv]


def open_pane(command: list[str], env: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Run a `launch`; return the id of kitty's new window, and the error: either may be empty."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LAUNCH_S, check=False, env=env)
    if done.returncode:
        return "", clean(done.stderr or done.stdout or "it does not say why")
    return done.stdout.strip(), ""


def _agreed(offer: ForkPage, found: Row, environ: Mapping[str, str]) -> Plan | None:
    """Show the page; return the plan to start, checked once more, if the person agrees."""
    if not ask(offer, sys.stdin.fileno(), environ, fork.complete):
        return None
    plan = offer.found
    assert isinstance(plan, Plan)
    agents, _ = agent_files.load_agents(os.environ)
    again = fork.act(offer.verb, found.pane, agents)
    if isinstance(again, Refusal) or not again.is_same(plan):
        raise TallyError("nothing was started: what runs in that pane changed in the meantime")
    if offer.wants_worktree and isinstance(offer.worktree, Base):
        made = worktrees.make(offer.worktree)
        if isinstance(made, Refusal):
            raise TallyError(sentence(made.text))
        again = attrs.evolve(again, cwd=made)
    return again


def _ask_here(offer: ForkPage, found: Row, environ: Mapping[str, str], mover: Mover | None = None) -> int:
    """
    Replace this process by the plan of the page, if the person agrees. *mover* moves its pane to the chosen place.

    The terminal may exist for this page only, so an error is a page as well: it would vanish with the terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise TallyError("there is no terminal here to ask on")
    try:
        plan = _agreed(offer, found, environ)
        if plan is None:
            return 1
        if mover is not None:
            mover.move(offer.place)
        os.chdir(plan.cwd)
        os.execvpe(plan.argv[0], list(plan.argv), {**os.environ, **plan.env})  # noqa: S606 - an argument list, no shell
    except TallyError as error:
        fault = str(error).removeprefix("nothing was started: ")
    except OSError as error:
        fault = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    refusal = Refusal("start", f"{fault}; nothing was started")
    ask(attrs.evolve(offer, found=refusal), sys.stdin.fileno(), environ, lambda _: None)
    return 1


def _ask(offer: ForkPage, found: Row, environ: Mapping[str, str]) -> int:
    """Show the page; start its plan in a new pane if the person agrees."""
    again = _agreed(offer, found, environ)
    if again is None:
        return 1
    command = launch_command(found, again, offer.place, os.environ)
    assert command is not None
    _, problem = open_pane(command)
    if problem:
        raise TallyError(f"no pane was opened: {problem}")
    return 0
