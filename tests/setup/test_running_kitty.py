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


@pytest.mark.slow
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
        assert "Next: press ctrl+shift+i once, or open a new tab. Then all open windows have lights." in told


def test_a_kitty_that_does_not_answer(home: Path) -> None:
    """The key is named."""
    assert "Next: press ctrl+shift+i once" in setup(make(home, remote="yes", is_answering=False))


@pytest.mark.parametrize("argv", [("--dry-run",), ("--yes",)])
def test_nothing_is_sent_to_what_is_no_kitty(home: Path, argv: tuple[str, ...]) -> None:
    """Neither to another program that has the number now, nor in a dry run."""
    system = make(home, kittys=() if argv == ("--yes",) else (PID,))
    told = setup(system, *argv)

    assert system.signals == []
    assert ("in each running kitty: reload its configuration" in told) == (argv == ("--yes",))


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

    assert "keeps the previous release until you restart it; `tally doctor` lists" in told
    assert system.asked == []


@pytest.mark.parametrize("way", ["--undo", "--uninstall"])
def test_a_kitty_gives_it_back(home: Path, way: str) -> None:
    """Each kitty that shows lights reads its configuration again, as was announced; no other program does."""
    system = make(home, kittys=(PID, "4712"), env={"XDG_RUNTIME_DIR": str(home / "run")})
    setup(system)
    folder = home / "run/tallylight"
    folder.mkdir(parents=True)
    for name in ("kitty-4712.json", "kitty-4713.json", "kitty-x.json", "wezterm-4712.json"):
        (folder / name).touch()
    system.signals.clear()
    system.said.clear()

    told = setup(system, way, "--yes")
    assert sorted(system.signals) == [(int(PID), signal.SIGUSR1), (4712, signal.SIGUSR1)]
    assert "Every kitty with lights will reload its configuration." in told
    assert "its lights go out, and its keys are free" in told


def test_without_a_kitty_that_runs_it_says_what_to_do(home: Path) -> None:
    """One that runs elsewhere keeps its lights until it is reloaded."""
    system = make(home, kittys=())
    setup(system)
    system.signals.clear()
    assert "until you reload its configuration (ctrl+shift+f5)" in setup(system, "--undo", "--yes")
    assert system.signals == []


def test_what_an_uninstallation_keeps_is_named(home: Path) -> None:
    """The history of turns is a person's own: it stays, and it is said where."""
    system = make(home)
    setup(system)
    state = home / ".local/state/tallylight"
    for name in ("history/turns.jsonl", "labels/labels.json", *(f"open/kitty-{n}.json" for n in range(9))):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).touch()
    told = setup(system, "--uninstall", "--yes")
    assert "~/.local/state/tallylight was kept; it holds history/turns.jsonl, labels/labels.json, " in told
    assert ", 3 more. Delete it" in told


@pytest.mark.slow
def test_up_to_date_is_left_alone(home: Path) -> None:
    """The second run does nothing to kitty."""
    system = make(home)
    setup(system)
    system.signals.clear()
    setup(system)
    assert system.signals == []
