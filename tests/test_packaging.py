"""The recipes of packaging/: filled for a release, they are whole, agree with the package, and parse."""

from __future__ import annotations

import email
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.tables import each

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
ADDRESS = "https://forge.example/me/tallylight"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NIX = sorted((PACKAGING / "nix").glob("*.nix"))


def fill(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, PACKAGING / "fill", *arguments], capture_output=True, text=True)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipes of release 1.2.3."""
    folder = tmp_path_factory.mktemp("packaging")
    (folder / "tallylight-1.2.3.tar.gz").write_bytes(b"a source package")
    done = fill(folder / "tallylight-1.2.3.tar.gz", folder / "out", ADDRESS)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "out"


def shell(script: str, *arguments: str | Path) -> str:
    done = subprocess.run(["bash", "-euc", script, "bash", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_recipe_has_the_release_in_it(filled: Path) -> None:
    """Version, checksum and address are filled in, and nothing is left open."""
    checksum = hashlib.sha256(b"a source package").hexdigest()
    for name in ("tallylight.rb", "PKGBUILD", ".SRCINFO"):
        text = (filled / name).read_text("utf-8")
        assert checksum in text and "1.2.3" in text and ADDRESS in text
        assert not re.search("@[A-Z]", text)


def test_entries_for_lists_are_filled_in(filled: Path) -> None:
    """One for kitty's page, whose title is underlined to its end, and one line for the list of WezTerm."""
    _, _, title, line, *_ = (filled / "kitty-integrations.rst").read_text("utf-8").splitlines()
    assert ADDRESS in title and set(line) == {"^"} and len(line) >= len(title)
    (entry,) = (filled / "awesome-wezterm.md").read_text("utf-8").splitlines()
    assert entry.startswith(f"- [Tallylight]({ADDRESS}) - ") and entry.endswith(".")


@pytest.mark.slow
def test_what_is_no_package_is_told(tmp_path: Path) -> None:
    """Nothing is written for it."""
    (tmp_path / "tallylight-1.2.tar.gz").touch()
    for name, code in (("tallylight-1.2.tar.gz", 1), ("tallylight-1.2.3.tar.gz", 1)):
        done = fill(tmp_path / name, tmp_path / "out")
        assert done.returncode == code and "is no source package" in done.stderr
    assert fill().returncode == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_what_an_index_shows(tmp_path: Path) -> None:
    """README with whole addresses of links and pictures, where the project is, and what the package is for."""
    where = {"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_REPOSITORY": "me/tallylight", "GITHUB_SHA": "f" * 40}
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, env={**os.environ, **where}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as made:
        (name,) = (name for name in made.namelist() if name.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(made.read(name))
    text = str(told.get_payload())
    at = f"{ADDRESS}/(raw|blob)/{'f' * 40}"
    links = re.findall(r'\]\(([^)]+)\)|src(?:set)?="([^"]+)"', text)
    assert links and all(re.match(f"https?://|#|{at}", "".join(pair)) for pair in links)
    files = [match[2] for match in re.finditer(rf"{at}/([^)#\"\s]+)", text)]
    assert files and all((ROOT / file).exists() for file in files)
    assert f"Repository, {ADDRESS}" in told.get_all("Project-URL", []) and told["Author"]
    assert {"Environment :: Console", "Operating System :: MacOS"} <= set(told.get_all("Classifier", []))


def test_there_is_one_place_for_the_address() -> None:
    """The project has none yet: one file holds a name that nobody can have, and no other file of the checkout."""
    address = (PACKAGING / "address").read_text("ascii").strip()
    assert re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", address)
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    texts = (path for name in files if (path := ROOT / name).suffix in {".md", ".toml", ".py", ".nix", ".rb", ".yml"})
    assert [path for path in texts if path.is_file() and address in path.read_text("utf-8")] == []


def test_the_package_of_the_aur_is_described_as_it_is(filled: Path) -> None:
    """`.SRCINFO`, which the AUR reads, says what bash makes of PKGBUILD; both need what pyproject.toml needs."""
    singles = ("pkgdesc", "pkgver", "pkgrel", "url", "install")
    lists = ("arch", "license", "makedepends", "depends", "optdepends", "source", "sha256sums")
    script = 'source "$1"; shift; for name; do declare -n values=$name; printf "\\t$name = %s\\n" "${values[@]}"; done'
    told = shell(script, filled / "PKGBUILD", *singles, *lists)
    assert (filled / ".SRCINFO").read_text("utf-8") == f"pkgbase = tallylight\n{told}\npkgname = tallylight\n"

    wanted = {re.split("[>=]", one)[0] for one in PROJECT["dependencies"]}
    assert set(re.findall(r"\tdepends = python-(\w+)", told)) == wanted
    shell('bash -n "$1"; bash -n "$2"', filled / "PKGBUILD", filled / "tallylight.install")
    assert "tally setup" in shell('source "$1"; post_install', filled / "tallylight.install")


def test_the_formula_is_ruby_and_has_every_dependency(filled: Path) -> None:
    """It has a resource for each, new enough, and Ruby parses it, where there is a Ruby."""
    text = (filled / "tallylight.rb").read_text("utf-8")
    resources = dict(
        re.findall(r'resource "(\w+)" do\n\s+url "\S+/\w+-([\d.]+)\.tar\.gz"\n\s+sha256 "[0-9a-f]{64}"', text)
    )
    for wanted in PROJECT["dependencies"]:
        name, oldest = wanted.split(">=")
        assert [int(part) for part in resources[name].split(".")] >= [int(part) for part in oldest.split(".")]
    if ruby := shutil.which("ruby"):
        assert subprocess.check_output([ruby, "-c", filled / "tallylight.rb"], text=True) == "Syntax OK\n"


@each("path", NIX)
def test_nix_reads_it(path: Path) -> None:
    """Every bracket is closed; and Nix parses it, where there is a Nix."""
    text = re.sub(r"''.*?''|\"(?:\\.|[^\"\\])*\"|#.*", "", path.read_text("utf-8"), flags=re.DOTALL)
    assert all(text.count(left) == text.count(right) for left, right in ("{}", "[]", "()"))
    if nix := shutil.which("nix-instantiate"):
        subprocess.run([nix, "--parse", path], check=True, capture_output=True)


def test_the_flake_knows_the_version_and_the_kittens() -> None:
    """The version is read from the package as it stands there, and each key starts a kitten that there is."""
    package, module = ((PACKAGING / "nix" / name).read_text("utf-8") for name in ("package.nix", "home-manager.nix"))
    (pattern,) = re.findall(r'builtins\.match "(.*)" source', package)
    source = (ROOT / "shared/tallylight/__init__.py").read_text("utf-8")
    found = re.fullmatch(pattern.replace('\\"', '"'), source, re.DOTALL)
    assert found is not None and f'__version__ = "{found[1]}"' in source
    kittens = re.findall(r'= "(\w+\.py)[^"]*";', module)
    assert kittens and all((ROOT / "kittens" / name).is_file() for name in kittens)
    assert {re.split("[>=]", one)[0] for one in PROJECT["dependencies"]} == set(
        re.findall(r"^    python3Packages\.(\w+)$", package, re.MULTILINE)
    )
