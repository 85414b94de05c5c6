"""
A reading: the contents of one session's record so far, and the parts of every reader of records.

A reader takes the end of a record, or what was added since, and the reading of before, and gives the next one. It
believes nothing: an entry of another shape than the known one costs that entry.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from tallylight.evidence.records import limits
from tallylight.model import tool_call
from tallylight.model.details import Child, Details
from tallylight.model.errors import DecodeError
from tallylight.model.prose import last_question, last_sentence
from tallylight.model.report import Progress
from tallylight.model.status import Kind, Status
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: Of one record, in bytes, at a time.
TAIL_BYTES = 262_144
#: Of the entries that are kept of a list.
MAX_TASKS, MAX_CHILDREN, MAX_CALLS, MAX_EDITS, MAX_RAN = 64, 16, 64, 64, 1000
#: Of a text, in cells.
NAME_CELLS, LINE_CELLS, REPLY_CELLS, LONG_CELLS = 80, 200, 400, 400
#: Of a name or id in a record, in characters.
MAX_WORD = 256
#: Lines of a reply that are kept.
_REPLY_LINES = 4
#: Of the text that these are cut from.
_MAX_TEXT = 8_192
_MAX_TOKENS = 1 << 40
#: Characters of each text of an edit that are kept.
_MAX_EDIT = 4_096


@attrs.frozen
class Turn:
    """
    How the last turn ended, and when, in seconds since the epoch by the agent's clock.

    *status* is `working` while it goes on; a record that does not show that is left at the end before. `idle` is a turn
    that a person broke off, and `waiting` one that goes on once a person has answered, or a limit has ended.
    """

    status: Status
    at: float
    rule: str = ""
    message: str = ""
    kind: Kind | None = None


@attrs.frozen
class Phase:
    """
    What an agent itself calls what it does, since when, and when the turn of it began, in seconds since the epoch.

    A time is 0 if it was so before anybody looked.
    """

    name: str = ""
    since: float = 0.0
    began: float = 0.0


@attrs.frozen
class Edit:
    """What an agent writes into a file: *new* in the place of *old*, None: of all; when, in seconds since the epoch."""

    path: str
    old: str | None
    new: str
    at: float


@attrs.frozen
class Ran:
    """
    A call of this turn that runs a command, writes files, or asks the network: *what* it is, and when, by the agent.

    *code* is the exit code of a command, None if it is not known. *by* says who allowed or denied it, in words.
    """

    what: str
    at: float
    is_command: bool
    paths: tuple[str, ...] = ()
    code: int | None = None
    by: str = ""
    is_denied: bool = False


@attrs.define(kw_only=True)
class Reading:
    """
    The contents of a record so far. One that was handed out is not changed any more: a reader goes on with a `copy`.

    *tasks* are names by key, each with whether it is done (True), current (None) or yet to come (False); *calls* are
    the words of calls without a result, by id, of a record that shows that it asks; *children* subagents by id.
    """

    session: str = ""
    cwd: str = ""
    model: str = ""
    used: int = 0
    window: int = 0
    tasks: dict[str, tuple[str, bool | None]] = attrs.Factory(dict)
    children: dict[str, Child] = attrs.Factory(dict)
    calls: dict[str, str] = attrs.Factory(dict)
    reply: str = ""
    #: The question that the last reply of this turn ends with, and its last sentence.
    question: str = ""
    outcome: str = ""
    limited_until: float = 0.0
    cost: float | None = None
    turn: Turn | None = None
    #: What a person is asked and has not answered, by id: for records that report it.
    asked: dict[str, Kind] = attrs.Factory(dict)
    #: Whether the last message of the agent called no tool: for readers that need to know.
    is_answered: bool = False
    #: Commands that go on after the end of a turn, by id.
    background: frozenset[str] = frozenset()
    #: Subagents that went on when the turn ended, by id, where each has a record of its own.
    left: dict[str, Child] = attrs.Factory(dict)
    #: Of records that keep it in a file of its own.
    phase: Phase = Phase()
    #: What it has written of late, the latest last.
    edits: tuple[Edit, ...] = ()
    #: What ran in this turn and what was denied, by id, the latest last.
    ran: dict[str, Ran] = attrs.Factory(dict)
    #: Whether any entry of it was of a known kind.
    is_known: bool = False

    def copy(self) -> Reading:
        """A reading that says the same and may be changed."""
        return attrs.evolve(
            self,
            tasks=dict(self.tasks),
            children=dict(self.children),
            calls=dict(self.calls),
            asked=dict(self.asked),
            left=dict(self.left),
            ran=dict(self.ran),
        )

    @property
    def details(self) -> Details:
        """What of it is shown."""
        context = None
        if 0 < self.used <= _MAX_TOKENS and self.window > 0:
            context = min(100, round(100 * self.used / self.window))
        in_order = sorted(self.tasks.values(), key=lambda task: _ORDER[task[1]])
        done = sum(is_done is True for _, is_done in in_order)
        return Details(
            model=self.model,
            context=context,
            tasks=tuple(name for name, _ in in_order),
            progress=Progress(done, len(in_order)) if in_order else None,
            children=tuple(self.children.values()),
            reply=self.reply,
            outcome=self.outcome,
            limited_until=self.limited_until,
            cost=self.cost,
        )

    @property
    def asked_for(self) -> str:
        """The call that a person is asked about; nothing where several have no result: which of them is not told."""
        return next(iter(self.calls.values())) if self.asked and len(self.calls) == 1 else ""

    # What readers write down ---------------------------------------------------------------------------------

    def named(self, model: object) -> None:
        """The model, where it is reported."""
        if name := word(model):
            self.model = name

    def counted(self, used: object, window: object = None) -> None:
        """So many tokens are used, of so many; what is no number is not told."""
        if (count := values.integer(used, 0, _MAX_TOKENS)) is not None:
            self.used = count
        if (count := values.integer(window, 1, _MAX_TOKENS)) is not None:
            self.window = count

    def planned(self, tasks: Iterable[tuple[object, object]]) -> None:
        """The whole list of what is to be done: names, and the words for how far each is."""
        found = [(line(name, NAME_CELLS), is_done_word(state)) for name, state in tasks]
        self.tasks = {str(n): task for n, task in enumerate(found[:MAX_TASKS]) if task[0]}

    def replied(self, text: object) -> None:
        """The agent has said *text*."""
        if said := lines(text):
            self.reply = said
            self.question = last_question(text)
            self.outcome = line(self.question or last_sentence(text))

    def called(self, id_: object, name: object, target: object) -> None:
        """A tool is called: `Bash: touch made`."""
        key, tool, what = word(id_), line(name, NAME_CELLS), line(target)
        if key and tool:
            while len(self.calls) >= MAX_CALLS:
                del self.calls[next(iter(self.calls))]
            self.calls[key] = f"{tool}: {what}" if what else tool

    def edited(self, given: object, at: float | None) -> None:
        """A tool is called that writes files, if it is one."""
        found = [
            Edit(path[:_MAX_EDIT], old[:_MAX_EDIT] if old is not None else None, new[:_MAX_EDIT], at or 0.0)
            for path, old, new in tool_call.replaced(given)
        ]
        self.edits = (*self.edits, *found)[-MAX_EDITS:] if found else self.edits

    def runs(self, id_: object, name: object, given: object, at: float | None) -> None:
        """A tool is called: it is kept if it runs a command, writes files or asks the network, or is denied."""
        key, what = word(id_), sanitise(tool_call.tool_call(name, given), cells=LONG_CELLS) or word(name)
        if not key or not what:
            return
        while len(self.ran) >= MAX_RAN:
            del self.ran[next(iter(self.ran))]
        is_command = isinstance(given, dict) and tool_call.is_command(given)
        paths = tuple(dict.fromkeys(path[:_MAX_EDIT] for path, _, _ in tool_call.replaced(given)))
        self.ran[key] = Ran(what, at or 0.0, is_command, () if is_command else paths)

    def ended_with(self, id_: object, code: int | None, by: str = "", *, is_denied: bool = False) -> None:
        """The call has ended: a command with *code*; *by* says who allowed it, or who denied it."""
        if (one := self.ran.get(key := word(id_))) is not None:
            self.ran[key] = attrs.evolve(one, code=code if one.is_command else None, by=by, is_denied=is_denied)

    def answered(self, id_: object) -> None:
        """The call has its result."""
        self.calls.pop(word(id_), None)

    def started_child(self, id_: object, name: object, status: Status = Status.WORKING) -> None:
        """A subagent was started, or is something else now."""
        key = word(id_)
        known = self.children.pop(key, None)
        called = line(name, NAME_CELLS) or (known.name if known is not None else "")
        if not key or not called:
            return
        while len(self.children) >= MAX_CHILDREN:
            ended = (old for old, child in self.children.items() if child.status is not Status.WORKING)
            del self.children[next(ended, next(iter(self.children)))]
        self.children[key] = Child(called, status)

    def began(self, at: float | None) -> None:
        """A turn began: what was left of the one before is over, except for subagents that still work."""
        if at is not None:
            self.turn = Turn(Status.WORKING, at)
        self.limited_until, self.question, self.outcome, self.asked, self.ran = 0.0, "", "", {}, {}
        started = self.children | self.left
        self.children = {id_: child for id_, child in started.items() if child.status is Status.WORKING}
        self.left = {}

    def ended(
        self, status: Status, at: float | None, message: object = "", rule: str = "", kind: Kind | None = None
    ) -> None:
        """
        The turn ended, by *rule* if that says more than the status.

        Calls without a result never get one. One that is done and ends with a question asks that.
        """
        if status is Status.DONE and self.question:
            message, kind = self.question, Kind.QUESTION
        if at is not None:
            self.turn = Turn(status, at, f"its record: {rule or _ENDS[status]}", line(message), kind)
        self.calls, self.asked = {}, {}

    def limited(self, at: float | None, message: object, until: float = 0.0) -> None:
        """The turn ended because nothing more is available, *until* then, or as the *message* says."""
        self.ended(Status.WAITING, at, message, "usage limit", Kind.LIMIT)
        self.limited_until = max(self.limited_until, until or limits.ends(message, at))

    def followed(self, records: Mapping[str, Reading]) -> Reading:
        """
        This, with what has become of the subagents that it `left`, by what their own *records* say.

        While one goes on the turn counts as `background`. One without a record is taken to have ended.
        """
        if not self.left or self.turn is None:
            return self
        found, turns = self.copy(), {id_: record.turn for id_, record in records.items() if id_ in self.left}
        working = {id_ for id_, turn in turns.items() if turn is None or turn.status is Status.WORKING}
        found.children = {id_: self.left[id_] for id_ in self.left if id_ in working}
        if working:
            rule = "its record: the turn ended, a subagent still runs"
            found.turn = attrs.evolve(self.turn, status=Status.BACKGROUND, rule=rule)
            found.background = frozenset(working)
            return found
        ends = [turn.at for turn in turns.values() if turn is not None]
        if ends and self.turn.status is Status.BACKGROUND:
            found.turn = attrs.evolve(
                self.turn, status=Status.DONE, at=max(ends), rule="its record: its subagents ended"
            )
        found.left, found.background = {}, frozenset()
        return found

    def asks(self, id_: object, at: float | None, kind: Kind, question: object = "") -> None:
        """A person is asked in the middle of a turn."""
        if (key := word(id_)) and len(self.asked) < MAX_CALLS:
            self.asked[key] = kind
            if at is not None:
                self.turn = Turn(Status.WAITING, at, "its record: it asks", line(question), kind)

    def settled(self, id_: object, at: float | None) -> None:
        """A person has answered, or is not asked any more; the turn goes on."""
        if self.asked.pop(word(id_), None) is not None and not self.asked and at is not None:
            self.turn = Turn(Status.WORKING, at)


_ORDER: dict[bool | None, int] = {True: 0, None: 1, False: 2}
#: How the end of a turn is called that its status says all about.
_ENDS = {
    Status.DONE: "the turn ended",
    Status.IDLE: "the turn was interrupted",
    Status.ERROR: "the turn failed",
}
#: How agents call a task that is done, and one that is being done.
_DONE = frozenset({"completed", "complete", "done", "cancelled", "deleted"})
_CURRENT = frozenset({"in_progress", "in-progress", "active", "working"})


def is_done_word(state: object) -> bool | None:
    """Whether a task is done, by an agent's word for it; None for the current one."""
    name = values.text(state, MAX_WORD)
    return True if name in _DONE else None if name in _CURRENT else False


