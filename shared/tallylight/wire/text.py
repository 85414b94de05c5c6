"""
Text from programs, made harmless to show. Rules: https://www.unicode.org/reports/tr36/ and tr39.

In: any string, lone surrogates included. Out: one line in NFC with no control, no bidirectional or other invisible
character, no stack of combining marks, and at most the given cells. It never raises, takes linear time, and
`sanitise(sanitise(s)) == sanitise(s)`.

Every codec calls `sanitise` after its last decoding step, and every surface again before it draws. `hidden` finds
invisible characters in a text to type.
"""

from __future__ import annotations

import functools
import re
from unicodedata import category, east_asian_width, normalize

#: The most cells of a label; a title may have more, see `wire.title`.
LABEL_CELLS = 256
#: Marks kept on one base. Vietnamese needs 2, Hebrew with cantillation 4; GNU Screen crashed on more (CVE-2021-26937).
MARKS = 4
#: People and roles joined by ZWJ in one emoji: four in the largest families.
JOINED = 4

#: Characters that separate words and become a plain space.
_SPACES = "\t\n\v\f\r\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: Blanks with cells of their own, which become one, too: of Braille, Egyptian and musical signs.
_BLANKS = "\u2800\U00013441\U00013442\U0001d159"
#: Categories Cc, Cf, Cs, default-ignorable characters (UAX #44) and noncharacters. A test compares this with Unicode.
_IGNORABLE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff" + "".join([chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17)])
)
#: Marks and signs that only change how others are drawn or joined, and draw nothing themselves. They are the invisible
#: stackers and number joiners (https://www.unicode.org/Public/UCD/latest/ucd/IndicSyllabicCategory.txt). By their names
#: in the charts they are also the Tifinagh joiner, the Egyptian, Khitan, Duployan and SignWriting modifiers, and the
#: place of an object.
_MODIFIERS = (
    "\u1039\u17d2\u1a60\u1bab\u2d7f\uaaf6\ufffc\U00010a3f\U0001107f\U00011133\U000113d0\U0001193e\U00011a47\U00011a99"
    "\U00011d45\U00011d97\U00011f42\U00013440\U00013447-\U00013455\U00016fe4\U0001bc9d\U0001da9b-\U0001da9f"
    "\U0001daa1-\U0001daaf"
)
#: Joiners that are spelling between two letters of a script in use: Burmese, Khmer, Tai Tham, Sundanese, Tifinagh,
#: Meetei, Chakma.
_STACKERS = {
    "\u1039": "[\u1000-\u1038\u103a-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f]",
    "\u17d2": "[\u1780-\u17b3\u17b6-\u17d1]",
    "\u1a60": "[\u1a20-\u1a5e\u1a61-\u1a7c]",
    "\u1bab": "[\u1b80-\u1baa\u1bac-\u1bbf]",
    "\u2d7f": "[\u2d30-\u2d67]",
    "\uaaf6": "[\uaae0-\uaaf5\uabc0-\uabea]",
    "\U00011133": "[\U00011100-\U00011132]",
}
#: Vowels and finals of Hangul syllables, which take no room of their own, and the characters before them. Like the next
#: pattern it is slow to compile, and seldom needed.
_JAMO = "\u1161-\u11ff\ud7b0-\ud7fb"
_BEFORE_JAMO = "[\u1100-\u115e\ua960-\ua97c\uac00-\ud7a3]"
#: Private code points of Unicode that fonts draw all the same: the signs of Nerd Fonts, which
#: kitty and WezTerm bring along (https://github.com/ryanoasis/nerd-fonts/wiki/Glyph-Sets-and-Code-Points), and emoji to
#: come (Extended_Pictographic). Nobody knows what the others draw, if anything.
_DRAWN = (
    "[\ue000-\ue00a\ue0a0-\ue0d7\ue200-\ue2a9\ue300-\ue3e3\ue5fa-\ue8ef\uea60-\uec1e\ued00-\uf533\U000f0001-\U000f1af0"
    "\U0001f000-\U0001faff\U0001fc00-\U0001fffd]"
)
_UNKNOWN = "\ufffd"
#: Characters with VS16 and ZWJ: roughly Extended_Pictographic; the standard library has no table of it.
_PICTOGRAPH = (
    "[©®‼⁉™ℹ\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u25ff\u2600-\u27bf\u2934\u2935\u2b00-\u2bff〰〽㊗㊙"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_EMOJI = f"{_PICTOGRAPH}[\U0001f3fb-\U0001f3ff]?\ufe0f?"
#: A flag of a part of a country, such as Scotland's: its letters are invisible tags. Tags stay nowhere else.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_EMOJI_SEQUENCE = f"{_FLAG}|{_EMOJI}(?:\u200d{_EMOJI}){{0,{JOINED - 1}}}|[#*0-9]\ufe0f?\u20e3"
#: Letters that join: of the Arabic script, and of those of India, where a virama asks for it. Between two of them ZWNJ
#: is spelling, as in Persian; anywhere else it is invisible.
_ARABIC = "\u0620-\u064a\u066e-\u06d3\u06d5\u06fa-\u06fc\u06ff\u0750-\u077f\u08a0-\u08b4\u08b6-\u08c7"
_VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d"
_INDIC = "\u0905-\u0939\u0985-\u09b9\u0a05-\u0a39\u0a85-\u0ab9\u0b05-\u0b39\u0c05-\u0c39\u0c85-\u0cb9\u0d05-\u0d3a"
_ZWNJ = "\u200c"
_JOINER = f"(?<=[{_ARABIC}]){_ZWNJ}(?=[{_ARABIC}])|(?<=[{_VIRAMA}]){_ZWNJ}(?=[{_INDIC}])"
_SPACE = re.compile(f"[{_SPACES}{_BLANKS}]")
_BLANK = re.compile(f"[{_BLANKS}]")
#: The most code points of one grapheme in our own output, so that it is never cut again.
_LONGEST = JOINED * 4 + MARKS
#: Longer texts are not cached: the cache stays under two megabytes.
_CACHED_CHARS = 512
#: Words of the alphabets and the symbols that titles are made of: one cell each, and nothing to do about them. A test
#: holds each of them to the rules.
_PLAIN = re.compile(
    "[ -~\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u2319\u232b-\u23e8"
    "\u2460-\u25fc\u270c-\u2727\u2729-\u274b\u2758-\u2794\u27c0-\u27ff\u2801-\u2adb]*"
)
#: Line ends and controls; and Python's characters for bytes of a file name that are no UTF-8.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_LINE_ENDS = re.compile(r"\s*[\n\r]+\s*")
_ASCII_ID = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._-]{0,31}")


