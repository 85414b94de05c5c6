"""Notifications in a real kitty, on a real D-Bus: told once, where the person is not, and taken back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_kitty.asking_claude import SCREENS, install_asking_claude
from tests.real_kitty.desk import Desk
from tests.real_kitty.notifications import Desktop, Shown

ASK = "state=waiting;kind=permission;tool=claude;project=api;message="
CONFIG = """
[notify]
when = ["waiting", "error", "done"]
min_turn_s = 2
[notify.sounds]
waiting = "bell-window"
error = "~/wrong.oga"
"""


@pytest.fixture(scope="module")
def desktop() -> Iterator[Desktop]:
    """A desktop for all tests of this file."""
    desktop = Desktop()
    yield desktop
    desktop.close()


@pytest.fixture(scope="module")
def _desk(kitty_version: str, desktop: Desktop) -> Iterator[Desk]:
    desk = Desk(kitty_version, config=CONFIG, env=desktop.env)
    # A program with an agent's name that is silent: what it says is what the tests write to its terminal.
    shutil.copy("/bin/cat", desk.kitty.home / ".local/bin/aider")
    install_asking_claude(desk.kitty.home)
    yield desk
    desk.close()


@pytest.fixture
def desk(_desk: Desk, desktop: Desktop) -> Desk:
    """A kitty with one plain tab, and no notification out."""
    _desk.close_all_but_first()
    for shown in desktop.open:
        desktop.dismiss(shown)
    desktop.shown.clear()
    return _desk


def wait_shown(desk: Desk, desktop: Desktop, many: int = 1) -> Shown:
    desk.kitty.wait_until(lambda: len(desktop.shown) >= many, what=f"{many} notifications, of {desktop.shown}")
    return desktop.shown[-1]


def test_a_question_in_a_hidden_tab(desk: Desk, desktop: Desktop) -> None:
    """It is told once, with its words; said again it is not; answered, the notification goes."""
    window = desk.lamp("lamp")
    desk.send(window, ASK + "Run the migration?")
    shown = wait_shown(desk, desktop)
    assert (shown.title, shown.body, shown.application) == (
        "api: claude asks for permission",
        "Run the migration?",
        "Tallylight",
    )
    desk.send(window, ASK + "Run the migration?")
    desk.let_pass(1.2)
    assert desktop.shown == [shown] and shown.closed_at is None

    desk.send(window, "state=working;tool=claude")
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification")
    assert desktop.shown == [shown]


def test_sounds(desk: Desk, desktop: Desktop) -> None:
    """Each status has its sound, a file too, and none while kitty has the focus. What plays it is kitty's own."""
    kitty = desk.kitty
    kitty.eval(
        "from kitty import fast_data_types\nboss.tallylight_played = []\n"
        "fast_data_types.play_desktop_sound_async = lambda name, **how: boss.tallylight_played.append(name)"
    )
    played = "boss.tallylight_played"
    window = desk.lamp("lamp")
    desk.send(window, ASK + "Go on?")
    assert wait_shown(desk, desktop).is_silent and kitty.eval(f"return {played}") == []

    desk.send(window, "state=working;tool=claude")
    desk.wait_status(window, "working")
    kitty.unfocus()
    desk.send(window, ASK + "And now?")
    wait_shown(desk, desktop, 2)
    kitty.wait_until(lambda: kitty.eval(f"return {played}") == ["bell-window"], what="the sound of a question")
    desk.send(window, "state=error;tool=claude;message=broken")
    wait_shown(desk, desktop, 3)
    file = str(kitty.home / "wrong.oga")
    kitty.wait_until(lambda: kitty.eval(f"return {played}") == ["bell-window", file], what="the sound of an error")
    kitty.focus_os_window(kitty.ls()[0]["id"])


