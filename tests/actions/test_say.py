"""Free text goes only to an agent that takes it, and an interruption only to one that works."""

from __future__ import annotations

import re

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions import answer, say
from tallylight.actions.answer import Occupant, Seen
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Interrupt, Say, text_problem
from tallylight.evidence.fingerprint import fingerprint
from tallylight.evidence.foreground import Identity
from tallylight.evidence.process import Process
from tallylight.evidence.prompts import ScreenReading
from tallylight.evidence.screen import Look
from tallylight.model.dialog import Dialog
from tallylight.model.status import Kind, Status
from tests.actions.desk import PANE, PID, SCREENS, START, Desk, holder, seen
from tests.evidence.agents import agent
from tests.strategies import at_most
from tests.tables import each
from tests.wire.shown import DEFAULT_IGNORABLE, DRAW_NOTHING

IDLE = "claude/idle-after-turn-80"


def said(now: Seen | Refusal, text: str = "go on", *, enter: bool = True, **more: object) -> tuple[str, list[str]]:
    """The rule by which *text* was refused, or what was done; and what was typed."""
    desk = Desk(now)
    found = say.say(desk, attrs.evolve(Say(PANE, PID, START, text, enter), **more))
    return found.rule if isinstance(found, Refusal) else found.text, desk.typed


def test_text_goes_to_an_agent_at_its_prompt() -> None:
    """It is typed once, with Enter if that was asked for and not without."""
    assert said(seen(IDLE, Status.IDLE)) == ("sent, and Enter pressed", ["go on\r"])
    assert said(seen(IDLE, Status.DONE), enter=False) == ("typed, and Enter not pressed", ["go on"])


def test_who_holds_a_pane() -> None:
    """What a text is meant for, by its process; nobody where no agent is."""
    assert answer.holder(Desk(seen(IDLE, Status.IDLE))) == Occupant(PANE, "claude", PID, START)
    nobody = answer.holder(Desk(seen(IDLE, Status.IDLE, foreground=holder(""))))
    assert isinstance(nobody, Refusal) and nobody.rule == "process"


def _cat() -> Identity:
    process = Process(PID, comm="cat", argv=("cat",), start=START)
    return Identity(leader=process, process=process)


REFUSED: dict[str, tuple[Seen | Refusal, dict[str, object], str]] = {
    "it works": (seen("claude/working-80", Status.WORKING), {}, "working"),
    "it works, by its screen": (seen("claude/working-80", Status.IDLE), {}, "working"),
    "it works, by its light": (seen(IDLE, Status.WORKING), {}, "working"),
    "an answer streams in": (seen("codex/streaming-80", Status.WORKING), {}, "working"),
    "it asks": (seen("claude/permission-bash-80"), {}, "asking"),
    "it asks, and the light is late": (seen("claude/permission-bash-80", Status.IDLE), {}, "asking"),
    "it is about to ask": (seen(IDLE, Status.WAITING, kind=Kind.PERMISSION), {}, "asking"),
    "it asks with buttons": (seen("opencode/permission-80", Status.WAITING), {}, "asking"),
    "it asks to send answers": (seen("opencode/review-80", Status.WAITING), {}, "asking"),
    "it asks to tick": (seen("claude/question-multi-80"), {}, "asking"),
    "it asks yes or no": (seen("aider/permission-80"), {}, "asking"),
    "it asks for a login": (seen("qwen/login-80"), {}, "asking"),
    "a menu is open": (seen("claude/menu-model-80", Status.IDLE), {}, "prompt"),
    "another menu": (seen("codex/menu-model-120", Status.IDLE), {}, "prompt"),
    "nothing can be seen": (seen(IDLE, Status.IDLE, look=Look([""] * 24, 0, 0, 80)), {}, "prompt"),
    "an agent whose screen says nothing": (seen(IDLE, Status.IDLE, foreground=holder("goose")), {}, "prompt"),
    "cat": (seen(IDLE, Status.IDLE, foreground=_cat()), {}, "process"),
    "a shell": (seen(IDLE, Status.IDLE, foreground=holder("")), {}, "process"),
    "another process": (seen(IDLE, Status.IDLE, foreground=holder("claude", 9)), {}, "process"),
    "the pid, begun later": (seen(IDLE, Status.IDLE, foreground=holder("claude", PID, 9)), {}, "process"),
    "another agent": (seen(IDLE, Status.IDLE, foreground=holder("codex", 9)), {}, "process"),
    "ssh": (seen(IDLE, Status.IDLE, foreground=attrs.evolve(holder(""), is_remote=True)), {}, "remote"),
    "another pane": (seen(IDLE, Status.IDLE), {"pane": "4"}, "gone"),
    "no start": (seen(IDLE, Status.IDLE), {"start": 0}, "process"),
    "it is gone": (Refusal("gone", "gone"), {}, "gone"),
    "copy mode": (Refusal("mode", "mode"), {}, "mode"),
    "nothing": (seen(IDLE, Status.IDLE), {"text": ""}, "text"),
    "lines as keys": (seen(IDLE, Status.IDLE), {"text": "a\nb"}, "lines"),
    "lines, and who knows": (seen(IDLE, Status.IDLE, takes_paste=None), {"text": "a\tb"}, "lines"),
    "no bracketed paste": (seen(IDLE, Status.IDLE, takes_paste=False), {"text": "a\tb"}, "lines"),
    "too long": (seen(IDLE, Status.IDLE), {"text": "x" * (say.MAX_TYPED + 1)}, "too-long"),
}  # fmt: skip


