"""The harness itself: what the other kitty tests stand on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.real_kitty.conftest import MakeKitty
from tests.real_kitty.desk import close_all_but_first
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install
from tests.real_kitty.pixels import Colour, near, saturated_colours
from tests.real_kitty.remote import RemoteError
from tests.real_kitty.roots import SUITES

AMBER: Colour = (0xFF, 0xAA, 0x00)
BLUE: Colour = (0x33, 0x99, 0xFF)

#: Each starts kittys of its own, and the harness is the same for all of them.
IN_ONE_KITTY = {
    "test_colours_are_told_apart_by_tab": "0.48",
    "test_kitty_starts_again_after_a_crash": "0.41",
    "test_nothing_outlives_its_kitty": "0.41",
}

# Written by the test, so that the harness is tested without the suite.
WATCHER = """
import sys

def on_focus_change(boss, window, data):
    print("focus", data["focused"], file=sys.stderr, flush=True)

def on_set_user_var(boss, window, data):
    print("var", data["key"], data["value"], file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def _kept(kitty_version: str) -> Iterator[Kitty]:
    kitty = Kitty(kitty_version, "watcher watcher.py\n")
    (kitty.config_dir / "watcher.py").write_text(WATCHER)
    with kitty:
        yield kitty


@pytest.fixture
def kept(_kept: Kitty) -> Kitty:
    """One kitty for many tests, with one tab, in front."""
    close_all_but_first(_kept)
    return _kept


def test_kitty_is_the_version_it_is_called(kept: Kitty) -> None:
    """The kitty that answers is of the version the test is named for; sid's may have moved on."""
    version = kept.eval("from kitty.constants import version; return list(version)")

    if kept.version in SUITES:
        named = [int(part) for part in kept.version.split(".")]
        assert version[:2] == named or (SUITES[kept.version] == "sid" and version[:2] > named)


def test_a_window_shows_what_its_program_writes_and_is_sent(kept: Kitty) -> None:
    """Launch, text to a program, keys to a program and text of a screen work without a kitten process."""
    window = kept.launch("sh", "-c", 'echo "hello $NAME"; exec cat', env={"NAME": "kitty"}, tab_title="greeter")
    kept.wait_text(window, "hello kitty")
    kept.send_text(window, "sent\r")
    kept.wait_text(window, "sent\nsent")
    kept.send_key(window, "ctrl+d")

    kept.wait_until(lambda: all(w["id"] != window for w in kept.windows()), what="the window's end")


def test_user_variables_are_read(kept: Kitty) -> None:
    """A user variable that a program sets is seen from outside."""
    window = kept.launch("sh", "-c", r"printf '\033]1337;SetUserVar=lamp=b24=\a'; exec cat")

    kept.wait_until(lambda: kept.user_vars(window).get("lamp") == "on", what="the variable")


def test_typing_arrives(kept: Kitty) -> None:
    """A key typed on the X display reaches the program of the window in front."""
    window = kept.launch("cat")
    kept.wait_until(lambda: kept.window(window)["is_focused"], what="the new tab in front")
    kept.xdotool("type", "typed by hand")

    kept.wait_text(window, "typed by hand")


@pytest.mark.parametrize("edge", ["top", "bottom"])
def test_colours_are_told_apart_by_tab(make_kitty: MakeKitty, edge: str) -> None:
    """The colour of each tab is read from the screen, wherever the bar is, and a grey tab has none."""
    kitty = make_kitty(f"tab_bar_edge {edge}\ntab_bar_style separator\n")
    (plain,) = kitty.tabs()
    amber, blue = (kitty.tab_of(kitty.launch("cat", tab_title=name)) for name in ("one", "two"))
    for tab, colour in ((amber, "#FFAA00"), (blue, "#3399FF")):
        kitty.remote(
            "set-tab-color",
            match=f"id:{tab}",
            colors={"active_bg": int(colour[1:], 16), "inactive_bg": int(colour[1:], 16)},
        )

    def coloured() -> dict[int, list[Colour]] | None:
        found = kitty.tab_colours()
        return found if found[amber] and found[blue] else None

    found = kitty.wait_until(coloured, what="colours in both tabs")
    assert near(found[amber][0], AMBER)
    assert near(found[blue][0], BLUE)
    assert found[plain["id"]] == []


def test_a_screenshot_has_something_in_it(kept: Kitty, tmp_path: Path) -> None:
    """A screenshot has the size of the screen, is kept as a file, and is not black."""
    kept.wait_text(kept.launch("sh", "-c", "seq 30; exec cat"), "30")
    image = kept.screenshot(tmp_path / "shot.png")

    assert image.size == kept.size == Image.open(tmp_path / "shot.png").size
    levels = image.convert("L").tobytes()
    assert min(levels) == 0
    assert max(levels) > 200


def test_focus_moves_between_os_windows_and_away(kept: Kitty) -> None:
    """Focus goes to an OS window, to another and to none, and the watchers in kitty are told."""
    (first,) = kept.ls()
    kept.launch("cat", type="os-window")
    second = kept.wait_until(lambda: kept.focused_os_window() not in (None, first["id"]) and kept.focused_os_window())
    kept.focus_os_window(first["id"])
    assert kept.focused_os_window() == first["id"]
    kept.unfocus()
    assert kept.focused_os_window() is None
    before = kept.log.count("focus True")
    kept.focus_os_window(second)

    assert kept.focused_os_window() == second
    kept.wait_until(lambda: kept.log.count("focus True") > before, what="the watcher's word")


def test_a_fault_in_kitty_is_an_error_here(kept: Kitty) -> None:
    """A refused command, and an exception in code run inside kitty, fail the test with kitty's own words."""
    with pytest.raises(RemoteError, match="No matching windows"):
        kept.get_text(9999)
    with pytest.raises(RemoteError, match="ZeroDivisionError"):
        kept.eval("return 1 / 0")


def test_a_failed_wait_shows_the_screen(kept: Kitty) -> None:
    """The message of a wait that fails has what was waited for, the screen's text and kitty's stderr."""
    window = kept.launch("sh", "-c", "echo on the screen; exec cat")
    kept.wait_text(window, "on the screen")
    with pytest.raises(AssertionError, match=r"(?s)a miracle did not come.*on the screen.*-- stderr"):
        kept.wait_until(lambda: False, 0.1, "a miracle")


def test_kitty_starts_again_after_a_crash(kitty: Kitty) -> None:
    """After kitty was killed, and in the same room, a new one starts."""
    kitty.run(["pkill", "-KILL", "-x", "kitty"])
    kitty.wait_until(lambda: not kitty.alive(), what="kitty's end")
    kitty.start_kitty()

    assert kitty.launch("cat")


def test_nothing_outlives_its_kitty(kitty_version: str) -> None:
    """When a kitty is closed, all programs in its room have ended, and its files are gone."""
    with Kitty(kitty_version) as kitty:
        mark = f"86{os.getpid()}"
        kitty.launch("sh", "-c", f"(setsid sleep {mark} &); exec sleep {mark}")
        kitty.wait_until(lambda: kitty.run(["pgrep", "-c", "-f", f"^sleep {mark}"], check=False).stdout == b"2\n")

    if kitty_version in SUITES:
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
        assert not [line for line in lines if mark.encode() in line]
    assert not kitty.directory.exists()


def test_a_room_on_loopback_reaches_itself_only(kept: Kitty) -> None:
    """A program in a room has a loopback device, and no other."""
    if kept.version not in SUITES:
        pytest.skip("no net namespace without root rights")

    devices = kept.run(["cat", "/proc/net/dev"]).stdout.decode().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]


