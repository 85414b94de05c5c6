"""
How fast the relay's core is: MB/s from `from_child` to `to_terminal`, beside copying the bytes and the full scanner.

    python -m benchmarks.relay_core [--seconds 0.4] [--recording FILE] [--json]

The inputs come in chunks of 64 KiB, as the shell of the relay reads them: plain text, an agent's output, colours,
pictures, and floods. Each figure is the best of several, in processor time; the ratios compare across machines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.aims import Aim
from benchmarks.timing import CHUNK, RECORDING, best, repeat

from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore

SIZE = 4_000_000
PLAIN = Aim("relay's core: plain text", "copying it", least=0.5)
AIMS = (PLAIN,)
QUICK = ("--seconds", "0.2")


def inputs(recording: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each input."""
    picture = b"A" * 4096
    yield "plain text", repeat("The quick brown fox jumps over the lazy dog. ✓ “quoted”\r\n".encode(), SIZE)
    yield "agent (recorded)", repeat(recording.read_bytes(), SIZE)
    yield "colours", repeat(b"\x1b[1;32mok\x1b[0m \x1b[38;5;9mfail\x1b[m some text\r\n", SIZE)
    yield "pictures", repeat(b"\x1b_Ga=T,f=100,m=1;" + picture + b"\x1b\\", SIZE)
    yield "one endless picture", b"\x1b_Ga=T,f=100;" + b"A" * SIZE
    yield (
        "titles and links",
        repeat(b"\x1b]0;a title\x07\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\ text\r\n", SIZE),
    )
    yield "flood of ESC", repeat(b"\x1b", SIZE // 4)
    yield "flood of CSI", repeat(b"\x1b[31m", SIZE // 4)
    yield "flood of one status", repeat(b"\x1b]1338;state=waiting\x07", SIZE // 16)
    yield "flood of statuses", b"".join(b"\x1b]7501;state=working:id=r%d\x07" % index for index in range(10_000))
    yield "flood of queries", repeat(b"\x1b]7501;?\x07", SIZE // 16)
    yield "flood of broken OSC", repeat(b"\x1b]7501;state=", SIZE // 16)


def chunks(data: bytes) -> list[bytes]:
    """Cut *data* as a relay reads it."""
    return [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]


def copy(pieces: list[bytes]) -> None:
    """The least a relay could do."""
    for piece in pieces:
        bytes(bytearray(piece))


def scan(pieces: list[bytes]) -> None:
    """The core as it would be if it were built on the scanner."""
    scanner = Scanner()
    for piece in pieces:
        scanner.feed(piece)


def relay(pieces: list[bytes]) -> None:
    """Through the core, a chunk a millisecond."""
    core = RelayCore()
    for turn, piece in enumerate(pieces):
        core.from_child(piece, turn / 1000)
        core.to_terminal()
        core.to_child()


def measure(name: str, data: bytes, seconds: float) -> dict[str, float | str]:
    """One row."""
    pieces = chunks(data)
    speeds = {
        label: len(data) / best(lambda work=work: work(pieces), seconds) / 1e6  # type: ignore[misc]
        for label, work in (("core", relay), ("copy", copy), ("scanner", scan))
    }
    row: dict[str, float | str] = {"input": name}
    row |= {f"{label}_mb_s": round(speed, 1) for label, speed in speeds.items()}
    return row | {"part_of_copy": round(speeds["core"] / speeds["copy"], 3)}


def main() -> int:
    """Run the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.4, help="for each measurement")
    parser.add_argument("--recording", type=Path, default=RECORDING, help="an agent's output, raw")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [measure(name, data, arguments.seconds) for name, data in inputs(arguments.recording)]
    if arguments.json:
        print(json.dumps({"version": 1, "rows": rows}, indent=2))
        return 0
    heads = ("core MB/s", "copy MB/s", "scanner MB/s", "core/copy")
    print(f"{'input':<22}" + "".join([f"{head:>14}" for head in heads]))
    for row in rows:
        name, *figures = row.values()
        print(f"{name:<22}" + "".join([f"{figure:>14}" for figure in figures]))
    PLAIN.say(float(rows[0]["part_of_copy"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
