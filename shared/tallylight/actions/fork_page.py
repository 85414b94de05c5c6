"""
The offer: the page that shows what would run, and what the keys on it do. Pure: lines out, keys in.

The page shows the exact argument list, each argument quoted where it would need it in a shell, where it will run, and
how the list is known. One key starts it; everything else leaves, or changes where.
"""

from __future__ import annotations

import enum
import shlex
from collections.abc import Sequence

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.plan import Plan, Verb
from tallylight.actions.worktrees import Base
from tallylight.wire.text import sanitise, width

#: A run of text and how it is drawn: `title`, `key`, `dim`, `bad`, or plain.
Piece = tuple[str, str]
Line = tuple[Piece, ...]


class Place(enum.StrEnum):
    """Where the new pane goes, by the words of the command line."""

    VSPLIT = "vsplit"
    HSPLIT = "hsplit"
    TAB = "tab"
    OS_WINDOW = "os-window"

    @property
    def words(self) -> str:
        """The same for a person."""
        return next(words for place, _, words in _PLACES.values() if place is self)


#: By its key, with what that is called beside it, and what a person reads of it.
_PLACES = {
    "p": (Place.VSPLIT, "beside", "a pane beside this one"),
    "b": (Place.HSPLIT, "below", "a pane below this one"),
    "t": (Place.TAB, "tab", "a new tab"),
    "o": (Place.OS_WINDOW, "OS window", "a new OS window"),
}


class Act(enum.Enum):
    """What is to be done after a key."""

    STAY = enum.auto()
    GO = enum.auto()
    LEAVE = enum.auto()


@attrs.define
class ForkPage:
    """
    One page. *wants_worktree* is what the person chose; the caller that shows the page looks it up and sets *worktree*
    to what it would be, or to why there can be none. With *is_here* it is started in the page's own terminal, and there
    is no place to choose.
    """

    verb: Verb
    found: Plan | Refusal
    place: Place = Place.VSPLIT
    wants_worktree: bool = False
    worktree: Base | Refusal | None = None
    is_here: bool = False

    @property
    def refusal(self) -> Refusal | None:
        """Why nothing can be started as things are."""
        if isinstance(self.found, Refusal):
            return self.found
        return self.worktree if self.wants_worktree and isinstance(self.worktree, Refusal) else None

    @property
    def made(self) -> Base | None:
        """The worktree that would be made, if one is wanted and can be."""
        return self.worktree if self.wants_worktree and isinstance(self.worktree, Base) else None

    @property
    def title(self) -> str:
        """What the page's own window is called."""
        return f"{self.verb.mark} {self.verb}"

    def key(self, key: str) -> Act:
        """Take one key: a character, `enter`, `escape`."""
        if isinstance(self.found, Refusal) or key in ("escape", "q", "\x03", "\x04"):
            return Act.LEAVE
        if key == "enter":
            return Act.STAY if self.refusal else Act.GO
        if key in _PLACES and not self.is_here:
            self.place = _PLACES[key][0]
        elif key == "w" and self.verb is Verb.FORK:
            self.wants_worktree = not self.wants_worktree
        return Act.STAY

    def body(self, columns: int) -> list[Line]:
        """
        What has to be seen before anything is agreed to, for a screen so wide: at least 2.

        No line is wider than the screen, and nothing of the argument list is left out.
        """
        return fitted(self._body(columns), columns)

    def keys(self, columns: int) -> list[Line]:
        """What the keys do, for a screen so wide."""
        if isinstance(self.found, Refusal):
            return fitted([(("", "  "), ("key", "any key"), ("", " leaves"))], columns)
        keys = [*([] if self.refusal else [("Enter", str(self.verb))]), ("Esc", "leave")]
        if not self.is_here:
            keys += [(key, name) for key, (_, name, _) in _PLACES.items()]
        if self.verb is Verb.FORK:
            keys.append(("w", "no worktree" if self.wants_worktree else "new worktree"))
        return fitted(key_lines(keys, columns), columns)

    def _body(self, columns: int) -> list[Line]:
        inner = max(10, columns - 4)
        if isinstance(self.found, Refusal):
            return [
                (("title", f"  {self.verb.mark}  Not {'forked' if self.verb is Verb.FORK else 'resumed'}"),),
                (),
                *wrapped(f"{sentence(self.found.text)}", inner),
                (),
                (("dim", f"  (rule: {self.found.rule}; nothing was started)"),),
            ]
        plan, made = self.found, self.made
        rows: list[Line] = [*wrapped(plan.warning, inner, "bad"), ()] if plan.warning else []
        rows += [(("title", f"  {self.verb.mark}  {self.verb.capitalize()} {plan.display}"),), ()]
        rows += [(("", "  "), ("", line)) for line in _flow([_exact(word) for word in plan.argv], inner - 2)]
        rows += [
            (),
            *_fact("in", plan.cwd if made is None else f"{made.cwd} (new worktree)", inner),
            *_fact("as", "this pane" if self.is_here else self.place.words, inner),
            *_fact("known", str(plan.method), inner),
        ]
        if made is not None:
            rows += _fact("branch", f"{made.branch} (new)", inner)
            if made.changed:
                many = (
                    "change is not committed and stays" if made.changed == 1 else "changes are not committed and stay"
                )
                left = f"{made.changed} {many} behind."
                rows += wrapped(left, inner, "dim")
        for note in (*plan.notes, *(made.notes if made is not None else ())):
            rows += wrapped(note, inner, "dim")
        if self.refusal is not None:
            rows += [(), *wrapped(f"{sentence(self.refusal.text)} (rule: {self.refusal.rule})", inner, "bad")]
        return rows


