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
    from collections.abc import Iterable
    from typing import NoReturn

#: Each verb and what it does, in the order of the help. The module has the verb's name, `_` for `-`.
GROUPS = {
    "See": {
        "agents": "live list of all agents: go there, answer, snooze, show why",
        "status": "list the agents of every tab, most urgent first",
        "why": "explain a pane's light: the source, the rule, what would change it",
        "log": "what the agents did today and this week: work, waiting for you, questions",
        "serve": "serve all agents over HTTP and a WebSocket, with a web page",
    },
    "Act": {
        "jump": "go to the next pane that needs you; after the last, go back",
        "quiet": "stop notifications of a pane, a project or everything, for a time",
        "start": "start an agent in a new pane of kitty or tmux",
        "fork": "fork a pane's conversation into a new pane; the old one is not changed",
        "resume": "resume the conversation of an agent that has ended or crashed",
        "restore": "resume the conversations that were open when a terminal ended",
    },
    "Set up": {
        "setup": "set up kitty and WezTerm; --undo reverts all of it",
        "doctor": "check that everything is set up and that a light arrives",
        "config": "show, edit and check the settings",
        "exact": "how to make a light exact: hooks, your shell, or one command",
    },
    "More": {
        "panel": "the same list, narrow, to stay beside your work",
        "attach": "show a pane of a detached session here, of this machine or another one",
        "away": "what happened since you left: turns, replies, questions, failures",
        "shift": "have an agent go on by itself when its limit has ended",
        "seen": "mark a pane as looked at",
        "unread": "mark a pane as not looked at yet",
        "demo": "show the lights on scripted agents in this terminal",
    },
    "More to set up": {
        "hooks": "install, remove or show the hooks of agents",
        "shell-init": "print shell code that runs the known agents through the relay",
        "run": "run an agent through the relay, which reads its reports",
        "host": "watch the sessions of GNU Screen and tmux, and other machines",
        "publish": "send the state of this machine's agents to the broker of a fleet",
        "completions": "print completions for bash, zsh or fish, or write the manual pages",
        "agent": "describe an unknown agent, and test the description on recordings",
        "record": "run a command and record the session with its evidence",
        "replay": "show the light of a recorded session, and why",
        "wrong": "say what was right where a light was wrong, and have a rule made of it",
        "accuracy": "how well the screens of each version of each agent were read",
    },
    "For scripts": {
        "wait": "wait until an agent needs you or has finished",
        "read": "print what an agent asks, its last reply or its screen",
        "send": "type a text into an agent at its prompt, or answer its question",
        "interrupt": "interrupt an agent that works",
        "worktree": "make a git worktree on a new branch; no program that the repository names runs",
        "skill": "print a skill file that teaches an agent these commands",
        "watch": "print one JSON line per change, for bars and prompts",
        "prompt": "print one short line for a shell's prompt, or nothing",
        "emit": "send a status to this terminal's tab",
        "hook": "report an event of an agent; its hooks call this",
        "bridge": "report this machine's agents to another machine, which calls this",
    },
}
#: The groups that people use every day; `tally help --all` shows the others, too.
DAILY = ("See", "Act", "Set up")
VERBS = {verb: what for verbs in GROUPS.values() for verb, what in verbs.items()}
#: Rooms and modules that an installation may lack, by the verbs that go with them.
ROOMS = {
    "serve": "serve",
    "publish": "remote",
    "bridge": "remote",
    "record": "recordings",
    "replay": "recordings",
    "agent": "recordings",
    "wrong": "recordings",
    "restore": "actions.restore_page",
    "accuracy": "hosts.grades",
    "shift": "shift",
}
#: Other words for a verb; no help lists them.
ALIASES = {"top": "agents", "list": "agents", "ls": "status", "ps": "status", "version": "--version"}
#: What people type, and what they want to type.
WANTED = {
    **dict.fromkeys(("answer", "approve", "allow"), "agents` and there the key `a"),
    **dict.fromkeys(("open", "go", "goto", "focus", "next"), "jump"),
    **dict.fromkeys(("snooze", "mute", "silence", "dnd", "pause"), "quiet"),
    "unmute": "quiet off",
    **dict.fromkeys(("new", "launch", "spawn"), "start"),
    **dict.fromkeys(("stop", "cancel", "kill"), "interrupt"),
    **dict.fromkeys(("uninstall", "remove"), "setup --uninstall"),
    **dict.fromkeys(("update", "upgrade"), "doctor --online"),
    **dict.fromkeys(("install", "init", "enable"), "setup"),
    **dict.fromkeys(("check", "debug", "test"), "doctor"),
    **dict.fromkeys(("history", "today"), "log"),
    **dict.fromkeys(("settings", "configure", "edit"), "config"),
    **dict.fromkeys(("web", "page", "server"), "serve"),
    **dict.fromkeys(("say", "type", "write"), "send"),
    **dict.fromkeys(("explain", "info"), "why"),
}

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
#: Verbs that are to be quick and leave nothing open: they leave without the interpreter's farewell.
_AT_ONCE = (["emit"], ["prompt"], ["shell-init"], ["status"])


