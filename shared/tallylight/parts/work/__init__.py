"""
Collisions: two agents that change the same lines of a file, found before they are merged. An optional part.

`watch` runs in a host: it knows which agents work in one repository, and decides when to look; start reading there.
`looks` runs on a thread: it asks git by the rules of `actions.git`, and compares the edits in the agents' records.
`others` finds the agents of this machine's other hosts. `hunks` is pure: it reads diffs, and compares changes. `beside`
reads the branch and the changes beside an agent, `changes` counts the lines of a turn.
"""

from __future__ import annotations

from tallylight.parts import Field, Part

PART = Part(
    name="work",
    about="changed lines beside each agent, and agents that change the same lines",
    host=f"{__name__}.host:WorkHost",
    fields={
        "diffstat": Field(
            f"{__name__}.changes:FORM",
            "when done: uncommitted lines added and removed there",
            shown=f"{__name__}.changes:shown",
        ),
    },
    serves={"repositories": f"{__name__}.beside"},
)
