"""
What a window of a saved session is made with: user variables that a program said in another window, which is gone.

kitty's `save_as_session` keeps every user variable, and the session sets them before anything runs in the new window.
"""

from __future__ import annotations

import weakref
from typing import Any

from tallylight.hosts.kitty.published import PUBLISHED
from tallylight.wire.envelope import CARRIER

_OURS = (CARRIER, *PUBLISHED)
#: What has been put back in each window: it happens once, and the same value again is a program's.
_put_back: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()


def drop(window: Any, key: str, value: str | None) -> bool:
    """Whether *window* has *key* from the session that it is made of; it is taken away again, for it tells nothing."""
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
