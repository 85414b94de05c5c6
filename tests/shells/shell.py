"""An interactive shell of each kind, with a `tally` and agents that only say how they were called."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from tallylight.cli import shell_init
from tests.terminal import Terminal, bare_environment

#: As parameters of tests; those that not every machine has are programs beside them.
SHELLS = ("bash", *(pytest.param(name, marks=pytest.mark.programs) for name in ("zsh", "fish")))
#: An interactive shell that reads no file of a user's and runs one script.
INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
_SAYS = '#!/bin/sh\necho "[{name}$(for word; do printf "|%s" "$word"; done) relay=$TALLY_RELAY]"\nexit ${{CODE:-0}}\n'


@attrs.define
class World:
    """A folder of programs, and shells that find those first."""

    shell: str
    folder: Path
    agents: tuple[str, ...] = ("claude", "codex", "cursor-agent")
    environment: dict[str, str] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        (self.folder / "bin").mkdir()
        for name in ("tally", "claude", "codex"):
            self.program(name)
        self.environment = bare_environment(
            HOME=str(self.folder), PATH=f"{self.folder}/bin:/usr/bin:/bin", TALLY_TEST="1", LC_ALL="C.UTF-8"
        )

    def program(self, name: str) -> Path:
        """Put a program on PATH that says its name, its arguments and TALLY_RELAY."""
        path = self.folder / "bin" / name
        path.write_text(_SAYS.format(name=name), "ascii")
        path.chmod(0o755)
        return path

    @property
    def code(self) -> Path:
        """What `tally shell-init` prints, in a file."""
        path = self.folder / "init"
        path.write_text(shell_init.render(self.shell, list(self.agents)), "utf-8")
        return path

    def script(self, text: str) -> Path:
        path = self.folder / "script"
        path.write_text(text.replace("INIT", str(self.code)), "utf-8")
        return path

    def on_terminal(self, text: str, *, interactive: bool = True, **extra: str) -> str:
        """Run a script in the shell on a terminal; return what it says. `INIT` in it is the code's file."""
        command = INTERACTIVE[self.shell] if interactive else INTERACTIVE[self.shell][:-1]
        with Terminal() as terminal:
            code = terminal.run([*command, str(self.script(text))], self.environment | extra)
            return f"{terminal.received.decode()}({code})"

    def piped(self, text: str, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a script in an interactive shell without a terminal."""
        return subprocess.run(
            [*INTERACTIVE[self.shell], str(self.script(text))],
            env=self.environment | dict(extra or {}),
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def prompt(self, start: str, awaited: bytes) -> bytes:
        """Start the shell with a prompt of its own, then *start* in its own file, and wait until *awaited* comes."""
        return self._at_prompt(f"{_READY[self.shell]}\n{start}", None, awaited)

    def typed(self, start: str, keys: bytes, awaited: bytes) -> bytes:
        """Start the shell with *start* as its own file, type *keys* at its prompt and wait until *awaited* comes."""
        return self._at_prompt(f"{start}\n{_READY[self.shell]}", keys, awaited)

    def _at_prompt(self, start: str, keys: bytes | None, awaited: bytes) -> bytes:
        script = self.script(f"{start}\n")
        (self.folder / ".zshrc").write_text(f"source {script}\n", "utf-8")
        command = {
            "bash": ["bash", "--noprofile", "--rcfile", str(script), "-i"],
            "zsh": ["zsh", "-d", "-i"],
            "fish": ["fish", "--no-config", "-i", "-C", f"source {script}"],
        }[self.shell]
        with Terminal() as terminal:
            terminal.start(command, self.environment | {"TERM": "vt100", "fish_features": "no-query-term"})
            if keys is not None:
                terminal.wait_for(b"ready> ")
                terminal.type(keys)
            return terminal.wait_for(awaited)


#: Sets the prompt.
_READY = {"bash": "PS1='ready> '", "zsh": "PS1='ready> '", "fish": "function fish_prompt; echo -n 'ready> '; end"}