def test_the_root_cannot_be_changed(kept: Kitty) -> None:
    """A program in a room cannot write to the root or the checkout, for the next test uses both."""
    if kept.version not in SUITES:
        pytest.skip("no root to protect")

    for place in ("/usr/bin", str(Path(__file__).parent)):
        assert kept.run(["touch", f"{place}/mark"], check=False).returncode != 0


def test_our_package_imports_inside_kitty(kept: Kitty) -> None:
    """Inside kitty's own Python, tallylight, attrs and psutil's compiled part import from the installed folder."""
    lib = install(kept.home, kept.version) / "lib"
    body = f"import sys; sys.path.insert(0, {str(lib)!r})\nimport attrs, psutil, tallylight\n"
    body += "return [attrs.__file__, tallylight.__file__, psutil.Process().name()]"
    *files, name = kept.eval(body)

    assert all(file.startswith(str(lib)) for file in files)
    assert name == "kitty"


def test_saturated_colours_are_counted() -> None:
    """Only saturated colours of enough pixels count, the commonest first."""
    image = Image.new("RGB", (20, 10), (128, 128, 128))
    image.paste(AMBER, (0, 0, 3, 10))
    image.paste(BLUE, (5, 0, 10, 10))
    image.paste((255, 0, 0), (15, 0, 16, 2))

    assert saturated_colours(image, (0, 0, 20, 10)) == [BLUE, AMBER]
    assert saturated_colours(image, (10, 0, 20, 10)) == []
