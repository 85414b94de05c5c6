"""The relay's core on time-lines."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable

import pytest

from tallylight import wire
from tallylight.cli.run import make_core
from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import ANSWERS_A_SECOND, BATCH_WRITES, KEY_S, SEQUENCE_HELD_S, RelayCore
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.wire import envelope, osc1338
from tallylight.wire.scanner import Sequence
from tallylight.wire.user_var import UserVar
from tests.relay.told import QUERY, Line, state, told, words
from tests.tables import each

WORKING = b"\x1b]7501;state=working:app=claude-code\x07"
BLOCKED = b"\x1b]7501;state=blocked:kind=permission:app=claude-code\x07"
DONE = b"\x1b]7501;state=done\x07"
IDLE = b"\x1b]7501;state=idle\x07"
CLEAR = b"\x1b]7501;state=clear\x07"
ESC = b"\x1b"
Wrap = Callable[[bytes], bytes]


def osc(text: str) -> bytes:
    return envelope.osc(*_numbered(text))


def _numbered(text: str) -> tuple[int, str]:
    number, _, payload = text.partition(";")
    return int(number), payload


def variable(text: str) -> bytes:
    """What a hook writes."""
    return envelope.user_var("tally", text)


# What is passed on ---------------------------------------------------------------------------------------------


def test_plain_text_is_not_copied() -> None:
    """A chunk with nothing to read in it is the very object that goes out, in both directions."""
    core = RelayCore()
    text, keys = b"text " * 100, b"keys"
    core.from_child(text, 1.0)
    core.from_user(keys, 1.0)

    assert core.to_terminal() is text
    assert core.to_child() is keys
    assert core.deadline() is None
    assert core.to_terminal() == core.to_child() == b""


def test_a_lone_escape_waits_for_what_follows() -> None:
    """An ESC at the end of a chunk goes out with what follows it, or after a while."""
    line = Line()
    assert line.at(1.0, b"x" + ESC) == b"x"
    assert line.core.deadline() == 1.0 + SEQUENCE_HELD_S
    assert line.tick(1.0 + SEQUENCE_HELD_S - 0.001) == b""
    assert line.tick(1.0 + SEQUENCE_HELD_S) == ESC
    assert line.core.deadline() is None


def test_the_wait_does_not_start_again() -> None:
    """More bytes of the same unfinished sequence do not prolong the wait; a new one has its own."""
    line = Line()
    line.at(1.0, ESC)
    line.at(1.01, b"]75")
    assert line.core.deadline() == 1.0 + SEQUENCE_HELD_S
    line.at(1.02, b"01;sta")
    assert line.core.deadline() == 1.0 + SEQUENCE_HELD_S
    assert line.at(1.025, b"te=working\x07" + ESC) != b""
    assert line.core.deadline() == 1.025 + SEQUENCE_HELD_S


def test_a_wait_that_was_cut_off_is_over() -> None:
    """A new sequence that cuts off the one held is held for its own time."""
    line = Line()
    line.at(1.0, b"\x1b]7501;sta")
    assert line.at(1.02, b"\x1b]1338;") == b"\x1b]7501;sta"
    assert line.core.deadline() == 1.02 + SEQUENCE_HELD_S


def test_what_comes_in_time_is_read() -> None:
    """A sequence in two pieces, the second of which ssh sends again for the second time, is consumed."""
    line = Line()
    line.at(1.0, WORKING[:9])
    assert line.tick(3.9) == b""

    assert words(line.at(3.9, WORKING[9:])) == ["=working"]


def test_what_comes_too_late_is_passed_on() -> None:
    """Half of a sequence is given up in the end: then all of it goes to the terminal, and none of ours into it."""
    line = Line()
    line.at(1.0, WORKING[:-9], WORKING[:9])
    line.core.tick(1.0 + SEQUENCE_HELD_S)
    line.core.resized(4.1)

    assert WORKING[:-9] in (out := line.at(4.2, WORKING[9:]))
    assert out.endswith(WORKING)
    assert line.core.reports() == []


@each(
    "data",
    [
        b"\x1b]0;a title\x07", b"\x1b]133;A\x07", b"\x1b]9;4;1;50\x07", b"\x1b]9;hello\x07", b"\x1b]99;;hello\x1b\\",
        b"\x1b]777;notify;title;body\x07", variable("state=done"), b"\x1b]1337;SetUserVar=other=YQ==\x07",
        b"\x1b]21337;web-terminal;x\x07", b"\x1b]3008;start=abcdef;type=shell;cwd=/\x1b\\", b"\x1b]52;c;?\x07",
    ],
)  # fmt: skip
def test_what_the_host_reads_itself_is_passed_on(data: bytes) -> None:
    """Titles, marks, progress, plain notifications, variables and strangers' numbers go out as they came."""
    assert Line().at(1.0, data) == data


