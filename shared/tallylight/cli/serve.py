"""`tally serve`: what all agents do, over HTTP and a WebSocket, with a page for a browser."""

from __future__ import annotations

import argparse
import ipaddress
import os
import secrets
import stat
import sys
import time
from pathlib import Path

from tallylight import extras, files, snapshot
from tallylight.errors import TallyError
from tallylight.feed import Feed
from tallylight.snapshot_schema import Snapshot

PORT = 8787
#: Connections at a time; more are answered 503.
MAX_CONNECTIONS = 1200
_TOKEN_BYTES = 32


def main(argv: list[str]) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="tally serve", description=__doc__)
    parser.add_argument("--bind", default="127.0.0.1", metavar="ADDRESS", help="the address to listen at; loopback")
    parser.add_argument("--port", type=int, default=PORT, help=f"the port; {PORT}")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name it is called by",
    )
    options = parser.parse_args(argv)
    extras.enable("serve")
    try:
        import uvicorn

        from tallylight.serve.app import make_app
        from tallylight.serve.guard import Guard, allowed_hosts
    except ImportError:
        raise extras.missing("serve") from None
    from tallylight.hosts.typist import Multiplexers

    token = read_token(files.state_dir() / "serve.token")
    feed = Feed(snapshot.directory(os.environ))

    def read_all() -> tuple[Snapshot, ...] | None:
        return feed.snapshots if feed.poll(time.monotonic()) else None

    hosts = allowed_hosts(options.port, options.allow_host)
    app = make_app(Guard(token, hosts), read_all, Multiplexers(os.environ))
    if not _is_loopback(options.bind):
        sys.stderr.write(f"tally serve: {options.bind} is open to the network, and what is sent is not encrypted\n")
    name = options.allow_host[0] if options.allow_host else "127.0.0.1"
    where = name if ":" in name else f"{name}:{options.port}"
    # The part after `#` is never sent to anybody.
    sys.stdout.write(f"http://{where}/#{token}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        app,
        host=options.bind,
        port=options.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        ws="websockets-sansio",
        ws_max_size=1024,
        ws_ping_interval=15.0,
        ws_ping_timeout=15.0,
        ws_per_message_deflate=False,
    )
    try:
        uvicorn.Server(config).run()
    except KeyboardInterrupt:
        return 0
    return 0


def read_token(path: Path) -> str:
    """The token in *path*, made if there is none; `TallyError` if others can read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise TallyError(f"{path}: others could have read the token; remove the file, a new one is made") from None
        token = files.read_limited(path, 4096).decode("ascii", "replace").strip()
        if len(token) < _TOKEN_BYTES:
            raise TallyError(f"{path}: holds no token; remove the file, a new one is made") from None
        return token
    token = secrets.token_hex(_TOKEN_BYTES)
    with os.fdopen(fd, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
