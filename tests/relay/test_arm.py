"""OSC 88 through the relay: what a program asks for reaches the host with its root record, and goes with it."""

from __future__ import annotations

from base64 import b64encode

from tallylight.wire import envelope
from tests.relay.told import Line, told


def arm(command: str, arguments: str = "", cwd: str = "") -> bytes:
    """OSC 88 arm."""
    fields = {"cmd": command, "args": arguments, "cwd": cwd}
    words = [f"{key}={b64encode(value.encode()).decode()}" for key, value in fields.items() if value]
    return envelope.osc(88, ";".join(["arm", *words]))


CLEAR = envelope.osc(88, "clear")
WORKING = envelope.osc(1338, "state=working;tool=claude")


def test_an_arm_goes_out_with_the_record() -> None:
    """It is told with the next word about the program, wins over what a report said, and is taken back by a clear."""
    line = Line()
    first = told(line.at(1.0, arm("claude", "--resume '4f 2e'", "/p"), WORKING))
    cleared = told(line.at(2.0, CLEAR))

    assert [(r.resume, r.cwd) for r in first] == [(("claude", "--resume", "4f 2e"), "/p")]
    assert [(r.resume, r.cwd) for r in cleared] == [((), "")]


def test_an_arm_alone_says_nothing_of_the_status() -> None:
    """A program that only arms gets no light for it: nothing is told."""
    assert Line().at(1.0, arm("claude", "--resume 4f2e")) == b""


def test_the_explicit_arm_wins_over_the_derived_one() -> None:
    """OSC 88 replaces MethodResume; when it is cleared MethodResume is told again. MethodFork stays as it is."""
    line = Line()
    method = b64encode(b"--resume {SessionId}").decode()
    fork = b64encode(b"--resume {SessionId} --fork-session").decode()
    otty = envelope.osc(26, f"CodeAgent=claude;Status=idle;MethodResume={method};MethodFork={fork}")
    derived = told(line.at(1.0, otty))
    explicit = told(line.at(2.0, arm("claude", "--resume mine")))
    again = told(line.at(3.0, CLEAR))

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
