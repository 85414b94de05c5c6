"""What pictures for people show in the place of what the scripted model was asked, did and said."""

from __future__ import annotations

import re

#: In the place of what the scripted model was asked and has said: the pictures are for people.
STORY = {
    "HOLD a": "why are the totals in the cart wrong?",
    "The scripted model answers in a few plain words, one after the other.": "They are rounded twice: once for each "
    "line, and once more in the sum.",
    "Here is a short answer.": "I would round the sum alone, and test it with odd prices.",
    "AFTER 2 TOOL touch made; sleep 8 THEN SLOW 2": "run the tests of the cart, and mend them    ",
    "TOOL touch made1": "do that",
    "A command of the script": "Run the tests of the cart",
    "touch made1": "npm test -- cart",
    "touch made; sleep 8": "npm test -- cart",
    # Few fonts have it.
    "⎿": "└",
}


def better_told(text: str) -> str:
    """A recorded screen, or what was written to it, as the story of somebody at work."""
    for said, better in STORY.items():
        # Some agents go to the next word instead of writing a space.
        pattern = r"(?: |\x1b\[\d+G)".join(re.escape(word) for word in said.split(" "))
        text = re.sub(pattern, lambda _, better=better: better, text)
    return text
