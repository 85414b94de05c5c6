"""What a dialect of the scripted model has to know, and what it writes through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

#: What `PLAN` plans.
STEPS = "# Plan\n\n1. Read the parser and its tests.\n2. Rename the two helpers.\n3. Run the tests again.\n"
#: What `EDIT` writes.
CONTENT = "def area(width, height):\n    return width * height\n\n\nprint(area(3, 4))\n"
#: What `PICK` asks.
QUESTION = "The importer can read the ledger in four ways.\nSome are quick, some are careful.\nWhich way is wanted?"
CHOICES = {
    "Stream it": "Row by row, with little memory",
    "Load it whole": "Quick, but the file has to fit",
    "Sample first": "Look at one row in a hundred, then decide",
    "Leave it": "Change nothing for now",
}
#: What `TODO` puts on the list, which it says to have come to its second and its third.
TASKS = ("Read the parser", "Rename the helpers", "Run the tests")
#: What `PROSE` says, line by line.
PROSE = """\
## What the parser does

It reads the ledger line by line. There are three kinds of lines:

1. headings, which begin a section
2. entries, which hold an amount
3. notes, which are kept as they are

> Do you want to keep the old format? That is what the script asked before.

```python
def ask(text):
    answer = input(f"{text} [y/N] ")
    return answer.lower() == "y"
```

- [x] read the header
- [ ] count the entries

| column | means |
| --- | --- |
| day | when it was paid |
| sum | how much it was |

The rest is as it was: amounts are summed by section, and a section without entries is left out of the report.

"""


class Call(NamedTuple):
    """A tool call of the script: the word, such as `TOOL` or `ASK`, and what follows it."""

    word: str
    rest: str
    id: str


def states(done: int) -> list[tuple[str, str]]:
    """Each of `TASKS`, and `completed`, `in_progress` or `pending`: so many are done."""
    return [
        (task, "completed" if number < done else "in_progress" if number == done else "pending")
        for number, task in enumerate(TASKS)
    ]


class Wire(Protocol):
    """The way back to the client."""

    def send_json(self, value: object, code: int = 200) -> None:
        """Send the whole answer."""

    def start_stream(self) -> None:
        """Begin a stream of events."""

    def event(self, kind: str, **fields: Any) -> None:
        """Send one event that has a name."""

    def data(self, value: object) -> None:
        """Send one event that has none: an object, or a string as it is."""


class Dialect(Protocol):
    """How a model is asked, and how it answers."""

    @property
    def retried(self) -> frozenset[int]:
        """The statuses that this dialect's client sends again by itself."""

    def side(self, path: str, body: dict[str, Any], wire: Wire) -> bool:
        """Answer a request beside the main loop; false if it is none of this dialect's."""

    def is_main(self, path: str) -> bool:
        """Whether this is where this dialect's main loop asks."""

    def find_step(self, body: dict[str, Any]) -> tuple[str, int]:
        """The prompt in force and how many tool calls have answered it so far."""

    def text(self, body: dict[str, Any], wire: Wire, pieces: Iterable[str], tokens: int = 10) -> None:
        """Answer in words, and end the turn; *tokens* is how long the conversation is said to be by now."""

    def call(self, body: dict[str, Any], wire: Wire, call: Call) -> None:
        """Answer with a tool call."""

    def error(self, code: int) -> dict[str, Any]:
        """The body of an error."""

    def limit(self, seconds: int, until: int) -> tuple[dict[str, Any], dict[str, str]]:
        """The body and the headers of the error that nothing more is to be had for *seconds*, *until* (epoch)."""
