"""The list of agents in a real kitty, by keys and the mouse, with a program called `claude` that asks as Claude does.

What it draws is a recorded prompt of the real one; it notes what is typed into it.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tallylight.actions.answer import Answer
from tallylight.actions.request import Attach, LookRequest, Open, encode
from tallylight.cli.exit_codes import REFUSED
from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.flow import PICTURE_SHOWN_S
from tallylight.ui.agent_list.reading import PACE_S
from tests.real_kitty.asking_claude import SCREEN, install_asking_claude
from tests.real_kitty.desk import FEW, LIGHTS, Desk, send
from tests.real_kitty.harness import Kitty
from tests.real_kitty.remote import RemoteControl, RemoteError
from tests.real_kitty.roots import CHECKOUT
from tests.story import better_told

#: What happens in the process that owns the pane, and in panes that are in no kitty.
IN_ONE_KITTY = {
    "test_a_text_is_queued_until_the_turn_ends": "0.48",
    "test_a_program_that_floods_its_screen_is_looked_at_at_a_pace": "0.48",
    "test_a_detached_agent_is_attached": "0.48",
    "test_enter_goes_to_a_pane_of_another_kitty": "0.41",
}

#: Where to put pictures, for a person to look at.
PICTURES = "TALLYLIGHT_PICTURES"

_CONFIG = """
shell bash --norc
map ctrl+g kitten {kittens}/agents.py
{more}
"""
LIST = "ctrl+g"
QUIET: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)


CORPUS = CHECKOUT / "tests/corpus"

#: For a preview beside the list.
_SMALL = """
font_size 10
background #16181d
foreground #c8ccd4
color8 #6b7280
"""


class Board(Desk):
    """A desk with a key for the list."""

    def __init__(self, version: str, more: str = "") -> None:
        super().__init__(version, config="[kitty]\npulse = false\n", size=(1000, 560))
        self.kittens = self.kitty.home / ".local/share/tallylight/kittens"
        self.configure(more)
        install_asking_claude(self.kitty.home)
        self.lists: list[int] = []

    def configure(self, more: str = "") -> None:
        self.reload(_CONFIG.format(kittens=self.kittens, more=more))

    def press(self, *keys: str) -> None:
        """Press keys on the keyboard."""
        self.kitty.xdotool("key", *keys)

    def agent(self, name: str, status: str, **how: Any) -> int:
        """A silent program in a tab that says this status of a project of that name."""
        window = self.lamp(name, **how)
        self.send(window, f"state={status};tool=scout;project={name}")
        return window

    def open(self, found: str) -> int:
        """Open the list by its key, and wait until its program shows this; its window."""
        before = {window["id"] for window in self.kitty.windows()}
        self.press(LIST)
        self.kitty.wait_until(lambda: self.lists_now(), what="an open list")
        (window,) = {window["id"] for window in self.kitty.windows()} - before
        self.kitty.wait_text(window, found)
        self.kitty.wait_until(self.is_ready, what="the program of the list")
        return window

    def lists_now(self) -> list[int]:
        """The windows that are lists."""
        found: list[int] = self.kitty.eval("from tallylight.hosts.kitty import agent_list as m; return list(m._lists)")
        return found

    def is_ready(self) -> bool:
        """Whether the program of the list has taken over: it hides nothing else, but only it uses the other screen."""
        code = (
            "from tallylight.hosts.kitty import agent_list as m\n"
            "return all(boss.window_id_map[w].screen.is_using_alternate_linebuf() for w in m._lists)"
        )
        return bool(self.kitty.eval(code))

    def wait_closed(self) -> None:
        """Wait until there is no list, in kitty and among the processes."""
        self.kitty.wait_until(lambda: not self.lists_now(), what="the end of the list")

    def detached(self) -> Sequence[Pane]:
        """What `tally host sessions` says."""
        found = next((self.kitty.runtime_dir / "tallylight").glob("sessions-*.json"), None)
        return writer.read(found).panes if found is not None else ()

    def selected(self, window: int) -> str:
        """The line with the selection."""
        return next((line for line in self.kitty.get_text(window).splitlines() if line.startswith("▸")), "")

    def wait_selected(self, window: int, *words: str) -> None:
        """Wait until the selected line has all these *words*."""
        self.kitty.wait_until(
            lambda: all(word in self.selected(window) for word in words), what=f"the selection on {words}"
        )

    def in_front(self) -> int:
        """The window that has the keyboard."""
        return next(
            int(window["id"])
            for os_window in self.kitty.ls()
            if os_window["is_focused"]
            for tab in os_window["tabs"]
            if tab["is_active"]
            for window in tab["windows"]
            if window["is_active"]
        )

    def click(self, window: int, line: int, button: int = 1) -> None:
        """Click into a line of a window, from 0."""
        code = (
            "from kitty.fast_data_types import cell_size_for_window\n"
            f"w = boss.window_id_map[{window}]\n"
            "g, (width, height) = w.geometry, cell_size_for_window(w.os_window_id)\n"
            "return [g.left + 10 * width, g.top, height]"
        )
        x, top, height = self.kitty.eval(code)
        self.kitty.xdotool("mousemove", str(x), str(int(top + (line + 0.5) * height)))
        self.kitty.xdotool("click", str(button))


@pytest.fixture(scope="module")
def _board(kitty_version: str) -> Iterator[Board]:
    board = Board(kitty_version)
    yield board
    board.close()


@pytest.fixture
def board(_board: Board) -> Board:
    """A kitty with one plain tab, in front."""
    for window in _board.lists_now():
        _board.kitty.close_window(window)
    _board.wait_closed()
    _board.close_all_but_first()
    _board.configure()
    return _board


def picture(board: Board, name: str) -> Path | None:
    folder = os.environ.get(PICTURES)
    return Path(folder) / f"{board.kitty.version}-{name}.png" if folder else None


def test_it_opens_with_every_agent_the_neediest_first(board: Board) -> None:
    """The key shows all agents of all tabs and OS windows; the program draws what the first picture showed."""
    board.wait_status(board.agent("mill", "working"), "working")
    board.wait_status(board.agent("shop", "waiting;kind=permission;message=May I?"), "waiting")
    # The snapshot may be older than what the host knows; here it is until the first picture is there.
    board.set_host("host._store._opened.snapshot.min_interval = 3600")
    board.wait_status(board.agent("farm", "done", type="os-window"), "done")
    board.kitty.focus_os_window(board.kitty.ls()[0]["id"])
    board.press(LIST)
    (list_,) = board.kitty.wait_until(board.lists_now, what="an open list")
    assert "farm" in board.kitty.get_text(list_)
    board.set_host("host._store._opened.snapshot.min_interval = 0.2")
    board.kitty.wait_until(board.is_ready, what="the program of the list")
    # What was drawn before it is wiped away at this moment.
    board.kitty.wait_text(list_, "agents")

    lines = [line.split() for line in board.kitty.get_text(list_).splitlines()]
    assert lines[0] == ["3", "agents", "!", "1", "wait", "✓", "1", "done", "●", "1", "working"]
    names = [next(word for word in line if word in ("shop", "farm", "mill")) for line in lines[1:4]]
    assert names == ["shop", "farm", "mill"]

    board.press(LIST)
    board.wait_closed()


def test_the_first_picture_is_there_at_once(board: Board) -> None:
    """Before its program has started, in the very call of the key, the list is drawn."""
    agent = board.agent("shop", "waiting;message=May I?")
    board.wait_status(agent, "waiting")
    code = f"""
