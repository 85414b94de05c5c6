"""
An agent that no file describes: whether an unknown program behaves like one.

Its name proves nothing, nor do words on its screen. It is a *candidate* once it has done one of these, which agents do
and other programs do not:

* its title began with a glyph of an agent's status, and then with another one (a spinner);
* it keeps an input of its own at the end of its screen, and works beside it: a spinner turns above the input, or a hint
  there says that Esc interrupts;
* it keeps such an input and shows a progress bar (OSC 9;4), or prompt marks (OSC 133) in its own interface;
* it keeps such an input, or a person types words at its cursor, and it sends requests as to a model
  (`evidence.traffic`);
* its package depends on a library for language models (`evidence.made_with`).

A candidate is an `Agent` without rules of its own. Its dialogs count if they look like one in any program. So do hints
at the keys of a dialog at the end of its screen, if none was beside its input before. Its title counts while a spinner
turns in it, and so does the end of its progress bar. Output and silence prove nothing.

A program that leads to another machine (ssh, `docker exec`) is a candidate by the same signs on its screen. Many
programs may run there: once a shell's prompt is at the end of its screen, the signs are forgotten.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.screens import ScreenRule
from tallylight.agents.titles import TitleRule
from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.foreground import Identity
from tallylight.evidence.process import Process
from tallylight.evidence.screen import Look
from tallylight.evidence.stranger import file_of
from tallylight.evidence.structure import COMMAND
from tallylight.evidence.tail import Row, is_in, read_tail, upwards
from tallylight.evidence.titles import LAMPS, MAX_TITLE_CHARS
from tallylight.model import attributes
from tallylight.model.status import Kind, Status

#: Of so many chances two in a row are used for looks at the screen, to see a spinner turn: while the program is young
#: or connected, and later.
OFTEN_CHANCES, SELDOM_CHANCES = 4, 40
EAGER_CHANCES = 1200
#: Looks that must have found an input.
_HELD_LOOKS = 2
#: Rows with text below an input, lines across there, rows of it, and rows above it that may show work; at most.
_BELOW_INPUT_ROWS, _EDGE_ROWS, _TALL_STRANGE_ROWS, _ABOVE_INPUT_ROWS = 6, 4, 12, 8
#: Prompt marks in its own interface; the first may be of the shell that started it.
_PROMPT_MARKS = 2

#: The ends of prompts, and rows up from the last one with text that may hold typed text.
_ASKS, _TYPED_ROWS = (">", "❯", "›", "»", "$", ":", "?"), 24
_PROMPT, _EMPTY = re.compile(r"(?:[>❯›]|>>>)(?: |$)"), (">", "❯", "›", ">>>")
_BAR = re.compile(r" {0,8}[┃▌▐│|](?: |$)")
_INTERRUPT = re.compile(r"\besc(?:ape)?\b.{0,16}\binterrupt\b", re.IGNORECASE)
_ASKED = re.compile(r".{0,120}\?$")
#: Hints at the keys that answer, read last: a dialog that marks its choices by colours alone shows nothing else.
_HINTS = tuple(
    ScreenRule(
        name=name,
        status=Status.WAITING,
        kind=kind,
        lines=(re.compile(line, re.IGNORECASE),),
        where="no input" if name == "keys for yes and no" else "end",
        last=5,
        without=(COMMAND,),
        not_below=(_PROMPT,),
        question=_ASKED,
        priority=-math.inf,
    )
    for name, kind, line in (
        # An item of a list, or a row that names the key for a new line, tells how to use the input for any prompt.
        (
            "keys to choose",
            Kind.QUESTION,
            r"(?![•*-] )(?!.*\bnew ?line).*(?:\benter|[⏎↵]) (?:to )?(?:sel|conf|choose|sub)",
        ),
        # Text typed behind them is the answer.
        (
            "a state of waiting",
            Kind.PERMISSION,
            r"(?:\W{1,3} )?(?:[\w-]{1,24} is )?a?waiting(?: for)?(?: ·)? (?:your |user )?"
            r"(?:permission|approval|confirmation)(?:…|\.{1,3})?(?: {3}|$)",
        ),
        ("keys for yes and no", Kind.PERMISSION, r".*\[y\] ?\w.{1,40}\[n\] ?\w(?!.*[:?>] {1,2}\w+$)"),
    )
)
_BRAILLE = frozenset(map(chr, range(0x2801, 0x2900)))
_CIRCLES = frozenset(map(chr, range(0x25D0, 0x25D8)))
_MOONS = frozenset(map(chr, range(0x1F311, 0x1F319)))
_STARS = frozenset("·✢✳✶✻✽*")
#: The glyphs of known spinners, one set each.
SPINNERS = (_BRAILLE, _CIRCLES, _MOONS, _STARS)


class UnknownProgram:
    """The signs that the foreground *process*, called *name*, is an agent; *agent* once they suffice."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process
        self._agent: Agent | None = None
        self._lamps: set[str] = set()
        self._inputs = 0
        self._hints: tuple[ScreenRule, ...] = _HINTS
        self._turned: dict[int, str] = {}
        self._works = self._has_bar = False
        #: The library for language models that its package names; None until that was read.
        self.made_with: str | None = None
        self._marks = 0
        #: Whether it has connections, has sent requests as to a model, and got words that a person typed at its cursor.
        self.talks = self._requests = self._is_typed = False
        #: The last row of the cursor that ended like a prompt.
        self._prompt = ""
        self._chances = 0
        self._is_look_due = False

    def is_other(self, process: Process, name: str) -> bool:
        """Return whether *process*, called *name*, is another program: a new process, or it has run another file."""
        if process is self.process:
            return False
        file = file_of(process, name) if self._agent is None else ""
        return process.run != self.process.run or (file != "" and file != file_of(self.process, self.name))

    def without_signs(self) -> UnknownProgram:
        """Return the same program without any sign; its screen is read no more often than before."""
        made = UnknownProgram(self.name, self.process)
        made._chances = self._chances
        return made

    @property
    def signs(self) -> tuple[str, ...]:
        """The signs of an agent seen so far, in words."""
        has_input = self._inputs >= _HELD_LOOKS
        found = {
            "a spinner in its title": len(self._lamps) > 1,
            "an input of its own": has_input,
            "work shown beside its input": self._works,
            "a progress bar": self._has_bar,
            "prompt marks in its interface": self._marks >= _PROMPT_MARKS,
            "requests as to a model": self._requests,
        }
        return tuple(sign for sign, is_so in (*found.items(), (self.made_with, True)) if sign and is_so)

    @property
    def agent(self) -> Agent | None:
        """The candidate; None until the signs suffice."""
        if self._agent is None and self._is_candidate:
            self._agent = candidate(self.name, self._hints)
        return self._agent

    @property
    def _is_candidate(self) -> bool:
        has_more = self._works or self._has_bar or self._marks >= _PROMPT_MARKS or self._requests
        has_input = self._inputs >= _HELD_LOOKS and has_more
        return bool(self.made_with) or len(self._lamps) > 1 or has_input or (self._is_typed and self._requests)

    # Events. Once it is a candidate no more is noted.

    def note_title(self, title: str) -> None:
        """Note the *title* that it set."""
        text = title[:MAX_TITLE_CHARS].strip()
        if self.agent is None and text[:1] in LAMPS and text[1:2].strip("\ufe0e\ufe0f") in ("", " "):
            self._lamps.add(text[0])

    def note_progress_bar(self, *, is_shown: bool) -> None:
        """Note whether it has a progress bar."""
        self._has_bar = self._has_bar or (is_shown and self.agent is None)

    def note_package(self, made_with: str, run: tuple[int, int]) -> None:
        """Note the library *made_with* of the package of the program *run*; "" for none."""
        if run == self.process.run:
            self.made_with = made_with

    def note_request(self) -> None:
        """Note that it has sent a request as to a model."""
        self._requests = True

    def note_prompt_mark(self) -> None:
        """Note a mark that a shell command has started."""
        self._marks += self.agent is None

    def wants_look(self) -> bool:
        """Return whether to read its screen at this chance, or still since an earlier one."""
        if self.agent is not None:
            return False
        if not self._is_look_due:
            self._chances += 1
            every = OFTEN_CHANCES if self.talks or self._chances <= EAGER_CHANCES else SELDOM_CHANCES
            self._is_look_due = self._chances % every in (0, 1)
        return self._is_look_due

    def look(self, lines: Sequence[str], cursor_row: int, *, cursor_visible: bool = True) -> None:
        """Note the signs on its screen: the visible rows from the top, and the row of the cursor, from 0."""
        self._is_look_due = False
        self._note_typing(lines, cursor_row if cursor_visible else None)
        rows = read_tail(lines)
        cursor = cursor_row if cursor_visible else None
        place = _find_input(rows, lines, cursor_row, cursor) if self.agent is None else None
        if place is None:
            return
        self._inputs += 1
        self._hints = tuple(hint for hint in self._hints if not is_in(hint.lines[0], rows))
        above = [row for row in rows[: place[0]] if row.text][-_ABOVE_INPUT_ROWS:]
        below = [row for row in rows[place[1] :] if row.text]
        self._works = (
            self._works or any(_INTERRUPT.search(row.text) for row in (*above, *below)) or self._is_turning(above)
        )

    def _note_typing(self, lines: Sequence[str], cursor_row: int | None) -> None:
        """Note text that a person typed: it follows a prompt that the cursor was behind, there or on its way up."""
        prompt, text = self._prompt, ""
        if cursor_row is not None and cursor_row < len(lines):
            text = lines[cursor_row].rstrip()
        if prompt:
            end = next((at + 1 for at in upwards(len(lines), len(lines)) if lines[at].strip()), 0)
            near = lines[max(0, end - _TYPED_ROWS) : end]
            typed = (row[len(prompt) :].split() for row in near if row.startswith(prompt))
            self._is_typed = self._is_typed or any(len(words) > 1 for words in typed)
        if text.endswith(_ASKS):
            self._prompt = text

    def _is_turning(self, rows: Sequence[Row]) -> bool:
        """Return whether a row begins with another glyph of the same spinner than before."""
        before, self._turned = self._turned, {}
        for distance, row in enumerate(reversed(rows)):
            glyph = row.text[:1]
            family = next((family for family in SPINNERS if glyph in family), None)
            if family is None or row.text[1:2] not in ("", " "):
                continue
            self._turned[distance] = glyph
            if before.get(distance, glyph) != glyph and before[distance] in family:
                return True
        return False


