"""
How fast the scanner is: MB/s, and ratios to `bytes.find` and to pyte in the same run.

    python -m benchmarks.scanner [--seconds 0.4] [--recording FILE] [--json]

The inputs come in chunks of 64 KiB, as a relay reads them: plain text; an agent's output; text with many colours;
floods of escapes. The agent's output is a short recording of Claude Code, repeated, and a *synthesised* one: redraws
with a spinner, a box, a streamed answer and status frames. Another recording, raw (script(1)) or an asciicast v2, is
named with --recording. Each measurement is the best of several, in processor time; the ratios, not the MB/s,
compare across machines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.aims import Aim
from benchmarks.timing import CHUNK, RECORDING, best, repeat

from tallylight import wire
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire.scanner import Sequence

SIZE = 2_000_000
#: pyte interprets everything, at about a hundredth of the speed: it gets a part.
PYTE_SIZE = 60_000
PLAIN = Aim("scanner: plain text", "`bytes.find`", most=2.0)
AGENT = Aim("scanner: a recorded agent", "`bytes.find`", most=8.0)
FLOODS = Aim("scanner with codecs: the slowest flood", "`bytes.find`", most=80.0)
AIMS = (PLAIN, AGENT, FLOODS)
QUICK = ("--seconds", "0.3")


def agent_output() -> bytes:
    """Synthesised redraws: a spinner, a box and an answer that streams in, as an agent would write them."""
    out = bytearray()
    words = ["The", "scanner", "finds", "“whole”", "sequences", "✓", "and", "hands", "the", "rest", "through."]
    for frame in range(120):
        spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[frame % 10]
        out += b"\x1b[?2026h\x1b[6A\x1b[2K\x1b[1G"
        out += f"\x1b[38;5;174m{spinner}\x1b[39m \x1b[1mThinking…\x1b[22m ".encode()
        out += f"\x1b[2m({frame}s · esc to interrupt)\x1b[22m\r\n".encode()
        out += b"\x1b[2K\x1b[38;5;246m\xe2\x95\xad" + "─".encode() * 76 + b"\xe2\x95\xae\x1b[39m\r\n"
        out += (
            f"\x1b[2K\x1b[38;5;246m│\x1b[39m > {' '.join(words[: frame % 9]):<60}\x1b[38;5;246m│\x1b[39m\r\n".encode()
        )
        out += b"\x1b[2K\x1b[38;5;246m\xe2\x95\xb0" + "─".encode() * 76 + b"\xe2\x95\xaf\x1b[39m\r\n"
        out += ("  " + " ".join(words) + "\r\n").encode() * 2
        out += b"\x1b[?2026l"
        if frame % 4 == 0:
            out += f"\x1b]0;{spinner} Fix the build\x07".encode()
        if frame % 20 == 0:
            out += b"\x1b]1338;state=working;tool=claude\x07\x1b]9;4;3;\x07"
    return bytes(out)


def read_recording(path: Path) -> bytes:
    """A raw recording, or the output of an asciicast v2."""
    data = path.read_bytes()
    if not data.startswith(b"{"):
        return data
    events = [json.loads(line) for line in data.splitlines()[1:] if line.strip()]
    return b"".join(event[2].encode("utf-8", "surrogatepass") for event in events if event[1] == "o")


def inputs(recording: Path | None) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each input."""
    yield "plain text", repeat("The quick brown fox jumps over the lazy dog. ✓ “quoted”\r\n".encode() * 20, SIZE)
    yield "agent (recorded)", repeat(read_recording(recording or RECORDING), SIZE)
    yield "agent (synthesised)", repeat(agent_output(), SIZE)
    yield "colours", repeat(b"\x1b[1;32mok\x1b[0m \x1b[38;5;9mfail\x1b[m some text\r\n", SIZE)
    yield "flood of ESC", repeat(b"\x1b", SIZE)
    yield "flood of CSI", repeat(b"\x1b[31m", SIZE)
    yield "flood of OSC", repeat(b"\x1b]1338;state=waiting\x07", SIZE)
    # Of one that repeats itself the codecs read each sequence once; of this one, all.
    several = (
        b"\x1b]1338;state=working;id=a%d\x07\x1b]9;4;1;%d\x07\x1b]777;notify;t%d;b\x07\x1b]9;n%d\x07\x1b]0;t%d\x07"
    )
    yield "flood of OSC, new ones", b"".join(several % ((number,) * 5) for number in range(SIZE // 80))
    yield "flood of broken OSC", repeat(b"\x1b]0;", SIZE)
    yield "endless OSC", b"\x1b]0;" + b"x" * (SIZE - 4)


def scan(data: bytes) -> None:
    """Scan, in chunks."""
    scanner = Scanner()
    for at in range(0, len(data), CHUNK):
        scanner.feed(data[at : at + CHUNK])


def scan_and_decode(data: bytes) -> None:
    """Scan, and decode every OSC, as a relay does."""
    scanner = Scanner()
    for at in range(0, len(data), CHUNK):
        for item in scanner.feed(data[at : at + CHUNK]):
            if isinstance(item, Sequence) and item.number is not None:
                wire.decode(item)


def find(data: bytes) -> None:
    """The least any scanner can do: look at each byte once, for an ESC, in the same chunks."""
    for at in range(0, len(data), CHUNK):
        chunk = data[at : at + CHUNK]
        found = chunk.find(b"\x1b")
        while found >= 0:
            found = chunk.find(b"\x1b", found + 1)


def pyte_feed(data: bytes) -> Callable[[], None] | None:
    """pyte's byte stream into its screen, or None where pyte is not installed."""
    try:
        import pyte
    except ImportError:
        return None

    def work() -> None:
        stream = pyte.ByteStream(pyte.Screen(80, 24))
        stream.feed(data)

    return work


def measure(name: str, data: bytes, seconds: float) -> dict[str, object]:
    """One row."""
    ours = len(data) / best(lambda: scan(data), seconds)
    decoding = len(data) / best(lambda: scan_and_decode(data), seconds)
    least = len(data) / best(lambda: find(data), seconds)
    part = data[:PYTE_SIZE]
    feed = pyte_feed(part)
    theirs = len(part) / best(feed, seconds) if feed else None
    return {
        "input": name,
        "scanner_mb_s": round(ours / 1e6, 2),
        "decoding_mb_s": round(decoding / 1e6, 2),
        "find_mb_s": round(least / 1e6, 2),
        "slower_than_find": round(least / ours, 2),
        "decoding_to_find": round(least / decoding, 2),
        "pyte_mb_s": round(theirs / 1e6, 3) if theirs else None,
        "faster_than_pyte": round(ours / theirs, 1) if theirs else None,
    }


def main() -> int:
    """Measure, print, and say whether the aim is met."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=0.4, help="for each measurement")
    parser.add_argument("--recording", type=Path, help="an agent's output, raw or asciicast v2")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [measure(name, data, arguments.seconds) for name, data in inputs(arguments.recording)]
    if arguments.json:
        print(json.dumps({"version": 1, "rows": rows}, indent=2))
        return 0
    heads = (
        "scanner MB/s",
        "with codecs",
        "find MB/s",
        "x slower than find",
        "with codecs, x",
        "pyte MB/s",
        "x faster than pyte",
    )
    print(f"{'input':<22}" + "".join([f"{head:>20}" for head in heads]))
    for row in rows:
        name, *figures = row.values()
        print(f"{name:<22}" + "".join([f"{'-' if figure is None else figure:>20}" for figure in figures]))
    PLAIN.say(float(str(rows[0]["slower_than_find"])))
    AGENT.say(float(str(rows[1]["slower_than_find"])))
    FLOODS.say(max(float(str(row["decoding_to_find"])) for row in rows if "flood" in str(row["input"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
