"""
What the agents did in the last days, as the server says it: the sums of `tally log`, without titles and questions.

Read on another thread, one at a time: a disk that does not answer holds up nothing else.
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
from typing import Annotated

import attrs
from fastapi import HTTPException, Query
from pydantic import BaseModel, BeforeValidator, Field

from tallylight.model.errors import TallyError
from tallylight.serve.model import Versioned
from tallylight.snapshot import history_file
from tallylight.wire.text import sanitise

#: How many days a file of turns goes back.
MAX_DAYS = 31
#: A name that a program said, cut and cleaned on its way out.
_Name = Annotated[str, BeforeValidator(functools.partial(sanitise, cells=60))]


class Sum(BaseModel):
    """What the turns of one agent in one project came to on one day."""

    day: str = Field(description="a local date of the server: `2026-11-22`")
    agent: _Name
    project: _Name
    turns: int
    worked_s: float = Field(description="seconds that it worked")
    waited_s: float = Field(description="seconds that it waited for a person")
    questions: int
    errors: int = Field(description="turns that failed or vanished")


class History(Versioned):
    """The last days, the oldest first, and what was done in them."""

    days: list[str]
    sums: list[Sum]


#: Held while the file is read. Nobody waits for it: it is of no event loop.
_READING = asyncio.Semaphore(1)


async def history(days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 7) -> History:
    """How long each agent worked and waited on each of the last *days* days, today among them."""
    if _READING.locked():
        raise HTTPException(503, "too many requests at once")
    async with _READING:
        try:
            found = await asyncio.to_thread(history_file.recent, os.environ, time.time(), days)
        except (OSError, TallyError) as error:
            raise HTTPException(503, f"the history cannot be read: {error}") from None
    return History.model_validate({"days": found.days, "sums": [attrs.asdict(one) for one in found.sums]})
