"""
Words of a model never decide what a dialog is, and never put one out.

Into each recorded permission of each agent come rows that its model may write: into the text of the dialog, and into
the conversation above it. They are rows that some rule looks for, taken from the agent's own other screens, made from
the pattern of the rule, or shown by programs in general; bare, indented, quoted, one or several. Whatever they say, the
screen waits for a permission with the same choices and the same keys.
"""

from __future__ import annotations

import functools
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs
import hypothesis
import pytest
from hypothesis import strategies as st

from tallylight.agents.agent import Agent
from tallylight.evidence import choices, dialogs, offers, prompts, structure
from tallylight.evidence.frame import LEFT_OUT, NO_TOP
from tallylight.evidence.prompts import read_screen
from tallylight.evidence.tail import is_edge, read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.status import Kind, Status
from tests.evidence.agents import agent
from tests.evidence.test_prompts import DIALOG, NEGATIVES, SCREENS, Screen, load

pytestmark = pytest.mark.slow

#: Draws of all agents together, in the slow test and in the inner loop.
DRAWS, FEW = 20_000, 500
#: Of the texts behind a name, one of so many is tried.
BEHIND_EACH = 8
#: Texts that are made from one pattern.
MADE = 8
#: Rows of one text: mostly one.
TALL = (1, 1, 1, 2, 5)
#: What stands in front of a text: nothing, blanks, the bar of a quotation.
FORMS = ("", "", "  ", "    ", " " * 8, "│ ", "┃ ", "▌ ", "> ")
SIDES = "│┃║▌▐"
#: How a text says that lines are left out: it may take the keys away, and nothing else.
CUT = re.compile(
    r"…|\.\.\.|\b(?:more|hidden|omitted|truncated|expand|all|left out|not shown|details|rows?|lines?)\b", re.IGNORECASE
)
#: A text that may be a choice takes the keys away where it is right above the choices.
NUMBERED = re.compile(r".{0,4}(?:[\[(]?\d{1,2}[\])]|\d{1,2}[.):]) ")
#: How often a text is inside the dialog, and of those in place of rows that are there.
INSIDE, INSTEAD = 0.75, 0.3
#: Recorded screens of what agents ask at their start.
AT_START = ("start-", "trust-")
#: What the scripts that were played wrote into rows of the agent's own. These three wrap them: the question, or any.
NAME = re.compile(r"touch made1|touch PWNED|new\.txt|area\.py|(?<=`touch)(?= ?$)")
WRAPPED = {"claude": "question", "codex": "any", "copilot": "question"}
#: Characters of a choice in front of a name in it, at least; and the beginning of a choice.
SURE = 8
LABEL = re.compile(r"\W*\d\. +")
#: The agents that have others; and those that have such.
WITH_WORDS = sorted(
    {path.parent.name for path in SCREENS if path.stem.startswith(("permission", "plan", "review"))}
    - {"grok-build"}  # its file names no permission: structure finds it
)
WITH_START = ("claude", "copilot", "gemini", "qwen")
#: What asks in general, as programs write it.
PROGRAMS = (
    *DIALOG, *(row for rows in NEGATIVES.values() for row in rows if row.strip()), "Overwrite it? [y/N]",
    "Run it? (Y)es/(N)o [Yes]:", "[sudo] password for me:", "Paste your API key:", "[y] Approve  [n] Deny",
    "Allow   Deny   enter confirm", "❯ Green", "→ Green", "● 1. Red", "› 2. Blue", "3. Blue", "? Which colour",
    "◆ Which colour", "Press Enter to continue", "Enter to select · Esc to cancel",
    "↑/↓ to navigate · enter to select · esc to cancel", "⠋ Working… (3s · esc to interrupt)", "Thinking…",
    "● Bash(ls)", "Waiting for your approval", "❯", "›", ">", "$ ", "Log in at https://example.com/", "<Yes>   <No>",
    "[ ] Red", "(o) Red", "q to quit", "Name:",
)  # fmt: skip
LETTERS = st.characters(min_codepoint=32, max_codepoint=0x2FFF, categories=("L", "N", "P", "S", "Zs"))
ROOMS = (choices, dialogs, offers, prompts, structure)


