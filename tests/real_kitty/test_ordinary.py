"""Some ordinary programs in real kittys, for an hour of use in all: none is taken for an agent, and none has a light.

What plays is what the programs of `tests/ordinary` drew, at their own pace, each in a window of its own and by a name
that no table knows, so that all of them are looked at.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

#: One in four: so many windows are enough for a kitty.
RECORDINGS = sorted((Path(__file__).parents[1] / "ordinary/recordings").glob("*.cast.gz"))[::4]
#: An agent, by a name that no file has: it shows that this test would see a light.
AGENT = Path(__file__).parents[1] / "corpus/codex-permission.cast.gz"
#: How long all of them together are used in one kitty, in seconds; each is played many times.
HALF_AN_HOUR_S = 1800.0
#: Writes what a recording's program wrote, over and over; a pause is cut to two seconds.
_PLAYER = """
import json, os, sys, time
path, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
lines = [json.loads(line) for line in open(path, encoding="utf-8")][1:]
drawn = [(at, data.encode()) for at, code, data in lines if code == "o"]
while time.monotonic() < end:
    before = 0.0
    for at, data in drawn:
        time.sleep(min(at - before, 2.0))
        before = at
        while data:
            data = data[os.write(1, data):]
        if time.monotonic() > end:
            break
    time.sleep(0.5)
print("the end", flush=True)
time.sleep(1000)
"""
_PROGRAMS = "[p.unknown.program.name for p in host.panes.values() if p.unknown.program]"
_CANDIDATES = "[p.unknown.program.name for p in host.panes.values() if p.unknown.is_agent]"


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    made = Desk(kitty_version, "shell bash\n", "[kitty]\npulse = false\n", scale=SMALL)
    try:
        yield made
    finally:
        made.close()


def lit(desk: Desk, window: int) -> list[str]:
    """The lights that the window has had."""
    return [status for _, status in desk.history(window) if status]


def test_half_an_hour_of_ordinary_programs(desk: Desk) -> None:
    """None has a light at any time, and none is taken for an agent; an agent between them is, and has one."""
    kitty = desk.kitty
    (kitty.home / "player.py").write_text(_PLAYER)
    desk.record()
    seconds = HALF_AN_HOUR_S / len(RECORDINGS)

    def play(path: Path) -> int:
        name = path.name.partition(".")[0]
        (kitty.home / f"{name}.cast").write_bytes(gzip.decompress(path.read_bytes()))
        command = f"exec -a mine-{name} python3 player.py {name}.cast {seconds}"
        window = kitty.launch("bash", "-c", command, keep_focus=True, cwd=str(kitty.home), tab_title=name)
        assert isinstance(window, int)
        return window

    windows = {play(path): path.name.partition(".")[0] for path in RECORDINGS}
    agent = play(AGENT)
    kitty.wait_text(max(windows), "the end", seconds + 200)
    desk.let_pass(1)

    lights = {name: shown for window, name in windows.items() if (shown := set(lit(desk, window)))}
    assert lights == {}
    assert "waiting" in lit(desk, agent)
    # All of them were looked at; one that was seen while its shell made way for it may be called otherwise.
    assert int(desk.host(f"len({_PROGRAMS})")) == len(windows) + 1
    assert desk.host(_CANDIDATES) == "['mine-codex-permission']"
