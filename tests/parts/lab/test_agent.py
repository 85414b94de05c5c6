"""`tally agent`: the file that is made of recordings and screens, and what is told of a file."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from pathlib import Path

import attrs
import pytest
from benchmarks.accuracy import CORPUS

from tallylight.agents.agent import Agents, parse_agent
from tallylight.cli.main import main
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.model.status import Status
from tallylight.parts.lab import check, draft, frames, scoring, sightings
from tallylight.parts.lab.asciicast import Event, Header
from tallylight.parts.lab.events import Program
from tallylight.parts.lab.verbs.replay import opened
from tests.cli.panes import WAITING, publish
from tests.entries import pane_with
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.tables import each
from tests.terminal import Terminal, bare_environment

KIMI = [str(CORPUS / f"untimed/kimi-{scene}.cast.gz") for scene in ("permission", "question")]
DENIAL = str(CORPUS / "untimed/kimi-denial.cast.gz")
IDLE = "Hello\n\n╭────────────────────╮\n│ >                  │\n╰────────────────────╯\n model  0 %\n"
BUSY = IDLE.replace("Hello\n", "Hello\n\n ⠋ Thinking hard\n")
ASKING = (
    "Hello\n\n May I write to the ledger?\n\n   (a) Go ahead\n   (b) Leave it alone\n\n press a letter, esc leaves\n"
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / ".config/tallylight/agents"


@pytest.mark.slow
def test_new_from_recordings(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is shown and written, with rules for what is not read of any program, and `check` is content with it."""
    assert main(["agent", "new", "mine", *KIMI, "--yes"]) == 0
    shown = capsys.readouterr().out
    path = home / "mine.toml"
    agent = parse_agent(path.read_text(), "mine.toml")

    assert path.read_text() in shown
    assert "asking for" in shown
    assert (agent.name, agent.processes) == ("mine", ("kimi",))
    assert {rule.status for rule in agent.screen_rules} == {Status.WORKING, Status.IDLE}
    assert main(["agent", "check", str(path), DENIAL]) == 0
    assert "missed waiting 0.0 %, false waiting 0.0 %" in capsys.readouterr().out


