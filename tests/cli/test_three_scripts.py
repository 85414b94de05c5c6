"""Three scripts that people write with these commands: two agents in turn, a check of a build, and a bar."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.cli.panes import DONE, WAITING, WORKING, publish
from tests.hosts.test_detached import SCREENS
from tests.patience import until

pytestmark = pytest.mark.programs

#: It works until its host has seen that, and is at its prompt then; and so for each text. It notes what it is told.
AGENT = r"""#!/usr/bin/python3
import json, os, subprocess, sys, time, tty
folder = os.path.dirname(os.path.abspath(__file__))

def show(name):
    head, _, body = open(f"{os.environ['SCREENS']}/{name}.txt").read().partition("---\n")
    row = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("cursor:"))
    lines = body.rstrip("\n").split("\n")
    lines = [line[0] * os.get_terminal_size().columns if set(line) in ({"─"}, {"╌"}) else line for line in lines]
    sys.stdout.write("\x1b[?2004h\x1b[2J\x1b[H" + "\r\n".join(lines) + f"\x1b[{row + 1};{len(lines[row]) + 1}H")
    sys.stdout.flush()

def is_seen():
    told = subprocess.run(["tally", "status", "--json"], capture_output=True, text=True).stdout
    return any(pane["status"] == "working" for pane in json.loads(told)["panes"])

tty.setraw(0)
told = sys.argv[1]
while True:
    show("working-80")
    with open(f"{folder}/told", "a") as file:
        file.write(told + "\n")
    while not is_seen():
        time.sleep(0.05)
    show("idle-after-turn-80")
    told = ""
    while not told.endswith("\r"):
        told += os.read(0, 4096).decode()
    told = told.removeprefix("\x1b[200~").removesuffix("\r").removesuffix("\x1b[201~")
"""

TURNS = """
writer=$(tally start claude --wait --timeout 300 --prompt 'Write the parser.') || exit
reviewer=$(tally start claude --wait --timeout 300 --prompt 'Review the diff.') || exit
tally send "$writer" --wait --timeout 300 'Mend what the review in review.md found.'
"""

CHECK = """
tally wait --all --timeout 600 > state
case $? in
  0) ;;
  3) echo 'an agent waits for a person:'; tally status --waiting; exit 1 ;;
  *) cat state; exit 1 ;;
esac
"""

BAR = "tally watch | while read -r line; do printf '%s\\n' \"$line\" | jq -r .text; done"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the program `claude`, and `tally`."""
    for name in ("bin", "run", "tmux"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "bin/claude").write_text(AGENT)
    (tmp_path / "bin/tally").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from tallylight.cli.main import run; run()" "$@"\n'
    )
    for program in (tmp_path / "bin").iterdir():
        program.chmod(0o755)
    return tmp_path


def environ(home: Path) -> dict[str, str]:
    """The environment of a person who lives in *home*."""
    return {
        "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "TMUX_TMPDIR": str(home / "tmux"),
        "PATH": f"{home}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "SCREENS": str(SCREENS),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip


@pytest.fixture
def tmux(home: Path) -> Iterator[Path]:
    """The same with a tmux, and the host of its sessions."""
    cat = ["tmux", "new-session", "-d", "-x", "100", "-y", "40", "-s", "one", "cat"]
    subprocess.run(cat, env=environ(home), check=True)
    host = subprocess.Popen([home / "bin/tally", "host", "sessions"], env=environ(home))
    try:
        until(lambda: list((home / "run/tallylight").glob("sessions-*.json")), "there is no host")
        yield home
    finally:
        host.terminate()
        host.wait()
        subprocess.run(["tmux", "kill-server"], env=environ(home), check=False)


@pytest.mark.slow
def test_two_agents_in_turn(tmux: Path) -> None:
    """One writes, another one reviews, and the first gets what was found; each is waited for, and no turn is missed."""
    (tmux / "turns").write_text(f"{TURNS}\n")
    run = f"sh {tmux}/turns > {tmux}/out 2>&1; echo $? >> {tmux}/out; touch {tmux}/end; exec cat"
    subprocess.run(["tmux", "new-window", "-d", run], env=environ(tmux), check=True)
    end = time.monotonic() + 400
    while not (tmux / "end").exists():
        assert time.monotonic() < end, (tmux / "out").read_text()
        time.sleep(0.1)
    out = (tmux / "out").read_text()
    # What shows its end on the screen alone may be idle: nobody has told how it ended.
    assert re.search(r"\A\S+ \S+  (done|idle)  claude  .*\n0\n\Z", out), out
    told = (tmux / "bin/told").read_text().splitlines()
    assert told == ["Write the parser.", "Review the diff.", "Mend what the review in review.md found."]


def test_a_check_of_a_build(home: Path, runtime: Path) -> None:
    """It goes on when all have finished, and says which one holds it up."""
    for panes, code, said in (([DONE], 0, ""), ([DONE, WAITING], 1, "Allow rm -r build?")):
        publish(home / "run", panes)
        done = subprocess.run(
            ["sh", "-c", CHECK], env=environ(home), cwd=home, capture_output=True, text=True, check=False, timeout=300
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert said in done.stdout and all(len(line) <= 120 for line in done.stdout.splitlines())


def test_a_bar(home: Path, runtime: Path) -> None:
    """A line of text for each change, at once; it ends with its reader."""
    publish(home / "run", [WORKING])
    script = ["sh", "-c", BAR]
    with subprocess.Popen(script, env=environ(home), stdout=subprocess.PIPE, text=True, start_new_session=True) as bar:
        assert bar.stdout is not None
        try:
            assert bar.stdout.readline() == "●1\n"
            publish(home / "run", [attrs.evolve(WAITING, id="2")])
            assert bar.stdout.readline() == "!1\n"
        finally:
            os.killpg(bar.pid, signal.SIGTERM)


def test_the_head_of_a_list(home: Path, runtime: Path) -> None:
    """A reader that has seen enough makes no command fail."""
    publish(home / "run", [attrs.evolve(WAITING, id=str(number)) for number in range(500)])
    script = "set -o pipefail; tally status --all | head -n 1; tally status --json | head -c 9 > /dev/null"
    done = subprocess.run(["bash", "-ec", script], env=environ(home), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) <= 121
