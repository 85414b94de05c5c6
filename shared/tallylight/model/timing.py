"""
The times that decide a light, and a person's choices: `[trust]` of the settings.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.report import Source
from tallylight.model.status import Status


@attributes.frozen
class Timing:
    """
    Times in seconds and other choices. *explicit_lasts*: how long one explicit report silences guesses.

    That is for its `agent` or for the whole `tab`. *unknown_agents*: agents without an agent file may have a light.
    """

    silence_s: float = 4.0
    stale_s: float = 30.0
    #: 0 means never.
    fuse_s: float = 300.0
    debounce_s: float = 0.1
    explicit_lasts: str = "agent"
    unknown_agents: bool = True
    #: The statuses shown for a finished turn, an agent at its prompt, and silence: themselves, or `waiting`.
    done_is: Status = Status.DONE
    idle_is: Status = Status.IDLE
    quiet_is: Status = Status.QUIET

    def fades_s(self, source: Source) -> float:
        """
        Return for how many seconds `working` from *source* counts without a new report and visible output; 0 for ever.

        A status file and a process are read all the time and report every change, so they do not fade.
        """
        if source in (Source.REGISTRY, Source.PROCESS):
            return 0.0
        return self.fuse_s if source is Source.PROTOCOL else self.stale_s