def test_is_quiet(desk: Desk, desktop: Desktop) -> None:
    """`tally quiet` stops what is told of a tab; what it swallowed is not told after it, what is new is."""
    tally, window = desk.kitty.home / ".local/bin/tally", desk.lamp("lamp")
    told = lambda: [pane.id for pane in shown.panes] if (shown := desk.snapshot()) is not None else []  # noqa: E731
    desk.kitty.wait_until(lambda: str(window) in told(), what="the pane in the snapshot")
    desk.kitty.run(["python3", str(tally), "quiet", str(window)])
    desk.send(window, ASK + "Go on?")
    desk.wait_status(window, "waiting")
    desk.let_pass(1.2)
    assert desktop.shown == []
    desk.kitty.run(["python3", str(tally), "quiet", str(window), "off"])
    desk.let_pass(1.2)
    assert desktop.shown == []
    desk.send(window, "state=working;tool=claude")
    desk.wait_status(window, "working")
    desk.send(window, ASK + "And now?")
    assert wait_shown(desk, desktop).body == "And now?"


def test_a_question_in_front(desk: Desk, desktop: Desktop) -> None:
    """Nothing is told of the pane one looks at; in the same tab while kitty has not the focus, it is."""
    window = desk.kitty.windows()[0]["id"]
    desk.send(window, ASK + "a?")
    desk.wait_status(window, "waiting")
    desk.let_pass(1.2)
    assert desktop.shown == []

    desk.send(window, "state=working;tool=claude")
    desk.wait_status(window, "working")
    desk.kitty.unfocus()
    desk.send(window, ASK + "b?")
    shown = wait_shown(desk, desktop)
    assert shown.body == "b?"
    desk.kitty.focus_os_window(desk.kitty.ls()[0]["id"])
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification, for the person is there")
    desk.send(window, "state=clear")


def test_a_click_goes_there(desk: Desk, desktop: Desktop) -> None:
    """A click brings the pane to the front, in another OS window too, and nothing is told again after."""
    kitty = desk.kitty
    first = kitty.ls()[0]["id"]
    kitty.launch("cat", type="os-window")
    window = kitty.launch("cat", keep_focus=True)
    kitty.launch("cat", keep_focus=True)
    kitty.focus_os_window(first)
    desk.send(window, ASK + "Go on?")
    desktop.click(wait_shown(desk, desktop))
    kitty.wait_until(lambda: kitty.eval("return boss.active_window.id") == window, what="the window in front")
    assert kitty.focused_os_window() != first
    desk.let_pass(1.2)
    assert len(desktop.shown) == 1 and desktop.open == []


def test_put_away_and_not_told_again(desk: Desk, desktop: Desktop) -> None:
    """A notification that the person put away does not come back for the same question."""
    window = desk.lamp("lamp")
    desk.send(window, ASK + "Go on?")
    desktop.dismiss(wait_shown(desk, desktop))
    desk.let_pass(1.2)

    assert len(desktop.shown) == 1 and desktop.open == []


def test_a_closed_tab_takes_its_notification_along(desk: Desk, desktop: Desktop) -> None:
    """Nobody is left to be answered."""
    window = desk.lamp("lamp")
    desk.send(window, ASK + "Go on?")
    wait_shown(desk, desktop)
    desk.kitty.close_window(window)
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification")


def test_the_end_of_a_turn(desk: Desk, desktop: Desktop) -> None:
    """A long turn's end is told, a short one's is not, and a look takes it back."""
    window = desk.lamp("lamp")
    desk.send(window, "state=working;tool=claude;project=api")
    desk.wait_status(window, "working")
    desk.send(window, "state=done;tool=claude;project=api;message=Quick")
    desk.wait_status(window, "done")
    desk.send(window, "state=working;tool=claude;project=api")
    desk.let_pass(2.5)
    desk.send(window, "state=done;tool=claude;project=api;message=Fixed")
    shown = wait_shown(desk, desktop)
    assert (shown.title, shown.body) == ("api: claude is done", "Fixed")
    desk.kitty.focus_window(window)
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification")
    assert len(desktop.shown) == 1


