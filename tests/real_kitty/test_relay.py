"""The relay in a real kitty: a program's own words light the tab, and kitty's own protocols work through it as without.

The program is called `claude` and does what it is told by files in a folder of its own; it notes when it spoke on the
monotonic clock, which kitty reads too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.real_kitty.desk import Desk

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

_AGENT = r"""#!/usr/bin/python3
import os, select, signal, sys, termios, time, tty
folder = os.environ["FAKE"]
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"ready\r\n")

def note(name, data):
    with open(f"{folder}/{name}.part", "wb") as file:
        file.write(data)
    os.rename(f"{folder}/{name}.part", f"{folder}/{name}")

def hear(end):
    data = b""
    while end not in data and select.select([0], [], [], 10)[0]:
        data += os.read(0, 65536)
    return data

note("pid", b"%d" % os.getpid())
while True:
    if select.select([0], [], [], 0.02)[0]:
        key = os.read(0, 100)
        if b"q" in key:
            break
        if b"\x1a" in key:
            termios.tcsetattr(0, termios.TCSANOW, before)
            os.kill(0, signal.SIGTSTP)
            tty.setraw(0)
            os.write(1, b"back\r\n")
    for name in sorted(os.listdir(folder)):
        if name.startswith("say-"):
            with open(f"{folder}/{name}", "rb") as file:
                data = file.read()
            os.unlink(f"{folder}/{name}")
            at = time.monotonic()
            os.write(1, data)
            note(name.replace("say", "said"), b"%r" % at)
        if name.startswith("ask-"):
            with open(f"{folder}/{name}", "rb") as file:
                data = file.read()
            os.unlink(f"{folder}/{name}")
            question, _, end = data.partition(b"|")
            os.write(1, question)
            note(name.replace("ask", "heard"), hear(end))
termios.tcsetattr(0, termios.TCSANOW, before)
"""


class Agent:
    """The program in a window, behind the relay or not."""

    def __init__(self, bench: Bench, prefix: str = "tally run ", *, keep_focus: bool = True) -> None:
        self.bench = bench
        self.folder = bench.kitty.home / f"notes-{time.monotonic_ns()}"
        self.folder.mkdir()
        self.window = bench.shell(self.folder, keep_focus=keep_focus)
        bench.kitty.send_text(self.window, f"{prefix}claude\r")
        bench.kitty.wait_until((self.folder / "pid").exists, what="the program")
        # That it runs does not say that kitty has read what the shell said before it: that a command begins.
        bench.kitty.wait_text(self.window, "ready")
        self._number = 0

    def _tell(self, verb: str, result: str, data: bytes) -> bytes:
        self._number += 1
        name = f"{self._number:04}"
        part = self.folder / f"part-{name}"
        part.write_bytes(data)
        part.rename(self.folder / f"{verb}-{name}")
        found = self.folder / f"{result}-{name}"
        self.bench.kitty.wait_until(found.exists, what=f"{result}-{name}")
        return found.read_bytes()

    def say(self, data: bytes) -> float:
        """Have it write this; when it did."""
        return float(self._tell("say", "said", data))

    def ask(self, data: bytes) -> bytes:
        """Have it write this, and then ask what the terminal is; what came back, up to the answer to that."""
        return self._tell("ask", "heard", data + b"\x1b[c|;c")

    def listen(self, end: bytes) -> Path:
        """Have it note what comes, up to *end*; where the note will be."""
        self._number += 1
        name = f"{self._number:04}"
        part = self.folder / f"part-{name}"
        part.write_bytes(b"|" + end)
        part.rename(self.folder / f"ask-{name}")
        return self.folder / f"heard-{name}"

    def leave(self) -> None:
        """Have it end."""
        self.bench.kitty.send_text(self.window, "q")


class Bench(Desk):
    """A desk with the program on its PATH."""

    def __init__(self, version: str) -> None:
        super().__init__(version, "tab_bar_style fade\nshell bash\n", "[kitty]\npulse = false\n", size=(1000, 400))
        program = self.kitty.home / ".local/bin/claude"
        program.write_text(_AGENT)
        program.chmod(0o755)
        self.record()

    def shell(self, folder: Path, *, keep_focus: bool = True) -> int:
        """A tab with a shell at its prompt."""
        window = self.kitty.launch(env={"FAKE": str(folder)}, keep_focus=keep_focus, cwd=str(self.kitty.home))
        self.kitty.wait_until(lambda: self.kitty.get_text(window).strip(), what="the shell's prompt")
        return window

    def wait_history(self, window: int, status: str, since: float, timeout: float = 30) -> float:
        """When a window's light, at `since` or later, became this."""

        def found() -> float | None:
            return next((at for at, name in self.history(window, since) if name == status), None)

        at: float = self.kitty.wait_until(found, timeout, f"{status or 'no light'} in window {window}")
        return at

    def of_window(self, window: int, expression: str) -> object:
        """The value of an expression over `window` in kitty."""
        return self.kitty.eval(f"window = boss.window_id_map[{window}]\nreturn {expression}")


