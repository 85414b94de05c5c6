"""
Conversations: an agent is started, and its conversation forked into a new pane, resumed, or restored later.

`plan` decides which argument list continues a conversation, or which rule forbids it. `fork` examines the processes for
that, and `fork_page` shows it before it runs. `worktrees` makes a git worktree for it. `host` records open
conversations, for `page`.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="conversations",
    about="agents started, and their conversations forked, resumed and restored",
    verbs={
        "start": Verb("Act", "start an agent in a new pane of kitty or tmux", words=("new", "launch", "spawn")),
        "fork": Verb("Act", "fork a pane's conversation into a new pane; the old one is not changed"),
        "resume": Verb("Act", "resume the conversation of an agent that has ended or crashed"),
        "restore": Verb("Act", "resume the conversations that were open when a terminal ended"),
        "worktree": Verb(
            "For scripts", "make a git worktree on a new branch; no program that the repository names runs"
        ),
    },
    host=f"{__name__}.host:Restore",
    is_early=True,
    opens={"fork": f"{__name__}.fork:forked", "resume": f"{__name__}.fork:resumed"},
    serves={"attached": f"{__name__}.fork:attached", "in_kitty": f"{__name__}.in_kitty"},
)
