"""Pictures over the private channel: what travels, and what is made of it on the other side."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tallylight.actions.request import Picture, decode_reply, encode_reply
from tallylight.ui.agent_list import pictures
from tallylight.ui.agent_list.pictures import Receiver, Sender
from tallylight.wire.styled import MAX_ROWS, MAX_STYLED_ROW_CHARS, Run, Style, StyledScreen, plain
from tests.tables import each

_RED = Style(foreground=1)


class Channel:
    """A terminal and its list."""

    def __init__(self) -> None:
        self.sender, self.receiver = Sender(), Receiver()
        self.sent: dict[str, Any] = {}

    def show(
        self, *rows: str, pane: str = "1", columns: int = 20, cursor: tuple[int, int] | None = None
    ) -> StyledScreen | None:
        """What the list has after the terminal was asked for a screen that shows *rows*."""
        message = self.sender.picture(pane, rows, columns, cursor, self.receiver.has(pane))
        found = decode_reply(encode_reply(Picture(message)))
        assert isinstance(found, Picture)
        self.sent = found.message  # type: ignore[assignment]
        return self.receiver.take(pane, found.message)

    @property
    def travelled(self) -> list[int]:
        """The rows that were sent last."""
        return [index for index, _ in self.sent["rows"]]


def texts(screen: StyledScreen | None) -> list[str]:
    assert screen is not None
    return [plain(line) for line in screen.lines]


def test_only_rows_that_changed_travel() -> None:
    """The first picture is whole, the next are differences; nothing new is nothing but a number."""
    channel = Channel()
    first = channel.show("\x1b[m\x1b[31mred", "two", "", cursor=(1, 3))
    assert first == StyledScreen(columns=20, lines=((Run("red", _RED),), (Run("two"),), ()), cursor=(1, 3))
    assert channel.travelled == [0, 1]

    assert texts(channel.show("\x1b[m\x1b[31mred", "2", "three")) == ["red", "2", "three"]
    assert channel.travelled == [1, 2]
    number = channel.sent["number"]
    assert texts(channel.show("\x1b[m\x1b[31mred", "2", "three")) == ["red", "2", "three"]
    assert (channel.travelled, channel.sent["number"]) == ([], number)

    # A screen that is cleared, or becomes smaller.
    assert texts(channel.show("", "2", "three")) == ["", "2", "three"]
    assert channel.travelled == [0]
    assert texts(channel.show("", "2")) == ["", "2"]
    assert texts(channel.show("", "2", "", "4")) == ["", "2", "", "4"]
    assert channel.travelled == [3]


def test_another_pane_is_sent_whole() -> None:
    """And so is the first one when the list returns to it."""
    channel = Channel()
    channel.show("same", "one")
    assert texts(channel.show("same", "two", pane="2")) == ["same", "two"]
    assert channel.travelled == [0, 1]
    assert texts(channel.show("same", "one")) == ["same", "one"]
    assert channel.travelled == [0, 1]


def test_a_picture_that_was_lost_is_sent_whole_the_next_time() -> None:
    """A list that has another one than the terminal believes takes nothing of the difference."""
    channel = Channel()
    channel.show("one", "two")
    difference = channel.sender.picture("1", ["one", "2"], 20, None, channel.receiver.has("1"))
    assert Receiver().take("1", difference) is None
    channel.receiver = Receiver()
    assert texts(channel.show("one", "2")) == ["one", "2"]
    assert channel.travelled == [0, 1]


def test_another_width_is_read_anew() -> None:
    """Rows that did not change may have been cut at other columns."""
    channel = Channel()
    assert texts(channel.show("x" * 30, "two", columns=20)) == ["x" * 20, "two"]
    assert channel.show("x" * 30, "2", columns=40) is None
    assert texts(channel.show("x" * 30, "2", columns=40)) == ["x" * 30, "2"]


@pytest.mark.slow
def test_a_picture_has_bounds() -> None:
    """However much a program draws, a message fits the channel."""
    channel = Channel()
    heavy = "🦄" * 10_000
    screen = channel.show(*[heavy + str(number) for number in range(2 * MAX_ROWS)], columns=1000)

    assert screen is not None and len(screen.lines) == MAX_ROWS
    assert isinstance(decode_reply(encode_reply(Picture(channel.sent))), Picture)
    assert sum(len(row) for _, row in channel.sent["rows"]) <= pictures.MAX_PICTURE_CHARS

    channel.show("x" * 2 * MAX_STYLED_ROW_CHARS)
    assert [len(row) for _, row in channel.sent["rows"]] == [MAX_STYLED_ROW_CHARS]


def _message(**changes: Any) -> dict[str, Any]:
    return {"number": 1, "since": 0, "columns": 80, "count": 2, "cursor": None, "rows": [[0, "x"]], **changes}


@each(
    "message",
    [
        None, [], "x", 3, {}, _message(number=None), _message(number=-1), _message(number=True), _message(since="0"),
        _message(since=5), _message(columns=0), _message(columns=1.5), _message(count=MAX_ROWS + 1), _message(count=-1),
        _message(rows=None), _message(rows={}), _message(rows=[[0]]), _message(rows=[[2, "x"]]), _message(rows=["x"]),
        _message(rows=[[-1, "x"]]), _message(rows=[[True, "x"]]), _message(rows=[[0, None]]),
        _message(rows=[[0, "x"]] * (MAX_ROWS + 1)), _message(rows=[[0, "x", "y"]]),
    ],
)  # fmt: skip
def test_what_is_no_picture_shows_nothing(message: object) -> None:
    """Nothing of it is taken over."""
    receiver = Receiver()

    assert receiver.take("1", message) is None
    assert receiver.has("1") == 0


@each("cursor", [None, [], [1], [1, 2, 3], ["1", 2], [-1, 2], [1, 10**6], {"row": 1}])
def test_a_cursor_that_is_none(cursor: object) -> None:
    """The screen is shown without it."""
    found = Receiver().take("1", _message(cursor=cursor))

    assert found is not None and found.cursor is None


def test_a_row_cannot_end_its_message() -> None:
    """Line ends and quotes in a row are within JSON, and then are no text that is drawn."""
    channel = Channel()
    screen = channel.show('a"]]}\nb', "\x1b]8;;x\x07link", "\ud800", "\x00")

    assert texts(screen) == ['a"]]} b', "link", "", ""]
    assert b"\n" not in json.dumps(channel.sent).encode()
