"""
Three machines behind a real sshd, far away: 50 ms each way, and one packet in twenty late as if it had been lost.

The delay is made by a proxy in front of the server, for not every kernel has netem. It connects from a network of its
own: so what logs in comes from another machine, and is a person. The machines are directories of this one: each has a
runtime directory, a tmux and a PATH of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import attrs
import pytest

from tallylight.actions import answer as answers
from tallylight.actions.answer import Done, Question, Typist
from tallylight.actions.caller import Who
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.hosts.polling.host import PollingHost
from tallylight.hosts.tmux.source import TmuxSource
from tallylight.pane.pane import Pane
from tallylight.parts.remote.host import MachinesHost
from tallylight.snapshot import writer
from tallylight.snapshot.addresses import Panes, Row, read_panes
from tests import far_agent, patience
from tests.actions.callers import CALLERS, as_caller, at
from tests.actions.desk import SCREENS
from tests.actions.sshd import other_machine, sshd
from tests.parts.remote.far import HandPanes

pytestmark = pytest.mark.programs
ROOT = Path(__file__).parents[3]
T = TypeVar("T")

#: Reads standard input into a connection and back, each piece 50 ms late, and one in twenty another 200 ms.
PROXY = """
import os, queue, random, socket, sys, threading, time
there = socket.create_connection((sys.argv[1], int(sys.argv[2])))
chance = random.Random(7)
def carry(read, write):
    line = queue.Queue()
    def deliver():
        while True:
            due, data = line.get()
            time.sleep(max(0.0, due - time.monotonic()))
            write(data)
            if not data:
                return
    threading.Thread(target=deliver, daemon=True).start()
    data = b"x"
    while data:
        data = read()
        line.put((time.monotonic() + 0.05 + 0.2 * (chance.random() < 0.05), data))
def out(data):
    os.write(1, data) if data else os._exit(0)
threading.Thread(target=carry, args=(lambda: there.recv(65536), out), daemon=True).start()
carry(lambda: os.read(0, 65536), lambda data: there.sendall(data) if data else there.shutdown(1))
time.sleep(1)
"""
#: Shows a recorded dialog and notes what is typed.
AGENT = """
import sys, termios, tty
tty.setraw(0)
sys.stdout.write(open(sys.argv[1]).read().replace("\\n", "\\r\\n"))
sys.stdout.flush()
note = open(sys.argv[2], "ab", 0)
while data := sys.stdin.buffer.raw.read(1):
    note.write(data)
