"""
How long WezTerm's tab bar takes to learn what the sidecar has found out, and what an idle sidecar costs.

    python -m benchmarks.wezterm

The simulated WezTerm of the tests runs on real terminals. The time runs from the decision, as the snapshot dates it,
until the shell that waits for the sidecar's news ends. It is measured beside an agent at rest, and beside one that
draws a spinner. WezTerm's own time to redraw comes on top. Then it measures the processor time of a sidecar and its
programs: with ten idle panes, and with an unanswered question of Claude Code.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.aims import Aim
from tests.hosts.wezterm.desk import Desk
from tests.hosts.wezterm.test_sidecar import _HOOKED, SCREENS

CHANGES, PANES, SECONDS = 10, 10, 15
WAKE = Aim("WezTerm: from a decision to the wake", "the clock", most=150.0, unit="ms")
IDLE = Aim("WezTerm: an idle sidecar with what it starts", "a core", most=2.0, unit="%")
ASKED = Aim("WezTerm: a question that waits", "a core", most=4.0, unit="%")
AIMS = (WAKE, IDLE, ASKED)
QUICK = ()
_SPINNER = """#!/usr/bin/python3
import os, time
n = 0
while True:
    os.write(1, ("\\r\\x1b[2K" + "|/-\\\\"[n % 4] * 40).encode())
    n += 1
    end = time.monotonic() + 0.008
    while time.monotonic() < end: pass
    time.sleep(0.08)
"""
#: Has a status file, as Claude Code has, and blinks.
_ASKING = f"""#!/usr/bin/python3
import json, os, time
pid = os.getpid()
start = open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[19]
path = os.path.expanduser(f"~/.claude/sessions/{{pid}}.json")
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w") as file:
    json.dump({{"pid": pid, "procStart": start, "sessionId": "s-1", "cwd": "/w/api", "status": "waiting"}}, file)
print(open({str(SCREENS / "permission-bash-80.txt")!r}).read().partition("---\\n")[2], flush=True)
while True:
    for dot in "o ":
        print("\\x1b[H" + dot, end="", flush=True)
        time.sleep(0.6)
"""


def wakes(folder: Path, program: str) -> list[float]:
    """The milliseconds from each decision to the wake, in order of their length."""
    desk = Desk(folder)
    desk.program("codex", program)
    desk.start()
    desk.spawn()
    pane = desk.spawn()
    desk.send(pane, "codex\r")
    desk.wait(lambda: desk.panes().get(pane) and desk.panes()[pane].agent_pid, "the agent")
    news = str(Path(desk.sidecar["snapshot"]).with_suffix(".news"))
    said: list[tuple[int, str]] = []
    took = []
    for number in range(CHANGES):
        status = ("waiting", "working")[number % 2]
        said.append((number + 1, f"state={status};tool=codex"))
        desk.write_feed("benchmark", {pane: said[-10:]})
        while True:
            # The sidecar waits for who waits, so none is missed.
            subprocess.run(["sh", "-c", ': <"$1"', "sh", news], check=True, timeout=30)
            arrived = time.time()
            if desk.status(pane) == status:
                break
        took.append(1000 * (arrived - desk.panes()[pane].since))
        time.sleep(0.7)
    desk.close()
    return sorted(took)


def idle(folder: Path) -> tuple[float, float]:
    """Return the share of a processor, in percent, that the sidecar and the programs that it starts take at rest."""
    desk = Desk(folder)
    desk.start()
    panes = [desk.spawn() for _ in range(PANES)]
    desk.wait(lambda: len(desk.panes()) == PANES, "the panes")
    desk.write_feed("benchmark", {pane: [] for pane in panes})
    return cost(desk)


def asked(folder: Path) -> tuple[float, float]:
    """Return the same with a question on the screen."""
    desk = Desk(folder)
    desk.program("claude", _ASKING)
    desk.start()
    pane = desk.spawn()
    desk.write_feed("benchmark", {pane: []})
    desk.send(pane, "claude\r")
    desk.wait(lambda: desk.panes().get(pane) and desk.panes()[pane].choices, "the question")
    return cost(desk)


def cost(desk: Desk) -> tuple[float, float]:
    """The same of this sidecar, when it has come to rest."""
    time.sleep(6)

    def spent() -> tuple[float, float]:
        fields = Path(f"/proc/{desk.sidecar['pid']}/stat").read_text().rpartition(")")[2].split()
        own, others = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
        return own / os.sysconf("SC_CLK_TCK"), others / os.sysconf("SC_CLK_TCK")

    before, began = spent(), time.monotonic()
    time.sleep(SECONDS)
    after, took = spent(), time.monotonic() - began
    desk.close()
    return 100 * (after[0] - before[0]) / took, 100 * (after[1] - before[1]) / took


def main() -> None:
    """Measure, and print one line each."""
    with tempfile.TemporaryDirectory() as folder:
        for name, program in (("at rest", _HOOKED), ("spinner", _SPINNER)):
            took = wakes(Path(folder, name.replace(" ", "-")), program)
            print(f"{name}: median {took[len(took) // 2]:.0f} ms, p95 {took[int(len(took) * 0.95)]:.0f} ms")
            WAKE.say(took[len(took) // 2])
        own, others = idle(Path(folder, "idle"))
        print(f"idle, {PANES} panes: sidecar {own:.2f} % of a core, what it starts {others:.2f} %")
        IDLE.say(own + others)
        own, others = asked(Path(folder, "asked"))
        print(f"a question that waits: sidecar {own:.2f} % of a core, what it starts {others:.2f} %")
        ASKED.say(own + others)


if __name__ == "__main__":
    main()