@attrs.frozen
class Words:
    """What a model may write: *rows*, made for the pattern called *name*."""

    name: str
    rows: tuple[str, ...]


@attrs.frozen
class Place:
    """Where they go: in row *at* of the screen, between *left* and *right*; *is_inside* the dialog or above it."""

    at: int
    left: str
    right: str
    is_inside: bool


@attrs.frozen
class Name:
    """
    A name of the model's in a row that its agent writes: it ends at *end* of row *at*, in the text of choice *choice*.

    Text goes on behind it, and into a row of its own below, between *left* and *right*. *choice* is -1 outside of all.
    """

    at: int
    end: int
    choice: int
    left: str
    right: str


@attrs.frozen
class Permission:
    """One recorded screen, the dialog on it, and all the places for words."""

    name: str
    screen: Screen
    dialog: Dialog
    places: tuple[Place, ...]
    names: tuple[Name, ...]

    @property
    def columns(self) -> int:
        return int(self.screen.facts["columns"])

    @property
    def is_at_start(self) -> bool:
        """Whether its agent alone wrote it, but for names of a repository."""
        return self.name.startswith(AT_START)

    def may_cover(self, place: Place, many: int) -> bool:
        """Whether so many rows above *place* are text of the dialog's, below its heading."""
        first = min((other.at for other in self.places if other.is_inside), default=0)
        rows = self.screen.lines[place.at - many : place.at]
        is_text = not any(is_edge(row) or CUT.search(row) for row in rows)
        return place.is_inside and place.at - many >= first and is_text


@functools.cache
def permissions(name: str) -> tuple[Permission, ...]:
    """The recorded permissions of an agent that have a place for words, and that its file names."""
    found = []
    for path in SCREENS:
        screen = load(path)
        is_named = not screen.facts.get("rule", "").startswith("structure:")
        if path.parent.name == name and is_named and screen.facts["shows"] == "waiting/permission":
            reading = read(screen, screen.lines, screen.cursor)
            assert reading is not None and reading.dialog is not None
            if places := tuple(_places(screen, reading.dialog)):
                names = tuple(_names(screen, reading.dialog, places))
                found.append(Permission(path.stem, screen, reading.dialog, places, names))
    return tuple(found)


def read(screen: Screen, lines: Sequence[str], cursor: int) -> prompts.ScreenReading | None:
    return read_screen(screen.agent, lines, cursor, columns=int(screen.facts["columns"]))


def _places(screen: Screen, dialog: Dialog) -> Iterator[Place]:
    """
    Above the dialog, and inside below its heading.

    Not between what its agent draws together: the blank rows above a dialog, its last question and its choices.
    """
    lines, place, columns = screen.lines, dialog.place, int(screen.facts["columns"])
    assert place is not None
    first = min(place.starts) if place.starts else place.end
    top = dialog.top if dialog.missing != NO_TOP else min(place.top, place.asks)
    is_inside = dialog.missing != NO_TOP
    if not is_inside and first < len(lines) and (side := _left(lines[first]).rstrip()[:2]).strip():
        is_inside, top = True, first
        while top > 0 and lines[top - 1].startswith(side):
            top -= 1
    above = top
    while above > 0 and not _text(lines[above - 1]):
        above -= 1
    for at in range(1, above + 1):
        yield Place(at, "", _right(lines[at - 1], columns), is_inside=False)
    texts = [at for at in range(top, first) if _text(lines[at])]
    if not is_inside or not texts:
        return
    begin, end = texts[0] + 1, texts[-1] + 1 if place.starts else texts[-1]
    if all(_text(line) for line in lines[place.asks : texts[-1]]):
        end = place.asks
    elif place.asks >= texts[0]:
        asked = _text(lines[place.asks])
        begin = place.asks + 1
        while len(asked) < len(dialog.question):
            asked += f" {_text(lines[begin])}"
            begin += 1
    margin = min((len(_indent(lines[at])) for at in texts[1:]), default=1)
    for at in range(begin, end + 1):
        is_empty_box = is_edge(lines[at - 1]) and is_edge(lines[at])
        if not is_empty_box:
            beside = next((line for line in (lines[at - 1], lines[at], lines[first]) if not is_edge(line)), "")
            yield Place(at, _left(beside) + " " * margin, _right(beside, columns), is_inside=True)


