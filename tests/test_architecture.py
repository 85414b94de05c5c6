"""
The layers: which module may import which, read from the source with `ast`.

Words (0) know nothing; the wire (1) knows words; thought (2) knows both and does no input or output and reads no clock;
the world (3) is processes, files and hosts; the edge (4) is the command line and the kittens.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[1]
SHARED = ROOT / "shared"

#: The layer of each top module of the package. A new module needs a line here.
LAYERS = {
    "tallylight": 0, "status": 0, "report": 0, "errors": 0,
    "scanner": 1, "wire": 1, "text": 1,
    "tracker": 2, "decision": 2, "claims": 2, "records": 2, "start": 2, "epitaph": 2, "rollup": 2, "attention": 2,
    "evidence": 2, "agents": 2, "config": 2, "layout": 2, "list": 2, "listing": 3,
    "keys": 2, "ledger": 2, "multiplexers": 2, "notify": 2,
    "hooking": 2, "datafile": 2, "actions": 2, "paint": 2, "edits": 2, "snapshot_schema": 2,
    "snapshot_entries": 2, "snapshot_values": 2,
    "recording": 2, "recording_decoder": 2, "replay": 2,
    "fleet": 2, "broker": 3, "extras": 3, "forking": 3, "git": 3, "worktrees": 3, "ask": 3,
    "hosts": 3, "processes": 3, "procfs": 3, "tty": 3, "relay": 3, "snapshot": 3, "feed": 3, "files": 3, "requests": 3,
    "setup": 3,
    "serve": 4, "cli": 4, "kittens": 4, "__main__": 4,
}  # fmt: skip
#: What reaches outside, or says what time it is. Layers 0 to 2 get bytes, text, tables and `now` as arguments.
WORLDLY = {
    "asyncio", "fcntl", "glob", "io", "multiprocessing", "os", "pathlib", "pty", "random", "select", "selectors",
    "shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile", "termios", "threading", "time", "tty", "urllib",
}  # fmt: skip
#: datetime may be imported, to read a time stamp; these of its methods ask for the time.
CLOCK_METHODS = {"now", "today", "utcnow"}
WORLDLY_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint"}
#: `tally emit` starts with these; nothing else may slip in.
DIET = {
    "tallylight.wire.pairs": {"__future__", "collections.abc", "tallylight.errors"},
    "tallylight.wire.envelope": {"__future__", "binascii"},
    "tallylight.hooking.mapping": {"__future__", "binascii", "collections.abc", "typing"},
    "tallylight.hooking.payload": {"__future__", "collections.abc", "typing", "_json", "json.decoder"},
    "tallylight.hooking.tables": set(),
}
#: The last ones are optional extras, which one module each imports.
THIRD_PARTY = {"attrs", "attr", "psutil", "kitty", "kittens", "paho", "fastapi", "pydantic", "starlette", "uvicorn"}


@attrs.frozen
class Module:
    """One source file: its dotted name and its text."""

    name: str
    source: str
    is_package: bool = False

    @property
    def layer(self) -> int | None:
        """Its place; None for a module nobody has given one."""
        top, _, rest = self.name.partition(".")
        return LAYERS.get(top if top != "tallylight" or not rest else rest.partition(".")[0])


def modules() -> Iterator[Module]:
    """Every module of the package, and the kittens."""
    for path in sorted((SHARED / "tallylight").rglob("*.py")):
        parts = list(path.relative_to(SHARED).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        yield Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package)
    for path in sorted((ROOT / "kittens").glob("*.py")):
        yield Module(f"kittens.{path.stem}", path.read_text("utf-8"))


def imports(module: Module, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the full dotted name of all that a module imports, wherever in it the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = module.name.split(".")
                up = up[: len(up) - node.level + module.is_package]
                base = ".".join([*up, base] if base else up)
            if base in ("tallylight", "tallylight.wire", "tallylight.cli", "tallylight.hosts"):
                # What is taken from a package may be a module of its own.
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, base


def worldly_calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The calls that reach outside without an import: built-in functions, and a date asked for the present one."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in WORLDLY_CALLS:
            yield node.lineno, called.id
        elif isinstance(called, ast.Attribute) and called.attr in CLOCK_METHODS:
            owner = ast.unparse(called.value)
            if owner.rpartition(".")[2] in ("datetime", "date"):
                yield node.lineno, f"{owner}.{called.attr}"


def violations(module: Module) -> list[str]:
    """Say what a module imports or calls that its place forbids."""
    tree = ast.parse(module.source)
    layer = module.layer
    if layer is None:
        return [f"{module.name} has no layer: give it one in LAYERS"]
    found = []
    for line, name in imports(module, tree):
        top = name.partition(".")[0]
        where = f"{module.name}:{line} imports {name}"
        if top == "tallylight":
            inner = name.split(".")[1] if "." in name else "tallylight"
            target = LAYERS.get(inner, 0 if inner.startswith("__version") else None)
            if target is None:
                found.append(f"{where}, which has no layer")
            elif target > layer:
                found.append(f"{where}: layer {layer} must not know layer {target}")
        elif top == "psutil" and module.name != "tallylight.processes":
            found.append(f"{where}: only tallylight.processes does")
        elif top in ("kitty", "kittens") and not module.name.startswith(("tallylight.hosts.kitty", "kittens.")):
            found.append(f"{where}: only tallylight.hosts.kitty and kittens/ do")
        elif top not in THIRD_PARTY and top not in sys.stdlib_module_names:
            found.append(f"{where}, which is no dependency of ours")
        elif layer <= 2 and top in WORLDLY:
            found.append(f"{where}: layers 0 to 2 do no input or output and read no clock")
        if module.name in DIET and name not in DIET[module.name]:
            found.append(f"{where}: it must start in no time")
    if layer <= 2:
        found += [f"{module.name}:{line} calls {name}()" for line, name in worldly_calls(tree)]
    return found


@pytest.mark.parametrize("module", [pytest.param(module, id=module.name) for module in modules()])
def test_arrows_point_inwards(module: Module) -> None:
    """A module imports its own layer and those below it, and nothing else that its place forbids."""
    assert violations(module) == []


def test_there_is_something_to_check() -> None:
    """The walk finds the package, so that an empty run cannot pass for a clean one."""
    names = {module.name for module in modules()}

    assert {
        "tallylight",
        "tallylight.scanner",
        "tallylight.wire",
        "tallylight.wire.osc1338",
        "tallylight.report",
    } <= names


_ACTIONS = {"tallylight.actions.answer", "tallylight.actions.say"}
#: The methods that reach a program's input, and who alone may call them; and the same of words of commands.
TYPING_CALLS = {
    "press": {*_ACTIONS, "tallylight.hosts.detached"},
    "paste": {"tallylight.actions.say"},
    "write_to_child": {"tallylight.hosts.kitty_typist"},
}
TYPING_WORDS: dict[str, set[str]] = {
    "send-keys": {"tallylight.hosts.detached"},
    "paste-buffer": {"tallylight.hosts.detached"},
    "readreg": {"tallylight.hosts.detached"},
    "paste": {"tallylight.hosts.detached"},
    "stuff": set(),
    "send-text": set(),
}


def typing(module: Module) -> list[str]:
    """Say where a module types into a program, by what, and is none of those that may."""
    found = []
    for node in ast.walk(ast.parse(module.source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # The list's own `press` is a function of a module, for a key that a person has pressed.
            word, allowed = node.func.attr if ast.unparse(node.func.value) != "state" else "", TYPING_CALLS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            word, allowed = node.value, TYPING_WORDS
        else:
            continue
        if module.name not in allowed.get(word, {module.name}):
            found.append(f"{module.name}:{node.lineno} has {word}")
    return found


def test_one_module_answers_and_one_types_text() -> None:
    """What a person does to an agent goes through `actions`; nothing else calls a host's typist, or types itself."""
    found = [where for module in modules() for where in typing(module)]
    hosts = {"tallylight.hosts.detached", "tallylight.hosts.kitty_typist"}

    assert found == []
    # They would be found, if they were others.
    renamed = [Module("tallylight.other", one.source) for one in modules() if one.name in {*_ACTIONS, *hosts}]
    assert len(renamed) == 4 and all(typing(module) for module in renamed)


