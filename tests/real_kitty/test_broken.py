"""Broken surroundings: kitty starts and works, and says what is wrong in one line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.real_kitty.desk import user_var
from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

Breaking = Callable[["Home"], None]


class Home:
    """The places that are broken, one test at a time, and a kitty that is started in them."""

    def __init__(self, kitty: Kitty) -> None:
        self.kitty = kitty
        self.data = kitty.home / ".local/share/tallylight"
        self.lib = self.data / "lib"
        self.config = kitty.home / ".config/tallylight"
        self.agents = self.config / "agents"

    def renew(self) -> None:
        """Put everything back as it was installed, and end the last test's kitty."""
        if self.kitty.alive():
            self.kitty.run(["pkill", "-KILL", "-x", "kitty"])
            self.kitty.wait_until(lambda: not self.kitty.alive(), what="kitty's end")
        for folder in (self.data, self.config, self.kitty.runtime_dir):
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            shutil.rmtree(folder, ignore_errors=True)
        self.kitty.runtime_dir.mkdir(mode=0o700)
        self.agents.mkdir(parents=True)
        (self.config / "config.toml").write_text("[kitty]\npulse = false\n")
        install(self.kitty.home, self.kitty.version)
        self.kitty.kitty_conf.write_text("tab_bar_style separator\n" + watcher_line(self.data))
        (self.kitty.directory / "kitty.log").unlink(missing_ok=True)

    def lines(self) -> list[str]:
        """What was said about us in kitty's log."""
        return [line for line in self.kitty.log.splitlines() if "tally" in line]

    def lamp(self) -> int:
        """A tab whose program sets a title and reports that it waits."""
        sequence = "\x1b]2;lamp\x07" + user_var("tally", "state=waiting").decode()
        return self.kitty.launch("printf", "%s", sequence, hold=True, keep_focus=True, tab_title="lamp")

    def _status(self) -> subprocess.CompletedProcess[bytes]:
        return self.kitty.run([str(self.kitty.home / ".local/bin/tally"), "status", "--json"], check=False)

    def waiting(self) -> int:
        """How many panes wait, by `tally status`."""
        return sum(pane["status"] == "waiting" for pane in json.loads(self._status().stdout)["panes"])

    def is_old(self) -> bool:
        """Whether it says that this may be out of date."""
        return b"its host cannot write it" in self._status().stdout

    def bar(self) -> str:
        """The text of the tab bar."""
        return str(self.kitty.eval("tm, = boss.all_tab_managers\nreturn str(tm.tab_bar.screen.line(0))"))


@pytest.fixture(scope="module")
def _home(kitty_version: str) -> Iterator[Home]:
    kitty = Kitty(kitty_version, size=(600, 200))
    home = Home(kitty)
    install(kitty.home, kitty_version)
    kitty.start()
    yield home
    kitty.close()


@pytest.fixture
def home(_home: Home) -> Home:
    """A home in which all is well, and no kitty runs."""
    _home.renew()
    return _home


def syntax(home: Home) -> None:
    (home.config / "config.toml").write_text("[kitty\npulse = false\n")


def unknown_key(home: Home) -> None:
    (home.config / "config.toml").write_text("[kitty]\npulse = false\nflash = true\n")


def config_is_directory(home: Home) -> None:
    (home.config / "config.toml").unlink()
    (home.config / "config.toml").mkdir()


def config_is_binary(home: Home) -> None:
    (home.config / "config.toml").write_bytes(bytes(range(256)) * 8)


def agent_is_directory(home: Home) -> None:
    (home.agents / "mine.toml").mkdir()


def agent_leads_nowhere(home: Home) -> None:
    (home.agents / "mine.toml").symlink_to("/nowhere/at/all.toml")


def agent_syntax(home: Home) -> None:
    (home.agents / "mine.toml").write_text('name = "mine\n')


def runtime_is_file(home: Home) -> None:
    (home.kitty.runtime_dir / "tallylight").write_text("")


def runtime_is_open(home: Home) -> None:
    (home.kitty.runtime_dir / "tallylight").mkdir()
    (home.kitty.runtime_dir / "tallylight").chmod(0o777)


#: What breaks in one home, each with a word of the line that says so. All lights work nevertheless.
MISHAPS: dict[str, dict[Breaking, str]] = {
    "syntax": {syntax: "config.toml:1", agent_is_directory: "mine.toml", runtime_is_file: "snapshot"},
    "unknown": {unknown_key: "flash", agent_leads_nowhere: "mine.toml", runtime_is_open: "snapshot"},
    "directory": {config_is_directory: "config.toml", agent_syntax: "mine.toml:1"},
    "binary": {config_is_binary: "config.toml"},
}


