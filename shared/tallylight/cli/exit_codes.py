"""
The exit codes of the verbs for scripts, one meaning each: docs/commands.md has the table.

0, 1, 2 and 130 are the same for every verb: done; failed, or no such pane; wrong usage; interrupted.
"""

from __future__ import annotations

#: An agent waits for a person, failed, or is gone.
WAITS, FAILED, GONE = 3, 4, 5
#: There was nothing to read.
NOTHING = 6
#: A rule refused it, and nothing was typed or started.
REFUSED = 7
#: The time was over: the code of timeout(1).
TIMED_OUT = 124
