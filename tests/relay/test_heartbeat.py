"""The heartbeat: inside WezTerm a relay tells again what it knows; elsewhere, or with nothing to tell, it sleeps."""

from __future__ import annotations

import base64
import re

import pytest

from tallylight.cli.run import HEARTBEAT_S, make_core
from tallylight.relay.core import BATCH_WRITES, RelayCore
from tallylight.wire import osc1338
from tests.relay.test_core import CLEAR, DONE, WORKING, Line, osc, variable

BEAT = 8.0


def line() -> Line:
    return Line(RelayCore(heartbeat=BEAT))


def beats(out: bytes) -> list[str]:
    """The payloads in *out*, each of which must be marked as a repetition."""
    found = [base64.b64decode(m).decode() for m in re.findall(rb"SetUserVar=tally=([A-Za-z0-9+/=]*)\x07", out)]
    assert all(payload.endswith(";beat=1") for payload in found)
    return found


def test_nothing_to_tell_is_no_wake_up() -> None:
    """Before the first word, and after the last was withdrawn, there is no deadline."""
    idle = line()
    assert idle.core.deadline() is None
    idle.at(1.0, WORKING)
    assert idle.core.deadline() == 1.0 + BEAT
    idle.at(2.0, CLEAR)
    idle.tick(3.0)
    idle.tick(1.0 + BEAT)
    assert idle.core.deadline() is None


def test_without_it_nothing_wakes_up() -> None:
    """Outside WezTerm a relay that has told everything sleeps for good."""
    plain = Line(RelayCore())
    plain.at(1.0, WORKING)
    assert plain.core.deadline() is None


def test_it_is_told_again() -> None:
    """Each record is told again every eight seconds, as it is then."""
    told = line()
    told.at(1.0, WORKING)
    assert told.tick(1.0 + BEAT - 0.1) == b""
    (first,) = beats(told.tick(1.0 + BEAT))
    assert first.startswith("state=working")
    assert told.core.deadline() == 1.0 + 2 * BEAT
    told.at(12.0, DONE)
    (second,) = beats(told.tick(1.0 + 2 * BEAT))
    assert second.startswith("state=done")


def test_what_a_hook_said_is_told_again() -> None:
    """A variable that the program set itself is repeated, too."""
    hooked = line()
    hooked.at(1.0, variable("state=waiting;tool=claude"))
    assert beats(hooked.tick(1.0 + BEAT)) == ["state=waiting;tool=claude;beat=1"]


def test_never_inside_a_sequence() -> None:
    """A beat waits for the end of what the program has begun."""
    held = line()
    held.at(1.0, WORKING)
    held.at(1.0 + BEAT - 0.01, b"\x1b]0;a ti")
    held.tick(1.0 + BEAT + 0.1)
    assert beats(held.tick(1.0 + BEAT + 0.2)) == []
    assert held.core.deadline() is None
    held.at(1.0 + BEAT + 1, b"tle\x07")
    assert len(beats(held.tick(1.0 + BEAT + 1.1))) == 1


def test_a_repetition_is_a_report_like_any_other() -> None:
    """A reader that does not know the mark reads the state."""
    assert osc1338.decode_payload("state=done;tool=x;beat=1") == osc1338.decode_payload("state=done;tool=x")


def test_many_records_are_bounded() -> None:
    """One beat repeats a bounded number of records, the newest."""
    many = line()
    for number in range(BATCH_WRITES * 3):
        many.at(1.0 + number / 100, osc(f"7501;state=working:id=r{number}"))
    for step in range(20):
        many.tick(3.0 + step / 5)
    assert 0 < len(beats(many.tick(60.0))) <= BATCH_WRITES


@pytest.mark.parametrize(("env", "wakes"), [({}, False), ({"WEZTERM_PANE": "3"}, True)])
def test_only_inside_wezterm(monkeypatch: pytest.MonkeyPatch, env: dict[str, str], wakes: bool) -> None:
    """`tally run` has a heartbeat inside WezTerm, over ssh to a mux of its own too, and nowhere else."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    core = make_core(["claude"])
    core.from_child(WORKING, 1.0)
    core.tick(2.0)
    core.to_terminal()
    assert core.deadline() == (1.0 + HEARTBEAT_S if wakes else None)
    assert HEARTBEAT_S < 10
