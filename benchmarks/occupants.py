"""
The cost of a look behind a leader: a host of sessions with a busy build in a pane, against the same with `sleep`.

    python -m benchmarks.occupants [--seconds 20]

The build is `make -j8` with recipes of fifty processes each: some four hundred at a time, renewed each second.
Counted is the processor time of the host alone, with one pane in a tmux of its own, once it has looked for a while.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.aims import Aim
from benchmarks.sessions import TALLY

from tallylight.evidence.process_table import runtime

BUILD = Aim("sessions host: a build of 400 processes in a pane", "`sleep` in it", most=1.2)
AIMS = (BUILD,)
QUICK = ("--seconds", "10")
#: A recipe of fifty processes, which live for a second.
_RECIPE = "@for n in $$(seq 49); do sleep 1 & done; wait"
SETTLE_S = 6.0


def makefile() -> str:
    """Rules for more than are made while it is looked at."""
    names = [f"j{number}" for number in range(2000)]
    return "\n".join([f"all: {' '.join(names)}", *(f"{name}:\n\t{_RECIPE}" for name in names), ""])


@contextlib.contextmanager
def host_of(command: str, folder: Path) -> Iterator[int]:
    """The process of a host that looks at a pane with *command*."""
    for name in ("home", "run", "tmux"):
        (folder / name).mkdir(mode=0o700)
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SHELL": "/bin/sh"}
    places = {"HOME": folder / "home", "XDG_RUNTIME_DIR": folder / "run", "TMUX_TMPDIR": folder / "tmux"}
    env = {**kept, **{name: str(path) for name, path in places.items()}}
    tmux = ["tmux", "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-x", "100", "-y", "30", command], env=env, check=True)
    host = subprocess.Popen([*TALLY, "host", "sessions"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE_S)
        yield host.pid
    finally:
        host.terminate()
        host.wait()
        subprocess.run([*tmux, "kill-server"], env=env, check=False)


def spent(command: str, seconds: float) -> float:
    """Seconds of a processor that the host takes in *seconds*, in its main thread."""
    with tempfile.TemporaryDirectory() as folder, host_of(command, Path(folder)) as pid:
        before = runtime(pid) or 0
        time.sleep(seconds)
        return ((runtime(pid) or 0) - before) / 1e9


def main(argv: list[str]) -> int:
    """Measure both, and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args(argv)
    if missing := next((name for name in ("tmux", "make") if shutil.which(name) is None), ""):
        print(f"there is no {missing}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Makefile").write_text(makefile())
        build = spent(f"make -s -j8 -C {folder}", options.seconds)
        plain = spent("sleep 1000", options.seconds)
    print(f"build {1000 * build:.0f} ms, sleep {1000 * plain:.0f} ms, in {options.seconds:g} s")
    BUILD.say(build / plain)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
