"""
The rooms of the package, in one order: a room may use the rooms above it in `ROOMS`, and no other.

Read from the source with `ast`, so that an import inside a function or for types alone counts as well. ARCHITECTURE.md
draws the same picture.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.parts import index
from tests.tables import each

ROOT = Path(__file__).parents[1]
SHARED = ROOT / "shared"

#: Every room of the core, from the ground up.
CORE = (
    "model",       # words and values
    "wire",        # bytes, codecs, the sanitiser, writing to a terminal
    "files",       # directories, reading, writing, changing a file of the user's
    "parts",       # the door: all that a part can add
    "agents",      # agents as data
    "tracker",     # claims, trust rules, attention, when to notify
    "evidence",    # readers of what was seen; the process table
    "hooks",       # what a hook says; putting hooks in and out
    "snapshot",    # the state of one host as a file, requests to it, the order of its panes
    "config",      # every setting
    "pane",        # the engine of one pane
    "relay",       # tally run
    "actions",     # the gate, answers, fork and resume
    "ui",          # what is drawn as text on a terminal
    "hosts",       # kitty, WezTerm, tmux, GNU Screen, polling
    "setup",       # install, check, take back
    "cli",         # one file a verb
)  # fmt: skip
#: The parts. They use the core; no part uses another, and the core uses none.
OPTIONAL = (
    "parts.agent_hooks", "parts.conversations", "parts.diary", "parts.guide", "parts.lab", "parts.remote",
    "parts.scripts", "parts.settings", "parts.shift", "parts.transcripts", "parts.web", "parts.work",
)  # fmt: skip
ROOMS = (*CORE, *OPTIONAL)
#: Modules that lie in no room. There is none; three would be the limit.
LOOSE: tuple[str, ...] = ()
#: Rooms that read no clock and do no input or output, but for the modules named.
PURE: dict[str, tuple[str, ...]] = {
    "model": (),
    "wire": ("tty", "hand"),
    "agents": ("agent_files",),
    "tracker": (),
    "evidence": ("process_table", "procfs", "ports", "sock_diag", "connections", "records.places"),
    "config": ("config_file",),
}
#: Pure modules in rooms that are not: the path below the package.
ALSO_PURE = (
    "hooks.mapping", "hooks.payload", "hooks.tables", "hooks.order", "parts.agent_hooks.compact",
    "parts.agent_hooks.jsonc", "parts.agent_hooks.json_edit",
    "snapshot.schema", "snapshot.entries", "snapshot.rows", "snapshot.next_pane", "parts.diary.turns",
    "parts.diary.history", "snapshot.labels", "pane.conversation", "parts.lab.grading", "relay.splitter",
    "relay.records", "relay.position", "relay.mirror", "relay.core", "relay.passing", "relay.deferred", "actions.gate",
    "actions.shape", "parts.conversations.plan", "actions.page", "actions.view", "parts.conversations.kitty_session",
    "parts.conversations.fork_page",
    "actions.answer", "actions.say", "parts.lab.asciicast", "parts.lab.decoder", "parts.lab.events", "parts.lab.replay",
    "parts.lab.grid", "parts.lab.scoring", "parts.lab.sightings", "parts.lab.draft", "parts.lab.check", "ui.layout",
    "ui.spans", "ui.ansi", "ui.keys", "ui.agent_list.record", "ui.agent_list.state", "ui.agent_list.press",
    "ui.agent_list.effects", "ui.agent_list.draw", "ui.agent_list.clock", "ui.agent_list.filtering",
    "ui.agent_list.geometry", "ui.agent_list.help", "ui.agent_list.selection", "ui.agent_list.commands",
    "ui.agent_list.foot", "actions.close", "parts.work.hunks", "ui.agent_list.detail", "ui.agent_list.flow",
    "ui.agent_list.rows", "ui.agent_list.table", "ui.agent_list.question", "ui.agent_list.channel",
    "ui.agent_list.pictures", "ui.agent_list.preview", "parts.web.theme", "parts.web.push.telling",
    "ui.agent_list.editor", "ui.agent_list.writing", "hosts.tmux.pane_list", "hosts.tmux.control_protocol",
    "hosts.tmux.ear",
    "hosts.gnu_screen.hardcopy", "hosts.gnu_screen.session_list", "hosts.wezterm.pane_list", "parts.remote.topics",
    "parts.remote.panes", "parts.remote.mirror", "parts.remote.outbox", "parts.remote.messages", "parts.remote.machine",
    "parts.remote.commands", "snapshot.elsewhere", "relay.protocol_reader", "hosts.polling.pane_events",
    *(f"parts.transcripts.{name}" for name in (
        "aider", "claude", "cline", "codex", "copilot", "gemini", "kimi", "opencode", "pi", "qwen")),
)  # fmt: skip
#: What one host may use of another: the polling host is what those that are asked from outside are made with.
HOSTS = {
    "wezterm": ("polling",),
    "tmux": ("polling",),
    "gnu_screen": ("polling",),
    "registry": ("polling",),
    "detached": ("polling", "tmux", "gnu_screen", "wezterm"),
}
#: What reaches outside, or says what time it is.
WORLDLY = {
    "asyncio", "fcntl", "glob", "io", "multiprocessing", "os", "pathlib", "posix", "pty", "random", "select",
    "selectors", "shutil", "signal", "socket", "sqlite3", "subprocess", "tempfile", "termios", "threading", "time",
    "tty", "urllib",
}  # fmt: skip
#: datetime may be imported, to read a time stamp; these of its methods ask for the time.
CLOCK_METHODS = {"now", "today", "utcnow"}
WORLDLY_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint"}
#: What such a call begins with, for those in which nothing like it stands.
_WORLDLY_CALL = re.compile(rf"\b({'|'.join(sorted(WORLDLY_CALLS | CLOCK_METHODS))})\s*\(")
#: What attrs would do in its place: the `__init__` of a class, out of the names of its fields.
COMPILES = ("model.attributes", "exec")
#: `tally emit` and `tally hook` start with these; nothing else may slip in.
DIET = {
    "wire.pairs": {"__future__", "collections.abc", "tallylight.model.errors"},
    "snapshot.lives": {"__future__", "os", "fcntl"},
    "wire.envelope": {"__future__", "binascii"},
    "model.tool_call": {"__future__", "collections.abc", "typing"},
    "model.prose": {"__future__"},
    "hooks.mapping": {
        "__future__",
        "binascii",
        "collections.abc",
        "typing",
        "tallylight.model.prose",
        "tallylight.model.tool_call",
    },
    "hooks.payload": {"__future__", "collections.abc", "typing", "_json", "json.decoder"},
    "hooks.tables": set(),
}
#: The last ones are optional extras, which one module each imports.
THIRD_PARTY = {
    "attrs", "attr", "psutil", "kitty", "kittens", "paho", "fastapi", "pydantic", "starlette", "uvicorn", "segno",
    "cryptography",
}  # fmt: skip


@attrs.frozen
class Module:
    """One source file: its dotted name below the package (`kittens.fork` for a kitten), and its text."""

    name: str
    source: str
    is_package: bool = False

    @property
    def room(self) -> str:
        return room_of(self.name)

    @property
    def is_pure(self) -> bool:
        exceptions = PURE.get(self.room)
        if exceptions is not None:
            return self.name.partition(".")[2] not in exceptions
        return self.name in ALSO_PURE


def room_of(name: str) -> str:
    """Return the room of the module *name*: a part's own, or the first word."""
    part = ".".join(name.split(".")[:2])
    return part if part in OPTIONAL else name.partition(".")[0]