def word(value: object) -> str:
    """A name or an id: one short line, or nothing."""
    return sanitise(values.text(value, MAX_WORD), cells=NAME_CELLS)


def line(value: object, cells: int = LINE_CELLS) -> str:
    """The first line of a text that is not empty, cut to *cells*."""
    found = (part.strip() for part in values.text(value, _MAX_TEXT).splitlines())
    return sanitise(next((part for part in found if part), ""), cells=cells)


def lines(value: object) -> str:
    """The first lines of a text, as one."""
    found = [part.strip() for part in values.text(value, _MAX_TEXT).splitlines() if part.strip()]
    return sanitise(" ".join(found[:_REPLY_LINES]), cells=REPLY_CELLS)


def in_lines(
    take: Callable[[Reading, dict[str, Any], float | None], bool],
    words: tuple[bytes, ...],
    within: int = 0,
    time: str = "timestamp",
) -> Callable[[bytes, Reading | None], Reading]:
    """
    A reader of records with one JSON object a line: what is added to one, and the reading before, make the next one.

    *take* adds an entry with its *time*, and says whether it is of a known kind; see `entries` for the rest.
    """

    def read(tail: bytes, state: Reading | None) -> Reading:
        found = state.copy() if state is not None else Reading()
        for entry in entries(tail, words, within):
            found.is_known |= take(found, entry, epoch(entry.get(time)))
        return found

    return read


