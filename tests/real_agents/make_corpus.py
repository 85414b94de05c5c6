"""Record real agents anew: `python -m tests.real_agents.make_corpus [--held-out|--situations|--unseen] [PATTERN …]`.

Every recording is one agent in a room of its own (see `room`), played by a scene (see `scenes`) and recorded by `tally
record`. Times are as they were. As root, on a machine that has little else to do; it takes as long as the recordings
are, some forty minutes one after the other.

The held-out recordings are of the newest versions: `TALLYLIGHT_AGENTS=latest`, after
`tests.real_agents.install --latest`, each with a `TALLYLIGHT_CACHE` of its own; and those called `older` of the
versions that `held_out.OLDER` names, had by `tests.real_agents.install --latest NAME@VERSION` in another one.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fnmatch
import gzip
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "shared"))

from tests.real_agents import held_out, modes, situations, unseen  # noqa: E402
from tests.real_agents.install import AGENTS  # noqa: E402
from tests.real_agents.room import HOME  # noqa: E402
from tests.real_agents.scenes import FEW, FROZEN, NEW, RESUME, Scene, resume, scenes, tmux, trust  # noqa: E402
from tests.real_agents.session import TALLY, Session  # noqa: E402

CORPUS = ROOT / "tests" / "corpus"
#: Those of agents that were recorded on a busy machine: their order is right, their times are not.
UNTIMED = CORPUS / "untimed"
#: What goes on around a turn; a quarter of these is held out.
SITUATIONS = CORPUS / "situations"
#: Agents in their modes and appearances.
MODES = CORPUS / "modes"
#: Scenes that a seed has dealt out.
UNSEEN = CORPUS / "unseen"


def make(scene: Scene, into: Path) -> Path:
    """Play and record one scene; the file it is in."""
    if scene.set_up == "older" and AGENTS[scene.agent].version != held_out.OLDER[scene.agent]:
        raise ValueError(f"{scene.file} is {held_out.OLDER[scene.agent]}, and here is {AGENTS[scene.agent].version}")
    columns, lines = scene.size
    with modes.versions(scene), Session(scene.agent, set_up=scene.set_up, columns=columns, lines=lines) as session:
        if scene.play is trust:
            distrust(session)
            session.begin()
        elif scene.play is tmux:
            # The relay is inside, so that the recorder has nothing to answer.
            session.is_behind_relay = False
            conf = session.home / ".tmux.conf"
            conf.write_text("set -g allow-passthrough on\n")
            relay = ["env", "-u", "TALLY_RELAY", sys.executable, "-c", TALLY, "run", *session.launch.argv]
            session.start(argv=["tmux", "-f", str(HOME / conf.name), "new-session", *relay])
        elif scene.play in (resume, held_out.later):
            before = session.beside("SUB SLOW 1")
            session.mark("sub:done")
            session.rest(2.0)
            before.send(session.manner.leave)
            session.rest(session.manner.settles)
            before.send("\r")
            before.wait_end()
            session.start(*(RESUME if scene.play is resume else held_out.RESUMES)[scene.agent])
        elif scene.play is held_out.plan and scene.agent == "claude":
            session.start(argv=["claude", "--permission-mode", "plan"], ready="plan mode on")
        elif not scene.name.startswith(("walk", "around", "mode")):  # which start it themselves
            situations.begin(session, scene)
        scene.play(session)
        session.rest(1.0)
        plain = session.home / "saved.cast"
        session.save(plain)
        path = into / scene.file
        path.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
    return path


def distrust(session: Session) -> None:
    """Take back what `prepare` has said about the project."""
    home = session.home
    if session.agent == "claude":
        file = home / ".claude.json"
        file.write_text(file.read_text().replace('"hasTrustDialogAccepted": true', '"hasTrustDialogAccepted": false'))
    elif session.agent == "copilot":
        (home / ".copilot/config.json").unlink()
    else:
        file = home / f".{session.agent}/settings.json"
        file.write_text(file.read_text().replace('"enabled": false', '"enabled": true'))


def _try(scene: Scene, into: Path) -> str:
    """Make one recording; what is to be said about it."""
    start = time.monotonic()
    try:
        path = make(scene, into)
    except Exception:  # the others are still wanted
        return f"FAILED {scene.file}\n{traceback.format_exc()}"
    return f"{time.monotonic() - start:5.0f} s {path.stat().st_size:8d} {scene.file}"


def main(argv: list[str] | None = None) -> int:
    """Make all recordings, or those whose names are like a PATTERN. What failed is said."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.real_agents.make_corpus", description="Record the corpus anew."
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", default=["*"], help="such as 'claude-*'")
    parser.add_argument("--held-out", action="store_true", help="the scenes that no rule was made with")
    parser.add_argument("--situations", action="store_true", help="starts that ask, pastes, other sizes, ends")
    parser.add_argument("--unseen", action="store_true", help="those that a seed deals out")
    parser.add_argument("--modes", action="store_true", help="modes and appearances of each agent")
    parser.add_argument("--into", type=Path, help="another folder")
    parser.add_argument("--missing", action="store_true", help="only those that are not there")
    parser.add_argument("--jobs", type=int, default=1, help="so many at the same time, on a machine that has the cores")
    options = parser.parse_args(argv)
    into: Path = options.into or (CORPUS / "held-out" if options.held_out else CORPUS)

    def place(scene: Scene) -> Path:
        if options.into is not None:
            return into
        if options.unseen or options.modes:
            return UNSEEN if options.unseen else MODES
        if scene.agent in FROZEN:
            return CORPUS / "frozen"
        if options.situations:
            return SITUATIONS / "held-out" if situations.is_held_out(scene) else SITUATIONS
        return UNTIMED if scene.agent in (*FEW, *NEW) else into

    kinds = (
        (options.modes, modes),
        (options.unseen, unseen),
        (options.situations, situations),
        (options.held_out, held_out),
    )
    known = next((kind.scenes() for wanted, kind in kinds if wanted), scenes())

    wanted = [
        scene
        for scene in known
        if any(fnmatch.fnmatch(scene.file, f"{pattern}.cast.gz") for pattern in options.patterns)
        and not (options.missing and (place(scene) / scene.file).exists())
    ]
    for folder in {place(scene) for scene in wanted}:
        folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(_try, scene, place(scene)) for scene in wanted]):
            failed += done.result().startswith("FAILED")
            sys.stdout.write(f"{done.result()}\n")
            sys.stdout.flush()
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
