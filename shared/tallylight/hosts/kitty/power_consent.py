"""
Asks a person about changed settings that give programs more power: once for each change, over the current window.

Such a change waits for an answer (`config.powers`), because any program can write the file. After a no, or without an
answer, it waits for the next start of kitty, which asks again about the level of scripts.
"""

from __future__ import annotations

import time

import attrs

from tallylight.actions.consent import DECLINED_S, Consent
from tallylight.config.powers import ALLOW, Withheld
from tallylight.hosts.kitty import consents
from tallylight.hosts.kitty.host import KittyHost

#: Explains the levels for scripts to the person.
_ABOUT = (
    'With "ask" you are asked for each caller; with "all" every script may answer every agent, PERMISSIONS INCLUDED.'
)


@attrs.define
class PowerConsent:
    """Asks the person at *host* about withheld settings."""

    host: KittyHost
    #: The changes that were last asked about, and the monotonic time before which no question is asked.
    _asked: tuple[Withheld, ...] = ()
    _rests_until: float = 0.0
    _is_asking: bool = False

    def ask_if_new(self) -> None:
        """Ask if there is a new change; call it at each tick."""
        current = self.host.settings.current
        withheld = current.withheld if current is not None else ()
        if not withheld:
            self._asked = ()
        window = self.host.boss.active_window
        if withheld == self._asked or self._is_asking or time.monotonic() < self._rests_until or window is None:
            return

        def answered(is_allowed: bool) -> None:
            self._is_asking = False
            if is_allowed:
                self.host.settings.agree(withheld)
            else:
                self._rests_until = time.monotonic() + DECLINED_S

        self._asked, self._is_asking = withheld, True
        question = (
            "config.toml was changed, by you or by a program, and lets programs do more. Did you change it?",
            *(f"{one}." for one in withheld),
            *([_ABOUT] if any(one.key == ALLOW for one in withheld) else ()),
        )
        if consents.ask(window, Consent(question), answered) is not None:
            # The person may come to another window, with room for the question.
            self._asked, self._is_asking = (), False
