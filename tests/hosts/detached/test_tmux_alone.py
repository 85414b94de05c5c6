"""A person who has tmux and no terminal of ours: they are notified, brought to the pane, and asked for no kitty."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.hosts.sessions_process import this_program
from tests.patience import until
from tests.real_kitty.asking_claude import install_asking_claude

pytestmark = pytest.mark.programs

_NOTES = '#!/bin/sh\nprintf \'%s\\n\' "$@" > "$0.new"\nmv "$0.new" "$0.told"\n'


@attrs.define
class Person:
    """One who is attached to the session `desk` of a tmux; in its session `work` an agent asks."""

    folder: Path
    env: dict[str, str]

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-u", *words], env=self.env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def tally(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command that is run in the pane of the session `desk`."""
        inside = self.tmux("display-message", "-p", "-t", "desk:", "#{socket_path},#{pid},0 #{pane_id}").split()
        env = {**self.env, "TMUX": inside[0], "TMUX_PANE": inside[1]}
        return subprocess.run(this_program(*words), env=env, capture_output=True, text=True, cwd=self.folder)

    def sees(self) -> str:
        """The session that they see."""
        rows = self.tmux("list-clients", "-F", "#{client_control_mode} #{session_name}").splitlines()
        return next((row.partition(" ")[2] for row in rows if row.startswith("0")), "")


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    kept = ("TMUX", "TMUX_PANE", "STY", "KITTY_PID", "WEZTERM_UNIX_SOCKET", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
    env = {name: value for name, value in os.environ.items() if name not in kept}
    programs = tmp_path / ".local/bin"
    programs.mkdir(parents=True)
    install_asking_claude(tmp_path)
    (programs / "notify-send").write_text(_NOTES)
    (programs / "notify-send").chmod(0o755)
    env |= {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "TMUX_TMPDIR": str(tmp_path)}
    env |= {"PATH": f"{programs}:{env['PATH']}", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    made = Person(tmp_path, env)
    made.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-s", "desk", "cat")
    made.tmux("new-session", "-d", "-x", "80", "-y", "24", "-s", "work", "cat")
    children = [
        subprocess.Popen(["script", "-qc", "tmux -u attach -t desk", "/dev/null"], env=env, stdin=-1, stdout=-3),
        subprocess.Popen(this_program("host", "sessions", "--no-screen"), env=env),
    ]
    until(lambda: made.sees() == "desk", "nobody is attached")
    yield made
    made.tmux("kill-server")
    for child in children:
        child.terminate()
        child.wait()


def test_they_are_told_and_brought_there(person: Person) -> None:
    """By `notify-send`, and by `tally jump` in the terminal in which they are, into the other session's window."""
    person.tmux("new-window", "-d", "-t", "work:", "claude")
    told = person.folder / ".local/bin/notify-send.told"
    until(told.exists, "nobody was told")
    words = told.read_text().splitlines()
    assert words[:2] == ["--app-name=Tallylight", "--"] and "touch made1" in told.read_text()

    done = person.tally("jump")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    until(lambda: person.sees() == "work", "they were not brought there")
    assert person.tmux("display-message", "-p", "-t", "work:", "#{window_index} #{pane_current_command}")[0] == "1"
    mine = person.tally("why").stdout
    assert "work" not in mine and "active" in mine, "without a name it is the pane in which it is run"


def test_doctor(person: Person) -> None:
    """It names the host of the sessions, and asks neither for kitty nor for what tmux would let through to one."""
    person.tmux("new-window", "-d", "-t", "work:", "claude")
    until(lambda: "sessions-" in person.tally("status", "--json").stdout, "no snapshot")
    said = person.tally("doctor").stdout
    names = [line[11:].partition("  ")[0] for line in said.splitlines()]
    assert "sessions" in names and "kitty" not in names and "tmux" not in names, said
