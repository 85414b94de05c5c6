"""
Who is heard at the socket of the near end: a script or an agent in a pane as far as it may be, and nobody else.

Those who ask are real: in a pane of a terminal, below an agent there, or left behind by it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Reply, decode_reply, encode_reply
from tallylight.actions.request import encode as encode_request
from tallylight.parts.remote.host import MachinesHost
from tallylight.parts.remote.messages import PaneState, encode
from tallylight.snapshot.elsewhere import local_id
from tests.actions.real_panes import RealPanes, real_panes
from tests.actions.words import asked
from tests.parts.remote.test_machine import HELLO, PANE, QUESTION
from tests.patience import until
from tests.test_other_users import STRANGER, needs_root

pytestmark = pytest.mark.slow

#: One that another user can run as well, where there is one.
_PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
ID = local_id("devbox", "sessions-7", PANE.id)
#: Says what is in a file, notes the verbs that it is asked, and answers each as another file has it.
BRIDGE = """
import json, sys
folder = sys.argv[1]
print(open(folder + "/said").read(), end="", flush=True)
told = json.load(open(folder + "/told"))
for line in sys.stdin:
    if "ask" in (asked := json.loads(line)):
        verb = asked["of"].get("what", asked["of"]["type"])
        open(folder + "/asked", "a").write(verb + "\\n")
        print(json.dumps({"reply": asked["ask"], "told": told[verb]}), flush=True)
"""
_ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\\n")
while data := s.recv(65536):
    sys.stdout.buffer.write(data)
"""


#: In front of what a list asks.
KEY = "key"


@attrs.define
class Near:
    """The near end of one machine, asked by processes of their own."""

    folder: Path
    config: Path
    socket: Path
    panes: RealPanes

    def ask(self, verb: str, *words: str, way: str = "$ASK", by_agent: bool = False) -> Reply:
        """What a program is told that asks in this *way*, in a pane of its own."""
        is_key = verb == KEY
        verb, *words = words if is_key else (verb, *words)  # type: ignore[assignment]
        line = shlex.quote(encode_request(asked(verb, ID, *words), is_key=is_key).decode().rstrip())
        script, out = self.panes.folder / "ask", self.panes.folder / "out"
        run = f"{sys.executable} -IS -c {shlex.quote(_ASK)} {self.socket} {line}"
        script.write_text(f"#!/bin/sh\n{run} >{out}.new 2>{out}.err\nmv {out}.new {out}\n")
        script.chmod(0o755)
        out.unlink(missing_ok=True)
        self.panes.run(way.replace("$ASK", str(script)), by_agent=by_agent)
        until(out.exists, "nothing is told")
        return decode_reply(out.read_bytes().rstrip())  # type: ignore[return-value]

    def by_stranger(self, verb: str, *words: str) -> Reply | None:
        """What another user is told; None where they are not even heard."""
        argv = [_PYTHON, "-IS", "-c", _ASK, str(self.socket), encode_request(asked(verb, ID, *words)).decode().rstrip()]
        other: dict[str, Any] = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
        done = subprocess.run(argv, capture_output=True, timeout=60, check=False, **other)
        assert done.stdout or b"PermissionError" in done.stderr, done.stderr
        return decode_reply(done.stdout.rstrip()) if done.stdout else None  # type: ignore[return-value]

    def asked(self) -> list[str]:
        """What the far end was asked."""
        path = self.folder / "asked"
        return path.read_text().split() if path.exists() else []


_ALL = '[scripting]\nallow = "all"\n'


