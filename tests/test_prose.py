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


#: Of the words above, those that no docstring and no comment needs; and what has not been read through yet.
_NEVER = re.compile(r"\b(stands?(?!-in| still| out)|stood|begot|neediest|anew|but for|is given up)\b")
_UNREAD = ("tracker/", "parts/lab/", "hosts/wezterm/", "evidence/unknown.py", "evidence/structure.py")


def about(source: str) -> Iterator[str]:
    """The docstrings and comments of a module, without names of code in them."""
    tree = ast.parse(source)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts += [token.string for token in tokens if token.type == tokenize.COMMENT]
    yield from (re.sub(r"`[^`]+`", "code", text) for text in texts)


@pytest.mark.slow
def test_docstrings_and_comments() -> None:
    package = ROOT / "shared/tallylight"
    read = [path for path in package.rglob("*.py") if not str(path.relative_to(package)).startswith(_UNREAD)]
    found = {path.name: [text for text in about(path.read_text("utf-8")) if _NEVER.search(text)] for path in read}
    assert {name: texts for name, texts in found.items() if texts} == {}