"""


@attrs.define
class Machines:
    """This machine and the others."""

    folder: Path
    env: dict[str, str]
    host: MachinesHost
    env_far: dict[str, str]

    def panes(self) -> Panes:
        return read_panes(self.env)

    def says(self) -> dict[str, str]:
        snapshots, _ = writer.read_snapshots(writer.directory(self.env))
        return {machine.name: machine.says for host in snapshots for machine in host.machines}

    def row(self) -> Row | None:
        found = [pane for pane in self.panes().panes if pane.pane.id.startswith("far/") and pane.pane.agent]
        return found[0] if found and found[0].pane.status == "waiting" else None

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-f", "/dev/null", *words], env=self.env_far, capture_output=True, check=True)
        return done.stdout.decode()


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    # What asks here is a script, wherever the tests are run; with a key it is a person.
    near = "tallylight.parts.remote.host"
    monkeypatch.setattr("tallylight.actions.client.caller_of", lambda *_, **__: CALLERS[Who.SCRIPT])
    monkeypatch.setattr(f"{near}.seated", lambda *_: CALLERS[Who.PERSON])
    if os.geteuid() or not (shutil.which("sshd", path="/usr/sbin:/usr/bin") and shutil.which("tmux")):
        pytest.skip("NOT TESTED: needs root, ssh, sshd and tmux")
    (tmp_path / "proxy").write_text(PROXY)
    proxy = (sys.executable, str(tmp_path / "proxy"))
    (tmp_path / "agent").write_text(AGENT)
    lines = ["[machines]"]
    programs = {
        "far": f"PYTHONPATH={ROOT / 'shared'} exec {sys.executable} "
        "-c 'from tallylight.cli.main import run; run()' \"$@\"",
        "old": 'echo \'{"bridge": 0, "tally": "0.1.0"}\'; exec sleep 100',
        "older": "echo 'tally: unknown verb `bridge`; see `tally --help`' >&2; exit 2",
        "none": "",
    }
    for name, script in programs.items():
        for part in ("run", "bin", "home"):
            (tmp_path / name / part).mkdir(parents=True, mode=0o700)
        if script:
            (tmp_path / name / "bin/tally").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name / "bin/tally").chmod(0o755)
        settings = f"XDG_RUNTIME_DIR={tmp_path / name / 'run'} TMUX_TMPDIR={tmp_path / name / 'run'}"
        settings += f" HOME={tmp_path / name / 'home'} PATH={tmp_path / name / 'bin'}:/usr/bin:/bin"
        lines.append(f'{name} = "ssh -F {tmp_path / "ssh.conf"} {name} env {settings}"')
    lines.append(f'gone = "ssh -F /dev/null -o ConnectTimeout=2 -p 1 {os.uname().nodename}"')
    (tmp_path / "near/config/tallylight").mkdir(parents=True)
    (tmp_path / "near/run").mkdir(mode=0o700)
    (tmp_path / "near/config/tallylight/config.toml").write_text("\n".join(lines) + "\n")
    env = {"XDG_RUNTIME_DIR": f"{tmp_path / 'near/run'}", "XDG_CONFIG_HOME": f"{tmp_path / 'near/config'}"}
    env |= {"PATH": os.environ["PATH"], "HOME": f"{tmp_path / 'near'}"}
    env_far = {"PATH": "/usr/bin:/bin", "TMUX_TMPDIR": f"{tmp_path / 'far/run'}", "HOME": f"{tmp_path / 'far/home'}"}
    with other_machine() as (address, enter), sshd(tmp_path, address=address, proxy=[*enter, *proxy]):
        made = Machines(tmp_path, env, MachinesHost.serve(env), env_far)
        try:
            yield made
        finally:
            made.host.stop()
            subprocess.run(["tmux", "kill-server"], env=env_far, capture_output=True)


def test_far_away(machines: Machines) -> None:
    """Each machine says how it stands; a question of one is read and answered there once; what has changed is not."""
    _, _, body = (SCREENS / "claude/permission-bash-120.txt").read_text().partition("---\n")
    (machines.folder / "dialog").write_text(body.rstrip("\n"))
    typed = machines.folder / "typed"
    command = f"exec -a claude {sys.executable} {machines.folder}/agent {machines.folder}/dialog {typed}"
    machines.tmux("new-session", "-d", "-x", "120", "-y", "40", "-s", "work", f"bash -c '{command}'")
    row = patience.until(machines.row, "the question is shown")
    assert row.short == "far tmux 0" and row.pane.place.host_title.startswith("far: work")

    reach = PaneClient(HandPanes(), as_caller(Who.PERSON), at("own"), environ=machines.env, is_key=True)
    question = reach.look(row, "question")
    assert isinstance(question, Question), question
    assert question.pane == row.pane.id and "touch made1" in "\n".join(question.context)

    done = reach.perform(row, question.answer(1))
    assert isinstance(done, Done), done
    assert patience.until(lambda: typed.read_bytes(), "the key arrives")
    once = typed.read_bytes()
    for change in ({"pid": question.pid + 1}, {"start": 1}, {"fingerprint": "0" * 32}, {"number": 9}, {}):
        told = reach.perform(row, attrs.evolve(question.answer(1), **change))
        assert isinstance(told, Refusal), (change, told)
    script = attrs.evolve(reach, is_key=False)
    told = script.perform(row, question.answer(1))
    assert isinstance(told, Refusal) and told.rule == "permission"
    machines.tmux("kill-server")
    told = reach.perform(row, question.answer(1))
    assert isinstance(told, Refusal), told
    assert typed.read_bytes() == once

    said = patience.until(
        lambda: found if len(found := machines.says()) == 5 and "not connected" not in str(found) else None, "all"
    )
    assert said["far"].startswith("connected, tally ")
    assert said["old"].startswith("its tally 0.1.0 is older") and said["older"].startswith("its tally is too old")
    assert said["none"].startswith("has no tally: install it there") and said["gone"].startswith("cannot be reached")


def test_one_that_hangs(machines: Machines) -> None:
    """Its rows go and it says so; the others and the questions to this machine go on meanwhile."""
    patience.until(lambda: machines.says().get("far", "").startswith("connected"), "it is connected")
    link = machines.host._links["far"]
    os.killpg(link.child.pid, signal.SIGSTOP)
    patience.until(lambda: machines.says().get("far") == "has stopped answering", "it is given up")
    patience.until(lambda: machines.says().get("far", "").startswith("connected"), "it is asked again")


def test_an_agent_in_plain_ssh(machines: Machines) -> None:
    """Nothing of ours is there: its question is a light here, answered in that pane alone; other programs have none."""
    (machines.folder / "agent.py").write_text(far_agent.SOURCE)
    socket, go = machines.folder / "near.socket", machines.folder / "go"
    shell = ["env", "HOME=/tmp", "PS1=you@far:~$ ", "TERM=xterm-256color", "bash", "--norc", "--noprofile", "-i"]
    ssh = shlex.join(["ssh", "-F", str(machines.folder / "ssh.conf"), "-t", "plain", shlex.join(shell)])

    def tmux(*words: str) -> None:
        subprocess.run(["tmux", "-u", "-f", "/dev/null", "-S", socket, *words], env=machines.env, check=True)

    tmux("new-session", "-d", "-x", "100", "-y", "30", "-s", "work", ssh)
    source = TmuxSource({**machines.env, "TMUX_TMPDIR": str(machines.folder)}, [str(socket)])
    poller = PollingHost("sessions", [source], machines.env)

    def until(found: Callable[[Pane], object], what: str) -> Pane:
        def look() -> Pane | None:
            poller.step(time.monotonic())
            pane = next(iter(poller.panes.values()), None)
            return pane if pane is not None and found(pane) else None

        return patience.until(look, what)

    try:
        until(lambda pane: pane.unknown.is_remote, "ssh is in front")
        tmux("send-keys", f"{sys.executable} {machines.folder}/agent.py {go}", "Enter")
        until(lambda pane: pane.agent is not None, "it is taken for an agent")
        go.touch()
        until(lambda pane: pane.decision.status == "waiting", "its question is shown")
        entry = poller.entry(next(iter(poller.panes)))
        assert entry is not None
        assert (entry.agent, entry.question, entry.choices) == ("ssh", "Run this command?", ())
        typist = PaneAccess(machines.env).at("sessions-1", entry)
        assert not isinstance(typist, Refusal)
        told = answers.ask(typist)
        assert isinstance(told, Refusal) and told.rule == "remote" and "go to that pane" in told.text

        tmux("send-keys", "1")
        until(lambda pane: pane.agent is None and not pane.decision.is_lit, "the agent is gone")
        tmux("send-keys", far_agent.ORDINARY, "Enter")
        until(lambda _: "Run this command?" in screen_of(typist), "it asks")
        asking = poller.panes[entry.id].unknown.program
        assert asking is not None
        looks = asking._chances
        until(lambda _: asking._chances > looks + 40, "it was looked at")
        assert poller.panes[entry.id].unknown.program is asking and not poller.panes[entry.id].decision.is_lit
    finally:
        poller.close()
        tmux("kill-server")


def screen_of(typist: Typist) -> str:
    seen = typist.see()
    return "" if isinstance(seen, Refusal) else "\n".join(seen.look.lines)
