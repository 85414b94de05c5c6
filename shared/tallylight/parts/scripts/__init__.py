"""
Verbs for scripts: read an agent's question or reply, follow all changes as lines, and interrupt an agent.

Each verb is independent. Requests for a pane go through `actions`, with the script as the caller.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="scripts",
    about="for scripts: read a pane, follow changes, interrupt an agent",
    verbs={
        "read": Verb("For scripts", "print what an agent asks, its last reply or its screen"),
        "interrupt": Verb("For scripts", "interrupt an agent that works", words=("stop", "cancel", "kill")),
        "watch": Verb("For scripts", "print one JSON line per change, for bars and prompts"),
    },
)
