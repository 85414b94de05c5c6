"""
Recordings of a pane: asciicast files with evidence beside the output, how they are made and how they are replayed.

Start with `asciicast` for the format and `replay` for the lights of a recording.
"""

from __future__ import annotations

from tallylight.parts import Key, Part, Verb

PART = Part(
    name="lab",
    about="recordings, agent files and how well screens were read",
    verbs={
        "agent": Verb("More to set up", "describe an unknown agent, and test the description on recordings"),
        "record": Verb("More to set up", "run a command and record the session with its evidence"),
        "replay": Verb("More to set up", "show the light of a recorded session, and why"),
        "wrong": Verb("More to set up", "say what was right where a light was wrong, and have a rule made of it"),
        "accuracy": Verb("More to set up", "how well the screens of each version of each agent were read"),
    },
    host=f"{__name__}.grades:Accuracy",
    keys={"!": Key("its light is wrong: say what was right", f"{__name__}.verbs.wrong:over")},
    checks=f"{__name__}.verbs.accuracy:checks",
)
