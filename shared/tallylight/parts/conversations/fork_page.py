"""
The page that shows the command of a fork or resume, and its keys. Pure: lines out, keys in.

The page shows the exact argument list, quoted as for a shell, its directory, and how the list is known. One key starts
it; every other key leaves, or changes the place.
"""

from __future__ import annotations

import attrs

from tallylight.actions.gate import Refusal
from tallylight.actions.page import PLACES, Act, Line, Place, exact, facts, fitted, flow, key_lines, sentence, wrapped
from tallylight.parts.conversations.plan import Plan, Verb
from tallylight.parts.conversations.worktrees import Base


@attrs.define
class ForkPage:
    """
    One page.

    *wants_worktree* is the person's choice. The caller then looks the worktree up, and sets *worktree* to it, or to its
    refusal. With *is_here* the command starts in the page's own terminal, without a choice of place.
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
        """The title of the page's own window."""
        return f"{self.verb.mark} {self.verb}"

    def key(self, key: str) -> Act:
        """Take one key: a character, `enter`, `escape`."""
        if isinstance(self.found, Refusal) or key in ("escape", "q", "\x03", "\x04"):
            return Act.LEAVE
        if key == "enter":
            return Act.STAY if self.refusal else Act.GO
        if key in PLACES and not self.is_here:
            self.place = PLACES[key][0]
        elif key == "w" and self.verb is Verb.FORK:
            self.wants_worktree = not self.wants_worktree
        return Act.STAY

    def body(self, columns: int) -> list[Line]:
        """
        Return the lines that a person must see before they agree, for a screen of *columns*, at least 2.

        No line is wider than the screen, and nothing of the argument list is left out.
        """
        return fitted(self._body(columns), columns)

    def keys(self, columns: int) -> list[Line]:
        """Return the lines that explain the keys, for a screen of *columns*."""
        if isinstance(self.found, Refusal):
            return fitted([(("", "  "), ("key", "any key"), ("", " leaves"))], columns)
        keys = [*([] if self.refusal else [("Enter", str(self.verb))]), ("Esc", "leave")]
        if not self.is_here:
            keys += [(key, name) for key, (_, name, _) in PLACES.items()]
        if self.verb is Verb.FORK:
            keys.append(("w", "no worktree" if self.wants_worktree else "new worktree"))
        return fitted(key_lines(keys, columns), columns)

    def _body(self, columns: int) -> list[Line]:
        """Return the lines of the page: the command, its directory and its notes, or the refusal."""
        inner = max(10, columns - 4)
        if isinstance(self.found, Refusal):
            return [
                (("title", f"  {self.verb.mark}  Not {'forked' if self.verb is Verb.FORK else 'resumed'}"),),
                (),
                *wrapped(f"{sentence(self.found.text)}", inner),
                (),
                (("dim", "  Nothing was started."),),
            ]
        plan, made = self.found, self.made
        rows: list[Line] = [*wrapped(plan.warning, inner, "bad"), ()] if plan.warning else []
        rows += [(("title", f"  {self.verb.mark}  {self.verb.capitalize()} {plan.display}"),), ()]
        rows += [(("", "  "), ("", line)) for line in flow([exact(word) for word in plan.argv], inner - 2)]
        rows += [
            (),
            *facts("in", plan.cwd if made is None else f"{made.cwd} (new worktree)", inner),
            *facts("as", "this pane" if self.is_here else self.place.words, inner),
            *facts("known", str(plan.method), inner),
        ]
        if made is not None:
            rows += facts("branch", f"{made.branch} (new)", inner)
            if made.changed:
                many = (
                    "change is not committed and stays" if made.changed == 1 else "changes are not committed and stay"
                )
                left = f"{made.changed} {many} behind."
                rows += wrapped(left, inner, "dim")
        for note in (*plan.notes, *(made.notes if made is not None else ())):
            rows += wrapped(note, inner, "dim")
        if self.refusal is not None:
            rows += [(), *wrapped(sentence(self.refusal.text), inner, "bad")]
        return rows
