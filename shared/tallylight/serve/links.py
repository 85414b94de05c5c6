"""
Answer links: addresses that show one question and answer it, for a phone's notification, which has no token.

Who has the token makes a link for a question that stands on a screen now. Whoever opens it sees that question and can
give one of its answers, by the rules of every answer, until it is answered or `VALID_S` have passed. Opening a link
answers nothing: previews of messages open links.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from html import escape
from urllib.parse import parse_qs

import attrs

from tallylight.actions.answer import Question
from tallylight.wire.values import is_number

#: Seconds for which a link can be used.
VALID_S = 600.0
#: Links there are at a time; the oldest is forgotten for a new one.
MAX_LINKS = 100
#: Where links are, below the page.
FOLDER = "answer/"
#: Bytes of a key, and digits of the number of a choice.
_KEY_BYTES, _DIGITS = 24, 3


@attrs.frozen
class Link:
    """A *question* of the session *address*, which can be answered until *expires*, in monotonic seconds."""

    address: str
    question: Question
    expires: float


@attrs.define
class Links:
    """The links of one server."""

    _links: dict[str, Link] = attrs.field(factory=dict)

    def add(self, address: str, question: Question, now: float) -> str:
        """Make a link at monotonic *now*; its path below the page."""
        self._links = {key: link for key, link in self._links.items() if link.expires > now}
        while len(self._links) >= MAX_LINKS:
            del self._links[next(iter(self._links))]
        key = secrets.token_urlsafe(_KEY_BYTES)
        self._links[key] = Link(address, question, now + VALID_S)
        return FOLDER + key

    def get(self, key: str, now: float) -> Link | None:
        """The link with this *key*, if there is one that can be used."""
        link = self._links.get(key)
        return link if link is not None and link.expires > now else None

    def drop(self, key: str) -> None:
        """It was used."""
        self._links.pop(key, None)


def chosen(query: str, body: bytes) -> int | None:
    """The number of the choice in a form: `choice=1`, in the address or in the body; None if there is not just one."""
    fields = [*_fields(query), *_fields(body.decode("ascii", "replace"))]
    if len(fields) != 1 or not is_number(fields[0], _DIGITS):
        return None
    return int(fields[0])


def _fields(text: str) -> list[str]:
    try:
        return parse_qs(text, max_num_fields=8).get("choice", [])
    except ValueError:
        return ["", ""]


def question_page(link: Link) -> str:
    """What a link shows: all of the question and a button for each answer. It needs no script."""
    question = link.question
    rows = "\n".join(question.context[question.first :] or (question.question,))
    buttons = [
        f'<p><button name="choice" value="{choice.number}">{choice.number}. {escape(choice.label)}</button></p>'
        for choice in question.choices
        if choice.keys
    ]
    return _page(
        [
            f"<h1>{escape(question.agent)}</h1>",
            f"<pre>{escape(rows)}</pre>",
            '<form method="post">',
            *buttons,
            "</form>",
        ]
    )


def told_page(text: str) -> str:
    """What became of it."""
    return _page([f"<p>{escape(text)}</p>"])


def _page(parts: Iterable[str]) -> str:
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    style = '<link rel="stylesheet" href="../page.css">'
    body = "\n".join(parts)
    title = f"<title>Tallylight</title>{style}"
    return f'<!doctype html>\n<html lang="en"><head>{head}{title}</head>\n<body><main>\n{body}\n</main></body></html>\n'
