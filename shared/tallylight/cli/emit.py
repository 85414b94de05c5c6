"""
`tally emit`: send a status to the terminal, as OSC 1338 and as the user variable `tally`.

Both sequences carry the same payload, because each terminal reads another one: kitty and WezTerm hand user variables to
their extensions and drop OSC 1338; terminals made for OSC 1338 do not know the variable. The arguments of
`vibeflow-emit` are accepted unchanged.

An agent's hook runs this at every event. So it takes about the time of an empty Python program: the arguments are read
by hand, and nothing is imported that would load `re`, `enum` or `attrs`. Without a terminal it does nothing and
succeeds.
"""

from __future__ import annotations

import os
import sys

from tallylight.wire import envelope, pairs, tty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from tallylight.cli.parser import Parser

DONE, FAILED, USAGE = 0, 1, 2

#: `model.status` has these as enums, which cost more to import than the rest of the command. A test compares them.
STATUSES = ("active", "working", "waiting", "done", "idle", "error", "background", "clear")
KINDS = ("permission", "question", "input", "auth")

#: The help of each option, in the order of the wire: its key there has the option's name. The first two are OSC 1338's
#: own; the rest extends it.
OPTIONS = {
    "--tool": ("NAME", "the agent: claude, codex …"),
    "--project": ("NAME", "what it works on"),
    "--id": ("PATH", "a separate record under this tab: a subagent"),
    "--kind": ("KIND", f"with waiting: {', '.join(KINDS)}"),
    "--session": ("ID", "the session id"),
    "--title": ("TEXT", "what the session is about"),
    "--cwd": ("DIR", "where it works"),
    "--worktree": ("DIR", "its git worktree"),
    "--mode": ("TEXT", "the mode it is in: plan …"),
    "--message": ("TEXT", "the question or message"),
    "--what": ("TEXT", "with waiting: the subject, `Bash: npm test`"),
    "--detail": ("TEXT", "the current activity"),
    "--progress": ("N/M", "tasks done of all tasks, or a percentage: 40%%"),
    "--background": ("N", "background tasks that still run"),
    "--task": ("TEXT", "a task of its list; may be repeated"),
    "--var": ("NAME=TEXT", "what to show by a name; may be repeated"),
    "--resume": ("COMMAND", "what resumes it, split at spaces"),
    "--fork": ("COMMAND", "what forks it, split at spaces"),
}
#: Options that may be repeated, by their keys on the wire; each value is a line.
REPEATED = {"--task": "tasks", "--var": "vars"}
_METHODS = ("--resume", "--fork")


def make_parser() -> Parser:
    """Return the parser for the help. `parse` reads the arguments: argparse would cost more than all the rest."""
    from tallylight.cli.parser import Parser

    parser = Parser(
        prog="tally emit",
        usage="tally emit STATUS [--tool NAME] [--project NAME] [OPTION …]",
        description="Send a status to this process's terminal, or to its nearest ancestor's; without one, to nowhere. "
        "TALLY_EMIT_STDOUT=1 writes to standard output instead. Over 4096 bytes, titles, messages and details are cut "
        "first, then paths left out.",
        examples={
            "tally emit working --tool mine": "an agent named mine works",
            "tally emit waiting --kind permission --what 'Bash: npm test'": "it asks for a permission",
            "tally emit clear": "withdraw the status",
        },
        codes={0: "sent, or there is no terminal", 1: "the terminal does not take it, or it is too long"},
    )
    parser.add_argument("status", metavar="STATUS", choices=STATUSES, help=f"one of {', '.join(STATUSES)}")
    for option, (metavar, about) in OPTIONS.items():
        action = "append" if option in REPEATED else "store"
        choices = KINDS if option == "--kind" else None
        parser.add_argument(option, metavar=metavar, action=action, choices=choices, help=about)
    return parser


def main(argv: list[str]) -> int:
    """Send one status; the exit codes are those of `vibeflow-emit`."""
    if not argv:
        sys.stderr.write(make_parser().format_help())
        return USAGE
    if "-h" in argv or "--help" in argv:
        sys.stdout.write(make_parser().format_help())
        return DONE
    try:
        fields = parse(argv)
    except ValueError as error:
        sys.stderr.write(f"tally emit: {error}; see `tally emit --help`\n")
        return USAGE
    is_bare = not _to_stdout(os.environ) and tty.is_kitty_or_wezterm(os.environ)
    try:
        payload = pairs.fit(fields)
    except ValueError as error:
        sys.stderr.write(f"tally emit: {error}\n")
        return FAILED
    code = send(sequences(fields, is_variable_enough=is_bare), os.environ)
    if not _to_stdout(os.environ) and tty.multiplexer(os.environ):
        from tallylight.wire import hand

        hand.send_to_host([payload], os.environ)
    return code