def entries(tail: bytes, words: tuple[bytes, ...], within: int = 0) -> Iterator[dict[str, Any]]:
    """
    The entries of a record with one JSON object a line, of those lines that hold one of *words*.

    They are looked for in the first *within* bytes of a line, or in all of it. A line that is cut is none.
    """
    for text in tail.split(b"\n"):
        if any(sought in (text[:within] if within else text) for sought in words) and (entry := entry_of(text)):
            yield entry


def entry_of(text: object) -> dict[str, Any]:
    """The object in a text of JSON; an empty one if that is cut, or holds something else."""
    try:
        return table(values.load(text)) if isinstance(text, str | bytes) else {}
    except DecodeError:
        return {}


def error_words(message: object) -> str:
    """An error's message; it may be the JSON that a server sent, in the brackets of its client."""
    text = line(message)
    inner = entry_of(text.removeprefix("[API Error: ").removesuffix("]"))
    return line(table(inner, "error").get("message")) or text


def number_of(text: str | bytes, most: float) -> float | None:
    """The number up to *most* that is written in *text*."""
    try:
        return values.number(float(text), 0, most)
    except ValueError:
        return None


def total(counts: Iterable[object]) -> int | None:
    """What counts of tokens add up to; None for nothing, which is not told."""
    return sum(values.integer(count, 0, _MAX_TOKENS) or 0 for count in counts) or None


def table(value: object, key: str = "") -> dict[str, Any]:
    """*value*, or what it holds under *key*, if that is an object; else an empty one."""
    found = value.get(key) if key and isinstance(value, dict) else value
    return found if isinstance(found, dict) else {}


def tables(value: object) -> Iterator[dict[str, Any]]:
    """The objects of a list."""
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, list) else iter(())


def epoch(stamp: object) -> float | None:
    """The time of a stamp such as `2026-11-22T09:00:00.123Z`, or of a number of ms, in seconds since the epoch."""
    if (found := values.number(stamp, 0, 1000 * values.LATEST)) is not None:
        return found / 1000
    return iso_epoch(stamp)


def iso_epoch(stamp: object) -> float | None:
    """The same of a text alone."""
    if not isinstance(stamp, str):
        return None
    try:
        return datetime.datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def target(arguments: object) -> str:
    """What a call is about: one of its arguments. They may be an object, or the text of one."""
    if isinstance(arguments, str):
        try:
            arguments = values.load(arguments)
        except DecodeError:
            return line(arguments)
    return line(tool_call.target(table(arguments)))