def modules() -> Iterator[Module]:
    """Every module of the package, and the kittens."""
    package = SHARED / "tallylight"
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(package).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        yield Module(".".join(parts[:-1] if is_package else parts), path.read_text("utf-8"), is_package)
    for path in sorted((ROOT / "kittens").glob("*.py")):
        yield Module(f"kittens.{path.stem}", path.read_text("utf-8"))


MODULES = {module.name: module for module in modules()}


@functools.cache
def tree(module: Module) -> ast.Module:
    """A module as it is parsed, once for all that is asked of it."""
    return ast.parse(module.source)


@functools.cache
def imports(module: Module) -> list[tuple[int, str]]:
    """The line and the full dotted name of all that a module imports, wherever in it the import stands."""
    return list(_imports(module))


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every statement, however deep it stands, and no expression."""
    for node in body:
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from statements(getattr(node, name, ()))


#: An import, wherever it stands but in a text. To parse those alone takes a twentieth of the time.
_IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ )?import (?:\([^)]*\)|[^\n(]*))", re.MULTILINE)


_TEXT = re.compile(r'""".*?"""', re.DOTALL)


def _imports(module: Module) -> Iterator[tuple[int, str]]:
    source = _TEXT.sub(lambda text: "\n" * text[0].count("\n"), module.source)
    for found in _IMPORT.finditer(source):
        (node,) = ast.parse(found[1]).body
        node.lineno += source.count("\n", 0, found.start(1))
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = ["tallylight", *module.name.split(".")]
                up = up[: len(up) - node.level + module.is_package]
                base = ".".join([*up, base] if base else up)
            for alias in node.names:
                # What is taken from a package may be a module of its own.
                full = f"{base}.{alias.name}"
                yield node.lineno, full if base == "tallylight" or full.removeprefix("tallylight.") in MODULES else base


def worldly_calls(parsed: ast.Module) -> Iterator[tuple[int, str]]:
    """The calls that reach outside without an import: built-in functions, and a date asked for the present one."""
    for node in ast.walk(parsed):
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
    if module.room not in (*ROOMS, *LOOSE, "", "kittens"):
        return [f"{module.name} lies in no room: put it into one of ROOMS"]
    found = []
    for line, name in imports(module):
        top, _, inner = name.partition(".")
        where = f"{module.name or 'tallylight'}:{line} imports {name}"
        if top == "tallylight":
            problem = _arrow(module, inner)
        elif top == "psutil":
            problem = "" if module.name == "evidence.process_table" else "only evidence.process_table does"
        elif top in ("kitty", "kittens"):
            allowed = module.room == "kittens" or module.name.startswith("hosts.kitty")
            problem = "" if allowed else "only hosts.kitty and kittens/ do"
        elif top not in THIRD_PARTY and top not in sys.stdlib_module_names:
            problem = "it is no dependency of ours"
        else:
            problem = "this module does no I/O and reads no clock" if module.is_pure and top in WORLDLY else ""
        if not problem and module.name in DIET and name not in DIET[module.name]:
            problem = "this module must start in no time"
        if problem:
            found.append(f"{where}: {problem}")
    if module.is_pure and _WORLDLY_CALL.search(module.source):
        calls = [call for call in worldly_calls(tree(module)) if (module.name, call[1]) != COMPILES]
        found += [f"{module.name}:{line} calls {name}()" for line, name in calls]
    return found


def _arrow(module: Module, target: str) -> str:
    """What is wrong with *module* using *target* of the package; nothing if it may."""
    room = room_of(target)
    if room not in (*ROOMS, *LOOSE):
        return "" if not room or room.startswith("__version") else "that lies in no room"
    if module.room == "kittens" or module.room in LOOSE:
        return ""
    if not module.name:
        return "the package itself knows nothing"
    if room != module.room and (room in OPTIONAL or CORE.index(room) > ROOMS.index(module.room)):
        return f"{module.room} stands below {room}" if room in CORE else f"{module.room} knows no part {room}"
    if room == module.room == "hosts":
        here, there = _host_of(module.name), _host_of(target)
        if there and here != there and there not in HOSTS.get(here, ()):
            return f"hosts do not know each other, and {here or 'what they share'} is not {there}"
    return ""


def _host_of(name: str) -> str:
    """The host that a module of `hosts` belongs to; nothing for what they share."""
    words = name.split(".")
    return words[1] if len(words) > 2 or f"hosts.{words[-1]}" in _HOST_PACKAGES else ""


_HOST_PACKAGES = {name for name, module in MODULES.items() if module.is_package and name.startswith("hosts.")}


@pytest.mark.slow
def test_every_arrow_between_rooms_points_down() -> None:
    """A module uses its own room and those above it in the list, and nothing else that its place forbids."""
    assert [line for module in MODULES.values() for line in violations(module)] == []


def test_the_rooms_are_those_of_the_list() -> None:
    """The package has these rooms and no more than three loose modules; each room says what it holds."""
    package = SHARED / "tallylight"
    found = {path.parent.name for path in package.glob("*/__init__.py")}
    loose = {path.stem for path in package.glob("*.py")} - {"__init__"}

    assert found == set(CORE)
    assert {f"parts.{path.parent.name}" for path in package.glob("parts/*/__init__.py")} == set(OPTIONAL)
    assert len(CORE) <= 17
    assert loose == set(LOOSE)
    assert len(LOOSE) <= 3
    silent = [room for room in ROOMS if len(ast.get_docstring(ast.parse(MODULES[room].source)) or "") < 100]
    assert silent == []


def test_no_verb_uses_a_verb_for_scripts() -> None:
    """What several of them do lies beside them, in `cli.reaching` and `cli.waiting`."""
    verbs = {f"tallylight.cli.{verb}" for verb in ("wait", "read", "send", "start", "status", "interrupt", "jump")}
    assert [(name, one) for name, module in MODULES.items() for _, one in imports(module) if one in verbs] == []


def test_no_class_has_more_than_thirty_methods() -> None:
    """A larger one is several."""
    large = [module for module in MODULES.values() if module.source.count("    def ") > 30]  # few, and quickly read
    classes = [node for module in large for node in ast.walk(tree(module)) if isinstance(node, ast.ClassDef)]
    counts = {
        one.name: sum(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in one.body) for one in classes
    }
    assert {name: count for name, count in counts.items() if count > 30} == {}


#: A name of a module, or of what is in one, in a text: `wire.osc1338`, `tracker.foreground.Foreground`.
_NAMED = re.compile(r"`([a-z_0-9]+(?:\.[A-Za-z_0-9]+)+)(?:\(\))?`")
#: Files of others that look like one.
_FILES = {"agents.py", "cli.js", "config.worktree"}


def stale(module: Module) -> list[str]:
    """The names in the text of *module* that begin with a room, or with one of its own modules, and are not there."""
    found = []
    for name in _NAMED.findall(module.source):
        parts = name.split(".")
        if parts[0] not in CORE or name in _FILES:
            continue
        if not any(is_there(prefix, parts) for prefix in ("", f"{module.room}.")):
            found.append(name)
    return found


def is_there(prefix: str, parts: list[str]) -> bool:
    """Whether the innermost module that *parts* name has what they go on to name."""
    for count in range(len(parts), 0, -1):
        owner = MODULES.get(prefix + ".".join(parts[:count]))
        if owner is not None:
            return all(re.search(rf"\b{part}\b", owner.source) for part in parts[count:])
    return False


def test_a_text_names_what_there_is() -> None:
    """Who follows a name in a docstring or a comment finds it."""
    assert {name: names for name, module in MODULES.items() if (names := stale(module))} == {}
    made = Module("wire.made", '"""See `wire.osc1338.decode_variable`, `wire.gone`, `model.report.Nobody`, `a.b`."""')
    assert stale(made) == ["wire.gone", "model.report.Nobody"]


_REPLACED = re.compile(r'\bsetattr\(\s*(?:(\w+),\s*"(\w+)"|"tallylight\.([\w.]+)")')


def replaced(test: Module) -> list[str]:
    """The names of the package, each with its module, that a file of tests replaces by others."""
    bound = {
        alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("tallylight.")
        for node in statements(tree(test).body)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tallylight")
        for alias in node.names
    }
    found = _REPLACED.findall(test.source)
    return [full or f"{bound[local]}.{name}" for local, name, full in found if full or local in bound]


@pytest.mark.slow
def test_tests_replace_what_there_is() -> None:
    """A test of what was renamed would fail at its own run, which may be the only one that takes long."""
    tests = [Module(path.name, path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py")]
    names = {name for test in tests if "setattr(" in test.source for name in replaced(test)}
    assert len(names) > 50 and {name for name in names if not is_there("", name.split("."))} == set()
    made = Module(
        "made", 'from tallylight.model import status as s\nsetattr(s, "GONE", 1)\nsetattr("tallylight.a.B", 1)'
    )
    assert replaced(made) == ["model.status.GONE", "a.B"] and not is_there("", ["model", "status", "GONE"])


def test_nobody_waits_for_a_simple_queue() -> None:
    """Its `get` with a timeout may wait for ever (see `hosts.mailbox`): who waits takes a `Mailbox` or a `Queue`."""
    using = {name: module.source for name, module in MODULES.items() if "SimpleQueue(" in module.source}
    assert using and [name for name, source in using.items() if re.search(r"\.get\([^)]*timeout", source)] == []


def test_there_is_something_to_check() -> None:
    """The walk finds the package, and all names in the lists above exist: an empty run cannot pass for a clean one."""
    assert {"wire", "wire.osc1338", "model.report", "hosts.kitty.host", "kittens.tally_watcher"} <= set(MODULES)
    named = {*ALSO_PURE, *DIET, *(f"{room}.{name}" for room, names in PURE.items() for name in names)}
    assert sorted(name for name in named if name not in MODULES) == []


#: The parts of the engine of a pane, which a recording must not wire together in a way of its own.
PARTS = {"ScreenReader", "TitleReader", "ProgressReader", "Tracker", "Inbox", "HookOrder"}


def assembled(module: Module) -> list[str]:
    """The parts of a pane's engine that *module* makes itself."""
    if not any(part in module.source for part in PARTS):
        return []
    calls = (node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call))
    return sorted(PARTS & {ast.unparse(func).rpartition(".")[2] for func in calls})


