"""`tally setup` and `tally doctor` for WezTerm: one link in its directory, and nobody's Lua is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tallylight.model.finding import Health
from tallylight.setup import wezterm
from tests.install.fakes import FakeSystem, make_system, tree
from tests.wezterm.fake import Fake


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "somebody"
    home.mkdir()
    return home


def with_wezterm(home: Path, **env: str) -> FakeSystem:
    system = make_system(home, kitty=False, **env)
    program = Path(system.env["PATH"]) / "wezterm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return system


def run(system: FakeSystem, *argv: str) -> int:
    system.said.clear()
    return main(argv, system)


def health(system: FakeSystem, *sidecars: str) -> list[Health]:
    return [finding.health for finding in wezterm.findings(system, sidecars)]


def test_setup_and_undo(home: Path) -> None:
    """The link comes and goes, with the directory that had to be made for it; the two lines are told."""
    system = with_wezterm(home)
    before = tree(home)
    assert run(system, "--yes") == 0
    link = home / ".config" / "wezterm" / "tallylight"
    assert link.is_symlink() and (link / "init.lua").is_file()
    for line in wezterm.LINES:
        assert line in system.text
    assert run(system, "--yes") == 0
    assert "nothing changed" in system.text
    assert run(system, "--undo", "--yes") == 0
    assert not (home / ".config" / "wezterm").exists()
    assert run(system, "--uninstall", "--yes") == 0
    assert {path for path in tree(home) if ".local/bin" not in str(path)} >= set(before)
    assert not (home / ".local" / "share" / "tallylight").exists()


def test_what_is_linked_works(home: Path) -> None:
    """A configuration with the two lines loads from the link, by WezTerm's own search path."""
    system = with_wezterm(home)
    run(system, "--yes")
    folder = home / ".config" / "wezterm"
    fake = Fake(path=f"{folder}/?.lua;{folder}/?/init.lua")
    lines = "\n".join(wezterm.LINES)
    fake.evaluate(f"local config = require('wezterm').config_builder()\n{lines}\nreturn config")
    assert "format-tab-title" in fake.handlers


def test_a_dry_run_and_a_no(home: Path) -> None:
    """Neither makes anything, and both show the link."""
    system = with_wezterm(home)
    for argv in (("--dry-run",), ()):
        run(system, *argv)
        assert "link ~/.config/wezterm/tallylight" in system.text
        assert not (home / ".config").exists()


@pytest.mark.parametrize("where", [".wezterm.lua", ".config/wezterm/wezterm.lua"])
def test_lua_is_never_written(home: Path, where: str) -> None:
    """The person's file stays to the byte, and says whether the two lines are in it."""
    system = with_wezterm(home)
    config = home / where
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_bytes(b"-- local tallylight = require 'tallylight'\r\nreturn {}\r\n")
    run(system, "--yes")
    assert "put these two lines" in system.text
    assert health(system) == [Health.MISSING]
    config.write_text("local t = require('tallylight')\nreturn {}\n")
    run(system, "--yes")
    assert f"set up in ~/{where}" in system.text
    run(system, "--undo", "--yes")
    assert config.read_text() == "local t = require('tallylight')\nreturn {}\n"
    assert config.parent.is_dir()


def test_a_directory_of_somebody_elses(home: Path) -> None:
    """What is not ours at the link's place stays, and is named."""
    system = with_wezterm(home)
    theirs = home / ".config" / "wezterm" / "tallylight"
    theirs.mkdir(parents=True)
    (theirs / "init.lua").write_text("return {}")
    run(system, "--yes")
    assert "was not made by Tallylight" in system.text
    assert health(system) == [Health.BROKEN]
    run(system, "--undo", "--yes")
    assert (theirs / "init.lua").read_text() == "return {}"


def test_no_wezterm(home: Path) -> None:
    """Where there is no WezTerm nothing is made, told or found."""
    system = make_system(home, kitty=False)
    (Path(system.env["PATH"]) / "wezterm").unlink(missing_ok=True)
    run(system, "--yes")
    assert "WezTerm" not in system.text
    assert not (home / ".config" / "wezterm").exists()
    assert health(system) == []


def test_the_effect(home: Path) -> None:
    """The link alone is not enough for doctor: the Lua has to have started a sidecar."""
    system = with_wezterm(home, WEZTERM_UNIX_SOCKET="/run/gui-sock-1")
    assert health(system) == [Health.MISSING]
    run(system, "--yes")
    assert health(system) == [Health.MISSING]
    (home / ".wezterm.lua").write_text("require 'tallylight'")
    assert health(system) == [Health.BROKEN]
    assert health(system, "wezterm-4711") == [Health.OK]
    assert health(with_wezterm(home)) == [Health.OK]


def test_another_configuration_directory(home: Path) -> None:
    """The link is made where WezTerm looks by `XDG_CONFIG_HOME`, and an older one of ours is put right."""
    system = with_wezterm(home, XDG_CONFIG_HOME=str(home / "conf"))
    link = home / "conf" / "wezterm" / "tallylight"
    link.parent.mkdir(parents=True)
    link.symlink_to("/elsewhere/tallylight/wezterm/tallylight")
    run(system, "--yes")
    assert (link / "init.lua").is_file()
