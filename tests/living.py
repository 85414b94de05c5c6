"""
Snapshots of living hosts: one that a test makes up, as if this process had written it; and a host that can be killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tallylight.model.status import Status
from tallylight.snapshot import lives
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter

#: What this process holds for readers to compare; a table of thousands needs the last ones alone.
_HELD: deque[int] = deque()
_MOST = 64


def sealed(document: Mapping[str, object]) -> str:
    """Return *document* as the text of a snapshot that this process has written, and holds in memory."""
    descriptor = lives.seal()
    text = json.dumps({**document, "sealed": descriptor})
    if descriptor is not None:
        lives.fill(descriptor, text.encode())
        _HELD.append(descriptor)
        let_go(_MOST)
    return text


def let_go(but: int = 0) -> None:
    """Close what `sealed` has made, *but* the last ones: its documents are nobody's any more."""
    while len(_HELD) > but:
        os.close(_HELD.popleft())


@contextmanager
def host(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that publishes one pane that works in *folder*, as kitty would."""
    command = [sys.executable, "-m", "tests.living", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "published\n"
        yield process
        process.kill()


if __name__ == "__main__":
    made = SnapshotWriter(Path(sys.argv[1], f"kitty-{os.getpid()}.json"), "kitty", time.time)
    made.publish([Pane(id="3", status=Status.WORKING, agent="claude", since=50.0)], 0.0)
    sys.stdout.write(f"{made.error or 'published'}\n")
    sys.stdout.flush()
    sys.stdin.read()
