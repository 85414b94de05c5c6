"""The pull request of a branch: what gh is asked and where, with one that is made by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions import pull_request
from tallylight.actions.beside import read_pull_request
from tallylight.actions.pull_request import pull_request_of, read
from tallylight.model.beside import Beside, Checks, PullRequest
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture
from tests.tables import each

URL = "https://github.com/example/api.git"


@attrs.frozen
class Gh:
    """A `gh` that notes where and how it is called, and says what it is to."""

    folder: Path

    def is_script(self, script: str) -> None:
        (self.folder / "gh").write_text(script)
        (self.folder / "gh").chmod(0o755)

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gh:
    made = Gh(tmp_path / "gh bin")
    made.folder.mkdir()
    monkeypatch.setenv("PATH", f"{made.folder}:{os.environ['PATH']}")
    made.is_script(f"#!/bin/sh\ntouch '{made.folder}/asked'\n")
    return made


def one(*checks: dict[str, Any], number: object = 17) -> str:
    return json.dumps([{"number": number, "statusCheckRollup": list(checks)}])


def test_what_is_asked(trap: Trap, gh: Gh) -> None:
    """The repository of origin and the branch, by name, outside of the repository."""
    script = f"#!/bin/sh\n{{ pwd; printf '%s\\n' \"$@\"; }} >> '{gh.folder}/asked'\ncat '{gh.folder}/said'\n"
    (gh.folder / "said").write_text(one({"status": "COMPLETED", "conclusion": "SUCCESS"}))
    gh.is_script(script)
    trap.set("remote.origin.url", URL)
    trap.plain("checkout", "-qb", "feature/x")

    assert read_pull_request(str(trap.root / "src"), "/home/me") == (
        Beside(pull_request=PullRequest(17, Checks.PASSING)), False
    )  # fmt: skip
    assert gh.asked == [
        "/", "pr", "list", "--repo=github.com/example/api", "--head=feature/x", "--state=open", "--limit=1",
        "--json=number,statusCheckRollup",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        "", "/srv/api.git", "https://example.org/a/b", "https://github.com.example.org/a/b", "git@github.com:../b",
        "https://github.com/-a/b", "https://github.com/a/b/c", "ext::sh -c evil", "https://github.com/a/b --hostname=x",
        "git@github.com:a", "https://example.org/https://github.com/a/b",
    ],
)  # fmt: skip
def test_an_origin_that_is_elsewhere(trap: Trap, gh: Gh, url: str) -> None:
    """Only of github.com, and only what is a name there: else gh is not run."""
    if url:
        trap.set("remote.origin.url", url)
    assert pull_request_of(str(trap.root), "main") is None
    assert gh.asked == [] and not (gh.folder / "asked").exists()


@each(
    "url",
    [URL, "https://github.com/example/api", "git@github.com:example/api.git", "ssh://git@github.com/example/api",
     "https://me:token@github.com/example/api/"],
)  # fmt: skip
def test_an_origin(url: str) -> None:
    """In each of the ways to write it; a token in it goes nowhere."""
    found = pull_request._ORIGIN.fullmatch(url)
    assert found is not None and found[1] == "example/api"


def test_without_a_branch_nobody_is_asked(trap: Trap, gh: Gh) -> None:
    """A detached head has no pull request."""
    trap.set("remote.origin.url", URL)
    trap.plain("checkout", "-q", "--detach")
    assert read_pull_request(str(trap.root), "/") == (Beside(), False)
    assert not (gh.folder / "asked").exists()


def test_without_gh(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nobody to ask."""
    trap.set("remote.origin.url", URL)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert read_pull_request(str(trap.root), "/") == (Beside(), False)


def test_a_slow_gh(trap: Trap, gh: Gh, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed in its time, and left alone for a while."""
    trap.set("remote.origin.url", URL)
    gh.is_script("#!/bin/sh\nexec sleep 900\n")
    monkeypatch.setattr(pull_request, "PATIENCE_S", 0.5)
    assert read_pull_request(str(trap.root), "/") == (Beside(), True)


def test_a_gh_that_fails(trap: Trap, gh: Gh) -> None:
    """One that is not logged in says so on standard error, and there is no pull request."""
    trap.set("remote.origin.url", URL)
    gh.is_script("#!/bin/sh\necho '[{\"number\": 1}]'\necho 'gh auth login' >&2\nexit 4\n")
    assert pull_request_of(str(trap.root), "main") is None


@each(
    ("said", "found"),
    [
        (one(), PullRequest(17, Checks.NONE)),
        (one({"status": "COMPLETED", "conclusion": "SKIPPED"}), PullRequest(17, Checks.PASSING)),
        (one({"status": "IN_PROGRESS", "conclusion": ""}, {"state": "SUCCESS"}), PullRequest(17, Checks.PENDING)),
        (one({"state": "PENDING"}), PullRequest(17, Checks.PENDING)),
        (one({"status": "QUEUED"}, {"status": "COMPLETED", "conclusion": "FAILURE"}), PullRequest(17, Checks.FAILING)),
        (one({"state": "ERROR"}), PullRequest(17, Checks.FAILING)),
        ("[]", None),
        ("", None),
        ("{}", None),
        ("[1]", None),
        ('[{"number": true}]', None),
        ('[{"number": 5, "statusCheckRollup": 7}]', PullRequest(5, Checks.NONE)),
        ('[{"number": 5, "statusCheckRollup": [1, null, {}]}]', PullRequest(5, Checks.PASSING)),
    ],
)
def test_what_gh_says(said: str, found: PullRequest | None) -> None:
    """A check that failed counts before one that runs; what is no pull request is none."""
    assert read(said.encode()) == found