@pytest.fixture(scope="module")
def bench(kitty_version: str) -> Iterator[Bench]:
    """One kitty for all tests here."""
    bench = Bench(kitty_version)
    yield bench
    bench.close()


def test_its_own_words_light_the_tab(bench: Bench) -> None:
    """Each status it says in OSC 1338 and OSC 7501 is on the tab within 250 ms, and kitty complains of none."""
    agent = Agent(bench)
    said = [
        # What it prints at its start may have lit it as working already.
        (b"\x1b]1338;state=error;tool=claude;project=x\x07", "error"),
        (b"\x1b]1338;state=waiting;tool=claude;kind=permission\x1b\\", "waiting"),
        (b"\x1b]1338;state=working;tool=claude\x07", "working"),
        (b"\x1b]1338;state=done;tool=claude\x07", "done"),
        (b"\x1b]7501;state=working\x1b\\", "working"),
        (b"\x1b]7501;state=blocked\x07", "waiting"),
        (b"\x1b]7501;state=working\x07", "working"),
        (b"\x1b]7501;state=done\x07", "done"),
    ]
    late = []
    for data, status in said:
        at = agent.say(data)
        shown = bench.wait_history(agent.window, status, at)
        late.append((round((shown - at) * 1000), data))
        time.sleep(0.15)  # more than the tenth of a second between two writes of the relay
    assert max(late)[0] < 250, late
    assert not [line for line in bench.kitty.log.splitlines() if "1338" in line or "7501" in line]
    agent.leave()


def test_without_the_relay_kitty_drops_them(bench: Bench) -> None:
    """What the relay is for: the same words without it light nothing."""
    agent = Agent(bench, "")
    at = agent.say(b"\x1b]1338;state=waiting;tool=claude;kind=permission\x07")
    bench.let_pass(1.0)
    assert "waiting" not in {status for _, status in bench.history(agent.window, at)}
    agent.leave()


def test_the_question_is_answered(bench: Bench) -> None:
    """`OSC 7501;?` comes back as it was, before the terminal's own answer to what was asked after it."""
    agent = Agent(bench)
    for end in (b"\x1b\\", b"\x07"):
        heard = agent.ask(b"\x1b]7501;?" + end)
        assert heard.startswith(b"\x1b]7501;?" + end + b"\x1b[?"), heard
    agent.leave()


def test_the_host_sees_through_it(bench: Bench) -> None:
    """The agent is the command the relay runs, not the relay."""
    agent = Agent(bench)
    agent.say(b"\x1b]1338;state=waiting\x07")
    bench.wait_status(agent.window, "waiting")

    def agents() -> dict[str, str]:
        found = bench.snapshot()
        return {pane.id: pane.agent for pane in found.panes} if found else {}

    bench.kitty.wait_until(lambda: agents().get(str(agent.window)) == "claude", what="claude in the snapshot")
    agent.leave()


