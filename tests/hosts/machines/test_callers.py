"""Who is heard at the socket of the near end: the person whose machines these are, and no agent that would type."""

from __future__ import annotations

import json
import os
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
from tallylight.hosts.machines.host import MachinesHost
from tallylight.hosts.machines.messages import PaneSaid, encode
from tallylight.hosts.script_messages import Told, decode
from tallylight.hosts.script_messages import encode as encode_told
from tallylight.snapshot.elsewhere import local_id
from tests.hosts.machines.test_machine import HELLO, PANE, QUESTION
from tests.hosts.machines.test_real_ssh import wait
from tests.test_other_users import STRANGER, needs_root

#: One that another user can run as well, where there is one.
_PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
ID = local_id("devbox", "sessions-7", PANE.id)
#: Says what is in a file, notes the verbs that it is asked, and answers each as another file has it.
_BRIDGE = """
import json, sys
folder = sys.argv[1]
print(open(folder + "/said").read(), end="", flush=True)
told = json.load(open(folder + "/told"))
for line in sys.stdin:
    if "ask" in (asked := json.loads(line)):
        verb = asked["words"][0]
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


@attrs.define
class Near:
    """The near end of one machine, asked by processes of their own."""

    folder: Path
    config: Path
    socket: Path

    def ask(self, verb: str, *words: str, called: str = "python3", **how: Any) -> Told | None:
        """What a process that is called so is told; None where it is not even heard."""
        line = json.dumps([verb, ID, *words])
        argv = [called, "-IS", "-c", _ASK, str(self.socket), line]
        done = subprocess.run(argv, executable=_PYTHON, capture_output=True, timeout=60, **how)
        assert done.stdout or b"PermissionError" in done.stderr, done.stderr
        return decode(done.stdout.rstrip()) if done.stdout else None

    def asked(self) -> list[str]:
        """What the far end was asked."""
        path = self.folder / "asked"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def near() -> Iterator[Near]:
    # Directly in /tmp, where another user gets to the socket if its mode lets them.
    with tempfile.TemporaryDirectory(prefix="tallylight-callers-", dir="/tmp") as made:
        folder = Path(made)
        (folder / "bridge").write_text(_BRIDGE)
        (folder / "said").write_bytes((encode(HELLO) or b"") + (encode(PaneSaid("sessions-7", PANE)) or b""))
        done = encode_told(Done(PANE.id, "typed"))
        told = {"question": encode_told(QUESTION), **dict.fromkeys(("answer", "say", "interrupt"), done)}
        (folder / "told").write_text(json.dumps({verb: json.loads(line) for verb, line in told.items()}))
        config = folder / "config/tallylight/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[machines]\ndevbox = "{sys.executable} {folder}/bridge {folder}"\n')
        (folder / "run").mkdir(mode=0o700)
        env = {"XDG_RUNTIME_DIR": f"{folder}/run", "XDG_CONFIG_HOME": f"{folder}/config", "HOME": made}
        host = MachinesHost.serve({**env, "PATH": os.environ["PATH"]})
        try:
            snapshot = folder / f"run/tallylight/machines-{os.getpid()}.json"
            wait(lambda: (snapshot.exists() and ID in snapshot.read_text()) or None, "its pane is shown")
            yield Near(folder, config, snapshot.with_suffix(".sock"))
        finally:
            host.stop()


@pytest.mark.slow
def test_an_agent_types_nothing(near: Near) -> None:
    """Nothing reaches the far end, unless the person allowed it; what an agent may read, it may read there as well."""
    typing = (("answer", "7", "8", "f", "1"), ("say", "7", "8", "rm -rf /"), ("interrupt", "7", "8"))
    for words in typing:
        told = near.ask(*words, called="claude")
        assert isinstance(told, Refusal) and told.rule == "permission", (words, told)
    assert near.asked() == []
    assert isinstance(near.ask("question", called="claude"), Question)
    near.config.write_text(near.config.read_text() + '[scripting]\nallow = "all"\n')
    wait(lambda: isinstance(near.ask(*typing[0], called="claude"), Done) or None, "it is allowed")
    assert near.asked() == ["question", "answer"]


@pytest.mark.slow
@needs_root
def test_another_user_is_not_heard(near: Near) -> None:
    """By the modes of the directory and the socket; and where those were opened, by the host itself."""
    other: dict[str, Any] = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
    assert near.ask("question", **other) is None
    for path in (near.folder, near.folder / "run", near.socket.parent):
        path.chmod(0o755)
    assert near.ask("question", **other) is None
    near.socket.chmod(0o666)
    for words in (("question",), ("answer", "7", "8", "f", "1")):
        told = near.ask(*words, **other)
        assert isinstance(told, Refusal) and told.rule == "caller", told
    assert near.asked() == []


@pytest.mark.slow
def test_a_machine_that_was_renamed(near: Near) -> None:
    """What was shown of it under its old name is gone: nothing is typed there by that name, and nothing is asked."""
    typing = (("answer", "7", "8", "f", "1"), ("say", "7", "8", "go on"), ("interrupt", "7", "8"), ("question",))
    near.config.write_text(near.config.read_text().replace("devbox", "buildbox"))
    renamed = local_id("buildbox", "sessions-7", PANE.id)
    wait(lambda: (renamed in near.socket.with_suffix(".json").read_text()) or None, "its pane under the new name")
    for words in typing:
        told = near.ask(*words)
        assert isinstance(told, Refusal) and told.rule == "gone", (words, told)
    assert near.asked() == []
