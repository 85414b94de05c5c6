"""The lines of docs/places.md that put `tally prompt` into a prompt, in the real shells."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.shells.shell import SHELLS, World

_PAGE = (Path(__file__).parents[2] / "docs/places.md").read_text("utf-8")
_TEXT = _PAGE.partition("## Prompts and bars")[2].partition("\n## ")[0]
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```", _TEXT, re.M | re.S))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_line_stands_in_the_prompt(shell: str, tmp_path: Path) -> None:
    """With the documented lines in its file the shell shows what `tally prompt` says beside the person's own prompt."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    world = World(shell, tmp_path)
    tally = tmp_path / "bin" / "tally"
    tally.write_text('#!/bin/sh\n[ "$*" = prompt ] && echo "!2 ●1"\n')

    assert "!2 ●1".encode() in world.prompt(BLOCKS[shell], "!2 ●1".encode())
    assert b"ready> " in world.prompt(BLOCKS[shell], b"ready> ")


def test_nothing_to_tell_leaves_no_gap(tmp_path: Path) -> None:
    """Where there is nothing to tell, bash's prompt begins as before."""
    world = World("bash", tmp_path)
    (tmp_path / "bin" / "tally").write_text("#!/bin/sh\n")

    assert world.prompt(BLOCKS["bash"], b"ready> ").lstrip(b"\x1b[?2004h").startswith(b"ready> ")


def test_starship_is_told_in_toml() -> None:
    """What is shown for starship is a module of its own kind: https://starship.rs/config/#custom-commands ."""
    module = tomllib.loads(BLOCKS["toml"])["custom"]["tally"]
    assert module["command"] == "tally prompt" and "$output" in module["format"]
