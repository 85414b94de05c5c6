"""`python -m tests.fuzz [--minutes N] [--seed N]`: the mutation fuzzer and hypothesis, half the time each."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "shared"))

from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.fuzzer import Fuzzer
from tests.strategies import streams


def main() -> int:
    """Fuzz for so long; exit 1 with the input that broke an invariant."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None, help="repeat the run that printed this seed")
    arguments = parser.parse_args()
    first = arguments.seed if arguments.seed is not None else time.time_ns() % 1_000_000
    sys.stdout.write(f"seed {first}, {arguments.minutes:g} minutes\n")
    fuzzer = Fuzzer(first)
    ends = time.monotonic() + arguments.minutes * 60
    rounds = 0
    while time.monotonic() < ends:
        left = ends - time.monotonic()
        fuzzer.run(min(10.0, left / 2))
        until = time.monotonic() + min(10.0, left / 2)
        while time.monotonic() < until:
            rounds += 1
            _hypothesis(fuzzer, first + rounds)
    sys.stdout.write(
        f"{fuzzer.inputs} inputs, {fuzzer.bytes / 1e6:.1f} MB, {fuzzer.sequences} sequences, {fuzzer.events} events, "
        f"{rounds} rounds of hypothesis: every invariant held\n"
    )
    return 0


def _hypothesis(fuzzer: Fuzzer, number: int) -> None:
    @seed(number)
    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(streams())
    def check(data: bytes) -> None:
        fuzzer.check(data)

    check()


if __name__ == "__main__":
    sys.exit(main())
