"""
Programs that talk to a network and are no agents, an hour of each: for how many seconds one has a light.

    python -m benchmarks.networked [--minutes 60] [--keep FOLDER]

Needs root, tmux and Debian's packages of the programs; what is missing is named. All run at once, in windows of a tmux
of their own, against servers on loopback: a loop, or keys as of a person. Two hosts of sessions look on, each with
places of its own: one as it is, and one that knows no ordinary program by its name (`evidence.ordinary`). Every second
their snapshots are read. With `--keep` the last screens stay in *FOLDER*.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import hashlib
import http.server
import io
import itertools
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.sessions import SHARED, TALLY

from tallylight.model.status import Status
from tallylight.snapshot.feed import Feed

#: A host that takes every program for one that may be an agent.
NAMELESS = [
    *(sys.executable, "-c"),
    f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.evidence import ordinary;"
    "ordinary._ORDINARY = frozenset(); from tallylight.cli.main import run; run()",
]
_TALK = "the one of many words that a person reads while a server talks about nothing in particular"
_ENTER, _ESC, _UP, _DOWN = "\r", "\x1b", "\x1b[A", "\x1b[B"


class Program(NamedTuple):
    """
    A command for a shell, the keys that are pressed every few seconds, over and over, and the programs that it needs.
    """

    line: str
    keys: tuple[str, ...] = ()
    needs: str = ""


def _loop(line: str, pause: int = 4) -> str:
    return f"while :; do {line}; sleep {pause}; done"


def _text(size: int) -> str:
    return " ".join(random.choices(_TALK.split(" "), k=size // 5))


_CHAT = (_text(60) + _ENTER, _text(350) + _ENTER, "/names" + _ENTER, _text(20), _ENTER, "", "")
_SHELL = ("ls -l /usr/bin | head -60\r", f"cat > long << E\r{_text(900)}\r{_text(900)}\rE\r", "ps aux\r", "", "date\r")
_SSH = "-p {ssh} -i {home}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
_BOOK = (_DOWN, _DOWN, _ENTER, "", " ", _DOWN, _ENTER, "")
_QUERY = ("select count(*) from t;", "insert into t select md5(n::text) from generate_series(1, 2000) n;")
PROGRAMS = {
    "git push, git fetch": Program(
        _loop("head -c 9000 /dev/urandom | base64 > noise; git commit -qam more; git push; git fetch -v"), needs="git"
    ),
    "apt-get": Program(_loop("apt-get update; apt-get download big; rm -f *.deb", 6), needs="apt-get"),
    "npm install": Program(_loop("npm install thing; rm -rf node_modules"), needs="npm"),
    "pip install": Program(
        _loop("pip install --no-cache-dir --target t --upgrade thing --disable-pip-version-check"), needs="pip"
    ),
    "curl, a stream": Program("curl -N {web}/stream", needs="curl"),
    "curl, an upload": Program(_loop("curl -T blob {web}/put -o said; curl -sd @page {web}/say"), needs="curl"),
    "kubectl logs -f": Program("kubectl --server {web} logs -f pod/thing", needs="kubectl"),
    "irssi": Program("irssi -c 127.0.0.1 -p {irc} -n me", ("/join #room\r", *_CHAT), "irssi"),
    "weechat": Program(
        "weechat -a", ("/server add x 127.0.0.1/{irc} -notls\r", "/connect x\r", "/join #room\r", *_CHAT), "weechat"
    ),
    "mutt": Program(
        "mutt -n -F muttrc -f pop://me:it@127.0.0.1:{pop}",
        (_ENTER, " ", "q", _DOWN, _ENTER, "q", "m", "you@127.0.0.1\r", "A letter\r", "y", "", "G"),
        "mutt",
    ),
    "w3m": Program("w3m {web}/book/0.html", _BOOK, "w3m"),
    "lynx": Program("lynx {web}/book/0.html", _BOOK, "lynx"),
    "elinks": Program("elinks {web}/book/0.html", _BOOK, "elinks"),
    "psql": Program(
        "psql -h 127.0.0.1 -p {psql} -U me postgres",
        (
            "create table t (x text);\r",
            "\\pset pager off\r",
            *(f"{one}\r" for one in _QUERY),
            f"select '{_text(2500)}';\r",
            "select pg_sleep(8);\r",
            "",
            "",
        ),
        "psql",
    ),
    "redis-cli": Program(
        "redis-cli -p {redis}",
        (
            f'set a "{_text(2500)}"\r',
            "get a\r",
            "lrange l 0 5\r",
            f'rpush l "{_text(900)}"\r',
            "blpop nothing 6\r",
            "",
            "info\r",
        ),
        "redis-cli",
    ),
    "ssh": Program(f"ssh {_SSH} 127.0.0.1", _SHELL, "ssh"),
    "mosh": Program(f"mosh --ssh='ssh {_SSH}' 127.0.0.1", _SHELL, "mosh"),
}


#: The resource that `kubectl logs` asks for first.
_RESOURCE = {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": ["get", "list"]}
_POD = {"name": "thing", "namespace": "default"}
_KUBE = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [_RESOURCE]},
    "/api/v1/namespaces/default/pods/thing": {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": _POD,
        "spec": {"containers": [{"name": "it", "image": "it"}]},
        "status": {"phase": "Running"},
    },
}


class Web(http.server.SimpleHTTPRequestHandler):
    """Files, a stream without an end, slow answers to what is sent, and what `kubectl logs` asks for."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file, a stream or a resource."""
        path = self.path.partition("?")[0]
        if path == "/stream" or path.endswith("/log"):
            self._stream(10**6)
        elif path in _KUBE:
            data = json.dumps(_KUBE[path]).encode()
            self._head("application/json", ("Content-Length", str(len(data))))
            self.wfile.write(data)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        """Take in a body, think, and say much in small parts."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(random.uniform(0.5, 3))
        self._stream(12)

    def do_PUT(self) -> None:
        """Do the same for a file."""
        self.do_POST()

    def _head(self, kind: str, *more: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in (("Content-Type", kind), *more):
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, lines: int) -> None:
        self._head("text/plain", ("Transfer-Encoding", "chunked"))
        with contextlib.suppress(OSError):
            for number in range(lines):
                line = f"{number} {_text(80)}\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                time.sleep(random.choice((0.1, 0.2, 0.4, 2.5)))
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


async def _irc(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A room in which somebody always talks."""

    async def talk() -> None:
        while True:
            await asyncio.sleep(random.uniform(1, 6))
            writer.write(f":bob!b@host PRIVMSG #room :{_text(random.randrange(20, 300))}\r\n".encode())

    talking = None
    try:
        while line := (await reader.readline()).decode(errors="replace").split():
            match line[0].upper(), line[1:]:
                case "USER", _:
                    writer.write(b":here 001 me :Welcome\r\n:here 376 me :End\r\n")
                case "PING", [word, *_]:
                    writer.write(f":here PONG here {word}\r\n".encode())
                case "JOIN", _:
                    writer.write(
                        b":me!m@host JOIN #room\r\n:here 353 me = #room :me bob\r\n:here 366 me #room :End\r\n"
                    )
                    talking = talking or asyncio.create_task(talk())
    finally:
        if talking is not None:
            talking.cancel()
        writer.close()


