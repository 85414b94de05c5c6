"""The commands that lead to another machine: what a person wrote, our own words, and nothing that a machine said."""

from __future__ import annotations

import shlex

from tallylight.config.settings import load
from tallylight.parts.remote import commands
from tests.tables import each

HOSTILE = "sessions-7:tmux/1/%2'; touch /tmp/x #"


@each(
    "command, first, last",
    [
        ("ssh devbox", ["ssh", "-T"], ["devbox"]),
        ("ssh -p 2222 me@devbox", ["ssh", "-T"], ["-p", "2222", "me@devbox"]),
        ("/usr/bin/ssh devbox", ["/usr/bin/ssh", "-T"], ["devbox"]),
        ("kitten ssh devbox", ["ssh", "-T"], ["devbox"]),
    ],
)
def test_ssh(command: str, first: list[str], last: list[str]) -> None:
    """It asks no questions, needs no terminal, is no master and forwards nothing; the far shell gets one word."""
    made = commands.bridge(shlex.split(command))
    assert made[:2] == first and made[-1 - len(last) : -1] == last
    assert {"BatchMode=yes", "ControlMaster=no", "ClearAllForwardings=yes"} <= set(made)
    assert not any(word.startswith(("ControlPath", "-S")) for word in made)
    assert shlex.split(made[-1])[-2:] == ["tally", "bridge"]


@each(
    "command",
    ["docker exec -i ci", "podman exec -i ci", "kubectl exec -i pod --", "distrobox enter box --", "sudo -n -u bob"],
)
def test_everything_else_is_a_prefix(command: str) -> None:
    """The words of the person, then ours, without a shell in between."""
    words = shlex.split(command)
    made = commands.bridge(words)
    assert made[: len(words)] == words and made[len(words) : len(words) + 2] == ["sh", "-c"]
    assert made[-2:] == ["tally", "bridge"]


@each(
    "command, own, has_kitten, shown",
    [
        ("ssh devbox", "", False, "ssh -t -o RemoteCommand=none devbox"),
        ("ssh devbox", "", True, "kitten ssh -t -o RemoteCommand=none devbox"),
        ("kitten ssh devbox", "", False, "kitten ssh -t -o RemoteCommand=none devbox"),
        ("ssh devbox", "mosh devbox --", True, "mosh devbox --"),
        ("docker exec -i ci", "", True, "docker exec -t -i ci"),
        ("docker exec -i ci", "docker exec -it ci", True, "docker exec -it ci"),
        ("distrobox enter box --", "", False, "distrobox enter box --"),
    ],
)
def test_going_there(command: str, own: str, has_kitten: bool, shown: str) -> None:
    """In a terminal, by the person's own words if there are any; the pane's name is one word for the far shell."""
    made = commands.attach(shlex.split(command), shlex.split(own), HOSTILE, has_kitten=has_kitten)
    words = shlex.split(shown)
    assert made[: len(words)] == words
    rest = made[len(words) :]
    rest = shlex.split(rest[0]) if len(rest) == 1 else rest
    assert rest[:2] == ["sh", "-c"] and rest[-2:] == ["attach", HOSTILE]


def test_the_settings() -> None:
    """A command, or a table with one for the terminal."""
    config, problems = load('[machines]\na = "ssh a"\n[machines.b]\ncommand = "docker exec -i b"\nattach = "x y"', "c")
    assert problems == []
    assert (config.machines["a"].command, config.machines["a"].attach) == (("ssh", "a"), ())
    assert (config.machines["b"].command, config.machines["b"].attach) == (("docker", "exec", "-i", "b"), ("x", "y"))


@each(
    "line",
    [
        'a = ""', 'a = "  "', "a = 7", 'a = "ssh \'x"', 'a = "-x"', 'a = "\\u0000"', f'a = "{"x" * 3000}"',
        'a = ["ssh"]',
        '"a b" = "ssh a"', '"../a" = "ssh a"', '"" = "ssh a"', f'{"a" * 33} = "ssh a"', '"-a" = "ssh a"',
        "a = {}", 'a = {attach = "x"}', 'a = {command = "ssh a", x = 1}', 'a = {command = 7}',
        "\n".join(f'm{n} = "ssh m{n}"' for n in range(33)),
    ],
)  # fmt: skip
def test_a_mistake_costs_its_machine(line: str) -> None:
    """It is told with its line, and the other machines are asked."""
    config, problems = load(f'[machines]\nz = "ssh z"\n{line}', "c")
    assert problems and problems[0].line
    assert config.machines["z"].command == ("ssh", "z") and (len(config.machines) <= 2 or len(config.machines) == 32)
