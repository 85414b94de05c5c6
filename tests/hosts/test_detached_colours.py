"""A program called `opencode` in real tmux and GNU Screen, of whose answers only a colour tells which is selected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.actions import answer
from tallylight.actions.answer import Done, Question
from tallylight.actions.gate import Refusal
from tests.evidence.styled import FOLDER
from tests.hosts.test_detached import Room, session
from tests.patience import until

pytestmark = pytest.mark.programs

#: It draws the recorded dialog with the answer selected that it is moved to, around the ends; and notes what is chosen.
AGENT = r"""#!/usr/bin/python3
import os, sys, tty
folder = os.path.dirname(os.path.abspath(__file__))
names = ("permission", "permission-moved", "permission-last")
selected, keys = 0, b""
tty.setraw(0)
while True:
    text = open(f"{sys.argv[1]}/{names[selected]}-80.txt").read().partition("---\n")[2]
    rows = text.replace("\u241b", "\x1b").rstrip("\n").split("\n")
    sys.stdout.write("\x1b[?25l\x1b[2J\x1b[H" + "\r\n".join(rows))
    sys.stdout.flush()
    keys += os.read(0, 64)
    for key, step in ((b"\x1b[C", 1), (b"\x1bOC", 1), (b"\x1b[D", -1), (b"\x1bOD", -1)):
        while keys.startswith(key):
            keys, selected = keys[len(key):], (selected + step) % 3
    if keys.startswith(b"\r"):
        open(f"{folder}/typed", "w").write(f"chosen {selected + 1}")
        break
"""


def asked(room: Room, first: str) -> Question:
    """The question, once the *first* answer has these keys."""
    found: list[Question | Refusal] = []

    def is_there() -> bool:
        found.append(answer.ask(room.typist()))
        # A half-drawn dialog may have none yet.
        choices = found[-1].choices if isinstance(found[-1], Question) else ()
        return bool(choices) and choices[0].keys == first

    until(is_there, f"it is not asked with {first!r}: {found[-1:]}")
    assert isinstance(found[-1], Question)
    return found[-1]


def test_tmux_tells_which_answer_is_selected(tmp_path: Path) -> None:
    """The keys lead from there; a selection that has moved since is another screen, though its text is the same."""
    with session("tmux", tmp_path, "opencode", AGENT, FOLDER / "opencode") as room:
        first = asked(room, "\r")
        assert [choice.keys for choice in first.choices] == ["\r", "\x1b[C\r", "\x1b[C\x1b[C\r"]
        room.typist().press("\x1b[C")
        moved = asked(room, "\x1b[D\r")
        refused = answer.answer(room.typist(), first.answer(1))
        assert isinstance(refused, Refusal) and refused.rule == "changed"

        assert answer.answer(room.typist(), moved.answer(3)) == Done(room.sight.id, "answered 3. Reject")
        until(lambda: room.typed, "nothing was chosen")
        assert room.typed == b"chosen 3"


def test_screen_tells_no_colours(tmp_path: Path) -> None:
    """What is asked is shown, and that its keys are not known; nothing is typed."""
    with session("screen", tmp_path, "opencode", AGENT, FOLDER / "opencode") as room:
        shown = asked(room, "")
        assert [choice.label for choice in shown.choices] == ["Allow once", "Allow always", "Reject"]
        for number in (1, 2, 3):
            refused = answer.answer(room.typist(), shown.answer(number))
            assert isinstance(refused, Refusal) and refused.rule == "keys"
        assert room.typed == b""
