"""
How we write: no sentence over 25 words in pages, `--help` and settings; none of the words below, in messages neither.

A word is here because a better one is beside it. Argue with an entry where it is wrong: change it, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.cli.main import groups, module_of
from tallylight.cli.parser import Parser
from tallylight.config.settings import SETTINGS
from tests.tables import each

ROOT = Path(__file__).parents[1]
PAGES = [*(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")), *sorted(ROOT.glob("docs/*.md"))]
MOST_WORDS = 25
#: What reads translated, and what to write instead.
INSTEAD = {
    r"\b(stands?|stood|standing)\b": "is, appears, shows, means",
    r"\b(told(?! apart)|said(?! no\b))\b": "reported, shown, notified; or name who reports it",
    r"\b(begot|begets?)\b": "started",
    r"\b(of|by|from|behind|beside|as) (which|whom)\b": "two sentences",
    r"\bwhose\b": "two sentences",
    r"\bbut for\b": "except",
    r"\b(kin|anew|neediest)\b": "similar, again, most urgent",
    r"\bis given up\b": "is dropped, is disconnected",
    r"\bnobody knows\b": "unknown",
    r"\b(as a rule|may well|nearly everything)\b": "the number, or nothing",
    r"^(What|Those of|That (the|an?)) [^?]*$": "the subject first, then the verb",
}
_NOT_PROSE = re.compile(r"^---\n.*?^---\n|^```.*?^```|<!--.*?-->", re.MULTILINE | re.DOTALL)


def sentences(page: str) -> Iterator[str]:
    """The sentences of a page in Markdown: a piece of code is one word, a cell of a table is text by itself."""
    page = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", _NOT_PROSE.sub("\n\n", page))
    page = re.sub(r"`[^`]+`", "code", page)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*|#-]|\d+\.) ?)", page):
        parts = block.split("|") if block.lstrip().startswith("|") else [re.sub(r"^\s*(?:[*#-]+|\d+\.) ", "", block)]
        for part in parts:
            yield from filter(None, map(str.strip, re.split(r"(?<=[.!?:])[*_)\"]*\s+", " ".join(part.split()))))


def faults(page: str) -> list[str]:
    """What a person would have to read twice, each with what to do."""
    found = []
    for sentence in sentences(page):
        if (count := len(re.findall(r"[^\s]*\w[^\s]*", sentence))) > MOST_WORDS:
            found.append(f"{count} words: {sentence}")
        found += instead(sentence)
    return found


def instead(text: str) -> list[str]:
    """The words of *text* for which there is a better one."""
    return [f"{match[0]!r} ({better}): {text}" for word, better in INSTEAD.items() if (match := re.search(word, text))]


def messages(source: str) -> Iterator[str]:
    """The texts of a module that may be sentences, but no docstrings; what is filled into one is a word in code."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            text = "".join(str(getattr(part, "value", "")) if isinstance(part, ast.Constant) else "code"
                           for part in node.values)  # fmt: skip
        else:
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if id(node) not in skipped and len(text.split()) > 3:
            yield re.sub(r"`[^`]+`", "code", text)


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                yield from _parsers(below)


def _help(verb: str) -> str:
    """The texts of the help of a verb, one a paragraph."""
    found: list[str] = []
    for parser in _parsers(importlib.import_module(module_of(verb)).make_parser()):
        assert isinstance(parser, Parser)
        found += [parser.description or "", *(action.help or "" for action in parser._actions)]
        found += [*parser.examples.values(), *parser.codes.values()]
    return "\n\n".join(found)


@each("page", PAGES, ids=[page.name for page in PAGES])
def test_pages(page: Path) -> None:
    assert faults(page.read_text("utf-8")) == []


@pytest.mark.slow
def test_help() -> None:
    """Every verb, its options, examples and exit codes."""
    verbs = {verb: what for members in groups().values() for verb, what in members.items()}
    found = {verb: faults(f"{what}\n\n{_help(verb)}") for verb, what in verbs.items()}
    assert {verb: those for verb, those in found.items() if those} == {}


def test_settings() -> None:
    assert [fault for one in SETTINGS for fault in faults(one.form.about)] == []


@pytest.mark.slow
def test_messages() -> None:
    """Every text of four words or more in the code."""
    sources = (path.read_text("utf-8") for path in (ROOT / "shared/tallylight").rglob("*.py"))
    assert [fault for source in sources for text in messages(source) for fault in instead(text)] == []


@each(
    "page",
    [
        "one " * 26,
        "The pane stands there.",
        "- a list\n- What is muted is quiet.",
        "| a cell | of which |",
        "Those of other machines.",
    ],
)
def test_a_fault_is_found(page: str) -> None:
    assert len(faults(page)) == 1


def test_a_message_is_found() -> None:
    """With what is filled in; docstrings and short words are none."""
    source = """def f(x):\n    'it stands in a docstring'\n    return f'{x} is told of {x} here', 'told'\n"""
    assert list(messages(source)) == ["code is told of code here"]


@each("page", ["`one two` " * 20, "```sh\nstands\n```", "What is it?", "one two. " * 20, "[a](what-is-told.md)"])
def test_what_is_no_fault(page: str) -> None:
    assert faults(page) == []


PACKAGE = ROOT / "shared/tallylight"


def about(source: str) -> Iterator[str]:
    """Yield the docstrings of a module, and its comments with those of adjacent lines joined, without names of code."""
    tree = ast.parse(source)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    above = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            (line, _), words = token.start, token.string.lstrip("#:! ")
            is_alone = token.line.lstrip().startswith("#")
            if is_alone and line == above + 1:
                texts[-1] += f" {words}"
            else:
                texts.append(words)
            above = line if is_alone else -1
    yield from (re.sub(r"`[^`]+`", "code", text) for text in texts)


@pytest.mark.slow
def test_docstrings_and_comments() -> None:
    """Of the package and of the benchmarks."""
    paths = [*PACKAGE.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    sources = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    found = {name: [fault for text in about(source) for fault in faults(text)] for name, source in sources.items()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_a_comment_of_several_lines_is_one_text() -> None:
    assert [*about("#: one\n#: two\na = 1  # three\n# four\n")] == ["", "one two", "three", "four"]


def _words(source: str) -> set[str]:
    """The words in the docstrings, comments and names of a module, in lower case: `PaneState` has two."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = [*about(source), *(token.string for token in tokens if token.type == tokenize.NAME)]
    return {word.lower() for text in texts for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


@pytest.mark.slow
def test_glossary() -> None:
    """A word that the glossary of ARCHITECTURE.md rules out, in italics, is in no docstring, comment or name."""
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Glossary")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    ruled_out = {word for row in rows for word in re.findall(r"\*([a-z]+)\*", row[-1])}
    assert len(rows) <= 40 and len(ruled_out) >= len(rows) // 2
    ruled_out |= {f"{word}s" for word in ruled_out}
    found = {path.name: _words(path.read_text("utf-8")) & ruled_out for path in PACKAGE.rglob("*.py")}
    assert {name: words for name, words in found.items() if words} == {}
