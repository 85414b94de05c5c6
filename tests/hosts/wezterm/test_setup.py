"""`tally setup` and `tally doctor` for WezTerm: one link in its directory, and nobody's Lua is written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import tallylight
from tallylight.cli import doctor
from tallylight.cli.setup import main
from tallylight.model.finding import Health
from tallylight.setup import wezterm, wezterm_lua
from tallylight.snapshot import writer
from tests.hosts.wezterm.fake import Fake
from tests.setup.fakes import FakeSystem, make_system, tree


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


@pytest.mark.slow
def test_setup_and_undo(home: Path) -> None:
    """The link comes and goes, with the directory that had to be made for it; the two lines are told."""
    system = with_wezterm(home)
    before = tree(home)
    assert run(system, "--yes") == 0
    link = home / ".config" / "wezterm" / "tallylight"
    assert link.is_symlink() and (link / "init.lua").is_file()
    for line in wezterm.WHOLE.split("\n"):
        assert line in system.text
    assert run(system, "--yes") == 0
    assert "nothing changed" in system.text
    assert run(system, "--undo", "--yes") == 0
    assert not (home / ".config" / "wezterm").exists()
    assert run(system, "--uninstall", "--yes") == 0
    assert {path for path in tree(home) if ".local/bin" not in str(path)} >= set(before)
    assert not (home / ".local" / "share" / "tallylight").exists()


@pytest.mark.slow
def test_what_is_linked_works(home: Path) -> None:
    """A configuration with the printed lines loads from the link, by WezTerm's own search path."""
    system = with_wezterm(home)
    run(system, "--yes")
    folder = home / ".config" / "wezterm"
    fake = Fake(path=f"{folder}/?.lua;{folder}/?/init.lua")
    fake.evaluate(wezterm.WHOLE)
    assert "format-tab-title" in fake.handlers


def test_a_dry_run_and_a_no(home: Path) -> None:
    """Neither makes anything, and both show the link."""
    system = with_wezterm(home)
    for argv in (("--dry-run",), ()):
        run(system, *argv)
        assert "link ~/.config/wezterm/tallylight" in system.text
        assert not (home / ".config").exists()


@pytest.mark.slow
@pytest.mark.parametrize("where", [".wezterm.lua", ".config/wezterm/wezterm.lua"])
def test_lua_is_never_written(home: Path, where: str) -> None:
    """The person's file stays to the byte, and says whether the two lines are in it."""
    system = with_wezterm(home)
    config = home / where
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_bytes(b"-- local tallylight = require 'tallylight'\r\nreturn {}\r\n")
    run(system, "--yes")
    assert f"change ~/{where} yourself" in system.text and "in line 2, instead of `return`, write" in system.text
    assert "run `tally doctor` in WezTerm" in system.text
    assert "kitty" not in system.text
    assert health(system) == [Health.MISSING]
    lines = f"{wezterm.WHOLE}\n"
    config.write_text(lines)
    run(system, "--yes")
    assert f"set up in ~/{where}" in system.text
    run(system, "--undo", "--yes")
    assert config.read_text() == lines
    assert config.parent.is_dir() and not (home / ".config/wezterm/tallylight").exists()


def evaluate(home: Path, config: str) -> Fake:
    """WezTerm loads this configuration; where it cannot, it would open a window with the error."""
    folder = home / ".config" / "wezterm"
    fake = Fake(path=f"{folder}/?.lua;{folder}/?/init.lua")
    fake.evaluate(
        f"local wezterm = require 'wezterm'\nlocal config = wezterm.config_builder()\n{config}\nreturn config"
    )
    return fake


PRINTED = f"{wezterm_lua.LOAD}\n{wezterm_lua.apply('config')}"
PLAIN = "local tallylight = require 'tallylight'\ntallylight.apply_to_config(config)"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--undo", "--uninstall"])
@pytest.mark.parametrize("lines", [PRINTED, PLAIN], ids=["printed", "plain"])
def test_a_configuration_that_still_loads_us(home: Path, verb: str, lines: str) -> None:
    """It is told of first, line by line, and goes on to work: by itself, or because a stub stays that does nothing."""
    system = with_wezterm(home)
    config = home / ".wezterm.lua"
    config.write_text(lines)
    run(system, "--yes")
    assert "format-tab-title" in evaluate(home, lines).handlers
    run(system, verb, "--yes")
    assert system.text.index("~/.wezterm.lua still loads Tallylight") < system.text.index("removed")
    for number, line in enumerate(lines.split("\n"), 1):
        assert f"{number}: {line}" in system.text
    fake = evaluate(home, lines)
    assert fake.handlers == {}
    link = home / ".config" / "wezterm" / "tallylight"
    assert link.exists() is (lines == PLAIN)
    if lines == PLAIN:
        assert "Tallylight was removed" in fake.log[0][1]
        more = "wezterm.on('format-tab-title', tallylight.wrap(function() return 'x' .. tallylight.component() end))"
        evaluate(home, f"{PLAIN}\n{more}\nassert(tallylight.tab_state({{}}) == nil)").draw()
        # Once the lines are gone so is the stub, and whoever sets up again gets the link.
        run(system, "--yes")
        assert link.is_symlink()
        run(system, "--undo", "--yes")
        config.write_text("return {}")
        run(system, "--undo", "--yes")
        assert not link.exists()


