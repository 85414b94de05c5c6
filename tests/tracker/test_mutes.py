"""Mutes: of a tab, a project or everything, until a time or until they are taken back."""

from __future__ import annotations

from tallylight.tracker.mutes import ALL, FOREVER, MAX_MUTES, MAX_S, PROJECT, TAB, Mutes, asked
from tests.tables import each


def test_each_scope_reaches_its_own() -> None:
    """A mute of a tab or a project is of no other; the longest of several counts; it ends by itself or on request."""
    mutes = Mutes()
    assert mutes.until("1", "api", 0) is None

    mutes.mute(TAB, "1", 60, 0)
    mutes.mute(PROJECT, "web", FOREVER, 0)
    found = {(tab, project): mutes.until(tab, project, 10) for tab in "12" for project in ("api", "web")}
    assert found == {("1", "api"): 60, ("1", "web"): FOREVER, ("2", "api"): None, ("2", "web"): FOREVER}
    assert mutes.until("1", "api", 60) is None

    mutes.mute(ALL, "", 30, 100)
    mutes.mute(PROJECT, "web", 0, 100)
    assert mutes.until("9", "", 110) == 130 and mutes.until("2", "web", 140) is None


def test_the_oldest_is_forgotten_for_a_new_one() -> None:
    """However many are asked for, so many are kept."""
    mutes = Mutes()
    for number in range(MAX_MUTES + 1):
        mutes.mute(PROJECT, f"p{number}", FOREVER, 0)
    kept = [number for number in range(MAX_MUTES + 1) if mutes.until("", f"p{number}", 1)]
    assert kept == list(range(1, MAX_MUTES + 1))


@each(
    "args, wanted",
    [
        (("tab", "", "60"), (TAB, "", 60.0)),
        (("all", "", ""), (ALL, "", FOREVER)),
        (("project", "api", "0"), (PROJECT, "api", 0.0)),
        (("project", "api", str(MAX_S)), (PROJECT, "api", MAX_S)),
        ((), None),
        (("tab", "", "60", ""), None),
        (("world", "", "60"), None),
        (("tab", "1", "60"), None),
        (("project", "", "60"), None),
        (("all", "", "-1"), None),
        (("all", "", "nan"), None),
        (("all", "", "inf"), None),
        (("all", "", "soon"), None),
        (("all", "", str(MAX_S + 1)), None),
    ],
)
def test_what_another_process_asks(args: tuple[str, ...], wanted: tuple[str, str, float] | None) -> None:
    """Three words that make sense, or nothing."""
    assert asked(args) == wanted


def test_a_tab_is_the_one_of_its_pane() -> None:
    """A request for a tab without a pane is nothing."""
    mutes = Mutes()
    mutes.ask(("tab", "", "60"), "", 0)
    assert mutes.until("", "", 1) is None
    mutes.ask(("tab", "", "60"), "7", 0)
    assert mutes.until("7", "", 1) == 60
