"""
Prose: counts in words, and the last question or sentence of an agent's reply.

The last question counts if only its answers and advice follow it. A question is a sentence outside of code that ends
with `?`, asks a person to answer, or has a list of answers below it. Results are one line, not yet sanitised, and empty
if there is none. `tally hook` starts with this module, so that it imports nothing.
"""

from __future__ import annotations

#: The last so many characters of a reply are looked at, and the last so many of a question are kept.
LOOKED_AT_CHARS = 8_000
MAX_QUESTION_CHARS = 400
#: The most rows after a question that may be its answers.
_ANSWER_ROWS = 12
#: Characters that may surround a question mark at the end of a line.
_AROUND = "*_~`\"'”’»)] "
_MARKS = ("?", "？")
_ENDS = (". ", "! ", "? ", ": ", "。", "！", "？")
_BULLETS = ("- ", "* ", "+ ", "• ")
#: The last so many sentences of a row are looked at; and the beginnings of sentences that only offer more.
_LAST_SENTENCES = 3
_OFFERS = ("let me know", "please let me know", "feel free", "happy to", "i hope", "hope this")
#: The beginnings of questions with a list of answers, of requests to answer, and of advice after a question.
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
#: The ends of a row that does not continue in the next one.
_ENDED = (".", "!", "?", ":", "。", "！", "？", "`")
#: Signs that end a sentence, and signs that do so if a blank and no small letter follow.
_STOPS, _DOTS = "。！？", ".!?"


def counted(number: int, what: str) -> str:
    """Return *number* and the noun *what*: `1 agent`, `2 agents`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def last_question(text: object) -> str:
    """Return the question at the end of *text*; empty if there is none."""
    if not isinstance(text, str):
        return ""
    lines = [line.strip() for line in text[-LOOKED_AT_CHARS:].splitlines()]
    if sum(line.startswith("```") for line in lines) % 2 or (lines and lines[-1].startswith("```")):
        return ""
    rows = _unwrapped([line for line in lines if line])
    for behind, line in enumerate(reversed(rows[-_ANSWER_ROWS - 1 :])):
        if _is_answer(line):
            if behind == _ANSWER_ROWS:
                break
        elif line.rstrip(_AROUND).endswith(_MARKS):
            return _sentence(line)
        else:
            asked, is_over = _asked_before(_from_the_end(line), has_answers=behind > 0)
            if is_over:
                return asked
    return ""


def _unwrapped(rows: list[str]) -> list[str]:
    """Return *rows*, with each row that begins with a small letter joined to the one before."""
    found: list[str] = []
    for row in rows:
        if found and row[0].islower() and not _is_answer(row) and not found[-1].endswith(_ENDED):
            found[-1] += f" {row}"
        else:
            found.append(row)
    return found


def _asked_before(sentences: list[str], *, has_answers: bool) -> tuple[str, bool]:
    """
    Return the question among the last *sentences* of a row, and whether the search ends here.

    *sentences* are in reverse order. Advice may follow a question. A request to answer counts as a question, and so
    does the beginning of one above its answers.
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
    Return the last sentence of *text* outside of code and tables; the last item, if it ends with a list.

    A sentence that only offers more is passed over for the one before.
    """
    is_code, offer = False, ""
    for line in reversed(text[-LOOKED_AT_CHARS:].splitlines()) if isinstance(text, str) else ():
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
    """Return the last few sentences of *row*, the last one first, each cut and without Markdown."""
    bare = row.replace("**", "").replace("`", "").lstrip("#> ")
    for bullet in _BULLETS:
        bare = bare.removeprefix(bullet)
    found: list[str] = []
    while len(found) < _LAST_SENTENCES and any(map(str.isalnum, bare)):
        last_word = max(at for at, char in enumerate(bare) if char.isalnum())
        start = next((at + 1 for at in range(last_word - 1, 0, -1) if _ends(bare, at)), 0)
        found.append(bare[start:].strip()[:MAX_QUESTION_CHARS])
        bare = bare[:start]
    return found


def _ends(row: str, at: int) -> bool:
    """Return whether a sentence ends in *row* at the character *at*."""
    return row[at] in _STOPS or (row[at] in _DOTS and row[at + 1] == " " and not row[at + 2 : at + 3].islower())


def _is_answer(line: str) -> bool:
    """Return whether *line* is an item of a list, and so an offered answer."""
    if line.startswith(_BULLETS):
        return True
    head, mark, _ = line.lstrip("(").partition(")" if ")" in line[:4] else ".")
    return bool(mark) and len(head) <= 2 and head.isalnum() and head.isascii()


def _sentence(line: str) -> str:
    bare = line.lstrip("#>* ").rstrip(_AROUND)
    places = [(bare.rfind(end, 0, len(bare) - 1), end) for end in _ENDS]
    start = max((place + len(end) for place, end in places if place >= 0), default=0)
    return bare[start:].lstrip(" *_")[-MAX_QUESTION_CHARS:]
