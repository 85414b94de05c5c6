"""
tmux alone: one `source-file` between markers in the person's tmux.conf, and a file of ours with keys and lights.

`tally setup --with tmux` makes both. The keys are those of kitty, behind one key that is free: no key of the person's
is bound again. Their `window-status-format`, or that of their theme, is kept, with the light of the window before it.
https://man.openbsd.org/tmux.1
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tallylight.files import directories, install_paths, managed_block, read_write, receipt, user_file
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model.errors import TallyError
from tallylight.setup import unit

#: Keys that tmux itself does not bind, by preference: we take the first that the person has not bound either.
PREFIXES = ("a", "y", "e", "u", "k", "g")
#: The keys behind it: the key, its effect, and the command of tmux. `{tally}` is our command, and tmux fills `%{…}`.
_POPUP = "display-popup -E -w 90% -h 80%"
_IN_PANE = "run-shell -b \"tmux display-popup -c #{{client_name}} -E -e TMUX_PANE=#{{pane_id}} '{tally} {verb}'\""
KEYS = (
    ("i", "list", _POPUP + " '{tally} agents'"),
    ("y", "next", "run-shell -b 'TMUX_PANE=#{{pane_id}} {tally} jump'"),
    ("p", "panel", "split-window -hb -l 40 '{tally} panel'"),
    ("f", "fork", _IN_PANE.replace("{verb}", "fork")),
    ("r", "resume", _IN_PANE.replace("{verb}", "resume")),
    ("m", "mute", "run-shell -b 'TMUX_PANE=#{{pane_id}} {tally} quiet >/dev/null'"),
)
#: The format of a theme is kept in an option of ours, once, and drawn behind the light: what needs a person is filled.
_LIGHTS = """\
if-shell -F '#{{m:*@tally_mark*,#{{{option}}}}}' '' "set -gF @tally_{name} '#{{{option}}}'"
set -g {option} '#{{?@tally,{light},}}#{{E:@tally_{name}}}'
"""
_LIGHT = (
    "#{?#{m/r:^(waiting|error|down),#{@tally}},"
    "#[fg=black#,bold#,bg=#{@tally_colour}] #{@tally_mark} #[default] ,"
    "#[fg=#{@tally_colour}]#{@tally_mark}#[default] }"
)
_FORMATS = {"format": "window-status-format", "current": "window-status-current-format"}
_BOUND = re.compile(
    r"^\s*bind(?:-key)?\s+(?:-[nrN]\s+(?:'[^']*'|\"[^\"]*\")\s+|-r\s+|-T\s+prefix\s+)*(\S+)\s", re.MULTILINE
)


def conf(system: System) -> Path:
    """Return the person's file that tmux reads: one that is there, else `~/.tmux.conf`."""
    config = system.env.get("XDG_CONFIG_HOME", "")
    folders = [Path(config)] if config.startswith("/") else []
    home = system.home / ".tmux.conf"
    found = [home, *(folder / "tmux/tmux.conf" for folder in (*folders, system.home / ".config"))]
    return next((path for path in found if os.path.lexists(path)), home)


def text(system: System, prefix: str) -> str:
    """Return our file, with the keys behind *prefix*; tmux starts the host of sessions where systemd does not."""
    tally = str(install_paths.layout(system).launcher)
    note = ", ".join(f"{key} {what}" for key, what, _ in KEYS)
    lines = ["# Written by `tally setup --with tmux`, again each time: change your own tmux.conf instead.\n"]
    if not unit.is_wanted(system):
        lines.append(f"run-shell -b {_quoted(f'{tally} host sessions --quiet')}\n")
    lines.append(f"bind-key -N 'Tallylight: {note}' {prefix} switch-client -T tally\n")
    lines += [f"bind-key -T tally {key} {command.format(tally=tally)}\n" for key, _, command in KEYS]
    lines += [_LIGHTS.format(name=name, option=option, light=_LIGHT) for name, option in _FORMATS.items()]
    return "".join(lines)


def _quoted(words: str) -> str:
    return '"' + re.sub(r'(["\\$])', r"\\\1", words) + '"'


def plan(system: System) -> tuple[Edit | None, str]:
    """Return the edit of the person's file, None if it has ours; and the text of our file."""
    ours, path = install_paths.layout(system).tmux_conf, conf(system)
    if any(c in "'\"\\$#*?[{~;" or not c.isprintable() for c in str(ours)):
        raise TallyError(f"tmux cannot read {system.short(ours)}: the path has a special character")
    before = user_file.read(path)
    theirs = managed_block.remove(managed_block.decode(before or b""))
    prefix = free_prefix(system, theirs)
    after = managed_block.encode(managed_block.insert(managed_block.decode(before or b""), f'source-file -q "{ours}"'))
    edit = Edit(path, before, after, pristine=managed_block.encode(theirs), backup=before)
    return (None if after == before else edit), text(system, prefix)


def free_prefix(system: System, theirs: str) -> str:
    """
    Return the first key of `PREFIXES` that the person binds neither in *theirs*, their file, nor in a running tmux.
    """
    bound = set(_BOUND.findall(theirs))
    listed = system.run(["tmux", "-N", "list-keys", "-T", "prefix"], timeout=3)
    rows = [line.split() for line in listed.stdout.splitlines() if "-T tally" not in line]
    bound |= {row[row.index("prefix") + 1] for row in rows if "prefix" in row[:-1]}
    free = next((key for key in PREFIXES if key not in bound), "")
    if not free:
        raise TallyError(f"your tmux binds all of {', '.join(PREFIXES)}; free one of them, then run this again")
    return free


def apply(system: System, edit: Edit | None, made: str) -> None:
    """Write our file, then make theirs read it."""
    ours = install_paths.layout(system).tmux_conf
    try:
        ours.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(ours, made.encode())
        if edit is not None:
            user_file.change(edit, receipt.load(directories.state_dir(system.env)), system.now())
    except OSError as error:
        raise TallyError(f"cannot write: {error}; your tmux.conf was not changed") from None