@pytest.fixture
def near(request: pytest.FixtureRequest) -> Iterator[Near]:
    """Its parameter, if it has one, stands in the configuration from the start."""
    # Directly in /tmp, where another user gets to the socket if its mode lets them.
    with tempfile.TemporaryDirectory(prefix="tallylight-callers-", dir="/tmp") as made:
        folder = Path(made)
        (folder / "bridge").write_text(BRIDGE)
        (folder / "said").write_bytes(encode(HELLO) + encode(PaneState("sessions-7", PANE)))
        done = encode_reply(Done(PANE.id, "typed"))
        told = {"question": encode_reply(QUESTION), **dict.fromkeys(("answer", "say", "interrupt"), done)}
        (folder / "told").write_text(json.dumps({verb: json.loads(line) for verb, line in told.items()}))
        config = folder / "config/tallylight/config.toml"
        config.parent.mkdir(parents=True)
        more = getattr(request, "param", "")
        config.write_text(f'{more}[machines]\ndevbox = "{sys.executable} {folder}/bridge {folder}"\n')
        (folder / "run").mkdir(mode=0o700)
        env = {"XDG_RUNTIME_DIR": f"{folder}/run", "XDG_CONFIG_HOME": f"{folder}/config", "HOME": made}
        host = MachinesHost.serve({**env, "PATH": os.environ["PATH"]})
        try:
            snapshot = folder / f"run/tallylight/machines-{os.getpid()}.json"
            until(lambda: snapshot.exists() and ID in snapshot.read_text(), "its pane is shown")
            (folder / "panes").mkdir()
            with real_panes(folder / "panes") as panes:
                yield Near(folder, config, snapshot.with_suffix(".sock"), panes)
        finally:
            host.stop()


#: In the agent: left behind by a process that began a session, and by one that did not.
ORPHAN = "sh -c 'setsid sh -c \"$ASK & true\"'; sleep 100"
FORKED = "sh -c '$ASK &'; sleep 100"
ANSWER = ("answer", "7", "8", "f", "1")
TYPING = (ANSWER, ("say", "7", "8", "", "1", "rm -rf /"), ("interrupt", "7", "8"))


def snapshot(near: Near) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(near.socket.with_suffix(".json").read_text())
    return found


def allow(near: Near, level: str) -> None:
    """Write a lower level into the configuration, and wait until it is in force."""
    near.config.write_text(f'[scripting]\nallow = "{level}"\n{near.config.read_text()}')
    until(lambda: snapshot(near).get("allow") == level, "the level is in force")


def test_an_agent_types_nothing(near: Near) -> None:
    """Nothing reaches the far end, unless the person allowed it; what an agent may read, it may read there as well."""
    for words in TYPING:
        told = near.ask(*words, by_agent=True)
        assert isinstance(told, Refusal) and told.rule == "permission", (words, told)
    assert near.asked() == []
    assert isinstance(near.ask("question", by_agent=True), Question)
    assert near.asked() == ["question"]
    allow(near, "none")
    assert isinstance(near.ask("question", by_agent=True), Refusal)
    assert near.asked() == ["question"]


@pytest.mark.parametrize("near", [_ALL], indirect=True)
def test_where_all_is_allowed_from_the_start(near: Near) -> None:
    """An agent types there; what it leaves behind may only read, for it may be the very agent's that asks."""
    assert isinstance(near.ask(*ANSWER, by_agent=True), Done)
    for way in (ORPHAN, FORKED):
        told = near.ask(*ANSWER, way=way, by_agent=True)
        assert isinstance(told, Refusal) and told.rule == "caller", (way, told)
        assert isinstance(near.ask("question", way=way, by_agent=True), Question), way
    assert near.asked() == ["answer", "question", "question"]


@pytest.mark.parametrize("way", [ORPHAN, FORKED], ids=["a session of its own", "forked twice"])
def test_what_an_agent_leaves_behind_is_no_person(near: Near, way: str) -> None:
    """By default it is told nothing."""
    for words in (*TYPING, ("question",), (KEY, *ANSWER)):
        told = near.ask(*words, way=way, by_agent=True)
        assert isinstance(told, Refusal) and told.rule == "caller", (words, told)
    assert near.asked() == []


def test_a_key_counts_in_the_terminal_of_the_pane(near: Near) -> None:
    """Of a list there; without it, or in a terminal of its own, it is a script that asks."""
    assert isinstance(near.ask(KEY, *ANSWER), Done)
    own = "script -qec $ASK /dev/null </dev/null"
    for told in (near.ask(*ANSWER), near.ask(KEY, *ANSWER, way=own), near.ask(KEY, *ANSWER, by_agent=True)):
        assert isinstance(told, Refusal) and told.rule == "permission", told
    assert near.asked() == ["answer"]


