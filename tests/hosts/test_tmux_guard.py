"""What a real tmux compares in the step in which it types: every row, whatever stands there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Seen
from tallylight.evidence.foreground import NOBODY
from tallylight.hosts.detached.pane import TmuxPane
from tallylight.hosts.tmux import guard
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tests.patience import until
from tests.tables import each

pytestmark = pytest.mark.programs

#: Rows that a command language, a format or an expression could take for its own; and what each is changed to.
ROWS = {
    "plain": ("Do you want to proceed?", "Do you want to proceed!?"),
    "one word more": ("touch made", "touch made; rm -rf /"),
    "one sign": ("❯ 1. Yes", "  1. Yes"),
    "format": ("#{pane_pid} #(touch /tmp/x) #[fg=red] ##", "#{pane_pid} #(touch /tmp/x) #[fg=red] ## 2"),
    "words of a format": ("a,b}c:d{e} %H:%M %%", "a,b}c:d{e} %H:%M %% 2"),
    "quotes": (r"""it's "quoted" \ $HOME `id` ~""", r"""it's "quoted" \ $HOME `id` ~ 2"""),
    "expression": ("(a|b)*[c]+.? ^x$ {3}", "(a|b)*[c]+.? ^x$ {3} 4"),
    "wide": ("世界 ＡＢ", "世界 ＡＢＣ"),
    "across": ("─" * 80, "─" * 79 + "x"),
    "gap": ("a" + " " * 30 + "b", "a" + " " * 30 + "c"),
    "marks above letters": ("e\u0301 ok", "e\u0301 ko"),
    "emoji": ("👩 ⚠ ok", "👩 ⚠ ko"),
    "twice": ("Yes", "Ye"),
}
END = "the end"


@attrs.define
class Drawn:
    """A pane of tmux, and its terminal."""

    pane: TmuxPane
    terminal: Path

    def show(self, rows: Sequence[str]) -> Seen:
        """Draw *rows*; what is seen of them."""
        mark = f"{END} {os.urandom(4).hex()}"
        self.terminal.write_text("\x1b[2J\x1b[H" + "\r\n".join([*rows, mark]) + "\x1b[A", "utf-8")
        found: list[object] = []

        def is_there() -> bool:
            found[:] = [self.pane.see()]
            return isinstance(found[0], Seen) and mark in found[0].look.lines

        until(is_there, "nothing is drawn")
        self.terminal.write_text(f"\x1b[B\r{END}\x1b[K\x1b[A", "utf-8")
        until(lambda: isinstance(now := self.pane.see(), Seen) and END in now.look.lines, "the end is not drawn")
        seen = self.pane.see()
        assert isinstance(seen, Seen)
        return seen


@pytest.fixture
def drawn(tmp_path: Path) -> Iterator[Drawn]:
    """A pane of 100 columns and 40 rows, in which nothing runs that draws."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TMUX": ""}
    tmux = ["tmux", "-S", str(tmp_path / "socket")]
    start = [*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40"]
    subprocess.run([*start, "stty raw -echo; exec sleep 1000"], env=env, check=True)
    try:
        asked = [*tmux, "display-message", "-p", "#{pid} #{pane_id} #{pane_tty}"]
        words = subprocess.run(asked, env=env, check=True, capture_output=True, text=True).stdout.split()
        entry = Pane(id=f"tmux/{words[0]}/{words[1]}", status=Status.WAITING)
        pane = TmuxPane(entry, str(tmp_path / "socket"), words[1], lambda *_: NOBODY, env)
        yield Drawn(pane, Path(words[2]))
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, check=False)


def test_every_row_is_compared(drawn: Drawn) -> None:
    """The screen that was seen is typed to; with one row changed, it is not."""
    before = [row for row, _ in ROWS.values()]
    seen = drawn.show(before)
    assert drawn.pane.press("x", seen), "it is the same"
    wrong = []
    for name, (row, other) in ROWS.items():
        now = drawn.show([other if one == row else one for one in before])
        if drawn.pane.press("x", seen) or not drawn.pane.press("x", now):
            wrong.append(name)
    assert wrong == []


def test_the_place_of_the_rows_is_compared(drawn: Drawn) -> None:
    """The same rows further down, or with the cursor elsewhere, are another screen."""
    rows = ["first", "second", "third"]
    seen = drawn.show(rows)
    drawn.show(["", *rows])
    assert not drawn.pane.press("x", seen)
    drawn.show(rows)
    assert drawn.pane.press("x", seen)
    drawn.terminal.write_text("\x1b[3;3H")
    until(lambda: isinstance(now := drawn.pane.see(), Seen) and now.look.cursor_column == 2, "the cursor stays")
    assert not drawn.pane.press("x", seen)


def test_a_tall_screen_fits_into_a_command(drawn: Drawn) -> None:
    """Rows at the end come first: more than tmux takes in one command are left out at the top."""
    rows = [f"{number:04} " + "世" * 45 for number in range(38)]
    seen = drawn.show(rows)
    # As many rows as it takes, of a screen that is three times as high.
    look = attrs.evolve(seen.look, lines=[*(f"x{number}" + "世" * 45 for number in range(80)), *seen.look.lines])
    assert len(guard.screen_condition(look).encode()) < 15_000
    assert "0037 " in guard.screen_condition(look)
    assert drawn.pane.press("x", seen)
    drawn.show([*rows[:-1], "another"])
    assert not drawn.pane.press("x", seen)


@each(
    ("command", "line"),
    [
        (["send-keys", "-l", "--", "a;"], '"send-keys" "-l" "--" "a;"'),
        (["send-keys", '"$HOME\\'], r'"send-keys" "\"\$HOME\\"'),
    ],
)
def test_commands_are_quoted(command: list[str], line: str) -> None:
    """tmux takes each word for what it is."""
    assert guard.one_argument([command]) == line
    assert guard.one_argument([command, ["x"]]) == f'{line} ; "x"'
