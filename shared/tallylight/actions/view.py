"""
A page in a window: the part of it on the screen, and whether all of it has been there. Pure: lines out, keys in.

A page that is longer than its window is scrolled. Enter counts only once every row has been on the screen, as it is
now: another width or height, or other words on the page, begin again. A page that could not be shown is not agreed to.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act, Line, fitted, wrapped

_NOT_YET = "Scroll down with ↓ or space: not all of this was shown."


class Page(Protocol):
    """The offer to a person, who agrees to it with Enter."""

    @property
    def verb(self) -> str:
        """The effect of Enter."""

    @property
    def title(self) -> str:
        """The title of the page's own window."""

    @property
    def refusal(self) -> Refusal | None:
        """Why Enter can start nothing as things are."""

    def body(self, columns: int) -> list[Line]:
        """Return the lines to be seen before anything is agreed to, none wider than *columns*."""

    def keys(self, columns: int) -> list[Line]:
        """Return the lines that explain the keys."""

    def key(self, key: str) -> Act:
        """Take one key: a character, `enter`, `escape`."""


@attrs.define
class PageWindow:
    """One window with the page *offer*, and how far the person has seen it."""

    offer: Page
    _body: list[Line] = attrs.Factory(list)
    _size: tuple[int, int] = (0, 0)
    _top: int = 0
    #: Rows of the body on the screen at the last drawing.
    _height: int = 0
    #: Rows of the body, from the first, that have been on the screen.
    _seen: int = 0
    _says_not_yet: bool = False

    def draw(self, columns: int, rows: int) -> tuple[list[Line], bool]:
        """Return the lines for a window of this size, never more than it has rows; and whether they begin again."""
        body = self.offer.body(max(2, columns))
        is_new = (body, (columns, rows)) != (self._body, self._size)
        if is_new:
            self._body, self._size = body, (columns, rows)
            self._top = self._seen = 0
            self._says_not_yet = False
        foot: list[Line] = [(), *self.offer.keys(max(2, columns))]
        is_long = len(body) + len(foot) > rows
        if self._says_not_yet:
            foot = fitted(wrapped(_NOT_YET, columns, "bad"), max(2, columns))[:rows]
        elif is_long:
            foot = foot[: 1 if rows > 1 else 0]
        # In one column no text can be read.
        self._height = max(0, rows - len(foot)) if columns > 1 else 0
        self._top = max(0, min(self._top, len(body) - self._height))
        bottom = min(self._top + self._height, len(body))
        if self._top <= self._seen:
            self._seen = max(self._seen, bottom)
        if is_long and not self._says_not_yet:
            # The length of the page; the keys once all of it was seen.
            text = f"Enter {self.offer.verb}  Esc leave  ↑ ↓"
            if self._seen < len(body):
                text = f"{self._seen}/{len(body)} ↓ space scroll  Esc leave"
            foot = [(("dim", text if len(text) <= columns else f"{text[: columns - 1]}…"),) for _ in foot]
        return [*body[self._top : bottom], *foot], is_new

    def key(self, key: str) -> Act:
        """Take one key, by its name: those of a `Page`, and `up`, `down`, `pageup`, `pagedown`."""
        self._says_not_yet = False
        step = {"up": -1, "down": 1, "pageup": -max(1, self._height), "pagedown": max(1, self._height)}
        by = step.get("pagedown" if key == " " else key)
        if by is not None and self._height < len(self._body):
            self._top = max(0, self._top + by)
            return Act.STAY
        if key == "enter" and self._seen < max(1, len(self._body)) and not self.offer.refusal:
            self._says_not_yet = True
            return Act.STAY
        return self.offer.key(key)
