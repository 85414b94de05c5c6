"""
Code of ours as a program for the Python in kitty, `kitty +runpy`: it imports our package, and works nowhere else.
"""

from __future__ import annotations

from pathlib import Path

#: Where our own package lies, found out before any disk could hang.
_LIBRARY = str(Path(__file__).resolve().parents[3])


def own_code(module: str, call: str) -> str:
    """The code that makes *call*, `main(['why'])`, with what *module* of ours has; `sys` is there as well."""
    return f"import sys; sys.path.append({_LIBRARY!r}); from {module} import main; {call}"
