"""The fork kitten in a real kitty, by keys typed into its window, with a program called `claude` that keeps a diary.

The program notes how it was started, keeps a status file as Claude Code does, and says what it is told to say. (Real
agents are forked in tests/real_agents/test_fork_kitty.py.)
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real_kitty.desk import Desk, user_var
from tests.real_kitty.harness import SMALL
from tests.real_kitty.remote import RemoteError

#: The windows that open are those of a fork beside; what differs here is told to kitty in the same way.
IN_ONE_KITTY = dict.fromkeys(
    (
        "test_behind_the_relay",
        "test_elsewhere",
        "test_hostile_session_ids",
        "test_a_method_that_names_a_shell",
        "test_the_example_of_the_protocol",
        "test_an_agent_that_no_file_describes",
        "test_a_file_that_arms_a_plain_shell",
        "test_another_machine_in_front",
        "test_an_agent_that_ends_under_the_page",
    ),
    "0.48",
)

_CLAUDE = r"""#!/usr/bin/python3
import json, os, sys, uuid
home = os.environ["HOME"]
start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
session = str(uuid.uuid4())
pid = os.getpid()
folder = f"{home}/.claude/sessions"
os.makedirs(folder, exist_ok=True)
def status(session):
    with open(f"{folder}/{pid}.json.new", "w") as file:
        json.dump({"pid": pid, "procStart": start, "sessionId": session, "cwd": os.getcwd(), "status": "idle"}, file)
    os.rename(f"{folder}/{pid}.json.new", f"{folder}/{pid}.json")

status(session)
with open(f"{home}/diary", "a") as file:
    entry = {"argv": sys.argv, "cwd": os.getcwd(), "pid": pid, "session": session}
    entry["window"], entry["mark"] = os.environ.get("KITTY_WINDOW_ID"), os.environ.get("FAKE_MARK")
    file.write(json.dumps(entry) + "\n")
print("claude is here", flush=True)
for line in sys.stdin:
    if line.startswith("say "):
        print(bytes.fromhex(line[4:]).decode("latin-1"), end="", flush=True)
    elif line.startswith("session "):
        status(line[8:].rstrip("\n") * (10_000 if line[8:] == "x\n" else 1))
"""

_CONFIG = """
shell bash --norc
enabled_layouts splits
map ctrl+f kitten {kittens}/fork.py
map ctrl+r kitten {kittens}/fork.py --resume
"""
FORK, RESUME = "ctrl+f", "ctrl+r"


class Bench(Desk):
    """A desk with keys for the kitten, and a program called claude."""

    def __init__(self, version: str, settings: str = "", config: str = "") -> None:
        super().__init__(version, settings, f"{config}[kitty]\npulse = false\n", size=(1000, 560), scale=SMALL)
        kitty = self.kitty
        self.reload(_CONFIG.format(kittens=kitty.home / ".local/share/tallylight/kittens"))
        program = kitty.home / ".local/bin/claude"
        program.write_text(_CLAUDE)
        program.chmod(0o755)
        (kitty.home / "work").mkdir()
        self.diary_file = kitty.home / "diary"
        self.diary_file.write_text("")

    def diary(self) -> list[dict[str, Any]]:
        """Every start of the program, the first one first."""
        return [json.loads(line) for line in self.diary_file.read_text().splitlines()]

    def shell(self, **env: str) -> int:
        """A tab in front, with a shell at its prompt."""
        window = self.kitty.launch("bash", "--norc", cwd=str(self.kitty.home / "work"), env=env)
        self.kitty.wait_until(lambda: self.kitty.get_text(window).strip(), what="the shell's prompt")
        return window

    def agent(self, prefix: str = "", **env: str) -> tuple[int, dict[str, Any]]:
        """A tab in front in which the program was started from a shell, behind *prefix*; its window, and its note."""
        before = len(self.diary())
        window = self.shell(FAKE_MARK="carried", **env)
        self.kitty.send_text(window, f"{prefix}claude\r")
        self.kitty.wait_text(window, "claude is here")
        self.known(window, agent="claude")
        return window, self.diary()[before]

    def known(self, window: int, *, agent: str = "", session: str | None = None) -> None:
        """Wait until the host knows the agent of a window, and its session."""

        def found() -> bool:
            snapshot = self.snapshot()
            pane = next((p for p in snapshot.panes if p.id == str(window)), None) if snapshot else None
            if pane is None or (agent and pane.conversation.agent != agent):
                return False
            return bool(pane.conversation.session) if session is None else pane.conversation.session == session

        self.kitty.wait_until(found, what=f"{agent} {session} in the snapshot")

    def say(self, window: int, data: bytes) -> None:
        """Have the program in a window write this."""
        self.kitty.send_text(window, f"say {data.hex()}\r")

    def press(self, key: str) -> None:
        """Press a key on the keyboard."""
        self.kitty.xdotool("key", key)

    def page(self, text: str) -> tuple[int, str]:
        """Wait for the kitten's window to show this; its id, and all it shows."""

        def found() -> tuple[int, str] | None:
            for window in self.kitty.windows():
                with contextlib.suppress(RemoteError):  # it may be closing
                    shown = self.kitty.get_text(window["id"])
                    if text in shown:
                        return window["id"], shown
            return None

        return self.kitty.wait_until(found, 20, f"{text!r} in any window")

    def gone(self, page: int) -> None:
        """Wait for the kitten's window to close."""
        self.kitty.wait_until(lambda: all(w["id"] != page for w in self.kitty.windows()), what="the end of the page")

    def shut(self, window: int) -> None:
        """Close a window, as a person does, and wait until it is gone."""
        self.kitty.close_window(window)
        self.gone(window)

    def started(self, before: int) -> dict[str, Any]:
        """Wait for one more start of the program; what it noted."""

        def noted() -> list[dict[str, Any]]:
            # kitty may sleep over the end of the page: its child monitor wakes the main loop first, and notes what has
            # ended afterwards. Whatever comes next wakes it again, as the cursor of most people does by blinking.
            self.kitty.ls()
            return self.diary()[before:]

        return self.kitty.wait_until(noted, what="one more start of claude")[0]

    def programs(self) -> list[str]:
        """The command lines of all processes in kitty's room but for kitty's own."""
        listed = self.kitty.run(["ps", "-eo", "args="]).stdout.decode().splitlines()
        return sorted(line for line in listed if not re.search(r"ps -eo|env -i|nsenter", line))


