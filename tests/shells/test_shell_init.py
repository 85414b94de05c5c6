"""What `tally shell-init` prints, in the real shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tallylight.agents.agent import load_agents
from tallylight.cli import shell_init
from tests.shells.shell import SHELLS, World


@pytest.fixture(params=SHELLS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A world for each shell."""
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    folder = tmp_path / "world"
    folder.mkdir()
    return World(request.param, folder)


def test_an_agent_runs_through_the_relay(world: World) -> None:
    """At a terminal the agent's name runs `tally run -- NAME`, with its arguments as they were given."""
    said = world.on_terminal("source INIT\nclaude a 'b  c' '' '$x' '*'\n")

    assert "[tally|run|--|claude|a|b  c||$x|* relay=]" in said


@pytest.mark.parametrize("way", ["command claude x", "\\claude x"])
def test_a_person_can_pass_it_by(world: World, way: str) -> None:
    r"""`command claude` runs the agent itself, and so does `\claude` where a backslash means that."""
    if world.shell == "fish" and way[0] == "\\":
        pytest.skip("in fish a backslash before a name means nothing")
    said = world.on_terminal(f"source INIT\n{way}\n")

    assert "[claude|x relay=]" in said
    assert "tally" not in said


def test_the_relay_is_told_to_step_aside(world: World) -> None:
    """TALLY_RELAY=0 before the name reaches `tally run`, which obeys it."""
    assert "[tally|run|--|claude relay=0]" in world.on_terminal("source INIT\nTALLY_RELAY=0 claude\n")


def test_the_exit_code_is_the_agents(world: World) -> None:
    """The exit code is that of what ran, through the relay and in a pipe."""
    code = {"fish": "$status"}.get(world.shell, "$?")

    assert "code 7" in world.on_terminal(f"source INIT\nclaude\necho code {code}\n", CODE="7")
    assert "code 7" in world.piped(f"source INIT\nclaude\necho code {code}\n", {"CODE": "7"}).stdout


def test_no_relay_where_there_is_no_terminal(world: World) -> None:
    """In a pipe the agent runs as it is, and not a Python is started for it."""
    assert world.piped("source INIT\nclaude -p hi\n").stdout == "[claude|-p|hi relay=]\n"
    assert "[claude|-p relay=]" in world.on_terminal("source INIT\nclaude -p | cat\n")


@pytest.mark.parametrize("how", ["gone", "dangling"])
def test_tally_may_be_gone(world: World, how: str) -> None:
    """An agent runs as it is where tally was taken away behind our back."""
    tally = world.folder / "bin" / "tally"
    tally.unlink()
    if how == "dangling":
        tally.symlink_to(world.folder / "nowhere")

    assert "[claude|x relay=]" in world.on_terminal("source INIT\nclaude x\n")


def test_only_what_is_there_gets_a_name(world: World) -> None:
    """An agent that is not on PATH is as unknown as before, and says so in the shell's own words."""
    said = world.on_terminal("source INIT\ncursor-agent\n")

    assert "nown command" in said or "not found" in said
    assert "tally" not in said.replace("shell-init", "")


def test_twice_is_once(world: World) -> None:
    """To run it again changes nothing: no relay in a relay."""
    assert "[tally|run|--|claude|x relay=]" in world.on_terminal("source INIT\nsource INIT\nclaude x\n")


def test_it_says_nothing(world: World) -> None:
    """It prints nothing, in the strictest mode of the shell, twice, and ends well."""
    strict = "" if world.shell == "fish" else "set -eu\n"
    said = world.on_terminal(f"{strict}source INIT\nsource INIT\necho end\n")

    assert said.replace("\r", "") == "end\n(0)"


def test_strict_mode_survives_an_agent(world: World) -> None:
    """With `set -eu` an agent without arguments runs, through the relay and without it."""
    if world.shell == "fish":
        pytest.skip("fish has no such mode")

    assert "[tally|run|--|claude relay=]" in world.on_terminal("set -eu\nsource INIT\nclaude\n")
    assert "[claude relay=]" in world.piped("set -eu\nsource INIT\nclaude\n").stdout


def test_a_script_has_none_of_it(world: World) -> None:
    """A shell that is not interactive keeps its names, even if it reads the code."""
    aliases = "shopt -s expand_aliases\n" if world.shell == "bash" else ""
    said = world.on_terminal(f"{aliases}source INIT\nclaude x\n", interactive=False)

    assert "[claude|x relay=]" in said


def test_a_function_of_that_name_stays(world: World) -> None:
    """A function that a person has made is left alone."""
    made = "function claude; echo mine; end" if world.shell == "fish" else "function claude { echo mine; }"
    said = world.on_terminal(f"{made}\nsource INIT\nclaude\n")

    assert "mine" in said
    assert "tally" not in said


@pytest.mark.parametrize(
    ("value", "ran"),
    [
        ("claude --model 'a b'", "[tally|run|--|claude|--model|a b|x relay=]"),
        ("~/local/claude", "[tally|run|--|HOME/local/claude|x relay=]"),
        ("echo mine", "mine x"),
    ],
)
def test_an_alias_is_kept(world: World, value: str, ran: str) -> None:
    """An alias that names the agent, as its own installer makes one, is put behind the relay; any other is left."""
    if world.shell == "fish":
        pytest.skip("an alias is a function there")
    quoted = value.replace("'", "'\\''")
    said = world.on_terminal(f"alias claude='{quoted}'\nsource INIT\nsource INIT\nclaude x\n")

    assert ran.replace("HOME", str(world.folder)) in said


@pytest.mark.parametrize("order", ["before", "after"])
def test_completion_goes_on(world: World, order: str) -> None:
    """The agent's own completion is still there, whether it comes before the code or after it."""
    completion = {
        "bash": "complete -W 'alphabet beta' claude",
        "zsh": "autoload -Uz compinit && compinit -u -D\n_claude() { compadd alphabet beta }\ncompdef _claude claude",
        "fish": "complete -c claude -f -a 'alphabet beta'",
    }[world.shell]
    start = "\n".join([completion, "source INIT"] if order == "before" else ["source INIT", completion])

    world.typed(start, b"claude alp\t\r", b"[tally|run|--|claude|alphabet relay=]")


def test_a_name_cannot_be_more_than_a_name(world: World) -> None:
    """A name of a user's file that means something to a shell is left out, as are shells and their own words."""
    hostile = [
        "x;touch$IFS/tmp/x",
        "$(id)",
        "`id`",
        "a'b",
        "-x",
        "cd",
        "bash",
        "python3.12",
        "tally",
        "*",
        "a|b",
        "ok.1",
    ]
    text = "name = 'mine'\nprocesses = [" + ", ".join(f'"{name}"' for name in hostile) + "]\n"
    agents, errors = load_agents([("mine", text)])

    assert errors == []
    assert shell_init.names(agents) == ["ok.1"]


def test_the_shell_itself_finds_nothing_wrong(world: World) -> None:
    """The shell's own check of the code, and shellcheck's for bash, find nothing."""
    checks = [["bash", "-n"], ["shellcheck", "--shell=bash"]] if world.shell == "bash" else [[world.shell, "-n"]]
    for check in checks:
        if shutil.which(check[0]) is None:
            pytest.skip(f"no {check[0]}")
        done = subprocess.run([*check, str(world.code)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_ends_with_the_line_to_paste(world: World) -> None:
    """The last line is what makes it last, as a comment."""
    last = world.code.read_text("utf-8").splitlines()[-1]

    assert last.startswith("#   ")
    assert f"tally shell-init {world.shell}" in last
