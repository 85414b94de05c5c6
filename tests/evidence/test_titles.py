"""Titles: the glyphs of real agents, look-alikes that say nothing, and what is left for display."""

from __future__ import annotations

from tallylight.agents.agent import parse_agent
from tallylight.agents.agent_files import load_agents
from tallylight.evidence.titles import TitleReader, clean_title, read_title
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tests.evidence.agents import AGENTS, agent
from tests.tables import each

W, A, I = (Status.WORKING, None), (Status.WAITING, Kind.PERMISSION), (Status.IDLE, None)  # noqa: E741 - the table's width


@each(
    ("name", "title", "expected"),
    [
        ("claude", "✳ Claude Code", I),
        ("claude", "◐ Claude Code", W),
        ("claude", "◑ Echo probe-123", W),
        ("claude", "◗ x", W),
        ("claude", "⠂ Fix the build", W),
        ("claude", "⠐ Fix the build", W),
        ("claude", "✳", I),
        ("claude", "✳\ufe0e Claude Code", I),
        ("claude", "✳\ufe0f Claude Code   ", I),
        ("claude", "✳ Action Required", I),
        ("claude", "⠋ Action Required", W),
        ("claude", "[ ! ] Action Required | x", None),
        ("claude", "✳Claude", None),
        ("claude", "◐◑ x", None),
        ("claude", "Claude ✳ Code", None),
        ("claude", "Claude Code | ◐ x", None),
        ("claude", "Windows PowerShell", None),
        ("claude", "~/codex/ready", None),
        ("claude", "", None),
        ("claude", "   ", None),
        ("claude", "\ufe0e", None),
        ("claude", "\u2900 x", None),
        ("codex", "⠋ codex", W),
        ("codex", "codex | ⠋ | ~/proj", W),
        ("codex", "codex | ⠋", W),
        ("codex", "[ ! ] Action Required | ~/proj", A),
        ("codex", "[ . ] Action Required | codex", A),
        ("codex", "codex | [ ! ] Action Required", A),
        ("codex", "[ ! ] Action Required | ⠋ x", A),
        ("codex", "[ x ] Action Required | codex", None),
        ("codex", "Action Required", None),
        ("codex", "⠋ Action Required", W),
        ("codex", "codex", None),
        ("codex", "~/codex/ready", None),
        ("gemini", "◇  Ready (api)", I),
        ("gemini", "✦  Working… (api)" + " " * 60, W),
        ("gemini", "⏲  Working…", W),
        ("gemini", "✋  Action Required (api)", A),
        ("gemini", "Gemini", None),
        ("qwen", "◐\ufe0e Qwen - dir", W),
        ("qwen", "✳\ufe0e Qwen - dir", A),
        ("qwen", "Qwen - dir", None),
        ("opencode", "OC | ⠋ title", None),
        ("aider", "✳ x", None),
        ("copilot", "✋ x - GitHub Copilot", None),
    ],
)
def test_rules(name: str, title: str, expected: tuple[Status, Kind | None] | None) -> None:
    """A title says what its agent means by it, and nothing where the glyph is not exactly in its place."""
    report = read_title(agent(name), title)

    assert (None if report is None else (report.status, report.kind)) == expected
    if report is not None:
        assert report.source is Source.TITLE
        assert report.agent == name
        assert report.rule


def test_waiting_is_never_derived_from_claude() -> None:
    """No rule of Claude's title makes it wait: it has no glyph for that."""
    claude = agent("claude")

    assert all(rule.status is not Status.WAITING for rule in claude.title_rules)


def test_same_glyph_means_different_things() -> None:
    """`✳` is idle in Claude and a question in Qwen: rules belong to an agent."""
    reports = [read_title(agent(name), "✳ x") for name in ("claude", "qwen")]

    assert [r.status for r in reports if r] == [Status.IDLE, Status.WAITING]


def said(name: str, *titles: tuple[float, str]) -> list[str]:
    """The statuses that one run of an agent says by its titles, each set at a time; a dash where it says nothing."""
    reader = TitleReader(agent(name))
    return [str(report.status) if (report := reader.read(title, now)) else "-" for now, title in titles]


def test_plain_title_is_idle_only_after_a_glyph() -> None:
    """A title without a glyph means idle only once this run of the agent has drawn one."""
    assert said("codex", (0, "u@host: ~"), (1, "⠋ codex"), (9, "codex"), (10, "")) == ["-", "working", "done", "-"]


def test_a_turn_that_ends_in_the_title_is_done() -> None:
    """Idle after work is done and stays so; idle after a question that was put away, or at the start, is idle."""
    titles = (0, "✳ a"), (1, "◐ a"), (2, "◑ a"), (3, "✳ a"), (4, "✳ b"), (5, "◐ b"), (6, "✳ b")
    assert said("claude", *titles) == ["idle", "working", "working", "done", "done", "working", "done"]

    asked = (0, "⠋ codex"), (5, "[ ! ] Action Required | codex"), (9, "codex")
    assert said("codex", *asked) == ["working", "waiting", "idle"]


