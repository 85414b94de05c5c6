"""Which lines two changes are of, with a merge of git's as the truth; and what of a file an agent has written."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from tallylight.evidence.records.reading import Edit
from tallylight.parts.work.hunks import MAX_HUNKS, Hunk, asked, clashing, line_ranges, located, parsed, written
from tests.tables import each

BASE = [f"line {number}" for number in range(1, 31)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def diff(folder: Path, before: str, after: str) -> tuple[Hunk, ...]:
    """What git says of the two, as it does in a repository."""
    for side, content in (("a", before), ("b", after)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / "f").write_text(content)
    words = ["git", "diff", "--no-index", "-U0", "--no-prefix", "a/f", "b/f"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, text=True)
    return parsed(done.stdout).get("f", ())


def edited(lines: list[str], dice: random.Random, word: str) -> list[str]:
    """*lines* with one or two places changed: lines that are replaced, that come or that go."""
    found = list(lines)
    for at in sorted(dice.sample(range(len(lines) - 3), dice.choice((1, 1, 2))), reverse=True):
        found[at : at + dice.choice((0, 1, 2))] = [f"{word} {n}" for n in range(dice.choice((0, 1, 2)))]
    return found


@pytest.mark.slow
def test_a_merge_of_git_agrees(tmp_path: Path) -> None:
    """Two changes are of the same lines where `git merge-file` has a conflict, and nowhere else."""
    dice, conflicts, base = random.Random(37), 0, BASE[:12]
    for _ in range(40):
        ours, theirs = edited(base, dice, "ours"), edited(base, dice, dice.choice(("theirs", "ours")))
        files = [tmp_path / name for name in ("ours", "base", "theirs")]
        for file, lines in zip(files, (ours, base, theirs), strict=True):
            file.write_text(text(lines))
        done = subprocess.run(["git", "merge-file", "-p", "-q", *files], capture_output=True, check=False)
        mine, others = (diff(tmp_path, text(base), text(lines)) for lines in (ours, theirs))
        assert bool(clashing(mine, others)) == bool(done.returncode), (ours, theirs)
        assert bool(clashing(others, mine)) == bool(done.returncode)
        conflicts += bool(done.returncode)
    assert 5 < conflicts < 35


def test_what_a_diff_says() -> None:
    """Lines that look like heads are lines; a file without an end, a new, a deleted and an unreadable one."""
    found = parsed(
        "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -2,2 +2 @@ def f():\n"
        "--- a/x\n-y\n\\ No newline at end of file\n"
        "+++ b/x\n\\ No newline at end of file\n@@ -9,0 +9,2 @@\n+@@ -1 +1 @@\n+diff --git a/z b/z\n"
        "diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/new b/new\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,3 @@\n+1\n+2\n+3\n"
        'diff --git "a/\\"q" "b/\\"q"\n--- "a/\\"q"\n+++ "b/\\"q"\n@@ -1 +1 @@\n-x\n+y\n'
        "diff --git a/cut b/cut\n--- a/cut\n+++ b/cut\n@@ -1,5 +1,5 @@\n-x"
    )
    assert {path: [(hunk.was, hunk.now) for hunk in hunks] for path, hunks in found.items()} == {
        "a b": [((2, 4), (2, 3)), ((10, 10), (9, 11))],
        "gone": [((1, 2), (1, 1))],
        "new": [((1, 1), (1, 4))],
        "cut": [((1, 6), (1, 6))],
    }
    assert found["a b"][0].text == "--- a/x\n-y\n+++ b/x"
    many = "".join(f"@@ -{n} +{n} @@\n-x\n+y\n" for n in range(1, 2 * MAX_HUNKS))
    assert len(parsed(f"--- a/f\n+++ b/f\n{many}")["f"]) == MAX_HUNKS


def test_lines_in_words() -> None:
    assert [line_ranges(spans) for spans in ([], [(40, 63), (80, 81), (90, 90)], [(n, n + 1) for n in range(9)])] == [
        "", "40–62, 80, 90", "0, 1, 2 …",
    ]  # fmt: skip


FILE = text([*BASE[:9], "    def f():", "        return first", "    }", *BASE[9:]])
FIRST = Edit("f", "line 9\nline 10", "line 9\n    def f():\n        return first\n    }\nline 10", 1.0)


def test_what_was_written() -> None:
    """Where the text of an edit stands, without the lines that it has left alone; nothing that is not there."""
    assert located(FIRST, FILE) == (10, 13)
    assert located(Edit("f", None, FILE, 1.0), FILE) == (1, 35)
    assert located(Edit("f", "line 3\nx\nline 4", "line 3\nline 4", 1.0), FILE) == (4, 4)
    assert [located(Edit("f", "x", new, 1.0), FILE) for new in ("", "line 99", "line 1")] == [None] * 3


def test_what_was_written_over() -> None:
    """It counts as where the later text stands; a line that stands in every file tells nothing."""
    over = Edit("f", "        return first\n    }", "        return second\n    }", 2.0)
    file = FILE.replace("first", "second")
    assert written([FIRST], [over], file) == [(11, 12)]
    assert written([over], [FIRST], file) == [(11, 12)]
    early = Edit("f", over.old, over.new, 0.5)
    assert written([FIRST], [early], file) == []
    assert written([FIRST], [Edit("f", "    }", "    } // end", 2.0)], file.replace("    }", "    } // end")) == []


@each(
    ("what", "files"),
    [
        ("Edit src/a b.py (+12 −3)", ("src/a b.py",)), ("Write /w/new.txt", ("/w/new.txt",)),
        ("Edit src/api.py …", ("src/api.py",)), ("apply_patch a.py, b.py (+3 −1)", ("a.py", "b.py")),
        ("Read src/a.py", ()), ("Bash: npm test", ()), ("Shell: Edit x", ()), ("", ()), ("Trust /w", ()),
    ],
)  # fmt: skip
def test_what_a_request_asks_to_write(what: str, files: tuple[str, ...]) -> None:
    assert asked(what) == files


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """git has no settings of the person's here."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
