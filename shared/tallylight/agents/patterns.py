"""
Patterns of agent files: regular expressions that cannot be slow.
https://docs.python.org/3/library/re.html#regular-expression-syntax

A pattern is matched from the first character of a row, which is cut to `MAX_MATCHED_CHARS`. Python's `re` tries one way
through a pattern after the other, and there may be exponentially many. So only a part of its language is allowed, where
the ways can be counted beforehand: text, escapes, classes, groups, alternatives and repeats. Look-around,
back-references and repeats of a repeat are refused. The ways multiply, one factor for each repeat, and more than
`MOST_WAYS` are refused: that allows two unbounded repeats in a row, such as `.*` twice.
"""

from __future__ import annotations

import re

#: Characters of a row that are read.
MAX_MATCHED_CHARS = 240
MAX_PATTERN_CHARS = 200
MOST_WAYS = 60_000
#: Groups in groups, at most.
_MAX_GROUP_DEPTH = 8

_COUNTS = re.compile(r"\{(\d{1,4})?(?:(,)(\d{1,4})?)?\}", re.ASCII)
_GROUP = re.compile(r"\?(?::|P<[A-Za-z_]\w{0,30}>)", re.ASCII)


class PatternError(ValueError):
    """A pattern is not allowed; the message is the reason."""


def compile_pattern(text: str) -> re.Pattern[str]:
    """
    Return the regular expression *text*, for `Pattern.match` on a row; raises `PatternError` if it is not allowed.
    """
    if len(text) > MAX_PATTERN_CHARS:
        raise PatternError(f"is longer than {MAX_PATTERN_CHARS} characters")
    flags, rest = (re.IGNORECASE, text[4:]) if text.startswith("(?i)") else (0, text)
    ways = _Parser(rest).parse()
    if ways > MOST_WAYS:
        raise PatternError(
            "could take long on some rows: use fewer repeats (`*`, `+`, `{}`), two at most without a limit"
        )
    try:
        return re.compile(rest, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"is not a regular expression: {error}") from None


class _Parser:
    """Counts the ways through a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self) -> int:
        """Return the number of ways through the whole pattern; raise `PatternError` if it is not allowed."""
        ways = self._alternatives(0)
        if self._at < len(self._text):
            raise PatternError("has one `)` too many")
        return ways

    def _alternatives(self, depth: int) -> int:
        """Read alternatives up to their end; return the number of ways through them."""
        if depth > _MAX_GROUP_DEPTH:
            raise PatternError(f"has groups nested more than {_MAX_GROUP_DEPTH} deep")
        ways = self._sequence(depth)
        while self._next() == "|":
            self._at += 1
            ways += self._sequence(depth)
        return ways

    def _sequence(self, depth: int) -> int:
        """Read a sequence of items up to its end; return the number of ways through it."""
        ways = 1
        while (character := self._next()) not in ("", "|", ")"):
            start = self._at
            inner = self._item(character, depth)
            # Cut off: the number could have thousands of digits.
            ways = min(ways * self._repeated(inner, self._text[start : self._at]), MOST_WAYS + 1)
        return ways

    def _item(self, character: str, depth: int) -> int:
        """Read the item that begins with *character*; return the number of ways through it."""
        self._at += 1
        if character == "\\":
            escaped = self._next()
            if not escaped:
                raise PatternError("ends in a backslash")
            if escaped.isdigit():
                raise PatternError("has a back-reference")
            self._at += 1 + {"x": 2, "u": 4, "U": 8}.get(escaped, 0)
        elif character == "[":
            self._class()
        elif character == "(":
            if self._next() == "?":
                found = _GROUP.match(self._text, self._at)
                if found is None:
                    raise PatternError(
                        "has a group that is not allowed; there are (…), (?:…), (?P<name>…), (?i) in front"
                    )
                self._at = found.end()
            ways = self._alternatives(depth + 1)
            if self._next() != ")":
                raise PatternError("is missing a `)`")
            self._at += 1
            return ways
        elif character in "*+?{":
            raise PatternError(
                f"has a `{character}` that repeats nothing, or a repeat; write \\{character} for the character"
            )
        return 1

    def _class(self) -> None:
        """Read a class up to its `]`."""
        if self._next() == "^":
            self._at += 1
        if self._next() == "]":
            self._at += 1
        while (character := self._next()) != "]":
            if not character:
                raise PatternError("is missing a `]`")
            self._at += 2 if character == "\\" else 1
        self._at += 1

    def _repeated(self, inner: int, what: str) -> int:
        """Return the ways through an item that was just read, with the repeat that follows it, if one does."""
        sign = self._next()
        counts = _COUNTS.match(self._text, self._at) if sign == "{" else None
        if sign == "?":
            least, most = 0, 1
            self._at += 1
        elif sign in ("*", "+"):
            least, most = int(sign == "+"), MAX_MATCHED_CHARS
            self._at += 1
        elif counts is not None and counts[0] != "{}":
            least = int(counts[1] or 0)
            most = (int(counts[3]) if counts[3] else MAX_MATCHED_CHARS) if counts[2] else least
            self._at = counts.end()
        else:
            return inner
        if self._next() in ("?", "+") and sign:
            self._at += 1  # lazy or possessive: the same ways or fewer
        most = min(most, MAX_MATCHED_CHARS)
        if inner == 1:
            return max(most - least, 0) + 1
        if most > 1:
            raise PatternError(f"repeats {what}, which can match in more than one way")
        return inner + 1

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]
