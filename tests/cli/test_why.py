"""`tally why`: which pane it picks, and what it says about it."""

from __future__ import annotations

import datetime
import io
import json
import os
from pathlib import Path

import attrs
import pytest

from tallylight.cli import why
from tallylight.cli.main import main
from tallylight.cli.output import Output
from tallylight.evidence.process import Process
from tallylight.model.status import Status
from tallylight.snapshot import labels_file
from tallylight.snapshot.addresses import Row, own_place
from tallylight.snapshot.labels import Label
from tallylight.snapshot.schema import AnswerEntry, LosingEntry, Pane, ReasonEntry, RecordEntry
from tallylight.wire.text import width
from tests.cli.panes import COMMAND, DONE, HOST, NOW, SHELL, WAITING, WORKING, publish
from tests.entries import pane_with
from tests.hosts.test_pane import HandTable
from tests.tables import each


def drawn(pane: Pane, columns: int = 200) -> str:
    stream = io.StringIO()
    why.draw(Output(stream, columns), Row(HOST, pane), NOW)
    return stream.getvalue()


def test_explanation() -> None:
    """The three answers, each with its source, rule and age; then the parts, and what was put aside."""
    assert drawn(WAITING).splitlines() == [
        "! waiting (permission) for 2m",
        f"  pane      {HOST}:3",
        "  agent     claude",
        "  project   tallylight",
        "  session   0123",
        "  title     fix the lights",
        "  message   Allow rm -r build?",
        "  turn      running, by title: spinner, 9s ago; until record",
        "  asks      permission, by protocol: OSC 1338, 2m ago",
        "  rest      nothing",
        "its parts",
        "  a  working  protocol  7s ago  read files",
        "put aside",
        "  heuristic  working  output  3s ago  explicit wins",
    ]


def test_a_disk_that_hangs() -> None:
    """Is named, so that nobody wonders why the light goes by the screen."""
    hangs = drawn(pane_with(WAITING, hangs="/mnt/far")).splitlines()
    assert "  disk      /mnt/far does not respond: what the agent keeps there is not read" in hangs
    assert "disk" not in drawn(WAITING)


def test_pace() -> None:
    """A pane that says more than is read says so, and no other does."""
    flooded = pane_with(WAITING, said_per_s=5200, read_per_s=960)

    assert "  reports   5200 a second, 960 of them read: the newest of each record" in drawn(flooded).splitlines()
    assert "reports" not in drawn(WAITING)


def test_unknown_program() -> None:
    """A program that no file names is named, marked if it is taken for an agent, and how to add it is said."""
    plain = drawn(pane_with(COMMAND, unknown="mystery"))
    taken = drawn(pane_with(WAITING, agent="mystery", unknown="mystery", signs="a spinner in its title", agent_pid=7))

    assert "  program   mystery, without an agent file; if it is an agent: `tally agent new mystery`" in plain
    assert "  agent     mystery?\n" in taken
    assert "is taken for an agent by a spinner in its title; to describe it: `tally agent new mystery`" in taken
    assert "program" not in drawn(WAITING)


def test_question() -> None:
    """The question on the screen, the keys of its answers, and the rule that read them."""
    pane = attrs.evolve(
        WAITING,
        message="Run it?",
        question="Run it?",
        choices=(("1", "Yes"), ("\x1b[B\r", "DeferredText"), ("\x1b", "No"), ("", "Chat about this")),
    )

    said = drawn(pane).splitlines()

    assert "  message   Run it?" in said
    assert "  answers   [1] Yes · [↓ Enter] DeferredText · [Esc] No · Chat about this" in said
    assert not [line for line in said if line.startswith("  question")]
    assert "  question  Run it?" in drawn(attrs.evolve(pane, message="approve Bash")).splitlines()


def test_what() -> None:
    """What it is about has a line of its own."""
    assert "  what      Bash: rm -r build" in drawn(attrs.evolve(WAITING, what="Bash: rm -r build")).splitlines()
    assert "  what" not in drawn(WAITING)


