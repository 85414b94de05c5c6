"""
`tally doctor --report`: the facts for a bug report, as text to paste in public, with nothing private in it.

It does not search for secrets, which would find only some of them. It prints a word only if it is ours. Words in our
own sources are ours, and short numbers. All others become `…`: names, titles, paths, tokens, and other text of a person
or a program. Known private words are masked even if they are ours: a user may be called kitty.
"""

from __future__ import annotations

import functools
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import tallylight
from tallylight.agents.agent_files import packaged_agents
from tallylight.config.settings import SETTINGS, Config
from tallylight.files import build
from tallylight.model.finding import Finding
from tallylight.parts.settings import reference
from tallylight.snapshot.schema import Pane, Snapshot

#: The replacement of a word that is not ours.
MASK = "…"
#: The sources with the words of findings, below the package.
_SOURCES = (
    "setup", "config", "files", "parts/agent_hooks", "parts/agent_hooks/verbs", "cli/doctor.py", "snapshot/writer.py",
    "agents",
)  # fmt: skip
_SYSTEMS = {
    "linux", "darwin", "x86_64", "aarch64", "arm64", "armv7l", "i686", "riscv64", "ppc64le", "debian", "ubuntu",
    "fedora", "arch", "nixos", "alpine", "gentoo", "void", "rhel", "centos", "rocky", "almalinux", "opensuse-leap",
    "opensuse-tumbleweed", "linuxmint", "pop", "manjaro", "endeavouros", "raspbian", "kali", "macos",
}  # fmt: skip
_TERMS = {
    "xterm-kitty", "xterm-256color", "xterm", "wezterm", "tmux-256color", "screen-256color", "screen", "tmux", "dumb",
    "alacritty", "foot", "ghostty", "linux", "vscode", "iterm.app", "apple_terminal", "kitty", "vt100", "xterm-ghostty",
}  # fmt: skip
#: A number or a version; a network address has more parts.
_NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}")
_VERSION = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){1,2})(?![0-9])")
#: Characters around a word.
_AROUND = "\"'`()[]{}<>,;:.!?=“”"


@functools.cache
def vocabulary() -> frozenset[str]:
    """Return every word of our own sources of findings, without the characters around it."""
    package = Path(tallylight.__file__).parent
    words: set[str] = set()
    for source in _SOURCES:
        path = package / source
        for file in sorted([path] if path.is_file() else [*path.glob("*.py"), *path.glob("*.toml")]):
            text = file.read_text("utf-8")
            # Once with apostrophes as quotes, and once as in "Tallylight's".
            for found in (re.split(r"[\s\"']+", text), re.split(r"[\s\"]+", text)):
                words.update(word.strip(_AROUND) for word in found)
    return frozenset(words - {""})


def masked(text: str, ours: frozenset[str], private: Iterable[str]) -> str:
    """Return *text* with every word masked that is not one of *ours*, or is in *private*."""
    known = {word.casefold() for name in private for word in (name, *re.split(r"[\s/]+", name)) if len(word) > 1}

    def told(chunk: str) -> str:
        word = chunk.strip(_AROUND)
        if not word:
            return chunk
        is_ours = (word in ours or _NUMBER.fullmatch(word)) and word.casefold() not in known
        return chunk if is_ours else chunk.replace(word, MASK, 1)

    shown = " ".join(told(chunk) for chunk in text.split())
    return re.sub(rf"{MASK}(?: {MASK})+", MASK, shown)


def report(
    findings: Iterable[Finding],
    hosts: Iterable[Snapshot],
    config: tuple[Config, str],
    environ: Mapping[str, str],
) -> str:
    """
    Return the whole report, as a block of Markdown.

    *config* is the configuration with its text; *environ* that of this process. Only their words and numbers of ours
    are printed.
    """
    hosts = list(hosts)
    ours = vocabulary()
    # Known private words, which may look like words of ours.
    private = {environ.get(name, "") for name in ("USER", "LOGNAME", "HOSTNAME", "HOST")}
    private |= {platform.node(), Path(environ.get("HOME", "")).name}
    for pane in (pane for host in hosts for pane in host.panes):
        private |= {pane.project, pane.title, pane.topic, pane.session, pane.place.host_title}
        private |= {pane.about.worktree, pane.about.last_prompt}
    lines = [f"tally {build.name()}", f"system: {_system()}", f"terminal: {_terminal(environ)}"]
    lines += [f"settings: {', '.join(_settings(*config)) or 'the defaults'}"]
    lines += [f"host: {masked(host.host, ours, private)}, {_panes(host.panes)}" for host in hosts]
    for finding in findings:
        text = masked(f"{finding.what}: {finding.text}", ours, private)
        lines.append(f"{finding.health.value:<9}  {text}")
    return "```text\n" + "\n".join(lines) + "\n```"


def _system() -> str:
    """Return the operating system, its version and the processor, each only if known."""
    words = [platform.system(), _number(platform.release()), platform.machine()]
    try:
        release = platform.freedesktop_os_release()
        words += [release.get("ID", ""), _number(release.get("VERSION_ID", ""))]
    except OSError:
        words.append(_number(platform.mac_ver()[0]))
    return " ".join(word if word.casefold() in _SYSTEMS or _NUMBER.fullmatch(word) else MASK for word in words if word)


def _number(text: str) -> str:
    """Return the version at the start of *text*."""
    found = _VERSION.match(text) or _NUMBER.match(text)
    return found[0] if found else MASK


def _terminal(environ: Mapping[str, str]) -> str:
    """Return the variables that name the terminal, unknown values masked."""
    names = {name: environ[name] for name in ("TERM", "TERM_PROGRAM") if environ.get(name)}
    told = [f"{name}={value if value.casefold() in _TERMS else MASK}" for name, value in names.items()]
    if version := environ.get("TERM_PROGRAM_VERSION", ""):
        told.append(f"version {_number(version)}")
    told += [
        word for word, name in (("tmux", "TMUX"), ("screen", "STY"), ("ssh", "SSH_CONNECTION")) if environ.get(name)
    ]
    return ", ".join(told) or "none"


def _settings(config: Config, text: str) -> list[str]:
    """Return the settings that are set; the value only if it cannot have a person's own words."""
    forms = {setting.key: setting.schema for setting in SETTINGS}
    told = []
    for one in reference.in_force(config, text, []):
        if one.line is not None and one.key not in forms:  # what a person has named
            told.append(f"{one.place[0]}.{MASK} = {MASK}")
        elif one.line is not None:
            form = forms[one.key]
            is_open = form["type"] in ("string", "array") and "enum" not in form
            told.append(f"{one.key} = {MASK if is_open else one.value}")
    return told


def _panes(panes: Iterable[Pane]) -> str:
    """Return the number of panes of each agent in each status."""
    known = {name for name, _ in packaged_agents()}
    counts = Counter((pane.agent if pane.agent in known else MASK, pane.status.value) for pane in panes if pane.agent)
    return ", ".join(f"{agent} {status} {count}" for (agent, status), count in sorted(counts.items())) or "no agents"
