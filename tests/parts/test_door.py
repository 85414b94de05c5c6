"""The door: parts are found, kept in an index, loaded when they are needed, and a fault costs one part."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight import parts
from tallylight.cli.main import main
from tallylight.config.settings import Config, load
from tallylight.hosts import part
from tallylight.hosts.part import Context, HostPart, HostParts
from tallylight.model.status import Status
from tallylight.parts import Part, Verb, index
from tallylight.snapshot.fields import words
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.facts import MAX_FACT_CELLS, Facts
from tallylight.ui.agent_list.reading import away
from tests.tables import each

ROOT = Path(__file__).parents[2]
STRANGER = Path(__file__).parent / "stranger"
OURS = {one.stem for one in Path(parts.__path__[0]).iterdir() if (one / "__init__.py").exists()}


@pytest.fixture(autouse=True)
def unknown() -> Iterator[None]:
    """Nothing of the parts is remembered from another test."""
    for forget in (index.forget, part.classes.cache_clear):
        forget()
    yield
    for forget in (index.forget, part.classes.cache_clear):
        forget()


def kept() -> dict[str, Any]:
    return json.loads(index.path().read_text())  # type: ignore[no-any-return]


def test_ours_are_found() -> None:
    """Each says what it adds; what is named is there."""
    found = {one.part.name: one for one in index.find()}
    assert {name for name, one in found.items() if not one.fault} >= OURS
    for one in found.values():
        part = one.part
        named = (part.host, part.checks, part.fact, part.news, part.undo)
        keys = (key.call for key in part.keys.values())
        for name in (*named, *keys, *part.readers.values(), *part.opens.values(), *part.serves.values()):
            assert not name or index.load(name) is not None
        assert all(callable(index.load(verb.module).main) for verb in part.verbs.values())


def test_a_verb_without_a_module_is_in_verbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of a verb has its name, below the package of the entry point."""
    moon = Part(name="moon", about="", verbs={"new-moon": Verb("More", ""), "full": Verb("More", "", "other.full")})
    point = SimpleNamespace(name="moon", dist=None, module="my.moon", load=lambda: moon)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [point])

    (found,) = (one.part for one in index.find() if one.part.name == "moon")

    assert {name: verb.module for name, verb in found.verbs.items()} == {
        "new-moon": "my.moon.verbs.new_moon",
        "full": "other.full",
    }


def test_the_index_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """What is read of the file is what was found; nothing is imported for that."""
    assert not index.path().exists()
    before = index.all_parts()
    assert main(["parts"]) == 0 and set(re.findall(r"^(\w+)", capsys.readouterr().out, re.M)) >= OURS
    assert index.all_parts() == before
    assert index.path().stat().st_mode & 0o077 == 0


@each("wrong", ["", "[]", "{", '{"version": 1}', '{"version": 2, "build": "another"}'])
def test_another_index_counts_as_none(wrong: str) -> None:
    index.refresh()
    index.path().write_text(wrong)
    assert {one.part.name for one in index.all_parts()} >= OURS


def test_what_is_wrong_in_an_index_costs_one_part() -> None:
    index.refresh()
    document = kept()
    document["parts"] = [7, {"name": 3}, {"name": "x", "verbs": {"v": ["a"], "w": 5}, "serves": []}, *document["parts"]]
    index.path().write_text(json.dumps(document))
    found = {one.part.name: one.part for one in index.all_parts()}
    assert set(found) == {"x"} | set(map(str, found)) and not found["x"].verbs and found["web"].verbs


def test_off_and_on(capsys: pytest.CaptureFixture[str]) -> None:
    """A part that is off has no verbs, and is off after an update, too."""
    assert main(["parts", "--off", "web"]) == 0
    capsys.readouterr()
    assert main(["serve", "--help"]) == 2
    assert "of the part `web`, which is off" in capsys.readouterr().err
    document = kept() | {"build": "another"}
    index.path().write_text(json.dumps(document))
    index.forget()
    assert "serve" not in index.verbs() and "log" in index.verbs()
    assert main(["parts", "--on", "web"]) == 0 and main(["serve", "--help"]) == 0