def test_a_frame_of_a_spinner_is_no_turn() -> None:
    """What is over in a moment is no turn, however late an agent starts; after a first turn it is one."""
    assert said("codex", (0.1, "⠋ codex"), (0.2, "codex")) == ["working", "idle"]
    assert said("codex", (3.1, "⠋ codex"), (3.2, "codex")) == ["working", "idle"]
    assert said("codex", (9.1, "⠋ codex"), (9.2, "codex"), (9.3, "⠋ codex"), (9.4, "codex"))[1::2] == ["idle"] * 2
    assert said("codex", (0.1, "⠋ codex"), (1.2, "codex")) == ["working", "done"]
    # The shell's title, then its own, with which it has started; and a short turn when it was at rest.
    started = (0, "codex"), (9, "x"), (9.1, "⠋ x"), (9.2, "x")
    assert said("codex", *started)[-1] == "idle"
    assert said("codex", *started, (20, "⠋ x"), (20.1, "x"))[-1] == "done"
    later = (0, "⠋ codex"), (5, "codex"), (6, "⠋ codex"), (6.1, "codex")
    assert said("codex", *later) == ["working", "done", "working", "done"]
    asked = (0, "⠋ codex"), (5, "[ ! ] Action Required | codex"), (9, "codex"), (10, "⠋ codex"), (10.1, "codex")
    assert said("codex", *asked)[-1] == "done"


def said_once(report: Report | None) -> str | None:
    return report.status if report is not None else None


def test_a_turn_that_was_stopped_is_taken_back() -> None:
    """Once the title has made a turn done, the screen may say that it was stopped; the next one is done again."""
    reader = TitleReader(agent("codex"))
    reader.read("⠋ x", 10.0)
    assert reader.note_stop() is None  # it works: whatever the screen shows is of an earlier turn
    assert said_once(reader.read("x", 20.0)) == "done"

    assert said_once(reader.note_stop()) == "idle"
    assert reader.note_stop() is None
    assert said_once(reader.read("x", 21.0)) == "idle"
    reader.read("⠋ x", 30.0)
    assert said_once(reader.read("x", 40.0)) == "done"


def test_a_title_that_draws_no_work_says_nothing_of_rest() -> None:
    """With its animations off it draws a dialog alone: a plain title takes that back, and the screen decides."""
    reader = TitleReader(agent("codex"))
    titles = ["x", "[ ! ] Action Required | x", "[ . ] Action Required | x", "x", "x", "[ ! ] Action Required | x", "x"]
    reports = [reader.read(title, float(now)) for now, title in enumerate(titles)]
    assert [report and report.status for report in reports] == [None, "waiting", "waiting", None, None, "waiting", None]
    assert reports[3] is not None and reports[4] is None, "it is taken back once"

    work = (0, "[ ! ] Action Required | x"), (1, "x"), (2, "⠋ x"), (9, "x")
    assert said("codex", *work)[2:] == ["working", "done"]


def test_plain_title_never_idle_for_others() -> None:
    """An agent that always draws a glyph says nothing with a title that has none."""
    assert said("claude", (0, "◐ x"), (9, "Claude Code")) == ["working", "-"]


@each(
    ("title", "clean"),
    [
        ("✳ Claude Code", "Claude Code"),
        ("◐\ufe0e Qwen - dir   ", "Qwen - dir"),
        ("⠋ codex", "codex"),
        ("codex | ⠋ | ~/proj", "codex | ~/proj"),
        ("[ ! ] Action Required | codex", "codex"),
        ("◇  Ready (api)", "Ready (api)"),
        ("⠋ ✳ x", "x"),
        ("✳", ""),
        ("", ""),
        ("✳Claude", "✳Claude"),
        ("plain | title", "plain | title"),
        ("a\x1b]0;b\x07\u202ec", "a]0;bc"),
    ],
)
def test_clean_title(title: str, clean: str) -> None:
    """The displayed title has no lamps, no padding and nothing that moves a terminal's state."""
    assert clean_title(title) == clean


def test_every_glyph_of_an_agent_goes() -> None:
    """Whatever a packaged agent puts in front of its title is gone from it: our own light stands beside it."""
    agents, _ = load_agents({})
    glyphs = {glyph for agent in agents for rule in agent.title_rules for glyph in rule.glyphs}
    assert len(glyphs) > 200

    assert {clean_title(f"{glyph} Run the migration") for glyph in glyphs} == {"Run the migration"}


def test_every_frame_is_the_same_report() -> None:
    """Whichever glyph or item of a rule is drawn, it says the same, so that a spinner that turns is no news."""
    agents, _ = load_agents({})
    rules = [(agent, rule) for agent in agents for rule in agent.title_rules]
    for agent_, rule in rules:
        titles = [*(f"{glyph} Run it" for glyph in rule.glyphs), *(f"{item} | Run it" for item in rule.items)]
        first, *others = [read_title(agent_, title) for title in titles]
        assert first is not None and first.rule and all(report == first for report in others), agent_.name


def test_animation_does_not_change_the_clean_title() -> None:
    """A spinner's frames all leave the same title."""
    frames = [chr(code) for code in range(0x2800, 0x2900)] + ["◐", "◑", "✳"]

    assert {clean_title(f"{frame} Fix the build") for frame in frames} == {"Fix the build"}


def test_huge_title() -> None:
    """A title of 100 kB is read to a bound."""
    report = read_title(agent("codex"), "⠋ " + "x | " * 25_000)

    assert report is not None and len(report.title) < 1000


def test_rule_of_a_user() -> None:
    """A user's own file brings its own rules."""
    text = 'name="a"\nprocesses=["a"]\n[[title.rules]]\nstatus="waiting"\nkind="question"\nglyphs=["?"]'
    report = read_title(parse_agent(text, "a.toml"), "? x")

    assert report is not None and (report.status, report.kind) == (Status.WAITING, Kind.QUESTION)


def test_no_status_that_is_ours() -> None:
    """No packaged rule says `down` or `active`, which are concluded and never claimed."""
    statuses = {rule.status for one in AGENTS for rule in one.title_rules}

    assert not statuses & {Status.DOWN, Status.ACTIVE}
