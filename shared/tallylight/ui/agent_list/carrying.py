"""
Carrying out: what would be interrupted, closed, forked or resumed in a pane, whether it would be, and doing it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallylight.actions import close, say
from tallylight.actions.answer import Done, Holder, Typist, holder
from tallylight.actions.close import Close, Closer
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once, Still
from tallylight.actions.say import Interrupt
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act


def refused(verb: str, row: Row, environ: Mapping[str, str]) -> str:
    """Why the conversation of *row* is not forked or resumed, as it is now; nothing if it can be."""
    if verb not in ("fork", "resume"):
        return ""
    # Not needed to open the list.
    from tallylight.actions import fork
    from tallylight.actions.plan import Verb
    from tallylight.agents import agent_files

    found = fork.act(Verb(verb), row.pane, agent_files.load_agents(environ)[0])
    return f"not {'forked' if verb == 'fork' else 'resumed'}: {found.text}" if isinstance(found, Refusal) else ""


def examined(act: Act, typist: Typist, once: Once) -> Holder | Refusal:
    """What is in the foreground of a pane, or the rule by which *act* would not be done to it."""
    if act is Act.CLOSE:
        return close.occupant(typist)
    seen = once.look(typist)
    if isinstance(seen, Refusal):
        return seen
    held = holder(Still(seen))
    if isinstance(held, Refusal):
        return held
    tried = say.interrupt(Still(seen), Interrupt(held.pane, held.pid, held.start))
    return tried if isinstance(tried, Refusal) else held


def carried(act: Act, closer: Closer, once: Once, pane: str, pid: int, start: int) -> Done | Refusal:
    """Do *act*, if the process that was shown is still in front there."""
    if act is Act.CLOSE:
        return close.close(closer, Close(pane, pid, start))
    return once.interrupt(closer, Interrupt(pane, pid, start))
