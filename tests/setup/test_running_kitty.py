"""`tally setup` in a kitty that runs: what it does to it, what it tells, and what it leaves to a person."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tests.setup.fakes import make_system
from tests.setup.test_keys import KeySystem
from tests.setup.test_keys import home as home  # a fixture

PID = "4711"


@dataclasses.dataclass(frozen=True)
class RunningSystem(KeySystem):
    """A system in a kitty that allows some remote control."""

    remote: str = "no"
    is_answering: bool = True
    asked: list[list[str]] = dataclasses.field(default_factory=list)

    @property
    def options(self) -> dict[str, object]:
        return {"remote_control": self.remote}

    def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        if words[1:2] == ["@"]:
            self.asked.append(words[2:])
            return subprocess.CompletedProcess(words, 0 if self.is_answering else 1, "", "")
        return super().run(command, timeout)


def make(home: Path, *, kittys: tuple[str, ...] = (PID,), **more: object) -> RunningSystem:
    (home / ".config/kitty").mkdir(parents=True, exist_ok=True)
    (home / ".config/kitty/kitty.conf").touch()
    env = more.pop("env", {})
    assert isinstance(env, dict)
    plain = make_system(home, KITTY_PID=PID, **env)
    fields = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    return RunningSystem(**{**fields, "kittys": kittys}, **more)  # type: ignore[arg-type]


def setup(system: RunningSystem, *argv: str) -> str:
    assert main(argv or ("--yes",), system) == 0
    return system.text


@pytest.mark.parametrize(
    ("remote", "env", "asks"),
    [
        ("no", {}, False),
        ("password", {"KITTY_LISTEN_ON": "unix:/x"}, False),
        ("socket-only", {}, False),
        ("socket-only", {"KITTY_LISTEN_ON": "unix:/x"}, True),
        ("socket", {"KITTY_LISTEN_ON": "unix:/x", "TMUX": "/t,1,0"}, True),
        ("yes", {}, True),
        ("yes", {"TMUX": "/t,1,0"}, False),
        ("y", {"STY": "1.x"}, False),
    ],
)
def test_remote_control_is_used_where_it_is_on(home: Path, remote: str, env: dict[str, str], asks: bool) -> None:
    """And else the key is named that does the same; kitty reads its configuration again either way, as was shown."""
    system = make(home, remote=remote, env=env)
    told = setup(system)

    assert system.signals == [(int(PID), signal.SIGUSR1)]
    assert "have this kitty read its configuration again" in told
    assert system.asked == ([["kitten", str(home / ".local/share/tallylight/kittens/attach.py")]] if asks else [])
    if asks:
        assert "This kitty runs Tallylight now" in told
    else:
        assert "Next: press ctrl+shift+i once, or open a new tab: then all open windows have lights." in told


def test_a_kitty_that_does_not_answer(home: Path) -> None:
    """The key is named."""
    assert "Next: press ctrl+shift+i once" in setup(make(home, remote="yes", is_answering=False))


@pytest.mark.parametrize("argv", [("--dry-run",), ("--yes",)])
def test_nothing_is_sent_to_what_is_no_kitty(home: Path, argv: tuple[str, ...]) -> None:
    """Neither to another program that has the number now, nor in a dry run."""
    system = make(home, kittys=() if argv == ("--yes",) else (PID,))
    told = setup(system, *argv)

    assert system.signals == []
    assert ("in each kitty that runs, reload its configuration" in told) == (argv == ("--yes",))


@pytest.mark.slow
def test_an_update_does_not_claim_to_be_there(home: Path) -> None:
    """A kitty that runs has the modules of the release before; it is said who tells which kitty that is."""
    system = make(home, remote="yes")
    setup(system)
    link = home / ".local/share/tallylight/lib"
    release = link.resolve()
    link.unlink()
    link.symlink_to("releases/0.0.1-old/lib")
    release.parent.rename(release.parent.with_name("0.0.1-old"))
    system.said.clear()
    system.asked.clear()
    told = setup(system)

    assert "keeps the previous release until it is restarted; `tally doctor` names" in told
    assert system.asked == []


def test_up_to_date_is_left_alone(home: Path) -> None:
    """The second run does nothing to kitty."""
    system = make(home)
    setup(system)
    system.signals.clear()
    setup(system)
    assert system.signals == []
