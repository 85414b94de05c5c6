"""Ordinary programs have no light: neither by their name nor by what they do."""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from benchmarks import accuracy, unknown
from benchmarks.accuracy import Recording

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.evidence.prompts import read_screen
from tallylight.model.lights import mark
from tallylight.model.status import Status
from tallylight.parts.lab.asciicast import Event, Output
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.scanner import Scanner
from tests.evidence.agents import AGENTS
from tests.tables import each

PATHS = {path.name.partition(".")[0]: path for path in sorted((Path(__file__).parent / "recordings").glob("*.cast.gz"))}
#: Those that no table names: scripts of somebody's own, libraries that ask, games, and what few people have. All that
#: keeps them dark is what they do.
_OWN = """
adventure ask-clack ask-click ask-dialogs ask-enquirer ask-fields ask-ink ask-inquirer ask-inquirer-js
ask-inquirerpy ask-menu ask-pick ask-prompts ask-questionary ask-rich ask-signin board-textual build cfdisk
changeset cookiecutter create-vue crontab dashboard deploy dialog-gauge eslint-init fdisk form-npyscreen
form-textual form-urwid gforth gnuchess go-fish greed hangman hexedit keytool moon-buggy nethack nload
node-inspect nodemon npm-check-updates nudoku openssl pudb slabtop smenu sphinx-quickstart spinners ssh sv swipl
tasks tetris tsc units vite worm
"""
OWN = set(_OWN.split())
#: An agent without rules of its own: what dialogs look like in any program.
BEHIND = Agent(name="mine", display="Mine")
#: For so long, in seconds of the recordings, all of them together are used; in the inner loop each about once.
HOUR_S = 300.0 if os.environ.get("FAST") else 3600.0


@functools.cache
def recording(name: str) -> Recording:
    return accuracy.read(PATHS[name])


def test_there_are_many() -> None:
    """More than a hundred and fifty programs are recorded, in little room."""
    assert len(PATHS) > 150
    assert sum(path.stat().st_size for path in PATHS.values()) < 300_000


@each("name", PATHS)
def test_recorded(name: str) -> None:
    """A recording can be read, and holds what the program drew."""
    found = recording(name)
    drawn = b"".join(event.what.data for event in found.events if isinstance(event.what, Output))

    assert found.problems == []
    assert len(drawn) >= 30
    assert b"command not found" not in drawn


def used(name: str) -> Iterator[Event]:
    """The use of a program over and over, as long as it takes for all of them together to be used for an hour."""
    found, begin = recording(name), 0.0
    while begin <= HOUR_S / len(PATHS) + found.end:
        yield from (attrs.evolve(event, time=event.time + begin) for event in found.events)
        begin += found.end


@pytest.mark.slow
@each("name", PATHS)
def test_never_a_candidate(name: str) -> None:
    """Whatever its name, it does nothing in an hour of use that agents do and others do not."""
    begins, program = unknown.since(recording(name).header, used(name))

    assert begins is None, program.signs


#: What asks in a row of its own, in words of a program's own: it is what an agent that runs it waits for. Those whose
#: recordings mark that they ask are not listed.
ASKS = {
    "alpine": {"structure"},
    "bash": {"yes or no"},
    "build": {"yes or no"},
    "bundle-gem": {"structure"},
    "calcurse": {"structure", "yes or no"},
    "composer-init": {"structure"},
    "cookiecutter": {"structure"},
    "cp": {"structure"},
    "crontab": {"structure"},
    "cryptsetup": {"structure"},
    "dashboard": {"structure"},
    "deploy": {"yes or no", "numbered choices"},
    "dte": {"yes or no"},
    "fdisk": {"structure"},
    "form-urwid": {"structure"},
    "gdu": {"structure"},
    "git-clean": {"yes or no"},
    "gnuchess": {"structure"},
    "go-fish": {"structure"},
    "gpg": {"yes or no", "structure"},
    "greed": {"structure"},
    "keytool": {"password", "structure"},
    "lf": {"yes or no"},
    "litecli": {"yes or no"},
    "mc-edit": {"structure"},
    "most": {"structure"},
    "mtr": {"structure"},
    "mutt": {"structure"},
    "nano": {"structure"},
    "ncdu": {"structure"},
    "neomutt": {"structure"},
    "nethack": {"structure"},
    "nnn": {"structure"},
    "npm-init": {"structure"},
    "openssl": {"structure"},
    "passwd": {"password"},
    "python": {"yes or no"},
    "rm": {"structure"},
    "sphinx-quickstart": {"yes or no"},
    "ssh-keygen": {"password"},
    "sudo": {"password"},
    "task": {"yes or no"},
    "tetris": {"structure"},
    "vifm": {"structure"},
    "w3m": {"yes or no"},
}


@pytest.mark.slow
@each("name", PATHS)
def test_behind_an_agent(name: str) -> None:
    """A pager, an editor, `fzf` or `git add -p` that an agent has started asks nobody; what does ask is seen."""
    found = recording(name)
    scanner, grid = Scanner(), Grid(found.header.columns, found.header.rows)
    rules: set[str] = set()
    for event in found.events:
        if isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
            at, is_visible = grid.cursor_row, grid.cursor_visible
            read = read_screen(BEHIND, grid.lines, at, columns=grid.columns, cursor_visible=is_visible)
            rules |= {read.rule.partition(":")[0]} if read is not None and read.status is Status.WAITING else set()

    is_marked = any(word.startswith("waiting") for _, word in found.truth)
    assert is_marked or rules == ASKS.get(name, set())


@pytest.mark.slow
@each("name", PATHS)
def test_never_a_light(name: str) -> None:
    """What it tells its terminal in an hour of use, titles, bars, marks and its screen, gives the pane no light."""
    replay = Replay(recording(name).header, AGENTS)
    shown = {
        decision.status for event in used(name) if isinstance(event.what, Output) for decision in replay.play(event)
    }

    assert shown == {Status.ACTIVE} and mark(Status.ACTIVE) == " "
    assert replay.now >= HOUR_S / len(PATHS)


@each("name", sorted(set(PATHS) - OWN))
def test_known_by_name(name: str) -> None:
    """The best known programs are not even looked at."""
    argv = tuple(shlex.split(recording(name).header.command))

    assert identify([Process(1, argv=argv)], Agents(())).unknown == ""


def test_names_nobody() -> None:
    """No recording names a person or a machine."""
    for name, path in PATHS.items():
        whats = [event.what for event in recording(name).events]
        drawn = b"".join(what.data for what in whats if isinstance(what, Output)).decode(errors="replace")
        text = drawn + "".join(str(what) for what in whats if not isinstance(what, Output))
        assert re.search(r"/root\b|/home/(?!user\b)", text) is None, path


def test_agents_are_candidates() -> None:
    """The same test finds agents: without their files, before they ask for the first time."""
    for name in ("claude-permission", "codex-permission", "copilot-permission", "opencode-permission"):
        found = accuracy.read(accuracy.CORPUS / f"{name}.cast.gz")
        begins, program = unknown.since(found.header, found.events)
        assert begins is not None, name
        assert begins < next(at for at, word in found.truth if word.startswith("waiting")), program.signs
