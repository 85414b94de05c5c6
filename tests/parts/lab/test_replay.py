"""`tally replay`: a recording through the scanner, the relay's core, the screen and the tracker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.agents import agent_files
from tallylight.cli.main import main
from tallylight.files import directories
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.parts.lab.asciicast import Encoder, Event, Header, Mark, Output, Resize, What
from tallylight.parts.lab.events import Exit, ForegroundChange
from tallylight.parts.lab.replay import Replay
from tallylight.relay.core import RelayCore
from tallylight.tracker.foreground import Foreground
from tests.selective import SelectiveTracker
from tests.strategies import at_most
from tests.tables import each

CODEX = ForegroundChange(Foreground("codex", 7))
GONE = ForegroundChange(None)


def write(path: Path, *events: tuple[float, What], header: Header | None = None) -> str:
    """Write a recording; return its path."""
    encoder = Encoder()
    lines = [encoder.header(header or Header())] + [encoder.event(Event(*event)) for event in events]
    path.write_bytes(b"".join(lines) + encoder.finish())
    return str(path)


def told(*events: tuple[float, What], relay: bool = True, without: Sequence[Source] = ()) -> list[tuple[float, str]]:
    """Replay *events* below the command line of a shell; return each change of the light and when it was."""
    agents, _ = agent_files.load_agents({"HOME": "/nowhere"})
    replay = Replay(Header(), agents, relay=RelayCore() if relay else None, tracker=SelectiveTracker(without))
    found: list[tuple[float, str]] = []

    def note() -> None:
        words = f"{replay.decision.status}" + (f"/{replay.decision.kind}" if replay.decision.kind else "")
        if not found or found[-1][1] != words:
            found.append((round(replay.now, 2), words))

    for _ in replay.play(Event(0.0, Output(b"$ agent\r\n"))):
        pass
    for event in events:
        for _ in replay.play(Event(*event)):
            note()
    for _ in replay.finish():
        note()
    assert replay.faults == []
    return found


def lines(count: int, start: float, every: float = 0.25) -> list[tuple[float, What]]:
    """An agent that prints a new line again and again."""
    return [(start + number * every, Output(f"line {number} of many words\r\n".encode())) for number in range(count)]


def test_an_agent_speaks_through_the_relay() -> None:
    """What an agent says in a protocol that terminals drop is believed at its time, and its end withdraws it."""
    events: list[tuple[float, What]] = [
        (0.1, CODEX),
        (1.0, Output(b"\x1b]1338;state=working;tool=codex\x07")),
        (60.0, Output(b"\x1b]1338;state=waiting;tool=codex\x07")),
        (200.0, Output(b"\x1b]1338;state=done;tool=codex\x1b\\")),
        (201.0, GONE),
    ]

    assert told(*events) == [(0.1, "working"), (60.0, "waiting"), (200.0, "done")]


def test_without_a_relay_a_terminal_drops_it() -> None:
    """Bare, the same frame says nothing; the user variable that a hook writes does."""
    frame = b"\x1b]1338;state=waiting;tool=codex\x07"
    variable = b"\x1b]1337;SetUserVar=tally=c3RhdGU9d2FpdGluZzt0b29sPWNvZGV4\x07"

    assert told((0.1, CODEX), (1.0, Output(frame)), relay=False) == [(0.1, "working")]
    assert told((0.1, CODEX), (1.0, Output(variable)), relay=False) == [(0.1, "working"), (1.0, "waiting")]


def test_titles_count_for_the_agent_in_front() -> None:
    """A title speaks for the recorded agent while that is in the foreground, and shortly before."""
    title = Output(b"\x1b]0;[ ! ] Action Required | x\x07")

    assert told((0.0, CODEX), (2.0, title))[-1] == (2.0, "waiting/permission")
    assert told((0.0, title), (1.0, CODEX))[-1] == (1.1, "waiting/permission")
    assert told((0.0, title), (9.0, CODEX))[-1] == (9.0, "working")
    assert told((0.0, title)) == [(0.0, "active")]


def test_silence_is_quiet() -> None:
    """Where nobody speaks, the screen decides: lines that come are work, and 4 s after the last one it is quiet."""
    crush = ForegroundChange(Foreground("crush", 7))
    events = [(0.0, crush), *lines(40, 0.5), (30.0, Mark("end"))]

    assert told(*events) == [(0.0, "working"), (14.5, "quiet")]


def test_typing_is_not_output() -> None:
    """Keys that are echoed where the cursor is do not make a quiet agent work again."""
    crush = ForegroundChange(Foreground("crush", 7))
    typed = [(20.0 + number * 0.2, Output(b"x")) for number in range(40)]

    assert told((0.0, crush), (0.3, Output(b"say: ")), *typed, (29.0, Mark(""))) == [
        (0.0, "working"),
        (4.0, "quiet"),
    ]


def test_a_new_size_is_not_output() -> None:
    """A screen that is drawn anew because it has a new size is no work."""
    crush = ForegroundChange(Foreground("crush", 7))
    full, other = (
        Output(b"\x1b[2J\x1b[H" + words * 20) for words in (b"words on a screen\r\n", b"as they now fit it\r\n")
    )
    events: list[tuple[float, What]] = [(0.0, crush), (0.3, full), (20, Resize(100, 40)), (20.1, other), (23, Mark(""))]

    assert told(*events)[-1][1] == "quiet"


def test_notifications_are_evidence() -> None:
    """What an agent tells the person by way of the terminal is heard as in a host; of any other program it is not."""
    told_person = Output(b"\x1b]9;Your turn\x07")
    crush, shell = ForegroundChange(Foreground("crush", 7)), Mark("")

    assert told((0.0, crush), (2.0, told_person), (3.0, Mark("")), relay=False)[-1] == (2.0, "waiting")
    assert told((0.0, shell), (2.0, told_person), (3.0, Mark("")), relay=False) == [(0.0, "active")]
    halves = Output(b"\x1b]99;i=1:d=0;Your \x07"), Output(b"\x1b]99;i=1;turn\x07")
    assert told((0.0, crush), (2.0, halves[0]), (2.5, halves[1]), relay=False)[-1] == (2.5, "waiting")


def test_an_agent_that_is_not_known_here_is_one_all_the_same() -> None:
    """A recording made where somebody had described an agent is replayed by what every agent has in common."""
    mine = ForegroundChange(Foreground("mine", 7))

    assert told((0.0, mine), (9.0, Mark("")))[0] == (0.0, "working")
    assert told((0.0, mine), (9.0, Mark("")))[-1] == (4.0, "quiet")


def test_status_files_are_evidence() -> None:
    """What was read of an agent's own status file is heard at its time."""
    claude = ForegroundChange(Foreground("claude", 7, speaks=True))
    waits = Report(source=Source.REGISTRY, status=Status.WAITING, kind=Kind.QUESTION, agent="claude", rule="file")

    assert told((0.0, claude), (1.0, waits)) == [(0.0, "idle"), (1.0, "waiting/question")]
    assert told((0.0, claude), (1.0, waits), without=[Source.REGISTRY]) == [(0.0, "idle")]