_LETTER = "From: bob@host\r\nTo: me@host\r\nSubject: letter {0}\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\n\r\n"
_LETTERS = {str(n): _LETTER.format(n) + "\r\n".join(_text(70) for _ in range(40)) for n in range(1, 30)}


async def _pop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A box with letters."""
    listed = {"LIST": lambda n: str(len(_LETTERS[n])), "UIDL": lambda n: f"id{n}"}
    writer.write(b"+OK here\r\n")
    while line := (await reader.readline()).decode().split():
        match line[0].upper(), line[1:]:
            case ("CAPA" | "LIST" | "UIDL") as verb, []:
                rows = ["UIDL", "TOP", "USER"] if verb == "CAPA" else [f"{n} {listed[verb](n)}" for n in _LETTERS]
                writer.write("\r\n".join(["+OK", *rows, ".", ""]).encode())
            case ("LIST" | "UIDL") as verb, [number]:
                writer.write(f"+OK {number} {listed[verb](number)}\r\n".encode())
            case "STAT", _:
                writer.write(f"+OK {len(_LETTERS)} {sum(map(len, _LETTERS.values()))}\r\n".encode())
            case ("TOP" | "RETR") as verb, [number, *_]:
                letter = _LETTERS[number].partition("\r\n\r\n")[0] if verb == "TOP" else _LETTERS[number]
                writer.write(f"+OK\r\n{letter}\r\n\r\n.\r\n".encode())
            case verb, _:
                writer.write(b"+OK\r\n" if verb in ("USER", "PASS", "NOOP", "RSET", "QUIT") else b"-ERR unknown\r\n")
    writer.close()


async def _smtp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Takes every letter, after a while."""
    writer.write(b"220 here\r\n")
    while line := (await reader.readline()).upper():
        if line.startswith(b"DATA"):
            writer.write(b"354 go on\r\n")
            while (await reader.readline()) not in (b".\r\n", b""):
                pass
            await asyncio.sleep(2)
        writer.write(b"221 bye\r\n" if line.startswith(b"QUIT") else b"250 ok\r\n")
    writer.close()


