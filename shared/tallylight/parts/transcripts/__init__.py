"""
Transcripts: the files in which agents keep what they said and did. One module an agent, each with two pure functions.

`locate` finds the transcript of one process by what `evidence.records.places` sees of the disk, and `read` makes a
`evidence.records.reading.Reading` of what was added to it. Without this part there is no reply, no tasks, no model and
no cost, and the end of a turn is less exact for an agent that reports it in no other way.
"""

from __future__ import annotations

from tallylight.parts import Part

PART = Part(
    name="transcripts",
    about="what agents write down: replies, tasks, models and how turns ended",
    readers={
        name: f"{__name__}.{name}:READER"
        for name in ("aider", "claude", "cline", "codex", "copilot", "gemini", "kimi", "opencode", "pi", "qwen")
    },
)
