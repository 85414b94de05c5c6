"""The recordings of ordinary programs, made anew: `python -m tests.ordinary.make [NAME …]`.

Each is a program in a room of its own (`plays`), with a few keys pressed in it, recorded by `tally record`. As root, on
a machine that has the programs: Debian's; in the tests' cache `ordinary/venv`, those of PyPI, and in
`ordinary/node_modules` those of npm, with the libraries that `demos/` use. What is not installed is named and left out.
"""

from __future__ import annotations

import concurrent.futures
import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "shared"))

from tests.ordinary.plays import BUILD, DEPLOY, PLAYS, TEXT, Play  # noqa: E402
from tests.real_agents.driver import Launch, Pane  # noqa: E402
from tests.real_agents.install import CACHE  # noqa: E402
from tests.real_agents.room import HOME, LoopbackRoom  # noqa: E402
from tests.real_agents.session import TALLY, merge  # noqa: E402
from tests.real_kitty.roots import CHECKOUT  # noqa: E402

RECORDINGS = Path(__file__).parent / "recordings"
#: Programs and libraries of PyPI and npm.
TOOLS = CACHE / "ordinary"
PATH = f"{TOOLS}/venv/bin:{TOOLS}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/games:/usr/sbin:/root/.cargo/bin"
#: So many are recorded at a time.
_JOBS = 6
#: A program is left alone until it has drawn nothing for so long, at the least and at the most.
_STILL_S, _LEAST_S, _MOST_S = 0.7, 0.9, 6.0


def make(play: Play) -> bytes:
    """Record one."""
    folder = Path(tempfile.mkdtemp(prefix="tallylight-session-", dir="/tmp"))
    home = folder / "home"
    project = home / "project"
    project.mkdir(parents=True)
    _furnish(project)
    room = LoopbackRoom(home)
    pane: Pane | None = None
    truths: list[tuple[float, str]] = []
    try:
        cast = HOME / "session.cast"
        argv = [sys.executable, "-c", TALLY, "record", str(cast), "--", *play.argv]
        env = {"HOME": str(HOME), "PATH": f"{PATH}:/root/.pyenv/shims", "CARGO_HOME": "/root/.cargo"}
        env |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "COLORTERM": "truecolor"}
        env |= {"PYTHONPATH": str(CHECKOUT / "shared"), "PYTHONDONTWRITEBYTECODE": "1", "TALLY_RELAY": "0"}
        env |= {"EDITOR": "vim", "GIT_EDITOR": "vim", "PAGER": "less", "LC_ALL": "C.UTF-8"}
        pane = Pane(room, Launch(argv, env, HOME / "project"), 100, 30, answers=True)
        _settle(pane, 20.0)
        for key in play.keys:
            if pane.ended is not None:
                break
            if key.startswith("\0"):
                truths.append((time.time(), key[1:]))
                continue
            if key:
                pane.send(key)
            _settle(pane, _MOST_S)
        _settle(pane, _MOST_S)
    finally:
        if pane is not None:
            pane.close()
        room.close()
        text = merge((home / "session.cast").read_text(), truths, f"program {play.name}")
        shutil.rmtree(folder, ignore_errors=True)
    # A monitor shows the recorder, too.
    text = text.replace(str(CHECKOUT), "/" + "c" * (len(str(CHECKOUT)) - 1)).replace("/root", "/user")
    return gzip.compress(text.encode(), 9, mtime=0)


def _settle(pane: Pane, most: float) -> None:
    """Wait until the program has drawn something and is still, or has ended; *most* seconds."""
    begin = time.monotonic()
    while pane.ended is None and (now := time.monotonic()) < begin + most:
        if pane.writes and now > max(begin + _LEAST_S, pane.writes[-1][0] + _STILL_S):
            return
        time.sleep(0.05)


def _furnish(project: Path) -> None:
    (project / "notes.txt").write_text(TEXT)
    (project / "deploy.py").write_text(DEPLOY)
    (project / "build.py").write_text(BUILD)
    (project / "page.html").write_text("<h1>A page</h1><p>Do you want to proceed?<ol><li>Yes<li>No</ol>")
    demos = project.parent / "demos"
    shutil.copytree(Path(__file__).parent / "demos", demos)
    (demos / "node_modules").symlink_to(TOOLS / "node_modules")
    shutil.copytree(demos / "project", project, dirs_exist_ok=True)
    with (project / "disk.img").open("wb") as disk:
        disk.truncate(40 << 20)
    mail = "From a@example.org Mon Jan  5 10:00:00 2026\nFrom: a@example.org\nSubject: {0}\n\n{0}?\n\n"
    (project / "box").write_text("".join(mail.format(f"Letter {n}") for n in range(5)))
    git = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "User"],
        ["config", "user.email", "user@example.org"],
        ["add", "notes.txt"],
        ["commit", "-q", "-m", "Begin"],
        ["commit", "-q", "--allow-empty", "-m", "Go on"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True, env=git)
    (project / "notes.txt").write_text("A new first line\n" + TEXT + "A new last line\n")


def main(argv: list[str] | None = None) -> int:
    """Make all of them, or those that are named, some at a time: they mostly wait."""
    wanted = argv if argv is not None else sys.argv[1:]
    plays = []
    for play in PLAYS:
        if wanted and play.name not in wanted:
            continue
        if shutil.which(play.argv[0], path=PATH) is None:
            sys.stdout.write(f"{play.name}: {play.argv[0]} is not installed\n")
            continue
        plays.append(play)
    with concurrent.futures.ProcessPoolExecutor(_JOBS) as pool:
        for play, data in zip(plays, pool.map(make, plays), strict=True):
            (RECORDINGS / f"{play.name}.cast.gz").write_bytes(data)
            sys.stdout.write(f"{play.name}: {len(data)} bytes\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