def test_a_part_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parts", "--off", "x\x1b[2J"]) == 1
    assert "\x1b" not in capsys.readouterr().err and not index.path().exists()


class Faulty(HostPart):
    """Raises in each tick."""

    calls = 0

    def tick(self, *_: object) -> None:
        self.calls += 1
        raise ValueError("broken")

    def forget(self, _id: Any) -> None:
        raise AssertionError("it is switched off")


class Counting(HostPart):
    calls = 0
    config: Config | None = None

    def use(self, config: Config) -> None:
        self.config = config

    def tick(self, *_: object) -> None:
        self.calls += 1


def test_a_fault_costs_that_part() -> None:
    """It is told once, and the others go on; what a part does not have is not called."""
    context: Any = None
    faulty, counting, told = Faulty(context), Counting(context), list[str]()
    made = HostParts({"a": faulty, "b": counting}, told.append)
    for _ in range(3):
        made.tick(1.0, {}, ())
        made.forget(7)
    made.close(2.0, is_lost=False)
    assert (faulty.calls, counting.calls) == (1, 3)
    assert told == ["part a switched off: ValueError: broken"]


def test_a_part_that_comes_later() -> None:
    """It gets the settings first, and then what the others get."""
    context: Any = None
    early, late, config = Counting(context), Counting(context), Config()
    made = HostParts({"a": early}, lambda _: None)
    made.use(config)
    made.tick(1.0, {}, ())
    early.config = None
    made.add({"b": late})
    made.tick(2.0, {}, ())
    assert (late.config, early.config) == (config, None)
    assert (early.calls, late.calls) == (2, 1)


def test_a_part_that_cannot_be_loaded(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A host reports it and has the others; so does the doctor."""
    here = parts.__path__
    here.append(str(tmp_path))
    request.addfinalizer(lambda: here.remove(str(tmp_path)))
    for name, text in {"bad": "import gone", "mad": "PART = 7", "sad": "from tallylight.parts import Part\n"
                       "PART = Part(name='sad', about='', host='gone:Host')"}.items():  # fmt: skip
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    faults = {one.part.name: one.fault for one in index.find() if one.fault}
    assert set(faults) == {"bad", "mad"} and "gone" in faults["bad"] and "int" in faults["mad"]
    told: list[str] = []
    context = Context(
        name="kitty", environ={}, submit=lambda *_: True, mounts=None, reader=None,  # type: ignore[arg-type]
        touched=lambda _: None, report=told.append,
    )  # fmt: skip
    assert set(part.made(context, is_early=False)) == {"diary", "lab", "work"}
    assert len(told) == 1 and told[0].startswith("part sad: ModuleNotFoundError")


def test_facts_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a part says of a pane is cut and harmless; one that raises says nothing any more."""
    found = [
        index.InstalledPart(parts.Part(name=name, about="", fact=f"{__name__}:{fact}"))
        for name, fact in (("a", "long_fact"), ("b", "faulty_fact"), ("c", "no_fact"))
    ]
    monkeypatch.setattr(index, "all_parts", lambda: tuple(found))
    facts, pane = Facts(), Pane(id="1", status=Status.IDLE)
    for _ in range(2):
        (said,) = facts.of(pane)
        assert said.startswith("1 is [31mred") and len(said) == MAX_FACT_CELLS
    assert FAULTS == ["1"]


FAULTS: list[str] = []


def long_fact(pane: Pane) -> str:
    return f"{pane.id} is \x1b[31mred" + "x" * 500


def faulty_fact(pane: Pane) -> str:
    FAULTS.append(pane.id)
    raise ValueError("broken")


def no_fact(_pane: Pane) -> str:
    return ""


MOON = {
    "verb.py": """
def main(argv):
    print('full', *argv)
    return 0
def over(row):
    return "it is full"
""",
    "host.py": """
from tallylight.hosts.part import HostPart
from tallylight.model.finding import Finding, Health
class Moon(HostPart):
    def changed(self, id_, pane, now):
        pane.more["phase"] = "full"
def checks(environ, hosts):
    yield Finding("moon", Health.OK, "shines")
def fact(pane):
    return f"{pane.id} under the moon"
def shown(value):
    return f"moon {value}"
def opens(pane):
    return None
def phase(query):
    return {"phase": "full"}
def news(rows, seconds):
    return f"\\x1bthe moon rose {seconds:g} s ago"
""",
    "record.py": "from tallylight.evidence.records.readers import Reader\nREADER = Reader(None, None)\n",
    "undo.py": "def plan(system):\n    return [], []\n",
}


def test_the_example_of_the_door_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The part of its docstring, made with what that names, adds all that a part can add."""
    (source,) = re.findall(r"^    from tallylight\.parts import Field.*?^    \)$", parts.__doc__ or "", re.M | re.S)
    folder = tmp_path / "tallylight_moon"
    folder.mkdir()
    for name, text in {"__init__.py": textwrap.dedent(source), **MOON}.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    made: parts.Part = index.load("tallylight_moon:PART")
    assert [field.name for field in attrs.fields(parts.Part) if not getattr(made, field.name)] == ["serves"]
    monkeypatch.setattr(index, "all_parts", lambda: (index.InstalledPart(made),))
    index.forget()

    assert main(["moon", "tonight"]) == 0 and capsys.readouterr().out == "full tonight\n"
    assert [found.text for _, load in index.checks() for found in load()({}, ())] == ["shines"]
    pane = Pane(id="1", status=Status.IDLE, more={"phase": "full"})
    assert Facts().of(pane) == ("1 under the moon",) and words(pane.more) == "moon full"
    assert set(part.classes(is_early=True)) == {"moon"} and index.named("readers", "moon") is not None
    assert index.named("opens", "moon")(pane) is None and [module.plan(None) for module in index.undoing()] == [
        ([], [])
    ]
    assert away([], 60.0) == "the moon rose 60 s ago"
    assert [(key, one.about, index.load(one.call)(pane)) for key, one in index.keys().items()] == [
        ("m", "look at its moon", "it is full")
    ]
    assert [index.load(name)({}) for _, name in index.routes()] == [{"phase": "full"}]


@pytest.mark.slow
def test_a_program_of_the_path(tmp_path: Path) -> None:
    """A word that is no verb runs `tally-WORD`, with its arguments and its exit code; nothing that is no plain word."""
    program = tmp_path / "bin" / "tally-moon"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "moon:$*"\nexit 7\n')
    program.chmod(0o755)
    environ = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "shared")}

    def run(*words: str, path: str = "") -> subprocess.CompletedProcess[str]:
        code = "from tallylight.cli.main import run; run()"
        return subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60, cwd=program.parent,
            env=environ | ({"PATH": path} if path else {}),
        )  # fmt: skip

    done = run("moon", "a b", "--help")
    assert (done.returncode, done.stdout) == (7, "moon:a b --help\n")
    assert run("../bin/tally-moon").returncode == 2
    assert run("moon", path=".").returncode == 2


def test_settings_of_parts() -> None:
    """Texts by the name of the part; anything else is a mistake, and costs itself."""
    config, problems = load('[parts.ntfy]\nurl = "x"\nwrong = 7\n[parts]\nb = 3\n', "c")
    assert config.parts["ntfy"]["url"] == "x" and len(problems) == 2
    assert Config().parts == {}


def blocks(page: str) -> Sequence[str]:
    return re.findall(r"^```(?:python|text)\n(.*?)^```", page, re.M | re.S)


def test_the_page_shows_the_part_of_a_stranger() -> None:
    """What docs/parts.md shows is in the package that is tried, and that is short."""
    source = "\n".join(path.read_text() for path in sorted(STRANGER.rglob("*.*")) if path.suffix in (".py", ".toml"))
    shown = blocks((ROOT / "docs/parts.md").read_text("utf-8"))
    assert len(shown) == 3
    lines = {line.strip() for line in source.splitlines()}
    assert [line for block in shown for line in block.splitlines() if line.strip() not in lines] == []
    assert sum(bool(line.strip()) for path in STRANGER.rglob("*.py") for line in path.read_text().splitlines()) <= 80
