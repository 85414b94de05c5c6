"""What `wezterm cli list` and the feed say, and what is made of it when it is not what it should be."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

import tallylight
from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ForegroundReader
from tallylight.files.program import Ran
from tallylight.hosts.wezterm import sidecar
from tallylight.hosts.wezterm import source as source_module
from tallylight.hosts.wezterm.pane_list import MAX_PANES, FedPane, FeedState, Row, read_feed, read_list, screen
from tallylight.hosts.wezterm.sidecar import socket_of
from tallylight.hosts.wezterm.source import SELDOM_S, WezTermSource
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane as ScreenedPane
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import CollisionEntry, Pane
from tests.entries import pane_with
from tests.hosts.test_pane import CLAUDE, SHELL, HandTable
from tests.tables import each

#: As WezTerm 20240203 prints one pane, and one of an ssh domain.
LISTED = """[
  {"window_id": 0, "tab_id": 3, "pane_id": 4, "workspace": "default",
   "size": {"rows": 24, "cols": 80, "pixel_width": 640, "pixel_height": 384, "dpi": 96},
   "title": "✳ Fix", "cwd": "file://host/home/u/api/", "cursor_x": 2, "cursor_y": 21, "cursor_shape": "Default",
   "cursor_visibility": "Visible", "left_col": 0, "top_row": 0, "tab_title": "", "window_title": "w",
   "is_active": true, "is_zoomed": false, "tty_name": "/dev/pts/7"},
  {"window_id": 0, "tab_id": 5, "pane_id": 6, "workspace": "far", "title": "ssh", "cursor_visibility": "Hidden",
   "tty_name": null}
]"""


def test_list() -> None:
    """A pane has its terminal, its size and its cursor; one of another domain has no terminal."""
    assert read_list(LISTED.encode()) == [
        Row(id="4", tab="3", window="0", workspace="default", title="✳ Fix", tty="/dev/pts/7",
            is_active=True, rows=24, columns=80, cursor_row=21, cursor_column=2),
        Row(id="6", tab="5", window="0", workspace="far", title="ssh", cursor_visible=False),
    ]  # fmt: skip


@each("data", [b"", b"{}", b"null", b"\xff", b"[" * 100_000, b'"x"'])
def test_no_list(data: bytes) -> None:
    """What is no list is None, not an empty one: the panes stay."""
    assert read_list(data) is None


@each("row", [3, None, {}, {"pane_id": "4"}, {"pane_id": -1}, {"pane_id": True}, {"pane_id": 1.5}, {"pane_id": 2**60}])
def test_rows_that_are_none(row: object) -> None:
    """A row without a number for its pane is left out."""
    assert read_list(json.dumps([row]).encode()) == []


def test_list_is_bounded() -> None:
    """More panes than anyone has are not read, and a path that is no terminal's is none."""
    rows: list[Any] = [{"pane_id": n, "tty_name": "/etc/passwd", "size": 7, "title": 3} for n in range(MAX_PANES + 5)]
    found = read_list(json.dumps(rows).encode())
    assert found is not None and len(found) == MAX_PANES
    assert found[0] == Row(id="0", tab="", window="")


def test_screen() -> None:
    """A screen has as many rows as the pane, whether WezTerm prints the empty ones at its end or not."""
    row = Row(id="1", tab="1", window="0", rows=4)
    for text in ("a\nb\n", "a\nb", "a\nb\n\n\n", "a\nb\n\n\n\nmore\n"):
        assert screen(text, row) == ["a", "b", "", ""]


@each(
    ("value", "said"),
    [
        ({"said": [{"n": 1, "value": "a"}, {"n": 2, "value": "b"}]}, ((1, "a"), (2, "b"))),
        ({"said": [{"n": 0, "value": "a"}, {"n": "1", "value": "b"}, {"n": 3}, 4, {"n": 5, "value": 6}]}, ()),
        ({"said": "x"}, ()),
        ({}, ()),
    ],
)
def test_feed(value: object, said: object) -> None:
    """Words have a number and a text; others are left out."""
    feed = read_feed(json.dumps({"version": 1, "life": "a", "front": "3,x,4", "panes": {"4": value, "5": 3}}).encode())
    assert feed == FeedState(life="a", front=frozenset({"3", "4"}), panes={"4": FedPane(said=said)})  # type: ignore[arg-type]


@each(("value", "bar"), [(True, True), (False, False), (None, None), ("x", None), (1, None)])
def test_bars_of_the_feed(value: object, bar: object) -> None:
    """A pane has a progress bar, has none, or WezTerm cannot tell."""
    feed = read_feed(json.dumps({"version": 1, "panes": {"4": {"progress": value}}}).encode())
    assert feed is not None and feed.panes["4"].progress is bar