def test_a_change_that_lets_programs_do_more_waits(near: Near) -> None:
    """A level that is raised, a command that is new or another: it is told, and nothing runs or is typed by it."""
    ran = near.folder / "ran"
    settings = near.config.read_text()
    near.config.write_text(
        f'{_ALL}{settings.replace("/bridge ", "/other ")}ci = "touch {ran}"\nlab = {{ command = "touch {ran}" }}\n'
    )

    until(lambda: snapshot(near).get("withheld"), "what is withheld")
    assert snapshot(near)["withheld"] == ["scripting.allow", "machines.devbox", "machines.ci", "machines.lab"]
    assert "allow" not in snapshot(near)
    machines = {one["name"]: one["says"] for one in snapshot(near)["machines"]}
    assert machines["ci"] == machines["lab"]
    assert "starts with the next `tally host sessions`" in machines["ci"]
    assert ID in near.socket.with_suffix(".json").read_text()
    told = near.ask("say", "7", "8", "", "1", "rm -rf /", by_agent=True)
    assert isinstance(told, Refusal) and told.rule == "permission"
    near.config.write_text(settings)
    until(lambda: "withheld" not in snapshot(near), "that it was taken back")
    assert near.asked() == []
    assert not ran.exists()


@pytest.mark.parametrize("near", [_ALL], indirect=True)
def test_a_change_that_lets_programs_do_less_counts_at_once(near: Near) -> None:
    """What was allowed from the start is not any more; what is raised again waits, though it was so before."""
    assert isinstance(near.ask(*ANSWER, by_agent=True), Done)
    settings = near.config.read_text()
    near.config.write_text(settings.replace(_ALL, ""))
    until(lambda: "allow" not in snapshot(near), "that less is allowed")
    assert isinstance(near.ask(*ANSWER, by_agent=True), Refusal)
    near.config.write_text(settings)
    until(lambda: "withheld" in snapshot(near), "what is withheld")
    assert isinstance(near.ask(*ANSWER, by_agent=True), Refusal)


@needs_root
def test_another_user_is_not_heard(near: Near) -> None:
    """By the modes of the directory and the socket; and where those were opened, by the host itself."""
    assert near.by_stranger("question") is None
    for path in (near.folder, near.folder / "run", near.socket.parent):
        path.chmod(0o755)
    assert near.by_stranger("question") is None
    near.socket.chmod(0o666)
    for words in (("question",), ANSWER):
        told = near.by_stranger(*words)
        assert isinstance(told, Refusal) and told.rule == "caller", told
    assert near.asked() == []


def test_a_machine_that_was_renamed(near: Near) -> None:
    """What was shown of it under its old name is gone: nothing is typed there by that name, and nothing is asked."""
    near.config.write_text(near.config.read_text().replace("devbox", "buildbox"))
    renamed = local_id("buildbox", "sessions-7", PANE.id)
    until(lambda: renamed in near.socket.with_suffix(".json").read_text(), "its pane under the new name")
    for words in (*TYPING, ("question",)):
        told = near.ask(*words)
        assert isinstance(told, Refusal) and told.rule == "gone", (words, told)
    assert near.asked() == []


#: The ways of an agent to a terminal of its own: what asks there has that terminal, and no agent is in its line.
OWN_TERMINALS = {
    "tmux": "tmux -S $FOLDER/own new-session -d $ASK; sleep 100",
    "screen": "screen -dmS own $ASK; sleep 100",
    "the person's tmux": "tmux -S $FOLDER/person new-session -d $ASK; sleep 100",
    "a terminal": "env -u TERM setsid $FOLDER/xterm $FOLDER/xterm.py '' $ASK; sleep 100",
    "a terminal, with a pane's environment": "setsid $FOLDER/xterm $FOLDER/xterm.py $ASK $FOLDER/bash -i; sleep 100",
}


@pytest.mark.programs
@pytest.mark.parametrize("way", OWN_TERMINALS.values(), ids=OWN_TERMINALS)
def test_an_agent_in_a_terminal_of_its_own_is_no_person(near: Near, way: str) -> None:
    """Whether it says that a key was pressed or not; the tmux of the person has a client that they sit at."""
    person = near.panes.folder / "person"
    if str(person.name) in way:
        near.panes.type(f"tmux -S {person} new-session")
        until(person.exists, "no server")
    for words in (*TYPING, (KEY, *ANSWER)):
        told = near.ask(*words, way=way, by_agent=True)
        assert isinstance(told, Refusal) and told.rule == "permission", (words, told)
        for server in ("own", "person"):
            subprocess.run(["tmux", "-S", near.panes.folder / server, "kill-session"], capture_output=True, check=False)
    assert near.asked() == []
