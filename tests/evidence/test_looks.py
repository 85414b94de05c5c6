"""Looks at a screen, four a second: what they tell of an agent's screen, and how often."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from tallylight.evidence import looks, readings, sent
from tallylight.evidence.looks import ScreenReader
from tallylight.evidence.screen import Change, Look
from tallylight.model.report import Report
from tests.evidence.agents import agent
from tests.tables import each

SCREENS = Path(__file__).parent / "screens"


def screen(name: str) -> Look:
    """The screen of a file, as a terminal of 40 rows has it."""
    head, _, text = (SCREENS / f"{name}.txt").read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    lines = text.removesuffix("\n").split("\n")
    above = 40 - len(lines)
    return Look([""] * above + lines, int(facts["cursor"]) + above, 2, int(facts["columns"]), cursor_visible=False)


def told(reader: ScreenReader, look: Look, times: int = 6) -> list[Report]:
    """What *times* looks at the same screen tell, four a second."""
    return [report for _ in range(times) if (report := seen(reader, look)) is not None]


def seen(reader: ScreenReader, look: Look, now: float = 0.0) -> Report | None:
    """What one look tells."""
    reader.look(look)
    return reader.read(look, now)


def words(reports: list[Report]) -> list[str]:
    """What was told, without what was told before."""
    told = [f"{r.status}/{r.kind}" if r.kind else str(r.status) for r in reports]
    return [word for word, before in zip(told, ["", *told], strict=False) if word != before]


def reader(name: str = "claude") -> ScreenReader:
    return ScreenReader(agent(name))


def test_a_turn() -> None:
    """Idle, work, a dialog with its question, work, done; and the dialog is there to be shown."""
    eyes = reader()
    assert words(told(eyes, screen("claude/idle-start-80"))) == ["idle"]
    assert words(told(eyes, screen("claude/working-80"))) == ["working"]
    asked = told(eyes, screen("claude/permission-bash-80"))
    assert words(asked) == ["waiting/permission"]
    assert asked[0].message == "Do you want to proceed?"
    assert eyes.dialog is not None and eyes.dialog.choices[0].keys == "1"
    assert words(told(eyes, screen("claude/working-80"))) == ["working"]
    assert eyes.dialog is None
    assert words(told(eyes, screen("claude/idle-after-tool-80")))[-1] == "done"


def test_a_dialog_that_was_dismissed_ended_nothing() -> None:
    """Idle after a dialog without work in between is no turn that is done."""
    eyes = reader()
    told(eyes, screen("claude/idle-start-80"))
    told(eyes, screen("claude/permission-bash-80"))
    after = told(eyes, screen("claude/idle-after-dismiss-80"))

    assert words(after) == ["idle"]


@each(
    ("name", "busy", "after"),
    [("gemini", "working-1-80", "esc-1-80"), ("kilo", "working-1-80", "esc-2-80"),
     ("codex", "working-tool-80", "idle-interrupted-80"), ("opencode", "working-1-80", "denied-80"),
     ("copilot", "working-1-80", "denied-80"), ("aider", "working-1-80", "stopped-long-135")],
)  # fmt: skip
def test_a_turn_that_was_stopped_is_not_done(name: str, busy: str, after: str) -> None:
    """Work, then a row that says that the person stopped it: idle, and it stays so while they type."""
    eyes = reader(name)
    told(eyes, screen(f"{name}/{'idle-start-80' if name == 'codex' else 'idle-80'}"))
    assert words(told(eyes, screen(f"{name}/{busy}"))) == ["working"]
    assert words(told(eyes, screen(f"{name}/{after}")))[-1] == "idle"
    assert eyes.is_stopped


def test_the_first_idle_screen_ends_no_turn() -> None:
    """What an agent draws while it starts is no work, however long it takes."""
    eyes = reader()
    for number in range(20):
        look = Look([f"line {number} {row}" for row in range(40)], 39, 0, 80)
        assert seen(eyes, look) is None

    assert words(told(eyes, screen("claude/idle-start-80"))) == ["idle"]


def test_what_is_sure_is_told_and_then_now_and_then() -> None:
    """That it is still so is told once a second."""
    assert len(told(reader(), screen("claude/permission-bash-80"), 3)) == 1
    assert len(told(reader(), screen("claude/permission-bash-80"), 12)) == 1 + 12 // looks.REPEAT_REPORT_LOOKS
    eyes = reader()
    assert all(seen(eyes, screen("claude/permission-bash-80"), at) for at in (0, 2, 4, 6)), "where looks are seldom"


def test_another_reading_is_sure_when_it_was_read_twice() -> None:
    """It is so since the first time. Half a picture, and one between two others, are told of nobody."""
    asks, idle = screen("claude/permission-bash-80"), screen("claude/idle-after-dismiss-80")
    gone = attrs.evolve(asks, lines=["half a picture", *[""] * (len(asks.lines) - 1)])
    other = attrs.evolve(asks, columns=79)
    eyes = reader()
    told(eyes, asks)
    assert [word(eyes, look) for look in (gone, asks)] == ["-", "waiting"]  # the present one, seen again
    told(eyes, asks)
    assert seen(eyes, gone, 2) is None
    assert words([report for report in (seen(eyes, gone, 3), seen(eyes, gone, 4)) if report is not None]) == ["None"]
    assert eyes.since == 2

    eyes = reader()
    told(eyes, other)
    assert [word(eyes, look) for look in (attrs.evolve(idle, columns=79), other)] == ["-", "waiting"]
    assert words(told(eyes, attrs.evolve(idle, columns=79)))[-1] == "idle"


def test_an_input_box_below_a_growing_answer_is_not_idle() -> None:
    """Codex keeps its composer while an answer streams in: idle it is only when that has come to rest."""
    eyes = reader("codex")
    rest = screen("codex/idle-after-turn-80")
    told(eyes, rest)
    said = []
    for number in range(12):
        lines = [*rest.lines[3:-4], f"• word {number}", f"  more {number}", f"  and {number}", *rest.lines[-4:]]
        look = Look(lines, rest.cursor_row, 2, 80, cursor_visible=False)
        assert eyes.look(look).is_output
        said += [report for report in (eyes.read(look, 0),) if report is not None]

    assert "idle" not in words(said)
    assert words(told(eyes, rest))[-1] == "done"


def test_typing_does_not_end_idle() -> None:
    """When what is typed hides the sign of an idle screen, and nothing else happens, it stays idle."""
    eyes = reader("codex")
    told(eyes, Look(["hi", "", "› Ask Codex to do anything"], 2, 2, 80))
    said = []
    for number in range(1, 8):
        look = Look(["hi", "", "!" * number], 2, number, 80)
        assert not eyes.look(look).is_output
        said += [report for report in (eyes.read(look, 0),) if report is not None]

    assert words(said) in ([], ["idle"])


def test_a_moving_screen_is_read_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading is dearer than looking: a screen that moves is read in every fourth look, one at rest when it changed."""
    reads: list[int] = []
    monkeypatch.setattr(readings, "read_screen", lambda *_, **__: reads.append(1))
    eyes = reader()
    for number in range(40):
        look = Look([f"{number} {row}" for row in range(40)], 39, 0, 80)
        eyes.look(look)
        eyes.read(look, 0)
    assert 0 < len(reads) <= 40 / readings.MOVING_LOOKS + 2
    reads.clear()
    told(eyes, screen("claude/idle-start-80"), 50)
    assert 0 < len(reads) <= 2


