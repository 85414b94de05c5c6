"""
Completions of shells, and manual pages, and the places where shells and `man` look for them.

`packaging/completions` makes them when a package is built. A checkout has none of its own.
"""

from __future__ import annotations

from pathlib import Path

import tallylight
from tallylight.files.directories import config_dir, data_dir, home
from tallylight.files.read_write import atomic_write
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health

#: The folder of the package with the scripts, and the pages in `man1`.
MADE = "_completions"
SCRIPTS = {"bash": "tally", "zsh": "_tally", "fish": "tally.fish"}
#: Marks of our files; another program's file of that name has none.
_MARKS = (b"Tallylight", b"tally completions")


def made() -> Path:
    """Return the folder with the scripts and the pages; raises `TallyError` where they were not made."""
    folder = Path(tallylight.__file__).parent / MADE
    if not folder.is_dir():
        raise TallyError(
            "this installation has no completions and manual pages, since it is from a checkout: run "
            "`packaging/completions` there, then `./install.sh` again"
        )
    return folder


def _places(system: System) -> dict[str, Path]:
    """Return where each shell looks for its script, and `man` for pages."""
    data = data_dir(system.env).parent
    return {
        "bash": data / "bash-completion" / "completions",
        "zsh": home(system.env) / ".zfunc",
        "fish": config_dir(system.env).parent / "fish" / "completions",
        "man": data / "man" / "man1",
    }


def install(system: System) -> list[Path]:
    """Copy the scripts and the pages into their places, and return these. All, or `TallyError` and none."""
    folder, places = made(), _places(system)
    targets = {places[shell] / name: folder / name for shell, name in SCRIPTS.items()}
    targets |= {places["man"] / page.name: page for page in sorted((folder / "man1").iterdir())}
    for target in targets:
        if target.exists() and not _is_ours(target):
            raise TallyError(f"{system.short(target)} is not Tallylight's; nothing was changed")
    try:
        for target, source in targets.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(target, source.read_bytes())
    except OSError as error:
        raise TallyError(f"cannot write completions and manual pages: {error}") from None
    return [*(places[shell] / name for shell, name in SCRIPTS.items()), places["man"]]


def installed(system: System) -> list[Path]:
    """Return those of our scripts and pages that are in their places."""
    places = _places(system)
    found = [places[shell] / name for shell, name in SCRIPTS.items()]
    found += sorted([*places["man"].glob("tally.1"), *places["man"].glob("tally-*.1")])
    return [path for path in found if path.is_file() and _is_ours(path)]


def finding(system: System) -> Finding:
    """Return whether a shell finds ours: where `install` puts them, or where a package of the system does."""
    shared = (system.env.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    packaged = [Path(folder, "bash-completion/completions", SCRIPTS["bash"]) for folder in shared]
    found = installed(system) or [path for path in packaged if path.is_file()]
    if found:
        return Finding("completions", Health.OK, system.short(found[0]))
    return Finding("completions", Health.HINT, "are not installed", "run `tally setup --with completions`")


def _is_ours(path: Path) -> bool:
    data = path.read_bytes() if path.is_file() else b""
    return any(mark in data for mark in _MARKS)


def remove(system: System) -> None:
    """Remove our scripts and pages, and print that."""
    pages = installed(system)
    for path in pages:
        path.unlink(missing_ok=True)
    if pages:
        system.say("Completions and manual pages removed.")