def test_the_ledger() -> None:
    """A snooze, with its end on the clock of this place, and a mark; neither once the snooze is over."""
    snoozed = pane_with(WAITING, snoozed_until=NOW + 1500, unread=True)
    end = datetime.datetime.fromtimestamp(NOW + 1500, datetime.UTC).astimezone().strftime("%H:%M")
    head, first, *_ = drawn(snoozed).splitlines()

    assert head == "! waiting (permission) for 2m, unread"
    assert first == f"  snoozed   until {end}, 25m more, or until the status changes"
    assert "snoozed" not in drawn(pane_with(snoozed, snoozed_until=NOW - 1))


def test_a_host_that_answers_nothing() -> None:
    """Of a pane whose host tells no answers, as those of another version, the light as a whole is explained."""
    assert "  light     active" in drawn(COMMAND).splitlines()
    old = pane_with(WAITING, answers=())
    assert "  light     waiting, by protocol: OSC 1338, 2m ago; until the agent continues" in drawn(old).splitlines()


def test_a_multiplexer_in_front(tmp_path: Path) -> None:
    """What runs in tmux is dark in its terminal: it says how to see it, and where it is if that is done."""
    table = HandTable(str(tmp_path))
    table.processes[44] = Process(44, 10, 44, "tmux: client", ("tmux", "attach"), "/usr/bin/tmux", 1)
    dark = Row(HOST, attrs.evolve(COMMAND, pid=44, agent=""))
    followed = Row("sessions-9", WORKING)

    assert "`tally host sessions`" in why._advice(dark, [dark], table)
    assert "`tally status`" in why._advice(dark, [dark, followed], table)
    assert why._advice(Row(HOST, attrs.evolve(dark.pane, agent="claude")), [dark], table) == ""
    assert why._advice(Row(HOST, attrs.evolve(dark.pane, pid=50)), [dark], table) == ""
    assert why._advice(Row(HOST, attrs.evolve(dark.pane, pid=None)), [dark], table) == ""
    stream = io.StringIO()
    why.draw(Output(stream, 200), dark, NOW, "do this")
    assert "  advice    do this" in stream.getvalue().splitlines()


@pytest.mark.parametrize(
    "argv", [("ssh", "devbox"), ("docker", "exec", "-it", "box", "claude"), ("kitten", "ssh", "devbox")]
)
@pytest.mark.parametrize("is_seen", [True, False])
def test_what_makes_another_machine_exact(argv: tuple[str, ...], is_seen: bool) -> None:
    """Behind ssh and the like, lit or not: `tally run` there, or `[machines]`; not where the agent speaks itself."""
    table = HandTable("")
    table.processes[44] = Process(44, 10, 44, argv[0], argv, f"/usr/bin/{argv[0]}", 400)
    name, signs = (argv[0], "a spinner in its title") if is_seen else ("", "")
    far = Row(HOST, pane_with(COMMAND, pid=44, agent=name, unknown=name, signs=signs))

    advice = why._advice(far, [far], table)
    assert advice.startswith(f"{argv[0]} shows another machine.")
    assert "`tally run`" in advice and "[machines]" in advice
    said = drawn(far.pane, 300)
    assert "tally agent new" not in said
    assert (f"{name}?" in said and "shows an agent of another machine, by a spinner in its title" in said) is is_seen
    assert why._advice(Row(HOST, attrs.evolve(far.pane, agent="claude")), [far], table) == ""


def test_hostile_text_is_harmless() -> None:
    """No text out of a snapshot brings a control to the terminal, and none makes a line too long."""
    hostile = "a\x1b]0;owned\x07b\u202ec\nd" + "x" * 400
    pane = pane_with(
        WAITING,
        **dict.fromkeys(("id", "agent", "project", "session", "title", "message"), hostile),
        reason=ReasonEntry(source=hostile, rule=hostile, at=1.0, changes=hostile),
        records=(RecordEntry(id=hostile, status=Status.WORKING, source=hostile, fields={"title": hostile}),),
        losing=(LosingEntry(source=hostile, rule=hostile, status=hostile, at=2.0, why=hostile),),
        answers=(AnswerEntry(question=hostile, answer=hostile, source=hostile, rule=hostile, changes=hostile),),
    )

    said = drawn(pane, 80)

    assert not set("\x1b\x07\u202e") & set(said)
    assert max(map(width, said.splitlines()[:11])) <= 80


