"""`tally interrupt`: stops an agent's turn, by the agent's own key, as a person would."""

from __future__ import annotations

from tallylight.actions.answer import Occupant
from tallylight.actions.gate import Refusal
from tallylight.actions.request import HOLDER
from tallylight.actions.say import Interrupt
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import CODES, print_reply, reached
from tallylight.snapshot.addresses import add_pane


def make_parser() -> Parser:
    parser = Parser(
        prog="tally interrupt",
        description="Interrupt an agent that works, by its own key. By default only in panes that the caller started; "
        "`[scripting] allow` of the configuration allows more.",
        examples={"tally interrupt 3": "stop the turn that runs in pane 3"},
        codes={**CODES, 0: "its key was pressed"},
    )
    add_pane(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(argv: list[str]) -> int:
    """Interrupt it, and return the exit code."""
    options = make_parser().parse_args(argv)
    found, client = reached(options.pane)
    if isinstance(found, Refusal):
        return print_reply("interrupt", None, found, as_json=options.json)
    reply = client.look(found, HOLDER)
    if isinstance(reply, Occupant):
        reply = client.perform(found, Interrupt(found.pane.id, reply.pid, reply.start))
    return print_reply("interrupt", found, reply, as_json=options.json)
