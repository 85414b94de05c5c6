"""Hostile titles: whatever a program calls itself, the tab bar draws harmless text and the light beside it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest

from tallylight.snapshot.schema import Pane
from tests.real_kitty.desk import LIGHTS, Desk

STACK = "\u0300\u0321\u0489" * 200
#: What a program writes, and a word that is to be left of it.
TITLES: dict[str, tuple[bytes, str]] = {
    "long": (b"\x1b]2;" + b"name" * 250 + b"\x07", "name"),
    "wide": (b"\x1b]2;" + "漢".encode() * 333 + b"\x07", "漢"),
    "bidi": ("\x1b]2;a\u202eevil\u202c\u2066\u200b\u200f\ufeff\u00adgood\u2069\x07".encode(), "good"),
    "tags": ("\x1b]2;flag\U000e0041\U000e0042\ufe0f\u2028\u2029\u0085x\x07".encode(), "flag"),
    "control": (b"\x1b]2;one\x01\x02\x08\x0b\x0c\r\n\ttwo\x7f\x07", "one"),
    "osc": (b"\x1b]2;be\x1b]0;fore\x07\x1b]2;after\x07", "after"),
    "c1": ("\x1b]2;\u009d0;x\u009c\u009b31mlast\x07".encode(), "last"),
    "template": (b"\x1b]2;{fmt.fg.red}{tab.tally}{title}{0}{{x}}{tab.active_exe}\x07", "{fmt"),
    "expression": (b"\x1b]2;{__import__('os').system('touch pwned')}{1/0}\x07", "{__imp"),
    "unbalanced": (b"\x1b]2;}}{{}{ half\x07", "half"),
    "combining": (f"\x1b]2;z{STACK}stack\x07".encode(), "z"),
    "surrogates": (b"\x1b]2;\xed\xa0\x80\xff\xfe\xc0\x80bytes\x07", "bytes"),
    "empty": (b"\x1b]2;\x07", ""),
    "blank": ("\x1b]2;\u200b\u2060\u3164\x07".encode(), ""),
}


@pytest.fixture(scope="module")
def _desk(kitty_version: str) -> Iterator[Desk]:
    """A kitty with steady lights and room for long titles."""
    desk = Desk(kitty_version, "tab_bar_style separator\n", "[kitty]\npulse = false\n", size=(1000, 240))
    yield desk
    desk.close()


@pytest.fixture
def desk(_desk: Desk) -> Desk:
    """That kitty with one plain tab."""
    _desk.close_all_but_first()
    return _desk


@pytest.mark.parametrize("name", TITLES)
def test_a_hostile_title_is_drawn_as_text(desk: Desk, name: str) -> None:
    """The tab bar has the light, what is legible of the title, and no character that does anything."""
    written, legible = TITLES[name]
    window = desk.kitty.launch("cat", keep_focus=True)
    tab = desk.kitty.tab_of(window)
    desk.say(window, written)
    desk.send(window, "state=error")
    desk.wait_colours({tab: "error"})
    bar = desk.bar()

    assert desk.marks() == 1, bar
    assert legible in bar.partition("× ")[2]
    assert not [c for c in bar if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
    assert sum(unicodedata.combining(c) > 0 or unicodedata.category(c) == "Me" for c in bar) <= 8, ascii(bar)
    assert LIGHTS["waiting"] not in desk.pixels([tab])[tab]
    assert not (desk.kitty.home / "pwned").exists()
    assert "tallylight" not in desk.kitty.log
    assert desk.kitty.alive()


def test_a_report_with_hostile_fields_is_told_as_text(desk: Desk) -> None:
    """What a report says beside its status cannot do anything in `ls`, the snapshot or the tab bar."""
    window = desk.lamp("lamp")
    desk.send(window, "state=waiting;tool=%1B]0;x%07claude;project=%E2%80%AEevil{tab.title};message=a%0Ab%1B[31mc%9B")
    desk.wait_status(window, "waiting")
    variables = desk.kitty.user_vars(window)

    def told() -> Pane | None:
        found = desk.snapshot()
        return next((pane for pane in found.panes if pane.id == str(window)), None) if found is not None else None

    pane = desk.kitty.wait_until(told, what="the window in the snapshot")

    for text in (*(v for k, v in variables.items() if k != "tally"), pane.agent, pane.project, pane.message):
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf")], ascii(text)
    assert desk.kitty.alive()
