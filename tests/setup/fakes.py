"""A machine to set up: a home that is thrown away, a person who answers, programs that are pretended."""

from __future__ import annotations

import dataclasses
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import attr
import attrs

from tallylight.files.system import System

#: What went well, by the command and all that it read.
_TRIED: dict[tuple[str | bytes, ...], subprocess.CompletedProcess[str]] = {}


@dataclasses.dataclass(frozen=True)
class FakeSystem(System):
    """A system whose pip links attrs, or fails, and whose kitty tells its version. Everything said is kept."""

    said: list[str] = dataclasses.field(default_factory=list)
    pip_works: bool = True
    is_online: bool = True
    #: Versions of the packages that its Python has.
    packages: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kitty: str = "kitty 0.41.1 created by Kovid Goyal"
    #: Processes that are kittys, and the signals that were sent.
    kittys: tuple[str, ...] = ()
    signals: list[tuple[int, int]] = dataclasses.field(default_factory=list)

    def reaches(self, host: str, seconds: float) -> bool:
        return self.is_online

    def signal(self, pid: int, number: int) -> bool:
        self.signals.append((pid, number))
        return True

    def package(self, name: str, modules: Sequence[str]) -> tuple[str, list[Path]] | None:
        """As of the real one; the folders are those of the Python of the tests."""
        found = super().package(name, modules) if name in self.packages else None
        return found and (self.packages[name], found[1])

    def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        if "--target" in words:
            if not self.pip_works:
                return subprocess.CompletedProcess(words, 1, "", "noise\nERROR: no matching distribution\n")
            for module in (attr, attrs) if "psutil>=5.9" not in words[-1:] or "attrs>=23.1" in words else ():
                folder = Path(str(module.__file__)).parent
                (Path(words[words.index("--target") + 1]) / folder.name).symlink_to(folder)
            return subprocess.CompletedProcess(words, 0, "", "")
        if words[0] == "ps":
            return subprocess.CompletedProcess(words, 0, "kitty\n" if words[-1] in self.kittys else "bash\n", "")
        if "compileall" in words or "venv" in words:
            return subprocess.CompletedProcess(words, 0, "", "")
        if words[1:3] == ["-IS", "-c"]:
            return self._try(words, timeout)
        if words[-1] == "--version":
            return subprocess.CompletedProcess(words, 0, self.kitty if "kitty" in words[0] else "pip 25", "")
        return super().run(command, timeout)

    def _try(self, words: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
        """Run code on the modules of a folder, but not again on the same ones: a process takes longer than a test."""
        folder = Path(words[4])
        inputs = (*words[:4], *words[5:], *sorted(path.name for path in folder.iterdir()))
        sources = sorted(path for path in (folder / "tallylight").rglob("*.py"))
        known = (*inputs, *(source.read_bytes() for source in sources))
        if known not in _TRIED:
            done = super().run(words, timeout)
            if done.returncode != 0:
                return done
            _TRIED[known] = done
        return _TRIED[known]

    @property
    def text(self) -> str:
        return "\n".join(self.said)


def make_system(
    home: Path, *, answer: bool | None = None, kitty: bool = True, pip_works: bool = True, **env: str
) -> FakeSystem:
    """A system whose home is *home*, with a kitty on PATH if wanted, and a person who always says *answer*."""
    programs = home.parent / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / "kitty"
    program.unlink(missing_ok=True)
    if kitty:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    said: list[str] = []
    return FakeSystem(
        env={"HOME": str(home), "PATH": str(programs), **env},
        say=said.append,
        ask=lambda _question: answer,
        platform="linux",
        now=lambda: 1_000_000_000.0,
        said=said,
        pip_works=pip_works,
    )


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below *root*: kind and mode, time of change, and bytes or the target of the link."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = Path(folder, name)
            info = path.lstat()
            content: object = None
            if stat.S_ISLNK(info.st_mode):
                content = path.readlink()
            elif stat.S_ISREG(info.st_mode):
                content = path.read_bytes()
            found[str(path.relative_to(root))] = (info.st_mode, info.st_mtime_ns, content)
    return found