def test_a_recording_and_a_live_pane_have_one_engine() -> None:
    """A recorder and a replay make a `Pane`, as every host does, and nothing of what it is made of."""
    assert [(name, assembled(MODULES[name])) for name in MODULES if name.startswith("parts.lab")] == [
        (name, []) for name in MODULES if name.startswith("parts.lab")
    ]
    made = {part for name, module in MODULES.items() if name.startswith("pane") for part in assembled(module)}
    assert made == PARTS
    assert all("Pane(" in MODULES[f"parts.lab.{name}"].source for name in ("recorder", "replay"))


_ACTIONS = {"actions.answer", "actions.say"}
#: The methods that reach a program's input, and who alone may call them; and the same of words of commands.
TYPING_CALLS = {
    "press": {*_ACTIONS, "hosts.detached.pane", "hosts.kitty.typist"},
    "paste": {"actions.say"},
    "write_to_child": {"hosts.kitty.typist"},
    # A panel is ours to close, and so is a list.
    "mark_window_for_close": {"hosts.kitty.typist", "hosts.kitty.panels", "hosts.kitty.agent_list"},
}
TYPING_WORDS: dict[str, set[str]] = {
    "send-keys": {"hosts.detached.pane"},
    "paste-buffer": {"hosts.detached.pane"},
    "readreg": {"hosts.detached.pane"},
    "paste": {"hosts.detached.pane"},
    "stuff": set(),
    "send-text": {"hosts.wezterm.typist"},
    "kill-pane": {"hosts.detached.pane", "hosts.wezterm.typist"},
}