list_ = boss.run_kitten_with_metadata({str(board.kittens / "agents.py")!r}, window=boss.active_window)
from tallylight.hosts.kitty import agent_list as module
(id_,) = module._lists
chunks = []
boss.window_id_map[id_].screen.as_text(chunks.append, False, False)
return "".join(chunks)
"""
    lines = str(board.kitty.eval(code)).splitlines()

    assert lines[0].split() == ["1", "agent", "!", "1", "wait"]
    assert lines[1].split()[:5] == ["▸", "!", "shop", "May", "I?"] and lines[1].split()[-1] == "scout"


def test_without_the_command_the_python_in_kitty_does(board: Board) -> None:
    """Where `tally` is not where it was installed, the list is run by kitty's own Python."""
    agent = board.agent("shop", "waiting")
    board.wait_status(agent, "waiting")
    command = board.kitty.home / ".local/bin/tally"
    aside = command.rename(command.with_name("aside"))
    try:
        list_ = board.open("shop")
        board.press("w")
        board.kitty.wait_text(list_, "user variable")
    finally:
        aside.rename(command)


def test_each_change_is_drawn(board: Board) -> None:
    """A light that changes is in the list without any key. `benchmarks.agents_list` says how soon."""
    agent = board.agent("shop", "working")
    board.wait_status(agent, "working")
    list_ = board.open("shop")
    for status in map(Status, ("error", "waiting", "done", "waiting", "working")):
        board.send(agent, f"state={status};tool=scout;project=shop")
        board.wait_selected(list_, f" {lights.mark(status)} ")


