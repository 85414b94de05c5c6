"""What this part adds to a pane, where it is read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import attrs
import pytest

from tests.cli.panes import DONE, publish
from tests.terminal import bare_environment, launcher

pytestmark = pytest.mark.slow


def test_to_read_them_loads_no_host(tmp_path: Path) -> None:
    """`tally status` shows the changes and the calls of a turn, and loads neither the engine of a pane nor git."""
    publish(tmp_path, [attrs.evolve(DONE, more={"diffstat": (12, 3), "did": (2, 1, 0, 1)})])
    command = launcher(tmp_path)
    script = Path(command[-1])
    script.write_text(
        script.read_text().replace(
            "\nrun()", "\nfrom tallylight.cli.main import main\nimport sys\nmain(['status']); print(*sys.modules)"
        )
    )

    done = subprocess.run(
        command, env=bare_environment(XDG_RUNTIME_DIR=str(tmp_path)), capture_output=True, text=True, check=True
    )

    *told, modules = done.stdout.splitlines()
    assert "+12 −3  2 commands, 1 denied" in "\n".join(told)
    rooms = {".".join(module.split(".")[:2]) for module in modules.split()}
    assert not rooms & {f"tallylight.{room}" for room in ("pane", "tracker.tracker", "evidence", "actions", "hosts")}
