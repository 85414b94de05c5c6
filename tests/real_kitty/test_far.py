"""
An agent behind a plain ssh, with nothing of ours over there, in a real kitty.

The `ssh` here is a program of that name that runs a shell; tests/parts/remote has a real sshd.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import far_agent
from tests.real_kitty.desk import Desk

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

#: As ssh, it has its programs on another terminal.
_SSH = "#!/bin/sh\nscript -q -c 'bash --norc --noprofile -i' /dev/null\n"


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    """A kitty with steady lights, and a program called ssh."""
    desk = Desk(kitty_version, "tab_bar_style fade\n", "[kitty]\npulse = false\n", size=(1000, 400))
    ssh = desk.kitty.home / ".local/bin/ssh"
    ssh.write_text(_SSH)
    ssh.chmod(0o755)
    (desk.kitty.home / "agent.py").write_text(far_agent.SOURCE)
    yield desk
    desk.close()


def test_it_asks(desk: Desk) -> None:
    """Its tab is amber while it asks; `why` says how that is known and what would make it exact; no key is offered."""
    kitty = desk.kitty
    window = kitty.launch("ssh", "devbox", tab_title="far", keep_focus=True)
    tab, go = kitty.tab_of(window), kitty.home / "go"
    kitty.wait_text(window, "bash-")
    kitty.send_text(window, f"python3 agent.py {go}\r")
    kitty.wait_until(
        lambda: desk.host(f"getattr(host.panes.get({window}), 'agent', None) is not None") == "True",
        60,
        "it is taken for an agent",
    )
    assert desk.status(window) == ""
    go.touch()
    desk.wait_colours({tab: "waiting"})
    said = kitty.run(["tally", "why", str(window)]).stdout.decode()
    assert "ssh?" in said and "Run this command?" in said
    assert "ssh shows another machine." in said and "`tally run`" in said and "[machines]" in said
    assert "answers" not in said
    read = kitty.run(["tally", "read", str(window)], check=False)
    assert read.returncode != 0
    folder = os.environ.get("TALLYLIGHT_PICTURES")
    kitty.screenshot(Path(folder) / f"{kitty.version}-far.png" if folder else None)

    kitty.send_text(window, "1")
    desk.wait_colours({tab: ""})
    kitty.send_text(window, f"{far_agent.ORDINARY}\r")
    kitty.wait_text(window, "Run this command?")
    looks = int(desk.host(f"host.panes[{window}].unknown.program._chances"))
    kitty.wait_until(
        lambda: int(desk.host(f"host.panes[{window}].unknown.program._chances")) > looks + 20, 60, "it was looked at"
    )
    assert desk.status(window) == ""