def test_enter_goes_to_a_pane_of_another_os_window(board: Board) -> None:
    """Enter brings the selected pane to the front, wherever it is, and the list is gone, with nothing left of it."""
    board.agent("mill", "working")
    far = board.agent("shop", "waiting", type="os-window")
    board.kitty.focus_os_window(board.kitty.ls()[0]["id"])
    board.wait_status(far, "waiting")
    list_ = board.open("shop")
    board.wait_selected(list_, "shop")
    board.press("Return")
    board.wait_closed()

    board.kitty.wait_until(lambda: board.in_front() == far, what="the pane in front")
    assert "tally agents" not in board.kitty.run(["ps", "-eo", "args="]).stdout.decode()


class Second(RemoteControl):
    """A second kitty process on the same display, of the same person; it ends with its last window."""

    def __init__(self, first: Kitty) -> None:
        directory = first.directory / "second"
        directory.mkdir()
        super().__init__(directory)
        command = ["kitty", "--config", str(first.directory / "base.conf"), "--config", str(first.kitty_conf)]
        self._process = first.popen([*command, "--listen-on", f"unix:{self.socket}"], **QUIET)
        first.wait_until(self._is_up, what="the second kitty")

    def _is_up(self) -> bool:
        try:
            return bool(self.windows())
        except (OSError, RemoteError):
            return False

    def close(self) -> None:
        """Close all windows, as a person does, and wait for its end."""
        for window in self.windows():
            self.close_window(window["id"])
        self._process.wait(30)


def test_enter_goes_to_a_pane_of_another_kitty(board: Board) -> None:
    """Enter on an agent in another kitty process brings its tab to the front there, and the keyboard to that window."""
    kitty = board.kitty
    other = Second(kitty)
    try:
        far = other.launch("cat", type="tab", keep_focus=True)
        kitty.wait_until(lambda: "cat" in str(other.window(far)["foreground_processes"]), what="cat")
        send(other, far, "state=waiting;tool=scout;project=afar")
        kitty.focus_os_window(kitty.ls()[0]["id"])
        kitty.wait_until(lambda: other.user_vars(far).get("tally_status") == "waiting", what="the light")
        assert not other.window(far)["is_focused"]
        list_ = board.open("afar")
        board.wait_selected(list_, "afar")
        board.press("Return")
        board.wait_closed()

        kitty.wait_until(lambda: other.window(far)["is_focused"], what="the focus in the other kitty")
        (os_window,) = other.ls()
        there = str(os_window["platform_window_id"])
        kitty.wait_until(lambda: kitty.xdotool("getwindowfocus") == there, what="the keyboard in the other kitty")
        kitty.xdotool("key", "x", "Return")
        kitty.wait_until(lambda: "x" in other.get_text(far), what="a key that is typed there")
    finally:
        other.close()


def test_filter_and_mouse(board: Board) -> None:
    """Typing after `/` filters; a click selects a row and another one goes there; the wheel scrolls."""
    windows = {name: board.agent(name, "working") for name in ("mill", "shop", "farm", "forge")}
    board.wait_status(windows["forge"], "working")
    list_ = board.open("mill")
    board.press("slash", "f", "o")
    board.kitty.wait_until(lambda: board.kitty.get_text(list_).startswith("/fo▏"), what="the filter")
    board.kitty.wait_until(lambda: "mill" not in board.kitty.get_text(list_), what="the filtered list")
    board.wait_selected(list_, "forge")
    board.press("Escape")
    board.kitty.wait_text(list_, "mill")

    row = next(n for n, line in enumerate(board.kitty.get_text(list_).splitlines()) if "shop" in line)
    board.click(list_, row)
    board.wait_selected(list_, "shop")
    board.click(list_, 1, button=4)
    board.click(list_, row)
    board.wait_closed()
    board.kitty.wait_until(lambda: board.in_front() == windows["shop"], what="the pane in front")


def test_snooze_unread_and_why(board: Board) -> None:
    """s puts a question off, so that it stands below what needs somebody; u marks; w explains; ? helps."""
    board.agent("shop", "waiting")
    other = board.agent("mill", "done")
    board.wait_status(other, "done")
    list_ = board.open("mill")
    board.press("s")
    board.kitty.wait_until(
        lambda: "mill" in board.kitty.get_text(list_).splitlines()[1], what="the other one at the top"
    )
    board.wait_selected(list_, "snoozed", "shop")
    board.press("u")
    snapshots = lambda: {pane.project: pane for pane in (board.snapshot() or board).panes}  # type: ignore[union-attr] # noqa: E731
    board.kitty.wait_until(
        lambda: (pane := snapshots().get("shop")) and pane.attention.unread, what="the mark in the snapshot"
    )
    board.press("w")
    board.kitty.wait_text(list_, "user variable")
    board.press("x")
    board.press("question")
    board.kitty.wait_text(list_, "mark it seen, or unread")


