"""
Values from an untrusted document: each of the expected type and size, or a default.

`load` reads JSON of at most `MAX_DOCUMENT_DEPTH` levels. In its result an integer of more than `MAX_DIGITS` digits, an
infinity and NaN are None. Each getter then checks one value. A reader of foreign JSON uses both, so that a bad value
costs that value alone.

Standard library only: the installer starts before there is anything else.
"""

from __future__ import annotations

import codecs
import functools
import math
import re

from tallylight.model.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import json
    from typing import Any

#: The most levels of a document: to write, compare or show a deeper one could exhaust the stack.
MAX_DOCUMENT_DEPTH = 64
#: The most digits of an integer. Every identifier and every time has fewer.
MAX_DIGITS = 40
_MAX_FLOAT_CHARS = 400
#: The latest valid time, in seconds since the epoch: 4000 years from now, which every calendar still knows.
LATEST = float(1 << 37)

#: Characters that no program, file or terminal takes in a text: NUL, and halves of a surrogate pair.
_UNSOUND = re.compile("[\0\ud800-\udfff]")


def load(data: str | bytes, *, strict: bool = False, depth: int = MAX_DOCUMENT_DEPTH) -> Any:
    """
    Return the value of a JSON document; raise DecodeError `malformed` if it is invalid or deeper than *depth* levels.

    *strict* refuses the whole document for a key that occurs twice, and for a number that is too long or out of range.
    Otherwise the last key counts, and the number is None.
    """
    try:
        # The codec of a mark at the start would be loaded from a disk at its first use, in kitty's main thread too.
        text = data if isinstance(data, str) else data.removeprefix(codecs.BOM_UTF8).decode()
        found = _decoder(strict=strict).decode(text)
    except DecodeError:
        raise
    except RecursionError:
        raise DecodeError("malformed", _NESTED) from None
    except ValueError as error:
        reason = getattr(error, "msg", "it cannot be read")  # a JSONDecodeError's
        raise DecodeError("malformed", f"is not JSON: {reason}") from None
    level: list[Any] = [found]
    for _ in range(depth):
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return found
    raise DecodeError("malformed", _NESTED)


def members(data: str | bytes) -> dict[str, Any]:
    """Return the members of the JSON object in *data*; none if it is anything else."""
    try:
        found = load(data)
    except DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def is_number(word: str, most: int) -> bool:
    """Return whether *word* consists of 1 to *most* ASCII digits."""
    return word.isascii() and word.isdigit() and len(word) <= most


def digits(word: str, most: int) -> int:
    """Return the number in *word*, of at most *most* digits; 0 if it is none."""
    return int(word) if is_number(word, most) else 0


def text(value: object, most: int) -> str:
    """Return *value* cut to *most* characters, which can all be encoded; `""` if it is no text."""
    if not isinstance(value, str):
        return ""
    cut = value[:most]
    return cut if cut.isascii() and "\0" not in cut else _UNSOUND.sub("\ufffd", cut)


def exact(value: object, most: int) -> str | None:
    """
    Return *value* if it is a text of at most *most* characters that the system accepts unchanged, else None.

    It is for paths and arguments, which must not be cut or repaired. An invalid byte of a file name is kept as in
    Python, `\\udc80` to `\\udcff`.
    """
    if not isinstance(value, str) or len(value) > most or "\0" in value:
        return None
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    return value


def integer(value: object, least: int, most: int) -> int | None:
    """Return *value* if it is an integer from *least* to *most*, else None. JSON's `true` is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most else None


def number(value: object, least: float, most: float) -> float | None:
    """Return *value* if it is a number from *least* to *most*, else None. NaN is in no range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        return None
    return float(value)


_NESTED = "is not JSON that can be read: it is nested too deeply"


def _strict_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise DecodeError("malformed", "has a key twice")
    return found


@functools.cache
def _decoder(*, strict: bool) -> json.JSONDecoder:
    import json  # a relay seldom needs it

    def refused(why: str) -> Any:
        if strict:
            raise DecodeError("malformed", why)
        return None

    def integer(digits: str) -> int | None:
        return int(digits) if len(digits) <= MAX_DIGITS else refused(f"is not JSON: a number of {len(digits)} digits")

    def fraction(digits: str) -> float | None:
        found = float(digits) if len(digits) <= _MAX_FLOAT_CHARS else math.inf
        return found if math.isfinite(found) else refused("is not JSON: a number out of all bounds")

    return json.JSONDecoder(
        parse_int=integer,
        parse_float=fraction,
        parse_constant=lambda name: refused(f"has {name}, which is no number"),
        object_pairs_hook=_strict_object if strict else None,
    )