def _names(screen: Screen, dialog: Dialog, places: Sequence[Place]) -> Iterator[Name]:
    """The names in what the agent writes itself: the first row, the question, the choices."""
    place, columns = dialog.place, int(screen.facts["columns"])
    assert place is not None
    inside = [other.at for other in places if other.is_inside]
    top = dialog.top if dialog.missing != NO_TOP else place.top
    own = [*range(top, min(inside, default=place.end)), *range(max(inside, default=place.end), place.end)]
    for at in own:
        line = screen.lines[at]
        found, choice = NAME.search(line), sum(start <= at for start in place.starts) - 1
        if found is not None and (choice < 0 or WRAPPED.get(screen.agent.name) == "any"):
            numbered = LABEL.match(line) if choice >= 0 else None
            indent = numbered.end() - len(_left(line)) if numbered is not None else len(_indent(line))
            yield Name(at, found.end(), choice, _left(line) + " " * indent, _right(line, columns))


def _left(line: str) -> str:
    """The sides of boxes and bars that *line* begins with."""
    found = re.match(rf" *(?:[{SIDES}] ?)*[{SIDES}](?= |$)|", line)
    assert found is not None
    return found[0]


def _right(line: str, columns: int) -> str:
    """The right sides of boxes, and a scroll bar at the edge of the screen."""
    rest = line[len(_left(line)) :].rstrip()
    found = re.search(rf"(?: ?[{SIDES}█])+$", rest)
    return found[0] if found is not None and (_left(line) or len(line.rstrip()) >= columns) else ""


def _indent(line: str) -> str:
    inside = line[len(_left(line)) :]
    return inside[: len(inside) - len(inside.lstrip(" "))]


def _text(line: str) -> str:
    """What is in a row, less frames; nothing for an edge."""
    return "" if is_edge(line) else line.strip(" " + SIDES + "█")


def _with(one: Permission, place: Place, rows: Sequence[str], form: str, is_instead: bool) -> tuple[list[str], int]:
    """The screen with *rows*, of as many rows as before where the dialog is not at its top; and where its cursor is."""
    lines, cursor, at = list(one.screen.lines), one.screen.cursor, place.at
    room = one.columns - len(place.right)
    written = [f"{place.left}{form}{row}"[:room] for row in rows]
    written = [f"{row:<{room}}{place.right}" if place.right else row for row in written]
    if is_instead:
        lines[at - len(written) : at] = written
        return lines, cursor
    lines[at:at] = written
    cursor += len(written) * (cursor >= at)
    spare = min(len(written), place.at if not place.is_inside else one.dialog.top)
    return lines[spare:], cursor - spare


def _behind(one: Permission, name: Name, words: str) -> tuple[list[str], int]:
    """The screen with *words* behind a *name*: what is there fills its row, so that they begin the next one."""
    lines, cursor = list(one.screen.lines), one.screen.cursor
    room = one.columns - len(name.right)
    line = lines[name.at].rstrip().removesuffix(name.right.strip()).rstrip()
    head, tail = line[: name.end], line[name.end :]
    rows = [f"{head} {'x' * (room - len(head) - 2)}", f"{name.left}{words}"[: room - len(tail)] + tail]
    lines[name.at : name.at + 1] = [f"{row:<{room}}{name.right}" if name.right else row for row in rows]
    spare = min(1, one.dialog.top)
    return lines[spare:], cursor + (cursor > name.at) - spare


def _patterns(who: Agent) -> dict[str, re.Pattern[str]]:
    """What the rules of an agent look for, and what is looked for on every screen, by name."""
    found = {}
    for rule in who.screen_rules:
        one = [("question", rule.question), ("top", rule.top)]
        for key in ("lines", "without", "not_below"):
            one += [(key, pattern) for pattern in getattr(rule, key)]
        found |= {f"{rule.name}, {key} {n}": pattern for n, (key, pattern) in enumerate(one) if pattern is not None}
    for room in ROOMS:
        name = room.__name__.rpartition(".")[2]
        found |= {f"{name}.{key}": one for key, one in vars(room).items() if isinstance(one, re.Pattern)}
    return found