def test_head_of_the_feed() -> None:
    """Its number, the workspace that is shown, and what is wrong; each of the wrong type is as if it were not there."""
    head = {"version": 1, "number": 17, "workspace": "w", "problems": "keys,titles", "release": "1"}
    feed = read_feed(json.dumps(head).encode())
    assert feed == FeedState(number=17, workspace="w", problems=frozenset({"keys", "titles"}), release="1")
    for key in ("number", "workspace", "problems", "release"):
        assert read_feed(json.dumps({"version": 1, key: [7]}).encode()) == FeedState()


@each("data", [b"", b"[]", b'{"version": 2}', b"{" * 100_000, b"\xff"])
def test_no_feed(data: bytes) -> None:
    """Another version, or what is no JSON, is no feed."""
    assert read_feed(data) is None


def test_each_word_is_heard_once(tmp_path: Path) -> None:
    """In one life by its number; after a reload, which counts anew, what is the same as the last word is not news."""
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed")

    def hears(life: str, *said: tuple[int, str]) -> list[str]:
        source._feed = FeedState(life=life)
        return source._new_words("4", said)

    assert hears("one", (1, "a"), (2, "b")) == ["a", "b"]
    assert hears("one", (1, "a"), (2, "b")) == []
    assert hears("one", (2, "b"), (3, "b")) == ["b"]
    assert hears("two", (1, "b")) == []
    assert hears("two", (1, "b"), (2, "c")) == ["c"]
    assert hears("three", (1, "d"), (2, "e")) == ["d", "e"]
    assert hears("four") == []
    assert hears("four", (1, "f")) == ["f"]


def test_a_pane_that_was_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a pane is, the feed tells as it happens; the list, which is asked for seldom, where the feed does not."""
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed", Started(""))
    monkeypatch.setattr(WezTermSource, "_cli", lambda *_: Ran(0, b'[{"pane_id": 4, "tab_id": 3, "window_id": 1}]'))
    refreshed: list[WezTermSource] = []
    poller = SimpleNamespace(later=lambda *_: None, peek=lambda _: None, refresh=refreshed.append)

    def place(**told: object) -> tuple[str, str, int]:
        (tmp_path / "feed").write_text(json.dumps({"version": 1, "life": "one", "panes": {"4": told}}))
        source.listen(poller, 1.0)  # type: ignore[arg-type]
        found = next(iter(source.look() or ()))
        return found.tab, found.os_window, len(refreshed)

    assert [place(), place(tab=3, window=1), place(tab=3, window=1, title="t"), place(tab=7, window=2)] == [
        ("3", "1", 1), ("3", "1", 2), ("3", "1", 2), ("7", "2", 3),
    ]  # fmt: skip


def test_news_of_a_server_is_drawn_at_once(tmp_path: Path) -> None:
    """What a mux server says changes no pane of ours, but what is drawn of it."""
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed")
    drawn: list[str] = []
    poller = SimpleNamespace(later=lambda name, _: drawn.append(name), peek=lambda _: None, refresh=lambda _: None)

    def draws(word: str) -> int:
        drawn.clear()
        source._scene.is_due = False
        fed = {"version": 1, "life": "one", "panes": {"4": {"title": word, "mux": word}}}
        (tmp_path / "feed").write_text(json.dumps(fed))
        source.listen(poller, 1.0)  # type: ignore[arg-type]
        return len(drawn)

    assert [draws("working;pane=1.2"), draws("waiting;pane=1.2"), draws("waiting;pane=1.2")] == [1, 1, 0]


def test_what_is_told_once_is_not_told_again(tmp_path: Path) -> None:
    """A pane is worked out anew for a word, a title or a bar of its own, and not in each round of the loop."""
    agents, _ = agent_files.load_agents({"HOME": str(tmp_path)})
    table = HandTable(str(tmp_path))
    source, told = WezTermSource({}, 1, "wezterm", tmp_path / "feed", table), list[str]()
    pane = ScreenedPane(Timing(), ForegroundReader(agents, table), table)
    known: dict[str, ScreenedPane] = {}
    poller = SimpleNamespace(later=lambda *_: None, peek=known.get, refresh=lambda _: None, pane=told.append)

    def rounds(**fed: object) -> int:
        told.clear()
        (tmp_path / "feed").write_text(json.dumps({"version": 1, "life": "one", "panes": {"4": fed}}))
        for now in range(5):
            source.listen(poller, float(now))  # type: ignore[arg-type]
        return len(told)

    said = [{"n": 1, "value": "state=waiting"}]
    assert rounds(title="t") == 0
    known["4"] = pane
    # One that the list tells of later gets what the feed said before.
    source.listen(poller, 5.0)  # type: ignore[arg-type]
    assert told == ["4"]
    assert [
        rounds(title="t"),
        rounds(title="v"),
        rounds(title="v"),
        rounds(title="u"),
        rounds(title="u", said=said),
    ] == [0, 1, 0, 1, 1]
    assert [rounds(title="u", said=said, progress=bar) for bar in (True, True, False)] == [1, 0, 1]


class Started(HandTable):
    """One in which the GUI process has started these."""

    started: tuple[Process, ...] = ()

    def descendants(self, pid: int) -> tuple[Process, ...]:
        return self.started


def test_the_list_is_asked_for_when_there_is_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while the feed tells of the same panes and nothing was started or has ended; now and then all the same."""
    asked: list[int] = []
    table = Started("")
    source = WezTermSource({}, SHELL.pid, "wezterm", tmp_path / "feed", table)
    clock = iter(range(1000))
    monkeypatch.setattr(source_module.time, "monotonic", lambda: float(next(clock)))

    def listed(_self: WezTermSource, *_words: str) -> Ran:
        asked.append(1)
        return Ran(0, b'[{"pane_id": 4}, {"pane_id": 5}]')

    monkeypatch.setattr(WezTermSource, "_cli", listed)

    def asks(*panes: str, life: str = "one") -> int:
        asked.clear()
        source._feed = FeedState(life=life, panes={id_: FedPane() for id_ in panes})
        assert [pane.id for pane in source.look() or ()] == ["4", "5"]
        return len(asked)

    assert [asks(life=""), asks(life="")] == [1, 1], "nobody tells"
    assert [asks("4"), asks("4", "5"), asks("4", "5")] == [1, 0, 0]
    table.started = (CLAUDE,)
    assert [asks("4", "5"), asks("4", "5")] == [1, 0]
    source.news = tmp_path / "news"
    for pid in (71, 72):
        waiting = Process(pid, SHELL.pid, argv=("sh", "-c", ":", "sh", str(source.news)))
        table.started = (CLAUDE, waiting)
        table.processes = {waiting.pid: waiting}
        assert asks("4", "5") == 0, "what waits for our news is no pane"
    table.started = ()
    assert [asks("4", "5"), asks("4", "5")] == [1, 0]
    assert sum(asks("4", "5") for _ in range(int(SELDOM_S))) >= 1


