"""
A person at the input of an agent: they type, give a command of its interface, and send a prompt.

A prompt that is sent leaves the input at once, before the agent shows that it works. Only the text in front of the
cursor is compared, look by look. An empty input is `❯ `, or the side of its box. Typing makes it longer; text that goes
as a whole from one look to the next was sent. Not sent are:

* a text that gets shorter first: it is being erased;
* a command of the agent's own interface, `/help`: that is seldom work;
* a text that is in the row above now: the person continues in another row of the same input.

A person who clears the input by one key does the same, so the conclusion must only last for a moment.
"""

from __future__ import annotations

import re

from tallylight.evidence.screen import Change, Look

#: Looks after a key in which a change counts as the person's doing.
TYPED_LOOKS = 4
#: Looks in which a sent prompt counts as work, until the agent shows that by itself.
SENT_LOOKS = 6
#: An input row that holds a command: edges and a pointer, then a slash and a word.
_COMMAND = re.compile(r"[^\w/]{0,8}/[\w:-]{0,40}(?: .*)?")
#: A command that ends the agent.
_LEAVE = re.compile(r"[^\w/]{0,8}/?(?:exit|quit) ?")
#: Characters at least: fewer may have been erased one by one between two looks.
LEAST_CHARS = 4
#: Characters from the end of typed text that are looked for in the row above.
_END_CHARS = 8


class InputWatch:
    """Watches what a person does at the input of one agent. Give it every look."""

    def __init__(self) -> None:
        #: Looks since a person typed, and since a command was in the row of the cursor; at first none was.
        self.untyped = self.uncommanded = TYPED_LOOKS + 1
        self._is_commanded = False
        #: Whether the last command ends the agent: on a busy machine that takes a while.
        self.is_leaving = False
        #: Looks left in which a sent prompt counts as work; and whether there was output since.
        self.to_show = 0
        self.has_moved = False
        #: The text before the cursor of the empty input, the text typed since, and whether it gets shorter.
        self._empty = self._typed = ""
        self._is_erasing = False

    def look(self, look: Look, before: Look | None, change: Change, *, is_at_rest: bool, is_shown: bool) -> None:
        """
        Note what the person did since the look *before*.

        *is_shown*: the agent is at rest and shows its input; otherwise the cursor may be anywhere.
        """
        self.untyped = 0 if change is Change.TYPING else self.untyped + 1
        if self.to_show:
            self.to_show -= 1
            self.has_moved |= change.is_output
        if change is not Change.NONE or before is None or look.cursor_column != before.cursor_column:
            text = look.before_cursor.strip()
            self._is_commanded = _COMMAND.fullmatch(text) is not None
            goes_on = change is Change.TYPING and any(map(str.isalnum, text))
            self.is_leaving = _LEAVE.fullmatch(text) is not None or (self.is_leaving and not goes_on)
            if self.to_show or not is_at_rest:
                self._typed = ""
            elif is_shown and before is not None and self._is_sent(look, before, change):
                self.to_show, self.has_moved = SENT_LOOKS, change.is_output
        self.uncommanded = 0 if self._is_commanded else self.uncommanded + 1

    def _is_sent(self, look: Look, before: Look, change: Change) -> bool:
        """Return whether the typed text has just been sent."""
        text = look.before_cursor.strip()
        if not self._typed:
            if change is not Change.TYPING:
                return False
            self._empty, self._is_erasing = before.before_cursor.strip(), False
        if text == self._empty:
            typed, self._typed = self._typed, ""
            above = look.lines[look.cursor_row - 1] if 0 < look.cursor_row <= len(look.lines) else ""
            is_whole = len(typed) >= LEAST_CHARS and not self._is_erasing and not typed.startswith("/")
            return is_whole and typed[-_END_CHARS:] not in above
        # Text was typed before the input was first seen, if it has become shorter than that. With the cursor in another
        # row, as in a menu, none was.
        typed = text.removeprefix(self._empty).strip() if text.startswith(self._empty) else ""
        self._is_erasing = len(typed) < len(self._typed) and self._typed.startswith(typed)
        self._typed = typed
        return False
