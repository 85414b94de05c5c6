"""What the person is told of in WezTerm: by the settings, key by key, and once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import attrs
import pytest

from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.wezterm import mux_word
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.hosts.wezterm.pane_list import FeedState
from tallylight.hosts.wezterm.source import WezTermSource
from tallylight.hosts.wezterm.toasts import Toasts
from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tests.hosts.detached.polling import HandSource, System
from tests.hosts.test_pane import CLAUDE, status_file
from tests.patience import until
from tests.tables import each

PANE = SourcePane(id="7", group=CLAUDE.pid)


@attrs.define
class Screen:
    """A sidecar's side of one WezTerm, with panes made by hand."""

    home: Path
    system: System
    source: HandSource
    inside: dict[str, Pane] = attrs.Factory(dict)
    server: dict[str, ServerReport] = attrs.Factory(dict)

    def begin(self) -> None:
        """Another sidecar begins to look."""
        self.system = System(self.home, self.source)
        self.system.poller.notify(
            Toasts(
                self.home / "toasts",
                self.home / "told",
                self.inside.get,
                self.server.get,
                lambda: None,
                lambda: self.system.now,
            )
        )

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """The status, the title and the body of each toast of this sidecar's and those before it."""
        path = self.home / "toasts"
        return [(row[1], row[2], row[3]) for row in json.loads(path.read_text())] if path.exists() else []

    def says(self, seconds: float = 5, **status: str) -> None:
        """The agent's status file says so, and so much time passes."""
        status_file(str(self.home), **status)
        self.system.steps(seconds)


def screen_with(home: Path, settings: str = "") -> Screen:
    folder = home / ".config/tallylight"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f"[notify]\n{settings}\n")
    source = HandSource([PANE])
    screen = Screen(home, System(home, source), source)
    screen.begin()
    return screen


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    return screen_with(tmp_path)


ASKS = {"status": "waiting", "waitingFor": "permission to run npm test"}


def test_a_question_is_told_once(screen: Screen) -> None:
    """A second one, right after, is another; the numbers grow."""
    screen.says(8, **ASKS)
    assert [status for status, _, _ in screen.shown] == ["waiting"]
    assert "claude" in screen.shown[0][1] + screen.shown[0][2]
    screen.says(3, status="busy")
    screen.says(8, **ASKS)
    numbers = [row[0] for row in json.loads((screen.home / "toasts").read_text())]
    assert len(numbers) == 2 and numbers == sorted(set(numbers))


def quiet_now() -> str:
    """A span of the day around this minute."""
    local = time.localtime()
    minute = 60 * local.tm_hour + local.tm_min
    first, last = ((minute + by) % 1440 for by in (-60, 60))
    return f'quiet = ["{first // 60:02}:{first % 60:02}-{last // 60:02}:{last % 60:02}"]'


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        ("", True), ('when = ["done"]', False), ('when = ["waiting"]', True), ("delay_s = 60", False),
        ("delay_s = 3", True), ("quiet_now", False), ('mute = ["api"]', False), ('mute = ["other"]', True),
    ],
)  # fmt: skip
def test_the_settings_are_obeyed(tmp_path: Path, settings: str, is_told: bool) -> None:
    """Which statuses, for how long, at which time of day, and of which projects."""
    settings = quiet_now() if settings == "quiet_now" else settings
    screen = screen_with(tmp_path, settings)
    screen.says(10, **ASKS)
    assert (len(screen.shown) == 1) is is_told


@pytest.mark.parametrize(("settings", "is_told"), [("", False), ("min_turn_s = 3", True), ("min_turn_s = 3600", False)])
def test_a_short_turn_is_not_told(tmp_path: Path, settings: str, is_told: bool) -> None:
    """The end of a turn is told of if the turn took long enough."""
    screen = screen_with(tmp_path, settings)
    screen.source.source_panes = [SourcePane(id="7", group=1)]
    for status, ago in ((Status.WORKING, 10), (Status.DONE, 0)):
        screen.inside["7"] = Pane(id="%1", status=status, agent="codex", since=time.time() - ago)
        screen.system.steps(4)
    assert ([status for status, _, _ in screen.shown] == ["done"]) is is_told


@pytest.mark.parametrize(("settings", "is_told"), [("", False), ("no_answer = true", True)])
def test_a_model_that_does_not_answer(tmp_path: Path, settings: str, is_told: bool) -> None:
    """It is told of if the person wants that."""
    screen = screen_with(tmp_path, settings)
    screen.source.source_panes = [SourcePane(id="7", group=1)]
    now = time.time()
    screen.inside["7"] = Pane(
        id="%1", status=Status.WORKING, agent="codex", project="shop", since=now - 90, unanswered_since=now - 70
    )
    screen.system.steps(4)
    assert ([title for _, title, _ in screen.shown] == ["shop: codex gets no answer from its model"]) is is_told


@pytest.mark.parametrize("settings", ["buttons = false", 'sounds = {waiting = "silent"}'])
def test_what_a_toast_of_wezterm_has_none_of(tmp_path: Path, settings: str) -> None:
    """It has neither buttons nor a sound: these settings change nothing here."""
    screen = screen_with(tmp_path, settings)
    screen.says(8, **ASKS)
    assert len(screen.shown) == 1


