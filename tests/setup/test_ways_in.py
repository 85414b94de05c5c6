"""The ways in that docs/start.md shows, each from nothing: a home that is thrown away, no network but loopback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/start.md").read_text("utf-8")
#: Loopback is all there is in it. As another user there is no such room.
OFFLINE = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]

pytestmark = [
    pytest.mark.install,
    pytest.mark.skipif(os.geteuid() != 0, reason="a room without a network needs root"),
]


def run(argv: Sequence[str | Path], *, path: Sequence[str | Path] = (), home: Path, cwd: str | Path = "/") -> str:
    """Run it without a network, as somebody with this home, and return what it printed."""
    folders = [*path, home / ".local/bin", *os.environ["PATH"].split(":")]
    env = {"HOME": str(home), "PATH": ":".join(map(str, folders)), "LANG": "C.UTF-8"}
    env |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_OFFLINE": "1", "UV_NO_CONFIG": "1"}
    done = subprocess.run([*OFFLINE, *argv], env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def shown(mark: str) -> str:
    """The commands that the page shows for a way, by something that stands in them."""
    (block,) = [block for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) if mark in block]
    return block


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, without what was built in it."""
    copy = tmp_path_factory.mktemp("checkout") / "tallylight"
    files = subprocess.check_output(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    for name in files.decode().split("\0"):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheels(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page has a machine with a network fetch: our package and all that it needs."""
    folder = tmp_path_factory.mktemp("wheels")
    (line,) = [line for line in shown("--no-index").splitlines() if "pip wheel" in line]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-euc", line.replace(" wheels", f" {folder}")], cwd=checkout, env=env, check=True)
    assert {path.name.split("-")[0] for path in folder.iterdir()} == {"tallylight", "attrs", "psutil"}
    return folder


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """uv, pipx, and what a package of the AUR is built with."""
    folder = tmp_path_factory.mktemp("tools") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    wanted = ["uv", "pipx", "build", "installer", "hatchling", "shtab", "argparse-manpage", "attrs", "psutil"]
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-compile", *wanted], check=True)
    return folder / "bin"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    conf = home / ".config/kitty/kitty.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("font_size 12\n")
    return home


def check(home: Path, *path: Path) -> None:
    """It is set up: the command runs, and kitty's own Python would find all that it needs. Then it is taken out."""
    assert run(["tally", "--version"], home=home, path=path).startswith("tally ")
    lib = home / ".local/share/tallylight/lib"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import attrs, psutil, tallylight.pane; print(psutil.__file__)"
    assert run([sys.executable, "-IS", "-c", code, lib], home=home).startswith(str(lib))
    assert "BEGIN_TALLYLIGHT" in (home / ".config/kitty/kitty.conf").read_text()
    run(["tally", "setup", "--uninstall", "--yes"], home=home, path=path)
    assert (home / ".config/kitty/kitty.conf").read_text() == "font_size 12\n"
    assert not lib.exists()


def test_uv(wheels: Path, tools: Path, home: Path) -> None:
    """`uv tool install` and `tally setup`, which needs no network: what it needs came with the package."""
    command = shown("uv tool install").splitlines()[0]
    command = command.replace(" .", f" --no-index --find-links {wheels} --python {sys.executable} tallylight")
    told = run(["sh", "-euc", command.replace("tally setup", "tally setup --yes")], path=[tools], home=home)
    assert "Fetching" not in told
    check(home, tools)


def test_pipx(wheels: Path, tools: Path, home: Path) -> None:
    """The same with pipx."""
    command = shown("pipx install").splitlines()[0]
    command = command.replace(
        " .", f" --pip-args='--no-index --find-links {wheels}' --python {sys.executable} tallylight"
    )
    told = run(["sh", "-euc", command.replace("tally setup", "tally setup --yes")], path=[tools], home=home)
    assert "Fetching" not in told
    check(home, tools)


def test_run_without_installing(wheels: Path, tools: Path, home: Path) -> None:
    """`uvx tallylight` and `pipx run tallylight` run a verb; nothing of it is left on PATH."""
    uvx = [
        "uvx",
        "--no-index",
        "--find-links",
        wheels,
        "--python",
        sys.executable,
        "tallylight",
        "demo",
        "--once",
        "--speed",
        "1000",
    ]
    assert "May I run `make install`?" in run(uvx, path=[tools], home=home)
    pip = f"--pip-args=--find-links {wheels}"
    pipx = ["pipx", "run", pip, "--python", sys.executable, "tallylight", "--version"]
    assert run(pipx, path=[tools], home=home).startswith("tally ")
    assert not (home / ".local/bin/tally").exists()


def test_a_machine_without_a_network(wheels: Path, home: Path) -> None:
    """What was fetched elsewhere is all that is needed."""
    script = shown("--no-index").partition("# on the machine without\n")[2].replace("tally setup", "tally setup --yes")
    assert "pip" in script
    folder = home / "carried"
    folder.mkdir()
    (folder / "wheels").symlink_to(wheels)
    told = run(["sh", "-euc", script], path=[Path(sys.executable).parent], home=home, cwd=folder)
    assert "Fetching" not in told
    check(home)


def test_the_package_of_the_aur(checkout: Path, tools: Path, tmp_path: Path) -> None:
    """What PKGBUILD builds and packages, from the source package of a release, is a command and a licence."""
    subprocess.run(
        [tools / "python", "-m", "build", "--no-isolation", "--sdist", "-o", tmp_path], cwd=checkout, check=True
    )
    (source,) = tmp_path.glob("*.tar.gz")
    subprocess.run([checkout / "packaging/fill", source, tmp_path / "aur"], check=True)
    shutil.unpack_archive(source, tmp_path / "src", filter="data")
    script = 'source "$1"; pkgdir=$3; cd "$2"; build; cd "$2"; package'
    argv = ["bash", "-euc", script, "bash", tmp_path / "aur/PKGBUILD", tmp_path / "src", tmp_path / "pkg"]
    run(argv, path=[tools], home=tmp_path)
    (command,) = (tmp_path / "pkg").rglob("bin/tally")
    assert command.is_file() and list((tmp_path / "pkg").rglob("_kittens/tally_watcher.py"))
    assert list((tmp_path / "pkg").rglob("_completions/man1/tally-wait.1"))
    assert list((tmp_path / "pkg").rglob("licenses/tallylight/LICENSE"))


def test_what_the_flake_lays_out(wheels: Path, tmp_path: Path) -> None:
    """Its last step, run by bash as Nix would: kitty's watcher finds all that it needs beside itself."""
    site = Path(sysconfig.get_path("purelib", "venv", {"base": "."})).relative_to(".")
    out, store = tmp_path / "out", tmp_path / "store"
    for wheel in wheels.iterdir():
        shutil.unpack_archive(wheel, (out if wheel.name.startswith("tally") else store) / site, "zip")
    text = (ROOT / "packaging/nix/package.nix").read_text("utf-8")
    (step,) = re.findall(r"postInstall = ''\n(.*?)''", text, re.DOTALL)
    for name, value in {"python.sitePackages": site, "attrs": store, "psutil": store}.items():
        step = step.replace(f"${{python3Packages.{name}}}", str(value))
    assert "${" not in step
    run(["bash", "-euc", f"out={out}\n{step}"], home=tmp_path)

    share = out / "share/tallylight"
    code = "import sys; sys.path.insert(0, sys.argv[1]); import attrs, psutil, tallylight.pane; print(psutil.__file__)"
    assert run([sys.executable, "-ISB", "-c", code, share / "lib"], home=tmp_path).startswith(str(share))
    # The watcher looks beside the folder it lies in, where that really is.
    assert not (share / "kittens/tally_watcher.py").is_symlink()
    assert (share / "wezterm/tallylight/init.lua").is_file()


def test_a_key_of_ones_own(wheels: Path, home: Path) -> None:
    """The lines that the page shows for kitty.conf name kittens that are there after `tally setup`."""
    named = re.findall(r"^map \w+ kitten ~/(\S+)$", PAGE, re.M)
    assert len(named) == 2
    run([sys.executable, "-m", "venv", home / "venv"], home=home)
    run([home / "venv/bin/pip", "install", "--quiet", "--no-index", "--find-links", wheels, "tallylight"], home=home)
    run([home / "venv/bin/tally", "setup", "--yes"], home=home)
    assert all((home / name).is_file() for name in named)