def test_kittys_protocols_answer_as_without_it(bench: Bench) -> None:
    """The keyboard protocol, the graphics query, the versions, the colours and the clipboard's query round-trip."""
    heard = []
    for prefix in ("", "tally run "):
        agent = Agent(bench, prefix)
        heard.append(
            [
                agent.ask(question)
                for question in (
                    b"\x1b[>1u\x1b[?u",
                    b"\x1b[<u\x1b[?u",
                    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
                    b"\x1b[>q",
                    b"\x1b[?2026$p\x1b[?2004$p",
                    b"\x1b]11;?\x1b\\\x1b]10;?\x07",
                    b"\x1bP+q544e\x1b\\",
                    b"\x1b[14t\x1b[16t\x1b[18t",
                    b"\x1b[6n",
                )
            ]
        )
        agent.leave()
    plain, relayed = heard
    assert relayed == plain
    assert all(answer.count(b"\x1b") > 1 for answer in plain), plain


def test_keys_pastes_and_the_mouse_arrive_as_without_it(bench: Bench) -> None:
    """What kitty sends for a key in its own protocol, a bracketed paste and a click is the same."""
    heard = []
    for prefix in ("", "tally run "):
        agent = Agent(bench, prefix, keep_focus=False)
        kitty = bench.kitty
        kitty.focus_window(agent.window)
        agent.say(b"\x1b[2J\x1b[H\x1b[>31u\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h")
        modes = "window.screen.in_bracketed_paste_mode"
        kitty.wait_until(lambda w=agent.window, m=modes: bench.of_window(w, m), what="the modes")
        note = agent.listen(b"m")  # of the release of the button
        kitty.wait_until(lambda n=note: not (n.parent / n.name.replace("heard", "ask")).exists(), what="ears")
        kitty.send_key(agent.window, "ctrl+shift+i", "alt+enter", "f5")
        kitty.eval(f"boss.window_id_map[{agent.window}].paste_text('two\\nlines ✻')")
        kitty.xdotool("mousemove", "300", "200")
        kitty.xdotool("click", "1")
        kitty.xdotool("mousemove", "1", "1")
        kitty.wait_until(note.exists, what="what it heard")
        heard.append(note.read_bytes())
        agent.say(b"\x1b[<u\x1b[?2004l\x1b[?1003l\x1b[?1006l\x1b[?1004l")
        agent.leave()
    assert b"\x1b[200~two" in heard[0] and b"\x1b[<0;" in heard[0] and b"u" in heard[0], heard[0]
    assert heard[1] == heard[0]


def test_an_image_is_drawn_through_it(bench: Bench, tmp_path: Path) -> None:
    """`kitten icat` finds out what kitty can do and draws, through the relay as without."""
    kitty = bench.kitty
    picture = kitty.home / "picture.png"
    Image.new("RGB", (120, 90), (250, 3, 251)).save(picture)
    folder = kitty.home / "notes-icat"
    folder.mkdir()
    for prefix in ("", "tally run "):
        window = bench.shell(folder, keep_focus=False)
        kitty.focus_window(window)
        kitty.send_text(window, f"{prefix}kitten icat --align left {picture}; echo le''ft $?\r")
        kitty.wait_text(window, "left 0", 20)

        def drawn() -> bool:
            colours = kitty.screenshot().getcolors(1 << 24) or []
            return any(colour == (250, 3, 251) and count > 5000 for count, colour in colours)

        kitty.wait_until(drawn, what=f"the picture of {prefix or 'the bare'} icat")
        kitty.close_window(window)
        kitty.wait_until(lambda: not drawn(), what="the end of the picture")


def test_a_window_opens_where_the_program_is(bench: Bench) -> None:
    """`launch --cwd=current` opens in the folder that a shell behind the relay went to."""
    folder = bench.kitty.home / "some where"
    folder.mkdir(exist_ok=True)
    window = bench.shell(bench.kitty.home, keep_focus=False)
    bench.kitty.send_text(window, "tally run sh\r")
    bench.kitty.send_text(window, f"cd '{folder}'; echo I am the''re\r")
    bench.kitty.wait_text(window, "I am there")
    bench.kitty.wait_until(
        lambda: bench.of_window(window, "window.child.foreground_cwd") == str(folder), what="the folder"
    )
    bench.kitty.focus_window(window)
    before = {found["id"] for found in bench.kitty.windows()}
    bench.kitty.eval("boss.launch('--cwd=current', '--type=tab', 'sh', '-c', 'pwd; exec cat')")
    new = bench.kitty.wait_until(lambda: {found["id"] for found in bench.kitty.windows()} - before, what="the window")
    assert bench.kitty.wait_text(new.pop(), "some where").strip() == str(folder)
    bench.kitty.send_text(window, "exit\r")


