"""An agent that says nothing to anyone: a program called `claude` that only prints, and programs that are no agents.

The agent is run by name from a shell in a window. It prints as long as a file tells it to, and notes when it printed on
the monotonic clock, which kitty reads too. It has two faces: `plain` leaves the keyboard to the terminal, which echoes
what is typed, and `boxed` draws an input box of its own and redraws it at every key.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

_AGENT = r"""#!/usr/bin/python3
import os, select, sys, termios, time, tty
folder, boxed = os.environ["FAKE"], os.environ.get("FAKE_FACE") == "boxed"
columns = os.get_terminal_size().columns
number, typed = 0, ""

def write(text):
    os.write(1, text.encode())

def box():
    edge = "─" * (columns - 2)
    write(f"╭{edge}╮\r\n│ ~ {typed:<{columns - 6}} │\r\n╰{edge}╯\x1b[A\x1b[{5 + len(typed)}G")

if boxed:
    tty.setraw(0)
    box()
else:
    write("you> ")
with open(f"{folder}/pid", "w") as file:
    file.write(str(os.getpid()))
while True:
    ready, _, _ = select.select([0], [], [], 0.1)
    if ready:
        data = os.read(0, 100).decode()
        if "exit" in typed + data:
            break
        if boxed:
            typed = (typed + data)[-40:]
            write("\x1b[A\r\x1b[J")
            box()
        else:
            write("you> ")
    if os.path.exists(f"{folder}/talk"):
        number += 1
        if boxed:
            write(f"\x1b[A\r\x1b[JLine {number} of a long answer\r\n")
            box()
        else:
            write(f"\r\x1b[KLine {number} of a long answer\nyou> ")
        with open(f"{folder}/printed", "a") as file:
            file.write(f"{time.monotonic()}\n")
if boxed:
    write("\x1b[2B\r\x1b[J")
"""

#: Prints for two seconds, notes its end and is silent from then on.
_SERVER = """#!/usr/bin/python3
import os, time
for number in range(20):
    print("GET /", number, flush=True)
    time.sleep(0.1)
open(os.environ["FAKE"] + "/ended", "w").close()
time.sleep(1000)
"""
_NODE = """
const fs = require("fs")
let number = 0
const timer = setInterval(() => {
    console.log("GET /" + number++)
    if (number === 20) { clearInterval(timer); fs.writeFileSync(process.env.FAKE + "/ended", "") }
}, 100)
setInterval(() => {}, 1000000)
"""

#: Commands that are no agents, by a name. Where they name an agent, it is a file or a word like any other.
_OTHERS = {
    "shell": "for i in $(seq 20); do echo line $i; sleep 0.1; done; touch $FAKE/ended",
    "npm": "npm run dev",
    "node": "(exec -a node python3 server.py)",
    "file-named-claude": "python3 server.py claude",
    "folder-named-claude": "python3 ~/claude/server.py",
    "cat-claude": "cat claude/server.py > /dev/null; tail -n 20 -f claude/server.py & sleep 2; touch $FAKE/ended; wait",
    "vim": "vim.tiny notes/claude",
}


class Bench(Desk):
    """A desk with a fake agent on its PATH."""

    def __init__(self, version: str) -> None:
        super().__init__(
            version, "tab_bar_style fade\nshell bash\n", "[kitty]\npulse = false\n", size=(1000, 400), scale=SMALL
        )
        home = self.kitty.home
        (home / "claude").mkdir()
        (home / "notes").mkdir()
        for path, code in (
            (".local/bin/claude", _AGENT),
            (".local/bin/npm", _SERVER),
            ("server.py", _SERVER),
            ("claude/server.py", _SERVER),
            ("server.js", _NODE),
        ):
            (home / path).write_text(code)
            (home / path).chmod(0o755)
        self.record()

    def shell(self, name: str, *argv: str, face: str = "plain") -> tuple[int, Path]:
        """A tab, not shown, with a shell at its prompt; its window and the folder of its programs' notes."""
        folder = self.kitty.home / f"notes-{name}-{time.monotonic_ns()}"
        folder.mkdir()
        env = {"FAKE": str(folder), "FAKE_FACE": face}
        window = self.kitty.launch(*argv, env=env, keep_focus=True, cwd=str(self.kitty.home), tab_title=name)
        self.kitty.wait_until(lambda: self.kitty.get_text(window).strip(), what="the shell's prompt")
        return window, folder

    def wait_history(self, window: int, status: str, since: float, timeout: float = 30) -> float:
        """When a window's light, at `since` or later, became this."""

        def found() -> float | None:
            return next((at for at, name in self.history(window, since) if name == status), None)

        at: float = self.kitty.wait_until(found, timeout, f"{status or 'no light'} in window {window}")
        return at


