"""Real agents from npm and PyPI, kept in a cache: `python -m tests.real_agents.install [--latest] [NAME[@VERSION] …]`.

Native programs, which npm carries in one package a platform, are fetched alone (with the ordinary npm client, which
checks their integrity); scripts are installed with what they need, by npm or by pip into an environment of their own.
All is made beside its final place and renamed into it, so that a half-finished download is never taken for an agent. A
second call finds the directory and does nothing.

The versions are pinned: they are those whose behaviour the tests state. With `--latest`, or `TALLYLIGHT_AGENTS=latest`
in the environment, the newest that the registries have are installed, and the tests run under that variable take them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
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
    An agent in a registry, or what agents run on. The version is the one whose behaviour the tests state; a newer one
    is tried with `--latest`, and moved here when they pass. The rest names the package and the program in it, with
    `{version}`, `{system}`, `{machine}` and `{triple}` to fill in. `how` is `pack` for a native program, `npm` or `pip`
    for what is installed with its dependencies, and `bundle` for a script that holds nearly all it needs: it is
    unpacked to where npm would put it, beside those of its dependencies that it `loads`. `source` is the package whose
    newest version counts.
    """

    name: str
    version: str
    package: str
    program: str
    how: str = "pack"
    source: str = ""
    loads: tuple[str, ...] = ()

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
        """The package for this machine, as its registry names it."""
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


#: All three read at import: the tests' own fixtures later point HOME and XDG_* into a temporary directory.
CACHE = _cache_root()
_ENVIRONMENT = dict(os.environ)
LATEST = os.environ.get("TALLYLIGHT_AGENTS") == "latest"
#: The newest versions, by name, as of the last `--latest`.
_NEWEST = CACHE / "agents" / "latest.json"


def _newest() -> dict[str, str]:
    try:
        return dict(json.loads(_NEWEST.read_text()))
    except (OSError, ValueError):
        return {}


def _chosen(agent: Agent) -> Agent:
    return agent._replace(version=_newest().get(agent.name, agent.version)) if LATEST else agent


def _npm(name: str, version: str, package: str) -> Agent:
    program = f"node_modules/.bin/{name}"
    return _chosen(Agent(name, version, package + "@{version}", program, "npm", package))


def _pip(name: str, version: str, package: str) -> Agent:
    return _chosen(Agent(name, version, f"{package}=={{version}}", f"bin/{name}", "pip", package))


#: glibc: the roots are Debian.
CLAUDE = _chosen(
    Agent(
        "claude",
        "2.1.330",
        "@anthropic-ai/claude-code-{system}-{machine}@{version}",
        "claude",
        source="@anthropic-ai/claude-code",
    )
)
#: Static. Its platforms are versions of the one package.
CODEX = _chosen(
    Agent(
        "codex",
        "0.169.0",
        "@openai/codex@{version}-{system}-{machine}",
        "vendor/{triple}/bin/codex",
        source="@openai/codex",
    )
)
#: What the scripts run on. A long-term version, and pinned even with `--latest`: it is no agent.
NODE = Agent("node", "24.21.0", "node-{system}-{machine}@{version}", "bin/node")
OPENCODE = _npm("opencode", "1.18.33", "opencode-ai")
GEMINI = _npm("gemini", "0.61.0", "@google/gemini-cli")
QWEN = _npm("qwen", "0.24.4", "@qwen-code/qwen-code")
COPILOT = _npm("copilot", "1.0.102", "@github/copilot")
#: The native program alone: of 7.8.1 the registries have the script that starts it, and no program yet.
KILO = _chosen(
    Agent("kilo", "7.7.9", "@kilocode/cli-{system}-{machine}@{version}", "bin/kilo", source="@kilocode/cli-linux-x64")
)
KIMI = _npm("kimi", "2.1.0", "@moonshot-ai/kimi-code")
#: The bundle alone: two packages of its own that 1.5.2 names, and brings with it, the registries do not have.
PI = _npm("pi", "1.5.2", "@earendil-works/pi-coding-agent")._replace(how="bundle", loads=("jiti",))
CLINE = _npm("cline", "3.0.65", "cline")
GROK = _npm("grok", "0.0.34", "@vibe-kit/grok-cli")
NANOCODER = _npm("nanocoder", "1.30.0", "@nanocollective/nanocoder")
CN = _npm("cn", "1.5.47", "@continuedev/cli")
VIBE = _pip("vibe", "3.0.3", "mistral-vibe")
AIDER = _pip("aider", "0.86.2", "aider-chat")
GPTME = _pip("gptme", "0.35.1", "gptme")
TUNACODE = _pip("tunacode", "0.2.3", "tunacode-cli")
KOLEGA = _pip("kolega", "0.45.1", "kolega-code")._replace(program="bin/kolega-code")
MINI = _pip("mini", "2.4.6", "mini-swe-agent")
AGENTS = {
    agent.name: agent
    for agent in (
        *(NODE, CLAUDE, CODEX, OPENCODE, GEMINI, QWEN, COPILOT, KILO, AIDER, KIMI, PI, CLINE),
        *(GROK, NANOCODER, VIBE, CN, GPTME, KOLEGA, TUNACODE, MINI),
    )
}
#: Of these only recordings are tested: to record them again, install them by name. Vibe's package asks for a version of
#: certifi that PyPI does not have.
RECORDED = ("grok", "nanocoder", "vibe", "cn", "gptme", "kolega", "tunacode", "mini")
#: The Pythons that aider's dependencies are made for, best first.
_PYTHONS = ("python3.12", "python3.11", "python3.10")


