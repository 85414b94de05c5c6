"""Asking a person for their consent: what they see, what they write, and how long what they said holds."""

from __future__ import annotations

import pytest

from tallylight.actions import consent
from tallylight.actions.consent import DECLINED_S, STARTS, Consent, Consents, Wanted
from tallylight.actions.page import Act
from tallylight.actions.view import PageWindow
from tests.tables import each

WHAT = (
    "Codex in 'two' (window 2) asks to act for you in 'three' (window 3), where Claude runs.",
    "It, and all that it runs, may from then on type texts there, answer what is asked there, PERMISSIONS INCLUDED, "
    "and stop turns, until it or Claude ends.",
)
ME, PANE, AGENT, PLACE = (50, 500), (80, 800), (81, 810), (40, 400)


def text(view: PageWindow, columns: int, rows: int) -> str:
    lines, _ = view.draw(columns, rows)
    return "\n".join("".join(piece for _, piece in line) for line in lines)


def write(view: PageWindow, word: str) -> Act:
    """What comes of writing *word* and Enter."""
    acts = [view.key(letter) for letter in word]
    assert set(acts) <= {Act.STAY}
    return view.key("enter")


@each(
    "word, act",
    [
        ("yes", Act.GO), ("YES", Act.GO), ("yess\x7f", Act.GO), ("", Act.LEAVE), ("no", Act.LEAVE), ("n", Act.LEAVE),
        ("y", Act.STAY), ("yes!", Act.STAY), ("yesyes", Act.STAY), ("o", Act.STAY), ("x" * 40, Act.STAY),
    ],
)  # fmt: skip
def test_yes_is_written_out(word: str, act: Act) -> None:
    """In letters, and nothing else agrees; what is neither yes nor no is written anew."""
    view = PageWindow(Consent(WHAT))
    view.draw(80, 24)
    assert write(view, word) is act
    if act is Act.STAY:
        assert write(view, "yes") is Act.GO


@each("key", ["escape", "\x03", "\x04"])
def test_leaving_is_no(key: str) -> None:
    """Also after some letters."""
    view = PageWindow(Consent(WHAT))
    view.draw(80, 24)
    view.key("y")
    assert view.key(key) is Act.LEAVE


@pytest.mark.slow
def test_it_is_shown_whole_or_not_at_all() -> None:
    """Where it fits, every word of it and what is written are on the screen; a smaller window takes no yes unseen."""
    assert not Consent(WHAT).fits(20, 2)
    assert not Consent(WHAT).fits(20, 200)
    assert not Consent(WHAT).fits(200, 6)
    assert Consent(WHAT).fits(80, 24)
    assert not Consent((*WHAT, "x" * 5000)).fits(500, 500)
    for columns in range(consent.MIN_CONSENT_COLUMNS, 121):
        rows = next(rows for rows in range(100) if Consent(WHAT).fits(columns, rows))
        view = PageWindow(Consent(WHAT))
        view.draw(columns, rows)
        view.key("y")
        shown = text(view, columns, rows)
        words = f"{' '.join(WHAT)} Write yes and press Enter to allow it. 10 minutes. > y"
        assert set(words.split()) <= set(shown.replace("▏", "").split()), columns
        smaller = PageWindow(Consent(WHAT))
        smaller.draw(columns, rows // 2)
        assert write(smaller, "yes") is Act.STAY


def test_what_was_said_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A yes for one caller and one agent; a no for a pane, a place and no place, for ten minutes. Few are kept."""
    said, wanted = Consents(), Wanted(PANE, AGENT)
    assert said.get(ME, PLACE, wanted, 0.0) is None
    said.put(ME, PLACE, wanted, 0.0, is_allowed=True)
    assert said.get(ME, PLACE, wanted, 1e9) is True
    assert said.get(ME, None, wanted, 1e9) is True
    assert said.get((50, 501), PLACE, wanted, 0.0) is None
    assert said.get(ME, PLACE, Wanted(PANE, (81, 811)), 0.0) is None

    other = Wanted((90, 900), (91, 910))
    said.put(ME, PLACE, other, 10.0, is_allowed=False)
    assert said.get((7, 7), PLACE, Wanted(other.pane, (92, 920)), 10.0) is False
    assert said.get((7, 7), None, other, 10.0) is False
    assert said.get(ME, (41, 410), other, 10.0) is None
    assert said.get(ME, PLACE, STARTS, 10.0) is None
    assert said.get(ME, PLACE, other, 10.0 + DECLINED_S) is None

    monkeypatch.setattr(consent, "MAX_PAIRS", 3)
    for pid in range(10):
        said.put(ME, (pid, pid), other, 20.0, is_allowed=False)
    assert [said.get(ME, (pid, pid), other, 20.0) for pid in (0, 6, 9)] == [None, None, False]
    assert len(said._declined) <= 4