def test_a_dialog_is_read_in_the_look_that_finds_it() -> None:
    """That all of the screen has just changed is reason enough: in the next look, it is sure."""
    eyes = reader()
    told(eyes, screen("claude/idle-start-80"))
    dialog = screen("claude/permission-bash-80")

    assert eyes.look(dialog).is_output
    assert eyes.read(dialog, 0) is None
    assert eyes.dialog is not None
    assert words(told(eyes, dialog, 1)) == ["waiting/permission"]


def test_forgotten_is_taken_back() -> None:
    """When the screen is of no interest any more, what it said is withdrawn, once."""
    eyes = reader()
    told(eyes, screen("claude/permission-bash-80"))
    taken = eyes.forget()

    assert taken is not None and taken.status is None
    assert eyes.forget() is None
    assert eyes.dialog is None


def test_without_an_agent_only_output_is_told() -> None:
    """A shell's screen is never read."""
    eyes = ScreenReader(None)
    look = screen("claude/permission-bash-80")

    assert eyes.look(look) is Change.NONE
    assert eyes.read(look, 0) is None


def at(*lines: str, row: int | None = None, column: int = 0) -> Look:
    """A screen of *lines* in a terminal of 40 columns, the cursor behind the last one unless told otherwise."""
    return Look(list(lines), len(lines) - 1 if row is None else row, column or len(lines[-1]), 40)


IDLE = ("─" * 40, "❯ ", "─" * 40)
SHORT = "  ? for shortcuts"
MODES = (
    "hi",
    "",
    "",
    "Select Permission Mode",
    "",
    "❯ 1. Manual Approval",
    "  2. Allow All",
    "",
    "enter to confirm · esc to cancel",
)
MENU = ("─" * 40, "Sign in with?", "", "❯ Browser", "  API key", "", "Enter to select · Esc to close")


