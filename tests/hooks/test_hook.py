"""`tally hook`: it reaches the agent's terminal from a process that has none, prints nothing, and always succeeds."""

from __future__ import annotations

import base64
import json
import os
import pty
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tallylight.cli import hook
from tallylight.hooks import tables
from tallylight.parts.agent_hooks.install import command_line
from tallylight.wire import osc1338, tty
from tallylight.wire.envelope import tmux_wrap
from tests.tables import each

SHARED = Path(__file__).resolve().parents[2] / "shared"
SHELLS = [path for path in map(shutil.which, ("sh", "dash", "bash", "zsh", "fish")) if path]
PAYLOAD = {"session_id": "s1", "cwd": "/w", "hook_event_name": "PermissionRequest", "tool_name": "Bash"}
PERMISSION = json.dumps(PAYLOAD | {"tool_input": {"command": "rm -r build"}}).encode()

#: What plays the agent: it has a terminal, and starts its hooks without one, as Claude does.
_AGENT = """\
import json, subprocess, sys
spec = json.load(open(sys.argv[1]))
done = subprocess.run(spec["command"], stdin=open(spec["payload"], "rb"), stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, start_new_session=True, env=spec["env"])
json.dump([done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")], open(sys.argv[2], "w"))
"""


class Ran(NamedTuple):
    """What one hook did: its exit code, all it printed, and what arrived at the agent's terminal."""

    code: int
    printed: str
    terminal: bytes

    @property
    def report(self) -> Any:
        """The report that arrived."""
        _, found, rest = self.terminal.partition(b"\x1b]1337;SetUserVar=tally=")
        return osc1338.decode_variable(base64.b64decode(rest.partition(b"\x07")[0]).decode()) if found else None


class Stage:
    """A folder with the command in it, and agents that run it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tally = folder / "tally"
        self.tally.write_text(
            f"#!{Path(sys.executable).resolve()} -IS\nimport sys\nsys.path.insert(0, {str(SHARED)!r})\n"
            "from tallylight.cli.main import run\nrun()\n"
        )
        self.tally.chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}

    def run(self, command: list[str], payload: bytes = PERMISSION, *, agent: str = "claude", **env: str) -> Ran:
        """Let an agent of that name run a command as its hook."""
        program = self.folder / "bin" / agent
        program.parent.mkdir(exist_ok=True)
        program.write_text(_AGENT)
        (self.folder / "payload").write_bytes(payload)
        spec = {"command": command, "payload": str(self.folder / "payload"), "env": self.env | env}
        (self.folder / "spec").write_text(json.dumps(spec))
        result = self.folder / "result"
        result.unlink(missing_ok=True)
        pid, master = pty.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, "-IS", str(program), str(self.folder / "spec"), str(result)])
        seen = bytearray()

        def read() -> None:
            try:
                while piece := os.read(master, 1 << 16):
                    seen.extend(piece)
            except OSError:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        os.waitpid(pid, 0)
        reader.join(10)
        os.close(master)
        code, out, complaint = json.loads(result.read_text())
        return Ran(code, out + complaint, bytes(seen))

    def hook(self, *words: str, payload: bytes = PERMISSION, agent: str = "claude", **env: str) -> Ran:
        """Let it run `tally hook`."""
        return self.run([str(self.tally), "hook", *words], payload, agent=agent, **env)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_it_reaches_the_terminal_of_its_agent(stage: Stage) -> None:
    """A hook with no terminal of its own sets the user variable of its agent's, and prints nothing."""
    ran = stage.hook("claude", "PermissionRequest")

    assert (ran.code, ran.printed) == (0, "")
    assert (str(ran.report.status), str(ran.report.kind)) == ("waiting", "permission")
    assert (ran.report.agent, ran.report.session, ran.report.cwd) == ("claude", "s1", "/w")
    assert ran.report.message == "Bash: rm -r build"


@pytest.mark.slow
def test_as_it_is_installed(stage: Stage) -> None:
    """The line that is written into the agent's settings does the same, in each shell an agent may use."""
    for shell in SHELLS:
        ran = stage.run([shell, "-c", command_line(stage.tally, "claude", "PermissionRequest")])
        assert (ran.code, ran.printed) == (0, ""), shell
        assert ran.report.message == "Bash: rm -r build", shell


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["gone", "no python", "no package", "not executable"])
def test_uninstalled_behind_its_back(stage: Stage, broken: str) -> None:
    """Whatever is missing of tallylight, the installed line succeeds in silence, in each shell."""
    if broken == "gone":
        stage.tally.unlink()
    elif broken == "no python":
        stage.tally.write_text("#!/nonexistent/python3 -IS\n")
    elif broken == "no package":
        stage.tally.write_text(stage.tally.read_text().replace(str(SHARED), "/nonexistent"))
    else:
        stage.tally.chmod(0o644)
    for shell in SHELLS:
        ran = stage.run([shell, "-c", command_line(stage.tally, "claude", "Stop")])
        assert ran == (0, "", b""), shell