@pytest.mark.parametrize(
    ("environment", "wanted", "picked"),
    [
        ({}, "", "3"),
        ({"KITTY_PID": str(os.getpid()), "KITTY_WINDOW_ID": "2"}, "", "2"),
        ({"KITTY_PID": str(os.getpid()), "KITTY_WINDOW_ID": "4"}, "", "4"),
        ({"KITTY_PID": "1", "KITTY_WINDOW_ID": "2"}, "", "3"),
        ({"KITTY_PID": str(os.getpid()), "KITTY_WINDOW_ID": "77"}, "", "3"),
        ({}, "1", "1"),
        ({}, f"{HOST}:2", "2"),
        ({}, "kitty  2", "2"),
        ({"KITTY_PID": str(os.getpid()), "KITTY_WINDOW_ID": "2"}, "1", "1"),
    ],
    # The process id would be another in each of the processes that share the tests.
    ids=range(9),
)
def test_which_pane(
    runtime: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    environment: dict[str, str],
    wanted: str,
    picked: str,
) -> None:
    """The pane named; else the one this runs in; else the most urgent."""
    publish(runtime, [DONE, WORKING, WAITING, SHELL])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert main(["why", *([wanted] if wanted else [])]) == 0
    assert f"pane      {picked}\n" in capsys.readouterr().out