def test_everything_else_is_refused() -> None:
    """Each by its rule and with a sentence, and nothing is typed."""
    wrong = {name: found for name, (now, more, rule) in REFUSED.items() if (found := said(now, **more)) != (rule, [])}  # type: ignore[arg-type]

    assert wrong == {}


def test_lines_go_into_a_paste() -> None:
    """Where the program takes bracketed paste, tabs and line ends are text; so are the longest texts."""
    assert said(seen(IDLE, Status.IDLE, takes_paste=True), "a\n\tb")[1] == ["a\n\tb\r"]
    assert said(seen(IDLE, Status.IDLE), "x" * say.MAX_TYPED)[1] == ["x" * say.MAX_TYPED + "\r"]


@pytest.mark.slow
@each(
    "character",
    ["\x00", "\x03", "\x1b", "\r", "\x7f", "\x80", "\x9b", "\u200b", "\u202e", "\u2028", "\u2029", "\u2066", "\ufeff",
     "\ud800", "\udcff", "\U000e0041", "\ue000", "\u00ad", "\u0378",
     *map(chr, DEFAULT_IGNORABLE), *map(chr, DRAW_NOTHING)],
)  # fmt: skip
def test_such_characters_are_never_typed(character: str) -> None:
    """Controls, C1 too, what draws nothing or turns text, separators of lines, surrogates; not in a paste either."""
    assert said(seen(IDLE, Status.IDLE, takes_paste=True), f"a{character}b") == ("text", [])


