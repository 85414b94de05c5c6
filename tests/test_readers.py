"""Readers of foreign documents: a value of any type and size, in any place, costs that document at most."""

from __future__ import annotations

import ast
import contextlib
import json
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.readers import READERS, Reader
from tests.tables import each, sampled

SHARED = Path(__file__).parents[1] / "shared" / "tallylight"
#: The modules that call a parser, and which: everybody else reads through them.
PARSERS = {
    "wire.values": {"json.JSONDecoder"},
    "files.toml": {"tomllib.loads"},
    # One word at a time, at a place of its own in the text.
    "parts.agent_hooks.jsonc": {"json.loads"},
    # As far as it is whole, and without loading `json`.
    "hooks.payload": {"make_scanner"},
}
_MARK = "\x01here\x01"
_DIGITS, _LONG, _MARKS = "9" * 5000, "x" * 70_000, "\u0301" * 5000
_LIST = "[" + ",".join(["1"] * 3000) + "]"


def _nested(depth: int) -> str:
    return "[" * depth + "]" * depth


#: As JSON has them. A nesting of 900 is about as deep as Python's own reader goes.
JSON_VALUES = [
    "null", "true", "false", "-1", "0", "-0.0", "1.5", "1e308", "1e999", "-1e999", "NaN", "Infinity", "-Infinity",
    str(10**18), str(2**63), str(-(2**63) - 1), str(10**300), str(-(10**300)), str(10**400), _DIGITS,
    '""', '" "', '"\\ud800"', '"\\udc80"',
    '"a\\udfff\\u0000b"', '"\\u0000"', '"\\u001b]0;x\\u0007"', f'"{_DIGITS}"', '"\u00b2"',
    '"../../x"', '"/' + "a/" * 3000 + '"', f'"{_LONG}"', f'"{_MARKS}"', "[]", "{}", "[[]]", "[null]", "[{}]",
    '{"a":1}', '{"":{}}', '[1,"a",null,[],{}]', f'["{_DIGITS}"]', _LIST, '{"a":1,"a":2}',
    *map(_nested, (50, 70, 900, 20_000)),
]  # fmt: skip
_DOTTED = ".".join("a" * 5000)
TOML_VALUES = [
    "true", "false", "-1", "0", "1.5", "inf", "-inf", "nan", str(10**18), str(10**300), _DIGITS, "0x" + "f" * 20_000,
    '""', '"\\u0000"', '"\\u001b]0;x\\u0007"', f'"{_DIGITS}"', '"\u00b2"', "1979-05-27T07:32:00Z", "1979-05-27",
    f'"{_LONG}"', "[]", "{}", "[[]]", "[{}]", '["a", 1]', "{a=1}", _LIST, "{a=" * 5000, "{x=" * 60 + "1" + "}" * 60,
    "{" + _DOTTED[:59] + "=1}", "{" + _DOTTED + "=1}", *map(_nested, (70, 400, 20_000)),
]  # fmt: skip
#: Whole documents that are none.
BROKEN = [
    b"", b" ", b"\0", b"null", b"7", b'"x"', b"[]", b"{}", b"[[]]", b"\xff\xfe", b"\xef\xbb\xbf", b"{", b'{"a":',
    b"[" * 100_000, b'{"a":' * 5000, b"x" * 70_000, "\u2028".encode(), b"\xed\xa0\x80", b"{}{}", b'{"version":1}',
    b"a.b.c", b"[a", b"a = ", b"= 1", b"[[a]]\n" * 3000, b"".join(b"k%d = 1\n" % n for n in range(3000)),
]  # fmt: skip


def mutants(value: Any, hostile: list[str], dump: Any) -> Iterator[tuple[str, str]]:
    """Every place in *value*, and the document with each *hostile* text there."""
    for place, marked in _marked(value, "$"):
        text = dump(marked)
        for bad in hostile:
            yield f"{place} = {bad[:40]}", text.replace(json.dumps(_MARK), bad)


def _marked(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """*value* with a mark in each of its places in turn."""
    yield place, _MARK
    if isinstance(value, dict):
        for key, inner in value.items():
            for name, changed in _marked(inner, f"{place}.{key}"):
                yield name, {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for name, changed in _marked(inner, f"{place}[{index}]"):
                yield name, [*value[:index], changed, *value[index + 1 :]]


def documents(reader: Reader) -> Iterator[tuple[str, bytes]]:
    """Hostile documents for *reader*, each with its name."""
    if reader.form == "json":
        for name, text in mutants(reader.example, JSON_VALUES, json.dumps):
            yield name, text.encode("utf-8", "surrogatepass")
    else:
        lines = reader.example.splitlines()
        for number, line in enumerate(lines):
            key, equals, _ = line.partition(" = ")
            for bad in TOML_VALUES if equals else ():
                changed = "\n".join([*lines[:number], f"{key} = {bad}", *lines[number + 1 :]])
                yield f"{key} = {bad[:40]}", changed.encode()
                if bad == "true":
                    yield f"{key}.…", changed.replace(f"{key} =", f"{key}{'.a' * 3000} =").encode()
    for broken in BROKEN:
        yield repr(broken[:20]), broken


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_hostile_values(name: str, tmp_path: Path) -> None:
    """Whatever stands in a document, its reader returns or raises what it says it raises, in time."""
    reader = READERS[name]
    faults: list[str] = []
    for what, document in sampled(documents(reader)):
        begin = time.process_time()
        try:
            reader.read(document, tmp_path)
        except reader.errors:
            pass
        except Exception as error:
            faults.append(f"{what}: {type(error).__name__}: {str(error)[:80]}")
        if (took := time.process_time() - begin) > 3:
            faults.append(f"{what}: took {took:.1f} s")

    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:30])


