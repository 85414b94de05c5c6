"""
The language-model library of a program, by the package that owns it.

The text of a `package.json` or of a Python distribution's `METADATA` goes in, and that of a `README`; the sign comes
out, in words. A dependency counts with a word of `_LIBRARIES` in its name. So does a package that calls itself a coding
agent, since many are bundled and name no dependency. A program without a package counts if its own bytes name a model's
address (`SPOKEN_TO`). The sign makes a program a candidate, and never gives a light. Pure.
"""

from __future__ import annotations

import re

from tallylight.model.limits import MAX_WORD_CHARS
from tallylight.wire import values
from tallylight.wire.text import sanitise

#: Words in the names of libraries that talk to a language model or to its tools.
_LIBRARIES = re.compile(
    r"\b(?:ai|llms?|mcp|fastmcp|modelcontextprotocol|openai|anthropic|claude|litellm|langchain|langgraph"
    r"|llamaindex|genai|generativeai|gemini|mistralai|ollama|groq|cohere|bedrock|smolagents|dspy|openrouter|huggingface|tiktoken)\b",
    re.IGNORECASE,
)
#: A program that contains one of these talks to a language model or to its tools.
SPOKEN_TO = (b"modelcontextprotocol", b"api.anthropic.com", b"api.openai.com")
#: Names of packages: https://docs.npmjs.com/cli/configuring-npm/package-json#name
_NAME = re.compile(rf"[@\w./~-]{{1,{MAX_WORD_CHARS}}}", re.ASCII)
_DEPENDENCIES = ("dependencies", "optionalDependencies", "peerDependencies", "devDependencies")
_REQUIRES = re.compile(r"^Requires-Dist: *([A-Za-z0-9._-]+)", re.MULTILINE)
_VERSION = re.compile(rf"^Version: *(\S{{1,{MAX_WORD_CHARS}}})$", re.MULTILINE)
#: Characters of the metadata that may hold its description.
_DESCRIPTION_CHARS = 4096
#: The words of packages for themselves, in one sentence.
_ITSELF = re.compile(
    r"\b(?:coding|ai|llm|agentic)[- ](?:powered |based |driven )?(?:coding |programming |command[- ]line |terminal )?"
    r"(?:agent|assistant|tool)\b|\bai (?:pair )?programm|\b(?:agentic|ai|llm)[- ]coding (?:cli|tui|harness)\b",
    re.IGNORECASE,
)


def of_npm(text: str) -> str:
    """Return the sign of a language model in a `package.json`; "" if there is none, or it cannot be read."""
    found = values.members(text)
    lists = [found.get(key) for key in _DEPENDENCIES]
    names = [name for each in lists if isinstance(each, dict) for name in each]
    words = found.get("keywords")
    said = [found.get("description"), *(words if isinstance(words, list) else ())]
    return _library(names) or of_itself("\n".join(text for text in said if isinstance(text, str)))


def of_python(text: str) -> str:
    """Return the sign of a language model in the `METADATA` of a Python distribution."""
    head = text.partition("\n\n")[0]
    return _library(_REQUIRES.findall(head)) or of_itself(text[:_DESCRIPTION_CHARS])


def of_itself(text: str) -> str:
    """Return the sign of a language model in a package's description of itself."""
    return "a package that calls itself an agent" if _ITSELF.search(text) else ""


def of_program(part: bytes) -> str:
    """Return the sign of a language model in *part* of a program's bytes."""
    found = next((word for word in SPOKEN_TO if word in part), b"")
    return f"a program that talks to {found.decode()}" if found else ""


def version(npm: str, python: str) -> str:
    """Return the version in a `package.json`, else in the `METADATA` of a distribution; "" if there is none."""
    told = values.members(npm).get("version") or "".join(_VERSION.findall(python)[:1])
    return sanitise(values.text(told, MAX_WORD_CHARS), cells=MAX_WORD_CHARS).strip()


def _library(names: list[str]) -> str:
    """Return the sign for the first library among *names*; "" for none."""
    found = next((name for name in names if _NAME.fullmatch(name) and _LIBRARIES.search(name)), "")
    return f"made with {found}" if found else ""
