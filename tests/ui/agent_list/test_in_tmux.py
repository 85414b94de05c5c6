"""The list and the panel in a real tmux, as they stand on its screen: columns, groups, names and the preview."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tallylight.wire.text import width
from tests.actions.real_panes import RealPanes, real_panes
from tests.entries import new_pane
from tests.parts.web.conftest import painted
from tests.parts.web.live import TALLY, Stage
from tests.patience import until

pytestmark = pytest.mark.programs

NOW = time.time()
#: Of a kitty: what stands beside the agent that really asks, in tmux.
PANES = (
    Pane(id="1", status=Status.ERROR, agent="gemini", project="検索サービス", message="API error: 過負荷です、後で試す",
         since=NOW - 65),
    new_pane(id="2", status=Status.WORKING, agent="codex", project="docs", progress="3/7",
         message="Rewriting the guide", tasks=("a", "b", "c", "Every example"), since=NOW - 1500, model="Opus 5.2",
         context=62),
    Pane(id="3", status=Status.DONE, agent="claude", project="docs", kind=Kind.QUESTION, message="Shall I go on?",
         since=NOW - 600),
)  # fmt: skip


@attrs.define
class View:
    """A window of tmux in which the list runs; a person can attach to it, in one of *panes*."""

    stage: Stage
    panes: RealPanes

    def open(self, verb: str, columns: int, lines: int) -> None:
        command = shlex.join([*TALLY, verb, "--color", "always"])
        self.stage.tmux("new-session", "-d", "-s", "view", "-x", str(columns), "-y", str(lines), command)

    def attach(self) -> None:
        """A person looks at it, in a smaller window that it does not follow."""
        socket = self.stage.tmux("display-message", "-p", "-t", "=view:", "#{socket_path}").strip()
        self.panes.type(f"tmux -S {socket} attach -f ignore-size -t view")

    def text(self, *options: str) -> str:
        return self.stage.tmux("capture-pane", "-p", *options, "-t", "=view:")

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.text().splitlines()]

    def press(self, *keys: str) -> None:
        self.stage.tmux("send-keys", "-t", "=view:", *keys)

    def shows(self, *words: str) -> list[str]:
        """Its lines, once each of *words* stands in one."""
        found: list[str] = []

        def is_there() -> bool:
            found[:] = self.lines()
            return all(any(word in line for line in found) for word in words)

        try:
            until(is_there, "")
        except AssertionError:
            pytest.fail(f"{words} do not all stand in\n" + "\n".join(found))
        return found


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    stage = Stage(tmp_path, ("claude/permission-bash-80", "claude/idle-start-80"), painted, serves=False)
    (tmp_path / "panes").mkdir()
    with real_panes(tmp_path / "panes") as panes:
        try:
            stage.start()
            stage.live.shows(*PANES)
            yield View(stage, panes)
        finally:
            stage.close()


def test_a_narrow_panel(view: View) -> None:
    """In 24 columns: mark, name and age, and below them what; wide letters stay whole; the panel itself is no agent."""
    view.open("panel", 24, 30)
    lines = view.shows("Bash: touch made1", "検索サービス", "docs")
    assert lines[0].split() == ["!", "1", "×", "1", "✓", "1", "●", "1"] and all(width(line) <= 24 for line in lines)
    asks = lines.index(next(line for line in lines if "Bash:" in line)) - 1
    assert lines[asks].split()[0] == "!" and lines[asks].endswith("s")
    failed = lines.index(next(line for line in lines if "検索サービス" in line))
    assert lines[failed].split()[0] == "×" and lines[failed].endswith("m")
    assert lines[failed + 1] == "    API error: 過負荷で…" and width(lines[failed + 1]) == 24
    assert [line.split()[0] for line in lines if " docs " in line] == ["✓?", "●"]
    # A change is drawn, and nothing of the old one stays.
    view.stage.live.shows(PANES[0], PANES[2])
    until(lambda: len([line for line in view.lines() if " docs " in line]) == 1, "the row that has gone is still there")
    view.press("q")
    until(lambda: "view" not in view.stage.tmux("list-sessions"), "it does not end")


def test_columns_groups_names_and_the_preview(view: View) -> None:
    """Columns stand below each other; `O` groups, `n` names, Space shows the screen of the agent, with its colours."""
    view.open("agents", 120, 30)
    lines = view.shows("Bash: touch made1", "Every example")
    rows = lines[1:5]
    assert lines[0] == " 4 agents   ! 1 wait   × 1 failed   ✓ 1 done   ● 1 working"
    assert [row.replace("▸", " ").split()[0] for row in rows] == ["!", "×", "✓?", "●"]
    for words in (("claude", "gemini", "claude", "codex"), ("Bash:", "API", "Shall", "Every")):
        assert len({width(row[: row.rindex(word)]) for row, word in zip(rows, words, strict=True)}) == 1, words
    assert rows[3].split()[-3::2] == ["3/7", "codex"] and "Opus 5.2" not in "\n".join(rows)

    for by, headings in (
        ("project", {"検索サービス", "docs"}),
        ("machine", {"this machine"}),
        ("terminal", {"detached sessions", "kitty"}),
        ("session", {"one pane each"}),
        ("agent", {"claude", "gemini", "codex"}),
    ):
        view.press("O")
        grouped = view.shows(f"grouped by {by}")
        assert headings <= {line.rstrip("─ ") for line in grouped if line.endswith("───")}
    view.press("O")
    assert view.shows("not grouped")[1:5] != grouped[1:5]

    view.press("Home", "n")
    view.press("-l", "Kasse")
    view.press("Enter")
    assert "Kasse" in view.shows("named")[1]

    view.press("Space")
    shown = view.shows("─ screen ─ reply ─", " Do you want to proceed?", "Esc to cancel")
    assert any("❯ 1. Yes" in line for line in shown)
    # Its own colours, of the dialog's frame and of the chosen answer, are for the person: nobody has attached so far.
    assert "38;5;153" not in view.text("-e")
    view.attach()
    until(lambda: "38;5;153" in view.text("-e"), "the preview has no colours")
    view.press("Space")
    until(lambda: not any("Esc to cancel" in line for line in view.lines()), "the preview stays")