@pytest.mark.slow
def test_a_stub_that_was_changed_is_theirs(home: Path) -> None:
    """What a person has put into the stub, or beside it, stays."""
    system = with_wezterm(home)
    (home / ".wezterm.lua").write_text(PLAIN)
    run(system, "--yes")
    run(system, "--undo", "--yes")
    link = home / ".config" / "wezterm" / "tallylight"
    (link / "mine.lua").write_text("return 1")
    (home / ".wezterm.lua").write_text("return {}")
    run(system, "--yes")
    assert "was not made by Tallylight" in system.text
    run(system, "--undo", "--yes")
    assert (link / "mine.lua").read_text() == "return 1"


@pytest.mark.slow
def test_a_plugin_has_its_own_copy(home: Path) -> None:
    """`wezterm.plugin.require` does not need the link, so no stub is left for it."""
    system = with_wezterm(home)
    (home / ".wezterm.lua").write_text("local t = wezterm.plugin.require 'https://example.org/tallylight'")
    run(system, "--yes")
    run(system, "--undo", "--yes")
    assert not (home / ".config" / "wezterm" / "tallylight").exists()


@pytest.mark.slow
def test_no_empty_directories_stay(home: Path) -> None:
    """Directories that setup made go with it; one into which something else has come stays."""
    system = with_wezterm(home)
    before = {path for path in home.rglob("*") if path.is_dir()}
    run(system, "--yes")
    run(system, "--uninstall", "--yes")
    assert {path for path in home.rglob("*") if path.is_dir()} == before
    run(system, "--yes")
    (home / ".local" / "share" / "mine").mkdir()
    run(system, "--uninstall", "--yes")
    assert {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_dir()} - {
        path.relative_to(home).as_posix() for path in before
    } == {".local", ".local/share", ".local/share/mine"}


def test_what_the_lua_says_is_wrong(home: Path) -> None:
    """`tally doctor` tells what the Lua in a running WezTerm found wrong, and that it is of another version."""
    (home / "run").mkdir(mode=0o700)
    system = with_wezterm(home, XDG_RUNTIME_DIR=str(home / "run"))
    folder = writer.directory(system.env)
    folder.mkdir(mode=0o700)
    feed = folder / f"wezterm-{os.getpid()}.feed.json"

    def found(**more: object) -> list[tuple[Health, str]]:
        feed.write_text(json.dumps({"version": 1, "release": tallylight.__version__, **more}))
        feed.chmod(0o600)
        return [(finding.health, finding.text) for finding in doctor._feeds(system)]

    assert found() == []
    assert [health for health, _ in found(problems="keys,handlers,titles,other")] == [Health.BROKEN] * 3
    assert found(release="0.0.1") == [(Health.STALE, f"WezTerm {os.getpid()} runs the Lua files of 0.0.1")]
    assert found(release=None)[0][0] is Health.STALE
    assert "wezterm.plugin.update_all()" in next(doctor._feeds(system)).remedy
    feed.rename(folder / "wezterm-999999999.feed.json")
    assert list(doctor._feeds(system)) == []


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
    assert "\n  WezTerm " not in system.text
    assert not (home / ".config" / "wezterm").exists()
    assert health(system) == []


@pytest.mark.slow
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
    late = "wezterm.on('format-tab-title', f)\nrequire 'tallylight'"
    (home / ".wezterm.lua").write_text(late)
    assert health(system, "wezterm-4711") == [Health.BROKEN]
    run(system, "--yes")
    assert "move the line that loads Tallylight to the top" in system.text


def test_another_configuration_directory(home: Path) -> None:
    """The link is made where WezTerm looks by `XDG_CONFIG_HOME`, and an older one of ours is put right."""
    system = with_wezterm(home, XDG_CONFIG_HOME=str(home / "conf"))
    link = home / "conf" / "wezterm" / "tallylight"
    link.parent.mkdir(parents=True)
    link.symlink_to("/elsewhere/tallylight/wezterm/tallylight")
    run(system, "--yes")
    assert (link / "init.lua").is_file()
