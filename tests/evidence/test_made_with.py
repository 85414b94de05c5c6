"""What an unknown program is made with, as the package says that owns it: read once, bounded, and never a light."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tallylight.evidence import made_with
from tallylight.evidence.process import Process
from tallylight.evidence.unknown import UnknownProgram
from tallylight.pane.package import PackageRequest, package_of, version_of
from tallylight.snapshot.waiting_time_file import today
from tests.tables import each

RUN = (7, 70)


@each(
    ("package", "sign"),
    [
        ({"name": "x", "dependencies": {"@anthropic-ai/sdk": "1"}}, "made with @anthropic-ai/sdk"),
        (
            {"name": "x", "dependencies": {"chalk": "5", "@modelcontextprotocol/sdk": "1"}},
            "made with @modelcontextprotocol/sdk",
        ),
        ({"name": "x", "devDependencies": {"@ai-sdk/provider": "1"}}, "made with @ai-sdk/provider"),
        ({"name": "x", "optionalDependencies": {"x-mcp": "1"}}, "made with x-mcp"),
        ({"name": "x", "description": "An AI coding assistant"}, "a package that calls itself an agent"),
        ({"name": "x", "keywords": ["coding-agent"]}, "a package that calls itself an agent"),
        ({"name": "x", "description": "Agentic coding CLI for any model"}, "a package that calls itself an agent"),
        ({"name": "x", "dependencies": {"chalk": "5", "airtable": "1", "mail": "2"}}, ""),
        ({"name": "x", "dependencies": {"\x1b]0;x\x07openai": "1", "openai\u202e": "1", "o" * 80 + "-ai": "1"}}, ""),
        ({"name": "x", "description": "An agent for ssh keys"}, ""),
        ({"name": "x", "dependencies": ["openai"], "keywords": {"a": 1}, "description": 5}, ""),
    ],
)
def test_of_npm(package: dict[str, object], sign: str) -> None:
    """A library for language models, or what the package calls itself; nothing else, whatever stands there."""
    assert made_with.of_npm(json.dumps(package)) == sign


@each("text", ["", "{", "[]", "[" * 100_000, '{"name": "x"', "\x00"])
def test_what_is_no_package(text: str) -> None:
    """What cannot be read tells nothing, and breaks nothing."""
    assert made_with.of_npm(text) == ""


def npm(root: Path, name: str, package: dict[str, object], readme: str = "") -> Path:
    folder = root / "lib" / "node_modules" / name
    (folder / "dist").mkdir(parents=True)
    (folder / "dist" / "package.json").write_text('{"type": "module"}')
    (folder / "package.json").write_text(json.dumps({"name": name, **package}))
    if readme:
        (folder / "README.md").write_text(readme)
    program = folder / "dist" / "cli.js"
    program.write_text("")
    (root / "bin").mkdir(exist_ok=True)
    (root / "bin" / name).symlink_to(program)
    return root / "bin" / name


def test_a_script_of_node(tmp_path: Path) -> None:
    """Found through the link in `bin`, past the nameless `package.json` of its own folder."""
    agent = npm(tmp_path, "mystery", {"dependencies": {"openai": "4"}})
    told = npm(tmp_path, "told", {}, "# Told\n\nThe AI agent of your terminal.")
    other = npm(tmp_path, "other", {"dependencies": {"chalk": "5"}}, "Colours in your terminal.")

    assert PackageRequest(agent, RUN).read() == "made with openai"
    assert PackageRequest(told, RUN).read() == "a package that calls itself an agent"
    assert PackageRequest(other, RUN).read() == ""


def test_a_script_of_python(tmp_path: Path) -> None:
    """The distribution counts that has it as an entry point, and no other of the same environment."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    for name, script, requires in (
        ("agent_x", "mystery", "litellm==1.2"),
        ("tool_y", "tool", "rich>=13; extra == 'x'"),
    ):
        folder = site / f"{name}-1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "entry_points.txt").write_text(f"[console_scripts]\n{script} = {name}:main\n")
        (folder / "METADATA").write_text(f"Name: {name}\nRequires-Dist: {requires}\n\nIt uses openai, says a text.\n")
    (tmp_path / "bin").mkdir()

    assert PackageRequest(tmp_path / "bin" / "mystery", RUN).read() == "made with litellm"
    assert PackageRequest(tmp_path / "bin" / "tool", RUN).read() == ""
    assert PackageRequest(tmp_path / "bin" / "nothing", RUN).read() == ""


