"""
The private environment: a directory of ours with the package, its requirements, kittens, Lua and the command.

In `~/.local/share/tallylight/` are:

* `releases/<version>-<digest>/lib`: tallylight, attrs, psutil; one sys.path entry, for kitty's Python too;
* `releases/<version>-<digest>/kittens`, and `wezterm` with the Lua files;
* `lib`, `kittens`, `wezterm`: links into the release in use, changed by rename;
* `kitty.conf`: the file that kitty.conf includes;
* `bin/tally`: the command; `~/.local/bin/tally` is a link to it.

A release is built aside, tried, and only then linked: a kitty that starts meanwhile finds the old one or the new one,
whole. Its name is a digest of its source, so building it again changes nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tallylight
from tallylight.config import key_bindings
from tallylight.files import directories, extras, managed_block, read_write
from tallylight.files.install_paths import Layout, layout
from tallylight.files.read_write import explained
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.setup import dependencies, made

#: Part of every digest: raise it when the release of the same source changes.
_FORMAT = "1"
#: Folders in a wheel's package besides the package, and Python's own.
_LEFT_OUT = {"__pycache__", "_kittens", "_wezterm"}
#: Linux cuts a `#!` line at 255 bytes, and older kernels at 127.
_MAX_SHEBANG_BYTES = 120


class Source(NamedTuple):
    """The source of a release: package, kittens and Lua files, of a checkout or of an installed wheel."""

    package: Path
    kittens: Path
    wezterm: Path


def running_source() -> Source:
    """Return the source of this very code."""
    package = Path(tallylight.__file__).resolve().parent
    of_wheel = (package / "_kittens").is_dir()
    kittens, wezterm = (
        package / f"_{name}" if of_wheel else package.parent.parent / name for name in ("kittens", "wezterm")
    )
    return Source(package, kittens, wezterm)


def _files(folder: Path) -> list[Path]:
    """Return the files below *folder*, sorted, without caches."""
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        found += [Path(here, name) for name in names if name not in _LEFT_OUT]
    return sorted(path for path in found if path.is_file())


def release_name(source: Source) -> str:
    """Return the name of the release of *source*: the version and a digest of every byte."""
    digest = hashlib.sha256()
    digest.update("\0".join((_FORMAT, *dependencies.REQUIRED, *dependencies.WANTED)).encode())
    for folder in source:
        for path in _files(folder):
            data = path.read_bytes()
            digest.update(f"\0{path.relative_to(folder)}\0{len(data)}\0".encode())
            digest.update(data)
    return f"{tallylight.__version__}-{digest.hexdigest()[:12]}"


def base_python() -> Path:
    """Return the Python for the command: this one, or the one behind this virtual environment, which may go away."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable)


def launcher_text(place: Layout, python: Path) -> str:
    """Return the text of the command. -I and -S: the user's Python set-up is not read, which also halves its start."""
    first = f"#!{python} -IS\n"
    if " " in str(python) or len(os.fsencode(first)) > _MAX_SHEBANG_BYTES:
        # Two languages in one: sh sees an empty word and `:`, and then exec; Python sees one long string.
        quoted = str(python).replace("'", "'\\''")
        first = f"#!/bin/sh\n''':'\nexec '{quoted}' -IS \"$0\" \"$@\"\n'''\n"
    return (
        f"{first}# The command of tallylight, written by `tally setup`.\nimport sys\n\n"
        f"sys.path.insert(0, {str(place.lib)!r})\nfrom tallylight.cli.main import run\n\nrun()\n"
    )


#: The line that has kitty show its tab bar with one tab, too.
TAB_BAR = "tab_bar_min_tabs 1"


def kitty_conf_text(place: Layout, bindings: Sequence[key_bindings.Binding] = (), *, has_tab_bar: bool = False) -> str:
    """
    Return the file that kitty.conf includes.

    A watcher's relative path would be looked for in kitty's own directory. *has_tab_bar*: with the line that shows the
    tab bar always.
    """
    return (
        "# Written by `tally setup`, again at each update: change ~/.config/tallylight/config.toml instead.\n"
        + managed_block.watcher_line(str(place.watcher))
        + "\n"
        + (f"{TAB_BAR}\n" if has_tab_bar else "")
        + key_bindings.text(bindings, str(place.kittens))
    )