@functools.cache
def _recorded(name: str) -> tuple[tuple[str, ...], ...]:
    """The text of the rows of each screen of an agent, with blank ones."""
    screens = [load(path) for path in SCREENS if path.parent.name == name]
    return tuple(tuple(row.text for row in read_tail(screen.lines)) for screen in screens)


@functools.cache
def _words(name: str, pattern: re.Pattern[str], is_made: bool) -> tuple[tuple[str, ...], ...]:
    """Texts in which the first row is matched by *pattern*: of the agent's screens, of programs, and made from it."""
    shown: dict[tuple[str, ...], None] = {}
    for rows in _recorded(name):
        for at, text in enumerate(rows):
            if text and pattern.match(text):
                shown |= dict.fromkeys(tuple(rows[at : at + tall]) for tall in TALL)
    shown |= dict.fromkeys((text,) for text in PROGRAMS if pattern.search(text))
    return (*shown, *(((text,) for text in _made(pattern)) if is_made else ()))


@functools.cache
def _made(pattern: re.Pattern[str]) -> list[str]:
    found: list[str] = []

    @hypothesis.seed(7)
    @hypothesis.settings(
        max_examples=MADE,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.from_regex(re.compile(rf"\A(?:{pattern.pattern})", pattern.flags), alphabet=LETTERS))
    def make(text: str) -> None:
        if (row := text.strip()) and row.isprintable():
            found.append(row)

    make()
    return found


def fault(one: Permission, lines: Sequence[str], cursor: int, words: Words, choice: int = -1) -> str:
    """What is wrong with the reading of a screen with *words*, of *choice* too; nothing if it is right."""
    found = read(one.screen, lines, cursor)
    if found is None or found.status is not Status.WAITING or found.dialog is None:
        return f"light {found.status if found is not None else 'none'}"
    dialog, was = found.dialog, one.dialog
    if dialog.kind is not Kind.PERMISSION:
        return f"kind {dialog.kind}"
    labels, before = ([option.label for option in asked.choices] for asked in (dialog, was))
    had_keys, has_keys = (any(option.keys for option in asked.choices) for asked in (was, dialog))
    if one.is_at_start and not had_keys and not has_keys:
        return ""  # nothing is typed for any of them, before and after
    if choice >= 0 and len(labels) == len(before):  # what follows the name is another, and what precedes it is not
        labels[choice], before[choice] = labels[choice][:SURE], before[choice][:SURE]
    if labels != before:
        return "choices"
    is_cut = dialog.missing == LEFT_OUT and any(map(CUT.search, words.rows))
    # Another rule may know what moves the pointer over a label that is wrapped.
    is_cut |= one.is_at_start and not had_keys
    if not has_keys and dialog.place is not None and dialog.place.starts:
        is_cut |= _is_beside_number(lines, dialog.place.starts, dialog.place.end)
    return "" if is_cut or [c.keys for c in dialog.choices] == [c.keys for c in was.choices] else "keys"


def _is_beside_number(lines: Sequence[str], starts: tuple[int, ...], end: int) -> bool:
    """A row right above the choices, or between them, begins like one: then nobody knows what each number chooses."""
    above = next((at for at in range(starts[0] - 1, -1, -1) if _text(lines[at]).strip()), -1)
    rows = [at for at in (above, *range(starts[0], end)) if at >= 0 and at not in starts]
    return any(NUMBERED.match(_text(lines[at]).strip()) for at in rows)


@attrs.frozen
class Draw:
    """One permission with one text at one place."""

    permission: Permission
    place: Place
    words: Words
    form: str
    is_instead: bool

    def fault(self) -> str:
        """What is wrong with the reading of it; nothing if it is right."""
        screen = _with(self.permission, self.place, self.words.rows, self.form, self.is_instead)
        return fault(self.permission, *screen, self.words)

    def __str__(self) -> str:
        where = "inside" if self.place.is_inside else "above"
        how = "instead of" if self.is_instead else "before"
        text = " / ".join(self.words.rows)
        place = f"{where}, {how} row {self.place.at}, form {self.form!r}"
        return f"{self.permission.name} {place}, {self.words.name}: {text!r}"


