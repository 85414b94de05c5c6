"""
The guide: for people and agents that are new here.

It shows the lights on a script, explains the ways to an exact light, and teaches an agent the commands.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="guide",
    about="a demonstration, the ways to an exact light, completions, a skill file for agents",
    verbs={
        "demo": Verb("More", "show the lights on scripted agents in this terminal"),
        "exact": Verb("Set up", "how to make a light exact: hooks, your shell, or one command"),
        "skill": Verb("For scripts", "print a skill file that teaches an agent these commands"),
        "completions": Verb("More to set up", "print completions for bash, zsh or fish, or write the manual pages"),
    },
)
