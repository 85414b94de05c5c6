"""
WezTerm on this machine: its program, its directory of configuration, and our one link in it.

`<configuration>/tallylight` leads to our Lua files, so `require 'tallylight'` finds them wherever `wezterm.lua` is. A
person's Lua is read, to find out whether and where it loads us, and never written. WezTerm's places:
https://wezterm.org/config/files.html

A missing module opens a window with an error, so those lines work without us, too. For a configuration that loads us by
a plain `require`, a stub that does nothing is left in the link's place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tallylight.files import directories, install_paths, read_write
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health
from tallylight.setup import made, wezterm_lua
from tallylight.setup.checks import SETUP
from tallylight.setup.kitty import application
from tallylight.setup.wezterm_lua import Edit

#: The contents of a new `wezterm.lua`.
WHOLE = "\n".join(
    (
        wezterm_lua.LOAD,
        "local config = require('wezterm').config_builder()",
        wezterm_lua.apply("config"),
        "return config",
    )
)
#: The file that is left where a configuration would fail without it.
STUB = Path(__file__).with_name("removed.lua").read_text("utf-8")
_USES = re.compile(r"^[^\n]*\brequire\b[^\n]*\btallylight\b", re.M)
_GUARDED = re.compile(r"\bpcall\s*\(\s*require\b")
#: A plugin has a copy of its own.
_PLUGIN = re.compile(r"\bplugin\s*\.\s*require\b")
_LATE = "a format-tab-title handler comes before Tallylight; move the line that loads Tallylight to the top"
#: Lines of a configuration that are quoted, and characters of each.
_MAX_QUOTED_LINES, _MAX_LINE_CHARS = 8, 120


class WezTerm(NamedTuple):
    """WezTerm on this machine; *program* is None if not found."""

    program: Path | None
    #: The configuration that WezTerm reads, if there is one.
    config: Path | None
    #: The path of our link, whether it is there or not.
    link: Path
    #: The target of our link.
    target: Path

    @property
    def is_here(self) -> bool:
        return self.program is not None or self.config is not None

    @property
    def is_linked(self) -> bool:
        return _leads_to(self.link) == self.target

    @property
    def is_foreign(self) -> bool:
        """Return whether another program's file is in the place of our link."""
        return os.path.lexists(self.link) and not _is_ours(self.link) and not self.has_stub

    @property
    def has_stub(self) -> bool:
        """Return whether our stub is there: a directory with that file alone."""
        try:
            return (
                not self.link.is_symlink()
                and [path.name for path in self.link.iterdir()] == ["init.lua"]
                and read_write.text_or_nothing(self.link / "init.lua") == STUB
            )
        except OSError:
            return False

    @property
    def uses_us(self) -> bool:
        """Return whether the configuration loads us, as far as its text shows."""
        return bool(_USES.search(self._text()))

    @property
    def needs_us(self) -> bool:
        """Return whether the configuration would fail without us."""
        lines = _USES.findall(self._text())
        return any(not _GUARDED.search(line) and not _PLUGIN.search(line) for line in lines)

    def _text(self) -> str:
        """Return the configuration without its comments."""
        return wezterm_lua.without_comments(self.source)

    @property
    def source(self) -> str:
        """The configuration as it is."""
        return read_write.text_or_nothing(self.config) if self.config is not None else ""


def look(system: System) -> WezTerm:
    """Return the state of WezTerm. Reads only."""
    folder = Path(system.env.get("XDG_CONFIG_HOME") or system.home / ".config") / "wezterm"
    chosen = system.env.get("WEZTERM_CONFIG_FILE", "")
    places = [*([Path(chosen)] if chosen else []), folder / "wezterm.lua", system.home / ".wezterm.lua"]
    return WezTerm(
        program=system.which("wezterm")
        or system.which("wezterm-gui")
        or application(system, "WezTerm.app/Contents/MacOS/wezterm"),
        config=next((place for place in places if place.is_file()), None),
        link=folder / "tallylight",
        target=install_paths.layout(system).wezterm / "tallylight",
    )


def _leads_to(link: Path) -> Path | None:
    """Return the target of *link*; None if it is no link."""
    try:
        return link.readlink()
    except OSError:
        return None


def _is_ours(link: Path) -> bool:
    """Return whether *link* leads to Lua files of ours, wherever the data directory was."""
    found = _leads_to(link)
    return found is not None and found.parts[-3:] == (directories.NAME, "wezterm", "tallylight")


def _remove_stub(stub: Path) -> None:
    """Remove our stub: the directory *stub*, with its `init.lua`."""
    (stub / "init.lua").unlink()
    stub.rmdir()


def is_stale(here: WezTerm) -> bool:
    """Return whether the link must be made."""
    return here.is_here and not here.is_linked and not here.is_foreign


