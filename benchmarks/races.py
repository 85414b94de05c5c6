"""
How often an answer is typed into another dialog than the one that was compared, and what a person waits for that.

    python -m benchmarks.races [--rounds N] [--load N] [--early SECONDS] [HOST …]

HOST is `0.41`, `0.48` (real kittys), `tmux` or `screen`. An agent puts another dialog in the place of the first, from
half a second before the answer to 50 ms, or `--early`, after it. With `--load`, so many programs that never
rest run beside it. A row for each surface says, of the answers that came after the other dialog was drawn:

* *typed into it*, which is the fault;
* *refused*, with the rules;

and of those that came before it: typed into the first, refused, or typed into the other one, because it was drawn
between the answer and the keys. Beside these is the longest time from that drawing to the keys. Then the time that a
person waited, from the answer to the keys: the median and the longest.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.hosts.test_detached import session
from tests.patience import until
from tests.real_kitty.asking_claude import SCREEN as PERMISSION
from tests.real_kitty.race import AGENT, SURFACES, Outcome, Race
from tests.real_kitty.test_agents_list import Board

from tallylight.actions.answer import Done, Seen
from tallylight.actions.answered import OnDisk
from tallylight.actions.once import Once

#: The questions in a multiplexer: GNU Screen shows the other dialog with other signs, so that it is not known there.
FIRST, SECOND, BETWEEN = "touch made1", "rm -rf build", "make test"
MULTIPLEXERS = ("tmux", "screen")
#: In seconds before the answer.
SPANS = (0.003, 0.02, 0.1, 0.5)
#: Runs for so many seconds, whatever becomes of us.
_SPIN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


def after(number: int, early: float, dice: random.Random) -> float:
    """Return how many seconds after the other dialog the answer of round *number* comes; or before it, by *early*."""
    span = number % (len(SPANS) + 1)
    return dice.uniform(0, SPANS[span]) if span < len(SPANS) else -dice.uniform(0, early)


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


def rounds(count: int, early: float, run: Callable[[float], Outcome]) -> list[Outcome]:
    """Return what came of *count* rounds."""
    dice = random.Random(count)
    return [run(after(number, early, dice)) for number in range(count)]


@contextlib.contextmanager
def multiplexed(multiplexer: str) -> Iterator[Callable[[float], Outcome]]:
    """Return what runs one round in a real session of *multiplexer*, as a command of ours would answer there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.mkfifo(folder / "control")
        # The session makes a folder with the name of the agent's file.
        program = AGENT.replace("{home}/screen", "{home}/asked").replace("Which colour?", "touch made1")
        (folder / "asked").write_text(PERMISSION.read_text("utf-8"))
        with session(multiplexer, folder, "claude", program, folder) as room:
            once = Once(0.2, OnDisk(room.environ))
            control, log = os.open(folder / "control", os.O_RDWR), folder / "race-log"

            def show(asked: str) -> None:
                tell(asked, 0.0)
                until(lambda: asked in text(), f"{asked} is not drawn")

            def tell(asked: str, at: float) -> None:
                os.write(control, json.dumps({"asked": asked, "at": at, "below": False}).encode() + b"\n")

            def text() -> str:
                seen = once.look(room.typist())
                return "\n".join(seen.look.lines) if isinstance(seen, Seen) else ""

            until(lambda: FIRST in text(), "nothing is drawn")
            question = room.asked(FIRST)
            assert not question.missing, question

            def run(after: float) -> Outcome:
                show(BETWEEN)
                show(FIRST)
                read = len(log.read_text().splitlines())
                at = time.monotonic() + 0.1 + max(0.0, -after)
                tell(SECOND, at)
                time.sleep(max(0.0, at + after - time.monotonic()))
                fired = time.monotonic()
                told = once.answer(room.typist(), question.answer(1))

                def notes() -> list[dict[str, Any]]:
                    return [json.loads(line) for line in log.read_text().splitlines()[read:]]

                def note(what: str) -> dict[str, Any] | None:
                    return next((one for one in notes() if one["what"] == what), None)

                if not isinstance(told, Done):
                    assert note("key") is None
                    return Outcome(multiplexer, after, "refused", told.rule if told is not None else "")
                until(lambda: note("key") is not None, "the key does not come")
                key, other = note("key"), note(SECOND)
                assert key is not None
                if other is None:
                    return Outcome(multiplexer, after, "typed", "", key["at"] - fired)
                return Outcome(multiplexer, after, "other", "", key["at"] - fired, key["at"] - other["done"])

            try:
                yield run
            finally:
                os.close(control)


def main() -> None:
    """Measure, and print a line for each surface of each host."""
    parser = argparse.ArgumentParser(prog="benchmarks.races")
    parser.add_argument("--rounds", type=int, default=85)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--early", type=float, default=0.05, help="seconds that the answer is before the other dialog")
    parser.add_argument("--surfaces", nargs="+", default=SURFACES)
    parser.add_argument("hosts", nargs="*", default=["0.41", "0.48"])
    given = parser.parse_args()
    for host in given.hosts:
        if host in MULTIPLEXERS:
            with multiplexed(host) as run, load(given.load):
                print(row(f"{host}, load {given.load}", rounds(given.rounds, given.early, run)), flush=True)
            continue
        board = Board(host)
        try:
            race = Race.start(board)
            with load(given.load):
                for surface in given.surfaces:
                    found = rounds(given.rounds, given.early, functools.partial(race.run, surface))
                    print(row(f"{host}, load {given.load}, {surface}", found), flush=True)
        finally:
            board.close()


if __name__ == "__main__":
    main()
