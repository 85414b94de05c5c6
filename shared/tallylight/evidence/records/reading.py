"""
A reading: the contents of one session's record so far, and the parts of every reader of records.

A reader takes the end of a record, or the bytes added since, with the last reading, and returns the next one. It trusts
nothing: an entry of an unknown shape costs that entry alone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from tallylight.evidence.records import usage_limits
from tallylight.model import tool_call
from tallylight.model.details import Child, Details
from tallylight.model.errors import DecodeError
from tallylight.model.prose import last_question, last_sentence
from tallylight.model.report import Progress
from tallylight.model.status import Kind, Status
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: Bytes of one record that are read at a time.
TAIL_BYTES = 262_144
#: Entries that are kept of each list.
MAX_CALL_TASKS, MAX_CHILDREN, MAX_CALLS, MAX_CALL_EDITS, MAX_CALL_COMMANDS = 64, 16, 64, 64, 1000
#: Cells of a name, a line, a reply and a call.
RECORD_NAME_CELLS, RECORD_LINE_CELLS, RECORD_REPLY_CELLS, LONG_CELLS = 80, 200, 400, 400
#: Characters of a name or id in a record.
MAX_ID_WORD_CHARS = 256
#: Lines of a reply that are kept.
_REPLY_LINES = 4
#: Characters of the text that these are cut from.
_MAX_QUOTED_CHARS = 8_192
_MAX_TOKENS = 1 << 40
#: Characters of each text of an edit that are kept.
_MAX_EDIT_CHARS = 4_096
#: How much of the start and the end of a result is searched, and for what: a line with an exit code, and a denial.
_RESULT_CHARS = 200
_EXIT = re.compile(r"^(?:Exit Code: |Command (?:failed|exited) with (?:exit )?code:? )(\d{1,3})\b", re.MULTILINE)
_USER = re.compile(r"\b(?:user|you)\b", re.IGNORECASE)
#: Who has denied a call, in words.
BY_PERSON, BY_SETTINGS = "you denied it", "your settings denied it"
_RULES = re.compile(r"\b(?:permission rules|policy)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r".{0,120}?(?:\b(?:user|you) (?:denied|rejected|declined|blocked|(?:did not|does not|doesn't) (?:allow|want))\b|"
    r"\b(?:denied|rejected|declined|blocked) by\b)",
    re.IGNORECASE,
)


@attrs.frozen
class Turn:
    """
    How the last turn ended, and when, in seconds since the epoch by the agent's clock.

    *status* is `working` while it goes on; a record that does not show that keeps the end before. `idle` is a turn that
    a person broke off. `waiting` is one that goes on once a person has answered, or a limit has ended.
    """

    status: Status
    at: float
    rule: str = ""
    message: str = ""
    kind: Kind | None = None


@attrs.frozen
class Phase:
    """
    The agent's own name for its present activity, since when, and when its turn began, in seconds since the epoch.

    A time is 0 if it was so before the first look.
    """

    name: str = ""
    since: float = 0.0
    began: float = 0.0


@attrs.frozen
class Edit:
    """
    A text that an agent writes into a file: *new* in place of *old* (None: all of it), in seconds since the epoch.
    """

    path: str
    old: str | None
    new: str
    at: float


@attrs.frozen
class Ran:
    """
    A call of this turn that runs a command, writes files, or asks the network: *what* it is, and when, by the agent.

    *code* is the exit code of a command, None if unknown. *by* names who allowed or denied it, *subagent*
    the subagent that made it.
    """

    what: str
    at: float
    is_command: bool
    paths: tuple[str, ...] = ()
    code: int | None = None
    by: str = ""
    is_denied: bool = False
    subagent: str = ""


@attrs.define(kw_only=True)
class Reading:
    """
    The contents of a record so far. A reading that was handed out never changes: a reader continues with a `copy`.

    *tasks* are names by key, each done (True), current (None) or yet to come (False). *calls* are the words of calls
    without a result, by id, for a record that shows its questions. *children* are subagents by id.
    """

    session: str = ""
    cwd: str = ""
    model: str = ""
    used: int = 0
    window: int = 0
    tasks: dict[str, tuple[str, bool | None]] = attrs.Factory(dict)
    children: dict[str, Child] = attrs.Factory(dict)
    calls: dict[str, str] = attrs.Factory(dict)
    #: The first line of the last prompt. Only sessions without a title need it.
    prompt: str = ""
    reply: str = ""
    #: The question that the last reply of this turn ends with, and its last sentence.
    question: str = ""
    outcome: str = ""
    limited_until: float = 0.0
    cost: float | None = None
    turn: Turn | None = None
    #: The kinds of questions that a person has not answered, by id: for records that report them.
    asked: dict[str, Kind] = attrs.Factory(dict)
    #: Whether the last message of the agent called no tool: for readers that need to know.
    is_answered: bool = False
    #: Commands that continue after the end of a turn, by id.
    background: frozenset[str] = frozenset()
    #: Subagents that continued when the turn ended, by id, where each has a record of its own.
    left: dict[str, Child] = attrs.Factory(dict)
    #: The present activity, for records that keep it in a file of its own.
    phase: Phase = Phase()
    #: The latest edits, the last one last.
    edits: tuple[Edit, ...] = ()
    #: Calls of this turn that ran or were denied, by id, the latest last; and when it began, as far as that is known.
    ran: dict[str, Ran] = attrs.Factory(dict)
    since: float = 0.0
    #: Whether any entry of it was of a known kind.
    is_known: bool = False

    def copy(self) -> Reading:
        """Return an equal reading that may be changed."""
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
        """The part that is shown to a person."""
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
            prompt=self.prompt,
            reply=self.reply,
            outcome=self.outcome,
            limited_until=self.limited_until,
            cost=self.cost,
        )

    @property
    def asked_for(self) -> str:
        """The call that a person is asked about; "" where several have no result."""
        return next(iter(self.calls.values())) if self.asked and len(self.calls) == 1 else ""

    # Events that readers note -------------------------------------------------------------------------------------

    def named(self, model: object) -> None:
        """Note the model, if it is a name."""
        if name := word(model):
            self.model = name

    def counted(self, used: object, window: object = None) -> None:
        """Note that *used* tokens of *window* are used; anything but a number is ignored."""
        if (count := values.integer(used, 0, _MAX_TOKENS)) is not None:
            self.used = count
        if (count := values.integer(window, 1, _MAX_TOKENS)) is not None:
            self.window = count

    def planned(self, tasks: Iterable[tuple[object, object]]) -> None:
        """Note the whole list of tasks: their names, and the words for how far each is."""
        found = [(line(name, RECORD_NAME_CELLS), is_done_word(state)) for name, state in tasks]
        self.tasks = {str(n): task for n, task in enumerate(found[:MAX_CALL_TASKS]) if task[0]}

    def replied(self, text: object) -> None:
        """Note the agent's reply."""
        if said := lines(text):
            self.reply = said
            self.question = last_question(text)
            self.outcome = line(self.question or last_sentence(text))

    def summarised(self, text: object) -> None:
        """Note the agent's summary for a person who was away. A question of its reply stays in its place."""
        if not self.question:
            self.outcome = line(text) or self.outcome

    def called(self, id_: object, name: object, target: object) -> None:
        """Note the call of a tool: `Bash: touch made`."""
        key, tool, what = word(id_), line(name, RECORD_NAME_CELLS), line(target)
        if key and tool:
            while len(self.calls) >= MAX_CALLS:
                del self.calls[next(iter(self.calls))]
            self.calls[key] = f"{tool}: {what}" if what else tool

    def edited(self, given: object, at: float | None) -> list[Edit]:
        """Note the edits of a tool call, if it writes files, and return them."""
        found = [
            Edit(
                path[:_MAX_EDIT_CHARS],
                old[:_MAX_EDIT_CHARS] if old is not None else None,
                new[:_MAX_EDIT_CHARS],
                at or 0.0,
            )
            for path, old, new in tool_call.replaced(given)
        ]
        self.edits = (*self.edits, *found)[-MAX_CALL_EDITS:] if found else self.edits
        return found

    def runs(self, id_: object, name: object, given: object, at: float | None, subagent: str = "") -> None:
        """
        Note the call of a tool, with its edits. It is kept if it runs a command, writes files or asks the network, or
        once it is denied.
        """
        edits = self.edited(given, at)
        key, what = word(id_), sanitise(tool_call.tool_call(name, given), cells=LONG_CELLS) or word(name)
        if not key or not what:
            return
        is_command = isinstance(given, dict) and tool_call.is_command(given)
        paths = tuple(dict.fromkeys(edit.path for edit in edits))
        self._add({key: Ran(what, at or 0.0, is_command, () if is_command else paths, subagent=subagent)})

    def _add(self, ran: Mapping[str, Ran]) -> None:
        self.ran |= ran
        while len(self.ran) > MAX_CALL_COMMANDS:
            del self.ran[next(iter(self.ran))]

    def ended_with(self, id_: object, code: int | None, by: str = "", *, is_denied: bool = False) -> None:
        """Note the end of a call: *code* of a command, and *by* whom it was allowed or denied."""
        if (one := self.ran.get(key := word(id_))) is not None:
            self.ran[key] = attrs.evolve(one, code=code if one.is_command else None, by=by, is_denied=is_denied)

    def took(self, id_: object, text: object, code: object = None, *, is_error: bool) -> None:
        """Note the result *text* of a call, and the exit *code* of a command. The text may have a code, or a denial."""
        said = text if isinstance(text, str) else ""
        said = f"{said[:_RESULT_CHARS]}\n{said[-_RESULT_CHARS:]}"
        written = _EXIT.search(said)
        known = values.integer(code, 0, 255)
        known = int(written[1]) if known is None and written is not None else known
        is_denied = is_error and known is None and _DENIAL.match(said) is not None
        by = BY_PERSON if _USER.search(said) else BY_SETTINGS if _RULES.search(said) else ""
        self.ended_with(
            id_, known if known is not None or is_error else 0, by if is_denied else "", is_denied=is_denied
        )

    def answered(self, id_: object) -> None:
        """Note that the call *id_* has its result."""
        self.calls.pop(word(id_), None)

    def started_child(self, id_: object, name: object, status: Status = Status.WORKING) -> None:
        """Note that a subagent was started, or has another status now."""
        key = word(id_)
        known = self.children.pop(key, None)
        called = line(name, RECORD_NAME_CELLS) or (known.name if known is not None else "")
        if not key or not called:
            return
        while len(self.children) >= MAX_CHILDREN:
            ended = (old for old, child in self.children.items() if child.status is not Status.WORKING)
            del self.children[next(ended, next(iter(self.children)))]
        self.children[key] = Child(called, status)

    def began(self, at: float | None, *, goes_on: bool = False) -> None:
        """
        Note that a turn began. It ends the turn before, except for subagents that still work.

        *goes_on*: it is for the same prompt as the one before, so its calls are kept.
        """
        if at is not None:
            self.turn = Turn(Status.WORKING, at)
        self.limited_until, self.question, self.outcome, self.asked = 0.0, "", "", {}
        if not goes_on:
            self.ran, self.since = {}, at or 0.0
        started = self.children | self.left
        self.children = {id_: child for id_, child in started.items() if child.status is Status.WORKING}
        self.left = {}

    def ended(
        self, status: Status, at: float | None, message: object = "", rule: str = "", kind: Kind | None = None
    ) -> None:
        """
        Note that the turn ended, by *rule* if that is more exact than the status.

        Calls without a result never get one. A turn that is done and ends with a question asks that.
        """
        if status is Status.DONE and self.question:
            message, kind = self.question, Kind.QUESTION
        if at is not None:
            self.turn = Turn(status, at, f"its record: {rule or _ENDS[status]}", line(message), kind)
        self.calls, self.asked = {}, {}

    def limited(self, at: float | None, message: object, until: float = 0.0) -> None:
        """Note that the turn ended at a usage limit, which ends at *until* or as the *message* says."""
        self.ended(Status.WAITING, at, message, "usage limit", Kind.LIMIT)
        self.limited_until = max(self.limited_until, until or usage_limits.ends(message, at))

    def with_calls(self, records: Mapping[str, tuple[str, Reading]]) -> Reading:
        """Return this reading with the calls of this turn in the *records* of subagents: name and reading, by id."""
        made = {
            f"{id_} {key}": attrs.evolve(one, subagent=name)
            for id_, (name, record) in records.items()
            for key, one in record.ran.items()
            if one.at >= self.since
        }
        if made.items() <= self.ran.items():
            return self
        found = self.copy()
        found._add(made)
        return found

    def followed(self, records: Mapping[str, Reading]) -> Reading:
        """
        Return this reading with the states of the subagents that it `left`, by their own *records*.

        While one continues the turn counts as `background`. One without a record is taken to have ended.
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
        """Note that a person is asked in the middle of a turn."""
        if (key := word(id_)) and len(self.asked) < MAX_CALLS:
            self.asked[key] = kind
            if at is not None:
                self.turn = Turn(Status.WAITING, at, "its record: it asks", line(question), kind)

    def settled(self, id_: object, at: float | None) -> None:
        """Note that a person has answered, or is not asked any more; the turn goes on."""
        if self.asked.pop(word(id_), None) is not None and not self.asked and at is not None:
            self.turn = Turn(Status.WORKING, at)


_ORDER: dict[bool | None, int] = {True: 0, None: 1, False: 2}
#: The rule for the end of a turn that its status describes fully.
_ENDS = {
    Status.DONE: "the turn ended",
    Status.IDLE: "the turn was interrupted",
    Status.ERROR: "the turn failed",
}
#: Agents' words for a task that is done, and for one in progress.
_DONE = frozenset({"completed", "complete", "done", "cancelled", "deleted"})
_CURRENT = frozenset({"in_progress", "in-progress", "active", "working"})


def is_done_word(state: object) -> bool | None:
    """Return whether a task is done, by an agent's word for it; None for the current one."""
    name = values.text(state, MAX_ID_WORD_CHARS)
    return True if name in _DONE else None if name in _CURRENT else False