BROKEN = {
    "nothing": b"",
    "no JSON": b"\x00\xff\xfe garbage",
    "cut off": PERMISSION[:40],
    "a list": b"[1]",
    "deep": b'{"session_id": ' + b"[" * 100_000,
    "another shape": b'{"session_id": {"a": 1}, "tool_name": [], "tool_input": 3, "agent_id": 7.5, "cwd": null}',
}


@pytest.mark.parametrize("payload", BROKEN.values(), ids=BROKEN)
def test_a_broken_payload(stage: Stage, payload: bytes) -> None:
    """A payload that cannot be read costs its fields, and not the status, which the event alone tells."""
    ran = stage.hook("claude", "Stop", payload=payload)

    assert (ran.code, ran.printed) == (0, "")
    assert str(ran.report.status) == "done"


@pytest.mark.slow
def test_ten_megabytes(stage: Stage) -> None:
    """Of a payload of 10 MB what matters is read, and all of it is taken from the pipe."""
    members = PAYLOAD | {"tool_input": {"command": "rm"}, "x": "y" * 10_000_000}
    ran = stage.hook("claude", "PermissionRequest", payload=json.dumps(members).encode())

    assert (ran.code, ran.printed) == (0, "")
    assert ran.report.message == "Bash: rm"


@pytest.mark.parametrize(
    "words",
    [[], ["claude"], ["claude", "Nonsense"], ["nobody", "Stop"], ["../etc", "Stop"], ["", ""], ["claude", "\udcff"]],
)  # fmt: skip
def test_nothing_to_say(stage: Stage, words: list[str]) -> None:
    """Unknown agents and events, and none at all, are no errors."""
    assert stage.hook(*words, payload=b"{}") == (0, "", b"")


def test_standard_streams_that_are_closed(stage: Stage) -> None:
    """It needs none of its standard streams."""
    line = f"exec '{stage.tally}' hook claude Stop <&- >&- 2>&-"

    ran = stage.run(["sh", "-c", line])

    assert (ran.code, ran.printed) == (0, "")
    assert str(ran.report.status) == "done"


@pytest.mark.slow
def test_a_home_that_cannot_be_used(stage: Stage) -> None:
    """A home that is not there, is a file, or is not named at all, is none of its business."""
    (stage.folder / "file").write_text("")
    for env in ({"HOME": "/nonexistent"}, {"HOME": str(stage.folder / "file")}, {"HOME": ""}, {"XDG_STATE_HOME": "x"}):
        ran = stage.hook("claude", "Stop", **env)
        assert (ran.code, ran.printed, str(ran.report.status)) == (0, "", "done")


@pytest.mark.slow
def test_through_tmux(stage: Stage) -> None:
    """In tmux the sequence is in the envelope that tmux passes on."""
    ran = stage.hook("claude", "Stop", TMUX="/tmp/tmux-0/default,1,0", TERM="tmux-256color")
    plain = stage.hook("claude", "Stop")

    assert ran.terminal.startswith(b"\x1bPtmux;\x1b\x1b]1337;SetUserVar=tally=")
    assert len(ran.terminal) == len(tmux_wrap(plain.terminal))


def test_no_variable_names_the_terminal(stage: Stage) -> None:
    """A window id that was inherited decides nothing: below an agent that has no terminal nothing is said."""
    inner = Path(stage.folder, "inner")
    inner.mkdir()
    # An agent that a tool of the outer one runs, in a session without a terminal.
    agent = inner / "codex"
    agent.write_text(_AGENT)
    spec = {"command": [str(stage.tally), "hook", "codex", "Stop"], "payload": str(stage.folder / "payload")}
    (inner / "spec").write_text(json.dumps(spec | {"env": stage.env | {"KITTY_WINDOW_ID": "1", "CLAUDE_PID": "1"}}))

    ran = stage.run([sys.executable, "-IS", str(agent), str(inner / "spec"), str(inner / "result")])

    assert json.loads((inner / "result").read_text()) == [0, "", ""]
    assert ran.terminal == b""


@pytest.mark.slow
def test_a_payload_that_never_ends(stage: Stage) -> None:
    """A pipe that is held open costs a few seconds, and not the report."""
    os.mkfifo(stage.folder / "held")
    line = (
        f"(sleep 600 >'{stage.folder}/held' 2>/dev/null) & exec '{stage.tally}' hook claude Stop <'{stage.folder}/held'"
    )

    ran = stage.run(["sh", "-c", line])

    assert (ran.code, ran.printed) == (0, "")
    assert str(ran.report.status) == "done"


def test_a_users_own_agent(stage: Stage) -> None:
    """The table that was written at the installation of its hooks is read, before one of ours."""
    table = tables.TABLES["claude"] | {
        "names": ["mine"],
        "events": {"Ping": [[[], "error", "", [], False, False, False]]},
    }
    folder = stage.folder / "home/.local/state/tallylight/hooks"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text(json.dumps(table))

    ran = stage.hook("mine", "Ping", agent="mine", payload=b"{}")
    assert (ran.code, ran.printed, str(ran.report.status)) == (0, "", "error")

    (folder / "mine.json").write_text("{")
    assert stage.hook("mine", "Ping", agent="mine", payload=b"{}") == (0, "", b"")