@each(
    "data",
    [
        osc("1338;state=garbage"), osc("1338;HISTFILE=/x"), osc("26;identity=x"), osc("88;query"), QUERY,
        osc('777;notify;warp://cli-agent;{"event":"a_new_one"}'), osc("7501;??"),
        osc("3008;start=claude;event=busy"), osc("21337;status=Working…"), osc("777;notify;Terax;claude;working"),
    ],
)  # fmt: skip
def test_what_no_terminal_reads_is_consumed(data: bytes) -> None:
    """Nothing of our protocols reaches the terminal, be it broken or not; with passthrough all of it does."""
    assert data not in Line().at(1.0, b"a", data, b"b")
    assert Line(RelayCore(passthrough=True)).at(1.0, data).startswith(data)


def test_what_cuts_off_another_is_not_taken_out() -> None:
    """A sequence whose ESC ends an unfinished title is read and passed on: the title must not swallow what follows."""
    line = Line()
    out = line.at(1.0, b"\x1b]0;unfinished" + WORKING + b"text")

    assert out.startswith(b"\x1b]0;unfinished" + WORKING + b"text")
    assert words(out) == ["=working"]


# What the host is told -----------------------------------------------------------------------------------------


def test_a_turn() -> None:
    """A whole turn is told: working, a question, work again, done, and the goodbye."""
    line = Line()
    out = [line.at(float(at), data) for at, data in enumerate([WORKING, BLOCKED, WORKING, DONE, CLEAR], 1)]

    assert [words(data) for data in out] == [["=working"], ["=waiting"], ["=working"], ["=done"], ["=clear"]]
    assert told(out[1])[0].kind is Kind.PERMISSION
    assert {report.agent for data in out[:3] for report in told(data)} == {"claude"}


def test_subagents_are_records() -> None:
    """A child record is told by its id with the name it inherits, and cleared with all below it in one write."""
    line = Line()
    out = line.at(1.0, WORKING, osc("7501;state=working:id=a"), osc("7501;state=blocked:id=a/b"))
    out += line.tick(1.2)

    assert [(report.id, report.agent) for report in told(out)] == [("", "claude"), ("a", "claude"), ("a/b", "claude")]
    assert words(line.at(2.0, osc("7501;state=clear:id=a"))) == ["a=clear"]
    assert words(line.at(3.0, CLEAR)) == ["=clear"]


def test_a_name_is_inherited_later_too() -> None:
    """Once a record has a name, those below it that have none are told again with it."""
    line = Line()
    line.at(1.0, osc("7501;state=working:id=a"))
    out = line.at(2.0, WORKING)

    assert [(report.id, report.agent) for report in told(out)] == [("", "claude"), ("a", "claude")]


def test_a_new_record_below_a_cleared_one_is_told_again() -> None:
    """Cleared and reported anew between two writes, a child is told after the withdrawal that takes it away."""
    line = Line()
    out = line.at(1.0, WORKING, osc("7501;state=working:id=a"))
    out += line.tick(1.1)
    out += line.at(1.11, CLEAR, osc("7501;state=working:id=a"))
    out += line.tick(1.3)

    assert {id_: report.status for id_, report in state(told(out)).items()} == {"a": Status.WORKING}


def test_ten_a_second() -> None:
    """10 000 changes in a second are told in ten writes, and the last one is not lost."""
    line = Line()
    times = []
    now = 0.0
    for turn in range(10_000):
        now = turn / 10_000
        if data := line.at(now, osc(f"7501;state=working:progress={turn % 101}")):
            times.append(now)
            last = data
    for at, data in line.run(now + 1, now):
        times.append(at)
        last = data

    assert 10 <= len(times) <= 11
    assert all(later - earlier >= 0.0999 for earlier, later in itertools.pairwise(times))
    assert [(report.status, report.progress) for report in told(last)] == [(Status.WORKING, Progress(9999 % 101, 100))]


def test_a_flood_of_records_is_told_in_batches() -> None:
    """Many changed records go out some at a time; in the end the host knows the 256 of them that are kept."""
    line = Line()
    out = line.at(1.0, *[osc(f"7501;state=working:id=r{index}") for index in range(1000)])
    assert len(told(out)) == 1
    for _, data in line.run(60.0, 1.0):
        assert len(told(data)) <= BATCH_WRITES
        out += data

    assert set(state(told(out))) == {f"r{index}" for index in range(744, 1000)}