def test_a_box_that_disappears_while_nobody_types() -> None:
    """That is the agent's doing: it is not idle any more, and others may say what it is."""
    eyes = reader()
    assert words(told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))) == ["idle"]
    said = told(eyes, at("hi", "", "Something new", "", "that nobody knows"), 8)

    assert words(said) == ["None"]


def test_what_a_person_opens_is_no_news() -> None:
    """A picker, a transcript, a menu within a second of typing: it goes on to be idle, and nothing is answered."""
    for typed, shown in (
        ("", ("hi", "", "Resume session", "  one", "", "Enter to select · Esc to cancel")),
        ("", ("hi", "", "Showing the transcript · ctrl+o to toggle")),
        ("/theme", ("hi", "", "Theme", "  Dark", "  Light")),
        ("/auth", MENU),
        ("/permissions", MODES),
    ):
        eyes = reader()
        told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
        for length in range(1, len(typed) + 1):
            told(eyes, at("hi", "─" * 40, f"❯ {typed[:length]}", "─" * 40, SHORT, row=2, column=2 + length), 1)
        assert words([report for report in told(eyes, at(*shown), 12) if report.status]) in ([], ["idle"]), shown
        assert eyes.dialog is None


def test_a_command_in_the_middle_of_the_screen() -> None:
    """Kilo has its input there at its start: what a command opens is the person's own."""
    eyes = reader("kilo")
    below = ("", "  tab agents  ctrl+p commands", "", " ~/project:main   7.7.9")
    row = f"{'┃':>20}  "
    told(eyes, at("", "", "", row, *below, row=3, column=len(row)))
    row += "/sessions"
    told(
        eyes, at("/sessions   what was before", "/share   it", "/skills   list", row, *below, row=3, column=len(row)), 1
    )
    said = told(eyes, at("Sessions   esc", "", "", "No results found", "", "pin ctrl+f  delete ctrl+d", "", ""), 12)
    assert words(said) in ([], ["idle"])


def test_an_agent_that_is_told_to_end() -> None:
    """It takes its time, and what it draws meanwhile is no work; who types something else is told what that is."""
    for command, shown in (("/exit", "idle"), ("/help", "None")):
        eyes = reader()
        told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
        row = f"❯ {command}"
        told(eyes, at("hi", "─" * 40, row, "─" * 40, SHORT, row=2, column=len(row)), 2)
        said = told(eyes, at(*[""] * 5, row=0), sent.TYPED_LOOKS + 2)
        said += told(eyes, at("a", "b", "c", "d", "Bye"), 12)
        assert words(said)[-1] == shown, command


def test_a_login_that_a_person_asked_for() -> None:
    """`/auth` is the person's own; the same at the start, or after another key, is the agent's question."""
    login = at(*[""] * 3, "Connect a Provider", "› OpenAI")
    for typed, shown in (("/auth", "idle"), ("fix", "waiting/auth")):
        eyes = reader("qwen")
        assert words(told(eyes, login)) == ["waiting/auth"]
        told(eyes, at("hi", "─" * 40, "> ", "─" * 40, SHORT, row=2, column=2))
        row = f"> {typed}"
        told(eyes, at("hi", "─" * 40, row, "─" * 40, SHORT, row=2, column=len(row)), 2)
        assert words(told(eyes, login, 12))[-1] == shown, typed


def test_the_same_menu_is_asked_where_nobody_typed() -> None:
    """At the start of an agent, and when it comes by itself; a permission is one, whatever was typed before."""
    eyes = reader()
    assert words(told(eyes, at(*MENU))) == ["waiting/auth"]
    told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
    assert words(told(eyes, at(*MENU), 4))[-1] == "waiting/auth"
    for length in range(4):
        told(eyes, at("hi", "─" * 40, "❯ go"[: 2 + length], "─" * 40, SHORT, row=2, column=2 + length), 1)
    asked = at("─" * 40, "Allow it?", "", "❯ Yes", "  No", "", "Enter to select · Esc to cancel")
    assert words(told(eyes, asked, 4))[-1] == "waiting/permission"


def test_text_that_ends_in_a_question() -> None:
    """What was typed into an agent at rest is none, nor what an agent writes before it has stood for a second."""
    asked, bare = at("more", "Overwrite? [y/N] "), at("more", "Overwrite? [y/N]")
    assert words(told(reader("aider"), asked, 2)) == ["waiting/permission"]
    assert "waiting/permission" not in words(told(reader("aider"), bare, looks.STEADY_LOOKS - 1))
    assert words(told(reader("aider"), bare, looks.STEADY_LOOKS + 2))[-1] == "waiting/permission"
    eyes = reader("aider")
    told(eyes, at("hi", "> "))
    assert words(told(eyes, at("hi", "> my Password:"), 12)) in ([], ["idle"])


