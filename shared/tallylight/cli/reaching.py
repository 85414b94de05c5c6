"""Reaching a pane: the functions shared by verbs that ask its host for something, or type into it."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable

from tallylight.actions.answer import Done
from tallylight.actions.client import PaneClient, own_caller
from tallylight.actions.gate import Refusal
from tallylight.actions.request import SILENT, Reply
from tallylight.cli.exit_codes import GONE, REFUSED
from tallylight.cli.output import JSON_VERSION, clean, complain, refused
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import NoPaneError, Panes, Row, pick, read_panes
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane

#: Seconds that the host may take; it looks four times a second.
EFFECT_S = 3.0
ANY_MACHINE = "a pane of any machine that sets [fleet] marks = true"
CODES: dict[int | str, str] = {
    0: "it was typed",
    1: "no such pane",
    GONE: "the pane is gone",
    REFUSED: "a rule refused it, and nothing was typed; the message names the rule",
}


def reached(wanted: str) -> tuple[Row | Refusal, PaneClient]:
    """Return the pane that *wanted* names, or the refusal, and the client of the program that runs this command."""
    panes = read_panes(os.environ)
    try:
        return pick(panes, wanted, os.environ), client_of(panes)
    except NoPaneError as error:
        return Refusal("pane", str(error)), client_of(panes)


def client_of(panes: Panes) -> PaneClient:
    """Return the client for *panes*, for the program that runs this command."""
    multiplexers = PaneAccess(os.environ)
    return PaneClient(multiplexers, functools.partial(own_caller, os.environ), panes.level, multiplexers.started_by)


def print_reply(verb: str, found: Row | None, reply: Reply, *, at: float | None = None, as_json: bool) -> int:
    """Print the action, done *at* then, or the rule that refused it, and return the exit code."""
    told = reply if isinstance(reply, Done | Refusal) else SILENT
    if as_json:
        document = {
            "version": JSON_VERSION,
            "address": found.address if found is not None else None,
            "at": at if isinstance(told, Done) else None,
            "done": clean(told.text) if isinstance(told, Done) else None,
            "refused": told.rule if isinstance(told, Refusal) else None,
            "text": clean(told.text),
        }
        sys.stdout.write(json.dumps(document) + "\n")
    if isinstance(told, Done):
        if not as_json:
            sys.stdout.write(f"{clean(told.text)}\n")
        return 0
    code = refused(verb, told)
    return {"pane": 1, "gone": GONE}.get(told.rule, code)


def request_and_wait(
    found: Row, request: Request, is_done: Callable[[Row], bool], outcome: Callable[[Pane], str], else_: str = ""
) -> int:
    """
    Send *request* to the host, wait until its snapshot shows the effect, and print *outcome* of the pane.

    *else_* is the message if the effect never shows; return the exit code.
    """
    called = f"pane {found.name}" + (f" ({clean(found.pane.project, 40)})" if found.pane.project else "")
    requests.send(found.host, request, os.environ)
    end = time.monotonic() + EFFECT_S
    while time.monotonic() < end:
        now = next((new for new in read_panes(os.environ).panes if new.address == found.address), None)
        if now is None or is_done(now):
            sys.stdout.write(f"{called} {outcome(now.pane) if now is not None else 'is gone'}\n")
            return 0
        time.sleep(0.05)
    complain(
        "quiet" if request.verb in ("mute", "snooze") else request.verb,
        else_ or f"{found.host} did not respond; does it run the same version?",
    )
    return 1