def test_many_withdrawals_are_told_in_batches() -> None:
    """More records than fit one batch are withdrawn one batch after the other, each once."""
    line = Line()
    out = line.at(1.0, *[osc(f"7501;state=done:id=r{index}") for index in range(50)])
    out += b"".join([data for _, data in line.run(9.0, 1.0)])
    assert len(state(told(out))) == 50
    gone = line.at(10.0, *[osc(f"7501;state=clear:id=r{index}") for index in range(50)])
    batches = [gone, *[data for _, data in line.run(20.0, 10.0)]]

    assert max(len(told(batch)) for batch in batches) == BATCH_WRITES
    assert sorted(word for batch in batches for word in words(batch)) == sorted(
        f"r{index}=clear" for index in range(50)
    )


def test_the_same_again_is_told_seldom() -> None:
    """A state that is repeated is told again after half a minute, which holds off the host's fuse, and not before."""
    line = Line()
    out = [line.at(float(second), WORKING) for second in range(1, 65)]

    assert [second for second, data in enumerate(out, 1) if data] == [1, 31, 61]


@each(
    ("begin", "end"),
    [(b"\x1b_Ga=T;AA", b"AA\x1b\\"), (b"\x1b[38;5", b";1m"), (b"\xe2\x9c", b"\x93"), (b"\x1bPq", b"\x18")]
    + [(b"\x1b]0;title", end) for end in (b"\x07", b"\x18", b"\x1a", b"\x1b\\")],
)
def test_nothing_is_written_into_a_sequence(begin: bytes, end: bytes) -> None:
    """What is to be told waits until the program has finished its picture, its colour or its character."""
    line = Line()
    line.at(1.0, WORKING)
    assert line.at(2.0, begin) == begin
    line.core.resized(3.0)
    assert line.core.to_terminal() == b""
    assert line.core.deadline() is None
    assert line.at(4.0, end).startswith(end + b"\x1b]1337;SetUserVar=tally=")


def test_a_change_in_the_middle_of_a_chunk_is_told() -> None:
    """A chunk that ends inside a picture does not hold up what stood before the picture."""
    stream = b"text" + WORKING + b"more\x1b_Ga=T;AAAA"
    for pieces in ([stream], [stream[:9], stream[9:]], [stream[:20], stream[20:]]):
        out = Line().at(1.0, *pieces)

        assert words(out) == ["=working"]
        assert out.startswith(b"text\x1b]1337;")
        assert out.endswith(b"more\x1b_Ga=T;AAAA")


def test_a_gap_of_an_earlier_chunk_is_none() -> None:
    """Where something stood in an earlier chunk nothing is written in a later one, which may be inside a picture."""
    line = Line()
    line.at(1.0, IDLE)
    assert line.at(1.05, WORKING + b"\x1b_Ga=T;") == b"\x1b_Ga=T;"
    assert line.at(1.2, b"AAAA") == b"AAAA"
    assert words(line.at(1.3, b"\x1b\\")) == ["=working"]


def test_a_resize_tells_everything_again() -> None:
    """After a resize the host is told every record, at the usual pace, however many there are."""
    line = Line()
    line.at(1.0, WORKING, osc("7501;state=done:id=a"), osc("26;CodeAgent=claude;Status=running"))
    line.tick(2.0)
    line.core.resized(3.0)
    line.core.resized(3.01)
    out = line.core.to_terminal()

    assert words(out) == ["=working", "a=done"]
    assert b"\x1b]9;4;3\x07" in out
    assert words(line.tick(3.2)) == ["=working", "a=done"]
    assert line.core.deadline() is None


def test_a_resize_of_nothing_is_silent() -> None:
    """With no record there is nothing to tell."""
    line = Line()
    line.core.resized(1.0)

    assert line.core.to_terminal() == b""
    assert line.core.deadline() is None


def test_the_variable_a_hook_writes_is_remembered() -> None:
    """A hook's own write goes through untouched, is not repeated, and is what a resize tells."""
    line = Line()
    line.at(1.0, WORKING)
    hook = variable("state=waiting;tool=claude;kind=question")
    assert line.at(2.0, hook) == hook
    assert line.tick(3.0) == b""
    line.core.resized(4.0)
    assert words(line.core.to_terminal()) == ["=waiting"]
    assert words(line.at(5.0, WORKING)) == ["=working"]


@pytest.mark.parametrize(("wrap", "screen"), [(envelope.tmux_wrap, False), (envelope.screen_wrap, True)])
def test_the_variable_a_hook_writes_through_a_multiplexer_is_remembered(wrap: Wrap, screen: bool) -> None:
    """In an envelope it goes through untouched, and is what a resize tells; nothing else in one is read."""
    line = Line(RelayCore(wrap=wrap, screen=screen))
    hook = wrap(variable("state=waiting;tool=claude;message=" + "m" * 900)) + wrap(WORKING) + wrap(QUERY)
    assert line.at(1.0, hook) == hook
    assert line.core.to_child() == b""
    assert [report.status for report in line.core.reports()] == [Status.WAITING]
    line.core.resized(2.0)
    assert line.core.to_terminal().startswith(b"\x1bP")


