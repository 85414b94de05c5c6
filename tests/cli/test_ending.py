"""Verbs that run until they are told to end: by which signals, and not by those they were told to ignore."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tallylight.snapshot.writer import directory
from tests.patience import until
from tests.relay.relayed import field, relay
from tests.terminal import bare_environment

pytestmark = pytest.mark.slow

_CAUGHT = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


@pytest.mark.parametrize("ignored", [None, signal.SIGHUP])
def test_a_host_started_with_nohup_outlives_its_terminal(tmp_path: Path, ignored: signal.Signals | None) -> None:
    """SIGHUP ends it like SIGTERM, but not after `nohup`."""
    env = bare_environment(XDG_RUNTIME_DIR=str(tmp_path), XDG_STATE_HOME=str(tmp_path / "state"))
    words = ["env", "--default-signal=HUP,INT,TERM", *([f"--ignore-signal={ignored.value}"] if ignored else [])]
    host = subprocess.Popen([*words, *relay(tmp_path)[:-1], "host", "sessions", "--no-screen"], env=env)
    try:
        until(lambda: _caught(host.pid) == _CAUGHT - {ignored}, "the handlers")
        until(lambda: list(directory(env).glob("sessions-*")), "its snapshot")
        host.send_signal(signal.SIGHUP)
        if ignored:
            with pytest.raises(subprocess.TimeoutExpired):
                host.wait(0.3)
            host.terminate()
        assert host.wait(30) == 0
    finally:
        host.kill()
        host.wait()


def _caught(pid: int) -> set[signal.Signals]:
    mask = int(field(pid, "SigCgt") or "0", 16)
    return {number for number in _CAUGHT if mask >> (number - 1) & 1}
