"""
The question that a reply ends with.

In: what an agent said last, as it said it. Out: the last question of it if nothing but its answers follows, one line,
not yet sanitised; else nothing. A question is a sentence that ends in `?`, outside of code. `tally hook` starts with
this module, so that it imports nothing.
"""

from __future__ import annotations

#: Characters of a reply that are looked at, from its end, and of a question that are kept, from its end.
LOOKED_AT = 8_000
MOST = 400
#: Rows behind a question that may be its answers.
_ANSWERS = 12
#: What may stand around a question mark at the end of a line.
_AROUND = "*_~`\"'”’»)] "
_MARKS = ("?", "？")
_ENDS = (". ", "! ", "? ", ": ", "。", "！", "？")
_BULLETS = ("- ", "* ", "+ ", "• ")


def last_question(text: object) -> str:
    """The question that *text* ends with; nothing if it ends with none."""
    if not isinstance(text, str):
        return ""
    lines = [line.strip() for line in text[-LOOKED_AT:].splitlines()]
    if sum(line.startswith("```") for line in lines) % 2 or (lines and lines[-1].startswith("```")):
        return ""
    rows = [line for line in lines if line]
    for behind, line in enumerate(reversed(rows[-_ANSWERS - 1 :])):
        if line.rstrip(_AROUND).endswith(_MARKS) and not _is_answer(line):
            return _sentence(line)
        if not _is_answer(line) or behind == _ANSWERS:
            break
    return ""


def _is_answer(line: str) -> bool:
    """Whether *line* is an item of a list: an answer that is offered."""
    if line.startswith(_BULLETS):
        return True
    head, mark, _ = line.lstrip("(").partition(")" if ")" in line[:4] else ".")
    return bool(mark) and len(head) <= 2 and head.isalnum() and head.isascii()


def _sentence(line: str) -> str:
    """The last sentence of *line*."""
    bare = line.lstrip("#>* ").rstrip(_AROUND)
    places = [(bare.rfind(end, 0, len(bare) - 1), end) for end in _ENDS]
    start = max((place + len(end) for place, end in places if place >= 0), default=0)
    return bare[start:].lstrip(" *_")[-MOST:]
