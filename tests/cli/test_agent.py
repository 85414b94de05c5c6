"""`tally agent`: the file that is made of recordings and screens, and what is told of a file."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import attrs
import pytest
from benchmarks.accuracy import CORPUS

from tallylight.agents.agent import parse_agent
from tallylight.cli.main import main
from tallylight.model.status import Status
from tests.cli.panes import WAITING, publish
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import ScriptDesk
from tests.tables import each

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


@pytest.mark.slow
def test_a_time_that_a_person_names(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was taken for something else is what a person says it was."""
    assert main(["agent", "new", "mine", KIMI[0], "--asking", "1.5"]) == 1
    named = capsys.readouterr().out
    assert main(["agent", "new", "mine", KIMI[0]]) == 1

    assert named.splitlines()[0] != capsys.readouterr().out.splitlines()[0]


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
    publish(runtime, [attrs.evolve(WAITING, unknown="mystery", signs="a spinner")])
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
    home: Path, runtime: Path, kitty: Kitty, capsys: pytest.CaptureFixture[str]
) -> None:
    """Watched for a while, it is seen asking, and how long is told."""
    publish(runtime, [attrs.evolve(WAITING, unknown="mystery", signs="a spinner")])
    desk = candidate(kitty)

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


def test_check_without_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a recording without marks the light is listed, and the rules that decided nothing are named."""
    plain = tmp_path / "a.cast"
    with gzip.open(DENIAL, "rt") as found, plain.open("w") as file:
        file.writelines(line for line in found if '"m"' not in line)
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