@pytest.fixture(scope="module")
def bench(kitty_version: str) -> Iterator[Bench]:
    bench = Bench(kitty_version)
    yield bench
    bench.close()


@pytest.fixture(autouse=True)
def tidy(bench: Bench) -> Iterator[None]:
    yield
    bench.close_all_but_first()


def osc(body: str) -> bytes:
    return b"\x1b]" + body.encode() + b"\x07"


def b64(text: str) -> str:
    return b64encode(text.encode()).decode()


def test_fork_beside(bench: Bench) -> None:
    """A key shows the exact argument list; Enter starts it beside, in the same directory; closing it undoes it."""
    kitty = bench.kitty
    window, first = bench.agent()
    tab, count = kitty.tab_of(window), len(bench.diary())
    bench.press(FORK)
    page, shown = bench.page("Fork Claude")
    bench.press("Return")
    second = bench.started(count)
    forked = int(second["window"])

    program = str(kitty.home / ".local/bin/claude")
    argv = [program, "--resume", first["session"], "--fork-session"]
    assert " ".join(argv) in re.sub(r"\s+", " ", shown)
    assert str(kitty.home / "work") in shown
    assert "a pane beside this one" in shown
    assert second["argv"] == argv
    assert second["cwd"] == first["cwd"]
    assert second["mark"] == "carried"
    assert kitty.tab_of(forked) == tab
    assert kitty.window(forked)["title"] == "⎇  work"
    bench.gone(page)
    bench.shut(forked)
    assert first["pid"] in [p["pid"] for p in kitty.window(window)["foreground_processes"]]


def test_behind_the_relay(bench: Bench) -> None:
    """An agent that runs behind `tally run` is forked behind it, and resumed by its arm alone, without any status."""
    kitty = bench.kitty
    window, first = bench.agent("tally run ")
    bench.say(window, osc(f"88;arm;cmd={b64('claude')};args={b64('--resume armed')}"))
    wait_said(bench, window, "armed", at=2, verb="resume")
    light = bench.status(window)
    for key, title, words in (
        (FORK, "Fork Claude", ["--resume", first["session"], "--fork-session"]),
        (RESUME, "Resume Claude", ["--resume", "armed"]),
    ):
        count = len(bench.diary())
        bench.press(key)
        _, shown = bench.page(title)
        bench.press("Return")
        second = bench.started(count)
        forked = int(second["window"])
        bench.known(forked, agent="claude")

        argv = [f"{kitty.home}/.local/bin/claude", *words]
        assert f"{kitty.home}/.local/bin/tally run -- {' '.join(argv)}" in re.sub(r"\s+", " ", shown)
        assert (second["argv"], second["mark"]) == (argv, "carried")
        # What kitty's own terminal would never tell comes through.
        bench.say(forked, osc("1338;state=waiting;tool=claude"))
        bench.wait_status(forked, "waiting")
        bench.shut(forked)
    assert light == bench.status(window) == "idle"