def test_an_envelope_without_a_multiplexer_is_not_read() -> None:
    """Where we are in no multiplexer the terminal drops an envelope, and so do we."""
    line = Line()
    line.at(1.0, envelope.tmux_wrap(variable("state=waiting")))

    assert line.core.reports() == []


@pytest.mark.parametrize("goodbye", [variable("state=clear"), b"\x1b]1337;SetUserVar=tally\x07"])
def test_a_hook_may_take_its_leave(goodbye: bytes) -> None:
    """After a hook has withdrawn the record, or deleted the variable, there is nothing left to tell."""
    line = Line()
    line.at(1.0, WORKING)
    assert line.at(2.0, goodbye) == goodbye
    line.core.resized(3.0)
    assert line.core.to_terminal() == b""
    line.core.finished(4.0)
    assert line.core.to_terminal() == b""


@each("other", [envelope.user_var("tally_x", "state=done"), variable("state=zonking"), variable("")])
def test_what_is_no_status_is_not_remembered(other: bytes) -> None:
    """Another variable whose name begins alike, or a value that is no status, goes through and changes nothing."""
    line = Line()
    line.at(1.0, WORKING)
    assert line.at(2.0, other) == other
    assert [report.status for report in line.core.reports()] == [Status.WORKING]


def test_a_hook_that_comes_between_wins() -> None:
    """A state that waits for its turn is not told after a newer one that a hook has written."""
    line = Line()
    line.at(1.0, IDLE)
    line.at(1.01, WORKING)
    line.at(1.02, variable("state=done"))

    assert line.core.deadline() is None
    assert line.tick(2.0) == b""


def test_a_reset_clears_the_records() -> None:
    """RIS withdraws everything; DECSTR, the alternate screen and a prompt mark of the program change nothing."""
    line = Line()
    line.at(1.0, WORKING)
    for harmless in (b"\x1b[!p", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b]133;A\x07"):
        assert line.at(2.0, harmless) == harmless
    out = line.at(3.0, b"\x1bc")

    assert out.startswith(b"\x1bc")
    assert words(out) == ["=clear"]
    assert line.core.reports() == []


def test_the_envelope_of_a_multiplexer_is_around_our_own_writes_alone() -> None:
    """*wrap* gets what we write, whole; what the program wrote goes by it."""
    core = RelayCore(wrap=envelope.tmux_wrap)
    core.from_child(b"text" + WORKING + b"more", 1.0)
    out = core.to_terminal()

    assert out.startswith(b"textmore\x1bPtmux;\x1b\x1b]1337;SetUserVar=tally=")
    assert out.endswith(b"\x07\x1b\\")


# Which protocol is believed ------------------------------------------------------------------------------------


def test_the_better_protocol_speaks() -> None:
    """While OSC 7501 speaks, OSC 1338 and poorer ones only fill in what it leaves out; a clear takes them along."""
    line = Line()
    line.at(1.0, WORKING)
    out = line.at(2.0, osc("1338;state=done;tool=x;session=s1"), osc("21337;status=Idle"))
    assert [(report.status, report.agent, report.session) for report in told(out)] == [(Status.WORKING, "claude", "s1")]
    assert words(line.at(3.0, CLEAR)) == ["=clear"]
    assert line.core.reports() == []


def test_a_poorer_goodbye_takes_back_its_own_words() -> None:
    """A withdrawal by a protocol that is not the best one leaves the record."""
    line = Line()
    line.at(1.0, WORKING, osc("3008;start=claude;event=busy"))

    assert line.at(2.0, osc("3008;end=claude;event=session_end")) == b""
    assert [report.status for report in line.core.reports()] == [Status.WORKING]


def test_a_protocol_that_falls_silent_loses_its_say() -> None:
    """Five minutes after the last word of the better protocol, another one is believed."""
    line = Line()
    line.at(1.0, WORKING)
    assert line.at(300.0, osc("1338;state=done")) == b""
    assert words(line.at(301.1, osc("1338;state=done"))) == ["=done"]


def test_warp_asks_for_the_present_status() -> None:
    """A finished tool means work only for an agent that was waiting."""

    def event(name: str) -> bytes:
        return osc('777;notify;warp://cli-agent;{"agent":"claude","event":"' + name + '"}')

    line = Line()
    said = [words(line.at(float(at), event(name))) for at, name in enumerate(
        ["tool_complete", "prompt_submit", "permission_request", "permission_replied", "stop", "tool_complete"], 1
    )]  # fmt: skip

    assert said == [[], ["=working"], ["=waiting"], ["=working"], ["=done"], []]