_PLAYS = r"""#!/usr/bin/python3
import os, sys, tty
with open(os.path.join(os.path.dirname(__file__), "played"), "rb") as file:
    sys.stdout.buffer.write(file.read())
sys.stdout.flush()
tty.setraw(0)
while typed := os.read(0, 100):
    if typed == b"\x02":
        with open(os.path.join(os.path.dirname(__file__), "later"), "rb") as file:
            sys.stdout.buffer.write(file.read())
        sys.stdout.flush()
        continue
    with open(os.environ["HOME"] + "/typed", "ab") as file:
        file.write(typed)
"""


def play(
    board: Board, recording: str, until: str, later: str = "", tell: Callable[[str], str] = str, **how: Any
) -> int:
    """
    A program called `claude` whose screen is that of a recorded one at the mark *until*; its window.

    Where there is a mark *later*, it is that of a second after the marks, and of *later* when it is typed a ctrl+b.
    *tell* is applied to what it writes, and *how* it is launched.
    """
    (board.kitty.home / "typed").write_bytes(b"")
    folder = board.kitty.home / "plays"
    folder.mkdir(exist_ok=True)
    lines = gzip.decompress((CORPUS / f"{recording}.cast.gz").read_bytes()).splitlines()[1:]
    events = [json.loads(line) for line in lines]
    marks = {text: at for at, what, text in reversed(events) if what == "m"}
    ends = (marks[until] + bool(later), marks[later] + 1 if later else 0.0)
    for name, begin, end in (("played", -1.0, ends[0]), ("later", *ends)):
        said = "".join(text for at, what, text in events if what == "o" and begin < at <= end)
        (folder / name).write_text(tell(said.replace("⎿", "└")))  # which the font of the pictures has
    program = folder / "claude"
    program.write_text(_PLAYS)
    program.chmod(0o755)
    return board.kitty.launch(str(program), keep_focus=True, **how)


def preview_of(board: Board, list_: int) -> list[str]:
    """The lines of the preview below the detail, without the titles of its pages."""
    lines = board.kitty.get_text(list_).splitlines()
    top = next((number for number, line in enumerate(lines) if "─ screen ─" in line), len(lines))
    return [line.rstrip() for line in lines[top + 1 : -1]]


def test_the_preview_shows_the_screen_with_its_colours(board: Board) -> None:
    """Space opens the screen of the selected agent below what it asks, as its own window shows it; tab turns pages."""
    board.configure(_SMALL)
    board.agent("api", "working;message=Rounding%20in%20the%20checkout;progress=3/7")
    board.agent("docs", "done;message=Rewrote%20the%20tutorial")
    window = play(board, "claude-permission", "truth waiting:permission", tell=better_told)
    board.wait_status(window, "waiting")
    list_ = board.open("Do you want to proceed?")
    board.press("space")
    board.kitty.wait_text(list_, "Esc to cancel")
    board.kitty.screenshot(picture(board, "preview"))
    beside = [line for line in preview_of(board, list_) if line]
    own = [line.rstrip() for line in board.kitty.get_text(window).splitlines() if line.strip()]
    assert len(beside) > 5 and [line[:40] for line in beside] == [line[:40] for line in own[-len(beside) :]]
    both = [board.kitty.get_text(id_, ansi=True) for id_ in (list_, window)]
    mine, theirs = (set(re.findall(r"38[:;]2[:;]+(\d+)[:;](\d+)[:;](\d+)", text)) for text in both)
    # Those of the lines that have room.
    assert len(mine & theirs) >= 3

    for page, words in (
        ("reply", "Do you want to proceed?"),
        ("plan", "reported no plan"),
        ("why", "turn"),
    ):
        board.press("Tab")
        board.kitty.wait_text(list_, words)
        board.kitty.screenshot(picture(board, f"preview-{page}"))
    board.press("space")
    board.kitty.wait_until(lambda: "─ why ─" not in board.kitty.get_text(list_), what="the list alone")


