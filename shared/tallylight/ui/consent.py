"""The program of a window where a terminal asks a person for their consent, `actions.consent`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tallylight.actions.consent import YES, Consent
from tallylight.ui import confirm


def main(what: Sequence[str], channel: int) -> None:
    """Ask on this terminal, and send a yes over the descriptor *channel*, which only the terminal reads."""
    if confirm.ask(Consent(tuple(what)), 0, os.environ, lambda _: None):
        os.write(channel, YES.encode())
