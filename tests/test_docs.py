"""What the documentation says can be typed, opened or run is there: verbs, options, benchmarks, files and links."""

from __future__ import annotations

import configparser
import importlib
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lupa
import pytest

from tallylight.cli import main
from tests.command_line import is_understood
from tests.tables import each

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE", "SECURITY")),
    *sorted(ROOT.glob("docs/*.md")),
    *(ROOT / f"{folder}/README.md" for folder in ("tests/corpus", "packaging")),
]
#: Languages of blocks that a person types.
TYPED = {"sh", "bash", "console"}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
_INLINE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(
    r"(?:shared|docs|tests|benchmarks|kittens|wezterm|plugin|packaging)/[\w./*-]*|[\w-]+\.(?:sh|toml|md)"
)
#: A module as ARCHITECTURE.md names it, from its room on.
_MODULE = re.compile(r"[a-z_]+/[\w/]+\.py")
#: `tally …` where a shell would run it, up to what ends a command.
_TALLY = re.compile(r"(?:^|[|&;(] ?)\s*\$?\s*tally ((?:\"[^\"]*\"|'[^']*'|[^|&;<>)#\"'])*)", re.M)


class Said(NamedTuple):
    """A piece of a page, and whether it is whole lines to type or, in the text, perhaps only the beginning of one."""

    text: str
    is_whole: bool


def said(page: str) -> Iterator[Said]:
    """What a page shows as something to type, and its other words in code."""
    for language, block in _BLOCK.findall(page):
        if language in TYPED:
            yield from (Said(line, True) for line in block.splitlines())
    for words in _INLINE.findall(_BLOCK.sub("", page)):
        yield Said(" ".join(words.split()), False)


def faults(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path = ROOT
) -> list[str]:
    """What this page in *folder* says and is not so."""
    found = [f"there is no {path}" for path in _LINK.findall(_BLOCK.sub("", page)) if not (folder / path).exists()]
    for paragraph in page.split("\n\n"):
        if "benchmarks." in paragraph:
            named = {f"benchmarks{word}" for word in re.findall(r"`(\.[a-z_]+)`", paragraph)}
            found += [f"there is no {name}" for name in sorted(named - _benchmarks())]
    for text, is_whole in said(page):
        for command in _TALLY.findall(text):
            words = shlex.split(command.replace("[", "").replace("]", "") if not is_whole else command)
            if words in (["--version"], ["--help"]):
                continue
            if not words or words[0] not in {**main.VERBS, **main.ALIASES}:
                found.append(f"tally has no verb for: tally {command}")
                continue
            if is_whole and not is_understood(words, monkeypatch):
                found.append(f"tally does not understand: tally {command}{capsys.readouterr().err}")
                continue
            own = words[: words.index("--")] if "--" in words else words
            if options := [word.partition("=")[0] for word in own if re.match("--[a-z]", word)]:
                known = re.findall("--[a-z-]+", _help(words[:1], capsys) + _help(words[:2], capsys))
                found += [f"tally {words[0]} has no {option}" for option in options if option not in known]
        for module, options in re.findall(r"python -m ([\w.]+)((?: --[a-z-]+)*)", text):
            try:
                about = importlib.import_module(module).__doc__ or ""
                found += [f"{module} does not speak of {option}" for option in options.split() if option not in about]
            except ImportError as error:
                found.append(f"python -m {module}: {error}")
        for option in re.findall(r"tests/run (--[a-z-]+)", text):
            if f"{option})" not in (ROOT / "tests/run").read_text():
                found.append(f"tests/run has no {option}")
        if not is_whole and _is_missing(text):
            found.append(f"there is no {text}")
    return found


def _is_missing(text: str) -> bool:
    """Whether this names a file of the checkout or of the package that is not there. NAME and VERB match any."""
    name = re.sub("NAME|VERB", "*", text)
    if _PATH.fullmatch(text):
        return not any(ROOT.glob(name.rstrip("/")))
    return bool(_MODULE.fullmatch(text)) and not any((ROOT / "shared/tallylight").glob(name))


