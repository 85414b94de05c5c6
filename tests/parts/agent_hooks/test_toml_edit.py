"""Hooks in a TOML file: they go in at its end, and come out to the byte."""

from __future__ import annotations

import tomllib

import pytest

from tallylight.model.errors import TallyError
from tallylight.parts.agent_hooks import toml_edit
from tests.tables import each

COMMANDS = {"Stop": "/bin/sh -c '\"/a b/tally\" hook kimi Stop 2>/dev/null || true'", "SessionEnd": "x \\ y"}
TEXTS = [
    "",
    "\n",
    "a = 1",
    "a = 1\n",
    'a = 1\r\n[t]\r\nb = "x"\r\n',
    '[[hooks]]\nevent = "Stop"\ncommand = "mine"\n',
    "# BEGIN_TALLYLIGHT\n# a comment with an ü\n[t]\n",
]


@each("text", TEXTS)
def test_in_and_out(text: str) -> None:
    """What was there stays, what we add is read back, and nothing of it is left when it is taken out."""
    done, piece = toml_edit.insert(text, COMMANDS)

    assert done.startswith(text)
    assert toml_edit.ours(done) == {event: [command] for event, command in COMMANDS.items()}
    assert tomllib.loads(done)["hooks"][-2:] == [{"event": e, "command": c} for e, c in COMMANDS.items()]
    assert toml_edit.remove(done, [piece]) == text
    assert toml_edit.ours(text) == {}


def test_changed_since() -> None:
    """What a person wrote before and behind our block stays, and so does the file if nothing of ours is in it."""
    done, piece = toml_edit.insert("a = 1\n", COMMANDS)
    edited = f"b = 2\n{done.replace('hook kimi Stop', 'hook kimi  Stop')}\n[t]\nc = 3\n"

    assert toml_edit.remove(edited, [piece]) == "b = 2\na = 1\n\n[t]\nc = 3\n"
    assert toml_edit.remove("a = 1\n", [piece]) == "a = 1\n"
    assert toml_edit.remove(done) == "a = 1\n"


@each("text", ["a = ", "hooks = []\n", 'hooks = [{event = "Stop"}]\n', "hooks = 1\n", "[hooks]\na = 1\n"])
def test_what_cannot_take_any(text: str) -> None:
    """A file that is no TOML, or that writes its hooks in another way, is left alone."""
    with pytest.raises(TallyError):
        toml_edit.insert(text, COMMANDS)
