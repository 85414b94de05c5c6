"""
Payloads: the JSON object that an agent hands its hook, read as far as it is whole.

In: the first bytes of it. Out: a dict of its members up to the first that is broken or cut off; an empty one if there
is no object. It never raises. The agents put the important members first (session, event, subagent) and long ones last.
So a payload cut at our limit still has its status.

The scanner is the C one behind the `json` module, which costs as much to import as everything else together.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Bytes of a payload that are read.
MAX_HOOK_BYTES = 1 << 20
_SPACE = " \t\n\r"
_MAX_DIGITS = 40


class _Context:
    """The options of `_json.make_scanner`. Not strict: a raw control character in a text is no reason to fail."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float

    @staticmethod
    def parse_int(digits: str) -> int | None:
        # Python refuses to read thousands of digits, and no count is so large.
        return int(digits) if len(digits) <= _MAX_DIGITS else None

    @staticmethod
    def parse_constant(_name: str) -> None:
        return None

    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner wants it there


def members(data: bytes, limit: int = MAX_HOOK_BYTES) -> dict[str, Any]:
    """Return the members of the object in the first *limit* bytes of *data* that are whole."""
    text = data[:limit].decode("utf-8", "replace")
    found: dict[str, Any] = {}
    scan: Callable[[str, int], tuple[Any, int]]
    try:
        from _json import make_scanner  # type: ignore[import-not-found, unused-ignore]

        scan = make_scanner(_Context)  # type: ignore[arg-type, unused-ignore]
    except ImportError:
        from json.decoder import JSONDecoder

        scan = JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined, unused-ignore]
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if text[at : at + 1] != "{":
        return found
    try:
        at = _skip(text, at + 1)
        while text[at] == '"':
            key, at = scan(text, at)
            at = _skip(text, at)
            if text[at] != ":":
                break
            value, at = scan(text, _skip(text, at + 1))
            # A number that the text ends in may have been longer.
            if at >= len(text) and not isinstance(value, str | dict | list):
                break
            found[key] = value
            at = _skip(text, at)
            if text[at] != ",":
                break
            at = _skip(text, at + 1)
    except (StopIteration, ValueError, IndexError, RecursionError, SystemError):
        pass  # SystemError: the scanner misses the class of its own error while `json` is not loaded
    return found


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at
