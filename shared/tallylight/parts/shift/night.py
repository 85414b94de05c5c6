"""The night shift as a host uses it: the texts that it keeps, and a step of each."""

from __future__ import annotations

from tallylight.parts.shift.kept import QueuedRecorder as QueuedRecorder
from tallylight.parts.shift.steps import step as step