def test_same_id_in_two_hosts(
    runtime: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An id that two hosts have is the one of our own host; outside of both it is ambiguous, and both are named."""
    publish(runtime, [WAITING])
    publish(runtime, [WAITING], host="screen")

    assert main(["why", "3"]) == 1
    said = capsys.readouterr().err
    assert "several panes are 3: kitty 3 (tallylight, claude), screen 3 (tallylight, claude)" in said
    assert main(["why", "kitty 3"]) == 0

    assert main(["why", f"screen-{os.getpid()}:3"]) == 0
    monkeypatch.setenv("KITTY_PID", str(os.getpid()))
    assert main(["why", "3"]) == 0


SHOP = attrs.evolve(DONE, id="7", project="shop", session="s1")
#: One session, seen where it runs and in the pane that shows tmux.
DOCS = attrs.evolve(WORKING, id="8", project="docs", agent="gemini", session="s2", agent_pid=1)
DOCS_AGAIN = attrs.evolve(DOCS, id="9", agent_pid=None)


@each(
    ("wanted", "picked"),
    [
        ("shop", "7"), ("Shop", "7"), ("codex", "7"), ("docs", "8"), ("gemini", "8"),
        ("tallylight", "3"), ("the lights", "3"), ("3", "3"), ("claude", "3"),
    ],
)  # fmt: skip
def test_a_pane_by_what_status_prints(
    runtime: Path, wanted: str, picked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project, the name that a person gave, or an agent names a pane."""
    monkeypatch.setenv("XDG_STATE_HOME", str(runtime / "state"))
    file = labels_file.path(os.environ)
    labels_file.change(file, lambda found: found.with_label(HOST, WAITING, Label("the lights"), NOW))
    publish(runtime, [WAITING, SHOP, DOCS, DOCS_AGAIN, SHELL, COMMAND])

    assert main(["why", wanted, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["address"] == f"{HOST}:{picked}"


@each("verb", ["why", "seen", "unread", "attach", "read"])
def test_a_name_where_nothing_runs(runtime: Path, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without any terminal it is not the pane that is missing."""
    assert runtime.is_dir() and main([verb, "shop"]) == 1
    assert "no terminal runs Tallylight" in capsys.readouterr().err


@each(
    ("wanted", "said"),
    [
        ("shop", "several panes are shop: 7 (shop, codex), 10 (shop, claude)"),
        # What begins a name may have been the name of a pane that is gone.
        ("s", "there is no pane 's'"), ("12f", "there is no pane '12f'"), ("hop", "there is no pane"),
        ("claude", "several panes are claude: 3 (tallylight, claude), 10 (shop, claude)"),
        ("1", "there is no pane '1'"), ("bash", "there is no pane 'bash'; `tally"),
        ("shp", "there is no pane 'shp'; did you mean 'shop'?"), ("Cluade", "did you mean 'claude'?"),
    ],
)  # fmt: skip
def test_a_name_that_says_too_little(runtime: Path, wanted: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where several panes are meant, each is told with what tells it from the others; and a number is never a name."""
    again = attrs.evolve(WORKING, id="10", project="shop", session="s3")
    publish(runtime, [WAITING, SHOP, again, attrs.evolve(DONE, id="11", project="12factor"), SHELL])

    assert main(["why", wanted]) == 1
    assert said in capsys.readouterr().err


def test_unknown_pane(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pane that does not exist is one line on standard error, exit code 1."""
    publish(runtime, [WAITING])

    assert main(["why", "99"]) == 1

    said = capsys.readouterr()
    assert said.out == ""
    assert "no pane '99'" in said.err
    assert said.err.count("\n") == 1


@pytest.mark.usefixtures("runtime")
def test_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Without any host it says what is missing, exit code 1."""
    assert main(["why"]) == 1
    assert "tally doctor" in capsys.readouterr().out


def test_json(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The object has a version, the reason and the claims put aside."""
    publish(runtime, [WAITING])

    assert main(["why", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["address"]) == (1, f"{HOST}:3")
    assert found["reason"]["changes"] == "the agent continues"
    assert found["losing"][0]["why"] == "explicit wins"


@pytest.mark.parametrize(
    ("environ", "lock", "place"),
    [
        ({}, None, ("", "")),
        ({"KITTY_PID": "7", "KITTY_WINDOW_ID": "3"}, None, ("kitty-7", "3")),
        ({"WEZTERM_UNIX_SOCKET": "/run/gui-sock-77", "WEZTERM_PANE": "4"}, "912", ("wezterm-912", "4")),
        (
            {
                "KITTY_PID": "7",
                "TERM_PROGRAM": "WezTerm",
                "WEZTERM_UNIX_SOCKET": "/run/gui-sock-77",
                "WEZTERM_PANE": "4",
            },
            "912",
            ("wezterm-912", "4"),
        ),
        ({"WEZTERM_UNIX_SOCKET": "/run/gui-sock-77", "WEZTERM_PANE": "4"}, None, ("", "")),
        ({"WEZTERM_UNIX_SOCKET": "/run/gui-sock-77", "WEZTERM_PANE": "4"}, "../x", ("", "")),
        ({"WEZTERM_UNIX_SOCKET": "/run/gui-sock-7/../7"}, "912", ("", "")),
    ],
)
def test_where_we_are(environ: dict[str, str], lock: str | None, place: tuple[str, str], tmp_path: Path) -> None:
    """kitty tells its pid itself; WezTerm's host is found by the lock of its sidecar."""
    folder = tmp_path / "tallylight"
    folder.mkdir(mode=0o700)
    if lock is not None:
        folder.joinpath("wezterm-77.lock").write_text(lock)
    assert own_place({**environ, "XDG_RUNTIME_DIR": str(tmp_path)}) == place


def test_narrow_terminal_breaks_between_words() -> None:
    """What is wider than the terminal goes on in the next line, and nothing of it is lost."""
    pane = attrs.evolve(
        WAITING, message="Run the migration on the production database now, or only show what it would do?"
    )

    lines = drawn(pane, 40).splitlines()

    assert max(map(len, lines)) <= 40
    assert pane.message in " ".join(line[12:] for line in lines if line.startswith("  "))


def test_tasks_mode_and_topic() -> None:
    """What an agent says of its work is told: how far it is, what it does, and each of its tasks."""
    tasks = ("Add auth", "Fix login", "Ship")
    by = AnswerEntry(question="turn", answer="running", source="protocol", rule="osc-7501")
    pane = pane_with(WAITING, progress="1/3", tasks=tasks, answers=(by,))
    said = drawn(pane_with(pane, topic="Login", mode="plan", worktree="fix", detail="edit_file"))

    for line in ("about     Login", "mode      plan", "worktree  fix", "does      ━━──── 1/3  Fix login"):
        assert line in said
    assert "by protocol: OSC 7501" in said
    by = AnswerEntry(question="asks", answer="permission", source="screen", rule="screen rule: permission")
    assert "permission, by screen rule: permission, " in drawn(pane_with(pane, answers=(by,)))
    assert "its tasks\n  ✓  Add auth\n  ▸  Fix login\n     Ship" in said
    assert "  ✓  Ship" in drawn(attrs.evolve(pane, progress="3/3"))