def run() -> NoReturn:
    """Run the command of this process and leave."""
    gc.disable()  # until the verb is loaded: nothing of that goes again
    for name in ("stdin", "stdout", "stderr"):  # in this order: each takes the descriptor that is closed
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    may_be_c = {b"C", b"POSIX"} & {posix.environ.get(name) for name in (b"LC_ALL", b"LC_CTYPE", b"LANG")}
    if isinstance(sys.stdout, io.TextIOWrapper) and (sys.stdout.encoding.lower() != "utf-8" or may_be_c):
        from tallylight.model import plain

        sys.stdout.reconfigure(encoding=plain.encoding(sys.stdout.encoding, posix.environ), errors=plain.ERRORS)
    code = main(sys.argv[1:])
    if sys.argv[1:2] in _AT_ONCE:
        posix._exit(code)
    sys.exit(code)


def main(argv: list[str]) -> int:
    """Run one command line, without the program's name, and return its exit code."""
    code = DONE
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
        argv = ["agents" if sys.stdin.isatty() and sys.stdout.isatty() else "status"]
    verb, *rest = argv
    verb = ALIASES.get(verb, verb)
    if verb in ("-h", "--help", "help"):
        if verb == "help" and rest and rest != ["--all"]:
            return _dispatch([rest[0], "--help"])
        sys.stdout.write(usage(GROUPS if rest == ["--all"] else DAILY))
        return DONE
    if verb in ("-V", "--version"):
        from tallylight.files import build

        sys.stdout.write(f"tally {build.name()}\n")
        return DONE
    return _run(verb, rest)


def _run(verb: str, argv: list[str]) -> int:
    if not is_there(verb):
        _complain(f"this installation has no `{verb}`: its part `tallylight.{ROOMS[verb]}` is missing")
        return USAGE
    if verb not in VERBS:
        _complain(f"there is no verb `{_printable(verb)}`; {_meant(verb)}")
        return USAGE
    try:
        module = __import__(f"tallylight.cli.{verb.replace('-', '_')}", fromlist=["main"])
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("tallylight"):
            raise
        raise TallyError(f"the Python module `{error.name}` is missing: run ./install.sh again") from None
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    code: int = module.main(argv)
    return code


def _meant(word: str) -> str:
    """What to type in place of *word*, which is no verb."""
    import difflib

    meant = {**dict(zip(VERBS, VERBS, strict=True)), **ALIASES, **WANTED}
    close = [word] if word in meant else difflib.get_close_matches(word, meant, n=1)
    return f"you want `tally {meant[close[0]]}`" if close else "`tally help --all` lists them all"


def is_there(verb: str) -> bool:
    """Whether this installation has what *verb* goes with, if it goes with anything."""
    try:
        __import__(f"tallylight.{ROOMS[verb]}" if verb in ROOMS else "tallylight")
    except ModuleNotFoundError:
        return False
    return True


def usage(shown: Iterable[str] = DAILY) -> str:
    """Return the help of the whole command with the groups *shown*, as wide as the terminal."""
    from tallylight.cli.parser import CODES, paragraph, two_columns

    groups = {group: [(verb, what) for verb, what in GROUPS[group].items() if is_there(verb)] for group in shown}
    groups["Exit codes"] = [(str(code), what) for code, what in CODES.items()]
    first = max(len(left) for rows in groups.values() for left, _ in rows)
    parts = [f"{group}:\n{two_columns(rows, first=first)}" for group, rows in groups.items()]
    more = "" if len(groups) > len(GROUPS) else "`tally help --all` lists every verb. "
    more += "`tally VERB --help` has the options, examples and exit codes of one. "
    more += "`tally` alone opens the list; in a pipe it prints the status."
    return "\n".join(["usage: tally [VERB] [ARGUMENT …]\n", *parts, paragraph(more)])


def _printable(word: str, most: int = 40) -> str:
    return "".join(c if c.isprintable() else "?" for c in word[:most])


def _complain(message: str) -> None:
    sys.stderr.write(f"tally: {message}\n")
