"""The night shift for hosts: their saved texts, and the next step of each."""

from __future__ import annotations

from tallylight.parts.shift.kept import QueuedRecorder as QueuedRecorder
from tallylight.parts.shift.steps import step as step