def test_a_pane_of_another_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua alone can bring a window to the front: it is left a note, and woken. That is taken, or soon too old."""
    feed, note = tmp_path / "wezterm-1.feed.json", tmp_path / "wezterm-1.goal"
    source = WezTermSource({}, 1, "wezterm", feed, Started(""))
    told: list[str] = []
    now = 0.0

    def told_to(_self: WezTermSource, *words: str) -> Ran:
        told.append(words[0])
        return Ran(0, b'[{"pane_id": 4, "window_id": 1}, {"pane_id": 5, "window_id": 2}]')

    def slept(seconds: float) -> None:
        nonlocal now
        now += seconds
        if now >= taken_at:
            note.unlink(missing_ok=True)

    monkeypatch.setattr(WezTermSource, "_cli", told_to)
    monkeypatch.setattr(WezTermSource, "wake", lambda _: told.append(note.read_text()))
    monkeypatch.setattr(source_module.time, "sleep", slept)
    monkeypatch.setattr(source_module.time, "monotonic", lambda: now)

    def asked(pane: str, life: str = "one") -> list[str]:
        told.clear()
        source._feed = FeedState(life=life, front=frozenset("4"), panes={"4": FedPane(window="1")})
        source.act(Request("focus", pane))
        assert not note.exists()
        return [word for word in told if word != "list"]

    taken_at = 1.0
    assert asked("4") == asked("5", "") == ["activate-pane"]
    assert asked("6") == []
    assert asked("5") == ["activate-pane", "5"] and now < 1.1
    now, taken_at = 0.0, 99.0
    assert asked("5") == ["activate-pane", "5"] and now < 3
    # A mux server has no window.
    source._is_server = True
    assert asked("5") == ["activate-pane"]


def test_what_waits_is_woken(tmp_path: Path) -> None:
    """At a FIFO, once it waits there, and at the end of the FIFO; nothing is waited for where there is none."""
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed")
    source.news = tmp_path / "news"
    source.wake()
    os.mkfifo(source.news)
    shell = ["sh", "-c", '[ -p "$1" ] && : <"$1"', "sh", str(source.news)]
    with subprocess.Popen(shell) as waiting:
        source.wake()
        assert waiting.wait(30) == 0
    with subprocess.Popen(shell) as waiting:
        source.close()
        waiting.wait(30)
    assert not source.news.exists()
    os.mkfifo(source.news)
    with subprocess.Popen(["cat", str(source.news)]) as waiting:
        source._waiting = {waiting.pid}
        source.news.unlink()
        source.close()
        waiting.wait(30)
    source.news.write_text("")
    assert subprocess.run(shell, check=False).returncode == 1, "a plain file is no end of waiting"


def test_a_panel_gives_the_keyboard_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A jump from it, and Esc in it, leave the keyboard of its tab to the pane beside it; not if it had none."""
    source = WezTermSource({}, 1, "wezterm", tmp_path / "wezterm-1.feed.json", Started(""))
    told: list[str] = []

    def told_to(_self: WezTermSource, *words: str) -> Ran:
        told.append(" ".join(words))
        return Ran(0, b'[{"pane_id": 4, "tab_id": 1, "is_active": true}, {"pane_id": 5}, {"pane_id": 6}]')

    monkeypatch.setattr(WezTermSource, "_cli", told_to)
    for goal, *panel in (("6", "4"), ("4", "4"), ("6", "5"), ("5", "5")):
        source.act(Request("focus", goal, tuple(panel)))
    back = "activate-pane-direction --pane-id 4 Right"
    assert [line for line in told if not line.startswith("list")] == [
        back,
        "activate-pane --pane-id 6",
        back,
        "activate-pane --pane-id 6",
    ]