def test_the_agent_that_was_started_is_named() -> None:
    """A report without a name is the started agent's."""
    line = Line(RelayCore(agent="aider"))

    assert told(line.at(1.0, osc("1338;state=working")))[0].agent == "aider"


# Answers -------------------------------------------------------------------------------------------------------


@each("end", [b"\x07", b"\x1b\\"])
@each(("query", "answer"), [(b"7501;?", b"7501;?"), (b"88;query", b"88;supported;v=1")])
@each("core", [RelayCore(), RelayCore(passthrough=True), RelayCore(wrap=envelope.tmux_wrap)])
def test_a_query_is_answered_before_the_terminal_can(core: RelayCore, query: bytes, answer: bytes, end: bytes) -> None:
    """The answer has the query's terminator and comes before the terminal's to the question asked next."""
    core.from_child(b"\x1b]" + query + end + b"\x1b[c", 1.0)
    core.from_user(b"\x1b[?62;c", 1.0)

    assert core.to_child() == b"\x1b]" + answer + end + b"\x1b[?62;c"
    assert core.to_terminal().endswith(b"\x1b[c")


@each(("agent", "is_passed"), [("opencode", True), ("", False)])
def test_an_agent_that_only_named_itself_can_still_notify(agent: str, is_passed: bool) -> None:
    """Its notification is the only hint that it wants a person."""
    line = Line(RelayCore(agent=agent))
    line.at(1.0, osc("26;CodeAgent=opencode"))
    found = told(line.at(2.0, b"\x1b]9;Approve?\x07"))

    assert [report.message for report in found] == (["Approve?"] if is_passed else [])


@pytest.mark.slow
@each(
    ("command", "answer"),
    [
        (["claude"], True), (["qed", "--fast"], True), (["bash"], True), (["node", "/x/qed.js"], True),
        (["nvim", "a.txt"], False), (["ssh", "box"], False), (["less"], False),
    ],
)  # fmt: skip
def test_the_query_of_what_cannot_be_resumed_stays_unanswered(command: list[str], answer: bool) -> None:
    """OSC 88 is answered where an arm could count: not in an editor or on another machine. OSC 7501 is everywhere."""
    core = make_core(command)
    core.from_child(b"\x1b]88;query\x07" * 2, 1.0)
    assert core.to_child() == b"\x1b]88;supported;v=1\x07" * 2 * answer
    core.from_child(QUERY, 1.0)
    assert core.to_child() == QUERY
    assert core.to_terminal() == b""


@each(
    "data",
    [
        b"\x1b]7501;??\x07", b"\x1b]7501;?:state=idle\x07", b"\x1b]7501\x07", b"\x1b]7501; ?\x07",
        b"\x1b]88;query;\x07",
        b"\x1b]7501;?:future=1\x07", b"\x1b]7501;\x07", b"\x1b]7501;? \x07", b"\x1b]07501;?\x07", b"\x1b]7501?\x07",
        b"\x1bP7501;?\x1b\\", b"\x1b_7501;?\x1b\\",
        b"\x1bPq\x1b\\]7501;?\x07", b"\x1bPtmux;\x1b\x1b]7501;?\x07\x1b\\", b"\x1b]0;7501;?\x07",
    ],
)  # fmt: skip
def test_nothing_else_is_answered(data: bytes) -> None:
    """Only an exact query is answered; not one in another string, nor any other question."""
    core = RelayCore()
    core.from_child(data, 1.0)
    core.tick(2.0)

    assert core.to_child() == b""


def test_a_query_that_is_typed_or_pasted_is_no_query() -> None:
    """What the terminal sends is never read."""
    core = RelayCore()
    core.from_user(QUERY, 1.0)

    assert core.to_child() == QUERY
    assert core.to_terminal() == b""


