"""
Prose: a number of things in words; the question that a reply ends with, and its last sentence.

In: what an agent said last, as it said it. Out: the last question of it if nothing but its answers and advice follows,
or its last sentence outside of code, one line, not yet sanitised; else nothing. A question is a sentence outside of
code that ends in `?`, tells a person to answer, or goes on in the answers below it. `tally hook` starts with this
module, so that it imports nothing.
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
#: How a question begins that goes on in its answers, what tells a person to answer, and what may follow a question.
_ASKING = (
    "would you", "do you", "should i", "should we", "shall i", "shall we", "which ", "what ", "how ", "where ", "who ",
    "when ", "can i", "may i", "could i", "could you", "can you", "are you", "will you", "want me to", "choose", "pick",
    "select", "let me know", "the options are", "options",
)  # fmt: skip
_TELLING = (
    "please confirm", "please choose", "please pick", "please select", "please decide", "please approve",
    "please specify", "please clarify", "please tell", "please reply", "please answer", "please advise",
    "please let me know which", "please let me know whether", "please let me know how", "please let me know what",
    "let me know which", "let me know whether", "let me know how you", "let me know what you", "tell me which",
    "tell me whether", "tell me what", "confirm before", "confirm that", "confirm whether", "reply ", "answer yes",
    "answer with", "say yes", "say which", "type yes",
)  # fmt: skip
_ADVICE = (
    "i recommend", "i'd ", "i’d ", "i would ", "i suggest", "i lean", "i prefer", "my recommendation", "my suggestion",
    "recommended", "otherwise", "if not", "if so", "if you", "by default", "the default",
)  # fmt: skip
#: What a row may end with that goes on in no other.
_ENDED = (".", "!", "?", ":", "。", "！", "？", "`")
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
    rows = _unwrapped([line for line in lines if line])
    for behind, line in enumerate(reversed(rows[-_ANSWERS - 1 :])):
        if _is_answer(line):
            if behind == _ANSWERS:
                break
        elif line.rstrip(_AROUND).endswith(_MARKS):
            return _sentence(line)
        else:
            asked, is_over = _asked_before(_from_the_end(line), has_answers=behind > 0)
            if is_over:
                return asked
    return ""


def _unwrapped(rows: list[str]) -> list[str]:
    """*rows*, with those that go on with a small letter behind the one before."""
    found: list[str] = []
    for row in rows:
        if found and row[0].islower() and not _is_answer(row) and not found[-1].endswith(_ENDED):
            found[-1] += f" {row}"
        else:
            found.append(row)
    return found


def _asked_before(sentences: list[str], *, has_answers: bool) -> tuple[str, bool]:
    """
    The question among the last *sentences* of a row, the last one first; and whether no row above may be one.

    Behind a question may be what its writer advises, and how to answer it. What tells a person to answer asks, too;
    so does the beginning of a question above its answers.
    """
    for sentence in sentences:
        bare = sentence.lower().rstrip(_AROUND)
        if bare.endswith(_MARKS) or (has_answers and bare.endswith(":") and bare.startswith((*_ASKING, *_TELLING))):
            return sentence, True
        if bare.startswith(_TELLING):
            before = next((other for other in sentences if other.rstrip(_AROUND).endswith(_MARKS)), "")
            return before or sentence, True
        if not bare.startswith(_ADVICE):
            return "", True
    return "", False


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