def typing(module: Module) -> list[str]:
    """Say where a module types into a program, by what, and is none of those that may."""
    found: list[str] = []
    if not any(word in module.source for word in (*TYPING_CALLS, *TYPING_WORDS)):
        return found
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # The list's own `press` is a function of a module, for a key that a person has pressed.
            word, allowed = node.func.attr if ast.unparse(node.func.value) != "press" else "", TYPING_CALLS
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            word, allowed = node.value, TYPING_WORDS
        else:
            continue
        if module.name not in allowed.get(word, {module.name}):
            found.append(f"{module.name}:{node.lineno} has {word}")
    return found


@pytest.mark.slow
def test_one_module_answers_and_one_types_text() -> None:
    """What a person does to an agent goes through `actions`; nothing else calls a host's typist, or types itself."""
    assert [where for module in MODULES.values() for where in typing(module)] == []
    # They would be found, if they were others.
    for name in (*_ACTIONS, "hosts.detached.pane", "hosts.kitty.typist", "hosts.wezterm.typist"):
        assert typing(Module("other", MODULES[name].source))


def test_typing_elsewhere_is_found() -> None:
    """A surface, a host or a kitten with a way of its own fails, whichever way it is."""
    sources = [
        "def f(typist): typist.press('1')", "self.typist.paste(text, enter=True)", "window.write_to_child('1')",
        "run(['tmux', 'send-keys', '-t', pane, '1'])", "run(['screen', '-X', 'stuff', '1'])",
    ]  # fmt: skip
    for name in ("serve.app", "hosts.kitty.notifications", "kittens.answer"):
        assert [len(typing(Module(name, source))) for source in sources] == [1] * len(sources)
    assert typing(Module("ui.agent_list.loop", "press.press(now, event)")) == []


