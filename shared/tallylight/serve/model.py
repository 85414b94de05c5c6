"""What the server says, as types: https://docs.pydantic.dev . They are the schemas of its OpenAPI document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tallylight.serve.typist import MAX_TEXT
from tallylight.snapshot_schema import Pane
from tallylight.status import Kind, Status
from tallylight.text import sanitise

VERSION: Literal[1] = 1
StatusWord = Literal["working", "waiting", "background", "done", "error", "down", "idle", "active"]
KindWord = Literal["permission", "question", "input", "auth"]


class Choice(BaseModel):
    """An answer a prompt takes: what is typed for it, and what it says."""

    keys: str
    label: str


class Session(BaseModel):
    """One pane with an agent. Times are seconds since the epoch; every text was written by a program and is cleaned."""

    address: str = Field(description="names it among all hosts: `kitty-4711:3`")
    host: str
    id: str
    status: StatusWord
    kind: KindWord | None
    agent: str
    project: str
    title: str
    host_title: str = Field(description="the detached session or workspace it belongs to")
    message: str
    question: str = Field(description="what it asks, while it waits")
    choices: list[Choice]
    progress: str = Field(description="`3/7`, or nothing")
    background: int = Field(description="background tasks and subagents that still run")
    since: float = Field(description="when this status began")
    seen: bool
    snoozed_until: float
    source: str = Field(description="the source that decided the status")
    rule: str
    can_type: bool = Field(description="whether text can be sent to it from here")


class Sessions(BaseModel):
    """Sessions, most urgent first."""

    version: Literal[1] = VERSION
    sessions: list[Session]


class Counts(BaseModel):
    """How many sessions have each status."""

    version: Literal[1] = VERSION
    counts: dict[StatusWord, int]
    total: int


class Buffer(BaseModel):
    """What is on a session's screen now, and what it asks."""

    version: Literal[1] = VERSION
    address: str
    question: str
    lines: list[str]


class Text(BaseModel):
    """What to type into a session."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_TEXT, description="no control characters but tab and newline")
    enter: bool = Field(default=True, description="whether Return is pressed after it")


class Done(BaseModel):
    """It was done."""

    version: Literal[1] = VERSION
    address: str


class Problem(BaseModel):
    """Why a request was not served."""

    detail: str


class Event(BaseModel):
    """A message of the WebSocket: first `state` with every session, then a `change` or `gone` each time."""

    version: Literal[1] = VERSION
    type: Literal["state", "change", "gone"]
    sessions: list[Session] | None = None
    session: Session | None = None
    address: str | None = None


def session_of(host: str, pane: Pane, *, can_type: bool) -> Session:
    """What is said of *pane*."""
    return Session(
        address=f"{host}:{pane.id}",
        host=host,
        id=pane.id,
        status=STATUSES[pane.status],
        kind=_KINDS[pane.kind] if pane.kind is not None else None,
        agent=sanitise(pane.agent),
        project=sanitise(pane.project),
        title=sanitise(pane.title),
        host_title=sanitise(pane.host_title),
        message=sanitise(pane.message),
        question=sanitise(pane.question or pane.message) if pane.status is Status.WAITING else "",
        choices=[Choice(keys=keys, label=sanitise(label)) for keys, label in pane.choices],
        progress=sanitise(pane.progress),
        background=pane.background,
        since=pane.since,
        seen=pane.seen,
        snoozed_until=pane.snoozed_until,
        source=pane.reason.source,
        rule=sanitise(pane.reason.rule),
        can_type=can_type,
    )


#: A status, as the server words it.
STATUSES: dict[Status, StatusWord] = {
    Status.WORKING: "working",
    Status.WAITING: "waiting",
    Status.BACKGROUND: "background",
    Status.DONE: "done",
    Status.ERROR: "error",
    Status.DOWN: "down",
    Status.IDLE: "idle",
    Status.ACTIVE: "active",
}
_KINDS: dict[Kind, KindWord] = {
    Kind.PERMISSION: "permission",
    Kind.QUESTION: "question",
    Kind.INPUT: "input",
    Kind.AUTH: "auth",
}
