"""Extras: what `tally serve` and a fleet need is fetched when it is asked for, whole, and used by nothing else."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallylight.cli import setup
from tallylight.files import extras
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.setup import dependencies, environment

ROOT = Path(__file__).parents[2]


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})


def test_both_lists_are_one() -> None:
    """What `--with` fetches is what pyproject.toml names for those who install with pip."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert {name: tuple(found) for name, found in table["project"]["optional-dependencies"].items()} == extras.EXTRAS


def test_an_extra_is_put_in_whole_or_not_at_all(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one takes the place of the old; when it cannot be had the old one stays, and nothing half done is left."""
    text = "1"

    def install(_world: System, _python: Path, target: Path, required: Sequence[str], wanted: Sequence[str]) -> bool:
        assert (tuple(required), tuple(wanted)) == (extras.EXTRAS["fleet"], ())
        target.mkdir()
        (target / "paho.py").write_text(text)
        if text == "3":
            raise TallyError("no network")
        return True

    monkeypatch.setattr(dependencies, "install", install)
    for text in ("1", "2"):
        folder = environment.add_extra(system, Path(sys.executable), "fleet")
        assert (folder / "paho.py").read_text() == text
    text = "3"
    with pytest.raises(TallyError, match="no network"):
        environment.add_extra(system, Path(sys.executable), "fleet")
    assert (folder / "paho.py").read_text() == "2"
    assert [path.name for path in folder.parent.iterdir()] == ["fleet"]
    environment.remove(system)
    assert not folder.parent.exists()


def test_a_dry_run_fetches_nothing(
    system: System, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--with serve --dry-run` names the packages and leaves the home as it is."""
    monkeypatch.setattr(dependencies, "install", lambda *_: pytest.fail("it was fetched"))

    assert setup.main(["--with", "serve", "--dry-run"], system) == 0

    assert "uvicorn" in capsys.readouterr().out
    assert not (system.home / ".local").exists()


def test_it_is_found_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is on the path of a process that enables it, last, once; without it the message says how to get it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["a"])
    extras.enable("serve")
    assert sys.path == ["a"]
    extras.folder("serve").mkdir(parents=True)
    extras.enable("serve")
    extras.enable("serve")
    assert sys.path == ["a", str(tmp_path / "tallylight/extras/serve")]
    assert "tally setup --with serve" in str(extras.missing("serve"))
