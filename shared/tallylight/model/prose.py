"""
Prose: a number of things in words; the question that a reply ends with, and its last sentence.

In: what an agent said last, as it said it. Out: the last question of it if nothing but its answers follows, or its last
sentence outside of code, one line, not yet sanitised; else nothing. A question is a sentence that ends in `?`, outside
of code. `tally hook` starts with this module, so that it imports nothing.
"""

from __future__ import annotations

#: Characters of a reply that are looked at, from its end, and of a question that are kept, from its end.
LOOKED_AT = 8_000
MOST = 400
#: Rows behind a question that may be its answers.
_ANSWERS = 12
#: Characters around a question mark at the end of a line.
_AROUND = "*_~`\"'”’»)] "
_MARKS = ("?", "？")
_ENDS = (". ", "! ", "? ", ": ", "。", "！", "？")
_BULLETS = ("- ", "* ", "+ ", "• ")
#: Sentences of one row that are looked at, from its end; and how one begins that only offers more.
_LAST = 3
_OFFERS = ("let me know", "please let me know", "feel free", "happy to", "i hope", "hope this")
#: What ends a sentence by itself, and what does if a blank and no small letter follow.
_STOPS, _DOTS = "。！？", ".!?"


def counted(number: int, what: str) -> str:
    """*number* and the noun *what*: `1 agent`, `2 agents`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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


def last_sentence(text: object) -> str:
    """
    The last sentence of *text* outside of code and tables; the last item, if it ends with a list.

    One that only offers more gives way to the one before.
    """
    is_code, offer = False, ""
    for line in reversed(text[-LOOKED_AT:].splitlines()) if isinstance(text, str) else ():
        row = line.strip()
        if row.startswith("```"):
            is_code = not is_code
        elif not is_code and not row.startswith("|"):
            for sentence in _from_the_end(row):
                if not sentence.lower().startswith(_OFFERS):
                    return sentence
                offer = offer or sentence
    return offer


def _from_the_end(row: str) -> list[str]:
    """The last few sentences of *row*, the last one first, each cut to `MOST`, without the marks of Markdown."""
    bare = row.replace("**", "").replace("`", "").lstrip("#> ")
    for bullet in _BULLETS:
        bare = bare.removeprefix(bullet)
    found: list[str] = []
    while len(found) < _LAST and any(map(str.isalnum, bare)):
        last_word = max(at for at, char in enumerate(bare) if char.isalnum())
        start = next((at + 1 for at in range(last_word - 1, 0, -1) if _ends(bare, at)), 0)
        found.append(bare[start:].strip()[:MOST])
        bare = bare[:start]
    return found


def _ends(row: str, at: int) -> bool:
    """Whether a sentence ends in the middle of *row*."""
    return row[at] in _STOPS or (row[at] in _DOTS and row[at + 1] == " " and not row[at + 2 : at + 3].islower())


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
