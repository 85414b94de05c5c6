"""Agents with our hooks: the suite in the agent's home, its hooks by `tally hooks install`, and what arrives.

What arrives is read off the agent's own pty, as a terminal would: the `tally` user variable, put in order as hosts do.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import NamedTuple

from tallylight.hooks.order import HookOrder
from tallylight.model.report import Report
from tallylight.wire import osc1338
from tests.real_agents.driver import Host, Pane, wait_until
from tests.real_kitty.install import install

_PREFIX = "SetUserVar=tally="


class Arrived(NamedTuple):
    """One report that arrived, and when."""

    at: float
    report: Report

    @property
    def name(self) -> str:
        """`status`, with its kind after a slash; `clear` for one that withdraws."""
        status = str(self.report.status) if self.report.status is not None else "clear"
        return f"{status}/{self.report.kind}" if self.report.kind else status


class Hooked:
    """What an agent's hooks say at its terminal."""

    def __init__(self, pane: Pane) -> None:
        self.pane = pane

    @property
    def arrived(self) -> list[Arrived]:
        """Every report so far that took effect."""
        order, found = HookOrder(), []
        for said in list(self.pane.said):
            if said.number == "1337" and said.payload.startswith(_PREFIX):
                payload = base64.b64decode(said.payload.removeprefix(_PREFIX)).decode()
                report = osc1338.decode_variable(payload)
                assert report is not None, payload
                found += [Arrived(said.at, one) for one in order.admit(payload, report)]
        return found

    def wait(self, name: str, *, since: float = 0.0, id_: str = "", timeout: float = 30) -> Arrived:
        """The first report called *name* about the record *id_*, from *since* on; any subagent's for `*`."""

        def found() -> Arrived | None:
            wanted = (one for one in self.arrived if one.at >= since and one.name == name)
            return next((one for one in wanted if one.report.id == id_ or (id_ == "*" and one.report.id)), None)

        try:
            arrived: Arrived = wait_until(found, timeout, name)
        except TimeoutError:
            told = [(one.report.id, one.name, one.report.message) for one in self.arrived]
            raise TimeoutError(f"{name} of {id_!r} did not arrive; what did is {told}; {self.pane.text()}") from None
        return arrived


def install_hooks(host: Host, home: Path, agent: str, *, called: Path | None = None) -> None:
    """Install the suite and the hooks of *agent* into *home*, which is *called* otherwise inside, as a person would."""
    install(home)
    inside = called or home
    process = host.popen(
        ["tally", "hooks", "install", agent, "--yes"],
        env={"HOME": str(inside), "PATH": f"{inside}/.local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
        cwd=str(inside),
        stdout=-1,
        stderr=-1,
    )
    out, complaint = process.communicate(timeout=30)
    assert process.returncode == 0, (out, complaint)
