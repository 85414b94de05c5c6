"""`tally setup` and `tally doctor` for WezTerm: one link in its directory, and nobody's Lua is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tallylight.model.finding import Health
from tallylight.setup import wezterm
from tests.install.fakes import FakeWorld, make_world, tree
from tests.wezterm.fake import Fake


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "somebody"
    home.mkdir()
    return home


def with_wezterm(home: Path, **env: str) -> FakeWorld:
    world = make_world(home, kitty=False, **env)
    program = Path(world.env["PATH"]) / "wezterm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return world


def run(world: FakeWorld, *argv: str) -> int:
    world.said.clear()
    return main(argv, world)


def health(world: FakeWorld, *sidecars: str) -> list[Health]:
    return [finding.health for finding in wezterm.findings(world, sidecars)]


def test_setup_and_undo(home: Path) -> None:
    """The link comes and goes, with the directory that had to be made for it; the two lines are told."""
    world = with_wezterm(home)
    before = tree(home)
    assert run(world, "--yes") == 0
    link = home / ".config" / "wezterm" / "tallylight"
    assert link.is_symlink() and (link / "init.lua").is_file()
    for line in wezterm.LINES:
        assert line in world.text
    assert run(world, "--yes") == 0
    assert "nothing changed" in world.text
    assert run(world, "--undo", "--yes") == 0
    assert not (home / ".config" / "wezterm").exists()
    assert run(world, "--uninstall", "--yes") == 0
    assert {path for path in tree(home) if ".local/bin" not in str(path)} >= set(before)
    assert not (home / ".local" / "share" / "tallylight").exists()


def test_what_is_linked_works(home: Path) -> None:
    """A configuration with the two lines loads from the link, by WezTerm's own search path."""
    world = with_wezterm(home)
    run(world, "--yes")
    folder = home / ".config" / "wezterm"
    fake = Fake(path=f"{folder}/?.lua;{folder}/?/init.lua")
    lines = "\n".join(wezterm.LINES)
    fake.evaluate(f"local config = require('wezterm').config_builder()\n{lines}\nreturn config")
    assert "format-tab-title" in fake.handlers


def test_a_dry_run_and_a_no(home: Path) -> None:
    """Neither makes anything, and both show the link."""
    world = with_wezterm(home)
    for argv in (("--dry-run",), ()):
        run(world, *argv)
        assert "link ~/.config/wezterm/tallylight" in world.text
        assert not (home / ".config").exists()


@pytest.mark.parametrize("where", [".wezterm.lua", ".config/wezterm/wezterm.lua"])
def test_lua_is_never_written(home: Path, where: str) -> None:
    """The person's file stays to the byte, and says whether the two lines are in it."""
    world = with_wezterm(home)
    config = home / where
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_bytes(b"-- local tallylight = require 'tallylight'\r\nreturn {}\r\n")
    run(world, "--yes")
    assert "put these two lines" in world.text
    assert health(world) == [Health.MISSING]
    config.write_text("local t = require('tallylight')\nreturn {}\n")
    run(world, "--yes")
    assert f"wired in ~/{where}" in world.text
    run(world, "--undo", "--yes")
    assert config.read_text() == "local t = require('tallylight')\nreturn {}\n"
    assert config.parent.is_dir()


def test_a_directory_of_somebody_elses(home: Path) -> None:
    """What is not ours at the link's place stays, and is named."""
    world = with_wezterm(home)
    theirs = home / ".config" / "wezterm" / "tallylight"
    theirs.mkdir(parents=True)
    (theirs / "init.lua").write_text("return {}")
    run(world, "--yes")
    assert "is not ours" in world.text
    assert health(world) == [Health.BROKEN]
    run(world, "--undo", "--yes")
    assert (theirs / "init.lua").read_text() == "return {}"


def test_no_wezterm(home: Path) -> None:
    """Where there is no WezTerm nothing is made, told or found."""
    world = make_world(home, kitty=False)
    (Path(world.env["PATH"]) / "wezterm").unlink(missing_ok=True)
    run(world, "--yes")
    assert "WezTerm" not in world.text
    assert not (home / ".config" / "wezterm").exists()
    assert health(world) == []


def test_the_effect(home: Path) -> None:
    """The link alone is not enough for doctor: the Lua has to have started a sidecar."""
    world = with_wezterm(home, WEZTERM_UNIX_SOCKET="/run/gui-sock-1")
    assert health(world) == [Health.MISSING]
    run(world, "--yes")
    assert health(world) == [Health.MISSING]
    (home / ".wezterm.lua").write_text("require 'tallylight'")
    assert health(world) == [Health.BROKEN]
    assert health(world, "wezterm-4711") == [Health.OK]
    assert health(with_wezterm(home)) == [Health.OK]


def test_another_configuration_directory(home: Path) -> None:
    """The link is made where WezTerm looks by `XDG_CONFIG_HOME`, and an older one of ours is put right."""
    world = with_wezterm(home, XDG_CONFIG_HOME=str(home / "conf"))
    link = home / "conf" / "wezterm" / "tallylight"
    link.parent.mkdir(parents=True)
    link.symlink_to("/elsewhere/tallylight/wezterm/tallylight")
    run(world, "--yes")
    assert (link / "init.lua").is_file()
