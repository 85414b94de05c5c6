"""
The agent's name in a report: one name for one agent, in every protocol.

In: the name as sent. Out: the `name` in the agent file for a known alias; any other name sanitised. Aliases are exact:
`сlaude-code` with a Cyrillic с stays unknown.
"""

from __future__ import annotations

from types import MappingProxyType

from tallylight.wire.text import sanitise

#: Names that agents report, if they differ from the names of their commands.
ALIASES: MappingProxyType[str, str] = MappingProxyType(
    {
        "claude-code": "claude",
        "codex-cli": "codex",
        "copilot-cli": "copilot",
        "gemini-cli": "gemini",
        "qwen-code": "qwen",
    }
)
AGENT_NAME_CELLS = 64


def agent_name(text: str) -> str:
    """Return the name to show and to look up."""
    return ALIASES.get(text) or sanitise(text, cells=AGENT_NAME_CELLS).strip()
