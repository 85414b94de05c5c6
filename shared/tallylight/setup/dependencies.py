"""
The two packages we need, put into a directory of ours: copied, or fetched by an installer of the machine.

Debian and Ubuntu ship a Python without pip and without `ensurepip`, so there are four installers, tried in turn:

* this Python's pip;
* uv;
* the pip of a virtual environment made for the purpose;
* pip's own wheel from PyPI, which runs without being installed.

Without a network, and without an index of the person's own, none is tried.
"""

from __future__ import annotations

import dataclasses
import hashlib
import http.client
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.setup import present
from tallylight.wire import values

REQUIRED = ("attrs>=23.1",)
#: A compiled package: where it has no wheel, `/proc` is read instead.
WANTED = ("psutil>=5.9",)

PIP_JSON = "https://pypi.org/pypi/pip/json"
INDEX = "pypi.org"
#: Seconds for the index to accept a connection.
REACHED_S = 1.5
#: Signs of another index, or of another way to it: variables, and files.
_OWN = frozenset(
    name
    for names in (
        "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_CONFIG_FILE PIP_PROXY UV_INDEX_URL UV_INDEX",
        "UV_DEFAULT_INDEX UV_FIND_LINKS UV_CONFIG_FILE HTTP_PROXY HTTPS_PROXY ALL_PROXY",
    )
    for name in names.split()
)
_OWN_FILES: tuple[str, ...] = (
    "/etc/pip.conf",
    "/etc/xdg/pip/pip.conf",
    "/etc/uv/uv.toml",
    "~/.pip/pip.conf",
    "~/.config/pip/pip.conf",
    "~/.config/uv/uv.toml",
)
#: Bytes of a download; pip's wheel has 2 MB, its index page less.
MAX_DOWNLOAD_BYTES = 32 << 20
_INSTALL_S = 900.0
#: Characters of an address and of a file name.
_MAX_NAME_CHARS = 2000

#: Returns the words before `--target`, or raises `NoWayError`.
Way = Callable[[System, Path, Path], "list[str]"]


class NoWayError(TallyError):
    """This machine does not have the installer; the message is the reason."""


def install(
    system: System,
    python: Path,
    target: Path,
    required: tuple[str, ...] = REQUIRED,
    wanted: tuple[str, ...] = WANTED,
) -> bool:
    """Put packages into *target*; return False if it had to be without *wanted*. `TallyError` names every way tried."""
    # pip refuses --target together with a user's own `user = true`, and outside a virtual environment if configured so.
    settings = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_ROOT_USER_ACTION": "ignore", "PIP_NO_INPUT": "1"}
    dropped = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "VIRTUAL_ENV"}
    env = {key: value for key, value in system.env.items() if key not in dropped} | settings
    quiet = dataclasses.replace(system, env=env)
    problems = []
    with tempfile.TemporaryDirectory(prefix="tallylight-") as scratch:
        for name, way in WAYS:
            try:
                words = way(quiet, python, Path(scratch))
            except (NoWayError, OSError) as error:
                problems.append(f"  {name}: {error}")
                continue
            for packages in filter(None, dict.fromkeys((required + wanted, required))):
                done = quiet.run([*words, "--target", target, *packages], timeout=_INSTALL_S)
                if done.returncode == 0:
                    return packages == required + wanted
            lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            errors = [line for line in lines if line.lower().startswith("error")]
            reason = (errors or lines or ["failed"])[-1]
            problems.append(f"  {name}: {''.join(c for c in reason if c.isprintable())[:300]}")
    raise TallyError(
        f"cannot install {_named(required + wanted)}; nothing was changed. Tried:\n"
        + "\n".join(problems)
        + "\nIs the network up? Else install pip (Debian, Ubuntu: apt install python3-pip;"
        + " Fedora: dnf install python3-pip) or uv, and run this again."
    )


def check(system: System) -> None:
    """Raise `TallyError` where `provide` could not succeed: a required package is neither here nor to be fetched."""
    missing = tuple(one for one in REQUIRED + WANTED if not present.has(system, one))
    if any(one in REQUIRED for one in missing) and not _can_fetch(system):
        raise TallyError(_unreachable(missing))


def provide(system: System, python: Path, target: Path) -> bool:
    """Put the packages into *target*, copied where this Python has them, else fetched; return False without psutil."""
    copied = present.copy(system, target, REQUIRED + WANTED)
    required, wanted = (tuple(one for one in every if one not in copied) for every in (REQUIRED, WANTED))
    if not required + wanted:
        return True
    if not _can_fetch(system):
        if not required:
            return False
        raise TallyError(_unreachable(required + wanted))
    system.say(f"Fetching {_named(required + wanted)} …")
    try:
        return install(system, python, target, required, wanted)
    except TallyError:
        if required:
            raise
        return False