def install(agent: Agent) -> Path:
    """Make sure `agent` is in the cache; return its program."""
    program, final = agent.path, agent.folder
    if program.is_file():
        return program
    final.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{agent.version}-", dir=final.parent))
    try:
        fetched = partial / program.relative_to(final)
        ways = {"pack": npm_pack, "npm": _npm_install, "pip": _pip_install, "bundle": _unpack_bundle}
        ways[agent.how](agent, partial)
        if not fetched.is_file():
            raise InstallError(f"{agent.spec} holds no file {program.relative_to(final)}")
        _ask_version(agent, fetched)
        if agent.how == "pip":
            _move_scripts(partial, final)
        partial.chmod(0o755)
        try:
            partial.rename(final)
        except OSError:
            if not program.is_file():  # else another run was quicker: its copy is as good
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return program


def _ask_version(agent: Agent, program: Path) -> None:
    """Start `program` once, in a home of nobody's, to see that it is what it should be."""
    env = dict(_ENVIRONMENT)
    if agent.how in ("npm", "bundle"):
        env["PATH"] = f"{install(NODE).parent}:{env.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as home:
        env |= {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home}
        argv = [program, "--version"]
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, env=env, cwd=home)
    if agent.version not in answer.stdout + answer.stderr:  # pi says it there; mini fails, for it wants a terminal
        raise InstallError(f"{agent.name} --version said {answer.stdout!r} {answer.stderr!r}, not {agent.version}")


def _program(name: str) -> str:
    if (found := shutil.which(name)) is None:
        raise InstallError(f"{name} is not on PATH: install it (Debian: apt-get install {name}), then run again")
    return found


def _npm_install(agent: Agent, into: Path) -> None:
    """Install a script with all it needs, its install scripts run."""
    _npm_put((agent.spec,), into)


