"""What kitty offers of an earlier kitty's conversations: once told, in a tab that takes no key, or by a command."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture

TALLY = "/home/a b/tally"


@pytest.fixture
def launched(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], list[str]]]:
    """The options and the command of each `launch`, in a kitty that runs."""
    found: list[tuple[list[str], list[str]]] = []
    rig.start()
    rig.until(lambda: rig.host.settings.current is not None, "the settings")
    monkeypatch.setattr(sys.modules["kitty.utils"], "resolved_shell", lambda: ["/bin/zsh"], raising=False)
    of_kitty = sys.modules["kitty.launch"]
    monkeypatch.setattr(of_kitty, "launch", lambda _boss, options, argv: found.append((options, argv)), raising=False)
    monkeypatch.setattr(of_kitty, "parse_launch_args", lambda words: SimpleNamespace(opts=words), raising=False)
    rig.host.command, rig.boss.active_window = TALLY, rig.claude(1)
    return found


def told(rig: Rig) -> list[tuple[str, str]]:
    return [(command.title, command.body) for command in rig.boss.notification_manager.shown]


def test_a_tab_behind_the_one_in_front(rig: Rig, launched: list[tuple[list[str], list[str]]]) -> None:
    """The person's shell starts it, which knows where their programs are; the keyboard stays where it is."""
    rig.host.messages.resumable(7)
    title = "--tab-title=↻  7 conversations were open: Enter resumes them"
    shell = ["/bin/zsh", "-i", "-c", f"exec '{TALLY}' restore --tabs"]
    assert launched == [(["--type=tab", "--keep-focus", "--allow-remote-control", title], shell)]
    assert told(rig) == [("7 conversations were open when kitty ended", "Press Enter in the tab ↻ to resume them.")]


def test_a_shell_that_takes_no_such_words(
    rig: Rig, launched: list[tuple[list[str], list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs by itself."""
    monkeypatch.setattr(sys.modules["kitty.utils"], "resolved_shell", lambda: ["/bin/nu"])
    rig.host.messages.resumable(1)
    assert [argv for _, argv in launched] == [[TALLY, "restore", "--tabs"]]
    assert told(rig) == [("1 conversation was open when kitty ended", "Press Enter in the tab ↻ to resume it.")]


@pytest.mark.parametrize("lacks", ["command", "window", "launch"])
def test_where_no_tab_can_be_opened(rig: Rig, launched: list[tuple[list[str], list[str]]], lacks: str) -> None:
    """The notification names the command."""
    if lacks == "command":
        rig.host.command = ""
    elif lacks == "window":
        rig.boss.active_window = None
    else:
        sys.modules["kitty.launch"].launch = lambda *_: 1 / 0  # type: ignore[attr-defined]
    rig.host.messages.resumable(2)
    assert launched == []
    assert told(rig) == [("2 conversations were open when kitty ended", "Run `tally restore`.")]
