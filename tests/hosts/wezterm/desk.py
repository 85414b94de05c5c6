"""A desk: the stand-in for WezTerm with real terminals, a stand-in `wezterm` program, and the real sidecar."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tests.patience import until
from tests.terminal import bare_environment, launcher

T = TypeVar("T")

#: Prints what WezTerm would. `broken` in the folder makes it fail, `hangs` makes it hang. It is asked twice a second: a
#: shell starts in a tenth of the time of a Python.
_WEZTERM = r"""#!/bin/sh
cd '{folder}' || exit
printf '%s\n' "$*" >>calls
[ ! -e hangs ] || exec sleep 100
if [ -e broken ]; then
    echo 'failed to connect to Socket("/run/gui-sock-1"): connecting to it' >&2
    exit 1
fi
case $WEZTERM_UNIX_SOCKET in *"/gui-sock-{pid}" | */wezterm/sock) ;; *) echo "asks another WezTerm" >&2; exit 1 ;; esac
[ -z "${{WEZTERM_PANE+set}}" ] || exit 1
[ "$1 $2" = "cli --no-auto-start" ] || exit 1
shift 2
case $* in
"list --format json") cat list.json ;;
"get-text --pane-id "*) cat "text-$3" ;;
"get-text --escapes --pane-id "*) cat "styled-$4" ;;
"send-text "* | "kill-pane --pane-id "*) exec {python} -ISE - "$@" 3<&0 <<'END'
import json, os, socket, sys
words = sys.argv[1:]
ask = {{"do": "close", "pane": int(words[-1])}}
if words[0] == "send-text":
    text = open(3, encoding="utf-8", newline="\n").read()
    ask = {{"do": "send" if "--no-paste" in words else "paste", "pane": int(words[-1]), "text": text}}
with socket.socket(socket.AF_UNIX) as gui:
    gui.connect("sock")
    gui.sendall(json.dumps(ask).encode() + b"\n")
    if gui.recv(100) != b"{{}}\n":
        sys.exit("no such pane")
END
    ;;
