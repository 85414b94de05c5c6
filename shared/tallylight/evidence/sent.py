"""
The prompt that a person sends: what they have typed leaves the input at once, before the agent shows that it works.

Only the text in front of the cursor is compared, look by look. An input is what it was empty: `❯ `, or the side of its
box. What is typed makes it longer; when all of it is gone from one look to the next, it was sent. Not so:

* what gets shorter first: it is being erased;
* a command of the agent's own interface, `/help`: that is seldom work;
* what stands in the row above now: the person goes on in another row of the same input.

Who clears the input by one key does the same, so what is concluded from it is to last for a moment only.
"""

from __future__ import annotations

#: Fewer characters than these may have been erased one by one between two looks.
LEAST = 4
#: So much of the end of what was typed is looked for in the row above.
_END = 8


class Sent:
    """What a person types into the input of one agent. Feed it every look that differs, while the agent is at rest."""

    def __init__(self) -> None:
        #: The text before the cursor when nothing was typed yet.
        self._empty = ""
        self._typed = ""
        self._is_erasing = False

    def forget(self) -> None:
        """The agent is not at rest: what is in its input is of no interest."""
        self._typed = ""

    def look(self, text: str, before: str, above: str, *, is_typing: bool) -> bool:
        """
        Whether what was typed has just been sent.

        *text* stands in front of the cursor, *before* in the look before, and *above* in the row above;
        *is_typing* tells whether a person has just typed (`screen.Change`).
        """
        text = text.strip()
        if not self._typed:
            if not is_typing:
                return False
            self._empty, self._is_erasing = before.strip(), False
        if text == self._empty:
            typed, self._typed = self._typed, ""
            is_whole = len(typed) >= LEAST and not self._is_erasing and not typed.startswith("/")
            return is_whole and typed[-_END:] not in above
        # Something was typed before the input was first seen, if it has become shorter than that.
        typed = "" if self._empty.startswith(text) else text.removeprefix(self._empty).strip()
        self._is_erasing = len(typed) < len(self._typed) and self._typed.startswith(typed)
        self._typed = typed
        return False