@pytest.mark.slow
def test_the_length_of_a_snooze(tmp_path: Path) -> None:
    """The key in WezTerm puts an agent off for as long as the settings say, and what was put off is not told."""
    screen = screen_with(tmp_path, "snooze_min = 3")
    screen.says(2, status="busy")
    source = WezTermSource({}, 1, "wezterm", tmp_path / "feed.json")
    status_file(str(tmp_path), **ASKS)
    screen.system.steps(0.5)
    for number in (1, 2):
        source._feed = FeedState(wish=(number, "snooze", "7"))
        source._grant(screen.system.poller, screen.system.now)
    screen.system.steps(8)
    pane = screen.system.poller.peek("7")
    assert pane is not None and pane.attention.snoozed and screen.shown == []
    screen.system.steps(175)
    assert pane.attention.snoozed is False and len(screen.shown) == 1


def test_the_persons_command_runs_instead(tmp_path: Path) -> None:
    """That of the settings; nothing is left for Lua."""
    screen = screen_with(tmp_path, f"command = ['/usr/bin/touch', '{tmp_path}/told-by-command']")
    screen.says(8, **ASKS)
    until((tmp_path / "told-by-command").exists)
    assert screen.shown == []


def test_what_is_in_front_is_not_told(screen: Screen) -> None:
    """Nor when the person looks away from it."""
    screen.source.source_panes = [attrs.evolve(PANE, visible=True)]
    screen.says(8, **ASKS)
    screen.source.source_panes = [PANE]
    screen.system.steps(8)
    assert screen.shown == []


@pytest.mark.slow
def test_another_sidecar_does_not_tell_it_again(screen: Screen) -> None:
    """Not what was told, nor what was in front before; what comes later is told."""
    screen.says(8, **ASKS)
    assert len(screen.shown) == 1
    for _ in range(3):
        screen.system.poller.close()
        screen.begin()
        screen.system.steps(8)
        assert len(screen.shown) == 1
    screen.system.steps(12)
    screen.says(3, status="busy")
    screen.says(8, **ASKS)
    assert len(screen.shown) == 1, "another file of toasts: the one before it was read"
    assert json.loads((screen.home / "told").read_text()) == {"7": "waiting"}


def test_what_is_attached_in_a_pane_is_told(screen: Screen) -> None:
    """A session of a multiplexer asks in a pane whose shell rests."""
    screen.source.source_panes = [SourcePane(id="7", group=1)]
    now = time.time()
    screen.inside["7"] = Pane(id="%1", status=Status.WAITING, agent="codex", project="shop", question="Go?", since=now)
    screen.system.steps(8)
    assert screen.shown == [("waiting", "shop: codex waits for you", "Go?")]
    screen.inside["7"] = attrs.evolve(screen.inside["7"], status=Status.WORKING, since=now + 1)
    screen.system.steps(4)
    screen.inside["7"] = attrs.evolve(screen.inside["7"], status=Status.WAITING, question="Again?", since=now + 2)
    screen.system.steps(8)
    assert len(screen.shown) == 2


def test_a_servers_pane_is_told_once(screen: Screen) -> None:
    """Also where the server is attached anew, and gives its pane another number here."""
    word = "waiting:permission;pane=4711.3;since=1700000000;tool=claude;project=shop;detail=npm test"
    told = mux_word.read(word)
    assert told is not None
    screen.source.source_panes = [SourcePane(id="7", group=1)]
    screen.server["7"] = told
    screen.system.steps(8)
    assert [title for _, title, _ in screen.shown] == ["shop: npm test"]
    screen.server["8"] = screen.server.pop("7")
    screen.source.source_panes = [SourcePane(id="8", group=1)]
    screen.system.steps(8)
    assert len(screen.shown) == 1
    screen.server["8"] = ServerReport("4711.3", attrs.evolve(told.pane, status=Status.WORKING))
    screen.system.steps(4)
    screen.server["8"] = mux_word.read(word.replace("1700000000", "1700000100")) or told
    screen.system.steps(8)
    assert len(screen.shown) == 2


@each("word", [
    ("waiting:permission;pane=4711.3;since=17;tool=claude;detail=Q", "4711.3", Status.WAITING, Kind.PERMISSION),
    ("done", "", Status.DONE, None), ("waiting:x", "", Status.WAITING, None), ("down;pane=1.2", "", Status.DOWN, None),
    ("down;pane=1.2;since=3", "1.2", Status.DOWN, None), ("idle;since=3;pane=1.2", "", Status.IDLE, None),
])  # fmt: skip
def test_a_servers_word(word: tuple[str, str, Status, Kind | None]) -> None:
    """It says the status and the kind, and names the pane only with the time."""
    value, where, status, kind = word
    told = mux_word.read(value)
    assert told is not None and (told.where, told.pane.status, told.pane.kind) == (where, status, kind)


@each("value", ["", "x", "waiting;tool=%", "waiting:permission:x", "waiting x", "\x1b", "waiting;state=done;tool=%zz"])
def test_no_word(value: str) -> None:
    """What says nothing is nothing."""
    assert mux_word.read(value) is None


@each("data", ["", "[]", '{"7": 5}', "x", '{"7": "waiting"}'])
def test_what_is_kept_may_be_anything(data: str, tmp_path: Path) -> None:
    """A file that is none costs no more than a toast again."""
    path = tmp_path / "told"
    path.write_text(data)
    path.chmod(0o600)
    nobody: dict[str, Pane] = {}
    no_server: dict[str, ServerReport] = {}
    Toasts(tmp_path / "toasts", path, nobody.get, no_server.get, lambda: None).remember({"3": Status.DONE})
    assert json.loads(path.read_text())["3"] == "done"
