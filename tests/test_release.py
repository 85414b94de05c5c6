"""What a release goes through: the check of its tag, and the workflow that publishes it."""

from __future__ import annotations

import datetime
import hashlib
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tallylight import __version__
from tests.tables import each

ROOT = Path(__file__).parents[1]
TODAY = datetime.date(2026, 11, 22)
GOOD = "# Changelog\n\n## 0.2.0 - 2026-11-20\n\n- New.\n\n## 0.1.0 - 2025-01-01\n\n- Old.\n"


def _loaded() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_tag", str(ROOT / ".ci" / "check_tag"))
    spec = importlib.util.spec_from_loader("check_tag", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


check_tag = _loaded()


@each(
    ("version", "tag", "changelog", "said"),
    [
        ("0.2.0", "v0.2.0", GOOD, []),
        ("0.2.0", "", GOOD, []),
        ("0.2.0", "v0.2.0", GOOD.replace("## 0.2.0", "## Unreleased\n\n## 0.2.0"), []),
        ("0.2.0", "v0.2.1", GOOD, ["the tag is v0.2.1"]),
        ("0.2.0", "0.2.0", GOOD, ["it should be v0.2.0"]),
        ("0.2.0", "v0.2.0", GOOD.replace("## 0.2.0", "## Unreleased\n\n- x\n\n## 0.2.0"), ['under "Unreleased"']),
        (
            "0.2.0",
            "v0.2.0",
            GOOD.replace("0.2.0 - 2026-11-20", "Unreleased"),
            ["Unreleased", 'is "0.1.0 - 2025-01-01"'],
        ),
        ("0.3.0", "v0.3.0", GOOD, ['newest section of CHANGELOG.md is "0.2.0 - 2026-11-20"']),
        ("0.2.0", "v0.2.0", GOOD.replace(" - 2026-11-20", ""), ['should be "0.2.0 - YYYY-MM-DD"']),
        ("0.2.0", "v0.2.0", GOOD.replace("2026-11-20", "2026-11-31"), ["is no date"]),
        ("0.2.0", "v0.2.0", GOOD.replace("2026-11-20", "2027-11-20"), ["is in the future"]),
        ("0.2.0", "v0.2.0", GOOD.replace("- New.", ""), ["is empty"]),
        ("0.2.0", "v0.2.0", "# Changelog\n", ["is missing"]),
        ("0.2", "v0.2", GOOD.replace("0.2.0", "0.2"), ["no version of three numbers", "should be"]),
    ],
)
def test_tags(version: str, tag: str, changelog: str, said: list[str]) -> None:
    """Tag, version and a dated changelog have to be the same; each thing that is wrong is said."""
    found = check_tag.problems(version, tag, changelog, TODAY)
    assert len(found) == len(said) and all(part in problem for part, problem in zip(said, found, strict=True))


def test_the_command(tmp_path: Path) -> None:
    """It prints the section of the version for the release's text, or what is wrong and 1."""
    for name, text in {"shared/tallylight/__init__.py": '__version__ = "0.2.0"\n', "CHANGELOG.md": GOOD}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".ci").mkdir()
    command = tmp_path / ".ci" / "check_tag"
    command.write_bytes((ROOT / ".ci" / "check_tag").read_bytes())

    done = subprocess.run([sys.executable, command, "v0.2.0"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "- New.\n", "")
    done = subprocess.run([sys.executable, command, "v0.3.0"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("check_tag: the tag is v0.3.0")


def test_our_own_changelog_can_be_read() -> None:
    """Its newest section is what is unreleased or the version there is, and every other one is dated."""
    told = check_tag.sections((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert told[0][0] == "Unreleased" or told[0][0].startswith(f"{__version__} - ")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", title) for title, _ in told[1:])
    assert all(text for _, text in told[1:])
    assert all(len(re.findall("^- ", text, re.MULTILINE)) <= 30 for _, text in told), "what a user notices: 30 lines"


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    """The workflow, as it is read by who runs it."""
    return yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))


def test_nothing_is_published_untested(workflow: dict[str, Any]) -> None:
    """Publishing waits for the check of the tag, the tests and the build, and happens for tags alone."""
    jobs = workflow["jobs"]

    def before(job: str) -> set[str]:
        needs = jobs[job].get("needs", [])
        direct = {needs} if isinstance(needs, str) else set(needs)
        return direct.union(*(before(one) for one in direct))

    assert before("publish") == {"check", "python", "kitty", "build"}
    assert "publish" in before("announce")
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    assert any("check_tag" in step.get("run", "") for step in jobs["check"]["steps"])


def test_only_who_publishes_may_sign(workflow: dict[str, Any]) -> None:
    """There is no secret in it, every job can only read, and one each may ask for an identity and write a release."""
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "secrets." not in text and workflow["permissions"] == {"contents": "read"}
    allowed = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert allowed == {
        "publish": {"id-token": "write", "attestations": "write"},
        "announce": {"contents": "write"},
    }


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").iterdir()), ids=lambda path: path.stem)
def test_what_comes_from_outside_stays_as_it_is(path: Path) -> None:
    """Each action is named by its commit, which nobody can move, and no text of an event is put into a shell."""
    used = re.findall(r"uses: (.*)", path.read_text("utf-8"))
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", one) for one in used)
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    assert not any("${{" in step.get("run", "") for job in jobs for step in job["steps"])


def test_a_pull_request_is_tested() -> None:
    """On Linux and macOS, with the oldest Python; it can read, and nothing else."""
    found = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    matrix = found["jobs"]["test"]["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}
    assert matrix["python"][0] == "3.11" and found["permissions"] == {"contents": "read"}
    # YAML reads the word `on` as true.
    assert "pull_request" in found[True] and found["jobs"]["test"]["steps"][-1]["run"] == ".ci/run --fast"


@pytest.mark.slow
def test_the_bill_of_materials(tmp_path: Path, workflow: dict[str, Any]) -> None:
    """It has both files with their checksums and all that a wheel needs; it is signed, and not sent to PyPI."""
    wheel, archive = tmp_path / "tallylight-1.0-py3-none-any.whl", tmp_path / "tallylight-1.0.tar.gz"
    archive.write_bytes(b"sources")
    with zipfile.ZipFile(wheel, "w") as made:
        needs = "Requires-Dist: attrs>=22\nRequires-Dist: psutil>=5.9\nRequires-Dist: uvicorn; extra == 'serve'\n"
        made.writestr("tallylight-1.0.dist-info/METADATA", f"Name: tallylight\nVersion: 1.0\n{needs}\n")
    said = subprocess.check_output([ROOT / "packaging/sbom", wheel, archive])

    found = json.loads(said)
    assert found["metadata"]["component"]["version"] == "1.0"
    checksum = hashlib.sha256(b"sources").hexdigest()
    assert [one["name"] for one in found["components"]] == [wheel.name, archive.name, "attrs", "psutil"]
    assert found["components"][1]["hashes"] == [{"alg": "SHA-256", "content": checksum}]
    steps = workflow["jobs"]["publish"]["steps"]
    (attested,) = (step["with"] for step in steps if step.get("uses", "").startswith("actions/attest-sbom@"))
    assert attested == {"subject-path": "dist/*", "sbom-path": "sbom/tallylight.cdx.json"}


def test_the_oldest_python_is_tested(workflow: dict[str, Any]) -> None:
    """The first of the matrix is the oldest that pyproject.toml allows."""
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert f">={workflow['jobs']['python']['strategy']['matrix']['python'][0]}" == oldest