def test_what_is_written_in_the_list_is_typed_into_the_agent(board: Board) -> None:
    """`e` opens an editor; Shift+Enter begins a line, Enter sends, as one paste. Who asks is not written to."""
    board.configure(_SMALL)
    window = play(board, "claude-permission", "truth idle")
    board.wait_status(window, "idle")
    list_ = board.open("claude")
    # The terminal has told the program what it asked.
    board.kitty.wait_until(lambda: b"\x1bP>|kitty" in typed(board), what="an answer of kitty")
    board.let_pass(0.3)
    (board.kitty.home / "typed").write_bytes(b"")
    board.press("space", "e")
    board.kitty.wait_text(list_, "── to claude in")
    board.press("H", "i", "exclam", "shift+Return", "q", "1", "ctrl+j", "o", "k")
    board.kitty.wait_until(lambda: re.search(r"\n *q1 *\n *ok", board.kitty.get_text(list_)), what="the lines")
    board.kitty.screenshot(picture(board, "write"))
    assert typed(board) == b""
    board.press("Return")
    board.kitty.wait_until(lambda: typed(board), what="the text in the agent")
    board.kitty.wait_text(list_, "sent")
    assert typed(board) == b"\x1b[200~Hi!\nq1\nok\x1b[201~\r"

    board.kitty.close_window(window)
    other = play(board, "claude-permission", "truth waiting:permission")
    board.wait_status(other, "waiting")
    board.kitty.wait_text(list_, "Do you want to proceed?")
    board.press("e")
    board.kitty.wait_text(list_, "it asks something")
    board.press("e", "x", "Return")
    board.let_pass(0.3)
    assert b"x\r" not in typed(board)


def test_a_text_is_queued_until_the_turn_ends(board: Board) -> None:
    """
    For an agent that works, what is written, or sent by a script with `tally send --queue`, waits, is shown, can be
    taken back, and is typed when its turn ends.
    """
    board.configure(_SMALL)
    Desk.configure(board, '[kitty]\npulse = false\n[scripting]\nallow = "all"\n')
    window = play(board, "claude-text", "truth working", "truth done")
    board.wait_status(window, "working")
    list_ = board.open("claude")
    board.kitty.wait_until(lambda: b"\x1bP>|kitty" in typed(board), what="an answer of kitty")
    board.let_pass(0.3)
    (board.kitty.home / "typed").write_bytes(b"")

    told, code = board.kitty.home / "told", board.kitty.home / "told.code"

    def send(text: str) -> int:
        """By a script in a window of this kitty: what comes from elsewhere is told nothing."""
        code.unlink(missing_ok=True)
        words = shlex.join(["tally", "send", str(window), "--queue", text])
        board.kitty.launch("sh", "-c", f"{words} 2>~/told; echo $? >~/code; mv ~/code {code}", keep_focus=True)
        board.kitty.wait_until(code.exists, what="the end of the script")
        return int(code.read_text())

    board.press("space", "e")
    board.kitty.wait_text(list_, "queued until its turn ends")
    board.press("n", "o", "Return")
    board.wait_selected(list_, "queued: no")
    assert (send("not either"), told.read_text()[:20]) == (REFUSED, "tally send: queued: ")
    board.press("E")
    board.kitty.wait_until(lambda: "queued" not in board.selected(list_), what="nothing queued")
    assert send("never") == 0
    board.wait_selected(list_, "queued: never")
    board.press("E")
    board.kitty.wait_until(lambda: "queued" not in board.selected(list_), what="nothing queued")
    assert send("then\non") == 0
    board.wait_selected(list_, "queued: then on")
    assert "then on" in board.kitty.run(["tally", "why", str(window)]).stdout.decode()
    board.kitty.screenshot(picture(board, "queued"))
    board.let_pass(1.5)
    assert typed(board) == b""

    board.kitty.send_text(window, "\x02")
    board.kitty.wait_until(lambda: typed(board), what="the text in the agent")
    board.kitty.wait_until(lambda: "queued" not in board.selected(list_), what="nothing queued")
    board.let_pass(1.5)
    assert typed(board) == b"\x1b[200~then\non\x1b[201~\r"
    Desk.configure(board, "[kitty]\npulse = false\n")


_NOTE_PICTURES = """
import time
import tallylight.hosts.kitty.watcher as module
from tallylight.ui.agent_list.pictures import Sender
module.pictures, real = [], getattr(module, "real_picture", Sender.picture)
module.real_picture = real
def noting(*given):
    module.pictures.append(time.monotonic())
    return real(*given)
Sender.picture = noting
"""


