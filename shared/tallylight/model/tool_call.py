"""
A tool call in one line, the tool and its task: `Bash: npm test`, `Edit src/api.py (+12 −3)`.

An agent writes the tool's name and its input in a hook or in its own record; any input is accepted. The result is text
for display, not yet sanitised, and empty if there is nothing to show. `tally hook` starts with this module, so that it
imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: The most characters of a result: of a longer one both ends are kept.
MAX_CALL_CHARS = 400
#: The most characters of an input that are looked at.
_LOOKED_AT_CALL_CHARS = 200_000
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
MAX_TURN_EDITS = 200


def tool_call(name: Any, given: Any, cwd: Any = "") -> str:
    """Return the call of the tool *name* with the input *given* in one line; empty if the input is unknown.

    Files below *cwd* are named from there.
    """
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
    """Return the most telling argument of *given*: a command, a file, an address or a text."""
    return _first(given, (*_COMMANDS, *_FILES, "url", *_OTHERS))


def request(what: str) -> str:
    """Return *what* without the tool before its command: `npm test` for `Bash: npm test`."""
    tool, _, command = what.partition(": ")
    return command if command and tool.isidentifier() else what


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first value under *names* that is a text or a list of words; empty if there is none."""
    for name in names:
        value = given.get(name)
        if isinstance(value, list):
            words = [word for word in value[:1000] if isinstance(word, str)]
            is_script = len(words) == 3 and words[1] in _SHELL_OPTIONS
            is_patch = len(words) == 2 and words[1].startswith(_PATCH)
            value = words[-1] if is_script or is_patch else " ".join(words)
        if isinstance(value, str) and value.strip():
            return value[:_LOOKED_AT_CALL_CHARS]
    return ""


def _below(path: str, cwd: Any) -> str:
    folder = cwd.rstrip("/") + "/" if isinstance(cwd, str) and cwd.startswith("/") else ""
    return path.removeprefix(folder) or path


def _counted(given: dict[str, Any]) -> tuple[int, int]:
    """Return how many lines an edit adds and removes, without the common first and last lines of both texts."""
    added = removed = 0
    for edit in _edits(given):
        old, new = ((_text(edit, names) or "").splitlines() for names in (_OLD, _NEW))
        before, after = alike(old, new)
        added, removed = added + len(new) - before - after, removed + len(old) - before - after
    return added, removed


def alike(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many first lines both texts have in common, and how many last ones of the rest."""
    least = min(len(old), len(new))
    before = after = 0
    while before < least and old[before] == new[before]:
        before += 1
    while after < least - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after


def _edits(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the single edits in the input of a call."""
    edits = given.get("edits")
    return [edit for edit in edits[:MAX_TURN_EDITS] if isinstance(edit, dict)] if isinstance(edits, list) else [given]


def _text(edit: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first value under *names* that is a text; None if there is none."""
    return next((edit[name][:_LOOKED_AT_CALL_CHARS] for name in names if isinstance(edit.get(name), str)), None)


def replaced(given: Any) -> list[tuple[str, str | None, str]]:
    """
    Return the edits of a call with the input *given*: file, old text and new text.

    The old text is None if the whole file is written.
    """
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
    """Return the edits of the patch that begins anywhere in *text*, one for each hunk."""
    found: list[tuple[str, str | None, str]] = []
    path = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*text.partition(_PATCH)[2][:_LOOKED_AT_CALL_CHARS].splitlines(), "***"]:
        if line.startswith(("@@", "***")):
            if path and (old or new):
                found.append((path, "\n".join(old) if old else None, "\n".join(new)))
            path = next((line.removeprefix(start).strip() for start in _PATCHED if line.startswith(start)), path)
            old, new = [], []
        elif line[:1] in ("-", "+", " "):
            old += [line[1:]] if line[0] != "+" else []
            new += [line[1:]] if line[0] != "-" else []
    return found[:MAX_TURN_EDITS]


def _patch(tool: str, text: str) -> str:
    """Return the files of a patch with its added and removed lines; empty if *text* is no patch."""
    text = text[:_LOOKED_AT_CALL_CHARS].lstrip()
    if not text.startswith(_PATCH):
        return ""
    lines = text.splitlines()
    files = [line.removeprefix(start).strip() for line in lines for start in _PATCHED if line.startswith(start)]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"{tool} {', '.join(files)}{counts(added, removed)}" if files else ""


def counts(added: int, removed: int) -> str:
    """Return added and removed lines as ` (+12 −3)`; empty if both are 0."""
    return f" (+{added} −{removed})" if added or removed else ""


def _middle(text: str) -> str:
    return text if len(text) <= MAX_CALL_CHARS else f"{text[: MAX_CALL_CHARS // 2]}…{text[-MAX_CALL_CHARS // 2 + 1 :]}"