def present_keys(place: Layout) -> list[key_bindings.Binding]:
    """Return the key bindings of an earlier setup."""
    return key_bindings.read(read_write.text_or_nothing(place.kitty_conf))


def has_tab_bar(place: Layout) -> bool:
    """Return whether an earlier setup has kitty show its tab bar always."""
    return TAB_BAR in read_write.text_or_nothing(place.kitty_conf).splitlines()


class State(NamedTuple):
    """The changes that the private environment needs. Empty texts and False mean none."""

    release: str
    #: Whether the release must be built.
    build: bool
    #: Links to change, files to write, and the command's link: the paths that `apply` changes.
    stale: tuple[Path, ...]
    #: Whether another program is in the place of the command.
    foreign_command: bool
    #: The future key bindings.
    bindings: tuple[key_bindings.Binding, ...] = ()
    #: Whether kitty is to show its tab bar with one tab, too.
    has_tab_bar: bool = False

    @property
    def is_current(self) -> bool:
        return not self.build and not self.stale


def look(
    system: System,
    source: Source,
    python: Path,
    bindings: Sequence[key_bindings.Binding] | None = None,
    tab_bar: bool | None = None,
) -> State:
    """Compare the private environment with the wanted one. Reads only. An option that is None stays as it is."""
    place = layout(system)
    has_bar = has_tab_bar(place) if tab_bar is None else tab_bar
    bound = tuple(present_keys(place) if bindings is None else bindings)
    if source.package.is_relative_to(place.releases.resolve()):
        # This code already runs from there.
        name = source.package.parent.parent.name
        build = False
    else:
        name = release_name(source)
        release = place.releases / name
        there = Source(release / "lib" / "tallylight", release / "kittens", release / "wezterm")
        try:
            build = not (release / "lib" / "attrs").is_dir() or release_name(there) != name
        except OSError:
            build = True
    stale = [link for link in _links(place) if not _links_to(link, f"releases/{name}/{link.name}")]
    stale += [path for path, data, _ in _files_to_write(place, python, bound, has_bar) if not _holds(path, data)]
    foreign = False
    if not _links_to(place.command, str(place.launcher)):
        foreign = os.path.lexists(place.command) and not _is_our_link(place.command)
        stale += [] if foreign else [place.command]
    return State(name, build, tuple(stale), foreign, bound, has_bar)


def _links(place: Layout) -> list[Path]:
    """Return the links into the release in use."""
    return [place.lib, place.kittens, place.wezterm]


def _files_to_write(
    place: Layout, python: Path, bindings: Sequence[key_bindings.Binding], has_bar: bool
) -> list[tuple[Path, bytes, int]]:
    """Return the files beside the release: path, contents and mode."""
    return [
        (place.kitty_conf, os.fsencode(kitty_conf_text(place, bindings, has_tab_bar=has_bar)), 0o644),
        (place.launcher, os.fsencode(launcher_text(place, python)), 0o755),
    ]


def _links_to(link: Path, target: str) -> bool:
    """Return whether *link* is a link with exactly this *target*."""
    try:
        return str(link.readlink()) == target
    except OSError:
        return False


def _is_our_link(path: Path) -> bool:
    """Return whether *path* is a link to a launcher of ours, wherever the data directory was."""
    try:
        return path.readlink().parts[-3:] == (directories.NAME, "bin", "tally")
    except OSError:
        return False


def _holds(path: Path, data: bytes) -> bool:
    """Return whether the file at *path* has exactly *data*."""
    try:
        return read_write.read_limited(path) == data
    except (OSError, TallyError):
        return False


