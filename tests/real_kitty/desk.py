"""A desk: one kitty with the suite installed, kept for all tests of a file, for a start costs more than a test.

A lamp is a tab that is sent a status: a window whose program is silent, named for what it is to show. What is sent goes
through the window's terminal, as a program's output does.
"""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from tallylight.model import contrast
from tallylight.model.lights import COLOURS
from tallylight.model.status import Status
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.schema import Snapshot
from tests.patience import until
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line
from tests.real_kitty.pixels import SPANS, Box, Colour, counted
from tests.real_kitty.remote import RemoteControl
from tests.real_kitty.roots import CHECKOUT, SUITES

#: The five that a person meets, by name.
LIGHTS: dict[str, Colour] = {name: COLOURS[Status(name)] for name in ("working", "waiting", "done", "error", "idle")}
#: What is filled has so many pixels of its colour, a plain mark so few: thin letters are smoothed.
MANY, FEW = 40, 4
#: Pixels of a fill, at scale 1, that may be the end of the next tab's: fewer than a mark alone has.
SPILL = 400
#: What stands in front of the name in a tab of this light that is not in front. An idle one has no light.
BEFORE = {"working": "● ", "waiting": " ! ", "error": " × ", "done": " ✓  "}
MARKS = "●!×✓○▼?·"
#: The ground on which every light has its very own colour: it need not be moved to be read.
GROUND = "inactive_tab_background #23272f\n"

_TAB_TEXT = """
lines = []
for tm in boss.all_tab_managers:
    screen = tm.tab_bar.screen
    lines += [str(screen.line(i)) for i in range(screen.lines)]
return lines
"""
_RELOAD = """
import kitty.tab_bar as module
for name in ("load_custom_draw_tab", "load_custom_draw_tab_module"):
    if hasattr(cached := getattr(module, name, None), "clear_cached"):
        cached.clear_cached()
boss.load_config_file()
# At once, and not with the next frame: until then the text of the tab bar is that of the settings before.
for os_window in boss.os_window_map:
    boss.update_tab_bar_data(os_window)
"""
_SAY = """
import os
child = boss.window_id_map[{window}].child.pid
fd = os.open(f"/proc/{{child}}/fd/1", os.O_WRONLY | os.O_NOCTTY)
try:
    # Before the program of a new window runs, this is still kitty's own output.
    return os.isatty(fd) and bool(os.write(fd, {data!r}))
finally:
    os.close(fd)
"""
_RECORD = """
import time, tallylight.hosts.kitty.watcher as module
from tallylight.hosts.kitty import user_vars
real, clock = user_vars.publish, time.monotonic
module.desk_history = []

def noting(window, pane):
    real(window, pane)
    module.desk_history.append((clock(), window.id, str(pane.decision.status), pane.decision.is_lit))

user_vars.publish = noting
"""


def lights_on(ground: Colour) -> dict[str, Colour]:
    """The colours of the lights in tabs of another *ground*: what is not a fill is moved until it can be read."""
    green = contrast.news(LIGHTS["done"], ground, LIGHTS["waiting"])
    assert green is not None
    return LIGHTS | {"working": contrast.marked(LIGHTS["working"], ground), "done": green}


def user_var(name: str, value: str) -> bytes:
    """The sequence that sets a user variable."""
    return b"\x1b]1337;SetUserVar=%b=%b\x07" % (name.encode(), base64.b64encode(value.encode()))


def send(kitty: RemoteControl, window: int, payload: str) -> None:
    """Send a report through the terminal of a window of *kitty*."""
    _write(kitty, window, user_var("tally", payload))


def _write(kitty: RemoteControl, window: int, data: bytes) -> None:
    """Write to the terminal of a window, as its program would."""
    until(lambda: kitty.eval(_SAY.format(window=window, data=data)), f"window {window} has no terminal")


def close_all_but_first(kitty: Kitty) -> None:
    """Close every window but the first, and show that."""
    first, *others = kitty.windows()
    for window in others:
        kitty.close_window(window["id"])
    kitty.wait_until(lambda: len(kitty.windows()) == 1, what="the end of the other windows")
    kitty.focus_os_window(kitty.ls()[0]["id"])
    kitty.focus_window(first["id"])