def test_a_program_that_floods_its_screen_is_looked_at_at_a_pace(board: Board) -> None:
    """However much it draws, its screen is read four times a second at most; when it ends its row goes."""
    # It says itself who it is: a second writer would wait for room in its terminal.
    report = base64.b64encode(b"state=working;tool=scout;project=mill").decode()
    flood = f"printf '\\033]1337;SetUserVar=tally={report}\\007'; "
    flood += "i=0; while :; do i=$((i+1)); printf '\\033[3%dm日本語 %d\\033[m\\n' $((i%8)) $i; done"
    window = board.kitty.launch("sh", "-c", flood, keep_focus=True)
    board.kitty.wait_text(window, "日本語")
    board.wait_status(window, "working")
    list_ = board.open("mill")
    board.kitty.eval(_NOTE_PICTURES)
    board.press("space")
    board.kitty.wait_text(list_, "日本語")
    first = preview_of(board, list_)
    board.kitty.wait_until(lambda: preview_of(board, list_) != first, what="another picture")
    board.let_pass(2)
    taken = board.kitty.eval("import tallylight.hosts.kitty.watcher as module; return module.pictures")
    assert 3 <= len(taken) <= (taken[-1] - taken[0]) / PACE_S + 2

    board.kitty.close_window(window)
    board.kitty.wait_text(list_, "No agent runs yet")


@pytest.fixture
def asking(board: Board) -> tuple[Board, int, int]:
    """A board, the window of the program that asks, and the open list with it selected."""
    (board.kitty.home / "typed").write_bytes(b"")
    window = board.kitty.launch("claude", keep_focus=True)
    board.wait_status(window, "waiting")
    return board, window, board.open("Do you want to proceed?")


def typed(board: Board) -> bytes:
    return (board.kitty.home / "typed").read_bytes()


def answerable(board: Board, list_: int, command: str = "touch made1") -> str:
    """What the list shows, once a number answers it: it has been read off the screen, and has stood for a moment."""

    def read() -> str | None:
        shown = board.kitty.get_text(list_)
        # The host tells all but the description: the list has that from the screen alone.
        return shown if all(words in shown for words in ("  1  Yes", command, "A command of the script")) else None

    shown = board.kitty.wait_until(read, what=f"{command!r} read off the screen")
    board.let_pass(2 * PICTURE_SHOWN_S)
    return shown


def test_an_answer_is_typed_into_the_pane(asking: tuple[Board, int, int]) -> None:
    """The list shows what is asked, with the command, and the answers; a number answers each question once."""
    board, window, list_ = asking
    shown = answerable(board, list_)
    board.kitty.screenshot(picture(board, "answer"))
    assert "touch made1" in shown and "Do you want to proceed?" in shown
    assert typed(board) == b""

    (held := board.kitty.home / "held").touch()
    board.press("1")
    board.kitty.wait_text(list_, "answered 1. Yes")
    board.press("1")
    board.let_pass(0.3)
    assert typed(board) == b"1"

    held.unlink()
    assert "touch made1" not in answerable(board, list_, "rm -rf build")
    board.press("4")
    board.kitty.wait_text(list_, "answered 4. No")
    board.kitty.wait_text(window, "Thank you")
    assert typed(board) == b"14"


def test_questions_are_answered_one_after_the_other(board: Board) -> None:
    """`A` shows page after page: a number answers the first, a click the second, each in its own window."""
    (board.kitty.home / "typed").write_bytes(b"")
    windows = [board.kitty.launch("claude", keep_focus=True) for _ in range(2)]
    for window in windows:
        board.wait_status(window, "waiting")
    list_ = board.open("1 of 2")
    board.press("A")
    board.kitty.wait_text(list_, "Answer all   1 of 2")
    answerable(board, list_)
    board.kitty.screenshot(picture(board, "answer-all"))
    board.press("1")
    board.kitty.wait_text(list_, "Answer all   2 of 2")
    lines = answerable(board, list_).splitlines()
    assert typed(board) == b"1"
    board.click(list_, next(number for number, line in enumerate(lines) if line.startswith("  1  Yes")))
    board.kitty.wait_text(list_, "answered 1. Yes")
    board.kitty.wait_until(lambda: typed(board) == b"11", what="the second answer")
    for window in windows:
        board.kitty.wait_text(window, "rm -rf build")


def test_a_question_that_changed_gets_no_answer(asking: tuple[Board, int, int]) -> None:
    """The same words about another command: nothing is typed, and the list says that it changed."""
    board, window, list_ = asking
    board.press("a")
    answerable(board, list_)
    board.kitty.send_text(window, "\x02")
    board.kitty.wait_text(window, "rm -rf everything")
    board.press("1")
    board.kitty.wait_text(list_, "changed since you saw it")

    board.let_pass(0.3)
    assert typed(board) == b"" and "rm -rf everything" in board.kitty.get_text(window)


