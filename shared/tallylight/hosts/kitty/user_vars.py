"""
The user variables of kitty's windows: what is published there of each pane, and what a saved session brings back of it.

`kitten @ ls` and `--match var:` read them. kitty's `save_as_session` keeps every one, also what a program said in a
window that is gone by then, and the session sets them before anything runs in the new window.
"""

from __future__ import annotations

import weakref
from typing import Any

from tallylight.pane.pane import Pane
from tallylight.wire.envelope import CARRIER

#: What is published on every pane that has something to say.
PUBLISHED = ("tally_status", "tally_kind", "tally_agent", "tally_reason")
_OURS = (CARRIER, *PUBLISHED)
#: What has been put back in each window: it happens once, and the same value again is a program's.
_put_back: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def publish(window: Any, pane: Pane) -> None:
    """
    Put what *pane* shows into the user variables of *window*; take them away when there is nothing to say.

    The reason alone is no news: it changes only together with something else.
    """
    decision = pane.decision
    source = decision.reason.source
    reason = f"{source.word if source else 'none'}: {decision.reason.rule}"
    values = decision.status, decision.kind or "", decision.report.agent, reason
    wanted = dict(zip(PUBLISHED, values if decision.is_lit else (None,) * len(values), strict=True))
    changed = [name for name, value in wanted.items() if window.user_vars.get(name) != value]
    for name in changed if changed != ["tally_reason"] else ():
        window.set_user_var(name, wanted[name])


def withdraw(window: Any) -> None:
    """Take away what was published of *window*."""
    for name in window.user_vars.keys() & set(PUBLISHED):
        window.set_user_var(name, None)


def drop(window: Any, key: str, value: str | None) -> bool:
    """Whether *window* has *key* from the session that it is made of; it is removed, since it is out of date."""
    if key not in _OURS or value is None:
        return False
    spec = getattr(window, "creation_spec", None)  # since kitty 0.43, as are saved sessions
    if (key, value) not in (getattr(spec, "user_vars", None) or ()):
        return False
    known = _put_back.setdefault(window, set())
    if key in known:
        return False
    known.add(key)
    window.set_user_var(key, None)
    return True