def _help(verbs: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main.main([*verbs, "--help"])
    return capsys.readouterr().out


def _benchmarks() -> set[str]:
    return {f"benchmarks.{path.stem}" for path in (ROOT / "benchmarks").glob("[!_]*.py")}


@pytest.mark.slow
def test_what_is_documented_is_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command, option, module, file and link of README.md and its neighbours, and of docs/."""
    found = {page.name: faults(page.read_text("utf-8"), monkeypatch, capsys, page.parent) for page in PAGES}
    assert {name: those for name, those in found.items() if those} == {}


def _parse_lua(block: str) -> None:
    # `…` stands for what is left out.
    found = lupa.LuaRuntime().globals()["load"](block.replace("…", ""))
    if isinstance(found, tuple):
        raise ValueError(found[1])


def _parse_json(block: str) -> None:
    # One key of a larger file is shown without the braces around it.
    json.loads(block if block.startswith(("{", "[")) else f"{{{block}}}")


def _parse_shell(shell: str) -> Callable[[str], None]:
    def parse(block: str) -> None:
        if program := shutil.which(shell):
            done = subprocess.run([program, "-n"], input=block, capture_output=True, text=True)
            if done.stderr:
                raise ValueError(done.stderr)

    return parse


def _parse_conf(block: str) -> None:
    missing = [name for name in re.findall(r"/kittens/(\w+\.py)", block) if not (ROOT / "kittens" / name).is_file()]
    if missing:
        raise ValueError(f"there is no kitten {missing[0]}")


#: What reads a block of each language. Nothing reads those with None: transcripts, screens and pictures, and settings
#: of programs that cannot be asked to look at a part of them.
PARSERS: dict[str, Callable[[str], object] | None] = {
    "sh": _parse_shell("bash"),
    "bash": _parse_shell("bash"),
    "zsh": _parse_shell("zsh"),
    "fish": _parse_shell("fish"),
    "toml": tomllib.loads,
    "json": _parse_json,
    "lua": _parse_lua,
    "python": lambda block: compile(block, "block", "exec"),
    "ini": lambda block: configparser.ConfigParser().read_string(block),
    "conf": _parse_conf,
    **dict.fromkeys(("", "console", "text", "mermaid", "tmux", "erlang", "nix")),
}


def broken_blocks(page: str) -> list[str]:
    """Each block of *page* that is none in its language, or of a language that nothing is said of."""
    found = []
    for language, block in _BLOCK.findall(page):
        if language not in PARSERS:
            found.append(f"say in PARSERS what reads {language}")
        elif parse := PARSERS[language]:
            try:
                parse(block)
            except (ValueError, SyntaxError, configparser.Error) as error:
                found.append(f"{block[:60]!r}: {error}")
    return found


def test_every_block_is_what_it_says() -> None:
    """A block that a person copies can be read in its language."""
    found = {page.name: broken_blocks(page.read_text("utf-8")) for page in PAGES}
    assert {name: those for name, those in found.items() if those} == {}


@each(
    "page",
    [
        "```sh\nif true\n```",
        "```toml\na = \n```",
        "```json\n{'a': 1}\n```",
        "```lua\nlocal = 1\n```",
        "```python\ndef x(:\n```",
        "```conf\nmap f1 kitten ~/kittens/none.py\n```",
        "```rust\nfn main() {}\n```",
    ],
)
def test_a_broken_block_is_found(page: str) -> None:
    """A block that none could use is told of."""
    assert len(broken_blocks(page)) == 1


@each("module", sorted(_benchmarks()))
def test_benchmarks_start(module: str) -> None:
    """Each benchmark can be started as it says itself."""
    about = importlib.import_module(module).__doc__ or ""
    assert "python benchmarks/" not in about
    assert all(named in (module, "benchmarks") for named in re.findall(r"python -m ([\w.]+)", about))


@each(
    "page, problem",
    [
        ("```sh\ntally stauts\n```", "no verb"),
        ("`tally stauts`", "no verb"),
        ("```sh\nmake && tally status --al\n```", "has no --al"),
        ("```sh\nmake && tally status --wating\n```", "does not understand"),
        ("```sh\ntally emit busy\n```", "does not understand"),
        ('```sh\neval "$(tally shell-init csh)"\n```', "does not understand"),
        ("`tally fork --worktrees`", "has no --worktrees"),
        ("`python -m benchmarks.none`", "No module"),
        ("`python -m benchmarks.accuracy --best`", "--best"),
        ("`tests/run --quick`", "has no --quick"),
        ("`shared/tallylight/nothing.py`", "there is no"),
        ("`relay/nothing.py`", "there is no"),
        ("[x](docs/nothing.md#there)", "there is no"),
        ("`python -m benchmarks.emit` and `.nothing`", "no benchmarks.nothing"),
    ],
)
def test_what_is_not_there_is_told(
    page: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that says any of these is told of."""
    (fault,) = faults(page, monkeypatch, capsys)
    assert problem in fault
