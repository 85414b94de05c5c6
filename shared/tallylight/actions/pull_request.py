"""
The open pull request of a branch and what its checks say, by GitHub's own program: https://cli.github.com/manual/gh_pr_list

gh does not run in the repository: anybody may have written its settings. The address of `origin` is read by the
rules of `actions.git`, and gh gets the repository of github.com and the branch as arguments. It uses the person's
own account, and blocks for as long as the network takes: for a thread, and only where a person has asked for it.
"""

from __future__ import annotations

import os
import re

from tallylight.actions import git
from tallylight.files import program
from tallylight.model.beside import Checks, PullRequest
from tallylight.model.errors import DecodeError
from tallylight.wire import values

#: Seconds that gh has, and bytes that it may write.
PATIENCE_S, MAX_OUTPUT = 8.0, 1024 * 1024
#: Of the checks of one pull request.
MAX_CHECKS = 1000

_ORIGIN = re.compile(
    r"(?:https://(?:[^/@\s]+@)?github\.com/|ssh://git@github\.com/|git@github\.com:)"
    r"([A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}?)(?:\.git)?/?"
)
_ENVIRON = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
#: What makes gh colour its output, also where it is read by a program.
_FOR_TERMINALS = frozenset({"CLICOLOR_FORCE", "GH_FORCE_TTY"})
_FAILED = {"FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE"}
_OPEN = {"PENDING", "EXPECTED"}


def pull_request_of(top: str, branch: str) -> PullRequest | None:
    """
    The open pull request from *branch* of the work tree *top*; None if there is none, or nobody to ask.

    `StuckError` if gh does not answer in its time.
    """
    gh = program.find_program("gh", os.environ.get("PATH", ""))
    repository = git.find(top, PATIENCE_S) if gh else None
    found = _ORIGIN.fullmatch(repository.value("remote.origin.url")) if repository is not None else None
    if not gh or found is None or not branch:
        return None
    words = (
        "pr", "list", f"--repo=github.com/{found[1]}", f"--head={branch}", "--state=open", "--limit=1",
        "--json=number,statusCheckRollup",
    )  # fmt: skip
    environ = {name: value for name, value in os.environ.items() if name not in _FOR_TERMINALS} | _ENVIRON
    done = program.run([gh, *words], environ, patience=PATIENCE_S, limit=MAX_OUTPUT, cwd="/")
    return read(done.output) if done is not None and done.code == 0 else None


def read(data: bytes) -> PullRequest | None:
    """The first pull request of what gh has written; None if there is none."""
    try:
        listed = values.load(data)
    except DecodeError:
        return None
    first = listed[0] if isinstance(listed, list) and listed else None
    number = values.integer(first.get("number"), 1, 10**9) if isinstance(first, dict) else None
    if first is None or number is None:
        return None
    rollup = first.get("statusCheckRollup")
    found = [_check(one) for one in rollup[:MAX_CHECKS] if isinstance(one, dict)] if isinstance(rollup, list) else []
    # One that failed counts before one that runs.
    worst = (checks for checks in (Checks.FAILING, Checks.PENDING, Checks.PASSING) if checks in found)
    return PullRequest(number, next(worst, Checks.NONE))


def _check(check: dict[str, object]) -> Checks:
    """One check of GitHub's own (`status` and `conclusion`), or of another service (`state`)."""
    status, state = values.text(check.get("status"), 64), values.text(check.get("state"), 64)
    result = values.text(check.get("conclusion"), 64) or state
    if result in _FAILED:
        return Checks.FAILING
    if result in _OPEN or (status and status != "COMPLETED"):
        return Checks.PENDING
    return Checks.PASSING