def test_what_a_turn_came_to(desk: Desk, desktop: Desktop) -> None:
    """The last sentence of the reply, and the lines that are not committed where the agent works."""
    program = shutil.which("git")
    assert program is not None
    shutil.copy(program, desk.kitty.home / ".local/bin/git")
    shop = desk.kitty.home / "shop"
    shop.mkdir(exist_ok=True)
    git = ["git", "-C", str(shop), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    (shop / "a").write_text("one\ntwo\n")
    for words in (["init", "-q"], ["add", "a"], ["commit", "-qm", "x"]):
        desk.kitty.run([*git, *words])
    window = agent(desk, shop)
    desk.send(window, "state=working;tool=aider")
    (shop / "a").write_text("one\n2\n3\n")
    desk.let_pass(2.5)
    desk.send(window, "state=done;tool=aider;message=Two lines. All 12 tests pass.")
    shown = wait_shown(desk, desktop)
    assert (shown.title, shown.body) == ("shop: aider is done", "All 12 tests pass. (+2 −1)")
    pane = next(pane for pane in desk.snapshot().panes if pane.id == str(window))  # type: ignore[union-attr]
    assert (pane.outcome, pane.more["diffstat"]) == ("All 12 tests pass.", (2, 1))


def agent(desk: Desk, folder: Path | None = None) -> int:
    """Start an agent in a hidden tab that says nothing, in *folder*; its window."""
    window = desk.kitty.launch("aider", keep_focus=True, cwd=str(folder or desk.kitty.home))
    desk.kitty.wait_until(lambda: desk.kitty.user_vars(window).get("tally_agent") == "aider", what="the agent's light")
    return window


def osc99(id_: str, title: str, body: str) -> bytes:
    """A notification in two chunks, as Claude Code and others write it to a kitty."""
    return f"\x1b]99;i={id_}:d=0:p=title;{title}\x1b\\\x1b]99;i={id_}:p=body;{body}\x1b\\".encode()


PLAIN = {
    "9": (b"\x1b]9;Aider is waiting\x07", ("Aider is waiting", "")),
    "777": (b"\x1b]777;notify;Aider;is; waiting\x07", ("Aider", "is; waiting")),
    "99": (osc99("x1", "Aider", "is waiting"), ("Aider", "is waiting")),
}


def test_an_agents_own_notification(desk: Desk, desktop: Desktop) -> None:
    """Of each kind, it lights the tab, passes with where and who in front, and ours does not follow it."""
    windows = {number: agent(desk) for number in PLAIN}
    for number, (sequence, _) in PLAIN.items():
        desk.say(windows[number], sequence)
    wait_shown(desk, desktop, len(PLAIN))
    for window in windows.values():
        desk.wait_status(window, "waiting")
        assert desk.kitty.user_vars(window)["tally_reason"] == "notification: notification"
    desk.let_pass(1.2)
    assert {(shown.title, shown.body) for shown in desktop.shown} == {
        ("~: aider", "Aider is waiting"), ("~: aider", "is; waiting"), ("~: aider", "is waiting"),
    }  # fmt: skip
    assert len(desktop.open) == len(PLAIN) and all(shown.application != "Tallylight" for shown in desktop.shown)


def test_what_only_repeats_is_not_shown_twice(desk: Desk, desktop: Desktop) -> None:
    """Once the person was notified, or is in front of the question, the agent's reminder of it is left out."""
    window = agent(desk)
    desk.send(window, ASK + "Run it?")
    shown = wait_shown(desk, desktop)
    desk.say(window, osc99("c1", "Claude Code", "Claude needs your permission"))
    desk.say(window, b"\x1b]9;needs you\x07")
    desk.kitty.focus_window(window)
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification")
    desk.say(window, osc99("c2", "Claude Code", "Claude needs your permission"))
    desk.let_pass(1)
    assert desktop.shown == [shown]

    # While it works, it may say what it likes.
    desk.send(window, "state=working;tool=aider")
    desk.wait_status(window, "working")
    desk.say(window, b"\x1b]9;Half of it is done\x07")
    assert wait_shown(desk, desktop, 2).body == "Half of it is done"


WARP = b'\x1b]777;notify;warp://cli-agent;{"v":1,"agent":"aider","event":"%b","summary":"Run rm; or not?"}\x07'


def test_messages_between_programs(desk: Desk, desktop: Desktop) -> None:
    """Warp's events light an agent's tab and are told in our words; what ends a wait is not believed."""
    window = agent(desk)
    desk.say(window, WARP % b"permission_request")
    shown = wait_shown(desk, desktop)
    assert (shown.title, shown.body) == ("~: aider asks for permission", "Run rm; or not?")
    desk.say(window, WARP % b"permission_replied")
    desk.say(window, WARP % b"stop")
    desk.let_pass(1)
    assert desk.status(window) == "waiting" and desktop.shown == [shown]


def test_programs_that_are_no_agents(desk: Desk, desktop: Desktop) -> None:
    """Whatever a plain program notifies is shown as without us, visible or not, and lights nothing."""
    front, hidden = desk.kitty.windows()[0]["id"], desk.lamp("lamp")
    sequences = [*(sequence for sequence, _ in PLAIN.values()), WARP % b"permission_request"]
    for number, window in enumerate((hidden, front), 1):
        for sequence in sequences:
            desk.say(window, sequence.replace(b"x1", b"x%d" % window))
        # What two windows say at a time kitty may read in any order.
        wait_shown(desk, desktop, number * len(sequences))
    desk.let_pass(0.5)
    texts = [(shown.application, shown.title, shown.body) for shown in desktop.shown]
    assert len(texts) == 2 * len(sequences) and texts[: len(sequences)] == texts[len(sequences) :]
    assert {(title, body) for _, title, body in texts} >= {texts for _, texts in PLAIN.values()}
    assert desk.status(hidden) == "" and desk.status(front) == ""


def test_a_command_of_the_users(desk: Desk, desktop: Desktop) -> None:
    """It is run in place of the notification, with its data in the environment, as a list of words and no shell."""
    home = desk.kitty.home
    script = home / "tell me"
    script.write_text('#!/bin/sh\nenv | grep ^TALLY_ > "$1"; printf "%s|" "$@" >> "$1"; exec sleep 1000\n')
    script.chmod(0o755)
    told = home / "told $(touch pwned)"
    argv = (str(script), str(told), "a b; c")
    desk.set_host("host.wake()")
    desk.kitty.wait_until(lambda: desk.host("host.messages.notices is None") == "False", what="notifications")
    desk.set_host(
        "from tallylight.hosts import notify_command as command\n"
        "failed = lambda error: host.failed('command', error)\n"
        f"host.messages.notices._command = command.Command({argv!r}, 'kitty-1', failed)"
    )
    try:
        window = desk.lamp("lamp")
        desk.send(window, ASK + "Run `touch pwned`%3B $(touch pwned)?")
        found = desk.kitty.wait_until(lambda: told.exists() and told.read_text().endswith("|") and told.read_text())
        lines = dict(line.partition("=")[::2] for line in found.splitlines() if line.startswith("TALLY_"))
        assert lines == {
            "TALLY_TITLE": "api: claude asks for permission",
            "TALLY_MESSAGE": "Run `touch pwned`; $(touch pwned)?",
            "TALLY_STATUS": "waiting",
            "TALLY_KIND": "permission",
            "TALLY_AGENT": "claude",
            "TALLY_PROJECT": "api",
            "TALLY_PANE": f"kitty-1:{window}",
        }
        assert found.endswith(f"{told}|a b; c|")
        assert not list(Path(home).rglob("pwned")) and desktop.shown == []
        # It sleeps for a thousand seconds; from here on it is given none. What it says may be there before the host
        # knows that it has started.
        desk.set_host("from tallylight.hosts import notify_command\nnotify_command.COMMAND_S = 0.0")
        left = "host.messages.notices._command._starting + len(host.messages.notices._command._running)"
        desk.kitty.wait_until(lambda: desk.host(left) == "0", what="its end")
        assert desk.kitty.run(["pgrep", "-f", "sleep 1000"], check=False).stdout == b""
    finally:
        desk.set_host("host.messages.notices._command = None")


def test_a_fault_in_us_lets_everything_pass(desk: Desk, desktop: Desktop) -> None:
    """If reading notifications fails, kitty shows them as without us, and its log says so once."""
    window = agent(desk)
    desk.set_host(
        "from tallylight.evidence import notified\n"
        "host.real_plain = notified.notice_report\nnotified.notice_report = lambda *_: 1 / 0"
    )
    try:
        for n in (1, 2):
            desk.say(window, b"\x1b]9;word %d\x07" % n)
        wait_shown(desk, desktop, 2)
        assert [shown.title for shown in desktop.shown[:2]] == ["word 1", "word 2"]
        assert desk.kitty.log.count("tallylight: notifications of programs switched off: ZeroDivisionError") == 1
    finally:
        desk.set_host(
            "from tallylight.evidence import notified\nnotified.notice_report = host.real_plain\n"
            "host.features.switched_off.clear()"
        )


def asking(desk: Desk, desktop: Desktop, screen: str) -> tuple[int, Shown]:
    """A hidden tab in which a program named claude shows a recorded *screen*, and the notification of that."""
    install_asking_claude(desk.kitty.home, screen)
    (desk.kitty.home / "typed").unlink(missing_ok=True)
    return desk.kitty.launch("claude", keep_focus=True), wait_shown(desk, desktop)


def recorded(name: str, without: str = "") -> str:
    """A recorded screen of Claude Code, its row *without* taken out."""
    return (SCREENS / f"{name}-80.txt").read_text("utf-8").replace(f"{without}\n" if without else "\0", "")


def typed(desk: Desk) -> bytes:
    """What the program was typed so far."""
    found = desk.kitty.home / "typed"
    return found.read_bytes() if found.exists() else b""


@pytest.mark.parametrize("action", ["1", "2", "default"])
def test_nobody_on_the_bus_answers_a_permission(desk: Desk, desktop: Desktop, action: str) -> None:
    """It has no buttons; what another program says was pressed takes the person there, and types nothing."""
    window, shown = asking(desk, desktop, recorded("permission-bash"))
    desktop.forge(shown, action)
    is_there = lambda: desk.kitty.eval("return boss.active_window.id") == window  # noqa: E731
    desk.kitty.wait_until(lambda: is_there() or typed(desk), what="the window in front")
    assert is_there() and typed(desk) == b""
    assert (shown.title, shown.buttons) == ("~: touch made1", {})
    assert shown.body == "claude asks for permission: Do you want to proceed?"


def test_a_click_on_a_permission(desk: Desk, desktop: Desktop) -> None:
    """It goes there, and the person answers in the pane."""
    window, shown = asking(desk, desktop, recorded("permission-bash"))
    desktop.click(shown)
    desk.kitty.wait_until(lambda: desk.kitty.eval("return boss.active_window.id") == window, what="the window in front")
    assert typed(desk) == b"" and "Do you want to proceed?" in desk.kitty.get_text(window)


def test_a_button_answers_a_question(desk: Desk, desktop: Desktop) -> None:
    """The dialog and its choices are in the notification; a button types that choice's key, and the view stays."""
    front = desk.kitty.eval("return boss.active_window.id")
    _, shown = asking(desk, desktop, recorded("question"))
    assert shown.body == "☐ Colour\nWhich colour?"
    assert shown.buttons == {"1": "Red · Red it is", "2": "Green · Green it is"}
    desktop.press(shown, "Green · Green it is")
    desk.kitty.wait_until(lambda: typed(desk), what="a key in the agent")
    assert typed(desk) == b"2"
    assert desk.kitty.eval("return boss.active_window.id") == front


def test_a_button_of_another_choice(desk: Desk, desktop: Desktop) -> None:
    """The choice is another one by now: nothing is typed, and one more notification says so."""
    window, shown = asking(desk, desktop, recorded("question"))
    desk.kitty.send_text(window, "\x02")
    desk.kitty.wait_text(window, "rm -rf everything")
    desktop.press(shown, "Green · Green it is")
    desk.kitty.wait_until(lambda: desktop.shown[-1].title == "Not answered", what="word of it")
    assert "nothing was typed" in desktop.shown[-1].body
    assert typed(desk) == b""


@pytest.mark.parametrize("screen", [recorded("permission-tall"), recorded("question", " ☐ Colour")])
def test_what_is_not_whole_has_no_buttons(desk: Desk, desktop: Desktop, screen: str) -> None:
    """A permission or a question whose top is not on the screen: the notification says so, and leads there."""
    window, shown = asking(desk, desktop, screen)
    assert shown.buttons == {} and "part of this cannot be seen here" in shown.body
    desktop.forge(shown, "1")
    desk.kitty.wait_until(lambda: desk.kitty.eval("return boss.active_window.id") == window, what="the window in front")
    assert typed(desk) == b""