BAD = {
    "upwards": ("wire.scanner", "from tallylight.tracker.tracker import Tracker"),
    "upwards from the package": ("wire.text", "from tallylight import model, cli"),
    "plain import": ("model.report", "import tallylight.wire.scanner"),
    "relative": ("wire.title", "from ..tracker import Tracker"),
    "relative in a package": ("wire", "from ..hosts import kitty", True),
    "inside a function": ("tracker.tracker", "def f():\n    from tallylight.pane.pane import Pane"),
    "for types alone": ("tracker.rollup", "if TYPE_CHECKING:\n    from tallylight.cli.main import run"),
    "between hosts": ("hosts.kitty.host", "from tallylight.hosts.tmux.source import TmuxSource"),
    "from a host's package": ("hosts.kitty.host", "from tallylight.hosts.tmux import source"),
    "from what hosts share": ("hosts.jobs", "from tallylight.hosts.kitty import watcher"),
    "psutil": ("files.directories", "import psutil"),
    "psutil in a function": ("cli.top", "def f():\n    import psutil"),
    "kitty": ("cli.main", "from kitty.boss import Boss"),
    "kitty's kittens": ("wire.tty", "from kittens.tui.handler import result_handler"),
    "a clock": ("tracker.tracker", "import time"),
    "the date": ("config.settings", "import datetime\nnow = datetime.datetime.now()"),
    "the system": ("evidence.titles", "from os import environ"),
    "a file": ("config.settings", "data = open('/etc/passwd')"),
    "a stranger": ("files.directories", "import requests"),
    "unknown room": ("wire.registry", "from tallylight.mystery import x"),
    "no room": ("mystery", ""),
    "diet": ("wire.pairs", "import re"),
}


