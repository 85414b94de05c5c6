"""Parts that an installation may lack: without one everything else is imported, and its verbs say what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.parts import index

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).parents[1] / "shared/tallylight"
#: Each part of ours, and its verbs.
PARTS = {found.part.name: sorted(found.part.verbs) for found in index.find()}
#: Imports all modules, then runs the verbs; what other packages lack is no fault of ours.
_CHECK = """
import contextlib, importlib, io, json, sys
folder, modules, verbs = sys.argv[1], *map(json.loads, sys.argv[2:])
sys.path.insert(0, folder)
faults, told = [], {}
for name in modules:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.startswith("tallylight"):
            faults.append(f"{name}: {error}")
from tallylight.cli import main
assert main.__file__.startswith(folder)
for verb in verbs:
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        told[verb] = main.main([verb]), stream.getvalue()
listed = [line.split()[0] for line in main.usage(()).splitlines() if line.startswith("  ") and line.strip()]
print(json.dumps([faults, told, listed]))
"""


@pytest.mark.parametrize("missing", [*([part] for part in PARTS), [*PARTS]], ids=lambda parts: "+".join(parts))
def test_parts_that_are_not_there(missing: list[str], tmp_path: Path) -> None:
    """No module of what remains needs them, but the verbs that are their own; those say what is missing."""
    # With what is compiled: a process would take two seconds to compile all of it.
    shutil.copytree(PACKAGE, tmp_path / "tallylight")
    for part in missing:
        shutil.rmtree(tmp_path / "tallylight/parts" / part)
    verbs = [verb for part in missing for verb in PARTS[part]]
    left = sorted(path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.py"))
    asked = [".".join(path.parts).removesuffix(".__init__") for path in left]

    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(tmp_path), json.dumps(asked), json.dumps(verbs)],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    faults, told, listed = json.loads(done.stdout)
    assert len(asked) > 300 and faults == []
    for verb in verbs:
        code, text = told[verb]
        assert code == 2 and text.startswith(f"tally: there is no verb `{verb}`")
    assert {"agents", "status", "setup"} <= set(listed) and not set(verbs) & set(listed)
