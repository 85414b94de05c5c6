"""A pane that a script left empty, because its own command failed: no verb takes it for another one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.actions.request import decode_request, encode
from tallylight.cli.main import every_verb, main
from tallylight.model.errors import TallyError
from tallylight.parts.remote.messages import Ask, decode
from tallylight.parts.remote.messages import encode as encode_ask
from tallylight.snapshot.addresses import EMPTY, Panes, pick
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Snapshot
from tests.actions.words import asked
from tests.cli.panes import SHELL, WAITING, publish
from tests.cli.test_help import parsers
from tests.tables import each

BLANKS = ("", " ", "\t", "\n", "\u3000", " \u00a0 ")
#: What the verbs want beside a pane.
BESIDE = {"send": ["text"]}


def named() -> Iterator[tuple[str, argparse.Action]]:
    """Every place of the command line at which a pane stands, and the verb it is of."""
    for verb in every_verb():
        for parser in parsers(verb):
            for action in parser._actions:
                if "PANE" in (action.metavar, action.dest.upper()):
                    yield parser.prog, action


def lines(prog: str, action: argparse.Action, blank: str) -> Iterator[list[str]]:
    """Command lines with *blank* there."""
    verb = prog.split()[1:]
    for option in action.option_strings:
        yield [*verb, f"{option}={blank}"]
        yield [*verb, option, blank]
    if not action.option_strings:
        yield [*verb, blank, *BESIDE.get(verb[0], [])]
        yield [*verb, "--", blank, *BESIDE.get(verb[0], [])]
        if action.nargs == "*":
            yield [*verb, "3", blank]


@pytest.mark.slow
def test_every_verb_refuses_it(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands beside it, the message says what is empty and what to do, and no host is asked for anything."""
    publish(runtime, [WAITING, SHELL])
    spool = Spool("kitty")
    assert spool.error == ""
    verbs = set()
    for prog, action in named():
        verbs.add(prog.removeprefix("tally "))
        for line in (line for blank in BLANKS for line in lines(prog, action, blank)):
            capsys.readouterr()
            assert main(line) == 2, line
            told = capsys.readouterr()
            assert EMPTY in " ".join(told.err.split()) and told.out == "", line
            assert prog in told.err
    assert verbs == {
        "agent new", "attach", "did", "diff", "fork", "interrupt", "quiet", "read", "resume", "seen", "send", "shift",
        "unread", "wait", "why", "wrong",
    }  # fmt: skip
    assert spool.take() == []


@each("blank", BLANKS)
def test_nothing_finds_it(blank: str) -> None:
    """Nor does what looks for panes, whoever asks; and no message between processes names one so."""
    panes = Panes.of([Snapshot(host="kitty", pid=os.getpid(), started=0.0, written=0.0, panes=(WAITING,))], ())
    assert pick(panes, None, {}).pane is WAITING
    with pytest.raises(TallyError, match="the pane is empty"):
        pick(panes, blank, {})
    for words in ("answer 1 2 f 1", "say 1 2 f 1 x", "queue 1 2 x", "interrupt 1 2", "screen", "focus", "close 1 2"):
        verb, *rest = words.split()
        assert decode_request(encode(asked(verb, blank, *rest)))[0] is None
        assert decode_request(encode(asked(verb, "7", *rest)))[0] is not None
        assert decode(encode_ask(Ask(1, "kitty-4711", asked(verb, blank, *rest))) or b"") is None  # type: ignore[arg-type]
    for verb in ("focus", "snooze", "seen", "unread"):
        assert Request.from_json(Request(verb, blank).to_json()) is None
        assert Request.from_json(Request(verb, "7").to_json()) is not None
