"""OSC 88 through the relay: what a program asks for reaches the host, with its root record or without one."""

from __future__ import annotations

from base64 import b64encode

from tallylight import wire
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import BATCH_WRITES
from tallylight.relay.records import Records
from tallylight.wire import envelope, osc1338
from tallylight.wire.osc1338 import Recipe
from tallylight.wire.scanner import Sequence
from tallylight.wire.user_var import UserVar
from tests.relay.told import Line, told


def arm(command: str, arguments: str = "", cwd: str = "") -> bytes:
    """OSC 88 arm."""
    fields = {"cmd": command, "args": arguments, "cwd": cwd}
    words = [f"{key}={b64encode(value.encode()).decode()}" for key, value in fields.items() if value]
    return envelope.osc(88, ";".join(["arm", *words]))


def recipes(data: bytes) -> list[Recipe]:
    """What *data* tells a host of it where no status is told."""
    events = [wire.decode(item) for item in Scanner().feed(data) if isinstance(item, Sequence)]
    found = [osc1338.decode_recipe(event.value) for event in events if isinstance(event, UserVar)]
    return [recipe for recipe in found if recipe is not None]


CLEAR = envelope.osc(88, "clear")
WORKING = envelope.osc(1338, "state=working;tool=claude")


def test_an_arm_goes_out_with_the_record() -> None:
    """It is told with the next word about the program, wins over what a report said, and is taken back by a clear."""
    line = Line()
    first = told(line.at(1.0, arm("claude", "--resume '4f 2e'", "/p") + WORKING))
    cleared = told(line.at(2.0, CLEAR))

    assert [(r.resume, r.cwd) for r in first] == [(("claude", "--resume", "4f 2e"), "/p")]
    assert [(r.resume, r.cwd) for r in cleared] == [((), "")]


def test_an_arm_alone_says_nothing_of_the_status() -> None:
    """A program that only arms gets no light for it; how to start it again is told, once, and taken back by a clear."""
    line = Line()
    data = line.at(1.0, arm("claude", "--resume 4f2e", "/p"), arm("claude", "--resume 4f2e", "/p"))
    cleared = line.at(2.0, CLEAR)

    assert recipes(data) == [Recipe(("claude", "--resume", "4f2e"), "/p")]
    assert recipes(cleared) == [Recipe()]
    assert not told(data + cleared) and line.core.deadline() is None


def test_an_arm_outlives_the_status() -> None:
    """What was told with a record is not told again when that is withdrawn; a clear after it is, and a new arm."""
    line = Line()
    line.at(1.0, arm("claude", "--resume a") + WORKING)
    withdrawn = line.at(2.0, envelope.osc(1338, "state=clear"))
    later = [line.at(3.0, CLEAR), line.at(4.0, arm("claude", "--resume b")), line.at(5.0, WORKING), line.at(6.0, CLEAR)]

    assert [r.status for r in told(withdrawn)] == [None] and not recipes(withdrawn)
    assert [recipes(data) for data in later] == [[Recipe()], [Recipe(("claude", "--resume", "b"))], [], []]
    assert [r.resume for r in told(later[2] + later[3])] == [("claude", "--resume", "b"), ()]


def test_a_withdrawal_that_the_program_writes_itself_loses_no_arm() -> None:
    """A clear in the variable, just after an arm that could not go out yet, leaves it to be told."""
    records = Records()
    records.report(Report(source=Source.PROTOCOL, status=Status.WORKING), 1.0)
    records.take(BATCH_WRITES, 1.0)
    records.set_recipe(Recipe(("claude", "--continue")))
    records.note_sent(Report(source=Source.PROTOCOL, status=None, rule=osc1338.VARIABLE_RULE), 1.01)

    told_now = [osc1338.decode_recipe(payload) for payload in records.take(BATCH_WRITES, 1.1)]
    assert told_now == [Recipe(("claude", "--continue"))]
    assert not records.is_changed


def test_a_terminal_that_may_be_another_one_is_told_again() -> None:
    """After a resize."""
    line = Line()
    first = line.at(1.0, arm("claude", "--continue"))
    line.core.resized(2.0)

    assert recipes(line.core.to_terminal()) == recipes(first) == [Recipe(("claude", "--continue"))]


def test_the_explicit_arm_wins_over_the_derived_one() -> None:
    """OSC 88 replaces MethodResume; when it is cleared MethodResume is told again. MethodFork stays as it is."""
    line = Line()
    method = b64encode(b"--resume {SessionId}").decode()
    fork = b64encode(b"--resume {SessionId} --fork-session").decode()
    otty = envelope.osc(26, f"CodeAgent=claude;Status=idle;MethodResume={method};MethodFork={fork}")
    derived = told(line.at(1.0, otty))
    explicit = told(line.at(2.0, arm("claude", "--resume mine")))
    broken = told(line.at(3.0, envelope.osc(88, "arm;args=!!!!")))
    again = told(line.at(4.0, CLEAR))

    assert not broken
    resumes = [r.resume for r in (*derived, *explicit, *again)]
    assert resumes == [
        ("claude", "--resume", "{SessionId}"),
        ("claude", "--resume", "mine"),
        ("claude", "--resume", "{SessionId}"),
    ]
    assert {r.fork for r in (*derived, *explicit, *again)} == {("claude", "--resume", "{SessionId}", "--fork-session")}


def test_a_hooks_variable_does_not_lose_the_arm() -> None:
    """A program that writes the variable itself leaves its arm out: the relay tells it once more, with the arm."""
    line = Line()
    line.at(1.0, arm("claude", "--resume 4f2e"), WORKING)
    noted = line.at(2.0, envelope.user_var("tally", "state=done;tool=claude;session=4f2e"))

    assert [(str(r.status), r.resume) for r in told(noted)] == [
        ("done", ()),
        ("done", ("claude", "--resume", "4f2e")),
    ]