def word(value: object) -> str:
    """Return a name or an id as one short line, or ""."""
    return sanitise(values.text(value, MAX_ID_WORD_CHARS), cells=RECORD_NAME_CELLS)


def line(value: object, cells: int = RECORD_LINE_CELLS) -> str:
    """Return the first line of a text that is not empty, cut to *cells*."""
    found = (part.strip() for part in values.text(value, _MAX_QUOTED_CHARS).splitlines())
    return sanitise(next((part for part in found if part), ""), cells=cells)


def lines(value: object) -> str:
    """Return the first lines of a text, as one."""
    found = [part.strip() for part in values.text(value, _MAX_QUOTED_CHARS).splitlines() if part.strip()]
    return sanitise(" ".join(found[:_REPLY_LINES]), cells=RECORD_REPLY_CELLS)


def in_lines(
    take: Callable[[Reading, dict[str, Any], float | None], bool],
    words: tuple[bytes, ...],
    within: int = 0,
    time: str = "timestamp",
) -> Callable[[bytes, Reading | None], Reading]:
    """
    Return a reader of records with one JSON object a line.

    The reader takes the added bytes and the last reading, and returns the next one. *take* adds an entry with its
    *time*, and returns whether it is of a known kind. `entries` explains the rest.
    """

    def read(tail: bytes, state: Reading | None) -> Reading:
        found = state.copy() if state is not None else Reading()
        for entry in entries(tail, words, within):
            found.is_known |= take(found, entry, epoch(entry.get(time)))
        return found

    return read


