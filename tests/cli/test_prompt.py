"""`tally prompt`: one short line, the same counts as `tally watch` has, and next to no imports."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from tallylight.cli import prompt
from tallylight.cli.main import main
from tallylight.model import lights
from tallylight.model.status import URGENCY, Status
from tallylight.parts.scripts.verbs.watch import Watch
from tallylight.snapshot import schema, writer
from tallylight.wire import values
from tests.cli.panes import COMMAND, DONE, HOST, SHELL, WAITING, WORKING, publish
from tests.living import sealed
from tests.tables import each
from tests.terminal import bare_environment, launcher

EVERY = [WAITING, DONE, WORKING, SHELL, COMMAND, attrs.evolve(WAITING, id="9"), attrs.evolve(SHELL, id="8", agent="pi")]


def said(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["prompt"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def counted(environ: Mapping[str, str]) -> dict[str, int]:
    return prompt.statuses(prompt.snapshots(prompt.directory(environ)))


def test_what_there_is_to_tell(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by status, most urgent first; shells, commands and idle agents are no news."""
    publish(runtime, EVERY)
    assert said(capsys) == "!2 ✓1 ●1\n"
    publish(runtime, [SHELL, COMMAND])
    assert said(capsys) == ""


def test_it_counts_as_watch_does(runtime: Path) -> None:
    """With every status there is, the line is the text of `tally watch` but for what is idle."""
    panes = [attrs.evolve(WORKING, id=f"{status}{n}", status=status) for status in Status for n in range(len(status))]
    publish(runtime, panes)
    snapshots, _ = writer.read_snapshots(writer.directory(os.environ))
    (state,) = Watch().changes({host.name: host.panes for host in snapshots})
    text = [word for word in str(state["text"]).split() if word[0] != lights.MARKS[Status.IDLE]]

    assert prompt.line(counted(os.environ)).split() == text
    assert len(text) == 8


def test_the_tables_are_those_of_the_package() -> None:
    """What is written down here, to import nothing, is what the others say."""
    told = [status for status in URGENCY if status not in (Status.IDLE, Status.ACTIVE)]
    assert {status.value: lights.mark(status) for status in told} == prompt.MARKS
    assert (prompt.VERSION, prompt.MAX_SNAPSHOT_BYTES, prompt.MAX_HOST_FILES) == (
        schema.VERSION,
        writer.MAX_SNAPSHOT_BYTES,
        writer.MAX_HOST_FILES,
    )
    assert prompt.LATEST == values.LATEST


def test_what_cannot_be_written_is_dated(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a terminal shows that cannot write it has the time of what it wrote, if that is a time."""
    publish(runtime, [SHELL])
    path = runtime / "tallylight" / f"{HOST}.json"
    for written, told in ((1000.5, 1000.5), (1e300, 0), ("x", 0), (None, 0), (-1, 0)):
        change(path, stale=True, written=written)
        assert said(capsys) == (time.strftime("as of %H:%M:%S\n", time.localtime(told)) if told else "")


def change(path: Path, **more: object) -> None:
    path.write_text(sealed(json.loads(path.read_text()) | more))


@each(
    "case",
    ["no folder", "empty", "no JSON", "cut", "dead", "reborn", "other pid", "version", "panes", "writable", "link",
     "fifo", "folder of others", "name"],
)  # fmt: skip
def test_what_is_not_a_living_hosts_is_left_out(case: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is broken, dead, or may be somebody else's gives no line, no message and no wait."""
    runtime = tmp_path_factory.mktemp("runtime")
    folder = runtime / "tallylight"
    path = folder / f"{HOST}.json"
    if case != "no folder":
        publish(runtime, [WAITING])
    environ = {"XDG_RUNTIME_DIR": str(runtime)}
    if case != "no folder":
        assert counted(environ) == {"waiting": 1}
    if case == "empty":
        path.write_bytes(b"")
    elif case == "no JSON":
        path.write_bytes(b"\xff{[" * 100)
    elif case == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    elif case == "dead":
        change(path, birth="")
        path.rename(path.with_name("kitty-999999999.json"))
        change(folder / "kitty-999999999.json", pid=999999999)
    elif case == "reborn":
        change(path, birth=json.loads(path.read_text())["birth"] + "1")
    elif case == "other pid":
        change(path, pid=1)
    elif case == "version":
        change(path, version=2)
    elif case == "panes":
        change(path, panes=[3, {"status": 7}, {"status": ["waiting"]}, None])
    elif case == "writable":
        folder.chmod(0o755)
        path.chmod(0o666)
    elif case == "link":
        path.rename(runtime / "elsewhere")
        path.symlink_to(runtime / "elsewhere")
    elif case == "fifo":
        path.unlink()
        os.mkfifo(path, 0o600)
    elif case == "folder of others":
        folder.chmod(0o777)
    elif case == "name":
        path.rename(folder / "kitty-x.json")
    assert counted(environ) == {}


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """It takes no argument, and says so."""
    assert main(["prompt", "now"]) == 2
    assert "usage: tally prompt" in capsys.readouterr().err


def test_nothing_dear_is_imported(tmp_path: Path) -> None:
    """A prompt waits for it: it loads none of the modules that would take longer than the interpreter itself."""
    publish(tmp_path, EVERY)
    command = launcher(tmp_path)
    script = Path(command[-1])
    script.write_text(
        script.read_text().replace(
            "\nrun()", "\nfrom tallylight.cli.main import main\nimport sys\nmain(['prompt']); print(*sys.modules)"
        )
    )

    done = subprocess.run(command, env=bare_environment(XDG_RUNTIME_DIR=str(tmp_path)), capture_output=True, text=True)

    told, modules = done.stdout.splitlines()
    assert (told, done.stderr) == ("!2 ✓1 ●1", "")
    dear = {"re", "enum", "typing", "argparse", "attr", "attrs", "json", "pathlib", "subprocess", "tempfile", "socket"}
    assert "tallylight.cli.prompt" in modules.split()
    assert dear & set(modules.split()) == set()