class Agent:
    """The fake agent in a window of its own, at its prompt."""

    def __init__(self, bench: Bench, name: str, *argv: str, face: str = "plain") -> None:
        self.bench = bench
        self.window, self.folder = bench.shell(name, *argv, face=face)
        bench.kitty.send_text(self.window, "claude\r")
        bench.kitty.wait_until((self.folder / "pid").exists, what="the agent")
        bench.wait_status(self.window, "working")

    def talk(self, lines: int = 10) -> tuple[float, float]:
        """Have it print this many lines; when it printed the first and the last."""
        return talk([self], lines)[0]

    def leave(self, how: str) -> None:
        """Have it leave the foreground, and wait for the shell's word where the shell has one."""
        kitty = self.bench.kitty
        if how == "kill":
            kitty.run(["kill", "-9", (self.folder / "pid").read_text()])
            kitty.wait_text(self.window, "Killed")
        elif how == "stop":
            kitty.send_text(self.window, "\x1a")
            kitty.wait_text(self.window, "Stopped")
        else:
            kitty.send_text(self.window, "exit\r")

    def lights(self, since: float = 0.0) -> set[str]:
        """Every light its window had."""
        return {name for _, name in self.bench.history(self.window, since)}

    def wait(self, status: str, since: float, timeout: float = 30) -> float:
        """When its light, at `since` or later, became this."""
        return self.bench.wait_history(self.window, status, since, timeout)


def talk(agents: list[Agent], lines: int = 10) -> list[tuple[float, float]]:
    """Have agents print at the same time, each this many lines at least; when each printed its first and its last."""
    for agent in agents:
        (agent.folder / "printed").write_text("")
    for agent in agents:
        (agent.folder / "talk").touch()
    for agent in agents:
        printed = agent.folder / "printed"
        what = f"the output of {agent.folder.name}"
        agent.bench.kitty.wait_until(lambda p=printed: p.read_text().count("\n") >= lines, what=what)
    for agent in agents:
        (agent.folder / "talk").unlink()
    # One turn of a loop that has seen the file may still be under way.
    time.sleep(0.3)
    times = [[float(line) for line in (agent.folder / "printed").read_text().split()] for agent in agents]
    return [(found[0], found[-1]) for found in times]


@pytest.fixture(scope="module")
def bench(kitty_version: str) -> Iterator[Bench]:
    """One kitty for all tests here."""
    bench = Bench(kitty_version)
    yield bench
    bench.close()


def test_programs_that_are_no_agents_have_no_light(bench: Bench) -> None:
    """A shell, servers and an editor that print for two seconds and are silent for five are never lit."""
    commands = dict(_OTHERS)
    if (found := bench.kitty.run(["sh", "-c", "command -v node"], check=False)).returncode == 0 and found.stdout:
        commands["real-node"] = "node server.js"
    windows: dict[str, tuple[int, Path]] = {}
    for name, command in commands.items():
        windows[name] = window, folder = bench.shell(name)
        bench.kitty.send_text(window, f"{command}\r")
        if name == "vim":
            bench.kitty.wait_text(window, "\n~ ")
            bench.kitty.send_text(window, "i")
            for number in range(10):
                bench.kitty.send_text(window, f"line {number} of a text\r")
            bench.kitty.wait_text(window, "line 9 of a text")
            (folder / "ended").touch()
    for name, (_, folder) in windows.items():
        bench.kitty.wait_until((folder / "ended").exists, 20, f"the end of {name}'s output")
    bench.let_pass(5.5)

    lit = {name: [n for _, n in bench.history(w) if n] for name, (w, _) in windows.items()}
    assert not [name for name, lights in lit.items() if lights], lit
    assert not [n for n, (w, _) in windows.items() if bench.status(w)]
    for window, _ in windows.values():
        bench.kitty.close_window(window)