@pytest.mark.slow
@each(
    ("size", "at", "sign"),
    [
        (100, 10, "a program that talks to modelcontextprotocol"),
        (3 << 20, (1 << 20) - 5, "a program that talks to modelcontextprotocol"),  # across two parts that are read
        (200 << 20, 5 << 20, "a program that talks to modelcontextprotocol"),
        (200 << 20, 120 << 20, "a program that talks to modelcontextprotocol"),
        (200 << 20, 60 << 20, ""),  # neither near its begin nor near its end
    ],
)
def test_a_program_of_its_own(size: int, at: int, sign: str, tmp_path: Path) -> None:
    """A native program tells by its own bytes, in bounds; what only holds ordinary words tells nothing."""
    program = tmp_path / f"mystery-{size}-{at}"
    with program.open("wb") as file:
        file.truncate(size)
        file.seek(at)
        file.write(b"https://modelcontextprotocol.io")
    assert PackageRequest(program, RUN).read() == sign
    program.write_bytes(b"a model, a context, and a protocol")
    assert PackageRequest(program, RUN).read() == ""


def test_a_native_program_in_a_package_that_does_not_tell(tmp_path: Path) -> None:
    """The package of one platform says nothing of what it holds."""
    program = npm(tmp_path, "mystery-linux-x64", {"os": ["linux"]})
    Path(os.path.realpath(program)).write_bytes(b"\x7fELF https://api.openai.com/v1")

    assert PackageRequest(program, RUN).read() == "a program that talks to api.openai.com"


def test_its_version(tmp_path: Path) -> None:
    """As its package says, else a folder that it lies in, else the day of its file; nothing if that is not known."""
    script = npm(tmp_path / ".nvm/versions/node/v22.1.0", "mystery", {"version": "0.98.0"})
    site = tmp_path / "pyenv/versions/3.12.1/lib/python3.12/site-packages/agent_x-0.86.1.dist-info"
    site.mkdir(parents=True)
    (site / "entry_points.txt").write_text("[console_scripts]\naider = agent_x:main\n")
    (site / "METADATA").write_text("Name: agent_x\nVersion: 0.86.1\n")
    python = tmp_path / "pyenv/versions/3.12.1/bin/aider"
    named, plain = tmp_path / "claude/versions/2.1.329", tmp_path / "bin/goose"
    for file in (python, named, plain):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    os.utime(plain, (0, 1_763_690_000))

    def of(program: Path, interpreter: str = "") -> str:
        argv = (interpreter, str(program)) if interpreter else (program.name,)
        return version_of(Process(7, argv=argv, exe=interpreter or str(program), start=70))

    assert of(script, "/usr/bin/node") == "0.98.0"
    assert of(python, "/usr/bin/python3") == "0.86.1"
    assert of(named) == "2.1.329"
    assert of(plain) == today(1_763_690_000)
    assert of(tmp_path / "bin/gone") == of(Path("relative.js"), "/usr/bin/node") == ""


def test_a_project_is_no_package(tmp_path: Path) -> None:
    """The `package.json` of the project around a program is not its own, and a pipe in its place is not read."""
    (tmp_path / "package.json").write_text('{"name": "mine", "dependencies": {"openai": "4"}}')
    program = tmp_path / "build"
    program.write_text("")
    assert PackageRequest(program, RUN).read() == ""

    folder = tmp_path / "node_modules" / "mystery"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "package.json")
    assert PackageRequest(folder / "cli.js", RUN).read() == ""


def test_asked_once_a_program() -> None:
    """It is read until there is an answer of this very run; that makes a candidate, and says so."""
    script = "/x/node_modules/mystery/cli.js"
    found = UnknownProgram("mystery", Process(7, argv=("node", script), exe="/usr/bin/node", start=70))

    assert package_of(found) == package_of(found) == PackageRequest(Path(script), RUN)
    found.note_package("made with openai", (7, 71))
    assert found.agent is None and package_of(found) is not None

    found.note_package("made with openai", RUN)
    assert package_of(found) is None
    assert found.agent is not None and found.signs == ("made with openai",)


def test_a_program_without_a_file() -> None:
    """What is given by a relative path may be another file by now: it is not read."""
    found = UnknownProgram("mystery", Process(7, argv=("node", "mystery/cli.js"), exe="/usr/bin/node", start=70))

    assert package_of(found) is None
    assert found.agent is None and found.signs == ()
