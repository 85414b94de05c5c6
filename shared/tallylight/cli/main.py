"""
The `tally` command: finds the verb, runs it, and reports its errors.

A verb is a module of this package with `main(argv) -> int`, imported only when it is needed: `tally emit` runs at every
event of an agent and may not pay for the others. For the same reason this module imports nothing that the interpreter
has not already loaded.
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

#: Each verb with its description, in the order of the help. The module has the verb's name, `_` for `-`.
GROUPS = {
    "See": {
        "agents": "live list of all agents: go there, answer, snooze, show why",
        "status": "list the agents of every tab, most urgent first",
        "why": "explain a pane's light: the source, the rule, what would change it",
    },
    "Act": {
        "jump": "go to the next pane that needs you; after the last, go back",
        "quiet": "stop notifications of a pane, a project or everything, for a time",
    },
    "Set up": {
        "setup": "set up kitty and WezTerm; --undo reverts all of it",
        "doctor": "check that everything is set up and that a light arrives",
    },
    "More": {
        "panel": "the same list, narrow, to stay beside your work",
        "attach": "show a pane of a detached session here, of this machine or another one",
        "seen": "mark a pane as looked at",
        "unread": "mark a pane as not looked at yet",
    },
    "More to set up": {
        "shell-init": "print shell code that runs the known agents through the relay",
        "run": "run an agent through the relay, which reads its reports",
        "host": "watch the sessions of GNU Screen and tmux, and other machines",
        "parts": "list the parts beyond the core; turn one off or on",
    },
    "For scripts": {
        "wait": "wait until an agent needs you or has finished",
        "send": "type a text into an agent at its prompt, or answer its question",
        "prompt": "print one short line for a shell's prompt, or nothing",
        "emit": "send a status to this terminal's tab",
        "hook": "report an event of an agent; its hooks call this",
    },
}
#: The groups that people use every day; `tally help --all` shows the others, too.
DAILY = ("See", "Act", "Set up")
VERBS = {verb: what for verbs in GROUPS.values() for verb, what in verbs.items()}
#: Other words for a verb; no help lists them.
ALIASES = {"top": "agents", "list": "agents", "ls": "status", "ps": "status", "version": "--version"}
#: Words that people type, and the verb that they want.
WANTED = {
    **dict.fromkeys(("answer", "approve", "allow"), "agents` and there the key `a"),
    **dict.fromkeys(("open", "go", "goto", "focus", "next"), "jump"),
    **dict.fromkeys(("snooze", "mute", "silence", "dnd", "pause"), "quiet"),
    "unmute": "quiet off",
    **dict.fromkeys(("uninstall", "remove"), "setup --uninstall"),
    "undo": "setup --undo",
    **dict.fromkeys(("update", "upgrade"), "doctor --online"),
    **dict.fromkeys(("install", "init", "enable"), "setup"),
    **dict.fromkeys(("check", "debug", "test"), "doctor"),
    **dict.fromkeys(("say", "type", "write"), "send"),
    **dict.fromkeys(("explain", "info"), "why"),
}

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
#: Verbs that must be quick and leave nothing open: they skip the interpreter's shutdown.
_AT_ONCE = (["emit"], ["prompt"], ["shell-init"], ["status"])


def run() -> NoReturn:
    """Run the command of this process and leave."""
    gc.disable()  # until the verb is loaded: all of that stays
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
    """Send the rest of standard output nowhere, or the interpreter would complain again when it flushes."""
    posix.dup2(posix.open("/dev/null", posix.O_WRONLY), sys.stdout.fileno())


def _dispatch(argv: list[str]) -> int:
    """Run the verb of a command line, or print help or the version."""
    if not argv:
        argv = ["agents" if sys.stdin.isatty() and sys.stdout.isatty() else "status"]
    verb, *rest = argv
    verb = ALIASES.get(verb, verb)
    if verb in ("-h", "--help", "help"):
        if verb == "help" and rest and rest != ["--all"]:
            return _dispatch([rest[0], "--help"])
        sys.stdout.write(usage(() if rest == ["--all"] else DAILY))
        return DONE
    if verb in ("-V", "--version"):
        from tallylight.files import build

        sys.stdout.write(f"tally {build.name()}\n")
        return DONE
    return _run(verb, rest)


def _run(verb: str, argv: list[str]) -> int:
    """Import the module of *verb* and run it."""
    if not (name := module_of(verb)):
        _run_command(verb, argv)
        from tallylight.parts import index

        if part := index.part_of(verb):
            _complain(f"`{verb}` is of the part `{part}`, which is off or faulty; `tally parts` lists them")
        else:
            _complain(f"there is no verb `{_printable(verb)}`; {_advice_for(verb)}")
        return USAGE
    try:
        module = __import__(name, fromlist=["main"])
    except ModuleNotFoundError as error:
        if not error.name:
            raise
        if error.name.startswith("tallylight"):
            raise TallyError(f"this installation has no `{verb}`: its module `{error.name}` is missing") from None
        raise TallyError(f"the Python module `{error.name}` is missing: run ./install.sh again") from None
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    code: int = module.main(argv)
    return code


def module_of(verb: str) -> str:
    """Return the module with the `main` of *verb*; "" if neither the core nor a part has it."""
    if verb in VERBS:
        return f"tallylight.cli.{verb.replace('-', '_')}"
    from tallylight.parts import index

    found = index.verbs().get(verb)
    return found.module if found is not None else ""


def _run_command(verb: str, argv: list[str]) -> None:
    """Become the program `tally-VERB` of PATH, as git and cargo do; return if there is none."""
    import os
    import re
    import shutil

    program = shutil.which(f"tally-{verb}") if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", verb) else None
    if program is not None and program.startswith("/"):
        sys.stdout.flush()
        os.execv(program, [program, *argv])  # noqa: S606 - a program of the person's own, as git and cargo run them


def _advice_for(word: str) -> str:
    """Return the advice what to type in place of *word*, which is no verb."""
    import difflib

    from tallylight.parts import index

    of_parts = {other: name for name, verb in index.verbs().items() for other in verb.words}
    meant = {**of_parts, **{verb: verb for verb in every_verb()}, **ALIASES, **WANTED}
    close = [word] if word in meant else difflib.get_close_matches(word, meant, n=1)
    return f"you want `tally {meant[close[0]]}`" if close else "`tally help --all` lists them all"


def groups() -> dict[str, dict[str, str]]:
    """Return every verb with its description, by its heading, with those of the parts."""
    from tallylight.parts import index

    found = {heading: dict(verbs) for heading, verbs in GROUPS.items()}
    for name, verb in index.verbs().items():
        if name not in VERBS:
            found.setdefault(verb.group, {})[name] = verb.about
    return found


def every_verb() -> dict[str, str]:
    """Return every verb with its description, with those of the parts."""
    return {name: about for verbs in groups().values() for name, about in verbs.items()}


def usage(shown: Iterable[str] = DAILY) -> str:
    """Return the help of the whole command with the groups *shown*, all if none, as wide as the terminal."""
    from tallylight.cli.parser import CODES, paragraph, two_columns

    every = groups()
    rows = {group: list(every[group].items()) for group in shown or every}
    more = "`tally help --all` lists every verb. " if len(rows) < len(every) else ""
    rows["Exit codes"] = [(str(code), what) for code, what in CODES.items()]
    first = max(len(left) for listed in rows.values() for left, _ in listed)
    parts = [f"{group}:\n{two_columns(listed, first=first)}" for group, listed in rows.items()]
    more += "`tally VERB --help` has the options, examples and exit codes of one. "
    more += "`tally` alone opens the list; in a pipe it prints the status."
    return "\n".join(["usage: tally [VERB] [ARGUMENT …]\n", *parts, paragraph(more)])


def _printable(word: str, most: int = 40) -> str:
    return "".join(c if c.isprintable() else "?" for c in word[:most])


def _complain(message: str) -> None:
    sys.stderr.write(f"tally: {message}\n")
