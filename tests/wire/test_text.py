"""Sanitising: what goes, what stays, and the caps."""

from __future__ import annotations

import functools
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.wire.text import _PLAIN, MARKS, _sanitise, _sanitise_again, is_ascii_id, middle, sanitise, width
from tests.helpers import is_linear, least_seconds
from tests.strategies import texts
from tests.tables import each

DEFAULT_IGNORABLE = [
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
    *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
    *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
]  # fmt: skip


@each(
    ("dirty", "clean"),
    [
        ("plain text, 100%", "plain text, 100%"),
        ("", ""),
        ("a\tb\nc\r\nd\x0be\x0cf", "a b c  d e f"),
        ("a\u2028b\u2029c\x85d", "a b c d"),
        ("\x00\x07\x1b[31mred\x7f\x9b\x9c", "[31mred"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("\u2066a\u2067b\u2068c\u2069d\u061c\u200e\u200f", "abcd"),
        ("z\u200be\u200cr\u200do\u2060\ufeff\u00ad\u034f", "zero"),
        ("\u115f\u1160\u3164\uffa0\u180e", ""),
        ("tag\U000e0041\U000e007f", "tag"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f!",) * 2,
        ("\U0001f3f4\U000e0067\U000e0062\U000e0073", "\U0001f3f4"),
        ("\U0001f3f4" + "\U000e0061" * 9 + "\U000e007f", "\U0001f3f4"),
        ("👩\U000e0067\U000e0062\U000e0073\U000e007f", "👩"),
        ("می\u200cخواهم",) * 2,
        ("می\u200c\u200cخواهم", "میخواهم"),
        ("می\u200c", "می"),
        ("\u200cمی a\u200cم م\u200ca", "می aم مa"),
        ("می\u200c\u061cخ", "میخ"),
        ("क्\u200cष",) * 2,
        ("क\u200cष", "कष"),
        ("a\ufe0fb\ufe0e", "ab"),
        ("non\u00a0breaking\u3000wide\u2003em", "non breaking wide em"),
        ("lone\ud800surrogate\udfff", "lonesurrogate"),
        ("\ufdd0\uffff\U0010ffff", ""),
        ("e\u0301", "é"),
        ("e\u200b\u0301", "é"),
        ("\u037e\u212a\u2126", ";KΩ"),
        ("\u0301\u0302start", "start"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("👩🏽\u200d💻", "👩🏽\u200d💻"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("👩\u200d", "👩"),
        ("\u200d👩", "👩"),
        ("👩\u200dx", "👩x"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f"),
        ("🇩🇪", "🇩🇪"),
        ("✳ Claude Code", "✳ Claude Code"),
        ("⠂ Fix", "⠂ Fix"),
        ("שלום", "שלום"),
        ("漢字", "漢字"),
        ("{x}%s$(id)<b>#[fg=red]", "{x}%s$(id)<b>#[fg=red]"),
    ],
)
def test_rules(dirty: str, clean: str) -> None:
    """What draws nothing or moves the cursor goes; what is text in any script, and an emoji's own joiners, stay."""
    assert sanitise(dirty) == clean


def test_every_invisible_code_point_goes() -> None:
    """No control, format character, surrogate, separator or default-ignorable code point of Unicode survives alone."""
    bad = set(DEFAULT_IGNORABLE)
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            bad.add(code)
    survivors = [hex(code) for code in sorted(bad) if sanitise(f"a{chr(code)}b") not in ("ab", "a b")]

    assert survivors == []


@each("letter", ["a", "é", "漢", "👩"])
@each("cap", [1, 5, 6, 7])
def test_caps(letter: str, cap: int) -> None:
    """Text ends at the cap of cells or of graphemes, whichever comes first, and no wide character is halved."""
    per = width(letter)

    assert sanitise(letter * 50, cells=cap) == letter * (cap // per)
    assert sanitise(letter * 50, graphemes=cap) == letter * cap
    assert sanitise(letter * cap, graphemes=cap) == letter * cap
    assert sanitise(letter * (cap + 1), graphemes=cap) == letter * cap


def test_emoji_counts_as_one_grapheme_of_two_cells() -> None:
    """A joined emoji is one grapheme, two cells wide, and is kept or cut whole."""
    family = "👨\u200d👩\u200d👧\u200d👦"

    assert width(family) == 2
    assert sanitise(family * 3, graphemes=2) == family * 2
    assert sanitise(family * 3, cells=5) == family * 2


def test_plain_text_is_what_the_rules_make_of_it() -> None:
    """The symbols and letters that are taken as they are come out of the rules as they are, one cell each."""
    plain = [chr(code) for code in range(0x10000) if _PLAIN.fullmatch(chr(code))]
    assert len(plain) > 2000

    assert [char for char in plain if _sanitise(f"a{char}{char}b", 9, 9) != f"a{char}{char}b"] == []
    assert [char for char in plain if width(char) != 1] == []
    assert _sanitise("".join(plain), 9999, 9999) == "".join(plain), "no two of them make one"
    assert sanitise("".join(plain), cells=40, graphemes=30) == "".join(plain[:30])


@each(("cap", "kept"), [(1, 1), (2, 3), (3, 4)])
def test_what_keeps_letters_apart_takes_no_cell(cap: int, kept: int) -> None:
    """ZWNJ has no width, is never the last of a text, and there is one of it at a place."""
    word = "ی\u200cخ"

    assert width(word) == 2
    assert sanitise(word * 9, cells=cap) == (word * 9)[:kept]
    assert sanitise("ی" + "\u200c" * 5000 + "خ") == "یخ"


def test_endless_joining_is_cut() -> None:
    """Four emoji join into one; a fifth stands alone, so that no grapheme is longer than a family."""
    woman = "👩"

    assert sanitise("\u200d".join([woman] * 4)) == "\u200d".join([woman] * 4)
    assert sanitise("\u200d".join([woman] * 5)) == "\u200d".join([woman] * 4) + woman


def test_marks_on_one_base_are_capped() -> None:
    """Of thousands of combining marks on one base four stay, and what follows them is kept."""
    mark = "\u0331"  # nothing composes with it here

    assert sanitise("q" + mark * 3000 + "end") == "q" + mark * MARKS + "end"
    assert sanitise("q" + mark * 20 + "end") == "q" + mark * MARKS + "end"
    assert sanitise("q" + mark * MARKS) == "q" + mark * MARKS
    assert sanitise("q" + mark * (MARKS + 1)) == "q" + mark * MARKS


def test_long_text_is_not_remembered() -> None:
    """Text over 512 characters leaves the cache as it was, and comes out the same as short text."""
    before = _sanitise_again.cache_info().currsize

    assert sanitise("é" * 513, cells=3) == "ééé"
    assert _sanitise_again.cache_info().currsize == before
    assert sanitise("é" * 512, cells=3) == "ééé"


@given(texts())
def test_idempotent(text: str) -> None:
    """Sanitised text is sanitised: a second pass, at the render edge, changes nothing."""
    once = sanitise(text)

    assert sanitise(once) == once


@given(texts(), st.integers(0, 12), st.integers(0, 12))
def test_idempotent_at_small_caps(text: str, cells: int, graphemes: int) -> None:
    """A cut leaves nothing that a second pass would cut or change, and the caps hold."""
    once = sanitise(text, cells=cells, graphemes=graphemes)

    assert sanitise(once, cells=cells, graphemes=graphemes) == once
    assert width(once) <= cells


@given(texts())
def test_result_is_harmless(text: str) -> None:
    """The result is NFC, encodes to UTF-8, and holds no control, no separator, and no joiner outside an emoji."""
    result = sanitise(text)
    result.encode("utf-8")

    assert unicodedata.is_normalized("NFC", result)
    for index, character in enumerate(result):
        if character == "\u200d":
            assert result[index + 1 : index + 2] > "\u00a8"
        elif character != "\ufe0f":
            assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
            assert ord(character) not in DEFAULT_IGNORABLE


@given(st.text(alphabet=st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=100))
def test_printable_ascii_is_untouched(text: str) -> None:
    """Printable ASCII under the caps comes back as it is."""
    assert sanitise(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "\x1b",
        "é",
        "e\u0301",
        "\u0301",
        "\u0331\u0301",
        "\u0345\u0301\u0331",
        "👩\u200d",
        "\ufe0f",
        "\u200b",
        "漢",
        "1\ufe0f",
    ],
)
def test_a_megabyte_is_linear(unit: str) -> None:
    """A megabyte takes about four times as long as a quarter of it, caps off, whatever it repeats."""
    assert is_linear(
        lambda size: functools.partial(sanitise, unit * (size // len(unit)), cells=size, graphemes=size), 20_000
    )
    assert least_seconds(lambda: sanitise(unit * (1_000_000 // len(unit))), 0.2) < 0.2


@each("name", ["claude", "cursor-agent", "a", "gpt-5.2", "x_1", "A" * 32])
def test_ascii_id(name: str) -> None:
    """An agent's id is 1 to 32 plain characters."""
    assert is_ascii_id(name)


@each("name", ["", "-x", "сlaude", "ｃｌａｕｄｅ", "a b", "a/b", "A" * 33, "a\n", "claude\x00", "é", "../x"])
def test_not_an_ascii_id(name: str) -> None:
    """Look-alikes, paths, options and controls are no id."""
    assert not is_ascii_id(name)


def test_the_middle_is_cut() -> None:
    """What is too wide keeps both ends; it never gets wider, is harmless, and stays what it is when cut again."""
    assert middle("abcdefghij", 10) == "abcdefghij"
    assert middle("abcdefghijk", 10) == "abcde…hijk"
    assert middle("make a\n\n  make b", 40) == "make a ↵ make b"
    assert middle("界" * 9, 10) == "界界…界界"
    assert middle("x" * 100_000 + "end", 9) == "xxxx…xend"
    for text in ("a\x1b[31mb\u202e" * 90, "e\u0301" * 200, "👩\u200d👩\u200d👧" * 90, " \n" * 500, "\ud800" * 999, ""):
        for cells in (1, 2, 9, 200):
            found = middle(text, cells)
            assert width(found) <= cells and middle(found, cells) == found == sanitise(found), (text, cells)