def test_nothing_is_overwritten(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is there stays as it is, and so does a link that leads nowhere."""
    home.mkdir(parents=True)
    (home / "mine.toml").write_text("mine")
    (home / "link.toml").symlink_to(home / "nowhere")
    for name in ("mine", "link"):
        assert main(["agent", "new", name, *KIMI, "--yes"]) == 1
        assert "already exists; nothing was changed" in capsys.readouterr().err
    assert (home / "mine.toml").read_text() == "mine"
    assert not (home / "nowhere").exists()


@pytest.mark.slow
def test_nothing_is_written_unasked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a person to ask the file is only shown."""
    assert main(["agent", "new", "mine", *KIMI]) == 1
    assert "Nothing was written." in capsys.readouterr().out
    assert not home.exists()


def test_new_from_screens(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Screens that were copied are enough: one of each."""
    words = ["agent", "new", "mine", "--program", "mystery", "--yes"]
    for label, text in (("idle", IDLE), ("busy", BUSY), ("asking", ASKING)):
        file = tmp_path / label
        file.write_text(text)
        words += [f"--{label}", str(file)]
    assert main(words) == 0
    agent = parse_agent((home / "mine.toml").read_text(), "mine.toml")
    by_status = {rule.status: rule for rule in agent.screen_rules}

    assert agent.processes == ("mystery",)
    assert by_status[Status.WORKING].lines[0].pattern == "[⠁-⣿](?: |$)"
    assert by_status[Status.IDLE].lines[0].pattern == ">$"
    assert by_status[Status.WAITING].without == by_status[Status.IDLE].lines
    assert "It never asked" not in capsys.readouterr().out


def unmarked(tmp_path: Path, source: str, *, program: str = "") -> Path:
    """The recording *source* without the marks that tell the truth; made with an agent of which nobody had a file."""
    plain = tmp_path / "a.cast"
    with gzip.open(source, "rt") as found, plain.open("w") as file:
        lines = [line for line in found if '"m"' not in line]
        if program:
            evidence = json.dumps({"type": "program", "exe": program, "words": [program]})
            lines = [line for line in lines if "foreground" not in line]
            lines.insert(1, f"{json.dumps([0.25, 'x', evidence])}\n")
        file.writelines(lines)
    return plain


def test_nothing_is_guessed(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a recording shows is asked; where nobody can answer, no file is made of guesses."""
    assert main(["agent", "new", "mine", str(unmarked(tmp_path, DENIAL)), "--yes"]) == 1
    assert "nobody can be asked here what the recording shows" in capsys.readouterr().err
    assert not home.exists()


@pytest.mark.slow
def test_five_answers(home: Path, tmp_path: Path) -> None:
    """On a terminal up to five screens are shown, a key answers each, and the file is right on another recording."""
    recording = unmarked(tmp_path, KIMI[0], program="/opt/kimi/kimi-rs")
    header, events = read(recording)
    shown = sightings.frames([sightings.of_recording(header, events)])
    truth = scoring.truth_of(read(Path(KIMI[0]))[1])
    keys = {"working": "w", "waiting": "a", "rest": "r"}
    answers = [
        keys[scoring.class_of(next(word for at, word in reversed(truth) if at <= look.time))] for _, look in shown
    ]
    assert 3 <= len(answers) <= 5

    with Terminal(rows=30, columns=100) as terminal:
        command = [
            sys.executable,
            "-c",
            "from tallylight.cli.main import run; run()",
            "agent",
            "new",
            "mine",
            str(recording),
            "--yes",
        ]
        process = terminal.start(command, bare_environment(HOME=os.environ["HOME"]))
        for number, key in enumerate(answers, 1):
            terminal.wait_for(f"{number} of {len(answers)}: a.cast".encode())
            terminal.type(key.encode())
        assert process.wait(60) == 0
    agent = parse_agent((home / "mine.toml").read_text(), "mine.toml")
    result = check.check(*read(unmarked(tmp_path, DENIAL, program="/opt/kimi/kimi-rs")), agent)

    assert agent.processes == ("kimi-rs",)
    assert {rule.status for rule in agent.screen_rules} >= {Status.WORKING, Status.IDLE}
    assert not result.strange
    score = scoring.score(
        scoring.truth_of(read(Path(DENIAL))[1]), [(c.time, c.decision.status) for c in result.changes], 36
    )
    assert score.waiting_s > 3 and score.missed_waiting <= 0.02 and score.false_waiting <= 0.03


def read(path: Path) -> tuple[Header, list[Event]]:
    with opened("agent", str(path)) as (header, events, _):
        return header, list(events)


@pytest.mark.slow
def test_a_rule_that_is_wrong_on_a_screen_that_was_named(tmp_path: Path) -> None:
    """A rule that a replay shows wrong where a person has said it goes, and what no rule tells is said."""
    header, events = read(unmarked(tmp_path, DENIAL))
    seen = sightings.of_recording(header, events)
    rest = next(look for _, look in sightings.frames([seen]) if look.label == sightings.IDLE and not look.is_read)
    said = sightings.answered(seen, [(rest, sightings.BUSY)])
    broad = draft.Rule(sightings.IDLE, "prompt", (".*",), 12, 1.0)
    found = draft.Draft((broad,), (), False, {}, 0)
    kept, wrong = draft.proved(
        found, lambda one: draft.agent_of(one, "mine", draft.Naming(("kimi",))), [(header, events)], [said]
    )

    assert kept.rules == ()
    assert {(number, look.label) for number, look, _ in wrong} <= {(0, sightings.BUSY)}


@each(
    ("exe", "words", "named"),
    [
        ("/opt/vibe/vibe-rs", ["vibe"], (("vibe", "vibe-rs"), (), ())),
        ("/opt/vibe/vibe-rs", ["/opt/vibe/vibe-rs"], (("vibe-rs",), (), ())),
        ("/usr/bin/node", ["node", "/usr/lib/node_modules/@me/mine/dist/cli.js"], ((), ("@me/mine",), ("node",))),
        ("/usr/bin/node", ["mine"], (("mine",), (), ("node",))),
        ("/usr/bin/python3.12", ["python3", "/home/me/.local/bin/mine"], (("mine",), (), ("python",))),
    ],
)
def test_the_program_that_is_named(exe: str, words: list[str], named: tuple[tuple[str, ...], ...]) -> None:
    """A file names the program that really holds the foreground: a host knows it again, and lets it speak."""
    program = Program(exe, tuple(words))
    found = draft.naming(program)
    ready = draft.Rule(sightings.IDLE, "ready", ("x",), 12, 1.0)
    agent = parse_agent(draft.write(draft.Draft((ready,), (), False, {}, 0), "mine", found), "mine.toml")
    seen = identify([program.process], Agents([agent]))

    assert (found.processes, found.packages, found.interpreters) == named
    assert seen.agent is agent
    assert seen.speaks


def test_a_program_is_recorded_without_its_arguments() -> None:
    """What names a program is kept, and nothing else that it was given."""
    process = Process(
        7, argv=("node", "--secret=1", "/opt/node_modules/mine/cli.js", "my", "password"), exe="/bin/node"
    )
    assert Program.of(process) == Program("/bin/node", ("node", "/opt/node_modules/mine/cli.js"))


def test_a_program_that_the_file_does_not_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` judges as a host does: a program that the file does not name has no light by it, and that is said."""
    recording = unmarked(tmp_path, DENIAL, program="/opt/kimi/kimi-rs")
    agent = tmp_path / "mine.toml"
    agent.write_text(
        'name = "mine"\nprocesses = ["kimi"]\n[[screen.rules]]\nname = "ready"\nstatus = "idle"\nlines = [">$"]\n'
    )
    assert main(["agent", "check", str(agent), str(recording)]) == 0
    told = capsys.readouterr().out

    assert "kimi-rs was recorded, which the file does not name" in told
    assert "screen rule: ready" not in told


def candidate(kitty: Kitty) -> ScriptDesk:
    """A kitty in whose pane 3 a program called `mystery` asks, which no agent file names."""
    desk = ScriptDesk.of(kitty, "claude/permission-bash-80")
    pane = desk.host.panes[3]
    pane.foreground = attrs.evolve(pane.foreground, agent=None, unknown="mystery", is_candidate=True)
    return desk


def test_new_from_a_pane(
    home: Path, runtime: Path, kitty: Kitty, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a pane shows now is what a person says it is, and the program is the one that runs there."""
    publish(runtime, [pane_with(WAITING, unknown="mystery", signs="a spinner")])
    desk = candidate(kitty)
    desk.host.screen = attrs.evolve(desk.host.screen, lines=[*ASKING.splitlines(), *[""] * 8])
    (tmp_path / "idle").write_text(IDLE)
    words = ["agent", "new", "mine", "--pane", "3", "--asking", "now", "--idle", str(tmp_path / "idle"), "--yes"]

    assert desk.run(lambda: main(words)) == 0, capsys.readouterr().err
    agent = parse_agent((home / "mine.toml").read_text(), "mine.toml")
    assert agent.processes == ("mystery",)
    assert {rule.status for rule in agent.screen_rules} == {Status.WAITING, Status.IDLE}
    assert desk.window.written == []


@pytest.mark.slow
def test_new_from_a_pane_that_is_watched(
    home: Path, runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watched for a while, it is seen asking, and how long is told."""
    publish(runtime, [pane_with(WAITING, unknown="mystery", signs="a spinner")])
    desk = candidate(kitty)

    monkeypatch.setattr(frames, "is_anybody", lambda: True)
    monkeypatch.setattr(frames, "ask", lambda shown: [(look, "asking") for _, look in shown])
    assert desk.run(lambda: main(["agent", "new", "mine", "--pane", "3", "--seconds", "3", "--yes"])) == 0
    told = capsys.readouterr()
    assert "for 3 s; Ctrl-C ends that sooner" in told.err
    assert "100 % of its questions look like an ordinary dialog" in told.out


def test_a_shell_is_no_source(home: Path, runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]) -> None:
    """A pane whose program is taken for no agent is not read, and the way to give a copy of it is told."""
    publish(runtime, [WAITING])
    desk = candidate(kitty)
    desk.host.panes[3].foreground = attrs.evolve(desk.host.panes[3].foreground, is_candidate=False)

    assert desk.run(lambda: main(["agent", "new", "mine", "--pane", "3", "--idle", "now"])) == 1
    assert "only agents can be read; for another program, pass a copy" in capsys.readouterr().err


@each(
    ("words", "told"),
    [
        (("new", "mine", "--idle", "now"), "`now` needs --pane"),
        (("new", "mine", "--pane", "3", "--idle", "now", "--busy", "now"), "given once"),
        (("new", "Mine", *KIMI), "small letters"),
        (("new", "../mine", *KIMI), "small letters"),
        (("new", "mine"), "give a recording or a pane"),
        (("new", "mine", "--asking", "3.5"), "a time needs exactly one recording"),
        (("new", "mine", *KIMI, "--asking", "3.5"), "a time needs exactly one recording"),
        (("new", "mine", "--idle", "/nowhere/at/all"), "cannot be read"),
        (("new", "mine", "/nowhere/at/all"), "cannot be read"),
        (("check", "/nowhere/at/all"), "there is no such file"),
    ],
)
def test_what_cannot_be_done(words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is said in one line, and nothing is written."""
    assert main(["agent", *words]) == 1
    assert told in capsys.readouterr().err


def test_every_mistake_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All mistakes of a file are told, each with its line and field."""
    file = tmp_path / "bad.toml"
    file.write_text('name = "mine"\nprocesses = ["x"]\ncolour = 1\n[[screen.rules]]\nname = "a"\nstatus = "bad"\n')
    assert main(["agent", "check", str(file)]) == 1
    told = capsys.readouterr().err

    assert f"{file}:6: screen.rules.status: is 'bad'" in told
    assert f"{file}:3: colour: is unknown" in told


def test_check_of_a_file_that_is_like_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules that a packaged file lends decide as well; a file that nobody has is a mistake."""
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nlike = "kimi"\nprocesses = ["kimi"]\n')
    assert main(["agent", "check", str(file), str(unmarked(tmp_path, DENIAL))]) == 0
    told = capsys.readouterr().out
    file.write_text('name = "mine"\nlike = "nobody"\nprocesses = ["kimi"]\n')

    assert "screen: screen rule: spinner" in told and "screen: screen rule: input box" in told
    assert main(["agent", "check", str(file), DENIAL]) == 1
    assert "like: 'nobody' is not the name of a packaged file" in capsys.readouterr().err


def test_check_without_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a recording without marks the light is listed, and the rules that decided nothing are named."""
    plain = unmarked(tmp_path, DENIAL)
    agent = tmp_path / "mine.toml"
    agent.write_text(
        'name = "mine"\nprocesses = ["kimi"]\n'
        '[[screen.rules]]\nname = "ready"\nstatus = "idle"\npriority = -5\nwhere = "box"\nlines = [">$"]\n'
        '[[screen.rules]]\nname = "never"\nstatus = "error"\nlines = ["No such row"]\n'
    )
    assert main(["agent", "check", str(agent), str(plain)]) == 0
    told = capsys.readouterr().out

    assert "no truth is marked" in told
    assert "screen: screen rule: ready" in told
    assert "waiting (permission)" in told
    assert "Rules that decided nothing here: never" in told


@pytest.mark.slow
def test_it_is_quick(home: Path, tmp_path: Path) -> None:
    """A recording of rows that are all different takes no more patterns than it has."""
    shutil.copy(CORPUS / "untimed/cline-text.cast.gz", tmp_path / "a.cast.gz")
    assert main(["agent", "new", "mine", str(tmp_path / "a.cast.gz"), "--yes"]) == 0
    assert (home / "mine.toml").exists()
