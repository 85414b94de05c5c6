"""`tally status`: what it lists, in which order, and that it fits and is harmless."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import attrs
import pytest

from tallylight.cli import output, status
from tallylight.cli.main import main
from tallylight.cli.output import Output
from tallylight.model.status import Status
from tallylight.snapshot import labels_file
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.labels import Label
from tallylight.snapshot.schema import Pane
from tallylight.wire.text import width
from tests.cli.panes import COMMAND, DONE, HOST, NOW, SHELL, WAITING, WORKING, publish
from tests.entries import pane_with
from tests.tables import each
from tests.terminal import Terminal, bare_environment, launcher

EVERY = [DONE, COMMAND, WORKING, WAITING, SHELL]


def drawn(panes: list[Pane], columns: int = output.UNBOUNDED_CELLS, **changes: bool) -> list[str]:
    stream = io.StringIO()
    found = [Row(HOST, pane, pane.id) for pane in panes]
    status.draw(Output(stream, columns, **changes), found, NOW)
    return stream.getvalue().splitlines()


@pytest.mark.usefixtures("runtime")
def test_no_host_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Where no terminal publishes anything, it says so and where to look, and succeeds."""
    assert main(["status"]) == 0
    assert "tally doctor" in capsys.readouterr().out
    assert main(["status", "--waiting"]) == 1, "it is not known that nothing waits"