def entries(tail: bytes, words: tuple[bytes, ...], within: int = 0) -> Iterator[dict[str, Any]]:
    """
    Yield the entries of a record with one JSON object a line, for the lines that hold one of *words*.

    The words are looked for in the first *within* bytes of a line, or in all of it. A cut line gives no entry.
    """
    for text in tail.split(b"\n"):
        if any(sought in (text[:within] if within else text) for sought in words) and (entry := entry_of(text)):
            yield entry


def entry_of(text: object) -> dict[str, Any]:
    """Return the object in a text of JSON; an empty one if the text is cut, or holds something else."""
    try:
        return table(values.load(text)) if isinstance(text, str | bytes) else {}
    except DecodeError:
        return {}


def error_words(message: object) -> str:
    """Return an error's message; it may be the JSON that a server sent, in the brackets of its client."""
    text = line(message)
    inner = entry_of(text.removeprefix("[API Error: ").removesuffix("]"))
    return line(table(inner, "error").get("message")) or text


def number_of(text: str | bytes, most: float) -> float | None:
    """Return the number up to *most* that is written in *text*; None for none."""
    try:
        return values.number(float(text), 0, most)
    except ValueError:
        return None


def total(counts: Iterable[object]) -> int | None:
    """Return the sum of counts of tokens; None for 0, which means no report."""
    return sum(values.integer(count, 0, _MAX_TOKENS) or 0 for count in counts) or None


def table(value: object, key: str = "") -> dict[str, Any]:
    """Return *value*, or its entry under *key*, if that is an object; else an empty one."""
    found = value.get(key) if key and isinstance(value, dict) else value
    return found if isinstance(found, dict) else {}


def tables(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list."""
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, list) else iter(())


def epoch(stamp: object) -> float | None:
    """Return a stamp such as `2026-11-22T09:00:00.123Z`, or a number of ms, in seconds since the epoch."""
    if (found := values.number(stamp, 0, 1000 * values.LATEST)) is not None:
        return found / 1000
    return iso_epoch(stamp)


def iso_epoch(stamp: object) -> float | None:
    """Return the same for a text alone."""
    if not isinstance(stamp, str):
        return None
    try:
        return datetime.datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def target(arguments: object) -> str:
    """Return the argument that a call is about. Its arguments may be an object, or the text of one."""
    if isinstance(arguments, str):
        try:
            arguments = values.load(arguments)
        except DecodeError:
            return line(arguments)
    return line(tool_call.target(table(arguments)))
