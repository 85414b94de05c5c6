"""
Transcripts: the files in which agents record their work. One module for each agent, with two pure functions.

`locate` finds the transcript of one process from the files that `evidence.records.places` sees. `read` makes a
`evidence.records.reading.Reading` of its new bytes. Without this part there is no reply, no tasks, no model and no
cost. The end of a turn is then less exact for an agent that reports it in no other way.
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
