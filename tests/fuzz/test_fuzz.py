"""A few seconds of the fuzzer, and that it can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.parts.lab import scanner
from tallylight.wire import text
from tests.fuzz.fuzzer import Fuzzer, seeds

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_fuzz_for_a_moment(capsys: pytest.CaptureFixture[str]) -> None:
    """A second of mutated sessions breaks no invariant, and does reach sequences and events."""
    fuzzer = Fuzzer(seed=1)
    fuzzer.run(1.0)

    assert fuzzer.inputs > 5
    assert fuzzer.sequences > 5
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_every_seed_holds() -> None:
    """The unmutated sessions and vectors break no invariant, and some of them mean something to us."""
    fuzzer = Fuzzer(seed=2)
    for data in seeds():
        fuzzer.check(data)

    assert fuzzer.events > 50


def test_a_lost_byte_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A scanner that drops what it aborts is caught, and the input that shows it is printed."""
    monkeypatch.setattr(scanner.Scanner, "_broken", staticmethod(lambda items, raw: None))

    with pytest.raises(AssertionError):
        Fuzzer(seed=3).run(20)
    assert "seed 3, input" in capsys.readouterr().out


def test_a_hoarding_scanner_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scanner that holds more than it was told to is caught."""
    start = scanner.Scanner.__init__
    monkeypatch.setattr(scanner.Scanner, "__init__", lambda self, _=0, *, screen=False: start(self, screen=screen))

    with pytest.raises(AssertionError):
        Fuzzer(seed=4).run(20)


def test_unclean_text_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sanitiser that forgets to strip a second time is caught."""
    monkeypatch.setattr("tests.fuzz.fuzzer.sanitise", lambda value, **caps: text.sanitise(value) + " ")

    with pytest.raises(AssertionError):
        Fuzzer(seed=5).run(20)


@pytest.mark.slow
def test_command_line() -> None:
    """`python -m tests.fuzz` runs from a checkout and says what it did."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--minutes", "0.01", "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("seed 7, 0.01 minutes\n")
    assert result.stdout.endswith("every invariant held\n")