def test_a_program_that_prints_a_prompt_gets_no_answer(board: Board) -> None:
    """`cat` of a recorded prompt is no agent: there is nothing to answer, whatever status the pane claims."""
    window = board.agent("shop", "waiting;kind=permission;message=Do you want to proceed?")
    board.say(window, SCREEN.read_bytes().replace(b"\n", b"\r\n"))
    board.wait_status(window, "waiting")
    list_ = board.open("shop")
    board.press("a")
    board.kitty.wait_text(list_, "no agent is in the foreground")
    assert board.status(window) == "waiting"


@pytest.mark.parametrize("key", ["f", "r"])
def test_what_cannot_be_forked_is_said_in_the_list(board: Board, key: str) -> None:
    """f and r on a program that is no agent: the list says why and stays in front, and no window is opened."""
    board.agent("shop", "waiting")
    list_ = board.open("shop")
    windows = len(board.kitty.windows())
    board.press(key)
    board.kitty.wait_text(list_, "not forked: " if key == "f" else "not resumed: ")
    assert board.in_front() == list_ and len(board.kitty.windows()) == windows


@pytest.mark.parametrize("key", ["f", "r"])
def test_forking_is_handed_over(asking: tuple[Board, int, int], key: str) -> None:
    """f and r close the list and open the kitten that asks, over the pane it is about and in front of the person."""
    board, window, _ = asking
    board.press(key)
    board.wait_closed()
    tab = board.kitty.tab_of(window)

    def page() -> int | None:
        windows = next(t["windows"] for t in board.kitty.tabs() if t["id"] == tab)
        return next((int(w["id"]) for w in windows if w["id"] != window), None)

    over = board.kitty.wait_until(page, what="the page of the kitten")
    board.kitty.wait_until(lambda: board.in_front() == over, what="the page in front")
    # The program has no session that could be forked or resumed, and the page says so.
    board.kitty.wait_until(lambda: board.kitty.get_text(over).strip(), what="something on the page")
    assert typed(board) == b""


def test_a_wrong_light_is_asked_about_in_the_list(asking: tuple[Board, int, int]) -> None:
    """! shows in the place of the list what was seen, from kitty's own memory, and asks; then the list is back."""
    board, _, list_ = asking
    board.press("exclam")
    assert "ago, the light was waiting" in board.kitty.wait_text(list_, "What was it doing?")
    board.press("q")
    board.kitty.wait_text(list_, "stopped; nothing was changed")
    assert typed(board) == b""


def test_names_and_groups_by_keys_and_a_pane_is_closed(board: Board) -> None:
    """Named and grouped by keys; and of two panes the one that was shown is closed."""
    shop, docs = board.agent("shop", "waiting"), board.agent("docs", "working")
    list_ = board.open("docs")
    board.press("End", "n", *"manual", "Return")
    board.kitty.wait_text(list_, "manual")
    board.press("O")
    board.kitty.wait_text(list_, "docs ──")
    board.wait_selected(list_, "manual")
    if path := picture(board, "labels"):
        board.kitty.screenshot(path)

    board.press("D")
    board.kitty.wait_text(list_, "close 1 pane?")
    assert "manual, pane" in board.kitty.get_text(list_)
    board.let_pass(2 * PICTURE_SHOWN_S)
    board.press("y")
    board.kitty.wait_text(list_, "1 closed")
    board.kitty.wait_until(lambda: docs not in {w["id"] for w in board.kitty.windows()}, what="the end of the pane")
    assert shop in {w["id"] for w in board.kitty.windows()} and list_ in board.lists_now()
    board.press("question")
    board.kitty.wait_text(list_, "one page after the other")
    board.press("slash", *"snooze")
    board.kitty.wait_until(lambda: "fork it" not in board.kitty.get_text(list_), what="the found keys alone")
    board.press("Escape", *"OOOOO")
    board.kitty.wait_text(list_, "not grouped")


