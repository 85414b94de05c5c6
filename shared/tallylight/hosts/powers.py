"""
The configuration in force while a host runs: read again when its file changes, limited by `config.powers`.

It reads the disk: call it on a thread that may wait.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from tallylight.config import config_file
from tallylight.config.powers import Withheld, held
from tallylight.config.settings import Config
from tallylight.files import directories, read_write
from tallylight.model.errors import TallyError


@attrs.define
class Powers:
    """
    The *config* in force, settings *withheld* until the next start, and the file's *problems* at this start.

    *runs* is passed to `held`.
    """

    environ: Mapping[str, str]
    runs: Collection[str] = ()
    config: Config = attrs.field(init=False)
    problems: list[TallyError] = attrs.field(init=False)
    withheld: tuple[Withheld, ...] = ()
    _stamp: read_write.Stamp | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        # Before reading: a change during the reading is then seen by the next look.
        self._stamp = read_write.stamp(directories.config_file(self.environ))
        self.config, self.problems = config_file.load_config(self.environ)

    def look(self) -> bool:
        """Read the file if it has changed, and apply it unless it has a mistake; return whether it was applied."""
        stamp = read_write.stamp(directories.config_file(self.environ))
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        found, problems = config_file.load_config(self.environ)
        is_whole = all(problem.is_note for problem in problems)
        if is_whole:
            self.config, self.withheld = held(self.config, found, self.runs)
        return is_whole
