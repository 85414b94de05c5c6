"""Session files of kitty: which windows are in one, and what their shells are made to run first."""

from __future__ import annotations

import json
import shlex

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.parts.conversations.kitty_session import MAX_SESSION_FILE_CHARS, SavedWindow, windows, with_commands

#: As kitty 0.48 saves two tabs: a shell, a shell with an agent in it, an overlay over it, and a program of its own.
SAVED = """\
# Created by kitty

new_tab
layout splits
set_layout_state {"class": "Splits"}
cd /work/api
launch 'kitty-unserialize-data={"id": 1}'
focus
launch 'kitty-unserialize-data={"id": 4, "cmd_at_shell_startup": ["claude"]}' --cwd=/work/web --var=tally_status=done
launch 'kitty-unserialize-data={"id": 9}' --type=overlay

new_tab two
cd ../docs
launch 'kitty-unserialize-data={"id": 12}' --hold '--title=a b' claude --model opus
new_os_window
launch 'kitty-unserialize-data={"id": 13}'
"""
COMMAND = ("/home/me/.local/bin/tally", "restore", "kitty-1-2:4")


def test_every_window_with_its_directory() -> None:
    """The directory is the window's own, else that of its tab, else that of the file."""
    assert windows(SAVED, "/work/sessions") == [
        SavedWindow(6, 1, "/work/api"),
        SavedWindow(8, 4, "/work/web"),
        SavedWindow(9, 9, "/work/api"),
        SavedWindow(13, 12, "/work/docs", ("claude", "--model", "opus")),
        SavedWindow(15, 13, "/work/sessions"),
    ]


def test_a_shell_runs_it_first_and_a_program_is_replaced() -> None:
    """Only the lines of these windows change; with the same commands once more, nothing does."""
    new = with_commands(SAVED, {8: COMMAND, 13: COMMAND})
    before, after = SAVED.splitlines(), new.splitlines()
    assert [number for number, (old, line) in enumerate(zip(before, after, strict=True)) if old != line] == [8, 13]
    shell, program = shlex.split(after[8]), shlex.split(after[13])
    data = json.loads(shell[1].partition("=")[2])
    assert data == {"id": 4, "cmd_at_shell_startup": list(COMMAND)}
    assert shell[2:] == ["--cwd=/work/web", "--var=tally_status=done"]
    assert program[1:] == ['kitty-unserialize-data={"id": 12}', "--hold", "--title=a b", *COMMAND]
    assert with_commands(new, {8: COMMAND, 13: COMMAND}) == new


def test_line_ends_stay() -> None:
    """A file with other line ends, or without one at its end, keeps them."""
    text = "launch 'kitty-unserialize-data={\"id\": 1}'\r\nfocus\r\nlaunch 'kitty-unserialize-data={\"id\": 2}'"
    assert with_commands(text, {}) == text
    first, focus, last = with_commands(text, {0: COMMAND, 2: COMMAND}).split("\n")
    assert first.endswith("\r") and focus == "focus\r" and last.endswith("'")


@given(st.text(max_size=300) | st.lists(st.sampled_from(SAVED.splitlines()), max_size=20).map("\n".join))
def test_whatever_the_file_holds(text: str) -> None:
    """Quotes that do not match and JSON that is none are no windows; what is one stays one, and all else as it was."""
    odd = ("launch 'kitty-unserialize-data={", "launch kitty-unserialize-data=[1]", "launch x", "launch '", "launch")
    whole = "\n".join((text, *odd))
    found = windows(whole, "/")
    new = with_commands(whole, {window.line: COMMAND for window in found})
    same = [attrs.evolve(window, program=COMMAND) if window.program else window for window in found]
    assert windows(new, "/") == same
    changed = {window.line for window in found}
    before, after = whole.splitlines(keepends=True), new.splitlines(keepends=True)
    assert all(old == line for n, (old, line) in enumerate(zip(before, after, strict=True)) if n not in changed)
    assert not any(line in changed for line in range(len(before) - len(odd), len(before)))


def test_a_file_that_is_too_long_is_read_to_the_limit() -> None:
    """However long, the work is bounded."""
    comments = ("#" * 1023 + "\n") * (MAX_SESSION_FILE_CHARS // 1024)
    launch = "launch 'kitty-unserialize-data={\"id\": 1}'"
    assert len(comments) == MAX_SESSION_FILE_CHARS and windows(comments[1024:] + launch, "/")
    assert windows(comments + launch, "/") == []