def test_escape_leaves(bench: Bench) -> None:
    """Esc closes the page, and nothing was started."""
    bench.agent()
    before = bench.programs()
    count = len(bench.diary())
    bench.press(FORK)
    page, _ = bench.page("Fork Claude")
    bench.press("Escape")
    bench.gone(page)
    bench.let_pass(0.5)

    assert len(bench.diary()) == count
    assert bench.programs() == before


def test_worktree(bench: Bench) -> None:
    """`w` and Enter: the same conversation on a new branch in a new directory; closing the pane removes neither."""
    kitty = bench.kitty
    git = shutil.which("git")
    assert git is not None
    shutil.copy(git, kitty.home / ".local/bin/git")
    who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-qb", "main"], [*who, "commit", "-qm", "first", "--allow-empty"]):
        kitty.run(["git", *words], cwd=str(kitty.home / "work"))
    _, first = bench.agent()
    count = len(bench.diary())
    bench.press(FORK)
    bench.page("Fork Claude")
    bench.press("w")
    _, shown = bench.page("main-fork-1 (new)")
    bench.press("Return")
    second = bench.started(count)
    place = kitty.home / "work-fork-1"
    bench.shut(int(second["window"]))

    assert f"{place} (new worktree)" in re.sub(r"\s+", " ", shown)
    assert second["cwd"] == str(place)
    assert second["argv"][1:] == ["--resume", first["session"], "--fork-session"]
    assert kitty.run(["git", "branch", "--show-current"], cwd=str(place)).stdout == b"main-fork-1\n"
    shutil.rmtree(kitty.home / "work/.git")


def test_elsewhere(bench: Bench) -> None:
    """A key on the page chooses where the new pane goes: another tab, another OS window."""
    kitty = bench.kitty
    window, _ = bench.agent()
    for key, words in (("t", "a new tab"), ("o", "a new OS window")):
        tabs, os_windows, count = len(kitty.tabs()), len(kitty.ls()), len(bench.diary())
        bench.press(FORK)
        bench.page("Fork Claude")
        bench.press(key)
        bench.page(words)
        bench.press("Return")
        forked = int(bench.started(count)["window"])
        kitty.wait_until(lambda f=forked: any(w["id"] == f for w in kitty.windows()), what="the new window")  # type: ignore[misc]

        assert len(kitty.tabs()) == tabs + 1
        assert len(kitty.ls()) == os_windows + (key == "o")
        assert {tab["title"] for tab in kitty.tabs() if tab["id"] == kitty.tab_of(forked)} == {"⎇  work"}
        kitty.focus_os_window(kitty.ls()[0]["id"])
        kitty.focus_window(window)


def test_hostile_session_ids(bench: Bench) -> None:
    """An id that could become anything but one harmless argument is refused, and the page says why."""
    window, _ = bench.agent()
    for session, known, reason in (
        ("--dangerously-skip-permissions", "--dangerously-skip-permissions", "begins with a dash"),
        ("a b", "a b", "has a space in it"),
        ("x", "x" * 257, "is longer than 256 characters"),  # the program makes 10,000 of it
    ):
        bench.kitty.send_text(window, f"session {session}\r")
        bench.known(window, session=known)
        refused(bench, FORK, reason)


def refused(bench: Bench, key: str, reason: str) -> None:
    """A press of *key* shows this reason, and nothing is started, neither then nor by Enter."""
    before, count = bench.programs(), len(bench.diary())
    bench.press(key)
    page, shown = bench.page("Nothing was started")
    bench.press("Return")
    bench.gone(page)
    bench.let_pass(0.5)

    assert reason in re.sub(r"\s+", " ", shown)
    assert bench.programs() == before
    assert len(bench.diary()) == count