class UnknownProgramWatch:
    """Watches the unknown program in the foreground of one pane, if there is one."""

    def __init__(self) -> None:
        self.program: UnknownProgram | None = None
        #: Whether it leads to another machine; and looks in a row that ended in a shell's prompt there.
        self.is_remote = False
        self._prompts = 0

    @property
    def is_agent(self) -> bool:
        """Return whether an unknown program is taken for an agent."""
        return self.program is not None and self.program.agent is not None

    def note_foreground(self, found: Identity, *, is_wanted: bool) -> Identity:
        """
        Note that *found* holds the foreground; return it, as a candidate if it behaves like an agent and one
        *is_wanted*.
        """
        process = found.process
        self.is_remote = found.is_remote
        if found.agent is not None or process is None or not (found.suspect and is_wanted):
            self.program = None
        elif self.program is None or self.program.is_other(process, found.suspect):
            self.program = UnknownProgram(found.suspect, process)
        return self.with_candidate(found)

    def wants_look(self) -> bool:
        """Return whether to read the screen: for signs, or on another machine for their end."""
        program = self.program
        return program is not None and (program.wants_look() or (self.is_remote and program.agent is not None))

    def look(self, look: Look) -> None:
        """Note the signs on the screen of the program."""
        if self.program is None:
            return
        self.program.look(look.lines, look.cursor_row, cursor_visible=look.cursor_visible)
        if not self.is_remote:
            return
        self._prompts = self._prompts + 1 if _ends_in_prompt(look) else 0
        if self._prompts >= _HELD_LOOKS:
            self.program = self.program.without_signs()

    def with_candidate(self, found: Identity) -> Identity:
        """Return *found*, with the candidate as its agent if there is one."""
        program = self.program
        if found.agent is not None and found.agent.is_own:
            return attrs.evolve(found, agent=with_generic_rules(found.agent))
        if found.agent is not None or program is None or program.agent is None:
            return found
        rule = f"{program.name}? by {', '.join(program.signs)}"
        return attrs.evolve(found, agent=program.agent, is_direct=True, rule=rule)

    def is_candidate(self, found: Identity) -> bool:
        """Return whether *found* is the program that is taken for an agent here."""
        program, process = self.program, found.process
        is_it = program is not None and process is not None and process.run == program.process.run
        return is_it and self.is_agent