@each(
    ("end", "status"),
    [(Exit(0), "done"), (Exit(137), "down"), (Exit(None, 9), "down"), (Exit(None), "down")],
)
def test_how_it_ended(end: Exit, status: str) -> None:
    """An agent that vanished in mid-turn is down, unless its command is known to have ended well."""
    spinner = Output("\x1b]0;⠋ x\x07".encode())

    assert told((0.0, CODEX), (1.0, spinner), (5.0, end), (5.0, GONE), (6.0, Mark("")))[-1][1] == status


def test_a_change_just_before_the_end_is_told() -> None:
    """A decision that the debounce holds back when the recording ends is not lost."""
    busy, waits = (Output(b"\x1b]1338;state=%b;tool=codex\x07" % state) for state in (b"working", b"waiting"))

    assert told((0.0, CODEX), (5.0, waits), (5.01, busy))[-1] == (5.1, "working")


@pytest.mark.slow
@settings(max_examples=at_most(40))
@given(
    st.lists(
        st.tuples(
            st.floats(0, 400),
            st.one_of(
                st.builds(Output, st.binary(max_size=60)),
                st.sampled_from([CODEX, GONE, Exit(0), Exit(None, 9), Resize(5, 3), Output(b"words\r\n" * 9)]),
                st.sampled_from([Output(b"\x1b]1338;state=%b;tool=codex\x07" % s) for s in (b"working", b"waiting")]),
            ),
        ),
        max_size=25,
    )
)
def test_any_recording_comes_to_its_end(events: list[tuple[float, What]]) -> None:
    """Whatever is in a recording, its replay raises nothing, ends, and is the same again; time never goes back."""
    ordered = sorted(events, key=lambda event: event[0])
    found = told(*ordered)

    assert found == told(*ordered)
    assert [time for time, _ in found] == sorted(time for time, _ in found)


