"""
`tally diff`: what an agent changed in its last turn, or since you looked, in your own pager, tool or editor.

git compares two trees that `turns` has taken, and runs no program of the repository. The pager, the tool and the editor
are the person's own, by the environment and by git's own settings, never by those of the repository.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

from tallylight.actions.answer import Done, Occupant
from tallylight.actions.client import PaneClient
from tallylight.actions.request import HOLDER, DeferredText, Reply
from tallylight.actions.say import text_problem
from tallylight.cli.exit_codes import NOTHING
from tallylight.cli.output import Output, clean, complain
from tallylight.cli.parser import Parser
from tallylight.cli.reaching import CODES, client_of, print_reply
from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.parts.work import ledger, programs, review, undo
from tallylight.parts.work.ledger import Stretch
from tallylight.parts.work.trees import Store
from tallylight.snapshot.addresses import Panes, Row, add_pane, pick, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere

ELSEWHERE = "it works on another machine; run `tally diff` there"
_HELP = """\
# Write comments below the lines that they are about, each line with >> at its beginning.
# Save and leave: they become one text for the agent. You may remove other lines.
"""


def make_parser() -> Parser:
    """Return what `tally diff` takes."""
    parser = Parser(
        prog="tally diff",
        description="Show what an agent changed since you last looked at it, or in its last turn, in your pager. Your "
        "own changes between its turns are not among them.",
        examples={
            "tally diff": "what the agent of this pane changed since you looked, else that of the most urgent one",
            "tally diff 3 --turn": "what pane 3 changed in its last turn",
            "tally diff 3 --tool": "the same in git's difftool",
            "tally diff 3 --comment": "in your editor: lines that begin with >> go to the agent as one text",
            "tally diff 3 --undo": "put the files of its last turn back",
        },
        codes=CODES | {0: "done", NOTHING: "no turn of that pane is known, or there is nothing to send or to undo"},
    )
    add_pane(parser, nargs="?")
    since = parser.add_mutually_exclusive_group()
    since.add_argument("--since-looked", action="store_true", help="since you last looked at it; the default")
    since.add_argument("--turn", action="store_true", help="its last turn")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--tool", action="store_true", help="show it in git's difftool, as your git is set up")
    how.add_argument("--comment", action="store_true", help="write comments in your editor, and send them")
    how.add_argument("--undo", action="store_true", help="put the files of its last turn back, where nobody has since")
    how.add_argument("--stay", action="store_true", help="afterwards wait for a key: c comments, u undoes")
    parser.add_argument("--yes", action="store_true", help="with --comment and --undo: do not ask")
    return parser


def main(argv: list[str]) -> int:
    """Show it, and return the exit code."""
    options = make_parser().parse_args(argv)
    panes = read_panes(os.environ)
    try:
        view = View.of(pick(panes, options.pane, os.environ), options, panes)
    except UnknownTurnError as error:
        complain("diff", error)
        return NOTHING
    try:
        return view.stay() if options.stay else view.show()
    except StuckError as error:
        complain("diff", error)
        return 1


def over(row: Row) -> str:
    """Show what the agent of *row* changed, in the terminal of the list; return the comments on it as one text."""
    if not any(found.address == row.address for found in read_panes(os.environ).panes):
        raise UnknownTurnError(ELSEWHERE)
    view = View.of(row, make_parser().parse_args(["--stay"]))
    view.stay()
    return view.text


class UnknownTurnError(TallyError):
    """Nothing is known of what an agent has changed."""


@attrs.define
class View:
    """The review of the pane *found* by a person. *panes* are all; None: the list passes *text* on."""

    found: Row
    store: Store
    options: argparse.Namespace
    panes: Panes | None = None
    text: str = ""

    @classmethod
    def of(cls, found: Row, options: argparse.Namespace, panes: Panes | None = None) -> View:
        """Return that of one pane; `UnknownTurnError` if nothing is known of it."""
        if is_elsewhere(found.host):
            raise UnknownTurnError(ELSEWHERE)
        cwd = found.pane.conversation.cwd
        store = Store.of(cwd, os.environ) if cwd else None
        view = cls(found, store, options, panes) if store is not None else None
        if view is None or not view.known:
            raise UnknownTurnError(f"no turn of {found.name} is known; only turns in a git repository are kept")
        return view

    @property
    def known(self) -> list[Stretch]:
        """Return all turns that are known of the pane."""
        return ledger.of_pane(ledger.load(self.store.folder), self.found.address, self.found.pane.agent_pid)

    @property
    def stretches(self) -> Sequence[Stretch]:
        """Return those that are to be shown."""
        return (ledger.last_turn if self.options.turn else ledger.since_looked)(self.known)

    def show(self) -> int:
        """Do what the options say."""
        if self.options.undo:
            return self._undo()
        if self.options.comment:
            return self._comment()
        return self._tool() if self.options.tool else self._page()

    def stay(self) -> int:
        """Show it, and do what keys say until another one is pressed."""
        code = self._page()
        acts = {"c": self._comment, "t": self._page, "u": self._undo}
        while (key := programs.key("\n  c comment   t all of its last turn   u undo   any other key: back ")) in acts:
            self.options.turn |= key == "t"
            code = acts[key]()
            if key == "c" and code == 0:
                break
        return code

    def _page(self) -> int:
        is_coloured = Output.to(sys.stdout, os.environ).colour
        text = review.shown(self.store, self.stretches, time.time(), is_coloured=is_coloured)
        programs.page(text, programs.pager(dict(self.store.found.own)))
        return 0

    def _tool(self) -> int:
        for one in ledger.joined(self.stretches):
            words = ("difftool", "--no-prompt", one.before, one.after, "--", *review.pathspecs(one))
            if self.store.found.open(*words, also=self.store.environ()):
                return 1
        return 0

    def _undo(self) -> int:
        plan = undo.planned(self.store, ledger.last_turn(self.known), time.time())
        sys.stdout.write("".join(f"  {clean(line, 4096)}\n" for line in plan.lines()))
        if not (plan.restore or plan.remove):
            complain("diff", "there is nothing to undo")
            return NOTHING
        if not self._agreed("undo this?"):
            return NOTHING
        undo.carry_out(self.store, plan, time.time())
        sys.stdout.write("undone; `tally diff --undo` takes that back\n")
        return 0

    def _comment(self) -> int:
        diff = _HELP + review.shown(self.store, self.stretches, time.time(), is_coloured=False)
        with tempfile.NamedTemporaryFile("wb", dir=self.store.folder, suffix=".diff", delete=False) as file:
            file.write(diff.encode("utf-8", "surrogateescape"))
        path = Path(file.name)
        if programs.edit(str(path)):
            raise TallyError(f"the editor failed; {path} has what you wrote")
        text = review.worded(review.comments(diff, path.read_bytes().decode("utf-8", "surrogateescape")))
        if not text:
            complain("diff", f"no line begins with {review.MARK}; nothing was sent")
            return NOTHING
        if problem := text_problem(text):
            raise TallyError(f"{problem.text}; {path} has your comments")
        if self.panes is None:
            self.text = text
            return 0
        sys.stdout.write(f"{text}\n")
        told = _queued(client_of(self.panes), self.found, text) if self._agreed("send this?") else None
        if not isinstance(told, Done):
            complain("diff", f"nothing was sent; {path} has your comments")
        return print_reply("diff", self.found, told, as_json=False) if told is not None else NOTHING

    def _agreed(self, question: str) -> bool:
        return self.options.yes or programs.key(f"{question} y: yes; any other key: no ") == "y"


def _queued(client: PaneClient, found: Row, text: str) -> Reply:
    held = client.look(found, HOLDER)
    if not isinstance(held, Occupant):
        return held
    return client.perform(found, DeferredText(found.pane.id, held.pid, held.start, text))
