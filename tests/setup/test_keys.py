"""Key bindings in `tally setup` and `tally doctor`: offered with the rest, written into our own file, listed."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tallylight.model.finding import Finding, Health
from tallylight.setup import checks
from tests.setup.fakes import FakeSystem, make_system


@dataclasses.dataclass(frozen=True)
class KeySystem(FakeSystem):
    """A system whose kitty tells what is on its keys."""

    taken: Mapping[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def options(self) -> dict[str, object]:
        """What else kitty tells of its configuration."""
        return {}

    def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        if words[1:2] == ["+runpy"]:
            wrong = [key for key in words[5:] if "nope" in key]
            taken = {key: self.taken.get(key, []) for key in words[5:] if key not in wrong}
            answer = {"mod": "ctrl+shift", "taken": taken, "wrong": wrong, **self.options}
            return subprocess.CompletedProcess(words, 0, "noise\n" + json.dumps(answer) + "\n", "")
        return super().run(command, timeout)


def system(home: Path, **taken: str) -> KeySystem:
    (home / ".config/kitty").mkdir(parents=True, exist_ok=True)
    (home / ".config/kitty/kitty.conf").touch()
    plain = make_system(home)
    fields = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    return KeySystem(**fields, taken={f"kitty_mod+{key.replace('_', '>')}": [what] for key, what in taken.items()})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home of me"
    home.mkdir()
    return home


def bound(home: Path) -> list[str]:
    """The `map` lines of our own file."""
    text = (home / ".local/share/tallylight/kitty.conf").read_text()
    return [line for line in text.splitlines() if line.startswith("map ")]


def setup(system: KeySystem, *argv: str) -> str:
    system.said.clear()
    assert main(argv, system) == 0
    return system.text


def doctor(system: KeySystem) -> list[Finding]:
    return [finding for finding in checks.terminal(system) if finding.what == "keys"]


@pytest.mark.slow
def test_keys_are_shown_written_and_listed(home: Path) -> None:
    """What will be bound is told before anything is done, stands in our file alone, and is listed afterwards."""
    it = system(home)
    told = setup(it, "--dry-run")
    assert "ctrl+shift+y" in told and not (home / ".local/share/tallylight").exists()
    told = setup(it, "--yes")
    assert told.count("ctrl+shift+y") == 2 and "ctrl+shift+a>f" in told
    kittens = home / ".local/share/tallylight/kittens"
    assert bound(home)[0] == f"map kitty_mod+y kitten '{kittens}/jump.py'"
    assert "map " not in (home / ".config/kitty/kitty.conf").read_text()
    (finding,) = doctor(it)
    assert finding.health is Health.OK
    assert finding.text.startswith("ctrl+shift+y jump, ctrl+shift+a>k jump_previous, ctrl+shift+i agents")
    for line in bound(home):
        name = line.split("kittens/")[1].split("'")[0]
        assert (kittens / name).is_file()


@pytest.mark.slow
def test_a_second_setup_changes_nothing(home: Path) -> None:
    """With its keys bound, there is nothing to do."""
    it = system(home)
    setup(it, "--yes")

    assert "nothing changed" in setup(it)


@pytest.mark.slow
def test_a_key_that_was_taken_since_is_found_and_moved(home: Path) -> None:
    """doctor names what is on the same key, and setup takes another one."""
    setup(system(home), "--yes")
    it = system(home, y="new_tab")
    _, finding = doctor(it)
    assert finding.health is Health.DUPLICATE and "ctrl+shift+y is for jump, and also for `new_tab`" in finding.text
    setup(it, "--yes")

    assert bound(home)[0].startswith("map kitty_mod+a>j ")
    assert [found.health for found in doctor(it)] == [Health.OK]


@pytest.mark.slow
def test_a_persons_own_keys(home: Path) -> None:
    """`[keys]` decides: another key, whatever is on it, or none; doctor does not find fault with that."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keys]\njump = "kitty_mod+t"\nfork = ""\n')
    it = system(home, t="new_tab")
    setup(it, "--yes")

    assert bound(home)[0].startswith("map kitty_mod+t kitten ")
    assert not any(line.split("/")[-1] == "fork.py'" for line in bound(home))
    assert [finding.health for finding in doctor(it)] == [Health.OK]


def test_what_finds_no_free_key_is_named(home: Path) -> None:
    """Actions whose keys are all taken are named, with the file to choose one in; those that want none are not."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keys]\nresume = ""\n')
    taken = dict.fromkeys(("i", "a_a", "alt+a", "a_s", "alt+s", "a_z"), "new_tab")
    text = setup(system(home, **taken), "--yes")

    assert "no free key for agents, snooze: set some in [keys]" in text
    assert "of ~/.config/tallylight/config.toml, then run this again" in text
    assert len(bound(home)) == 5


@pytest.mark.slow
def test_what_is_no_key_is_told_and_not_bound(home: Path) -> None:
    """A key that no keyboard has costs its action the wish, in setup and in doctor by its name."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[keys]\njump = "ctrl+shift+nope"\nagents = "f5"\n')
    it = system(home)
    said = setup(it, "--yes")

    assert "keys.jump: kitty knows no key 'ctrl+shift+nope'" in said
    assert not any("nope" in line for line in bound(home)) and any(" f5 " in line for line in bound(home))
    broken = [finding for finding in doctor(it) if finding.is_fault]
    assert [finding.text for finding in broken] == ["keys.jump: kitty knows no key 'ctrl+shift+nope'"]
    assert "config.toml" in broken[0].remedy


@pytest.mark.slow
def test_without_an_answer_the_keys_stay(home: Path) -> None:
    """A kitty that cannot be asked gets no new keys, and keeps those it has."""
    plain = make_system(home)
    (home / ".config/kitty").mkdir(parents=True)
    (home / ".config/kitty/kitty.conf").touch()
    assert main(["--yes"], plain) == 0
    assert bound(home) == [] and "none bound" in plain.text and "kitty did not report" in plain.text
    setup(system(home), "--yes")
    before = bound(home)
    assert main([], plain) == 0 and bound(home) == before != []


def test_undo_takes_the_keys_along(home: Path) -> None:
    """Without our include there are no keys of ours."""
    it = system(home)
    setup(it, "--yes")
    setup(it, "--undo", "--yes")

    assert (home / ".config/kitty/kitty.conf").read_text() == ""