@functools.cache
def _stripped() -> re.Pattern[str]:
    """Return the pattern of the characters that `_kept` decides about. It is slow to compile, and seldom needed."""
    return re.compile(f"({_EMOJI_SEQUENCE}|{_JOINER})|[{_IGNORABLE}{_MODIFIERS}{_JAMO}]+")


@functools.cache
def _clusters() -> re.Pattern[str]:
    return re.compile(f"{_EMOJI_SEQUENCE}|.", re.DOTALL)


def sanitise(text: str, *, cells: int = LABEL_CELLS) -> str:
    """
    Return *text* made harmless, at most *cells* wide; the rest is cut off without an ellipsis.

    Line breaks, tabs, odd spaces and blanks become a space. Other characters that draw nothing are removed, and those
    without a known look become `�`. ZWJ, VS16 and tags stay inside emoji, and ZWNJ between letters that it separates.
    """
    if (text.isascii() and text[:cells].isprintable()) or _PLAIN.fullmatch(text):
        return text[:cells]
    return (_sanitise_again if len(text) <= _CACHED_CHARS else _sanitise)(text, cells)


def _sanitise(text: str, cells: int) -> str:
    text = text[: cells * _LONGEST]
    # Marks are cut before NFC, which is quadratic in the length of a run of them. Everything is stripped again after
    # it, because NFC may change a character.
    text = _cap(_strip(text), cells * _LONGEST, 2 * MARKS)
    return _cap(_strip(normalize("NFC", text)), cells, MARKS)


#: Cached, for a tab bar asks for the same few titles at every redraw.
_sanitise_again = functools.lru_cache(maxsize=512)(_sanitise)


def width(text: str) -> int:
    """Return the cells of sanitised *text*. Ambiguous characters count 1, as in both hosts by default."""
    if text.isascii() or _PLAIN.fullmatch(text):
        return len(text)
    return sum([_width(cluster) for cluster in _clusters().findall(text)])


