"""
`tally attach`: show a pane of a detached session, or a session without a pane, of this machine or of another one.

Another machine is reached by the person's own command in the configuration, which is printed before it runs. Over there
this same verb attaches to the session. A session without a pane is shown by its agent's own command, through plan and
gate.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import termios

from tallylight.actions.client import own_caller
from tallylight.actions.gate import Refusal
from tallylight.actions.permission import Verb, check, refusal_of
from tallylight.actions.seat import seated
from tallylight.cli.output import clean
from tallylight.cli.parser import Parser
from tallylight.config.config_file import load_config
from tallylight.hosts.detached.pane import names_pane
from tallylight.model.errors import TallyError
from tallylight.parts import index
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import LISTED, Row, add_pane, pick, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere, parts
from tallylight.snapshot.requests import Request


def make_parser() -> Parser:
    parser = Parser(
        prog="tally attach",
        description="Show a pane of tmux or GNU Screen, or a session without a pane, in this terminal, from this "
        "machine or another. A pane of kitty or WezTerm is brought to the front.",
        examples={
            "tally attach 'tmux 2'": "a session of this machine",
            "tally attach 'claude a0b8cb89'": "a session of Claude Code in the background",
            "tally attach 'devbox tmux 0'": "a session of devbox in [machines]",
        },
        codes={0: "you left it, or it was brought to the front", 1: "no such pane, or it cannot be reached"},
    )
    add_pane(
        parser,
        help_="from `tally status`: of this machine ('tmux 2') or another (devbox/sessions-7:tmux/1867/%%2)",
    )
    parser.add_argument(
        "--hold", action="store_true", help="after a failure, wait for Enter, so that the tab stays open"
    )
    return parser


def main(argv: list[str]) -> int:
    """Become the program that shows the pane, or with `--hold` wait for its end."""
    options = make_parser().parse_args(argv)
    return _held(options.pane) if options.hold and sys.stdin.isatty() else _show(options.pane)


def _held(pane: str) -> int:
    """Show the pane by a process of its own; if that fails, keep its messages on the screen until Enter."""
    modes = termios.tcgetattr(0)
    if (child := os.fork()) == 0:
        return _show(pane)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        # Keys for the session that is gone are not for this question.
        termios.tcsetattr(0, termios.TCSAFLUSH, modes)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.stderr.write("\ntally attach: it was lost or could not be reached; press Enter to close this\n")
        sys.stdin.readline()
    return 1 if code else 0


def _show(pane: str) -> int:
    """Become the program that shows the pane. Without one, have the host bring the pane to the front, and return 0."""
    panes = read_panes(os.environ)
    found = pick(panes, pane, os.environ)
    command = _command(found)
    if not command:
        requests.send(found.host, Request("focus", found.pane.id), os.environ)
        return 0
    # Any key of this terminal then reaches the pane.
    caller = own_caller(os.environ, seated)
    if (refused := refusal_of(check(panes.level(found.host), caller, Verb.TEXT))) is not None:
        raise TallyError(f"{refused.rule}: {refused.text}")
    sys.stderr.write(f"{clean(shlex.join(command), 500)}\n")
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise TallyError(f"{command[0]}: {error.strerror}") from None


def _command(found: Row) -> list[str]:
    """Return the command that shows *found* here; nothing if its host brings it to the front."""
    if not is_elsewhere(found.host):
        if found.pane.commands.attach[: len(LISTED)] == LISTED:
            planned: tuple[str, ...] | Refusal = index.need("attached", "sessions without a pane")(found.pane)
            if isinstance(planned, Refusal):
                raise TallyError(f"{planned.rule}: {planned.text}")
            return list(planned)
        return list(found.pane.commands.attach) if names_pane(found.pane.commands.attach) else []
    name, host, id_ = parts(found.pane.id)
    machine = load_config()[0].machines.get(name)
    if machine is None:
        raise TallyError(f"[machines] in config.toml has no machine {clean(name, 40)}")
    if not found.pane.commands.attach:
        return []
    commands = index.need("attaching", "other machines")

    is_kitty = "KITTY_PID" in os.environ and shutil.which("kitten") is not None
    words: list[str] = commands.attach(machine.command, machine.attach, f"{host}:{id_}", has_kitten=is_kitty)
    return words