@settings(max_examples=at_most(200), deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_what_is_typed_can_be_encoded_and_read(text: str) -> None:
    """What passes has no control or invisible character but tab and line end, and is UTF-8."""
    if text_problem(text) is None:
        text.encode()
        assert all(c.isprintable() or c in "\t\n\u00a0\u202f\u3000" for c in text)
    assert text_problem("grüße 日本 ❯ 👍🏽 a;") is None


def test_a_question_in_words_is_answered_by_a_text() -> None:
    """A dialog that asks for words takes them from who has seen it, and only while it is the very same."""
    shown = seen("opencode/denied-80", Status.WAITING)
    lines = ["  ┃", "  ┃  △ Reject permission", "  ┃  Tell what to do instead", "  ┃", "  ┃   enter confirm"]
    shown = attrs.evolve(shown, look=Look([*shown.look.lines[:8], *lines], 10, 0, 80))
    question = Desk(shown).shown()

    assert question.choices == ()
    assert said(shown, fingerprint=question.fingerprint)[1] == ["go on\r"]
    assert said(shown) == ("asking", [])
    other = attrs.evolve(shown, look=attrs.evolve(shown.look, lines=[*shown.look.lines[:-1], "  ┃   enter approve"]))
    assert said(other, fingerprint=question.fingerprint) == ("changed", [])


def test_only_words_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else that an agent may be said to be, or to ask for, takes a text; whoever has seen it, too."""
    for status, kind, lines, rule in (
        (Status.ACTIVE, None, ["> "], "prompt"),
        (Status.WAITING, Kind.AUTH, ["> "], "asking"),
        (Status.WAITING, Kind.PERMISSION, ["> "], "asking"),
        (Status.WAITING, Kind.INPUT, ["Go?", "❯ 1. a", "  2. b"], "asking"),
        (Status.WAITING, Kind.INPUT, ["Go?", "❯ 1. a", "  2. b", "  2. c"], "asking"),
        (Status.WAITING, Kind.INPUT, ["Which?", "❯ Red", "  Green", "", "more", "Enter to select"], "asking"),
        (Status.WAITING, Kind.INPUT, ["> "], "sent, and Enter pressed"),
    ):
        dialog = Dialog(kind, "x")
        read = ScreenReading(status, "x", dialog if status is Status.WAITING else None)
        monkeypatch.setattr(say, "reading_of", lambda _, read=read: read)
        now = seen(IDLE, status, look=Look(lines, 0, 0, 80))
        assert said(now, fingerprint=fingerprint(lines, 80, dialog))[0] == rule, (status, kind, lines)


@pytest.mark.slow
def test_every_recorded_prompt_takes_text_and_nothing_else_does() -> None:
    """On each recorded screen, of every agent: at rest it is typed, and while it works or asks it is not."""
    wrong = []
    for path in sorted(SCREENS.glob("*/*.txt")):
        name = f"{path.parent.name}/{path.stem}"
        shows = next(line for line in path.read_text("utf-8").splitlines() if line.startswith("shows: "))
        word = shows.removeprefix("shows: ").partition("/")[0]
        status = Status(word) if word in set(Status) else Status.IDLE
        _, typed = said(seen(name, status))
        # The keys below the composer of a year ago look like those of a menu: nothing is typed there.
        is_menu = re.search("/menu-(?!slash)|codex/idle-old", name) is not None
        is_at_prompt = status in (Status.IDLE, Status.DONE, Status.BACKGROUND, Status.ERROR) and not is_menu
        if word in set(Status) and bool(typed) is not is_at_prompt:
            wrong.append((name, word, typed))

    assert wrong == []


# Interruptions ---------------------------------------------------------------------------------------------------


def interrupted(now: Seen, **more: object) -> tuple[str, list[str]]:
    desk = Desk(now)
    found = say.interrupt(desk, attrs.evolve(Interrupt(PANE, PID, START), **more))
    return found.rule if isinstance(found, Refusal) else found.text, desk.typed


@each(
    ("now", "rule"),
    [
        (seen("claude/permission-bash-80"), "asking"),
        (seen("claude/permission-bash-80", Status.WORKING), "asking"),
        (seen(IDLE, Status.IDLE), "no-turn"),
        (seen(IDLE, Status.DONE), "no-turn"),
        (seen("claude/menu-model-80", Status.IDLE), "no-turn"),
        (seen("claude/working-80", Status.WORKING, foreground=_cat()), "process"),
        (seen("claude/working-80", Status.WORKING, foreground=holder("claude", 9)), "process"),
        (seen("claude/working-80", Status.WORKING, pane="9"), "gone"),
    ],
)
def test_only_a_turn_is_interrupted(now: Seen, rule: str) -> None:
    """A dialog would be denied, a menu closed, an input cleared: nothing is pressed there."""
    assert interrupted(now) == (rule, [])


@each(
    "now",
    [
        seen("claude/working-80", Status.IDLE),
        seen("codex/streaming-80", Status.WORKING),
        seen(IDLE, Status.WORKING, look=Look([""] * 24, 0, 0, 80)),
    ],
)
def test_a_turn_is_interrupted(now: Seen) -> None:
    """By the agent's key, once; by the screen, or by the light where the screen cannot tell."""
    assert interrupted(now) == ("interrupted", ["\x1b"])


def test_the_key_is_the_agents() -> None:
    """aider knows no Escape, and OpenCode wants it twice."""
    working = {name: seen(f"{name}/working-1-80", Status.WORKING) for name in ("aider", "opencode", "kilo", "copilot")}

    assert {name: interrupted(now)[1] for name, now in working.items()} == {
        "aider": ["\x03"], "opencode": ["\x1b\x1b"], "kilo": ["\x1b\x1b"], "copilot": ["\x1b\x1b"]
    }  # fmt: skip
    assert agent("claude").interrupt == "\x1b"


def test_which_texts_are_taken() -> None:
    """4096 characters, and blanks of every width."""
    assert say.MAX_TYPED == 4096
    assert text_problem("a\u00a0\u202f\u3000b") is None