@each("name", READERS)
def test_the_examples_are_read(name: str, tmp_path: Path) -> None:
    """Each example is a good one: a reader that reads nothing would pass every other test."""
    reader = READERS[name]
    if reader.form == "toml":
        tomllib.loads(reader.example)
    document = reader.example if isinstance(reader.example, str) else json.dumps(reader.example)
    try:
        found = reader.read(document.encode(), tmp_path)
    except reader.errors as error:
        # The index of pip is read to its end: there is no such wheel.
        assert "checksum" in str(error)
        return
    assert found not in (None, (), [], {}, "0 s", False)


@pytest.mark.slow
def test_every_reader_is_in_the_table() -> None:
    """A module that reads JSON or TOML is named in the table, and reads it through the one place for that."""
    found = {name: _readers(tree) for name, tree in _modules()}
    reading = {name for name, calls in found.items() if calls} - set(PARSERS)
    covered = {module for reader in READERS.values() for module in reader.modules}

    assert len(reading) > 15
    assert reading - covered == set(), "give them a line in tests/readers.py"
    assert covered - reading - set(PARSERS) == set(), "they read nothing any more"
    for name, calls in found.items():
        own = {call for call in calls if call.startswith(("json.", "tomllib.", "make_scanner"))}
        assert own <= PARSERS.get(name, set()), f"{name} has to go through wire.values or files.toml"


def _readers(tree: ast.Module) -> set[str]:
    """What a module calls to read a document."""
    names = {"values.load", "values.members", "toml.load", "toml.parse", "jsonc.parse", "make_scanner"}
    names |= {f"{module}.{call}" for module in ("json", "tomllib") for call in ("loads", "load")} | {"json.JSONDecoder"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and f"{node.module}".endswith(
            ("wire.values", "files.toml", "parts.agent_hooks.jsonc")
        ):
            names |= {alias.name for alias in node.names if alias.name in ("load", "members", "parse")}
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return called & names


def _modules() -> Iterator[tuple[str, ast.Module]]:
    """The modules in which a word stands that reading is done with."""
    for path in SHARED.rglob("*.py"):
        name = ".".join(path.relative_to(SHARED).with_suffix("").parts).removesuffix(".__init__")
        source = path.read_text("utf-8")
        if any(word in source for word in ("json", "toml", "values", "make_scanner")):
            yield name, ast.parse(source)


#: Documents that could take more than linear time, of a size.
GROWING: dict[str, tuple[str, Callable[[int], str]]] = {
    "quotes that never end": ("OSC 777 of an agent", lambda size: '"' + '\\"' * (size // 2)),
    "brackets in a text": ("OSC 777 of an agent", lambda size: '{"event":"stop","x":"' + "[" * size + '"}'),
    "unknown keys": ("configuration", lambda size: "\n".join(f"k{n} = 1" for n in range(size // 8))),
    "a dotted line in a text": ("configuration", lambda size: 'bad = 1\nx = """\n' + "a." * (size // 2) + '\n"""'),
    "a header of blanks in a text": ("configuration", lambda size: 'bad = 1\nx = """\n[' + " " * size + '\n"""'),
    "a long word": ("configuration", lambda size: 'x = "' + "a" * size + '"'),
    "a dotted name": ("agent file", lambda size: ".".join("a" * (size // 2)) + " = 1"),
    "many tables": ("agent file", lambda size: "[[screen.rules]]\n" * (size // 17)),
    "lines of a transcript": (
        "transcript: failed", lambda size: '{"type":"user","x":"turn_duration"}\n' * (size // 36)
    ),
    "a nested payload": ("hook payload", lambda size: '{"a":' * (size // 5)),
    "blanks in a payload": ("hook payload", lambda size: '{"a"' + " " * size + ":1}"),
    "comments of settings": ("settings of an agent", lambda size: "/* */" * (size // 5) + "{}"),
    "panes": ("WezTerm's list", lambda size: json.dumps([{"pane_id": n} for n in range(size // 16)])),
    "panes of a snapshot": (
        "fleet: pane", lambda size: json.dumps({"version": 1, "pane": {"id": "3", "records": [{}] * (size // 4)}})
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_reading_takes_linear_time(name: str, tmp_path: Path) -> None:
    """Eight times as much takes about eight times as long, and never minutes."""
    reader, make = READERS[GROWING[name][0]], GROWING[name][1]

    def took(size: int) -> float:
        document = make(size).encode()
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            with contextlib.suppress(*reader.errors):
                reader.read(document, tmp_path)
            best = min(best, time.process_time() - begin)
        return best

    small, large = took(7_000), took(56_000)
    assert large < 30 * max(small, 0.002), f"{small:.4f} s, {large:.4f} s"