_ASKED = Pane(id="4", status=Status.WAITING, what="Bash: touch a", question="Run it?", since=1.0)


@each(
    "change",
    [
        {"what": "Bash: touch b"}, {"question": "Go on?"}, {"since": 2.0}, {"name": "checkout"}, {"project": "shop"},
        {"vars": (("a", "b"),)}, {"status": Status.DONE}, {"collisions": (CollisionEntry(same=True),)},
    ],
)  # fmt: skip
def test_wezterm_is_woken_for_all_that_lua_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """Whatever of it becomes another: WezTerm would else show what was before. The same again wakes nobody."""
    woken: list[int] = []
    monkeypatch.setattr(WezTermSource, "wake", lambda _: woken.append(1))
    monkeypatch.setattr(source_module.time, "sleep", lambda _: None)
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed.json")
    source._rows = {"4": Row(id="4", tab="1", window="1")}
    for entry in (_ASKED, _ASKED, pane_with(_ASKED, **change)):
        source.shown({"4": attrs.evolve(entry, title=str(len(woken)))})
    assert len(woken) == 2


def test_a_mux_server_is_woken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each new word of a pane."""
    woken: list[int] = []
    monkeypatch.setattr(WezTermSource, "wake", lambda _: woken.append(1))
    monkeypatch.setattr(source_module.time, "sleep", lambda _: None)
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed.json")
    source._rows, source._is_server = {"4": Row(id="4", tab="1", window="1")}, True
    for entry in (_ASKED, _ASKED, attrs.evolve(_ASKED, question="Go on?", what="")):
        source.shown({"4": entry})
    assert len(woken) == 2


def test_another_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed has another name after an update, be it of the Lua files alone, and the sidecar sees it."""
    for name, lua in (("one", "return 1"), ("two", "return 2")):
        package = tmp_path / name / "lib" / "tallylight"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (tmp_path / name / "wezterm").mkdir()
        (tmp_path / name / "wezterm" / "init.lua").write_text(lua)
    for link in ("lib", "wezterm"):
        (tmp_path / link).symlink_to(tmp_path / "one" / link)
    monkeypatch.setattr(tallylight, "__file__", str(tmp_path / "lib" / "tallylight" / "__init__.py"))
    before = sidecar.release(), sidecar.installed()
    assert (sidecar.release(), sidecar.installed()) == before
    for link in ("lib", "wezterm"):
        (tmp_path / link).unlink()
        (tmp_path / link).symlink_to(tmp_path / "two" / link)
    assert sidecar.release() != before[0] and sidecar.installed() != before[1]
    (tmp_path / "lib").unlink()
    assert sidecar.installed() is None


def test_socket() -> None:
    """The socket WezTerm names is asked if it is of that very process, else the one it would have made."""
    assert socket_of({"WEZTERM_UNIX_SOCKET": "/x/gui-sock-7"}, 7) == "/x/gui-sock-7"
    assert (
        socket_of({"WEZTERM_UNIX_SOCKET": "/x/gui-sock-17", "XDG_RUNTIME_DIR": "/run/u"}, 7)
        == "/run/u/wezterm/gui-sock-7"
    )
    assert socket_of({"HOME": "/home/u"}, 7) == "/home/u/.local/share/wezterm/gui-sock-7"