@functools.lru_cache(64)
def with_generic_rules(agent: Agent) -> Agent:
    """Return *agent*, which a person's file describes, with the rules of a candidate added."""
    any_ = candidate(agent.name)
    is_titled = bool(agent.title_rules)
    return attributes.evolve(
        agent,
        title_rules=agent.title_rules or any_.title_rules,
        title_plain_is_idle=agent.title_plain_is_idle if is_titled else any_.title_plain_is_idle,
        screen_rules=(*agent.screen_rules, *any_.screen_rules),
        progress=agent.progress or any_.progress,
    )


def candidate(name: str, hints: tuple[ScreenRule, ...] = _HINTS) -> Agent:
    """Return an agent called *name* for a candidate, with *hints*, the rules for hints at keys."""
    turning = TitleRule(status=Status.WORKING, glyphs=_BRAILLE | _CIRCLES)
    return Agent(
        name=name,
        display=name,
        title_rules=(turning,),
        title_plain_is_idle=True,
        screen_rules=hints,
        progress="busy",
    )


def _ends_in_prompt(look: Look) -> bool:
    """Return whether the cursor is behind the last text, as at a shell's prompt, and the text asks nothing."""
    is_last = not any(map(str.strip, look.lines[look.cursor_row + 1 :]))
    if not (is_last and look.cursor_visible and look.before_cursor.strip()):
        return False
    return read_dialog(read_tail(look.lines), look.cursor_row) is None


