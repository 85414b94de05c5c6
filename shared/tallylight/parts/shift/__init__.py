"""
The night shift: an agent that a usage limit stops continues by itself when the limit has ended.

`actions.queue` types the text, after it has waited for the end of the limit. This room does the rest. It gives up with
a reason, retypes the text after further limits, and reports texts of a host that ended before. Start with `steps`.

An installation may lack it: then a text that waits for a limit is typed when that has ended, and nothing else.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="shift",
    about="going on by itself when a limit has ended",
    verbs={
        "shift": Verb("More", "have an agent go on by itself when its limit has ended"),
    },
    serves={"night": f"{__name__}.night"},
)