def parse(argv: list[str]) -> dict[str, str]:
    """Return the wire keys and values of a command line. Raises `ValueError` with the mistake."""
    status = ""
    fields: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in OPTIONS:
            if not equals:
                following = next(rest, None)
                if following is None:
                    raise ValueError(f"{option} needs a value")
                value = following
            text = _text(value) if option not in _METHODS else "\n".join(_text(value).split())
            key = REPEATED.get(option, option[2:])
            fields[key] = f"{fields[key]}\n{text}" if option in REPEATED and key in fields else text
        elif word.startswith("-"):
            raise ValueError(f"unknown option {_shown(option)}")
        elif status:
            raise ValueError(f"more than one status: {status} and {_shown(word)}")
        elif word in STATUSES:
            status = word
        else:
            raise ValueError(f"{_shown(word)} is not a status")
    if not status:
        raise ValueError("the status is missing")
    _check(status, fields)
    keys = [REPEATED.get(option, option[2:]) for option in OPTIONS]
    return {"state": status} | {key: fields[key] for key in keys if fields.get(key)}


def _check(status: str, fields: dict[str, str]) -> None:
    """Raise `ValueError` for wrong values, and bring *fields* into their wire form."""
    kind = fields.get("kind", "")
    if kind and kind not in KINDS:
        raise ValueError(f"{_shown(kind)} is not a kind")
    if kind and status != "waiting":
        raise ValueError("--kind is only for waiting")
    progress = fields.get("progress", "")
    if progress:
        done, slash, total = progress.partition("/")
        if not slash:
            done, total = progress.removesuffix("%"), "100"
        if not (_is_count(done) and _is_count(total) and int(done) <= int(total) and int(total) > 0):
            raise ValueError(f"{_shown(progress)} is not a progress; write done/all or a percentage")
        fields["progress"] = f"{int(done)}/{int(total)}"
    background = fields.get("background", "")
    if background:
        if not _is_count(background, 4):
            raise ValueError(f"{_shown(background)} is not a number of tasks")
        fields["background"] = str(int(background))
    if "id" in fields and not _is_id(fields["id"]):
        raise ValueError(
            f"{_shown(fields['id'])} is not an id; use up to 8 names of A-Z a-z 0-9 . _ : @ + - with / between"
        )


def _is_count(text: str, digits: int = 6) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits


def _is_id(text: str) -> bool:
    """Return whether a receiver accepts *text*: it drops a report with a malformed id as a whole."""
    names = text.split("/")
    return not text or (
        len(names) <= 8
        and all(0 < len(name) <= 64 and name.isascii() for name in names)
        and all(character.isalnum() or character in "._:@+-/" for character in text)
    )


def _text(argument: str) -> str:
    """Return *argument* without the surrogates that Python makes of bytes that are no UTF-8: they cannot be encoded."""
    return os.fsencode(argument).decode("utf-8", "replace")


def _shown(word: str) -> str:
    return repr(_text(word)[:40])


def _to_stdout(environ: Mapping[str, str]) -> bool:
    return environ.get("TALLY_EMIT_STDOUT", "0") not in ("", "0") or bool(environ.get("VIBEFLOW_EMIT_STDOUT"))


def sequences(fields: Mapping[str, str], *, is_variable_enough: bool = False) -> bytes:
    """
    Return both sequences as bytes. Raises `ValueError` if the payload is too long even without texts and paths.

    Only the user variable where that *is enough*: kitty and WezTerm read it, and log each OSC 1338 as a fault. A record
    with an id goes into the variable only: a terminal without ids would take a subagent's status for the whole tab's.
    OSC 1338 has no word for a withdrawal; `active` is the one that puts a light out.
    """
    payload = pairs.fit(dict(fields))
    variable = envelope.user_var(envelope.CARRIER, payload)
    if "id" in fields or is_variable_enough:
        return variable
    if fields["state"] == "clear":
        payload = b"state=active"
    return envelope.osc(1338, payload) + variable


def send(data: bytes, environ: Mapping[str, str]) -> int:
    """Write *data* to the person's terminal, and return the exit code."""
    data = tty.wrap(data, environ)
    try:
        if _to_stdout(environ):
            while data:
                data = data[os.write(sys.stdout.fileno(), data) :]
            return DONE
        fd = tty.open_terminal(environ)
        if fd is not None:
            tty.write(fd, data)
    except (OSError, tty.TerminalStuckError) as error:
        sys.stderr.write(f"tally emit: {error}\n")
        return FAILED
    return DONE
