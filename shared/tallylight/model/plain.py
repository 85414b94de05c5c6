"""
Output without UTF-8: an ASCII character for each sign that we draw, so that no two lights look alike.

A sign and its replacement are one cell wide, so columns stay. In an ASCII locale other characters are written as UTF-8,
as by Python; in any other encoding without them they become `?`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping

#: The name of the error handler, for `reconfigure` and `encode`.
ERRORS = "tallylight"
_SIGNS = dict(zip("≠●○✓×▼◷◇·…→←↑↓▸−–─│▌▯▏█▒⎇↻’“”", '&*o+xvL%..><^v>---||||#:Y@\'""', strict=True))


def encoding(name: str, environ: Mapping[bytes, bytes]) -> str:
    """Return the encoding for a stream that Python opened as *name*: ASCII if *environ* has the locale C."""
    # Python puts C.UTF-8 there by itself (PEP 538).
    kind = environ.get(b"LC_CTYPE", b"").replace(b"C.UTF-8", b"")
    language = environ.get(b"LC_ALL") or kind or environ.get(b"LANG")
    return "ascii" if language in (b"C", b"POSIX") else name


def _stand_in(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the ASCII character for a sign that the encoding lacks: the handler of such errors."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    sign = _SIGNS.get(char, "")
    return sign or (char.encode("utf-8", "replace") if error.encoding == "ascii" else "?"), error.start + 1


codecs.register_error(ERRORS, _stand_in)