@attrs.frozen
class Behind:
    """One permission with one text behind a name."""

    permission: Permission
    name: Name
    words: Words

    def fault(self) -> str:
        screen = _behind(self.permission, self.name, self.words.rows[0])
        return fault(self.permission, *screen, self.words, self.name.choice)

    def __str__(self) -> str:
        return (
            f"{self.permission.name} behind the name in row {self.name.at}, {self.words.name}: {self.words.rows[0]!r}"
        )


def draws(who: Agent, many: int, *, is_made: bool, at_start: bool = False) -> Iterator[Draw]:
    """So many draws of one agent: each of its permissions with each pattern, in a random order that a seed fixes."""
    dice = random.Random(zlib.crc32(who.name.encode()))
    screens = [one for one in permissions(who.name) if one.is_at_start is at_start]
    pairs = [(one, *pattern) for one in screens for pattern in _patterns(who).items()]
    pairs = [pair for pair in pairs if _words(who.name, pair[2], is_made)]
    assert pairs
    while many > 0:
        for one, name, pattern in dice.sample(pairs, min(many, len(pairs))):
            rows = dice.choice(_words(who.name, pattern, is_made))
            if at_start:  # a name has one row, and is no line
                rows = tuple(row for row in rows if not is_edge(row))[:1] or ("a name",)
            is_inside = dice.random() < INSIDE
            place = dice.choice([place for place in one.places if place.is_inside is is_inside] or one.places)
            is_instead = dice.random() < INSTEAD and one.may_cover(place, len(rows))
            yield Draw(one, place, Words(name, rows), dice.choice(FORMS), is_instead)
        many -= len(pairs)


def behind(who: Agent) -> Iterator[Behind]:
    """Each text that is recorded or made, behind each name."""
    for one in permissions(who.name):
        for key, pattern in _patterns(who).items():
            for rows in _words(who.name, pattern, is_made=True):
                yield from (Behind(one, name, Words(key, rows)) for name in one.names if len(rows) == 1)


def faults(drawn: Iterable[Draw | Behind]) -> Counter[str]:
    """What is wrong in all that was *drawn*: an example of each fault of each first row, and how often it is."""
    found: Counter[str] = Counter()
    told: dict[tuple[str, str], str] = {}
    for draw in drawn:
        if wrong := draw.fault():
            example = told.setdefault((wrong, draw.words.rows[0]), f"{wrong}: {draw}")
            found[example] += 1
    return found


def summary(found: Counter[str], many: int) -> str:
    kinds: Counter[str] = Counter()
    for example, times in found.items():
        kinds[example.partition(":")[0]] += times
    lines = [f"{times:4} {example}" for example, times in sorted(found.items(), key=lambda one: (one[0], one[1]))]
    return "\n".join([f"{found.total()} of {many} are wrong: {dict(kinds.most_common())}", *lines])


@pytest.mark.parametrize("name", WITH_WORDS)
def test_words_of_a_model(name: str) -> None:
    """Whatever its model writes, the permission stays one, with its choices and their keys."""
    many = DRAWS // len(WITH_WORDS)
    found = faults(draws(agent(name), many, is_made=True))

    assert not found, summary(found, many)


@pytest.mark.parametrize("name", WITH_START)
def test_words_of_a_repository(name: str) -> None:
    """The same of what an agent asks at its start, in which names are a repository's."""
    many = DRAWS // 20
    found = faults(draws(agent(name), many, is_made=True, at_start=True))

    assert not found, summary(found, many)


@pytest.mark.parametrize("name", WRAPPED)
def test_words_behind_a_name(name: str) -> None:
    """A long name of a file or command in what the agent writes itself goes on in a row of its own, with any words."""
    drawn = list(behind(agent(name)))[::BEHIND_EACH]
    found = faults(drawn)

    assert drawn
    assert not found, summary(found, len(drawn))


def test_a_few_words_of_each_model() -> None:
    """The same with few draws, of what the agents and other programs show."""
    many = FEW // len(WITH_WORDS)
    found = sum((faults(draws(agent(name), many, is_made=False)) for name in WITH_WORDS), Counter[str]())

    assert not found, summary(found, many * len(WITH_WORDS))