def test_an_answer_that_ends_in_a_question() -> None:
    """Aider draws its answer as wide as the screen, the cursor behind it: it works, however long that stands."""
    eyes = reader("aider")
    told(eyes, at("hi", "> "))
    for shown in ("Some words.", "Continue? [y/N]"):
        asked = at("> fix it", "", shown, column=79)
        assert words(told(eyes, asked, 12)) == ["working"], shown
    assert words(told(eyes, at("> fix it", "", "Continue? [y/N]", "", "Tokens: 2 sent.", "> ")))[-1] == "done"


def typing(eyes: ScreenReader, *texts: str) -> list[Report]:
    """Looks at an input that holds each of *texts*."""
    found = []
    for text in texts:
        row = f"❯ {text}"
        found += told(eyes, at("hi", "─" * 40, row, "─" * 40, SHORT, row=2, column=len(row)), 1)
    return found


@each(
    ("texts", "shown"),
    [(("fi", "fix the t", "fix the tests", ""), "working"),
     (("fix the tests", ""), "working"),  # pasted
     (("fix the tests", "fix the te", "fix", ""), "idle"),  # erased by a key that repeats
     (("yes", ""), "idle"),  # that may be erased between two looks
     (("/clear", ""), "idle"),
     (("fix the tests", "fix the tests and"), "idle")],
)  # fmt: skip
def test_a_prompt_that_is_sent(texts: tuple[str, ...], shown: str) -> None:
    """What was typed is gone at once: it is being worked on, although nothing else says so yet."""
    eyes = reader()
    told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
    said = typing(eyes, *texts, *(texts[-1],) * 3)

    assert (words(said) or ["idle"])[-1] == shown


def test_a_menu_with_its_cursor_elsewhere() -> None:
    """What stands before the cursor while a menu is open was typed by nobody: that it goes sends no prompt."""
    eyes = reader("kimi")
    box = ("hi", "╭" + "─" * 38, "│ > {}", "╰" + "─" * 38, " 0% of it")
    menu = ("hi", "─" * 40, " ↑↓ navigate · Enter select · Esc cancel", "─" * 40, " 0% of it")
    for texts in (("", "/m", "/model"), ("",)):
        for text in texts:
            rows = [row.format(text) for row in box]
            shown = told(eyes, at(*rows, row=2, column=4 + len(text)), 2)
        for look in (at(*menu, row=4, column=9), at(*(row.format("") for row in box), row=2, column=4)):
            shown += told(eyes, look)
        assert words(shown) in ([], ["idle"])


def test_another_row_of_the_same_input() -> None:
    """What was typed stands in the row above now: nothing was sent."""
    eyes = reader()
    told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
    typing(eyes, "first do this")
    said = told(eyes, at("hi", "─" * 40, "❯ first do this", "❯ ", "─" * 40, SHORT, row=3, column=2), 4)

    assert "working" not in words(said)


def test_what_comes_of_a_prompt_that_was_sent() -> None:
    """Nothing within a second and a half: the input was only cleared, and no turn is done. Else a turn."""
    eyes = reader()
    told(eyes, at("hi", *IDLE, SHORT, row=2, column=2))
    assert words(typing(eyes, "fix the tests", *("",) * (sent.SENT_LOOKS + 4))) == ["working", "idle"]

    typing(eyes, "fix the tests", "", "")
    assert words(told(eyes, screen("claude/working-80"))) == ["working"]
    assert words(told(eyes, screen("claude/idle-after-tool-80")))[-1] == "done"


def word(reader: ScreenReader, look: Look) -> str:
    """The status that one look tells for sure; `-` for nothing new."""
    report = seen(reader, look)
    return str(report.status) if report is not None else "-"


def test_the_end_of_work_that_was_shown_is_sure_in_the_second_look() -> None:
    """Two looks found its sign of work gone and its input at rest: that is twice."""
    eyes = reader()
    told(eyes, screen("claude/idle-start-80"))
    told(eyes, screen("claude/working-80"))
    end = screen("claude/idle-after-tool-80")

    assert [word(eyes, end) for _ in range(3)] == ["-", "done", "-"]


