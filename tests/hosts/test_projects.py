"""What an agent's project is called: by the repository its directory belongs to, looked up away from the loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.files.by_directory import MAX_MOUNTS_READ
from tallylight.files.mounts import Mounts
from tallylight.hosts.projects import Projects
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.pane.project import project_of
from tests.files.test_mounts import mounted
from tests.hosts.test_pane import CLAUDE, HandTable
from tests.tables import each


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a repository, a worktree of it beside it, a plain directory, and dotfiles under git."""
    for folder in ("api/.git", "api/src/deep", "plain/below", ".git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "api-fix").mkdir()
    (tmp_path / "api-fix" / ".git").write_text("gitdir: ../api/.git/worktrees/api-fix")
    return tmp_path


@each(
    ("cwd", "name"),
    [
        ("api", "api"), ("api/src/deep", "api"), ("api-fix", "api-fix"), ("plain/below", "below"), ("", "~"),
        ("gone/away", "away"), ("api/src/../src/", "api"),
    ],
)  # fmt: skip
def test_a_project_is_its_repository(home: Path, cwd: str, name: str) -> None:
    """A directory in no repository has its own name; dotfiles under git make no project of all that is in a home."""
    assert project_of(f"{home}/{cwd}", str(home)) == name


@pytest.mark.slow
@each(("cwd", "name"), [("/", ""), ("relative", ""), ("", ""), ("/a\0b", "a\0b"), ("/x" * 5000, "x")])
def test_what_is_no_directory_has_no_name(cwd: str, name: str) -> None:
    assert project_of(cwd, "/home/me") == name


@attrs.define
class _Jobs:
    """Jobs that are done when a test says so."""

    waiting: list[tuple[Callable[[], Any], Callable[[Any], object]]] = attrs.field(factory=list)
    names: list[str] = attrs.field(factory=list)

    def submit(self, name: Any, job: Callable[[], Any], done: Callable[[Any], object], *_: object) -> bool:
        assert name.startswith("projects on /")
        self.names.append(name)
        self.waiting.append((job, done))
        return True

    def run(self) -> None:
        job, done = self.waiting.pop()
        done(job())


def _pane(folder: Path) -> Pane:
    table = HandTable(str(folder), folder=str(folder))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, 10.0)
    return pane


def test_a_pane_is_told_once_it_is_looked_up(home: Path) -> None:
    """Until then its directory names it; nothing is looked up twice, and nothing on the loop."""
    jobs = _Jobs()
    projects = Projects(jobs.submit, str(home), Mounts())
    pane = _pane(home / "api" / "src" / "deep")

    projects.name_panes([pane])
    assert pane.project == "deep"
    jobs.run()
    revision = pane.tracker.claims.revision
    projects.name_panes([pane])
    assert (pane.project, pane.tracker.claims.revision) == ("api", revision + 1)
    projects.name_panes([pane])
    assert pane.tracker.claims.revision == revision + 1 and not jobs.waiting
    entry = pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title="✳ Run the migration")
    assert entry.project == "api"


def test_a_disk_that_hangs_keeps_its_own_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mount is looked at by a job of its own, and by no more than one; so many of them at a time."""
    far = [home / f"far{number}" for number in range(2 * MAX_MOUNTS_READ)]
    mounted(monkeypatch, home / "table", *far)
    jobs, mounts = _Jobs(), Mounts()
    mounts.refresh(0.0)
    projects = Projects(jobs.submit, str(home), mounts)
    near, hangs = _pane(home / "api" / "src" / "deep"), _pane(far[0])
    projects.name_panes([hangs, near])
    jobs.run()
    for _ in range(2):
        projects.name_panes([hangs, near])
    assert near.project == "api"
    assert jobs.names == [f"projects on {far[0]}", "projects on /"]
    projects.name_panes([_pane(folder) for folder in far])
    assert len(jobs.names) == 1 + MAX_MOUNTS_READ
