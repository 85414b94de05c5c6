"""kitty's main thread touches no disk: a tracer in a real kitty, while everything is done that a person does.

What the tracer counts is in `tests.disk_tracer`. It is in kitty before our watcher is loaded, so the start is seen too;
there the import of our own modules is all that may read the disk, and nothing afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import disk_tracer
from tests.real_kitty.test_fork import _CONFIG, FORK, Bench

_WATCHER = """
import sys
sys.path.insert(0, {folder!r})
import disk_tracer
disk_tracer.tracer = disk_tracer.install()
"""
_KEYS = _CONFIG + "map ctrl+l kitten {kittens}/agents.py\nmap ctrl+j kitten {kittens}/jump.py --any\n"
_TOLD = """[notify]
when = ["waiting"]
command = ["/bin/sh", "-c", "echo $TALLY_STATUS >> told"]
"""
#: Note how long each tick takes, and beside it as much work as a tick may lend time to threads.
_FOUND = "import disk_tracer\nfound = disk_tracer.tracer.found[:]\ndisk_tracer.tracer.found.clear()\nreturn found"
#: What the tracer has to see, and what not: the same in a thread, and on /proc.
_CAUGHT = """
import threading
from pathlib import Path
from tallylight.agents.agent_files import load_agents
from tallylight.config.config_file import load_config
from tallylight.snapshot import requests, writer
writer.checked_directory(Path("/usr"))
try:
    load_config({"HOME": "/nowhere"})
except OSError:
    pass
thread = threading.Thread(target=lambda: load_agents({"HOME": "/nowhere"}))
thread.start()
thread.join()
writer.birth_of(1)
"""


@pytest.fixture(scope="module")
def bench(kitty_version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("tracer")
    (folder / "disk_tracer.py").write_text(Path(disk_tracer.__file__).read_text())
    watcher = folder / "watcher.py"
    watcher.write_text(_WATCHER.format(folder=str(folder)))
    for readable in (folder.parent, folder, *folder.iterdir()):
        readable.chmod(0o755)
    bench = Bench(kitty_version, f"watcher {watcher}\n", _TOLD)
    bench.reload(_KEYS.format(kittens=bench.kitty.home / ".local/share/tallylight/kittens"))
    yield bench
    bench.close()


def found(bench: Bench) -> list[str]:
    """What was seen since the last time."""
    seen: list[str] = bench.kitty.eval(_FOUND)
    return seen


def test_no_disk_on_the_main_thread(bench: Bench) -> None:
    """Start, windows, an agent's start and end, list, fork, jump, requests, notifications: nothing reads or writes."""
    kitty = bench.kitty
    steps = {"start": found(bench)}
    bench.set_host("import disk_tracer\ndisk_tracer.tracer.may_import = False")

    lamps = [bench.lamp(f"lamp {n}") for n in range(3)]
    window, _ = bench.agent()
    bench.let_pass(1)
    steps["windows and an agent"] = found(bench)

    count = len(bench.diary())
    bench.press(FORK)
    bench.page("Fork Claude")
    bench.press("Return")
    forked = int(bench.started(count)["window"])
    bench.known(forked, agent="claude")
    steps["fork"] = found(bench)

    bench.press("ctrl+l")
    lists = "from tallylight.hosts.kitty import agent_list as m; return list(m._lists)"
    (opened,) = kitty.wait_until(lambda: kitty.eval(lists), what="the list")
    kitty.wait_text(opened, "claude")
    bench.press("Escape")
    kitty.wait_until(lambda: not kitty.eval(lists), what="the end of the list")
    steps["list"] = found(bench)

    for end in ("\x04", "\x03"):
        # The end of its input ends it; the other one it does not survive.
        kitty.send_text(forked if end == "\x04" else window, end)
    bench.gone(forked)
    kitty.wait_until(lambda: bench.host(f"host.panes[{window}].agent") == "None", what="the agent's end")
    bench.let_pass(1)
    steps["the end of agents"] = found(bench)

    bench.send(lamps[0], "state=waiting;tool=claude;message=Well%3F")
    bench.wait_status(lamps[0], "waiting")
    kitty.wait_until((kitty.home / "told").exists, what="the notification")
    steps["notification"] = found(bench)

    pid = bench.host("__import__('os').getpid()")
    kitty.run(["tally", "quiet", f"kitty-{pid}:{lamps[0]}"])
    kitty.wait_until(lambda: bench.host(f"host.panes[{lamps[0]}].attention.snoozed") == "True", what="the snooze")
    bench.send(lamps[1], "state=waiting;tool=claude")
    bench.wait_status(lamps[1], "waiting")
    kitty.run(["tally", "jump"])
    kitty.wait_until(lambda: kitty.window(lamps[1])["is_focused"], what="the jump")
    bench.press("ctrl+j")
    steps["requests and keys"] = found(bench)

    for lamp in lamps:
        bench.shut(lamp)
    bench.let_pass(0.5)
    steps["closed windows"] = found(bench)

    assert {step: calls for step, calls in steps.items() if calls} == {}
    assert not [line for line in kitty.log.splitlines() if "tallylight" in line]


def test_the_tracer_sees(bench: Bench) -> None:
    """Calls of ours on the main thread are seen, with their place; those in a thread and on /proc are not."""
    found(bench)
    bench.kitty.eval(_CAUGHT)
    seen = found(bench)

    assert [line.split()[0].removeprefix("l") for line in seen] == ["stat", "open"], seen
    assert "writer.py" in seen[0] and "in checked_directory" in seen[0]
    assert "/nowhere/.config/tallylight/config.toml" in seen[1]
