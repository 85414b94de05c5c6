"""
The cost of a preview for kitty's main thread: one picture of a screen of 200 columns by 60 rows, in a real kitty.

    python -m benchmarks.preview [VERSION …]

Each picture is what the thread does for the list that asks: read the screen with its colours, find the rows that have
changed, and make the message. One screen has changed in every row, with a colour for every word, as under a flood. In
the other one a single row has changed. Counted is the processor time of that thread, the median and the most of many
pictures. A list asks for four in a second.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.aims import Aim
from tests.real_kitty.desk import Desk

COLUMNS, ROWS, ROUNDS = 200, 60, 100
MEDIAN = Aim("kitty: a picture for the preview", "the clock", most=1.0, unit="ms")
LONGEST = Aim("kitty: the longest picture for the preview", "the clock", most=2.0, unit="ms")
AIMS = (MEDIAN, LONGEST)
QUICK = ("0.48",)

_PICTURES = """
import statistics, time
from types import SimpleNamespace
from kitty.fast_data_types import Screen
from tallylight.hosts.kitty import screens
from tallylight.actions.request import Picture, encode_reply
from tallylight.ui.agent_list.pictures import Sender

screen = Screen(None, {rows}, {columns}, 0, 8, 16, 0)
window = SimpleNamespace(id=1, screen=screen)
sender = Sender()

def draw(row, number):
    colour = f"\\x1b[38;2;{{number % 256}};{{{{}}}};{{row}}m"
    words = "".join(f"{{colour.format(n)}}word {{number + n:04}} " for n in range({columns} // 10))
    data = memoryview(f"\\x1b[{{row + 1}};1H{{words}}".encode())
    while data:
        room = screen.test_create_write_buffer()
        data = data[screen.test_commit_write_buffer(data, room):]
        screen.test_parse_written_data(None)

def picture(has):
    start = time.thread_time()
    rows = screens.styled_rows(window)
    message = sender.picture("1", rows, screen.columns, screens.cursor_of(window), has)
    data = encode_reply(Picture(message))
    return (time.thread_time() - start) * 1000, len(data), message["number"], len(message["rows"])

found = {{}}
for name, drawn in (("every row", range({rows})), ("one row", range(1))):
    times, has = [], 0
    for number in range({rounds}):
        for row in drawn:
            draw(row, number)
        took, size, has, changed = picture(has)
        times.append((took, size, changed))
    found[name] = [statistics.median(t for t, _, _ in times[1:]), max(t for t, _, _ in times[1:]), *times[-1][1:]]
return found
"""


def report(version: str) -> None:
    desk = Desk(version)
    try:
        found: dict[str, Any] = desk.kitty.eval(_PICTURES.format(rows=ROWS, columns=COLUMNS, rounds=ROUNDS))
    finally:
        desk.close()
    print(f"kitty {version}: a picture of {COLUMNS} x {ROWS} cells")
    for name, (median, most, size, changed) in found.items():
        print(
            f"  {name:10} changed {median:6.2f} ms   at most {most:6.2f} ms   {size:7} bytes, {changed} rows sent"
            f"   {median * 4 / 10:5.2f} % of a core"
        )
        MEDIAN.say(median)
        LONGEST.say(most)


def main() -> None:
    for version in sys.argv[1:] or ["0.41", "0.48"]:
        report(version)


if __name__ == "__main__":
    main()
