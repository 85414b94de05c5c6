"""The types of the server's replies, which are the schemas of its OpenAPI document: https://docs.pydantic.dev ."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import attrs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from tallylight.actions import answer
from tallylight.actions.say import MAX_TYPED
from tallylight.model import repository_status as seen
from tallylight.model.dialog import MAX_DIALOG_CHOICES
from tallylight.model.status import Status
from tallylight.parts.web import theme
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.elsewhere import place_of
from tallylight.wire import styled
from tallylight.wire.text import sanitise

VERSION: Literal[1] = 1
#: The longest reply, in cells.
PAGE_REPLY_CELLS = 500
StatusWord = Literal["working", "waiting", "limited", "quiet", "background", "done", "error", "down", "idle", "active"]
Address = Annotated[str, StringConstraints(min_length=1, max_length=400)]
StyleWord = Literal["bold", "dim", "italic", "underlined", "reverse", "struck"]
Colour = Annotated[int, Field(ge=0, le=255)] | Annotated[str, StringConstraints(pattern="^#[0-9a-f]{6}$")]
#: Text of a program or a person, cleaned on its way out.
Clean = Annotated[str, BeforeValidator(sanitise)]
Reply = Annotated[str, BeforeValidator(lambda said: sanitise(said, cells=PAGE_REPLY_CELLS))]
#: The largest number that all JSON readers keep exactly.
_MAX_JSON_NUMBER = 2**53
KindWord = Literal["permission", "question", "input", "auth", "limit"]


class Versioned(BaseModel):
    """An answer of the server, of this version."""

    version: Literal[1] = VERSION


class Keys(BaseModel):
    """An answer that a prompt accepts: its keys and its label."""

    keys: str
    label: Clean


class Child(BaseModel):
    """A subagent."""

    name: Clean
    status: Clean


class Changes(BaseModel):
    """A work tree against its last commit, and that against the branch it follows, in commits."""

    model_config = ConfigDict(from_attributes=True)

    added: int = Field(description="added lines in tracked files")
    removed: int
    new: int = Field(description="untracked files and directories")
    ahead: int
    behind: int


class Beside(BaseModel):
    """The repository that an agent works in; read every few seconds while somebody listens to `changes`."""

    model_config = ConfigDict(from_attributes=True)

    branch: Clean = Field(description="the short commit, if `is_detached`")
    is_detached: bool
    worktree: Clean = Field(description="the name of its linked git worktree")
    changes: Changes | None = Field(description="null where they are not known")


class Collision(BaseModel):
    """Another agent of the same repository that has changed a file of this one's."""

    model_config = ConfigDict(from_attributes=True)

    pane: str = Field(description="the other agent's pane, as in `address`")
    name: Clean
    file: Clean
    lines: Clean
    same: bool = Field(description="whether both have changed the same lines")
    asked: bool = Field(description="whether this one asks to write the file")
    at: float = Field(description="when the other last changed it; 0 if unknown")


class Label(BaseModel):
    """The names that a person gave a conversation in the list; empty without one."""

    name: str


class Session(BaseModel):
    """One pane with an agent. Times are seconds since the epoch; every text was written by a program and is cleaned."""

    address: str = Field(description="unique among all hosts: `kitty-4711:3`")
    name: str = Field(description="its shortest unique name: `3`, `tmux 2`")
    label: Label
    host: str
    machine: Clean = Field(description="its machine, by its name here; empty for this one")
    id: str
    status: StatusWord
    kind: KindWord | None
    agent: Clean
    project: Clean
    title: Clean
    session: Clean = Field(description="the agent's session id")
    host_title: Clean = Field(description="its detached session or workspace")
    message: Clean
    question: Clean = Field(description="its question, while it waits")
    what: Clean = Field(description="the subject of the question: `Bash: npm test`, or empty")
    choices: list[Keys]
    progress: Clean = Field(description="`3/7`, or nothing")
    tasks: list[Clean] = Field(description="its tasks, in order")
    doing: Clean = Field(description="the current task and activity")
    topic: Clean = Field(description="the topic of the conversation, in the agent's words")
    last_prompt: Clean = Field(description="the first line of your last prompt")
    mode: Clean
    worktree: Clean
    cwd: Clean = Field(description="the agent's directory, as it reports it")
    model: Clean = Field(description="from the agent's own record, like the next five")
    context: int | None = Field(description="used part of its context, in percent")
    beside: Beside | None = Field(description="null where no repository is known")
    collisions: list[Collision] = Field(description="the same lines first")
    children: list[Child] = Field(description="its subagents")
    reply: Reply = Field(description="the first lines of its last reply")
    outcome: Reply = Field(description="when done: the last sentence of its reply, or its final question")
    diffstat: tuple[int, int] | None = Field(description="when done: uncommitted lines added and removed there")
    limited_until: float = Field(description="end of the agent's limit; 0 for none")
    unanswered_since: float = Field(description="start of a request without an answer for a minute; 0 for none")
    queued: Clean = Field(description="the text that waits to be typed, one line")
    queued_until: float = Field(description="end of the limit that it waits for; 0 for none")
    unsent: Clean = Field(description="why it was dropped")
    cost: float | None = Field(description="in US dollars, as the agent reports it")
    background: int = Field(description="background tasks and subagents that still run")
    since: float = Field(description="when this status began")
    seen: bool
    snoozed_until: float
    muted_until: float
    source: str = Field(description="the source that decided the status")
    rule: Clean
    can_see: bool = Field(description="whether its screen can be read")
    can_type: bool = Field(description="whether it can be answered from here")


