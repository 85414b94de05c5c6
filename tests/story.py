"""What pictures for people show in the place of what the scripted model was asked, did and said."""

from __future__ import annotations

#: In the place of what the scripted model was asked and has said: the pictures are for people.
STORY = {
    "HOLD a": "why are the totals in the cart wrong?",
    "The scripted model answers in a few plain words, one after the other.": "They are rounded twice: once for each "
    "line, and once more in the sum.",
    "Here is a short answer.": "I would round the sum alone, and test it with odd prices.",
    "TOOL touch made1": "do that",
    "A command of the script": "Run the tests of the cart",
    "touch made1": "npm test -- cart",
    # Few fonts have it.
    "⎿": "└",
}


def better_told(text: str) -> str:
    """A recorded screen as the story of somebody at work."""
    for said, better in STORY.items():
        text = text.replace(said, better)
    return text
