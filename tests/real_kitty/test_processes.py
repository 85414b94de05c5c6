"""A program that nobody has described, in a real kitty: it works while its model answers, and is dark else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts import living_agent, living_model
from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL, Kitty
from tests.real_kitty.install import install, watcher_line

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"


class Study(Desk):
    """A desk with a model and a program of its own name, which talks to it."""

    def __init__(self, version: str) -> None:
        self.kitty = Kitty(version, size=(1000, 400), scale=SMALL)
        self._watcher = watcher_line(install(self.kitty.home, version))
        self.kitty.kitty_conf.write_text(f"shell bash\n{self._watcher}")
        home = self.kitty.home
        (home / "living_model.py").write_text(Path(living_model.__file__).read_text())
        program = home / ".local/bin/mystery"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/usr/bin/python3\n{Path(living_agent.__file__).read_text()}")
        program.chmod(0o755)
        self.kitty.start()
        self.record()

    def start(self) -> int:
        """The program, in front of a person; its window."""
        home, kitty = self.kitty.home, self.kitty
        kitty.launch("python3", str(home / "living_model.py"), str(home / "port"), keep_focus=True)
        port = kitty.wait_until(lambda: (home / "port").exists() and (home / "port").read_text(), what="the model")
        window = kitty.launch(str(home / ".local/bin/mystery"), "full-screen", port, cwd=str(home))
        kitty.wait_text(window, "model")
        return window


@pytest.fixture(scope="module")
def study(kitty_version: str) -> Iterator[Study]:
    """One kitty for the tests here."""
    study = Study(kitty_version)
    yield study
    study.close()


def test_a_program_that_talks_to_a_model(study: Study) -> None:
    kitty, window = study.kitty, study.start()
    study.let_pass(3)
    for text in ("why is", " lamp 7 red"):
        kitty.send_text(window, text)
        study.let_pass(1)
    assert [status for _, status in study.history(window) if status] == []
    kitty.send_text(window, "\n")

    def reason() -> str:
        found = study.snapshot()
        pane = next((pane for pane in found.panes if pane.id == str(window)), None) if found is not None else None
        return f"{pane.status} by {pane.reason.source}: {pane.program.signs}" if pane is not None else ""

    kitty.wait_until(
        lambda: reason() == "working by process: an input of its own, requests as to a model", what="a light"
    )
    kitty.wait_until(lambda: reason().startswith("active"), what="the end of its light")
    assert {status for _, status in study.history(window) if status} == {"working"}
