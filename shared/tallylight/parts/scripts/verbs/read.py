"""
`tally read`: prints an agent's question, last reply or screen, for scripts and for other agents.

It asks the agent nothing and types nothing. Each question has an id of its own.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tallylight.actions.answer import Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import QUESTION, SCREEN, SILENT, Reply, Rows, id_of
from tallylight.cli.exit_codes import GONE, NOTHING, REFUSED
from tallylight.cli.output import JSON_VERSION, Output, refused
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import reached
from tallylight.model.limits import MAX_DIALOG_ROW_CELLS
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Row, add_pane
from tallylight.wire.text import sanitise


def make_parser() -> Parser:
    parser = Parser(
        prog="tally read",
        description="Print an agent's question, last reply or screen. It types nothing.",
        examples={
            "tally read 3": "what it asks, or else its last reply",
            "tally read 3 --screen": "its screen",
            "tally read 3 --question --json": "its question, with the id that `tally send` needs",
        },
        codes={
            0: "it was printed",
            1: "no such pane",
            GONE: "the pane is gone",
            NOTHING: "there is nothing to read: no question, no reply",
            REFUSED: "a rule refused it; the message names the rule",
        },
    )
    add_pane(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--screen", action="store_true", help="the rows of its screen")
    which.add_argument("--reply", action="store_true", help="the first lines of its last reply, as one line")
    which.add_argument("--question", action="store_true", help="its question, with choices and id")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(argv: list[str]) -> int:
    """Print the requested text, and return the exit code."""
    options = make_parser().parse_args(argv)
    found, client = reached(options.pane)
    if isinstance(found, Refusal):
        return _print(None, found, as_json=options.json)
    shown: Reply | str
    if (why := client.may_read(found)) is not None:
        shown = why
    elif options.screen:
        shown = client.look(found, SCREEN)
    elif options.question or (not options.reply and found.pane.status is Status.WAITING):
        shown = client.look(found, QUESTION)
        if isinstance(shown, Refusal) and shown.rule == "no-question" and not options.question:
            shown = found.pane.question or found.pane.message or found.pane.reply
    else:
        shown = found.pane.reply
    return _print(found, shown if isinstance(shown, Rows | Question | str | Refusal) else SILENT, as_json=options.json)


def _print(found: Row | None, shown: Rows | Question | str | Refusal, *, as_json: bool) -> int:
    """Print what *found* shows, or why it cannot be read; return the exit code."""
    if found is not None and not shown:
        shown = Refusal("no-reply", f"no reply of {found.name} is known")
    output = Output.to(sys.stdout, os.environ)
    if as_json:
        output.line(json.dumps(document(found, shown)))
    if isinstance(shown, Refusal):
        code = refused("read", shown)
        return {"pane": 1, "gone": GONE, "no-question": NOTHING, "no-reply": NOTHING}.get(shown.rule, code)
    if not as_json:
        for line in lines(shown):
            output.line(line)
    return 0


def document(found: Row | None, shown: Rows | Question | str | Refusal) -> dict[str, Any]:
    """Return the JSON of `tally read`: parts that were not requested, or do not exist, are null."""
    pane = found.pane if found is not None else None
    return {
        "version": JSON_VERSION,
        "address": found.address if found is not None else None,
        "status": pane.status.value if pane is not None else None,
        "kind": pane.kind.value if pane is not None and pane.kind else None,
        "agent": pane.agent if pane is not None else None,
        "question": question_document(shown) if isinstance(shown, Question) else None,
        "reply": _clean(shown) if isinstance(shown, str) else None,
        "screen": list(lines(shown)) if isinstance(shown, Rows) else None,
        "refused": shown.rule if isinstance(shown, Refusal) else None,
        "text": _clean(shown.text) if isinstance(shown, Refusal) else None,
    }


def question_document(asked: Question) -> dict[str, Any]:
    """Return a question as JSON; *rows* are those of the dialog above its choices."""
    return {
        "id": _clean(id_of(asked)),
        "question": _clean(asked.question),
        "rows": [_clean(row) for row in asked.context[asked.first :]],
        "choices": [{"number": choice.number, "label": _clean(choice.label)} for choice in asked.choices],
        "missing": _clean(asked.missing) or None,
    }


def lines(shown: Rows | Question | str) -> list[str]:
    """Return the lines to print for a person, or for an agent that reads its tool's output."""
    if isinstance(shown, Question):
        rows = [*(shown.context[shown.first :] or (shown.question,)), ""]
        rows += [*(f"{choice.number}. {choice.label}" for choice in shown.choices), ""]
        rows += [shown.missing] if shown.missing else [f"id {id_of(shown)}"]
    else:
        rows = list(shown.rows) if isinstance(shown, Rows) else [shown] * bool(shown)
    return [_clean(row) for row in rows]


def _clean(text: str) -> str:
    return sanitise(text, cells=MAX_DIALOG_ROW_CELLS)
