"""
The settings of kitty's host: the configuration, the agent files and our own command, read from the disk on a thread.

They are read at the start, and again when a file changed or kitty read its own configuration again. Until the first
reading, the host uses the defaults and knows no agent by name; programs' own reports are shown from the start. A later
reading with a mistake changes nothing. If one gives programs more power, that waits for a person's consent
(`config.powers`). A higher level of `scripting.allow` waits for it at a start, too: kitty may have ended before the
answer.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
from kitty.fast_data_types import get_options

from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.config import config_file
from tallylight.config.powers import ALLOW, COMMAND, Withheld, held
from tallylight.config.settings import SCRIPTING, Config
from tallylight.files import directories
from tallylight.files.program import own_command
from tallylight.files.read_write import Stamp, atomic_write, stamp, text_or_nothing
from tallylight.hosts.worker import Worker
from tallylight.model.errors import TallyError
from tallylight.model.jobs import raised
from tallylight.snapshot import labels_file
from tallylight.snapshot.labels import Labels

#: How often, in seconds, the files are checked for a change.
CHECK_FILES_S = 1.0
#: How long, in seconds, to wait for the files at the start, unless they were read ahead.
FIRST_SETTINGS_S = 0.2
JOB, NOTE_JOB = "settings", "the level that was agreed to"

#: The state of the files: the path of each, with its stamp.
Stamps = tuple[tuple[Path, Stamp | None], ...]


@attrs.frozen
class Settings:
    """
    The settings in force, and the problems of their files.

    *command* is the installed `tally`, empty without one. *withheld* waits for a person or the next start, and *wanted*
    is the configuration with it.
    """

    config: Config
    agents: Agents
    command: str
    problems: tuple[str, ...]
    stamps: Stamps = ()
    withheld: tuple[Withheld, ...] = ()
    wanted: Config | None = None
    #: The user's names of conversations; the list reports problems with their file.
    labels: Labels = attrs.Factory(Labels)


def read(before: Settings | None = None) -> Settings:
    """
    Read all settings. A configuration or agent files with a mistake stay as they were *before*.

    At the start there is no *before*, and a mistake costs only itself.
    """
    # First: a change during the reading is then noticed.
    stamps = tuple(_stamps())
    config, problems = config_file.load_config(os.environ)
    agents, more = agent_files.load_agents(os.environ)
    wanted, withheld = config, tuple[Withheld, ...]()
    level = _agreed_level()
    if before is None:
        config, withheld = held(attrs.evolve(config, scripting=level), config)
    else:
        wanted = config if all(problem.is_note for problem in problems) else before.config
        config, withheld = held(before.config, wanted, {COMMAND})
        agents = before.agents if more else agents
    if config.scripting != level and all(one.key != ALLOW for one in withheld):
        _remember_level(config.scripting)
    wrong = tuple(map(str, (*problems, *more)))
    return Settings(config, agents, own_command(), wrong, stamps, withheld, wanted, _labels())


def _agreed_file() -> Path:
    return directories.state_dir(os.environ) / "allow"


def _agreed_level() -> str:
    """Return the level of `scripting.allow` that was last in force; the default if that is unknown."""
    with contextlib.suppress(OSError, TallyError):
        if (level := text_or_nothing(_agreed_file()).strip()) in SCRIPTING:
            return level
    return Config().scripting


def _remember_level(level: str) -> None:
    """Save the *level* that is in force. If that fails, a person is asked again."""
    path = _agreed_file()
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_write(path, level.encode(), 0o600)


def _labels() -> Labels:
    with contextlib.suppress(OSError, TallyError):
        return labels_file.read(labels_file.path(os.environ))
    return Labels()


#: The settings read before there was a host; used once.
_ahead: list[Settings] = []


def read_ahead() -> None:
    """Read all settings for the host that starts next. It reports their problems."""
    with contextlib.suppress(Exception):
        _ahead[:] = [read()]


def _stamps() -> Iterator[tuple[Path, Stamp | None]]:
    """Yield the path and the stamp of every file that the settings are read from."""
    folder = directories.config_dir(os.environ)
    try:
        agents = sorted((folder / "agents").glob("*.toml"))[: agent_files.MAX_AGENT_FILES]
    except OSError:
        agents = []
    for path in (directories.config_file(os.environ), labels_file.path(os.environ), *agents):
        yield path, stamp(path)


@attrs.define
class SettingsReader:
    """
    Keeps the settings in force, and reads them again when they change.

    *taken* gets new settings, *report* the problems of the files, once as long as they stay the same. Both are called
    by the worker's `lend`, on kitty's main thread.
    """

    worker: Worker
    taken: Callable[[Settings], None]
    report: Callable[[tuple[str, ...]], None]
    #: The settings of the last reading; None before the first one.
    current: Settings | None = None
    _looked_at: float = 0.0
    #: kitty's own options at the last look: another object after it has read its configuration again.
    _options: object = None

    def open(self, now: float) -> float:
        """Begin the first reading; return how many seconds to wait for it, 0 if all was read ahead."""
        self._looked_at, self._options = now, get_options()
        ahead = _ahead.pop() if _ahead else None
        self.worker.submit(JOB, read if ahead is None else lambda: ahead, self._were_read, raised)
        return FIRST_SETTINGS_S if ahead is None else 0.0

    def look(self, now: float) -> None:
        """Read the files again if they may have changed; call it at each tick."""
        if self.current is None:
            return
        before, options = self.current, get_options()
        is_asked = options is not self._options
        if not is_asked and now - self._looked_at < CHECK_FILES_S:
            return

        def read_again() -> Settings | None:
            return read(before) if is_asked or tuple(_stamps()) != before.stamps else None

        if self.worker.submit(JOB, read_again, self._were_read, raised):
            self._looked_at, self._options = now, options

    def _were_read(self, found: Settings | None) -> None:
        """Take over the settings *found*, None if unchanged, and report problems that are new."""
        if found is None:
            return
        before, self.current = self.current, found
        self.taken(found)
        waits = {ALLOW: "you agree in kitty"}
        wrong = (*found.problems, *(f"{one} until {waits.get(one.key, 'kitty restarts')}" for one in found.withheld))
        if wrong and (before is None or (found.problems, found.withheld) != (before.problems, before.withheld)):
            self.report(wrong)

    def agree(self, withheld: tuple[Withheld, ...]) -> None:
        """Apply the *withheld* changes, which a person agreed to; do nothing if others are withheld by now."""
        if self.current is not None and self.current.wanted is not None and self.current.withheld == withheld:
            self.current = attrs.evolve(self.current, config=self.current.wanted, withheld=())
            self.taken(self.current)
            level = self.current.config.scripting
            self.worker.submit(NOTE_JOB, lambda: _remember_level(level), lambda _: None, raised)
