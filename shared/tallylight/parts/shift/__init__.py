"""
The night shift: an agent that a usage limit stops goes on by itself when that has ended.

What types the text is `actions.queue`, which has it wait for the end of the limit. This room sees to what comes after:
it gives up with a reason, has the text typed again after the next limits, and tells if its host has ended before. Start
with `steps`.

An installation may lack it: then a text that waits for a limit is typed when that has ended, and nothing else.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="shift",
    about="going on by itself when a limit has ended",
    verbs={
        "shift": Verb("More", "have an agent go on by itself when its limit has ended", f"{__name__}.verbs.shift"),
    },
    serves={"night": f"{__name__}.night"},
)
