"""The diary: the turns of all agents. `host` records them, `history_file` stores them, and `history` adds them up."""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="diary",
    about="what agents did, kept for thirty days",
    verbs={
        "log": Verb(
            "See",
            "what the agents did today and this week: work, waiting for you, questions",
            words=("history", "today"),
        ),
        "away": Verb("More", "what happened since you left: turns, replies, questions, failures"),
    },
    host=f"{__name__}.host:Diary",
    checks=f"{__name__}.history_file:checks",
    news=f"{__name__}.away:absence",
)
