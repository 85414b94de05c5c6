"""`tally setup --with tmux`, with a real tmux: the keys, the lights, whoever starts the host, and back to the byte."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.cli import setup
from tallylight.files import install_paths
from tallylight.model.errors import TallyError
from tallylight.setup import tmux
from tests.setup.fakes import FakeSystem, make_system
from tests.tables import each

pytestmark = pytest.mark.programs

FORMAT = "#[bg=red] #I,#{?window_flags,x,y} #W "
THEIRS = f"set -g status-style bg=black\nbind a display-message hi\nset -g window-status-format '{FORMAT}'\nset -g @x 1"


@attrs.define
class Machine:
    """A home with a tmux.conf, and a server that has read it; `tally` there notes how it was called."""

    home: Path
    system: FakeSystem

    @property
    def conf(self) -> Path:
        return self.home / ".tmux.conf"

    @property
    def called(self) -> Path:
        return self.home / "called"

    def tmux(self, *words: str) -> str:
        env = {"HOME": str(self.home), "TMUX_TMPDIR": str(self.home), "PATH": "/usr/bin:/bin", "TERM": "xterm"}
        done = subprocess.run(
            ["tmux", "-u", "-f", str(self.conf), *words], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.rstrip("\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture
def machine(home: Path) -> Iterator[Machine]:
    machine = Machine(home, make_system(home, answer=True, kitty=False))
    launcher = install_paths.layout(machine.system).launcher
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f'#!/bin/sh\necho "$@" >> {machine.called}\n')
    launcher.chmod(0o755)
    yield machine
    subprocess.run(["tmux", "kill-server"], env={"TMUX_TMPDIR": str(home)}, capture_output=True, check=False)


@each("theirs", [THEIRS, f"{THEIRS}\n", "", None, "# é\r\nset -g @x 1\r\n"])
def test_back_to_the_byte(home: Path, theirs: str | None) -> None:
    """What it changes it takes back: every byte, and a file that was not there is not there."""
    path = home / ".tmux.conf"
    system = make_system(home, answer=True, kitty=False)
    if theirs is not None:
        path.write_bytes(theirs.encode())
    assert setup.main(["--with", "tmux", "--dry-run"], system) == 0
    assert not path.exists() if theirs is None else path.read_bytes() == theirs.encode()
    assert setup.main(["--with", "tmux"], system) == 0
    assert "source-file -q" in path.read_text()
    changed = path.read_bytes()
    assert setup.main(["--with", "tmux"], system) == 0
    assert path.read_bytes() == changed
    assert setup.main(["--undo"], system) == 0
    assert not path.exists() if theirs is None else path.read_bytes() == theirs.encode()
    path.unlink(missing_ok=True)


def test_what_tmux_makes_of_it(machine: Machine) -> None:
    """A free key leads to ours; a window's light stands before the person's own format, also when it is read again."""
    machine.conf.write_text(THEIRS)
    assert setup.main(["--with", "tmux"], machine.system) == 0
    machine.tmux("new-session", "-d", "-x", "80", "-y", "24", "cat")
    machine.tmux("source-file", str(machine.conf))

    assert "switch-client -T tally" in machine.tmux("list-keys", "-T", "prefix", "y")
    assert machine.tmux("list-keys", "-T", "prefix", "a").endswith("display-message hi")
    assert len(machine.tmux("list-keys", "-T", "tally").splitlines()) == len(tmux.KEYS)
    plain = machine.tmux("display-message", "-p", "#{E:window-status-format}")
    assert plain == machine.tmux("display-message", "-p", FORMAT)
    for status, mark, colour, expected in (
        ("waiting", "!", "#FFAA00", "#[fg=black,bold,bg=#FFAA00] ! #[default] "),
        ("working", "●", "#3399FF", "#[fg=#3399FF]●#[default] "),
    ):
        for name, value in (("", status), ("_mark", mark), ("_colour", colour)):
            machine.tmux("set-option", "-w", f"@tally{name}", value)
        lit = machine.tmux("display-message", "-p", "#{E:window-status-format}")
        assert lit == f"{expected}{plain}"


def test_who_watches(machine: Machine) -> None:
    """Without systemd tmux starts the host, which is quiet if there is one; with it the unit does."""
    assert "host sessions --quiet" in tmux.text(machine.system, "a")
    (machine.home / "run/systemd").mkdir(parents=True)
    programs = machine.home.parent / "programs"
    for name in ("tmux", "systemctl"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    system = make_system(machine.home, kitty=False, XDG_RUNTIME_DIR=str(machine.home / "run"))
    assert "host sessions" not in tmux.text(system, "a")


def test_the_file_that_is_there(home: Path) -> None:
    """The one in the folder of the configuration, if there is one and none in the home."""
    system = make_system(home, kitty=False)
    path = home / ".config/tmux/tmux.conf"
    path.parent.mkdir(parents=True)
    path.touch()
    assert tmux.conf(system) == path
    (home / ".tmux.conf").touch()
    assert tmux.conf(system) == home / ".tmux.conf"


@each(
    ("theirs", "key"),
    [
        ("", "a"),
        ("bind -N 'my own' a next-window\nbind-key -r y next-window", "e"),
        ("bind -T prefix a next-window\nbind -n y next-window\nbind -T copy-mode a cancel", "y"),
    ],
)
def test_a_free_key(theirs: str, key: str, home: Path) -> None:
    """The first that the person does not bind."""
    assert tmux.free_prefix(make_system(home, kitty=False), theirs) == key


def test_no_free_key(home: Path) -> None:
    """It says which would do."""
    theirs = "".join(f"bind {key} next-window\n" for key in tmux.PREFIXES)
    with pytest.raises(TallyError, match="free one of them"):
        tmux.free_prefix(make_system(home, kitty=False), theirs)
