"""What the documentation says can be typed, opened or run is there: verbs, options, benchmarks, files and links."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lupa
import pytest

from tallylight.agents.agent import parse_agent
from tallylight.cli import main
from tallylight.config import settings
from tallylight.model.errors import TallyError
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
            if not words or words[0] not in {**main.every_verb(), **main.ALIASES}:
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


#: Each shell as it runs a file, which ends at the first command that fails.
SHELLS = {"bash": ["-eo", "pipefail"], "zsh": ["-efo", "pipefail"], "fish": ["--no-config"]}
#: Programs that a page has a person run: here each only succeeds, and `tally` notes its words.
_PROGRAMS = ("tally", "git", "uv", "uvx", "pipx", "python", "python3", "kitten", "sleep", "curl", "jq", "zcat")
_STAND_INS = [
    *(
        f"bin/{name}"
        for name in ["tally", "git", "uv", "uvx", "pipx", "python", "python3", "kitten", "sleep", "curl", "jq", "zcat"]
    ),
    *(".local/share/tallylight-venv/bin/pip", ".local/share/tallylight-venv/bin/tally"),
    *("install.sh", "tests/run", "packaging/fill"),
    *(f".venv/bin/{name}" for name in ["pytest", "python", "ruff", "mypy"]),
]
_STAND_IN = """#!/bin/sh
[ "${0##*/}" = tally ] && printf '%s\\0' "$@" >>"$HOME/said" && echo >>"$HOME/said"
[ "$1" != start ] || echo kitty-1:3
"""
#: Files that are there before.
_FILES = (".local/state/tallylight/serve.token", ".config/tallylight/config.toml")


def _run(shell: str) -> Callable[[str], None]:
    """What runs a block in the real *shell*, in a home of its own, and knows each `tally` that the shell starts."""

    def run(block: str) -> None:
        if (program := shutil.which(shell)) is None:
            return
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            for file in (*_STAND_INS, *_FILES):
                (home / file).parent.mkdir(parents=True, exist_ok=True)
                (home / file).write_text(_STAND_IN, "ascii")
                (home / file).chmod(0o755)
            (home / "block").write_text(block, "utf-8")
            env = {"HOME": name, "PATH": f"{home}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TALLY_PANE": "kitty-1:3"}
            argv = [program, *SHELLS[shell], "block"]
            done = subprocess.run(argv, cwd=home, env=env, input="yes\n", capture_output=True, text=True, timeout=60)
            if done.returncode or done.stderr:
                raise ValueError(f"{done.returncode}: {done.stderr}")
            said = (home / "said").read_text("utf-8") if (home / "said").exists() else ""
        for line in said.split("\0\n")[:-1]:
            with pytest.MonkeyPatch.context() as patch:
                if not is_understood(line.split("\0"), patch):
                    raise ValueError(f"tally does not understand {line.split(chr(0))}")

    return run


def _read_toml(block: str) -> None:
    """An agent file, our configuration, or a module of starship."""
    data = tomllib.loads(block)
    if "processes" in data:
        parse_agent(block, "block")
    elif "custom" not in data and (mistakes := settings.load(block, "block")[1]):
        raise ValueError(mistakes[0])


def _parse_conf(block: str) -> None:
    missing = [name for name in re.findall(r"/kittens/(\w+\.py)", block) if not (ROOT / "kittens" / name).is_file()]
    if missing:
        raise ValueError(f"there is no kitten {missing[0]}")


def _run_tmux(block: str) -> None:
    if program := shutil.which("tmux"):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "block").write_text(block, "utf-8")
            tmux = [program, "-S", f"{name}/socket", "-f", "/dev/null"]
            told = subprocess.run([*tmux, "start-server", ";", "source-file", f"{name}/block"], capture_output=True)
            if told.returncode or told.stderr:
                raise ValueError(told.stderr.decode())


def _parse_nix(block: str) -> None:
    if program := shutil.which("nix-instantiate"):
        done = subprocess.run(
            [program, "--parse", "-"], input=f"{{ tallylight, ... }}: {block}", capture_output=True, text=True
        )
        if done.returncode:
            raise ValueError(done.stderr)


#: What runs a block of each language, or reads it where it is no program.
RUNNERS: dict[str, Callable[[str], object]] = {
    "sh": _run("bash"),
    "bash": _run("bash"),
    "zsh": _run("zsh"),
    "fish": _run("fish"),
    "toml": _read_toml,
    "json": _parse_json,
    "lua": _parse_lua,
    "python": lambda block: compile(block, "block", "exec"),
    "conf": _parse_conf,
    "tmux": _run_tmux,
    "nix": _parse_nix,
}
#: Blocks that are no program, by their first line, and the test that holds each; else the reason why none can.
SHOWN = {
    "flowchart BT": "tests/test_architecture.py",
    "flowchart LR": "a picture of an idea",
    'pip install --target "$(tally parts --folder)" tallylight-ntfy': "tests/real_kitty/test_parts.py",
    "[project]": "tests/parts/test_door.py",
    "$ tally log": "tests/cli/test_transcripts.py",
    "$ tally status": "tests/cli/test_transcripts.py",
    "  reports   5200 a second, 960 of them read: the newest of each record": "tests/cli/test_why.py",
    "main +12 −3 2 new ↑1 ↓2 worktree app-fork-1": "tests/parts/work/test_repository_watch.py",
    "  ⎇  Fork Claude Code": "tests/cli/test_transcripts.py",
    "# Every machine writes what it shows, under its own name.": "tests/parts/remote/test_access.py",
    "ESC ] 1337 ; SetUserVar=tally= BASE64 ( BEL | ESC \\ )": "a grammar; tests/wire/test_published.py has its vectors",
}


def broken_blocks(page: str) -> list[str]:
    """Each block of *page* that does not run, or that nothing runs."""
    found = []
    for language, block in _BLOCK.findall(page):
        if (first := block.partition("\n")[0]) in SHOWN:
            if SHOWN[first].endswith(".py") and not (ROOT / SHOWN[first]).is_file():
                found.append(f"there is no {SHOWN[first]}")
        elif language not in RUNNERS:
            found.append(f"say in RUNNERS or SHOWN what runs {first!r} ({language})")
        else:
            try:
                RUNNERS[language](block)
            except (ValueError, SyntaxError, TallyError) as error:
                found.append(f"{block[:60]!r}: {error}")
    return found


@pytest.mark.slow
def test_every_block_runs() -> None:
    """Real shells run what a person copies, with stand-ins for programs; other blocks are read in their language."""
    found = {page.name: broken_blocks(page.read_text("utf-8")) for page in PAGES}
    assert {name: those for name, those in found.items() if those} == {}


@each(
    "page",
    [
        "```sh\nif true\n```",
        "```sh\ntally status --wating\n```",
        "```sh\nprogram-that-is-not-there\n```",
        "```toml\n[notify]\nqiet = []\n```",
        "```text\na screen that no test knows\n```",
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
