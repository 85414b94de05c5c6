"""The table of docs/measurements.md: a row for each aim, between two markers, with the machine above it."""

from __future__ import annotations

import importlib
import os
import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.aims import Aim

PAGE = Path(__file__).parents[1] / "docs/measurements.md"
BEGIN, END = "<!-- python -m benchmarks: from here -->\n", "<!-- to here -->\n"
HEAD = "| what | measured | against | aim | |\n| --- | ---: | --- | ---: | --- |\n"
MISSING = "not measured"


def modules() -> Iterator[str]:
    """The names of the modules that have aims, in order: first the one of the machine's own speed."""
    paths = Path(__file__).parent.glob("[!_]*.py")
    for path in sorted(paths, key=lambda path: (path.stem != "machine", path.stem)):
        if getattr(importlib.import_module(f"benchmarks.{path.stem}"), "AIMS", None):
            yield path.stem


def aims(module: str) -> tuple[Aim, ...]:
    """Return the aims of a module."""
    found: tuple[Aim, ...] = importlib.import_module(f"benchmarks.{module}").AIMS
    return found


def machine() -> str:
    """Return the machine of the measurement: cores, processor, kernel, Python."""
    model = re.search(r"^model name\s*:\s*(.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    name = model[1].strip() if model else platform.machine()
    kernel = ".".join(re.findall(r"\d+", platform.release())[:2])
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {name}, {platform.system()} {kernel}, Python {platform.python_version()}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def row(aim: Aim, values: list[float]) -> str:
    """A row; without a value it says so."""
    cells = (MISSING, "") if not values else (aim.shown(aim.worst(values)), aim.verdict(aim.worst(values)))
    return f"| {aim.what} | {cells[0]} | {aim.against} | {aim.text} | {cells[1]} |\n"


def rows(page: str) -> dict[str, str]:
    """Return the rows of the page, by what they are about."""
    table = page.partition(BEGIN)[2].partition(END)[0].partition(HEAD)[2]
    lines = [line for line in table.splitlines(keepends=True) if line.startswith("| ")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def renewed(page: str, said: Mapping[str, list[float]], measured: set[str]) -> str:
    """The page with new rows for the modules of *measured*; those of other modules stay as they are."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    old = rows(page)
    lines = [
        row(aim, said.get(aim.what, [])) if module in measured or aim.what not in old else old[aim.what]
        for module in modules()
        for aim in aims(module)
    ]
    return f"{before}{BEGIN}\n{machine()}:\n\n{HEAD}{''.join(lines)}\n{END}{after}"