@each("case", BAD.values(), ids=BAD)
def test_a_bad_arrow_is_found(case: tuple[str, str] | tuple[str, str, bool]) -> None:
    """The checker fails on each kind of wrong arrow, given as source text."""
    assert len(violations(Module(*case))) == 1


GOOD = {
    "downwards": ("tracker.tracker", "from tallylight.model.report import Report\nfrom tallylight.wire import scanner"),
    "sideways": ("wire.title", "from tallylight.wire import envelope\nfrom . import pairs"),
    "psutil's own place": ("evidence.process_table", "import psutil, os, time"),
    "kitty's own place": ("hosts.kitty.tabs", "from kitty.boss import Boss\nimport time"),
    "polling": ("hosts.tmux.source", "from tallylight.hosts.polling.source import Source"),
    "a time stamp": ("evidence.titles", "from datetime import datetime\nx = datetime.fromisoformat('')"),
    "a kitten": ("kittens.tally_watcher", "import kitty.boss\nfrom tallylight.hosts import kitty"),
    "the version": ("cli.main", "from tallylight import __version__"),
}


@each("case", GOOD.values(), ids=GOOD)
def test_a_good_arrow_is_let_through(case: tuple[str, str]) -> None:
    """The checker lets through what each place may do."""
    assert violations(Module(*case)) == []


