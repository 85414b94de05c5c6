"""axe-core from npm, kept in the cache of the tests: https://github.com/dequelabs/axe-core"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.real_agents.install import Agent, npm_pack

_AXE = Agent("axe-core", "4.14.1", "axe-core@{version}", "axe.min.js")


def script() -> Path:
    """Its script, fetched if it is not there."""
    final = _AXE.path
    if not final.is_file():
        _AXE.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_AXE.folder) as partial:
            npm_pack(_AXE, Path(partial))
            shutil.move(Path(partial) / final.name, final)
    return final