def sentence(text: str) -> str:
    """*text* with a capital and a dot."""
    return f"{text[:1].upper()}{text[1:]}."


def command_line(argv: Sequence[str]) -> str:
    """*argv* quoted as for a shell, so that every argument can be seen apart from its neighbours."""
    return " ".join(_exact(word) for word in argv)


def _clean(text: str) -> str:
    return sanitise(text, cells=4096)


def _exact(word: str) -> str:
    """*word* in a form that no other word has: characters that cannot be shown are spelled out."""
    quoted = shlex.quote(word)
    return quoted if quoted.isprintable() and _clean(quoted) == quoted else ascii(word)


def _flow(words: Sequence[str], columns: int) -> list[str]:
    """Lines with as many *words* as fit; one that fits no line is broken, never cut."""
    rows: list[str] = []
    line = ""
    for word in words:
        for part in _broken(word, columns):
            joined = f"{line} {part}" if line else part
            if width(joined) > columns:
                rows.append(line)
                joined = part
            line = joined
    return [*rows, line] if line else rows


def _broken(word: str, columns: int) -> list[str]:
    parts = [""]
    for character in word:
        if width(parts[-1] + character) > columns:
            parts.append("")
        parts[-1] += character
    return parts


def _fact(name: str, text: str, columns: int) -> list[Line]:
    first, *rest = _flow(_clean(text).split(" "), max(4, columns - 9)) or [""]
    return [(("dim", f"  {name:<7}"), ("", first)), *((("", f"{'':9}{line}"),) for line in rest)]


def wrapped(text: str, columns: int, style: str = "") -> list[Line]:
    """*text* in lines of so many columns, two of them blank."""
    return [(("", "  "), (style, line)) for line in _flow(_clean(text).split(" "), columns - 2)]


def fitted(lines: Sequence[Line], columns: int) -> list[Line]:
    """*lines* with those that are wider than the screen broken."""
    fitted: list[Line] = []
    for line in lines:
        rows: list[list[Piece]] = [[]]
        left = columns
        for style, text in line:
            for character in text if width(text) > left else (text,):
                if width(character) > left and rows[-1]:
                    rows.append([])
                    left = columns
                rows[-1].append((style, character))
                left -= width(character)
        fitted += [tuple(row) for row in rows]
    return fitted


def key_lines(keys: Sequence[tuple[str, str]], columns: int) -> list[Line]:
    """Keys and what they do, in as few lines of so many columns as hold them."""
    rows: list[list[Piece]] = [[]]
    used = 0
    for key, what in keys:
        size = 2 + len(key) + 1 + len(what)
        if used and used + size > columns:
            rows.append([])
            used = 0
        rows[-1] += [("", "  "), ("key", key), ("", f" {what}")]
        used += size
    return [tuple(row) for row in rows]
