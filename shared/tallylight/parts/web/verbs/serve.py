"""`tally serve`: what all agents do, over HTTP and a WebSocket, with a page for a browser."""

from __future__ import annotations

import argparse
import contextlib
import errno
import functools
import ipaddress
import os
import re
import resource
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallylight.agents import agent_files
from tallylight.cli.output import UNBOUNDED_CELLS, complain
from tallylight.cli.parser import Parser, within
from tallylight.config.config_file import load_config
from tallylight.config.settings import Config
from tallylight.files import directories, extras, read_write
from tallylight.files.read_write import explained
from tallylight.model.errors import TallyError
from tallylight.parts import index
from tallylight.snapshot import labels_file, writer
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import OWN, Snapshot
from tallylight.ui.layout import GAP, ago, fit
from tallylight.wire.text import sanitise

if TYPE_CHECKING:
    from collections.abc import Callable

    from tallylight.parts.web.guard import Guard
    from tallylight.parts.web.push.routes import Push

PORT = 8787
HTTPS_PORT = 443
#: Seconds that a terminal has to answer a page. If a person there is asked first, it may take longer, and the person at
#: the page presses again.
PAGE_ANSWER_S = 5.0
#: Bytes of a token.
TOKEN_BYTES = 32
#: The most open files of this process, if the system allows it: every connection is one.
_MAX_SERVER_FILES = 4096
#: Seconds between two looks at a broker's messages.
_FLEET_S = 0.2
_NAME = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_ALONE = (
    "a phone cannot reach 127.0.0.1 of this machine; give the name under which the phone reaches it, such as "
    "--allow-host desk.lan:8787"
)
_HAS_PORT = re.compile(r":[0-9]+\Z")


def make_parser() -> Parser:
    parser = Parser(
        prog="tally serve",
        description=__doc__,
        examples={
            "tally serve": "on this machine, port 8787",
            "tally serve --port 0": "on any free port",
            "tally serve --qr --allow-host desk.lan:8787": "with a QR code for a phone",
            "tally serve --broker": "with the agents of the whole fleet, read-only",
            "tally serve --revoke 1a2b3c4d": "sign out the device that you lost",
        },
        codes={0: "it was stopped", 1: "there is no such device"},
    )
    where = "the address to listen on; 127.0.0.1 by default"
    parser.add_argument("--bind", default="127.0.0.1", metavar="ADDRESS", help=where)
    parser.add_argument(
        "--port", type=within(0, 65535, int), default=PORT, help=f"the port; {PORT} by default, 0 for any free port"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        type=_name,
        metavar="NAME[:PORT]",
        help="another host name to accept, as behind a proxy; may be repeated",
    )
    parser.add_broker("show the other machines of the fleet, too, as its broker reports them")
    parser.add_argument("--qr", action="store_true", help="print the address as a QR code, too, for a phone's camera")
    parser.add_argument("--devices", action="store_true", help="list the browsers that stay signed in, and end")
    parser.add_argument("--revoke", metavar="DEVICE", help="sign out a device of that list, or `all`, and end")
    return parser


def main(argv: list[str]) -> int:
    """Serve until interrupted."""
    options = make_parser().parse_args(argv)
    if options.devices or options.revoke is not None:
        return _devices(options.revoke)
    extras.enable("serve")
    extras.enable("push")
    try:
        from tallylight.parts.web import connections
        from tallylight.parts.web.app import Service
        from tallylight.parts.web.asking import who_asks
        from tallylight.parts.web.devices import Devices
        from tallylight.parts.web.devices import path as devices_path
        from tallylight.parts.web.guard import Guard, allowed_hosts
    except ImportError:
        raise extras.missing("serve") from None
    from tallylight.actions.client import PaneClient, own_caller
    from tallylight.hosts.detached.sessions import PaneAccess

    labels = labels_file.LabelsFile(labels_file.path(os.environ))
    feed = Feed(writer.directory(os.environ))
    everyone = Everyone(
        feed, labels, index.need("fleet", "other machines").subscriber("serve") if options.broker else None
    )
    listener = listen(options.bind, options.port)
    port = listener.getsockname()[1]
    names = [*options.allow_host, *_own_name(options.bind)]
    hosts = allowed_hosts(port, names)
    token = secrets.token_hex(TOKEN_BYTES)
    config, problems = load_config()
    complain("serve", *problems, cells=UNBOUNDED_CELLS)
    panes = PaneAccess(os.environ)
    # Once: a terminal also judges this server's requests by where it was started.
    own = functools.cache(functools.partial(own_caller, os.environ))
    client = PaneClient(
        panes, own, everyone.level, panes.started_by, timeout_s=PAGE_ANSWER_S, ask_timeout_s=PAGE_ANSWER_S
    )
    asking = functools.partial(who_asks, agents=agent_files.load_agents(os.environ)[0])
    repositories: Any = index.ask("repositories") if config.listed.branches else None
    watch = repositories.Watch(os.environ.get("HOME", "")) if repositories is not None else None
    devices = Devices(devices_path(os.environ))
    guard = Guard(token, hosts, devices.holder)
    push = _push(guard, config, devices.is_in)
    service = Service(
        *(guard, everyone.read, client, config.colours, watch, lambda: labels.labels, lambda: feed.stale),
        *(push, asking, devices),
    )
    bound = _ip(options.bind)
    if not (bound.is_loopback if bound is not None else options.bind == "localhost"):
        complain("serve", f"{options.bind} is open to the network, and the connection is not encrypted")
    where = address(names[0] if names else "127.0.0.1", port, token)
    code = _code(where) if options.qr else ""
    if options.qr and not names:
        complain("serve", _ALONE)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    file = directories.serve_token(os.environ)
    try:
        _write(file, token)
        # A browser never sends the part after `#`.
        sys.stdout.write(f"{where}\n{code}")
        sys.stdout.flush()
        connections.Server(connections.config(service.app(), _open_files())).run(sockets=[listener])
    except KeyboardInterrupt:
        return 0
    finally:
        listener.close()
        with contextlib.suppress(OSError, TallyError):
            # Unless a server that was started later has put its own there.
            if read_write.read_limited(file, 4096).strip() == token.encode():
                file.unlink()
    return 0


