"""
The argument lists for another machine, made from the command that a person wrote for it.

Text of a machine never becomes a word of a command that runs here, with one exception: the name of one of its panes. It
is quoted for the shell over there.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tallylight.evidence.process import base_name

#: Runs `tally` there, even from a directory that only a login shell has in its PATH.
_TALLY = 'PATH="$PATH:$HOME/.local/bin:/usr/local/bin"; exec tally "$@"'
#: For a connection in the background: no questions, no terminal, no forwarding, and not the shared connection of
#: others. It overrides the settings for this machine.
_QUIET = (
    *("-T", "-a", "-x"),
    *("-o", "BatchMode=yes", "-o", "ControlMaster=no", "-o", "ClearAllForwardings=yes"),
    *("-o", "RemoteCommand=none", "-o", "PermitLocalCommand=no"),
)
_IN_TERMINAL = ("-t", "-o", "RemoteCommand=none")
#: Programs that run a command in a container by `exec`, and take `-t` for a terminal.
_EXEC = ("docker", "podman", "kubectl", "nerdctl", "lxc")


def is_ssh(command: Sequence[str]) -> bool:
    """Return whether *command* is OpenSSH's, alone or as kitty starts it."""
    return base_name(command[0]) == "ssh" or (base_name(command[0]) == "kitten" and command[1:2] == ["ssh"])


def _ssh(command: Sequence[str]) -> Sequence[str]:
    """Return the arguments of *command*, which is `ssh …` or `kitten ssh …`."""
    return command[1:] if base_name(command[0]) == "ssh" else command[2:]


def bridge(command: Sequence[str]) -> list[str]:
    """Return the command that starts `tally bridge` on the machine that *command* leads to."""
    words = _tally("bridge")
    command = list(command)
    if not is_ssh(command):
        return [*command, *words]
    program = command[0] if base_name(command[0]) == "ssh" else "ssh"
    # All words after the host become one line for the shell over there.
    return [program, *_QUIET, *_ssh(command), shlex.join(words)]


def attach(command: Sequence[str], own: Sequence[str], address: str, *, has_kitten: bool) -> list[str]:
    """
    Return the command that shows the pane *address* of that machine in this terminal.

    *own* is the person's command for that, if there is one. *has_kitten*: this is kitty, which prepares a machine for
    itself.
    """
    words, command = _tally("attach", address), list(own or command)
    if own and not is_ssh(own):
        return [*own, *words]
    if is_ssh(command):
        program = ["kitten", "ssh"] if has_kitten or base_name(command[0]) != "ssh" else [command[0]]
        return [*program, *_IN_TERMINAL, *_ssh(command), shlex.join(words)]
    if base_name(command[0]) in _EXEC and "exec" in command:
        place = command.index("exec") + 1
        command[place:place] = ["-t"]
    return [*command, *words]


def _tally(*arguments: str) -> list[str]:
    return ["sh", "-c", _TALLY, "tally", *arguments]