def test_host_without_agents(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal whose tabs hold only shells and commands has nothing to list."""
    publish(runtime, [SHELL, COMMAND])

    assert main(["status"]) == 0
    assert capsys.readouterr().out == "no agent runs in any tab\n"


def test_most_urgent_first(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a pane, the most urgent first, and none for shells and plain commands."""
    publish(runtime, EVERY)

    assert main(["status"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "!  3  waiting (permission)  claude  tallylight  2m   Allow rm -r build?",
        "✓  1  done                  codex   make tests  12s",
        "●  2  working               claude              1s",
    ]


def test_equally_urgent_panes_are_sorted_by_time(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two that wait the one that has waited longest is first, as in the list."""
    publish(runtime, [WAITING, attrs.evolve(WAITING, id="9", session="", since=NOW - 2)])

    main(["status"])

    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["3", "9"]


def test_all_shows_shells_too(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --all every pane has a line."""
    publish(runtime, EVERY)

    main(["status", "--all"])

    assert len(capsys.readouterr().out.splitlines()) == len(EVERY)


def test_waiting_only(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --waiting only what needs a person is listed; if nothing does, it says so."""
    publish(runtime, EVERY)
    assert main(["status", "--waiting"]) == 3
    some = capsys.readouterr().out
    publish(runtime, [DONE, WORKING])
    assert main(["status", "--waiting"]) == 0
    none = capsys.readouterr().out

    assert some.count("\n") == 1
    assert "permission" in some
    assert none == "nothing waits for you\n"


def test_two_hosts_are_told_apart(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where two hosts run, a pane is called by no more than what tells it from the others."""
    publish(runtime, [WAITING, attrs.evolve(WORKING, id="1")])
    tmux = [attrs.evolve(DONE, id=id_) for id_ in ("tmux/1867/%2", "tmux/1867/%1", "tmux/99/%1")]
    publish(runtime, [DONE, *tmux], host="sessions")

    main(["status"])

    names = [line[3:].split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(names) == ["3", "kitty 1", "sessions 1", "tmux 2", "tmux/1867/%1", "tmux/99/%1"]


def test_what_a_person_called_a_conversation(
    runtime: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name stands for the project, JSON has it; a broken file is told and costs nothing else."""
    monkeypatch.setenv("XDG_STATE_HOME", str(runtime / "state"))
    file = labels_file.path({"XDG_STATE_HOME": str(runtime / "state")})
    called = Label("the lights")
    labels_file.change(file, lambda found: found.with_label(HOST, WAITING, called, NOW))
    publish(runtime, EVERY)

    assert main(["status"]) == 0
    assert "claude  the lights  2m" in capsys.readouterr().out.splitlines()[0]
    assert main(["status", "--json"]) == 0
    told = [pane["label"] for pane in json.loads(capsys.readouterr().out)["panes"]]
    assert told[0] == {"name": "the lights"} and not any(told[1].values())
    file.write_text("{")
    assert main(["status"]) == 0
    found = capsys.readouterr()
    assert "tallylight" in found.out.splitlines()[0] and "labels.json" in found.err


@each("columns", [80, 100])
def test_long_titles_leave_room_for_messages(columns: int) -> None:
    """With --all there are shells and their titles; what an agent asks is worth more."""
    title = "user@machine: ~/src/some/where/deep/below"
    line = drawn([WAITING, attrs.evolve(SHELL, title=title), attrs.evolve(COMMAND, title=title)], columns)[0]

    assert "Allow rm -r" in line


def test_json(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The object has a version, every pane with its address and fields, and what could not be read."""
    publish(runtime, EVERY)
    (runtime / "tallylight" / "kitty-1.json").write_text("{")

    assert main(["status", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["version"] == 2
    assert found["hosts"] == [HOST]
    assert [pane["address"] for pane in found["panes"]] == [f"{HOST}:{n}" for n in (3, 1, 2, 4, 5)]
    assert found["panes"][0]["reason"]["rule"] == "osc-1338"
    assert found["panes"][0]["kind"] == "permission"
    assert len(found["problems"]) == 1


def test_the_longest_wait_first(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --waiting the one that has waited longest comes first, as for jumps; what was put off comes last."""
    ages = {"young": NOW - 5, "old": NOW - 500, "snoozed": NOW - 900}
    panes = [attrs.evolve(WAITING, id=name, session=name, since=since, message=name) for name, since in ages.items()]
    panes[-1] = pane_with(panes[-1], snoozed_until=time.time() + 600)
    publish(runtime, panes)

    main(["status", "--waiting"])
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["old", "young", "snoozed"]


def test_a_question_is_listed_rather_than_the_last_message() -> None:
    """What waits shows what it asks, if that is known; what does not wait shows its message."""
    asks = {"question": "Do you want to proceed?", "message": "I will clean up"}

    assert "Do you want to proceed?" in drawn([pane_with(WAITING, **asks)])[0]
    assert "I will clean up" in drawn([pane_with(WORKING, **asks)])[0]
    assert "Bash: rm -r build" in drawn([pane_with(WAITING, **asks, what="Bash: rm -r build")])[0]
    assert "I will clean up" in drawn([pane_with(WORKING, **asks, what="Bash: rm -r build")])[0]


def test_what_a_turn_came_to() -> None:
    """The last sentence of the reply, and the lines that are not committed, if there are any."""
    done = attrs.evolve(DONE, message="Finished", outcome="All 12 tests pass.", more={"diffstat": (120, 14)})
    (line,) = drawn([done])
    assert line.endswith("  All 12 tests pass.  +120 −14")
    (line,) = drawn([attrs.evolve(done, more={"diffstat": (12, 0)})])
    assert line.endswith("  All 12 tests pass.  +12")
    (line,) = drawn([attrs.evolve(done, outcome="", more={"diffstat": (0, 0)})])
    assert line.endswith("  Finished")


def test_how_far_it_is_stands_before_what_it_says() -> None:
    """`1/3` and the current task, then the last message, or what the conversation is about."""
    pane = attrs.evolve(WORKING, progress="1/3", tasks=("Add auth", "Fix login", "Ship"), topic="Login")

    assert drawn([pane])[0].endswith("1/3  Fix login  Login")
    assert drawn([attrs.evolve(pane, message="On it")])[0].endswith("1/3  Fix login  On it")


def test_the_name_of_a_session_is_no_text() -> None:
    """tmux calls its first session `0`, on another machine `far: 0`: that says nothing of what an agent does."""
    pane = attrs.evolve(WORKING, project="shop", title="0", detail="Fix the rounding")
    for host_title in ("0", "far: 0"):
        assert drawn([pane_with(pane, host_title=host_title)])[0].endswith("  Fix the rounding")
    assert drawn([pane])[0].endswith("  Fix the rounding  0"), "a program can call itself so"


def test_what_a_worker_was_asked_to_do() -> None:
    """A session without a title of its own shows its last prompt, and not the name that Claude gave it."""
    worker = pane_with(
        WORKING, project="docs", title="docs-dc", host_title="docs-dc", last_prompt="Rewrite the tutorial"
    )
    assert drawn([worker])[0].endswith("  Rewrite the tutorial")
    assert drawn([attrs.evolve(worker, title="The tutorial")])[0].endswith("  The tutorial")


def test_json_of_waiting_panes(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--waiting narrows the JSON as well."""
    publish(runtime, EVERY)

    assert main(["status", "--json", "--waiting"]) == 3
    assert [pane["id"] for pane in json.loads(capsys.readouterr().out)["panes"]] == ["3"]


def test_broken_snapshot_is_told_and_the_rest_is_shown(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A snapshot that cannot be read costs a line on standard error and nothing else."""
    publish(runtime, [WAITING])
    (runtime / "tallylight" / "kitty-1.json").write_text("{")

    assert main(["status"]) == 0

    said = capsys.readouterr()
    assert "is not JSON" in said.err
    assert "permission" in said.out


@each("columns", [40, 50, 71, 72, 80, 120])
def test_lines_fit(columns: int) -> None:
    """At every width no line is longer, and status, agent, name and age of what waits are there."""
    long = attrs.evolve(WAITING, project="a-very-long-project-name " * 3, message="word " * 60)
    lines = drawn([long, DONE, attrs.evolve(WORKING, title="日本語の題" * 20)], columns)

    assert max(map(width, lines)) <= columns
    for word in ("!", "3", "permission", "claude", "a-ve", "2m"):
        assert word in lines[0]


@each("columns", range(1, 40))
def test_even_the_narrowest_terminal_gets_mark_and_status(columns: int) -> None:
    """Below 40 columns columns go, but mark and status stay."""
    assert drawn([WAITING], columns)[0].startswith("!  ")


def test_line_takes_what_room_there_is() -> None:
    """A message is cut with an ellipsis exactly at the edge."""
    line = drawn([attrs.evolve(WAITING, message="m" * 200)], 80)[0]

    assert width(line) == 80
    assert line.endswith("m…")


def test_hostile_text_is_harmless() -> None:
    """Controls, sequences and bidi overrides out of a snapshot do not reach the terminal."""
    hostile = "a\x1b]0;owned\x07b\x9b31m\u202ec\r\nd\x1b[2J\u0000"
    texts = dict.fromkeys(("agent", "project", "title", "message", "id"), hostile)

    lines = drawn([pane_with(WAITING, **texts)], 200)

    assert len(lines) == 1
    assert not set("\x1b\x07\x9b\u202e\r\n\u0000") & set(lines[0])


def test_colour_follows_the_status() -> None:
    """The mark and the status are in the status's colour, of 24 bits where the terminal has them and else of 256."""
    full = drawn([WAITING], colour=True, full_colour=True)[0]
    few = drawn([WAITING], colour=True)[0]

    assert full.startswith("\x1b[38;2;255;170;0m!\x1b[39m")
    assert few.startswith("\x1b[38;5;214m!\x1b[39m")
    assert drawn([attrs.evolve(COMMAND, since=NOW)], colour=True)[0].startswith("   5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_on_a_real_terminal(tmp_path: Path, environment: dict[str, str], coloured: bool) -> None:
    """On a terminal 40 columns wide lines fit, and colour is used unless NO_COLOR or TERM forbids it."""
    publish(tmp_path, [attrs.evolve(WAITING, since=NOW, message="long " * 30)])
    with Terminal(columns=40) as terminal:
        code = terminal.run(
            [*launcher_with_attrs(tmp_path), "status"],
            bare_environment(XDG_RUNTIME_DIR=str(tmp_path), LANG="C.UTF-8") | environment,
        )

        assert code == 0
        assert (b"\x1b[38;5;214m" in terminal.received) is coloured
        assert b"permission" in terminal.received
        if not coloured:
            assert max(width(line) for line in terminal.received.decode().splitlines()) <= 40


def launcher_with_attrs(folder: Path) -> list[str]:
    """A launcher whose second path entry is where attrs is, as the private environment has it beside us."""
    command = launcher(folder)
    script = Path(command[-1])
    site = str(Path(attrs.__file__).parent.parent)
    script.write_text(script.read_text().replace("import sys\n", f"import sys\nsys.path.insert(0, {site!r})\n", 1))
    return command


@pytest.mark.slow
def test_nothing_of_a_host_is_imported(tmp_path: Path) -> None:
    """A list of what a host has decided needs none of the rooms that decide, nor those that act."""
    publish(tmp_path, EVERY)
    script = Path(launcher(tmp_path)[-1])
    command = [sys.executable, "-I", str(script)]
    script.write_text(
        script.read_text().replace(
            "\nrun()", "\nfrom tallylight.cli.main import main\nimport sys\nmain(['status']); print(*sys.modules)"
        )
    )

    done = subprocess.run(command, env=bare_environment(XDG_RUNTIME_DIR=str(tmp_path)), capture_output=True, text=True)

    modules = done.stdout.splitlines()[-1].split()
    assert "tallylight.cli.status" in modules, done.stderr
    dear = ("tallylight.pane", "tallylight.evidence", "tallylight.hosts", "tallylight.actions", "subprocess")
    assert [name for name in modules if name.startswith(dear)] == []


@pytest.mark.slow
def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """`tally status | head -0` ends without a word of complaint."""
    publish(tmp_path, [attrs.evolve(WAITING, id=str(n), message="m" * 400) for n in range(400)])
    with Terminal() as terminal:
        terminal.run(
            ["sh", "-c", '"$@" | head -c 0', "sh", *launcher_with_attrs(tmp_path), "status"],
            bare_environment(XDG_RUNTIME_DIR=str(tmp_path), LANG="C.UTF-8"),
        )

        assert terminal.received == b""


@each(
    ("seconds", "worded"),
    [(-5, "0s"), (0, "0s"), (59.9, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86400, "1d"), (1e9, "999d")],
)
def test_age(seconds: float, worded: str) -> None:
    """Ages are short, and a clock that went back makes no negative one."""
    assert output.age(seconds) == worded


def test_wide_text_is_cut_between_characters() -> None:
    """A cut in the middle of a wide character leaves the character out."""
    assert [output.clean("日本語", cells) for cells in (6, 5, 4, 3, 2, 1, 0)] == [
        "日本語",
        "日本…",
        "日…",
        "日…",
        "…",
        "…",
        "",
    ]


def test_every_status_can_be_drawn() -> None:
    """There is a line for each status."""
    assert len(drawn([attrs.evolve(DONE, status=status) for status in Status])) == len(Status)
