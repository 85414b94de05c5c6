"""
The user variables of kitty's windows: the published ones of each pane, and those that a saved session restores.

`kitten @ ls` and `--match var:` read them. kitty's `save_as_session` saves all of them, even reports of programs that
have ended. A session sets them before anything runs in the new window.
"""

from __future__ import annotations

import weakref
from typing import Any

from tallylight.pane.pane import Pane
from tallylight.wire.envelope import CARRIER

#: Published for every pane with a light.
PUBLISHED = ("tally_status", "tally_kind", "tally_agent", "tally_reason")
_OURS = (CARRIER, *PUBLISHED)
#: The restored variables of each window: that happens once, and the same value later is a program's.
_put_back: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def publish(window: Any, pane: Pane) -> None:
    """
    Set the user variables of *window* to the state of *pane*; delete them when it has no light.

    A change of the reason alone is not published.
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
    """Delete the published variables of *window*."""
    for name in window.user_vars.keys() & set(PUBLISHED):
        window.set_user_var(name, None)


def drop(window: Any, key: str, value: str | None) -> bool:
    """Delete *key* if a session restored it in *window*, because it is out of date; return whether that was so."""
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