def test_a_method_that_names_a_shell(bench: Bench) -> None:
    """MethodFork `bash -c …`, said by the agent's own output, is refused in words; the agent's own list is offered."""
    window, first = bench.agent()
    said = f"state=idle;tool=claude;session={first['session']};fork="
    for at, words in ((1, "claude%0Abash%0A-c%0Atouch%20pwned"), (0, "bash%0A-c%0Atouch%20pwned")):
        before, count = bench.programs(), len(bench.diary())
        bench.say(window, user_var("tally", said + words))
        wait_said(bench, window, "bash", at=at)
        bench.press(FORK)
        page, shown = bench.page("something else")
        bench.press("Escape")
        bench.gone(page)
        shown = re.sub(r"\s+", " ", shown)

        assert "it asks for bash, which runs other programs" in shown
        assert f"claude --resume {first['session']} --fork-session" in shown
        assert bench.programs() == before
        assert len(bench.diary()) == count
    assert not (bench.kitty.home / "work/pwned").exists()


def test_the_example_of_the_protocol(bench: Bench) -> None:
    """`--fork {SessionId}`, as the page of OSC 26 has it, is no option of Claude Code's: copied, it ends in a fork."""
    window, first = bench.agent()
    payload = f"state=idle;tool=claude;session={first['session']};fork=claude%0A--fork%0A%7BSessionId%7D"
    bench.say(window, user_var("tally", payload))
    wait_said(bench, window, "--fork")
    count = len(bench.diary())
    bench.press(FORK)
    _, shown = bench.page("something else")
    bench.press("Return")
    second = bench.started(count)

    assert "The program asked for something else, which is refused" in re.sub(r"\s+", " ", shown)
    assert second["argv"][1:] == ["--resume", first["session"], "--fork-session"]
    bench.shut(int(second["window"]))


def test_an_agent_that_no_file_describes(bench: Bench) -> None:
    """A zebra says in OSC 26 how it is continued: what it says is shown and runs, or the gate says why not."""
    kitty = bench.kitty
    program = kitty.home / ".local/bin/zebra"
    shutil.copy(kitty.home / ".local/bin/claude", program)
    window = bench.shell(FAKE_MARK="carried")
    kitty.send_text(window, "tally run zebra --quiet\r")
    kitty.wait_text(window, "claude is here")
    refused(bench, FORK, "Zebra has no agent file, and did not report how to continue")
    zebra = "26;CodeAgent=zebra;Status=idle"
    methods = f"MethodFork={b64('--fork {SessionId}')};MethodResume={b64('--resume {SessionId}')}"
    bench.say(window, osc(f"{zebra};SessionId={b64('z1')};{methods}"))
    bench.known(window, agent="zebra", session="z1")

    for key, title, words in ((FORK, "Fork zebra", ["--fork", "z1"]), (RESUME, "Resume zebra", ["--resume", "z1"])):
        count = len(bench.diary())
        bench.press(key)
        page, shown = bench.page(title)
        bench.press("Return")
        second = bench.started(count)
        bench.gone(page)
        shown = re.sub(r"\s+", " ", shown)

        assert shown.strip().startswith("Not kept: --quiet.")
        assert f"{kitty.home}/.local/bin/tally run -- {program} {' '.join(words)} in " in shown
        assert "zebra has no agent file" in shown
        assert (second["argv"], second["cwd"], second["mark"]) == (
            [str(program), *words],
            str(kitty.home / "work"),
            "carried",
        )
        bench.shut(int(second["window"]))

    for said, at, reason in (
        ("--fork {SessionId}\n--yolo", 3, "'--yolo' is unknown"),
        ("--prompt touch-pwned-1", 1, "'--prompt touch-pwned-1' is unknown"),
        ("bash -c touch$IFSpwned", 1, "It asks for bash, which runs other programs"),
        ("--fork $(touch$IFSpwned1)", 2, "so it is no session id"),
        ("--fork 1;touch$IFSpwned", 2, "so it is no session id"),
        ("okapi --fork {SessionId}", 1, "'okapi' is not a session id"),
    ):
        bench.say(window, osc(f"{zebra};MethodFork={b64(said)}"))
        wait_said(bench, window, said.split()[at - 1], at)
        refused(bench, FORK, reason)
    bench.say(window, osc(f"88;arm;cmd={b64('okapi')};args={b64('--resume z1')}"))
    wait_said(bench, window, "okapi", 0, "resume")
    refused(bench, RESUME, "'okapi' is not zebra, the agent that runs here")

    # What cannot be shown as it is, is not even heard: what was said before it counts.
    bidi = b64("--fork \u202e{SessionId}")
    bench.say(window, osc(f"{zebra};{methods}"))
    bench.say(window, osc(f"{zebra};SessionId={b64('z2')};MethodFork={bidi}"))
    bench.known(window, agent="zebra", session="z2")
    bench.press(FORK)
    page, shown = bench.page("Fork zebra")
    bench.press("Escape")
    bench.gone(page)
    assert f"{program} --fork z2 in " in re.sub(r"\s+", " ", shown)

    # What its host has seen of it is resumed when it has gone.
    bench.say(window, osc("88;clear"))
    wait_said(bench, window, "zebra", 0, "resume")
    kitty.send_text(window, "\x04")
    kitty.wait_until(lambda: not any("zebra" in line for line in bench.programs()), what="the end of the zebra")
    count = len(bench.diary())
    bench.press(RESUME)
    bench.page("Resume zebra")
    bench.press("Return")
    second = bench.started(count)
    assert second["argv"] == [str(program), "--resume", "z2"]
    bench.shut(int(second["window"]))
    assert not (kitty.home / "work/pwned").exists()