def apply(system: System, source: Source, python: Path, state: State) -> bool:
    """
    Make the changes that `look` found; return False without psutil. A `TallyError` means that nothing was changed.
    """
    place = layout(system)
    complete = True
    around = made.missing(place.data.parent, place.command.parent, directories.state_dir(system.env).parent)
    try:
        place.data.mkdir(parents=True, exist_ok=True)
        if state.build:
            complete = _build(system, source, python, place.releases / state.release)
        made.write(_made_directories_file(place), around)
        for link in _links(place):
            if link in state.stale:
                _relink(link, f"releases/{state.release}/{link.name}")
        for path, data, mode in _files_to_write(place, python, state.bindings, state.has_tab_bar):
            if path in state.stale:
                path.parent.mkdir(exist_ok=True)
                read_write.atomic_write(path, data, mode)
        if place.command in state.stale:
            place.command.parent.mkdir(parents=True, exist_ok=True)
            _relink(place.command, str(place.launcher))
        if state.build:
            # Keep the release before this one: a kitty that runs may still import from it.
            others = [path for path in place.releases.glob("[!.]*") if path.name != state.release]
            others.sort(key=lambda path: path.stat().st_mtime)
            for path in others[:-1]:
                shutil.rmtree(path, ignore_errors=True)
    except OSError as error:
        problem = error.strerror or str(error)
        raise TallyError(
            f"cannot install into {place.data}: {problem}; kitty's configuration was not touched"
        ) from None
    finally:
        made.remove([place.releases, place.data, *map(Path, around)])
    return complete


def _made_directories_file(place: Layout) -> Path:
    """Return the path of the note about directories that we made."""
    return place.data / "made.json"


def _build(system: System, source: Source, python: Path, release: Path) -> bool:
    """Build the release aside, try it, and move it into place; return False without psutil."""
    release.parent.mkdir(exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=release.parent, prefix=".new-"))
    try:
        new = aside / "release"
        lib = new / "lib"
        _copy(source.package, lib / "tallylight")
        _copy(source.kittens, new / "kittens")
        _copy(source.wezterm, new / "wezterm")
        complete = dependencies.provide(system, python, lib)
        # Done here, so that neither kitty nor the command writes into the release at its first start.
        system.run([python, "-IS", "-m", "compileall", "-q", "-s", lib, "-p", release / "lib", lib], timeout=120)
        code = "import sys; sys.path.insert(0, sys.argv[1]); import attrs, tallylight.model.status"
        tried = system.run([python, "-IS", "-c", code, lib], timeout=60)
        if tried.returncode != 0:
            raise TallyError(f"the new installation does not import; nothing was changed:\n{tried.stderr[-2000:]}")
        if release.exists():
            # Damaged, or it would not be built again.
            release.rename(aside / "damaged")
        new.rename(release)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return complete


def _copy(folder: Path, target: Path) -> None:
    """Copy exactly the files that `release_name` digests."""
    target.mkdir(parents=True)
    for path in _files(folder):
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _relink(link: Path, target: str) -> None:
    """Replace *link* by one to *target*, by rename."""
    new = link.with_name(f".{link.name}.{os.getpid()}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    new.symlink_to(target)
    try:
        new.replace(link)
    except OSError:
        new.unlink()
        raise


def add_extra(system: System, python: Path, name: str) -> Path:
    """Fetch the packages of an extra, whole or not at all, and return their folder. Raises `TallyError`."""
    folder = extras.folder(name, system.env)
    with explained(f"cannot install into {folder.parent}"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{name}-"))
    try:
        dependencies.install(system, python, aside / "new", extras.EXTRAS[name], ())
        if folder.exists():
            folder.rename(aside / "old")
        (aside / "new").rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        made.remove([folder.parent, folder.parent.parent])
    return folder


def remove(system: System) -> list[Path]:
    """Remove the whole private environment, and return the removed paths."""
    place = layout(system)
    removed = []
    if _is_our_link(place.command):
        place.command.unlink()
        removed.append(place.command)
    for path in (*_links(place), place.kitty_conf, place.tmux_conf, place.launcher):
        path.unlink(missing_ok=True)
    shutil.rmtree(place.releases, ignore_errors=True)
    shutil.rmtree(extras.root(system.env), ignore_errors=True)
    existed = place.data.is_dir()
    around = made.read(_made_directories_file(place))
    _made_directories_file(place).unlink(missing_ok=True)
    made.remove([place.launcher.parent, place.data])
    token, devices = directories.serve_token(system.env), directories.serve_devices(system.env)
    for file in (token, devices):
        if file.exists():
            file.unlink()
            removed.append(file)
            made.remove((devices.parent, token.parent))
    if existed and not place.data.exists():
        removed.append(place.data)
        made.remove(around)
    return removed