def picture() -> dict[str, set[str]]:
    """The arrows that ARCHITECTURE.md draws: each room, and what it uses."""
    drawn: dict[str, set[str]] = {}
    for room, used in re.findall(r"^    (\w+)\[.*?\] --> (.*)$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M):
        drawn.setdefault(room, set()).update(re.findall(r"\w+", used))
    return drawn


def test_the_picture_is_that_of_the_code() -> None:
    """Each arrow drawn is an import and points down; each import between rooms is drawn or follows from those."""
    used: dict[str, set[str]] = {}
    for module in MODULES.values():
        rooms = {name.split(".")[1] for _, name in imports(module) if "tallylight." in name}
        used.setdefault(module.room, set()).update(rooms & set(CORE) - {module.room})
    reached: dict[str, set[str]] = {}
    for room in (*ROOMS, "kittens"):
        drawn = picture().get(room.rpartition(".")[2], set())
        assert drawn <= used[room], f"{room} does not use all that is drawn"
        assert drawn <= set(reached), f"{room} is drawn below what it uses"
        reached[room] = drawn.union(*(reached[name] for name in drawn))
        assert used[room] <= reached[room], f"what {room} uses is not drawn"


#: The most lines of code that kitty loads when it starts, and rooms of which it then loads nothing.
MAX_AT_START, NOT_AT_START = 19_100, {"actions", "relay", "setup", "cli"}


def at_import(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name in ("body", "orelse", "handlers", "finalbody"):
                yield from at_import(getattr(node, name, ()))


def loaded(names: Iterable[str]) -> set[str]:
    """All modules of ours that Python has once it has imported those of *names*."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in found or name not in MODULES:
            continue
        found.add(name)
        module = MODULES[name]
        lines = {node.lineno for node in at_import(tree(module).body) if isinstance(node, ast.Import | ast.ImportFrom)}
        used = {one.removeprefix("tallylight.") for line, one in imports(module) if line in lines}
        left += [".".join(one.split(".")[:end]) for one in used for end in range(1, one.count(".") + 2)]
    return found


def code_lines(module: Module) -> int:
    """The lines of a module without blank ones, comments and docstrings."""
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(module.source).readline)
    lines = {line for one in tokens if one.type not in skipped for line in range(one.start[0], one.end[0] + 1)}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return len(lines)


@pytest.mark.slow
def test_kitty_loads_little_at_its_start() -> None:
    """What acts in a pane, the list and the parts come with the first agent, but for parts that are early."""
    early = [one.part.host.partition(":")[0] for one in index.find() if one.part.is_early]
    names = ["hosts.kitty.watcher", *(name.removeprefix("tallylight.") for name in early)]
    found = loaded(names)
    assert {name for name in found if room_of(name) in {*NOT_AT_START, *OPTIONAL}} == {
        name for name in found if any(name.startswith(room_of(one)) for one in names[1:])
    }
    assert sum(map(code_lines, map(MODULES.__getitem__, found))) <= MAX_AT_START
    assert {"actions.perform", "ui.agent_list.draw"} <= loaded(["hosts.kitty.awake", "hosts.kitty.keys"])


def lua_violations(room: str, source: str) -> list[str]:
    """The requires of a Lua file in *room* that point up."""
    used = re.findall(r"require\(?\s*['\"]tallylight\.(\w+)\.", source)
    return [
        f"{room} stands below {name}" for name in used if name not in ROOMS or ROOMS.index(name) > ROOMS.index(room)
    ]


def test_the_lua_files_lie_in_the_same_rooms() -> None:
    """WezTerm's side has a room only where the package has it, and its arrows point down as well."""
    folder = ROOT / "wezterm" / "tallylight"
    files = [path for path in folder.rglob("*.lua") if path != folder / "init.lua"]

    assert files
    assert {path.parent.name for path in files} <= set(ROOMS)
    assert [line for path in files for line in lua_violations(path.parent.name, path.read_text("utf-8"))] == []
    assert lua_violations("ui", "local keys = require('tallylight.hosts.keys')") == ["ui stands below hosts"]


#: The most paths through one function, boolean operators and cases included.
MAX_COMPLEXITY = 15
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert)


def complexity(function: ast.AST) -> int:
    """The paths through *function*, with those of the functions in it."""
    nodes = list(ast.walk(function))
    paths = sum(isinstance(node, (*_BRANCHES, ast.match_case)) for node in nodes)
    return 1 + paths + sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))


@pytest.mark.slow
def test_no_function_branches_too_much() -> None:
    """One that does is cut at a joint, or becomes a table."""
    found = {
        (module.name, node.name)
        for module in MODULES.values()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and complexity(node) > MAX_COMPLEXITY
    }
    assert found == set()


def test_no_modules_import_each_other() -> None:
    """In no circle, not even inside a function or for types alone."""
    used = {
        name: {other.removeprefix("tallylight.") for _, other in imports(module)} & MODULES.keys() - {name}
        for name, module in MODULES.items()
    }
    while leaves := [name for name, others in used.items() if not others & used.keys()]:
        for name in leaves:
            del used[name]
    while roots := used.keys() - set().union(*used.values()):
        for name in roots:
            del used[name]
    assert set(used) == set()
