"""The directory that a person is in, a clone of anybody's perhaps: no Python that we start imports from it."""

from __future__ import annotations

import ast
import ensurepip
import importlib
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallylight.files.install_paths import layout
from tallylight.files.system import System
from tallylight.hosts import sessions_process
from tallylight.setup import dependencies, environment, free_keys
from tallylight.setup import kitty as program_of_kitty
from tests.hosts.kitty.fakes import kitty as kitty
from tests.setup.fakes import make_system

ROOT = Path(__file__).parents[2]
PYTHON = Path(sys.executable)
#: What a program of ours would import, or run by its name.
MODULES = ("pip", "venv", "ensurepip", "compileall", "json", "os", "re", "encodings", "attr", "attrs", "psutil")
MODULES += ("tallylight", "sitecustomize")
#: How our sources name a Python.
_PYTHONS = {"python", "str(python)", "sys.executable", "environment.base_python()", "base_python()"}
#: By what an interpreter has before it can do anything.
_HOSTILE = """import posix
posix.write(posix.open({mark!r}, posix.O_CREAT | posix.O_WRONLY | posix.O_APPEND, 0o600), b"{name} ")
raise SystemExit(9)
"""
#: kitty's own Python, which heeds the variables of Python and imports from no directory of its own accord.
_KITTY = '#!/bin/sh\n[ "$1" = +runpy ] || exit 1\nshift\nexec "{python}" -P -c "$@"\n'

Way = Callable[[System, Path], Any]


def own_pip(system: System, target: Path) -> None:
    system.run([*dependencies.own_pip(system, PYTHON, target), "--target", target, "no-such-package"])


def venv_pip(system: System, target: Path) -> None:
    system.run([*dependencies.venv_pip(system, PYTHON, target), "--target", target, "no-such-package"], 120)


def fetched_pip(system: System, target: Path) -> None:
    (wheel,) = Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependencies, "fetch_pip", lambda _scratch: wheel)
        words = dependencies.fetched_pip(system, PYTHON, target)
    system.run([*words, "--target", target, "no-such-package"])


def release(system: System, target: Path) -> None:
    """A whole release: packages copied, compiled, tried, and its command run as a hook would."""
    source = environment.running_source()
    environment.apply(system, source, PYTHON, environment.look(system, source, PYTHON))
    done = subprocess.run([layout(system).command, "hook", "--help"], env=dict(system.env), stdout=subprocess.PIPE)
    assert done.returncode == 0


def install_sh(system: System, target: Path) -> None:
    done = subprocess.run([ROOT / "install.sh", "--dry-run"], env=dict(system.env), stdout=subprocess.PIPE)
    assert done.returncode == 0


def keys(system: System, target: Path) -> None:
    free_keys.ask(system, layout(system), program_of_kitty.look(system))


def compiled_by_kitty(system: System, target: Path) -> None:
    program = system.which("kitty")
    assert program is not None and program_of_kitty.compile_modules(system, program, target)


def opened_by_kitty(system: System, target: Path) -> None:
    """The list, by the Python in kitty where the command is gone."""
    channel = importlib.import_module("tallylight.hosts.kitty.channel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel, "kitty_exe", lambda: str(system.which("kitty")))
        for installed in ("", str(target / "gone")):
            done = subprocess.run(channel.command(installed, "agents", "--help"), env=dict(system.env), stdout=-1)
            assert done.returncode == 0


def sessions_of_a_bridge(system: System, target: Path) -> None:
    """The host that a bridge starts; it is asked for its help only."""
    started: list[list[str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions_process.subprocess, "Popen", lambda argv, **_how: started.append(argv))
        patch.setattr(sys, "path", ["", *sys.path])
        sessions_process.SessionsProcess({"XDG_RUNTIME_DIR": str(target / "none")}).keep(0.0)
    (argv,) = started
    # The folders of this very Python are the first thing that it is told.
    assert "" not in ast.literal_eval(argv[3].partition("sys.path[:] = ")[2].partition(";")[0])
    done = subprocess.run([*argv[:4], "host", "--help"], env=dict(system.env), stdout=subprocess.PIPE)
    assert done.returncode == 0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory full of modules that note that they were run; the process is in it. What is returned is the note."""
    mark, folder = tmp_path / "was run", tmp_path / "clone"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(_HOSTILE.format(mark=str(mark), name=name))
    monkeypatch.chdir(folder)
    return mark


@pytest.fixture
def system(tmp_path: Path) -> System:
    """The real one, for a home that is thrown away, without a network; it has a kitty."""
    home = tmp_path / "person"
    home.mkdir()
    path = make_system(home).env["PATH"]
    program = Path(path, "kitty")
    program.write_text(_KITTY.format(python=PYTHON))
    env = {"HOME": str(home), "PATH": f"{path}:{PYTHON.parent}:/usr/bin:/bin", "PIP_NO_INDEX": "1", "PYTHONPATH": ":"}
    return System(env=env, say=lambda _text: None)


@pytest.mark.slow
@pytest.mark.usefixtures("kitty")
@pytest.mark.parametrize(
    "way",
    [
        own_pip, venv_pip, fetched_pip, release, install_sh, keys, compiled_by_kitty, opened_by_kitty,
        sessions_of_a_bridge,
    ],
)  # fmt: skip
def test_nothing_of_it_is_run(here: Path, system: System, tmp_path: Path, way: Way) -> None:
    """Every way in which we start a Python, with the variable that has a Python import from there."""
    (tmp_path / "scratch").mkdir()
    way(system, tmp_path / "scratch")
    assert not here.exists(), here.read_text()


def test_its_settings_are_not_read(here: Path, system: System) -> None:
    """uv would read `uv.toml` and `pyproject.toml` there and above, which name the index to install from."""
    assert system.run(["pwd"]).stdout == "/\n"


@pytest.mark.parametrize("words", [["-c", ""], ["-S", "-m", "pip"], ["-S", "-c", "import psutil"]])
def test_the_traps_are_good(here: Path, system: System, words: list[str]) -> None:
    """They go off where a Python is started in the usual way."""
    subprocess.run([PYTHON, *words], env=dict(system.env))
    assert here.exists()


@pytest.mark.slow
def test_each_python_of_ours_is_isolated() -> None:
    """In the source: what begins with a Python's name goes on with `-I`, by which it imports from nowhere else."""
    found = 0
    for path in sorted((ROOT / "shared/tallylight").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            words = node.elts if isinstance(node, ast.List) else []
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "_pip_install":
                words = node.args
            for word, after in itertools.pairwise(words):
                if ast.unparse(word) in _PYTHONS:
                    found += 1
                    is_isolated = isinstance(after, ast.Constant) and str(after.value).startswith("-I")
                    assert is_isolated, f"{path.name}: {ast.unparse(node)}"
    assert found >= 6
