"""
How fast a flood goes through: MB/s of each shape through the relay's core and through a pane, beside `bytes.find`.

    python -m benchmarks.floods [--megabytes 2] [--shape WORDS] [--json]

A shape is what a hostile or a broken program could write without end: reports of every protocol, titles, marks,
notifications, broken and endless sequences, envelopes, bytes that are no text. *relay* is the core as the shell drives
it, in chunks of 64 KiB. *pane* is what a host does: scanner, codecs, and one pane with an agent in the foreground. It
receives each event and ticks four times a second of the stream's own time, which is `RATE` bytes a second. The longest
single call to the pane is given in milliseconds of processor time, of runs of their own: to ask for the time of a
thread before and after each call can take longer than the call. All ratios are to looking for one byte in the same
chunks, in the same run; they compare across machines, the MB/s do not.
"""

from __future__ import annotations

import argparse
import base64
import functools
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from benchmarks.aims import Aim
from benchmarks.timing import CHUNK, RECORDING, best
from tests.hosts.test_pane import CLAUDE, HandTable

from tallylight import wire
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane
from tallylight.parts.lab.replay import TOLD
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore
from tallylight.wire import envelope
from tallylight.wire.osc133 import COMMAND_END, COMMAND_START, Mark
from tallylight.wire.scanner import Sequence
from tallylight.wire.user_var import UserVar

SLOWEST_RELAY = Aim("floods: the slowest through the relay", "`bytes.find`", most=200.0)
SLOWEST_PANE = Aim("floods: the slowest through a pane", "`bytes.find`", most=200.0)
LONGEST = Aim("floods: the longest call of a pane", "the clock", most=3.0, unit="ms")
AIMS = (SLOWEST_RELAY, SLOWEST_PANE, LONGEST)
QUICK = ("--megabytes", "0.5")
#: How many bytes are a second of the stream: as fast as a terminal takes them in.
RATE = 20_000_000
#: A host looks at its panes so often, in seconds of the stream.
TICK_S = 0.25


def _carrier(payload: str) -> bytes:
    return envelope.user_var(envelope.CARRIER, payload)


def _packed(text: str) -> bytes:
    return base64.b64encode(text.encode())


_WORDS = ("working", "waiting", "done", "idle")
_C1 = "\x9d\x85" * 10
_EMOJI = "👩‍👩‍👧‍👦é̂̃̄̅ｗｉｄｅ—“”"


def _word(index: int) -> str:
    return _WORDS[index % len(_WORDS)]


