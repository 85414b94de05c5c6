"""
The configuration as it is in force in a host that runs on, by `config.powers`: read again when its file has changed.

It asks the disk: for a thread that may wait for it.
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
    *config* as it is in force, what is *withheld* until the next start, and what was wrong with the file when it was
    read at this one. *runs* is as in `held`.
    """

    environ: Mapping[str, str]
    runs: Collection[str] = ()
    config: Config = attrs.field(init=False)
    problems: list[TallyError] = attrs.field(init=False)
    withheld: tuple[Withheld, ...] = ()
    _stamp: read_write.Stamp | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        # Before the reading: what changes while it is read is read again.
        self._stamp = read_write.stamp(directories.config_file(self.environ))
        self.config, self.problems = config_file.load_config(self.environ)

    def look(self) -> bool:
        """Read the file, if it has changed; whether it has. One with a mistake changes nothing."""
        stamp = read_write.stamp(directories.config_file(self.environ))
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        found, problems = config_file.load_config(self.environ)
        is_whole = all(problem.is_note for problem in problems)
        if is_whole:
            self.config, self.withheld = held(self.config, found, self.runs)
        return is_whole
