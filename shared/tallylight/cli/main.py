"""
The `tally` command: finds the verb, runs it, and decides what an error looks like.

A verb is a module of this package with `main(argv) -> int`, imported only when it is asked for: `tally emit` runs
at every event of an agent and may not pay for the others. For the same reason this module imports nothing that
the interpreter has not already loaded.
"""

from __future__ import annotations

import gc
import io
import posix  # what `os` is made of, which an empty program does not load
import sys

from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

#: Each verb and what it does, by what one wants, in the order of the help. The module has the verb's name, `_` for `-`.
GROUPS = {
    "See": {
        "agents": "live list of all agents: go there, answer, snooze, show why",
        "panel": "the same list, narrow, to stay beside your work",
        "status": "list the agents of every tab, most urgent first",
        "why": "explain a pane's light: the source, the rule, what would change it",
        "log": "what the agents did today and this week: work, waiting for you, questions",
        "serve": "serve all agents over HTTP and a WebSocket, with a web page",
        "publish": "send the state of this machine's agents to the broker of a fleet",
    },
    "Act": {
        "jump": "go to the next pane that needs you; after the last, go back",
        "attach": "show a pane of a detached session here, of this machine or another one",
        "snooze": "snooze a pane's question",
        "seen": "mark a pane as looked at",
        "unread": "mark a pane as not looked at yet",
        "mute": "stop notifications of a tab, a project or everything, for a time",
        "unmute": "notify again of what was muted",
        "fork": "fork a pane's conversation into a new pane; the old one is not changed",
        "resume": "resume the conversation of an agent that has ended or crashed",
        "restore": "resume the conversations that were open when a terminal ended",
        "run": "run an agent through the relay, which reads what this terminal would drop",
    },
    "Set up": {
        "setup": "set up kitty and WezTerm; --undo reverts all of it",
        "doctor": "check that everything is set up and that a light arrives",
        "config": "show, edit and check the settings",
        "completions": "print completions for bash, zsh or fish, or write the manual pages",
        "demo": "show the lights on scripted agents in this terminal",
        "hooks": "install, remove or show the hooks of agents",
        "shell-init": "print shell code that runs the known agents through the relay",
        "host": "watch the sessions of GNU Screen and tmux, and other machines",
        "agent": "describe an agent that is not known, and try the description on recordings",
        "record": "run a command and record the session with its evidence",
        "replay": "show the light of a recorded session, and why",
    },
    "For scripts": {
        "wait": "wait until an agent needs you or has finished",
        "read": "print what an agent asks, its last reply or its screen",
        "send": "type a text into an agent at its prompt, or answer its question",
        "interrupt": "interrupt an agent that works",
        "start": "start an agent in a new pane of kitty or tmux",
        "worktree": "make a git worktree on a new branch; no program that the repository names runs",
        "finish": "finish a git worktree of `start` or `fork`: merge, keep or drop its commits",
        "skill": "print a skill file, from which an agent learns to use these",
        "watch": "print one JSON line per change, for bars and prompts",
        "prompt": "print one short line for a shell's prompt, or nothing",
        "emit": "send a status to this terminal's tab",
        "hook": "report an event of an agent; its hooks call this",
        "bridge": "tell another machine what the agents of this one do; it calls this",
    },
}
VERBS = {verb: what for verbs in GROUPS.values() for verb, what in verbs.items()}
#: Rooms and modules that an installation may lack, by the verbs that go with them.
ROOMS = {
    "serve": "serve",
    "publish": "remote",
    "bridge": "remote",
    "record": "recordings",
    "replay": "recordings",
    "agent": "recordings",
    "restore": "actions.restore_page",
}
#: Other names of verbs.
ALIASES = {"top": "agents"}

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
#: Verbs that are to be quick and leave nothing open: they leave without the interpreter's farewell.
_AT_ONCE = (["emit"], ["prompt"], ["status"])