def apply(system: System, here: WezTerm) -> None:
    """Make the link, and note which directories had to be made for it."""
    try:
        made.write(_made_directories_file(system), made.missing(here.link.parent))
        here.link.parent.mkdir(parents=True, exist_ok=True)
        if _is_ours(here.link):
            here.link.unlink()
        elif here.has_stub:
            _remove_stub(here.link)
        here.link.symlink_to(here.target)
    except OSError as error:
        raise TallyError(
            f"cannot make {system.short(here.link)}: {error.strerror or error}. If another program manages this "
            f"directory, add this line to wezterm.lua instead:\n"
            f"  package.path = package.path .. ';{here.target.parent}/?.lua;{here.target.parent}/?/init.lua'"
        ) from None


def is_undone(system: System) -> bool:
    """Return whether there is nothing to take back."""
    here = look(system)
    return not _is_ours(here.link) and (not here.has_stub or here.needs_us)


def warning(system: System) -> Iterator[str]:
    """Yield the messages before it is removed: which lines of the person's load us, and what happens with them."""
    here = look(system)
    if here.config is None or not here.uses_us:
        return
    name = system.short(here.config)
    yield f"{name} still loads Tallylight; delete these lines, which are not changed for you:"
    lines = enumerate(read_write.text_or_nothing(here.config).splitlines(), 1)
    ours = [f"  {number}: {line.strip()[:_MAX_LINE_CHARS]}" for number, line in lines if "tallylight" in line]
    yield from ours[:_MAX_QUOTED_LINES]
    if here.needs_us:
        yield f"Until then {system.short(here.link)} stays, as a file that does nothing: WezTerm would show an error."
    yield ""


def undo(system: System) -> list[Path]:
    """
    Remove the link, and the directories that were made for it; return the removed paths. `STUB` explains what may stay.
    """
    here = look(system)
    removed = []
    if _is_ours(here.link):
        here.link.unlink()
        removed.append(here.link)
        if here.needs_us:
            here.link.mkdir()
            (here.link / "init.lua").write_text(STUB, "utf-8")
            return removed
    elif here.has_stub:
        _remove_stub(here.link)
        removed.append(here.link)
    note = _made_directories_file(system)
    removed += made.remove(made.read(note))
    note.unlink(missing_ok=True)
    made.remove((note.parent,))
    return removed


def _made_directories_file(system: System) -> Path:
    return directories.state_dir(system.env) / "wezterm.json"


def lines(system: System, here: WezTerm) -> Iterator[str]:
    """Yield the lines that `tally setup` prints about WezTerm."""
    if not here.is_here:
        return
    if here.is_foreign:
        yield f"  WezTerm     {system.short(here.link)} was not made by Tallylight: remove or rename it"
        return
    name = system.short(here.config) if here.config is not None else "wezterm.lua"
    if here.uses_us:
        yield f"  WezTerm     set up in {name}"
        if here.needs_us:
            yield f"              without Tallylight it would fail; load it by `{wezterm_lua.LOAD}`"
        if wezterm_lua.is_late(here.source):
            yield f"              {_LATE}"
        return
    try:
        todo = _todo(here)
    except TallyError as error:
        yield f"  WezTerm     {name} is not changed for you: {error}"
        return
    yield f"  WezTerm     change {name} yourself:"
    for edit in todo:
        yield f"              {edit.where}"
        yield from (f"                {line}" for line in edit.text.split("\n"))
    yield ""


def _todo(here: WezTerm) -> list[Edit]:
    """
    Return the edits for a person to make in their configuration. Raises `TallyError` where only they can find the
    place.
    """
    return wezterm_lua.edits(here.source) if here.config is not None else [Edit(1, WHOLE)]


def findings(system: System, sidecars: Sequence[str]) -> Iterator[Finding]:
    """Yield the findings of `tally doctor`: the link, and its effect, which is a sidecar that only our Lua starts."""
    here = look(system)
    if not here.is_here:
        return
    if here.is_foreign:
        text = f"{system.short(here.link)} was not made by Tallylight"
        yield Finding("WezTerm", Health.BROKEN, text, "remove or rename it, then " + SETUP)
        return
    if not here.is_linked:
        yield Finding(
            "WezTerm", Health.MISSING, f"{system.short(here.link)} does not point to Tallylight's Lua files", SETUP
        )
        return
    if here.uses_us and wezterm_lua.is_late(here.source):
        text = "a format-tab-title handler is registered before Tallylight is loaded, so tabs show no light"
        yield Finding("WezTerm", Health.BROKEN, text, _LATE)
    elif sidecars:
        yield Finding("WezTerm", Health.OK, f"runs tallylight: {', '.join(sidecars)}")
    elif here.uses_us and "WEZTERM_UNIX_SOCKET" in system.env:
        remedy = "reload its configuration, and look into its log (ctrl+shift+l) for lines that start with tallylight"
        yield Finding("WezTerm", Health.BROKEN, "its configuration loads Tallylight, but no sidecar runs", remedy)
    elif here.uses_us:
        yield Finding("WezTerm", Health.OK, "its configuration loads Tallylight; no WezTerm runs now")
    else:
        try:
            remedy = "; ".join(map(str, _todo(here)))
        except TallyError as error:
            remedy = str(error)
        name = system.short(here.config) if here.config is not None else "wezterm.lua"
        yield Finding("WezTerm", Health.MISSING, f"{name} does not load Tallylight", remedy)