def _find_input(
    rows: Sequence[Row], lines: Sequence[str], cursor_row: int, visible: int | None
) -> tuple[int, int] | None:
    """
    Return the rows of the tail that are an input: its first, and the one behind its last; None if there is none.

    The cursor is in row *cursor_row*, and *visible* is that row unless it is hidden: then it may be anywhere.
    """
    texts_below = edges = 0
    for position in upwards(len(rows), len(rows)):
        row = rows[position]
        if row.is_edge:
            edges += 1
            top = _top_of_box(rows, position, lines, cursor_row, visible)
            if top is not None:
                return top, position + 1
        # Where the program draws a cursor of its own, an empty prompt is one all the same.
        is_here = row.number == cursor_row or (visible is None and row.text in _EMPTY)
        if _PROMPT.match(row.text) and is_here and texts_below:
            return position, position + 1
        texts_below += bool(row.text)
        if texts_below > _BELOW_INPUT_ROWS or edges > _EDGE_ROWS:
            return None
    return None


def _top_of_box(
    rows: Sequence[Row], bottom: int, lines: Sequence[str], cursor_row: int, visible: int | None
) -> int | None:
    """Return the first row of the input with its lower edge at row *bottom* of the tail; None if it is none."""
    upper = next((at for at in upwards(bottom, _TALL_STRANGE_ROWS) if rows[at].is_edge), None)
    if upper is not None and upper < bottom - 1:
        inside = rows[upper + 1 : bottom]
        text = next((row.text for row in inside if row.text), "")
        # A placeholder may be where the cursor is.
        if _PROMPT.match(text) or _has_cursor(inside, visible if text else cursor_row):
            return upper
    return _top_of_bar(rows, bottom, lines, visible)


def _top_of_bar(rows: Sequence[Row], bottom: int, lines: Sequence[str], visible: int | None) -> int | None:
    """Return the first row of the input behind a bar that is above row *bottom* of the tail."""
    first, top = max(0, bottom - _TALL_STRANGE_ROWS), bottom
    while top > first and _BAR.match(lines[rows[top - 1].number]) and not rows[top - 1].is_edge:
        top -= 1
    is_in_it = visible is None or _has_cursor(rows[top:bottom], visible)
    return top if bottom - top > 1 and is_in_it else None


def _has_cursor(rows: Sequence[Row], cursor_row: int | None) -> bool:
    return any(row.number == cursor_row for row in rows)
