"""The unit of systemd that watches tmux: who is offered it, that it comes and goes, and what it says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tallylight.cli import doctor, setup
from tallylight.model.finding import Health
from tallylight.setup import unit
from tests.cli.test_doctor import FakeWire
from tests.setup.fakes import FakeSystem, make_system, tree


def machine(home: Path, *programs: str, kitty: bool = False, **env: str) -> FakeSystem:
    """A machine with these programs; `systemctl` notes what it is told."""
    runtime = home.parent / "run"
    (runtime / "systemd").mkdir(parents=True, exist_ok=True)
    system = make_system(home, answer=True, kitty=kitty, XDG_RUNTIME_DIR=str(runtime), **env)
    for name in programs:
        program = home.parent / "programs" / name
        program.write_text(f'#!/bin/sh\necho "$@" >> {home.parent}/{name}.told\n')
        program.chmod(0o755)
    return system


def told(home: Path) -> list[str]:
    file = home.parent / "systemctl.told"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.slow
def test_it_comes_and_goes(home: Path) -> None:
    """Shown first, made and started once asked; nothing more the next time; ended and removed by `--undo`."""
    system = machine(home, "tmux", "systemctl")
    before = tree(home)
    assert setup.main(["--dry-run"], system) == 0
    assert "make ~/.config/systemd/user/tallylight-sessions.service and start it" in system.text
    assert tree(home) == before
    assert setup.main([], system) == 0
    assert unit.file(system).read_text() == unit.text(system)
    assert f'ExecStart="{home}/.local/share/tallylight/bin/tally" host sessions' in unit.text(system)
    assert told(home) == [
        f"--user {words}" for words in ("daemon-reload", f"enable {unit.NAME}", f"restart {unit.NAME}")
    ]
    assert "install it or WezTerm" not in system.text and f"watched by {unit.NAME}" in system.text
    system.said.clear()
    assert setup.main([], system) == 0
    assert "nothing changed" in system.text
    assert len(told(home)) == 3

    assert setup.main(["--undo"], system) == 0
    assert not unit.file(system).exists()
    assert told(home)[3:] == [f"--user disable --now {unit.NAME}", "--user daemon-reload"]


@pytest.mark.parametrize(
    ("programs", "kitty", "env"),
    [
        (("tmux",), False, {}),
        (("systemctl",), False, {}),
        (("tmux", "systemctl"), True, {}),
        (("tmux", "systemctl"), False, {"XDG_RUNTIME_DIR": "/nowhere"}),
    ],
    ids=["no systemd", "no tmux", "a terminal that does it", "no systemd of this user"],
)
def test_who_is_not_offered_it(home: Path, programs: tuple[str, ...], kitty: bool, env: dict[str, str]) -> None:
    """Whoever has no use for it, or nothing to run it."""
    system = machine(home, *programs, kitty=kitty)
    system = make_system(home, kitty=kitty, **{**system.env, **env}) if env else system
    assert not unit.is_stale(system, has_terminal=kitty)


def test_a_unit_of_somebodys_own_stays(home: Path) -> None:
    """One of the same name that we have not made is neither changed nor removed; an older one of ours is made anew."""
    system = machine(home, "tmux", "systemctl")
    unit.file(system).parent.mkdir(parents=True)
    unit.file(system).write_text("[Service]\nExecStart=mine\n")
    assert not unit.is_stale(system, has_terminal=False)
    assert not unit.is_there(system)
    unit.file(system).write_text(unit.text(system).replace("RestartSec=10", "RestartSec=1"))
    assert unit.is_stale(system, has_terminal=True)


def test_one_that_does_not_start_is_told(home: Path) -> None:
    """In the words of systemctl."""
    system = machine(home, "tmux", "systemctl")
    (home.parent / "programs/systemctl").write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    assert unit.apply(system) == "no bus"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_reads_it(home: Path, tmp_path: Path) -> None:
    """Wherever the home is."""
    odd = tmp_path / "a b%h$HOME"
    system = machine(odd, "tmux", "systemctl")
    launcher = odd / ".local/share/tallylight/bin/tally"
    launcher.parent.mkdir(parents=True)
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    (tmp_path / unit.NAME).write_text(unit.text(system))
    done = subprocess.run(["systemd-analyze", "verify", str(tmp_path / unit.NAME)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_doctor_asks_for_no_kitty_in_tmux(home: Path) -> None:
    """Who sits in tmux is not told to install kitty, nor that tmux lets nothing through to it."""
    system = machine(home, "tmux", "systemctl", TMUX="/tmp/tmux-0/default,1,0")
    found = {finding.what: finding for finding in doctor.examine(system, FakeWire())}
    assert "kitty" not in found and "tmux" not in found
    assert found["light"].health is Health.SKIPPED
    bare = {finding.what for finding in doctor.examine(machine(home), FakeWire())}
    assert "terminal" in bare