@pytest.mark.parametrize("name", MISHAPS)
def test_a_mishap_costs_itself(home: Home, name: str) -> None:
    """Each bad file is named in exactly one line of kitty's log, and the tabs are lit."""
    mishaps = MISHAPS[name]
    for breaking in mishaps:
        breaking(home)
    home.kitty.start_kitty()
    window = home.lamp()
    home.kitty.wait_until(lambda: home.kitty.user_vars(window).get("tally_status") == "waiting", what="the light")
    home.kitty.wait_until(lambda: "! lamp" in home.bar(), what="the mark in the tab bar")
    home.kitty.wait_until(lambda: len(home.lines()) >= len(mishaps), what="a line in the log for each")

    told = {word: [line for line in home.lines() if word in line] for word in mishaps.values()}
    assert {word: len(lines) for word, lines in told.items()} == dict.fromkeys(mishaps.values(), 1)
    assert len(home.lines()) == len(mishaps)
    assert "Traceback" not in home.kitty.log


def no_package(home: Home) -> None:
    shutil.rmtree(home.lib)


def no_attrs(home: Home) -> None:
    shutil.rmtree(home.lib / "attrs")
    shutil.rmtree(home.lib / "attr")


def broken_package(home: Home) -> None:
    (home.lib / "tallylight/tracker/tracker.py").write_text("def (:\n")


def no_agents(home: Home) -> None:
    shutil.rmtree(home.lib / "tallylight/agents")


def leaving(home: Home) -> None:
    (home.lib / "tallylight/tracker/rollup.py").write_text("raise SystemExit(3)\n")


#: What is missing, and a word of the line that says so. kitty goes on as without us.
DISASTERS: dict[str, tuple[Breaking, str]] = {
    "no-package": (no_package, "tallylight"),
    "no-attrs": (no_attrs, "attr"),
    "syntax-error": (broken_package, "SyntaxError"),
    "no-agents": (no_agents, "agents"),
}


@pytest.mark.parametrize("name", DISASTERS)
def test_kitty_goes_on_without_us(home: Home, name: str) -> None:
    """Without a part of ours kitty starts, its tabs are its own, and one line of its log says what is missing."""
    breaking, word = DISASTERS[name]
    breaking(home)
    home.kitty.start_kitty()
    window = home.lamp()
    home.kitty.wait_until(lambda: "tally" in home.kitty.user_vars(window), what="the report")
    home.kitty.wait_until(lambda: "lamp" in home.bar(), what="the tab")

    assert "!" not in home.bar()
    assert "tally_status" not in home.kitty.user_vars(window)
    (line,) = home.lines()
    assert word in line
    assert "Traceback" not in home.kitty.log


def test_psutil_is_not_needed(home: Home) -> None:
    """With a psutil that does not load everything works, an agent is found in its tab, and the log is silent."""
    shutil.rmtree(home.lib / "psutil")
    (home.lib / "psutil.py").write_text('raise ImportError("a wheel for another Python")\n')
    agent = home.kitty.home / ".local/bin/claude"
    agent.write_text("#!/bin/sh\necho ready\nread -r line\n")
    agent.chmod(0o755)
    home.kitty.start_kitty()
    lamp, talker = home.lamp(), home.kitty.launch("claude", keep_focus=True)

    home.kitty.wait_until(lambda: home.kitty.user_vars(lamp).get("tally_status") == "waiting", what="the lamp")
    home.kitty.wait_until(lambda: home.kitty.user_vars(talker).get("tally_agent") == "claude", what="the agent")
    assert home.kitty.eval("import sys; return sys.modules.get('psutil') is None")
    assert home.lines() == []


