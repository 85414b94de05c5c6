"""Parts that an installation may lack: without one everything else is imported, and its verbs say what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "shared/tallylight"
#: Each room, or module, with the verbs that go with it.
DETACHABLE: dict[str, tuple[str, ...]] = {
    "serve": ("serve",),
    "serve/push": (),
    "remote": ("publish", "bridge"),
    "collisions": (),
    "shift": ("shift",),
    "recordings": ("agent", "record", "replay", "wrong"),
    "actions/restore_page.py": ("restore",),
    "hosts/grades.py": ("accuracy",),
}
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
listed = [line.split()[0] for line in main.usage(main.GROUPS).splitlines() if line.startswith("  ") and line.strip()]
print(json.dumps([faults, told, listed]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", DETACHABLE)
def test_a_part_that_is_not_there(room: str, tmp_path: Path) -> None:
    """No module of what remains needs it, but the verbs that are its own; those say what is missing."""
    # With what is compiled: a process would take two seconds to compile all of it.
    shutil.copytree(PACKAGE, tmp_path / "tallylight")
    part, verbs = tmp_path / "tallylight" / room, DETACHABLE[room]
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    missing = f"tallylight.{room.removesuffix('.py').replace('/', '.')}"
    left = sorted(path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.py"))
    names = [".".join(path.parts).removesuffix(".__init__") for path in left]
    asked = [name for name in names if name not in {f"tallylight.cli.{verb}" for verb in verbs}]

    done = subprocess.run(
        [sys.executable, "-c", _CHECK, str(tmp_path), json.dumps(asked), json.dumps(verbs)],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    faults, told, listed = json.loads(done.stdout)
    assert len(asked) > 300 and faults == []
    for verb in verbs:
        assert told[verb] == [2, f"tally: this installation has no `{verb}`: its part `{missing}` is missing\n"]
    assert {"agents", "status", "setup"} <= set(listed) and not set(verbs) & set(listed)
