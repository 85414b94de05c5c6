"""Real agents from npm, kept in a cache: `python -m tests.agents.install [--version V]`.

Claude Code is a native program that npm carries in one package a platform. That package alone is fetched (with the
ordinary npm client, which checks its integrity), unpacked beside its final place and renamed into it, so that a
half-finished download is never taken for an agent. A second call finds the directory and does nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

#: The version whose behaviour the tests state. A newer one is tried with `--version`, and moved here when they pass.
CLAUDE_VERSION = "2.1.329"

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class InstallError(RuntimeError):
    """An agent could not be had; the message says why and what would help."""


def _cache_root() -> Path:
    """The directory that holds everything the tests fetch: the same three steps as in tests/run."""
    if named := os.environ.get("TALLYLIGHT_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tallylight-tests"


#: Both read at import: the tests' own fixtures later point HOME and XDG_* into a temporary directory.
CACHE = _cache_root()
_ENVIRONMENT = dict(os.environ)


def claude_package() -> str:
    """The npm package with Claude's program for this machine (glibc: the roots are Debian)."""
    system = platform.system().lower()
    machine = _MACHINES.get(platform.machine().lower())
    if system not in ("linux", "darwin") or machine is None:
        raise InstallError(f"Claude Code is not built for {platform.system()} on {platform.machine()}")
    return f"@anthropic-ai/claude-code-{system}-{machine}"


def claude_path(version: str = CLAUDE_VERSION) -> Path:
    """Where `version` of Claude Code is, or will be."""
    return CACHE / "agents" / "claude" / version / "claude"


def install_claude(version: str = CLAUDE_VERSION) -> Path:
    """Make sure `version` of Claude Code is in the cache; return its program."""
    program = claude_path(version)
    if program.is_file():
        return program
    if (npm := shutil.which("npm")) is None:
        raise InstallError("npm is not on PATH: install it (Debian: apt-get install npm), then run again")
    final = program.parent
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=final.parent))
    try:
        _npm_pack(npm, f"{claude_package()}@{version}", partial)
        if not (partial / program.name).is_file():
            raise InstallError(f"{claude_package()}@{version} holds no file named {program.name!r}")
        answer = subprocess.run([partial / program.name, "--version"], capture_output=True, text=True, timeout=60)
        if answer.returncode or version not in answer.stdout:
            raise InstallError(f"claude --version said {answer.stdout!r} {answer.stderr!r}, not {version}")
        partial.chmod(0o755)
        try:
            partial.rename(final)
        except OSError:
            if not program.is_file():  # else another run was quicker: its copy is as good
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return program


def _npm_pack(npm: str, package: str, into: Path) -> None:
    """Fetch `package` and unpack its files straight into the directory `into`."""
    argv = [npm, "pack", "--silent", "--pack-destination", str(into), package]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=into, env=_ENVIRONMENT, timeout=900)
    tarballs = list(into.glob("*.tgz"))
    if done.returncode or len(tarballs) != 1:
        raise InstallError(
            f"npm pack {package} failed ({done.returncode}): {done.stderr.strip() or done.stdout.strip()}"
        )
    with tarfile.open(tarballs[0]) as archive:
        archive.extractall(into, filter="data")
    tarballs[0].unlink()
    for entry in (into / "package").iterdir():
        entry.rename(into / entry.name)
    (into / "package").rmdir()


def main(argv: list[str] | None = None) -> int:
    """The command line: install, print the program's path."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.agents.install", description="Fetch the agents the tests use."
    )
    parser.add_argument("--version", default=CLAUDE_VERSION, help="version of Claude Code (default: %(default)s)")
    arguments = parser.parse_args(argv)
    try:
        sys.stdout.write(f"{install_claude(arguments.version)}\n")
    except (InstallError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"tests.agents.install: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
