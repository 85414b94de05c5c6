"""The page's marks are those of the terminal's lights."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tallylight.model import lights
from tallylight.model.status import Kind, Status

CARD = Path(__file__).parents[3] / "shared/tallylight/parts/web/page/card.js"
#: What a browser has, and the page makes at its start.
BROWSER = "const IntersectionObserver = class {}, ResizeObserver = class {};"
ASK = "process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]).map((one) => mark({ ...one, collisions: [] }))))"


@pytest.mark.programs
def test_every_status_has_the_mark_of_the_tab() -> None:
    """For each status and kind the page draws what `lights.mark` draws, in a browser's language."""
    shown = [status for status in Status if lights.MARKS[status].strip()]
    pairs = [(status, kind) for status in shown for kind in (None, *Kind)]
    asked = json.dumps([{"status": status.value, "kind": kind.value if kind else ""} for status, kind in pairs])
    drawn = json.loads(
        subprocess.check_output(["node", "-e", "\n".join((BROWSER, CARD.read_text("utf-8"), ASK)), asked])
    )
    assert drawn == [lights.mark(status, kind) for status, kind in pairs]