@pytest.mark.parametrize("runtime", ["", "/nowhere", "/proc"], ids=["unset", "missing", "read-only"])
def test_a_bad_runtime_directory_costs_no_light(home: Home, runtime: str) -> None:
    """Without a usable XDG_RUNTIME_DIR the lights work; the log has at most one line, which says where it failed."""
    before = home.kitty.env["XDG_RUNTIME_DIR"]
    home.kitty.env["XDG_RUNTIME_DIR"] = runtime
    try:
        home.kitty.start_kitty()
    finally:
        home.kitty.env["XDG_RUNTIME_DIR"] = before
    window = home.lamp()
    home.kitty.wait_until(lambda: home.kitty.user_vars(window).get("tally_status") == "waiting", what="the light")
    home.kitty.wait_until(lambda: "! lamp" in home.bar(), what="the mark in the tab bar")
    snapshot = "from tallylight.hosts.kitty.watcher import _host; return str(_host._store._opened.snapshot.path)"
    where = Path(home.kitty.eval(snapshot))

    if runtime == "/proc":
        home.kitty.wait_until(home.lines, what="a line in the log")
        (line,) = home.lines()
        assert "/proc/tallylight" in line
    else:
        assert where.parent.name.startswith("tallylight-")
        home.kitty.wait_until(where.exists, what="the snapshot in the fallback")
        where.unlink()
        assert home.lines() == []


@pytest.mark.parametrize("where", ["run", "home"])
def test_a_full_disk_costs_no_light(home: Home, where: str) -> None:
    """On a full disk lights go on, the log has one line, status says that it is old; room again makes it new."""
    disk = home.kitty.runtime_dir if where == "run" else home.kitty.home / ".local/state"
    disk.mkdir(parents=True, exist_ok=True)
    home.kitty.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", str(disk)])
    home.kitty.start_kitty()
    try:
        lamps = [home.lamp()]
        home.kitty.wait_until(lambda: "! lamp" in home.bar(), what="the light before")
        home.kitty.wait_until(lambda: home.waiting() == 1, what="the status before")
        home.kitty.run(["sh", "-c", f"cat /dev/zero >{disk}/filler"], check=False)
        lamps += [home.lamp() for _ in range(8)]
        for lamp in lamps:
            home.kitty.wait_until(
                lambda w=lamp: home.kitty.user_vars(w).get("tally_status") == "waiting", what="a light"
            )
        if where == "run":
            home.kitty.wait_until(home.is_old, what="the word of the reader")
            assert len(home.lines()) == 1
        assert "Traceback" not in home.kitty.log

        home.kitty.run(["rm", f"{disk}/filler"])
        home.kitty.wait_until(lambda: home.waiting() == len(lamps), what="the status after")
        assert not home.is_old()
    finally:
        home.kitty.run(["pkill", "-KILL", "-x", "kitty"])
        home.kitty.wait_until(lambda: not home.kitty.alive(), what="kitty's end")
        home.kitty.run(["umount", "-l", str(disk)])


#: What is broken, one after the other, in a running host.
FAULTS = (
    ("timer", "KittyHost", "tick"),
    ("user variables", "KittyHost", "on_set_user_var"),
    ("titles", "KittyHost", "on_title_change"),
    ("focus", "KittyHost", "on_focus_change"),
    ("tab bar", "TabLights", "_prepared"),
    ("tab bar", "TabLights", "_fit"),
    ("title template", "TabLights", "text"),
)
#: Mend what was broken before, and break one method.
BREAK = """
import tallylight.hosts.kitty.host as module
import tallylight.hosts.kitty.surfaces as surfaces
from tallylight.hosts.kitty.watcher import running
if hasattr(module, "mended"):
    setattr(*module.mended)
running().features.switched_off.clear()
owner = getattr(module, {owner!r}, None) or getattr(surfaces, {owner!r})
module.mended = owner, {name!r}, getattr(owner, {name!r})

def broken(*_, **__):
    raise ValueError("on purpose")

setattr(owner, {name!r}, broken)
"""


def test_a_fault_is_one_line_and_kitty_lives(home: Home) -> None:
    """An exception in any entry of ours switches off what it is in, with one line, however often it would come."""
    home.kitty.start_kitty()
    for feature, owner, name in FAULTS:
        before = len(home.lines())
        home.kitty.eval(BREAK.format(owner=owner, name=name))
        windows = [home.lamp(), home.lamp()]
        for window in windows:
            home.kitty.wait_until(lambda w=window: "tally" in home.kitty.user_vars(w), what="the report")
            home.kitty.focus_window(window)
        home.kitty.wait_until(lambda n=before: len(home.lines()) > n, what=f"a line in the log for {feature}")
        home.kitty.wait_until(lambda: "lamp" in home.bar(), what="the tab")
        windows.append(home.lamp())
        home.kitty.wait_until(lambda w=windows[-1]: "tally" in home.kitty.user_vars(w), what="the report")
        for window in windows:
            home.kitty.close_window(window)

        (line,) = home.lines()[before:]
        assert f"tallylight: {feature} switched off: ValueError: on purpose" in line
        assert home.kitty.alive()
