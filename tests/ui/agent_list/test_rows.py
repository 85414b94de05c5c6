"""Which panes the list shows, in what order, and what a filter finds."""

from __future__ import annotations

from typing import Any

from tallylight.snapshot import rows
from tallylight.snapshot.names import short_names
from tallylight.snapshot.next_pane import stops
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import ReasonEntry
from tallylight.ui.agent_list.draw import draw
from tallylight.ui.agent_list.filtering import grouped
from tests.tables import each
from tests.ui.agent_list.panes import NOW, asking, listed, pane, rows_of, snapshot


def test_the_neediest_comes_first() -> None:
    """Waiting, oldest first; then error, down, done, background, working, idle, the youngest first."""
    shown = rows_of(
        pane("idle", "idle"), pane("new-work", "working", 1), pane("old-work", "working", 99), pane("done", "done"),
        pane("down", "down"), asking("young", 5), pane("error", "error"), asking("old", 500),
        pane("back", "background"),
    )  # fmt: skip

    assert [row.pane.id for row in shown] == [
        "old", "young", "error", "down", "done", "back", "new-work", "old-work", "idle"
    ]  # fmt: skip


def test_what_was_put_off_stands_below_all_that_was_not() -> None:
    """A snoozed question comes after everything that needs somebody, and before what needs nobody."""
    shown = rows_of(asking("snoozed", 500, snoozed_until=NOW + 60), pane("done", "done"), pane("work"))

    assert [row.pane.id for row in shown] == ["done", "snoozed", "work"]


def test_a_snooze_that_is_over_counts_no_more() -> None:
    """Once its time has come, a question stands where it belongs."""
    assert rows_of(asking("woken", snoozed_until=NOW - 1), pane("done", "done"))[0].pane.id == "woken"


@each(
    ("status", "source", "lit"),
    [("active", "heuristic", False), ("idle", "shell", False), ("idle", "heuristic", True), ("done", "shell", True)],
)
def test_plain_commands_and_shells_are_no_agents(status: str, source: str, lit: bool) -> None:
    """A plain command and a shell at its prompt have nothing to say and are not listed."""
    assert rows.is_lit(pane(1, status, reason=ReasonEntry(source=source))) is lit


def test_panes_of_other_hosts_are_listed_and_not_our_own() -> None:
    """All hosts' panes are in one list, and each row knows whether its pane is of this terminal."""
    shown = rows.build([snapshot(pane(1)), snapshot(pane(1), host="sessions", pid=9)], "kitty-7", NOW)

    assert [(row.address, row.is_own) for row in shown] == [("kitty-7:1", True), ("sessions-9:1", False)]


@each(
    ("words", "found"),
    [
        ("", True), ("SHOP", True), ("cart", True), ("rm waiting", True), ("permission", True), ("kitty-7:3", True),
        ("shop idle", False), ("stra\u00dfe", True), ("STRASSE", True), ("zebra", False),
    ],
)  # fmt: skip
def test_a_filter_finds_words_anywhere(words: str, found: bool) -> None:
    """Every word of a filter must be found in what is known of a pane, in any case and any order."""
    more: dict[str, Any] = {"project": "shop", "title": "Fix the cart", "message": "rm build", "cwd": "/src/Straße"}

    assert Row("kitty-7", asking(3, **more)).has(words) is found


def test_names_are_as_short_as_they_can_be() -> None:
    """A name that two panes have is none of them's; what is longer still is their own for good."""
    hosts = [("kitty-7", "1"), ("kitty-8", "1"), ("kitty-7", "2"), ("wezterm-9", "4"), ("kitty-8", "4")]
    found = short_names([*hosts, ("sessions-5", "tmux/60/%4"), ("sessions-5", "screen/61/0"), ("desk/kitty-7", "2")])

    assert list(found.values()) == [
        "kitty-7:1", "kitty-8:1", "2", "wezterm 4", "kitty 4", "tmux 4", "screen 0", "desk 2"
    ]  # fmt: skip


def test_the_panes_of_one_session_stand_together() -> None:
    """They stand where the neediest of them does, know of each other, and have a heading of their own."""
    told = {"session": "0123456789ab", "topic": "Fix it"}
    panes = [
        pane(1, age=10), pane(2, age=30, agent_pid=2, **told), pane(3, "waiting", agent_pid=3, **told),
        pane(4, age=5, agent="codex", **told),
    ]  # fmt: skip
    shown = rows.build([snapshot(*panes)], "kitty-7", NOW)

    assert [(row.pane.id, row.same) for row in shown] == [("3", ("2",)), ("2", ("3",)), ("4", ()), ("1", ())]
    found, headings = grouped(shown, "session")
    assert found == shown
    assert headings == ("claude session 01234567", "claude session 01234567", "one pane each", "one pane each")
    assert any("also in pane 2" in "".join(span.text for span in line) for line in draw(listed(*panes, columns=120)))


def test_a_session_is_one_stop_of_a_jump() -> None:
    """Of its panes that show the same the newest is gone to; another light in one of them is a stop as well."""
    told = {"session": "0123"}
    panes = [
        pane(1, "waiting", 90, **told),
        pane(2, "waiting", 30, **told),
        pane(3, "done", **told),
        pane(4, "waiting"),
    ]

    assert [one.id for one in stops(panes, NOW)] == ["4", "2", "3"]


def test_a_session_has_one_row() -> None:
    """An agent in tmux is not listed again where tmux is shown; two processes of one session are two agents."""
    told = {"agent": "claude", "session": "0123"}
    there = pane("tmux/9/%1", "working", agent_pid=77, **told)
    shown = [snapshot(pane(1, **told), pane(2, **told)), snapshot(there, pane("2", session=""), host="sessions", pid=9)]

    assert [row.address for row in rows.build(shown, "kitty-7", NOW)] == ["sessions-9:2", "sessions-9:tmux/9/%1"]
    both = [snapshot(pane(1, agent_pid=5, **told)), snapshot(there, host="sessions", pid=9)]
    assert len(rows.build(both, "kitty-7", NOW)) == 2
    seen = [pane(1, age=90, **told), pane(2, "waiting", 30, **told), pane(3, "waiting", 10, **told)]
    assert [row.pane.id for row in rows.build([snapshot(*seen)], "kitty-7", NOW)] == ["3"]
