"""
The agent a program says it is: one name for one agent, whatever protocol it used to say so.

In: the name as sent. Out: our name for it, the `name` of its agent file, if it is a known alias; any other name
sanitised. Aliases are exact: `сlaude-code` with a Cyrillic с stays the stranger it is.
"""

from __future__ import annotations

from types import MappingProxyType

from tallylight.wire.text import sanitise

#: What agents call themselves, where that is not the name of their command.
ALIASES: MappingProxyType[str, str] = MappingProxyType(
    {
        "claude-code": "claude",
        "codex-cli": "codex",
        "copilot-cli": "copilot",
        "gemini-cli": "gemini",
        "qwen-code": "qwen",
    }
)
CELLS = 64


def agent_name(text: str) -> str:
    """Return the name to show and to look up."""
    return ALIASES.get(text) or sanitise(text, cells=CELLS).strip()