def run() -> NoReturn:
    """Run the command of this process and leave."""
    gc.disable()  # until the verb is loaded: nothing of that goes again
    for name in ("stdin", "stdout", "stderr"):  # in this order: each takes the descriptor that is closed
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    if sys.stdout.encoding.lower() != "utf-8" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without `✓` shows `?`, rather than a traceback
    code = main(sys.argv[1:])
    if sys.argv[1:2] in _AT_ONCE:
        posix._exit(code)
    sys.exit(code)


def main(argv: list[str]) -> int:
    """Run one command line, without the program's name, and return its exit code."""
    try:
        try:
            code = _dispatch(argv)
        except SystemExit as leave:
            # argparse leaves this way, after its help with 0 and after its complaint with 2.
            code = leave.code if isinstance(leave.code, int) else FAILED
        sys.stdout.flush()
    except TallyError as error:
        _complain(str(error))
        return FAILED
    except ModuleNotFoundError as error:
        if (error.name or "").removeprefix("tallylight.").partition(".")[0] not in ROOMS.values():
            raise
        _complain(f"this installation lacks the part `{error.name}`, which that needs")
        return FAILED
    except BrokenPipeError:
        _drop_output()  # the reader has seen enough
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _drop_output()
        _complain(": ".join(_printable(str(part), 200) for part in (error.filename, error.strerror or error) if part))
        return FAILED
    return code


def _drop_output() -> None:
    """Send what is left in standard output nowhere, or the interpreter would complain once more when it flushes."""
    posix.dup2(posix.open("/dev/null", posix.O_WRONLY), sys.stdout.fileno())


def _dispatch(argv: list[str]) -> int:
    if not argv:
        sys.stderr.write(usage())
        return USAGE
    verb = ALIASES.get(argv[0], argv[0])
    if verb == "help" and argv[1:]:
        return _dispatch([argv[1], "--help"])
    if not is_there(verb):
        _complain(f"this installation has no `{verb}`: its part `tallylight.{ROOMS[verb]}` is missing")
        return USAGE
    if verb in VERBS:
        try:
            module = __import__(f"tallylight.cli.{verb.replace('-', '_')}", fromlist=["main"])
        except ModuleNotFoundError as error:
            if not error.name or error.name.startswith("tallylight"):
                raise
            raise TallyError(f"the Python module `{error.name}` is missing: run ./install.sh again") from None
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        code: int = module.main(argv[1:])
        return code
    if verb in ("-h", "--help", "help"):
        sys.stdout.write(usage())
        return DONE
    if verb in ("-V", "--version"):
        from tallylight.files import build

        sys.stdout.write(f"tally {build.name()}\n")
        return DONE
    import difflib

    close = difflib.get_close_matches(verb, [*VERBS, *ALIASES], n=1)
    hint = f", did you mean `{close[0]}`?" if close else ""
    _complain(f"unknown verb `{_printable(verb)}`{hint}; see `tally --help`")
    return USAGE


def is_there(verb: str) -> bool:
    """Whether this installation has what *verb* goes with, if it goes with anything."""
    try:
        __import__(f"tallylight.{ROOMS[verb]}" if verb in ROOMS else "tallylight")
    except ModuleNotFoundError:
        return False
    return True


def usage() -> str:
    """Return the help of the whole command, as wide as the terminal."""
    from tallylight.cli.parser import CODES, paragraph, two_columns

    other = {verb: f"{verb}, {alias}" for alias, verb in ALIASES.items()}
    groups = {
        group: [(other.get(verb, verb), what) for verb, what in verbs.items() if is_there(verb)]
        for group, verbs in GROUPS.items()
    }
    groups["Exit codes"] = [(str(code), what) for code, what in CODES.items()]
    first = max(len(left) for rows in groups.values() for left, _ in rows)
    parts = [f"{group}:\n{two_columns(rows, first=first)}" for group, rows in groups.items()]
    more = "`tally VERB --help` has the options, examples and exit codes of one verb."
    return "\n".join(["usage: tally VERB [ARGUMENT …]\n", *parts, paragraph(more)])


def _printable(word: str, most: int = 40) -> str:
    return "".join(c if c.isprintable() else "?" for c in word[:most])


def _complain(message: str) -> None:
    sys.stderr.write(f"tally: {message}\n")