move-pane-to-new-tab*) [ ! -e full ] || {{ echo "no room for a tab" >&2; exit 1; }} ;;
"zoom-pane --unzoom --pane-id "* | "activate-pane --pane-id "*) ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
"""


class Desk:
    """One stand-in and its sidecar. *home* becomes HOME, and holds everything else."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "wezterm"
        self.folder.mkdir(parents=True)
        (home / "run").mkdir(exist_ok=True)
        self.bin = home / "bin"
        self.bin.mkdir()
        self.env = bare_environment(
            HOME=str(home), XDG_RUNTIME_DIR=str(home / "run"), PATH=f"{self.bin}:{os.environ['PATH']}", PS1="$ "
        )
        # Without -S: the packages are the ones of the environment the tests run in.
        self.tally = [sys.executable, "-I", launcher(home)[-1]]
        self.gui = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("gui.py")), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.env,
            text=True,
        )
        self.wezterm = self.bin / "wezterm"
        self.program("wezterm", _WEZTERM.format(python=sys.executable, folder=self.folder, pid=self.gui.pid))
        self.sidecar: dict[str, Any] = {}
        #: When each pane's light became another, by pane.
        self.lights: dict[int, list[tuple[float, str]]] = {}
        self._is_over = False
        self._watcher: threading.Thread | None = None

    def program(self, name: str, code: str) -> Path:
        path = self.bin / name
        path.write_text(code)
        path.chmod(0o755)
        return path

    def start(self) -> dict[str, Any]:
        """Start the sidecar as Lua does, and watch what it shows."""
        done = self.run_tally("host", "wezterm", "--pid", str(self.gui.pid), "--wezterm", str(self.wezterm))
        assert done.returncode == 0, done.stderr
        self.sidecar = json.loads(done.stdout)
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()
        return self.sidecar

    def run_tally(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**self.env, "WEZTERM_UNIX_SOCKET": f"{self.home}/run/wezterm/gui-sock-{self.gui.pid}"}
        return subprocess.run([*self.tally, *words], env=env, capture_output=True, text=True, timeout=60, check=False)

    def _watch(self) -> None:
        while not self._is_over:
            now = time.monotonic()
            for pane in self.panes().values():
                lights = self.lights.setdefault(int(pane.id), [])
                if not lights or lights[-1][1] != pane.status.value:
                    lights.append((now, pane.status.value))
            time.sleep(0.02)

    def panes(self) -> dict[int, Pane]:
        """What the sidecar's snapshot says now, by pane."""
        path = Path(self.sidecar.get("snapshot", "/nowhere"))
        try:
            return {int(pane.id): pane for pane in writer.read(path).panes}
        except (OSError, writer.SnapshotError):
            return {}

    # The stand-in ---------------------------------------------------------------------------------------------

    def ask(self, **command: Any) -> Any:
        assert self.gui.stdin is not None and self.gui.stdout is not None
        self.gui.stdin.write(json.dumps(command) + "\n")
        self.gui.stdin.flush()
        return json.loads(self.gui.stdout.readline())

    def spawn(self, *argv: str, domain: str = "local", **env: str) -> int:
        """A new pane with this program, normally a shell without integration."""
        words = argv or ("bash", "--norc", "-i")
        pane: int = self.ask(do="spawn", argv=list(words), env=env, domain=domain)["pane"]
        return pane

    def send(self, pane: int, text: str) -> None:
        self.ask(do="send", pane=pane, text=text)

    def screen(self, pane: int) -> str:
        """What stands in a pane, as `wezterm cli get-text` tells it."""
        try:
            return (self.folder / f"text-{pane}").read_text("utf-8")
        except OSError:
            return ""

    def calls(self, verb: str) -> list[str]:
        """How often the stand-in program was asked this."""
        try:
            return [line for line in (self.folder / "calls").read_text().splitlines() if f" {verb}" in line]
        except OSError:
            return []

    def status(self, pane: int) -> str:
        found = self.panes().get(pane)
        return found.status.value if found is not None else ""

    def wait(self, found: Callable[[], T], what: str) -> T:
        return until(found, lambda: f"{what} did not come; {self.panes()}; {self.lights}")

    def wait_status(self, pane: int, status: str) -> None:
        self.wait(lambda: self.status(pane) == status, f"{status} in pane {pane}")

    def wait_light(self, pane: int, status: str, since: float) -> float:
        """When the light of a pane, at *since* or later, became this."""
        return self.wait(
            lambda: next((at for at, name in self.lights.get(pane, ()) if name == status and at >= since), 0.0),
            f"{status} in pane {pane}",
        )

    def variables(self, pane: int) -> dict[str, str]:
        """The user variables of a pane, as Lua would see them."""
        found: dict[str, str] = json.loads((self.folder / "vars.json").read_text()).get(str(pane), {})
        return found

    def write_feed(
        self,
        life: str,
        panes: dict[int, list[tuple[int, str]]],
        front: str = "",
        workspace: str = "default",
        title: str = "t",
    ) -> None:
        """What Lua would write."""
        rows = {
            str(id_): {"title": title, "is_local": True, "said": [{"n": n, "value": value} for n, value in said]}
            for id_, said in panes.items()
        }
        path = Path(self.sidecar["feed"])
        aside = path.with_suffix(".aside")
        head = {"version": 1, "number": int(time.time() * 1000), "life": life, "front": front, "workspace": workspace}
        aside.write_text(json.dumps({**head, "panes": rows}))
        aside.replace(path)

    def scene(self) -> Any:
        """Return the scene that the sidecar has Lua draw now."""
        return json.loads(Path(self.sidecar["feed"].replace(".feed.", ".scene.")).read_text())

    def close(self) -> None:
        self._is_over = True
        if self._watcher is not None:
            self._watcher.join()
        assert self.gui.stdin is not None and self.gui.stdout is not None
        self.gui.stdin.close()
        self.gui.stdout.close()
        self.gui.wait(30)
        if self.sidecar:
            self.wait(lambda: not is_running(self.sidecar["pid"]), "the end of the sidecar")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
