"""
How often an answer is typed into another dialog than the one that was compared, and what a person waits for that.

    python -m benchmarks.races [--rounds N] [--load N] [HOST …]

HOST is `0.41`, `0.48` (real kittys), `tmux` or `screen`. An agent puts another dialog in the place of the first, from
half a second before the answer to 50 ms after it, most often within 3 ms. With `--load`, so many programs that never
rest run beside it. A row for each surface says, of the answers that came after the other dialog was drawn:

* *typed into it*, which is the fault;
* *refused*, with the rules;

and of those that came before it: typed into the first, refused, and typed into the other all the same, because it was
drawn between the answer and the keys; with how long before the keys, at most. Then what a person waited, from the
answer to the keys: the median and the longest.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tests.real_kitty.race import SURFACES, Outcome, Race
from tests.real_kitty.test_agents_list import Board

#: In seconds before the answer; and, for a fifth of all, after it.
SPANS = (0.003, 0.02, 0.1, 0.5)
AFTER_S = 0.05
#: Runs for so many seconds, whatever becomes of us.
_SPIN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


def after(number: int, dice: random.Random) -> float:
    """Return how many seconds after the other dialog the answer of round *number* comes."""
    span = number % (len(SPANS) + 1)
    return dice.uniform(0, SPANS[span]) if span < len(SPANS) else -dice.uniform(0, AFTER_S)


@contextlib.contextmanager
def load(number: int) -> Iterator[None]:
    """Have *number* programs run that never rest."""
    spinning = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(number)]
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def row(name: str, found: Sequence[Outcome]) -> str:
    """Return a line of the table."""
    late, early = [one for one in found if (one.after or 0) >= 0], [one for one in found if (one.after or 0) < 0]
    other, slipped = (sum(one.what == "other" for one in some) for some in (late, early))
    rules = Counter(one.rule for one in late if one.what == "refused")
    waited = sorted(one.delay for one in found if one.what == "typed" and one.delay is not None)
    times = f"{statistics.median(waited) * 1000:.0f} ms, {waited[-1] * 1000:.0f} ms" if waited else ""
    least = max((one.late for one in early if one.what == "other" and one.late is not None), default=0.0)
    kept = Counter(one.what for one in early)
    return (
        f"{name}: {other} of {len(late)} typed into another dialog, {dict(rules)}; before it came: {dict(kept)}, "
        f"{slipped} between the answer and the keys, {least * 1000:.2f} ms before them at most; waited {times}"
    )


def rounds(count: int, run: Callable[[float], Outcome]) -> list[Outcome]:
    """Return what came of *count* rounds."""
    dice = random.Random(count)
    return [run(after(number, dice)) for number in range(count)]


def main() -> None:
    """Measure, and print a line for each surface of each host."""
    parser = argparse.ArgumentParser(prog="benchmarks.races")
    parser.add_argument("--rounds", type=int, default=85)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--surfaces", nargs="+", default=SURFACES)
    parser.add_argument("hosts", nargs="*", default=["0.41", "0.48"])
    given = parser.parse_args()
    for host in given.hosts:
        board = Board(host)
        try:
            race = Race.start(board)
            with load(given.load):
                for surface in given.surfaces:
                    found = rounds(given.rounds, lambda after, race=race, surface=surface: race.run(surface, after))
                    print(row(f"{host}, load {given.load}, {surface}", found), flush=True)
        finally:
            board.close()


if __name__ == "__main__":
    main()