def _unreachable(packages: tuple[str, ...]) -> str:
    """Return the message that *packages* can be neither copied nor fetched."""
    return (
        f"{INDEX} cannot be reached, and this Python has no {_named(packages)}; nothing was changed.\n"
        "Install them from your system and run this again:\n"
        "  Debian, Ubuntu: sudo apt install python3-attr python3-psutil\n"
        "  Fedora: sudo dnf install python3-attrs python3-psutil"
    )


def _can_fetch(system: System) -> bool:
    """Return whether packages may be fetched: PyPI answers, or the person has an index of their own or uv's cache."""
    named = {name.upper() for name, value in system.env.items() if value}
    files = (Path(name.replace("~", str(system.home))) for name in _OWN_FILES)
    is_own = bool(named & _OWN) or any(file.exists() for file in files) or system.which("uv") is not None
    return is_own or system.reaches(INDEX, REACHED_S)


def _named(packages: tuple[str, ...]) -> str:
    *first, last = [package.partition(">")[0] for package in packages]
    return f"{', '.join(first)} and {last}" if first else last


def _pip_install(*pip: str) -> list[str]:
    # Wheels only: a person who wants a light has no compiler. --no-compile: it is done for all of them at the end.
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary", ":all:", "--retries", "2"]
    return [*pip, "install", *options]


def own_pip(system: System, python: Path, _scratch: Path) -> list[str]:
    """Return the install command of this Python's pip."""
    if system.run([python, "-I", "-m", "pip", "--version"], timeout=60).returncode != 0:
        raise NoWayError(f"{python} has no pip")
    return _pip_install(str(python), "-I", "-m", "pip")


def uv(system: System, python: Path, _scratch: Path) -> list[str]:
    """Return the install command of uv."""
    program = system.which("uv")
    if program is None:
        raise NoWayError("not on PATH")
    return [str(program), "pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(python)]


def venv_pip(system: System, python: Path, scratch: Path) -> list[str]:
    """Return the install command of the pip in a new virtual environment."""
    done = system.run([python, "-I", "-m", "venv", scratch / "venv"], timeout=120)
    if done.returncode != 0:
        raise NoWayError(f"{python} cannot make one with pip in it")
    return _pip_install(str(scratch / "venv" / "bin" / "python"), "-I", "-m", "pip")


def fetched_pip(_world: System, python: Path, scratch: Path) -> list[str]:
    """Return the install command of pip's own wheel, downloaded."""
    wheel = fetch_pip(scratch)
    return _pip_install(str(python), "-I", str(wheel / "pip"))


WAYS: tuple[tuple[str, Way], ...] = (
    ("pip", own_pip),
    ("uv", uv),
    ("a virtual environment", venv_pip),
    ("pip from PyPI", fetched_pip),
)


def fetch_pip(folder: Path, index: str = PIP_JSON) -> Path:
    """Download the newest pip's wheel into *folder* and check it against the index's checksum."""
    try:
        urls = values.load(_download(index))["urls"]
        chosen = next(entry for entry in urls if entry["packagetype"] == "bdist_wheel")
        # A mirror may give the address relative to its page.
        texts = (chosen["url"], chosen["digests"]["sha256"], chosen["filename"])
        url, checksum, name = (word for word in texts if values.exact(word, _MAX_NAME_CHARS))
        url = urllib.parse.urljoin(index, url)
    except (ValueError, LookupError, TypeError, StopIteration) as error:
        raise NoWayError(f"{index}: is not the index page of pip ({error!r})") from None
    data = _download(url)
    if hashlib.sha256(data).hexdigest() != checksum:
        raise NoWayError(f"{url}: its checksum is not the index's; it was not used")
    wheel = folder / Path(name).name
    wheel.write_bytes(data)
    return wheel


def _download(url: str) -> bytes:
    """Return the bytes at *url*; raise `NoWayError` if they cannot be fetched."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310
            data: bytes = answer.read(MAX_DOWNLOAD_BYTES + 1)
    except urllib.error.URLError as error:
        raise NoWayError(f"{url}: {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoWayError(f"{url}: {error}") from None
    if len(data) > MAX_DOWNLOAD_BYTES:
        raise NoWayError(f"{url}: more than {MAX_DOWNLOAD_BYTES} bytes")
    return data