def test_silence_is_quiet_typing_is_not_output(bench: Bench) -> None:
    """Blue within half a second of output, quiet after four seconds of silence, and typing changes neither."""
    agents = [Agent(bench, face, face=face) for face in ("plain", "boxed")]
    for agent, (_, last) in zip(agents, talk(agents), strict=True):
        assert 3.9 <= agent.wait("quiet", last) - last <= 5.0
    typing = time.monotonic()
    for word in ("what ", "do ", "you ", "think"):
        for agent in agents:
            bench.kitty.send_text(agent.window, word)
            bench.kitty.wait_text(agent.window, word.strip())
    bench.let_pass(1.5)
    for agent in agents:
        assert agent.lights(typing) <= {"quiet"}
        assert bench.status(agent.window) == "quiet"
    for agent in agents:
        delays = []
        for _ in range(3):  # a machine with too much to do may be late once
            first, last = agent.talk()
            delays.append(agent.wait("working", first) - first)
            if delays[-1] <= 0.5:
                break
            agent.wait("quiet", last)
        assert min(delays) <= 0.5, delays
        assert "down" not in agent.lights()
        bench.kitty.close_window(agent.window)


#: Let the host's clock go on by 2 s a tick, which is less than what it takes for a suspended machine.
_TEN_MINUTES = """
import time, types, tallylight.hosts.kitty.host as module
from tallylight.hosts.kitty.watcher import running
if not isinstance(module.time, types.SimpleNamespace):
    shift = types.SimpleNamespace(by=0.0)
    module.time = types.SimpleNamespace(shift=shift, time=time.time, monotonic=lambda: time.monotonic() + shift.by)
for _ in range(300):
    module.time.shift.by += 2.0
    running().tick()
return module.time.shift.by
"""


def test_quiet_is_still_quiet_after_ten_minutes(bench: Bench) -> None:
    """No timer ends what is quiet: it is there after ten minutes of the host's clock, and goes when there is output."""
    agent = Agent(bench, "patient")
    _, last = agent.talk()
    agent.wait("quiet", last)
    last_output = f"host._panes[{agent.window}].tracker._last_output"
    before = bench.host(last_output)
    assert bench.kitty.eval(_TEN_MINUTES) >= 600
    assert bench.status(agent.window) == "quiet"
    assert agent.lights(last) == {"quiet"}
    # The host did not take it for a suspended machine, or it would have put the output's time off.
    assert bench.host(last_output) == before
    first, _ = agent.talk()
    agent.wait("working", first)
    bench.kitty.close_window(agent.window)


SHELLS = {"integrated": (), "bare": ("env", "bash", "--norc", "-i")}


@pytest.mark.parametrize("how", ["exit", "kill", "stop"])
def test_an_agent_that_leaves_takes_its_guess_along(bench: Bench, how: str) -> None:
    """After exit, kill -9 and Ctrl-Z, at work or in silence, with shell integration or without: no blue, nothing quiet.

    `down` is only what a shell says was killed at work. After fg it is all as before.
    """
    agents = {
        (shell, was): Agent(bench, f"{how}-{shell}-{was}", *argv)
        for shell, argv in SHELLS.items()
        for was in ("working", "quiet")
    }
    silent = [agent for (_, was), agent in agents.items() if was == "quiet"]
    busy = [agent for (_, was), agent in agents.items() if was == "working"]
    for agent, (_, last) in zip(silent, talk(silent), strict=True):
        agent.wait("quiet", last)
    talk(busy)
    assert [bench.status(agent.window) for agent in busy] == ["working"] * len(busy)
    ended = time.monotonic()
    for agent in agents.values():
        agent.leave(how)
    outs = {}
    for key, agent in agents.items():
        what = f"the end of the light of {key}"
        bench.kitty.wait_until(lambda a=agent: bench.status(a.window) not in ("working", "quiet"), 5, what)
        outs[key] = time.monotonic()
    bench.let_pass(4.5)
    for key, agent in agents.items():
        may_be = {"", "done", "idle"} | ({"down"} if (how, *key) == ("kill", "integrated", "working") else set())
        assert agent.lights(outs[key]) <= may_be, key
        assert agent.lights(ended) <= may_be | {"working", "quiet"}, key
        assert bench.status(agent.window) in may_be, key
    if how == "stop":
        back = time.monotonic()
        for agent in agents.values():
            bench.kitty.send_text(agent.window, "fg\r")
        for agent, (_, last) in zip(agents.values(), talk(list(agents.values())), strict=True):
            agent.wait("working", back)
            agent.wait("quiet", last)
    for agent in agents.values():
        bench.kitty.close_window(agent.window)
