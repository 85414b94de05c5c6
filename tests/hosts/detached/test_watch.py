"""`tally watch`: the lines, when they come, and how it ends."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.model.status import Kind, Status
from tallylight.parts.scripts.verbs.watch import Watch
from tallylight.snapshot.schema import Pane, ReasonEntry
from tallylight.snapshot.writer import SnapshotWriter
from tests.terminal import SHARED, bare_environment

WORKING = Pane(id="3", status=Status.WORKING, agent="claude", since=100.0, reason=ReasonEntry(source="registry"))
WAITING = attrs.evolve(WORKING, status=Status.WAITING, kind=Kind.PERMISSION, message="May I?", since=200.0)
SHELL = Pane(id="4", status=Status.IDLE, reason=ReasonEntry(source="shell"))
HOST = "sessions-7"
#: The command, with the packages of this environment.
_RUN = f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import run; run()"
WATCH = [sys.executable, "-c", _RUN, "watch"]


def told(watch: Watch, *panes: Pane, host: str = HOST) -> list[dict[str, Any]]:
    return list(watch.changes({host: panes}))


def test_the_first_line_is_everything() -> None:
    """It begins with the whole state, most urgent first, and the counts of what is lit."""
    (line,) = told(Watch(), SHELL, WORKING, attrs.evolve(WAITING, id="5"))

    assert line["event"] == "state"
    assert line["hosts"] == [HOST]
    assert [pane["address"] for pane in line["panes"]] == [f"{HOST}:5", f"{HOST}:3", f"{HOST}:4"]
    assert [pane["lit"] for pane in line["panes"]] == [True, True, False]
    assert {name: count for name, count in line["counts"].items() if count} == {"waiting": 1, "working": 1}
    assert line["text"] == "!1 ●1"


def test_a_state_of_nothing() -> None:
    """Without any host there is a first line too, and it is empty."""
    (line,) = Watch().changes({})

    assert (line["panes"], line["hosts"], line["text"]) == ([], [], "")


def test_one_line_a_change() -> None:
    """A pane that changed, came or went has a line; one that did not has none."""
    watch = Watch()
    told(watch, WORKING, SHELL)

    assert told(watch, WORKING, SHELL) == []
    (changed,) = told(watch, WAITING, SHELL)
    (came,) = told(watch, WAITING, SHELL, attrs.evolve(WORKING, id="9"))
    (gone,) = told(watch, SHELL, attrs.evolve(WORKING, id="9"))

    assert (changed["event"], changed["address"], changed["before"]) == ("pane", f"{HOST}:3", "working")
    assert changed["pane"]["message"] == "May I?"
    assert changed["text"] == "!1"
    assert (came["event"], came["address"], came["before"]) == ("pane", f"{HOST}:9", None)
    assert (gone["event"], gone["address"], gone["counts"]["waiting"]) == ("gone", f"{HOST}:3", 0)


def test_hosts_come_and_go() -> None:
    """A host that comes or goes has a line, beside those of its panes."""
    watch = Watch()
    told(watch, WORKING)
    lines = list(watch.changes({"kitty-1": (SHELL,)}))

    assert [(line["event"], line.get("host"), line.get("up")) for line in lines] == [
        ("host", "kitty-1", True),
        ("host", HOST, False),
        ("gone", None, None),
        ("pane", "kitty-1", None),
    ]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SnapshotWriter]:
    """A host of this process."""
    (tmp_path / "run").mkdir()
    writer = SnapshotWriter.for_host("kitty", {"XDG_RUNTIME_DIR": str(tmp_path / "run")}, time.time)
    writer.publish([WORKING], 0)
    yield writer
    writer.close()


@pytest.fixture
def watching(writer: SnapshotWriter) -> Iterator[subprocess.Popen[bytes]]:
    """The command itself, reading what *writer* wrote."""
    env = bare_environment(XDG_RUNTIME_DIR=str(writer.path.parents[1]))
    child = subprocess.Popen(WATCH, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    yield child
    child.kill()
    child.communicate()


def line_of(child: subprocess.Popen[bytes], timeout: float = 30) -> dict[str, Any]:
    assert child.stdout is not None
    assert select.select([child.stdout], [], [], timeout)[0], "no line came"
    line: dict[str, Any] = json.loads(child.stdout.readline())
    return line


@pytest.mark.slow
def test_a_change_is_a_line_at_once(watching: subprocess.Popen[bytes], writer: SnapshotWriter) -> None:
    """A change of the snapshot is on standard output whole, with version and time."""
    first = line_of(watching)
    writer.publish([WAITING], 10)
    second = line_of(watching)

    assert (first["version"], first["event"], first["panes"][0]["pane"]["status"]) == (1, "state", "working")
    assert (second["event"], second["pane"]["status"], second["pane"]["kind"]) == ("pane", "waiting", "permission")
    assert abs(second["at"] - time.time()) < 10


@pytest.mark.slow
def test_it_ends_when_nobody_reads(watching: subprocess.Popen[bytes]) -> None:
    """It ends by itself, with nothing said, when its reader is gone; no change has to come first."""
    line_of(watching)
    assert watching.stdout is not None
    watching.stdout.close()

    assert watching.wait(5) == 0
    assert watching.stderr is not None
    assert watching.stderr.read() == b""


@pytest.mark.slow
def test_hostile_text_stays_in_its_line(watching: subprocess.Popen[bytes], writer: SnapshotWriter) -> None:
    """What a program wrote cannot end a line, nor reach the terminal that shows it; nobody gets what nobody sees."""
    line_of(watching)
    writer.publish([attrs.evolve(WAITING, message="a\nb\x1b]0;x\x07\u2028\ud800")], 10)
    assert watching.stdout is not None
    line = watching.stdout.readline()

    assert json.loads(line)["pane"]["message"] == "a b]0;x "
    assert line.isascii()
    assert not any(byte < 32 for byte in line[:-1])


@pytest.mark.slow
def test_it_costs_little(watching: subprocess.Popen[bytes]) -> None:
    """While nothing changes it uses less than a fiftieth of one processor."""
    line_of(watching)
    before = _cpu(watching.pid)
    time.sleep(2)  # that nothing happens is the claim

    assert _cpu(watching.pid) - before < 0.04


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_once(writer: SnapshotWriter) -> None:
    """`--once` is the state and the end."""
    env = bare_environment(XDG_RUNTIME_DIR=str(writer.path.parents[1]))
    done = subprocess.run([*WATCH, "--once"], env=env, capture_output=True, check=True)

    (line,) = done.stdout.splitlines()
    assert json.loads(line)["event"] == "state"
