"""The program of the list on a pseudoterminal, and a host whose panes it shows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pyte

from tallylight.snapshot import requests
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tallylight.ui.agent_list.flow import PICTURE_SHOWN_S
from tests.patience import until
from tests.terminal import Terminal, bare_environment, launcher

COLUMNS, LINES = 60, 12


class Host:
    """A host of this process: it writes snapshots, and its spool can be read."""

    def __init__(self, folder: Path) -> None:
        self.environ = {"XDG_RUNTIME_DIR": str(folder)}
        self.name = f"kitty-{os.getpid()}"
        self._writer = SnapshotWriter.for_host("kitty", self.environ, time.time)
        self.spool = requests.Spool("kitty", environ=self.environ)
        assert not self.spool.error

    def publish(self, *panes: Pane) -> None:
        self._writer.publish(panes, time.monotonic())
        while not self._writer.path.exists() or self._writer.due(time.monotonic()) is not None:
            self._writer.flush(time.monotonic())


class List:
    """The list on a terminal."""

    def __init__(self, folder: Path, *command: str, pass_fds: tuple[int, ...] = (), **environ: str) -> None:
        self.terminal = Terminal(LINES, COLUMNS)
        environ = bare_environment(XDG_RUNTIME_DIR=str(folder), **environ)
        # The interpreter of the tests, for the launcher's own has no attrs.
        python, *_, script = launcher(folder, is_terminal=True)
        self.process = self.terminal.start([python, script, *(command or ("agents",))], environ, pass_fds)

    def screen(self) -> list[str]:
        """What is on the screen now."""
        self.terminal._read(0.05)
        screen = pyte.Screen(COLUMNS, LINES)
        pyte.ByteStream(screen).feed(self.terminal.received)
        return [line.rstrip() for line in screen.display]

    def _shown(self) -> str:
        return "\n".join(self.screen())

    def wait(self, found: str | Callable[[list[str]], object]) -> list[str]:
        """Wait until the screen shows this."""

        def is_found() -> list[str] | None:
            shown = self.screen()
            return shown if (found in "\n".join(shown) if isinstance(found, str) else found(shown)) else None

        return until(is_found, self._shown) or []

    def answer(self, key: bytes, outcome: str) -> None:
        """Press *key* until it counts, since what has just come to the screen is answered by none."""

        def counts() -> bool:
            self.terminal.type(key)
            again = time.monotonic() + 2 * PICTURE_SHOWN_S
            while not (is_there := outcome in self._shown()) and time.monotonic() < again:
                pass
            return is_there

        until(counts, self._shown)

    def end(self) -> int:
        """Wait for the list to leave."""
        until(lambda: not self.terminal._read(0.05) and self.process.poll() is not None, self._shown)
        return self.process.returncode