def _devices(revoked: str | None) -> int:
    """List the devices, or sign out one of them or all."""
    from tallylight.parts.web import devices

    file, now = devices.path(os.environ), time.time()
    found = devices.read(file)
    if revoked is None:
        rows = [(one.id, one.name or "a browser", ago(one.made, now), ago(one.used, now)) for one in found.values()]
        lines = fit([("device", "name", "signed in", "last used"), *rows], shutil.get_terminal_size().columns, {1: 8})
        text = [GAP.join(line).rstrip() for line in lines] if rows else ["no device is signed in"]
        sys.stdout.write("".join(f"{line}\n" for line in text))
        return 0
    if revoked != "all" and revoked not in found:
        complain("serve", f"{revoked!r:.80} is not a device; `tally serve --devices` lists them")
        return 1
    if found:
        devices.change(file, lambda known: {} if revoked == "all" else devices.without(known, revoked))
    named = "all devices" if revoked == "all" else found[revoked].name or revoked
    sys.stdout.write(f"{sanitise(named)} signed out\n")
    return 0


def _push(guard: Guard, config: Config, is_in: Callable[[str], bool]) -> Push | None:
    """Return the sender of messages to browsers; None if it is not installed."""
    try:
        from tallylight.parts.web.push.routes import Push
        from tallylight.parts.web.push.subscriptions import Store, folder
    except ModuleNotFoundError:
        return None
    return Push(guard, Store(folder(os.environ)), config.notify, config.push, is_in)


class Everyone:
    """
    The hosts of this machine, and with a *fleet* those of all its other machines, which can only be looked at.

    A thread follows the fleet: reaching a broker may take seconds, and no light of this machine may wait for it.
    """

    def __init__(self, feed: Feed, labels: labels_file.LabelsFile, fleet: Any = None) -> None:
        self._feed, self._labels = feed, labels
        self._others: tuple[Snapshot, ...] = ()
        self._shown_others: tuple[Snapshot, ...] = ()
        if fleet is not None:
            threading.Thread(target=self._follow, args=(fleet,), name="fleet", daemon=True).start()

    def read(self) -> tuple[Snapshot, ...] | None:
        """Return the snapshots of all of them; None without a change."""
        others = self._others
        is_new = self._feed.poll(time.monotonic())
        if not self._labels.poll() and not is_new and others is self._shown_others:
            return None
        self._shown_others = others
        return (*self._feed.snapshots, *others)

    def level(self, host: str) -> str:
        """Return the permission of programs for the panes of *host*."""
        return next((one.allow for one in self._feed.snapshots if one.name == host), OWN)

    def _follow(self, fleet: Any) -> None:
        problem = ""
        try:
            while True:
                if fleet.poll(time.monotonic()):
                    self._others = fleet.others
                if fleet.link.has_failed and fleet.problem != problem:
                    problem = fleet.problem
                    complain("serve", problem)
                elif not fleet.problem:
                    problem = ""
                time.sleep(_FLEET_S)
        finally:
            # A fleet that is not followed any more is not shown.
            self._others = ()


def address(name: str, port: int, token: str) -> str:
    """Return the address for a browser: the server by this *name*, which may have a port of its own, and its token."""
    where = name if _HAS_PORT.search(name) else f"{name}:{port}"
    # A proxy in front of this server encrypts at that port.
    host = where.removesuffix(f":{HTTPS_PORT}")
    return f"{'http' if host == where else 'https'}://{host}/#{token}"


def _code(where: str) -> str:
    """Return the QR code of an address, as it is printed; raise `TallyError` if there can be none."""
    try:
        from tallylight.parts.web import qr
    except ImportError:
        raise extras.missing("serve") from None
    rows = qr.rows(where)
    columns = shutil.get_terminal_size().columns
    if len(rows[0]) > columns:
        raise TallyError(f"the QR code is {len(rows[0])} columns wide, and this terminal has {columns}")
    return qr.coloured(rows)


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that accepts connections at *address*; raise `TallyError` if that fails."""
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
        family, kind, _, _, where = min(found, key=lambda row: row[0] != socket.AF_INET)
        listener = socket.socket(family, kind)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
            listener.listen(socket.SOMAXCONN)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        hint = "; is another `tally serve` running? use --port to choose another port" if taken else ""
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "that is not an address"
        raise TallyError(f"cannot listen on {address}, port {port}: {reason}{hint}") from None
    return listener


def _write(path: Path, token: str) -> None:
    """Write the token of this run for this user's programs; raise `TallyError` if that fails."""
    with explained(str(path), "; could not write the token there"):
        path.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(path, token.encode() + b"\n", 0o600)


def _open_files() -> int:
    """Raise the limit of open files to what connections need, as far as the system allows; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_SERVER_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_SERVER_FILES)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):
        return soft
    return most


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not a host name; write box.example or box.example:443")
    return text


def _own_name(address: str) -> list[str]:
    """Return a server's own name at this address, if it is one, and neither every one nor the default."""
    found = _ip(address)
    if found is None or found.is_unspecified or address == "127.0.0.1":
        return []
    return [f"[{found}]" if found.version == 6 else str(found)]


def _ip(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None
