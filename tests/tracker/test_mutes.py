"""Mutes: of a tab, a project or everything, until a time or until they are taken back."""

from __future__ import annotations

from tallylight.tracker.mutes import ALL, MAX_MUTE_S, MAX_MUTES, PROJECT, TAB, Mutes
from tests.tables import each


def test_each_scope_reaches_its_own() -> None:
    """A mute of a tab or a project is of no other; the longest of several counts; it ends by itself or on request."""
    mutes = Mutes()
    assert mutes.until("1", "api", 0) is None

    mutes.mute(TAB, "1", 60, 0)
    mutes.mute(PROJECT, "web", 900, 0)
    found = {(tab, project): mutes.until(tab, project, 10) for tab in "12" for project in ("api", "web")}
    assert found == {("1", "api"): 60, ("1", "web"): 900, ("2", "api"): None, ("2", "web"): 900}
    assert mutes.until("1", "api", 60) is None

    mutes.mute(ALL, "", 30, 100)
    mutes.mute(PROJECT, "web", 0, 100)
    assert mutes.until("9", "", 110) == 130 and mutes.until("2", "web", 140) is None


def test_the_oldest_is_forgotten_for_a_new_one() -> None:
    """However many are asked for, so many are kept."""
    mutes = Mutes()
    for number in range(MAX_MUTES + 1):
        mutes.mute(PROJECT, f"p{number}", 60, 0)
    kept = [number for number in range(MAX_MUTES + 1) if mutes.until("", f"p{number}", 1)]
    assert kept == list(range(1, MAX_MUTES + 1))


@each(
    "args, tab, api",
    [
        (("tab", "", "60"), 61, None),
        (("all", "", ""), None, None),
        (("project", "api", "60"), None, 61),
        (("project", "api", "0"), None, None),
        (("project", "api", str(MAX_MUTE_S)), None, MAX_MUTE_S + 1),
        ((), None, None),
        (("tab", "", "60", ""), None, None),
        (("world", "", "60"), None, None),
        (("tab", "1", "60"), None, None),
        (("project", "", "60"), None, None),
        (("all", "", "-1"), None, None),
        (("all", "", "nan"), None, None),
        (("all", "", "inf"), None, None),
        (("all", "", "soon"), None, None),
        (("all", "", str(MAX_MUTE_S + 1)), None, None),
    ],
)
def test_what_another_process_asks(args: tuple[str, ...], tab: float | None, api: float | None) -> None:
    """Three words that make sense, of the pane's tab or of a project; or nothing."""
    mutes = Mutes()
    mutes.ask(args, "7", 1)
    assert (mutes.until("7", "", 2), mutes.until("8", "api", 2)) == (tab, api)


def test_a_mute_is_taken_back_by_the_same_words() -> None:
    """With no seconds at all."""
    mutes = Mutes()
    for seconds, wanted in (("60", 61), ("0", None)):
        mutes.ask(("project", "api", seconds), "", 1)
        assert mutes.until("", "api", 2) == wanted


def test_a_tab_is_the_one_of_its_pane() -> None:
    """A request for a tab without a pane is nothing."""
    mutes = Mutes()
    mutes.ask(("tab", "", "60"), "", 0)
    assert mutes.until("", "", 1) is None
    mutes.ask(("tab", "", "60"), "7", 0)
    assert mutes.until("7", "", 1) == 60
