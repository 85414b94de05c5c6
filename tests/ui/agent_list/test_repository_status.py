"""What stands beside a status in the list: the branch and the changes, where there is room, read beside the drawing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.model.repository_status import Changes, RepositoryStatus
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.ui.agent_list import geometry, state
from tallylight.ui.agent_list.record import Mode, State
from tests.ui.agent_list.panes import asking, listed, pane, texts
from tests.ui.agent_list.program import Host, List

BESIDE = RepositoryStatus(branch="main", worktree="app-2", changes=Changes(added=12, removed=3, ahead=1))
WHO = {f"GIT_{who}_{what}": "n@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def at(id_: int, directory: Path | str, **more: Any) -> Pane:
    """A pane whose agent works in *directory*."""
    told = ConversationEntry(agent="claude", cwd=str(directory))
    return pane(id_, project="api", agent_pid=5, conversation=told, **more)


def shown(columns: int, **more: Any) -> State:
    now = listed(at(1, "/api", **more), pane(2, project="docs"), columns=columns, lines=16)
    return state.filtered(attrs.evolve(now, repositories={5: BESIDE}))


def test_a_wide_list_has_a_column() -> None:
    """The branch of the agent in that directory, and of no other; what has changed stands in the detail alone."""
    first, second = texts(shown(100))[1:3]

    assert first.endswith("1m  claude  main") and second.endswith("claude")
    assert "main" not in "".join(texts(shown(99))[1:3])


def test_a_branch_gives_way_to_a_request() -> None:
    """As soon as it would cost any request a line."""
    asks = asking(3, what="Bash: " + "x" * 65, project="api")
    for length, is_there in ((60, True), (66, False)):
        now = listed(at(1, "/api"), attrs.evolve(asks, what="Bash: " + "x" * length), columns=100)
        now = state.filtered(attrs.evolve(now, repositories={5: BESIDE}))
        assert ("claude  main" in texts(now)[2]) is is_there and "x" * length in texts(now)[1]


def test_the_details_have_it_at_any_width() -> None:
    """Of the selected row, as much as fits; what the agent says of its worktree is not said twice."""
    assert "main +12 −3 ↑1 worktree app-2 · pane 1" in "\n".join(texts(shown(60)))
    assert " claude · main +12 −3 ↑1" in texts(shown(24))
    assert "mode plan · worktree w" in "\n".join(texts(shown(60, mode="plan", worktree="w")))


def test_only_what_can_be_seen_is_read() -> None:
    """Rows that are scrolled away, or covered by a text, are not."""
    now = listed(*(pane(n) for n in range(20)), columns=80, lines=10)
    assert len(state.visible(now)) == geometry.areas(now).rows - 1 < 19  # one line tells how many there are more
    assert state.visible(attrs.evolve(now, mode=Mode.TEXT)) == ()


@pytest.mark.slow
def test_in_a_terminal(tmp_path: Path) -> None:
    """The real list, on a real repository: the branch and what has changed appear, and change."""
    root = tmp_path / "api"
    root.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env={**os.environ, **WHO})

    git("init", "-q", "-b", "trunk")
    (root / "a").write_text("one\n")
    git("add", "a")
    git("commit", "-qm", "x")
    host = Host(tmp_path)
    works = at(1, root, age=0.0)
    host.publish(works)
    list_ = List(tmp_path, PATH=os.environ["PATH"])
    with list_.terminal:
        list_.wait("trunk")
        (root / "a").write_text("one\ntwo\n")
        host.publish(attrs.evolve(works, since=1.0))
        list_.wait("trunk +1")
        list_.terminal.type(b"q")
        assert list_.end() == 0


@pytest.mark.slow
def test_a_person_who_wants_none_of_it(tmp_path: Path) -> None:
    """`[list] branches = false`: no repository is read."""
    folder = tmp_path / "config/tallylight"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[list]\nbranches = false\n")
    root = tmp_path / "api"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/trunk\n")
    host = Host(tmp_path)
    for config, is_read in ((tmp_path / "nothing", True), (tmp_path / "config", False)):
        host.publish(at(1, root), pane(2, project="docs"))
        list_ = List(tmp_path, XDG_CONFIG_HOME=str(config))
        with list_.terminal:
            list_.wait("trunk" if is_read else "docs")
            for n in range(3):
                host.publish(at(1, root), pane(2, project=f"other-{n}"))
                assert ("trunk" in "\n".join(list_.wait(f"other-{n}"))) is is_read
            list_.terminal.type(b"q")
            assert list_.end() == 0
