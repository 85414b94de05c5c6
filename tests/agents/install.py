"""Real agents from npm, kept in a cache: `python -m tests.agents.install [NAME[@VERSION] …]`.

Claude Code and Codex are native programs that npm carries in one package a platform. That package alone is fetched
(with the ordinary npm client, which checks its integrity), unpacked beside its final place and renamed into it, so that
a half-finished download is never taken for an agent. A second call finds the directory and does nothing.
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
from typing import NamedTuple

_ARM = {"x86_64": False, "amd64": False, "aarch64": True, "arm64": True}


class InstallError(RuntimeError):
    """An agent could not be had; the message says why and what would help."""


class Agent(NamedTuple):
    """
    An agent on npm. The version is the one whose behaviour the tests state; a newer one is tried on the command line,
    and moved here when they pass. The rest names the package and the program in it, with `{version}`, `{system}`,
    `{machine}` and `{triple}` to fill in.
    """

    name: str
    version: str
    package: str
    program: str

    @property
    def folder(self) -> Path:
        """Where it is, or will be."""
        return CACHE / "agents" / self.name / self.version

    @property
    def path(self) -> Path:
        """Its program."""
        return self.folder / self._filled(self.program)

    @property
    def spec(self) -> str:
        """The package for this machine, as npm names it."""
        return self._filled(self.package)

    def _filled(self, text: str) -> str:
        system, is_arm = platform.system().lower(), _ARM.get(platform.machine().lower())
        if system not in ("linux", "darwin") or is_arm is None:
            raise InstallError(f"{self.name} is not built for {platform.system()} on {platform.machine()}")
        triple = ("aarch64" if is_arm else "x86_64") + (
            "-apple-darwin" if system == "darwin" else "-unknown-linux-musl"
        )
        machine = "arm64" if is_arm else "x64"
        return text.format(version=self.version, system=system, machine=machine, triple=triple)


def _cache_root() -> Path:
    """The directory that holds everything the tests fetch: the same three steps as in tests/run."""
    if named := os.environ.get("TALLYLIGHT_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tallylight-tests"


#: Both read at import: the tests' own fixtures later point HOME and XDG_* into a temporary directory.
CACHE = _cache_root()
_ENVIRONMENT = dict(os.environ)

#: glibc: the roots are Debian.
CLAUDE = Agent("claude", "2.1.329", "@anthropic-ai/claude-code-{system}-{machine}@{version}", "claude")
#: Static. Its platforms are versions of the one package.
CODEX = Agent("codex", "0.169.0", "@openai/codex@{version}-{system}-{machine}", "vendor/{triple}/bin/codex")
AGENTS = {agent.name: agent for agent in (CLAUDE, CODEX)}


def install(agent: Agent) -> Path:
    """Make sure `agent` is in the cache; return its program."""
    program, final = agent.path, agent.folder
    if program.is_file():
        return program
    if (npm := shutil.which("npm")) is None:
        raise InstallError("npm is not on PATH: install it (Debian: apt-get install npm), then run again")
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{agent.version}-", dir=final.parent))
    try:
        _npm_pack(npm, agent.spec, partial)
        fetched = partial / program.relative_to(final)
        if not fetched.is_file():
            raise InstallError(f"{agent.spec} holds no file {program.relative_to(final)}")
        answer = subprocess.run([fetched, "--version"], capture_output=True, text=True, timeout=60)
        if answer.returncode or agent.version not in answer.stdout:
            raise InstallError(f"{agent.name} --version said {answer.stdout!r} {answer.stderr!r}, not {agent.version}")
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
    """The command line: install, print the programs' paths."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.agents.install", description="Fetch the agents the tests use."
    )
    parser.add_argument("wanted", nargs="*", default=list(AGENTS), metavar="NAME[@VERSION]", help="default: all")
    for wanted in parser.parse_args(argv).wanted:
        name, _, version = wanted.partition("@")
        if name not in AGENTS:
            parser.error(f"{name!r} is none of {', '.join(AGENTS)}")
        agent = AGENTS[name]
        try:
            sys.stdout.write(f"{install(agent._replace(version=version or agent.version))}\n")
        except (InstallError, OSError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"tests.agents.install: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