def test_typing_elsewhere_is_found() -> None:
    """A surface, a host or a kitten with a way of its own fails, whichever way it is."""
    sources = [
        "def f(typist): typist.press('1')", "self.typist.paste(text, enter=True)", "window.write_to_child('1')",
        "run(['tmux', 'send-keys', '-t', pane, '1'])", "run(['screen', '-X', 'stuff', '1'])",
    ]  # fmt: skip
    for name in ("tallylight.serve.app", "tallylight.hosts.kitty_notify", "kittens.answer"):
        assert [len(typing(Module(name, source))) for source in sources] == [1] * len(sources)
    assert typing(Module("tallylight.listing.loop", "state.press(now, event)")) == []


BAD = {
    "upwards": ("tallylight.scanner", "from tallylight.tracker import Tracker"),
    "upwards from the package": ("tallylight.text", "from tallylight import wire, cli"),
    "plain import": ("tallylight.report", "import tallylight.scanner"),
    "relative": ("tallylight.wire.title", "from ..tracker import Tracker"),
    "relative in a package": ("tallylight.wire", "from ..hosts import kitty", True),
    "inside a function": ("tallylight.tracker", "def f():\n    from tallylight.files import read"),
    "for types alone": ("tallylight.rollup", "if TYPE_CHECKING:\n    from tallylight.cli.main import run"),
    "psutil": ("tallylight.files", "import psutil"),
    "psutil in a function": ("tallylight.cli.top", "def f():\n    import psutil"),
    "kitty": ("tallylight.cli.main", "from kitty.boss import Boss"),
    "kitty's kittens": ("tallylight.tty", "from kittens.tui.handler import result_handler"),
    "a clock": ("tallylight.tracker", "import time"),
    "the date": ("tallylight.config", "import datetime\nnow = datetime.datetime.now()"),
    "the system": ("tallylight.evidence.titles", "from os import environ"),
    "a file": ("tallylight.config", "data = open('/etc/passwd')"),
    "a stranger": ("tallylight.files", "import requests"),
    "unknown module": ("tallylight.wire.registry", "from tallylight.mystery import x"),
    "no layer": ("tallylight.mystery", ""),
    "diet": ("tallylight.wire.pairs", "import re"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_bad_arrow_is_found(case: tuple[str, str] | tuple[str, str, bool]) -> None:
    """The checker fails on each kind of wrong arrow, given as source text."""
    assert len(violations(Module(*case))) == 1


GOOD = {
    "downwards": ("tallylight.tracker", "from tallylight.report import Report\nfrom tallylight.scanner import Scanner"),
    "sideways": ("tallylight.wire.title", "from tallylight.wire import envelope\nfrom . import pairs"),
    "psutil's own place": ("tallylight.processes", "import psutil, os, time"),
    "kitty's own place": ("tallylight.hosts.kitty_tabs", "from kitty.boss import Boss\nimport time"),
    "a time stamp": ("tallylight.evidence.titles", "from datetime import datetime\nx = datetime.fromisoformat('')"),
    "a kitten": ("kittens.tally_watcher", "import kitty.boss\nfrom tallylight.hosts import kitty"),
    "the version": ("tallylight.cli.main", "from tallylight import __version__"),
}


@pytest.mark.parametrize("case", GOOD.values(), ids=GOOD)
def test_a_good_arrow_is_let_through(case: tuple[str, str]) -> None:
    """The checker lets through what each place may do."""
    assert violations(Module(*case)) == []
