"""A part of somebody else in a real kitty: it is installed, tells what kitty tells, and leaves no trace."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.real_kitty.desk import Desk

STRANGER = Path(__file__).parents[1] / "parts/stranger"
#: What `tally parts --folder` prints, below the home.
FOLDER = ".local/share/tallylight/extras/parts"
ASK = "state=waiting;kind=permission;tool=claude;project=api;message="


#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

#: A service of somebody else, in kitty's own network: it says its port, and writes down what is published to it.
SERVICE = """
import http.server, pathlib
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open("published", "ab") as file:
            file.write(self.rfile.read(int(self.headers["Content-Length"])) + b"\\n")
        self.send_response(200)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path("port.new").write_text(str(server.server_port))
pathlib.Path("port.new").rename("port")
server.serve_forever()
"""


def install(home: Path) -> None:
    """Install it as docs/parts.md says."""
    words = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*words, "--target", str(home / FOLDER), str(STRANGER)], check=True, timeout=300)


def test_it_tells_what_kitty_tells(kitty_version: str) -> None:
    """A notification of kitty's arrives at the service, too; `tally` has its verb and its check."""
    desk = Desk(kitty_version, prepare=install)
    try:
        kitty, home = desk.kitty, desk.kitty.home
        kitty.popen(["python3", "-c", SERVICE])
        kitty.wait_until((home / "port").exists, what="the service")
        url = f"http://127.0.0.1:{(home / 'port').read_text()}/mine"
        desk.configure(f'[parts.ntfy]\nurl = "{url}"\n')

        def published() -> list[dict[str, str]]:
            found = home / "published"
            return [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []

        desk.send(desk.lamp("lamp"), ASK + "Run the migration?")
        kitty.wait_until(published, what="a notification")
        title = "api: claude asks for permission"
        assert published() == [{"topic": "mine", "title": title, "message": "Run the migration?"}]
        kitty.run(["tally", "ntfy", "lunch"])
        assert published()[1:] == [{"topic": "mine", "title": "Tallylight", "message": "lunch"}]
        assert f"tells {url}" in kitty.run(["tally", "doctor"], check=False).stdout.decode()
        assert re.search(r"^ntfy +1\.2 ", kitty.run(["tally", "parts"]).stdout.decode(), re.M)
        for path in (home / FOLDER).iterdir():
            shutil.rmtree(path)
        assert "ntfy" not in kitty.run(["tally", "parts"]).stdout.decode()
        assert b"no verb" in kitty.run(["tally", "ntfy", "x"], check=False).stderr
    finally:
        desk.close()