# Which terminal -------------------------------------------------------------------------------------------------


def one(pid: int, tty: str, *words: str) -> hook.Ancestor:
    return hook.Ancestor(pid, [tty] if tty else [], list(words))


SH = one(90, "", "sh", "-c", "'/x/tally' hook claude Stop 2>/dev/null || true")
SHELL = one(5, "/dev/pts/1", "-bash")
CLAUDE = one(10, "/dev/pts/1", "claude", "--permission-mode", "manual")
NODE = one(20, "/dev/pts/1", "node", "--max-old-space-size=1", "/usr/lib/node_modules/.bin/gemini")


@each(
    ("agent", "env", "chain", "devices"),
    [
        ("claude", {}, [SH, CLAUDE, SHELL], ["/dev/pts/1"]),
        ("claude", {"CLAUDE_PID": "10"}, [SH, one(10, "/dev/pts/4", "2.1.329"), SHELL], ["/dev/pts/4"]),
        ("claude", {"CLAUDE_PID": "10"}, [one(11, "/dev/pts/9", "x"), one(10, "/dev/pts/4", "2.1")], ["/dev/pts/4"]),
        # The variable outlived its process, or is another's: it is not above us, so it decides nothing.
        ("claude", {"CLAUDE_PID": "77"}, [SH, CLAUDE, SHELL], ["/dev/pts/1"]),
        # `claude -p` below a tool of Claude's: the inner one is meant, and has no terminal.
        ("claude", {"CLAUDE_PID": "30"}, [SH, one(30, "", "claude", "-p", "x"), CLAUDE, SHELL], []),
        ("claude", {}, [SH, one(30, "", "/x/claude.exe", "-p", "x"), CLAUDE, SHELL], []),
        # Codex below a tool of Claude's.
        ("codex", {"CLAUDE_PID": "10"}, [one(40, "", "codex", "exec", "x"), CLAUDE, SHELL], []),
        ("codex", {}, [one(40, "/dev/pts/2", "codex"), SHELL], ["/dev/pts/2"]),
        # The daemon that all of Codex's terminals share, with and without the terminal that started it above.
        ("codex", {}, [one(40, "", "/h/codex", "app-server", "--listen", "unix://")], []),
        ("codex", {}, [one(40, "", "/h/x-codex", "app-server"), one(41, "/dev/pts/2", "codex"), SHELL], []),
        ("opencode", {}, [one(40, "/dev/pts/2", "opencode", "serve"), SHELL], []),
        ("gemini", {}, [one(91, "/dev/pts/1", "sh", "-c", "/x/tally hook gemini A"), NODE, SHELL], ["/dev/pts/1"]),
        ("kilo", {}, [one(40, "/dev/pts/2", "/x/bin/.kilo"), SHELL], ["/dev/pts/2"]),
        # A name that we do not know: the nearest terminal.
        ("claude", {}, [SH, one(10, "/dev/pts/3", "my-claude-wrapper"), SHELL], ["/dev/pts/3"]),
        ("claude", {}, [SH, one(10, "", "systemd")], []),
        ("claude", {}, [], []),
    ],
)  # fmt: skip
def test_whose_terminal(agent: str, env: dict[str, str], chain: list[hook.Ancestor], devices: list[str]) -> None:
    """The agent's own, found among the ancestors; none where it has none, or where it cannot be told."""
    assert hook.agent_devices(tables.TABLES[agent], env, chain) == devices


def test_what_is_no_terminal_is_not_written_to(tmp_path: Path) -> None:
    """A device that leads to a file by now is left alone."""
    file = tmp_path / "file"
    file.write_text("mine")

    assert tty.first_terminal([str(file)]) is None
    assert file.read_text() == "mine"


def test_the_time_is_that_of_the_start() -> None:
    """The time in a report is when the process was started, and not when it got so far."""
    assert hook._started() == hook._started()
    assert hook._started() * 0.01 < time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.fixture(autouse=True)
def _no_alarm_left() -> Iterator[None]:
    yield
    import signal

    signal.setitimer(signal.ITIMER_REAL, 0)


def test_it_imports_next_to_nothing() -> None:
    """No module is loaded that would cost an agent's hook more than it does itself."""
    code = f"import sys; sys.path.insert(0, {str(SHARED)!r}); before = set(sys.modules)\n"
    code += "from tallylight.cli import hook\nfrom tallylight.hooks import tables\n"
    code += "hook.payload.members(b'{\"a\": 1}')\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, check=True)

    loaded = {name for name in done.stdout.split() if not name.startswith("tallylight")}
    assert loaded <= {"_stat", "__future__", "_json", "binascii"}


@pytest.mark.slow
def test_what_it_costs() -> None:
    """As it is installed, and with its report written, it takes at most 3 times the processor of an empty program."""
    command = [sys.executable, "-m", "benchmarks.hook", "--runs", "15", "--limit", "3"]
    done = subprocess.run(command, cwd=SHARED.parent, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