class Sessions(Versioned):
    """Sessions, most urgent first."""

    sessions: list[Session]
    stale: str = Field(description="why the list may be out of date: `kitty-4711: … as of 12:03:10`, or empty")


class Counts(Versioned):
    """How many sessions have each status."""

    counts: dict[StatusWord, int]
    total: int


class Choice(BaseModel):
    """One choice of a question, by its number from 1; *keys* will be typed, empty if unknown."""

    number: int
    label: str
    keys: str


class Question(Versioned):
    """
    The question of a session at this moment.

    `POST answer` sends back *pid*, *start*, *fingerprint* and a choice's number. Rows of *context* before *first* come
    before the dialog; the others must have been shown to the person. Without choices any text may be the answer: `POST
    text` with this *fingerprint*.
    """

    address: str
    agent: Clean
    pid: int = Field(description="the agent's process")
    start: int = Field(description="when that process began, in clock ticks since the boot")
    fingerprint: str = Field(description="of the whole visible screen")
    question: str
    context: list[str] = Field(description="the rows above the choices, from the top of the screen")
    first: int = Field(description="the index in `context` of the row where the dialog begins")
    choices: list[Choice]
    missing: str = Field(description="the part that is not on the screen; then no answer is accepted")


class Run(BaseModel):
    """Text of one style. A colour is a number of the terminal's palette, `#rrggbb`, or null: that of the theme."""

    text: str
    foreground: Colour | None = None
    background: Colour | None = None
    style: list[StyleWord] = []


class Buffer(Versioned):
    """A session's screen at this moment, its question, and the possible actions: all of one look."""

    address: str
    lines: list[str]
    screen: list[list[Run]] = Field(description="the same lines with their colours, where these are known")
    question: Question | None
    pid: int = Field(description="the agent's process; 0 if no agent is in the foreground")
    start: int
    can_say: bool = Field(description="whether it accepts `POST text`")
    can_interrupt: bool = Field(description="whether there is a turn to interrupt")
    why: str = Field(description="why it accepts nothing, if there is a special reason")


class _Given(BaseModel):
    """The address of a session and its process: the target of a request."""

    model_config = ConfigDict(extra="forbid", strict=True)

    address: Address = Field(description="as in `sessions`: `sessions-4711:tmux/12/%3`")
    pid: int = Field(ge=1, le=_MAX_JSON_NUMBER)
    start: int = Field(ge=0, le=_MAX_JSON_NUMBER)


class Answer(_Given):
    """A choice of a question, as `question` gave it."""

    fingerprint: str = Field(max_length=64)
    choice: int = Field(ge=1, le=MAX_DIALOG_CHOICES, description="its number")


class Text(_Given):
    """Text for an agent at its prompt, or with a question that takes any text."""

    text: str = Field(min_length=1, max_length=MAX_TYPED, description="no control characters but tab and line feed")
    enter: bool = Field(default=False, description="whether Enter is pressed after it")
    fingerprint: str = Field(default="", max_length=64, description="that of the question that takes any text")


class Interrupt(_Given):
    """The turn of an agent, to be stopped."""


class Done(Versioned):
    """The action that was done, such as `answered 1. Yes`."""

    address: str
    done: str


class Problem(BaseModel):
    """Why a request was not served; *rule* names the rule that refused to do it, with 409."""

    detail: str
    rule: str = ""


class Event(Versioned):
    """
    A message of the WebSocket: first `state` with every session, then a `change` or `gone` each time.

    `state` has *stale* too, as in `Sessions`; the event `stale` reports a change of it.
    """

    type: Literal["state", "change", "gone", "stale"]
    sessions: list[Session] | None = None
    session: Session | None = None
    address: str | None = None
    stale: str | None = None


def session_of(found: Row, beside: seen.RepositoryStatus | None = None, *, can_see: bool, can_type: bool) -> Session:
    """Return the reply about the pane *found*."""
    pane, label = found.pane, found.label
    waits = pane.status is Status.WAITING
    own: dict[str, Any] = {
        "address": found.address,
        "name": found.name,
        "label": {"name": label.name},
        "host": found.host,
        "machine": place_of(found.host, pane.id)[0],
        "question": (pane.question or pane.message) if waits else "",
        "what": pane.what if waits else "",
        "choices": [{"keys": keys, "label": label} for keys, label in pane.choices],
        "doing": pane.doing,
        "diffstat": pane.more.get("diffstat"),
        "beside": Beside.model_validate(beside) if beside is not None and beside.branch else None,
        "collisions": list(map(Collision.model_validate, pane.collisions)),
        "children": [{"name": name, "status": status} for name, status in pane.about.children],
        "source": pane.reason.source,
        "rule": pane.reason.rule,
        "can_see": can_see,
        "can_type": can_type,
    }
    same = {name: value for name, value in pane.to_json().items() if name in Session.model_fields}
    return Session.model_validate(same | own)


def question_of(address: str, asked: answer.Question) -> Question:
    """Return the reply about a question."""
    return Question.model_validate(attrs.asdict(asked) | {"address": address})


def run_of(run: styled.Run) -> Run:
    """Return the reply about text of one style."""
    style = run.style
    foreground, background = (
        theme.css(colour) if isinstance(colour, tuple) else colour for colour in (style.foreground, style.background)
    )
    words = [word for word in get_args(StyleWord) if getattr(style, f"is_{word}")]
    return Run(text=run.text, foreground=foreground, background=background, style=words)
