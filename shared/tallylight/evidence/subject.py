"""
The subject of a dialog on a screen: the command, the file or the address that a permission is asked for.

Rows of the screen go in, with the place of the dialog. `Shell: npm test`, `Edit src/api.py (+12 −3)`, `Fetch
example.org/x`, or "" come out. The agent's name plays no part: programs show a subject in few ways.

* `$ npm test`: a command behind a prompt; where a row above begins so too, the agent's description may be below;
* a stat, `src/api.py +12 -3`; a row that names the file, `→ Edit src/api.py`, `Destination: …`, `Edit file` above its
  path; or the question, `Do you want to create new.txt?`. The numbered rows of its text are counted;
* a paragraph below a row that ends in `command:`, or below a question that names the tool;
* an address in a row of its own: `url: …`, `- …`;
* a block between two lines across, or in a box of its own, below a row that names the tool. It may be a paragraph
  between that row and the question, too; a remark may follow it;
* a row that names the tool and its argument: `? Shell npm test`, `⏺ Run command(npm test)` above a tree of `⎿`;
* for a question in one row: the rows right above it.

It is for display alone. If it is unclear there is none: no subject is better than a wrong one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from tallylight.evidence.frame import LEFT_OUT, NO_ROOM, NO_TOP
from tallylight.evidence.tail import Row, is_edge, upwards, without_frame
from tallylight.model.dialog import SUBJECT_CELLS, Dialog, Place
from tallylight.model.tool_call import counts
from tallylight.wire.text import middle

#: Rows of a dialog that are read, up from its choices; and rows above it that may name its file.
_MAX_DIALOG_ROWS = 48
_BEFORE_ROWS = 12
#: Rows of a remark between a command and the question: a warning, or the purpose of the tool.
_REMARK_ROWS = 12
#: Equal characters of a command and the row that names it.
_SAME_CHARS = 24
#: Characters of one row that are read.
_READ_ROW_CHARS = 240

_PROMPT = re.compile(r"\$ (\S.*)")
#: The same in a row above the dialog, cut or not, behind the agent's description.
_SAID = re.compile(r".*\S · \$ (\S.*?)…?$")
#: The mark of the further lines of a command, and the columns left free beside it, at most.
_LINE, _MARGIN_COLUMNS = "· ", 8
_STAT = re.compile(r"(?:[•●] (?:\w+ )?)?(\S[^()]{0,199}?) \(?\+(\d{1,6}) [-−](\d{1,6})\)?$")
_NUMBERED = re.compile(r"\d{1,6} ?([+-]?)(?: |$)")
#: Rows that show that a text is cut.
_CUT = re.compile(r".*\b(?:hidden|show (?:details|more|all)|more lines)\b", re.IGNORECASE)
_URL = re.compile(r"(?:(?:url|address): ?|[-•*] )?(https?://[^\s\"'<>`]{1,400})$", re.IGNORECASE)
_TOOL = re.compile(r"[?⏺→▸⚙] {1,3}([A-Za-z][\w.-]{0,40}) {1,3}(\S.*)")
#: The end of a sentence, which names no tool, and of a question with its answers.
_SAYS = re.compile(r"\w [\w'’]+ [\w'’]+[.!?](?: ?[\[(].{1,40})?$")
#: A tool of a server: `ledger — Add Entry Tool: (MCP)`.
_MCP = re.compile(r"(\S.{0,80}?)(?: Tool)?: \(MCP\)$")
#: `Bash command`, `Bash command · from an agent`, `Shell`: the name of the tool in a dialog's first row.
_TITLE = re.compile(r"(?:[?⏺→▸⚙] {1,3})?([A-Z][\w.-]{0,30})(?: [Cc]ommand(?:$| · )| {2,}|$)")
#: `Dangerous command:`, above the command.
_HEAD = re.compile(r"(?:\W{1,3} )?(?:\w+ ){0,3}command:$", re.IGNORECASE)
#: `Permission for the file_system.bash tool`, and names of a shell there.
_NAMED_TOOL = re.compile(r".*\bthe (?:\w{1,40}\.)?(\w{1,40}) tool\b", re.IGNORECASE)
_SHELLS = dict.fromkeys(("bash", "shell"), "Shell")
#: `Run bash command(npm test)`, and its description in the rows below.
_CALL = re.compile(r"([A-Z][\w ]{0,40}\w)\((\S.*)\)")
_BRANCH = "⎿"
#: The trace of a scroll bar at the end of a row.
_BAR = re.compile(r" {2,}[█▊░▒┃│]$")
_FILE = r"[\"'`]?((?:[~.]?/)?[\w@+~.-][\w@+~./ -]{0,199}?)[\"'`]?"
_VERB = r"(create|write|edit|update|change|modify|delete|remove|overwrite|patch)"
_ASKED_FILE = re.compile(rf".*\b{_VERB}(?:s|d)?(?: (?:to|in))?(?: (?:this|these) edits? to)? {_FILE}\?$", re.IGNORECASE)
_MADE_EDIT = re.compile(rf".*\bmake (?:this|these) edits? to {_FILE}\?$", re.IGNORECASE)
_NAMED_FILE = re.compile(
    rf"(?:[?⏺→▸⚙] {{1,3}})?(Edit|Write|WriteFile|Update|Delete|Create|Patch) {{1,3}}(?:Writing to )?{_FILE}$"
)
_FILE_TITLE = re.compile(rf"{_VERB} file$", re.IGNORECASE)
_DESTINATION = re.compile(r"(?:Destination|File|Path): (\S.*)")
_FOLDER = re.compile(r"(?:~|/)[\w@+~./ -]{0,199}$")
_COMMAND = re.compile(r"\b(?:command|execut\w+|run)\b", re.IGNORECASE)
_TRUST = re.compile(r"\btrust\b", re.IGNORECASE)
_ABOUT_URL = re.compile(r"\b(?:urls?|fetch|address|web\w*|download|browse)\b", re.IGNORECASE)
#: The output of a command is not the subject.
_ABOUT_OUTPUT = re.compile(r"\boutput\b", re.IGNORECASE)
_ABOUT_FILE = re.compile(r"\bfile\b", re.IGNORECASE)
#: The name of a tool by a verb of a row or a question.
_VERBS = dict.fromkeys(("create", "write", "writefile", "overwrite"), "Write")
_VERBS |= dict.fromkeys(("delete", "remove"), "Delete")


def subject(lines: Sequence[str], dialog: Dialog, labels: Sequence[str] = ()) -> str:
    """
    Return the subject of *dialog* on the visible rows *lines*, at most `SUBJECT_CELLS` wide; "" if unknown.

    *labels* are its answers. For a dialog with cut lines it is a part, and ends in `…`. It is "" where the beginning is
    missing: the rest may mean the opposite.
    """
    place = dialog.place
    if place is None or (dialog.missing == NO_TOP and dialog.is_known):
        return ""
    found = _any_subject(lines, place, dialog, labels)
    cut = " …" if found and dialog.missing in (LEFT_OUT, NO_ROOM) else ""
    return middle(found, SUBJECT_CELLS - len(cut)) + cut


def _any_subject(lines: Sequence[str], place: Place, dialog: Dialog, labels: Sequence[str]) -> str:
    """Return the subject by the first way that finds one; "" for none."""
    question = dialog.question
    if not place.starts and place.asks == place.end - 1:
        return _above_a_row(lines, place.asks, question)
    end = place.starts[0] if place.starts else place.end
    top = max(place.top if dialog.missing == NO_TOP else dialog.top, end - _MAX_DIALOG_ROWS, 0)
    rows = [_unframed_row(line) for line in lines[top:end]]
    before = [_unframed_row(line) for line in lines[max(0, top - _BEFORE_ROWS) : top]]
    if (prompt := _last_match(_PROMPT, rows[max(0, place.top - top) :])) is not None:
        command, below = Row(0, 0, prompt[0][1]), prompt[1]
        if (said := _last_match(_SAID, before)) is not None and command.text.startswith(said[0][1]):
            below = _command_rows(command, below, max(map(len, lines)) - _MARGIN_COLUMNS)
        return "Shell: " + _paragraph([command, *below])
    return (
        _file_subject(rows, before, question)
        or _address_subject(rows)
        or _headed_subject(rows, question)
        or _block_subject(rows, question, max(map(len, lines)) - _MARGIN_COLUMNS)
        or _tool_subject(rows)
        or _folder_subject(rows, (question, *labels))
    )


def _unframed_row(line: str) -> Row:
    """Return a row of the screen without its frame."""
    text = without_frame(line.replace("\u00a0", " ")[:_READ_ROW_CHARS])
    return Row(0, 0, "", True) if text is None else Row(0, 0, _BAR.sub("", text).strip(), is_edge(line))


def _paragraph(rows: Sequence[Row]) -> str:
    """Return the leading rows of text of *rows* as one text."""
    found = itertools.takewhile(lambda row: row.text and not row.is_edge, rows[:_MAX_DIALOG_ROWS])
    return " ".join(row.text for row in found)


def _command_rows(row: Row, below: Sequence[Row], width: int) -> list[Row]:
    """Return the rows *below* the first one of a command that belong to it: wrapped text, and marked lines."""
    found: list[Row] = []
    for after in below:
        is_line = after.text.startswith(_LINE)
        if not is_line and len(row.text) + 1 + len(after.text.partition(" ")[0]) <= width:
            break
        row = after
        found.append(Row(0, 0, after.text.removeprefix(_LINE)))
    return found


def _last_match(pattern: re.Pattern[str], rows: Sequence[Row]) -> tuple[re.Match[str], Sequence[Row]] | None:
    """Return the last of *rows* that begins with *pattern*, and the rows below it."""
    found = ((pattern.match(rows[at].text), rows[at + 1 :]) for at in upwards(len(rows), len(rows)))
    return next(((match, below) for match, below in found if match is not None), None)


def _from_first_text(rows: Sequence[Row]) -> list[Row]:
    """Return *rows* from the first one with text on."""
    return list(itertools.dropwhile(lambda row: not row.text, rows))


def _file_subject(rows: Sequence[Row], before: Sequence[Row], question: str) -> str:
    """Return `Edit src/api.py (+12 −3)` if the dialog names a file."""
    named = _named_file(rows, question)
    if named is None:
        return ""
    verb, path = named
    for row in (*rows, *reversed(before)):
        stat = _STAT.match(row.text)
        if stat is not None and _file_name(stat[1]) == _file_name(path):
            return f"{verb} {path} (+{stat[2]} −{stat[3]})"
    return f"{verb} {path}{_row_counts(rows, verb)}"


def _named_file(rows: Sequence[Row], question: str) -> tuple[str, str] | None:
    """Return the verb and the path of the file that the dialog names."""
    for at in upwards(len(rows), len(rows)):
        text = rows[at].text.removesuffix(" ←")
        match = _NAMED_FILE.match(text)
        if match is not None and _is_path(match[2]):
            return _VERBS.get(match[1].lower(), "Edit"), match[2]
        match = _DESTINATION.match(text)
        if match is not None:
            return "Edit", match[1]
        match = _FILE_TITLE.match(text)
        path = rows[at + 1].text if match is not None and at + 1 < len(rows) else ""
        if match is not None and path and " " not in path:
            return _VERBS.get(match[1].lower(), "Edit"), path
    match = _MADE_EDIT.match(question)
    if match is not None:
        return "Edit", match[1]
    match = _ASKED_FILE.match(question)
    return (_VERBS.get(match[1].lower(), "Edit"), match[2]) if match is not None and _is_path(match[2]) else None


def _is_path(text: str) -> bool:
    return "/" in text or "." in text.strip(".")


def _file_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _row_counts(rows: Sequence[Row], verb: str) -> str:
    """Return the count of added and removed rows of text, if all of them are shown."""
    if any(_CUT.match(row.text) for row in rows):
        return ""
    signs = [match[1] for row in rows if (match := _NUMBERED.match(row.text)) is not None]
    added, removed = signs.count("+"), signs.count("-")
    if signs and not added and not removed and verb == "Write":
        added = len(signs)
    return counts(added, removed)


def _address_subject(rows: Sequence[Row]) -> str:
    """Return `Fetch example.org/x` if the dialog has an address and is about one."""
    found = [match[1] for row in rows if (match := _URL.match(row.text)) is not None]
    is_about = any(_ABOUT_URL.search(row.text) for row in rows)
    return (
        "Fetch " + " ".join(dict.fromkeys(url.removeprefix("https://") for url in found)) if found and is_about else ""
    )


def _headed_subject(rows: Sequence[Row], question: str) -> str:
    """
    Return `Shell: npm test` with the paragraph below `command:`, or the tool that the question names with the paragraph
    below it.
    """
    found = _last_match(_HEAD, rows)
    below = _from_first_text(found[1]) if found is not None else []
    text = _paragraph(below)
    if text and not question.startswith(below[0].text):
        return f"Shell: {text}"
    named = _NAMED_TOOL.match(question)
    at = next((at for at, row in enumerate(rows) if row.text and question.startswith(row.text)), len(rows))
    text = _paragraph(rows[at + 1 :])
    return f"{_SHELLS.get(named[1], named[1])}: {text}" if named is not None and text else ""


def _block_subject(rows: Sequence[Row], question: str, width: int) -> str:
    """Return the text between two lines across right above the question, or between a title and the question."""
    edges = [at for at, row in enumerate(rows) if row.is_edge]
    for top, bottom in reversed(list(itertools.pairwise(edges))):
        inner = _from_first_text(rows[top + 1 : bottom])
        below = [row.text for row in itertools.takewhile(lambda row: not row.is_edge, rows[bottom + 1 :]) if row.text]
        if not inner or not any(map(question.startswith, below[: _REMARK_ROWS + 1])):
            continue
        text = _paragraph(inner)
        names = (_MCP.match(row.text) or _TITLE.match(row.text) for row in rows[:top])
        title = next((name[1] for name in names if name is not None), "")
        if not title and _COMMAND.search(question):
            title = "Shell"
        return f"{title}: {text}" if title else ""
    return _titled_subject(rows, question, width)


def _titled_subject(rows: Sequence[Row], question: str, width: int) -> str:
    """
    Return `Bash: npm test` from a title such as `Bash command` and the paragraph below it, without a remark behind the
    command.
    """
    title, *below = _from_first_text([row for row in rows if not row.is_edge]) or [Row(0, 0, "")]
    named = _TITLE.match(title.text)
    paragraph = list(itertools.takewhile(lambda row: row.text, _from_first_text(below)))
    after = _from_first_text(_from_first_text(below)[len(paragraph) :])
    if named is None or not _COMMAND.search(title.text) or not paragraph or below[0].text:
        return ""
    if not after or not question.startswith(after[0].text):
        return ""
    return f"{named[1]}: {_paragraph([paragraph[0], *_command_rows(paragraph[0], paragraph[1:], width)])}"


def _tool_subject(rows: Sequence[Row]) -> str:
    """Return the last row that names a tool, with its argument."""
    found = _last_match(_TOOL, [row for row in rows if not _SAYS.search(row.text)])
    if found is None:
        return ""
    match, below = found
    title = _paragraph(
        [
            Row(0, 0, match[2].removesuffix("←").rstrip()),
            *itertools.takewhile(lambda row: not row.text.startswith(_BRANCH), below),
        ]
    )
    if (called := _CALL.fullmatch(f"{match[1]} {title}")) is not None:
        return f"{'Shell' if _COMMAND.search(called[1]) else called[1]}: {called[2]}"
    parts: list[str] = []
    is_behind = False
    for at, row in enumerate(below):
        if not row.text or row.is_edge:
            is_behind = True
        elif is_behind:
            parts.append(_paragraph(below[at:]))
            is_behind = False
    # A paragraph by itself below it, above the question, is the same text in full.
    whole = parts[0] if len(parts) > 1 and title.startswith(parts[0][:_SAME_CHARS]) else title
    return f"{match[1]}: {whole}"


def _folder_subject(rows: Sequence[Row], texts: Sequence[str]) -> str:
    """Return `Trust /folder` if the dialog asks for trust."""
    if not any(map(_TRUST.search, texts)):
        return ""
    return next((f"Trust {row.text}" for row in rows if row.text and _FOLDER.match(row.text)), "")


def _above_a_row(lines: Sequence[str], asks: int, question: str) -> str:
    """Return the rows right above a question in one row, as its subject."""
    above = (_unframed_row(lines[at]) for at in upwards(asks, _MAX_DIALOG_ROWS))
    rows = [row.text for row in itertools.takewhile(lambda row: row.text and not row.is_edge, above)]
    text = " ".join(reversed(rows))
    if not text or _ABOUT_OUTPUT.search(question):
        return ""
    if _ABOUT_URL.search(question):
        return f"Fetch {text.removeprefix('https://')}"
    if _ABOUT_FILE.search(question):
        return f"{'Write' if 'create' in question.lower() else 'Read' if 'add' in question.lower() else 'Edit'} {text}"
    return f"Shell: {text}" if _COMMAND.search(question) else ""
