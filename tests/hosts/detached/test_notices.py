"""What the person is told of sessions: by `notify-send` or their own command, once, and not what a terminal tells."""

from __future__ import annotations

import time
from pathlib import Path

import attrs
import pytest

from tallylight.hosts.polling.source import SourcePane
from tallylight.model.status import Status
from tallylight.snapshot.writer import SnapshotWriter
from tallylight.tracker.notify import Notice
from tests.entries import new_pane
from tests.hosts.detached.polling import HandSource, System
from tests.hosts.test_pane import CLAUDE, status_file
from tests.patience import until

HERE = "/dev/pts/7"
ASKING = SourcePane(id="a", group=CLAUDE.pid, host_title="<b>shop</b>", terminals=(HERE,))
#: Notes what it is called with, each word in a line of its own.
NOTES = "#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/new\nmv {folder}/new {folder}/told\n"


@pytest.fixture
def desktop(system: System) -> Path:
    """A desktop with a `notify-send`; what it was last told."""
    program = system.home / "notify-send"
    program.write_text(NOTES.format(folder=system.home))
    program.chmod(0o755)
    system.environ["PATH"] = f"{system.home}:/usr/bin:/bin"
    return system.home / "told"


def asks(system: System, source: HandSource, pane: SourcePane = ASKING) -> None:
    """Its agent asks, and time enough passes for that to be told."""
    system.poller.notify()
    status_file(str(system.home), status="waiting", waitingFor="permission to <i>run</i> & go")
    source.source_panes = [pane]
    system.steps(5)


@pytest.mark.slow
def test_it_is_told_by_notify_send(system: System, source: HandSource, desktop: Path) -> None:
    """With the words of every notification, of which none is markup; once, and again for what comes next."""
    asks(system, source)
    until(desktop.exists)
    name, dashes, title, _ = desktop.read_text().splitlines()
    assert (name, dashes) == ("--app-name=Tallylight", "--")
    assert "claude" in title
    notice = Notice("a", Status.WAITING, None, "claude", "shop", title, "rm <b>x</b> && ls")
    assert system.poller._notices._worded(notice).body == "rm &lt;b&gt;x&lt;/b&gt; &amp;&amp; ls"  # type: ignore[union-attr]
    assert system.entry().attention.notified
    desktop.unlink()
    system.steps(10)
    status_file(str(system.home), status="busy")
    system.steps(3)
    assert not desktop.exists()
    status_file(str(system.home), status="waiting", waitingFor="permission prompt")
    system.steps(8)
    assert system.entry().status is Status.WAITING
    until(desktop.exists)


def test_a_command_runs_instead(system: System, source: HandSource, desktop: Path) -> None:
    """That of the configuration, with its data in the environment and an address that commands take."""
    folder = system.home / ".config/tallylight"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        f"[notify]\ncommand = ['sh', '-c', 'env > {system.home}/new; mv {system.home}/new {system.home}/mine']\n"
    )
    again = System(system.home, source)
    again.environ.update(system.environ)
    asks(again, source)
    mine = system.home / "mine"
    until(mine.exists)
    lines = mine.read_text().splitlines()
    assert f"TALLY_PANE={again.path.stem}:a" in lines and "TALLY_STATUS=waiting" in lines
    assert not desktop.exists()
    again.poller.close()


@pytest.mark.parametrize("why", ["in front", "told by its terminal", "not wanted"])
def test_it_is_not_told(system: System, source: HandSource, desktop: Path, why: str) -> None:
    """Of what the person sees, what their terminal tells them, and what they do not want to be told of."""
    if why == "not wanted":
        system.poller.config = attrs.evolve(
            system.poller.config, notify=attrs.evolve(system.poller.config.notify, when=frozenset({Status.ERROR}))
        )
    if why == "told by its terminal":
        around = new_pane(id="3", status=Status.WAITING, agent="claude", terminal=HERE)
        SnapshotWriter.for_host("kitty", system.environ, time.time).publish((around,), 1.0)
    asks(system, source, attrs.evolve(ASKING, visible=why == "in front"))
    assert system.entry().status is Status.WAITING
    until(lambda: not system.poller._notices._command._running)  # type: ignore[union-attr]
    assert not desktop.exists()
    assert system.poller._notices._command._starting == 0  # type: ignore[union-attr]


def test_a_machine_without_a_desktop(system: System, source: HandSource) -> None:
    """Where there is no such program nothing is told, and nothing fails."""
    system.environ["PATH"] = "/nowhere"
    asks(system, source)
    assert system.entry().status is Status.WAITING
    assert system.poller.problems == {}


def test_the_end_of_a_long_turn_is_told(system: System, source: HandSource, desktop: Path) -> None:
    """A turn of half a minute or more, which has asked nothing."""
    system.poller.notify()
    source.source_panes = [ASKING]
    system.steps(2)
    for state, seconds in (("working", 40), ("done", 5)):
        system.poller.pane("a").user_variable(f"state={state};tool=claude", system.now)  # type: ignore[union-attr]
        system.steps(seconds)
    assert system.entry().status is Status.DONE
    until(desktop.exists)
    assert "is done" in desktop.read_text()
