"""
Whether a caller may type into a pane, or start one: `[scripting] allow` of the configuration.

* `own`: into panes that it started itself, and into no other;
* `ask`: into others once a person has agreed, asked once for each caller and pane, as long as both processes live;
* `all`: into every pane with an agent.

An agent never answers itself, whatever is allowed: who runs below a process of the pane is refused. What is refused
names its rule: `caller`, it cannot be told who asks; `self`; `permission`.
"""

from __future__ import annotations

import enum
from collections.abc import Collection

import attrs

from tallylight.actions.caller import Being, Caller
from tallylight.actions.gate import Refusal

#: Pairs of a caller and a pane that are remembered; beyond that, the oldest is forgotten.
MAX_PAIRS = 1000


class Verdict(enum.Enum):
    """What a permission is, where it is no refusal."""

    ALLOWED = enum.auto()
    #: A person is to be asked.
    ASK = enum.auto()


@attrs.define
class Pairs:
    """Pairs of a caller and the first process of a pane, each with yes or no. Another process is another pair."""

    _known: dict[tuple[Being, Being], bool] = attrs.Factory(dict)

    def put(self, caller: Being, pane: Being, *, is_allowed: bool) -> None:
        """Remember one."""
        self._known.pop((caller, pane), None)
        while len(self._known) >= MAX_PAIRS:
            del self._known[next(iter(self._known))]
        self._known[caller, pane] = is_allowed

    def panes(self) -> tuple[tuple[Being, Being], ...]:
        """The pairs that are known, the oldest first."""
        return tuple(self._known)

    def get(self, caller: Being, pane: Being) -> bool | None:
        """What is known of it; None if nothing."""
        return self._known.get((caller, pane))


def check(
    allow: str, caller: Caller | None, pane: Collection[Being], *, is_own: bool, agreed: bool | None
) -> Verdict | Refusal:
    """
    Whether *caller* may type into a pane, of which *pane* are the first process and the one in its foreground.

    *is_own*: it started that pane; *agreed*: what a person said to that, None if they were not asked.
    """
    if caller is None:
        return Refusal("caller", "it cannot be told which program asks; nothing was done")
    if not caller.lineage.isdisjoint(pane):
        return Refusal("self", "nobody types into the pane in which they run themselves; nothing was typed")
    if is_own or allow == "all":
        return Verdict.ALLOWED
    if allow != "ask":
        text = 'only panes that it started itself: `[scripting] allow = "ask"` or "all" allows more'
        return Refusal("permission", f"the caller may type into {text}; nothing was typed")
    if agreed is None:
        return Verdict.ASK
    return Verdict.ALLOWED if agreed else Refusal("permission", "the person did not agree to it; nothing was typed")