def test_a_line_a_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line has the time, the agent, the status and the reason."""
    path = write(
        tmp_path / "a.cast",
        (0.0, Output(b"$ codex\r\n")),
        (0.5, CODEX),
        (2.0, Output(b"\x1b]1338;state=waiting;kind=question;tool=codex\x07")),
    )

    assert main(["replay", path]) == 0

    first, second = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert first == "0.500 s ● codex working heuristic: it came to the foreground"
    assert second == "2.000 s ? codex waiting (question) protocol: OSC 1338"


def test_a_recording_of_another_recorder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command in its header is the agent in front; where that names none, it is said why nothing is shown."""
    for command, is_lit, said in (("codex -s", True, ""), ("bash", False, "no agent named, so no screen was read")):
        path = write(tmp_path / "a.cast", (0.5, Output(b"x")), (9.0, Output(b"y")), header=Header(command=command))
        assert main(["replay", path]) == 0
        told = capsys.readouterr()
        assert ("codex" in told.out, said in told.err, bool(told.err)) == (is_lit, True, bool(said))


def test_json_is_an_object_a_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --json each line is one object that carries a version."""
    path = write(tmp_path / "a.cast", (0.5, CODEX))

    assert main(["replay", "--json", path]) == 0

    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["version"], found["time"], found["status"], found["agent"]) == (1, 0.5, "working", "codex")
    assert found["reason"]["source"] == "heuristic"
    assert found["reason"]["changes"]


def test_json_has_the_message_and_the_protocol_that_was_spoken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an agent asks, and by which protocol it did, not by which way it came."""
    asks = b"\x1b]7501;state=blocked:kind=permission:app=codex:msg=YXBwcm92ZSBCYXNoOiBscw==\x07"
    main(["replay", "--json", write(tmp_path / "a.cast", (0.5, Output(asks)))])

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["message"], found["reason"]["rule"]) == ("approve Bash: ls", "osc-7501")


def test_the_same_file_gives_the_same_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing but the file decides: two replays are alike, and the user's configuration plays no part."""
    path = write(tmp_path / "a.cast", (0, CODEX), *lines(30, 0.3), (60, Mark("")), (61, GONE), (61, Exit(1)))
    main(["replay", path])
    first = capsys.readouterr().out
    directories.config_file().parent.mkdir(parents=True)
    directories.config_file().write_text("silence = 1\n", "utf-8")
    main(["replay", path])

    assert first
    assert capsys.readouterr().out == first


def test_what_can_be_read_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Broken lines are named with their numbers, the rest is replayed, and the exit code is 1."""
    path = tmp_path / "a.cast"
    write(path, (0.5, CODEX), (2.0, Output(b"\x1b]1338;state=waiting;tool=codex\x07")))
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:2], b"nonsense\n", whole[2], b'[1.0, "m", "back"]\n', b'[9.0, "o", "tru']))

    assert main(["replay", str(path)]) == 1

    said = capsys.readouterr()
    assert "waiting" in said.out
    assert [f":{number}: " in line for number, line in zip((3, 5, 6), said.err.splitlines(), strict=True)] == [True] * 3
    assert "breaks off" in said.err


def test_many_problems_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is broken throughout does not fill the screen."""
    path = tmp_path / "a.cast"
    path.write_text('{"version": 2}\n' + "x\n" * 500, "utf-8")

    assert main(["replay", str(path)]) == 1

    *_, last = shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 21
    assert "480 more" in last


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no header"), (b'{"version": 4}\n', "version 4"), (b"\x00" * 50, "line 1"), (None, "No such file")],
)
def test_what_is_no_recording_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, said: str
) -> None:
    """A file that is none, or another format's, is one line that names it, and exit code 1."""
    path = tmp_path / "a.cast"
    if content is not None:
        path.write_bytes(content)

    assert main(["replay", str(path)]) == 1

    error = capsys.readouterr().err
    assert "a.cast" in error
    assert said in error
    assert error.count("\n") == 1


def test_hostile_output_stays_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of a recording's bytes reaches the terminal but by way of the sanitiser."""
    hostile = b"\x1b]1338;state=waiting;tool=codex;message=%1b%5b31m\x07\x1b]0;\xe2\x80\xae evil\x07\x9b31m"
    path = write(tmp_path / "a\x1b[31m.cast", (0.5, CODEX), (2.0, Output(hostile)))
    Path(path).write_bytes(Path(path).read_bytes() + b"\x1b]0;x\x07\n")

    main(["replay", path])

    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