#: Each gives the piece with a number.
PIECES: dict[str, Callable[[int], bytes]] = {
    "carrier, one record": lambda n: _carrier(f"state={_word(n)};tool=claude;message=m{n}"),
    "carrier, the same again": lambda _: _carrier("state=waiting;tool=claude"),
    "carrier, 256 children": lambda n: _carrier(f"state={_word(n // 256)};tool=x;id=r{n % 256}"),
    "carrier, distinct ids": lambda n: _carrier(f"state=working;id=r{n}"),
    "carrier, distinct deep ids": lambda n: _carrier(f"state=working;id=a/b/c/d/e/f/g/r{n}"),
    "carrier, withdrawals": lambda n: _carrier(f"state={'clear' if n % 2 else 'working'};id=r{n // 2 % 300}"),
    "carrier, hooks": lambda n: _carrier(f"state={_word(n)};tool=claude;at={1000 + n};of=t{n}"),
    "carrier, hooks of children": lambda n: _carrier(f"state={_word(n)};tool=claude;at={1000 + n};id=r{n % 300}"),
    "carrier, long texts": lambda n: _carrier("state=waiting;message=" + "%F0%9F%98%80e%CC%81" * 150 + str(n)),
    "carrier, recipes": lambda n: _carrier(f"resume=claude%0A--resume%0A{n}"),
    "carrier, not base64": lambda n: b"\x1b]1337;SetUserVar=tally=" + b"!" * 4000 + b"%d\x07" % n,
    "titles": lambda n: f"\x1b]0;✳ Working on {n}\x07".encode(),
    "titles of emoji": lambda n: f"\x1b]2;{n}{_EMOJI * 40}\x07".encode(),
    "OSC 7501": lambda n: b"\x1b]7501;state=working:id=r%d\x07" % n,
    "OSC 7501, 256 children": lambda n: f"\x1b]7501;state={_word(n // 256)}:id=r{n % 256}\x07".encode().replace(
        b"waiting", b"blocked"
    ),
    "OSC 7501, texts": lambda n: b"\x1b]7501;state=blocked:msg=" + _packed(f"{n}{_EMOJI * 8}") + b"\x07",
    "OSC 7501, queries": lambda _: b"\x1b]7501;?\x07",
    "OSC 1338": lambda n: f"\x1b]1338;state={_word(n)};tool=claude;id=r{n % 999}\x07".encode(),
    "OSC 26": lambda n: b"\x1b]26;CodeAgent=claude;Status=running;UserVar:v%d=%s\x07" % (n, _packed(str(n))),
    "OSC 88": lambda n: b"\x1b]88;arm;cmd=" + _packed("claude") + b";args=" + _packed(f"--resume {n}") + b"\x07",
    "OSC 21337": lambda n: b"\x1b]21337;status=busy %d;indicator=#00ff00\x07" % n,
    "OSC 3008": lambda n: b"\x1b]3008;start=r%d;type=command\x07" % n,
    "OSC 9;4": lambda n: b"\x1b]9;4;%d;%d\x07" % (n % 5, n % 101),
    "OSC 133": lambda n: b"\x1b]133;%c\x07" % b"ABCD"[n % 4],
    "OSC 9": lambda n: b"\x1b]9;notification %d\x07" % n,
    "OSC 777": lambda n: b"\x1b]777;notify;title %d;body\x07" % n,
    "OSC 777, machine talk": lambda n: b'\x1b]777;notify;warp://cli-agent;{"v":1,"event":"stop","n":%d}\x07' % n,
    "OSC 99 in chunks": lambda n: b"\x1b]99;i=%d:d=0;part %d\x1b\\" % (n, n),
    "OSC of foreign numbers": lambda n: b"\x1b]8;;https://example.org/%d\x1b\\" % n,
    "OSC that are broken off": lambda n: b"\x1b]7501;state=%d" % n,
    "OSC longer than the limit": lambda _: b"\x1b]7501;msg=" + b"A" * 140_000 + b"\x07",
    "OSC of 8 KiB": lambda n: b"\x1b]26;SessionTitle=" + b"QUJD" * 2000 + b"%d\x07" % n,
    "tmux's envelopes": lambda n: envelope.tmux_wrap(_carrier(f"state=working;id=r{n}"), 1 + n % 5),
    "Screen's envelopes": lambda n: envelope.screen_wrap(_carrier(f"state=working;id=r{n}")),
    "pictures": lambda _: b"\x1b_Ga=T,f=100,m=1;" + b"A" * 4096 + b"\x1b\\",
    "colours": lambda n: b"\x1b[38;5;%dm%d\x1b[m " % (n % 256, n),
    "RIS": lambda _: b"\x1bc",
    "RIS between reports": lambda _: b"\x1b]1338;state=working\x07\x1bc",
    "ESC": lambda _: b"\x1b",
    "C1": lambda _: bytes(range(0x80, 0xA0)),
    "base64": lambda n: _packed(f"A line of a file that somebody packed. {n}") + b"\r\n",
}
#: Those for which nothing was ever made faster: how the others would fare that nobody has thought of.
UNTUNED: dict[str, Callable[[int], bytes]] = {
    "OSC 7501 between lines": lambda n: b"line %d\r\n\x1b]7501;state=working:id=r%d\x07" % (n, n),
    "marks, colours and reports": lambda n: (
        b"\x1b]133;C\x07\x1b[1m%d\x1b[m\x1b]1338;state=done;id=m%d\x1b\\\x1b]133;D;0\x07" % (n, n)
    ),
    "titles of C1": lambda n: f"\x1b]0;{_C1}{n}\x07".encode(),
    "OSC 21337, escaped": lambda n: b"\x1b]21337;detail=a\\;b%d;status=Working\x07" % n,
    "OSC 26, tasks": lambda n: b"\x1b]26;CodeAgent=x;Status=running;TaskList=%b\x07" % _packed(f"task {n}\n" * 20),
}
#: Those that are no repetition of a piece.
WHOLE: dict[str, Callable[[int], bytes]] = {
    "an OSC without end": lambda size: b"\x1b]7501;msg=" + b"A" * size,
    "a DCS without end": lambda size: b"\x1bPtmux;" + b"\x1b\x1b" * (size // 2),
    "a CSI without end": lambda size: b"\x1b[" + b"1;" * (size // 2),
    "noise": lambda size: random.Random(1).randbytes(size),
    "noise of ESC, ] and ;": lambda size: bytes(random.Random(2).choices(b"\x1b\x1b]]P[\\;=0133779\x07tally", k=size)),
    "a recorded agent": lambda size: RECORDING.read_bytes() * (1 + size // RECORDING.stat().st_size),
}
SHAPES = (*PIECES, *UNTUNED, *WHOLE)


def flood(shape: str, size: int) -> bytes:
    """At least *size* bytes of a *shape*, and less than one piece more."""
    if shape in WHOLE:
        return WHOLE[shape](size)
    pieces: list[bytes] = []
    have = 0
    for number in itertools.count():
        if have >= size:
            return b"".join(pieces)
        pieces.append((PIECES | UNTUNED)[shape](number))
        have += len(pieces[-1])
    raise AssertionError


def chunks(data: bytes) -> Iterator[bytes]:
    """Cut *data* as a relay reads it."""
    return (data[at : at + CHUNK] for at in range(0, len(data), CHUNK))


def find(data: bytes) -> None:
    """The least anybody can do: look for a byte that is not there."""
    for piece in chunks(data):
        piece.find(b"\xff\xfe\xfd")


def relay(data: bytes) -> RelayCore:
    """Through the relay's core."""
    core = RelayCore(agent="claude", wrap=envelope.tmux_wrap)
    now = 0.0
    for piece in chunks(data):
        now += len(piece) / RATE
        core.from_child(piece, now)
        core.to_terminal()
        core.to_child()
        if (due := core.deadline()) is not None and due <= now:
            core.tick(now)
    return core


@functools.cache
def _agents() -> Agents:
    return agent_files.load_agents({"HOME": "/nowhere"})[0]


class Host:
    """One pane that receives what a terminal reports to its host."""

    def __init__(self, *, is_timed: bool = False) -> None:
        self._is_timed = is_timed
        table = HandTable("/nowhere")
        self.pane = Pane(Timing(), ForegroundReader(_agents(), table), table)
        self.pane.foreground(CLAUDE.pid, 0.0)
        self.now = 0.0
        #: The longest time that one call to the pane took, in seconds.
        self.longest = 0.0
        self._scanner = Scanner()
        self._ticked = 0.0

    def feed(self, data: bytes) -> None:
        """The program wrote *data*."""
        pane = self.pane
        for item in self._scanner.feed(data):
            self.now += len(item.raw) / RATE
            if isinstance(item, Sequence) and item.number is not None:
                if item.number in (0, 2):
                    # A terminal hands it over as it came; it is made harmless when it is read.
                    self._call(pane.title, item.body.decode("utf-8", "replace"), self.now)
                    continue
                event = wire.decode(item) if item.number in TOLD else None
                if isinstance(event, UserVar) and event.name == envelope.CARRIER:
                    self._call(pane.user_variable, event.value, self.now)
                elif isinstance(event, Mark) and event.kind in (COMMAND_START, COMMAND_END):
                    self._call(pane.marked, event.kind == COMMAND_START, event.exit_code, self.now)
        if self.now - self._ticked >= TICK_S:
            self._ticked = self.now
            self._call(pane.tick, self.now)

    def _call(self, call: Callable[..., object], *words: object) -> None:
        started = time.thread_time() if self._is_timed else 0.0
        call(*words)
        if self._is_timed:
            self.longest = max(self.longest, time.thread_time() - started)


def pane(data: bytes, *, is_timed: bool = False) -> Host:
    """Through scanner, codecs and a pane; with the longest call to it, if *is_timed*."""
    host = Host(is_timed=is_timed)
    for piece in chunks(data):
        host.feed(piece)
    return host


def measure(shape: str, size: int) -> dict[str, float | str]:
    """One row."""
    data = flood(shape, size)
    least = best(lambda: find(data), 0)
    row: dict[str, float | str] = {"shape": shape}
    for name, work in (("relay", relay), ("pane", pane)):
        took = best(lambda work=work: work(data), 0)  # type: ignore[misc]
        row |= {f"{name}_mb_s": round(len(data) / took / 1e6, 1), f"{name}_to_find": round(took / least)}
    return row | {"longest_ms": round(min(pane(data, is_timed=True).longest for _ in range(2)) * 1e3, 2)}


def main() -> int:
    """Run the table; say which shapes miss the aim."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m benchmarks.floods", description=__doc__.strip().splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=2.0, help="of each shape")
    parser.add_argument("--shape", default="", help="only shapes with these words in their name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    shapes = [shape for shape in SHAPES if options.shape in shape]
    rows = []
    if not options.json:
        print(f"{'':<28}{'relay MB/s':>12}{'x find':>9}{'pane MB/s':>12}{'x find':>9}{'longest ms':>12}")
    for shape in shapes:
        rows.append(measure(shape, int(options.megabytes * 1e6)))
        if not options.json:
            name, *figures = rows[-1].values()
            print(f"{name:<28}" + "".join(f"{f:>{w}}" for f, w in zip(figures, (12, 9, 12, 9, 12), strict=True)))
    if options.json:
        print(json.dumps({"version": 1, "rows": rows}, indent=2))
        return 0
    for aim, key in ((SLOWEST_RELAY, "relay_to_find"), (SLOWEST_PANE, "pane_to_find"), (LONGEST, "longest_ms")):
        missed = [str(row["shape"]) for row in rows if not aim.is_met(float(row[key]))]
        aim.say(aim.worst(float(row[key]) for row in rows))
        print(f"  missed by: {', '.join(missed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
