"""
Conversations that were open when a terminal ended. `host` keeps them, `page` shows what would be resumed.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="restore",
    about="conversations that were open when a terminal ended",
    verbs={
        "restore": Verb(
            "Act",
            "resume the conversations that were open when a terminal ended",
            f"{__name__}.verbs.restore",
        ),
    },
    host=f"{__name__}.host:Restore",
)
