"""
Collisions: how soon two agents that change the same lines are marked, how often that is wrong, and what it costs.

    python -m benchmarks.collisions [REPOSITORY]

*Marked*: twenty pairs of edits, by turns in two work trees and in one. Each is written into a file, and into a record
as Claude Code keeps it. The record is read as often as a host reads it, and looks are made on its threads. The time
runs from the second write until both panes are marked.

*False*: two agents make two successive commits of the history of *REPOSITORY*, else of this one, in two work trees of
the commit before. A merge of git tells whether they collide. A pair counts as twelve minutes of work, so that forty are
eight hours.

*Cost*: ten work trees of a repository with 4,000 files. In each an agent writes another file every minute, for an hour
of a simulated clock. Counted is the processor time of all looks, with that of git, as a share of that hour.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from benchmarks.aims import Aim
from tests.hosts.test_projects import _pane as pane_in
from tests.parts.work.test_watch import reader_in

from tallylight.evidence.records.reading import Reading
from tallylight.files.mounts import Mounts
from tallylight.hosts.jobs import Jobs
from tallylight.hosts.mailbox import Mailbox
from tallylight.model.jobs import Done, Failed, Result, Submit, ignored
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.transcript import TranscriptState
from tallylight.parts.transcripts import claude
from tallylight.parts.work.looks import AgentChanges, Looks
from tallylight.parts.work.watch import LOOK_AT_PANES_S, Collisions

TOLD = Aim("collisions: from the second write to both marks, 95 % of pairs", "the clock", most=2.0, unit="s")
FALSE = Aim("collisions: false marks in eight hours", "a merge of git", most=1.0, unit="marks")
COST = Aim("collisions: ten work trees of 4,000 files, ten agents at work", "a core", most=0.1, unit="%")
AIMS = (TOLD, FALSE, COST)
QUICK = ()

ROOT = Path(__file__).resolve().parents[1]
PAIRS, HISTORY, TREES, FILES, MINUTES = 20, 40, 10, 4_000, 60
#: A host looks so often, in seconds, and reads the files of agents at every second look.
POLL_S = 0.25
LINES = 60
WHO = {f"GIT_{who}_{what}": "n@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(top: Path, *words: str) -> int:
    """Run git, with nothing to read; its exit code."""
    environ = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(["git", "-C", str(top), *words], env=environ, capture_output=True, check=False).returncode


class Agent:
    """An agent in a work tree: its pane, and its record."""

    def __init__(self, top: Path) -> None:
        self.top, self.pane, self.record = top, pane_in(top), b""
        self.pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), 20.0)
        self.pane.tick(21.0)

    def edit(self, file: str, line: int, word: str) -> None:
        """Replace a line of a file, and have the record say so."""
        old, new = f"line {line}", f"{word} {line}"
        given = {"file_path": str(self.top / file), "old_string": old, "new_string": new}
        content = [{"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": given}]
        entry = {"type": "assistant", "timestamp": "2026-11-26T09:00:00.000Z", "message": {"content": content}}
        self.record += json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        text = (self.top / file).read_text()
        (self.top / file).write_text(text.replace(f"{old}\n", f"{new}\n"))

    def read(self) -> None:
        """Read the record, as a worker of the host does."""
        transcript = self.pane._run.transcript if self.pane._run is not None else None
        assert transcript is not None
        before: Reading | None = transcript.found.reading
        transcript.found = TranscriptState(reading=claude.read(self.record, before))
        self.record = b""


def repository(folder: Path, files: int, trees: int) -> list[Path]:
    """A repository with so many files in one commit, and so many work trees of it."""
    top = folder / "shop"
    text = "".join(f"line {number}\n" for number in range(1, LINES + 1))
    for number in range(files):
        file = top / f"src{number // 200}/f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "x")
    found = [top]
    for number in range(1, trees):
        found.append(folder / f"shop-{number}")
        git(top, "worktree", "add", "-q", "-b", f"b{number}", str(found[-1]))
    return found


def watch(folder: Path, submit: Submit) -> Collisions[int]:
    """Return the part of the host that looks for collisions."""
    environ = {"HOME": "/", "XDG_RUNTIME_DIR": str(folder)}
    return Collisions("kitty-1", environ, submit, Mounts(), lambda _: None, reader_in(folder))


def told(folder: Path) -> list[float]:
    """The seconds of each pair, from the second write to both marks."""
    found = []
    for number in range(PAIRS):
        place = folder / f"told{number}"
        tops = repository(place, 1, 2) if number % 2 else repository(place, 1, 1) * 2
        agents = [Agent(top) for top in tops]
        mailbox: Mailbox[Callable[[], None]] = Mailbox()
        collisions = watch(folder, Jobs(mailbox.put).submit)
        panes = dict(enumerate((agent.pane for agent in agents), 1))
        began, at, ticks, written = time.monotonic(), 0.0, 0, 0
        while not (written == 2 and all(pane.collides for pane in panes.values())) and at < 60:
            at, ticks = time.monotonic() - began, ticks + 1
            # The second write comes at any moment of a tick.
            if written < 2 and at >= (0.6, 2.0 + number * POLL_S / PAIRS)[written]:
                agents[written].edit("src0/f0.py", 40 + written * (number % 2 == 0), f"agent{written}")
                second, written = time.monotonic(), written + 1
            for agent in agents if ticks % 2 else ():
                agent.read()
            collisions.look(panes, time.monotonic(), True)
            while not mailbox.is_empty():
                mailbox.get()()
            time.sleep(POLL_S)
        found.append(time.monotonic() - second)
    return found


def false(folder: Path, source: Path) -> tuple[int, int, int, int]:
    """Pairs of commits, those that are marked and git can merge, those with a conflict, and those not marked."""
    top, other = folder / "history", folder / "history-b"
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(source), str(top)], check=True)
    git(top, "checkout", "-q", "--detach", "HEAD")
    git(top, "worktree", "add", "-q", "--detach", str(other))
    words = ["git", "-C", str(top), "rev-list", "--no-merges", f"--max-count={6 * HISTORY}", "HEAD"]
    commits = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    looks, pairs, wrong, conflicts, missed = Looks(), 0, 0, 0, 0
    for later, earlier in itertools.pairwise(commits):
        if pairs == HISTORY:
            break
        git(top, "checkout", "-qf", "--detach", f"{earlier}^")
        git(other, "checkout", "-qf", "--detach", f"{earlier}^")
        if git(top, "cherry-pick", earlier) or git(other, "cherry-pick", later):
            git(top, "cherry-pick", "--abort")
            git(other, "cherry-pick", "--abort")
            continue
        pairs += 1
        parties = [party(place) for place in (top, other)]
        found = looks.look(parties, {one.top for one in parties}, time.monotonic() + 60)
        is_marked = any(entry.same for entries in found.entries.values() for entry in entries)
        head = subprocess.run(
            ["git", "-C", str(other), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        )
        has_conflict = bool(git(top, "merge-tree", "--write-tree", "HEAD", head.stdout.strip()))
        wrong, missed = wrong + (is_marked and not has_conflict), missed + (has_conflict and not is_marked)
        conflicts += has_conflict
    return pairs, wrong, conflicts, missed


def party(top: Path) -> AgentChanges:
    place = os.path.realpath(top)
    return AgentChanges(address=place, name=top.name, top=place, cwd=place)


def cost(folder: Path) -> tuple[float, int]:
    """The share of a core, in percent, and how many looks there were."""
    tops = repository(folder / "large", FILES, TREES)
    agents = [Agent(top) for top in tops]
    panes = dict(enumerate((agent.pane for agent in agents), 1))
    looks: list[float] = []

    def submit(
        key: Hashable, job: Callable[[], Result], done: Done[Result] = ignored, failed: Failed = ignored
    ) -> bool:
        del failed  # no job here may fail: it raises
        before = used()
        result = job()
        if isinstance(key, tuple) and key[0] == "collisions":
            looks.append(used() - before)
        done(result)
        return True

    collisions, now = watch(folder, submit), 100.0
    began = used()
    for second in range(int(MINUTES * 60 / LOOK_AT_PANES_S)):
        now += LOOK_AT_PANES_S
        minute, at = divmod(int(second * LOOK_AT_PANES_S), 60)
        if second % 12 == 0 and at // 6 < TREES:
            agent = agents[at // 6]
            number = (at // 6) * MINUTES + minute
            agent.edit(f"src{number // 200}/f{number}.py", 1 + minute % LINES, "mine")
            agent.read()
        collisions.look(panes, now, True)
    print(f"  {len(looks)} looks, of {1000 * sum(looks) / len(looks):.0f} ms; all {used() - began:.1f} s of processor")
    return 100 * (used() - began) / (MINUTES * 60), len(looks)


def used() -> float:
    both: Sequence[int] = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(found.ru_utime + found.ru_stime for found in map(resource.getrusage, both))


def main(argv: list[str]) -> None:
    """Measure all of it."""
    parts: Mapping[str, Callable[[Path], None]] = {
        "told": lambda folder: TOLD.say(sorted(told(folder))[int(PAIRS * 0.95) - 1]),
        "false": lambda folder: say_false(folder, Path(argv[0]) if argv else ROOT),
        "cost": lambda folder: COST.say(cost(folder)[0]),
    }
    for part in parts.values():
        with tempfile.TemporaryDirectory(prefix="tally-") as folder:
            part(Path(folder))


def say_false(folder: Path, source: Path) -> None:
    pairs, wrong, conflicts, missed = false(folder, source)
    print(f"  {pairs} pairs of commits, {conflicts} with a conflict, {missed} of these not marked")
    FALSE.say(wrong * HISTORY / max(1, pairs))


if __name__ == "__main__":
    main(sys.argv[1:])
