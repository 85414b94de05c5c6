"""The settings of a kitty that runs: what is changed in a file is in force soon, and a mistake changes nothing."""

from __future__ import annotations

import copy
import importlib
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tallylight.model.lights import COLOURS
from tallylight.model.status import Status
from tallylight.snapshot.writer import read_snapshots
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture


@pytest.fixture
def config(rig: Rig) -> Path:
    return rig.home / ".config/tallylight/config.toml"


@pytest.fixture
def running(rig: Rig, config: Path) -> Rig:
    """A kitty that has read its settings."""
    config.write_text("[kitty]\nstyle = 'stripe'\n")
    rig.start()
    rig.until(lambda: rig.host.surfaces.tabs.style == "stripe", "the settings")
    return rig


def write(path: Path, text: str) -> None:
    """As an editor does: the new file takes the name of the old one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def notices(rig: Rig) -> list[str]:
    return [command.body for command in rig.boss.notification_manager.shown]


@pytest.mark.slow
def test_a_word_of_an_older_version_stops_no_change(running: Rig, config: Path) -> None:
    """It is understood and told in one line; what is changed beside it is in force."""
    write(config, "[kitty]\nstyle = 'icon'\npulse = false\n")
    running.until(lambda: running.host.surfaces.tabs.style == "filled", "the new style")
    assert not running.host.surfaces.rollup.pulses
    running.until(lambda: notices(running), "the line")
    (told,) = notices(running)
    assert "kitty.style: is 'icon' of an older version; \"filled\" is used" in told


@pytest.mark.slow
def test_a_change_of_the_file_is_taken_over(running: Rig, config: Path) -> None:
    """Style, pulse, colours, times, notifications: all of it, in a kitty that goes on running."""
    window = running.claude(1, status="busy")
    running.until(lambda: running.status(1) is Status.WORKING, "the light")
    running.until(lambda: running.host.messages.notices, "notifications")
    write(
        config,
        "poll_ms = 400\nsilence_s = 9\n[kitty]\nstyle = 'off'\npulse = false\n[notify]\nsnooze_min = 3\n"
        "[colours]\nworking = '#010203'\n",
    )
    running.until(lambda: running.host.surfaces.tabs.style == "off", "the new style")
    host = running.host

    assert not host.surfaces.rollup.pulses
    assert host.surfaces.tabs.colours[Status.WORKING] == (1, 2, 3)
    assert host.panes[window.id].tracker.timing.silence_s == 9
    assert host.messages.notices.settings.snooze_min == 3
    running.kitty.run_repeats()
    assert [interval for _, interval, repeats in running.kitty.timers.values() if repeats] == [0.4]
    assert running.status(1) is Status.WORKING
    assert running.kitty.log == notices(running) == []

    config.unlink()
    running.until(lambda: host.surfaces.tabs.style == "filled", "the defaults")
    assert (host.surfaces.tabs.colours, host.messages.notices.settings.snooze_min) == (COLOURS, 15)


@pytest.mark.slow
def test_a_mistake_keeps_what_was_in_force(running: Rig, config: Path) -> None:
    """It is told once, in the log and in front of the person; what was right in the file waits until all of it is."""
    write(config, "[kitty]\nstyle = 'off'\npuls = false\n")
    running.until(lambda: notices(running), "the notice")
    write(config, "[kitty]\nstyle = 'off'\npuls = false\n# the same mistake\n")
    stamp = running.host.settings.current.stamps
    running.until(lambda: running.host.settings.current.stamps != stamp, "the next reading")

    assert running.host.surfaces.tabs.style == "stripe"
    (line,), (notice,) = running.kitty.log, notices(running)
    assert "config.toml:3: kitty.puls" in line and "config.toml:3: kitty.puls" in notice

    write(config, "[kitty]\nstyle = 'off'\n")
    running.until(lambda: running.host.surfaces.tabs.style == "off", "the corrected file")
    assert len(notices(running)) == 1


_MORE = "[scripting]\nallow = 'all'\n[notify]\ncommand = ['true']\n"


@pytest.mark.slow
def test_what_lets_programs_do_more_waits(running: Rig, config: Path) -> None:
    """The rest is taken over. It is told, stands in the snapshot, and counts once a person has agreed to just that."""
    host = running.host
    running.claude(1, status="busy")
    write(config, f"[kitty]\nstyle = 'off'\n{_MORE}")
    running.until(lambda: notices(running), "the notice")
    assert (host.surfaces.tabs.style, host.config.scripting, host.config.notify.command) == (
        "off",
        "own",
        (),
    )
    assert len(running.kitty.log) == 2
    assert "until you agree in kitty" in running.kitty.log[0]
    assert "until kitty restarts" in running.kitty.log[1]

    def snapshot() -> tuple[str, tuple[str, ...]]:
        found, _ = read_snapshots(running.run / "tallylight")
        return next(((one.allow, one.withheld) for one in found), ("", ()))

    running.until(lambda: snapshot() == ("own", ("scripting.allow", "notify.command")), "the snapshot")
    withheld = host.settings.current.withheld
    host.settings.agree(withheld[:1])
    assert host.config.scripting == "own"
    host.settings.agree(withheld)
    assert (host.config.scripting, host.config.notify.command) == ("all", ("true",))
    running.until(lambda: snapshot() == ("all", ()), "the snapshot")
    assert len(notices(running)) == 1


@pytest.mark.slow
def test_what_lets_programs_do_less_counts_at_once(rig: Rig, config: Path) -> None:
    """What stood there at the start is in force; once it was taken away, it waits as if it had never been there."""
    config.write_text(_MORE)
    agreed = rig.home / ".local/state/tallylight/allow"
    agreed.parent.mkdir(parents=True)
    agreed.write_text("all")
    rig.start()
    rig.until(lambda: rig.host.config.scripting == "all", "the settings")
    assert rig.host.config.notify.command == ("true",)
    write(config, "[scripting]\nallow = 'ask'\n")
    rig.until(lambda: rig.host.config.scripting == "ask", "the new level")
    assert rig.host.config.notify.command == ()
    assert notices(rig) == []
    write(config, f"{_MORE}# again\n")
    rig.until(lambda: notices(rig), "the notice")
    assert (rig.host.config.scripting, rig.host.config.notify.command) == ("ask", ())


@pytest.mark.slow
def test_an_agent_file_is_taken_over(running: Rig) -> None:
    """A new agent is known without a restart; one with a mistake leaves all agents as they were."""
    agents = running.home / ".config/tallylight/agents"
    agents.mkdir()
    (agents / "mine.toml").write_text('name = "mine"\nprocesses = ["mine"]\n')
    running.until(lambda: "mine" in {agent.name for agent in running.host.settings.current.agents}, "the agent")
    write(agents / "mine.toml", "name = 5\n")
    running.until(lambda: notices(running), "the notice")

    assert "mine" in {agent.name for agent in running.host.settings.current.agents}


def test_kitty_reads_its_configuration_again(running: Rig, config: Path) -> None:
    """Then ours is read too, at once, even where the file looks as before."""
    found = config.stat()
    config.write_text("[kitty]\nstyle = 'off'   \n")
    os.utime(config, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert (config.stat().st_size, config.stat().st_mtime_ns) == (found.st_size, found.st_mtime_ns)
    running.kitty.options = copy.copy(running.kitty.options)
    running.until(lambda: running.host.surfaces.tabs.style == "off", "the new style")


def test_a_higher_level_waits_at_a_start_too(rig: Rig, config: Path) -> None:
    """kitty may have been ended while it was asking. What was agreed to once counts, until a lower level."""
    read = importlib.import_module("tallylight.hosts.kitty.settings").read
    config.write_text("[scripting]\nallow = 'all'\n")
    rig.start()
    rig.until(lambda: rig.host.settings.current, "the settings")
    assert (rig.host.config.scripting, read().withheld) == ("own", rig.host.settings.current.withheld)
    assert [one.key for one in read().withheld] == ["scripting.allow"]
    rig.host.settings.agree(rig.host.settings.current.withheld)
    rig.until(lambda: not read().withheld, "the note of it")
    assert read().config.scripting == "all"
    config.write_text("")
    assert read().config.scripting == "own"
    config.write_text("[scripting]\nallow = 'ask'\n")
    assert read().withheld


@pytest.mark.slow
def test_a_new_fuse_counts_for_what_was_reported_before(running: Rig, config: Path) -> None:
    """A report from a moment ago fades when the setting of now says so, not when that of then did."""
    window = running.boss.open(1, 10)
    running.host.on_set_user_var(window, "tally", "state=working;tool=mine")
    running.until(lambda: running.status(1) is Status.WORKING, "the light")
    tracker = running.host.panes[1].tracker
    assert tracker.deadline() is None or tracker.deadline() > time.monotonic() + 20
    write(config, "fuse_s = 10\n")
    running.until(lambda: tracker.timing.fuse_s == 10, "the new fuse")
    assert tracker.deadline() <= time.monotonic() + 10


def test_a_configuration_that_has_us_no_more(running: Rig) -> None:
    """Every light goes out and nothing is published, until it has us again; one that never had us says nothing."""
    window, ended = running.claude(1, status="busy"), []
    running.host.when_left.add(lambda: ended.append("lists"))
    running.host.sessions_process = SimpleNamespace(keep=lambda *_, **__: None, close=lambda: ended.append(True))
    running.until(lambda: running.snapshot() == {"1": Status.WORKING}, "the light")
    for options in ({"/data/kittens/tally_watcher.py": ""}, {"/other.py": ""}):
        running.kitty.options = copy.copy(running.kitty.options)
        running.kitty.options.watcher = options  # type: ignore[attr-defined]
        running.tick()
        assert running.host.is_wired == ("/other.py" not in options)
    running.until(lambda: not running.snapshot(), "the end of the snapshot")
    assert not running.host.panes and "tally_status" not in window.user_vars and ended == ["lists", True]
    running.kitty.options = copy.copy(running.kitty.options)
    running.kitty.options.watcher = {"/data/kittens/tally_watcher.py": ""}  # type: ignore[attr-defined]
    running.until(lambda: running.snapshot() == {"1": Status.WORKING}, "the light again")


@pytest.mark.slow
def test_what_has_not_changed_is_not_read(running: Rig) -> None:
    """Looking at the files is all that is done for those that are as they were."""
    settings = running.host.settings
    before, looked_at = settings.current, settings._looked_at
    running.until(lambda: settings._looked_at > looked_at and not running.host.worker.is_waiting, "another look")

    assert settings.current is before
