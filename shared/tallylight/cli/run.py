"""
`tally run`: a command behind the relay, which reads sequences that the terminal would drop and lights the tab by them.

This process becomes the command if there is nothing to relay: standard input or output is no terminal, `TALLY_RELAY=0`
is set, or it runs behind a relay already.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.cli.parser import Parser
    from tallylight.relay.core import RelayCore

USAGE = 2
#: Seconds after which a status is sent again inside WezTerm: its variables are lost when it attaches to a mux again.
HEARTBEAT_S = 8.0


def make_parser() -> Parser:
    """Return the parser for the help; `main` reads the arguments by hand, since those after the command are its own."""
    import argparse

    from tallylight.cli.parser import Parser

    parser = Parser(
        prog="tally run",
        usage="tally run [--passthrough] [--] COMMAND [ARGUMENT …]",
        description="Run COMMAND on a terminal of its own and light the tab by its reports: OSC 1338, 26, 88, 7501 and "
        "similar sequences, which most terminals ignore. All other output passes unchanged. TALLY_RELAY=0 in the "
        "environment runs COMMAND alone.",
        examples={"tally run claude": "one agent", "tally run -- codex --search": "with options of its own"},
        codes={0: "COMMAND succeeded", 1: "", "other": "the exit code of COMMAND"},
    )
    parser.add_argument(
        "--passthrough",
        action="store_true",
        help="also pass the reports to the terminal",
    )
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="the agent, with its arguments")
    return parser


def main(argv: list[str]) -> int:
    """Run one command; return its exit code, or the code of the signal that ended it."""
    passthrough = False
    while argv and argv[0].startswith("-"):
        option, *argv = argv
        if option == "--":
            break
        if option in ("-h", "--help"):
            sys.stdout.write(make_parser().format_help())
            return 0
        if option != "--passthrough":
            sys.stderr.write(f"tally run: unknown option {option!a}; see `tally run --help`\n")
            return USAGE
        passthrough = True
    if not argv:
        sys.stderr.write(make_parser().format_help())
        return USAGE

    from tallylight.relay import pty, shell

    if shell.steps_aside():
        return shell.execute(argv)
    outer = pty.open_outer()
    if outer is None:
        return shell.execute(argv)

    return shell.run(argv, outer, lambda: make_core(argv, passthrough=passthrough), is_lazy=True)


def make_core(command: list[str], *, passthrough: bool = False) -> RelayCore:
    """Return the relay's core for *command* in this terminal, or in the multiplexer of this terminal."""
    import functools

    from tallylight.relay.core import RelayCore
    from tallylight.wire import hand, tty

    environ = dict(os.environ)
    multiplexer = tty.multiplexer(environ)

    def handed(payloads: list[str], has_ended: bool) -> None:
        hand.send_to_host([payload.encode("utf-8", "replace") for payload in payloads], environ, waits=has_ended)

    program = functools.cache(lambda: _ask_for_program(command))
    return RelayCore(
        passthrough=passthrough,
        agent=lambda: program()[0],
        may_arm=lambda: program()[1],
        wrap=(lambda data: tty.wrap(data, environ)) if multiplexer else None,
        screen=multiplexer == "screen",
        heartbeat=HEARTBEAT_S if "WEZTERM_PANE" in environ else None,
        hand=handed,
    )


def _ask_for_program(command: list[str]) -> tuple[str, bool]:
    """
    Return the name of the agent that *command* is, and whether it or what it starts can be resumed, by a child process.

    The tables of all names take a megabyte: they are loaded in the child and go with it.
    """
    import signal

    read_end, write_end = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(read_end)
        os.close(write_end)
        return _program_of(command)
    if not child:
        try:
            signal.set_wakeup_fd(-1)  # the relay's
            name, may_arm = _program_of(command)
            os.write(write_end, f"{may_arm:d}{name}".encode())
        finally:
            os._exit(0)
    os.close(write_end)
    found = os.read(read_end, 4096).decode()
    os.close(read_end)
    os.waitpid(child, 0)
    return found[1:], found.startswith("1")


def _program_of(command: list[str]) -> tuple[str, bool]:
    """Return the name of the agent that *command* is, "" for none, and whether it or what it starts can be resumed."""
    from tallylight.agents import agent_files
    from tallylight.evidence.foreground import identify
    from tallylight.evidence.ordinary import is_shell
    from tallylight.evidence.process import Process

    agents = agent_files.named_agents(os.environ)  # a host reports faults of a user's file
    process = Process(os.getpid(), argv=tuple(command))
    found = identify([process], agents)
    # An editor or ssh cannot be resumed; a shell may start an agent.
    return (found.agent.name if found.agent else ""), bool(found.agent or found.stranger or is_shell(process))
