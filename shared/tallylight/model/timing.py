"""
The times that decide a light, and the choices of a person: `[trust]` of the settings.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.report import Source
from tallylight.model.status import Status


@attributes.frozen
class Timing:
    """
    Times in seconds, how long one explicit report silences guesses (`agent` or `tab`), and whether an
    agent that no file names may have a light.
    """

    silence_s: float = 4.0
    stale_s: float = 30.0
    #: 0 means never.
    fuse_s: float = 300.0
    debounce_s: float = 0.1
    explicit_lasts: str = "agent"
    unknown_agents: bool = True
    #: As what a finished turn, an agent at its prompt, and one in silence are shown: as they are, or as `waiting`.
    done_is: Status = Status.DONE
    idle_is: Status = Status.IDLE
    quiet_is: Status = Status.QUIET

    def fades_s(self, source: Source) -> float:
        """
        For how long work that *source* reports counts without another report and visible output; 0 for ever.

        A status file and a process are read all the time and say the same until they say otherwise: these do not fade.
        """
        if source in (Source.REGISTRY, Source.PROCESS):
            return 0.0
        return self.fuse_s if source is Source.PROTOCOL else self.stale_s