_ASK = "from tallylight.hosts.kitty import consents, power_consent\npower_consent.consents = consents"
_AGREE = f"""{_ASK}
from types import SimpleNamespace
power_consent.consents = SimpleNamespace(ask=lambda _window, _page, answered: answered(True))
"""


class Desk:
    """One kitty, what is sent to its tabs and what they show."""

    def __init__(
        self,
        version: str,
        settings: str = "",
        config: str = "",
        prepare: Callable[[Path], object] = lambda _home: None,
        **options: Any,
    ) -> None:
        self.kitty = Kitty(version, **options)
        self._watcher = watcher_line(install(self.kitty.home, version))
        self.kitty.kitty_conf.write_text(GROUND + settings + self._watcher)
        self.config_toml = self.kitty.home / ".config/tallylight/config.toml"
        self.config_toml.parent.mkdir(parents=True)
        self.config_toml.write_text(config)
        prepare(self.kitty.home)
        self.kitty.start()
        self.host("host")

    def close(self) -> None:
        """End it."""
        self.kitty.close()

    @property
    def renews(self) -> bool:
        """Whether the pictures of the documentation are to be renewed from this kitty, which is the newest."""
        return os.environ.get("TALLYLIGHT_UPDATE_IMAGES") == "1" and self.kitty.version == list(SUITES)[-1]

    def keep(self, image: Image.Image, name: str) -> None:
        """Put a picture into the documentation, if it is to be renewed."""
        if self.renews:
            # By how far colours are apart, not by how often they come: a mark has few pixels.
            how = Image.Quantize.MAXCOVERAGE
            small = image.convert("RGB").quantize(200, method=how, dither=Image.Dither.NONE)
            small.save(CHECKOUT / f"docs/images/{name}.png", optimize=True)

    # -- what is done to it ------------------------------------------------------------------------------------------

    def reload(self, settings: str) -> None:
        """Have the running kitty read this kitty.conf."""
        self.kitty.kitty_conf.write_text(GROUND + settings + self._watcher)
        self.kitty.eval(_RELOAD)

    def configure(self, config: str, *, agrees: bool = True) -> None:
        """
        Change config.toml, and wait until the running host has read it.

        The person *agrees* to what lets programs do more, and is not asked; else they are.
        """
        self.kitty.eval(_AGREE if agrees else _ASK)
        stamp = self.host("host.settings.current.stamps")
        self.config_toml.write_text(config)
        self.kitty.wait_until(lambda: self.host("host.settings.current.stamps") != stamp, what="the new settings")
        if agrees:
            self.kitty.wait_until(lambda: self.host("host.settings.current.withheld") == "()", what="what waits")

    def host(self, expression: str) -> Any:
        """The value of an expression over `host`, the `KittyHost` that runs in this kitty."""
        return self.kitty.eval(
            f"from tallylight.hosts.kitty.watcher import _host as host\nx = {expression}\nreturn str(x)"
        )

    def set_host(self, assignments: str) -> None:
        """Run statements over `host`."""
        self.kitty.eval(f"from tallylight.hosts.kitty.watcher import _host as host\n{assignments}")

    def lamp(self, title: str, status: str = "", **how: Any) -> int:
        """Open a tab, not shown, with a silent program in it; its window's id."""
        window = self.kitty.launch("cat", tab_title=title, keep_focus=True, **how)
        # Before that it is a fork of kitty with kitty's own output.
        self.kitty.wait_until(lambda: "cat" in str(self.kitty.window(window)["foreground_processes"]), what="cat")
        if status:
            self.send(window, f"state={status}")
        return window

    def say(self, window: int, data: bytes) -> None:
        """Write to a window's terminal."""
        _write(self.kitty, window, data)

    def send(self, window: int, payload: str) -> None:
        """Send a report through a window's terminal."""
        send(self.kitty, window, payload)

    def close_all_but_first(self) -> None:
        """Close every window but the first, and show that."""
        close_all_but_first(self.kitty)

    def let_pass(self, seconds: float) -> None:
        """Wait until the host in kitty has looked at everything for this long: for what must not happen meanwhile."""
        now = float(self.host("__import__('time').monotonic()"))
        # None before the first one.
        last = lambda: float(self.host("host._last_tick or 0"))  # noqa: E731
        self.kitty.wait_until(lambda: last() >= now + seconds, seconds + 20, f"{seconds} s of ticks")

    # -- what it shows -----------------------------------------------------------------------------------------------

    def status(self, window: int) -> str:
        """The published status of a window, or nothing."""
        return self.kitty.user_vars(window).get("tally_status", "")

    def wait_status(self, window: int, status: str, timeout: float = 30) -> None:
        """Wait until a window's status is this."""
        self.kitty.wait_until(lambda: self.status(window) == status, timeout, f"{status or 'no'} status in {window}")

    def bar(self) -> str:
        """The text of all tab bars."""
        return "\n".join(self.kitty.eval(_TAB_TEXT))

    def marks(self) -> int:
        """How many lights there are in all tab bars."""
        return sum(self.bar().count(mark) for mark in MARKS)

    def pixels(self, tabs: Sequence[int], image: Image.Image | None = None) -> dict[int, Counter[Colour]]:
        """How many pixels of each colour each of these tabs has."""
        os_window = next(o["id"] for o in self.kitty.ls() if any(t["id"] in tabs for t in o["tabs"]))
        spans: dict[str, Box] = self.kitty.eval(SPANS.format(os_window=os_window))
        shown = image or self.kitty.screenshot()
        return {tab: counted(shown.crop(_own(str(tab), spans))) for tab in tabs if str(tab) in spans}

    def wait_colours(
        self, expected: dict[int, str], *, image: Path | None = None, lights: dict[str, Colour] = LIGHTS
    ) -> None:
        """Wait until each tab has this light's very colour, and no other's; `""` and `idle`: none."""

        def wrong() -> list[str]:
            shown = self.kitty.screenshot(image)
            found = self.pixels(list(expected), shown)
            faults = [f"tab {tab} is not drawn" for tab in expected if tab not in found]
            for tab, counts in found.items():
                name, least = expected[tab], FEW if expected[tab] == "working" else MANY
                if name in BEFORE and counts[lights[name]] < least:
                    faults.append(f"tab {tab} has {counts[lights[name]]} pixels of {name}: {counts.most_common(4)}")
                # The arrow between two tabs of `powerline` has the colours of both.
                spill = dict.fromkeys(("waiting", "error"), SPILL * self.kitty.scale**2)
                others = {n: counts[lights[n]] for n in BEFORE if n != name and counts[lights[n]] > spill.get(n, 0)}
                if others:
                    faults.append(f"tab {tab} is {name or 'unlit'} and has {others}")
            last[:] = faults
            return faults

        last: list[str] = []
        try:
            self.kitty.wait_until(lambda: not wrong(), 30, "the lights")
        except AssertionError as error:
            raise AssertionError(f"{last}\n{self.bar()}\n{error}") from None

    def snapshot(self) -> Snapshot | None:
        """What the host wrote for other programs."""
        # By its name: a second kitty that was ended beside it has left a snapshot, too.
        path = self.kitty.runtime_dir / f"tallylight/kitty-{self.kitty.eval('import os; return os.getpid()')}.json"
        return snapshot.read(path) if path.exists() else None

    # -- when it showed it -------------------------------------------------------------------------------------------

    def record(self) -> None:
        """From now on note in kitty, on the monotonic clock that all programs share, when each light changes."""
        self.kitty.eval(_RECORD)

    def history(self, window: int, since: float = 0.0) -> list[tuple[float, str]]:
        """When a window's light became what; `""` for none."""
        rows = self.kitty.eval("import tallylight.hosts.kitty.watcher as module; return module.desk_history")
        return [(at, status if lit else "") for at, id_, status, lit in rows if id_ == window and at >= since]


def _own(tab: str, spans: dict[str, Box]) -> Box:
    """A tab's box without the cell in which the next one begins, which kitty counts to both under some styles."""
    left, top, right, bottom = spans[tab]
    for other, (start, row, _, _) in spans.items():
        if other != tab and row == top and left < start < right:
            right = start
        if other != tab and start == left and top < row < bottom:
            bottom = row
    return left, top, right, bottom
