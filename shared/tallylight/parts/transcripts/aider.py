"""
aider's chat history: `.aider.chat.history.md` in the root of the project, or in its directory. Markdown, for people.

As seen in 0.86.2. All sessions of a directory append to the same file, so it is read only while a single aider works
there. A session begins with `# aider chat started at`. A prompt is a heading of the fourth level, aider's own text is
quoted, and all else is the reply. The end of a turn is not recorded.
"""

from __future__ import annotations

import posixpath
import re

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, number_of, word

NAME = ".aider.chat.history.md"
_START = "# aider chat started at "
_PROMPT = "#### "
_MODEL = re.compile(r"> (?:Main )?[Mm]odel: (\S{1,128})")
_TOKENS = re.compile(r"> Tokens: ([0-9.]{1,12})(k|M)? sent")
_COST = re.compile(r"Cost: \$[0-9.,]{1,16} message, \$([0-9.]{1,16}) session")
_SCALE = {None: 1, "k": 1_000, "M": 1_000_000}
#: How many levels above the process's directory to search for the root of the project.
_FOLDER_LEVELS = 32


def locate(facts: Facts, places: Places) -> Place | None:
    """Return the history of the directory, or of the nearest one above that has one and is a repository."""
    if facts.others or not facts.started or not facts.cwd.startswith("/"):
        return None
    folder = facts.cwd
    for _ in range(_FOLDER_LEVELS):
        path = posixpath.join(folder, NAME)
        if places.changed(path) >= facts.started:
            return Place(path)
        if folder == "/" or ".git" in places.names(folder):
            return None
        folder = posixpath.dirname(folder)
    return None


def read(tail: bytes, state: Reading | None) -> Reading:
    """Return *state* with the new bytes *tail*."""
    found = state.copy() if state is not None else Reading()
    reply: list[str] = []
    for text in tail.decode("utf-8", "replace").split("\n"):
        if text.startswith(_START):
            found, reply = Reading(is_known=True), []
        elif text.startswith(_PROMPT):
            found.is_known = True
            found.reply, found.outcome, reply = "", "", []
        elif text.startswith("> ") and found.is_known:
            if (model := _MODEL.match(text)) is not None:
                found.model = word(model[1])
            if (tokens := _TOKENS.match(text)) is not None:
                found.counted(round((number_of(tokens[1], 1e9) or 0.0) * _SCALE[tokens[2]]))
            if (cost := _COST.search(text)) is not None:
                found.cost = number_of(cost[1], 1e9)
        elif text.strip() and found.is_known and not text.startswith(">"):
            reply.append(text)
    if reply:
        found.replied("\n".join(filter(None, [found.reply, *reply])))
    return found


READER = Reader(locate, read, wants_others=True, others_last=True)