def wait_said(bench: Bench, window: int, word: str, at: int = 1, verb: str = "fork") -> None:
    """Wait until the host was told an argument list for *verb* with *word* in it."""

    def told() -> bool:
        snapshot = bench.snapshot()
        pane = next((p for p in snapshot.panes if p.id == str(window)), None) if snapshot else None
        return pane is not None and word in getattr(pane.commands, verb)[at : at + 1]

    bench.kitty.wait_until(told, what=f"{word!r} in the snapshot")


def test_a_file_that_arms_a_plain_shell(bench: Bench) -> None:
    """A file with OSC 88 and OSC 26 in it, printed in a shell behind the relay: there is no agent, so no fork."""
    kitty = bench.kitty
    path = kitty.home / "work/hostile"
    path.write_bytes(
        osc(f"88;arm;cmd={b64('claude')};args={b64('--resume x --dangerously-skip-permissions')}")
        + osc(f"26;CodeAgent=claude;Status=idle;SessionId={b64('x')};MethodFork={b64('--resume x')}")
        + user_var("tally", "state=idle;tool=claude;session=x;resume=claude%0A--resume%0Ax")
    )
    window = bench.shell()
    kitty.send_text(window, "tally run bash --norc\r")
    kitty.send_text(window, f"cat {path}; echo DO''NE\r")
    kitty.wait_text(window, "DONE", 20)
    bench.wait_status(window, "idle")

    refused(bench, FORK, "is not known as an agent")
    refused(bench, RESUME, "none was seen in it before")


def test_another_machine_in_front(bench: Bench) -> None:
    """With ssh in the foreground nothing is started, whatever comes out of it."""
    kitty = bench.kitty
    ssh = kitty.home / ".local/bin/ssh"
    if not ssh.exists():
        kitty.run(["cp", "/usr/bin/cat", str(ssh)])
    window = bench.shell()
    kitty.send_text(window, "ssh\r")
    kitty.wait_until(
        lambda: ["ssh"] in [process["cmdline"][:1] for process in kitty.window(window)["foreground_processes"]],
        what="ssh in the foreground",
    )
    payload = user_var("tally", "state=idle;tool=claude;session=x;fork=claude%0A--resume%0Ax")
    Desk.say(bench, window, payload)
    bench.wait_status(window, "idle")

    refused(bench, FORK, "Ssh is in the foreground")
    refused(bench, RESUME, "Ssh is in the foreground")


def test_resume_what_was_killed(bench: Bench) -> None:
    """After `kill -9` a key resumes the conversation that the host had seen; there is none to fork."""
    window, first = bench.agent()
    bench.kitty.run(["kill", "-9", str(first["pid"])])
    bench.kitty.wait_until(lambda: "Killed" in bench.kitty.get_text(window), what="the shell's word")
    refused(bench, FORK, "no longer runs in this pane")
    count = len(bench.diary())
    bench.press(RESUME)
    _, shown = bench.page("Resume Claude")
    bench.press("Return")
    second = bench.started(count)

    assert second["argv"][1:] == ["--resume", first["session"]]
    assert first["session"] in shown
    assert second["cwd"] == first["cwd"]
    assert bench.kitty.window(int(second["window"]))["title"] == "↻  work"


def test_an_agent_that_ends_under_the_page(bench: Bench) -> None:
    """What was agreed to is looked at again: an agent that has ended meanwhile is not forked."""
    _, first = bench.agent()
    before = len(bench.diary())
    bench.press(FORK)
    bench.page("Fork Claude")
    bench.kitty.run(["kill", "-9", str(first["pid"])])
    bench.let_pass(0.6)
    bench.press("Return")
    _, shown = bench.page("Nothing was started")
    bench.press("Escape")

    assert re.search(r"no longer runs|changed in the meantime", shown)
    assert len(bench.diary()) == before