def test_kitty_asks_before_closing_as_without_it(bench: Bench) -> None:
    """A window counts as busy while the program runs, and as idle at the shell's prompt before and after it."""
    found = []
    for prefix in ("", "tally run "):
        agent = Agent(bench, prefix)
        busy = bench.of_window(agent.window, "window.has_running_program")
        agent.leave()
        bench.kitty.wait_until(
            lambda a=agent: not bench.of_window(a.window, "window.has_running_program"), what="an idle window"
        )
        found.append((busy, bench.of_window(agent.window, "window.has_running_program")))
    assert found == [(True, False), (True, False)]


def test_ctrl_z_and_fg(bench: Bench) -> None:
    """The shell gets its prompt and kitty the shell, and after `fg` the program speaks on."""
    agent = Agent(bench)
    agent.say(b"\x1b]1338;state=working;tool=claude\x07")
    bench.wait_status(agent.window, "working")
    bench.kitty.send_text(agent.window, "\x1a")
    bench.kitty.wait_text(agent.window, "Stopped")
    bench.kitty.send_text(agent.window, "echo pro''mpt; fg\r")
    shown = bench.kitty.wait_text(agent.window, "back")
    assert "prompt" in shown
    at = agent.say(b"\x1b]1338;state=waiting;tool=claude\x07")
    bench.wait_history(agent.window, "waiting", at)
    agent.leave()


@pytest.mark.parametrize("victim", ["relay", "program"])
def test_after_kill_9_the_window_is_sane(bench: Bench, victim: str) -> None:
    """Whichever is killed, the other is gone too, the shell takes lines, and no tab waits for ever."""
    agent = Agent(bench)
    agent.say(b"\x1b]1338;state=working;tool=claude\x07")
    bench.wait_status(agent.window, "working")
    pid = (agent.folder / "pid").read_text()
    # The program's parent is the monitor, whose parent is the relay.
    code = f"p=$(ps -o ppid= {pid}); ps -o ppid= $p" if victim == "relay" else f"echo {pid}"
    bench.kitty.run(["sh", "-c", f"kill -9 $({code})"])
    bench.kitty.wait_text(agent.window, "Killed")
    bench.kitty.wait_until(
        lambda: bench.kitty.run(["sh", "-c", f"kill -0 {pid}"], check=False).returncode, what="the end of the program"
    )
    bench.kitty.send_text(agent.window, "stty -a | grep -c '^isig icanon'; echo sa''ne\r")
    shown = bench.kitty.wait_text(agent.window, "sane")
    assert "\n1\n" in shown
    bench.kitty.wait_until(lambda: bench.status(agent.window) != "working", what="the end of working")


def test_after_kill_9_of_kitty_nothing_is_left(kitty_version: str) -> None:
    """With its terminal the relay goes, its monitor and the program; the next kitty sweeps the snapshot of the dead."""
    bench = Bench(kitty_version)
    try:
        agent = Agent(bench)
        agent.say(b"\x1b]1338;state=working;tool=claude\x07")
        bench.wait_status(agent.window, "working")
        kitty = bench.kitty
        dead = int(kitty.eval("import os\nreturn os.getpid()"))
        kitty.run(["kill", "-9", str(dead)])
        kitty.wait_until(
            lambda: kitty.run(["pgrep", "-f", "tally run|bin/claude"], check=False).returncode, what="the end of all"
        )
        kitty.start_kitty()
        kitty.wait_until(bench.snapshot, what="the snapshot of the new kitty")

        names = [path.name for path in (kitty.runtime_dir / "tallylight").iterdir()]
        assert f"kitty-{dead}.json" not in names
    finally:
        bench.close()