def _serve(ports: dict[str, int]) -> None:
    async def run() -> None:
        for name, handle in (("irc", _irc), ("pop", _pop), ("smtp", _smtp)):
            await asyncio.start_server(handle, "127.0.0.1", ports[name])
        await asyncio.Event().wait()

    asyncio.run(run())


def free_ports(*names: str) -> dict[str, int]:
    """A free port for each of *names*."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        return {name: one.getsockname()[1] for name, one in zip(names, sockets, strict=True)}


class Street:
    """A *folder* with the files of all servers and programs, and what is started there."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.folder, self._stack = folder, stack
        self.ports = free_ports("http", "irc", "pop", "smtp", "git", "redis", "psql", "ssh")
        self.home, self.web = folder / "home", folder / "web"
        for name in ("home", "web/book", "web/thing", "tmux", "as it is", "nameless"):
            (folder / name).mkdir(mode=0o700, parents=True)
        places = {
            "HOME": str(self.home),
            "TMUX_TMPDIR": str(folder / "tmux"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        self.env = {"PATH": os.environ["PATH"], "SHELL": "/bin/bash", "GIT_CONFIG_NOSYSTEM": "1", **places}
        self.env |= {"APT_CONFIG": str(self.home / "apt.conf"), "PIP_CONFIG_FILE": str(self.home / "pip.conf")}
        self._furnish()

    def run(self, *argv: str, cwd: Path | None = None) -> str:
        done = subprocess.run(argv, env=self.env, cwd=cwd or self.home, capture_output=True, text=True, check=False)
        return done.stdout

    def start(self, *argv: str, **more: str) -> int:
        """Start a program that ends with the stack."""
        nowhere = subprocess.DEVNULL
        env = self.env | more
        one = subprocess.Popen(argv, env=env, cwd=self.home, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        self._stack.callback(one.wait)
        self._stack.callback(one.terminate)
        return one.pid

    def _furnish(self) -> None:
        url = f"http://127.0.0.1:{self.ports['http']}"
        (self.home / "blob").write_bytes(os.urandom(400_000))
        (self.home / "page").write_text(_text(6000))
        for number in range(20):
            links = "".join(f'<p>{_text(200)} <a href="{n}.html">{n}</a>' for n in random.choices(range(20), k=30))
            (self.web / f"book/{number}.html").write_text(f"<h1>{number}</h1>{links}")
        self._packages(url)
        ports = self.ports
        (self.home / "muttrc").write_text(
            f'set smtp_url="smtp://127.0.0.1:{ports["smtp"]}/" editor="cat {self.home}/page >>"\n'
            "set from=me@host ssl_force_tls=no folder=.\n"
            "set timeout=3 mail_check=3 abort_unmodified=no pop_checkinterval=3 confirmappend=no copy=no\n"
        )

    def _packages(self, url: str) -> None:
        """One package for each installer."""
        blob = os.urandom(3_000_000)
        for kind in ("DEBIAN", "usr"):
            (self.folder / "deb" / kind).mkdir(parents=True)
        about = "Package: big\nVersion: 1\nArchitecture: all\nMaintainer: me <me@host>\nDescription: big\n"
        (self.folder / "deb/DEBIAN/control").write_text(about)
        (self.folder / "deb/usr/big").write_bytes(blob)
        self.run("dpkg-deb", "-b", str(self.folder / "deb"), str(self.web / "big.deb"))
        data = (self.web / "big.deb").read_bytes()
        entry = f"{about}Filename: ./big.deb\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
        (self.web / "Packages").write_text(entry)
        for name in ("lists/partial", "archives/partial"):
            (self.home / "apt" / name).mkdir(parents=True)
        (self.home / "sources").write_text(f"deb [trusted=yes] {url} ./\n")
        (self.home / "apt.conf").write_text(
            f'Dir::Etc::sourcelist "{self.home}/sources"; Dir::Etc::sourceparts "-"; APT::Sandbox::User "root";\n'
            f'Dir::State::lists "{self.home}/apt/lists"; Dir::Cache "{self.home}/apt";\n'
        )
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, content in (("package.json", b'{"name": "thing", "version": "1.0.0"}'), ("blob", blob)):
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        (self.web / "thing-1.0.0.tgz").write_bytes(packed.getvalue())
        digest = base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()
        dist = {"tarball": f"{url}/thing-1.0.0.tgz", "integrity": f"sha512-{digest}"}
        version = {"name": "thing", "version": "1.0.0", "dist": dist}
        known = {"name": "thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        (self.web / "npm").mkdir()
        (self.web / "npm/thing").write_text(json.dumps(known))
        (self.home / ".npmrc").write_text(f"registry={url}/npm/\nupdate-notifier=false\naudit=false\n")
        wheel = "thing-1.0-py3-none-any.whl"
        with zipfile.ZipFile(self.web / "thing" / wheel, "w") as whole:
            whole.writestr("thing.py", "")
            whole.writestr("blob", blob)
            whole.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
            whole.writestr(
                "thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            whole.writestr("thing-1.0.dist-info/RECORD", "")
        (self.web / "thing/index.html").write_text(f'<a href="{wheel}">{wheel}</a>')
        (self.home / "pip.conf").write_text(f"[global]\nindex-url = {url}\n")

    def serve(self) -> None:
        """Start the servers, those of this process and others."""
        ports = self.ports

        def page(*words: object) -> Web:
            return Web(*words, directory=str(self.web))  # type: ignore[arg-type]

        server = http.server.ThreadingHTTPServer(("127.0.0.1", ports["http"]), page)
        for target, words in ((server.serve_forever, ()), (_serve, (ports,))):
            threading.Thread(target=target, args=words, daemon=True).start()
        self.run("git", "init", "-q", "--bare", str(self.folder / "bare.git"))
        daemon = ["git", "daemon", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"]
        self.start(*daemon, f"--base-path={self.folder}", f"--port={ports['git']}", str(self.folder))
        self._clone(f"git://127.0.0.1:{ports['git']}/bare.git")
        self.start("redis-server", "--port", str(ports["redis"]), "--bind", "127.0.0.1", "--save", "")
        self._database()
        for name in ("key", "host"):
            self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.home / name))
        Path("/run/sshd").mkdir(exist_ok=True)
        options = [
            f"HostKey={self.home}/host",
            f"AuthorizedKeysFile={self.home}/key.pub",
            "StrictModes=no",
            "UsePAM=no",
        ]
        given = itertools.chain.from_iterable(
            ("-o", one) for one in (*options, "ListenAddress=127.0.0.1", "PidFile=none")
        )
        self.start("/usr/sbin/sshd", "-D", "-f", "/dev/null", "-p", str(ports["ssh"]), *given)

    def _clone(self, url: str) -> None:
        for words in (
            ("init", "-q", "-b", "main"),
            ("config", "user.name", "me"),
            ("config", "user.email", "me@host"),
            ("add", "page"),
            ("commit", "-qm", "begin"),
            ("remote", "add", "origin", url),
        ):
            self.run("git", *words)
        (self.home / "noise").write_text("")
        self.run("git", "add", "noise")
        self.run("git", "commit", "-qm", "noise")
        for _ in range(50):
            time.sleep(0.1)  # until the daemon listens
            if "main" in self.run("git", "push", "-u", "--porcelain", "origin", "main"):
                return

    def _database(self) -> None:
        home = self.folder / "db"
        home.mkdir()
        shutil.chown(home, "nobody")
        self.folder.chmod(0o711)
        near = Path(os.path.realpath(shutil.which("initdb") or "initdb")).parent
        as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        self.run(*as_nobody, str(near / "initdb"), "-U", "me", "-A", "trust", "-D", str(home), cwd=home)
        where = ["-c", f"port={self.ports['psql']}", "-c", f"unix_socket_directories={home}"]
        self.start(*as_nobody, str(near / "postgres"), "-D", str(home), "-c", "listen_addresses=127.0.0.1", *where)


class Watch:
    """A host of sessions with a run-time directory of its own, and what its snapshot has shown."""

    def __init__(self, street: Street, name: str, command: list[str]) -> None:
        runtime = street.folder / name
        street.start(*command, "host", "sessions", XDG_RUNTIME_DIR=str(runtime))
        self._feed = Feed(runtime / "tallylight")
        self.seconds: Counter[tuple[str, str]] = Counter()

    def look(self, names: dict[str, str]) -> None:
        """Count a second of each row that has a light, by the pane's name."""
        self._feed.poll(time.monotonic())
        for host in self._feed.snapshots:
            for pane in host.panes:
                name = next((name for id_, name in names.items() if pane.id.endswith(id_)), pane.id)
                if pane.status is not Status.ACTIVE:
                    self.seconds[name, f"{pane.agent or pane.program.name}: {pane.status}"] += 1

    def lit(self, name: str) -> str:
        """The seconds of *name*, and as what."""
        return ", ".join(f"{seconds} ({word})" for (one, word), seconds in self.seconds.items() if one == name) or "0"


def _windows(street: Street) -> Iterator[tuple[str, str, Program]]:
    """A window for each program that is there, with its pane's id."""
    values = {**street.ports, "home": street.home, "web": f"http://127.0.0.1:{street.ports['http']}"}
    first = True
    for name, program in PROGRAMS.items():
        if program.needs and shutil.which(program.needs) is None:
            print(f"there is no {program.needs}", file=sys.stderr)
            continue
        verb = ("new-session", "-d", "-x", "100", "-y", "30") if first else ("new-window", "-d")
        first = False
        pane = street.run("tmux", "-f", "/dev/null", *verb, "-PF", "#{pane_id}", "bash --norc -i").strip()
        keys = tuple(key.replace("{irc}", str(street.ports["irc"])) for key in program.keys)
        yield pane, name, Program(program.line.format(**values), keys)


def main(argv: list[str]) -> int:
    """Let them all run, look on, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args(argv)
    with contextlib.ExitStack() as stack:
        street = Street(Path(stack.enter_context(tempfile.TemporaryDirectory())), stack)
        street.serve()
        stack.callback(street.run, "tmux", "kill-server")
        windows = list(_windows(street))
        watches = [Watch(street, "as it is", TALLY), Watch(street, "nameless", NAMELESS)]
        typed = {
            pane: itertools.chain([program.line + _ENTER], itertools.cycle(program.keys))
            for pane, _, program in windows
        }
        names, looks = {pane: name for pane, name, _ in windows}, 0
        end = time.monotonic() + 60 * options.minutes
        while time.monotonic() < end:
            for place, (pane, keys) in enumerate(typed.items()):
                if looks % 6 == place % 6 and (key := next(keys, "")):
                    street.run("tmux", "send-keys", "-t", pane, "-l", "--", key)
            time.sleep(1.0)
            looks += 1
            for watch in watches:
                watch.look(names)
        for pane, name in names.items() if options.keep else ():
            (options.keep / name.replace("/", " ")).write_text(street.run("tmux", "capture-pane", "-p", "-t", pane))
    print(f"{looks} looks\n\n| program | seconds lit | without the names |\n| --- | ---: | ---: |")
    for name in names.values():
        print(f"| {name} | {watches[0].lit(name)} | {watches[1].lit(name)} |")
    return 0


if __name__ == "__main__":
    if os.geteuid():
        sys.exit("benchmarks.networked needs root")
    sys.exit(main(sys.argv[1:]))
