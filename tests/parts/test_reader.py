"""A stranger's reader of transcripts, in a package of its own: one entry point, and an agent's file."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records.readers import reader
from tallylight.files import extras
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.parts import index
from tests.hosts.test_pane import SHELL, HandTable
from tests.hosts.test_records import look

PACKAGE = Path(__file__).parent / "stranger_reader"
NIB = Process(90, 10, 90, "nib", ("nib",), "/v/bin/nib", 900)
ENTRIES = (
    {"nib": "begin", "model": "nib-2"},
    {"nib": "end", "said": "The parser is renamed. All tests pass."},
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package lies where pip puts parts of others; its agent's file is among the person's own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = extras.folder(index.EXTRA)
    shutil.copytree(PACKAGE / "tallylight_nib", folder / "tallylight_nib")
    about = folder / "tallylight_nib-0.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tallylight-nib\nVersion: 0.3\n")
    (about / "entry_points.txt").write_text("[tallylight.parts]\nnib = tallylight_nib:PART\n")
    own = Path.home() / ".config/tallylight/agents"
    own.mkdir(parents=True)
    (own / "nib.toml").write_text('name = "nib"\nprocesses = ["nib"]\nrecord = "nib"\n')
    index.forget()
    yield folder
    index.forget()
    for name in [name for name in sys.modules if name.startswith("tallylight_nib")]:
        del sys.modules[name]


def pane_of_nib(folder: Path) -> Pane:
    """A pane in which nib runs, in *folder*."""
    table = attrs.evolve(HandTable(str(Path.home())), folder=str(folder))
    table.processes = {SHELL.pid: SHELL, NIB.pid: NIB}
    agents, problems = agent_files.load_agents({"HOME": str(Path.home())})
    assert problems == []
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(NIB.pid, 0.0)
    return pane


def test_a_journal_reaches_the_snapshot(installed: Path, tmp_path: Path) -> None:
    """The reply, the model and the end of a turn come from the stranger's reader; nobody else has it."""
    pane = pane_of_nib(tmp_path)
    journal = tmp_path / ".nib-journal"
    journal.write_text("")
    look(pane, 1.0)
    with journal.open("a") as file:
        for entry in ENTRIES:
            file.write(json.dumps(entry | {"timestamp": time.time()}) + "\n")
    look(pane, 2.0)

    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="")
    assert (entry.agent, entry.status, entry.about.model) == ("nib", "done", "nib-2")
    assert entry.reply == "The parser is renamed. All tests pass."
    assert sum(bool(line.strip()) for path in PACKAGE.rglob("*.py") for line in path.read_text().splitlines()) <= 50


def test_without_its_part_there_is_no_transcript(installed: Path, tmp_path: Path) -> None:
    """A reader that is turned off, or that is not there, costs what it would have read and nothing else."""
    assert reader("nib") is not None
    index.refresh(off={"nib"})
    assert reader("nib") is None
    (tmp_path / ".nib-journal").write_text(json.dumps(ENTRIES[0]) + "\n")
    pane = pane_of_nib(tmp_path)
    look(pane, 1.0)
    assert pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="").about.model == ""


def test_what_is_no_reader_is_told(installed: Path) -> None:
    """A part that names something else is a fault of that part, in words."""
    (installed / "tallylight_nib/journal.py").write_text("READER = 7\n")
    with pytest.raises(TypeError, match=r"nib is no .*Reader but int"):
        reader("nib")