def test_a_flood_of_queries_is_bounded() -> None:
    """Of a thousand queries in an instant 64 are answered, and 64 more a second later."""
    core = RelayCore()
    for now in (10.0, 10.5, 20.0):
        core.from_child(QUERY * 1000, now)
        expected = {10.0: ANSWERS_A_SECOND, 10.5: ANSWERS_A_SECOND // 2, 20.0: ANSWERS_A_SECOND}[now]
        assert core.to_child() == QUERY * expected


def test_an_answer_does_not_cut_a_key_in_two() -> None:
    """An answer waits for the end of a key's sequence, for the next one after a lone Escape, or 30 ms."""
    core = RelayCore()
    core.from_user(b"\x1b[1;", 1.0)
    core.from_child(QUERY, 1.0)
    assert core.to_child() == b"\x1b[1;"
    core.from_user(b"5A", 1.01)
    assert core.to_child() == b"5A" + QUERY

    core.from_user(b"\x1b", 2.0)
    core.from_child(QUERY, 2.0)
    core.from_user(b"\x1b[?62;c", 2.01)
    assert core.to_child() == b"\x1b" + QUERY + b"\x1b[?62;c"

    core.from_user(b"\x1b", 3.0)
    core.from_child(QUERY, 3.0)
    assert core.deadline() == 3.0 + KEY_S
    core.tick(3.0 + KEY_S)
    assert core.to_child() == b"\x1b" + QUERY
    assert core.deadline() is None


# Mirrors and arms ----------------------------------------------------------------------------------------------


def otty(**pairs: str) -> bytes:
    return osc("26;" + ";".join(f"{key}={value}" for key, value in pairs.items()))


def test_otty_is_mirrored() -> None:
    """Status and TaskProgress of OSC 26 drive the native progress bar; a wait leaves it as it is."""
    line = Line()
    steps = [
        (otty(CodeAgent="x", Status="running"), b"\x1b]9;4;3\x07"),
        (otty(TaskProgress="1/3"), b"\x1b]9;4;1;33\x07"),
        (otty(Status="awaiting-approval"), b""),
        (otty(Status="running", TaskProgress="3/3"), b"\x1b]9;4;1;100\x07"),
        (otty(Status="error"), b"\x1b]9;4;2\x07"),
        (otty(Status="running", TaskProgress=""), b"\x1b]9;4;3\x07"),
        (otty(Status="finished"), b"\x1b]9;4;0\x07"),
    ]
    for at, (data, bar) in enumerate(steps, 1):
        assert line.at(float(at), data).partition(b"\x1b]9;")[1:] == bar.partition(b"\x1b]9;")[1:]


def test_a_bar_is_kept_alive() -> None:
    """A status that is repeated draws its bar anew twice a minute: kitty takes one away after a minute of silence."""
    line = Line()
    bars = [line.at(float(at), otty(CodeAgent="x", Status="running")).count(b"]9;4;3") for at in range(1, 65)]

    assert [at for at, bar in enumerate(bars, 1) if bar] == [1, 31, 61]


def test_no_mirror_of_other_protocols() -> None:
    """The bar is not touched for any of them."""
    assert b"]9;4" not in Line().at(1.0, osc("7501;state=working:progress=50"))


def test_the_bar_goes_with_the_program() -> None:
    """A program that ends leaves no bar behind, however it ends."""
    line = Line(RelayCore(agent="x"))
    line.at(1.0, otty(CodeAgent="x", Status="error"))
    line.core.finished(2.0, None, 9)

    assert line.core.to_terminal() == b"\x1b]9;4;0\x07"


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def test_an_arm_never_becomes_output() -> None:
    """Whatever is armed, the terminal gets it as our variable alone, and the program not a byte."""
    line = Line()
    shown = line.at(1.0, osc(f"88;arm;cmd={encoded('rm')};args={encoded('-rf /')}"))
    assert shown == variable("resume=rm%0A-rf%0A/")
    assert line.core.to_child() == b""


# The end -------------------------------------------------------------------------------------------------------


@each(
    ("data", "agent", "end", "left"),
    [
        (WORKING, "claude", (0, None), ["=done"]),
        (WORKING, "claude", (1, None), []),
        (WORKING, "claude", (None, 9), []),
        (WORKING, "", (0, None), ["=done"]),
        (WORKING, "", (None, 9), ["=clear"]),
        (BLOCKED, "claude", (0, None), ["=clear"]),
        (BLOCKED, "claude", (None, 15), []),
        (BLOCKED, "", (1, None), ["=clear"]),
        (DONE, "claude", (0, None), []),
        (DONE, "", (None, 9), []),
        (osc("7501;state=error"), "", (0, None), []),
        (IDLE, "claude", (0, None), ["=clear"]),
        (CLEAR, "claude", (0, None), []),
        (b"", "claude", (1, None), []),
    ],
)
def test_what_is_said_at_the_end(data: bytes, agent: str, end: tuple[int | None, int | None], left: list[str]) -> None:
    """What is withdrawn, what stays, and what is left to the host, by the last state and how the program ended."""
    line = Line(RelayCore(agent=agent))
    line.at(1.0, data)
    line.core.finished(2.0, *end)

    assert words(line.core.to_terminal()) == left
    assert line.core.deadline() is None


def test_children_end_with_their_parent() -> None:
    """At a good end child records that work or wait are withdrawn; those that are done or failed stay."""
    line = Line()
    for id_, word in [("a", "working"), ("b", "blocked"), ("c", "done"), ("d", "error")]:
        line.at(1.0, osc(f"7501;state={word}:id={id_}"))
    out = line.at(1.0, WORKING) + line.tick(2.0)
    line.core.finished(3.0)
    known = state(told(out + line.core.to_terminal()))

    assert {id_: str(report.status) for id_, report in known.items()} == {"": "done", "c": "done", "d": "error"}


def test_a_withdrawn_parent_does_not_take_along_what_stays() -> None:
    """The host drops what is below a withdrawn record, so that what stays is told once more after it."""
    line = Line()
    out = line.at(1.0, IDLE, osc("7501;state=done:id=a")) + line.tick(2.0)
    line.core.finished(3.0)

    assert words(last := line.core.to_terminal()) == ["=clear", "a=done"]
    assert list(state(told(out + last))) == ["a"]


def test_the_last_state_is_told_even_at_once() -> None:
    """A state that waited for its turn is told when the program ends, whatever the pace, and held bytes go out."""
    line = Line(RelayCore(agent="claude"))
    line.at(1.0, WORKING)
    assert line.at(1.01, DONE, b"\x1b]75") == b""
    line.core.finished(1.02, None, 9)
    out = line.core.to_terminal()

    assert out.startswith(b"\x1b]75\x1b\\\x1b]1337;")
    assert words(out) == ["=done"]


def test_the_last_words_are_heard() -> None:
    """A picture or a title that the program left unfinished does not swallow what we say after it."""
    line = Line()
    line.at(1.0, WORKING)
    line.at(2.0, b"\x1bPq#0~~~")
    line.core.finished(3.0)

    assert line.core.to_terminal().startswith(b"\x1b\\\x1b]1337;SetUserVar=tally=")


@each(
    ("last", "end", "status"),
    [
        (WORKING, (None, 9), Status.DOWN),
        (WORKING, (1, None), Status.DOWN),
        (WORKING, (0, None), Status.DONE),
        (BLOCKED, (None, 9), Status.WAITING),
        (BLOCKED, (0, None), Status.WAITING),
        (DONE, (0, None), Status.DONE),
        (CLEAR, (0, None), Status.ACTIVE),
    ],
)
def test_the_host_concludes(last: bytes, end: tuple[int | None, int | None], status: Status) -> None:
    """With the host's tracker at the other end, the light after the program's end is the right one."""
    tracker, core = Tracker(Timing()), RelayCore(agent="claude")
    tracker.foreground(Foreground("claude", 1), 0.0)

    def hear(now: float) -> None:
        for report in told(core.to_terminal()):
            tracker.report(report, now)

    core.from_child(WORKING, 1.0)
    hear(1.0)
    core.from_child(last, 2.0)
    hear(2.0)
    core.finished(3.0, *end)
    hear(3.0)
    tracker.foreground(None, 3.0)
    tracker.tick(4.0)

    assert tracker.decision.status is status


CHILD_BLOCKED = b"\x1b]7501;state=blocked:kind=permission:id=a\x07"


@each("agent", ["claude", ""])
@each("is_watched", [True, False])
@each(
    ("said", "stays"),
    [
        (BLOCKED, True), (IDLE + CHILD_BLOCKED, True), (otty(CodeAgent="claude", Status="awaiting-input"), True),
        (BLOCKED + CLEAR, False), (variable("state=waiting;tool=claude"), True),
        (variable("state=waiting;tool=claude") + variable("state=clear"), False),
        (otty(CodeAgent="claude", Status="awaiting-input") + otty(Status=""), False), (BLOCKED + IDLE, False),
    ],
)  # fmt: skip
def test_a_program_that_ends_while_it_waits_keeps_its_light_until_seen(
    said: bytes, stays: bool, agent: str, is_watched: bool
) -> None:
    """A good end in a shell without marks is no answer; the program's own goodbye is one. So it is without a relay."""
    relayed, direct = Tracker(Timing()), Tracker(Timing())
    core = RelayCore(agent=agent)
    for tracker in (relayed, direct):
        tracker.foreground(Foreground("claude", 1) if is_watched else None, 0.0)
    for at, item in enumerate(Scanner().feed(said), 1):
        core.from_child(item.raw, float(at))
        for report in told(core.to_terminal()):
            relayed.report(report, float(at))
            direct.report(report, float(at))
    core.finished(5.0)
    for report in told(core.to_terminal()):
        relayed.report(report, 5.0)
    for tracker in (relayed, direct):
        tracker.foreground(None, 5.1)
        tracker.tick(6.0)

    assert (relayed.decision.status is Status.WAITING) is stays
    if is_watched:
        assert relayed.decision.status is direct.decision.status
    relayed.seen(7.0)
    assert relayed.decision.status is Status.ACTIVE


def test_a_goodbye_that_was_not_told_yet_is_the_programs_own() -> None:
    """A program that takes its question back and ends at once has said goodbye, whatever the pace of our writes."""
    line = Line(RelayCore(agent="claude"))
    line.at(1.0, BLOCKED)
    assert line.at(1.01, CLEAR) == b""
    line.core.finished(1.02)

    assert line.core.to_terminal() == variable("state=clear")


def test_a_record_survives_the_way() -> None:
    """What a program says of itself arrives in the host with all its fields."""
    report = Report(
        source=Source.PROTOCOL, status=Status.WAITING, kind=Kind.AUTH, id="a/b", rule="osc-1338", agent="x",
        session="s", title="t", project="p", cwd="/c", worktree="w", mode="m", message="a message", detail="d",
        progress=Progress(1, 4), background=2,
    )  # fmt: skip

    assert told(Line().at(1.0, envelope.osc(1338, osc1338.encode_payload(report)))) == [report]


def test_a_clock_that_goes_back_silences_nobody() -> None:
    """After a step back of the clock changes are told again within a tenth of a second."""
    line = Line()
    line.at(1000.0, WORKING)
    line.at(1.0, DONE)

    assert words(line.tick(1.1)) == ["=done"]


# Notifications -------------------------------------------------------------------------------------------------


@each(
    "sequence",
    [b"\x1b]9;Approve?\x07", b"\x1b]777;notify;Approve?;\x1b\\", b"\x1b]99;i=1:d=0;Appr\x1b\\\x1b]99;i=1;ove?\x1b\\"],
    ids=["osc-9", "osc-777", "osc-99-in-chunks"],
)
def test_a_notification_raises_attention_and_is_passed_on(sequence: bytes) -> None:
    """The terminal shows it as ever; of an agent that says nothing else the host hears that it wants a person."""
    out = Line(RelayCore(agent="opencode")).at(1.0, sequence)
    (report,) = told(out)

    assert out.startswith(sequence)
    assert (report.source, report.status) == (Source.NOTIFICATION, Status.WAITING)
    assert (report.agent, report.message) == ("opencode", "Approve?")


def test_a_notification_of_an_agent_that_speaks_is_only_shown() -> None:
    """Its own words are better than a hint, whatever the hint says."""
    line = Line(RelayCore(agent="codex"))
    line.at(1.0, WORKING)

    assert line.at(2.0, b"\x1b]9;turn complete\x07") == b"\x1b]9;turn complete\x07"


@each("sequence", [b"\x1b]9;4;1;50\x07", b"\x1b]9;1;500\x07", b"\x1b]99;p=?;\x1b\\", b"\x1b]777;x;y\x07"])
def test_what_notifies_nobody_raises_nothing(sequence: bytes) -> None:
    """Progress, a query and other commands under the same numbers are passed on and no more."""
    assert Line(RelayCore(agent="opencode")).at(1.0, sequence) == sequence


def test_a_notification_of_no_agent_is_only_shown() -> None:
    """A build that has ended notifies as it likes, and lights nothing."""
    assert Line(RelayCore()).at(1.0, b"\x1b]9;built\x07") == b"\x1b]9;built\x07"


def test_tasks_and_the_protocol_that_was_spoken_are_told() -> None:
    """What OSC 26 says of tasks reaches the host, and so does that it was OSC 26 that said it."""
    line = Line()
    tasks = encoded("Add auth\nFix login bug\nWrite tests\nShip")
    said = otty(CodeAgent="claude", Status="running", TaskProgress="1/4", TaskList=tasks, SessionTitle=encoded("Login"))
    items = Scanner().feed(line.at(1.0, said))
    (event,) = (
        found for item in items if isinstance(item, Sequence) and isinstance(found := wire.decode(item), UserVar)
    )
    report = osc1338.decode_variable(event.value)

    assert report is not None
    assert report.tasks == ("Add auth", "Fix login bug", "Write tests", "Ship")
    assert (report.progress, report.title, report.rule) == (Progress(1, 4), "Login", "osc-26")


def test_the_last_reports_are_handed_over_as_such() -> None:
    """A host asks the kernel who sent them, so somebody must stay for it to find; an empty hand is not held out."""
    handed: list[tuple[int, bool]] = []
    core = RelayCore(hand=lambda payloads, has_ended: handed.append((len(payloads), has_ended)))
    core.from_child(b"\x1b]9;4;1;50\x07" + BLOCKED, 1.0)
    core.finished(3.0)
    core.finished(4.0)

    assert handed == [(1, False), (1, True)]