def _npm_put(packages: tuple[str, ...], into: Path) -> None:
    argv = [_program("npm"), "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(into), *packages]
    env = {**_ENVIRONMENT, "PATH": f"{install(NODE).parent}:{_ENVIRONMENT.get('PATH', '')}"}
    done = subprocess.run(argv, capture_output=True, text=True, cwd=into, env=env, timeout=900)
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip()
        raise InstallError(f"npm install {' '.join(packages)} failed: {said}")


def _runs(python: str) -> bool:
    """Whether there is such a Python, and not merely a name that stands for none."""
    found = shutil.which(python)
    return found is not None and not subprocess.run([found, "-c", ""], capture_output=True, timeout=30).returncode


def _pip_install(agent: Agent, into: Path) -> None:
    """Install a package into an environment of its own."""
    python = next(filter(_runs, _PYTHONS), None)
    if python is None:
        raise InstallError(f"{agent.name} wants one of {', '.join(_PYTHONS)} on PATH")
    pip = [str(into / "bin/python3"), "-m", "pip", "install", "--quiet", agent.spec]
    for argv in ([python, "-m", "venv", str(into)], pip):
        done = subprocess.run(argv, capture_output=True, text=True, env=_ENVIRONMENT, timeout=900)
        if done.returncode:
            raise InstallError(f"{' '.join(argv[-4:])} failed: {done.stderr.strip() or done.stdout.strip()}")


def _move_scripts(partial: Path, final: Path) -> None:
    """Let the scripts of an environment name the place it goes to."""
    for script in (partial / "bin").iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        text = script.read_bytes()
        if text.startswith(b"#!" + os.fsencode(partial)):
            script.write_bytes(text.replace(os.fsencode(partial), os.fsencode(final), 1))


def find_newest(agent: Agent) -> str:
    """The newest version that `agent`'s registry offers."""
    if agent.how == "pip":
        argv = [sys.executable, "-m", "pip", "index", "versions", agent.source]
        done = subprocess.run(argv, capture_output=True, text=True, env=_ENVIRONMENT, timeout=60)
        found = re.search(r"\(([0-9][0-9a-z.]*)\)", done.stdout)
    else:
        argv = [_program("npm"), "view", agent.source, "version"]
        done = subprocess.run(argv, capture_output=True, text=True, env=_ENVIRONMENT, timeout=60)
        found = re.search(r"([0-9]+\.[0-9]+\.[0-9]+\S*)", done.stdout)
    if done.returncode or found is None:
        raise InstallError(f"no newest version of {agent.source}: {done.stderr.strip() or done.stdout.strip()}")
    return found[1]


def npm_pack(agent: Agent, into: Path) -> None:
    """Fetch a native program's package and unpack its files straight into the directory `into`."""
    argv = [_program("npm"), "pack", "--silent", "--pack-destination", str(into), agent.spec]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=into, env=_ENVIRONMENT, timeout=900)
    tarballs = list(into.glob("*.tgz"))
    if done.returncode or len(tarballs) != 1:
        said = done.stderr.strip() or done.stdout.strip()
        raise InstallError(f"npm pack {agent.spec} failed ({done.returncode}): {said}")
    with tarfile.open(tarballs[0]) as archive:
        archive.extractall(into, filter="data")
    tarballs[0].unlink()
    for entry in (into / "package").iterdir():
        entry.rename(into / entry.name)
    (into / "package").rmdir()


def _unpack_bundle(agent: Agent, into: Path) -> None:
    """Unpack a script and link its programs, as npm does, with no more of what it names than it loads."""
    unpacked = into / "package"
    unpacked.mkdir()
    npm_pack(agent, unpacked)
    about = json.loads((unpacked / "package.json").read_text())
    _npm_put(tuple(f"{name}@{about['dependencies'][name]}" for name in agent.loads), into)
    package, programs = into / "node_modules" / agent.source, into / "node_modules/.bin"
    package.parent.mkdir(parents=True, exist_ok=True)
    programs.mkdir(exist_ok=True)
    unpacked.rename(package)
    for name, script in about["bin"].items():
        (package / script).chmod(0o755)
        (programs / name).symlink_to(os.path.relpath(package / script, programs))


def main(argv: list[str] | None = None) -> int:
    """The command line: install, print the programs' paths. What cannot be had is said, and the rest installed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.real_agents.install", description="Fetch the agents the tests use."
    )
    tested = [name for name in AGENTS if name not in RECORDED]
    what = f"default: all but {', '.join(RECORDED)}"
    parser.add_argument("wanted", nargs="*", default=tested, metavar="NAME[@VERSION]", help=what)
    parser.add_argument("--latest", action="store_true", default=LATEST, help="the newest, not the pinned ones")
    options = parser.parse_args(argv)
    failed = 0
    for wanted in options.wanted:
        name, _, version = wanted.partition("@")
        if name not in AGENTS:
            parser.error(f"{name!r} is none of {', '.join(AGENTS)}")
        agent = AGENTS[name]
        try:
            if options.latest and agent.source:
                version = version or find_newest(agent)
            program = install(agent._replace(version=version or agent.version))
            if options.latest and agent.source:  # one that cannot be had, as before all of it is out, is not taken
                _NEWEST.write_text(json.dumps(_newest() | {name: version}))
            sys.stdout.write(f"{program}\n")
        except (InstallError, OSError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"tests.real_agents.install: {name}: {error}\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