def test_work_where_the_agent_was_at_rest_is_sure_at_once() -> None:
    """So is work in the place of a dialog; a dialog that has just come is not."""
    eyes = reader()
    told(eyes, screen("claude/idle-start-80"))
    names = ("working-80", "working-80", "permission-bash-80", "permission-bash-80")
    assert [word(eyes, screen(f"claude/{name}")) for name in names] == ["working", "-", "-", "waiting"]
    told(eyes, screen("claude/permission-bash-80"))
    assert word(eyes, screen("claude/working-80")) == "working"


def test_work_in_the_place_of_a_dialog_is_not_sure_where_the_terminal_has_another_size() -> None:
    """What is drawn anew then may lack its dialog for a moment."""
    eyes = reader()
    told(eyes, screen("claude/permission-bash-80"))
    smaller = attrs.evolve(screen("claude/working-80"), columns=79)

    assert [word(eyes, smaller) for _ in range(2)] == ["-", "working"]


@pytest.mark.parametrize("rows", [8, 3])
def test_a_dialog_that_a_new_size_takes_out_of_sight_still_waits(rows: int) -> None:
    """Of one that does not fit any more only the end stands there; it goes when the agent goes on."""
    eyes, whole = reader(), screen("claude/permission-bash-80")
    assert words(told(eyes, whole)) == ["waiting/permission"]
    small = attrs.evolve(whole, lines=whole.lines[-rows:], cursor_row=0)
    assert set(words(told(eyes, small, 20))) <= {"waiting/permission"}
    assert set(words(told(eyes, attrs.evolve(small, columns=50), 20))) <= {"waiting/permission"}
    gone = attrs.evolve(small, columns=50, lines=[f"line {n}" for n in range(rows)])
    assert words(told(eyes, gone)) == ["None"]


def test_a_dialog_that_came_while_the_screen_moved_was_there_in_the_look_before() -> None:
    """It was not read then, for an agent that writes; once it is, it is sure. One that has just come is not."""
    eyes = reader()
    told(eyes, screen("claude/working-80"))
    asks = screen("claude/permission-bash-80")
    for look in (screen("claude/idle-after-tool-80"), asks):
        assert word(eyes, look) in ("-", "working")  # the present one, again
    assert word(eyes, asks) == "waiting"

    told(eyes, screen("claude/working-80"))
    assert [word(eyes, asks) for _ in range(2)] == ["-", "waiting"]


def test_what_a_command_of_the_person_shows_ends_nothing() -> None:
    """The agent draws what a command wants, such as a summary when it is left: that is no work, nor a new question."""
    eyes = reader()
    told(eyes, at("hi", "", "", "", *IDLE, row=5, column=2))
    lowest_candidate = ("new", "rows", "above", "❯ /exit    leave", "─" * 40, "❯ /exit", "─" * 40)
    for _ in range(2 * sent.TYPED_LOOKS):
        told(eyes, at(*lowest_candidate, row=5, column=7), 1)
    summary = at("Summary", "  turns  4", "  files  2", "  words  90", "", "bye", "")
    assert eyes.look(summary) is Change.MAJOR

    assert words([report for report in told(eyes, summary, 12) if report.status])[-1:] == ["idle"]
    assert eyes.dialog is None


RESTS = {
    "claude": "idle-start-80", "codex": "idle-start-80", "cline": "idle-100", "kimi": "idle-100", "pi": "idle-100",
    "vibe": "idle-100",
}  # fmt: skip
MENUS = [
    f"{path.parent.name}/{path.stem}"
    for path in sorted(SCREENS.rglob("menu-*.txt"))
    if "shows: waiting/auth" not in path.read_text("utf-8") and path.stem != "menu-editor-80"  # scrolled
]


#: Those that show no heading, or that is above the screen.
HEADLESS = {"claude/menu-theme-80", "copilot/menu-theme-80", "qwen/menu-model-80"}


@pytest.mark.slow
@each(("menu", "typed"), [*((menu, "") for menu in MENUS if menu not in HEADLESS), *((menu, "/x") for menu in MENUS)])
def test_menus_of_settings(menu: str, typed: str) -> None:
    """A menu that comes to an agent at rest, and wants no consent, is its person's, whatever key opened it."""
    name = menu.partition("/")[0]
    eyes = reader(name)
    rest = screen(f"{name}/{RESTS.get(name, 'idle-80')}")
    told(eyes, rest)
    if typed:
        row = f"❯ {typed}"
        lines = [*rest.lines[: rest.cursor_row], row, *rest.lines[rest.cursor_row + 1 :]]
        told(eyes, attrs.evolve(rest, lines=lines, cursor_column=len(row)), 1)

    assert "waiting" not in " ".join(words(told(eyes, screen(menu))))
