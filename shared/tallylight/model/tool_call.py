"""
A tool call in one line: the tool, and what it is to do. `Bash: npm test`, `Edit src/api.py (+12 −3)`.

In: a tool's name and its input as an agent writes them, in a hook or in its own record. Out: text for display, not yet
sanitised, or nothing if there is nothing to show. Input of any shape is taken. `tally hook` starts with this module, so
that it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Characters that are kept; of what is longer, both ends.
MOST = 400
#: Characters of an input that are looked at.
_LOOKED_AT = 200_000
_NAME = 64
_COMMANDS = ("command", "cmd", "commands", "script")
_FILES = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "filename")
_OTHERS = ("query", "pattern", "question", "description", "prompt", "message")
#: The options that give a shell a command to run.
_SHELL_OPTIONS = ("-c", "-lc", "-ic")
_PATCH = "*** Begin Patch"
_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_OLD = ("old_string", "oldString", "old_str", "old_text", "oldText")
_NEW = ("new_string", "newString", "new_str", "new_text", "newText", "content", "file_text")
MAX_EDITS = 200


def tool_call(name: Any, given: Any, cwd: Any = "") -> str:
    """What *name* is to do with the input *given*; files below *cwd* are named from there. Nothing if unknown."""
    tool = name.strip().partition("\n")[0][:_NAME] if isinstance(name, str) else ""
    if not tool:
        return ""
    if isinstance(given, str):
        return _middle(_patch(tool, given))
    if not isinstance(given, dict):
        return ""
    command = _first(given, _COMMANDS)
    if command.lstrip().startswith(_PATCH):
        return _middle(_patch(tool, command))
    if command:
        return _middle(f"{tool}: {command.strip()}")
    patch = given.get("patch") or given.get("input")
    if isinstance(patch, str) and (found := _patch(tool, patch)):
        return _middle(found)
    path = _first(given, _FILES)
    if path:
        return _middle(f"{tool} {_below(path.strip(), cwd)}{counts(*_counted(given))}")
    url = _first(given, ("url",)).strip()
    if url:
        return _middle(f"{tool} {url.removeprefix('https://')}")
    other = _first(given, _OTHERS).strip()
    return _middle(f"{tool}: {other}") if other else ""


def is_command(given: dict[str, Any]) -> bool:
    """Return whether a call with the input *given* runs a command; a patch is none."""
    command = _first(given, _COMMANDS).lstrip()
    return bool(command) and not command.startswith(_PATCH)


def target(given: dict[str, Any]) -> str:
    """The argument of *given* that says best what the call is about."""
    return _first(given, (*_COMMANDS, *_FILES, "url", *_OTHERS))


def request(what: str) -> str:
    """*what* without the tool before its command: `npm test` of `Bash: npm test`."""
    tool, _, command = what.partition(": ")
    return command if command and tool.isidentifier() else what


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of these that has a text, or a list of words."""
    for name in names:
        value = given.get(name)
        if isinstance(value, list):
            words = [word for word in value[:1000] if isinstance(word, str)]
            is_script = len(words) == 3 and words[1] in _SHELL_OPTIONS
            is_patch = len(words) == 2 and words[1].startswith(_PATCH)
            value = words[-1] if is_script or is_patch else " ".join(words)
        if isinstance(value, str) and value.strip():
            return value[:_LOOKED_AT]
    return ""


def _below(path: str, cwd: Any) -> str:
    folder = cwd.rstrip("/") + "/" if isinstance(cwd, str) and cwd.startswith("/") else ""
    return path.removeprefix(folder) or path


def _counted(given: dict[str, Any]) -> tuple[int, int]:
    """How many lines an edit adds and removes; those that begin and end both texts are not counted."""
    added = removed = 0
    for edit in _edits(given):
        old, new = ((_text(edit, names) or "").splitlines() for names in (_OLD, _NEW))
        before, after = alike(old, new)
        added, removed = added + len(new) - before - after, removed + len(old) - before - after
    return added, removed


def alike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines begin both texts, and how many of the others end both."""
    least = min(len(old), len(new))
    before = after = 0
    while before < least and old[before] == new[before]:
        before += 1
    while after < least - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after


def _edits(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the input of an edit, one or several."""
    edits = given.get("edits")
    return [edit for edit in edits[:MAX_EDITS] if isinstance(edit, dict)] if isinstance(edits, list) else [given]


def _text(edit: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these that is a text."""
    return next((edit[name][:_LOOKED_AT] for name in names if isinstance(edit.get(name), str)), None)


def replaced(given: Any) -> list[tuple[str, str | None, str]]:
    """What a call with the input *given* writes: each file, the text that goes, None if all does, and what comes."""
    if isinstance(given, str):
        return _replaced_by_patch(given)
    if not isinstance(given, dict):
        return []
    for text in (_first(given, _COMMANDS), given.get("patch"), given.get("input")):
        if isinstance(text, str) and _PATCH in text:
            return _replaced_by_patch(text)
    path = _first(given, _FILES).strip()
    texts = [(_text(edit, _OLD), _text(edit, _NEW)) for edit in _edits(given)] if path else []
    return [(path, old, new) for old, new in texts if new is not None]


def _replaced_by_patch(text: str) -> list[tuple[str, str | None, str]]:
    """The same of each hunk of a patch, wherever in *text* that begins."""
    found: list[tuple[str, str | None, str]] = []
    path = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*text.partition(_PATCH)[2][:_LOOKED_AT].splitlines(), "***"]:
        if line.startswith(("@@", "***")):
            if path and (old or new):
                found.append((path, "\n".join(old) if old else None, "\n".join(new)))
            path = next((line.removeprefix(start).strip() for start in _PATCHED if line.startswith(start)), path)
            old, new = [], []
        elif line[:1] in ("-", "+", " "):
            old += [line[1:]] if line[0] != "+" else []
            new += [line[1:]] if line[0] != "-" else []
    return found[:MAX_EDITS]


def _patch(tool: str, text: str) -> str:
    """The files of a patch, and how many lines come and go; nothing of any other text."""
    text = text[:_LOOKED_AT].lstrip()
    if not text.startswith(_PATCH):
        return ""
    lines = text.splitlines()
    files = [line.removeprefix(start).strip() for line in lines for start in _PATCHED if line.startswith(start)]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"{tool} {', '.join(files)}{counts(added, removed)}" if files else ""


def counts(added: int, removed: int) -> str:
    """How many lines come and go, behind what it is about: ` (+12 −3)`; nothing if none does."""
    return f" (+{added} −{removed})" if added or removed else ""


def _middle(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST // 2]}…{text[-MOST // 2 + 1 :]}"
