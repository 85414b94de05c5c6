"""
The work of agents: the changes of a turn for review, and two agents that change the same lines.

`turns` has `trees` taken as turns begin and end, and the `ledger` lists them. `review` makes the diff and reads
comments, and `undo` puts files back. `did` keeps the calls of a turn.

`watch` runs in a host: it knows which agents work in one repository, and decides when to look; start reading there.
`looks` runs on a thread: it asks git by the rules of `actions.git`, and compares the edits in the agents' records.
`others` finds the agents of this machine's other hosts. `hunks` is pure: it reads diffs, and compares changes. `beside`
reads the branch and the changes beside an agent, `changes` counts the lines of a turn.
"""

from __future__ import annotations

from tallylight.parts import Field, Key, Part, Verb

PART = Part(
    name="work",
    about="changed lines beside each agent, and agents that change the same lines",
    verbs={
        "diff": Verb(
            "See", "show what an agent changed since you looked; comment on it, or undo it", words=("review", "changes")
        ),
        "did": Verb(
            "More",
            "list what an agent ran in its last turn, what was denied, and who allowed it",
            words=("commands", "ran"),
        ),
    },
    host=f"{__name__}.host:WorkHost",
    fields={
        "diffstat": Field(
            f"{__name__}.row_fields:DIFFSTAT_FORM",
            "when done: uncommitted lines added and removed there",
            shown=f"{__name__}.row_fields:show_diffstat",
        ),
        "did": Field(
            f"{__name__}.row_fields:DID_FORM",
            "its last turn: commands, denials, files written outside the project, and the last denials in a row",
            shown=f"{__name__}.row_fields:show_did",
        ),
    },
    fact=f"{__name__}.row_fields:fact",
    keys={
        "d": Key("show what it changed; comment on it, or undo it", f"{__name__}.verbs.diff:over"),
        "c": Key("show the commands of its last turn", f"{__name__}.verbs.did:over"),
    },
    serves={"repositories": f"{__name__}.repository_watch"},
)
