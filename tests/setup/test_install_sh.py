"""install.sh, for real: a home that is thrown away, the shells people have, the machines that lack things."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.setup.fakes import tree

ROOT = Path(__file__).parents[2]
SHELLS = [path for name in ("dash", "bash") if (path := shutil.which(name))] or ["/bin/sh"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what install.sh needs, in a directory with a space in its name."""
    copy = tmp_path_factory.mktemp("a checkout") / "tally light"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("shared", "kittens"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    shutil.copy2(ROOT / "install.sh", copy)
    return copy


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PATH with a kitty, a Python and the few tools of any system on it."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "kitty").write_text("#!/bin/sh\necho kitty 0.41.1 created by Kovid Goyal\n")
    (folder / "kitty").chmod(0o755)
    for name in ("dirname", "env", "sh"):
        (folder / name).symlink_to(str(shutil.which(name)))
    (folder / "python3").symlink_to(sys.executable)
    return folder


@pytest.fixture(scope="module")
def pip_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pip-cache")


def run(
    checkout: Path, home: Path, path: Path, *argv: str, shell: str | Path = "/bin/sh", **env: str
) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "HTTP", "http"))}
    return subprocess.run(
        [shell, checkout / "install.sh", *argv],
        env=kept | {"HOME": str(home), "PATH": str(path)} | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        cwd="/",
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "my home"
    conf = home / ".config/kitty/kitty.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text("font_size 12\ninclude theme.conf")
    yield home


def test_shellcheck_has_nothing_to_say() -> None:
    """install.sh is POSIX sh."""
    program = shutil.which("shellcheck")
    if program is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([program, "--shell=sh", ROOT / "install.sh"], capture_output=True, text=True)

    assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_dry_run_writes_nothing(checkout: Path, programs: Path, home: Path, shell: str) -> None:
    """In every shell: the plan is shown from the checkout alone; home and checkout are as they were."""
    before = tree(home), tree(checkout)

    done = run(checkout, home, programs, "--dry-run", shell=shell)

    assert (done.returncode, done.stderr) == (0, "")
    assert "\n+# BEGIN_TALLYLIGHT" in done.stdout
    assert (tree(home), tree(checkout)) == before


@pytest.mark.slow
def test_help_and_wrong_usage(checkout: Path, programs: Path, home: Path) -> None:
    """--help explains itself; an unknown option is wrong usage; neither writes."""
    before = tree(home)

    assert "--undo" in run(checkout, home, programs, "--help").stdout
    assert run(checkout, home, programs, "--frobnicate").returncode == 2
    assert tree(home) == before


def test_machine_without_python_is_told_what_to_install(checkout: Path, programs: Path, home: Path) -> None:
    """Without a Python that is new enough the message names the package, and nothing is written."""
    path = home.parent / "bare"
    path.mkdir()
    (path / "dirname").symlink_to(str(shutil.which("dirname")))
    old = path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    before = tree(home)

    done = run(checkout, home, path)

    assert done.returncode == 1
    assert "Python 3.11" in done.stderr
    assert tree(home) == before


@pytest.mark.slow
def test_newer_python_behind_an_old_one_is_found(checkout: Path, programs: Path, home: Path) -> None:
    """A system whose python3 is too old but which has python3.12 is served."""
    path = home.parent / "both"
    path.mkdir()
    for program in programs.iterdir():
        (path / program.name).symlink_to(program)
    (path / "python3").unlink()
    (path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (path / "python3").chmod(0o755)
    (path / "python3.12").symlink_to(sys.executable)

    assert run(checkout, home, path, "--dry-run").returncode == 0


def test_half_a_script_runs_nothing(checkout: Path, programs: Path, home: Path) -> None:
    """Of a download that broke off anywhere, nothing is run."""
    text = (checkout / "install.sh").read_text()
    before = tree(home)

    for cut in range(0, text.rindex('main "$@"'), 97):
        done = subprocess.run(
            ["/bin/sh", "-s", "--", "--yes"],
            input=text[:cut],
            env={"HOME": str(home), "PATH": str(programs)},
            capture_output=True,
            text=True,
        )
        assert done.stdout == ""
    assert tree(home) == before


@pytest.mark.install
@pytest.mark.parametrize("shell", SHELLS)
def test_install_twice_then_undo(checkout: Path, programs: Path, home: Path, pip_cache: Path, shell: str) -> None:
    """The whole story: the second run changes nothing, the command runs, undo gives the same bytes back."""
    conf = home / ".config/kitty/kitty.conf"
    pristine = conf.read_bytes()

    first = run(checkout, home, programs, "--yes", shell=shell, PIP_CACHE_DIR=str(pip_cache))
    assert first.returncode == 0, first.stderr
    before = tree(home), tree(checkout)
    second = run(checkout, home, programs, "--yes", shell=shell, PIP_NO_INDEX="1")
    assert second.returncode == 0, second.stderr
    assert "nothing changed" in second.stdout
    assert (tree(home), tree(checkout)) == before

    command = home / ".local/bin/tally"
    env = {"HOME": str(home), "PATH": str(programs)}
    told = subprocess.run([command, "--version"], env=env, capture_output=True, text=True)
    assert told.stdout.startswith("tally ")
    again = subprocess.run([command, "setup", "--yes"], env=env, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert tree(home) == before[0]

    undone = subprocess.run([command, "setup", "--uninstall", "--yes"], env=env, capture_output=True, text=True)
    assert (undone.returncode, undone.stderr) == (0, "")
    assert conf.read_bytes() == pristine
    assert not (home / ".local/share/tallylight").exists()


@pytest.mark.install
def test_both_packages_import_in_the_private_environment(checkout: Path, programs: Path, home: Path) -> None:
    """attrs and psutil are found from the one directory alone, as kitty's own Python will find them."""
    assert run(checkout, home, programs, "--yes").returncode == 0

    code = "import sys; sys.path.insert(0, sys.argv[1]); import attrs, psutil; print(attrs.__file__, psutil.__file__)"
    lib = home / ".local/share/tallylight/lib"
    done = subprocess.run([sys.executable, "-IS", "-c", code, lib], capture_output=True, text=True)
    assert done.stdout.count(str(lib)) == 2


@pytest.mark.install
def test_python_without_pip_and_venv_is_served(checkout: Path, programs: Path, home: Path) -> None:
    """As on a fresh Debian: no pip, no ensurepip, no uv. pip's own wheel is fetched, used and thrown away."""
    path = home.parent / "debian"
    path.mkdir()
    for program in programs.iterdir():
        if program.name != "python3":
            (path / program.name).symlink_to(program)
    python = path / "python3"
    python.write_text(
        "#!/bin/sh\n"
        'case "$1 $2 $3" in "-I -m pip" | "-I -m venv") echo "No module named $3" >&2; exit 1 ;; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    # The command's Python is the one behind the stub, so setup itself is told to use the stub.
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from tallylight.setup import dependencies; from tallylight.files.system import System;"
        "print(dependencies.install(System(), Path(sys.argv[2]), Path(sys.argv[3])))"
    )
    kept = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "HTTP", "http"))}
    done = subprocess.run(
        [sys.executable, "-IB", "-c", code, checkout / "shared", python, home / "lib"],
        env=kept | {"HOME": str(home), "PATH": str(path)},
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert done.stdout == "True\n", done.stderr
    assert (home / "lib/psutil").is_dir()


@pytest.mark.install
def test_unreachable_network_is_told_and_nothing_is_left(
    checkout: Path, programs: Path, home: Path, tmp_path: Path
) -> None:
    """
    With no index to install from, kitty.conf is untouched and the message says what to install.

    By a Python that has neither attrs nor psutil, which would be copied.
    """
    path = tmp_path / "programs"
    shutil.copytree(programs, path, symlinks=True)
    (path / "python3").unlink()
    venv.create(tmp_path / "bare", with_pip=True, symlinks=True)
    (path / "python3").write_text(f'#!/bin/sh\nexec "{tmp_path}/bare/bin/python3" "$@"\n')
    (path / "python3").chmod(0o755)
    conf = home / ".config/kitty/kitty.conf"
    pristine = conf.read_bytes()
    nowhere = "http://127.0.0.1:9"

    done = run(
        checkout,
        home,
        path,
        "--yes",
        PIP_INDEX_URL=nowhere,
        HTTPS_PROXY=nowhere,
        https_proxy=nowhere,
        PIP_CACHE_DIR=str(home / "none"),
        PIP_RETRIES="0",  # it would wait longer and longer
    )

    assert done.returncode == 1
    assert "python3-pip" in done.stderr
    assert "Traceback" not in done.stderr
    assert conf.read_bytes() == pristine
    assert not (home / ".local/bin").exists()