def middle(text: str, cells: int) -> str:
    """
    Return *text* made harmless and at most *cells* wide; the middle of a longer one becomes `…`.

    Line breaks are shown as `↵`, so that two lines do not read as one. Only both ends of a long text are looked at.
    """
    most = 4 * cells
    if len(text) > 2 * most:
        text = f"{text[:most]}…{text[-most:]}"
    text = sanitise(_LINE_ENDS.sub(" ↵ ", text.strip()), cells=3 * most)
    if width(text) <= cells:
        return text
    head = sanitise(text, cells=cells // 2)
    clusters = _clusters().findall(text)
    room, tail = cells - width(head) - 1, []
    for cluster in reversed(clusters):
        room -= _width(cluster)
        if room < 0:
            break
        tail.append(cluster)
    return sanitise(f"{head.rstrip()}…{''.join(reversed(tail)).lstrip()}", cells=cells)


def hidden(text: str) -> str:
    """
    Return the first invisible character of *text*, one that `sanitise` would remove; empty if there is none.

    Spaces of every kind and line ends do not count.
    """
    if text.isascii():
        return ""
    found = [(match.start(), match[0]) for match in _BLANK.finditer(text)]
    for match in _stripped().finditer(text):
        kept = _kept(match)
        gone = [(at, char) for at, char in enumerate(match[0], match.start()) if char not in kept]
        found += [(at, char) for at, char in gone if not char.isspace()][:1]
    # A combining mark is drawn onto the character before it.
    marks = (at for at, char in enumerate(text) if char >= "\u0300" and category(char) in ("Mn", "Me"))
    found += [(at, text[at]) for at in marks if not at or text[at - 1].isspace()][:1]
    return min(found)[1] if found else ""


def is_visible(text: str) -> bool:
    """
    Return whether *text* has no control, no line end and no `hidden` character, as a path or an argument must.

    A byte of a file name that is no UTF-8 counts as visible.
    """
    if text.isascii():
        return text.isprintable()
    return not _CONTROL.search(text) and not hidden(_RAW_BYTE.sub("x", text))


def is_ascii_id(text: str) -> bool:
    """
    Return whether *text* can name an agent: 1 to 32 of `A-Z a-z 0-9 . _ -`, the first not `-`.

    Only such a name is looked up. `сlaude` with a Cyrillic с is shown as an unknown agent.
    """
    return _ASCII_ID.fullmatch(text) is not None


def _strip(text: str) -> str:
    """Return *text* without characters that draw nothing, with plain spaces, and with `�` for unknown ones."""
    text = _stripped().sub(_kept, _SPACE.sub(" ", text))
    if text.isprintable():
        return text
    # Each distinct character is looked at once.
    odd = [char for char in set(text) if not char.isprintable() and category(char) in ("Cn", "Co")]
    # Keep the part of an unknown emoji that common fonts draw.
    unknown = {ord(char): _UNKNOWN for char in odd if not re.match(_DRAWN, char)}
    return text.translate(unknown) if unknown else text


def _kept(match: re.Match[str]) -> str:
    """Return the part to keep of an emoji, or of a run of characters that draw nothing by themselves."""
    if match[1]:
        return match[1]
    run, text = match[0], match.string
    if letters := _STACKERS.get(run):
        around = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        return run if all(re.match(letters, char) for char in around) else ""
    # The other parts of a syllable stay after its beginning.
    begins = re.match(_BEFORE_JAMO, text[match.start() - 1]) if match.start() else None
    return re.sub(f"[^{_JAMO}]", "", run) if begins else ""


def _cap(text: str, cells: int, most_marks: int) -> str:
    """Return the beginning of *text* with at most *cells* cells, and *most_marks* marks on one base."""
    if text.isascii():
        return text[:cells]
    kept: list[str] = []
    # A mark without a character before it would be drawn onto the character to our left.
    marks = most_marks
    clusters = _clusters().findall(text)
    widths = {cluster: _width(cluster) for cluster in set(clusters)}
    for cluster in clusters:
        wide = widths[cluster]
        if wide == 0:
            marks += 1
            if marks <= most_marks:
                kept.append(cluster)
            continue
        cells -= wide
        if cells < 0:
            break
        kept.append(cluster)
        marks = most_marks if cluster == " " else 0
    while kept and kept[-1] == _ZWNJ:
        kept.pop()
    return "".join(kept)


def _width(cluster: str) -> int:
    """Return the cells of one cluster: 0, 1 or 2."""
    if len(cluster) > 1:
        return 2
    if cluster < "\u0300":
        return 1
    if cluster == _ZWNJ or category(cluster) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(cluster) in ("W", "F") else 1