def test_a_detached_session_is_attached_in_a_new_tab(board: Board) -> None:
    """What a host gives as the way to attach is run in a tab, as it is, when the list has gone; nothing else is."""
    list_ = board.open("No agent runs")
    code = (
        "from tallylight.hosts.kitty import agent_list as m\nfrom tallylight.actions import request as r\n"
        "return r.encode_reply(m._lists[{}].act(r.decode_request({})[0])).decode()"
    )
    wrong = (
        *(Attach(argv) for argv in ((), ("sh", "-c", "true"), ("screen/sh",), ("tally", "attach", "here"))),
        *(Open("go", pane) for pane in ("1; ls", "999")),
        Open("type", "1"),
        LookRequest("999", "question"),
        Answer("1", 2, 3, "f" * 32, 1),
    )
    for asked in wrong:
        assert '"type":"refusal"' in board.kitty.eval(code.format(list_, encode(asked)))
    listed = ("tally", "attach", "sessions-1:claude/a0b8cb89")  # by our own program, which looks it up
    assert '"type":"done"' in board.kitty.eval(code.format(list_, encode(Attach(listed))))
    program = board.kitty.home / "elsewhere/screen"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\nexec sleep 1000\n")
    program.chmod(0o755)
    argv = (str(program), "-r", "a b; $(c)")
    assert '"type":"done"' in board.kitty.eval(code.format(list_, encode(Attach(argv))))
    assert len(board.kitty.tabs()) == 1
    board.press("q")
    board.wait_closed()

    board.kitty.wait_until(lambda: len(board.kitty.tabs()) == 2, what="the new tab")
    board.kitty.wait_text(board.kitty.windows()[-1]["id"], "<-r><a b; $(c)>")


def test_a_detached_agent_is_attached(board: Board) -> None:
    """Enter on an agent in a detached tmux, and in a detached Screen, brings it to a new tab, where it can be used."""
    kitty = board.kitty
    env = {"TMUX_TMPDIR": str(kitty.home / "tmux"), "SCREENDIR": str(kitty.home / "screens")}
    for folder in env.values():
        Path(folder).mkdir(mode=0o700)
    board.configure("\n".join(f"env {name}={value}" for name, value in env.items()))
    kitty.launch("tally", "host", "sessions", keep_focus=True)
    tabs = len(kitty.tabs())
    for start, end in (
        ("tmux new-session -d -s by_night -x 80 -y 24 claude", "tmux kill-server"),
        ("screen -dmS by_night claude", "screen -S by_night -X quit"),
    ):
        (kitty.home / "typed").write_bytes(b"")
        # A server of sessions keeps the pipes it was started with.
        kitty.popen(start.split(), env=env, **QUIET).wait(30)
        kitty.wait_until(lambda: [pane.status for pane in board.detached()] == ["waiting"], what="the session's light")
        board.open("Do you want to proceed?")
        board.press("Return")
        board.wait_closed()

        tab = kitty.wait_until(lambda: kitty.tabs()[tabs:], what="a new tab")[0]
        window = tab["windows"][0]["id"]
        kitty.wait_text(window, "touch made1")
        kitty.wait_until(lambda w=window: board.in_front() == w, what="the session in front")  # type: ignore[misc]
        kitty.screenshot(picture(board, f"attached-{start.split()[0]}"))
        board.press("1")
        kitty.wait_text(window, "rm -rf build")
        assert typed(board) == b"1"
        kitty.run(end.split(), env=env)
        kitty.wait_until(lambda: len(kitty.tabs()) == tabs and not board.detached(), what="the end of tab and session")


THEMES = {
    "dark": ("background #000000", "foreground #dddddd", ""),
    "light": ("background #ffffff", "foreground #222222", ""),
    "no colour": ("background #000000", "foreground #dddddd", "env NO_COLOR=1"),
}


@pytest.mark.parametrize("theme", THEMES)
def test_it_looks_right(board: Board, theme: str) -> None:
    """On a dark and a light background each light has its colour; with NO_COLOR there is none in the whole list."""
    settings = [line for line in THEMES[theme] if line]
    board.configure("\n".join([*settings, "tab_bar_style hidden"]))
    for name, status in (("shop", "waiting"), ("mill", "working"), ("farm", "done"), ("forge", "error")):
        window = board.agent(name, f"{status};progress=3/7;message=A message of {name}")
    board.wait_status(window, "error")
    board.open("forge")
    name = theme.replace(" ", "-")

    def colours() -> Counter[str]:
        """How many saturated pixels of each light, and of none, the screen has; blue is moved until it can be read."""
        counts: Counter[str] = Counter()
        found: Any = board.kitty.screenshot(picture(board, name)).getcolors(1000 * 560)
        for count, pixel in found:
            if max(pixel) - min(pixel) > 60:
                is_blue = pixel[2] - max(pixel[:2]) > 60
                other = "working" if is_blue else "other"
                counts[next((light for light, colour in LIGHTS.items() if colour == pixel), other)] += count
        return counts

    if theme == "no colour":
        board.kitty.wait_until(lambda: not colours(), what="a picture without colours")
    else:
        # What works has a plain mark, and smoothed edges are of no light.
        least = {"waiting": 200, "error": 200, "done": 200, "working": FEW}
        board.kitty.wait_until(lambda: all(colours()[light] >= n for light, n in least.items()), what="the lights")
